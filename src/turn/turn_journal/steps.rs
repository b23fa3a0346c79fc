//! Records the steps of a turn: its states, memories, request, answer, progress message and suspension. Also records a
//! person's request to stop the turn. A suspension is the wait for an approval. A step that the turn's state doesn't
//! allow changes nothing.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Transaction, params};

use super::rows::{OpenApproval, RecallRow, RequestRow, StepRow, TurnState};
use super::{NewTurn, SELECT, TurnJournal, TurnRow, insert, instant, prune, turn_of};
use crate::sqlite::Result;

/// The step for the progress message: its id, or nothing after the message was deleted.
pub(super) const PROGRESS_STEP: &str = "shown";

/// Among how many of the latest turns a progress message is looked for that still stands.
const LATEST_TURNS: i64 = 1000;

/// The step of a call that was left with a person; its detail is the call's number, the line's id and its end.
const SUSPENDED_STEP: &str = "left";

impl TurnJournal {
    /// Moves a turn, and the turns that joined it, to `state`. False if that is not allowed, because the turn has ended
    /// in another way.
    pub fn advance(&self, message: u64, state: TurnState, detail: &str, now: Timestamp) -> Result<bool> {
        self.db.write(|tx| advance(tx, message, state, detail, now))
    }

    /// Records the memory result.
    pub fn record_recalled(&self, message: u64, recalled: &RecallRow, now: Timestamp) -> Result<()> {
        let RecallRow { injection, problem } = recalled;
        self.db.write(|tx| {
            if advance(tx, message, TurnState::Recalled, problem.as_deref().unwrap_or(""), now)? {
                let sql = "UPDATE turns SET injection = ?2, recall_problem = ?3 WHERE message = ?1";
                tx.execute(sql, params![message.to_string(), injection, problem])?;
            }
            Ok(())
        })
    }

    /// Records the inputs of the request.
    pub fn record_request(&self, message: u64, request: &RequestRow, now: Timestamp) -> Result<()> {
        let RequestRow { at, budget, tail, hash, skills, sums } = request;
        let (at, skills) = (at.as_millisecond(), skills.as_ref().map(ToString::to_string));
        self.db.write(|tx| {
            if advance(tx, message, TurnState::Assembled, hash, now)? {
                let sql =
                    "UPDATE turns SET at_ms = ?2, budget = ?3, tail = ?4, hash = ?5, skills = ?6, sums = ?7
                           WHERE message = ?1";
                tx.execute(
                    sql,
                    params![message.to_string(), at, budget, tail, hash, skills, sums.join(",")],
                )?;
            }
            Ok(())
        })
    }

    /// Records, before it happens, that a brain is asked.
    pub fn record_call_start(&self, message: u64, brain: &str, now: Timestamp) -> Result<()> {
        self.db.write(|tx| {
            if advance(tx, message, TurnState::Called, brain, now)? {
                let sql = "UPDATE turns SET brain = ?2 WHERE message = ?1";
                tx.execute(sql, params![message.to_string(), brain])?;
            }
            Ok(())
        })
    }

    /// Records the answer's text, which is fixed from then on, before the first chunk is sent.
    pub fn record_answer(
        &self,
        message: u64,
        text: &str,
        facts: &str,
        chunks: usize,
        now: Timestamp,
    ) -> Result<bool> {
        self.db.write(|tx| {
            if !advance(tx, message, TurnState::Answered, "", now)? {
                return Ok(false);
            }
            let sql =
                "UPDATE turns SET answer = ?2, facts = ?3, chunks = ?4 WHERE message = ?1 OR joined = ?1";
            tx.execute(sql, params![message.to_string(), text, facts, chunks])?;
            Ok(true)
        })
    }

    /// Resets a turn whose question was edited before the answer. The record of its tools stays, because they have run.
    /// False if the turn is answered already.
    pub fn begin_again(&self, message: u64, now: Timestamp) -> Result<bool> {
        self.db.write(|tx| advance(tx, message, TurnState::Accepted, "the question was edited", now))
    }

    /// Records the progress message: 0 if it is about to be posted; `None` if it was deleted.
    pub fn set_progress_message(&self, message: u64, shown: Option<u64>, now: Timestamp) -> Result<()> {
        let shown = shown.map(|id| id.to_string()).unwrap_or_default();
        self.db.write(|tx| step(tx, message, PROGRESS_STEP, now, &shown))
    }

    /// The progress message, if there is one.
    pub fn progress_message(&self, message: u64) -> Result<Option<u64>> {
        Ok(self.last_detail(message, PROGRESS_STEP)?.and_then(|detail| detail.parse().ok()))
    }

