//! A world of three machines in simulated time: one event after the other, the same for the same seed.
//!
//! It drives the program's own [`Protocol`]. Everything around it is played: the engine and the network, the channel on which
//! things are told, the sync tool, clocks, kills, suspensions and the local journals.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::time::Duration;

use vault_agent::machines::engine::{Entries, Swapped, apply, standing};
use vault_agent::machines::protocol::{
    Answer, Attempt, May, Me, Now, Protocol, Right, Timing, Wanted, claim_key,
};

pub const SECOND: i64 = 1000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;
pub const MACHINES: usize = 3;
/// After this the caller of an engine or channel gives up.
const TIMEOUT: i64 = 15 * SECOND;

/// A small generator of numbers (xorshift64*).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..4).for_each(|_| {
            random.next();
        });
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// From 0 to `end`, without `end`.
    pub fn below(&mut self, end: i64) -> i64 {
        (self.next() % end.max(1).unsigned_abs()).cast_signed()
    }

    pub fn one_in(&mut self, n: i64) -> bool {
        self.below(n) == 0
    }

    /// A length whose size is any, from milliseconds to `most`.
    pub fn any_length(&mut self, most: i64) -> i64 {
        let bits = self.below(64 - i64::from(most.leading_zeros()));
        self.below(most.min(2 << bits))
    }
}

/// What goes wrong in a world.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// The longest delay of the sync tool.
    pub sync: i64,
    /// Clocks are off, and jump.
    pub clocks: bool,
    pub partitions: bool,
    pub kills: bool,
    pub suspends: bool,
    /// Requests and answers of the engine and the channel are lost or late.
    pub losses: bool,
}

#[derive(Debug)]
enum Event {
    Step(usize),
    /// The sync tool brings a line, or takes it out.
    Sync {
        at: usize,
        line: usize,
        is_there: bool,
        version: u64,
    },
    Read {
        by: usize,
        op: u64,
    },
    Swap {
        by: usize,
        op: u64,
        attempt: Attempt,
    },
    /// What an operation of the engine brought, at its caller's.
    Back {
        by: usize,
        op: u64,
        outcome: Outcome,
    },
    /// Something arrives at the channel.
    Arrive {
        key: String,
    },
    Sent {
        by: usize,
        life: u64,
        key: String,
        known: bool,
    },
    Thought {
        by: usize,
        life: u64,
        key: String,
    },
    Edit {
        at: usize,
        line: usize,
        is_there: bool,
    },
    Message(usize),
    Kill {
        at: usize,
        down: i64,
    },
    Up(usize),
    Suspend {
        at: usize,
        length: i64,
    },
    Cut {
        at: usize,
        length: i64,
    },
    Jump(usize),
}

#[derive(Debug)]
enum Outcome {
    Read(Option<Entries>),
    Swap(Attempt, Answer),
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
    highest: u64,
    /// The operation of the engine that is under way.
    op: Option<u64>,
    /// What is on its way to the channel or is worked on, in this life.
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
    queue: BinaryHeap<Reverse<(i64, u64)>>,
    events: HashMap<u64, Event>,
    count: u64,
    entries: Entries,
    machines: Vec<Machine>,
    pub lines: Vec<Line>,
    by_key: HashMap<String, usize>,
    messages: Vec<String>,
    /// How often each was told.
    pub told: BTreeMap<String, u32>,
    told_at: HashMap<String, i64>,
    /// The latest that a line that nobody edited was told after it was due.
    pub latest: i64,
    pub requests: u64,
}

/// What a machine's local journal says was sent, and the entries don't.
fn protocol_left(protocol: &Protocol, sent: &BTreeSet<String>) -> Vec<String> {
    protocol.left_open().into_iter().filter(|key| sent.contains(key)).collect()
}

fn me(at: usize) -> Me {
    Me {
        name: format!("m{at}"),
        machine: format!("id-{at}"),
        version: "1".into(),
        rank: u32::try_from(at).unwrap(),
    }
}

