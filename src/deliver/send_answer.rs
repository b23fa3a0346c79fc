//! Sends an answer, a question for approval or a routine's text, by the same steps as any notification.
//!
//! The caller is the assistant's turn or a routine's run, and waits until the text is sent; the scheduler's pass never
//! waits for that. Among several machines the caller first waits until it is decided which machine answers.

use std::sync::Arc;

use super::delivery_journal::{ChunkState, Journal, MessageChunk, NewMessage};
use super::delivery_order::DeliveryOrder;
use super::notifier::{MessageKind, MessageScope};
use super::pass::{Pass, PassContext, PassMode, PassReport, PassSettings, Sender};
use crate::clock::Clock;
use crate::deliver::prelude::*;
use crate::machines::protocol::SendRight;
use crate::machines::{IntendedSend, Machines};
use crate::sqlite::Result;
use crate::vault::{Editor, Vault};

/// How long one call may send chunks of an answer.
const IN_ONE_GO: Duration = Duration::from_secs(60);

/// The interval between checks of a claim.
const LOOK: Duration = Duration::from_secs(1);

/// The space that a question leaves free below it, in units.
const ROOM_BELOW: usize = 100;

/// How far an answer came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// Every chunk arrived.
    Sent,
    /// Not all of it arrived; not to be tried before this instant.
    Later(Timestamp),
    /// Every place refused it: why.
    Refused(String),
}

/// Tells the other machines all claims that one part of the program (`source`) wants, and waits until this one is
/// decided; no longer than `waits` holds.
pub async fn decided(
    machines: &Machines,
    clock: &dyn Clock,
    (source, wanted): (&'static str, impl Iterator<Item = String>),
    claim: &str,
    waits: impl Fn() -> bool,
) -> SendRight {
    let wanted = wanted.map(|key| IntendedSend { key, due: None, within: None }).collect();
    machines.set_intended_sends(source, wanted);
    let mut changes = machines.rights_changes();
    loop {
        match machines.send_right(claim) {
            SendRight::Wait if waits() => tokio::select! {
                () = changes.changed() => {}
                () = tokio::time::sleep(clock.sleep(LOOK)) => {}
            },
            right => return right,
        }
    }
}

/// Sends the unsent chunks of the answer or of the routine's text with this key, each once. The caller holds a routine's
/// run. Old answers are forgotten then.
///
/// # Errors
/// The delivery journal can't be used.
pub async fn send_answer(context: &PassContext<'_>, key: &str) -> Result<AnswerOutcome> {
    let pass = Pass::new(context, PassMode::Daemon);
    let Some(message) = context.journal.answer(key)? else {
        return Ok(AnswerOutcome::Refused("it isn't in the delivery journal".to_owned()));
    };
    let sent = || context.journal.prune_answers().map(|()| AnswerOutcome::Sent);
    if message.is_sent() {
        return sent();
    }
    if let Some(at) = message.waits_until(pass.now) {
        return Ok(AnswerOutcome::Later(at));
    }
    let mut report = PassReport::default();
    Sender::new(pass, IN_ONE_GO, &mut report).deliver(vec![message]).await?;
    match context.journal.answer(key)? {
        Some(message) if message.is_sent() => sent(),
        Some(message) => {
            let soon = pass.later(SignedDuration::from_secs(1));
            Ok(AnswerOutcome::Later(message.retry.unwrap_or(soon)))
        }
        None => Ok(AnswerOutcome::Refused("every notifier refused it".to_owned())),
    }
}

/// Sends answers, with one state of the settings.
pub struct AnswerSender {
    /// The record of fixed texts and sent chunks.
    pub journal: Journal,
    /// Reads the notes.
    pub vault: Vault,
    /// Writes the notes.
    pub editor: Arc<Editor>,
    /// Sends.
    pub delivery_order: DeliveryOrder,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The user's settings.
    pub settings: PassSettings,
    /// Whether this machine may send, where there are several.
    pub machines: Machines,
}

impl AnswerSender {
    /// Fixes the answer with this key, unless it is fixed already, and sends its unsent chunks.
    ///
    /// # Errors
    /// The delivery journal can't be used.
    pub async fn send(&self, key: &str, scope: MessageScope, text: &str) -> Result<AnswerOutcome> {
        fail::fail_point!("turn::before-fixed");
        self.fix_and_send(key, MessageKind::Answer, scope, text).await
    }

    /// Puts a question to the person, once; below it there is room for a line on how it ended.
    ///
    /// # Errors
    /// The delivery journal can't be used.
    pub async fn send_question(&self, key: &str, scope: MessageScope, text: &str) -> Result<AnswerOutcome> {
        self.fix_and_send(key, MessageKind::Approval, scope, text).await
    }

    async fn fix_and_send(
        &self,
        key: &str,
        kind: MessageKind,
        scope: MessageScope,
        text: &str,
    ) -> Result<AnswerOutcome> {
        let room = if kind == MessageKind::Approval { ROOM_BELOW } else { 0 };
        let limit = self.delivery_order.primary.limit() - room;
        let message = NewMessage::plain(key.to_owned(), kind, Some(scope), text.to_owned());
        self.journal.claim(&[message], |_| limit)?;
        if kind == MessageKind::Answer {
            fail::fail_point!("turn::after-fixed");
        }
        let Self { journal, vault, editor, delivery_order, clock, settings, machines } = self;
        let clock = &**clock;
        let context = PassContext { vault, editor, journal, delivery_order, clock, settings, machines };
        send_answer(&context, key).await
    }

    /// The chunks of an answer that arrived.
    ///
    /// # Errors
    /// The delivery journal can't be used.
    pub fn sent(&self, key: &str) -> Result<Vec<MessageChunk>> {
        let message = self.journal.answer(key)?;
        let chunks = message.map(|message| message.chunks).unwrap_or_default();
        Ok(chunks.into_iter().filter(|chunk| chunk.state == ChunkState::Sent).collect())
    }

    /// Whether anything of an answer or a question may have left.
    ///
    /// # Errors
    /// The delivery journal can't be used.
    pub fn is_begun(&self, key: &str) -> Result<bool> {
        let message = self.journal.answer(key)?;
        Ok(message.is_some_and(|message| message.chunks.iter().any(|chunk| chunk.state != ChunkState::Due)))
    }
}
