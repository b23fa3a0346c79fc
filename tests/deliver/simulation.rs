//! A season in the life of a vault: random reminders, a person who edits, a clock that steps, a place
//! that fails, and crashes; and at the end everything that was due has come, once.

use crate::deliver::world::*;

use jiff::{civil, tz::TimeZone};
use proptest::prelude::*;

use crate::deliver::crashes::{STEPS, tick_until};

/// What happens next.
#[derive(Debug, Clone)]
enum Event {
    /// So many seconds go by; negative puts the clock back.
    Clock(i64),
    /// The next messages meet these faults.
    Faults(Vec<Fault>),
    /// A pass, run to its end or to a step.
    Tick,
    Daemon,
    Crash(usize, usize),
    /// The person writes a new reminder: so many minutes ahead, how it recurs, and whether it has an id.
    Add(i64, usize, bool),
    /// The person writes a line of their own at the top.
    Note,
    /// An old copy of the whole file is saved over it.
    Stale,
    /// The person deletes the n-th reminder.
    Delete(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let fault = prop_oneof![
        Just(Fault::None),
        Just(Fault::LostAnswer),
        Just(Fault::Nothing),
        Just(Fault::Unreachable(None)),
        Just(Fault::Unreachable(Some(std::time::Duration::from_secs(20)))),
    ];
    prop_oneof![
        4 => (1i64..180).prop_map(Event::Clock),
        1 => (180i64..40_000).prop_map(Event::Clock),
        1 => (-7200i64..0).prop_map(Event::Clock),
        2 => prop::collection::vec(fault, 1..4).prop_map(Event::Faults),
        4 => Just(Event::Tick),
        3 => Just(Event::Daemon),
        4 => (0..STEPS.len(), 0usize..3).prop_map(|(step, nth)| Event::Crash(step, nth)),
        4 => (-3i64..30, 0usize..4, any::<bool>()).prop_map(|(ahead, recur, with_id)| Event::Add(ahead, recur, with_id)),
        1 => Just(Event::Note),
        2 => Just(Event::Stale),
        1 => (0usize..6).prop_map(Event::Delete),
    ]
}

/// What the test knows of one reminder that the person wrote.
#[derive(Debug, Clone)]
struct Written {
    at: Timestamp,
    recurring: bool,
    /// The person took it out before it was sure to have been seen.
    deleted: bool,
}

struct Season {
    world: World,
    written: BTreeMap<String, Written>,
    notes: BTreeSet<String>,
    stale: Option<(String, BTreeSet<String>)>,
    count: usize,
}

impl Season {
    fn new() -> Self {
        let world = World::new("2026-10-24T21:10:00Z", "# Reminders\n");
        Self { world, written: BTreeMap::new(), notes: BTreeSet::new(), stale: None, count: 0 }
    }

    fn step(&mut self, event: &Event) {
        match event {
            Event::Clock(seconds) => {
                self.world.later(SignedDuration::from_secs(*seconds));
            }
            Event::Faults(faults) => faults.iter().for_each(|fault| self.world.place.fault(fault.clone())),
            Event::Tick => drop(self.world.tick()),
            Event::Daemon => drop(self.world.pass(PassMode::Daemon)),
            Event::Crash(step, nth) => drop(tick_until(&mut self.world, *step, *nth)),
            Event::Add(minutes, recur, with_id) => self.add(*minutes, *recur, *with_id),
            Event::Note => {
                let note = format!("note {}", self.count);
                self.count += 1;
                self.world.write(format!("{note}\n{}", self.world.read()));
                self.notes.insert(note);
            }
            Event::Stale => self.stale(),
            Event::Delete(nth) => self.delete(*nth),
        }
    }

