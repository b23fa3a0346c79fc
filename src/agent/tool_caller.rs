//! The caller of a tool: the turn, the number of the call, the brain.

/// Which call it is, for the history of what it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The turn: its question's block in the log, else the message's id.
    pub turn: String,
    /// The call's number within the turn, from 0.
    pub number: u32,
    /// The brain that asked for it.
    pub brain: String,
    /// Whether the turn has read text that nobody vouches for: a page, a tool's output, others' messages. What leaves
    /// the box is then asked about whatever the settings allow.
    pub tainted: bool,
}
