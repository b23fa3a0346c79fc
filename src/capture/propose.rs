//! Makes questions for a person from the candidates (proposed memories) of one turn. Removes duplicates, drops
//! candidates whose scores in [`admission`] are too low, and decides by the category whether a known fact is replaced
//! or extended. Pure: the vectors that are compared come from the built-in embedding model.

use jiff::Timestamp;

use super::admission::{self, Admission, CandidateScores};
use super::dedup;
use crate::capture::inbox_note::is_keepable;
use crate::capture::new_turns::PersonTurn;
use crate::capture::sentences::is_verbatim;
use crate::capture::{DedupVerdict, ExtractedFact};
use crate::embed::BuiltinTable;
use crate::format::candidate::{Candidate, CandidateRecord, CheckboxMark, id_from_bits};
use crate::memory::normal;
use crate::redact;

/// Facts whose cosine is below this are no neighbours (notes on memory systems, §5.1: a match from 0.55 on).
const NEIGHBOUR: f32 = 0.55;

/// A known fact, or an earlier question.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownItem {
    /// Its subject: a section of `MEMORY.md`; none for the text above the first.
    pub section: Option<String>,
    /// Its text.
    pub text: String,
    /// Its vector.
    pub vector: Vec<f32>,
    /// Since when it is known.
    pub at: Option<Timestamp>,
    /// The id of the question, if there was one.
    pub id: Option<String>,
}

/// Known facts and earlier questions, to compare with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownFacts {
    /// Facts that hold.
    pub facts: Vec<KnownItem>,
    /// All earlier questions, with any outcome.
    pub asked: Vec<KnownItem>,
}

impl KnownItem {
    /// One with its vector.
    pub fn new(table: &BuiltinTable, section: Option<&str>, text: &str, at: Option<Timestamp>) -> Self {
        let (section, vector) = (section.map(str::to_owned), table.embed(text));
        Self { section, text: text.to_owned(), vector, at, id: None }
    }

    /// A question with its id.
    pub fn from_question(table: &BuiltinTable, candidate: &Candidate) -> Self {
        let one = Self::new(table, Some(&candidate.section), &candidate.text, None);
        Self { id: Some(candidate.id.clone()), ..one }
    }

    /// Whether it may concern the same subject as an entry of this section: one person's preference tells nothing about
    /// another's.
    pub fn is_about(&self, section: &str) -> bool {
        self.section.as_deref().is_none_or(|own| crate::memory::is_section(own, section))
    }
}

/// A candidate that is asked about or admitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The line; its record says when and by whom.
    pub candidate: Candidate,
    /// Whether the settings may let it in at once.
    pub admission: Admission,
    /// Its scores.
    pub scores: CandidateScores,
}

/// Turns the findings of a turn into proposals; `by` names their finder. A repeated question is not asked again: the id
/// of the first one goes to `again`.
pub fn propose(
    turn: &PersonTurn,
    found: Vec<ExtractedFact>,
    memory: &KnownFacts,
    by: &str,
    now: Timestamp,
    table: &BuiltinTable,
    again: &mut Vec<String>,
) -> Vec<Proposal> {
    let standing: Vec<ExtractedFact> =
        found.into_iter().filter(|found| is_verbatim(&found.quote, &turn.text)).collect();
    let vectors: Vec<Vec<f32>> = standing.iter().map(|found| table.embed(&found.text)).collect();
    let mut out: Vec<Proposal> = Vec::new();
    for place in dedup::first_of_duplicates(&vectors) {
        let (found, vector) = (&standing[place], &vectors[place]);
        let section = section_of(found.about.as_deref().unwrap_or(&turn.author));
        let facts: Vec<&KnownItem> = memory.facts.iter().filter(|fact| fact.is_about(&section)).collect();
        let mut asked = memory.asked.iter().filter(|asked| asked.is_about(&section));
        if let Some(asked) = asked.find(|asked| says_the_same(found, vector, asked)) {
            again.extend(asked.id.clone());
            continue;
        }
        let DedupVerdict::New(change) = verdict(found, vector, &facts) else { continue };
        let scores = scores(found, vector, turn, &facts);
        // Without a tick nobody changes what is said of others, or of nobody.
        let is_own = crate::memory::is_section(&section_of(&turn.author), &section)
            && change.as_ref().is_none_or(|change| {
                facts.iter().any(|fact| fact.section.is_some() && fact.text == change.words())
            });
        let admission = scores.verdict().min(if is_own { Admission::In } else { Admission::Ask });
        let candidate = Candidate {
            mark: CheckboxMark::Open,
            category: found.category,
            section,
            text: found.text.trim().to_owned(),
            quote: found.quote.clone(),
            path: turn.path.clone(),
            block: turn.block.clone(),
            change,
            id: id(turn, found),
            record: Some(CandidateRecord { asked: now, by: by.to_owned(), kept: None, on: None }),
            block_id: None,
        };
        // No question for a line that would hold a secret, or a masked one.
        let has_secret = [&candidate.text, &candidate.quote]
            .iter()
            .any(|text| text.contains(redact::MASKED) || !redact::find(text).is_empty());
        let can_be_kept =
            candidate.is_writable() && is_keepable(&candidate.text, &candidate.section) && !has_secret;
        if admission > Admission::Out && can_be_kept {
            out.push(Proposal { candidate, admission, scores });
        }
    }
    out
}

