//! `/usage`: calls, tokens and cost by day, brain or place, drawn and as a table; budgets and what is left of them.

use jiff::SignedDuration;
use maud::{Markup, html};

use super::{Place, nothing};
use crate::agent::budget::Budget;
use crate::agent::usage;
use crate::turn::usage::{By, Row};
use crate::web::answer::{Problem, View};
use crate::web::parts;
use crate::web::visit::Visit;

pub(super) const PLACE: Place = Place { name: "usage", title: "Usage", is_listed: true, see, act: nothing };

const WAYS: [(&str, &str); 3] = [("day", "day"), ("brain", "model"), ("channel", "place")];
const TIMES: [(&str, &str); 4] = [("7", "7 days"), ("30", "30 days"), ("365", "a year"), ("all", "all")];
/// So many bars are drawn: the last of them by day, else the largest.
const BARS: usize = 40;
/// The drawing's height and width, and a bar's, in its own units.
const HEIGHT: u64 = 120;
const STEP: usize = 20;
const BAR: usize = 14;

fn see(visit: &Visit<'_>) -> Result<View, Problem> {
    let by = visit.query("by").unwrap_or("day");
    let way = match by {
        "day" => By::Day,
        "brain" => By::Brain,
        "channel" => By::Channel,
        other => return Err(Problem::bad(format!("nothing is added up by {}", crate::format::quote(other)))),
    };
    let days = visit.query("days").unwrap_or("30");
    let since = match days {
        "all" => None,
        days => {
            let count: i64 = days.parse().map_err(|_| Problem::bad("that is no number of days"))?;
            let back = SignedDuration::from_hours(24 * count.clamp(1, 36_500));
            Some(visit.now.saturating_sub(back).unwrap_or(visit.now))
        }
    };
    let report = usage::report(visit.workspace, since, way).map_err(Problem::failed)?;
    visit.view("Usage", &report, |report| {
        html! {
            form.row method="get" action="/usage" {
                (parts::choice(visit, "", "by", "By", &WAYS, by))
                (parts::choice(visit, "", "days", "Of the last", &TIMES, days))
                button { "Show" }
            }
            (budgets(&report.budgets))
            @if report.by.is_empty() {
                (parts::empty("No answers with facts stand in the logs."))
            } @else {
                (drawn(&report.by, way == By::Day))
                (table(&report.by, &Row { key: "total".to_owned(), sum: report.total }))
            }
            @for error in &report.unread { p.refused { "Not counted: " (error) } }
        }
    })
}

fn budgets(budgets: &[Budget]) -> Markup {
    html! {
        @if !budgets.is_empty() {
            h2 { "Budgets of today" }
            ul.plainlist {
                @for budget in budgets {
                    li {
                        (budget.brain.as_deref().unwrap_or("all models")) ": " (budget.state()) " "
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

/// Bars of tokens; the table below says the same in numbers.
fn drawn(rows: &[Row], is_by_day: bool) -> Markup {
    let rows =
        if is_by_day { &rows[rows.len().saturating_sub(BARS)..] } else { &rows[..rows.len().min(BARS)] };
    let most = rows.iter().map(|row| row.sum.tokens()).max().unwrap_or_default().max(1);
    let width = rows.len().max(10) * STEP;
    let height =
        |row: &Row| u64::try_from(u128::from(row.sum.tokens()) * u128::from(HEIGHT) / u128::from(most));
    html! {
        svg role="img" aria-label="Tokens; the table below has the numbers" viewBox={ "0 0 " (width) " " (HEIGHT + 2) } width=(width) height=(HEIGHT + 2) {
            @for (at, row) in rows.iter().enumerate() {
                @let tall = height(row).unwrap_or(HEIGHT).max(1);
                rect x=(at * STEP) y=(HEIGHT - tall) width=(BAR) height=(tall) fill="currentColor" {
                    title { (row.key) ": " (row.sum.tokens()) " tokens" }
                }
            }
        }
    }
}

fn table(rows: &[Row], total: &Row) -> Markup {
    let cells = |row: &Row| {
        let sum = &row.sum;
        let numbers = [sum.answers, sum.calls, sum.failed, sum.input, sum.cached, sum.output];
        let mut cells = vec![html! { (row.key) }];
        cells.extend(numbers.map(|number| html! { (number) }));
        cells.push(html! { (format!("{:.4}", sum.usd)) });
        cells
    };
    let rows: Vec<Vec<Markup>> = rows.iter().chain([total]).map(cells).collect();
    parts::table(&["", "Answers", "Calls", "Failed", "In", "Cached", "Out", "USD"], &rows)
}
