//! Turns of a harness that goes well, and of one whose provider doesn't; a conversation goes on in the harness's session
//! where that holds all of it, and from the log where it doesn't.

use crate::harness::rig::*;
use crate::harness::stand::*;
use vault_agent::agent::{OtherBrains, RunPurpose, Toolbox, rebuild_request::rebuild};
use vault_agent::mcp::VaultTools;
use vault_agent::turn::{TurnJournal, TurnNote};

async fn claude(name: &str) -> Rig {
    Rig::new(|rig| rig.brain("claude-code", name)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_and_its_answer() {
    let rig = claude("cc").await;
    rig.write("Assistant.md", "You are Zorba.\n");
    rig.server.script(vec![Reply::text("Oolong.").usage(120, 100, 7)]);
    let answer = rig.ask(1, "What tea does Anna like?").await.unwrap();
    assert_eq!(answer.text, "Oolong.");
    assert_eq!((answer.facts.brain.as_str(), answer.facts.input, answer.facts.cached), ("cc", 120, 100));
    assert_eq!((answer.facts.output, answer.facts.usd), (7, Some(0.5)), "it says its cost itself");
    let asked = &rig.server.requests()[0];
    assert!(asked.system().starts_with("You are Zorba."), "{}", asked.system());
    assert!(asked.last_user().ends_with("What tea does Anna like?"));
    assert_eq!(asked.headers["x-api-key"], CLAUDE_KEY);
    let kept = std::fs::read_dir(rig.state().join("harness/cc")).unwrap().count();
    assert_eq!(kept, 0, "a question without a conversation leaves no session");
    assert_eq!(rig.left(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_of_the_vault_is_called_through_our_own_server() {
    let rig = claude("cc").await;
    rig.server.script(vec![remind("claude-code"), Reply::text("Done.")]);
    assert_eq!(rig.ask(1, "remind me").await.unwrap().text, "Done.");
    assert_eq!(rig.reminders(), 1);
    let tools = rig.tools(1);
    assert_eq!((tools.len(), tools[0].call.name.as_str()), (1, "reminder_add"));
    let end = tools[0].result.as_ref().unwrap();
    assert!(!end.is_error && end.text.contains("drink tea"), "{}", end.text);
    let steps: Vec<String> = rig.journal.steps(1).unwrap().into_iter().map(|step| step.step).collect();
    let at = |name: &str| steps.iter().position(|step| step == name).unwrap();
    assert!(at("called") < at("tool started") && at("tool started") < at("tool finished"), "{steps:?}");
    let notes = rig.desk.notes.lock().unwrap();
    let TurnNote::Tool { number: 0, name, text } = &notes[0] else { panic!("{notes:?}") };
    assert!(name == "reminder_add" && text.contains("drink tea"));
    assert!(rig.person.asked.lock().unwrap().is_empty(), "a tool of ours needs nobody's word");
    // History says for whom.
    contains_all(history(rig.dir()), &["assistant", "turn 1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_of_its_own_is_asked_about() {
    for (verdict, ran) in
        [(ApprovalVerdict::Yes, true), (ApprovalVerdict::No, false), (ApprovalVerdict::NoApprover, false)]
    {
        let brain = |rig: &Rig| rig.brain("claude-code", "cc+tell-key");
        let mut rig = Rig::new(|rig| format!("{}tools = [\"Bash\"]\n", brain(rig))).await;
        rig.person = Person::who_says(verdict);
        let file = rig.dir().join("made");
        let command = format!("touch {} && echo made it: $ANTHROPIC_API_KEY", file.display());
        rig.server.script(vec![Reply::tool("Bash", json!({"command": command})), Reply::text("So be it.")]);
        assert_eq!(rig.ask(1, "make it").await.unwrap().text, "So be it. [hidden]");
        assert_eq!(file.exists(), ran, "{verdict:?}");
        let asked = rig.person.asked.lock().unwrap();
        let (wanted, caller) = &asked[0];
        assert!(wanted.run.starts_with("Bash {") && wanted.run.contains("touch"), "{}", wanted.run);
        assert_eq!((caller.turn.as_str(), caller.number, caller.brain.as_str()), ("1", 0, "cc"));
        let end = rig.tools(1).remove(0).result.unwrap();
        assert_eq!((end.text.contains("made it: [hidden]"), end.is_error), (ran, !ran), "{}", end.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_provider_is_classed_and_the_next_brain_answers() {
    let table = [
        (Reply::status(401), FailureClass::Auth, 1),
        (Reply::status(429), FailureClass::RateLimit, 1),
        (Reply::status(503), FailureClass::Overloaded, 2),
        (Reply::status(402), FailureClass::Billing, 1),
        (Reply::status(404), FailureClass::UnknownModel, 1),
        (Reply::status(400).body(r#"{"error":{"message":"bad"}}"#), FailureClass::Format, 1),
    ];
    for (reply, class, tries) in table {
        // One that would wait for ever between its tries where the second one isn't worth a call.
        let name = if tries == 1 { "cc+hang-retry" } else { "cc" };
        // Another account: who pays for both is asked for neither.
        let next = |rig: &Rig| rig.brain("chat", "next").replace("key_file = \"../key\"\n", "");
        let rig = Rig::new(|rig| rig.brain("claude-code", name) + &next(rig)).await;
        rig.server.script(vec![reply; tries]);
        rig.server.script(vec![Reply::text("I can.")]);
        let answer = rig.ask(1, "Who can?").await.unwrap();
        assert_eq!((answer.text.as_str(), answer.facts.brain.as_str()), ("I can.", "next"), "{class:?}");
        assert_eq!(answer.facts.failed, [("cc".to_owned(), class)]);
        assert_eq!(rig.left(), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_too_long_is_made_shorter_once() {
    let rig = claude("cc").await;
    let long = Reply::status(400).body(r#"{"error":{"message":"prompt is too long: 9 tokens > 8"}}"#);
    rig.server.script(vec![long, Reply::text("Now it fits.")]);
    assert_eq!(rig.ask(1, "?").await.unwrap().text, "Now it fits.");
}

/// A rig whose turns have this bound.
async fn bounded(bound: &str, kind: &str, name: &str) -> Rig {
    Rig::new(|rig| format!("[assistant]\n{bound}\n{}", rig.brain(kind, name))).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rounds_and_tokens_have_an_end() {
    // What it had used is in the facts: the first answer of the run was paid for, too.
    for (bound, budget, end, calls, used) in [
        ("max_rounds = 2", None, "this turn reached its limit of 2 tool rounds.", 2, None),
        ("turn_tokens = 5000", None, "this turn used up its 5000 tokens.", 1, Some(6000)),
        // A routine's own budget is smaller, and holds for a program as well.
        ("turn_tokens = 50000", Some(5000), "this turn used up its 5000 tokens.", 1, Some(6000)),
    ] {
        let rig = bounded(bound, "claude-code", "cc").await;
        rig.server.respond(move |_| remind("claude-code").usage(3000, 0, 10));
        rig.accept(1, "again and again", "");
        let run = || RunPurpose { routine: "r".into(), budget, ..RunPurpose::default() };
        let engine = rig.engine_for(budget.is_some().then(run));
        let answer = engine.answer(1, &rig.desk, &CancellationToken::new()).await.unwrap();
        let (said, done) = answer.text.split_once("\n\n").unwrap();
        assert_eq!(said, format!("I stopped here: {end}"), "{bound}");
        assert!(done.starts_with("Done before that:\n- `"), "{done}");
        assert_eq!((rig.tools(1).len(), rig.reminders()), (calls, calls), "{bound}");
        assert!(used.is_none_or(|used| answer.facts.input == used), "{bound}: {}", answer.facts.input);
        assert!(words(&rig.server.requests()[0]).contains("again and again"));
        assert_eq!(rig.left(), Vec::<String>::new());
    }
    // A whole answer is given, whatever it took.
    let rig = bounded("turn_tokens = 5000", "claude-code", "cc").await;
    rig.server.script(vec![Reply::text("Oolong.").usage(6000, 0, 10)]);
    assert_eq!(rig.ask(1, "What tea?").await.unwrap().text, "Oolong.");
    if python() {
        let rig = bounded("max_rounds = 1", "acp", "a+costs").await;
        rig.server.respond(|_| remind("acp"));
        assert!(rig.ask(1, "again and again").await.unwrap().text.starts_with("I stopped here"));
        assert_eq!(rig.journal.costs(1).unwrap(), [("a".to_owned(), 0.25)], "what it said before counts");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_ends_all_of_it_within_a_second() {
    let rig = claude("cc").await;
    rig.server.script(vec![remind("claude-code").usage(3000, 0, 10), Reply::hang()]);
    rig.accept(1, "?", "");
    let (stop, engine) = (CancellationToken::new(), rig.engine());
    let answering = engine.answer(1, &rig.desk, &stop);
    let stopping = async {
        rig.server.wait_for(2).await;
        stop.cancel();
        Instant::now()
    };
    let (answer, stopped) = tokio::join!(answering, stopping);
    assert_eq!(answer.unwrap_err().to_string(), "it was stopped");
    let left = rig.left();
    assert!(left.is_empty(), "{left:?}, {:?} after the stop", stopped.elapsed());
    let spent = rig.engine().spent(1).unwrap();
    assert_eq!((spent.input, spent.failed), (3000, vec![]), "what it had used counts");
}

/// A log that people and the assistant write.
pub struct Log<'a>(pub &'a Rig);

impl Log<'_> {
    fn write(&self, text: &str) {
        self.0.write("logs/day.md", self.0.text("logs/day.md") + text);
    }

    fn block(&self, kind: &str, who: &str, id: &str, text: &str) {
        self.write(&event(&format!("{kind}] 2026-11-22T09:00:00Z {who}"), text, id));
    }

    pub fn begin(&self) {
        self.write(LOG_HEAD);
    }

    /// A question and its answer, logged.
    pub async fn turn(&self, message: u64, text: &str) -> String {
        let id = format!("Q{message}");
        self.block("user", "Ann", &id, text);
        self.0.accept(message, text, &format!("logs/day#^{id}"));
        let answer = self.0.answer(message).await.unwrap();
        self.block("agent", "Vault", &format!("A{message}"), &answer.text);
        answer.text
    }
}

async fn rig(name: &str) -> Rig {
    let rig = Rig::new(|rig| rig.brain("claude-code", name) + &rig.brain("chat", "other")).await;
    Log(&rig).begin();
    rig
}

/// How many messages of people the last request held, and whether the last one tells of the past.
fn last(rig: &Rig) -> (usize, bool) {
    let asked = rig.server.requests().pop().unwrap();
    let users = asked.messages().iter().filter(|message| message["role"] == "user").count();
    (users, asked.last_user().contains("What was said here before"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_goes_on_in_its_session() {
    let rig = rig("cc").await;
    let log = Log(&rig);
    rig.server.script(vec![Reply::text("Oolong."), Reply::text("Cake."), Reply::text("Both.")]);
    log.turn(1, "What tea?").await;
    log.turn(2, "And to eat?").await;
    assert_eq!(last(&rig), (2, false), "its session knows the first question");
    // The stand-in says a quarter for each message of the whole session.
    for turn in [1, 2] {
        assert_eq!(rig.journal.costs(turn).unwrap(), [("cc".to_owned(), 0.5)], "it is counted once");
    }
    // Somebody says something to nobody: it is new to the session.
    log.block("user", "Bob", "B1", "I like scones");
    log.turn(3, "And which of them?").await;
    assert_eq!(last(&rig), (3, true));
    assert!(words(rig.server.requests().last().unwrap()).contains("I like scones"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_session_does_not_know_begins_a_new_one_from_the_log() {
    for change in ["edit", "lost", "cleared"] {
        let mut rig = rig("cc").await;
        let log = Log(&rig);
        rig.server.script(vec![Reply::text("Oolong."), Reply::text("Cake."), Reply::text("Both.")]);
        log.turn(1, "What tea?").await;
        match change {
            "edit" => log.block("system", "Vault", "S1", "edited [[logs/day#^Q1]]:\nWhat wine?"),
            "lost" => files_below(&rig.state().join("harness/cc"))
                .iter()
                .for_each(|it| fs::remove_file(it).unwrap()),
            _ => std::fs::remove_file(rig.state().join("turns.sqlite")).unwrap(),
        }
        if change == "cleared" {
            rig.journal = Arc::new(TurnJournal::open(&rig.state()).unwrap());
        }
        let log = Log(&rig);
        assert_eq!(log.turn(2, "And to eat?").await, "Cake.");
        assert_eq!(last(&rig), (1, true), "{change}");
        assert_eq!(rig.journal.calls(2).unwrap().len(), 1, "{change}: in the same attempt");
        // The new session is gone on with.
        log.turn(3, "And then?").await;
        assert_eq!(last(&rig), (2, false), "{change}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_neutral_request_is_the_one_that_files_give() {
    let rig = rig("cc").await;
    let log = Log(&rig);
    rig.server.script(vec![Reply::text("Oolong."), Reply::text("Cake.")]);
    log.turn(1, "What tea?").await;
    log.block("user", "Ann", "Q2", "And to eat?");
    rig.accept(2, "And to eat?", "logs/day#^Q2");
    let answer = rig.answer(2).await.unwrap();
    assert_eq!(last(&rig), (2, false), "it was told in its session");
    log.block("agent", "Vault", "A2", &answer.facts.append_to(&answer.text));
    let tools = VaultTools::beside_turns(rig.open(), OtherBrains::default()).specs();
    let rebuilt = rebuild(&rig.workspace(), Some(&rig.journal), "Q2", &|_, _, _| tools.clone()).unwrap();
    assert_eq!(rebuilt.hash, rebuilt.stored_hash);
    assert!(rebuilt.hash.is_some());
}