impl World {
    pub fn new(seed: u64, timing: Timing, faults: Faults) -> Self {
        let mut random = Random::new(seed);
        let machine = |at: usize, random: &mut Random| Machine {
            protocol: Protocol::new(me(at), timing, 0),
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
            queue: BinaryHeap::new(),
            events: HashMap::new(),
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
        self.queue.push(Reverse((at.max(self.now), self.count)));
        self.events.insert(self.count, event);
    }

    /// Somebody writes a line on a machine at `written`.
    pub fn line(&mut self, at: usize, written: i64, due: i64, can_ask: bool) -> usize {
        let line = self.lines.len();
        let key = claim_key(&format!("rid_{line:012}@due"), if can_ask { "discord" } else { "console" });
        self.by_key.insert(key.clone(), line);
        self.lines.push(Line { key, due, can_ask, is_removed: false, is_edited: false, version: 0 });
        self.edit(at, written, line, true);
        line
    }

    /// Somebody takes a line out, or writes it again.
    pub fn edit(&mut self, at: usize, when: i64, line: usize, is_there: bool) {
        self.push(when, Event::Edit { at, line, is_there });
    }

    pub fn message(&mut self, when: i64) {
        let number = self.messages.len();
        self.messages.push(String::new());
        self.push(when, Event::Message(number));
    }

    pub fn trouble(&mut self, end: i64) {
        let faults = self.faults;
        let part = end / 24;
        let each = |world: &mut Self, is_on: bool, between: i64, make: fn(&mut Random, usize) -> Event| {
            for at in (0..MACHINES).filter(|_| is_on) {
                let mut when = world.random.below(between);
                while when < end {
                    let event = make(&mut world.random, at);
                    world.push(when, event);
                    when += world.random.below(2 * between) + 1;
                }
            }
        };
        each(self, faults.kills, 2 * part, |random, at| Event::Kill {
            at,
            down: random.any_length(12 * HOUR),
        });
        each(self, faults.suspends, 2 * part, |random, at| Event::Suspend {
            at,
            length: random.any_length(8 * HOUR),
        });
        each(self, faults.partitions, 3 * part, |random, at| Event::Cut {
            at,
            length: random.any_length(4 * HOUR),
        });
        each(self, faults.clocks, 6 * part, |_, at| Event::Jump(at));
    }

    /// From now on nothing goes wrong any more.
    pub fn heal(&mut self) {
        (self.healed, self.faults) = (true, Faults { sync: MINUTE, ..Faults::default() });
        for at in 0..MACHINES {
            let machine = &mut self.machines[at];
            (machine.off, machine.cut, machine.asleep) = (0, 0, 0);
            self.push(self.now, Event::Up(at));
        }
    }

    pub fn run(&mut self, until: i64) {
        while let Some(Reverse((at, id))) = self.queue.peek().copied().filter(|Reverse((at, _))| *at <= until)
        {
            self.queue.pop();
            self.now = at;
            assert!(self.count < 3_000_000, "the world doesn't come to rest at {at}");
            let event = self.events.remove(&id).unwrap();
            self.happen(event);
        }
        self.now = until;
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Step(at) => {
                if self.machines[at].step_at == Some(self.now) {
                    self.machines[at].step_at = None;
                    self.step(at);
                }
            }
            Event::Sync { at, line, is_there, version } => {
                if self.lines[line].version == version {
                    self.brought(at, line, is_there);
                    self.step(at);
                }
            }
            Event::Edit { at, line, is_there } => {
                if !self.healed && (!self.lines[line].is_removed || is_there) {
                    let was_told = self.told.contains_key(&self.lines[line].key);
                    if is_there && was_told {
                        return;
                    }
                    self.lines[line].is_removed = !is_there;
                    self.lines[line].is_edited |= self.lines[line].version > 0;
                    self.spread(at, line, is_there);
                    self.step(at);
                }
            }
            Event::Read { by, op } => {
                let entries = self.entries.clone();
                self.back(by, op, Outcome::Read(Some(entries)));
            }
            Event::Swap { by, op, attempt } => {
                let answer = if apply(&mut self.entries, &attempt.changes) {
                    Swapped::Done
                } else {
                    Swapped::Lost(standing(&self.entries, &attempt.changes))
                };
                self.back(by, op, Outcome::Swap(attempt, Answer::Swapped(answer)));
            }
            Event::Back { by, op, outcome } => self.heard(by, op, outcome),
            Event::Arrive { key } => {
                // What can be asked knows the nonces of the last minute, too.
                let before = self.told_at.insert(key.clone(), self.now);
                if self.can_ask(&key) && before.is_some_and(|before| self.now < before + MINUTE) {
                    return;
                }
                *self.told.entry(key.clone()).or_default() += 1;
                if let Some(line) = self.by_key.get(&key) {
                    let line = &self.lines[*line];
                    if !line.is_edited {
                        self.latest = self.latest.max(self.now - line.due);
                    }
                }
            }
            Event::Sent { by, life, key, known } => self.sent(by, life, &key, known),
            Event::Thought { by, life, key } => {
                if self.machines[by].life == life {
                    self.machines[by].busy.remove(&key);
                    self.send(by, &key);
                    self.step(by);
                }
            }
            Event::Message(number) => {
                self.messages[number] = claim_key(&format!("turn-{number}"), "discord");
                (0..MACHINES).for_each(|at| self.step(at));
            }
            Event::Kill { .. } | Event::Suspend { .. } | Event::Cut { .. } | Event::Jump(_)
                if self.healed => {}
            Event::Kill { at, down } => {
                self.machines[at].is_up = false;
                self.machines[at].highest = self.machines[at].protocol.highest();
                self.push(self.now + down, Event::Up(at));
            }
            Event::Up(at) => {
                if !self.machines[at].is_up {
                    let machine = &mut self.machines[at];
                    machine.protocol = Protocol::new(me(at), self.timing, machine.highest);
                    (machine.is_up, machine.op) = (true, None);
                    machine.life += 1;
                    machine.busy.clear();
                    machine.waiting.clear();
                }
                self.woken(at);
            }
            Event::Suspend { at, length } => {
                self.machines[at].asleep = self.now + length;
                self.push(self.now + length, Event::Up(at));
            }
            Event::Cut { at, length } => self.machines[at].cut = self.now + length,
            Event::Jump(at) => self.machines[at].off = self.random.below(20 * MINUTE) - 10 * MINUTE,
        }
    }

