//! Servers of a vault, called as a turn calls them.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vault_agent::agent::Toolbox;
use vault_agent::agent::servers::Servers;
use vault_agent::agent::tools::{Caller, Precondition};
use vault_agent::brain::ToolCall;
use vault_agent::brain::process::name_our_program;
use vault_agent::clock::SystemClock;
use vault_agent::config::Dirs;
use vault_agent::turn::journal::ToolEnd;
use vault_agent::vault::Vault;
use vault_agent::workspace::Workspace;

use crate::support::processes::python;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_vault-agent");

/// A vault with servers.
pub struct Rig {
    pub temp: tempfile::TempDir,
    pub servers: Arc<Servers>,
    pub workspace: Arc<Workspace>,
}

/// The settings of a server that behaves in a way.
pub fn scripted(mode: &str, pids: &Path, more: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/server.py");
    format!(
        "[[mcp]]\nname = \"web\"\ncommand = [\"python3\", \"-u\", \"{script}\", \"{mode}\", \"{}\"]\n\
         tools = [\"look\", \"walk\"]\n{more}\n",
        pids.display()
    )
}

pub fn caller(turn: &str, tainted: bool) -> Caller {
    Caller { turn: turn.into(), number: 0, brain: "a".into(), tainted }
}

pub fn request(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: "c".into(), name: tool.into(), arguments: arguments.to_string() }
}

impl Rig {
    /// With these settings; `PIDS` and `VAULT` in them are its own paths.
    pub fn new(settings: &str) -> Self {
        name_our_program(Path::new(PROGRAM));
        let temp = tempfile::tempdir().unwrap();
        for dir in ["vault", "state", "cache"] {
            std::fs::create_dir(temp.path().join(dir)).unwrap();
        }
        let root = temp.path().join("vault");
        std::fs::write(root.join("MEMORY.md"), "## Ann\n- likes green tea\n").unwrap();
        let pids = temp.path().join("pids").display().to_string();
        let settings = settings.replace("VAULT", &root.display().to_string()).replace("PIDS", &pids);
        std::fs::write(root.join("vault-agent.toml"), settings).unwrap();
        let dirs = Dirs { state: temp.path().join("state"), cache: temp.path().join("cache") };
        let vault = Vault::open(&root).unwrap();
        let workspace = Arc::new(Workspace::open_in(vault, dirs, Arc::new(SystemClock)).unwrap());
        let mine = workspace.settings.mcp.iter().filter(|server| server.is_for("assistant"));
        let servers = Servers::of(Arc::clone(&workspace), mine.cloned().collect()).expect("a server");
        Self { temp, servers: Arc::new(servers), workspace }
    }

    /// With a server that behaves in this way; none where there is no Python for it.
    pub fn scripted(mode: &str, more: &str) -> Option<Self> {
        python().then(|| Self::new(&scripted(mode, Path::new("PIDS"), more)))
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> ToolEnd {
        let stop = CancellationToken::new();
        self.servers.call(&request(tool, arguments), &caller("t1", false), &stop).await
    }

    pub async fn look(&self) -> ToolEnd {
        self.call("mcp_call", json!({"server": "web", "tool": "look", "arguments": {"q": "tea"}})).await
    }

    pub fn precondition(&self, tool: &str, arguments: Value, tainted: bool) -> Precondition {
        self.servers.precondition(&request(tool, arguments), &caller("t1", tainted))
    }

    pub async fn ended(&self) {
        self.servers.turn_ended("t1").await;
    }

    /// What a scripted server wrote of itself: the ids of its processes.
    pub fn pids(&self) -> Vec<u32> {
        let text = std::fs::read_to_string(self.temp.path().join("pids")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// The processes of this vault that live.
    pub fn living(&self) -> usize {
        let state = self.workspace.dirs.state.as_os_str().as_encoded_bytes().to_vec();
        let place = blake3::hash(&state).to_hex()[..16].to_owned();
        children_of(&place)
    }
}

/// The living processes that bear this place's mark.
pub fn children_of(place: &str) -> usize {
    let is_one = |entry: &std::fs::DirEntry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| {
            let text = String::from_utf8_lossy(variable);
            text.strip_prefix("VAULT_AGENT_CHILD_OF=")
                .is_some_and(|mark| mark.split('.').any(|part| part == place))
        })
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(is_one).count()
}

/// Whether a process lives.
pub fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
