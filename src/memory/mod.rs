//! (see lib.rs)

pub mod commitments;
