//! A bot in a vault of its own, against a Discord of our own.

pub use crate::discord::fake::{Access, FakeDiscord, Fault, GatewayFault, Record};
pub use crate::support::prelude::*;
use secrecy::SecretString;
use tokio::runtime::{self, Runtime};
use tokio::sync::watch;
pub use vault_agent::agent::Toolbox;
use vault_agent::agent::{
    AnswerEngine, CombinedToolbox, EngineParts, RecalledContext, TurnMemory, VaultApprovals, Waiter,
};
use vault_agent::config;
use vault_agent::deliver::{AnswerSender, DeliveryOrder};
use vault_agent::discord::{self, BotParts, DiscordApi, Logbook, VaultOperations};
pub use vault_agent::discord::{BotNotifier, BotTimes, DiscordError, GatewayStatus};
pub use vault_agent::format::log::EventKind;
use vault_agent::format::log::{self, LogBlock};
pub use vault_agent::turn::TurnState;
use vault_agent::turn::{Facts, TurnJournal, facts};

pub const CHANNEL: u64 = 2000;
pub const ALICE: u64 = 42;
pub const MALLORY: u64 = 66;
pub const LONG: Duration = Duration::from_secs(60);

/// A memory that knows one thing.
pub struct Dentist;

#[async_trait]
impl TurnMemory for Dentist {
    async fn context_for(&self, question: &str, _: &[&str]) -> Result<RecalledContext, String> {
        let known = question.contains("dentist");
        let given = || RecalledContext {
            injection: format!("{}\n{{\"memories\":[\"The dentist is on Friday\"]}}", log::INJECTED),
            links: "- [[MEMORY#^A]]".into(),
        };
        Ok(if known { given() } else { RecalledContext::default() })
    }

    async fn answer(&self, question: &str, _: &[&str]) -> Result<String, String> {
        let found = format!("{}\n- The dentist is on Friday\n  -# `MEMORY.md`, line 3", log::FOUND);
        Ok(if question.contains("dentist") { found } else { log::FOUND_NOTHING.to_owned() })
    }
}

pub struct Rig {
    pub fake: Arc<FakeDiscord>,
    /// What the brains of its settings are.
    pub server: ModelServer,
    folder: Arc<Folder>,
    pub settings: config::DiscordSettings,
    pub tools: Arc<dyn Toolbox>,
    /// Of the bot that was started last.
    pub approvals: Arc<Mutex<Option<Arc<VaultApprovals>>>>,
    pub times: BotTimes,
    pub token: Option<String>,
    pub clock: Arc<dyn Clock>,
}

holds_folder!(Rig);

type Task = tokio::task::JoinHandle<Result<(), DiscordError>>;

/// A bot that runs, on a runtime of its own: all of it can be cut off as a crash would. Where it is dropped, it is
/// stopped, and has to end well.
pub struct Running {
    pub status: watch::Receiver<GatewayStatus>,
    shutdown: CancellationToken,
    task: Option<Task>,
    runtime: Option<Runtime>,
}

async fn ended(task: Task) -> Result<(), DiscordError> {
    tokio::time::timeout(LONG, task).await.expect("it ends").expect("no panic")
}

impl Running {
    /// Waits until this is its status.
    pub async fn until(&self, wanted: GatewayStatus) {
        let mut status = self.status.clone();
        let seen = tokio::time::timeout(LONG, status.wait_for(|status| *status == wanted)).await;
        let now = self.status.borrow().clone();
        assert!(seen.is_ok_and(|seen| seen.is_ok()), "wanted {wanted:?}, is {now:?}");
    }

    /// Waits until it says that it goes on with less, for these reasons.
    pub async fn is_degraded(&self, problems: &[DiscordError]) {
        self.until(GatewayStatus::Degraded(problems.to_vec())).await;
    }

    pub async fn end(mut self) -> Result<(), DiscordError> {
        ended(self.task.take().unwrap()).await
    }

