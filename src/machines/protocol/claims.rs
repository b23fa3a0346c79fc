//! Makes claims, takes them over, and settles them (marks them as sent or dropped). A claim is a machine's right to
//! send one thing once. Also decides whether a message may be sent now.

use std::time::Duration;

use super::known_entries::CLAIM;
use super::value::{Claim, ClaimState, SendOrder, SharedValue};
use super::{ChangeDraft, ChangePurpose, ClockReadings, HEALED, HeldRight, LEASE, ORDER, Protocol};
use crate::machines::engine::is_key;

/// The most changes of one attempt.
const MOST: usize = 64;

/// The machines that may claim something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Eligibility {
    /// Any machine, in the order of preference: it is due in so many milliseconds by this machine's wall clock,
    /// negative where that is past.
    Any {
        /// Milliseconds.
        due_in: i64,
    },
    /// The voice alone, now.
    Voice,
}

/// Something that this machine would send.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClaimRequest {
    /// See [`claim_key`].
    pub key: String,
    /// The machines that may claim it.
    pub right: Eligibility,
    /// The key of the message of several things within which it would be sent; at most 64 bytes.
    pub within: Option<String>,
}

/// Whether something may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendRight {
    /// Yes.
    Yes {
        /// Another machine, or this one before it was started anew, may have sent it: a channel that can be asked is
        /// asked.
        ask: bool,
        /// A send that begins now must have ended in this time.
        left: Duration,
    },
    /// Never: it was sent, or is not to be sent.
    Never,
    /// Not now.
    Wait,
}

/// The sender of a message, as far as the entries tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SenderMark {
    /// Nothing.
    None,
    /// Not yet known: nothing was read, a machine holds the claim, or this machine's mark is not made yet.
    Open,
    /// It is marked as sent.
    Sent {
        /// The machine that did so; `None` for this one.
        by: Option<String>,
        /// As in [`Claim::order`].
        order: Option<u64>,
    },
}

/// The key of the claim for what is called `name` locally and goes to `place`.
pub fn claim_key(name: &str, place: &str) -> String {
    let key = format!("{CLAIM}{}/{place}", name.replace('#', "/"));
    if is_key(&key) && !place.contains('/') {
        return key;
    }
    let hash = blake3::hash(format!("{name}\0{place}").as_bytes());
    format!("{CLAIM}{}", data_encoding::BASE32_NOPAD.encode(&hash.as_bytes()[..20]))
}

impl Protocol {
    /// Whether this machine may send the message with this key, at this reading of its clock. To be called directly
    /// before each send.
    pub fn send_right(&self, key: &str, clock: Duration) -> SendRight {
        if self.told.contains_key(key) {
            return SendRight::Never;
        }
        if let Some(held) = self.held.get(key) {
            let left =
                if held.lasts.is_zero() { self.voice_left(held.epoch, clock) } else { held.left(clock) };
            return if left.is_zero() { SendRight::Wait } else { SendRight::Yes { ask: held.ask, left } };
        }
        match self.known.claim(key).map(|claim| claim.state) {
            Some(ClaimState::Sent) => SendRight::Never,
            Some(ClaimState::Dropped) if !self.takes_back(key) => SendRight::Never,
            _ => SendRight::Wait,
        }
    }

    /// The sender of the message with this key, as far as the entries tell it.
    pub fn sender_mark(&self, key: &str) -> SenderMark {
        if self.told.contains_key(key) || self.known.read_at().is_none() {
            return SenderMark::Open;
        }
        match self.known.claim(key) {
            Some(claim) if claim.state == ClaimState::Claimed => SenderMark::Open,
            Some(claim) if claim.state == ClaimState::Sent => {
                let by = if claim.is_own { None } else { self.sender_of(key).map(|(name, _)| name) };
                SenderMark::Sent { by, order: claim.order }
            }
            _ => SenderMark::None,
        }
    }

    /// Whether another machine has a claim on this key without an outcome yet.
    pub fn is_claimed_elsewhere(&self, key: &str) -> bool {
        self.known.claim(key).is_some_and(|claim| claim.state == ClaimState::Claimed && !claim.is_own)
    }

    /// Whether this version can't read the value at a claim's key. The message of such a claim waits.
    pub fn is_unreadable(&self, key: &str) -> bool {
        self.known.value(key).is_some() && self.known.claim(key).is_none()
    }

    /// The channel has accepted the message with the words of `line` (a hash), where it is of a line: its claim is to be
    /// marked as sent, whatever its value is now.
    pub fn mark_sent(&mut self, key: &str, line: Option<String>) {
        self.told.insert(key.to_owned(), line);
    }

    /// The hash of the line whose words were told, where the message with this key is marked as sent and says so.
    pub fn sent_line(&self, key: &str) -> Option<String> {
        Claim::read(self.known.value(key)?).filter(|claim| claim.state == ClaimState::Sent)?.line
    }

