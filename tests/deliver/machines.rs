//! Tests passes of several machines with one vault: each has its copy of the notes and its journal, and what they share is in memory.

use crate::deliver::world::*;
use vault_agent::deliver::delivery_journal::{DeliveryState, key};
use vault_agent::machines::JoinConfig;
pub use vault_agent::machines::engine::{EntryChange, StoreEngine, SwapOutcome};
use vault_agent::machines::protocol::{Timing, claim_key};

use crate::deliver::memory::{Fault as Cut, MemoryEngine};

/// Machines with the same notes, the same place and the same time; the first is preferred.
pub struct Several {
    pub all: Vec<World>,
    pub engines: Vec<MemoryEngine>,
    sends_when_cut_off: bool,
    /// Each takes itself for the preferred one.
    are_all_first: bool,
}

impl Several {
    fn new(count: usize, now: &str, reminders: &str) -> Self {
        Self::with(|| World::new(&instant(now), reminders), count, false)
    }

    /// So many that tell a second place, too, a minute before tea.
    fn with_other(count: usize) -> Self {
        Self::with(|| World::new(&instant("09:29:00"), &tea()).with_other(), count, false)
    }

    pub fn with(make: impl Fn() -> World, count: usize, sends_when_cut_off: bool) -> Self {
        let store = MemoryEngine::new();
        let mut all: Vec<World> = (0..count).map(|_| make()).collect();
        let (clock, place, others) = (all[0].clock.clone(), all[0].place.clone(), all[0].others.clone());
        for world in &mut all {
            (world.clock, world.place, world.others) = (clock.clone(), place.clone(), others.clone());
        }
        let engines = (0..count).map(|_| store.connection()).collect();
        let mut several = Self { all, engines, sends_when_cut_off, are_all_first: false };
        (0..count).for_each(|at| several.start(at));
        several
    }

    /// A machine's program begins, for the first time or anew.
    pub fn start(&mut self, at: usize) {
        let world = &mut self.all[at];
        world.machines = Machines::join(JoinConfig {
            engine: Arc::new(self.engines[at].clone()) as Arc<dyn StoreEngine>,
            kind: "git",
            timing: Timing::GIT,
            name: format!("m{at}"),
            rank: if self.are_all_first { 0 } else { u32::try_from(at).unwrap() },
            vault: None,
            sends_when_cut_off: self.sends_when_cut_off,
            state: world.state(),
            clock: world.clock.clone(),
        })
        .unwrap();
    }

    /// The machine talks to what is shared.
    pub fn ask(&self, at: usize) {
        block_on(self.all[at].machines.catch_up());
    }

    /// Each in turn makes a pass and talks to what is shared, until nothing more comes of it; how much was told.
    fn settle(&mut self) -> usize {
        for _ in 0..3 {
            (0..self.all.len()).for_each(|at| self.turn(at));
        }
        self.told().len()
    }

    /// One machine makes a pass, and hears what is shared.
    fn turn(&mut self, at: usize) {
        self.all[at].tick();
        self.ask(at);
    }

    fn settle_at(&mut self, times: &[&str]) -> usize {
        times.iter().map(|now| self.at(now).settle()).last().unwrap()
    }

    /// One machine hears what is shared, and makes a pass.
    fn look(&mut self, at: usize) {
        self.ask(at);
        self.all[at].tick();
    }

    /// One machine's daemon makes a pass, and hears what is shared.
    pub fn watch(&mut self, at: usize) {
        self.all[at].pass(PassMode::Daemon);
        self.ask(at);
    }

    fn cut_all(&self, is_cut: bool) {
        self.engines.iter().for_each(|engine| engine.cut(is_cut));
    }

    fn at(&mut self, now: &str) -> &mut Self {
        self.all[0].at(&instant(now));
        self
    }

    pub fn now(&self) -> jiff::Timestamp {
        self.all[0].clock.now()
    }

    fn told(&self) -> Vec<String> {
        self.all[0].place.texts()
    }

    fn state(&self, at: usize, key: &str) -> Option<(DeliveryState, Option<String>)> {
        self.all[at].journal().row(key).unwrap().map(|row| (row.state, row.sender_machine))
    }
}