/// Whether the same question was asked before, whatever the answer.
fn says_the_same(found: &ExtractedFact, vector: &[f32], asked: &KnownItem) -> bool {
    normal(&asked.text) == normal(&found.text) || dedup::cosine(&asked.vector, vector) >= dedup::SAME
}

fn verdict(found: &ExtractedFact, vector: &[f32], facts: &[&KnownItem]) -> DedupVerdict {
    if facts.iter().any(|fact| normal(&fact.text) == normal(&found.text)) {
        return DedupVerdict::Known;
    }
    let mut near = dedup::nearest(vector, facts.iter().map(|fact| fact.vector.as_slice()));
    let others = (0..facts.len()).filter(|place| dedup::contradicts(&found.text, &facts[*place].text));
    let others: Vec<usize> = others.filter(|place| !near.contains(place)).collect();
    near.extend(others);
    let near: Vec<&str> = near.into_iter().map(|place| facts[place].text.as_str()).collect();
    match &found.verdict {
        Some(verdict) => dedup::allowed(found.category, verdict.restricted_to(&near)),
        None => dedup::verdict_by_words(found.category, &found.text, &near),
    }
}

fn scores(found: &ExtractedFact, vector: &[f32], turn: &PersonTurn, facts: &[&KnownItem]) -> CandidateScores {
    let mut near: Vec<(f32, Option<Timestamp>)> =
        facts.iter().map(|fact| (dedup::cosine(&fact.vector, vector), fact.at)).collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    near.truncate(admission::NEIGHBOURS);
    let cosines: Vec<f32> = near.iter().map(|(cosine, _)| *cosine).collect();
    let latest = near.iter().filter(|(cosine, _)| *cosine >= NEIGHBOUR).filter_map(|(_, at)| *at).max();
    let days = latest.map(|at| at.duration_until(turn.at).as_secs_f64() / 86_400.0);
    CandidateScores {
        utility: found.utility.clamp(0.0, 1.0),
        confidence: admission::confidence(&found.text, &turn.text),
        novelty: admission::novelty(&cosines),
        recency: admission::recency(days),
        prior: admission::prior(found.category),
    }
}

/// The section for this person's statements: their name.
fn section_of(author: &str) -> String {
    let name: String = author.chars().filter(|c| !c.is_control()).collect();
    let name = name.trim().trim_matches('#').trim();
    crate::memory::wording::section(name).unwrap_or_else(|_| crate::memory::DEFAULT_SECTION.to_owned())
}

