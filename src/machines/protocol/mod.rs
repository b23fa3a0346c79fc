//! Decides which messages this machine may send, and which claims it tries to make next. The rules are those of claims,
//! the lease and takeovers. Pure: entries and clock readings in, changes out.
//!
//! [`Protocol`] is one machine's view. Its caller reads the engine's entries and passes them to
//! [`Protocol::record_entries`], asks [`Protocol::attempt`] for the changes to make, and passes the engine's answer to
//! [`Protocol::record_outcome`]. Directly before each send the caller asks [`Protocol::send_right`] or
//! [`Protocol::is_voice`]. After the channel has accepted the message it calls [`Protocol::mark_sent`].
//!
//! Safety rests on two rules:
//!
//! - A right has a duration. Its holder uses only the first four fifths of the duration, measured from the start of the
//!   request that wrote the right. Every other machine waits for the whole duration, measured from its own first
//!   reading of the right. (For the lease it measures from an earlier time, if the holder must have begun to write the
//!   lease by then.) Each machine measures by its own monotonic clock, which goes on during suspension, so wall clocks
//!   are never compared.
//! - Each change compares by value with the entry that it replaces, so of two machines that write the same key one
//!   loses.
//!
//! Files:
//!
//! - `claims`: claims for deliveries and for work of the voice (the machine that does shared work); `lease`: the voice;
//! - `presence`: the announcements of the machines, the problems that keep a machine from taking part, and the removal
//!   of old claims;
//! - [`value`]: the values of entries; `known_entries`: the entries as this machine read them last.

mod claims;
mod known_entries;
mod lease;
mod presence;
pub mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::machines::engine::{EngineError, Entries, EntryChange, SwapOutcome};

pub use claims::{ClaimRequest, Eligibility, SendRight, SenderMark, claim_key};
pub use known_entries::KnownEntries;
pub use presence::{ParticipationProblem, machine_key};
use value::{Claim, ClaimState, Presence, SharedValue, VoiceLease};

/// The key of the lease.
pub const LEASE: &str = "lease";
/// The key of the counter of marks, see [`value::SendOrder`].
pub const ORDER: &str = "order";
/// The key of the format.
pub const FORMAT: &str = "format";

/// The lengths of time of one engine. A holder uses four fifths of what it was given ([`usable`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Timing {
    /// How long the lease lasts without a renewal.
    pub lease: Duration,
    /// How long after a renewal its holder renews it.
    pub renew: Duration,
    /// How long before it is due the first machine claims a delivery.
    pub ahead: Duration,
    /// The additional delay of each further machine, for claims and for taking over expired ones.
    pub stagger: Duration,
    /// How long a claim lasts after its delivery is due, or after now where that is past.
    pub claim: Duration,
    /// The entries are read at least this often: a little later than a multiple of `renew`.
    pub look: Duration,
    /// A machine says at least this often that it is there.
    pub presence: Duration,
}

/// A machine that wrote nothing for this long counts as away. The voice, which acts on it, sees all entries each
/// `renew`.
pub const AWAY: Duration = Duration::from_secs(600);

/// After the store was out of reach, other machines' open claims are left alone for so long: what was sent in the
/// meantime is being marked.
const HEALED: Duration = Duration::from_secs(30);

/// The part of a lease's or claim's length that its holder uses. The last fifth allows for clocks of different speed
/// and for messages on their way.
pub fn usable(length: Duration) -> Duration {
    length.saturating_mul(4) / 5
}

impl Timing {
    /// The longest time between two readings of a machine that can reach the store, since an answer may come late.
    pub fn pause(&self) -> Duration {
        self.look + Duration::from_secs(15)
    }

    /// Over a git server: few requests.
    pub const GIT: Timing = Timing {
        lease: Duration::from_secs(300),
        renew: Duration::from_secs(100),
        ahead: Duration::from_secs(60),
        stagger: Duration::from_secs(20),
        claim: Duration::from_secs(240),
        look: Duration::from_secs(310),
        presence: Duration::from_secs(315),
    };

    /// Over etcd: a request costs milliseconds.
    pub const ETCD: Timing = Timing {
        lease: Duration::from_secs(15),
        renew: Duration::from_secs(5),
        ahead: Duration::from_secs(60),
        stagger: Duration::from_secs(3),
        claim: Duration::from_secs(25),
        look: Duration::from_secs(5),
        presence: Duration::from_secs(240),
    };
}

