//! Answers for the rest of the program whether this machine may send: [`Machines`], a handle that is cheap to copy.
//!
//! Without `[machines]` ([`Machines::alone`]) everything is allowed at once and nothing is stored. A process that works
//! beside the daemon ([`Machines::beside`]) makes no claims, so work that needs a claim waits for the daemon. The
//! daemon joins ([`Machines::join`]) and runs [`Machines::drive`], which talks to the engine. The handle answers from
//! the entries that were read last, and never waits.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Notify, watch};

use super::engine::{Engine, EngineError};
use super::identity::Identity;
use super::protocol::{May, Me, Now, Protocol, Right, Timing, Wanted};
use crate::clock::Clock;

/// A send without a right must have ended in this time.
const UNASKED: Duration = Duration::from_secs(60);

/// How this machine takes part.
pub struct Joining {
    /// The store.
    pub engine: Arc<dyn Engine>,
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
    /// Whether it tells what no other machine is known to be at while the engine is out of reach (`on_partition = "tell"`).
    pub tells_cut_off: bool,
    /// The state directory.
    pub state: PathBuf,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Something that this machine would send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    /// See [`claim_key`](super::protocol::claim_key).
    pub key: String,
    /// When it is due, by the wall clock; `None` for work of the voice.
    pub due: Option<Timestamp>,
    /// The key of the message of several things within which it would be sent; at most 64 bytes.
    pub within: Option<String>,
}

/// Whether this machine may send; see the module.
#[derive(Clone, Default)]
pub struct Machines(Form);

#[derive(Clone, Default)]
enum Form {
    #[default]
    Alone,
    Beside,
    Member(Arc<Member>),
}

impl std::fmt::Debug for Machines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Form::Alone => "alone",
            Form::Beside => "beside the daemon",
            Form::Member(_) => "member",
        })
    }
}

pub(super) struct Member {
    pub joining: Joining,
    pub state: Mutex<State>,
    /// Something is to be done sooner than was known.
    pub wake: Notify,
    news: watch::Sender<u64>,
}

pub(super) struct State {
    pub protocol: Protocol,
    pub identity: Identity,
    pub trouble: Option<EngineError>,
    wanted: BTreeMap<&'static str, Vec<Want>>,
    /// The rights that were last told of.
    seen: Seen,
}

/// The rights that the rest of the program acts on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Seen {
    is_voice: bool,
    problem: Option<String>,
    /// For each thing that is wanted: whether it may be sent, and whether it is over.
    may: Vec<(bool, bool)>,
    /// Whether something was sent and is not yet marked.
    has_unmarked: bool,
}

impl Member {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> Now {
        let clock = &self.joining.clock;
        Now { clock: clock.boot(), wall_ms: clock.now().as_millisecond() }
    }

    /// Says so where rights are others than when this was last asked.
    pub fn tell(&self) {
        let clock = self.now().clock;
        let mut state = self.state();
        let seen = state.look(clock);
        if std::mem::replace(&mut state.seen, seen.clone()) != seen {
            drop(state);
            self.tell_in_any_case();
        }
    }

    fn tell_in_any_case(&self) {
        self.news.send_modify(|count| *count = count.wrapping_add(1));
    }
}

impl State {
    /// All wants, at these readings of the clocks.
    pub fn wanted(&self, now: Now) -> Vec<Wanted> {
        self.wanted.values().flatten().map(|want| want.at(now)).collect()
    }

    fn look(&self, clock: Duration) -> Seen {
        let may = |want: &Want| {
            let may = self.protocol.may(&want.key, clock);
            (matches!(may, May::Yes { .. }), may == May::Never)
        };
        Seen {
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
        problem.or_else(|| self.trouble.as_ref().map(ToString::to_string)).or_else(unreadable)
    }
}

impl Want {
    fn at(&self, now: Now) -> Wanted {
        let due_in = |due: Timestamp| due.as_millisecond().saturating_sub(now.wall_ms);
        let right = self.due.map_or(Right::Voice, |due| Right::Any { due_in: due_in(due) });
        Wanted { key: self.key.clone(), right, within: self.within.clone() }
    }
}

impl Machines {
    /// One machine alone: everything may be sent.
    pub fn alone() -> Self {
        Self(Form::Alone)
    }

    /// A process beside the daemon of a vault that is on several machines: what needs a claim is the daemon's.
    pub fn beside() -> Self {
        Self(Form::Beside)
    }

    /// This machine among others. Nothing is asked before [`Machines::drive`] runs.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn join(joining: Joining) -> std::io::Result<Self> {
        let identity = Identity::of(&joining.state)?;
        let me = Me {
            name: joining.name.clone(),
            machine: identity.machine.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rank: joining.rank,
        };
        let mut protocol = Protocol::new(me, joining.timing, identity.highest);
        protocol.set_vault(joining.vault.clone());
        let state =
            State { protocol, identity, trouble: None, wanted: BTreeMap::new(), seen: Seen::default() };
        let (news, _) = watch::channel(0);
        let member = Member { joining, state: Mutex::new(state), wake: Notify::new(), news };
        Ok(Self(Form::Member(Arc::new(member))))
    }