    fn woken(&mut self, at: usize) {
        for (op, outcome) in std::mem::take(&mut self.machines[at].waiting) {
            self.heard(at, op, outcome);
        }
        self.step(at);
    }

    /// A machine changed a line of its copy; the sync tool brings it to the others.
    fn spread(&mut self, from: usize, line: usize, is_there: bool) {
        self.lines[line].version += 1;
        let version = self.lines[line].version;
        self.brought(from, line, is_there);
        for at in (0..MACHINES).filter(|at| *at != from) {
            let delay = self.random.any_length(self.faults.sync.max(1));
            self.push(self.now + delay, Event::Sync { at, line, is_there, version });
        }
    }

    fn brought(&mut self, at: usize, line: usize, is_there: bool) {
        let (key, due) = (self.lines[line].key.clone(), self.lines[line].due);
        let clock = self.clock(at);
        let machine = &mut self.machines[at];
        machine.versions.insert(line, self.lines[line].version);
        if is_there {
            if machine.copy.insert((due, line)) && machine.is_up {
                machine.protocol.line_came_back(&key, clock);
            }
        } else if machine.copy.remove(&(due, line)) && machine.is_up && !machine.sent.contains(&key) {
            machine.protocol.line_went(&key);
        }
    }

    fn can_ask(&self, key: &str) -> bool {
        self.by_key.get(key).is_none_or(|line| self.lines[*line].can_ask)
    }

    fn clock(&self, at: usize) -> Duration {
        let machine = &self.machines[at];
        let gone = self.now - machine.booted;
        Duration::from_millis((gone + gone / 1_000_000 * machine.drift).unsigned_abs())
    }

