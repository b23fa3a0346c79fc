//! A pass that is ended at each of its steps, and the next one; `kill -9` of the real binary between a server's taking a
//! message and the journal's knowing of it, and in the middle of ticks over hundreds of reminders.

use std::cell::Cell;

use crate::deliver::servers::{Fault, NtfyServer};
use crate::deliver::world::*;
use crate::support::processes::until_crash;

/// The steps of a pass at which it can be ended.
pub static STEPS: [&str; 11] = [
    "deliver::before-claim",
    "deliver::after-claim",
    "deliver::before-sending-row",
    "deliver::before-send",
    "deliver::after-send",
    "deliver::before-sent-row",
    "deliver::after-sent-row",
    "deliver::before-rewrite",
    "deliver::after-rewrite",
    "deliver::before-ids",
    "deliver::after-ids",
];

/// A tick that ends at the step when it comes to it for the (n + 1)-th time; `None` where it did.
pub fn tick_until(world: &mut World, step: usize, nth: usize) -> Option<PassReport> {
    until_crash(&STEPS[step..=step], nth, || world.tick())
}

/// One of the crashes that a test tries.
pub struct Crash<'c> {
    step: usize,
    nth: usize,
    /// How many seconds go by until the next pass.
    pub wait: i64,
    pub context: String,
    hits: &'c Cell<usize>,
}

impl Crash<'_> {
    /// A tick that crashes; what it did where it came to its end all the same.
    pub fn tick(&self, world: &mut World) -> Option<PassReport> {
        let report = tick_until(world, self.step, self.nth);
        self.hits.set(self.hits.get() + usize::from(report.is_none()));
        report
    }
}

