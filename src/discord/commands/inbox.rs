//! `/inbox`: lists up to five open candidates for memories, each with its quote and two buttons. Also carries out a
//! press of these buttons.
//!
//! Each candidate is a line of `Inbox.md`. A button's id holds the line's id, and a press looks the line up in
//! `Inbox.md`. So the buttons work after any restart, and only while the line is open. Only the asking person sees the
//! answer.

use serde_json::Value;

use crate::capture::{HUMAN, Inbox, InboxError, ListedCandidate};
use crate::discord::api::message;
use crate::discord::buttons::candidate_row;
use crate::discord::shared::VaultOperations;
use crate::format::approval::shown;
use crate::format::candidate::CandidateState;
use crate::format::shortened;
use crate::memory::Origin;
use crate::vault::Actor;

/// Rows of buttons in one message: Discord takes five.
const MAX_ROWS: usize = 5;
/// Characters of a text in the list.
const MAX_TEXT_CHARS: usize = 280;

/// The open candidates in words, and their rows of buttons.
///
/// # Errors
/// A sentence on why the note can't be read.
pub fn open(operations: &VaultOperations) -> Result<(String, Vec<Value>), InboxError> {
    let all = Inbox::new(operations.memory()).list()?;
    let open: Vec<&ListedCandidate> = all.iter().filter(|one| one.state == CandidateState::Open).collect();
    if open.is_empty() {
        return Ok(("Nothing waits.".to_owned(), vec![]));
    }
    let mut text = String::new();
    let mut rows = Vec::new();
    for (at, one) in open.iter().take(MAX_ROWS).enumerate() {
        let number = at + 1;
        let [section, said, quote] = [&one.section, &one.text, &one.quote].map(|text| plain(text));
        text.push_str(&format!("**{number}.** [{}] {section}: {said}\n> {quote}\n", one.category));
        if let Some(old) = &one.replaces {
            text.push_str(&format!("-# instead of: {}\n", plain(old)));
        }
        rows.extend(candidate_row(number, &one.id));
    }
    if open.len() > MAX_ROWS {
        let more = open.len() - MAX_ROWS;
        text.push_str(&format!("-# {more} more entries; run `/inbox` again after these.\n"));
    }
    Ok((text, rows))
}

/// Carries out a press; the result in words.
///
/// # Errors
/// A sentence on why it can't be done.
pub fn act(operations: &VaultOperations, keep: bool, id: &str) -> Result<String, InboxError> {
    let inbox = Inbox::new(operations.memory());
    let origin = Origin::new(Actor::Discord);
    if keep {
        let kept = inbox.keep(id, None, HUMAN, operations.clock.now(), &origin)?;
        return Ok(format!("Kept:\n{}", kept.saved.text));
    }
    Ok(format!("Declined, and not asked again:\n{}", inbox.decline(id, &origin)?.text))
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
    fn words_of_others_are_no_markup() {
        assert_eq!(plain("**hi** <@42>\nthere"), "\\*\\*hi\\*\\* \\<\\@42\\> there");
        assert!(plain(&"x".repeat(500)).ends_with('…'));
    }
}
