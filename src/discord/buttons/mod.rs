//! Makes the buttons under messages, and carries out a press.
//!
//! A button's id holds all that a press needs, so it works after any restart.
//! - [`notification`]: Done, Snooze and Skip next; [`approval`]: Once, Always and No;
//! - [`components`]: buttons and rows as Discord's JSON.

pub(super) mod approval;
pub(super) mod components;
pub(super) mod notification;
