//! Serves `/routines`: lists scheduled prompts with their runs and costs. Buttons turn a prompt on or off, run a prompt
//! now, or pause all work that no person asked for.

use jiff::SignedDuration;
use tokio_util::sync::CancellationToken;

use super::prelude::*;
use super::turns::cost_words;
use crate::agent::{VaultApprovals, Waiter};
use crate::deliver::delivery_journal::RoutineRun;
use crate::deliver::{Console, compose};
use crate::pause;
use crate::reminders::rfc3339;
use crate::routines::{self, ListedRoutine, Preview, RoutineNote};
use crate::schedule::Timetable;
use crate::toolbox;
use crate::turn::{Facts, TurnCost, TurnJournal};
use crate::vault::Actor;
use crate::when;

/// The most runs of one routine that are shown.
const RUNS: usize = 200;
/// The number of coming times that are shown.
const COMING: usize = 10;
/// The span that counts as a month.
const MONTH: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The outcome of a run.
#[derive(Debug, Serialize)]
struct RunView {
    run: String,
    due: String,
    started: String,
    late_seconds: i64,
    missed: u32,
    /// Its outcome, or why its answer isn't delivered yet; none while it runs.
    outcome: Option<String>,
    answer: Option<String>,
    cost: Option<TurnCost>,
    /// Its turn, as in `turns`; none if no brain was asked.
    turn: Option<String>,
}

/// A routine with its runs.
#[derive(Debug, Serialize)]
struct RoutineView {
    #[serde(flatten)]
    listed: ListedRoutine,
    prompt: String,
    coming: Vec<String>,
    runs: Vec<RunView>,
    /// The USD of its runs of the last 30 days, as far as prices are set, and their tokens.
    month_usd: f64,
    month_tokens: u64,
    /// The cost of the next 30 days in USD: as many runs as its schedule has, each as those of the last 30 days on
    /// average.
    rate_usd: Option<f64>,
}

fn ran(visit: &Visit<'_>, run: RoutineRun) -> RunView {
    let tz = visit.workspace.zone.tz();
    RunView {
        due: rfc3339(run.due, tz),
        started: rfc3339(run.started, tz),
        late_seconds: run.started.duration_since(run.due).as_secs().max(0),
        missed: run.missed,
        turn: run.answer.as_ref().map(|_| routines::message_of(&run.key).to_string()),
        outcome: run.result(),
        answer: run.answer,
        cost: run.facts.as_deref().and_then(Facts::parse).as_ref().map(TurnCost::of),
        run: run.key,
    }
}

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let listed = routines::list(visit.workspace)?;
    if !visit.rest.is_empty() {
        let note = routines::find(visit.workspace, &visit.rest)?;
        let listed = listed.into_iter().find(|one| one.name == note.name);
        return one(visit, &note, listed.ok_or_else(|| PageError::not_found("it is gone"))?);
    }
    visit.view("Routines", &listed, |listed| {
        html! {
            (paused(visit))
            @if listed.is_empty() {
                (parts::empty("There are no routines."))
            } @else {
                (parts::table(["Routine", "Schedule", "State", "Next", "Last", ""], listed, |one| row(visit, one)))
            }
        }
    })
}

/// Whether all that is done by itself waits, and the forms that change that.
fn paused(visit: &Visit<'_>) -> Markup {
    let pause = visit.workspace.pause_on_disk().filter(|pause| pause.holds(visit.now));
    html! {
        section aria-label="Pause" {
            @if let Some(pause) = pause {
                p { (parts::badge("paused", "warn")) " All automatic work is " (pause.words(visit.workspace.zone.tz())) "." }
                (parts::button(visit, "/routines", "resume", &[], "Resume"))
            } @else {
                details.more {
                    summary { "Pause all automatic work" }
                    p.soft { "Routines, captures, summaries and phrasing by a brain wait. A run that falls in the pause starts after it." }
                    (parts::form(visit, "/routines", "pause", &html! {
                        (parts::field(visit, "pause", "until", "Until (empty: until you resume)", ""))
                        label { input type="checkbox" name="reminders" value="yes"; " Reminders wait too" }
                    }, "Pause"))
                }
            }
        }
    }
}

