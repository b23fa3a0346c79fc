//! What the daemon does at its minute, over a clock that runs faster: reminders beside a brain that hangs, and routines
//! around which it is killed.

use crate::deliver::world::line;
use crate::discord::house::*;
use crate::discord::rig::*;
use jiff::Unit;

const BRAIN: &str = "[[brain]]\nname = \"wire\"\nkind = \"messages\"\nmodel = \"m\"\nurl = \"URL\"\n";

/// A clock that all daemons of a test share, however often they are started.
struct Fast {
    start: Timestamp,
    since: Instant,
    times: u32,
}

impl Fast {
    /// From 40 s before a whole minute of today on, so many times as fast as time.
    fn new(times: u32) -> Self {
        let minute = Timestamp::now().round(Unit::Minute).unwrap();
        Self { start: minute - SignedDuration::from_secs(40), since: Instant::now(), times }
    }

    fn now(&self) -> Timestamp {
        self.start + SignedDuration::try_from(self.since.elapsed() * self.times).unwrap()
    }

    /// The daemon that is started next begins here, and Discord, too.
    fn set(&self, house: &mut House) {
        let now = self.now();
        house.env("VAULT_AGENT_NOW", &format!("{now}@{}", self.times));
        house.fake.world().set_now(now);
    }

    /// So many minutes after the next whole one: its date and time in the vault's zone, which is UTC.
    fn minute(&self, after: i64) -> (String, String) {
        let minute = self.now().round(Unit::Minute).unwrap() + SignedDuration::from_mins(after);
        (minute.strftime("%Y-%m-%d").to_string(), minute.strftime("%H:%M").to_string())
    }
}

/// Three reminders, each at a minute of its own: what came, and how often the brain was asked.
async fn reminded(phrase: bool) -> (Vec<String>, usize) {
    let mut house = House::new(&format!("timezone = \"UTC\"\n[assistant]\nphrase = {phrase}\n{BRAIN}")).await;
    house.server.respond(|_| Reply::hang());
    let clock = Fast::new(15);
    let text: String = (0..)
        .zip('A'..='C')
        .map(|(n, id)| {
            let (date, time) = clock.minute(2 + n);
            line(&date, &time, "none", &format!("Call Mum {n}"), &id.to_string().repeat(12))
        })
        .collect();
    house.write("Reminders.md", text);
    clock.set(&mut house);
    let daemon = house.run().await;
    let came = || -> Vec<String> {
        house.fake.texts(CHANNEL).into_iter().filter(|text| text.contains("Call Mum")).collect()
    };
    house.wait("three reminders", || came().len() == 3).await;
    let asked = house.server.requests().len();
    house.wait("the lines are gone", || !house.text("Reminders.md").contains("- [ ]")).await;
    daemon.kill(&house).await;
    (came(), asked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_brain_that_hangs_makes_no_reminder_later_than_without_one() {
    let ((without, nobody), (with, asked)) = tokio::join!(reminded(false), reminded(true));
    // A reminder that was late would say so in its words.
    assert_eq!(with, without);
    assert!(with.iter().all(|text| !text.contains("late")), "{with:?}");
    assert_eq!((nobody, asked), (0, 3), "each was to be phrased");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_routine_runs_at_its_minute_and_says_its_piece_once_wherever_the_daemon_is_killed() {
    let mut house = House::new(&format!("timezone = \"UTC\"\n{BRAIN}")).await;
    let mut number = 0;
    house.server.respond(move |_| {
        number += 1;
        Reply::text(format!("piece {number}")).after(Duration::from_millis(150))
    });
    let clock = Fast::new(20);
    clock.set(&mut house);
    let mut daemon = house.run().await;
    let mut random = Rng::with_seed(0x9e37_79b9);
    let pieces = |house: &House| -> Vec<String> {
        house.fake.texts(CHANNEL).into_iter().filter(|text| text.contains("piece ")).collect()
    };
    let rounds = 4;
    for round in 1..=rounds {
        let (_, time) = clock.minute(2);
        let head = format!("schedule: daily {time}\nenabled: true\nscope: channel:{CHANNEL}");
        let text = format!("---\n{head}\n---\nSay a piece for r{round}.\n");
        house.write(&format!("routines/r{round}.md"), text);
        // Once before its minute or about it, once as soon as the model is asked or later.
        tokio::time::sleep(Duration::from_millis(2000 + random.u64(..4000))).await;
        daemon.kill(&house).await;
        clock.set(&mut house);
        daemon = house.start();
        let requests = house.server.requests().len();
        let has = |house: &House| house.server.requests().len() > requests || pieces(house).len() >= round;
        house.wait("the run begins", || has(&house)).await;
        tokio::time::sleep(Duration::from_millis(random.u64(..400))).await;
        daemon.kill(&house).await;
        clock.set(&mut house);
        daemon = house.run().await;
        house.wait("its piece", || pieces(&house).len() >= round).await;
        let logs = house.path(&format!("logs/routines/r{round}"));
        house.wait("its log", || std::fs::read_dir(&logs).is_ok_and(|files| files.count() == 1)).await;
    }
    // `/routine run`, beside what ran at its minute.
    contains_all(house.command("routine", &[("action", "run"), ("name", "r1")]).await, &["runs now"]);
    house.wait("one more", || pieces(&house).len() > rounds).await;
    daemon.kill(&house).await;
    clock.set(&mut house);
    let daemon = house.run().await;
    let id = house.ask("piece?");
    house.answered(id).await;
    let mut all = pieces(&house);
    all.retain(|text| !text.contains("piece?") && !house.replies(id).contains(text));
    assert_eq!(all.len(), rounds + 1, "{all:#?}");
    let each: BTreeSet<&String> = all.iter().collect();
    assert_eq!(each.len(), all.len(), "none twice: {all:#?}");
    daemon.kill(&house).await;
}