    /// Cuts the bot off in the midst of whatever it does. On return nothing of it runs any more.
    pub async fn crash(mut self) {
        let runtime = self.runtime.take();
        self.task = None;
        // Tasks end where they wait; what is writing a file ends with the write.
        tokio::task::spawn_blocking(move || drop(runtime)).await.expect("no panic");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if let Some(task) = self.task.take().filter(|_| !std::thread::panicking()) {
            self.shutdown.cancel();
            // A thread of its own: the test's is in another runtime.
            let stopped = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(ended(task))).join());
            stopped.expect("it stops").unwrap();
        }
        runtime.shutdown_background();
    }
}

impl Rig {
    pub async fn new() -> Self {
        Self::on(Arc::new(FakeDiscord::start().await)).await
    }

    /// One with its bot, which has caught up once.
    pub async fn running() -> (Self, Running) {
        Self::prepared(|_| ()).await
    }

    /// The same, after something was done to it.
    pub async fn prepared(prepare: impl FnOnce(&mut Self)) -> (Self, Running) {
        let mut rig = Self::new().await;
        prepare(&mut rig);
        let running = rig.run().await;
        (rig, running)
    }

    /// The same with one brain of this wire, which says these.
    pub async fn scripted(wire: &str, replies: Vec<Reply>) -> (Self, Running) {
        let rig = Self::with(&[("one", wire)]).await;
        rig.server.script(replies);
        let running = rig.run().await;
        (rig, running)
    }

    /// One with brains that are its model server: name and wire.
    pub async fn with(brains: &[(&str, &str)]) -> Self {
        let rig = Self::new().await;
        rig.write("vault-agent.toml", rig.brains(brains));
        rig
    }

    /// One whose bot and server live by one clock that only the test moves.
    pub async fn clocked() -> (Self, Arc<ManualClock>) {
        let mut rig = Self::new().await;
        let clock = Arc::new(ManualClock::new("2026-11-20T10:00:00Z".parse().unwrap()));
        rig.clock = clock.clone();
        rig.advance(&clock, SignedDuration::ZERO);
        (rig, clock)
    }

    pub fn advance(&self, clock: &ManualClock, by: SignedDuration) {
        clock.advance(by);
        self.fake.world().set_now(clock.now());
    }

    pub async fn on(fake: Arc<FakeDiscord>) -> Self {
        let settings = config::DiscordSettings {
            channel_id: Some(CHANNEL),
            guild_id: Some(1000),
            owner_ids: vec![ALICE],
            api_base: Some(fake.api_base()),
            ..config::DiscordSettings::default()
        };
        Self {
            fake,
            server: ModelServer::start().await,
            folder: Arc::new(Folder::new(&["state"])),
            settings,
            tools: Arc::new(CombinedToolbox::default()),
            approvals: Arc::default(),
            times: BotTimes::default(),
            token: None,
            clock: Arc::new(SystemClock),
        }
    }

    /// The settings of brains that are the model server: name and wire.
    pub fn brains(&self, brains: &[(&str, &str)]) -> String {
        let price = "price = { input = 3.0, cached = 0.3, output = 15.0 }";
        let brain = |(name, wire): &(&str, &str)| self.server.brain(name, wire, price);
        brains.iter().map(brain).collect()
    }

    /// What tools said, in the last request to a brain.
    pub fn results(&self) -> Vec<String> {
        self.server.requests().last().unwrap().results()
    }

    /// Has the bot say at once what goes on, and again and again.
    pub fn tell_progress(&mut self) {
        (self.times.progress_after, self.times.progress_every) = (Duration::ZERO, Duration::from_millis(20));
    }

    /// Settings of the vault, with those of the bot after them, for the real program.
    pub fn set(&self, settings: &str) {
        let bot = format!("[discord]\nchannel_id = {CHANNEL}\nguild_id = 1000\nowner_ids = [{ALICE}]\n");
        let base = format!("api_base = \"{}\"\n", self.fake.api_base());
        self.write("vault-agent.toml", format!("{settings}[notify]\nkind = \"discord\"\n{bot}{base}"));
    }

    /// Puts settings before those that stand there.
    pub fn prepend(&self, settings: &str) {
        self.write("vault-agent.toml", settings.to_owned() + &self.text("vault-agent.toml"));
    }

