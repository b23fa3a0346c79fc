//! Defines the states of a turn, and the allowed changes between them. Pure.

use crate::words::words;

words! {
    /// The progress of a turn. Each state is on disk before the step that it announces begins.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum TurnState, as_str {
        /// Accepted; nothing was done yet.
        Accepted = "accepted",
        /// The brains and their order are chosen.
        Routed = "routed",
        /// The memory result is fixed.
        Recalled = "recalled",
        /// The request is fixed, by its hash.
        Assembled = "assembled",
        /// A brain was asked; rounds of tools may have followed.
        Called = "called",
        /// The text is fixed and recorded in the delivery journal.
        Answered = "answered",
        /// Every chunk of it was sent.
        Sent = "sent",
        /// Every chunk is in the log: final.
        Done = "done",
        /// The question was withdrawn before it was answered, or the answer can't be delivered: final.
        Dropped = "dropped",
    }
}

impl TurnState {
    /// Whether the state is final.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Dropped)
    }

    /// Whether the text is fixed, so that no brain is asked again.
    pub fn is_answered(self) -> bool {
        matches!(self, Self::Answered | Self::Sent | Self::Done)
    }

    /// Whether a turn may go from here to `next`. Up to its answer a turn may begin again (its question was
    /// edited, the program was killed); from there it only goes on. A question can be withdrawn only before.
    pub fn may_become(self, next: Self) -> bool {
        match next {
            Self::Dropped => !self.is_final() && self != Self::Sent,
            Self::Accepted | Self::Routed | Self::Recalled | Self::Assembled | Self::Called => {
                self < Self::Answered
            }
            Self::Answered => self < Self::Answered,
            Self::Sent => self == Self::Answered,
            Self::Done => self == Self::Sent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_and_an_answer_is_never_taken_back() {
        for state in TurnState::ALL {
            assert_eq!(TurnState::named(state.as_str()), Some(state));
            for next in TurnState::ALL {
                if state.is_answered() {
                    let onwards = next > state;
                    assert!(onwards || !state.may_become(next), "{state:?} to {next:?}");
                }
                if state.is_final() {
                    assert!(!state.may_become(next), "{state:?} to {next:?}");
                }
            }
        }
    }
}