/// A time of 2026-12-01.
pub fn instant(time: &str) -> String {
    format!("2026-12-01T{time}Z")
}

fn tea() -> String {
    line("2026-12-01", "09:30", "none", "Tea", &id('A'))
}

fn tea_key() -> String {
    key(&format!("rid_{}", id('A')), "2026-12-01T09:30".parse().unwrap(), None)
}

/// Before its minute, in it, and when it was told.
fn through_the_minute(several: &mut Several) {
    several.at("09:29:00").settle();
    several.at("09:30:00").all.iter_mut().rev().for_each(|world| drop(world.tick()));
}

/// Two of which one has told a line that comes again; how it stood, and how the teller wrote it.
fn daily_told() -> (Several, String, String) {
    let daily = line("2026-12-01", "09:30", "daily", "Pills", &id('B'));
    let mut several = Several::new(2, "09:29:00", &daily);
    through_the_minute(&mut several);
    several.settle();
    let told = several.all[0].read();
    assert_eq!(several.all[1].read(), daily);
    assert_ne!(told, daily);
    (several, daily, told)
}

#[test]
fn one_machine_tells_in_the_minute_all_notifiers_and_the_others_leave_the_line() {
    let mut several = Several::with_other(3);
    through_the_minute(&mut several);
    assert_eq!((several.told().len(), several.all[0].other().len()), (1, 1));
    // It is not marked yet.
    assert_eq!(several.state(0, &tea_key()), Some((DeliveryState::Sent, None)));
    assert_eq!((several.settle(), several.all[0].other().len()), (1, 1));
    assert_eq!(several.state(0, &tea_key()), Some((DeliveryState::Done, None)));
    assert_eq!((several.all[0].read().as_str(), several.all[1].read()), ("", tea()));
    assert_eq!(several.state(2, &tea_key()), Some((DeliveryState::Sent, Some("m0".to_owned()))));
    // The sync tool brings what the teller wrote.
    several.all[1].write("");
    several.all[1].tick();
    assert_eq!(several.state(1, &tea_key()), Some((DeliveryState::Done, Some("m0".to_owned()))));
}

#[test]
fn a_machine_that_lacks_the_line_is_stood_in_for_in_the_same_minute() {
    let mut several = Several::new(2, "09:29:00", &tea());
    several.all[0].write("");
    assert_eq!(several.settle_at(&["09:29:00", "09:29:20", "09:30:00"]), 1);
    assert_eq!(several.all[1].read(), "");
}

#[test]
fn the_voice_rewrites_the_line_of_a_teller_that_is_away_as_it_would_have() {
    let (mut several, daily, told) = daily_told();
    // The teller is gone, and its copy with it; for ten minutes the line is its own.
    for (now, text) in [("09:35:00", &daily), ("09:38:59", &daily), ("09:39:00", &told)] {
        several.at(now).look(1);
        assert_eq!(several.all[1].read(), *text, "{now}");
    }
    assert_eq!(several.told().len(), 1);
}

/// An edit that the teller's copy didn't have yet, and then its copy again.
#[test]
fn the_voice_leaves_words_that_nobody_was_told() {
    const NOTES: [&str; 2] = ["Reminders.md", "COMMITMENTS.md"];
    let promise = "---\nid: c-1\nstatus: pending\ndue: 2026-12-01T09:30:00Z\n---\nAsk Kyle.\n".to_owned();
    let told = [tea(), promise];
    let edited = [told[0].replace("Tea", "Tea with Ida"), told[1].replace("Kyle.", "Kyle about the bill.")];
    let mut several = Several::new(2, "09:28:00", "");
    let write = |several: &Several, at: usize, texts: &[String; 2]| {
        NOTES.iter().zip(texts).for_each(|(note, text)| several.all[at].folder.write(note, text));
    };
    write(&several, 0, &told);
    write(&several, 1, &edited);
    through_the_minute(&mut several);
    assert_eq!(several.settle(), 2);
    write(&several, 0, &edited);
    for now in ["09:35:00", "09:39:00", "09:45:00", "09:55:00"] {
        several.at(now).look(1);
        several.look(1);
    }
    assert_eq!((NOTES.map(|note| several.all[1].folder.read(note)), several.told().len()), (edited, 2));
    assert!(several.told().iter().all(|text| !text.contains("Ida") && !text.contains("bill")));
}