    fn add(&mut self, minutes: i64, recur: usize, with_id: bool) {
        // No two are alike: in the place of one that was told, an alike one is the same in other words.
        let name = format!("{:08x}", (self.count as u32 + 1).wrapping_mul(0x9e37_79b1));
        self.count += 1;
        let at = self.world.clock.now() + SignedDuration::from_mins(minutes);
        // To the minute, and never in the hour that comes twice: there the line means the earlier one.
        let local = at.to_zoned(TimeZone::get("Europe/London").unwrap());
        let local: civil::DateTime = local.datetime().date().at(local.hour(), local.minute(), 0, 0);
        let at = vault_agent::schedule::resolve(&self.world.settings.zone, local);
        let recurs = ["none", "daily", "weekly", "monthly"][recur];
        let id = || format!("AAAAAAAAA{:03}", self.count).replace(['0', '1', '8', '9'], "Z");
        let id = with_id.then(id).filter(|id| !self.world.read().contains(id)).unwrap_or_default();
        let text = line(&local.date().to_string(), &local.strftime("%H:%M").to_string(), recurs, &name, &id);
        self.world.write(self.world.read() + &text);
        self.written.insert(name, Written { at, recurring: recur > 0, deleted: false });
    }

    /// What is in the old copy and not in the file was deleted since, or fired; what is in the file and
    /// not in the copy is lost to the person's own save, not to us.
    fn stale(&mut self) {
        let now = self.world.read();
        if let Some((old, notes)) = self.stale.take() {
            for (name, written) in &mut self.written {
                let was_there = |text: &str| text.contains(&format!("\"{name}\""));
                if was_there(&now) && !was_there(&old) {
                    written.deleted = true;
                }
            }
            self.notes = notes;
            self.world.write(old);
        }
        self.stale = Some((self.world.read(), self.notes.clone()));
    }

    fn delete(&mut self, nth: usize) {
        let text = self.world.read();
        let Some(line) = text.lines().filter(|line| line.starts_with("- [ ]")).nth(nth) else { return };
        let name = line.split('"').nth(1).unwrap().to_owned();
        let rest: String = text.split_inclusive('\n').filter(|other| other.trim_end() != line).collect();
        self.world.write(rest);
        self.written.get_mut(&name).unwrap().deleted = true;
    }

    /// Everything calms down; then all promises are looked at.
    fn end(mut self) -> Result<(), TestCaseError> {
        self.world.place.faults.lock().unwrap().clear();
        let latest = self.written.values().map(|written| written.at).max();
        let now =
            self.world.clock.now().max(latest.unwrap_or(Timestamp::MIN)) + SignedDuration::from_mins(11);
        self.world.clock.set(now);
        for _ in 0..3 {
            self.world.tick();
            self.world.later(SignedDuration::from_mins(11));
        }
        let mut times: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for message in self.world.place.arrived.lock().unwrap().iter() {
            message.facts.iter().for_each(|fact| *times.entry(fact.clone()).or_default() += 1);
            for name in self.written.keys().filter(|name| message.text.contains(name.as_str())) {
                *names.entry(name.clone()).or_default() += 1;
            }
        }
        for (key, count) in &times {
            prop_assert_eq!(*count, 1, "{:?} came {} times: {:#?}", key, count, self.world.place.texts());
        }
        let text = self.world.read();
        for (name, written) in &self.written {
            let came = names.get(name).copied().unwrap_or(0);
            if !written.deleted {
                prop_assert!(came >= 1, "{name} never came: {text}");
            }
            if !written.recurring {
                prop_assert!(came <= 1, "{name} came {came} times: {:#?}", self.world.place.texts());
                prop_assert!(!text.contains(&format!("\"{name}\"")), "{name} is still there: {text}");
            }
        }
        for note in &self.notes {
            prop_assert!(text.lines().any(|line| line == note), "{note} is lost: {text}");
        }
        prop_assert!(text.contains("# Reminders"));
        Ok(())
    }
}

/// A short run by default; `PROPTEST_CASES=2000` for a long one.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_missed_and_nothing_comes_twice(events in prop::collection::vec(event(), 1..40)) {
        let mut season = Season::new();
        events.iter().for_each(|event| season.step(event));
        season.end()?;
    }
}
