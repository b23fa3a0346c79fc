//! A harness over a stand-in for its program: a script in Python that speaks the real protocol over real pipes, with
//! our real MCP server and our real supervisor.

use crate::harness::rig::*;
use tokio::sync::Notify;
use vault_agent::brain::harness::{HarnessSetup, McpServerCommand};
use vault_agent::brain::process::{Supervision, name_our_program};
use vault_agent::brain::{BrainError, HarnessHost, HarnessTask, Reply, Request, ToolCall, ToolResult};

use crate::brain::rig::PATIENT;

const PROGRAM: &str = env!("CARGO_BIN_EXE_vault-agent");
pub const KEY: &str = "sk-canary-0123456789";

pub fn question(text: &str) -> Request {
    Request { system: "Be brief.".into(), messages: vec![Message::user(text)], ..Request::default() }
}

/// A stand-in, a vault, and a state directory.
pub struct Stand {
    pub temp: tempfile::TempDir,
    pub setup: HarnessSetup,
}

/// The stand-in of this file name; none where there is no Python that it needs.
pub fn stand(script: &str) -> Option<Stand> {
    let mut stand = python().then(|| stand_of(vec![python3().into(), program(script)]))?;
    stand.setup.command.push(stand.temp.path().join("script.json").to_str().unwrap().to_owned());
    Some(stand)
}

/// Where the stand-in of this file name stands.
pub fn program(script: &str) -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/harnesses/").to_owned() + script
}

/// The same around any program.
pub fn stand_of(command: Vec<String>) -> Stand {
    name_our_program(Path::new(PROGRAM));
    let temp = support::folder::temporary();
    let path = |name: &str| temp.path().join(name);
    for folder in ["vault/.obsidian", "state", "cache", "run"] {
        std::fs::create_dir_all(path(folder)).unwrap();
    }
    std::fs::write(path("vault/MEMORY.md"), "# Memory\n\n## Anna\n- likes oolong tea\n").unwrap();
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    let folders = [("VAULT_AGENT_STATE_DIR", "state"), ("VAULT_AGENT_CACHE_DIR", "cache")];
    let setup = HarnessSetup {
        brain: "coder".into(),
        command,
        model: "model-1".into(),
        url: Some("http://127.0.0.1:1".into()),
        key: Some(KEY.to_owned().into()),
        key_env: None,
        tools: vec![],
        supervision: Supervision { state: path("state"), timeouts: PATIENT },
        dir: path("run"),
        server: Some(McpServerCommand {
            command: vec![PROGRAM.into(), "--vault".into(), text(path("vault")), "mcp".into()],
            env: folders.map(|(name, folder)| (name.to_owned(), text(path(folder)))).into(),
        }),
    };
    Stand { temp, setup }
}

impl Stand {
    /// An agent of the Agent Client Protocol, which is given its key in this variable.
    pub fn acp(&self, key_env: Option<&str>) -> Acp {
        Acp { setup: HarnessSetup { key_env: key_env.map(str::to_owned), ..self.setup.clone() } }
    }

    /// What the stand-in does: a list of turns, each a list of steps.
    pub fn script(&self, turns: &Value) {
        std::fs::write(self.temp.path().join("script.json"), turns.to_string()).unwrap();
    }

    /// Whatever is silent for so long is ended.
    pub fn impatient(&mut self) {
        self.setup.supervision.timeouts.silence = Duration::from_secs(1);
    }

    pub fn memory(&self) -> String {
        std::fs::read_to_string(self.temp.path().join("vault/MEMORY.md")).unwrap()
    }

    /// All that the stand-in heard, in order.
    pub fn heard(&self) -> Vec<Value> {
        let home = self.temp.path().join("state/codex/coder");
        let file = [home.join("heard.jsonl"), self.temp.path().join("run/heard.jsonl")];
        let text = file.iter().find_map(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What it heard of one method, in order.
    pub fn heard_of(&self, method: &str) -> Vec<Value> {
        let of = |heard: &Value| heard["method"] == method;
        self.heard().into_iter().filter(of).map(|heard| heard["params"].clone()).collect()
    }

    /// The words of what it was told in its question of this number, by the method and the field that hold them.
    pub fn prompted(&self, (method, field): (&str, &str), at: usize) -> String {
        let said = self.heard_of(method)[at][field].clone();
        said.as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap_or_default()).collect()
    }

    /// Waits until no process of a run is left: the system may take a moment to forget what was killed.
    pub async fn nothing_is_left(&self) {
        when("the end of all processes", || self.alive().is_empty()).await;
    }

    /// The processes of our runs with this word in their command lines, without the supervisor: their ids.
    pub fn programs(&self, word: &str) -> Vec<String> {
        let of = |(_, line): &(String, Vec<String>)| {
            line.iter().any(|part| part == word) && line.get(1).is_none_or(|first| first != "__supervise")
        };
        self.processes().into_iter().filter(of).map(|(pid, _)| pid).collect()
    }

    fn alive(&self) -> Vec<String> {
        self.processes().into_iter().map(|(_, line)| line.join(" ")).collect()
    }

    /// Ids and command lines of the processes that our runs started and that aren't gone.
    fn processes(&self) -> Vec<(String, Vec<String>)> {
        let state = self.temp.path().to_str().unwrap();
        let of = |(_, _, environment): &(u32, String, String)| {
            environment.contains("VAULT_AGENT_CHILD_OF=") && environment.contains(state)
        };
        let parts = |line: String| line.split_terminator('\0').map(str::to_owned).collect();
        running().into_iter().filter(of).map(|(pid, line, _)| (pid.to_string(), parts(line))).collect()
    }
}

/// What a host was told, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    Started(ToolCall),
    Finished(ToolResult),
    May(ToolCall),
    Session(String),
    Retries(FailureClass),
}