fn row(visit: &Visit<'_>, one: &ListedRoutine) -> [Markup; 6] {
    let state = match one.problems.first() {
        Some(problem) => {
            html! { (parts::badge("doesn't run", "bad")) " line " (problem.line) ": " (problem.reason) "; " (problem.suggestion) }
        }
        None if let Some(why) = &one.waits => {
            html! { (parts::badge("waits", "warn")) " " (parts::sentence(why)) }
        }
        None if one.enabled => parts::badge("on", "good"),
        None => parts::badge("off", ""),
    };
    [
        html! { a href={ "/routines/" (encoded(&one.name)) } { (one.name) } },
        html! { (one.words.as_deref().unwrap_or("not understood")) },
        state,
        html! { @if let Some(next) = &one.next { (visit.at(next.at())) } },
        html! { @if let Some(last) = &one.last { (visit.at(last.at())) } },
        switch(visit, one),
    ]
}

fn switch(visit: &Visit<'_>, one: &ListedRoutine) -> Markup {
    let (what, words) = if one.enabled { ("disable", "Switch off") } else { ("enable", "Switch on") };
    parts::button(visit, "/routines", what, &[("name", &one.name)], words)
}

fn one(visit: &Visit<'_>, note: &RoutineNote, listed: ListedRoutine) -> Result<PageView> {
    let workspace = visit.workspace;
    let runs = workspace.journal().and_then(|journal| journal.runs_of(&note.name, RUNS))?;
    let (month_usd, month_tokens, rate_usd) = costs(visit, note, &runs);
    let coming = note.routine.as_ref().map(|routine| {
        let table = Timetable::new(&workspace.zone, &routine.schedule);
        table.after(visit.now).take(COMING).map(|it| it.at).collect::<Vec<_>>()
    });
    let coming = coming.unwrap_or_default();
    let shown = RoutineView {
        prompt: note.routine.as_ref().map(|routine| routine.prompt.clone()).unwrap_or_default(),
        coming: coming.iter().map(|at| rfc3339(*at, workspace.zone.tz())).collect(),
        runs: runs.into_iter().map(|run| ran(visit, run)).collect(),
        month_usd,
        month_tokens,
        rate_usd,
        listed,
    };
    let preview = visit.query("preview").map(|_| routines::preview(workspace, note)).transpose()?;
    visit.view(&note.name, &shown, |shown| {
        html! {
            p.soft { (visit.note_link(note.path.as_str())) " · " (visit.obsidian(note.path.as_str())) }
            @for problem in &shown.listed.problems {
                p.refused { "Line " (problem.line) ": " (problem.reason) "; " (problem.suggestion) }
            }
            dl {
                dt { "Schedule" } dd {
                    (shown.listed.words.as_deref().unwrap_or("not understood"))
                    @if shown.listed.words != shown.listed.schedule && let Some(written) = &shown.listed.schedule { " (" code { (written) } ")" }
                }
                dt { "State" } dd { @if shown.listed.enabled { "on" } @else { "off" } }
                dt { "The last 30 days" } dd { (shown.month_tokens) " tokens, " (format!("{:.4}", shown.month_usd)) " USD" }
                @if let Some(usd) = shown.rate_usd { dt { "Cost of a month at this rate" } dd { (format!("{usd:.2}")) " USD" } }
            }
            (switch(visit, &shown.listed))
            (parts::confirmed(visit, "/routines", "run", &[("name", &shown.listed.name)], "Run now",
                "The routine runs now, regardless of its schedule. A pause delays the run."))
            p { a href=(visit.address_with(&[("preview", "yes")])) { "Preview the prompt" } }
            @if let Some(preview) = &preview { (previewed(preview)) }
            h2 { "Prompt" } pre { (shown.prompt) }
            @if !coming.is_empty() {
                h2 { "Next" }
                ul { @for at in &coming { li { (visit.at(*at)) } } }
            }
            h2 { "Runs" }
            (runs_table(visit, &shown.runs))
        }
    })
}

/// The USD and the tokens of the runs of the last month; and the USD of the runs of the next one, each as those were on
/// average.
fn costs(visit: &Visit<'_>, note: &RoutineNote, runs: &[RoutineRun]) -> (f64, u64, Option<f64>) {
    let since = visit.now.saturating_sub(MONTH).unwrap_or(visit.now);
    let lately = runs.iter().filter(|run| run.started >= since);
    let (mut usd, mut tokens, mut priced) = (0.0, 0, 0_u32);
    for facts in lately.filter_map(|run| Facts::parse(run.facts.as_deref()?)) {
        let cost = TurnCost::of(&facts);
        tokens += cost.input + cost.output;
        usd += cost.usd.unwrap_or_default();
        priced += u32::from(cost.usd.is_some());
    }
    let until = visit.now.saturating_add(MONTH).unwrap_or(visit.now);
    let rate = note.routine.as_ref().filter(|_| priced > 0).map(|routine| {
        let to_come = Timetable::new(&visit.workspace.zone, &routine.schedule).count(visit.now, until);
        usd / f64::from(priced) * f64::from(to_come)
    });
    (usd, tokens, rate)
}

