//! Plays a run: three daemons, a sync tool, a Discord and a store; people write lines and ask, and at the end all comes to rest.

use super::faults::Undo;
use super::machine::Machine;
use super::servers::Servers;
use super::{ALICE, CHANNEL, NAMES, REST, Size};
use crate::fake::FakeDiscord;
use crate::parts::*;
use crate::proxy::Net;
use crate::sync_tool::Cloud;
use crate::world::Random;

/// When the machines' time begins.
const START: &str = "2026-12-01T08:00:00Z";

pub(super) struct Run {
    pub size: Size,
    pub folder: Option<tempfile::TempDir>,
    pub discord: FakeDiscord,
    pub servers: Servers,
    pub machines: Vec<Machine>,
    pub cloud: Cloud,
    pub random: Random,
    pub since: Instant,
    pub undo: Vec<(Instant, Undo)>,
    /// Which of the store's servers are down.
    pub down: [bool; 3],
    /// Of daemons, of the network, of the store's servers, of Discord.
    pub kills: [usize; 4],
    pub lines: Vec<(String, Timestamp)>,
    pub questions: Vec<u64>,
}

impl Drop for Run {
    fn drop(&mut self) {
        self.machines.clear();
        if std::thread::panicking() {
            eprintln!("kept: {}", self.folder.take().unwrap().keep().display());
        }
    }
}

impl Run {
    pub(super) async fn new(seed: u64, size: Size) -> Self {
        eprintln!("seed {seed}, {} over {} rounds", size.engine, size.rounds);
        let folder = crate::support::folder::temporary();
        let at = folder.path();
        let discord = FakeDiscord::start().await;
        let port: u16 = discord.api_base().rsplit(':').next().unwrap().parse().unwrap();
        let servers = Servers::start(size.engine, at);
        let store = bare(at, &[]);
        let settings = |net: &Net| servers.settings(&store, net);
        let machines = NAMES.iter().map(|name| Machine::new(name, at, port, settings)).collect();
        discord.world().run_fast(START.parse().unwrap(), size.times);
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

    pub(super) fn now(&self) -> Timestamp {
        let start: Timestamp = START.parse().unwrap();
        start + self.since.elapsed() * self.size.times
    }

    pub(super) fn start(&mut self, at: usize) {
        if self.machines[at].daemon.is_some() {
            return;
        }
        let now = format!("{}@{}", self.now(), self.size.times);
        let machine = &mut self.machines[at];
        let log = fs::File::options().create(true).append(true).open(machine.folder.join("log")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_vault-agent"));
        command.arg("run").env("VAULT_AGENT_VAULT", machine.vault()).env("VAULT_AGENT_MACHINE", machine.name);
        command.env("VAULT_AGENT_STATE_DIR", machine.folder.join("state"));
        command.env("VAULT_AGENT_CACHE_DIR", machine.folder.join("cache"));
        command.env("VAULT_AGENT_NOW", now).env("DISCORD_TOKEN", &self.discord.world().token);
        command.envs(self.servers.ssh_command().map(|command| ("GIT_SSH_COMMAND", command)));
        command.env_remove("FAILPOINTS").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        machine.daemon = Some(Killed(command.spawn().unwrap()));
    }

    /// A person writes lines on one machine, which the sync tool brings to the others.
    pub(super) fn write(&mut self, round: usize) {
        let at = usize::try_from(self.random.below(3)).unwrap();
        let path = self.machines[at].vault().join("Reminders.md");
        let mut text = std::fs::read_to_string(&path).unwrap();
        for number in 0..self.size.lines {
            let due = self.now() + SignedDuration::from_mins(3 + self.random.below(self.size.minutes - 3));
            let recur = if number % 5 == 0 { "daily" } else { "none" };
            let (token, when) =
                (format!("tell-{round:02}-{number:02}"), due.strftime("date=%Y-%m-%d time=%H:%M"));
            text += &format!("- [ ] {when} recur={recur} msg=\"{token}\"\n");
            self.lines.push((token, due));
        }
        std::fs::write(path, text).unwrap();
    }

    pub(super) fn sync(&mut self, at: usize) {
        let machine = &mut self.machines[at];
        self.cloud.sync(&machine.folder.join("vault"), &mut machine.link);
    }

    pub(super) async fn round(&mut self, round: usize) {
        self.write(round);
        let end = self.now() + SignedDuration::from_mins(self.size.minutes + 1);
        let pause = |random: &mut Random, most: i64| {
            Instant::now() + Duration::from_millis(200 + random.below(most).unsigned_abs())
        };
        let mut syncs = [Instant::now(); 3];
        let mut fault = pause(&mut self.random, 1500);
        let now = self.now();
        let ask = |_| now + SignedDuration::from_mins(self.random.below(self.size.minutes));
        let mut asks: Vec<Timestamp> = (0..self.size.questions).map(ask).collect();
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
    pub(super) async fn rest(&mut self, round: usize) {
        self.undo(true);
        self.discord.heal();
        (0..3).for_each(|at| self.start(at));
        (0..3).for_each(|at| self.machines[at].net.set(0));
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
}
