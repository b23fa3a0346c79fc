//! Gets, renews and hands over the lease, which makes a machine the voice (the machine that speaks on Discord and does
//! shared work). The lease's number (epoch) only rises.

use std::time::Duration;

use super::value::{SharedValue, VoiceLease};
use super::{ChangeDraft, ChangePurpose, ClockReadings, HeldRight, LEASE, Protocol, usable};

/// How many bounds of the beginning of a lease are kept.
const BOUNDS: usize = 12;
/// No send lasts longer: after so long all has ended that a voice began.
const LONGEST_SEND: Duration = Duration::from_secs(30);

impl Protocol {
    /// Whether this machine is the voice, at this reading of its clock. To be called directly before each send.
    pub fn is_voice(&self, clock: Duration) -> bool {
        self.voice_epoch(clock).is_some()
    }

    /// How long this machine may still act as the voice, at this reading of its clock.
    pub fn left_as_voice(&self, clock: Duration) -> Duration {
        let own = self.lease.as_ref().filter(|_| self.handing.is_none());
        own.map_or(Duration::ZERO, |(held, _)| held.left(clock))
    }

    /// Asks the holder to hand the lease over to this machine, or takes it where it is free.
    pub fn take_voice(&mut self) {
        self.wants_voice = true;
    }

    /// The lease as it is known: its holder's name, and the epoch.
    pub fn voice(&self) -> Option<(String, u64)> {
        self.read_lease().and_then(|lease| Some((lease.by?, lease.epoch)))
    }

    pub(super) fn voice_epoch(&self, clock: Duration) -> Option<u64> {
        let own = self.lease.as_ref().filter(|_| !self.left_as_voice(clock).is_zero());
        own.map(|(held, _)| held.epoch)
    }

    /// How long the voice of this epoch may still act.
    pub(super) fn voice_left(&self, epoch: u64, clock: Duration) -> Duration {
        let is_own = self.lease.as_ref().is_some_and(|(held, _)| held.epoch == epoch);
        if is_own { self.left_as_voice(clock) } else { Duration::ZERO }
    }

    /// Records a change of the lease.
    pub(super) fn notice_lease(&mut self, clock: Duration) {
        let value = self.known.value(LEASE);
        let lease = self.read_lease();
        if self.lease_seen.0.as_deref() != value {
            self.lease_seen = (value.map(str::to_owned), clock);
            if let Some(lease) = &lease {
                self.highest = self.highest.max(lease.epoch);
                if self.lease_begun.0 != lease.epoch {
                    self.lease_begun = (lease.epoch, Vec::new());
                }
                let bounds = &mut self.lease_begun.1;
                // Clocks that differ in speed make old bounds wrong.
                let old = clock.saturating_sub(self.timing.lease.saturating_mul(2));
                bounds.retain(|(seen, _)| *seen >= old);
                bounds.push((clock, clock.saturating_sub(Duration::from_millis(lease.held))));
                if bounds.len() > BOUNDS {
                    bounds.remove(0);
                }
            }
        }
        let is_own = |held: &HeldRight| {
            lease.as_ref().is_some_and(|lease| lease.by.is_some() && lease.nonce == held.nonce)
        };
        if self.lease.as_ref().is_some_and(|(held, _)| !is_own(held)) {
            self.lease = None;
        }
        let is_asked = || {
            lease.as_ref().is_some_and(|lease| lease.next.as_ref().is_some_and(|next| *next != self.me.name))
        };
        self.handing = match self.handing {
            _ if self.lease.is_none() || !is_asked() => None,
            None => Some(clock),
            since => since,
        };
    }

    /// A bound, by this machine's clock, of when the holder began to write the lease as it stands: not after it was
    /// first seen, and not after the earliest bound of when the holder got it plus how long it then had held it.
    fn lease_written(&self, lease: &VoiceLease) -> Duration {
        let begun = self
            .lease_begun
            .1
            .iter()
            .map(|(_, begun)| begun)
            .min()
            .filter(|_| self.lease_begun.0 == lease.epoch);
        let bound = begun.map(|begun| begun.saturating_add(Duration::from_millis(lease.held)));
        bound.map_or(self.lease_seen.1, |bound| bound.min(self.lease_seen.1))
    }

