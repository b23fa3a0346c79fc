//! What a day may cost: the notice, the question, its "yes", and brains whose own budget is used up.

use crate::brain::rig::*;
use vault_agent::agent::tools::{ApprovalRequest, ApprovalSubject, ApprovalVerdict};
use vault_agent::agent::{AnswerEngine, Approvals, EngineParts, RecalledContext, TurnMemory};
use vault_agent::format::approval::{self, Approval};
use vault_agent::turn::{NewTurn, Responder, TurnAnswer, TurnJournal};

/// A person who says this, or nothing until later, and what they were asked.
#[derive(Default)]
pub struct Person {
    pub says: Mutex<Option<ApprovalVerdict>>,
    pub asked: Mutex<Vec<(ApprovalSubject, String)>>,
}

#[async_trait]
impl Approvals for Person {
    async fn ask(&self, asked: ApprovalRequest<'_>) -> Result<ApprovalVerdict, String> {
        asked.place.ask_approval(&approval::parse(SHOWN).lines[0].approval).await;
        self.asked.lock().unwrap().push((asked.subject.clone(), asked.caller.turn.clone()));
        let verdict = || *self.says.lock().unwrap();
        when("the person's word", || verdict().is_some()).await;
        Ok(verdict().unwrap())
    }
}

/// A question as it is shown; that it is, counts.
const SHOWN: &[u8] = b"- [ ] ap_AAAAAAAAAAAA until=2099-01-01T00:00Z brain=one run=\"go on\"\n";