    /// Whether a message waits to be marked as sent, or as not to be sent.
    pub fn has_unmarked(&self) -> bool {
        !self.told.is_empty() || !self.went.is_empty()
    }

    /// A line was removed from this machine's copy, or got another time, within a day of its occurrence.
    pub fn line_removed(&mut self, key: &str) {
        self.back.remove(key);
        self.went.insert(key.to_owned());
    }

    /// A line came back into this machine's copy.
    pub fn line_restored(&mut self, key: &str, clock: Duration) {
        self.went.remove(key);
        self.back.insert(key.to_owned(), clock);
    }

    /// The key of the digest (a message about several things) in which the message with this key is sent, or may have
    /// been sent.
    pub fn digest_key(&self, key: &str) -> Option<String> {
        Claim::read(self.known.value(key)?)?.within
    }

    /// Whether this machine would send the message now if it needed no store, because no other machine is known to have
    /// a claim on it.
    pub fn could_claim(&self, wanted: &ClaimRequest, clock: Duration) -> bool {
        self.claim_at(wanted, clock).is_some_and(|at| at <= clock)
    }

    /// Claims of this machine that this process doesn't hold and that are not settled. The local journal knows whether
    /// their messages were sent.
    pub fn left_open(&self) -> Vec<String> {
        let open = self.known.own_open();
        let open = open.filter(|key| !self.held.contains_key(*key) && !self.told.contains_key(*key));
        open.map(str::to_owned).collect()
    }

    /// Whether a dropped claim is to be taken back: this machine's copy has the line again.
    fn takes_back(&self, key: &str) -> bool {
        let is_own = || self.known.claim(key).is_some_and(|claim| claim.is_own);
        !self.went.contains(key) && (self.back.contains_key(key) || is_own())
    }

    /// The changes that mark claims as sent or as not to be sent.
    pub(super) fn settle_changes(&mut self, draft: &mut ChangeDraft<'_>) {
        let ChangeDraft { now, nonce, attempt } = draft;
        let mut settled = Vec::new();
        let (order, counted) = self.next_order();
        let went = self.went.iter().filter(|key| !self.told.contains_key(*key));
        let keys: Vec<(String, ClaimState, Option<String>)> = self
            .told
            .iter()
            .map(|(key, line)| (key.clone(), ClaimState::Sent, line.clone()))
            .chain(went.map(|key| (key.clone(), ClaimState::Dropped, None)))
            .collect();
        for (key, state, line) in keys {
            if attempt.changes.len() >= MOST {
                break;
            }
            let value = self.known.value(&key);
            let standing = value.and_then(Claim::read);
            let is_settled = match (&standing, state) {
                // An entry that can't be read is another version's: it stays.
                (None, _) => value.is_some(),
                (Some(claim), ClaimState::Sent) => claim.state == ClaimState::Sent,
                (Some(claim), _) => claim.state != ClaimState::Claimed || !self.held.contains_key(&key),
            };
            if is_settled {
                settled.push(key);
                continue;
            }
            let epoch = standing.as_ref().map_or(1, |claim| claim.epoch);
            let until = standing.as_ref().map_or(0, |claim| claim.until);
            let order = order.filter(|_| state == ClaimState::Sent);
            let claim = Claim { state, order, line, ..self.claim(*now, nonce(), epoch, until, standing) };
            attempt.push(key.clone(), value, Some(claim.write()), ChangePurpose::Settle);
            if order.is_some() && !attempt.has(ORDER) {
                attempt.push(ORDER, self.known.value(ORDER), counted.clone(), ChangePurpose::Plain);
            }
        }
        for key in settled {
            self.told.remove(&key);
            self.went.remove(&key);
        }
        // A machine that has the line may take it over at once, and asks: it may have been on its way when it was dropped.
        for key in self.back.keys() {
            let text = self.known.value(key);
            let Some(dropped) = text.and_then(Claim::read) else { continue };
            if dropped.state == ClaimState::Dropped && attempt.changes.len() < MOST && !attempt.has(key) {
                let again = self.claim(*now, nonce(), dropped.epoch, 1, Some(dropped));
                attempt.push(key.clone(), text, Some(again.write()), ChangePurpose::Plain);
            }
        }
    }

    /// The order of what is marked as sent next, and the counter's value with it; none where another version wrote
    /// that.
    fn next_order(&self) -> (Option<u64>, Option<String>) {
        let before = match self.known.value(ORDER).map(SendOrder::read) {
            None => SendOrder::default(),
            Some(Some(before)) => before,
            Some(None) => return (None, None),
        };
        let next = SendOrder { last: before.last.saturating_add(1), rest: before.rest };
        (Some(next.last), Some(next.write()))
    }

