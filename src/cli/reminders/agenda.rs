//! `agenda`: prints the scheduled items of a range of days, and the deliveries of past days.

use jiff::ToSpan;
use jiff::civil::Date;

use crate::agenda::{self, AgendaEntry, EntryState};
use crate::cli::prelude::*;
use crate::deliver::compose;
use crate::tasks::Scanner;

/// Shows the entries of some days: reminders, follow-ups, tasks of other plugins and routines, with each recurrence.
///
/// For past days: what was delivered, when, how late, and by which notifier. Without options, the next seven days.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A month: `2026-12`.
    #[arg(long, value_name = "YYYY-MM", conflicts_with_all = ["week", "from", "days"])]
    month: Option<String>,
    /// The week, from Monday on, with this day in it: `2026-12-01`.
    #[arg(long, value_name = "DAY", value_parser = day, conflicts_with_all = ["from", "days"])]
    week: Option<Date>,
    /// The first day; else today.
    #[arg(long, value_name = "DAY", value_parser = day)]
    from: Option<Date>,
    /// How many days.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=366))]
    days: u16,
}

/// Runs `agenda`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace_or_last()?;
    let today = workspace.zone.tz().to_datetime(workspace.clock.now()).date();
    let (from, to) = match (&args.month, args.week) {
        (Some(month), _) => agenda::month(month).ok_or_else(|| {
            CommandError::usage(format!("`{month}` is no month")).hint("give one as in `--month 2026-12`")
        })?,
        (None, Some(day)) => agenda::week(day),
        (None, None) => {
            let from = args.from.unwrap_or(today);
            (from, from.saturating_add((i64::from(args.days) - 1).days()))
        }
    };
    let mut scanner = Scanner::default();
    let agenda = agenda::range(&workspace, from, to, &mut scanner)?;
    let ui = context.ui;
    ui.json(&agenda);
    for day in agenda.entries.chunk_by(|one, next| one.date == next.date) {
        ui.line(day[0].date.strftime("%a %-d %b %Y").to_string());
        day.iter().for_each(|entry| ui.line(format!("  {}  {}", entry.time, describe(entry))));
    }
    if agenda.entries.is_empty() {
        ui.note("no entries on these days");
    }
    if (args.month.as_ref(), args.week, args.from) == (None, None, None) {
        let (late, _) = agenda::late_and_coming(&workspace, &mut scanner)?;
        let before = late.iter().filter(|one| one.date < today).count();
        if before > 0 {
            ui.note(format!(
                "{before} of the days before {} late: `vault-agent status` lists that",
                if before == 1 { "is" } else { "are" }
            ));
        }
    }
    if agenda.more {
        ui.note(format!("only the first {} are shown", agenda::MOST_ENTRIES));
    }
    agenda.problems.iter().for_each(|problem| ui.note(problem));
    Ok(Status::of(agenda.problems.is_empty()))
}

/// `Call Mum (weekly) told at 09:31 by discord, 1 min late`.
fn describe(entry: &AgendaEntry) -> String {
    let mut out = crate::format::one_line(&entry.msg);
    match &entry.recur {
        Some(_) if entry.times > 1 => out.push_str(&format!(" ({} times)", entry.times)),
        Some(recur) => out.push_str(&format!(" ({recur})")),
        None => {}
    }
    if entry.kind != agenda::EntryKind::Reminder {
        out.push_str(&format!("  {}", entry.kind.as_str()));
    }
    if entry.state != EntryState::Coming {
        out.push_str(&format!("  {}", entry.state.as_str().replace('-', " ")));
    }
    let Some(told) = &entry.told else { return out };
    if !told.by.is_empty() {
        out.push_str(&format!(" by {}", told.by.join(", ")));
    }
    if told.late_seconds >= 60 {
        out.push_str(&format!(", {} late", compose::duration(SignedDuration::from_secs(told.late_seconds))));
    }
    if let Some(outcome) = &told.outcome {
        out.push_str(&format!(": {outcome}"));
    }
    out
}
