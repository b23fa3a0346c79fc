//! Three daemons as processes, one vault that a sync tool carries between them, a Discord and a real engine, while daemons,
//! the engine's servers and the network are killed, stopped and cut: told twice never, missed never, one content at rest.
//!
//! The clock runs fast, so a lease of five minutes is over in seconds. `VAULT_AGENT_SEED` names another run.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::fake::{FakeDiscord, Fault};
use crate::parts::{Etcd, Ssh, are_here, bare};
use crate::proxy::Net;
use crate::sync_tool::{Cloud, Link, notes};
use crate::world::Random;

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

enum Servers {
    Git,
    Ssh(Ssh),
    Etcd(Etcd),
}

struct Machine {
    name: &'static str,
    folder: PathBuf,
    net: Net,
    daemon: Option<Child>,
    link: Link,
}

/// Something that ends by itself.
enum Undo {
    Start(usize),
    Heal(usize),
    Node(usize),
    Wake(usize),
}

struct Run {
    size: Size,
    folder: Option<tempfile::TempDir>,
    discord: FakeDiscord,
    servers: Servers,
    machines: Vec<Machine>,
    cloud: Cloud,
    random: Random,
    since: Instant,
    undo: Vec<(Instant, Undo)>,
    down: [bool; 3],
    kills: [usize; 4],
    lines: Vec<(String, Timestamp)>,
    questions: Vec<u64>,
}

impl Drop for Run {
    fn drop(&mut self) {
        (0..3).for_each(|at| self.machines[at].kill());
        if std::thread::panicking() {
            eprintln!("kept: {}", self.folder.take().unwrap().keep().display());
        }
    }
}

impl Machine {
    fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }

    /// The memory that it holds for itself, in kB.
    fn memory(&self) -> String {
        let pid = self.daemon.as_ref().map_or(0, Child::id);
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().filter_map(|line| line.strip_prefix("RssAnon:")).map(str::trim).collect()
    }

    fn vault(&self) -> PathBuf {
        self.folder.join("vault")
    }

    fn new(name: &'static str, folder: &Path, discord: u16, store: impl Fn(&Net) -> String) -> Self {
        let net = Net::default();
        let folder = folder.join(name);
        std::fs::create_dir_all(folder.join("vault")).unwrap();
        let (discord, store) = (net.to(discord), store(&net));
        let settings = format!(
            "timezone = \"UTC\"\n[notify]\nkind = \"discord\"\n[discord]\nchannel_id = {CHANNEL}\nguild_id = 1000\n\
             owner_ids = [{ALICE}]\napi_base = \"http://127.0.0.1:{discord}\"\n[machines]\n{store}\nvault = \"v-real\"\n\
             prefer = [\"server\", \"laptop\"]\n"
        );
        std::fs::write(folder.join("vault/vault-agent.toml"), settings).unwrap();
        std::fs::write(folder.join("vault/MEMORY.md"), "## Health\n- The dentist is on Friday at ten\n")
            .unwrap();
        std::fs::write(folder.join("vault/Reminders.md"), "# Reminders\n").unwrap();
        Self { name, folder, net, daemon: None, link: Link::default() }
    }
}

impl Run {
    async fn new(seed: u64, size: Size) -> Self {
        eprintln!("seed {seed}, {} over {} rounds", size.engine, size.rounds);
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let discord = FakeDiscord::start().await;
        let port: u16 = discord.api_base().rsplit(':').next().unwrap().parse().unwrap();
        let servers = match size.engine {
            "etcd" => Servers::Etcd(Etcd::start(at)),
            "ssh" => Servers::Ssh(Ssh::start(at)),
            _ => Servers::Git,
        };
        let store = bare(at, &[]);
        let named = |net: &Net| match &servers {
            Servers::Git => format!("engine = \"git\"\nremote = \"file://{}\"", store.display()),
            Servers::Ssh(ssh) => {
                format!(
                    "engine = \"git\"\nremote = \"ssh://127.0.0.1:{}{}\"",
                    net.to(ssh.port),
                    store.display()
                )
            }
            Servers::Etcd(etcd) => {
                let ports =
                    etcd.endpoints().into_iter().map(|url| url.rsplit(':').next().unwrap().parse().unwrap());
                let urls: Vec<String> =
                    ports.map(|port| format!("http://127.0.0.1:{}", net.to(port))).collect();
                format!("engine = \"etcd\"\nendpoints = {urls:?}")
            }
        };
        let machines = NAMES.iter().map(|name| Machine::new(name, at, port, named)).collect();
        let start: Timestamp = "2026-12-01T08:00:00Z".parse().unwrap();
        discord.world().run_fast(start, size.times);
        Self {
            size,
            folder: Some(folder),
            discord,
            servers,
            machines,
            cloud: Cloud::default(),
            random: Random::new(seed),
            since: Instant::now(),
            undo: Vec::new(),
            down: [false; 3],
            kills: [0; 4],
            lines: Vec::new(),
            questions: Vec::new(),
        }
    }