/// A host that keeps what it is told.
#[derive(Default)]
pub struct Record {
    pub told: Mutex<Vec<Told>>,
    pub allows: bool,
    pub lets_retry: bool,
    pub begun: Arc<Notify>,
}

impl Record {
    pub fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }

    fn of<T>(&self, which: impl Fn(Told) -> Option<T>) -> Vec<T> {
        self.told().into_iter().filter_map(which).collect()
    }

    pub fn started(&self) -> Vec<String> {
        self.of(|told| if let Told::Started(call) = told { Some(call.name) } else { None })
    }

    pub fn finished(&self) -> Vec<ToolResult> {
        self.of(|told| if let Told::Finished(result) = told { Some(result) } else { None })
    }

    pub fn sessions(&self) -> Vec<String> {
        self.of(|told| if let Told::Session(id) = told { Some(id) } else { None })
    }

    fn note(&self, told: Told) {
        self.told.lock().unwrap().push(told);
    }
}

#[async_trait]
impl HarnessHost for Record {
    async fn tool_started(&self, call: &ToolCall) {
        self.note(Told::Started(call.clone()));
    }
    async fn tool_finished(&self, result: &ToolResult) {
        self.note(Told::Finished(result.clone()));
    }
    async fn may(&self, call: &ToolCall) -> bool {
        self.note(Told::May(call.clone()));
        self.allows || call.name.starts_with("memory_")
    }
    async fn session(&self, id: &str) {
        self.note(Told::Session(id.to_owned()));
        self.begun.notify_one();
    }
    fn retries(&self, class: FailureClass, _: &str) -> bool {
        self.note(Told::Retries(class));
        self.lets_retry
    }
}

/// A turn of a new session.
pub fn task(request: &Request) -> HarnessTask<'_> {
    let fresh = request.messages.len();
    HarnessTask { request, fresh, session: None, turn: Some("77"), keep: true, servers: &[] }
}

/// Runs one turn of a new session.
pub async fn ask(harness: &dyn Harness, request: &Request, host: &Record) -> Result<Reply, BrainError> {
    harness.run(&task(request), host, CancellationToken::new()).await
}

/// The same, where neither the question nor what the host is told matters.
pub async fn answered(harness: &dyn Harness) -> Result<Reply, BrainError> {
    ask(harness, &question("?"), &Record::default()).await
}

/// The error of a turn that is not answered.
pub async fn fails(harness: &dyn Harness) -> BrainError {
    let error = answered(harness).await.unwrap_err();
    assert!(!error.message.contains("canary"), "{error}");
    error
}

/// A question after another one and its answer.
pub fn later(before: &str, now: &str) -> Request {
    let messages = vec![Message::user(before), Message::assistant("Yes."), Message::user(now)];
    Request { messages, cache_after: Some(1), ..question("") }
}

/// A step of a stand-in: it saves this with our tool.
pub fn save(content: &str) -> Value {
    json!({"tool": "memory_save", "arguments": {"scope": "long", "key": "Ben", "content": content}})
}

/// Fails in each of these ways: each has its class and holds no key.
pub async fn is_classed(stand: &Stand, harness: &dyn Harness, cases: &[(Value, FailureClass)]) {
    stand.script(&cases.iter().map(|(error, _)| json!([{"fail": error}])).collect());
    for (error, class) in cases {
        assert_eq!(fails(harness).await.class, *class, "{error}");
    }
}

/// Hangs, and then ends with a word of the key: it is ended with all that it started, and its word is told.
pub async fn ends<H: Harness>(stand: &mut Stand, harness: impl Fn(&Stand) -> H) {
    stand.script(&json!([[{"say": "Half"}, {"hang": 1}],
        [{"say": "Half an"}, {"stderr": format!("broken: {KEY}\n")}, {"exit": 3}]]));
    stand.impatient();
    let error = fails(&harness(stand)).await;
    assert_eq!(error.class, FailureClass::Timeout, "{error}");
    stand.nothing_is_left().await;
    stand.setup.supervision.timeouts = PATIENT;
    let error = fails(&harness(stand)).await;
    assert_eq!(error.class, FailureClass::Crash, "{error}");
    assert!(error.message.contains("status 3") && error.message.contains("broken"), "{error}");
}

