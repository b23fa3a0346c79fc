//! Makes the buttons under messages, and carries out a press.
//!
//! A button's id holds all that a press needs, so it works after any restart.
//! [`notification`]: Done, Snooze and Skip next; [`approval`]: Once, Always and No.

pub(super) mod approval;
pub(super) mod notification;

use serde_json::{Value, json};

/// A button as Discord has it.
pub(in crate::discord) fn button(label: &str, style: u8, custom_id: &str) -> Value {
    json!({ "type": 2, "style": style, "label": label, "custom_id": custom_id })
}

/// One row of buttons.
pub(in crate::discord) fn row(buttons: &[Value]) -> Vec<Value> {
    vec![json!({ "type": 1, "components": buttons })]
}
