//! Asks for this machine's right to send one message, directly before it is sent.

use std::time::Duration;

use crate::deliver::journal::{Message, OtherMachineDelivery, voice_claim};
use crate::deliver::notifier::{Lookup, MessageKind};
use crate::deliver::pass::{PassContext, PassError};
use crate::machines::protocol::{May, claim_key};

/// The claims that a message needs; none for what a person at this machine, or the voice, says.
#[derive(Debug, Default)]
pub(in crate::deliver::pass) struct Rights {
    claims: Vec<String>,
    /// Whether only the voice may say it.
    of_voice: bool,
}

/// Whether a message may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::deliver::pass) enum Right {
    /// Yes, and the send must have ended in this time.
    Yes(Duration),
    /// Not now.
    Wait,
    /// Nothing is left of it: other machines told what it tells.
    Over,
}

impl Rights {
    /// Those that `message` needs.
    pub fn of(context: &PassContext<'_>, message: &Message) -> Result<Self, PassError> {
        if context.machines.is_alone() {
            return Ok(Self::default());
        }
        if message.facts.is_empty() {
            let of_voice = message.kind == MessageKind::Approval;
            return Ok(Self { claims: voice_claim(&message.key).into_iter().collect(), of_voice });
        }
        let Some(place) = context.outlets.name(&message.to) else { return Ok(Self::default()) };
        let carried = context.journal.carried(&message.key)?;
        Ok(Self { claims: carried.iter().map(|(key, ..)| claim_key(key, place)).collect(), of_voice: false })
    }

    /// Whether all of them are held now.
    pub fn now(&self, context: &PassContext<'_>) -> Right {
        let mut all = if self.of_voice { context.machines.voice_left() } else { Duration::MAX };
        if all.is_zero() {
            return Right::Wait;
        }
        for claim in &self.claims {
            match context.machines.may(claim) {
                May::Yes { left, .. } => all = all.min(left),
                May::Never | May::Wait => return Right::Wait,
            }
        }
        Right::Yes(all)
    }

    /// The same for a message whose turn has come: where other machines told all of it, or a part, it is taken apart.
    pub async fn turn(&self, context: &PassContext<'_>, message: &Message) -> Result<Right, PassError> {
        let may: Vec<May> = self.claims.iter().map(|claim| context.machines.may(claim)).collect();
        if may.contains(&May::Wait) || !may.contains(&May::Never) {
            return Ok(self.now(context));
        }
        let is_mixed = may.iter().any(|may| *may != May::Never);
        // It may have been sent as it is, before a part of it was another machine's: then it is found once more.
        if is_mixed && !self.is_absent(context, message).await {
            return Ok(Right::Yes(Duration::ZERO));
        }
        if !message.to.is_copy() {
            for ((key, line, fact), claim) in
                context.journal.carried(&message.key)?.into_iter().zip(&self.claims)
            {
                if let Some((teller, at)) = context.machines.teller(claim) {
                    let place = context.outlets.name(&message.to).unwrap_or_default().to_owned();
                    let teller = context.machines.is_other(&teller).then_some(teller);
                    let told = OtherMachineDelivery { key, line, fact, place, teller, at, delivered: None };
                    context.journal.told_elsewhere(&told)?;
                }
            }
        }
        context.journal.drop_message(&message.key)?;
        Ok(Right::Over)
    }

    /// Whether the place surely doesn't have the message, or can't be asked.
    async fn is_absent(&self, context: &PassContext<'_>, message: &Message) -> bool {
        let Some(place) = context.outlets.place(&message.to, message.route, message.scope) else {
            return true;
        };
        for (at, chunk) in message.chunks.iter().enumerate() {
            let Some(first) = chunk.first else { continue };
            let outgoing = message.outgoing(at, place.scope);
            if !matches!(place.notifier.find(&outgoing, first).await, Lookup::NotFound | Lookup::CannotAsk) {
                return false;
            }
        }
        true
    }

    /// The channel took all of the message.
    pub fn told(&self, context: &PassContext<'_>) {
        self.claims.iter().for_each(|claim| context.machines.told(claim));
    }
}
