//! The memory notes: what is kept for good, what is pinned, and what the agent writes into them.

pub mod commitments;
pub mod pins;