/// A line that a person copied, or that a merge left beside its next one.
#[test]
fn an_id_that_stands_twice_in_one_copy_is_told_once() {
    let later = line("2026-12-01", "10:30", "none", "Call Bob", &id('A'));
    let daily = tea().replace("recur=none", "recur=daily");
    for first in [tea(), daily.clone()] {
        let mut several = Several::new(2, "09:28:00", &first);
        several.all[0].write(first + &later);
        for now in ["09:29:00", "09:29:20", "09:30:00", "09:40:00", "10:29:00", "10:30:00"] {
            let told = several.at(now).settle();
            assert_eq!(told, usize::from(now >= "09:30:00") + usize::from(now >= "10:30:00"), "{now}");
        }
    }
    // The last ones come at the same minute: the words of the second were told to nobody.
    let reworded = |text: &str| text.replace("Tea", "Tea with Ida");
    let merges = [(daily.clone(), 1), (reworded(&daily), 1), (reworded(&tea()), 2)];
    for ((merge, told), text) in merges.into_iter().zip([daily.clone(), daily, tea()]) {
        let mut several = Several::new(2, "09:29:00", &text);
        several.turn(0);
        several.at("09:30:00").all[0].tick();
        several.look(0);
        let next = several.all[0].read();
        several.all[1].write(if next.is_empty() { text + &merge } else { next + &merge });
        ["09:31:00", "09:32:00", "09:45:00"].iter().for_each(|now| several.at(now).look(1));
        assert_eq!(several.told().len(), told, "{merge}: {:?}", several.told());
    }
}

/// While the engine is out of reach nobody can be seen: that says nothing of the teller.
#[test]
fn a_teller_is_not_away_because_the_engine_was() {
    let (mut several, daily, _) = daily_told();
    several.cut_all(true);
    several.at("09:44:00").ask(1);
    several.cut_all(false);
    for now in ["09:44:10", "09:44:40", "09:49:00", "09:54:00", "09:55:00"] {
        several.at(now).look(1);
        several.ask(1);
        assert_eq!(several.all[1].read() == daily, now != "09:55:00", "{now}");
    }
    assert_eq!(several.told().len(), 1);
}

/// The first pass after a suspension comes before the machine has heard of anything.
#[test]
fn a_machine_that_wakes_up_tells_only_what_it_still_holds() {
    for (wakes, teller) in [("09:30:40", 0), ("09:34:30", 1)] {
        let mut several = Several::new(2, "09:29:00", &tea());
        several.settle();
        // From here on the preferred one is suspended, and it holds the claim.
        for now in ["09:29:30", "09:30:00", wakes] {
            several.at(now).all[1].tick();
            several.look(1);
        }
        assert_eq!(several.told().len(), teller);
        several.all[0].tick();
        assert_eq!(several.told().len(), 1);
        let has_told = |at: usize| {
            let told = [DeliveryState::Sent, DeliveryState::Done].map(|state| Some((state, None)));
            told.contains(&several.state(at, &tea_key()))
        };
        assert_eq!([has_told(0), has_told(1)], [teller == 0, teller == 1]);
    }
}

#[test]
fn what_was_on_its_way_when_a_machine_died_is_asked_about_and_not_told_again() {
    let mut several = Several::new(2, "09:29:00", &tea());
    several.settle();
    several.all[0].place.fault(Fault::LostAnswer);
    several.at("09:30:00").all[0].tick();
    assert_eq!(several.told().len(), 1);
    // It is never seen again. Its claim runs out four minutes after the minute.
    for now in ["09:31:00", "09:33:59"] {
        several.at(now).look(1);
        assert_eq!(several.all[1].read(), tea(), "{now}");
    }
    several.at("09:34:30").look(1);
    several.look(1);
    assert_eq!((several.told().len(), several.all[1].read().as_str()), (1, ""));
    // And when it comes back it learns that the other one has settled it.
    several.start(0);
    several.ask(1);
    assert_eq!(several.at("10:00:00").settle(), 1);
}

fn missed() -> String {
    let thing = |letter| line("2026-11-20", "09:30", "none", &format!("Thing {letter}"), &id(letter));
    ('A'..='F').map(thing).collect()
}

