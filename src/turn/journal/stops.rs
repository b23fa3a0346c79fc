//! Records messages that stop a turn, together with the turn, so that a stop survives a crash.

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::schema::{SELECT, turn_of};
use super::steps::advance;
use super::{NewTurn, TurnJournal, TurnRow, insert, step};
use crate::sqlite::Result;
use crate::turn::state::TurnState;

/// The step of a turn that a person stopped; its detail names the person.
const STOP_STEP: &str = "stop";

impl TurnJournal {
    /// Accepts a stop message together with what it ends: the channel's current turn, or, if
    /// it was sent before the program started (`live` is false), all earlier questions. With nothing to end, a
    /// live one is an ordinary question. Returns whether it is obeyed now.
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
