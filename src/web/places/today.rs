//! Serves `/`, the page "Today".
//!
//! The page shows late reminders and tasks, those of the next seven days, the numbers of open approvals and of open
//! candidates (proposed memories), and current faults. An input line takes a reminder or a question; the answer to the
//! question is shown.

use jiff::SignedDuration;

use super::approvals;
use super::health::quick_look;
use super::prelude::*;
use crate::agenda::{self, AgendaEntry, EntryState};
use crate::capture::Inbox;
use crate::doctor::{Check, Severity};
use crate::format::candidate;
use crate::format::reminder::Recur;
use crate::reminders::{ReminderDraft, ReminderError, checked_message};
use crate::routines::message_of;
use crate::turn::TurnJournal;
use crate::web::line_actions::{in_words, minute, recurrence};
use crate::web::{markdown, questions};
use crate::when::{self, Meaning, WhenError};

/// So far ahead.
const AHEAD: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The most items in a list.
const MOST: usize = 100;
/// The longest question, in characters.
const MOST_QUESTION: usize = 20_000;

#[derive(Debug, Serialize)]
struct TodayView {
    /// Entries of the next week, as in `agenda --json`.
    next: Vec<AgendaEntry>,
    /// Entries of the last month that are neither sent nor done.
    late: Vec<AgendaEntry>,
    /// Whether there is more than is listed.
    more: bool,
    /// The number of open approvals.
    approvals: usize,
    /// The number of open candidates.
    inbox: usize,
    /// The current faults.
    problems: Vec<String>,
    /// The question of `?answer=`.
    #[serde(flatten)]
    asked: Option<AskedQuestion>,
}

/// A question that was asked here.
#[derive(Debug, Serialize)]
struct AskedQuestion {
    /// Its turn, as in `turns`.
    turn: String,
    /// The progress of the turn, as in `turns`.
    state: Option<&'static str>,
    /// Its answer, or why there is none, once it has ended.
    answer: Option<String>,
}

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let (mut late, agenda) = agenda::late_and_coming(visit.workspace, &mut visit.tasks())?;
    let mut next = agenda.entries;
    next.retain(|entry| entry.state == EntryState::Coming && entry.instant <= visit.now + AHEAD);
    let more = agenda.more || next.len() > MOST || late.len() > MOST;
    next.truncate(MOST);
    late.truncate(MOST);
    let open = Inbox::new(visit.workspace.memory()).list()?;
    let mut problems = current_faults(visit);
    let found = problems.join("\n");
    problems.extend(agenda.problems.into_iter().filter(|problem| !found.contains(problem.as_str())));
    let today = TodayView {
        next,
        late,
        more,
        approvals: approvals::approval_questions(visit)?.iter().filter(|one| one.waits()).count(),
        inbox: open.iter().filter(|one| one.state == candidate::CandidateState::Open).count(),
        problems,
        asked: asked(visit)?,
    };
    visit.view("Today", &today, |today| {
        html! {
            (written(visit))
            @if let Some(question) = &today.asked { (question_section(question)) }
            (waiting(today))
            @if !today.late.is_empty() {
                h2 { "Late" }
                (list(visit, &today.late))
            }
            h2 { "Within 7 days" }
            (list(visit, &today.next))
            @if today.more { p.soft { "The list is cut off. See the " a href="/calendar" { "calendar" } " for all entries." } }
        }
    })
}

fn waiting(today: &TodayView) -> Markup {
    html! {
        @if today.approvals + today.inbox > 0 {
            p.chips {
                @if today.approvals > 0 { a href="/approvals" { (today.approvals) " to approve" } " " }
                @if today.inbox > 0 { a href="/inbox" { (today.inbox) " in the inbox" } }
            }
        }
        @if !today.problems.is_empty() {
            h2 { "Problems" }
            ul { @for problem in &today.problems { li.late { (parts::sentence(problem)) } } }
        }
    }
}

/// The line to write into: what was understood is said back before it is saved; what is no reminder can be asked.
fn written(visit: &Visit<'_>) -> Markup {
    // A reminder that was refused is said back anew.
    let typed = |name| visit.typed("add", name);
    let again = typed("when").map(|when| format!("{when}: {}", typed("message").unwrap_or_default()));
    let text = again.as_deref().or_else(|| visit.query("write")).unwrap_or_default();
    html! {
        form method="get" action="/" {
            div.row {
                label {
                    span { "Reminder (a time and a text) or question to the assistant" }
                    input name="write" value=(text) placeholder="tomorrow 9am: call Mum" autocomplete="off";
                }
                (parts::form_id())
                button { "Preview" }
            }
        }
        @if !text.is_empty() { (meant(visit, text)) }
    }
}

