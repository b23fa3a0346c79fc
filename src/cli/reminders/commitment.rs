//! `commitment`: adds, lists, changes and ends follow-ups.

use crate::cli::init;
use crate::cli::prelude::*;
use crate::deliver::MessageScope;
use crate::format::commitment::{self, Commitment};
use crate::memory::commitments::{FollowUpNotes, ListedFollowUp};

/// Adds, lists, changes and ends follow-ups.
#[derive(Debug, clap::Subcommand)]
pub enum Args {
    /// Adds a follow-up.
    Add {
        /// When it is due: `2026-12-01 09:30`, `tomorrow 9am`, `in 20 minutes`, `fri 17:00`, `übermorgen 17 Uhr`.
        when: String,
        /// The text of the follow-up.
        text: String,
        /// The place of delivery: `channel:ID`, `thread:ID` or `user:ID`.
        #[arg(long, value_name = "S")]
        scope: Option<String>,
        /// How exactly the time is meant: `precise` or `soft`.
        #[arg(long, value_name = "P", value_parser = commitment::Precision::parse)]
        precision: Option<commitment::Precision>,
        /// The turn that it came from.
        #[arg(long, value_name = "TURN")]
        source: Option<String>,
    },
    /// Lists the pending follow-ups.
    List {
        /// Also those that are delivered or cancelled.
        #[arg(long)]
        all: bool,
    },
    /// Changes the text or the due time of a pending follow-up.
    Edit {
        /// Its id.
        id: String,
        /// The new time; as for `add`.
        #[arg(long, value_name = "WHEN")]
        when: Option<String>,
        /// The text of the follow-up.
        #[arg(long, value_name = "TEXT", required_unless_present = "when")]
        text: Option<String>,
    },
    /// Marks a follow-up as delivered.
    Done {
        /// Its id.
        id: String,
    },
    /// Marks a follow-up as cancelled.
    Cancel {
        /// Its id.
        id: String,
    },
}

/// Runs `commitment`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let mut workspace = context.workspace()?;
    if matches!(args, Args::Add { .. }) {
        workspace = init::ensure_own_times(context, workspace)?;
    }
    let memory = workspace.memory();
    let ledger = memory.ledger();
    let origin = context.origin();
    let listed = match args {
        Args::Add { when, text, scope, precision, source } => {
            let now = workspace.clock.now();
            let due = when::parse_instant(when, now, &workspace.zone)?;
            let draft = Commitment {
                text: text.clone(),
                due: Some(due.at),
                precision: *precision,
                scope: scope.as_deref().map(parse_scope).transpose()?,
                source: source.clone(),
                ..Commitment::default()
            };
            let added = ledger.add(&draft, None, now, &origin)?;
            context.ui.note(when::confirmation_of((due.local, due.at), now, &workspace.zone));
            if added.existing {
                let (path, line) = (&ledger.path, added.listed.line);
                context.ui.note(format!("nothing written: it waits in `{path}`, line {line}"));
            }
            return context.answer(&added, row(&added.listed));
        }
        Args::List { all } => return list(context, &ledger, *all),
        Args::Edit { id, when, text } => {
            let now = workspace.clock.now();
            let when = when.as_deref().map(|when| when::parse_instant(when, now, &workspace.zone));
            let due = when.transpose()?.map(|due| (due.local, due.at));
            let listed = ledger.change(id, (text.as_deref(), due.map(|due| due.1)), &origin)?;
            if let Some(due) = due {
                context.ui.note(when::confirmation_of(due, now, &workspace.zone));
            }
            listed
        }
        Args::Done { id } => ledger.set(id, commitment::CommitmentStatus::Delivered, &origin)?,
        Args::Cancel { id } => ledger.set(id, commitment::CommitmentStatus::Cancelled, &origin)?,
    };
    context.answer(&listed, row(&listed))
}

/// Lists the pending follow-ups, or all.
pub(in crate::cli) fn list(context: &Context, ledger: &FollowUpNotes<'_>, all: bool) -> CommandResult {
    let none = format!("no follow-ups wait in `{}`", ledger.path);
    context.list(&ledger.list(all)?, none, row)
}

/// `c-2026-12-01-001  pending    2026-12-01T19:00:00+00:00  Remind Kyle`.
fn row(listed: &ListedFollowUp) -> String {
    let due = listed.due.as_deref().unwrap_or("no due time");
    format!("{}  {:<9}  {due}  {}", listed.id, listed.status, listed.text.replace('\n', " "))
}

fn parse_scope(text: &str) -> Result<String> {
    text.parse::<MessageScope>().map(|scope| scope.to_string()).map_err(CommandError::usage)
}
