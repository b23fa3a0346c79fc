//! Buttons: what stands under a message, and what a press of one asks for.
//!
//! A button's id holds all that a press needs, so it works after any restart.
//! - [`notification`]: Done, Snooze and Skip next; [`approval`]: Once, Always and No;
//! - [`components`]: buttons and rows as Discord wants them.

pub(super) mod approval;
mod components;
pub(super) mod notification;
