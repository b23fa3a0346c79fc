//! Plays a world of three machines in simulated time: one event after the other, the same for the same seed.
//!
//! It drives the program's own [`Protocol`]. Everything around it is played: the engine and the network, the channel on which
//! things are told, the sync tool, clocks, kills, suspensions and the local journals.

mod faults;
mod lines;
mod machine;
mod random;

use crate::parts::*;

pub use faults::Faults;
pub use random::Random;

pub const SECOND: i64 = 1000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;
pub const MACHINES: usize = 3;
/// After this the caller of an engine or channel gives up.
const TIMEOUT: i64 = 15 * SECOND;

/// What happens. `Sync`: the sync tool brings a line, or takes it out. `Back`: the answer of the engine, at its caller's.
/// `Arrive`: something arrives at the channel. `Sent`: its answer; after `until` the sender has given up, unless it still has
/// the right. `Kill`, `Suspend` and `Cut`: a machine, and for how long.
#[derive(Debug)]
enum Event {
    Step(usize),
    Sync { at: usize, line: usize, is_there: bool, version: u64 },
    Read { by: usize, op: u64 },
    Swap { by: usize, op: u64, attempt: ChangeAttempt },
    Back { by: usize, op: u64, outcome: Outcome },
    Arrive { key: String },
    Sent { by: usize, life: u64, key: String, known: bool, until: i64 },
    Thought { by: usize, life: u64, key: String },
    Edit { at: usize, line: usize, is_there: bool },
    Message(usize),
    Kill(usize, i64),
    Up(usize),
    Suspend(usize, i64),
    Cut(usize, i64),
    Jump(usize),
}

#[derive(Debug)]
enum Outcome {
    Read(Option<Entries>),
    Swap(ChangeAttempt, Result<SwapOutcome, EngineError>),
}

#[derive(Debug)]
pub struct Line {
    pub key: String,
    pub due: i64,
    /// The channel can be asked whether it has something.
    pub can_ask: bool,
    /// A person took it out.
    pub is_removed: bool,
    /// A person took it out and wrote it again.
    is_edited: bool,
    version: u64,
}

struct Machine {
    protocol: Protocol,
    life: u64,
    is_up: bool,
    /// Asleep or without network until then.
    asleep: i64,
    cut: i64,
    /// How far its wall clock is off, and where its monotonic clock began; that goes faster or slower by parts in a million.
    off: i64,
    booted: i64,
    drift: i64,
    /// Its copy of the note: by due time, with the version of each line.
    copy: BTreeSet<(i64, usize)>,
    versions: HashMap<usize, u64>,
    /// The local journal, which outlives a kill: what may have been sent, and what was.
    sending: BTreeSet<String>,
    sent: BTreeSet<String>,
    /// Lines that it told, and that stand in its copy until that is marked.
    unwritten: Vec<usize>,
    highest: u64,
    /// The operation of the engine that is under way.
    op: Option<u64>,
    /// Keys on their way to the channel, or worked on, in this life.
    busy: BTreeSet<String>,
    waiting: Vec<(u64, Outcome)>,
    step_at: Option<i64>,
    nonces: u64,
}

pub struct World {
    pub now: i64,
    pub random: Random,
    pub faults: Faults,
    timing: Timing,
    healed: bool,
    queue: BTreeMap<(i64, u64), Event>,
    count: u64,
    entries: Entries,
    machines: Vec<Machine>,
    pub lines: Vec<Line>,
    by_key: HashMap<String, usize>,
    messages: Vec<String>,
    /// How often each was told.
    pub told: BTreeMap<String, u32>,
    told_at: HashMap<String, i64>,
    /// The latest that a line without an edit was told after it was due.
    pub latest: i64,
    pub requests: u64,
}

