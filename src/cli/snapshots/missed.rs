//! What a restore brings back after its time: held, so that it isn't told unless the person asks for it.

use super::restore::Restore;
use crate::cli::CommandError;
use crate::deliver;
use crate::format::commitment;
use crate::format::reminder::{self, Reminder};

impl Restore<'_> {
    /// What comes back in `path` after its time doesn't fire, or does if asked: before it is written.
    pub(super) fn hold_missed(&self, path: &str, now: &[u8], then: &[u8]) -> Result<(), CommandError> {
        let paths = &self.workspace.settings.paths;
        let (past, what) = if path == paths.reminders {
            (self.hold_reminders(now, then)?, "reminder")
        } else if path == paths.commitments {
            (self.hold_commitments(now, then)?, "follow-up")
        } else {
            return Ok(());
        };
        let words = match (past, self.args.fire_missed) {
            (0, _) => return Ok(()),
            (1, true) => format!("1 {what} comes back after its time and fires now"),
            (1, false) => {
                format!("1 {what} comes back after its time and doesn't fire; `--fire-missed` lets it")
            }
            (_, true) => format!("{past} {what}s come back after their time and fire now"),
            (_, false) => {
                format!("{past} {what}s come back after their time and don't fire; `--fire-missed` lets them")
            }
        };
        self.context.ui.note(words);
        Ok(())
    }

    pub(super) fn hold_reminders(&self, now: &[u8], then: &[u8]) -> Result<usize, CommandError> {
        let there: Vec<Reminder> =
            reminder::parse(now).reminders.into_iter().map(|line| line.reminder).collect();
        let mut coming = reminder::parse(then).reminders;
        coming.retain(|line| !there.contains(&line.reminder));
        if coming.is_empty() {
            return Ok(0);
        }
        let journal = self.workspace.journal().map_err(CommandError::problem)?;
        let (zone, clock) = (&self.workspace.zone, self.context.clock.now());
        let mut past = 0;
        for line in coming {
            let is_past = deliver::restored(&journal, zone, &line.reminder, clock, self.args.fire_missed);
            past += usize::from(is_past.map_err(CommandError::problem)?);
        }
        Ok(past)
    }

    pub(super) fn hold_commitments(&self, now: &[u8], then: &[u8]) -> Result<usize, CommandError> {
        let there = commitment::parse(now).blocks;
        let mut coming = commitment::parse(then).blocks;
        coming.retain(|block| there.iter().all(|old| old.commitment != block.commitment));
        if coming.is_empty() {
            return Ok(0);
        }
        let journal = self.workspace.journal().map_err(CommandError::problem)?;
        let (zone, clock) = (&self.workspace.zone, self.context.clock.now());
        let mut past = 0;
        for block in coming {
            let what = &block.commitment;
            let is_past = deliver::restored_commitment(&journal, zone, what, clock, self.args.fire_missed);
            past += usize::from(is_past.map_err(CommandError::problem)?);
        }
        Ok(past)
    }
}
