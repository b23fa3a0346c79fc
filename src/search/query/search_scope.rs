//! Parses the scopes that a search is limited to: `global`, `project:ID`, `agent:ID`, `user:ID` and `custom:NAME`
//! beside the places of a scope, separated by commas.
//!
//! A block belongs to the scopes that its tags mark, and to `global` without one ([`crate::memory::Scope`]).

use crate::memory::Scope;

/// The most hits of one answer.
pub(in crate::search) const MOST_HITS: usize = 10_000;

/// A scope as it was asked for, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::search) struct SearchScope {
    /// The place, as the index knows it: `memory`, `logs`, a folder.
    pub place: Option<String>,
    /// The scopes of memories; none means all.
    pub scopes: Vec<Scope>,
}

impl SearchScope {
    /// Parses `scope`. Text that names no scope of memories is a place as it stands, commas and all.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_and_places_are_told_apart() {
        let within = |text| SearchScope::of(Some(text));
        assert_eq!(within("memory"), SearchScope { place: Some("memory".into()), scopes: vec![] });
        assert_eq!(within("Notes, old/"), SearchScope { place: Some("Notes, old/".into()), scopes: vec![] });
        let both = within("project:a, global,memory");
        assert_eq!(both.place.as_deref(), Some("memory"));
        assert_eq!(both.scopes, [Scope::Project("a".into()), Scope::Global]);
        assert_eq!(SearchScope::of(None), SearchScope { place: None, scopes: vec![] });
    }
}
