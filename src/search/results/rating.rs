//! Rates the blocks that rank best for a prompt, by their usefulness as context that is added to the prompt without a
//! request of the model.
//!
//! Ranked blocks come in. Rated blocks go out, each with its confidence: at most 24 facts (written notes, a person's
//! statements), and at most eight blocks with the lower rating (the agent's own words unless the prompt asks for them,
//! and questions that have an answer). Of the blocks without a use, such as a text that only repeats the prompt's
//! question, only pinned ones go out.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::search::analyze::{Terms, word_list};
use crate::search::query::Wants;
use crate::search::rank::{FIRST, default_confidence};
use crate::search::read::is_shipped;
use crate::search::results::{Ranking, find_block, injection};
use crate::search::retrieve::Filters;
use crate::search::weights::LEAST_CONFIDENCE;
use crate::search::{Hit, HitMaker, Kind, Result, Role, Snapshot};

/// Candidates for what is given without asking.
pub(super) const POOL: usize = 24;
/// After a find that is less sure than this, further ones are no help.
const HOPELESS: f64 = 0.05;

/// The least confidence of a further find, which may be given beside a find that is confident enough by itself.
pub(super) const HELPS: f64 = LEAST_CONFIDENCE * 0.5;

/// A find with its rating.
pub(super) struct RatedBlock {
    pub slot: u32,
    pub confidence: f64,
    pub rating: Rating,
    pub hit: Hit,
}

/// The best finds with their ratings, at most [`POOL`] besides those that only repeat a question; and the highest
/// confidence among the [`FIRST`] finds, headings included. Unless the scope `has_pins`, rating ends when no further
/// find can be given.
pub(super) fn rate_blocks(
    snapshot: &Snapshot<'_>,
    maker: &mut HitMaker,
    rater: &Rater,
    filters: &Filters<'_>,
    Ranking { best, measures, .. }: &Ranking,
    has_pins: bool,
) -> Result<(Vec<RatedBlock>, f64)> {
    let (mut out, mut facts, mut said, mut first, mut highest) = (Vec::new(), 0, 0, 0, 0.0_f64);
    let confidences: Vec<f64> = measures.iter().map(default_confidence).collect();
    let helping = if has_pins {
        confidences.len()
    } else {
        confidences.iter().rposition(|own| *own >= HELPS).map_or(0, |at| at + 1)
    };
    for (at, (ranked, own)) in best.iter().zip(&confidences).enumerate().take(helping) {
        let is_pool = at > 0 && at % POOL == 0;
        if is_pool && (facts >= POOL || facts > 0 && confidences[at - 1] < HOPELESS)
            || !has_pins && first >= FIRST && highest < LEAST_CONFIDENCE
        {
            break;
        }
        let Some(found) = find_block(snapshot, *ranked, filters)? else { continue };
        let hit = maker.hit(snapshot, found)?;
        if rater.is_left_out(&hit.path, hit.block_id.as_deref()) {
            continue;
        }
        let (slot, confidence) = (ranked.0, *own);
        let rating = match rater.rate(&hit.path, hit.kind, hit.role, &hit.text) {
            // A mere question holds no information.
            Rating::Said if is_question_alone(&hit.text) && !snapshot.corpus.is_answered(slot) => {
                Rating::Nothing
            }
            rating => rating,
        };
        if rating != Rating::Nothing
            || hit.kind == Kind::Heading && !is_shipped(&hit.text) && !rater.is_skill(&hit.path)
        {
            if first < FIRST {
                highest = highest.max(confidence);
            }
            first += 1;
        }
        facts += usize::from(rating == Rating::Fact);
        said += usize::from(rating == Rating::Said);
        let is_wanted = match rating {
            Rating::Fact => facts <= POOL,
            Rating::Said => said <= injection::MOST_MEMORIES,
            Rating::Nothing => hit.pinned,
        };
        if is_wanted {
            out.push(RatedBlock { slot, confidence, rating, hit });
        }
    }
    Ok((out, highest))
}

/// The usefulness of a find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rating {
    /// A written note, or a person's statement.
    Fact,
    /// The agent said it, and isn't asked what it said; or a person asked it: below all facts.
    Said,
    /// It is not given.
    Nothing,
}

/// The question by which finds are judged.
#[derive(Debug)]
pub struct Rater {
    terms: HashSet<String>,
    words: Vec<String>,
    asks_agent: bool,
    skills: String,
    left_out: HashSet<String>,
}

/// Words that a question begins with, where it has no question mark.
const ASKING: [&str; 22] = [
    "what", "what's", "who", "whose", "whom", "where", "when", "which", "why", "how", "tell", "remind",
    "did", "does", "do", "is", "are", "was", "were", "can", "could", "has",
];

impl Rater {
    /// For a question; `skills` is the folder of skills.
    pub fn new(question: &str, skills: &str) -> Self {
        let question = without_mentions(question);
        let skills = format!("{skills}/");
        let words = word_list(&question);
        let asks_agent = Wants::of(&words).agent;
        Self { terms: terms(&question), words, asks_agent, skills, left_out: HashSet::new() }
    }

    /// The same, where these places are left out: notes, and blocks of notes, as links' targets (`logs/a`,
    /// `logs/a#^ID`).
    #[must_use]
    pub fn without(mut self, places: impl IntoIterator<Item = String>) -> Self {
        self.left_out.extend(places);
        self
    }

    /// Whether a note is part of a skill, which is an instruction and no memory.
    pub fn is_skill(&self, path: &str) -> bool {
        path.starts_with(&self.skills)
    }

