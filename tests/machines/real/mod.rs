//! Runs three daemons as processes, with one vault that a sync tool carries between them, a Discord and a real store, while
//! daemons, the store's servers and the network are killed, stopped and cut: told twice never, missed never, one content at rest.
//!
//! The clock runs fast, so a lease of five minutes is over in seconds. `VAULT_AGENT_SEED` names another run.
//!
//! - [`run`]: the people, the sync tool, the rounds; [`machine`]: one machine; [`servers`]: the store's servers;
//! - [`faults`]: what goes wrong; [`figures`]: what came of it; this file: the tests.

mod faults;
mod figures;
mod machine;
mod run;
mod servers;

use crate::parts::*;
use run::Run;

const CHANNEL: u64 = 2000;
const ALICE: u64 = 42;
const NAMES: [&str; 3] = ["server", "laptop", "desktop"];
/// No run takes longer to come to rest.
const REST: Duration = Duration::from_secs(240);

/// Which engine, how fast the clock runs, and how much happens.
struct Size {
    engine: &'static str,
    times: u32,
    rounds: usize,
    /// In the machines' time.
    minutes: i64,
    lines: usize,
    questions: usize,
}

/// A run whose machines have all begun.
async fn begun(seed: u64, size: Size) -> Run {
    let mut run = Run::new(seed, size).await;
    for at in 0..3 {
        run.sync(at);
        run.start(at);
    }
    run
}

async fn run(size: Size) {
    let seed = std::env::var("VAULT_AGENT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut run = begun(seed, size).await;
    for round in 0..run.size.rounds {
        run.round(round).await;
    }
    assert_eq!(run.cloud.conflicts, Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_daemons_that_are_killed_tell_everything_once() {
    run(Size { engine: "file", times: 20, rounds: 1, minutes: 8, lines: 5, questions: 2 }).await;
}

/// Reminders that are written and due while the git server is dead wait; each comes once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_sshd_that_is_killed_and_started_again_costs_no_delivery() {
    if !are_here(&["sshd", "ssh", "ssh-keygen"]) {
        return;
    }
    let size = Size { engine: "ssh", times: 20, rounds: 1, minutes: 5, lines: 6, questions: 0 };
    let mut run = begun(1, size).await;
    run.write(0);
    (0..3).for_each(|at| run.sync(at));
    run.rest(0).await;
    run.servers.take_down(0, false);
    run.write(1);
    (0..3).for_each(|at| run.sync(at));
    let last = run.lines.iter().map(|(_, due)| *due).max().unwrap();
    run.until("the last was due two minutes ago", |run| run.now() > last + SignedDuration::from_mins(2))
        .await;
    // No right to one of these can be had.
    assert_eq!(run.told().0[6..], [0; 6], "{}", run.figures());
    run.servers.bring_up(0, false);
    run.rest(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a quarter of an hour"]
async fn a_hundred_kills_over_a_file() {
    run(Size { engine: "file", times: 12, rounds: 5, minutes: 12, lines: 12, questions: 4 }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a quarter of an hour"]
async fn a_hundred_kills_over_ssh() {
    if are_here(&["sshd", "ssh", "ssh-keygen"]) {
        run(Size { engine: "ssh", times: 12, rounds: 5, minutes: 12, lines: 12, questions: 4 }).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a quarter of an hour"]
async fn a_hundred_kills_over_etcd() {
    if are_here(&["etcd", "etcdctl"]) {
        run(Size { engine: "etcd", times: 4, rounds: 5, minutes: 6, lines: 12, questions: 4 }).await;
    }
}

/// How long the next reminder and the next answer take after `kill -9` of the voice, by real clocks; and what a daemon holds.
async fn takeover(engine: &'static str, most: u64) {
    let mut run = Run::new(1, Size { engine, times: 1, rounds: 1, minutes: 0, lines: 0, questions: 0 }).await;
    (0..3).for_each(|at| run.start(at));
    let first = run.discord.say(CHANNEL, ALICE, "<@500> when is the dentist?");
    run.questions.push(first);
    run.until("the first answer", Run::is_all_told).await;
    run.until("a minute's beginning", |run| run.now().as_second() % 60 < 2).await;
    // Within the minute that the preferred machine has claimed; whether it told it is for the next one to ask.
    let due = run.now() + SignedDuration::from_secs(60);
    let line = format!("- [ ] {} recur=none msg=\"tell-00-00\"\n", due.strftime("date=%Y-%m-%d time=%H:%M"));
    for machine in &run.machines {
        std::fs::write(machine.vault().join("Reminders.md"), format!("# Reminders\n{line}")).unwrap();
    }
    run.lines.push(("tell-00-00".to_owned(), due));
    run.until("half a minute", |run| run.now() + SignedDuration::from_secs(20) > due).await;
    run.machines.iter().for_each(|it| eprintln!("{engine}, {}: {}", it.name, it.memory()));
    run.machines[0].daemon = None;
    let killed = Instant::now();
    run.questions.push(run.discord.say(CHANNEL, ALICE, "<@500> the dentist, when?"));
    let (mut late, mut answered) = (None, None);
    while late.is_none() || answered.is_none() {
        let (lines, questions) = run.told();
        late = late.or((lines[0] > 0).then(|| run.now().duration_since(due).as_secs()));
        answered = answered.or((questions[1] > 0).then(|| killed.elapsed().as_secs()));
        assert!(killed.elapsed() < 2 * REST, "told: {late:?}, answered: {answered:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (late, answered) = (late.unwrap(), answered.unwrap());
    eprintln!("{engine}: the reminder {late} s after it was due, the answer {answered} s after the kill");
    assert!(run.told().0 == [1] && answered <= most && late <= i64::try_from(most).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn the_next_voice_speaks_within_minutes_over_git_and_within_seconds_over_etcd() {
    if are_here(&["sshd", "ssh", "ssh-keygen"]) {
        takeover("ssh", 360).await;
    }
    if are_here(&["etcd", "etcdctl"]) {
        takeover("etcd", 30).await;
    }
}
