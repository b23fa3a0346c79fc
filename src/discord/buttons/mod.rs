//! Makes the buttons under messages, and carries out a press.
//!
//! A button's id holds all that a press needs, so it works after any restart.
//! [`notification`]: Done, Snooze and Skip next; [`approval`]: Once, Always and No.

pub(super) mod approval;
pub(super) mod notification;

use serde_json::{Value, json};

/// The version of the ids; a press on a button of another version is answered with words.
pub(in crate::discord) const VERSION: &str = "va1";

/// A button as Discord has it.
pub(in crate::discord) fn button(label: &str, style: u8, custom_id: &str) -> Value {
    json!({ "type": 2, "style": style, "label": label, "custom_id": custom_id })
}

/// One row of buttons.
pub(in crate::discord) fn row(buttons: &[Value]) -> Vec<Value> {
    vec![json!({ "type": 1, "components": buttons })]
}

/// Disables the buttons of these rows; they stay visible.
pub(in crate::discord) fn disable(rows: &mut [Value]) {
    for button in rows.iter_mut().filter_map(|row| row["components"].as_array_mut()).flatten() {
        button["disabled"] = json!(true);
    }
}