#[test]
fn a_digest_comes_once_and_is_known_again_by_another_machine() {
    for fault in [Fault::None, Fault::LostAnswer, Fault::Nothing] {
        let mut several = Several::new(2, "09:00:00", &missed());
        several.turn(0);
        several.all[0].place.fault(fault.clone());
        several.all[0].tick();
        let arrived = usize::from(!matches!(fault, Fault::Nothing));
        assert_eq!(several.told().len(), arrived, "{fault:?}");
        assert!(several.told().iter().all(|text| text.starts_with("6 were missed")));
        several.ask(1);
        several.at("09:10:00");
        (0..3).for_each(|_| several.look(1));
        // What surely isn't there is told one by one.
        assert_eq!(several.told().len(), if arrived == 1 { 1 } else { 6 }, "{fault:?}");
        several.ask(1);
        several.start(0);
        assert_eq!(several.at("09:20:00").settle(), if arrived == 1 { 1 } else { 6 }, "{fault:?}");
    }
}

#[test]
fn a_line_that_a_person_took_out_or_moved_is_not_told_by_a_copy_that_lags() {
    for text in ["", &line("2026-12-01", "11:00", "none", "Tea", &id('A'))] {
        let mut several = Several::new(2, "08:00:00", &tea());
        several.watch(1);
        several.all[1].write(text);
        // It isn't believed at once: the note may be in the middle of being saved, and one that lost more than half for
        // longer.
        ["08:10:00", "08:11:00"].iter().for_each(|now| several.at(now).watch(1));
        ["09:29:00", "09:30:00", "09:40:00"].iter().for_each(|now| several.at(now).watch(0));
        assert_eq!((several.told().len(), several.all[0].read()), (0, tea()), "{text}");
        let waits = several.all[0].journal().open_deliveries().unwrap()[0].error.clone().unwrap();
        assert!(waits.starts_with("`m1` lacks its line: "), "{waits}");
        if text.is_empty() {
            // A person writes it again.
            several.all[1].write(tea());
            several.watch(1);
            several.watch(0);
        } else {
            several.at("11:00:00");
        }
        assert_eq!(several.settle(), 1, "{text}");
    }
}

/// Of a machine that is off before it sees the rest arrive no claim stays dropped.
#[test]
fn a_note_that_arrives_cut_short_or_with_a_conflict_copy_silences_no_other_machine() {
    for copy in [false, true] {
        let mut several = Several::new(2, "09:28:00", &(tea() + "# The end\n"));
        several.all[1].pass(PassMode::Daemon);
        let long = "# A heading that is as long as the line that isn't here, or longer than that ";
        let kept = format!("{long}{}\n", "#".repeat(60));
        several.all[1].write(if copy { kept.as_str() } else { "# The end\n" });
        if copy {
            several.all[1].folder.write("Reminders.sync-conflict-20261201-093000-ABCDEFG.md", tea());
        }
        ["09:28:10", "09:28:20", "09:29:05"].iter().for_each(|now| several.at(now).watch(1));
        for now in ["09:29:10", "09:30:00"] {
            several.at(now).look(0);
            several.all[0].tick();
        }
        assert_eq!(several.told().len(), 1, "{copy}");
    }
}

/// A machine without its webhook's secret: the other one tells, and while that one is away nobody does, and it is said.
#[test]
fn a_machine_that_cannot_use_the_notifier_leaves_it_to_the_others() {
    let mut several = Several::new(2, "09:29:00", &tea());
    let unusable = Place::new("place", several.all[0].clock.clone());
    unusable.obstacle.set("no secret").unwrap();
    several.all[0].place = unusable.clone();
    several.at("09:29:00").settle();
    several.at("09:30:00").all[0].tick();
    let waits = several.all[0].journal().open_deliveries().unwrap()[0].error.clone().unwrap();
    assert_eq!(waits, "it waits for the other machines: no secret");
    several.settle();
    several.settle();
    assert_eq!((unusable.attempts(), several.all[1].place.texts().len()), (0, 1));
    assert_eq!(several.state(0, &tea_key()), Some((DeliveryState::Sent, Some("m1".to_owned()))));
}

/// A place that takes four minutes to answer.
struct Slow {
    clock: Arc<ManualClock>,
    machines: Machines,
    renews: bool,
}

