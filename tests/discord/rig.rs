//! A bot in a vault of its own, against a Discord of our own.

use crate::discord::fake::FakeDiscord;
use async_trait::async_trait;
use jiff::civil;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::{self, Runtime};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use vault_agent::agent::{
    CombinedToolbox, Engine, EngineParts, FoundMemory, MemorySearch, RecalledContext, Toolbox, TurnMemory,
    VaultApprovals, Waiter, memory_answer,
};
use vault_agent::clock::{Clock, SystemClock};
use vault_agent::config;
use vault_agent::deliver::Fact;
use vault_agent::deliver::{Answers, DeliveryOrder};
use vault_agent::discord::{
    self, Api, BotNotifier, BotParts, DaemonServices, DiscordError, GatewayStatus, Logbook, Owners, Pace,
    VaultOperations,
};
use vault_agent::format::log::{self, LogBlock};
use vault_agent::schedule::Zone;
use vault_agent::turn::{Conversation, Facts, Halt, Responder, TurnAnswer, TurnJournal, TurnState};
use vault_agent::turn::{facts, rebuild};
use vault_agent::vault::{EditOptions, Editor, Vault};
use vault_agent::workspace::Workspace;

pub const CHANNEL: u64 = 2000;
pub const ALICE: u64 = 42;
pub const MALLORY: u64 = 66;
pub const LONG: Duration = Duration::from_secs(60);

/// The daemon's part, as far as tests look at it.
#[derive(Default)]
pub struct Daemon {
    pub confirmed: Mutex<Vec<String>>,
    pub facts: Mutex<HashMap<String, Fact>>,
}

#[async_trait]
impl DaemonServices for Daemon {
    async fn status(&self) -> String {
        "all is well".into()
    }
    async fn undo(&self) -> Result<String, String> {
        Err("nothing to undo".into())
    }
    async fn confirm(&self, what: &str, line: &str) {
        self.confirmed.lock().unwrap().push(format!("{what}: {line}"));
    }
    async fn fact(&self, id: &str, _: civil::DateTime) -> Option<Fact> {
        self.facts.lock().unwrap().get(id).cloned()
    }
}

/// A memory that knows one thing.
pub struct Dentist;

#[async_trait]
impl MemorySearch for Dentist {
    async fn recall(&self, query: &str, _: usize) -> Result<Vec<FoundMemory>, String> {
        let hit = FoundMemory {
            path: "MEMORY.md".into(),
            line: 3,
            when: None,
            text: "The dentist is on Friday".into(),
            block: None,
        };
        Ok(if query.contains("dentist") { vec![hit] } else { vec![] })
    }
}

#[async_trait]
impl TurnMemory for Dentist {
    async fn context_for(&self, question: &str, _: &[&str]) -> Result<RecalledContext, String> {
        let known = question.contains("dentist");
        let given = || RecalledContext {
            injection: format!("{}\n{{\"memories\":[\"The dentist is on Friday\"]}}", rebuild::MARK),
            links: "- [[MEMORY#^A]]".into(),
        };
        Ok(if known { given() } else { RecalledContext::default() })
    }

    async fn answer(&self, question: &str, own: &[&str]) -> Result<String, String> {
        memory_answer::answer(self, question, own).await
    }
}

/// Who answers.
#[derive(Clone)]
pub enum Answering {
    /// The assistant itself, with the settings of the vault; without any, memory.
    Assistant,
    /// Takes its time, and says what it heard.
    Slow(Duration),
    /// Can't go on, whenever it is asked.
    Never,
}

struct Never;

#[async_trait]
impl Responder for Never {
    async fn answer(&self, _: u64, _: &dyn Conversation, _: &CancellationToken) -> Result<TurnAnswer, Halt> {
        Err(Halt::Later("nothing can be read".into()))
    }
}

struct Slow(Duration, Arc<TurnJournal>);