/// Tries a crash at each step, the first so many times that it is passed, and so many seconds before the next pass; at
/// least so many have to come.
pub fn at_each_step(times: usize, waits: &[i64], least: usize, attempt: impl Fn(&Crash<'_>)) {
    let hits = Cell::new(0);
    for (step, name) in STEPS.iter().enumerate() {
        for nth in 0..times {
            for &wait in waits {
                let context = format!("{name}, {nth} times before, then {wait} s");
                attempt(&Crash { step, nth, wait, context, hits: &hits });
            }
        }
    }
    assert!(hits.get() >= least, "only {} crashes", hits.get());
}

#[test]
fn each_step_may_be_the_last_before_a_crash() {
    let text = line("2026-12-01", "09:30", "none", "One", &id('A'))
        + &line("2026-12-01", "09:30", "daily", "Two", "")
        + "mine\n"
        + &line("2026-12-01", "09:30", "none", "Three", "")
        + &line("2026-12-09", "09:30", "none", "Later", "");
    let after = "- [ ] date=2026-12-02 time=09:30 recur=daily msg=\"Two\" id=rid_[ID]\nmine\n- [ ] date=2026-12-09 time=09:30 recur=none msg=\"Later\" id=rid_[ID]\n";
    // Soon enough for the nonce, or so late that the place is asked.
    at_each_step(3, &[30, 600], 2 * STEPS.len(), |crash| {
        let (mut world, context) = (World::new("2026-12-01T09:30:00Z", &text), &crash.context);
        crash.tick(&mut world);
        let second = world.later(secs(crash.wait)).tick();
        assert!(world.tick().fired.is_empty(), "{context}");
        assert_eq!(without_random(&world.read()), after, "{context}");
        let texts = world.place.texts();
        assert_eq!(texts.len(), 3, "{context}: {texts:?}");
        assert!(second.problems.is_empty(), "{context}: {:?}", second.problems);
    });
}

const NOW: &str = "2026-12-01T09:30:00Z";

/// `kill -9` of a tick when the server has the message and the journal doesn't know. For a server that knows no ids see
/// `deliver::notifiers`: a message that comes again has the same id.
#[test]
fn killed_between_ntfy_and_the_journal_it_is_told_once() {
    let server = NtfyServer::start(true, true);
    server.web.fault(Fault::DoneAndSilent);
    let vault = TestVault::new(&format!(
        "//- now: {NOW}\n//- /vault-agent.toml\n[notify]\nkind = \"ntfy\"\n[notify.ntfy]\nurl = \"{}\"\ntopic = \"t\"\n\
         //- /Reminders.md\n{}",
        server.web.url,
        line("2026-12-01", "09:30", "none", "Call", &id('A'))
    ));
    let child = vault.spawn(&["tick"]);
    until("the server has the message", || !server.texts().is_empty());
    drop(child);
    assert!(vault.read("Reminders.md").contains("Call"), "the line is there until the journal knows");
    vault.advance(secs(60));
    let _ = vault.run(&["tick"]).ok();
    assert!(!vault.read("Reminders.md").contains("Call"));
    assert_eq!(server.texts(), ["Call"]);
}

const REMINDERS: usize = 300;

/// Ticks that are killed at different instants of their lives, from before they open anything to the rewrite, but for the
/// last three; then nothing is left to fire. What all of them printed, and how many were killed.
pub fn killed_ticks(vault: &TestVault, rounds: u64) -> (String, usize) {
    let (mut printed, mut kills) = (String::new(), 0);
    for round in 0..rounds {
        let mut child =
            vault.command(&["tick"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(5 + (round * 37) % 120 + 3 * round * round));
        if round + 3 < rounds && child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        printed += &String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout);
    }
    assert_eq!(vault.json(&["tick"])["fired"].as_array().unwrap().len(), 0);
    (printed, kills)
}

#[test]
fn kill_nine_loses_nothing_and_doubles_at_most_what_was_on_its_way() {
    let one = |n| line("2026-12-01", &format!("09:{}", 28 + n % 3), "none", &format!("N{n:03}"), "");
    let text = String::from("# Reminders\nkeep me\n") + &(0..REMINDERS).map(one).collect::<String>();
    let vault = TestVault::new(&format!("//- now: 2026-12-01T09:30:30Z\n//- /Reminders.md\n{text}"));
    let (printed, kills) = killed_ticks(&vault, 24);
    let times = |n: usize| printed.matches(&format!(" N{n:03}")).count();
    assert_eq!(vault.read("Reminders.md"), "# Reminders\nkeep me\n");
    assert!((0..REMINDERS).all(|n| times(n) > 0), "some were never printed");
    let twice = (0..REMINDERS).map(|n| times(n) - 1).sum::<usize>();
    assert!(twice <= kills, "{twice} came again after {kills} kills");
    println!("{kills} kills, {REMINDERS} reminders, 0 missed, {twice} printed twice");
}

/// Ticks over a state directory with some 100 KB left, then with room again.
#[cfg(target_os = "linux")]
const FULL: &str = r#"
mount -t tmpfs -o size=3m none "$VAULT_AGENT_STATE_DIR" || exit 77
cd "$VAULT_AGENT_STATE_DIR"
"$0" tick --now 2026-12-01T09:00:00Z || exit
free=$(df -k . | awk 'END { print $4 }')
head -c $(((free - LEFT) * 1024)) /dev/zero >fill
for minute in 31 32 33; do "$0" tick --now 2026-12-01T09:$minute:00Z; done
rm fill
"$0" tick --now 2026-12-01T09:34:00Z
"#;

#[test]
#[cfg(target_os = "linux")]
fn with_a_disk_too_full_to_note_the_outcome_nothing_is_sent_until_there_is_room() {
    for left in ["84", "100", "116"] {
        let vault = TestVault::new(&format!("//- /Reminders.md\n{}", due(&["Call"])));
        let mut mounted = vault.started_by(&["unshare", "-rm", "sh", "-c", &FULL.replace("LEFT", left)], &[]);
        mounted.env("VAULT_AGENT_VAULT", vault.root());
        let Some(output) = mounted.output().ok().filter(|output| output.status.code() != Some(77)) else {
            eprintln!("left out: no disk can be mounted here");
            return;
        };
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert_eq!(said[0].matches("Call").count(), 1, "{left} {said:?}");
        assert_eq!(output.status.code(), Some(0), "{left} {said:?}");
        assert_eq!(vault.read("Reminders.md"), "");
    }
}
