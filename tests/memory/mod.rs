//! Memory: what is saved stands in the notes, once, whoever else writes and whatever is written.
//!
//! Behaviour through the binary ([`operations`], [`session`]) and through the room ([`rig`]) where threads, crashes and
//! odd bytes are at work.

// Helpers outside of test functions may fail the test too.

mod crashes;
mod hostile;
mod learned;
mod operations;
mod rig;
mod scopes;
mod session;
#[cfg(feature = "assistant")]
mod summarised;
mod writers;