#[async_trait]
impl Notifier for Slow {
    fn name(&self) -> &'static str {
        "place"
    }

    async fn send(&self, _: &OutgoingMessage) -> SendOutcome {
        tokio::time::pause();
        for now in ["09:32:00", "09:34:00"] {
            self.clock.set(instant(now).parse().unwrap());
            if self.renews {
                self.machines.catch_up().await;
            }
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
        SendOutcome::Sent { message_id: None }
    }
}

#[test]
fn an_answer_is_waited_for_as_long_as_the_claim_is_renewed() {
    for (renews, state) in [(true, DeliveryState::Sent), (false, DeliveryState::Sending)] {
        let mut several = Several::new(2, "09:29:00", &tea());
        several.settle();
        let (clock, machines) = (several.all[0].clock.clone(), several.all[0].machines.clone());
        several.all[0].notifier = Some(Arc::new(Slow { clock, machines, renews }));
        several.at("09:30:00").all[0].tick();
        assert_eq!(several.state(0, &tea_key()), Some((state, None)));
        several.at("09:34:30").look(1);
        assert_eq!(several.told().len(), usize::from(!renews), "the other machine takes over");
    }
}

#[test]
fn without_the_engine_what_is_due_waits_or_is_told_as_the_settings_say() {
    for sends_when_cut_off in [false, true] {
        let mut several = Several::with(|| World::new(&instant("09:29:00"), &tea()), 1, sends_when_cut_off);
        several.ask(0);
        several.engines[0].cut(true);
        several.settle();
        assert_eq!(several.at("09:30:00").settle(), usize::from(sends_when_cut_off));
        if !sends_when_cut_off {
            let open = several.all[0].journal().open_deliveries().unwrap();
            assert!(open[0].error.as_deref().unwrap().contains("the store is not reached"), "{open:?}");
        }
        several.engines[0].cut(false);
        several.at("09:45:00").settle();
        assert_eq!((several.told().len(), several.all[0].read().as_str()), (1, ""));
        let marked = several.engines[0].entries().into_iter().filter(|(_, value)| value.contains("\"sent\""));
        assert_eq!(marked.count(), 1);
    }
}

#[test]
fn a_copy_that_a_machine_left_behind_is_sent_by_another() {
    for (fault, is_line_gone) in
        [(Fault::Nothing, false), (Fault::Unreachable(None), false), (Fault::Nothing, true)]
    {
        let mut several = Several::with_other(2);
        several.settle();
        several.at("09:30:00");
        several.all[0].others[0].fault(fault);
        several.turn(0);
        assert_eq!((several.told().len(), several.all[0].other().len()), (1, 0));
        // The other one can't send it at once.
        several.all[0].others[0].fault(Fault::Unreachable(None));
        for now in ["09:31:00", "09:35:00", "09:35:01", "09:36:00"] {
            several.at(now).turn(1);
            if is_line_gone && now == "09:35:01" {
                several.all[1].write("");
            }
        }
        several.look(1);
        assert_eq!((several.told().len(), several.all[0].other().len()), (1, 1));
        let is_sent = |value: &String| value.contains("\"sent\"");
        several.ask(1);
        let claims = several.engines[0].entries();
        let mut claims = claims.iter().filter(|(key, _)| key.starts_with("claim/"));
        assert!(claims.all(|(_, value)| is_sent(value)), "{:?}", several.engines[0].entries());
        assert_eq!((several.at("09:50:00").settle(), several.all[0].other().len()), (1, 1));
    }
}

#[test]
fn a_delivery_whose_mark_was_lost_with_its_machine_is_marked_when_it_starts_again() {
    let mut several = Several::new(1, "09:29:00", &tea());
    several.settle();
    several.at("09:30:00");
    several.all[0].tick();
    assert!(several.engines[0].entries().values().all(|value| !value.contains("\"sent\"")));
    several.start(0);
    several.settle();
    assert!(several.engines[0].entries().values().any(|value| value.contains("\"sent\"")));
    assert_eq!(several.told().len(), 1);
}

#[test]
fn a_process_beside_the_daemon_tells_nothing_that_is_due() {
    let mut world = World::new(&instant("09:30:00"), &tea());
    world.machines = Machines::beside();
    assert!(world.told().is_empty());
    world.machines = Machines::alone();
    assert_eq!(world.told().len(), 1);
}

