//! Confirms changes of reminders on the notifier, with the exact lines.
//!
//! If the notifier is the console, the command's own output takes the place of a confirmation. A confirmation that this
//! process can't send stays queued for the daemon or the next `tick`.

use crate::cli::prelude::*;
use crate::config::NotifyKind;
use crate::deliver;
use crate::deliver::compose::confirmed_lines;
use crate::deliver::pass::flush_confirmations;

impl Context {
    /// Confirms a change. The note is written; a confirmation that can't be queued doesn't undo that.
    pub(super) fn confirm(&self, workspace: &Workspace, what: &str, lines: &str) {
        if workspace.primary_kind() == NotifyKind::Console {
            return;
        }
        if let Err(error) = queue_and_send(workspace, what, lines) {
            self.ui.note(format!("{what}, but not confirmed: {error}"));
        }
    }

    /// Runs `write`, and confirms the lines of the reminders that it added or changed, in one message; `by` names the
    /// command.
    pub(super) fn confirming<T>(&self, workspace: &Workspace, by: &str, write: impl FnOnce() -> T) -> T {
        let (done, lines) = workspace.with_written_reminders(write);
        if !lines.is_empty() {
            let (what, lines) = (format!("added or changed by {by}"), confirmed_lines(&lines));
            if workspace.primary_kind() == NotifyKind::Console {
                self.ui.note(format!("{what}:\n{lines}"));
            }
            self.confirm(workspace, &what, &lines);
        }
        done
    }
}

fn queue_and_send(workspace: &Workspace, what: &str, lines: &str) -> Result<()> {
    let journal = workspace.journal()?;
    deliver::confirm(&journal, what, lines, workspace.clock.now())?;
    if let Some(delivery_order) = workspace.confirming_order(false) {
        let settings = workspace.pass_settings();
        let pass = workspace.pass_context(&journal, &delivery_order, &settings);
        runtime()?.block_on(flush_confirmations(&pass))?;
    }
    Ok(())
}
