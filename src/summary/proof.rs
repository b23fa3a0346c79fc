//! What is wrong with summaries: proved against the bytes of their log. Pure.

use super::window::{Placed, Window};
use crate::format::summary::Kind;

/// What is wrong with a summary.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Its id; the note's path where it has none.
    pub id: String,
    /// Why, in words.
    pub why: String,
}

impl Window {
    /// All that is wrong: with notes, with the log, with what is missing between them.
    pub fn verify(&self) -> Vec<Problem> {
        let problem = |id: &str, why: String| Problem { id: id.to_owned(), why };
        let mut bad: Vec<Problem> = self
            .doubled
            .iter()
            .map(|id| problem(id, "two notes bear this id; delete one".to_owned()))
            .collect();
        for placed in &self.notes {
            if let Some(why) = self.wrong(placed) {
                bad.push(problem(&placed.note.summary.id, why));
            }
        }
        if self.bytes.is_none() {
            return bad;
        }
        let mut missing: Vec<&str> = self.missing().into_iter().collect();
        missing.sort_unstable();
        bad.extend(
            missing.into_iter().map(|id| problem(id, "its note is missing; it is made again".to_owned())),
        );
        let mut end: Option<usize> = None;
        for events in self.leaves().filter_map(|placed| placed.events.clone()) {
            let gap = end.unwrap_or(0)..events.start;
            if gap.clone().any(|at| self.size(&self.blocks[at]).is_linkable)
                && let Some(covers) = self.covers(&gap)
            {
                let id = self.id_of(Kind::Leaf, &covers, &[]);
                if !bad.iter().any(|known| known.id == id) {
                    let why =
                        format!("a leaf for ^{} to ^{} is missing; it is made again", covers.0, covers.1);
                    bad.push(Problem { id, why });
                }
            }
            end = end.max(Some(events.end));
        }
        bad
    }

    fn wrong(&self, placed: &Placed) -> Option<String> {
        let summary = &placed.note.summary;
        if self.bytes.is_none() {
            return Some(format!("its log `{}.md` is gone; `vault-agent restore` brings it back", self.link));
        }
        if let Some((first, last)) = &summary.covers
            && let Some(lost) = [first, last].into_iter().find(|id| !self.places.contains_key(*id))
        {
            return Some(format!("`{}.md` doesn't hold the event ^{lost}, or holds it twice", self.link));
        }
        let Some(events) = &placed.events else {
            return Some("what it covers can't be found in its log".to_owned());
        };
        if self.hash(events) != summary.sha256 {
            return Some(format!("`{}.md` says something else than when it was summarised", self.link));
        }
        if summary.kind == Kind::Condensed {
            let parts: Vec<_> =
                self.children(&summary.id).iter().map(|c| self.events(&c.summary.id)).collect();
            let whole = parts.len() == summary.sources.len();
            let mut at = events.start;
            let is_row = parts
                .into_iter()
                .all(|part| part.is_some_and(|part| std::mem::replace(&mut at, part.end) == part.start));
            if whole && !(is_row && at == events.end) {
                return Some("its sources don't cover what it covers".to_owned());
            }
        }
        let covers = self.covers(events)?;
        (self.id_of(summary.kind, &covers, &summary.sources) != summary.id)
            .then(|| "its id is not the one of what it covers: somebody changed its head".to_owned())
    }
}
