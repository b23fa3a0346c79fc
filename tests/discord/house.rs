//! The whole of it: the real binary as a daemon, with the bot, brains, tools, skills and servers of its settings, between
//! a Discord and a model server of our own.

pub use crate::agent::rig::is_whole;
use crate::discord::rig::*;
use crate::harness::stand_in;

/// A vault, its surroundings, and what its daemon is started with.
pub struct House {
    pub rig: Rig,
    environment: HashMap<String, String>,
}

/// A daemon, killed when it is dropped.
pub struct HouseDaemon {
    pub child: Killed,
}

impl std::ops::Deref for House {
    type Target = Rig;

    fn deref(&self) -> &Rig {
        &self.rig
    }
}

/// A process: its id, and when it began.
type Process = (u32, u64);

impl House {
    /// With the bot, and these further settings; the model server stands at `URL` in them, the folder around the vault at
    /// `HERE`.
    pub async fn new(settings: &str) -> Self {
        let rig = Rig::new().await;
        let bin = rig.dir().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::create_dir(rig.path(".obsidian")).unwrap();
        stand_in::install(&bin);
        let house = Self { rig, environment: HashMap::new() };
        house.settings(settings);
        house
    }

    /// Writes other settings, beside those of the bot.
    pub fn settings(&self, settings: &str) {
        let here = self.dir().display().to_string();
        let settings = settings.replace("URL", &self.server.url()).replace("HERE", &here);
        self.set(&format!("{settings}\n"));
    }

    /// Writes a file beside the vault that only its owner can read.
    pub fn keep(&self, file: &str, text: &str) {
        write_private(self.dir().join(file), &format!("{text}\n"));
    }

    /// Sets a variable for what is started from now on.
    pub fn env(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    pub fn cli(&self, args: &[&str]) -> Command {
        let mut command = self.program(args);
        command.envs(&self.environment).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the daemon; what it says goes to the file `said`, one after the other.
    pub fn start(&self) -> HouseDaemon {
        let said = fs::File::options().create(true).append(true).open(self.said_file()).unwrap();
        let child = self.cli(&["-vv", "run"]).stdout(said.try_clone().unwrap()).stderr(said).spawn();
        HouseDaemon { child: Killed(child.unwrap()) }
    }

    /// The same, up to where it has read the channel.
    pub async fn run(&self) -> HouseDaemon {
        let before = self.rounds();
        let daemon = self.start();
        self.wait("the history is read", || self.rounds() > before).await;
        self.fake.connected().await;
        daemon
    }

    /// Waits until a question is answered.
    pub async fn answered(&self, id: u64) {
        self.wait("the answer", || !self.replies(id).is_empty()).await;
    }
}

impl HouseDaemon {
    /// `kill -9`, with all that came of it written down first; then waits until none of that is left.
    pub async fn kill(mut self, house: &House) -> usize {
        let pid = self.child.id();
        // It starts nothing more while we look.
        let _ = Command::new("kill").args(["-STOP", &pid.to_string()]).status();
        let mut known = below(&[pid]);
        known.retain(|(one, _)| *one != pid);
        let count = known.len();
        drop(self.child.kill());
        drop(self.child.wait());
        let end = Instant::now() + LONG;
        loop {
            // What its children started meanwhile is of it, too.
            let pids: Vec<u32> = living(&known).iter().map(|(pid, _)| *pid).collect();
            for process in below(&pids) {
                if !known.contains(&process) {
                    known.push(process);
                }
            }
            let left = living(&known);
            let named = named(house.dir());
            if left.is_empty() && named.is_empty() {
                return count;
            }
            let lines = || left.iter().map(|p| line(p.0)).collect::<Vec<_>>();
            assert!(Instant::now() < end, "left: {:?}, {named:?}", lines());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// These processes and all that came of them.
fn below(roots: &[u32]) -> Vec<Process> {
    let stats: HashMap<u32, (u32, u64)> =
        running().into_iter().filter_map(|(pid, ..)| Some((pid, stat(pid)?))).collect();
    let mut found: Vec<u32> = roots.to_vec();
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        found.extend(stats.iter().filter(|(_, (of, _))| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.into_iter().filter_map(|pid| Some((pid, stats.get(&pid)?.1))).collect()
}

fn living(known: &[Process]) -> Vec<Process> {
    known.iter().copied().filter(|(pid, began)| stat(*pid).is_some_and(|(_, now)| now == *began)).collect()
}

fn line(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    format!("{pid}: {}", String::from_utf8_lossy(&bytes).replace('\0', " "))
}