/// The same words of the same block have the same id, whenever they are found.
fn id(turn: &PersonTurn, found: &ExtractedFact) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [&turn.path, &turn.block, &found.quote, &found.text] {
        hasher.update(part.as_bytes()).update(&[0]);
    }
    let mut bits = [0; 8];
    bits.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    id_from_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::candidate::{Category, FactChange};

    fn turn(said: &str) -> PersonTurn {
        PersonTurn {
            path: "logs/discord-channel/1/20261101T000000Z_0001".into(),
            block: "01JGXYZ0000000000000000000".into(),
            author: "Anna".into(),
            text: said.into(),
            at: "2026-11-20T10:00:00Z".parse().unwrap(),
        }
    }

    fn found(category: Category, text: &str, quote: &str) -> ExtractedFact {
        ExtractedFact {
            category,
            text: text.into(),
            quote: quote.into(),
            utility: 0.8,
            about: None,
            verdict: None,
        }
    }

    fn proposed(said: &str, found: Vec<ExtractedFact>, facts: &[&str], asked: &[&str]) -> Vec<Proposal> {
        let table = BuiltinTable::builtin();
        let known = |texts: &[&str]| {
            texts.iter().map(|text| KnownItem::new(&table, Some("Anna"), text, None)).collect()
        };
        let memory = KnownFacts { facts: known(facts), asked: known(asked) };
        propose(&turn(said), found, &memory, "rules", turn("").at, &table, &mut Vec::new())
    }

    #[test]
    fn a_quote_that_does_not_stand_there_is_never_asked() {
        let said = "I only drink green tea.";
        let tea = |quote| found(Category::Preferences, "likes green tea", quote);
        assert_eq!(proposed(said, vec![tea("I only drink black tea.")], &[], &[]), []);
        let one = proposed(said, vec![tea("I only drink green tea"), tea("green tea")], &[], &[]);
        assert_eq!(one.len(), 1, "two that say the same are one");
        assert_eq!((one[0].candidate.section.as_str(), one[0].admission), ("Anna", Admission::In));
    }

    #[test]
    fn what_was_asked_or_is_known_is_not_asked_again() {
        let said = "I only drink green tea.";
        let tea = || vec![found(Category::Preferences, "I only drink green tea.", said)];
        assert_eq!(proposed(said, tea(), &[], &["I only drink green tea"]), []);
        assert_eq!(proposed(said, tea(), &["I only drink green tea"], &[]), []);
        assert_eq!(proposed(said, tea(), &["Rex is a dog"], &["Rex is a dog"]).len(), 1);
    }

    #[test]
    fn what_changed_takes_the_old_facts_place() {
        let said = "I live in Vienna now.";
        let moved = |category| vec![found(category, "Anna lives in Vienna", said)];
        let change = |category| {
            let facts = ["Rex is a dog", "Anna lives in Graz"];
            let one = proposed(said, moved(category), &facts, &[]).pop().unwrap();
            one.candidate.change
        };
        assert_eq!(change(Category::Entities), Some(FactChange::Replaces("Anna lives in Graz".into())));
        assert_eq!(change(Category::Patterns), Some(FactChange::Joins("Anna lives in Graz".into())));
        assert_eq!(change(Category::Events), None);
    }

    #[test]
    fn what_one_person_does_says_nothing_of_another() {
        let said = "I live in Vienna now.";
        let about =
            ExtractedFact { about: Some("Bob".into()), ..found(Category::Entities, "lives in Vienna", said) };
        let one = proposed(said, vec![about], &["lives in Graz"], &["lives in Vienna"]).pop().unwrap();
        assert_eq!((one.candidate.section.as_str(), one.candidate.change), ("Bob", None));
        assert_eq!(one.admission, Admission::Ask, "nobody is spoken for without a tick");
    }

    #[test]
    fn what_can_not_be_kept_is_not_asked() {
        for (said, asked) in [("I only drink green tea.", 1), ("I only drink\u{7} green tea.", 0)] {
            let tea = found(Category::Preferences, said, said);
            assert_eq!(proposed(said, vec![tea], &[], &[]).len(), asked, "{said:?}");
        }
    }

    #[test]
    fn the_same_words_have_the_same_id() {
        let said = "I only drink green tea.";
        let one =
            || proposed(said, vec![found(Category::Preferences, "likes green tea", "green tea")], &[], &[]);
        assert_eq!(one()[0].candidate.id, one()[0].candidate.id);
    }
}