/// Their copies of the settings differ while the sync tool lags.
#[test]
fn machines_that_all_take_themselves_for_the_preferred_one_tell_once() {
    let mut several = Several::new(3, "09:28:00", &tea());
    several.are_all_first = true;
    for at in 0..3 {
        several.sends_when_cut_off = at == 1;
        several.start(at);
    }
    through_the_minute(&mut several);
    assert_eq!(several.settle(), 1);
}

#[test]
fn a_claim_that_a_newer_version_wrote_waits_and_says_so() {
    let claim = claim_key(&tea_key(), "place");
    let mut several = Several::new(2, "09:20:00", &tea());
    several.settle();
    let text = r#"{"by":"m9","state":"thinking","mood":[1]}"#;
    let change = EntryChange { key: claim.clone(), expected: None, value: Some(text.to_owned()) };
    assert_eq!(block_on(several.engines[0].swap(&[change])).unwrap(), SwapOutcome::Done);
    through_the_minute(&mut several);
    several.settle();
    assert_eq!((several.told(), several.engines[0].entries()[&claim].as_str()), (vec![], text));
    let problem = several.all[0].machines.problem().unwrap();
    contains_all(problem, &["can't be read, a newer vault-agent may have written it"]);
}

/// The right was got before the engine was out of reach, so the other machine can't know that it was used.
#[test]
fn a_machine_that_is_cut_off_writes_after_those_that_told_meanwhile() {
    let both = tea() + &line("2026-12-01", "09:31", "none", "Coffee", &id('B'));
    let mut several = Several::new(2, "09:28:00", &both);
    several.at("09:29:10").settle();
    several.engines[0].cut(true);
    assert_eq!(several.settle_at(&["09:30:01", "09:30:30", "09:31:01", "09:31:10"]), 2);
    assert_eq!((several.all[0].read(), several.all[1].read()), (both.clone(), tea()));
    several.engines[0].cut(false);
    several.at("09:32:00").settle();
    assert_eq!((several.all[0].read(), several.all[1].read()), (both, tea()));
    // The sync tool brings what the other one wrote.
    several.all[0].write(tea());
    several.settle();
    assert_eq!((several.told().len(), several.all[0].read().as_str()), (2, ""));
}

#[test]
fn of_two_that_tell_in_one_minute_the_first_to_mark_it_writes_first() {
    let coffee = line("2026-12-01", "09:30", "none", "Coffee", &id('B'));
    let both = tea() + &coffee;
    for first in [0, 1] {
        let mut several = Several::new(2, "09:28:00", &both);
        several.all[0].write(tea());
        several.settle_at(&["09:29:10", "09:29:30"]);
        several.all[0].write(&both);
        several.at("09:30:01");
        several.all.iter_mut().for_each(|world| drop(world.tick()));
        assert_eq!(several.told().len(), 2);
        let next = 1 - first;
        several.ask(first);
        several.ask(next);
        several.settle();
        let left = [coffee.clone(), tea()];
        assert_eq!(several.all[first].read(), left[first]);
        assert_eq!(several.all[next].read(), both);
        several.all[next].write(&left[first]);
        several.settle();
        assert_eq!((several.told().len(), several.all[next].read().as_str()), (2, ""));
    }
}

/// The id makes another note of the same lines.
#[test]
fn no_line_is_given_an_id_while_one_stands_that_another_machine_told() {
    let new = "- [ ] date=2026-12-02 time=09:30 recur=none msg=\"Coffee\"\n";
    let mut several = Several::new(2, "09:28:00", &tea());
    through_the_minute(&mut several);
    several.settle();
    assert_eq!((several.all[0].read().as_str(), several.all[1].read()), ("", tea()));
    several.all[1].write(tea() + new);
    several.settle_at(&["09:30:10", "09:30:20"]);
    assert_eq!(several.all[1].read(), tea() + new);
    several.all[1].write(new);
    several.settle_at(&["09:30:30", "09:30:40"]);
    assert!(several.all[1].read().contains("id=rid_"), "{}", several.all[1].read());
}

