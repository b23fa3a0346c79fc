//! Decides, if several machines share the vault, whether this machine answers a message. Only the voice answers, and it
//! claims the turn before it asks a brain.
//!
//! The voice is the machine that holds the shared lease. A turn that another machine left unfinished is taken over once
//! that machine's lease has ended. The channel's history is read first: if a reply of the bot stands there, the turn
//! counts as answered.

use super::conversation::is_progress;
use crate::deliver::decided;
use crate::deliver::delivery_journal::{answer_key, claimed_turn, turn_claim};
use crate::discord::api::ApiError;
use crate::discord::api::message::IncomingMessage;
use crate::discord::shared::BotState;
use crate::machines::protocol::SendRight;
use crate::turn::{Halt, TurnRow, TurnState};

/// The sentence that is added to a question that another machine left half answered: its tools may have run.
const TAKEN_OVER: &str = "(From the program, not the person: another machine began to answer this and was cut off. The \
     effects of its tools are not known here. Look at the present state before anything is done again.)";
/// The most pages of a channel's history that are read for a reply.
const PAGES: usize = 20;

/// Waits until it is known whether this machine answers a turn; false if another one did.
///
/// # Errors
/// It can't be known now.
pub(super) async fn is_ours(shared: &BotState, turn: &TurnRow) -> Result<bool, Halt> {
    let machines = &shared.answers.machines;
    if machines.is_alone() {
        return Ok(true);
    }
    let open = shared.turns.open_turns(None)?;
    let wanted = open.iter().map(|turn| turn_claim(turn.question.message));
    let claim = turn_claim(turn.question.message);
    let right = decided(machines, &*shared.clock, ("turns", wanted), &claim, || true).await;
    let SendRight::Yes { ask: was_begun_elsewhere, .. } = right else { return Ok(false) };
    let key = answer_key(turn.question.message, turn.question.reply);
    if !was_begun_elsewhere || shared.answers.is_begun(&key)? {
        return Ok(true);
    }
    if !is_replied_to(shared, turn).await? {
        // The turn journal holds the work that this machine did.
        if turn.state == TurnState::Accepted {
            shared.turns.add_to_question(turn.question.message, TAKEN_OVER)?;
        }
        return Ok(true);
    }
    machines.mark_sent(&claim, None);
    Ok(false)
}

/// Whether a reply of ours to the question stands in its channel.
async fn is_replied_to(shared: &BotState, turn: &TurnRow) -> Result<bool, ApiError> {
    let (own, question) = (shared.identity().user, turn.question.message);
    let is_answer = |message: &IncomingMessage| {
        message.author.id == own
            && message.reply_to == Some(question)
            && message.custom_ids.is_empty()
            && !is_progress(&message.content)
    };
    Ok(shared.api.find(turn.question.channel, question, PAGES, is_answer).await?.is_some())
}

/// Marks claims of turns that ended before a restart as done.
pub(super) fn mark_left_open(shared: &BotState) {
    let open = shared.answers.machines.left_open();
    let is_over = |message: u64| {
        let turn = shared.turns.turn(message).ok().flatten();
        turn.is_some_and(|turn| matches!(turn.state, TurnState::Sent | TurnState::Done))
    };
    for claim in open {
        if claimed_turn(&claim).is_some_and(is_over) {
            shared.answers.machines.mark_sent(&claim, None);
        }
    }
}

/// Marks the questions that were joined to an answered one as answered.
pub(super) fn answered(shared: &BotState, message: u64) {
    let joined = shared.turns.joined_to(message).unwrap_or_default();
    joined
        .iter()
        .for_each(|turn| shared.answers.machines.mark_sent(&turn_claim(turn.question.message), None));
}
