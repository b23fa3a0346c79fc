//! Makes and reads the buttons under an approval: Once, Always, No. Pure.
//!
//! A button's id holds the line's id and its digest, so that it works after any restart, and never for a changed line.

use serde_json::Value;

use super::{VERSION, button, row};
use crate::agent::approvals::ApprovalDecision;
use crate::deliver::journal::asked_in;
use crate::deliver::{MessageKind, OutgoingMessage};
use crate::format::approval;

const ALL: [(ApprovalDecision, &str, &str, u8); 3] = [
    (ApprovalDecision::Once, "once", "Once", 3),
    (ApprovalDecision::Always, "always", "Always", 2),
    (ApprovalDecision::No, "no", "No", 4),
];

/// A button that was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalPress {
    /// The decision.
    pub decision: ApprovalDecision,
    /// The line's id.
    pub id: String,
    /// The line's digest.
    pub digest: String,
}

/// The row of buttons for a question; none for a chunk that isn't the last.
pub fn rows(message: &OutgoingMessage) -> Vec<Value> {
    let Some(asked) = asked_in(&message.key).filter(|_| message.kind == MessageKind::Approval) else {
        return vec![];
    };
    if message.chunk + 1 != message.chunks {
        return vec![];
    }
    let offered = ALL.iter().filter(|(word, ..)| *word != ApprovalDecision::Always || asked.always);
    let made: Vec<Value> = offered
        .map(|(_, name, label, style)| {
            let custom_id = format!("{VERSION}:{name}:{}:{}:{}", asked.id, asked.digest, message.nonce);
            button(label, *style, &custom_id)
        })
        .collect();
    row(&made)
}

/// Reads a button's id.
pub fn parse(custom_id: &str) -> Option<ApprovalPress> {
    let mut parts = custom_id.split(':');
    if parts.next()? != VERSION {
        return None;
    }
    let name = parts.next()?;
    let (word, ..) = ALL.iter().find(|(_, known, ..)| *known == name)?;
    let (id, digest) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    approval::is_id(&id).then_some(ApprovalPress { decision: *word, id, digest })
}