    fn now(&self) -> Timestamp {
        let start: Timestamp = "2026-12-01T08:00:00Z".parse().unwrap();
        start + self.since.elapsed() * self.size.times
    }

    fn start(&mut self, at: usize) {
        if self.machines[at].daemon.is_some() {
            return;
        }
        let now = format!("{}@{}", self.now(), self.size.times);
        let machine = &mut self.machines[at];
        let log =
            std::fs::File::options().create(true).append(true).open(machine.folder.join("log")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_vault-agent"));
        command.arg("run").env("VAULT_AGENT_VAULT", machine.vault()).env("VAULT_AGENT_MACHINE", machine.name);
        command.env("VAULT_AGENT_STATE_DIR", machine.folder.join("state"));
        command.env("VAULT_AGENT_CACHE_DIR", machine.folder.join("cache"));
        command.env("VAULT_AGENT_NOW", now).env("DISCORD_TOKEN", &self.discord.world().token);
        if let Servers::Ssh(ssh) = &self.servers {
            command
                .env("GIT_SSH_COMMAND", format!("{} -o HostKeyAlias=[127.0.0.1]:{}", ssh.command, ssh.port));
        }
        command.env_remove("FAILPOINTS").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        machine.daemon = Some(command.spawn().unwrap());
    }

    fn later(&mut self, most: i64, undo: Undo) {
        let after = 300 + self.random.below(most);
        self.undo.push((Instant::now() + Duration::from_millis(after.unsigned_abs()), undo));
    }

    fn undo(&mut self, all: bool) {
        let now = Instant::now();
        let (due, left): (Vec<_>, Vec<_>) = self.undo.drain(..).partition(|(at, _)| all || *at <= now);
        self.undo = left;
        for (_, undo) in due {
            match (undo, &mut self.servers) {
                (Undo::Start(at), _) => self.start(at),
                (Undo::Heal(at), _) => self.machines[at].net.heal(),
                (Undo::Node(node), Servers::Etcd(etcd)) => {
                    etcd.start_one(node);
                    self.down[node] = false;
                }
                (Undo::Wake(node), Servers::Etcd(etcd)) => {
                    etcd.pause(node, false);
                    self.down[node] = false;
                }
                _ => {}
            }
        }
    }

    /// One thing goes wrong, for a while.
    fn fault(&mut self) {
        let at = usize::try_from(self.random.below(3)).unwrap();
        let kind = self.random.below(10);
        match kind {
            0..=4 => {
                self.kills[0] += usize::from(self.machines[at].daemon.is_some());
                self.machines[at].kill();
                self.later(3000, Undo::Start(at));
            }
            5..=7 => {
                self.kills[1] += 1;
                match kind {
                    5 => self.machines[at].net.cut(),
                    6 => self.machines[at].net.swallow(),
                    _ => self.machines[at].net.slow(100),
                }
                self.later(2500, Undo::Heal(at));
            }
            8 => self.node(at),
            _ => {
                self.kills[3] += 1;
                let odd = [Fault::LoseAnswer, Fault::DropRequest, Fault::Slow(Duration::from_millis(400))];
                self.discord.fault("POST", "/messages", odd[at].clone(), 1);
            }
        }
    }

    /// Kills one of the engine's servers, or stops it; most of them are down only now and then.
    fn node(&mut self, node: usize) {
        let is_down = self.down.iter().any(|down| *down);
        if self.down[node] || is_down && !self.random.one_in(3) {
            return;
        }
        let is_stopped = self.random.one_in(3);
        let Servers::Etcd(etcd) = &mut self.servers else { return };
        (self.kills[2], self.down[node]) = (self.kills[2] + 1, true);
        if is_stopped {
            etcd.pause(node, true);
            self.later(2000, Undo::Wake(node));
        } else {
            etcd.kill(node);
            self.later(3000, Undo::Node(node));
        }
    }

    /// A person writes lines on one machine, which the sync tool brings to the others.
    fn write(&mut self, round: usize) {
        let at = usize::try_from(self.random.below(3)).unwrap();
        let path = self.machines[at].vault().join("Reminders.md");
        let mut text = std::fs::read_to_string(&path).unwrap();
        for number in 0..self.size.lines {
            let ahead = 3 + self.random.below(self.size.minutes - 3);
            let due = self.now() + SignedDuration::from_mins(ahead);
            let (token, recur) =
                (format!("tell-{round:02}-{number:02}"), if number % 5 == 0 { "daily" } else { "none" });
            let when = due.strftime("date=%Y-%m-%d time=%H:%M");
            text += &format!("- [ ] {when} recur={recur} msg=\"{token}\"\n");
            self.lines.push((token, due));
        }
        std::fs::write(path, text).unwrap();
    }

    fn sync(&mut self, at: usize) {
        let machine = &mut self.machines[at];
        self.cloud.sync(&machine.folder.join("vault"), &mut machine.link);
    }

    /// How often each line was told, and each question answered.
    fn told(&self) -> (Vec<usize>, Vec<usize>) {
        let messages = self.discord.messages(CHANNEL);
        // What long work says while it lasts is no answer.
        let is_said = |message: &&serde_json::Value| {
            let text = message["content"].as_str().unwrap_or_default();
            message["author"]["bot"] == true && !text.starts_with("-# ⏳ ")
        };
        let by_bot = || messages.iter().filter(is_said);
        let to = |message: &serde_json::Value| {
            message["message_reference"]["message_id"].as_str().map(str::to_owned)
        };
        let tells = |token: &str| {
            let alone = by_bot().filter(|message| to(message).is_none());
            alone
                .filter(|message| message["content"].as_str().is_some_and(|text| text.contains(token)))
                .count()
        };
        let replies =
            |question: &u64| by_bot().filter(|message| to(message) == Some(question.to_string())).count();
        (
            self.lines.iter().map(|(token, _)| tells(token)).collect(),
            self.questions.iter().map(replies).collect(),
        )
    }

    fn is_all_told(&self) -> bool {
        let (lines, questions) = self.told();
        lines.iter().chain(&questions).all(|count| *count > 0)
    }

    async fn until(&self, what: &str, done: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            assert!(begun.elapsed() < 2 * REST, "waited in vain for {what}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Whether all was told, each told line was rewritten, and all copies are one.
    fn rests(&self) -> bool {
        let copies: Vec<_> = self.machines.iter().map(|machine| notes(&machine.vault())).collect();
        let bytes = |at: usize| copies[at].iter().map(|(name, (bytes, _))| (name.clone(), bytes.clone()));
        let text = String::from_utf8_lossy(&copies[0][Path::new("Reminders.md")].0).into_owned();
        let is_written = text.lines().all(|line| !line.contains("tell-") || line.contains("date=2026-12-02"));
        self.is_all_told() && is_written && (1..3).all(|at| bytes(at).eq(bytes(0)))
    }

    async fn round(&mut self, round: usize) {
        self.write(round);
        let end = self.now() + SignedDuration::from_mins(self.size.minutes + 1);
        let pause = |random: &mut Random, most: i64| {
            Instant::now() + Duration::from_millis(200 + random.below(most).unsigned_abs())
        };
        let mut syncs = [Instant::now(); 3];
        let mut fault = pause(&mut self.random, 1500);
        let asks: Vec<i64> = (0..self.size.questions).map(|_| self.random.below(self.size.minutes)).collect();
        let mut asks: Vec<Timestamp> =
            asks.into_iter().map(|at| self.now() + SignedDuration::from_mins(at)).collect();
        while self.now() < end {
            for at in (0..3).filter(|at| syncs[*at] <= Instant::now()).collect::<Vec<_>>() {
                self.sync(at);
                syncs[at] = pause(&mut self.random, 4000);
            }
            if fault <= Instant::now() {
                self.fault();
                fault = pause(&mut self.random, 1500);
            }
            self.undo(false);
            // One at a time: what is asked while an answer is made gets one answer together with the next.
            let (now, is_quiet) = (self.now(), self.told().1.iter().all(|count| *count > 0));
            if let Some(due) = asks.iter().position(|at| is_quiet && *at <= now) {
                asks.remove(due);
                self.questions.push(self.discord.say(CHANNEL, ALICE, "<@500> when is the dentist?"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.rest(round).await;
    }

    /// Nothing goes wrong any more: all comes to rest.
    async fn rest(&mut self, round: usize) {
        self.undo(true);
        self.discord.heal();
        (0..3).for_each(|at| self.start(at));
        (0..3).for_each(|at| self.machines[at].net.heal());
        let (begun, mut still) = (Instant::now(), 0);
        while still < 10 {
            (0..3).for_each(|at| self.sync(at));
            still = if self.rests() { still + 1 } else { 0 };
            assert!(begun.elapsed() < REST, "no rest: {}", self.figures());
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        eprintln!("round {round}, at rest after {:?}: {}", begun.elapsed(), self.figures());
        let (lines, questions) = self.told();
        assert!(lines.iter().chain(&questions).all(|count| *count == 1), "{}", self.figures());
    }

    fn figures(&self) -> String {
        let (lines, questions) = self.told();
        let of =
            |counts: &[usize], count: fn(usize) -> bool| counts.iter().filter(|told| count(**told)).count();
        let odd = self.lines.iter().zip(&lines).filter(|(_, count)| **count != 1);
        let odd: Vec<String> =
            odd.map(|((token, due), count)| format!("{token} due {due}: {count}")).collect();
        let [daemons, network, nodes, discord] = self.kills;
        format!(
            "{} lines, {} twice, {} not; {} questions, {} answered twice, {} not; {} conflicts {:?}; kills: {daemons} of \
             daemons, {nodes} of nodes, {network} of the network, {discord} of Discord; {odd:?}",
            lines.len(),
            of(&lines, |told| told > 1),
            of(&lines, |told| told == 0),
            questions.len(),
            of(&questions, |told| told > 1),
            of(&questions, |told| told == 0),
            self.cloud.conflicts.len(),
            self.cloud.conflicts,
        )
    }
}

async fn run(size: Size) {
    let seed = std::env::var("VAULT_AGENT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut run = Run::new(seed, size).await;
    for at in 0..3 {
        run.sync(at);
        run.start(at);
    }
    for round in 0..run.size.rounds {
        run.round(round).await;
    }
    assert_eq!(run.cloud.conflicts, Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_daemons_that_are_killed_tell_everything_once() {
    run(Size { engine: "file", times: 20, rounds: 1, minutes: 8, lines: 5, questions: 2 }).await;
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
    let size = Size { engine, times: 1, rounds: 1, minutes: 0, lines: 0, questions: 0 };
    let mut run = Run::new(1, size).await;
    for at in 0..3 {
        run.start(at);
    }
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
    for machine in &run.machines {
        eprintln!("{engine}, {}: {}", machine.name, machine.memory());
    }
    run.machines[0].kill();
    let killed = Instant::now();
    run.questions.push(run.discord.say(CHANNEL, ALICE, "<@500> the dentist, when?"));
    let (mut late, mut answered) = (None, None);
    while late.is_none() || answered.is_none() {
        let (lines, questions) = run.told();
        if lines[0] > 0 {
            late.get_or_insert(run.now().duration_since(due).as_secs());
        }
        if questions[1] > 0 {
            answered.get_or_insert(killed.elapsed().as_secs());
        }
        assert!(killed.elapsed() < 2 * REST, "told: {late:?}, answered: {answered:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (late, answered) = (late.unwrap(), answered.unwrap());
    eprintln!("{engine}: the reminder {late} s after it was due, the answer {answered} s after the kill");
    assert!(run.told().0 == [1] && answered <= most && late <= i64::try_from(most).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn the_next_voice_speaks_within_minutes_over_git() {
    if are_here(&["sshd", "ssh", "ssh-keygen"]) {
        takeover("ssh", 360).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn the_next_voice_speaks_within_seconds_over_etcd() {
    if are_here(&["etcd", "etcdctl"]) {
        takeover("etcd", 30).await;
    }
}
