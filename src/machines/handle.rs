//! Defines [`Machines`], a handle that is cheap to clone. The rest of the program asks the handle whether this machine
//! may send.
//!
//! Without `[machines]` in the settings, everything is allowed at once and nothing is stored ([`Machines::alone`]). A
//! process that works beside the daemon makes no claims, so work that needs a claim waits for the daemon
//! ([`Machines::beside`]). The daemon joins ([`Machines::join`]) and runs [`Machines::drive`]; that function
//! communicates with the engine, the shared store. The handle answers from the entries that were read last, so it never
//! waits.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Notify, watch};

use super::engine::{EngineError, StoreEngine};
use super::identity::Identity;
use super::protocol::{ClaimRequest, ClockReadings, Eligibility, OwnMachine, Protocol, SendRight, Timing};
use crate::clock::Clock;

/// A send without a right must have ended in this time.
const UNASKED: Duration = Duration::from_secs(60);

/// The configuration with which this machine takes part.
pub struct JoinConfig {
    /// The store.
    pub engine: Arc<dyn StoreEngine>,
    /// `git` or `etcd`.
    pub kind: &'static str,
    /// The engine's lengths of time.
    pub timing: Timing,
    /// The machine's name: 1 to 64 characters that a key may have.
    pub name: String,
    /// Its place among the preferred machines, from 0; their number where it isn't one.
    pub rank: u32,
    /// The vault's id, where the settings name one.
    pub vault: Option<String>,
    /// Whether it tells what no other machine is known to be at while the engine is out of reach
    /// (`on_partition = "tell"`).
    pub sends_when_cut_off: bool,
    /// The state directory.
    pub state: PathBuf,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Something that this machine would send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntendedSend {
    /// See [`claim_key`](super::protocol::claim_key).
    pub key: String,
    /// When it is due, by the wall clock; `None` for work of the voice.
    pub due: Option<Timestamp>,
    /// The key of the message of several things within which it would be sent; at most 64 bytes.
    pub within: Option<String>,
}

/// Whether this machine may send; see the module.
#[derive(Clone, Default)]
pub struct Machines(Participation);

#[derive(Clone, Default)]
enum Participation {
    #[default]
    Alone,
    Beside,
    Member(Arc<Member>),
}

impl std::fmt::Debug for Machines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Machines")
    }
}

pub(super) struct Member {
    pub joining: JoinConfig,
    pub state: Mutex<MemberState>,
    /// Something is to be done sooner than was known.
    pub wake: Notify,
    news: watch::Sender<u64>,
}

pub(super) struct MemberState {
    pub protocol: Protocol,
    pub identity: Identity,
    pub error: Option<EngineError>,
    wanted: BTreeMap<&'static str, Vec<IntendedSend>>,
    /// The rights that were last told of.
    seen: ReportedRights,
}

/// The rights that the rest of the program acts on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ReportedRights {
    is_voice: bool,
    problem: Option<String>,
    /// For each thing that is wanted: whether it may be sent, and whether it is over.
    may: Vec<(bool, bool)>,
    /// Whether something was sent and is not yet marked.
    has_unmarked: bool,
}

impl Member {
    pub fn state(&self) -> MutexGuard<'_, MemberState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> ClockReadings {
        let clock = &self.joining.clock;
        ClockReadings { clock: clock.boot(), wall_ms: clock.now().as_millisecond() }
    }

    /// Notifies the receivers of [`Machines::rights_changes`] if rights have changed since the last call.
    pub fn report_changes(&self) {
        let clock = self.now().clock;
        let mut state = self.state();
        let seen = state.look(clock);
        if std::mem::replace(&mut state.seen, seen.clone()) != seen {
            drop(state);
            self.signal_change();
        }
    }

    fn signal_change(&self) {
        self.news.send_modify(|count| *count = count.wrapping_add(1));
    }
}

impl MemberState {
    /// All intended sends as requests for claims, at these readings of the clocks.
    pub fn wanted(&self, now: ClockReadings) -> Vec<ClaimRequest> {
        self.wanted.values().flatten().map(|want| want.at(now)).collect()
    }

    fn look(&self, clock: Duration) -> ReportedRights {
        let may = |want: &IntendedSend| {
            let may = self.protocol.send_right(&want.key, clock);
            (matches!(may, SendRight::Yes { .. }), may == SendRight::Never)
        };
        ReportedRights {
            is_voice: self.protocol.is_voice(clock),
            problem: self.problem(clock),
            may: self.wanted.values().flatten().map(may).collect(),
            has_unmarked: self.protocol.has_unmarked(),
        }
    }