/// Its claims name the digest of all six, by which another machine would look for them.
#[test]
fn a_digest_that_lost_a_line_since_it_was_claimed_is_told_one_by_one() {
    let lines = missed();
    let mut several = Several::new(2, "09:00:00", &lines);
    several.all[0].tick();
    several.ask(0);
    let left: String = lines.split_inclusive('\n').take(5).collect();
    several.all.iter().for_each(|world| world.write(&left));
    several.all[0].place.fault(Fault::LostAnswer);
    several.all[0].tick();
    assert_eq!(several.told().len(), 1);
    // It is never seen again.
    several.ask(1);
    several.at("09:10:00");
    (0..3).for_each(|_| several.look(1));
    let told = several.told().concat();
    let counts =
        ['A', 'B', 'C', 'D', 'E', 'F'].map(|letter| told.matches(&format!("Thing {letter}")).count());
    assert_eq!(counts, [1, 1, 1, 1, 1, 0], "{told}");
}

/// Each holds the claims of a part, which it had alone before.
#[test]
fn two_that_each_hold_a_part_of_a_digest_tell_their_parts() {
    let lines = missed();
    let (first, second) = lines.split_at(lines.len() / 2);
    let mut several = Several::new(2, "09:00:00", &lines);
    for (at, part) in [first, second].into_iter().enumerate() {
        several.all[at].write(part);
        several.turn(at);
        several.all[at].write(&lines);
    }
    assert_eq!(several.told().len(), 0);
    several.at("09:00:01").settle();
    let told = several.told().concat();
    ('A'..='F').for_each(|letter| assert_eq!(told.matches(&format!("Thing {letter}")).count(), 1, "{told}"));
}

/// It waits to be sent again, and another machine, which has a part of the lines, took that over and is suspended.
#[test]
fn a_digest_of_which_another_machine_holds_a_part_is_told_without_that_part() {
    let lines = missed();
    let mut several = Several::new(2, "09:00:00", &lines);
    several.all[1].write(lines.split_at(lines.len() / 2).1);
    several.turn(0);
    several.ask(1);
    several.all[0].place.fault(Fault::Unreachable(None));
    several.all[0].tick();
    assert_eq!(several.told().len(), 0);
    several.at("09:06:00").turn(1);
    let tell = |several: &mut Several| {
        (0..3).for_each(|_| several.look(0));
        let told = several.told().concat();
        ['A', 'B', 'C', 'D', 'E', 'F'].map(|letter| told.matches(&format!("Thing {letter}")).count())
    };
    assert_eq!(tell(&mut several), [1, 1, 1, 0, 0, 0]);
    several.at("09:20:00");
    assert_eq!(tell(&mut several), [1, 1, 1, 1, 1, 1]);
}

/// Whether it arrived isn't known, and another machine, which has a part of the lines, has settled that part.
#[test]
fn a_digest_that_may_have_been_sent_is_split_only_if_it_was_not() {
    for fault in [Fault::Nothing, Fault::LostAnswer] {
        let lines = missed();
        let mut several = Several::new(2, "09:00:00", &lines);
        several.all[1].write(lines.split_at(lines.len() / 2).1);
        several.all[0].tick();
        several.ask(0);
        several.ask(1);
        several.all[0].place.fault(fault.clone());
        several.all[0].tick();
        several.at("09:06:00");
        (0..3).for_each(|_| several.look(1));
        several.at("09:20:00");
        (0..3).for_each(|_| several.look(0));
        let told = several.told().concat();
        for letter in 'A'..='F' {
            assert_eq!(told.matches(&format!("Thing {letter}")).count(), 1, "{fault:?}: {told}");
        }
    }
}

#[test]
fn a_store_that_refuses_what_is_written_is_asked_less_and_less_often() {
    let several = Several::new(1, "09:29:00", &tea());
    // Reads and writes in turn.
    several.engines[0].next([Cut::None, Cut::Refused].into_iter().cycle().take(2_000));
    block_on(async {
        tokio::time::pause();
        let drive = several.all[0].machines.drive(CancellationToken::new());
        let _ = tokio::time::timeout(Duration::from_secs(3_600), drive).await;
    });
    let asked = 2_000 - several.engines[0].left();
    assert!((120..=160).contains(&asked), "{asked}");
}
