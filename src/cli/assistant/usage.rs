//! `usage`: adds up calls, tokens and cost from the logs.

use crate::agent::budget::{self, UsageReport};
use crate::cli::prelude::*;
use crate::turn::usage::UsageGrouping;

/// The longest bar, in characters.
const BAR_WIDTH: u64 = 24;

/// Adds up calls, tokens and cost of all answers, from the logs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only answers since then: `yesterday 18:00`, `7 days ago`, `2026-12-01`, or RFC 3339.
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// The grouping of the sums.
    #[arg(long, value_enum, default_value = "brain")]
    by: UsageGrouping,
}

/// Runs `usage`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let since = args.since.as_deref().map(|text| past(text, &workspace)).transpose()?;
    let report = budget::usage(&workspace, since, args.by)?;
    report.unread.iter().for_each(|error| context.ui.note(format!("not counted: {error}")));
    let mut lines = match report.by.is_empty() {
        true => vec!["the logs contain no answers with usage data".to_owned()],
        false => table_of(&report),
    };
    lines.extend(report.budgets.iter().map(|budget| {
        let whose = budget.brain.as_ref().map_or("today".to_owned(), |name| format!("{name} today"));
        format!("{whose}: {}", budget.state())
    }));
    context.report(&report, lines, true)
}

fn table_of(report: &UsageReport) -> Vec<String> {
    let bars = std::io::stdout().is_terminal();
    let most = report.by.iter().map(|row| row.sum.tokens()).max().unwrap_or_default();
    let mut table = table();
    table.set_header(["", "answers", "calls", "failed", "in", "cached", "out", "usd"]);
    let rows = report.by.iter().map(|row| (row.key.as_str(), &row.sum));
    for (at, (key, sum)) in rows.chain([("total", &report.total)]).enumerate() {
        let mut cells = vec![key.to_owned()];
        let numbers = [sum.answers, sum.calls, sum.failed, sum.input, sum.cached, sum.output];
        cells.extend(numbers.map(|number| number.to_string()));
        cells.push(format!("{:.4}", sum.usd));
        if bars && at < report.by.len() {
            cells.push(bar(sum.tokens(), most));
        }
        table.add_row(cells);
    }
    for column in table.column_iter_mut().skip(1).take(7) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.map(|line| line.strip_prefix(' ').map(str::to_owned).unwrap_or(line)).collect()
}

/// A bar in eighths of a character; any value above zero shows at least one.
fn bar(value: u64, most: u64) -> String {
    if most == 0 || value == 0 {
        return String::new();
    }
    let eighths = (u128::from(value) * u128::from(BAR_WIDTH) * 8 / u128::from(most)).max(1);
    let (whole, rest) =
        (usize::try_from(eighths / 8).unwrap_or_default(), usize::try_from(eighths % 8).unwrap_or_default());
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][rest];
    format!("{}{part}", "█".repeat(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_what_they_show() {
        assert_eq!(bar(100, 100).chars().count(), 24);
        assert_eq!(bar(50, 100).chars().count(), 12);
        assert_eq!(bar(1, 1_000_000), "▏");
        assert_eq!((bar(0, 5).as_str(), bar(0, 0).as_str()), ("", ""));
        assert_eq!(bar(u64::MAX, u64::MAX).chars().count(), 24);
    }
}
