//! `/inbox`: lists the open candidates for memories, each with its quote and two buttons.
//!
//! A button's id holds the line's id, so that it works after any restart; the note says whether the line is still open.
//! Only the person who asked sees the answer.

use serde_json::Value;

use crate::capture::{HUMAN, Inbox, ListedCandidate};
use crate::discord::api::message;
use crate::discord::buttons::{VERSION, button, row};
use crate::discord::shared::VaultOperations;
use crate::format::approval::shown;
use crate::format::candidate::{CandidateState, is_id};
use crate::format::shortened;
use crate::memory::Origin;
use crate::vault::Actor;

/// Rows of buttons in one message: Discord takes five.
const MAX_ROWS: usize = 5;
/// Characters of a text in the list.
const MAX_TEXT_CHARS: usize = 280;

/// A button that was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxPress {
    /// Whether the candidate is kept.
    pub keep: bool,
    /// The line's id.
    pub id: String,
}

/// The open candidates in words, and their rows of buttons.
///
/// # Errors
/// A sentence on why the note can't be read.
pub fn open(operations: &VaultOperations) -> Result<(String, Vec<Value>), String> {
    let all = Inbox::new(operations.memory()).list().map_err(|error| error.to_string())?;
    let open: Vec<&ListedCandidate> = all.iter().filter(|one| one.state == CandidateState::Open).collect();
    if open.is_empty() {
        return Ok(("Nothing waits.".to_owned(), vec![]));
    }
    let mut text = String::new();
    let mut rows = Vec::new();
    for (at, one) in open.iter().take(MAX_ROWS).enumerate() {
        let number = at + 1;
        text.push_str(&format!(
            "**{number}.** [{}] {}: {}\n> {}\n",
            one.category,
            plain(&one.section),
            plain(&one.text),
            plain(&one.quote)
        ));
        if let Some(old) = &one.replaces {
            text.push_str(&format!("-# instead of: {}\n", plain(old)));
        }
        let id = |word: &str| format!("{VERSION}:{word}:{}", one.id);
        let keep = button(&format!("Keep {number}"), 3, &id("keep"));
        rows.extend(row(&[keep, button(&format!("No {number}"), 4, &id("drop"))]));
    }
    if open.len() > MAX_ROWS {
        text.push_str(&format!("-# {} more wait; ask again when these are done.\n", open.len() - MAX_ROWS));
    }
    Ok((text, rows))
}

/// Reads a button's id.
pub fn parse(custom_id: &str) -> Option<InboxPress> {
    let rest = custom_id.strip_prefix(VERSION)?.strip_prefix(':')?;
    let (word, id) = rest.split_once(':')?;
    let keep = match word {
        "keep" => true,
        "drop" => false,
        _ => return None,
    };
    is_id(id).then(|| InboxPress { keep, id: id.to_owned() })
}

/// Carries out a press; the result in words.
///
/// # Errors
/// A sentence on why it can't be done.
pub fn act(operations: &VaultOperations, press: &InboxPress) -> Result<String, String> {
    let inbox = Inbox::new(operations.memory());
    let origin = Origin::new(Actor::Discord);
    let words = if press.keep {
        inbox
            .keep(&press.id, HUMAN, operations.clock.now(), &origin)
            .map(|kept| format!("Kept:\n{}", kept.saved.text))
    } else {
        inbox.decline(&press.id, &origin).map(|gone| format!("Declined, and not asked again:\n{}", gone.text))
    };
    words.map_err(|error| error.to_string())
}

/// Untrusted words within a message, without markup and mentions.
fn plain(text: &str) -> String {
    let one_line = shown(&text.replace('\n', " "));
    message::escaped(&shortened(&one_line, MAX_TEXT_CHARS), "-.,()'/:!?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_reads_back() {
        let press = parse("va1:keep:cap_K5V4M2J7Q2ZP").unwrap();
        assert!(press.keep && press.id == "cap_K5V4M2J7Q2ZP");
        assert!(!parse("va1:drop:cap_K5V4M2J7Q2ZP").unwrap().keep);
        for other in ["va1:keep:ap_K5V4M2J7Q2ZP", "va2:keep:cap_K5V4M2J7Q2ZP", "va1:no:cap_K5V4M2J7Q2ZP", ""]
        {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn words_of_others_are_no_markup() {
        assert_eq!(plain("**hi** <@42>\nthere"), "\\*\\*hi\\*\\* \\<\\@42\\> there");
        assert!(plain(&"x".repeat(500)).ends_with('…'));
    }
}