/// Which machine this is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct OwnMachine {
    /// Its name: 1 to 64 characters that a key may have.
    pub name: String,
    /// Its own id, made once; no other machine has it.
    pub machine: String,
    /// Its place among the preferred machines, from 0; their number where it isn't one.
    pub rank: u32,
}

/// The readings of a machine's clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClockReadings {
    /// The monotonic clock that counts suspension.
    pub clock: Duration,
    /// The wall clock, in milliseconds since 1970.
    pub wall_ms: i64,
}

/// A right of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct HeldRight {
    nonce: String,
    /// The clock before the request that wrote it.
    from: Duration,
    lasts: Duration,
    /// The lease's, or the claim's.
    epoch: u64,
    /// Another one may have sent it already.
    ask: bool,
}

impl HeldRight {
    /// How long it may still be used.
    fn left(&self, clock: Duration) -> Duration {
        (self.from + usable(self.lasts)).saturating_sub(clock)
    }
}

/// The purpose of a change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ChangePurpose {
    /// A check, the format, a removal.
    Plain,
    Claim(HeldRight),
    Settle,
    Lease(HeldRight, Duration),
    Release,
    Presence,
}

/// Changes to make at once, or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChangeAttempt {
    /// For the engine.
    pub changes: Vec<EntryChange>,
    purposes: Vec<ChangePurpose>,
    from: Duration,
}

impl ChangeAttempt {
    fn new(from: Duration) -> Self {
        Self { changes: Vec::new(), purposes: Vec::new(), from }
    }

    fn push(
        &mut self,
        key: impl Into<String>,
        expected: Option<&str>,
        value: Option<String>,
        purpose: ChangePurpose,
    ) {
        self.changes.push(EntryChange { key: key.into(), expected: expected.map(str::to_owned), value });
        self.purposes.push(purpose);
    }

    fn has(&self, key: &str) -> bool {
        self.changes.iter().any(|change| change.key == key)
    }
}

/// An attempt that is being made: at which readings of the clocks, and with which nonces.
struct ChangeDraft<'n> {
    now: ClockReadings,
    nonce: &'n mut dyn FnMut() -> String,
    attempt: ChangeAttempt,
}

/// One machine's view of the shared entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Protocol {
    me: OwnMachine,
    timing: Timing,
    known: KnownEntries,
    /// Claims that this process made.
    held: BTreeMap<String, HeldRight>,
    /// The lease, with the clock when this process got it.
    lease: Option<(HeldRight, Duration)>,
    /// The lease as it was last seen, and since when.
    lease_seen: (Option<String>, Duration),
    /// For the lease's epoch: upper bounds of when its holder got it, by this machine's clock, with when each was seen.
    lease_begun: (u64, Vec<(Duration, Duration)>),
    /// Since when this machine hands the lease over: it begins nothing more, and waits until all has ended that it
    /// began.
    handing: Option<Duration>,
    /// The highest epoch of the lease that was ever seen.
    highest: u64,
    /// Sent, and to be marked so, each with [`Claim::line`].
    told: BTreeMap<String, Option<String>>,
    /// Lines that went, and are to be marked so.
    went: BTreeSet<String>,
    /// Lines that came back, with the clock when they did.
    back: BTreeMap<String, Duration>,
    /// The store failed since the entries were last read.
    is_failing: bool,
    /// When the store answered again after it had failed.
    healed: Option<Duration>,
    /// Attempts whose answer was lost.
    doubt: Vec<ChangeAttempt>,
    /// When this process last said that it is there.
    present: Option<Duration>,
    /// The nonces with which it lately said so.
    own_presence: Vec<String>,
    /// When another process last said so under this machine's own id.
    twin: Option<Duration>,
    /// When old entries were last looked for.
    pruned: Option<Duration>,
    /// This machine is to be the voice.
    wants_voice: bool,
    /// The vault's id.
    vault: Option<String>,
    notes: String,
}

impl Protocol {
    /// A machine that knows nothing yet but the highest epoch that it saw before, 0 for none.
    pub fn new(me: OwnMachine, timing: Timing, highest: u64) -> Self {
        Self { known: KnownEntries::of(me.machine.clone()), me, timing, highest, ..Self::default() }
    }

    /// The entries as it knows them.
    pub fn known(&self) -> &KnownEntries {
        &self.known
    }

    /// The highest epoch of the lease that was ever seen; it is kept when the process ends.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// Whether all entries are to be read before anything else is done.
    pub fn must_read(&self, clock: Duration) -> bool {
        self.is_failing || !self.doubt.is_empty() || self.next_read().is_none_or(|at| clock >= at)
    }

