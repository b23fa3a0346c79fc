//! Decides which sent lines this machine rewrites now, where several machines share a vault.
//!
//! Each machine rewrites its own copy, and a sync tool carries the copies. Two copies that change at once become a
//! conflict copy. So machines write one after the other, in the order in which the store took their marks of `sent`: a
//! machine waits until its delivery is marked, and until no line stands in its copy that another machine marked before.
//! The teller of such a line writes first, and its copy arrives here.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::deliver::journal::DeliveryRow;
use crate::deliver::notifier::{Fact, MessageKind};
use crate::deliver::pass::planned::PassPlan;
use crate::deliver::pass::{PassContext, PassMode, PassState, messages};
use crate::machines::protocol::{SenderMark, claim_key};

/// The longest wait in which the awaited lines stay the same. The voice has rewritten those of a machine that is away
/// long before that, see [`AWAY`](crate::machines::protocol::AWAY).
const PATIENCE: SignedDuration = SignedDuration::from_mins(20);
/// A machine that tells without the store writes without it after this.
const UNMARKED: SignedDuration = SignedDuration::from_mins(10);

/// The place of this machine's lines among those of other machines.
pub(in crate::deliver::pass) struct WriteOrder<'c> {
    context: &'c PassContext<'c>,
    /// The lowest order of a line that still stands here and that another machine is to rewrite.
    awaited: Option<u64>,
    now: Timestamp,
}

impl<'c> WriteOrder<'c> {
    pub fn new(
        context: &'c PassContext<'c>,
        memory: &mut PassState,
        mode: PassMode,
        plan: &PassPlan,
        now: Timestamp,
    ) -> Self {
        let mut order = Self { context, awaited: None, now };
        if context.machines.is_alone() {
            return order;
        }
        let settles = plan.settles.iter().map(|settle| (&settle.key, &settle.row.fact));
        let delivered = plan.delivered.iter().map(|settle| (&settle.key, &settle.row.fact));
        let fires = plan.fires.iter().map(|fire| (&fire.key, &fire.fact));
        let standing = settles.chain(delivered).chain(fires);
        let awaited = standing.filter_map(|(key, fact)| order.awaits(key, fact));
        let awaited: BTreeSet<(u64, String)> = awaited.collect();
        let first = awaited.first().map(|(order, _)| *order);
        let since = match mode {
            // A `tick` remembers nothing: the marks tell, by the clocks of the machines that made them.
            PassMode::Tick => {
                let made = awaited.iter().filter_map(|(_, claim)| Some(context.machines.sender_of(claim)?.1));
                made.max().unwrap_or(now)
            }
            PassMode::Daemon | PassMode::DryRun => memory.awaited_since(awaited, now),
        };
        order.awaited = first.filter(|_| since.duration_until(now).abs() <= PATIENCE);
        order
    }

    /// The order of a line that another machine told and is to rewrite, and its claim.
    fn awaits(&self, key: &str, fact: &Fact) -> Option<(u64, String)> {
        let claim = self.claim(key, fact).filter(|_| fact.kind != MessageKind::Task)?;
        match self.context.machines.sender_mark(&claim) {
            SenderMark::Sent { by: Some(by), order } if !self.stands_in_for(&by) => {
                Some((order.unwrap_or(0), claim))
            }
            _ => None,
        }
    }

    /// The claim of the notifier that counts.
    fn claim(&self, key: &str, fact: &Fact) -> Option<String> {
        let to = messages::recipient(self.context.settings, fact);
        Some(claim_key(key, self.context.delivery_order.name(&to)?))
    }

    /// Whether this machine rewrites the lines of another one: the voice does, when that machine is away.
    fn stands_in_for(&self, name: &str) -> bool {
        self.context.machines.is_voice() && self.context.machines.is_away(name)
    }

    /// Whether this machine rewrites the line of a delivery now; `None` where that is never its part.
    pub fn may_write(&self, key: &str, row: &DeliveryRow) -> Option<bool> {
        let machines = self.context.machines;
        if machines.is_alone() {
            return Some(true);
        }
        let claim = self.claim(key, &row.fact);
        let (teller, order) = match claim.map_or(SenderMark::None, |claim| machines.sender_mark(&claim)) {
            SenderMark::Open => {
                let since = row.attempted.map(|at| at.duration_until(self.now).abs());
                let is_over = machines.tells_cut_off() && since.is_some_and(|since| since > UNMARKED);
                return row.sender_machine.is_none().then_some(is_over && self.is_free());
            }
            SenderMark::Sent { by, order } => (by, order),
            SenderMark::None => (row.sender_machine.clone(), None),
        };
        let is_ours = teller.is_none_or(|teller| self.stands_in_for(&teller));
        is_ours.then(|| self.awaited.is_none_or(|awaited| order.is_some_and(|order| order < awaited)))
    }

    /// Whether no line stands here that another machine is to rewrite.
    pub fn is_free(&self) -> bool {
        self.awaited.is_none() && self.context.machines.has_looked()
    }
}