    /// The changes that claim wanted messages that are free, or whose earlier claim has expired.
    pub(super) fn claim_changes(&self, wanted: &[ClaimRequest], draft: &mut ChangeDraft<'_>) {
        let ChangeDraft { now, nonce, attempt } = draft;
        for wanted in wanted {
            if attempt.changes.len() >= MOST {
                break;
            }
            if attempt.has(&wanted.key) || self.claim_at(wanted, now.clock).is_none_or(|at| at > now.clock) {
                continue;
            }
            let value = self.known.value(&wanted.key);
            let standing = value.and_then(Claim::read);
            // Its own right still holds, so no other machine has sent it.
            let renews = matches!(self.send_right(&wanted.key, now.clock), SendRight::Yes { ask: false, .. });
            let (ask, is_new) = (standing.is_some() && !renews, standing.is_none());
            let (epoch, lasts) = match wanted.right {
                Eligibility::Any { due_in } => {
                    let ahead = Duration::from_millis(u64::try_from(due_in).unwrap_or(0));
                    (
                        standing.as_ref().map_or(1, |claim| claim.epoch.saturating_add(1)),
                        ahead + self.timing.claim,
                    )
                }
                Eligibility::Voice => (self.voice_epoch(now.clock).unwrap_or_default(), Duration::ZERO),
            };
            let until = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
            let nonce = nonce();
            let held = HeldRight { nonce: nonce.clone(), from: now.clock, lasts, epoch, ask };
            let mut claim = self.claim(*now, nonce, epoch, until, standing);
            // A message that another machine began is asked about under the name that it has there.
            if is_new {
                claim.within.clone_from(&wanted.within);
            }
            attempt.push(wanted.key.clone(), value, Some(claim.write()), ChangePurpose::Claim(held));
            // An engine refuses what an older voice writes.
            if wanted.right == Eligibility::Voice && !attempt.has(LEASE) {
                let lease = self.known.value(LEASE);
                attempt.push(LEASE, lease, lease.map(str::to_owned), ChangePurpose::Plain);
            }
        }
    }

    /// A claim of this machine in the place of the one that stood there.
    fn claim(
        &self,
        now: ClockReadings,
        nonce: String,
        epoch: u64,
        until: u64,
        before: Option<Claim>,
    ) -> Claim {
        let (within, rest) = before.map(|claim| (claim.within, claim.rest)).unwrap_or_default();
        Claim {
            by: self.me.name.clone(),
            machine: self.me.machine.clone(),
            epoch,
            nonce,
            until,
            within,
            at: now.wall_ms.div_euclid(1000),
            rest,
            ..Claim::default()
        }
    }

    /// The time, by this machine's clock, from which it may claim a wanted message; `None` for never, or if that isn't
    /// known now.
    pub(super) fn claim_at(&self, wanted: &ClaimRequest, clock: Duration) -> Option<Duration> {
        let key = &wanted.key;
        if self.told.contains_key(key) || self.went.contains(key) {
            return None;
        }
        let voice = || self.voice_epoch(clock);
        if let Some(held) = self.held.get(key) {
            // Renewed at half its length, since its message may be on its way; made again with the next epoch of this
            // voice, where no other machine took it.
            return match held.lasts.is_zero() {
                true => voice().filter(|epoch| held.epoch < *epoch).map(|_| clock),
                false => Some(held.from + held.lasts / 2),
            };
        }
        if self.known.value(key).is_none() {
            return match wanted.right {
                Eligibility::Any { due_in } => self.first_at(due_in, clock),
                Eligibility::Voice => voice().map(|_| clock),
            };
        }
        let claim = self.known.claim(key)?;
        match (claim.state, wanted.right) {
            (ClaimState::Sent, _) => None,
            (ClaimState::Dropped, _) => self.takes_back(key).then_some(clock),
            (ClaimState::Claimed, Eligibility::Voice) => {
                voice().filter(|epoch| claim.epoch < *epoch).map(|_| clock)
            }
            // This machine's own, from before it was started anew.
            (ClaimState::Claimed, Eligibility::Any { .. }) if claim.is_own => Some(clock),
            (ClaimState::Claimed, Eligibility::Any { .. }) => {
                let healed = self.healed.map_or(Duration::ZERO, |at| at + HEALED);
                Some(self.known.since(key)?.saturating_add(claim.until).max(healed))
            }
        }
    }

    /// When a machine of this rank claims what no machine has claimed.
    fn first_at(&self, due_in: i64, clock: Duration) -> Option<Duration> {
        let ahead = i64::try_from(self.timing.ahead.as_millis()).unwrap_or(i64::MAX);
        let later = i64::try_from(self.timing.stagger.as_millis())
            .unwrap_or(0)
            .saturating_mul(i64::from(self.me.rank));
        let wait = due_in.saturating_sub(ahead).saturating_add(later).max(0);
        Some(clock + Duration::from_millis(wait.unsigned_abs()))
    }
}
