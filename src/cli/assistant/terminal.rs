//! Acts as the conversation at the terminal: prints an answer as it arrives, and notes on standard error.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use crate::format::approval::{self, Approval};
use crate::terminal::{Ui, escape_control};
use crate::turn::{Conversation, TurnNote};

/// A terminal that shows the answer as it comes.
pub(super) struct TerminalConversation {
    pub live: bool,
    pub shown: Mutex<String>,
    pub ui: Ui,
    /// The path of the note of approvals.
    pub note: String,
}

impl TerminalConversation {
    /// The part of a whole answer that isn't printed yet; none where other text was printed.
    pub(super) fn unprinted<'a>(&self, text: &'a str) -> Option<&'a str> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        text.strip_prefix(shown.trim())
    }
}

#[async_trait]
impl Conversation for TerminalConversation {
    fn note(&self, _: TurnNote) {}

    async fn ask_approval(&self, asked: &Approval) {
        let run = approval::quoted(&asked.run);
        self.ui.note(format!("{} waits for a tick in {}: {run}; then ask again", asked.id, self.note));
    }

    fn progress(&self, _: &str) {
        // A call begins: the text of an earlier one is no part of its answer.
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::take(&mut *shown).is_empty() {
            print_now("\n\n");
        }
    }

    fn partial_text(&self, text: &str) {
        if self.live {
            self.shown.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
            print_now(text);
        }
    }
}

pub(super) fn print_now(text: &str) {
    // A closed output is reported when the whole answer is printed.
    let _ = write_tamed(&mut anstream::stdout().lock(), text);
}

/// Writes a part of an answer without control characters. An escape sequence that is cut into two parts loses its effect.
pub(super) fn write_tamed(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    out.write_all(escape_control(text).as_bytes()).and_then(|()| out.flush())
}
