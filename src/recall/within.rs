//! Whose memories a search is about: `global`, `project:ID`, `agent:ID`, `user:ID` and `custom:NAME` beside the places
//! of a scope, with commas between them.
//!
//! A block belongs to the scopes that its tags mark, and to `global` without one ([`crate::memory::Scope`]).

use std::collections::HashSet;

use super::engine::{Recall, RecallError};
use super::search::MOST_HITS;
use crate::index::{Answer, Hit, Query};
use crate::memory::{Scope, is_visible};

/// So many hits are ranked for one that is wanted, before others' are left out.
const WIDER: usize = 20;

/// A scope as it was asked for, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Within {
    /// The place, as the index knows it: `memory`, `logs`, a folder.
    pub place: Option<String>,
    /// The scopes of memories; none means all.
    pub scopes: Vec<Scope>,
}

impl Within {
    /// What `scope` says. Text that names no scope of memories is a place as it stands, commas and all.
    pub fn of(scope: Option<&str>) -> Self {
        let (mut scopes, mut places) = (Vec::new(), Vec::new());
        for part in scope.unwrap_or_default().split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match part.parse::<Scope>() {
                Ok(found) => scopes.push(found),
                Err(_) => places.push(part),
            }
        }
        let place =
            if scopes.is_empty() { scope.map(str::to_owned) } else { places.first().map(|&p| p.to_owned()) };
        Self { place, scopes }
    }

    /// Whether a hit belongs to what was asked for.
    pub fn has(&self, hit: &Hit) -> bool {
        self.scopes.is_empty() || is_visible(&hit.tags, &self.scopes)
    }
}

impl Recall {
    /// Answers a query by words and meaning, in a place of the vault and in scopes of memories; see
    /// [`Recall::search_place`] for what a query can say.
    ///
    /// # Errors
    /// The index's; a model that fails is a note in the answer.
    pub fn search(&self, query: &Query) -> Result<Answer, RecallError> {
        let within = Within::of(query.scope.as_deref());
        if within.scopes.is_empty() {
            return self.search_place(query);
        }
        let wide = query.limit.saturating_mul(WIDER).clamp(query.limit, MOST_HITS.max(query.limit));
        let place = Query { scope: within.place.clone(), limit: wide, ..query.clone() };
        let mut answer = self.search_place(&place)?;
        answer.hits.retain(|hit| within.has(hit));
        // What is marked is found by its words, however many better hits others have.
        for tag in within.scopes.iter().filter_map(Scope::tag) {
            if answer.hits.len() >= query.limit {
                break;
            }
            let text = format!("{} tag:{}", query.text, tag.trim_start_matches('#'));
            let marked = self.index.search(&Query { text, limit: query.limit, ..place.clone() })?;
            let known: HashSet<(String, u32)> =
                answer.hits.iter().map(|hit| (hit.path.clone(), hit.line)).collect();
            let new = |hit: &Hit| within.has(hit) && !known.contains(&(hit.path.clone(), hit.line));
            answer.hits.extend(marked.hits.into_iter().filter(new));
        }
        answer.hits.truncate(query.limit);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_and_places_are_told_apart() {
        let within = |text| Within::of(Some(text));
        assert_eq!(within("memory"), Within { place: Some("memory".into()), scopes: vec![] });
        assert_eq!(within("Notes, old/"), Within { place: Some("Notes, old/".into()), scopes: vec![] });
        let both = within("project:a, global,memory");
        assert_eq!(both.place.as_deref(), Some("memory"));
        assert_eq!(both.scopes, [Scope::Project("a".into()), Scope::Global]);
        assert_eq!(Within::of(None), Within { place: None, scopes: vec![] });
    }
}
