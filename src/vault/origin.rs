//! Holds the origin of a write (actor, client, conversation), which history records with each change.

use super::change_reason::{Actor, ChangeReason};

/// The longest value of a trailer, in characters: names and ids are short, and a client may send any length.
const MAX_TRAILER_CHARS: usize = 200;

/// The author of a write and its context: becomes the snapshot's trailers `Actor:`, `Client:` and `Conversation:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The front door that the change came through.
    pub actor: Actor,
    /// The program that asked, in its own words: `claude-code 2.1`.
    pub client: Option<String>,
    /// The conversation that caused it.
    pub conversation: Option<String>,
}

/// The variable that names the brain in the environment of a program that works for a turn of the assistant; history
/// records it with the program's changes.
pub const BRAIN_VARIABLE: &str = "VAULT_AGENT_BRAIN";
/// In the environment of a program that works for a turn of the assistant: the turn.
pub const TURN_VARIABLE: &str = "VAULT_AGENT_TURN";

impl Origin {
    /// The assistant, where the environment says that this program works for a turn of it.
    pub fn of_turn(env: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let turn = env(TURN_VARIABLE).filter(|turn| !turn.trim().is_empty())?;
        let origin = Self::new(Actor::Assistant).conversation(format!("turn {turn}"));
        Some(origin.client(env(BRAIN_VARIABLE).unwrap_or_default()))
    }

    /// A front door by itself.
    pub fn new(actor: Actor) -> Self {
        Self { actor, client: None, conversation: None }
    }

    /// The same for a program; a blank name is none.
    #[must_use]
    pub fn client(mut self, name: impl Into<String>) -> Self {
        self.client = Some(name.into());
        self
    }

    /// The same for a conversation; a blank id is none.
    #[must_use]
    pub fn conversation(mut self, id: impl Into<String>) -> Self {
        self.conversation = Some(id.into());
        self
    }

    /// The reason for a change, with its trailers.
    pub fn why(&self, subject: impl Into<String>) -> ChangeReason {
        let mut why = ChangeReason::new(self.actor, subject);
        for (key, value) in [("Client", &self.client), ("Conversation", &self.conversation)] {
            let value: String =
                value.iter().flat_map(|value| value.trim().chars()).take(MAX_TRAILER_CHARS).collect();
            if !value.is_empty() {
                why = why.trailer(key, value);
            }
        }
        why
    }
}

impl From<Actor> for Origin {
    fn from(actor: Actor) -> Self {
        Self::new(actor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_told_by_the_environment() {
        let of = |turn: &'static str| {
            Origin::of_turn(move |name| match name {
                TURN_VARIABLE => Some(turn.to_owned()),
                BRAIN_VARIABLE => Some("cc".to_owned()),
                _ => None,
            })
        };
        assert_eq!(of(" "), None);
        let origin = of("01ABC").unwrap();
        assert_eq!((origin.actor, origin.client.as_deref()), (Actor::Assistant, Some("cc")));
        assert_eq!(origin.conversation.as_deref(), Some("turn 01ABC"));
    }

    #[test]
    fn what_is_blank_is_no_trailer() {
        let origin = Origin::new(Actor::Mcp).client("  ").conversation("c".repeat(300));
        let why = origin.why("saved: x");
        assert_eq!(why.trailers, [("Conversation".to_owned(), "c".repeat(200))]);
    }
}
