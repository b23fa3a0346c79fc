//! Starts real servers for the tests: a git repository, sshd and etcd, each on loopback and with a folder of its own.

pub use crate::support::prelude::*;
use std::sync::atomic::AtomicU16;
pub use vault_agent::machines::engine::{EngineError, Entries, EntryChange, StoreEngine, SwapOutcome, apply};
pub use vault_agent::machines::protocol::*;

/// The machine with this number, whose rank is that number.
pub fn own_machine(at: usize) -> OwnMachine {
    OwnMachine { name: format!("m{at}"), machine: format!("id-{at}"), rank: u32::try_from(at).unwrap() }
}

/// Whether all `programs` are on this machine. Where one is missing the test says that it is left out, or fails where
/// `.ci/run` asks for all of them.
pub fn are_here(programs: &[&str]) -> bool {
    let missing: Vec<&&str> = programs.iter().filter(|name| find(name).is_none()).collect();
    if missing.is_empty() {
        return true;
    }
    let is_required = std::env::var("VAULT_AGENT_TEST_MACHINES").is_ok_and(|value| value == "required");
    assert!(!is_required, "missing programs: {missing:?}");
    eprintln!("left out: no {missing:?} on this machine");
    false
}

/// An empty folder, where all `programs` are on this machine.
pub fn folder_with(programs: &[&str]) -> Option<tempfile::TempDir> {
    are_here(programs).then(crate::support::folder::temporary)
}

/// The path of a program.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin"), PathBuf::from("/usr/lib/openssh")]);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// A free port of loopback, below those that the system gives to connections: a server that is started
/// again finds it free.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() % 900).unwrap() * 10;
    loop {
        let port = 20_000 + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Runs git for a test: what it says.
pub fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(args).current_dir(dir);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A new bare repository with some settings.
pub fn bare(folder: &Path, settings: &[(&str, &str)]) -> PathBuf {
    let path = folder.join("voice.git");
    git(folder, &["init", "--quiet", "--bare", path.to_str().unwrap()]);
    settings.iter().for_each(|(key, value)| drop(git(&path, &["config", key, value])));
    path
}

/// An sshd of this user's on loopback, with a key of its own and one for the login.
pub struct Ssh {
    server: Option<Killed>,
    folder: PathBuf,
    /// Its port.
    pub port: u16,
    /// The command that logs in with the key.
    pub command: String,
    /// The command that knows no key.
    pub without_key: String,
}

impl Ssh {
    /// Starts it in `folder`.
    pub fn start(folder: &Path) -> Self {
        for key in ["host", "me"] {
            let path = folder.join(key);
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&path).status();
            assert!(made.unwrap().success());
        }
        if rustix::process::geteuid().is_root() {
            std::fs::create_dir_all("/run/sshd").unwrap();
        }
        let (at, port) = (folder.display(), free_port());
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nAuthorizedKeysFile {at}/me.pub\nPidFile none\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n\
             LogLevel INFO\n"
        );
        std::fs::write(folder.join("sshd_config"), config).unwrap();
        let known = std::fs::read_to_string(folder.join("host.pub")).unwrap();
        std::fs::write(folder.join("known_hosts"), format!("[127.0.0.1]:{port} {known}")).unwrap();
        let base = format!(
            "ssh -F /dev/null -o BatchMode=yes -o IdentitiesOnly=yes -o IdentityAgent=none -o UserKnownHostsFile={at}/known_hosts"
        );
        let (command, without_key) = (format!("{base} -i {at}/me"), format!("{base} -i {at}/nobody"));
        let mut ssh = Self { server: None, folder: folder.to_owned(), port, command, without_key };
        ssh.start_again();
        ssh
    }

    /// Starts it, and waits until it listens.
    pub fn start_again(&mut self) {
        let mut sshd = Command::new(find("sshd").unwrap());
        sshd.args(["-D", "-e", "-f"]).arg(self.folder.join("sshd_config")).stderr(Stdio::piped());
        let mut child = sshd.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("listening")));
        assert!(first.is_some(), "sshd didn't start");
        std::thread::spawn(move || lines.for_each(drop));
        self.server = Some(Killed(child));
    }

    /// Kills it with the sessions that it serves.
    #[cfg(feature = "assistant")]
    pub fn kill(&mut self) {
        use rustix::process::{Pid, Signal, kill_process};
        let Some(server) = self.server.take() else { return };
        let id = server.0.id();
        let sessions = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        drop(server);
        for session in sessions.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)) {
            let _ = kill_process(session, Signal::KILL);
        }
    }
}

/// Three real etcd servers that are one cluster.
pub struct Etcd {
    folder: PathBuf,
    servers: Vec<Option<Killed>>,
    /// Of each, for clients and for its peers.
    pub ports: Vec<(u16, u16)>,
}