    fn runs(&self, at: usize) -> bool {
        self.machines[at].is_up && self.machines[at].asleep <= self.now
    }

    /// What a machine would send now or soon, and what of it is due.
    fn wanted(&self, at: usize) -> Vec<(Wanted, bool)> {
        let machine = &self.machines[at];
        let wall = self.now + machine.off;
        let soon = machine.copy.range(..(wall + MINUTE + 1, 0)).map(|(due, line)| {
            let right = Right::Any { due_in: due - wall };
            (Wanted { key: self.lines[*line].key.clone(), right, within: None }, *due <= wall)
        });
        let clock = self.clock(at);
        let said = self.messages.iter().filter(|key| !key.is_empty() && machine.protocol.is_voice(clock));
        let said = said.map(|key| (Wanted { key: key.clone(), right: Right::Voice, within: None }, true));
        let is_over =
            |key: &str| machine.sent.contains(key) || machine.protocol.may(key, clock) == May::Never;
        soon.chain(said).filter(|(wanted, _)| !is_over(&wanted.key)).collect()
    }

    /// What a machine does when it has its turn.
    fn step(&mut self, at: usize) {
        if !self.runs(at) {
            return;
        }
        let wanted = self.wanted(at);
        for (wanted, _) in wanted.iter().filter(|(_, is_due)| *is_due) {
            if wanted.right == Right::Voice {
                self.think(at, &wanted.key);
            } else {
                self.send(at, &wanted.key);
            }
        }
        let wanted: Vec<Wanted> = wanted.into_iter().map(|(wanted, _)| wanted).collect();
        let clock = self.clock(at);
        if self.machines[at].op.is_none() {
            self.ask(at, clock, &wanted);
        }
        let mut wake = self.machines[at].protocol.wake_at(clock, &wanted);
        if self.machines[at].op.is_some() {
            wake = clock + Duration::from_secs(20);
        }
        let mut next = self.now + i64::try_from((wake - clock).as_millis()).unwrap().max(10);
        let wall = self.now + self.machines[at].off;
        for start in [wall, wall + MINUTE] {
            let due = self.machines[at].copy.range((start + 1, 0)..).next();
            next = due.map_or(next, |(due, _)| next.min(self.now + due - start));
        }
        self.step_again(at, next);
    }

    fn step_again(&mut self, at: usize, when: i64) {
        if self.machines[at].step_at.is_none_or(|step| step > when) {
            self.machines[at].step_at = Some(when);
            self.push(when, Event::Step(at));
        }
    }

    /// Asks the engine, if there is something to ask.
    fn ask(&mut self, at: usize, clock: Duration, wanted: &[Wanted]) {
        let wall_ms = self.now + self.machines[at].off;
        let machine = &mut self.machines[at];
        let must_read = machine.protocol.must_read(clock);
        let (life, nonces) = (machine.life, &mut machine.nonces);
        let mut nonce = || {
            *nonces += 1;
            format!("{at}-{life}-{nonces}")
        };
        let attempt = if must_read {
            None
        } else {
            machine.protocol.attempt(Now { clock, wall_ms }, wanted, &mut nonce)
        };
        if !must_read && attempt.is_none() {
            return;
        }
        self.count += 1;
        let op = self.count;
        self.machines[at].op = Some(op);
        self.requests += 1;
        let late = self.faults.losses && self.random.one_in(20);
        let there = self.now + if late { self.random.below(MINUTE) } else { self.random.below(400) };
        let is_lost = self.faults.losses && self.random.one_in(20);
        let is_cut = self.machines[at].cut > self.now;
        let failed = match &attempt {
            None => Outcome::Read(None),
            Some(attempt) => {
                Outcome::Swap(attempt.clone(), if is_cut { Answer::NotMade } else { Answer::Unknown })
            }
        };
        let gives_up = if is_cut { self.now + SECOND } else { self.now + TIMEOUT };
        self.push(gives_up, Event::Back { by: at, op, outcome: failed });
        if !is_cut && !is_lost {
            let event = match attempt {
                None => Event::Read { by: at, op },
                Some(attempt) => Event::Swap { by: at, op, attempt },
            };
            self.push(there, event);
        }
    }

