//! Defines the states of a turn, and the allowed changes between them. Pure.

/// The progress of a turn. Each state is on disk before the step that it announces begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TurnState {
    /// Accepted; nothing was done yet.
    Accepted,
    /// The brains and their order are chosen.
    Routed,
    /// The memory result is fixed.
    Recalled,
    /// The request is fixed, by its hash.
    Assembled,
    /// A brain was asked; rounds of tools may have followed.
    Called,
    /// The text is fixed and recorded in the delivery journal.
    Answered,
    /// Every chunk of it was sent.
    Sent,
    /// Every chunk is in the log: final.
    Done,
    /// The question was withdrawn before it was answered, or the answer can't be delivered: final.
    Dropped,
}

impl TurnState {
    /// All states in their order, with the name in the journal and in `turns`.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Accepted, "accepted"),
        (Self::Routed, "routed"),
        (Self::Recalled, "recalled"),
        (Self::Assembled, "assembled"),
        (Self::Called, "called"),
        (Self::Answered, "answered"),
        (Self::Sent, "sent"),
        (Self::Done, "done"),
        (Self::Dropped, "dropped"),
    ];

    /// The name in the journal and in `turns`.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The state with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find_map(|(state, known)| (known == name).then_some(state))
    }

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
        for (state, _) in TurnState::ALL {
            assert_eq!(TurnState::parse(state.as_str()), Some(state));
            for (next, _) in TurnState::ALL {
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
