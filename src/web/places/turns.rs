//! Serves `/turns`: each question with the state of its answer; `/turns/ID`: the steps, calls, tools, memory and cost
//! of one turn.

use std::collections::HashMap;

use super::history::{planned, undo, undo_plan};
use super::prelude::*;
use crate::agent::rebuild_request::rebuild;
use crate::brain::{Message, MessagePart, Request};
use crate::history::UndoSelection;
use crate::toolbox;
use crate::turn::turn_journal::CallRow;
use crate::turn::{ListedTurn, StepDetail, ToolDetail, TurnCost, TurnDetail, TurnJournal};

/// The most turns on one page.
const PER_PAGE: usize = 50;
/// More of a text is folded away.
const LONG: usize = 600;

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let journal = TurnJournal::open_if_there(&visit.workspace.dirs.state)?;
    let tz = visit.workspace.zone.tz();
    if !visit.rest.is_empty() {
        return one(visit, journal.as_ref());
    }
    let until = visit.page_number().saturating_mul(PER_PAGE);
    let turns =
        journal.map(|journal| journal.latest(until.saturating_add(1))).transpose()?.unwrap_or_default();
    let more = turns.len() > until;
    let shown = turns.iter().take(until).skip(until - PER_PAGE);
    let texts: HashMap<String, &str> =
        shown.clone().map(|turn| (turn.name(), turn.question.text.as_str())).collect();
    let listed: Vec<ListedTurn> = shown.map(|turn| ListedTurn::of(turn, tz)).collect();
    visit.view("Questions", &listed, |listed| {
        html! {
            @if listed.is_empty() && visit.page_number() == 1 { (parts::empty("Nothing was asked yet.")) }
            @if !listed.is_empty() { (parts::table(["When", "Question", "Where", "State", "Brain"], listed, |turn| row(visit, turn, &texts))) }
            (parts::open_pager(visit, listed.len(), more))
        }
    })
}

fn row(visit: &Visit<'_>, turn: &ListedTurn, texts: &HashMap<String, &str>) -> [Markup; 5] {
    let text = texts.get(&turn.id).copied().unwrap_or_default();
    let words: String = text.chars().take(80).collect();
    let kind = if turn.finished.is_some() { "good" } else { "warn" };
    [
        visit.at(turn.started.parse().unwrap_or(visit.now)),
        html! { a href={ "/turns/" (turn.id) } { @if words.is_empty() { (turn.id) } @else { (words) } } },
        html! { (turn.channel) },
        parts::badge(turn.state, kind),
        html! { (turn.brain.as_deref().unwrap_or("memory")) },
    ]
}

fn one(visit: &Visit<'_>, journal: Option<&TurnJournal>) -> Result<PageView> {
    let missing =
        || PageError::not_found(format!("there is no question {}", crate::format::quote(&visit.rest)));
    let journal = journal.ok_or_else(missing)?;
    let turn = journal.named(&visit.rest)?.ok_or_else(missing)?;
    let detail = journal.detail(&turn, visit.workspace.zone.tz())?;
    let plan = match (visit.query("plan"), visit.workspace.history()?) {
        (Some(_), Some(history)) => Some(planned(&history, UndoSelection::Turn(detail.turn.id.clone()))?),
        _ => None,
    };
    if visit.query("request").is_some() {
        return request(visit, journal, &detail.turn.id);
    }
    visit.view("Question", &detail, |detail| {
        html! {
            (facts(visit, detail))
            @if !detail.question.is_empty() { h2 { "What was asked" } pre { (detail.question) } }
            @if let Some(answer) = &detail.answer { h2 { "Answer" } (long(answer)) }
            h2 { "Changes to notes" }
            @match &plan {
                Some(plan) => { (undo_plan(visit, plan, "/turns", &[("id", &detail.turn.id)])) }
                None => p { a href=(parts::to_plan(visit, &[("plan", "undo")])) { "Preview undo of all changes" } },
            }
            (memory(detail))
            h2 { "Tools" }
            @if detail.tools.is_empty() { (parts::empty("No tool was called.")) }
            @for tool in &detail.tools { (called_tool(tool)) }
            h2 { "Brain calls" }
            (calls(&detail.calls))
            h2 { "Steps" }
            (steps(visit, &detail.steps))
        }
    })
}

/// The model's input, made again from the notes.
fn request(visit: &Visit<'_>, journal: &TurnJournal, id: &str) -> Result<PageView> {
    let rebuilt = rebuild(visit.workspace, Some(journal), id, &toolbox::specs)?;
    visit.view("Request sent to the brain", &rebuilt, |rebuilt| {
        html! {
            p { a href={ "/turns/" (crate::web::visit::encoded(id)) } { "Back to the question" } }
            p { (parts::badge(if rebuilt.equal { "identical" } else { "different" }, if rebuilt.equal { "good" } else { "warn" })) " " (rebuilt.words()) }
            @if let Some(request) = &rebuilt.request { (asked(request)) }
        }
    })
}