    pub(super) fn member(&self) -> Option<&Arc<Member>> {
        match &self.0 {
            Form::Member(member) => Some(member),
            Form::Alone | Form::Beside => None,
        }
    }

    /// Whether there are no other machines.
    pub fn is_alone(&self) -> bool {
        matches!(self.0, Form::Alone)
    }

    /// Whether this process works beside the daemon.
    pub fn is_internal(&self) -> bool {
        matches!(self.0, Form::Beside)
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
            Form::Alone => Duration::MAX,
            Form::Beside => Duration::ZERO,
            Form::Member(member) => {
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
        match &self.0 {
            Form::Alone => true,
            Form::Beside => false,
            Form::Member(_) => !self.voice_left().is_zero(),
        }
    }

    /// Whether this machine may send what has this key now. Asked directly before each send, which must end in the time
    /// that the answer says.
    pub fn may(&self, key: &str) -> May {
        match &self.0 {
            Form::Alone => May::Yes { ask: false, left: Duration::MAX },
            Form::Beside => May::Wait,
            Form::Member(member) => {
                let (now, state) = (member.now(), member.state());
                match state.protocol.may(key, now.clock) {
                    May::Yes { .. } if state.protocol.problem(now.clock).is_some() => May::Wait,
                    May::Wait if member.joining.tells_cut_off && state.may_unasked(key, now) => {
                        May::Yes { ask: true, left: UNASKED }
                    }
                    may => may,
                }
            }
        }
    }

    /// Says all that one part of the program (`source`) would send within the next minute, in the place of what it said
    /// before: it is claimed as soon as it may be.
    pub fn want(&self, source: &'static str, wanted: Vec<Want>) {
        let Some(member) = self.member() else { return };
        let mut state = member.state();
        if state.wanted.get(source).map_or(&[][..], Vec::as_slice) != wanted {
            state.wanted.insert(source, wanted);
            state.seen = state.look(member.now().clock);
            let is_cut_off = member.joining.tells_cut_off && state.trouble.is_some();
            drop(state);
            member.wake.notify_one();
            if is_cut_off {
                member.tell_in_any_case();
            }
        }
    }

    /// The channel took what has this key.
    pub fn told(&self, key: &str) {
        self.change(|protocol, _| protocol.told(key));
    }

    /// A line went from this machine's notes, or got another time, within a day of its occurrence: no machine is to tell it.
    pub fn line_went(&self, key: &str) {
        self.change(|protocol, _| protocol.line_went(key));
    }

    /// A line came back into this machine's notes.
    pub fn line_came_back(&self, key: &str) {
        self.change(|protocol, clock| protocol.line_came_back(key, clock));
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

    /// The message of several things within which what has this key may have been sent.
    pub fn within(&self, key: &str) -> Option<String> {
        self.member()?.state().protocol.within(key)
    }

    /// Which machine told what has this key, and when it wrote that down, by its wall clock.
    pub fn teller(&self, key: &str) -> Option<(String, Timestamp)> {
        let (name, at) = self.member()?.state().protocol.teller(key)?;
        Some((name, Timestamp::from_second(at).ok()?))
    }

    /// Whether this machine sends without the store (`on_partition = "tell"`).
    pub fn tells_cut_off(&self) -> bool {
        self.member().is_some_and(|member| member.joining.tells_cut_off)
    }

    /// Whether this is another machine's name.
    pub fn is_other(&self, name: &str) -> bool {
        self.member().is_some_and(|member| member.joining.name != name)
    }

    /// Whether a machine was not seen for ten minutes.
    pub fn is_away(&self, name: &str) -> bool {
        self.member().is_some_and(|member| member.state().protocol.is_away(name, member.now().clock))
    }

    /// Claims of this machine from before it was started, which were not marked: the local journal knows what came of them.
    pub fn left_open(&self) -> Vec<String> {
        self.member().map(|member| member.state().protocol.left_open()).unwrap_or_default()
    }

    /// Why this machine takes no part now, in one sentence.
    pub fn problem(&self) -> Option<String> {
        let member = self.member()?;
        member.state().problem(member.now().clock)
    }

    /// Asks the voice to hand over to this machine, or takes over where there is none.
    pub fn take(&self) {
        self.change(|protocol, _| protocol.take_voice());
    }

    /// A receiver that tells when rights may be others than before.
    pub fn news(&self) -> News {
        News(self.member().map(|member| member.news.subscribe()))
    }
}

impl State {
    /// Whether the engine is out of reach and no other machine is known to be at what has this key.
    fn may_unasked(&self, key: &str, now: Now) -> bool {
        let is_cut_off = matches!(
            self.trouble,
            Some(EngineError::Unreachable(_) | EngineError::Unknown(_) | EngineError::Refused(_))
        );
        let mut wanted = self.wanted.values().flatten().filter(|want| want.key == key && want.due.is_some());
        is_cut_off
            && self.protocol.problem(now.clock).is_none()
            && wanted.any(|want| self.protocol.could_claim(&want.at(now), now.clock))
    }
}

/// Tells when rights may be others than before.
#[derive(Debug, Clone)]
pub struct News(Option<watch::Receiver<u64>>);

impl News {
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
