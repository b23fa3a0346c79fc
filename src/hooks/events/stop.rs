//! Handles the end of an answer: checks claims to have saved something against the vault, and offers to save facts.
//!
//! A false claim blocks the end of the answer once, with the reason for the assistant. The end of an answer that the
//! hook itself asked for isn't blocked again.

use jiff::SignedDuration;

use super::session::{SessionStates, record_once};
use crate::capture::offers::offers;
use crate::capture::sentences::{content, is_kept};
use crate::format::{commitment, reminder};
use crate::hooks::context::transcript;
use crate::hooks::decide::save_claims::claims;
use crate::hooks::decide::{answer_subject, was_written, writes_to_vault};
use crate::hooks::host::messages::HookInput;
use crate::hooks::host::{HookAnswer, Transcript, TranscriptTurn, read_tail};
use crate::redact::MASKED;
use crate::workspace::Workspace;

/// The number of days' notes that are read, counted back from today.
const DAYS: i64 = 2;

/// Answers the end of a turn.
pub(in crate::hooks) fn run(workspace: &Workspace, input: &HookInput) -> anyhow::Result<HookAnswer> {
    let transcript = match transcript(input, read_tail) {
        // The host may write the transcript later than it calls.
        Err(_) if input.last_assistant_message.is_some() => Transcript::default(),
        transcript => transcript?,
    };
    let turn = transcript.turns.last().cloned().unwrap_or_default();
    let mut said = turn.words();
    if let Some(last) = &input.last_assistant_message
        && !said.contains(last.trim())
    {
        said = format!("{said}\n\n{last}");
    }
    let mask = workspace.settings.hooks.redactor();
    let mut offers = offers(&mask.apply(&turn.prompt));
    // A secret is not worth keeping, masked or not.
    offers.retain(|offer| !offer.contains(MASKED));
    let claims = claims(&said, answer_subject(&turn));
    if claims.is_empty() && offers.is_empty() {
        return Ok(HookAnswer::default());
    }
    let saved = saved_texts(workspace);
    let texts = || saved.iter().map(String::as_str);
    let sessions = SessionStates::new(&workspace.dirs.cache);
    let mut session = sessions.load(input.session());
    let wrote_a_note =
        || turn.calls.iter().any(|call| writes_to_vault(workspace.vault.root(), input.cwd.as_deref(), call));
    let lost = claims
        .iter()
        .find(|claim| !is_saved(claim, &turn, texts()))
        .filter(|_| !wrote_a_note() && !was_written(workspace, &turn));
    let mut answer = HookAnswer::default();
    if let Some(claim) = lost
        && record_once(&mut session.asked, &format!("{claim}\n{}", turn.prompt))
    {
        answer.block = Some(reason(workspace, &mask.apply(claim)));
    } else {
        offers.retain(|offer| !is_kept(offer, texts()) && record_once(&mut session.offered, offer));
        if !offers.is_empty() {
            let list = offers.iter().map(|offer| format!("“{offer}”")).collect::<Vec<_>>().join(" ");
            let how = "To keep it, say “save that to my memory”, or run `vault-agent memory save`.";
            answer.message = Some(format!("vault-agent: worth keeping? {list} {how}"));
        }
    }
    // Without the session the same would be asked at every stop.
    if answer != HookAnswer::default() && !sessions.save(input.session(), &session) {
        return Ok(HookAnswer::default());
    }
    Ok(answer)
}

/// Whether a claim, in its own words or in those of the prompt that it answers, is in the notes.
fn is_saved<'k>(claim: &str, turn: &TranscriptTurn, kept: impl Iterator<Item = &'k str> + Clone) -> bool {
    let own_words = content(claim).len() >= 2 && is_kept(claim, kept.clone());
    own_words || is_kept(&format!("{claim} {}", turn.prompt), kept)
}

/// The message to the assistant.
fn reason(workspace: &Workspace, claim: &str) -> String {
    let paths = &workspace.settings.paths;
    format!(
        "You told the user: “{claim}” It is not in the vault: {}, the day's note, {}, {} and {} don't have it, and nothing was written \
since the prompt. Save it now: call the tool `memory_save` (`scope` is `long`, `daily` or `commitment`) or `reminder_add`, or run \
`vault-agent memory save` or `vault-agent remind add`. If it can't or shouldn't be saved, tell the user that it was not.",
        paths.memory, paths.commitments, paths.reminders, paths.pinned
    )
}

/// The texts of all that the agent keeps: facts, recent days, follow-ups, reminders, pins.
fn saved_texts(workspace: &Workspace) -> Vec<String> {
    let notes = workspace.memory();
    let paths = &workspace.settings.paths;
    let read = |path: &str| workspace.vault.read(&workspace.note(path)).unwrap_or_default();
    let mut out: Vec<String> = Vec::new();
    for section in notes.list_long(None).unwrap_or_default() {
        let name = section.section.unwrap_or_default();
        out.extend(section.memories.into_iter().map(|memory| format!("{name} {}", memory.text)));
    }
    let now = workspace.clock.now();
    for back in 0..DAYS {
        let day = now.saturating_sub(SignedDuration::from_hours(24 * back)).unwrap_or(now);
        let date = workspace.zone.tz().to_datetime(day).date();
        for day in notes.list_daily(Some(date), None).unwrap_or_default() {
            // A hook's own write about a session is no save.
            let said =
                day.memories.into_iter().filter(|memory| !memory.text.contains(super::end::SESSION_MARK));
            out.extend(said.map(|memory| memory.text));
        }
    }
    let followups = commitment::parse(&read(&paths.commitments)).blocks;
    out.extend(followups.into_iter().map(|block| block.commitment.text));
    out.extend(reminder::parse(&read(&paths.reminders)).reminders.into_iter().map(|line| line.reminder.msg));
    out.extend(notes.pins().unwrap_or_default().into_iter().map(|pin| pin.text));
    out
}
