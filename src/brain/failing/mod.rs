//! Classifies failures of brains and chooses the next brain. Pure: responses, health and the time are values.
//!
//! - [`classify`]: the class of a failure, from status, headers and text;
//! - [`failover`]: the next brain of a given order, and cooldowns; [`crate::turn::route`] makes the order;
//! - [`health`]: the health of brains, and a brain's identity in it.

pub(super) mod classify;
pub mod failover;
pub mod health;
