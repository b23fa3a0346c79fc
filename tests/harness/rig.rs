//! A vault with brains, an engine over them, and a model server before them.

pub use crate::support::prelude::*;
pub use vault_agent::agent::tools::ApprovalVerdict;
use vault_agent::agent::tools::{CombinedToolbox, Toolbox};
use vault_agent::agent::{AnswerEngine, Approvals, EngineParts, OtherBrains, RunPurpose, servers::Servers};
pub use vault_agent::brain::acp::Acp;
pub use vault_agent::brain::codex::Codex;
use vault_agent::brain::process;
pub use vault_agent::brain::wire::BrainTimeouts;
pub use vault_agent::brain::{FailureClass, Harness, Message};
use vault_agent::mcp::VaultTools;
pub use vault_agent::turn::Responder;
use vault_agent::turn::turn_journal::{NewTurn, ToolRow};
use vault_agent::turn::{Conversation, Halt, TurnAnswer, TurnJournal, TurnNote};

use crate::brain::{rig::PATIENT, spending::Fixed};
use crate::harness::{stand, stand_in};

pub use crate::agent::rig::Person;

pub const CLAUDE_KEY: &str = "harness-key-0123456789abcdef";

/// Keeps what a turn notes.
#[derive(Default)]
pub struct Desk {
    pub notes: Mutex<Vec<TurnNote>>,
}

impl Conversation for Desk {
    fn note(&self, note: TurnNote) {
        self.notes.lock().unwrap().push(note);
    }
    fn progress(&self, _: &str) {}
}

pub struct Rig {
    folder: Folder,
    pub server: ModelServer,
    pub journal: Arc<TurnJournal>,
    pub person: Arc<Person>,
    pub desk: Desk,
    pub timeouts: BrainTimeouts,
}

holds_folder!(Rig);

impl Rig {
    /// `brains` are the brains' tables, one after the other: [`brain`] makes them.
    pub async fn new(brains: impl FnOnce(&Rig) -> String) -> Self {
        process::name_our_program(Path::new(env!("CARGO_BIN_EXE_vault-agent")));
        let folder = Folder::new(&["vault/.obsidian", "vault/logs", "state", "cache", "bin"]);
        stand_in::install(&folder.dir().join("bin"));
        write_private(folder.dir().join("key"), CLAUDE_KEY);
        let journal = Arc::new(TurnJournal::open(&folder.state()).unwrap());
        let (person, server) = (Person::who_says(ApprovalVerdict::No), ModelServer::start().await);
        let rig = Self { folder, server, journal, person, desk: Desk::default(), timeouts: PATIENT };
        rig.write("vault-agent.toml", brains(&rig));
        rig
    }

    /// A brain's table. What stands after a `+` in the name is what its program does wrong.
    pub fn brain(&self, kind: &str, name: &str) -> String {
        let (plain, wrong) =
            name.split_once('+').map_or((name, String::new()), |(n, w)| (n, format!("+{w}")));
        let url = self.server.url();
        let mut command =
            vec![python3().to_owned(), stand::program(&format!("{kind}.py")), "model".to_owned()];
        match kind {
            "claude-code" => command = vec![self.dir().join("bin/claude").display().to_string()],
            "acp" => command.extend(format!("{url}{wrong}").split('+').map(str::to_owned)),
            "codex" => {}
            _ => command.clear(),
        }
        let command = if command.is_empty() { String::new() } else { format!("command = {command:?}\n") };
        let key = format!("url = \"{url}\"\nkey_file = \"../key\"\n{command}");
        format!("[[brain]]\nname = \"{plain}\"\nkind = \"{kind}\"\nmodel = \"model-{plain}{wrong}\"\n{key}")
    }

    pub fn open(&self) -> Workspace {
        support::workspace(self.dir(), Arc::new(SystemClock))
    }

    pub fn workspace(&self) -> Arc<Workspace> {
        Arc::new(self.open())
    }

    pub fn engine(&self) -> AnswerEngine {
        self.engine_for(None)
    }

    /// The engine of a routine, or of a conversation.
    pub fn engine_for(&self, routine: Option<RunPurpose>) -> AnswerEngine {
        let workspace = self.workspace();
        let mut boxes: Vec<Arc<dyn Toolbox>> =
            vec![Arc::new(VaultTools::beside_turns(self.open(), OtherBrains::default()))];
        let mine = workspace.settings.mcp.iter().filter(|server| server.is_for("assistant"));
        let servers = Servers::of(Arc::clone(&workspace), mine.cloned().collect());
        boxes.extend(servers.map(|servers| Arc::new(servers) as Arc<dyn Toolbox>));
        AnswerEngine::new(EngineParts {
            tools: Arc::new(CombinedToolbox(boxes)),
            approvals: Arc::clone(&self.person) as Arc<dyn Approvals>,
            memory: Arc::new(Fixed("")),
            timeouts: self.timeouts,
            routine,
            ..EngineParts::of(&workspace, &self.journal)
        })
        .unwrap()
    }

    pub fn accept(&self, message: u64, text: &str, block: &str) {
        let (text, block) = (text.to_owned(), block.to_owned());
        let turn = NewTurn { message, text, block, channel: 7, ..NewTurn::default() };
        assert!(self.journal.accept(&turn, SystemClock.now()).unwrap());
    }

    /// Asks, with a turn of its own.
    pub async fn ask(&self, message: u64, text: &str) -> Result<TurnAnswer, Halt> {
        self.accept(message, text, "");
        self.answer(message).await
    }

    pub async fn answer(&self, message: u64) -> Result<TurnAnswer, Halt> {
        self.engine().answer(message, &self.desk, &CancellationToken::new()).await
    }

    pub fn tools(&self, message: u64) -> Vec<ToolRow> {
        self.journal.tools(message).unwrap()
    }

    /// The reminders that stand in the vault.
    pub fn reminders(&self) -> usize {
        self.text("Reminders.md").lines().filter(|line| line.starts_with("- [ ]")).count()
    }

    /// No process has this rig's folder in its environment or arguments any more, but this test's own.
    pub fn left(&self) -> Vec<String> {
        named(self.dir())
    }
}

/// A call that adds a reminder, by the name that a brain of this kind knows it by.
pub fn remind(kind: &str) -> Reply {
    let prefix = if kind == "claude-code" { "mcp__vault-agent__" } else { "" };
    Reply::tool(format!("{prefix}reminder_add"), json!({"when": "2030-01-01 10:00", "message": "drink tea"}))
}

/// All that a request says.
pub fn words(asked: &Asked) -> String {
    String::from_utf8_lossy(&asked.bytes).into_owned()
}