/// A request: what it says of the assistant, each message, each tool.
fn asked(request: &Request) -> Markup {
    html! {
        h2 { "Instructions" }
        @if request.system.is_empty() { (parts::empty("None.")) }
        @if !request.system.is_empty() { pre { (request.system) } }
        h2 { "Messages" }
        @for message in &request.messages { (message_of(message)) }
        h2 { "Tools" }
        @if request.tools.is_empty() { (parts::empty("None.")) }
        @for tool in &request.tools {
            details.more { summary { (tool.name) } p { (tool.description) } pre { (format!("{:#}", tool.schema)) } }
        }
    }
}

fn message_of(message: &Message) -> Markup {
    html! {
        @match message {
            Message::User { parts } => {
                h3 { "User" }
                @for part in parts {
                    @match part {
                        MessagePart::Text { text } => pre { (text) },
                        MessagePart::Image { media_type, base64 } => p.soft { (media_type) ", " (base64.len() / 4 * 3) " bytes" },
                    }
                }
            }
            Message::Assistant { text, tool_calls, .. } => {
                h3 { "Assistant" }
                @if !text.is_empty() { pre { (text) } }
                @for call in tool_calls { p { "Called " code { (call.name) } } (long(&call.arguments)) }
            }
            Message::ToolResults { results } => {
                h3 { "Tool results" }
                @for result in results { (long(&result.text)) }
            }
        }
    }
}

fn facts(visit: &Visit<'_>, detail: &TurnDetail) -> Markup {
    let turn = &detail.turn;
    let log = detail.block.split_once("#^").map(|(path, _)| format!("{path}.md"));
    html! {
        dl {
            dt { "State" } dd { (turn.state) }
            dt { "Brain" } dd { (turn.brain.as_deref().unwrap_or("memory")) }
            dt { "Asked" } dd { (visit.at(turn.started.parse().unwrap_or(visit.now))) " in " (turn.channel) }
            @if let Some(done) = turn.finished.as_ref().and_then(|at| at.parse().ok()) { dt { "Done" } dd { (visit.at(done)) } }
            @if let Some(cost) = &detail.cost { dt { "Took" } dd { (cost_words(cost)) } }
            @if let Some(path) = &log { dt { "Log" } dd { a href=(note_address(path)) { (path) } } }
            @if let Some(hash) = &detail.request_hash {
                dt { "Request" } dd {
                    code { (hash) } br;
                    a href=(visit.address_with(&[("request", "yes")])) { "Request sent to the brain" }
                }
            }
            @if !detail.summaries.is_empty() { dt { "Summaries" } dd { (detail.summaries.join(", ")) } }
        }
    }
}

/// `1200 tokens in, 80 out, 0.0042 USD, 3.2 s`.
pub(super) fn cost_words(cost: &TurnCost) -> String {
    let usd = cost.usd.map(|usd| format!(", {usd:.4} USD")).unwrap_or_default();
    format!("{} tokens in, {} out{usd}, {:.1} s", cost.input, cost.output, cost.ms as f64 / 1000.0)
}

fn memory(detail: &TurnDetail) -> Markup {
    html! {
        h2 { "Recalled from memory" }
        @match (&detail.memory, &detail.memory_problem) {
            (_, Some(problem)) => p { (problem) },
            (Some(text), None) if !text.is_empty() => (long(text)),
            _ => (parts::empty("Nothing.")),
        }
    }
}

fn called_tool(tool: &ToolDetail) -> Markup {
    html! {
        article {
            h3 { (tool.name) " " @if tool.is_error { (parts::badge("failed", "bad")) } }
            (long(&tool.input))
            @match &tool.result {
                Some(result) => (long(result)),
                None => p.soft { "It was started and never finished." },
            }
            @if let Some(ms) = tool.ms { p.soft { (ms) " ms" } }
        }
    }
}

/// A text; one that is long stands behind its beginning.
fn long(text: &str) -> Markup {
    let first: String = text.chars().take(LONG).collect();
    html! {
        @if first.len() == text.len() {
            pre { (text) }
        } @else {
            details.more { summary { (first.lines().next().unwrap_or_default()) " … (" (text.len()) " bytes)" } pre { (text) } }
        }
    }
}

fn calls(calls: &[CallRow]) -> Markup {
    if calls.is_empty() {
        return parts::empty("No brain was called.");
    }
    let row = |call: &CallRow| {
        let state = match &call.class {
            None => parts::badge("answered", "good"),
            Some(class) => parts::badge(class.name(), "bad"),
        };
        [
            html! { (call.brain) },
            html! { (call.model) },
            html! { (state) " " (call.error.as_deref().unwrap_or_default()) },
            html! { (call.usage.input) " in, " (call.usage.cached) " cached, " (call.usage.output) " out" },
            html! { (call.ms) " ms" },
        ]
    };
    parts::table(["Name", "Model", "Result", "Tokens", "Time"], calls, row)
}

fn steps(visit: &Visit<'_>, steps: &[StepDetail]) -> Markup {
    let row = |step: &StepDetail| [visit.at(step.at.at()), html! { (step.step) }, html! { (step.detail) }];
    parts::table(["When", "Step", ""], steps, row)
}

pub(super) fn act(visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    let id = form.get("id");
    let said = undo(visit, form, UndoSelection::Turn(id.to_owned()))?;
    Ok(MadeChange::new(format!("/turns/{}", encoded(id)), said))
}