    /// The real program with this vault, before it is started.
    pub fn program(&self, args: &[&str]) -> Command {
        let mut command = support::program(self, args);
        command.env("HOME", self.dir()).env("VAULT_AGENT_VAULT", self.root());
        command.env("DISCORD_TOKEN", &self.fake.world().token);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The real program as a daemon.
    pub fn daemon(&self) -> Killed {
        Killed(self.program(&["run"]).spawn().unwrap())
    }

    /// Starts it, and waits until it has read the channel.
    pub async fn reading_daemon(&self) -> Killed {
        let before = self.rounds();
        let daemon = self.daemon();
        self.fake.connected().await;
        self.wait("history read", || self.rounds() > before).await;
        daemon
    }

    pub fn api(&self) -> DiscordApi {
        let token = self.token.clone().unwrap_or_else(|| self.fake.world().token.clone());
        DiscordApi::new(Some(&SecretString::from(token)), Some(&self.fake.api_base())).unwrap()
    }

    pub fn notifier(&self) -> BotNotifier {
        BotNotifier::new(self.api(), self.settings.channel_id, vec![ALICE])
    }

    pub fn workspace(&self) -> Arc<Workspace> {
        let mut workspace = support::workspace(self.dir(), self.clock.clone());
        workspace.zone = Zone::get("Europe/London").unwrap();
        Arc::new(workspace)
    }

    pub fn parts(&self) -> BotParts {
        let workspace = self.workspace();
        let approvals = Arc::new(VaultApprovals::new(&workspace, Waiter::Call));
        *self.approvals.lock().unwrap() = Some(Arc::clone(&approvals));
        let turns = Arc::new(self.turn_journal());
        let answers = AnswerSender {
            journal: workspace.journal().unwrap(),
            vault: workspace.vault.clone(),
            editor: Arc::clone(&workspace.editor),
            delivery_order: DeliveryOrder::only(Arc::new(self.notifier())),
            clock: self.clock.clone(),
            settings: workspace.pass_settings(),
            machines: workspace.machines.clone(),
        };
        let (tools, memory) = (Arc::clone(&self.tools), Arc::new(Dentist));
        let parts = EngineParts::of(&workspace, &turns);
        let parts = EngineParts { tools, approvals: approvals.clone(), memory, ..parts };
        let responder = Arc::new(AnswerEngine::new(parts).unwrap());
        let (editor, redactor) =
            (Arc::clone(&workspace.editor), config::Settings::default().hooks.redactor());
        BotParts {
            api: self.api(),
            settings: self.settings.clone(),
            log: Logbook::new(editor, "logs", self.clock.clone(), redactor),
            operations: VaultOperations { workspace, recall: Arc::new(Dentist) },
            responder,
            turns,
            permits: Arc::default(),
            approvals,
            answers: Arc::new(answers),
            channel_lock: Arc::default(),
            cut_off: CancellationToken::new(),
            clock: self.clock.clone(),
            state: self.state(),
            times: self.times,
        }
    }

    /// The name of all threads of this rig's bot.
    pub fn thread_name(&self) -> String {
        self.dir().file_name().unwrap().to_string_lossy().into_owned()
    }

    /// Starts the bot and waits for nothing.
    pub fn start(&self) -> Running {
        let (status_in, status) = watch::channel(GatewayStatus::Connecting);
        let shutdown = CancellationToken::new();
        let mut runtime = runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).thread_name(self.thread_name()).enable_all().build().unwrap();
        let task = runtime.spawn(discord::run(self.parts(), status_in, shutdown.clone()));
        Running { status, shutdown, task: Some(task), runtime: Some(runtime) }
    }

    /// Starts the bot and waits until it is connected.
    pub async fn connect(&self) -> Running {
        let running = self.start();
        self.fake.connected().await;
        running
    }

    /// Starts the bot and waits until it has caught up once.
    pub async fn run(&self) -> Running {
        let before = self.rounds();
        let running = self.connect().await;
        self.wait("a first round of catch-up", || self.rounds() > before && self.has_cursor(CHANNEL)).await;
        running
    }