    fn back(&mut self, by: usize, op: u64, outcome: Outcome) {
        let is_cut = self.machines[by].cut > self.now;
        if !(is_cut || self.faults.losses && self.random.one_in(20)) {
            let delay = self.random.below(400);
            self.push(self.now + delay, Event::Back { by, op, outcome });
        }
    }

    fn heard(&mut self, by: usize, op: u64, outcome: Outcome) {
        if !self.machines[by].is_up || self.machines[by].op != Some(op) {
            return;
        }
        if !self.runs(by) {
            self.machines[by].waiting.push((op, outcome));
            return;
        }
        self.machines[by].op = None;
        let clock = self.clock(by);
        let protocol = &mut self.machines[by].protocol;
        match outcome {
            Outcome::Read(None) => {
                // It tries again later.
                self.step_again(by, self.now + 5 * SECOND);
                return;
            }
            Outcome::Read(Some(entries)) => {
                protocol.heard(entries, clock);
                let sent = &self.machines[by].sent;
                let mine = protocol_left(&self.machines[by].protocol, sent);
                mine.iter().for_each(|key| self.machines[by].protocol.told(key));
            }
            Outcome::Swap(attempt, Answer::NotMade) => {
                protocol.answered(attempt, Answer::NotMade, clock);
                self.step_again(by, self.now + 5 * SECOND);
                return;
            }
            Outcome::Swap(attempt, answer) => protocol.answered(attempt, answer, clock),
        }
        self.step(by);
    }

    /// Works on an answer.
    fn think(&mut self, at: usize, key: &str) {
        let clock = self.clock(at);
        let machine = &self.machines[at];
        if !machine.busy.contains(key) && matches!(machine.protocol.may(key, clock), May::Yes { .. }) {
            let (life, took) = (machine.life, self.random.below(2 * MINUTE));
            self.machines[at].busy.insert(key.to_owned());
            self.push(self.now + took, Event::Thought { by: at, life, key: key.to_owned() });
        }
    }

    /// Sends what this machine may send.
    fn send(&mut self, at: usize, key: &str) {
        let clock = self.clock(at);
        let can_ask = self.can_ask(key);
        let machine = &mut self.machines[at];
        let May::Yes { ask, left } = machine.protocol.may(key, clock) else { return };
        if machine.busy.contains(key) {
            return;
        }
        let life = machine.life;
        if can_ask && (ask || machine.sending.contains(key)) && self.told.contains_key(key) {
            self.sent(at, life, key, true);
            return;
        }
        machine.sending.insert(key.to_owned());
        machine.busy.insert(key.to_owned());
        let most = i64::try_from(left.as_millis()).unwrap().min(TIMEOUT);
        let late = self.faults.losses && self.random.one_in(20);
        let took = self.random.below(if late { most } else { most.min(300) });
        let is_lost = self.faults.losses && self.random.one_in(20);
        if !is_lost {
            self.push(self.now + took, Event::Arrive { key: key.to_owned() });
        }
        let known = !(is_lost || self.faults.losses && self.random.one_in(10));
        let back = if known { took + self.random.below(300) } else { TIMEOUT };
        self.push(self.now + back, Event::Sent { by: at, life, key: key.to_owned(), known });
    }

    fn sent(&mut self, by: usize, life: u64, key: &str, known: bool) {
        if self.machines[by].life != life || !self.machines[by].is_up {
            return;
        }
        self.machines[by].busy.remove(key);
        if known {
            self.machines[by].sent.insert(key.to_owned());
            self.machines[by].protocol.told(key);
            if let Some(line) = self.by_key.get(key).copied() {
                self.spread(by, line, false);
            }
        }
        self.step_again(by, self.now);
    }
}