/// A memory that always finds the same, or nothing.
pub struct Fixed(pub &'static str);

#[async_trait]
impl TurnMemory for Fixed {
    async fn context_for(&self, _: &str, _: &[&str]) -> Result<RecalledContext, String> {
        let links = if self.0.is_empty() { "" } else { "- [[MEMORY#^A]]" };
        Ok(RecalledContext { injection: self.0.to_owned(), links: links.to_owned() })
    }

    async fn answer(&self, _: &str, _: &[&str]) -> Result<String, String> {
        Ok("From memory.".to_owned())
    }
}

/// A memory that knows nothing, and what it was told to leave out.
#[derive(Default)]
pub struct Ears(pub Mutex<Vec<String>>);

#[async_trait]
impl TurnMemory for Ears {
    async fn context_for(&self, _: &str, without: &[&str]) -> Result<RecalledContext, String> {
        self.0.lock().unwrap().extend(without.iter().copied().map(str::to_owned));
        Ok(RecalledContext::default())
    }

    async fn answer(&self, _: &str, _: &[&str]) -> Result<String, String> {
        Ok(vault_agent::format::log::FOUND_NOTHING.to_owned())
    }
}

/// A vault with a clock, and turns in it.
pub struct World {
    folder: Folder,
    pub clock: Arc<ManualClock>,
    pub person: Arc<Person>,
    pub memory: &'static str,
    turn: AtomicU64,
}

holds_folder!(World);

impl World {
    pub fn new(settings: &str) -> Self {
        let folder = Folder::new(&["state"]);
        folder.write("vault-agent.toml", settings);
        let clock = Arc::new(ManualClock::new("2026-12-01T09:30:00Z".parse().unwrap()));
        Self { folder, clock, person: Arc::default(), memory: "", turn: AtomicU64::default() }
    }

    /// One with this server as its brain, and a thousand tokens a day.
    pub fn with_1000(server: &ModelServer) -> Self {
        Self::new(&format!("[assistant]\nday_tokens = 1000\n{}", server.brain("one", "chat", "")))
    }

    pub fn workspace(&self) -> Arc<Workspace> {
        Arc::new(support::workspace(self.dir(), self.clock.clone()))
    }

    pub fn journal(&self) -> TurnJournal {
        TurnJournal::open(&self.state()).unwrap()
    }

    /// One more turn, by a program that was started anew.
    pub async fn ask(&self, turn: NewTurn) -> TurnAnswer {
        self.ask_later(turn, SignedDuration::ZERO).await
    }

    /// A turn that waits so long from its acceptance on.
    pub async fn ask_later(&self, turn: NewTurn, wait: SignedDuration) -> TurnAnswer {
        let message = self.turn.fetch_add(1, Ordering::Relaxed) + 1;
        let journal = Arc::new(self.journal());
        journal.accept(&NewTurn { message, ..turn }, self.clock.now()).unwrap();
        self.clock.advance(wait);
        let parts = EngineParts::of(&self.workspace(), &journal);
        let (approvals, memory) = (Arc::clone(&self.person) as _, Arc::new(Fixed(self.memory)));
        let engine = AnswerEngine::new(EngineParts { approvals, memory, ..parts });
        engine.unwrap().answer(message, &NoConversation, &CancellationToken::new()).await.unwrap()
    }

    pub async fn say(&self, text: &str) -> String {
        self.ask(anna(text)).await.text
    }

    /// The questions in the note.
    pub fn asked(&self) -> Vec<Approval> {
        let file = approval::parse(self.text("Approvals.md").as_bytes());
        file.lines.into_iter().map(|line| line.approval).collect()
    }

    /// The notices that wait to be sent.
    fn notices(&self) -> Vec<String> {
        let messages = self.workspace().journal().unwrap().messages().unwrap();
        messages.into_iter().map(|message| message.body).collect()
    }
}

/// What is said in a channel.
pub fn anna(text: &str) -> NewTurn {
    NewTurn { text: text.into(), channel: 7, ..NewTurn::default() }
}

#[tokio::test]
async fn at_80_percent_one_notice_and_at_100_a_question_whose_yes_lasts_for_the_day() {
    let server = ModelServer::by(|_| Reply::text("Yes.").usage(400, 0, 25)).await;
    let world = World::with_1000(&server);
    assert_eq!(world.say("a").await, "Yes.");
    assert!(world.notices().is_empty());
    for nth in 2..=3 {
        assert_eq!(world.say("b").await, "Yes.");
        let expected = ["85 % of today's budget of 1000 tokens is used."];
        assert_eq!(world.notices(), expected, "{nth}: once, and after a restart too");
    }
    // Used up: the question is asked beside, and memory answers now.
    let (said, used_up) = (world.say("c").await, "Today's budget of 1000 tokens is used up.");
    assert!(said.starts_with(&format!("{used_up} I asked whether to continue")), "{said}");
    assert!(said.ends_with("From memory."), "{said}");
    assert_eq!(server.requests().len(), 3);
    assert!(world.say("d").await.ends_with("From memory."));
    let asked = world.person.asked.lock().unwrap().clone();
    assert!(asked.iter().all(|one| *one == asked[0]), "it is the same question all day");
    assert_eq!(asked[0].0.run, "go on beyond today's budget of 1000 tokens on 2026-12-01");
    assert_eq!(asked[0].0.why, format!("{used_up} Go on for today?"));
    assert_eq!((&asked[0].0.always, asked[0].1.as_str()), (&None, "budget-2026-12-01-day"));
    // Nobody's word: the sentence alone.
    *world.person.says.lock().unwrap() = Some(ApprovalVerdict::NoApprover);
    assert_eq!(world.say("e").await, format!("{used_up}\n\nFrom memory."));
    // The word came in the meantime: the next question finds it, and it lasts.
    for (says, text) in [(Some(ApprovalVerdict::Yes), "f"), (None, "g")] {
        *world.person.says.lock().unwrap() = says;
        assert_eq!(world.say(text).await, "Yes.");
    }
    assert_eq!(server.requests().len(), 5);
    // Another day has a budget of its own, and a notice of its own.
    world.clock.advance(SignedDuration::from_hours(24));
    for _ in 0..3 {
        assert_eq!(world.say("h").await, "Yes.");
    }
    assert_eq!(world.notices().len(), 2);
    assert!(world.say("i").await.ends_with("From memory."));
    // "No" is said once a day.
    *world.person.says.lock().unwrap() = Some(ApprovalVerdict::No);
    assert!(world.say("j").await.starts_with(&format!("{used_up}\n")));
    let before = world.person.asked.lock().unwrap().len();
    assert!(world.say("k").await.starts_with(&format!("{used_up}\n")));
    assert_eq!(world.person.asked.lock().unwrap().len(), before);
}

#[tokio::test]
async fn a_call_counts_for_the_day_on_which_it_ends() {
    let server = ModelServer::by(|_| Reply::text("Yes.").usage(1000, 0, 0)).await;
    let world = World::new(&format!("[assistant]\nday_tokens = 1000\n{}", server.brain("one", "chat", "")));
    // Accepted before midnight, and answered after it.
    world.clock.set("2026-12-01T23:59:00Z".parse().unwrap());
    assert_eq!(world.ask_later(anna("a"), SignedDuration::from_mins(2)).await.text, "Yes.");
    assert!(world.say("b").await.ends_with("From memory."), "the new day's budget is used up");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_question_that_is_stopped_counts_what_it_spent() {
    let server = ModelServer::of(vec![Reply::tool("look", json!({})).usage(400, 0, 25), Reply::hang()]).await;
    let world = World::with_1000(&server);
    // As `ask` does, whose journal is no file.
    let journal = Arc::new(TurnJournal::in_memory().unwrap());
    journal.accept(&NewTurn { message: 1, ..anna("a") }, world.clock.now()).unwrap();
    let parts = EngineParts { memory: Arc::new(Fixed("")), ..EngineParts::of(&world.workspace(), &journal) };
    let (engine, stop) = (AnswerEngine::new(parts).unwrap(), CancellationToken::new());
    let stopping = async {
        server.wait_for(2).await;
        stop.cancel();
    };
    let (answered, ()) = tokio::join!(engine.answer(1, &NoConversation, &stop), stopping);
    assert!(answered.is_err());
    let counted = world.journal().background_calls(0).unwrap();
    assert_eq!((counted.len(), counted[0].usage.input), (1, 400));
}

#[tokio::test]
async fn a_yes_counts_when_it_is_said_though_no_turn_waits_for_it() {
    let server = ModelServer::by(|_| Reply::text("Yes.").usage(1000, 0, 0)).await;
    let world = World::with_1000(&server);
    assert_eq!(world.say("a").await, "Yes.");
    assert!(world.say("b").await.ends_with("From memory."));
    // The question was handed on to somebody who waits; the person answers it now.
    when("the question", || world.person.asked.lock().unwrap().len() >= 2).await;
    *world.person.says.lock().unwrap() = Some(ApprovalVerdict::Yes);
    let midnight = "2026-12-01T00:00:00Z".parse().unwrap();
    let journal = world.journal();
    when("the answer", || !journal.budget_events_since(midnight).unwrap().is_empty()).await;
    *world.person.says.lock().unwrap() = Some(ApprovalVerdict::NoApprover);
    assert_eq!(world.say("c").await, "Yes.");
}

#[tokio::test]
async fn a_brain_whose_own_budget_is_used_up_is_passed_over() {
    let (one, two) = (ModelServer::start().await, ModelServer::start().await);
    one.respond(|_| Reply::text("One.").usage(300, 0, 0));
    two.script(vec![Reply::text("Two.").usage(9000, 0, 0), Reply::status(500)]);
    two.respond(|_| Reply::text("Two again."));
    let world = World::new(&(one.brain("one", "chat", "day_tokens = 300") + &two.brain("two", "chat", "")));
    assert_eq!(world.say("a").await, "One.");
    assert_eq!(world.notices(), ["Today's budget of 300 tokens for one is used up."]);
    assert_eq!(world.say("b").await, "Two.");
    let skipped = "one (today's budget of 300 tokens for one is used up) was skipped";
    contains_all(world.say("c").await, &["two did not answer (", skipped]);
    assert!(world.person.asked.lock().unwrap().is_empty(), "somebody else may be asked");
    // Asked for by its name there is nobody else: a person is asked.
    let only = |text: &str| NewTurn { only: Some("one".into()), ..anna(text) };
    let said = world.ask(only("d")).await.text;
    assert!(said.starts_with("Today's budget of 300 tokens for one is used up. I asked"), "{said}");
    *world.person.says.lock().unwrap() = Some(ApprovalVerdict::Yes);
    assert_eq!(world.ask(only("e")).await.text, "One.");
    *world.person.says.lock().unwrap() = None;
    assert_eq!(world.say("f").await, "One.");
}

#[tokio::test]
async fn what_runs_by_itself_does_not_hammer_an_empty_account() {
    let server = ModelServer::by(|_| Reply::status(402)).await;
    let world = World::new(&format!("{}{}", server.brain("a", "chat", ""), server.brain("b", "chat", "")));
    let routine = || NewTurn { text: "go".into(), author: "routine:r".into(), ..NewTurn::default() };
    for _ in 0..40 {
        assert_eq!(world.ask(routine()).await.facts.brain, "memory");
        world.clock.advance(SignedDuration::from_secs(60));
    }
    // Without a key each is an account of its own.
    assert_eq!(server.requests().len(), 2);
    // A person's question tries the one whose time ends first.
    world.say("hello").await;
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_status_usage_and_ask_show_what_is_left() {
    let (one, two) = (ModelServer::start().await, ModelServer::start().await);
    one.respond(|_| Reply::text("One.").usage(300, 0, 0));
    two.respond(|_| Reply::text("Two.").usage(100, 0, 0));
    let vault = TestVault::new("");
    let brains = one.brain("one", "chat", "day_tokens = 300") + &two.brain("two", "chat", "");
    let head = "timezone = \"Europe/London\"\n[assistant]\nday_tokens = 1000\n";
    vault.write("vault-agent.toml", format!("{head}{brains}"));
    assert_eq!(pick(&vault.json(&["ask", "a"]), "brain skipped"), json!(["one", []]));
    let skipped = json!([{ "brain": "one", "until": "2026-12-02T00:00:00+00:00" }]);
    assert_eq!(pick(&vault.json(&["ask", "b"]), "brain skipped"), json!(["two", skipped]));
    let list = vault.json(&["brain", "list"]);
    let fields = pick(&list, "0/ok 0/class 0/cooldown_until 0/budget/tokens 1/budget");
    assert_eq!(fields, json!([false, null, "2026-12-02T00:00:00+00:00", 300, null]));
    let rests = "off until Wed 2 Dec 00:00 (in 14 h): today's budget of 300 tokens for one is used up";
    vault.run(&["brain", "list"]).ok().says(rests);
    let status = vault.run(&["status"]);
    status.says("budget    the day: 400 of 1000 tokens (40 %)");
    status.says("budget    one: 300 of 300 tokens (100 %)");
    let usage = vault.json(&["usage"]);
    assert_eq!(pick(&usage["budgets"], "0/share 1/brain"), json!([0.4, "one"]));
    vault.run(&["usage"]).ok().says("today: 400 of 1000 tokens (40 %)");
    // With the day's budget used up memory answers, and says why.
    (0..6).for_each(|_| drop(vault.json(&["ask", "c"])));
    let run = vault.run(&["--json", "ask", "d"]);
    assert_eq!(run.json()["brain"], Value::Null, "{run:?}");
    run.exits(1).warns("Today's budget of 1000 tokens is used up.");
    assert_eq!(one.requests().len() + two.requests().len(), 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_to_ask_lasts_for_the_day_too() {
    let server = ModelServer::by(|_| Reply::text("Yes.").usage(1000, 0, 25)).await;
    let vault = TestVault::new("//- now: 2026-12-01T09:00:00Z\n");
    let settings = format!("[assistant]\nday_tokens = 1000\n{}", server.brain("one", "chat", ""));
    vault.write("vault-agent.toml", settings);
    assert_eq!(vault.json(&["ask", "a"])["answer"], "Yes.");
    assert_eq!(vault.run(&["ask", "b"]).code, 1, "used up");
    vault.write("Approvals.md", vault.read("Approvals.md").replace("- [ ] ap_", "- [x] ap_"));
    for again in ["c", "d", "e"] {
        assert_eq!(vault.json(&["ask", again])["answer"], "Yes.", "{again}");
    }
    vault.run(&["status"]).says("lifted for today");
}
