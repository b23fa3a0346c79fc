//! Adds up the cost of all answers in the vault's logs: the report of `usage`.

use jiff::Timestamp;
use serde::Serialize;

use super::budget::{self, Budget};
use crate::reminders::rfc3339;
use crate::turn::usage::{self, UsageGrouping, UsageRow, UsageSum};
use crate::vault::VaultError;
use crate::workspace::Workspace;

/// Calls, tokens and cost, added up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UsageReport {
    /// The first counted answer, or the requested start; none if there is none.
    pub from: Option<String>,
    /// The present, in the vault's zone.
    pub to: String,
    /// All of it.
    pub total: UsageSum,
    /// By what was asked for.
    pub by: Vec<UsageRow>,
    /// Today's budgets, with what is used of them.
    pub budgets: Vec<Budget>,
    /// The logs that couldn't be read; the others are counted.
    #[serde(skip)]
    pub unread: Vec<String>,
}

/// Adds up all answers of the logs since an instant.
///
/// # Errors
/// The logs can't be listed.
pub fn report(
    workspace: &Workspace,
    since: Option<Timestamp>,
    by: UsageGrouping,
) -> Result<UsageReport, VaultError> {
    let logs = workspace.vault.notes_below(workspace.note(&workspace.settings.paths.logs))?;
    let is_meant = |at: Timestamp| since.is_none_or(|since| at >= since);
    let (mut answers, mut unread) = (Vec::new(), Vec::new());
    for entry in logs {
        match workspace.vault.read(&entry.path) {
            Ok(bytes) => {
                answers.extend(usage::answers(&bytes).into_iter().filter(|answer| is_meant(answer.at)));
            }
            Err(error) => unread.push(error.to_string()),
        }
    }
    let zone = workspace.zone.tz();
    let (total, rows) = usage::add_up(&answers, by, zone);
    let from = since.or_else(|| answers.iter().map(|answer| answer.at).min());
    Ok(UsageReport {
        from: from.map(|from| rfc3339(from, zone)),
        to: rfc3339(workspace.clock.now(), zone),
        total,
        by: rows,
        budgets: budget::of_vault(workspace),
        unread,
    })
}