impl Etcd {
    /// Starts them in `folder`, and waits until they have a leader.
    pub fn start(folder: &Path) -> Self {
        let ports = || (0..3).map(|_| (free_port(), free_port())).collect();
        let mut etcd = Self { folder: folder.to_owned(), servers: vec![None, None, None], ports: ports() };
        while !etcd.start_all() {
            // Another program took a port in the meantime.
            etcd.servers = vec![None, None, None];
            (0..3).for_each(|at| std::fs::remove_dir_all(folder.join(format!("n{at}"))).unwrap_or_default());
            etcd.ports = ports();
        }
        etcd
    }

    /// Whether all of them run and have a leader; else one of them has ended by itself.
    fn start_all(&mut self) -> bool {
        (0..3).for_each(|at| self.start_one(at));
        let start = Instant::now();
        while !self.etcdctl(&["endpoint", "health"]).status.success() {
            if self.servers.iter_mut().flatten().any(|server| server.0.try_wait().unwrap().is_some()) {
                return false;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "etcd has no leader");
        }
        true
    }

    /// Starts one that isn't there, with the data that it has.
    pub fn start_one(&mut self, at: usize) {
        let (client, peer) = (url(self.ports[at].0), url(self.ports[at].1));
        let mut command = etcd(&format!("n{at}"), &self.folder, [&client, &peer], &self.cluster());
        // A leader on a machine that is busy with other tests isn't dead.
        command.args(["--heartbeat-interval", "200", "--election-timeout", "2000"]);
        self.servers[at] = Some(Killed(command.spawn().unwrap()));
    }

    /// The peers as each of them is told.
    fn cluster(&self) -> String {
        let peers = self.ports.iter().enumerate().map(|(n, (_, peer))| format!("n{n}={}", url(*peer)));
        peers.collect::<Vec<_>>().join(",")
    }

    /// The endpoints as settings name them.
    pub fn endpoints(&self) -> Vec<String> {
        self.ports.iter().map(|(port, _)| url(*port)).collect()
    }

    /// Kills one.
    pub fn kill(&mut self, at: usize) {
        self.servers[at] = None;
    }

    /// Stops one in the middle of its work, or lets it go on.
    pub fn pause(&self, at: usize, is_paused: bool) {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = Pid::from_raw(i32::try_from(self.servers[at].as_ref().unwrap().0.id()).unwrap()).unwrap();
        kill_process(pid, if is_paused { Signal::STOP } else { Signal::CONT }).unwrap();
    }

    /// Runs `etcdctl` with all endpoints.
    pub fn etcdctl(&self, args: &[&str]) -> std::process::Output {
        let endpoints = self.endpoints().join(",");
        etcdctl(&[&["--endpoints", &endpoints, "--command-timeout", "5s"], args].concat())
    }

    /// Keeps a snapshot of what stands in the cluster now.
    pub fn snapshot(&self) -> PathBuf {
        let file = self.folder.join("snapshot");
        let args = ["--endpoints", &self.endpoints()[0], "snapshot", "save", file.to_str().unwrap()];
        assert!(etcdctl(&args).status.success());
        file
    }

    /// Makes the whole cluster anew of a snapshot.
    pub fn restore(&mut self, snapshot: &Path) {
        (0..3).for_each(|at| self.kill(at));
        for at in 0..3 {
            let (name, peer) = (format!("n{at}"), url(self.ports[at].1));
            let data = self.folder.join(&name);
            std::fs::remove_dir_all(&data).unwrap();
            let from = ["snapshot", "restore", snapshot.to_str().unwrap(), "--name", &name];
            let to = ["--initial-advertise-peer-urls", &peer, "--data-dir", data.to_str().unwrap()];
            let output = etcdctl(&[&from[..], &to, &["--initial-cluster", &self.cluster()]].concat());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert!(self.start_all(), "a restored etcd ended by itself");
    }
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// An etcd server of this name with its data in `folder`; not started.
fn etcd(name: &str, folder: &Path, [client, peer]: [&String; 2], cluster: &str) -> Command {
    let mut command = Command::new("etcd");
    command.args(["--name", name, "--unsafe-no-fsync", "--data-dir"]).arg(folder.join(name));
    command.args(["--listen-client-urls", client, "--advertise-client-urls", client]);
    command.args(["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]);
    command.args(["--initial-cluster", cluster, "--initial-cluster-state", "new"]);
    command.stdout(Stdio::null()).stderr(std::fs::File::create(folder.join(format!("{name}.log"))).unwrap());
    command
}

fn etcdctl(args: &[&str]) -> std::process::Output {
    Command::new("etcdctl").args(args).env("ETCDCTL_API", "3").output().unwrap()
}

/// One real etcd server over TLS: it, and its address.
pub fn etcd_over_tls(folder: &Path) -> (Killed, String) {
    let tls = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines/tls");
    let (client, peer) = (format!("https://127.0.0.1:{}", free_port()), url(free_port()));
    let mut command = etcd("tls", folder, [&client, &peer], &format!("tls={peer}"));
    command.args(["--cert-file", &format!("{tls}/cert.pem"), "--key-file", &format!("{tls}/key.pem")]);
    (Killed(command.spawn().unwrap()), client)
}
