//! The protocol by which machines agree on who sends: claims, the lease, takeovers. Pure: entries and clock readings in,
//! changes out.
//!
//! [`Protocol`] is one machine's view. Its caller reads the engine's entries and passes them to [`Protocol::heard`], asks
//! [`Protocol::attempt`] for the changes to make, and passes what became of them to [`Protocol::answered`]. Directly before
//! each send it asks [`Protocol::may`] or [`Protocol::is_voice`]; after the channel's yes it calls [`Protocol::told`].
//!
//! Safety rests on two rules. A right begins, for its holder, before the request that wrote it, and ends at four fifths of
//! its length; for all others it begins when they first saw it, and ends after its whole length. Both are measured by a
//! machine's own monotonic clock that counts suspension, so wall clocks are never compared. And each change compares by value
//! with what stood there, so of two machines that write the same key one loses.
//!
//! - `claims`: deliveries and work of the voice; `lease`: the voice; `presence`: machines that are there, old entries;
//! - [`value`]: what stands in the entries; `known`: what this machine saw of them; `timing`: lengths of time.

mod claims;
mod known;
mod lease;
mod presence;
mod timing;
pub mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::machines::engine::{Change, Entries, Swapped};

pub use claims::{May, Right, Wanted, claim_key};
pub use known::Known;
pub use presence::{Problem, machine_key};
pub use timing::{AWAY, Timing, usable};
use value::{ClaimState, Lease, Presence};

/// The key of the lease.
pub const LEASE: &str = "lease";
/// The key of the format.
pub const FORMAT: &str = "format";

/// Which machine this is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Me {
    /// Its name: 1 to 64 characters that a key may have.
    pub name: String,
    /// Its own id, made once; no other machine has it.
    pub machine: String,
    /// The program's version.
    pub version: String,
    /// Its place among the preferred machines, from 0; their number where it isn't one.
    pub rank: u32,
}

/// The readings of a machine's clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Now {
    /// The monotonic clock that counts suspension.
    pub clock: Duration,
    /// The wall clock, in milliseconds since 1970.
    pub wall_ms: i64,
}

/// A right of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Held {
    nonce: String,
    /// The clock before the request that wrote it.
    from: Duration,
    lasts: Duration,
    /// The lease's, or the claim's.
    epoch: u64,
    /// Another one may have sent it already.
    ask: bool,
}

impl Held {
    /// How long it may still be used.
    fn left(&self, clock: Duration) -> Duration {
        (self.from + usable(self.lasts)).saturating_sub(clock)
    }
}

/// What a change is made for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Purpose {
    /// A check, the format, a removal.
    Plain,
    Claim(Held),
    Settle,
    Lease(Held, Duration),
    Release,
    Presence,
}

/// Changes to make at once, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// For the engine.
    pub changes: Vec<Change>,
    purposes: Vec<Purpose>,
    from: Duration,
}

impl std::hash::Hash for Attempt {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let changes = self.changes.iter().map(|change| (&change.key, &change.expected, &change.value));
        changes.for_each(|change| change.hash(state));
        (&self.purposes, self.from).hash(state);
    }
}

impl Attempt {
    fn new(from: Duration) -> Self {
        Self { changes: Vec::new(), purposes: Vec::new(), from }
    }

    fn push(
        &mut self,
        key: impl Into<String>,
        expected: Option<&str>,
        value: Option<String>,
        purpose: Purpose,
    ) {
        self.changes.push(Change { key: key.into(), expected: expected.map(str::to_owned), value });
        self.purposes.push(purpose);
    }

    fn has(&self, key: &str) -> bool {
        self.changes.iter().any(|change| change.key == key)
    }
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The engine's answer.
    Swapped(Swapped),
    /// It surely was not made.
    NotMade,
    /// It may have been made, or may still be.
    Unknown,
}

