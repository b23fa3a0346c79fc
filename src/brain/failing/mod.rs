//! When a brain fails. Pure: what was said, what is remembered and the time are values.
//!
//! - [`classify`]: from status, headers and text to a class of failure;
//! - [`failover`]: who of a given order is next, and for how long a brain is left alone; the order is [`crate::turn::route`]'s;
//! - [`health`], [`link`]: what is remembered, and of which brain.

pub(super) mod classify;
pub mod failover;
pub mod health;
mod link;