fn previewed(preview: &Preview) -> Markup {
    html! {
        section.plan aria-label="Preview of the prompt" {
            h2 { "Preview of the prompt" }
            p { "Brain: " @if preview.brains.is_empty() { "memory" } @else { (preview.brains.join(", then ")) } " (" (preview.why.trim_end_matches('.')) "); to " (preview.to) "." }
            @if !preview.holds { p { "A scheduled run would be skipped now: its condition is not met." } }
            @if !preview.material.is_empty() { h3 { "Context sent with the prompt" } pre { (preview.material) } }
        }
    }
}

fn runs_table(visit: &Visit<'_>, runs: &[RunView]) -> Markup {
    if runs.is_empty() {
        return parts::empty("It has not run yet.");
    }
    let row = |run: &RunView| {
        [
            html! {
                (visit.at(run.due.parse().unwrap_or(visit.now)))
                @if run.late_seconds >= 60 { ", " (compose::duration(SignedDuration::from_secs(run.late_seconds))) " late" }
                @if run.missed > 0 { ", " (run.missed) " missed runs included" }
            },
            html! { (run.outcome.as_deref().unwrap_or("under way")) },
            html! { @if let Some(cost) = &run.cost { (cost_words(cost)) } },
            html! {
                @if let Some(answer) = &run.answer { details.more { summary { "Answer" } pre { (answer) } } }
                @if let Some(turn) = &run.turn { p { a href={ "/turns/" (turn) } { "Details of this answer" } } }
            },
        ]
    };
    parts::table(["Due", "Result", "Took", ""], runs, row)
}

pub(super) fn act(visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    let (workspace, name) = (visit.workspace, form.get("name"));
    let to = |name: &str| format!("/routines/{}", encoded(name));
    match form.get("do") {
        what @ ("enable" | "disable") => {
            let is_on = what == "enable";
            let (note, _) = routines::set_enabled(workspace, name, is_on, Actor::Page)?;
            let state = if is_on { "on" } else { "off" };
            Ok(MadeChange::new(to(&note.name), format!("{} is {state}", note.name)))
        }
        "run" => run(visit, &routines::find(workspace, name)?),
        "pause" => {
            let until =
                form.non_blank("until").map(|text| when::parse_when(text, visit.now, &workspace.zone));
            let until = until.transpose().map_err(|error| PageError::bad(&error).hint(error.hint()))?;
            let reminders = form.non_blank("reminders").is_some();
            pause::pause(workspace, until, reminders, &visit.origin()).map_err(PageError::changed)?;
            Ok(MadeChange::new("/routines", "Paused"))
        }
        "resume" => {
            pause::resume(workspace, &visit.origin()).map_err(PageError::changed)?;
            Ok(MadeChange::new("/routines", "Resumed"))
        }
        other => Err(PageError::no_such_action(other)),
    }
}

/// Claims a run and lets it go on beside this answer: a brain may take minutes. Ended meanwhile, it is the daemon's.
fn run(visit: &Visit<'_>, note: &RoutineNote) -> Result<MadeChange> {
    let workspace = visit.workspace;
    let to = format!("/routines/{}", encoded(&note.name));
    let turns = Arc::new(TurnJournal::open(&workspace.dirs.state)?);
    let console = Arc::new(Console::stderr(workspace.zone.tz().clone()));
    let (delivery_order, approvals) =
        (workspace.delivery_order_with(console), Arc::new(VaultApprovals::new(workspace, Waiter::Nothing)));
    let runner = toolbox::runner_with(workspace, turns, Arc::default(), approvals, delivery_order)?;
    let key = routines::claim_now(workspace, runner.journal(), runner.turns(), note)?;
    if let Some(why) = workspace.reason_for_rest() {
        return Ok(MadeChange::new(to, format!("{} waits: {why}", note.name)));
    }
    visit.spawn(async move {
        if let Err(error) = runner.drive(&key, &CancellationToken::new()).await {
            tracing::error!("the run {key} failed: {error}");
        }
    });
    Ok(MadeChange::new(to, format!("{} is running; the result will appear below.", note.name)))
}