    /// Whether a note, or this block of it, is left out.
    pub fn is_left_out(&self, path: &str, block: Option<&str>) -> bool {
        let note = path.strip_suffix(".md").unwrap_or(path);
        self.left_out.contains(note)
            || block.is_some_and(|id| self.left_out.contains(&format!("{note}#^{id}")))
    }

    /// The rating of a block by its note, kind, speaker and text.
    pub fn rate(&self, path: &str, kind: Kind, role: Option<Role>, text: &str) -> Rating {
        // Text that only orders or explains a note is no memory; a link of the file of pins stands for its target.
        if matches!(kind, Kind::Heading | Kind::Properties | Kind::Comment)
            || kind == Kind::Pin && !has_words(text)
            || role == Some(Role::Tool)
            || is_shipped(text)
            || self.is_skill(path)
        {
            return Rating::Nothing;
        }
        if kind != Kind::Turn {
            return Rating::Fact;
        }
        let text = &*without_mentions(text);
        let asks = asks(text);
        if word_list(text) == self.words || asks && terms(text).is_subset(&self.terms) {
            return Rating::Nothing;
        }
        let is_agent = role == Some(Role::Agent);
        if asks || is_agent && !self.asks_agent { Rating::Said } else { Rating::Fact }
    }
}

/// A text without Discord's mentions (`<@5>`, `<@!5>`, `<@&5>`): whom it is said to is no part of what is asked.
fn without_mentions(text: &str) -> Cow<'_, str> {
    static MENTION: LazyLock<Regex> = LazyLock::new(|| Regex::new("<@[0-9!&]*>").expect("it is one"));
    MENTION.replace_all(text, " ")
}

/// Whether a text is a question.
fn asks(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '”' | ')' | '*' | '_'));
    if text.ends_with(['?', '？', '؟', '\u{37e}']) {
        return true;
    }
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_one = !text.trim_end_matches(['.', '!']).contains(['.', '!', '\n']);
    is_one && ASKING.contains(&first.as_str())
}

/// Whether a text is nothing but a question.
pub fn is_question_alone(text: &str) -> bool {
    let text = without_mentions(text);
    asks(&text) && !text.trim_end_matches(|c: char| !c.is_alphanumeric()).contains(['.', '!', '\n'])
}

/// Whether a pin says more than where its link points.
fn has_words(text: &str) -> bool {
    let is_word =
        |word: &str| word.contains(char::is_alphanumeric) && !word.contains("#^") && !word.contains("[[");
    text.split_whitespace().any(is_word)
}

fn terms(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    Terms::default().each(text, |term| {
        found.insert(term.to_owned());
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_before_what_was_said_and_echoes_are_nothing() {
        let rater = Rater::new("What does Anna drink?", "skills");
        let turn = |role, text| rater.rate("a.md", Kind::Turn, Some(role), text);
        for echo in [
            "What does Anna drink?",
            "what does anna drink",
            "Does Anna drink?",
            "Anna: what does she drink??",
            "<@500> What does Anna drink?",
            "what does <@!500> <@&7> Anna drink",
        ] {
            assert_eq!(turn(Role::User, echo), Rating::Nothing, "{echo}");
        }
        assert_eq!(turn(Role::User, "Anna drinks green tea."), Rating::Fact);
        assert_eq!(turn(Role::User, "Anna drinks"), Rating::Fact);
        assert_eq!(turn(Role::User, "<@500> Anna drinks <@ green> tea."), Rating::Fact);
        let told = Rater::new("<@500> Tell me about Anna", "skills");
        assert_eq!(
            told.rate("a.md", Kind::Turn, Some(Role::User), "<@500> Tell me about Anna"),
            Rating::Nothing
        );
        assert_eq!(turn(Role::User, "Does Anna drink green tea?"), Rating::Said);
        assert_eq!(turn(Role::User, "Tell me about Anna's tea"), Rating::Said);
        assert_eq!(turn(Role::Agent, "Anna drinks green tea."), Rating::Said);
        let asked = Rater::new("Which tea did you name to me?", "skills");
        assert_eq!(asked.rate("a.md", Kind::Turn, Some(Role::Agent), "Anna drinks green tea."), Rating::Fact);
        assert_eq!(turn(Role::Tool, "green tea"), Rating::Nothing);
        assert_eq!(rater.rate("a.md", Kind::Memory, None, "Anna: what does she drink"), Rating::Fact);
        assert_eq!(rater.rate("a.md", Kind::Heading, None, "Anna"), Rating::Nothing);
        assert_eq!(rater.rate("a.md", Kind::Pin, None, "Anna drinks green tea"), Rating::Fact);
        assert_eq!(
            rater.rate("skills/tea/SKILL.md", Kind::Paragraph, None, "Anna drinks tea"),
            Rating::Nothing
        );
        assert_eq!(rater.rate("a.md", Kind::Pin, None, "logs/discord-channel/7/x#^01K"), Rating::Nothing);
        let less = rater.without(["user/working".to_owned(), "logs/a#^X".to_owned()]);
        assert!(less.is_left_out("user/working.md", None) && less.is_left_out("logs/a.md", Some("X")));
        assert!(!less.is_left_out("logs/a.md", Some("Y")) && !less.is_left_out("logs/a.md", None));
        assert!(is_question_alone("<@5> who knows a plumber?") && !is_question_alone("I moved. Who helps?"));
        let rater = less;
        assert_eq!(rater.rate("a.md", Kind::Paragraph, None, "What is due today, what was promised, and what was left open yesterday? Answer in five lines."), Rating::Nothing);
    }
}