    /// The progress messages that still stand though their turns have ended, among a channel's latest: turn and id.
    pub fn left_progress_messages(&self, channel: u64) -> Result<Vec<(u64, u64)>> {
        let sql = "SELECT message, detail FROM steps WHERE detail <> '' AND number IN (
                     SELECT max(number) FROM steps WHERE step = ?2 AND message IN (
                       SELECT message FROM turns WHERE channel = ?1 AND state IN ('done', 'dropped')
                       AND number > (SELECT max(number) FROM turns) - ?3)
                     GROUP BY message)";
        let values = params![channel.to_string(), PROGRESS_STEP, LATEST_TURNS];
        let rows: Vec<(String, String)> = self.db.rows(sql, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let ids = rows.into_iter().filter_map(|(turn, id)| Some((turn.parse().ok()?, id.parse().ok()?)));
        Ok(ids.filter(|(_, id)| *id != 0).collect())
    }

    /// Records that the turn is suspended at this call until a person has answered its question, or its time is up.
    pub fn record_suspended(
        &self,
        message: u64,
        number: u32,
        open: &OpenApproval,
        now: Timestamp,
    ) -> Result<()> {
        let detail = format!("{number} {} {}", open.id, open.until);
        self.db.write(|tx| step(tx, message, SUSPENDED_STEP, now, &detail))
    }

    /// The question at which the turn was suspended at this call; `None` if it wasn't.
    pub fn suspended_at(&self, message: u64, number: u32) -> Result<Option<OpenApproval>> {
        let steps = self.steps(message)?.into_iter().rev().filter(|row| row.step == SUSPENDED_STEP);
        Ok(steps.map(|row| row.detail).find_map(|detail| {
            let mut words = detail.split(' ');
            (words.next()?.parse() == Ok(number)).then_some(())?;
            Some(OpenApproval { id: words.next()?.to_owned(), until: words.next()?.parse().ok()? })
        }))
    }

    /// The steps of a turn, in their order.
    pub fn steps(&self, message: u64) -> Result<Vec<StepRow>> {
        let sql = "SELECT step, at_ms, detail FROM steps WHERE message = ?1 ORDER BY number";
        self.db.rows(sql, [message.to_string()], |row| {
            Ok(StepRow { step: row.get(0)?, at: instant(row.get(1)?), detail: row.get(2)? })
        })
    }
}

pub(super) fn step(
    tx: &Transaction<'_>,
    message: u64,
    step: &str,
    now: Timestamp,
    detail: &str,
) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT INTO steps (message, step, at_ms, detail) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![message.to_string(), step, now.as_millisecond(), detail])?;
    Ok(())
}

pub(super) fn advance(
    tx: &Transaction<'_>,
    message: u64,
    state: TurnState,
    detail: &str,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    let id = message.to_string();
    let current: Option<String> = tx
        .prepare_cached("SELECT state FROM turns WHERE message = ?1")?
        .query_row([&id], |row| row.get(0))
        .optional()?;
    let Some(current) = current.and_then(|name| TurnState::named(&name)) else { return Ok(false) };
    if !current.may_become(state) {
        return Ok(false);
    }
    let finished = state.is_final().then_some(now.as_millisecond());
    tx.prepare_cached(
        "UPDATE turns SET state = ?2, finished_ms = ?3 WHERE message = ?1 OR (joined = ?1 AND state <> 'dropped')",
    )?
    .execute(params![id, state.as_str(), finished])?;
    if state == TurnState::Accepted {
        // The request is rebuilt. The memory result stays: it is already in the log.
        tx.execute("UPDATE turns SET at_ms = NULL, hash = NULL WHERE message = ?1", [&id])?;
    }
    step(tx, message, state.as_str(), now, detail)?;
    if state.is_final() {
        prune(tx)?;
    }
    Ok(true)
}

/// The step of a turn that a person stopped; its detail names the person.
const STOP_STEP: &str = "stop";