    fn problem(&self, clock: Duration) -> Option<String> {
        let problem = self.protocol.problem(clock).map(|problem| problem.to_string());
        let unreadable = || {
            let mut wanted = self.wanted.values().flatten();
            let key = &wanted.find(|want| self.protocol.is_unreadable(&want.key))?.key;
            Some(format!(
                "the entry `{key}` can't be read, a newer vault-agent may have written it: update this one"
            ))
        };
        problem.or_else(|| self.error.as_ref().map(ToString::to_string)).or_else(unreadable)
    }

    /// Whether the engine is out of reach and no other machine is known to be at what has this key.
    fn may_unasked(&self, key: &str, now: ClockReadings) -> bool {
        let is_cut_off = matches!(
            self.error,
            Some(EngineError::Unreachable(_) | EngineError::Unknown(_) | EngineError::Refused(_))
        );
        let mut wanted = self.wanted.values().flatten().filter(|want| want.key == key && want.due.is_some());
        is_cut_off
            && self.protocol.problem(now.clock).is_none()
            && wanted.any(|want| self.protocol.could_claim(&want.at(now), now.clock))
    }
}

impl IntendedSend {
    fn at(&self, now: ClockReadings) -> ClaimRequest {
        let due_in = |due: Timestamp| due.as_millisecond().saturating_sub(now.wall_ms);
        let right = self.due.map_or(Eligibility::Voice, |due| Eligibility::Any { due_in: due_in(due) });
        ClaimRequest { key: self.key.clone(), right, within: self.within.clone() }
    }
}

impl Machines {
    /// One machine alone: everything may be sent.
    pub fn alone() -> Self {
        Self(Participation::Alone)
    }

    /// A process beside the daemon, for a vault on several machines. Work that needs a claim is left to the daemon.
    pub fn beside() -> Self {
        Self(Participation::Beside)
    }