/// One machine's view of the shared entries.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Protocol {
    me: Me,
    timing: Timing,
    known: Known,
    /// Claims that this process made.
    held: BTreeMap<String, Held>,
    /// The lease, with the clock when this process got it.
    lease: Option<(Held, Duration)>,
    /// The lease as it was last seen, and since when.
    lease_seen: (Option<String>, Duration),
    /// For the lease's epoch: upper bounds of when its holder got it, by this machine's clock, with when each was seen.
    lease_begun: (u64, Vec<(Duration, Duration)>),
    /// Since when this machine hands the lease over: it begins nothing more, and waits until all has ended that it began.
    handing: Option<Duration>,
    /// The highest epoch of the lease that was ever seen.
    highest: u64,
    /// Sent, and to be marked so.
    told: BTreeSet<String>,
    /// Lines that went, and are to be marked so.
    went: BTreeSet<String>,
    /// Lines that came back, with the clock when they did.
    back: BTreeMap<String, Duration>,
    /// Attempts whose answer was lost.
    doubt: Vec<Attempt>,
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
    pub fn new(me: Me, timing: Timing, highest: u64) -> Self {
        Self {
            known: Known::of(me.machine.clone()),
            me,
            timing,
            held: BTreeMap::new(),
            lease: None,
            lease_seen: (None, Duration::ZERO),
            lease_begun: (0, Vec::new()),
            handing: None,
            highest,
            told: BTreeSet::new(),
            went: BTreeSet::new(),
            back: BTreeMap::new(),
            doubt: Vec::new(),
            present: None,
            own_presence: Vec::new(),
            twin: None,
            pruned: None,
            wants_voice: false,
            vault: None,
            notes: String::new(),
        }
    }

    /// What it knows of the entries.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// Which machine this is.
    pub fn me(&self) -> &Me {
        &self.me
    }

    /// The highest epoch of the lease that was ever seen; it is kept when the process ends.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// Whether all entries are to be read before anything else is done.
    pub fn must_read(&self, clock: Duration) -> bool {
        !self.doubt.is_empty() || self.look_at().is_none_or(|at| clock >= at)
    }

    /// Takes in all entries; `clock` was read after they were.
    pub fn heard(&mut self, entries: Entries, clock: Duration) {
        if self.known.read_at().is_none() {
            self.lease_seen.1 = clock;
        } else if entries.iter().any(|(key, value)| self.is_of_twin(key, value)) {
            self.twin = Some(clock);
        }
        self.known.heard(entries, clock);
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
        now: Now,
        wanted: &[Wanted],
        nonce: &mut dyn FnMut() -> String,
    ) -> Option<Attempt> {
        if !self.doubt.is_empty() || self.known.read_at().is_none() || self.problem(now.clock).is_some() {
            return None;
        }
        let mut attempt = Attempt::new(now.clock);
        self.lease_change(now, nonce, &mut attempt);
        self.settle_changes(now, nonce, &mut attempt);
        self.claim_changes(now, wanted, nonce, &mut attempt);
        self.presence_changes(now, nonce, &mut attempt);
        (!attempt.changes.is_empty()).then_some(attempt)
    }

    /// Takes in what became of an attempt; `clock` was read after the answer.
    pub fn answered(&mut self, attempt: Attempt, answer: Answer, clock: Duration) {
        match answer {
            Answer::Swapped(Swapped::Done) => {
                self.known.changed(&attempt.changes, clock);
                self.adopt(&attempt);
                self.noticed(clock);
            }
            Answer::Swapped(Swapped::Lost(standing)) => {
                self.known.heard_at(&attempt.changes, standing, clock);
                self.noticed(clock);
            }
            Answer::NotMade => {}
            Answer::Unknown => self.doubt.push(attempt),
        }
    }

    /// Takes the rights of those changes of an attempt that stand.
    fn adopt(&mut self, attempt: &Attempt) {
        for (change, purpose) in attempt.changes.iter().zip(&attempt.purposes) {
            if self.known.value(&change.key) != change.value.as_deref() {
                continue;
            }
            match purpose {
                Purpose::Plain => {}
                Purpose::Claim(held) => {
                    self.held.insert(change.key.clone(), held.clone());
                }
                Purpose::Settle => {
                    self.held.remove(&change.key);
                    self.told.remove(&change.key);
                    self.went.remove(&change.key);
                }
                Purpose::Lease(held, begun) => {
                    self.lease = Some((held.clone(), *begun));
                    self.wants_voice = false;
                }
                Purpose::Release => self.lease = None,
                Purpose::Presence => self.present = Some(attempt.from),
            }
        }
    }

    /// Draws conclusions from what is known now: rights that others took are gone.
    fn noticed(&mut self, clock: Duration) {
        let known = &self.known;
        self.held.retain(|key, held| claims::has_nonce(known.value(key), &held.nonce));
        self.notice_lease(clock);
    }

    /// Whether an entry is new, and says that a machine with this one's id is there, and this process didn't write it.
    fn is_of_twin(&self, key: &str, value: &str) -> bool {
        key.starts_with("machine/")
            && self.known.value(key) != Some(value)
            && Presence::read(value).is_ok_and(|presence| {
                presence.machine == self.me.machine && !self.own_presence.contains(&presence.nonce)
            })
    }

    fn read_lease(&self) -> Option<Lease> {
        Lease::read(self.known.value(LEASE)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::value::Format;
    use super::*;
    use crate::machines::engine::{apply, standing};

    fn machine(at: u32) -> Protocol {
        let me = Me { name: format!("m{at}"), machine: format!("i{at}"), version: "1".into(), rank: at };
        Protocol::new(me, Timing::GIT, 0)
    }

    fn turn(machine: &mut Protocol, entries: &mut Entries, seconds: u64, keys: &[&str]) {
        let clock = Duration::from_secs(seconds);
        machine.heard(entries.clone(), clock);
        let wanted: Vec<Wanted> = keys
            .iter()
            .map(|key| Wanted { key: (*key).to_owned(), right: Right::Any { due_in: 0 }, within: None })
            .collect();
        let mut count = 0;
        let name = machine.me.name.clone();
        let mut nonce = || {
            count += 1;
            format!("{name}-{seconds}-{count}")
        };
        let Some(attempt) = machine.attempt(Now { clock, wall_ms: 0 }, &wanted, &mut nonce) else { return };
        let is_made = apply(entries, &attempt.changes);
        let swapped =
            if is_made { Swapped::Done } else { Swapped::Lost(standing(entries, &attempt.changes)) };
        machine.answered(attempt, Answer::Swapped(swapped), clock);
    }

    /// Seed 1004 of the simulation.
    #[test]
    fn what_was_dropped_and_came_back_is_asked_about_before_it_is_sent() {
        let (mut one, mut two, mut entries) = (machine(0), machine(1), Entries::new());
        let key = claim_key("rid_AAAAAAAAAAAA@2026-12-01T09:30", "discord");
        let at = at_second;
        turn(&mut one, &mut entries, 0, &[&key]);
        assert!(matches!(one.may(&key, at(1)), May::Yes { ask: false, .. }));
        // It is being sent when the line goes.
        one.line_went(&key);
        turn(&mut one, &mut entries, 2, &[]);
        turn(&mut two, &mut entries, 3, &[]);
        // Who dropped it may take it back where its copy has the line again; nobody sends it meanwhile.
        assert_eq!((one.may(&key, at(3)), two.may(&key, at(3))), (May::Wait, May::Never));
        two.line_came_back(&key, at(4));
        turn(&mut two, &mut entries, 4, &[]);
        turn(&mut two, &mut entries, 5, &[&key]);
        turn(&mut two, &mut entries, 6, &[&key]);
        assert!(matches!(two.may(&key, at(7)), May::Yes { ask: true, .. }));
    }

    #[test]
    fn a_newer_format_and_entries_that_went_back_are_waited_for() {
        let (mut one, mut entries) = (machine(0), Entries::new());
        turn(&mut one, &mut entries, 0, &[]);
        assert!(one.is_voice(at_second(1)) && !one.is_voice(at_second(240)));
        one.heard(Entries::from([(FORMAT.into(), r#"{"version":1}"#.into())]), at_second(2));
        assert_eq!(one.problem(at_second(2)), Some(Problem::Rewound { seen: 1, found: 0 }));
        assert!(!one.is_voice(at_second(2)));
        let newer = Entries::from([(FORMAT.into(), r#"{"version":2,"more":[]}"#.into())]);
        one.heard(newer.clone(), at_second(3));
        assert_eq!(one.problem(at_second(3)), Some(Problem::Newer(2)));
        turn(&mut one, &mut newer.clone(), 4, &["claim/x"]);
        assert_eq!(one.may("claim/x", at_second(4)), May::Wait);
    }

    #[test]
    fn another_vaults_entries_are_known_and_left_alone() {
        let (mut one, mut two, mut entries) = (machine(0), machine(1), Entries::new());
        turn(&mut one, &mut entries, 0, &[]);
        // The first machine whose settings name the vault writes it down; one whose settings lag waits.
        two.set_vault(Some("V1".to_owned()));
        turn(&mut two, &mut entries, 1, &["claim/x"]);
        assert_eq!(Format::read(&entries[FORMAT]).unwrap().vault.as_deref(), Some("V1"));
        for (other, wait) in [(None, true), (Some("V2".to_owned()), true), (Some("V1".to_owned()), false)] {
            one.set_vault(other);
            let before = entries.clone();
            turn(&mut one, &mut entries, 1000, &["claim/x"]);
            assert_eq!(one.problem(at_second(1000)), wait.then(|| Problem::OtherVault("V1".to_owned())));
            assert_eq!(before == entries, wait);
            assert!(!one.is_voice(at_second(1000)) || !wait);
        }
    }

    /// The one that hands over begins nothing more, and gives the lease back when all must have ended that it began.
    #[test]
    fn a_voice_that_is_asked_for_falls_silent_before_the_next_one_speaks() {
        let (mut one, mut two, mut entries) = (machine(0), machine(1), Entries::new());
        turn(&mut one, &mut entries, 0, &[]);
        assert_eq!(one.left_as_voice(at_second(10)), at_second(230));
        two.take_voice();
        turn(&mut two, &mut entries, 10, &[]);
        one.heard(entries.clone(), at_second(20));
        assert!(!one.is_voice(at_second(20)), "it was told that another one is to be the voice");
        turn(&mut one, &mut entries, 49, &[]);
        turn(&mut two, &mut entries, 49, &[]);
        assert!(!two.is_voice(at_second(49)), "what began at second 19 may still be on its way");
        turn(&mut one, &mut entries, 50, &[]);
        turn(&mut two, &mut entries, 51, &[]);
        assert!(two.is_voice(at_second(51)) && !one.is_voice(at_second(51)));
    }

    /// A machine that slept for days between two looks can't say when what it sees now was written: its clock may have gone
    /// faster than the holder's.
    #[test]
    fn what_was_seen_long_ago_says_nothing_of_when_a_lease_was_written() {
        let (mut one, mut two, mut entries) = (machine(0), machine(1), Entries::new());
        turn(&mut one, &mut entries, 0, &[]);
        turn(&mut two, &mut entries, 0, &[]);
        let days = 3 * 86_400;
        for at in (100..=days).step_by(100) {
            turn(&mut one, &mut entries, at, &[]);
        }
        // Its clock is a minute ahead by then, two in ten thousand.
        turn(&mut two, &mut entries, days + 60 + 1, &[]);
        turn(&mut two, &mut entries, days + 60 + 261, &[]);
        assert!(!two.is_voice(at_second(days + 322)));
        turn(&mut two, &mut entries, days + 60 + 330, &[]);
        assert!(two.is_voice(at_second(days + 391)), "it was unchanged for five minutes and this one's turn");
    }

    #[test]
    fn old_claims_go_as_fast_as_they_come() {
        let (mut one, mut entries) = (machine(0), Entries::new());
        turn(&mut one, &mut entries, 0, &[]);
        let old =
            r#"{"by":"m0","machine":"i0","epoch":1,"nonce":"n","until":1,"state":"sent","at":-2592001}"#;
        entries.extend((0..2000).map(|number| (format!("claim/old-{number}"), old.to_owned())));
        // Its renewals of two hours.
        (1..72).for_each(|round| turn(&mut one, &mut entries, round * 100, &[]));
        assert_eq!(entries.keys().filter(|key| key.starts_with("claim/")).count(), 0);
    }

    #[test]
    fn a_copy_of_the_state_directory_on_another_machine_is_seen() {
        let (mut one, mut copy, mut entries) = (machine(0), machine(0), Entries::new());
        turn(&mut one, &mut entries, 0, &[]);
        turn(&mut one, &mut entries, 300, &[]);
        assert_eq!(one.problem(at_second(300)), None, "its own presence is no copy's");
        turn(&mut copy, &mut entries, 301, &[]);
        turn(&mut one, &mut entries, 302, &["claim/x"]);
        assert_eq!(one.problem(at_second(302)), Some(Problem::Twin));
        assert!(one.problem(at_second(302 + 600)).is_none() && !entries.contains_key("claim/x"));
    }

    fn at_second(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }
}