/// Nonsense, endless lines, and whatever cut of its bytes change nothing.
pub async fn passes_over_nonsense<H: Harness>(script: &str, harness: impl Fn(&Stand) -> H) {
    for pieces in [0, 1, 3, 1000] {
        let Some(stand) = stand(script) else { return };
        stand.script(&json!([[{"noise": "Welcome!\n\n{\"id\":\n[1]\n{}\n"}, {"huge": 9 << 20},
            {"pieces": pieces}, save("likes cocoa"), {"noise": "\u{1b}[31mö\n"}, {"say": "Tschüß, bis dann."}]]));
        let host = Record::default();
        assert_eq!(ask(&harness(&stand), &question("?"), &host).await.unwrap().text, "Tschüß, bis dann.");
        assert_eq!(host.started(), ["memory_save"]);
    }
}

/// What it wants to do itself, with its own tool of this name, is asked about and declined by default.
pub async fn asks_first<H: Harness>(script: &str, own: &str, harness: impl Fn(&Stand) -> H) {
    for (named, allows, made) in [(true, true, true), (true, false, false), (false, true, false)] {
        let Some(mut stand) = stand(script) else { return };
        stand.script(&json!([[{"command": "echo made > made"}, {"say": "Done."}]]));
        if named {
            stand.setup.tools.push(own.into());
        }
        let host = Record { allows, ..Record::default() };
        assert_eq!(ask(&harness(&stand), &question("make it"), &host).await.unwrap().text, "Done.");
        assert_eq!(stand.setup.dir.join("made").exists(), made, "{named} {allows}");
        assert_eq!(host.told().iter().any(|told| matches!(told, Told::May(call) if call.name == own)), named);
        assert_eq!(host.finished()[0].is_error, !made);
        assert_eq!(host.started(), [own]);
    }
}

/// The history of a vault in this folder, as its command shows it.
pub fn history(root: &Path) -> String {
    let mut command = support::program(&Folder::Others(root.to_owned()), &["--json", "history"]);
    Run::of(command.env("VAULT_AGENT_VAULT", root.join("vault"))).stdout
}

/// Goes on with a session that lacks the last message.
pub async fn go_on(
    harness: &dyn Harness,
    request: &Request,
    session: &str,
    host: &Record,
) -> Result<Reply, BrainError> {
    let task =
        HarnessTask { request, fresh: 1, session: Some(session), turn: Some("78"), keep: true, servers: &[] };
    harness.run(&task, host, CancellationToken::new()).await
}

/// Says that Ben likes cocoa, which it saves with our tool: the call is told before it may happen, and its end after.
pub async fn calls_our_tool(stand: &Stand, harness: &dyn Harness) {
    let host = Record::default();
    assert_eq!(ask(harness, &question("Ben likes cocoa"), &host).await.unwrap().text, "Saved.");
    assert!(stand.memory().contains("likes cocoa"), "{}", stand.memory());
    let told = host.told();
    let [Told::Session(_), Told::Started(call), Told::May(asked), Told::Finished(result)] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(asked, call, "it is known before it may happen");
    assert_eq!((call.name.as_str(), &call.id), ("memory_save", &result.call_id));
    assert_eq!(serde_json::from_str::<Value>(&call.arguments).unwrap()["content"], "likes cocoa");
    assert!(!result.is_error && result.text.contains("likes cocoa"), "{result:?}");
    stand.nothing_is_left().await;
}

/// Killed after a call of a tool it goes on with its session, where it can resume one, and one that is lost is made again
/// from the request. `said` is the method and the field of what it is told. Gives the answer after the kill.
pub async fn goes_on(stand: &Stand, harness: &dyn Harness, said: (&str, &str), resumes: bool) -> Reply {
    stand.script(&json!([[save("likes cocoa"), {"kill": 9}], [{"usage": 30}, {"say": "It is saved."}],
        [{"say": "Again."}]]));
    let host = Record::default();
    let error = ask(harness, &question("Tea?"), &host).await.unwrap_err();
    assert_eq!(error.class, FailureClass::Crash, "{error}");
    assert!(error.message.contains("signal 9"), "{error}");
    assert_eq!(host.finished().len(), 1);
    stand.nothing_is_left().await;
    let session = host.sessions().remove(0);
    let (again, asked) = (Record::default(), later("Tea?", "And now?"));
    let reply = go_on(harness, &asked, &session, &again).await.unwrap();
    assert_eq!(reply.text, "It is saved.");
    assert_eq!(again.sessions() == [session], resumes);
    let told = stand.prompted(said, 1);
    assert_eq!((told == "And now?", told.contains(r#"{"user":"Tea?"}"#)), (resumes, !resumes), "{told}");
    assert_eq!(stand.memory().matches("likes cocoa").count(), 1);
    let lost = Record::default();
    assert_eq!(go_on(harness, &asked, "session-0", &lost).await.unwrap().text, "Again.");
    assert_ne!(lost.sessions(), ["session-0"]);
    let told = stand.prompted(said, 2);
    assert!(told.contains(r#"{"user":"Tea?"}"#) && told.ends_with("And now?"), "{told}");
    reply
}
