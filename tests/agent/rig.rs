//! A vault, a model server, and an engine between them whose approvals are given by a test.

pub use crate::support::prelude::*;
use vault_agent::agent::skills::{SkillTool, Skills};
pub use vault_agent::agent::tools::ApprovalVerdict;
use vault_agent::agent::tools::{ApprovalRequest, ApprovalSubject, Caller};
use vault_agent::agent::{AnswerEngine, Approvals, CombinedToolbox, EngineParts, Toolbox, bash::BashTool};
use vault_agent::brain::process::name_our_program;
use vault_agent::confine::{self, Helper};
use vault_agent::turn::{NewTurn, NoConversation, Responder, TurnJournal};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_vault-agent");

/// Whether this machine builds the whole box.
pub fn is_whole() -> bool {
    Helper::new(PROGRAM).install();
    let enforced = confine::enforcement();
    let weak: Vec<&str> = enforced.weak().map(|rule| rule.name).collect();
    if !enforced.is_whole() {
        eprintln!("skipped: this machine can't enforce {}", weak.join(", "));
    }
    enforced.is_whole()
}

/// Settings with one brain that is this server, and what `more` says of the assistant.
pub fn settings(server: &ModelServer, more: &str) -> String {
    format!("[assistant]\ntools = [\"bash\", \"vault\"]\n{more}\n{}", server.brain("one", "chat", ""))
}

/// A model server and a vault with these notes whose one brain it is.
pub async fn served(notes: &str, more: &str) -> (ModelServer, TestVault) {
    let (server, vault) = (ModelServer::start().await, TestVault::new(notes));
    vault.write("vault-agent.toml", settings(&server, more));
    (server, vault)
}

/// The same; none where this machine can't build the whole box.
pub async fn boxed(notes: &str, more: &str) -> Option<(ModelServer, TestVault)> {
    if is_whole() { Some(served(notes, more).await) } else { None }
}

/// A call of the shell.
pub fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({ "command": command }))
}

/// The server calls these tools, and then says that it is done.
pub fn script(server: &ModelServer, calls: Vec<(&str, Value)>) {
    let calls = calls.into_iter().map(|(name, arguments)| Reply::tool(name, arguments));
    server.script(calls.chain([Reply::text("Done.")]).collect());
}

/// A command's result without the line that marks it as untrusted.
pub fn output(result: &str) -> &str {
    let (notice, output) = result.split_once('\n').unwrap();
    assert!(notice.starts_with("[Untrusted output of a command: "), "{notice}");
    output
}

/// Says the same to whatever is asked, and remembers it.
pub struct Person {
    pub says: ApprovalVerdict,
    pub asked: Mutex<Vec<(ApprovalSubject, Caller)>>,
}

impl Person {
    pub fn who_says(says: ApprovalVerdict) -> Arc<Self> {
        Arc::new(Self { says, asked: Mutex::default() })
    }

    /// What was asked since the last look.
    pub fn asked(&self) -> Vec<ApprovalSubject> {
        std::mem::take(&mut *self.asked.lock().unwrap()).into_iter().map(|(wanted, _)| wanted).collect()
    }
}

#[async_trait]
impl Approvals for Person {
    async fn ask(&self, asked: ApprovalRequest<'_>) -> Result<ApprovalVerdict, String> {
        self.asked.lock().unwrap().push((asked.subject.clone(), asked.caller.clone()));
        Ok(self.says)
    }
}

/// Asks one question in this process, with what `person` says to approvals, and gives back what the tools said.
pub async fn ask(
    vault: &TestVault,
    server: &ModelServer,
    person: &Arc<Person>,
    calls: Vec<(&str, Value)>,
) -> Vec<String> {
    name_our_program(Path::new(PROGRAM));
    let before = server.requests().len();
    script(server, calls);
    let workspace = vault.workspace();
    let skills = Arc::new(Skills::of(&workspace));
    let bash = BashTool::of(&workspace, Arc::clone(&skills)).map(|bash| Arc::new(bash) as Arc<dyn Toolbox>);
    let boxes = bash.into_iter().chain([Arc::new(SkillTool(skills)) as _]).collect();
    let journal = Arc::new(TurnJournal::in_memory().unwrap());
    let (tools, approvals) = (Arc::new(CombinedToolbox(boxes)), Arc::clone(person) as _);
    let engine = AnswerEngine::new(EngineParts { tools, approvals, ..EngineParts::of(&workspace, &journal) });
    let turn = NewTurn { message: 1, text: "Do it.".into(), ..NewTurn::default() };
    journal.accept(&turn, workspace.clock.now()).unwrap();
    let answer = engine.unwrap().answer(1, &NoConversation, &CancellationToken::new()).await;
    assert_eq!(answer.unwrap().text, "Done.");
    let requests = server.requests();
    assert!(requests.len() > before);
    requests.last().unwrap().results()
}