fn meant(visit: &Visit<'_>, text: &str) -> Markup {
    let (said, why) = match understood(visit, text) {
        Ok(said) => (Some(said), None),
        Err(problem) => (None, Some(problem)),
    };
    let question = html! { input type="hidden" name="question" value=(text); };
    let may_ask = said.as_ref().is_none_or(|said| said.is_behind);
    html! {
        @if let Some(ParsedReminder { said, msg, when, meaning, .. }) = said {
            (parts::plan("Add this reminder?", &[format!("{said}: {msg}")], &parts::planned_form(visit, "/", "add", &html! {
                input type="hidden" name="when" value=(when);
                input type="hidden" name="message" value=(msg);
                input type="hidden" name="at" value=(minute(meaning.local));
                @if meaning.recur != Recur::None { input type="hidden" name="recur" value=(meaning.recur); }
            }, "Add")))
        }
        @if may_ask {
            (parts::plan("Ask the assistant?", &[text.to_owned()], &parts::planned_form(visit, "/", "ask", &question, "Ask")))
        }
        @if let Some(problem) = why {
            p.hint { "Not a reminder: " (problem.message) @for hint in &problem.hints { "; " (hint) } }
        }
    }
}

/// A written line as a reminder.
struct ParsedReminder {
    /// The time in words.
    said: String,
    msg: String,
    /// The time as it was written.
    when: String,
    /// The time as it was understood.
    meaning: Meaning,
    /// Whether the time stands behind the message, as it may in a question.
    is_behind: bool,
}

/// The meaning of a written line. The time stands before a colon, or is the longest beginning that is a time, or the
/// longest end.
fn understood(visit: &Visit<'_>, text: &str) -> Result<ParsedReminder> {
    let (now, zone) = (visit.now, &visit.workspace.zone);
    let colon = text.match_indices(": ").map(|(at, _)| (at, at + 2, false));
    let spaces: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
    let beginnings = spaces.iter().rev().map(|at| (*at, at + 1, false));
    let ends = spaces.iter().map(|at| (*at, at + 1, true));
    let (mut why, mut is_over) = (None, [false; 2]);
    for (end, begin, is_behind) in colon.chain(beginnings).chain(ends) {
        let (before, behind) = (text[..end].trim(), text[begin..].trim());
        let (when, msg) = if is_behind { (behind, before) } else { (before, behind) };
        // A part of a time that is over would be another time.
        if msg.is_empty() || is_over[usize::from(is_behind)] {
            continue;
        }
        match when::read(when, now, zone) {
            Ok(meaning) => {
                let msg = checked_message(msg)?;
                let said = when::confirmation_with(meaning.local, meaning.recur, now, zone);
                return Ok(ParsedReminder { said, msg, when: when.to_owned(), meaning, is_behind });
            }
            Err(WhenError::NotUnderstood { .. }) => {}
            Err(error) => {
                is_over[usize::from(is_behind)] = !matches!(error, WhenError::Ambiguous { .. });
                why = why.or(Some(error));
            }
        }
    }
    Err(match why {
        Some(error) => ReminderError::from(error).into(),
        None => PageError::bad("it names no time").hint("write it as in `tomorrow 9am: call Mum`"),
    })
}

/// The question of `?answer=`; one whose process was ended has its end from the turn journal.
fn asked(visit: &Visit<'_>) -> Result<Option<AskedQuestion>> {
    let Some(id) = visit.query("answer") else { return Ok(None) };
    let journal = TurnJournal::open_if_there(&visit.workspace.dirs.state)?;
    let turn = journal.map(|journal| journal.turn(turn_of(id))).transpose()?.flatten();
    let state = turn.as_ref().map(|turn| turn.state.as_str());
    let ended = turn.filter(|turn| turn.state.is_final()).map(|turn| {
        turn.answer.unwrap_or_else(|| "There is no answer: it was ended before. Ask again.".to_owned())
    });
    let form = visit.shared.store.outcome(id, &visit.session.id)?;
    if form.is_none() && state.is_none() {
        return Err(PageError::not_found("no such question was asked here"));
    }
    let answer = form.flatten().or(ended);
    Ok(Some(AskedQuestion { turn: turn_of(id).to_string(), state, answer }))
}

