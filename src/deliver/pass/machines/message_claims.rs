//! Asks for this machine's right to send one message, directly before it is sent.

use std::time::Duration;

use super::claims::record_sender;
use crate::deliver::journal::{JournalMessage, voice_claim};
use crate::deliver::notifier::{MessageKind, MessageLookup};
use crate::deliver::pass::PassContext;
use crate::machines::protocol::{SendRight, claim_key};
use crate::sqlite::Result;

/// The claims that a message needs; none for a message of a person at this machine, or of the voice.
#[derive(Debug, Default)]
pub(in crate::deliver::pass) struct MessageClaims {
    claims: Vec<String>,
    /// Whether only the voice may say it.
    of_voice: bool,
}

impl MessageClaims {
    /// Those that `message` needs.
    pub fn of(context: &PassContext<'_>, message: &JournalMessage) -> Result<Self> {
        if context.machines.is_alone() {
            return Ok(Self::default());
        }
        if message.facts.is_empty() {
            let of_voice = message.kind == MessageKind::Approval;
            return Ok(Self { claims: voice_claim(&message.key).into_iter().collect(), of_voice });
        }
        let Some(place) = context.delivery_order.name(&message.to) else { return Ok(Self::default()) };
        let carried = context.journal.deliveries_in(&message.key)?;
        Ok(Self { claims: carried.iter().map(|(key, ..)| claim_key(key, place)).collect(), of_voice: false })
    }

    /// How long all of them are held from now on: the send must have ended by then. None if it may not begin.
    pub fn left(&self, context: &PassContext<'_>) -> Option<Duration> {
        let voice = if self.of_voice { context.machines.voice_left() } else { Duration::MAX };
        let mut all = Some(voice).filter(|left| !left.is_zero())?;
        for claim in &self.claims {
            match context.machines.send_right(claim) {
                SendRight::Yes { left, .. } => all = all.min(left),
                SendRight::Never | SendRight::Wait => return None,
            }
        }
        Some(all)
    }

    /// Whether a message whose turn has come may be sent. If other machines sent all of it, or a part, it is split.
    pub async fn turn(&self, context: &PassContext<'_>, message: &JournalMessage) -> Result<bool> {
        let machines = context.machines;
        let may: Vec<SendRight> = self.claims.iter().map(|claim| machines.send_right(claim)).collect();
        let is_mine = |may: &SendRight| matches!(may, SendRight::Yes { .. });
        // A part whose claims another machine holds is told by that one.
        let is_elsewhere = self.claims.iter().zip(&may).all(|(claim, may)| match may {
            SendRight::Wait => machines.is_claimed_elsewhere(claim),
            SendRight::Yes { .. } | SendRight::Never => true,
        });
        if may.iter().all(is_mine) || !is_elsewhere || may.iter().all(|may| *may == SendRight::Wait) {
            return Ok(self.left(context).is_some());
        }
        let is_mixed = may.iter().any(|may| *may != SendRight::Never);
        // It may have been sent as it is, before a part of it was another machine's: then it is found once more.
        if is_mixed && !self.is_absent(context, message).await {
            return Ok(true);
        }
        if !message.to.is_copy() {
            let place = context.delivery_order.name(&message.to).unwrap_or_default();
            for delivery in context.journal.deliveries_in(&message.key)? {
                record_sender(context, &delivery, place)?;
            }
        }
        context.journal.drop_message(&message.key)?;
        Ok(false)
    }

    /// Whether the place surely doesn't have the message, or can't be asked.
    async fn is_absent(&self, context: &PassContext<'_>, message: &JournalMessage) -> bool {
        let Some(place) = context.delivery_order.place(&message.to, message.route, message.scope) else {
            return true;
        };
        for (at, chunk) in message.chunks.iter().enumerate() {
            let Some(first) = chunk.first else { continue };
            let outgoing = message.outgoing(at, place.scope);
            if !matches!(
                place.notifier.find(&outgoing, first).await,
                MessageLookup::NotFound | MessageLookup::CannotAsk
            ) {
                return false;
            }
        }
        true
    }

    /// The channel took all of the message.
    pub fn mark_sent(&self, context: &PassContext<'_>) {
        self.claims.iter().for_each(|claim| context.machines.mark_sent(claim));
    }
}