#[async_trait]
impl Responder for Slow {
    async fn answer(
        &self,
        message: u64,
        _: &dyn Conversation,
        stop: &CancellationToken,
    ) -> Result<TurnAnswer, Halt> {
        tokio::select! {
            () = tokio::time::sleep(self.0) => {}
            () = stop.cancelled() => return Err(Halt::Stopped),
        }
        let turn = self.1.turn(message).unwrap().unwrap();
        let facts = Facts {
            brain: "slow".into(),
            turn: turn.asked.block.split_once("#^").map(|(_, id)| id.to_owned()),
            ..Facts::default()
        };
        Ok(TurnAnswer { text: format!("heard: {}", turn.asked.text), facts })
    }
}

pub struct Rig {
    pub fake: Arc<FakeDiscord>,
    pub temp: Arc<tempfile::TempDir>,
    pub settings: config::Discord,
    pub daemon: Arc<Daemon>,
    pub answering: Answering,
    pub tools: Arc<dyn Toolbox>,
    /// Of the bot that was started last.
    pub approvals: Arc<Mutex<Option<Arc<VaultApprovals>>>>,
    pub sweep: Duration,
    pub gather: Duration,
    pub stall: Option<Duration>,
    pub pace: Pace,
    pub token: Option<String>,
    pub clock: Arc<dyn Clock>,
}

/// A bot that runs, on a runtime of its own: all of it can be cut off as a crash would.
pub struct Running {
    pub status: watch::Receiver<GatewayStatus>,
    pub shutdown: CancellationToken,
    task: tokio::task::JoinHandle<Result<(), DiscordError>>,
    runtime: Option<Runtime>,
}

impl Running {
    pub async fn stop(mut self) -> Result<(), DiscordError> {
        self.shutdown.cancel();
        tokio::time::timeout(LONG, &mut self.task).await.expect("it stops").expect("no panic")
    }

    pub async fn end(mut self) -> Result<(), DiscordError> {
        tokio::time::timeout(LONG, &mut self.task).await.expect("it ends").expect("no panic")
    }

