//! Defines the destinations of a message, in the order in which they are tried.

use std::sync::Arc;

use super::delivery_journal::Recipient;
use super::notifier::{MessageScope, Notifier};

/// The configured notifiers, and the fallback for messages that a notifier refuses for good.
#[derive(Clone)]
pub struct DeliveryOrder {
    /// The notifier that counts: a delivery is sent when it takes the message.
    pub primary: Arc<dyn Notifier>,
    /// The notifier that takes over after a permanent refusal by another one: the console.
    pub fallback: Arc<dyn Notifier>,
    /// Further notifiers, for copies and for tagged items.
    pub others: Vec<Arc<dyn Notifier>>,
    /// Why the console stands in the place of the configured primary notifier, if it does.
    pub console_reason: Option<String>,
}

/// One place: a notifier, and a scope in it.
#[derive(Clone, Copy)]
pub(super) struct Destination<'a> {
    pub notifier: &'a dyn Notifier,
    pub scope: Option<MessageScope>,
}

impl Destination<'_> {
    /// `discord thread:123`, `console`.
    pub fn name(&self) -> String {
        match self.scope {
            Some(scope) => format!("{} {scope}", self.notifier.name()),
            None => self.notifier.name().to_owned(),
        }
    }
}

impl DeliveryOrder {
    /// One notifier without a fallback.
    pub fn only(primary: Arc<dyn Notifier>) -> Self {
        Self { fallback: Arc::clone(&primary), primary, others: Vec::new(), console_reason: None }
    }

    /// One notifier, with a fallback after a permanent refusal.
    pub fn with_fallback(primary: Arc<dyn Notifier>, fallback: Arc<dyn Notifier>) -> Self {
        Self { primary, fallback, others: Vec::new(), console_reason: None }
    }

    /// The notifier with this name, if it is there.
    fn named(&self, name: &str) -> Option<&dyn Notifier> {
        let all = std::iter::once(&self.primary).chain(&self.others);
        all.map(|notifier| &**notifier).find(|notifier| notifier.name() == name)
    }

    /// The notifier that a message is for; none for a copy to one that the settings name no more.
    fn of(&self, to: &Recipient) -> Option<&dyn Notifier> {
        match to {
            Recipient::Primary => Some(&*self.primary),
            Recipient::Named(name) => Some(self.named(name).unwrap_or(&*self.primary)),
            Recipient::Copy(name) => self.named(name),
        }
    }

    /// The name of the notifier that a message is for.
    pub(super) fn name(&self, to: &Recipient) -> Option<&'static str> {
        self.of(to).map(Notifier::name)
    }

    /// Why this machine can't use the notifier that a message is for, if so.
    pub(super) fn obstacle(&self, to: &Recipient) -> Option<&str> {
        self.of(to)?.obstacle()
    }

    /// The name of the notifier that a message is for, if this machine can use it.
    pub(super) fn usable_name(&self, to: &Recipient) -> Option<&'static str> {
        self.name(to).filter(|_| self.obstacle(to).is_none())
    }

    /// Whether this machine can use all notifiers.
    pub fn is_usable(&self) -> bool {
        std::iter::once(&self.primary).chain(&self.others).all(|notifier| notifier.obstacle().is_none())
    }

    /// The longest text that one message to this recipient takes, in UTF-16 units.
    pub(super) fn limit(&self, to: &Recipient) -> usize {
        self.of(to).map_or(crate::deliver::split::DEFAULT_LIMIT, Notifier::limit)
    }

    /// The place at `route` for a message with this scope. The routes are the message's own place, the notifier's
    /// configured place, and the fallback if it is another notifier. A copy has no fallback, since another notifier
    /// counts.
    pub(super) fn place(
        &self,
        to: &Recipient,
        route: u8,
        scope: Option<MessageScope>,
    ) -> Option<Destination<'_>> {
        let notifier = self.of(to)?;
        let own = Some(Destination { notifier, scope });
        let configured = scope.map(|_| Destination { notifier, scope: None });
        let has_fallback = !to.is_copy() && notifier.name() != self.fallback.name();
        let fallback = has_fallback.then(|| Destination { notifier: &*self.fallback, scope: None });
        [own, configured, fallback].into_iter().flatten().nth(usize::from(route))
    }
}