    /// The store can't be reached. It is read before anything is changed.
    pub fn record_failure(&mut self) {
        self.is_failing = true;
    }

    /// Takes in all entries; `clock` was read after they were.
    pub fn record_entries(&mut self, entries: Entries, clock: Duration) {
        // A store that fails again and again must not keep claims from being taken over for ever.
        let is_long_ago = |at| clock > at + HEALED * 2;
        if std::mem::take(&mut self.is_failing) && self.healed.is_none_or(is_long_ago) {
            self.healed = Some(clock);
        }
        if self.known.read_at().is_none() {
            self.lease_seen.1 = clock;
        } else if entries.iter().any(|(key, value)| self.is_of_twin(key, value)) {
            self.twin = Some(clock);
        }
        self.known.record_all(entries, clock, self.timing.pause());
        for attempt in std::mem::take(&mut self.doubt) {
            self.adopt(&attempt);
        }
        self.noticed(clock);
        // A line that came back was not yet told of, unless a later reading shows it dropped.
        let (known, dropped) = (&self.known, Some(ClaimState::Dropped));
        self.back.retain(|key, at| *at >= clock || known.claim(key).map(|claim| claim.state) == dropped);
    }

    /// The changes to make now, if any. None while an answer is in doubt or something is wrong.
    pub fn attempt(
        &mut self,
        now: ClockReadings,
        wanted: &[ClaimRequest],
        nonce: &mut dyn FnMut() -> String,
    ) -> Option<ChangeAttempt> {
        if !self.doubt.is_empty() || self.known.read_at().is_none() || self.problem(now.clock).is_some() {
            return None;
        }
        let mut draft = ChangeDraft { now, nonce, attempt: ChangeAttempt::new(now.clock) };
        self.lease_change(&mut draft);
        self.settle_changes(&mut draft);
        self.claim_changes(wanted, &mut draft);
        self.presence_changes(&mut draft);
        let attempt = draft.attempt;
        (!attempt.changes.is_empty()).then_some(attempt)
    }

    /// Takes in what the engine answered to an attempt; `clock` was read after the answer.
    pub fn record_outcome(
        &mut self,
        attempt: ChangeAttempt,
        answer: Result<SwapOutcome, EngineError>,
        clock: Duration,
    ) {
        match answer {
            Ok(SwapOutcome::Done) => {
                self.known.changed(&attempt.changes, clock);
                self.adopt(&attempt);
                self.noticed(clock);
            }
            Ok(SwapOutcome::Lost(standing)) => {
                self.known.record_at(&attempt.changes, standing, clock);
                self.noticed(clock);
            }
            // It may have been made, or may still be.
            Err(EngineError::Unknown(_)) => self.doubt.push(attempt),
            Err(_) => {}
        }
    }

    /// Takes the rights of those changes of an attempt that stand.
    fn adopt(&mut self, attempt: &ChangeAttempt) {
        for (change, purpose) in attempt.changes.iter().zip(&attempt.purposes) {
            if self.known.value(&change.key) != change.value.as_deref() {
                continue;
            }
            match purpose {
                ChangePurpose::Plain => {}
                ChangePurpose::Claim(held) => {
                    self.held.insert(change.key.clone(), held.clone());
                }
                ChangePurpose::Settle => {
                    self.held.remove(&change.key);
                    self.told.remove(&change.key);
                    self.went.remove(&change.key);
                }
                ChangePurpose::Lease(held, begun) => {
                    self.lease = Some((held.clone(), *begun));
                    self.wants_voice = false;
                }
                ChangePurpose::Release => self.lease = None,
                ChangePurpose::Presence => self.present = Some(attempt.from),
            }
        }
    }

    /// Draws conclusions from what is known now: rights that others took are gone.
    fn noticed(&mut self, clock: Duration) {
        let known = &self.known;
        let standing = |key: &str| known.value(key).and_then(Claim::read);
        self.held.retain(|key, held| standing(key).is_some_and(|claim| claim.nonce == held.nonce));
        self.notice_lease(clock);
    }

    /// Whether an entry is new, and says that a machine with this one's id is there, and this process didn't write it.
    fn is_of_twin(&self, key: &str, value: &str) -> bool {
        key.starts_with("machine/")
            && self.known.value(key) != Some(value)
            && Presence::read(value).is_some_and(|presence| {
                presence.machine == self.me.machine && !self.own_presence.contains(&presence.nonce)
            })
    }

    fn read_lease(&self) -> Option<VoiceLease> {
        VoiceLease::read(self.known.value(LEASE)?)
    }
}

#[cfg(test)]
mod tests;