impl TurnJournal {
    /// Accepts a stop message and ends turns in the same step: the channel's current turn, or, if the message was sent
    /// before the program started (`live` is false), all earlier questions. A live stop message without a turn to end
    /// is an ordinary question. Returns whether the message was carried out.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn accept_stop(&self, turn: &NewTurn, live: bool, now: Timestamp) -> Result<bool> {
        self.db.write(|tx| {
            let mut open = open_turns_in(tx, turn.channel)?;
            open.retain(|other| live || other.question.message < turn.message);
            if !insert(tx, turn, now)? || (live && open.is_empty()) {
                return Ok(false);
            }
            let ended = if live { 1 } else { open.len() };
            for other in open.iter().take(ended) {
                mark_stopped(tx, other, &turn.author, now)?;
            }
            advance(tx, turn.message, TurnState::Dropped, "a word to stop", now)?;
            Ok(true)
        })
    }

    /// Records that a person stopped a channel's current turn; false if no turn is unanswered.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn stop(&self, channel: u64, who: &str, now: Timestamp) -> Result<bool> {
        self.db.write(|tx| match open_turns_in(tx, channel)?.first() {
            Some(turn) => mark_stopped(tx, turn, who, now),
            None => Ok(false),
        })
    }

    /// The person who stopped a turn or a question that joined it, if any.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn stopped_by(&self, message: u64) -> Result<Option<String>> {
        let sql = "SELECT detail FROM steps WHERE step = ?2
                   AND (message = ?1 OR message IN (SELECT message FROM turns WHERE joined = ?1)) LIMIT 1";
        self.db.row(sql, params![message.to_string(), STOP_STEP], |row| row.get(0))
    }
}

/// A channel's unfinished turns that did not join another, the current one first.
fn open_turns_in(tx: &Transaction<'_>, channel: u64) -> rusqlite::Result<Vec<TurnRow>> {
    let sql = format!(
        "{SELECT} WHERE state NOT IN ('done', 'dropped') AND joined IS NULL AND channel = ?1 ORDER BY number"
    );
    tx.prepare_cached(&sql)?.query_map([channel.to_string()], turn_of)?.collect()
}

/// Marks a turn as stopped, unless its answer is fixed.
fn mark_stopped(tx: &Transaction<'_>, turn: &TurnRow, who: &str, now: Timestamp) -> rusqlite::Result<bool> {
    if turn.state >= TurnState::Answered {
        return Ok(false);
    }
    step(tx, turn.question.message, STOP_STEP, now, who)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-22T09:00:00Z".parse().unwrap()
    }

    fn turn(message: u64, text: &str) -> NewTurn {
        let (author, text) = ("Alice".into(), text.into());
        NewTurn { message, channel: 7, author, text, ..NewTurn::default() }
    }

    /// A journal of a channel with these questions.
    fn asked(questions: &[u64]) -> TurnJournal {
        let journal = TurnJournal::in_memory().unwrap();
        for message in questions {
            journal.accept(&turn(*message, "?"), now()).unwrap();
        }
        journal
    }

    fn stopped(journal: &TurnJournal) -> Vec<u64> {
        (1..10).filter(|message| journal.stopped_by(*message).unwrap().is_some()).collect()
    }

    #[test]
    fn a_live_word_ends_the_turn_that_runs_and_an_old_one_all_before_it() {
        for (live, ended) in [(true, vec![2]), (false, vec![2, 3])] {
            let journal = asked(&[2, 3, 6]);
            assert!(journal.accept_stop(&turn(5, "stop"), live, now()).unwrap());
            assert_eq!(stopped(&journal), ended);
            assert_eq!(journal.turn(5).unwrap().unwrap().state, TurnState::Dropped);
            assert_eq!(journal.stopped_by(2).unwrap().as_deref(), Some("Alice"));
            // The same message a second time stops nothing else.
            assert!(!journal.accept_stop(&turn(5, "stop"), live, now()).unwrap());
            assert_eq!(stopped(&journal), ended);
        }
    }

    #[test]
    fn with_nothing_to_end_a_live_word_is_a_question_and_an_old_one_nothing() {
        for (live, state) in [(true, TurnState::Accepted), (false, TurnState::Dropped)] {
            let journal = asked(&[]);
            assert_eq!(journal.accept_stop(&turn(5, "stop"), live, now()).unwrap(), !live);
            assert_eq!(journal.turn(5).unwrap().unwrap().state, state);
        }
    }

    #[test]
    fn an_answer_that_is_fixed_is_not_stopped_and_one_that_answers_others_is() {
        let journal = asked(&[2, 3]);
        journal.record_answer(2, "text", "", 1, now()).unwrap();
        assert!(!journal.stop(7, "Alice", now()).unwrap());
        assert!(stopped(&journal).is_empty());
        let journal = asked(&[2, 3]);
        assert!(journal.stop(7, "Alice", now()).unwrap());
        journal.join(3, &[2], now()).unwrap();
        assert_eq!(stopped(&journal), [2, 3]);
    }
}