    /// The bot's attempts to say something in the channel.
    pub fn posts(&self) -> Vec<Arc<Record>> {
        self.fake.requests("POST", "/channels/2000/messages")
    }

    pub fn rounds(&self) -> usize {
        self.fake.requests("GET", "/messages").len()
    }

    pub fn has_cursor(&self, channel: u64) -> bool {
        let file = self.state().join("discord-cursors.json");
        fs::read_to_string(file).is_ok_and(|text| text.contains(&format!("\"{channel}\"")))
    }

    /// Waits for something that only files or requests show.
    pub async fn wait(&self, what: &str, mut done: impl FnMut() -> bool) {
        let end = tokio::time::Instant::now() + LONG;
        while !done() {
            assert!(tokio::time::Instant::now() < end, "waited in vain for: {what}\n{}", self.dump());
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    /// The end of what was logged and said, and what is open.
    fn dump(&self) -> String {
        let end_of =
            |text: String| text.chars().skip(text.chars().count().saturating_sub(4000)).collect::<String>();
        let program = end_of(fs::read_to_string(self.said_file()).unwrap_or_default());
        let logs: Vec<String> = self.log_files().iter().map(|f| fs::read_to_string(f).unwrap()).collect();
        let end = end_of(logs.join("\n====\n"));
        let sent: Vec<String> = self.fake.texts(CHANNEL).into_iter().rev().take(5).collect();
        let turns = self.turn_journal().open_turns(None).unwrap();
        let turns: Vec<_> = turns.iter().map(|t| (t.question.message, t.state, t.joined)).collect();
        format!("{program}\n{end}\nlast sent: {sent:#?}\nopen: {turns:?}")
    }

    /// What a daemon says, where it is kept.
    pub fn said_file(&self) -> PathBuf {
        self.dir().join("said")
    }

    /// All log files, in the order of their paths; none that is still being written beside its place.
    pub fn log_files(&self) -> Vec<PathBuf> {
        let is_hidden = |file: &Path| file.file_name().unwrap().to_string_lossy().starts_with('.');
        files_below(&self.path("logs")).into_iter().filter(|file| !is_hidden(file)).collect()
    }

    /// The text of one of them.
    pub fn log_text(&self, at: usize) -> String {
        fs::read_to_string(&self.log_files()[at]).unwrap()
    }

    /// All events of a channel's or thread's logs, in order.
    pub fn events(&self, context: u64) -> Vec<LogBlock> {
        let files =
            self.log_files().into_iter().filter(|f| f.to_string_lossy().contains(&format!("/{context}/")));
        files.flat_map(|file| log::parse(&fs::read(file).unwrap()).blocks).collect()
    }

    /// What they say.
    pub fn contents(&self, context: u64) -> Vec<String> {
        self.events(context).into_iter().map(|block| block.event.content).collect()
    }

    /// How many events of the channel begin so.
    pub fn noted(&self, beginning: &str) -> usize {
        self.contents(CHANNEL).iter().filter(|content| content.starts_with(beginning)).count()
    }

    /// What the bot said in reply to a message, but its questions whether something may run.
    pub fn replies(&self, to: u64) -> Vec<String> {
        let to = to.to_string();
        let mut texts = self.of_bot(|message| message["message_reference"]["message_id"] == to.as_str());
        texts.retain(|text| !text.starts_with("**May this run?**"));
        texts
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

    /// Alice says something in the channel.
    pub fn say(&self, text: &str) -> u64 {
        self.fake.say(CHANNEL, ALICE, text)
    }

    /// Alice says something in the channel that is wanted in its log.
    pub fn says(&self, wanted: &mut Vec<String>, text: impl Into<String>) {
        wanted.push(text.into());
        self.say(&wanted[wanted.len() - 1]);
    }

    /// Alice asks the bot in the channel.
    pub fn ask(&self, text: &str) -> u64 {
        self.say(&format!("<@500> {text}"))
    }

    /// Somebody says something in reply to a message.
    pub fn reply(&self, channel: u64, author: u64, to: &impl ToString, text: &str) -> u64 {
        let reference = json!({ "message_id": to.to_string() });
        self.fake.post(channel, author, json!({ "content": text, "message_reference": reference }))
    }

    /// Alice asks; the bot's last word once so many turns are done.
    pub async fn answer(&self, text: &str, turns: usize) -> String {
        self.ask(text);
        self.wait_done(turns).await;
        self.answers().pop().unwrap_or_default()
    }

    /// What the bot said in the channel, in order.
    pub fn answers(&self) -> Vec<String> {
        self.of_bot(|_| true)
    }

    /// The texts of the bot's messages in the channel for which this holds.
    fn of_bot(&self, holds: impl Fn(&Value) -> bool) -> Vec<String> {
        let messages = self.fake.messages(CHANNEL).into_iter();
        let of_bot = messages.filter(|message| message["author"]["id"] == "500" && holds(message));
        of_bot.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    }

    /// What Alice sees when she uses a command.
    pub async fn command(&self, name: &str, options: &[(&str, &str)]) -> String {
        self.fake.reply(slash(ALICE, name, options)).await
    }

    /// The questions with buttons in the channel, as messages.
    pub fn questions_asked(&self) -> Vec<Value> {
        let first_button = |message: &Value| message["components"][0]["components"][0]["custom_id"].clone();
        let mut messages = self.fake.messages(CHANNEL);
        messages.retain(|message| first_button(message).as_str().is_some_and(|id| id.contains(":ap_")));
        messages
    }

    /// Waits for the question number so many, from 1; its message.
    pub async fn asked(&self, count: usize) -> Value {
        self.wait(&format!("question {count}"), || self.questions_asked().len() >= count).await;
        self.questions_asked().remove(count - 1)
    }

    /// Its words.
    pub async fn asked_text(&self, count: usize) -> String {
        self.asked(count).await["content"].as_str().unwrap().to_owned()
    }

    /// What Alice sees when she presses a button of a message.
    pub async fn press(&self, message: &Value, label: &str) -> String {
        self.press_as(ALICE, message, label).await
    }

    /// The same by anybody; of the label it is enough what tells it from others.
    pub async fn press_as(&self, user: u64, message: &Value, label: &str) -> String {
        let buttons = message["components"][0]["components"].as_array().unwrap();
        let is_it = |button: &&Value| button["label"].as_str().is_some_and(|text| text.contains(label));
        let button = buttons.iter().find(is_it).unwrap_or_else(|| panic!("{message}"));
        let id = message["id"].as_str().unwrap().parse().unwrap();
        self.fake.reply(press(user, id, button["custom_id"].as_str().unwrap())).await
    }

    pub fn turn_journal(&self) -> TurnJournal {
        TurnJournal::open(&self.state()).unwrap()
    }

    /// Whether a message's turn is at its end.
    pub fn is_over(&self, message: u64) -> bool {
        self.turn_journal().turn(message).unwrap().is_some_and(|turn| turn.state.is_final())
    }

    /// Alice asks; the question once its turn is at its end.
    pub async fn asked_and_over(&self, text: &str) -> u64 {
        let id = self.ask(text);
        self.wait("its answer", || self.is_over(id)).await;
        id
    }

    /// The ids of the messages of people in the channel's log, in order.
    pub fn questions(&self) -> Vec<String> {
        let of_person = |block: &LogBlock| block.event.kind == log::EventKind::User;
        self.events(CHANNEL).into_iter().filter(of_person).filter_map(|block| block.event.id).collect()
    }

    /// How many turns are in a state.
    pub fn turns(&self, state: TurnState) -> usize {
        self.turn_journal().latest(100_000).unwrap().iter().filter(|turn| turn.state == state).count()
    }

    /// Waits until so many turns are at their end.
    pub async fn wait_done(&self, count: usize) {
        self.wait(&format!("{count} turns done"), || self.turns(TurnState::Done) >= count).await;
    }

    /// Waits until so much was said there; it is this, in this order.
    pub async fn is_said<T: std::fmt::Debug>(&self, context: u64, wanted: &[T])
    where
        String: PartialEq<T>,
    {
        self.wait_said(context, wanted.len()).await;
        assert_eq!(self.said(context), wanted);
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
