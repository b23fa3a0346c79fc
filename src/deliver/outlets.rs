//! The places that a message can go to, in the order in which they are tried.

use std::sync::Arc;

use super::notifier::{Notifier, Scope};

/// The configured notifier, and the one that takes what it refuses for good.
#[derive(Clone)]
pub struct Outlets {
    /// The configured notifier.
    pub primary: Arc<dyn Notifier>,
    /// What takes over after a permanent refusal: the console, unless it is the primary itself.
    pub fallback: Option<Arc<dyn Notifier>>,
}

impl std::fmt::Debug for Outlets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fallback = self.fallback.as_ref().map(|notifier| notifier.name());
        f.debug_struct("Outlets").field("primary", &self.primary.name()).field("fallback", &fallback).finish()
    }
}

/// One place: a notifier, and where in it.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub notifier: &'a dyn Notifier,
    pub scope: Option<Scope>,
}

impl Place<'_> {
    /// `discord thread:123`, `console`.
    pub fn name(&self) -> String {
        match self.scope {
            Some(scope) => format!("{} {scope}", self.notifier.name()),
            None => self.notifier.name().to_owned(),
        }
    }
}

impl Outlets {
    /// One notifier with nothing behind it.
    pub fn only(primary: Arc<dyn Notifier>) -> Self {
        Self { primary, fallback: None }
    }

    /// The place at `route` for a message with this scope: its own place, the notifier's configured
    /// one, the fallback.
    pub(super) fn place(&self, route: u8, scope: Option<Scope>) -> Option<Place<'_>> {
        let own = Some(Place { notifier: &*self.primary, scope });
        let configured = scope.map(|_| Place { notifier: &*self.primary, scope: None });
        let fallback = self.fallback.as_deref().map(|notifier| Place { notifier, scope: None });
        [own, configured, fallback].into_iter().flatten().nth(usize::from(route))
    }
}