    /// When the lease of another machine that has it was written, as far as is known.
    pub(super) fn others_lease_written(&self) -> Option<Duration> {
        let lease =
            self.read_lease().filter(|lease| lease.by.is_some() && lease.machine != self.me.machine)?;
        Some(self.lease_written(&lease))
    }

    /// The time at which this machine next has to act on the lease.
    pub(super) fn lease_at(&self, clock: Duration) -> Duration {
        if let Some((held, _)) = &self.lease {
            let ended = |since: Duration| (since + LONGEST_SEND).min(held.from + usable(held.lasts));
            return self.handing.map_or(held.from + self.timing.renew, ended);
        }
        let turn = self.timing.stagger.saturating_mul(self.me.rank);
        let Some(lease) = self.read_lease() else { return self.lease_seen.1 + turn };
        let is_next = lease.next.as_ref() == Some(&self.me.name);
        match &lease.by {
            None if is_next || (self.wants_voice && lease.next.is_none()) => clock,
            None if lease.next.is_some() => self.lease_seen.1 + self.timing.lease + turn,
            None => self.lease_seen.1 + turn,
            // Its own, from before it was started anew.
            Some(_) if lease.machine == self.me.machine => clock,
            Some(_) if self.wants_voice && !is_next => clock,
            Some(_) => self
                .lease_written(&lease)
                .saturating_add(Duration::from_millis(lease.lasts))
                .saturating_add(turn),
        }
    }

    /// Gets, renews, hands over or asks for the lease.
    pub(super) fn lease_change(&self, draft: &mut ChangeDraft<'_>) {
        let now = draft.now;
        let value = self.known.value(LEASE);
        let lease = self.read_lease();
        // One that can't be read is another version's.
        if self.lease_at(now.clock) > now.clock || (value.is_some() && lease.is_none()) {
            return;
        }
        if let (Some((held, begun)), Some(lease)) = (&self.lease, &lease) {
            let asked = self.handing.is_some();
            let ran = if asked { Duration::ZERO } else { now.clock.saturating_sub(*begun) };
            let mut new = self.lease_value(now, (draft.nonce)(), held.epoch, ran, Some(lease));
            if asked {
                (new.by, new.next) = (None, lease.next.clone());
                draft.attempt.push(LEASE, value, Some(new.write()), ChangePurpose::Release);
            } else {
                let held = self.lease_held(&new, now);
                draft.attempt.push(LEASE, value, Some(new.write()), ChangePurpose::Lease(held, *begun));
            }
            return;
        }
        let is_free = self.is_free(lease.as_ref(), now.clock);
        if let Some(mut lease) = lease.clone().filter(|_| !is_free) {
            lease.next = Some(self.me.name.clone());
            draft.attempt.push(LEASE, value, Some(lease.write()), ChangePurpose::Plain);
            return;
        }
        let epoch = self.highest.max(lease.as_ref().map_or(0, |lease| lease.epoch)).saturating_add(1);
        let new = self.lease_value(now, (draft.nonce)(), epoch, Duration::ZERO, lease.as_ref());
        let held = self.lease_held(&new, now);
        draft.attempt.push(LEASE, value, Some(new.write()), ChangePurpose::Lease(held, now.clock));
    }

    /// Whether the lease may be taken now.
    fn is_free(&self, lease: Option<&VoiceLease>, clock: Duration) -> bool {
        let Some(lease) = lease else { return true };
        let ended = || self.lease_written(lease).saturating_add(Duration::from_millis(lease.lasts)) <= clock;
        lease.by.is_none() || lease.machine == self.me.machine || ended()
    }

    fn lease_value(
        &self,
        now: ClockReadings,
        nonce: String,
        epoch: u64,
        held: Duration,
        before: Option<&VoiceLease>,
    ) -> VoiceLease {
        let milliseconds = |length: Duration| u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
        VoiceLease {
            by: Some(self.me.name.clone()),
            machine: self.me.machine.clone(),
            epoch,
            nonce,
            lasts: milliseconds(self.timing.lease),
            held: milliseconds(held),
            next: None,
            at: now.wall_ms.div_euclid(1000),
            rest: before.map(|lease| lease.rest.clone()).unwrap_or_default(),
        }
    }

    fn lease_held(&self, lease: &VoiceLease, now: ClockReadings) -> HeldRight {
        HeldRight {
            nonce: lease.nonce.clone(),
            from: now.clock,
            lasts: self.timing.lease,
            epoch: lease.epoch,
            ask: false,
        }
    }
}
