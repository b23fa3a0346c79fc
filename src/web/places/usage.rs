//! Serves `/usage`: answers, calls, tokens and cost by day, brain or channel as a table, the tokens also as a chart.
//! Also shows how much of each of today's budgets is used.

use std::collections::BTreeMap;

use clap::ValueEnum;
use jiff::civil::Date;
use jiff::{SignedDuration, ToSpan};

use super::prelude::*;
use crate::agent::budget::{self, Budget};
use crate::format::shortened;
use crate::turn::usage::{UsageGrouping, UsageRow};

const WAYS: [(&str, &str); 3] = [("day", "day"), ("brain", "brain"), ("channel", "place")];
const TIMES: [(&str, &str); 4] = [("7", "7 days"), ("30", "30 days"), ("365", "a year"), ("all", "all")];
/// The most bars that are drawn: those of the last days, else the largest.
const BARS: usize = 40;
/// The drawing's width, the height of its bars by day, and the room for names, in its own units.
const WIDTH: u64 = 800;
const HEIGHT: u64 = 120;
const NAMES: u64 = 200;
/// The characters of a name that have room there.
const NAME_CHARS: usize = 23;

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let by = visit.query("by").unwrap_or("day");
    let Ok(way) = UsageGrouping::from_str(by, false) else {
        return Err(PageError::bad(format!("nothing is added up by {}", crate::format::quote(by))));
    };
    let days = visit.query("days").unwrap_or("30");
    let since = match days {
        "all" => None,
        days => {
            let count: i64 = days.parse().map_err(|_| PageError::bad("that is no number of days"))?;
            let back = SignedDuration::from_hours(24 * count.clamp(1, 36_500));
            Some(visit.now.saturating_sub(back).unwrap_or(visit.now))
        }
    };
    let report = budget::usage(visit.workspace, since, way).map_err(PageError::failed)?;
    visit.view("Usage", &report, |report| {
        html! {
            form.row method="get" action="/usage" {
                (parts::choice(visit, "", "by", "By", &WAYS, by))
                (parts::choice(visit, "", "days", "Of the last", &TIMES, days))
                button { "Show" }
            }
            (budgets(&report.budgets))
            @if report.by.is_empty() {
                (parts::empty("The logs contain no answers with usage data."))
            } @else {
                (drawn(&report.by, way == UsageGrouping::Day))
                (table(&report.by, &UsageRow { key: "total".to_owned(), sum: report.total }))
            }
            @for error in &report.unread { p.refused { "Not counted: " (error) } }
        }
    })
}

fn budgets(budgets: &[Budget]) -> Markup {
    html! {
        @if !budgets.is_empty() {
            h2 { "Today's budgets" }
            ul.plainlist {
                @for budget in budgets {
                    li {
                        (budget.brain.as_deref().unwrap_or("all brains")) ": " (budget.state()) " "
                        progress max="100" value=(percent(budget.share)) aria-label="used" {}
                    }
                }
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.0}", (share * 100.0).clamp(0.0, 100.0))
}

/// Bars of tokens: by day one beside the other, with the days between on which nothing was asked; else one below the
/// other with their names. The table below says the same in numbers.
fn drawn(rows: &[UsageRow], is_by_day: bool) -> Markup {
    let days = if is_by_day { days(rows) } else { Vec::new() };
    let most = rows.iter().map(|row| row.sum.tokens()).max().unwrap_or_default().max(1);
    let long = |tokens: u64, whole: u64| {
        u64::try_from(u128::from(tokens) * u128::from(whole) / u128::from(most)).unwrap_or(whole)
    };
    let (width, height) =
        if is_by_day { (WIDTH, HEIGHT + 24) } else { (WIDTH, 26 * rows.len().min(BARS) as u64) };
    html! {
        svg.chart role="img" aria-label="Tokens; the table below has the numbers" viewBox={ "0 0 " (width) " " (height) } {
            @if let (Some((first, _)), Some((last, _))) = (days.first(), days.last()) {
                @let step = WIDTH / days.len().max(10) as u64;
                @for (at, (day, tokens)) in days.iter().enumerate().filter(|(_, (_, tokens))| *tokens > 0) {
                    @let tall = long(*tokens, HEIGHT).max(2);
                    rect x=(at as u64 * step) y=(HEIGHT - tall) width=(step - step / 4) height=(tall) {
                        title { (day) ": " (tokens) " tokens" }
                    }
                }
                line x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                text x="0" y=(HEIGHT + 18) { (first) }
                @if first != last { text x=(WIDTH) y=(HEIGHT + 18) text-anchor="end" { (last) } }
            } @else {
                @for (at, row) in rows.iter().take(BARS).enumerate() {
                    @let y = 26 * at as u64;
                    text x="0" y=(y + 16) { (shortened(&row.key, NAME_CHARS)) }
                    rect x=(NAMES) y=(y + 2) width=(long(row.sum.tokens(), WIDTH - NAMES).max(2)) height="18" {
                        title { (row.key) ": " (row.sum.tokens()) " tokens" }
                    }
                }
            }
        }
    }
}

/// The last days of a report with their tokens, those between without an answer too.
fn days(rows: &[UsageRow]) -> Vec<(Date, u64)> {
    let known: BTreeMap<Date, u64> =
        rows.iter().filter_map(|row| Some((row.key.parse().ok()?, row.sum.tokens()))).collect();
    let (Some((first, _)), Some((last, _))) = (known.first_key_value(), known.last_key_value()) else {
        return Vec::new();
    };
    let first = (*first).max(last.saturating_sub((BARS as i64 - 1).days()));
    let all = first.series(1.day()).take_while(|day| day <= last);
    all.map(|day| (day, known.get(&day).copied().unwrap_or_default())).collect()
}

fn table(rows: &[UsageRow], total: &UsageRow) -> Markup {
    let cells = |row: &UsageRow| {
        let sum = &row.sum;
        let [answers, calls, failed, input, cached, output] =
            [sum.answers, sum.calls, sum.failed, sum.input, sum.cached, sum.output]
                .map(|number| html! { (number) });
        let usd = html! { (format!("{:.4}", sum.usd)) };
        [html! { (row.key) }, answers, calls, failed, input, cached, output, usd]
    };
    let heads = ["", "Answers", "Calls", "Failed", "In", "Cached", "Out", "USD"];
    parts::table(heads, rows.iter().chain([total]), cells)
}
