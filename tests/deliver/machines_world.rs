//! Plays a world of several machines in which anything goes wrong: passes, a sync tool, an engine and a place, by seeds.

use crate::deliver::world::*;

use crate::deliver::{machines::Several, memory::Fault as Cut};

/// What a sync tool knows: which version each machine has, and what is on its way. Of two versions the newer wins, as with
/// a tool that keeps the other one aside.
struct Sync {
    versions: Vec<(u64, String)>,
    /// The version from which each version was made.
    parents: Vec<u64>,
    underway: Vec<(Timestamp, usize, u64, String)>,
    /// How often a note was changed on both sides.
    conflicts: usize,
}

impl Sync {
    fn new(machines: usize, text: &str) -> Self {
        let versions = vec![(0, text.to_owned()); machines];
        Self { versions, parents: vec![0], underway: Vec::new(), conflicts: 0 }
    }

    fn comes_from(&self, mut version: u64, earlier: u64) -> bool {
        while version > earlier {
            version = self.parents[usize::try_from(version).unwrap()];
        }
        version == earlier
    }

    /// Looks at the copies, and brings what is to arrive by `now`.
    fn run(&mut self, all: &[World], now: Timestamp, delay: &mut dyn FnMut() -> i64) {
        for (at, world) in all.iter().enumerate() {
            let text = world.read();
            if text != self.versions[at].1 {
                let newest = u64::try_from(self.parents.len()).unwrap();
                self.parents.push(self.versions[at].0);
                self.versions[at] = (newest, text.clone());
                for other in (0..all.len()).filter(|other| *other != at) {
                    let when = now.saturating_add(SignedDuration::from_secs(delay())).unwrap();
                    self.underway.push((when, other, newest, text.clone()));
                }
            }
        }
        let (mut arrived, later): (Vec<_>, Vec<_>) =
            self.underway.drain(..).partition(|(when, ..)| *when <= now);
        self.underway = later;
        arrived.sort_by_key(|(_, _, version, _)| *version);
        for (_, at, version, text) in arrived {
            let here = &self.versions[at];
            if here.1 != text && !self.comes_from(version.max(here.0), version.min(here.0)) {
                self.conflicts += 1;
            }
            if version > here.0 {
                all[at].write(&text);
                self.versions[at] = (version, text);
            }
        }
    }
}

const LINES: u8 = 6;

/// One world: how often each was told, and how often a note was changed on both sides. In a mild one no machine is away
/// for long, and the sync tool takes a minute at most.
fn run(seed: u64, is_mild: bool) -> (BTreeMap<String, usize>, usize) {
    let mut random = Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let count = 2 + random.usize(..2);
    let text: String = (0..LINES)
        .map(|at| {
            let minute = format!("09:{:02}", random.u64(..if is_mild { 8 } else { 40 }));
            line("2026-12-01", &minute, "none", &format!("Thing {at}"), &id((b'A' + at) as char))
        })
        .collect();
    let mut several = Several::with(|| World::new("2026-12-01T08:58:00Z", &text), count, false);
    let mut sync = Sync::new(count, &text);
    let slow = [1, 20, if is_mild { 60 } else { 600 }][random.usize(..3)];
    let longest = if is_mild { 240 } else { 1500 };
    let end: Timestamp = "2026-12-01T09:45:00Z".parse().unwrap();
    let mut away = vec![several.now(); count];
    while several.now() < end {
        several.all[0].later(SignedDuration::from_secs([3, 20, 37][random.usize(..3)]));
        let now = several.now();
        for (at, back) in away.iter_mut().enumerate() {
            if *back > now {
                continue;
            }
            match random.u64(..60) {
                0 => *back = now + SignedDuration::from_secs(random.u64(..longest).cast_signed()),
                1 => {
                    several.all[at].memory = PassState::default();
                    several.start(at);
                }
                2 => several.engines[at].cut(true),
                3..8 => several.engines[at].cut(false),
                _ => {}
            }
            if random.u8(..12) == 0 {
                let faults = [Cut::LostAnswer, Cut::LostRequest, Cut::Unreachable, Cut::Refused];
                several.engines[at].next([faults[random.usize(..4)]]);
            }
            if random.u8(..12) == 0 {
                let faults = [Fault::LostAnswer, Fault::Nothing, Fault::Unreachable(None)];
                several.all[at].place.fault(faults[random.usize(..3)].clone());
            }
            several.all[at].pass(PassMode::Daemon);
            if random.u8(..4) > 0 {
                several.ask(at);
            }
        }
        sync.run(&several.all, now, &mut || random.u64(..slow).cast_signed());
    }
    several.engines.iter().for_each(|engine| engine.cut(false));
    several.all[0].place.faults.lock().unwrap().clear();
    for _ in 0..40 {
        several.all[0].later(SignedDuration::from_secs(60));
        let now = several.now();
        (0..count).for_each(|at| several.watch(at));
        sync.run(&several.all, now, &mut || 1);
    }
    several.all.iter().for_each(|world| assert_eq!(world.read(), "", "seed {seed}: a line stands"));
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for arrived in several.all[0].place.arrived.lock().unwrap().iter() {
        arrived.facts.iter().for_each(|(id, _)| *told.entry(id.clone()).or_default() += 1);
    }
    (told, sync.conflicts)
}

fn check(seeds: std::ops::Range<u64>, is_mild: bool) {
    for seed in seeds {
        let (told, conflicts) = run(seed, is_mild);
        assert!(!is_mild || conflicts == 0, "seed {seed}: {conflicts} conflicts");
        assert_eq!(told.len(), usize::from(LINES), "seed {seed}: missed: {told:?}");
        assert!(told.values().all(|count| *count == 1), "seed {seed}: twice: {told:?}");
    }
}

#[test]
fn nothing_is_missed_and_nothing_comes_twice_whatever_goes_wrong() {
    check(0..4, false);
}

#[test]
fn no_note_is_changed_on_both_sides_while_no_machine_is_away_for_long() {
    check(0..4, true);
}

#[test]
#[ignore = "minutes"]
fn two_hundred_worlds() {
    check(4..204, false);
}

#[test]
#[ignore = "minutes"]
fn two_hundred_mild_worlds() {
    check(4..204, true);
}