    /// This machine as one of several. The engine isn't called before [`Machines::drive`] runs.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn join(joining: JoinConfig) -> std::io::Result<Self> {
        let identity = Identity::of(&joining.state)?;
        let me =
            OwnMachine { name: joining.name.clone(), machine: identity.machine.clone(), rank: joining.rank };
        let mut protocol = Protocol::new(me, joining.timing, identity.highest);
        protocol.set_vault(joining.vault.clone());
        let seen = ReportedRights::default();
        let state = MemberState { protocol, identity, error: None, wanted: BTreeMap::new(), seen };
        let (news, _) = watch::channel(0);
        let member = Member { joining, state: Mutex::new(state), wake: Notify::new(), news };
        Ok(Self(Participation::Member(Arc::new(member))))
    }

    pub(super) fn member(&self) -> Option<&Arc<Member>> {
        match &self.0 {
            Participation::Member(member) => Some(member),
            Participation::Alone | Participation::Beside => None,
        }
    }

    /// Whether there are no other machines.
    pub fn is_alone(&self) -> bool {
        matches!(self.0, Participation::Alone)
    }

    /// Whether this process works beside the daemon.
    pub fn is_internal(&self) -> bool {
        matches!(self.0, Participation::Beside)
    }

    /// This machine's name, where it takes part.
    pub fn name(&self) -> Option<&str> {
        self.member().map(|member| member.joining.name.as_str())
    }

    /// The machine that is the voice, as far as is known.
    pub fn voice(&self) -> Option<String> {
        self.member()?.state().protocol.voice().map(|(name, _)| name)
    }

    /// How long this machine may still speak as the voice: a send that begins now must have ended in this time.
    pub fn voice_left(&self) -> Duration {
        match &self.0 {
            Participation::Alone => Duration::MAX,
            Participation::Beside => Duration::ZERO,
            Participation::Member(member) => {
                let (clock, state) = (member.now().clock, member.state());
                if state.protocol.problem(clock).is_some() {
                    Duration::ZERO
                } else {
                    state.protocol.left_as_voice(clock)
                }
            }
        }
    }

    /// Whether this machine is the voice. Asked directly before each thing that the voice does.
    pub fn is_voice(&self) -> bool {
        !self.voice_left().is_zero()
    }

    /// Whether this machine may send the message with this key now. To be called directly before each send; the send
    /// must end within the time in the answer.
    pub fn send_right(&self, key: &str) -> SendRight {
        match &self.0 {
            Participation::Alone => SendRight::Yes { ask: false, left: Duration::MAX },
            Participation::Beside => SendRight::Wait,
            Participation::Member(member) => {
                let (now, state) = (member.now(), member.state());
                match state.protocol.send_right(key, now.clock) {
                    SendRight::Yes { .. } if state.protocol.problem(now.clock).is_some() => SendRight::Wait,
                    SendRight::Wait if member.joining.sends_when_cut_off && state.may_unasked(key, now) => {
                        SendRight::Yes { ask: true, left: UNASKED }
                    }
                    may => may,
                }
            }
        }
    }

    /// Sets all that one part of the program (`source`) would send within the next minute; this replaces its earlier
    /// list. Each is claimed as soon as possible.
    pub fn set_intended_sends(&self, source: &'static str, wanted: Vec<IntendedSend>) {
        let Some(member) = self.member() else { return };
        let mut state = member.state();
        if state.wanted.get(source).map_or(&[][..], Vec::as_slice) != wanted {
            state.wanted.insert(source, wanted);
            state.seen = state.look(member.now().clock);
            let is_cut_off = member.joining.sends_when_cut_off && state.error.is_some();
            drop(state);
            member.wake.notify_one();
            if is_cut_off {
                member.signal_change();
            }
        }
    }

    /// The channel has accepted the message with this key; `line` is the hash of the line that it tells, if it does.
    pub fn mark_sent(&self, key: &str, line: Option<String>) {
        self.change(|protocol, _| protocol.mark_sent(key, line));
    }

    /// The hash of the line that was told with this key, as the machine that told it has recorded it.
    pub fn sent_line(&self, key: &str) -> Option<String> {
        self.member()?.state().protocol.sent_line(key)
    }

    /// A line was removed from this machine's notes, or got another time, within a day of its occurrence: no machine
    /// may notify about it.
    pub fn line_removed(&self, key: &str) {
        self.change(|protocol, _| protocol.line_removed(key));
    }

    /// A line came back into this machine's notes.
    pub fn line_restored(&self, key: &str) {
        self.change(|protocol, clock| protocol.line_restored(key, clock));
    }

    fn change(&self, change: impl FnOnce(&mut Protocol, Duration)) {
        let Some(member) = self.member() else { return };
        change(&mut member.state().protocol, member.now().clock);
        member.wake.notify_one();
    }

    /// Sets the hash of this machine's notes, at most 64 bytes.
    pub fn set_notes(&self, hash: String) {
        if let Some(member) = self.member() {
            member.state().protocol.set_notes(hash);
        }
    }

    /// The key of the digest (a message about several things) in which the message with this key may have been sent.
    pub fn digest_key(&self, key: &str) -> Option<String> {
        self.member()?.state().protocol.digest_key(key)
    }

    /// The machine that sent the message with this key, and the time at which it recorded that, by its wall clock.
    pub fn sender_of(&self, key: &str) -> Option<(String, Timestamp)> {
        let (name, at) = self.member()?.state().protocol.sender_of(key)?;
        Some((name, Timestamp::from_second(at).ok()?))
    }

    /// The other machine whose copy lost the line of the claim with this key.
    pub fn dropped_by(&self, key: &str) -> Option<String> {
        self.member()?.state().protocol.dropped_by(key)
    }

    /// Whether this machine sends without the store (`on_partition = "tell"`).
    pub fn sends_when_cut_off(&self) -> bool {
        self.member().is_some_and(|member| member.joining.sends_when_cut_off)
    }

    /// Whether this is another machine's name.
    pub fn is_other(&self, name: &str) -> bool {
        self.member().is_some_and(|member| member.joining.name != name)
    }

    /// Whether a machine was not seen for ten minutes.
    pub fn is_away(&self, name: &str) -> bool {
        self.member().is_some_and(|member| member.state().protocol.is_away(name, member.now().clock))
    }

    /// Claims that this machine made before its present start and that have no outcome. The local journal knows the
    /// outcome.
    pub fn left_open(&self) -> Vec<String> {
        self.member().map(|member| member.state().protocol.left_open()).unwrap_or_default()
    }

    /// The reason why this machine takes no part now, in one sentence.
    pub fn problem(&self) -> Option<String> {
        let member = self.member()?;
        member.state().problem(member.now().clock)
    }

    /// Asks the voice to hand over to this machine, or takes over if there is no voice.
    pub fn take_voice(&self) {
        self.change(|protocol, _| protocol.take_voice());
    }

    /// A receiver of a signal when rights may have changed.
    pub fn rights_changes(&self) -> RightsChanges {
        RightsChanges(self.member().map(|member| member.news.subscribe()))
    }
}

/// Receives a signal when rights may have changed.
#[derive(Debug, Clone)]
pub struct RightsChanges(Option<watch::Receiver<u64>>);

impl RightsChanges {
    /// Waits for the next change; for ever where there are no other machines.
    pub async fn changed(&mut self) {
        let changed = match &mut self.0 {
            Some(receiver) => receiver.changed().await.is_ok(),
            None => false,
        };
        if !changed {
            std::future::pending::<()>().await;
        }
    }
}