    /// Cuts the bot off in the midst of whatever it does. On return nothing of it runs any more.
    pub async fn crash(mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        // Tasks end where they wait; what is writing a file ends with the write.
        tokio::task::spawn_blocking(move || drop(runtime)).await.expect("no panic");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Rig {
    pub async fn new() -> Self {
        Self::on(Arc::new(FakeDiscord::start().await))
    }

    pub fn on(fake: Arc<FakeDiscord>) -> Self {
        let temp = Arc::new(tempfile::tempdir().unwrap());
        for dir in ["vault", "state"] {
            std::fs::create_dir(temp.path().join(dir)).unwrap();
        }
        let settings = config::Discord {
            channel_id: Some(CHANNEL),
            guild_id: Some(1000),
            owner_ids: vec![ALICE],
            api_base: Some(fake.api_base()),
            ..config::Discord::default()
        };
        Self {
            fake,
            temp,
            settings,
            daemon: Arc::default(),
            answering: Answering::Assistant,
            tools: Arc::new(CombinedToolbox::default()),
            approvals: Arc::default(),
            sweep: BotParts::SWEEP,
            gather: BotParts::GATHER,
            stall: None,
            pace: Pace::default(),
            token: None,
            clock: Arc::new(SystemClock),
        }
    }

    pub fn vault(&self) -> PathBuf {
        self.temp.path().join("vault")
    }

    pub fn api(&self) -> Api {
        let token = self.token.clone().unwrap_or_else(|| self.fake.world().token.clone());
        Api::new(Some(&SecretString::from(token)), Some(&self.fake.api_base())).unwrap()
    }

    pub fn editor(&self) -> Arc<Editor> {
        let vault = Vault::open(&self.vault()).unwrap();
        let state = self.temp.path().join("state");
        Arc::new(Editor::new(vault, &state, self.clock.clone(), EditOptions::default()))
    }

    pub fn operations(&self) -> VaultOperations {
        VaultOperations {
            workspace: self.workspace(),
            recall: Arc::new(Dentist),
            services: self.daemon.clone(),
        }
    }

    pub fn state(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    pub fn workspace(&self) -> Arc<Workspace> {
        let dirs = config::Dirs { state: self.state(), cache: self.temp.path().join("cache") };
        let vault = Vault::open(&self.vault()).unwrap();
        let mut workspace = Workspace::open_in(vault, dirs, self.clock.clone()).unwrap();
        workspace.zone = Zone::get("Europe/London").unwrap();
        Arc::new(workspace)
    }

    pub fn parts(&self) -> BotParts {
        let workspace = self.workspace();
        let approvals = Arc::new(VaultApprovals::new(&workspace, Waiter::Call));
        *self.approvals.lock().unwrap() = Some(Arc::clone(&approvals));
        let turns = Arc::new(TurnJournal::open(&self.state()).unwrap());
        let notifier = BotNotifier::new(self.api(), self.settings.channel_id, Owners::new(&[ALICE]));
        let answers = Answers {
            journal: workspace.journal().unwrap(),
            vault: workspace.vault.clone(),
            editor: Arc::clone(&workspace.editor),
            delivery_order: DeliveryOrder::only(Arc::new(notifier)),
            clock: self.clock.clone(),
            settings: workspace.pass_settings(),
            machines: workspace.machines.clone(),
        };
        let responder: Arc<dyn Responder> = match self.answering {
            Answering::Never => Arc::new(Never),
            Answering::Slow(delay) => Arc::new(Slow(delay, Arc::clone(&turns))),
            Answering::Assistant => {
                let parts = EngineParts {
                    tools: Arc::clone(&self.tools),
                    approvals: approvals.clone(),
                    memory: Arc::new(Dentist),
                    ..EngineParts::of(&workspace, &turns)
                };
                Arc::new(Engine::new(parts).unwrap())
            }
        };
        BotParts {
            api: self.api(),
            settings: self.settings.clone(),
            log: Logbook::new(
                self.editor(),
                "logs",
                self.clock.clone(),
                vault_agent::config::Hooks::default().redactor(),
            ),
            operations: self.operations(),
            responder,
            turns,
            approvals,
            answers: Arc::new(answers),
            channel_lock: Arc::default(),
            clock: self.clock.clone(),
            state: self.state(),
            sweep: self.sweep,
            gather: self.gather,
            stall: self.stall,
            pace: self.pace,
        }
    }

    /// The name of all threads of this rig's bot.
    pub fn thread_name(&self) -> String {
        self.temp.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    /// Starts the bot and waits for nothing.
    pub fn start(&self) -> Running {
        let (status_in, status) = watch::channel(GatewayStatus::Connecting);
        let shutdown = CancellationToken::new();
        let mut runtime = runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).thread_name(self.thread_name()).enable_all().build().unwrap();
        let task = runtime.spawn(discord::run(self.parts(), status_in, shutdown.clone()));
        Running { status, shutdown, task, runtime: Some(runtime) }
    }

    /// Starts the bot and waits until it has caught up once.
    pub async fn run(&self) -> Running {
        let before = self.rounds();
        let running = self.start();
        self.fake.connected().await;
        self.wait("a first round of catch-up", || self.rounds() > before && self.has_cursor(CHANNEL)).await;
        running
    }

    fn rounds(&self) -> usize {
        self.fake.requests("GET", "/messages").len()
    }

    fn has_cursor(&self, channel: u64) -> bool {
        let file = self.temp.path().join("state/discord-cursors.json");
        std::fs::read_to_string(file).is_ok_and(|text| text.contains(&format!("\"{channel}\"")))
    }

    /// Waits for something that only files or requests show.
    pub async fn wait(&self, what: &str, mut done: impl FnMut() -> bool) {
        let end = tokio::time::Instant::now() + LONG;
        while !done() {
            assert!(tokio::time::Instant::now() < end, "waited in vain for: {what}\n{}", self.dump());
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    fn dump(&self) -> String {
        let logs: Vec<String> =
            self.log_files().iter().map(|f| std::fs::read_to_string(f).unwrap()).collect();
        let text = logs.join("\n====\n");
        let sent: Vec<String> = self.fake.texts(CHANNEL).into_iter().rev().take(5).collect();
        let skipped = text.chars().count().saturating_sub(4000);
        let end: String = text.chars().skip(skipped).collect();
        let turns = TurnJournal::open(&self.state()).unwrap().open_turns(None).unwrap();
        let turns: Vec<_> = turns.iter().map(|t| (t.asked.message, t.state, t.joined)).collect();
        format!("{end}\nlast sent: {sent:#?}\nopen: {turns:?}")
    }

    /// All log files, in the order of their paths; none that is still being written beside its place.
    pub fn log_files(&self) -> Vec<PathBuf> {
        let mut found = vec![];
        let mut folders = vec![self.vault().join("logs")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                match entry.path() {
                    folder if folder.is_dir() => folders.push(folder),
                    file if !is_hidden => found.push(file),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }

    /// All events of a channel's or thread's logs, in order.
    pub fn events(&self, context: u64) -> Vec<LogBlock> {
        let files =
            self.log_files().into_iter().filter(|f| f.to_string_lossy().contains(&format!("/{context}/")));
        files.flat_map(|file| log::parse(&std::fs::read(file).unwrap()).blocks).collect()
    }

    /// What was said there by people and the bot, in order.
    pub fn said(&self, context: u64) -> Vec<String> {
        let spoken = |b: &LogBlock| matches!(b.event.kind, log::EventKind::User | log::EventKind::Agent);
        let blocks = self.events(context).into_iter().filter(spoken);
        blocks.map(|block| facts::split(&block.event.content).0.to_owned()).collect()
    }

    /// The facts that the answers there end with, in order.
    pub fn facts(&self, context: u64) -> Vec<Facts> {
        let answers = self.events(context).into_iter().filter(|b| b.event.kind == log::EventKind::Agent);
        answers.filter_map(|block| facts::split(&block.event.content).1).collect()
    }

    /// How many turns are in a state.
    pub fn turns(&self, state: TurnState) -> usize {
        let journal = TurnJournal::open(&self.state()).unwrap();
        journal.latest(100_000).unwrap().iter().filter(|turn| turn.state == state).count()
    }

    /// Waits until so many turns are at their end.
    pub async fn wait_done(&self, count: usize) {
        self.wait(&format!("{count} turns done"), || self.turns(TurnState::Done) >= count).await;
    }

    pub async fn wait_said(&self, context: u64, count: usize) {
        self.wait(&format!("{count} logged messages"), || self.said(context).len() >= count).await;
    }
}

/// A slash command as Discord sends it.
pub fn slash(user: u64, name: &str, options: &[(&str, &str)]) -> Value {
    let options: Vec<Value> =
        options.iter().map(|(name, value)| json!({ "type": 3, "name": name, "value": value })).collect();
    json!({ "type": 2, "user": user, "channel": CHANNEL,
        "data": { "id": "900", "type": 1, "name": name, "options": options } })
}

/// A command while it is being typed.
pub fn typing(user: u64, name: &str, focused: &str, typed: &str) -> Value {
    json!({ "type": 4, "user": user, "channel": CHANNEL, "data": { "id": "900", "type": 1, "name": name,
        "options": [{ "type": 3, "name": focused, "value": typed, "focused": true }] } })
}

/// A press on a button of a message.
pub fn press(user: u64, message: u64, custom_id: &str) -> Value {
    json!({ "type": 3, "user": user, "channel": CHANNEL, "message": message,
        "data": { "component_type": 2, "custom_id": custom_id } })
}