fn question_section(asked: &AskedQuestion) -> Markup {
    html! {
        section aria-label="Answer" {
            h2 { "Answer" }
            @match &asked.answer {
                Some(answer) => {
                    (answered(answer))
                    p { a href={ "/turns/" (asked.turn) } { "Details of this answer" } }
                },
                None => p.soft role="status" { "Waiting for the answer of the assistant." },
            }
        }
    }
}

/// The id of the turn that answers the question of a form.
fn turn_of(answer: &str) -> u64 {
    message_of(&format!("page:{answer}"))
}

/// An answer, and what it took as a line below it.
fn answered(answer: &str) -> Markup {
    let (said, facts) = answer.trim_end().rsplit_once('\n').unwrap_or(("", answer));
    let facts = facts.strip_prefix("%% ").and_then(|facts| facts.strip_suffix(" %%"));
    html! {
        (markdown::render(if facts.is_some() { said } else { answer }, ""))
        @if let Some(facts) = facts { p.soft { (facts) } }
    }
}

fn list(visit: &Visit<'_>, next: &[AgendaEntry]) -> Markup {
    if next.is_empty() {
        return parts::empty("Nothing is due.");
    }
    let row = |one: &AgendaEntry| {
        let day = format!("/calendar?week={}", one.date);
        [
            html! { a href=(day) { (visit.at(one.instant)) } },
            html! {
                (one.msg)
                @if one.times > 1 { ", " (one.times) " times" }
                @if let Some(recur) = &one.recur { " " (parts::badge(recur, "")) }
            },
            html! { (parts::badge(one.kind.as_str(), "")) },
            visit.note_link(&one.path),
        ]
    };
    html! { div.agenda { (parts::table(["When", "What", "Kind", "Note"], next, row)) } }
}

pub(super) fn act(visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    match form.get("do") {
        "add" => add(visit, form),
        "ask" => ask(visit, form.get("form"), form.get("question")),
        other => Err(PageError::no_such_action(other)),
    }
}

fn add(visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    let meaning = match form.non_blank("at") {
        // The confirmed line is saved, even if its words mean another time by now.
        Some(at) => visit.when(at).map_err(|found| PageError { status: 409, ..found })?,
        None => visit.when(form.get("when"))?,
    };
    let recur = meaning.recurring(recurrence(form)?).map_err(PageError::bad)?;
    let draft = ReminderDraft { local: meaning.local, recur, msg: checked_message(form.get("message"))? };
    let written = visit.workspace.vault_reminders().add(&draft, visit.origin())?;
    Ok(MadeChange::new("/", format!("Added: {}", in_words(visit, &written.line_text))))
}

/// Asks beside this answer: a brain may take minutes.
fn ask(visit: &Visit<'_>, form: &str, question: &str) -> Result<MadeChange> {
    if question.trim().is_empty() {
        return Err(PageError::bad("the question is empty"));
    }
    if question.chars().count() > MOST_QUESTION {
        return Err(PageError::bad(format!("the question is longer than {MOST_QUESTION} characters")));
    }
    let id = format!("answer{form}");
    visit.shared.store.claim(&id, &visit.session.id, "", visit.now)?;
    let (workspace, permits) = (Arc::clone(visit.workspace), Arc::clone(&visit.shared.permits));
    let asked = questions::ask(workspace, permits, turn_of(&id), question.to_owned());
    let (store, to) = (Arc::clone(&visit.shared.store), format!("/?answer={id}"));
    let goes_to = to.clone();
    visit.spawn(async move {
        let answer = asked.await.unwrap_or_else(|error| format!("There is no answer: {error}"));
        let kept = tokio::task::spawn_blocking(move || {
            store.finish(&id, &goes_to, &answer).map_err(|error| error.to_string())
        });
        if let Err(error) = kept.await.map_err(|error| error.to_string()).flatten() {
            tracing::error!("an answer could not be kept: {error}");
        }
    });
    Ok(MadeChange::new(to, "Asked."))
}

/// The current faults: the findings of a quick look that are not fine.
fn current_faults(visit: &Visit<'_>) -> Vec<String> {
    let wrong = quick_look(visit).into_iter().filter(|check| check.status != Severity::Ok);
    let said = |check: Check| {
        let fix = check.fix.map_or_else(String::new, |fix| format!("; {fix}"));
        format!("{}: {}{fix}", check.check, check.detail)
    };
    wrong.map(said).collect()
}