impl World {
    pub fn new(seed: u64, timing: Timing, faults: Faults) -> Self {
        let mut random = Random::new(seed);
        let machine = |at: usize, random: &mut Random| Machine {
            protocol: Protocol::new(own_machine(at), timing, 0),
            life: 0,
            is_up: true,
            asleep: 0,
            cut: 0,
            off: if faults.clocks { random.below(20 * MINUTE) - 10 * MINUTE } else { 0 },
            booted: -random.below(DAY),
            drift: random.below(200) - 100,
            copy: BTreeSet::new(),
            versions: HashMap::new(),
            sending: BTreeSet::new(),
            sent: BTreeSet::new(),
            unwritten: Vec::new(),
            highest: 0,
            op: None,
            busy: BTreeSet::new(),
            waiting: Vec::new(),
            step_at: None,
            nonces: 0,
        };
        let machines = (0..MACHINES).map(|at| machine(at, &mut random)).collect();
        let mut world = Self {
            now: 0,
            random,
            faults,
            timing,
            healed: false,
            queue: BTreeMap::new(),
            count: 0,
            entries: Entries::new(),
            machines,
            lines: Vec::new(),
            by_key: HashMap::new(),
            messages: Vec::new(),
            told: BTreeMap::new(),
            told_at: HashMap::new(),
            latest: i64::MIN,
            requests: 0,
        };
        (0..MACHINES).for_each(|at| world.step_again(at, 0));
        world
    }

    fn push(&mut self, at: i64, event: Event) {
        self.count += 1;
        self.queue.insert((at.max(self.now), self.count), event);
    }

    pub fn run(&mut self, until: i64) {
        while let Some(next) = self.queue.first_entry().filter(|next| next.key().0 <= until) {
            self.now = next.key().0;
            let event = next.remove();
            assert!(self.count < 3_000_000, "the world doesn't come to rest at {}", self.now);
            self.happen(event);
        }
        self.now = until;
    }

    fn happen(&mut self, event: Event) {
        match event {
            // A step that was put off, a line that changed since, and a thought of an earlier life.
            Event::Step(at) if self.machines[at].step_at != Some(self.now) => {}
            Event::Sync { line, version, .. } if self.lines[line].version != version => {}
            Event::Thought { by, life, .. } if self.machines[by].life != life => {}
            Event::Step(at) => {
                self.machines[at].step_at = None;
                self.step(at);
            }
            Event::Sync { at, line, is_there, .. } => {
                self.brought(at, line, is_there);
                self.step(at);
            }
            Event::Edit { at, line, is_there } => self.edited(at, line, is_there),
            Event::Read { by, op } => self.back(by, op, Outcome::Read(Some(self.entries.clone()))),
            Event::Swap { by, op, attempt } => {
                let answer = apply(&mut self.entries, &attempt.changes);
                self.back(by, op, Outcome::Swap(attempt, Ok(answer)));
            }
            Event::Back { by, op, outcome } => self.heard(by, op, outcome),
            Event::Arrive { key } => self.arrived(&key),
            Event::Sent { by, life, key, known, until } => {
                self.sent(by, life, &key, known && (self.now <= until || self.may_send(by, &key)));
            }
            Event::Thought { by, key, .. } => {
                self.machines[by].busy.remove(&key);
                self.send(by, &key);
                self.step(by);
            }
            Event::Message(number) => {
                self.messages[number] = claim_key(&format!("turn-{number}"), "discord");
                (0..MACHINES).for_each(|at| self.step(at));
            }
            Event::Kill(..) | Event::Suspend(..) | Event::Cut(..) | Event::Jump(_) if self.healed => {}
            Event::Kill(at, length) => {
                self.machines[at].is_up = false;
                self.machines[at].highest = self.machines[at].protocol.highest();
                self.push(self.now + length, Event::Up(at));
            }
            Event::Up(at) => {
                if !self.machines[at].is_up {
                    let machine = &mut self.machines[at];
                    machine.protocol = Protocol::new(own_machine(at), self.timing, machine.highest);
                    (machine.is_up, machine.op) = (true, None);
                    machine.life += 1;
                    machine.busy.clear();
                    machine.waiting.clear();
                }
                self.woken(at);
            }
            Event::Suspend(at, length) => {
                self.machines[at].asleep = self.now + length;
                self.push(self.now + length, Event::Up(at));
            }
            Event::Cut(at, length) => self.machines[at].cut = self.now + length,
            Event::Jump(at) => self.machines[at].off = self.random.below(20 * MINUTE) - 10 * MINUTE,
        }
    }
}
