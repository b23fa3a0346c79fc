//! Servers of a vault, called as a turn calls them.

pub use crate::support::prelude::*;
pub use vault_agent::agent::Toolbox;
use vault_agent::agent::servers::Servers;
use vault_agent::agent::tools::{Caller, Precondition};
use vault_agent::brain::{ToolCall, process::name_our_program};
use vault_agent::turn::turn_journal::ToolEnd;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_vault-agent");

/// A vault with servers.
pub struct Rig {
    folder: Folder,
    pub servers: Arc<Servers>,
    pub workspace: Arc<Workspace>,
}

holds_folder!(Rig);

/// The settings of a server that behaves in a way.
pub fn scripted(mode: &str, pids: &Path, more: &str) -> String {
    scripted_server("web", mode, pids, &format!("tools = [\"look\", \"walk\"]\n{more}"))
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
        let folder = Folder::new(&["state", "cache"]);
        folder.write("MEMORY.md", "## Ann\n- likes green tea\n");
        let pids = folder.dir().join("pids").display().to_string();
        let settings = settings.replace("VAULT", &folder.root().display().to_string()).replace("PIDS", &pids);
        folder.write("vault-agent.toml", settings);
        let workspace = Arc::new(support::workspace(folder.dir(), Arc::new(SystemClock)));
        let mine = workspace.settings.mcp.iter().filter(|server| server.is_for("assistant"));
        let servers = Servers::of(Arc::clone(&workspace), mine.cloned().collect()).expect("a server");
        Self { folder, servers: Arc::new(servers), workspace }
    }

    /// With a server that behaves in this way; none where there is no Python for it.
    pub fn scripted(mode: &str, more: &str) -> Option<Self> {
        python().then(|| Self::new(&scripted(mode, Path::new("PIDS"), more)))
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> ToolEnd {
        self.servers.call(&request(tool, arguments), &caller("t1", false), &CancellationToken::new()).await
    }

    /// What is told of a server's tools.
    pub async fn tools(&self, server: &str) -> ToolEnd {
        self.call("mcp_tools", json!({"server": server})).await
    }

    pub async fn tool(&self, server: &str, tool: &str, arguments: Value) -> ToolEnd {
        self.call("mcp_call", json!({"server": server, "tool": tool, "arguments": arguments})).await
    }

    pub async fn look(&self) -> ToolEnd {
        self.tool("web", "look", json!({"q": "tea"})).await
    }

    pub fn precondition(&self, tool: &str, arguments: Value, tainted: bool) -> Precondition {
        self.servers.precondition(&request(tool, arguments), &caller("t1", tainted))
    }

    pub async fn ended(&self) {
        self.servers.turn_ended("t1").await;
    }

    /// Waits until none of its processes lives.
    pub fn all_are_gone(&self) {
        until("all are gone", || living(self) == 0);
    }

    /// What a scripted server wrote of itself: the ids of its processes.
    pub fn pids(&self) -> Vec<u32> {
        pids_in(self.dir())
    }
}

/// What a scripted server wrote in this folder.
pub fn pids_in(folder: &Path) -> Vec<u32> {
    let text = fs::read_to_string(folder.join("pids")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// How many processes live that bear the mark of this vault's state.
pub fn living(vault: &Folder) -> usize {
    let place = blake3::hash(vault.state().as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned();
    let is_one = |(_, _, environment): &(u32, String, String)| {
        let marks = environment.split('\0').filter_map(|text| text.strip_prefix("VAULT_AGENT_CHILD_OF="));
        marks.flat_map(|mark| mark.split('.')).any(|part| part == place)
    };
    running().iter().filter(|process| is_one(process)).count()
}
