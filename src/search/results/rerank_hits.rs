//! Searches with a reranker that orders the first hits ([`SearchClient::deep`]), if a person or a model asks for a deep
//! search. Memories for a prompt are recalled without it.
//!
//! The search itself is the usual search, by the daemon if one runs; this process asks the reranker, because its
//! environment has the key. If the reranker fails, the hits keep the search's order, and the answer says so. A hit in a
//! language that the reranker doesn't support keeps its place. If the question is in such a language, or is too short
//! to tell and most hits are, nothing is reranked, and the answer says so.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use crate::embed::{ModelError, cut};
use crate::rerank::{self, Reranker};
use crate::search::analyze::function_words;
use crate::search::read::names_of_path;
use crate::search::results::{SearchClient, syntax_of, words_of};
use crate::search::{Answer, Hit, Kind, Query, Reranked, Result};

/// The number of the best hits that are scored.
pub const MOST: usize = 50;
/// The number of a text's bytes from which its language is detected.
const ENOUGH: usize = 1_000;

impl SearchClient {
    /// As [`SearchClient::search`], with the first [`MOST`] hits in the order of the settings' reranker.
    ///
    /// # Errors
    /// As there; a reranker that fails is a note in the answer.
    pub fn deep(&self, query: &Query) -> Result<Answer> {
        let mut answer = self.search(&Query { limit: query.limit.max(MOST), ..query.clone() })?;
        if query.limit > 0
            && let Err(note) = self.rerank(&mut answer)
        {
            answer.notes.push(note);
        }
        answer.hits.truncate(query.limit);
        Ok(answer)
    }

    /// Puts the first hits in order, or says why not.
    fn rerank(&self, answer: &mut Answer) -> Result<(), String> {
        let kept = |error: ModelError| format!("{error}; the order is search's own");
        let Some(reranker) = self.reranker().map_err(kept)? else {
            return Err("`[rerank]` names no reranker; the order is search's own".to_owned());
        };
        let settings = &self.workspace().settings.rerank;
        let first = answer.hits.len().min(MOST);
        let question = words_of(&syntax_of(&answer.query), &answer.query);
        let known = known(&settings.languages, &question, &answer.hits[..first])?;
        if known.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = known.iter().map(|at| passage(&answer.hits[*at])).collect();
        let patience = Duration::from_secs(settings.timeout_seconds.into());
        let scores = reranker.scores(&question, &texts, patience).map_err(kept)?;
        order(&mut answer.hits, &known, &scores);
        answer.reranked = Some(Reranked { by: reranker.name().to_owned(), hits: known.len() });
        Ok(())
    }

    fn reranker(&self) -> Result<Option<Arc<dyn Reranker>>, ModelError> {
        let workspace = self.workspace();
        self.reranker.get_or_init(|| rerank::open(&workspace.settings, workspace.vault.root())).clone()
    }
}

/// The places of the hits that a reranker of these languages can judge: all but those that are surely in another one.
/// None of them where the question is in another one; where that is too short to tell, most hits decide.
fn known(languages: &[String], question: &str, hits: &[Hit]) -> Result<Vec<usize>, String> {
    let all = 0..hits.len();
    if languages.is_empty() {
        return Ok(all.collect());
    }
    let is_foreign = |found: &&str| !languages.iter().any(|language| language == found);
    let foreign = |text: &str| language_of(text).filter(is_foreign);
    let others = |found: &str| {
        let known = languages.join(", ");
        format!(
            "the reranker knows {known}, and the question seems to be in {found}; the order is search's own"
        )
    };
    let asked = language_of(question);
    if let Some(found) = asked.filter(is_foreign) {
        return Err(others(found));
    }
    let known: Vec<usize> = all.filter(|at| foreign(&hits[*at].text).is_none()).collect();
    if asked.is_none() && known.len() * 2 < hits.len() {
        return Err(others("another language, as most of what was found"));
    }
    Ok(known)
}

/// The language of a text: function words tell that of a short one, trigrams that of a longer one, and other scripts.
fn language_of(text: &str) -> Option<&'static str> {
    let words = cut(text, ENOUGH).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    function_words::language(&words).or_else(|| crate::rerank::language_of(text))
}

/// Sorts the hits at `places` by their scores, the best first, among those places. A place keeps the score that search
/// gave it, so that scores still fall.
fn order(hits: &mut [Hit], places: &[usize], scores: &[f64]) {
    let scored = places.iter().zip(scores);
    let mut sorted: Vec<Hit> =
        scored.map(|(at, score)| Hit { relevance: Some(*score), ..hits[*at].clone() }).collect();
    // Of equal ones search's own first is first.
    sorted.sort_by(|a, b| b.relevance.partial_cmp(&a.relevance).unwrap_or(Ordering::Equal));
    for (place, hit) in places.iter().zip(sorted) {
        hits[*place] = Hit { score: hits[*place].score, ..hit };
    }
}

/// A hit as a reranker reads it: what it belongs to, who said it, and its text.
fn passage(hit: &Hit) -> String {
    let (_, name) = names_of_path(&hit.path);
    // The name of a log is a time.
    let above = [(hit.kind != Kind::Turn).then_some(name), hit.section.as_deref()];
    let mut out = above.into_iter().flatten().collect::<Vec<_>>().join(" > ");
    if !out.is_empty() {
        out.push('\n');
    }
    if let Some(author) = &hit.author {
        out.push_str(author);
        out.push_str(": ");
    }
    out + &hit.text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(text: &str, score: f64) -> Hit {
        let json = serde_json::json!({
            "path": "a/Boiler.md", "line": 1, "end_line": 1, "kind": "paragraph", "section": "Repair",
            "timestamp": null, "score": score, "snippet": text,
        });
        Hit { text: text.to_owned(), ..serde_json::from_value(json).unwrap() }
    }

    #[test]
    fn places_keep_their_scores_and_foreign_hits_their_places() {
        let mut hits: Vec<Hit> =
            ["a", "b", "c", "d"].iter().zip([9.0, 7.0, 5.0, 1.0]).map(|(t, s)| hit(t, s)).collect();
        order(&mut hits, &[0, 2, 3], &[0.1, 0.9, 0.9]);
        let shown: Vec<(&str, f64, Option<f64>)> =
            hits.iter().map(|hit| (hit.text.as_str(), hit.score, hit.relevance)).collect();
        let expected =
            [("c", 9.0, Some(0.9)), ("b", 7.0, None), ("d", 5.0, Some(0.9)), ("a", 1.0, Some(0.1))];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_reranker_is_not_asked_about_languages_that_it_doesn_t_know() {
        let english = "When did we adopt the little kitten from the shelter?";
        let german = "Wann haben wir das kleine Kätzchen aus dem Tierheim geholt?";
        let en = ["en".to_owned()];
        let hits = [hit(english, 3.0), hit(german, 2.0), hit("4711", 1.0)];
        assert_eq!(known(&[], german, &hits).unwrap(), [0, 1, 2]);
        assert_eq!(known(&en, english, &hits).unwrap(), [0, 2]);
        assert!(known(&en, german, &hits).unwrap_err().contains("in de;"));
        assert_eq!(known(&en, "vet", &hits).unwrap(), [0, 2], "too short to tell: the hits say");
        assert!(known(&en, "vet", &[hit(german, 1.0)]).is_err());
    }

    #[test]
    fn a_passage_says_what_it_belongs_to() {
        assert_eq!(passage(&hit("the valve sticks", 1.0)), "Boiler > Repair\nthe valve sticks");
    }
}
