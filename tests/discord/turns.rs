//! A question's way to its answer by a brain, over a model server of our own.

use crate::discord::rig::*;
use tokio::sync::Semaphore;
use vault_agent::agent::tools::Caller;
use vault_agent::brain::{ToolCall, ToolSpec};
use vault_agent::turn::turn_journal::ToolEnd;
use vault_agent::turn::usage::{self, UsageGrouping};

/// One tool, `look`, that may be made to wait.
#[derive(Debug)]
pub struct Look {
    pub started: Mutex<Vec<(Caller, String)>>,
    pub gate: Semaphore,
}

impl Look {
    /// It may be called to its end so often.
    pub fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self { started: Mutex::default(), gate: Semaphore::new(permits) })
    }

    /// A rig whose one tool it is, and whose brain has this wire and says these.
    pub async fn rig(wire: &str, permits: usize, replies: Vec<Reply>) -> (Rig, Arc<Self>) {
        let (mut rig, look) = (Rig::with(&[("one", wire)]).await, Self::new(permits));
        rig.tools = look.clone();
        rig.server.script(replies);
        (rig, look)
    }

    pub fn count(&self) -> usize {
        self.started.lock().unwrap().len()
    }

    /// Asks in the rig's channel, and waits until it was called so often.
    pub async fn asked(&self, rig: &Rig, question: &str, calls: usize) -> u64 {
        let id = rig.ask(question);
        rig.wait("the tool", || self.count() == calls).await;
        id
    }
}

#[async_trait]
impl Toolbox for Look {
    fn specs(&self) -> Vec<ToolSpec> {
        let schema = json!({ "type": "object", "properties": { "q": { "type": "string" } } });
        vec![ToolSpec { name: "look".into(), description: "Looks something up.".into(), schema }]
    }

    async fn call(&self, call: &ToolCall, caller: &Caller, _: &CancellationToken) -> ToolEnd {
        self.started.lock().unwrap().push((caller.clone(), call.arguments.clone()));
        let _permit = self.gate.acquire().await;
        ToolEnd { text: format!("found for {}", call.arguments), is_error: false, ms: 1 }
    }
}

pub fn look() -> Reply {
    Reply::tool("look", json!({ "q": "tea" }))
}

/// A bot in the midst of a tool that never ends; whoever asks its brain again would be answered.
pub async fn looking() -> (Rig, Arc<Look>, Running) {
    let (rig, tool) = Look::rig("chat", 0, vec![look()]).await;
    rig.server.respond(|_| Reply::text("Yes."));
    let running = rig.run().await;
    tool.asked(&rig, "look?", 1).await;
    (rig, tool, running)
}

fn kinds(rig: &Rig) -> Vec<EventKind> {
    rig.events(CHANNEL).iter().map(|block| block.event.kind).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mention_is_answered_by_a_brain_of_each_wire_and_the_log_says_how() {
    for wire in ["messages", "responses", "chat"] {
        let replies = vec![Reply::text("On **Friday**.").usage(120, 100, 7), Reply::text("-# ⏳ asking one")];
        let (rig, _running) = Rig::scripted(wire, replies).await;
        rig.write("Assistant.md", "You are Zorba.\n");
        let question = rig.ask("when is the dentist?");
        rig.wait_done(1).await;
        assert_eq!(rig.replies(question), ["On **Friday**."]);
        // No link of a model is fetched for a preview.
        let posted = rig.fake.requests("POST", "/messages");
        assert!(posted.iter().any(|it| it.body["content"] == "On **Friday**." && it.body["flags"] == 4));
        assert!(rig.fake.world().typing.iter().any(|(channel, _)| *channel == CHANNEL));
        let log = [EventKind::User, EventKind::Recall, EventKind::Agent, EventKind::System];
        assert_eq!(kinds(&rig), log, "{wire}");
        let events = rig.events(CHANNEL);
        contains_all(&events[1].event.content, &["INJECTED_CONTEXT_RELEVANT_MEMORIES"]);
        contains_all(rig.log_text(0), &["[!recall]-"]);
        let fact_line = events[2].event.content.lines().last().unwrap();
        assert!(fact_line.starts_with("%% brain=one ") && fact_line.ends_with(" %%"), "{fact_line}");
        let facts = rig.facts(CHANNEL).pop().unwrap();
        assert_eq!((facts.input, facts.cached, facts.output, facts.calls), (120, 100, 7, 1), "{wire}");
        let usd = 20.0 * 3e-6 + 100.0 * 0.3e-6 + 7.0 * 15e-6;
        assert!((facts.usd.unwrap() - usd).abs() < 1e-9, "{:?}", facts.usd);
        assert_eq!(facts.turn, events[0].event.id);
        contains_all(&events[3].event.content, &[&format!("#^{}]]", facts.turn.as_ref().unwrap())]);
        let turn = rig.turn_journal().turn(question).unwrap().unwrap();
        assert_eq!((facts.ctx, turn.chunks), (turn.assembled.map(|a| a.hash), 1));
        let asked = rig.server.requests().remove(0);
        assert!(asked.system().starts_with("You are Zorba."), "{}", asked.system());
        let said = asked.last_user();
        contains_all(&said, &["The dentist is on Friday"]);
        assert!(said.ends_with("when is the dentist?"), "{said}");
        // What was injected is never told again; what was said is.
        // An answer that looks like a note of progress is one, and logged.
        rig.answer("sure?", 2).await;
        assert_eq!(rig.said(CHANNEL).last().unwrap(), "-# ⏳ asking one");
        assert_eq!((rig.server.requests().len(), rig.answers().len()), (2, 2), "one of each for a turn");
        let body = rig.server.requests()[1].body.to_string();
        contains_all(&body, &["when is the dentist?", "On **Friday**."]);
        // Nor are the facts of an answer history.
        contains_none(&body, &["INJECTED_CONTEXT_RELEVANT_MEMORIES\\n", "%%"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_a_brain_asks_for_is_run_logged_and_told() {
    for wire in ["messages", "responses", "chat"] {
        let replies = vec![look(), look(), Reply::text("Oolong."), Reply::text("Bye.")];
        let (rig, tool) = Look::rig(wire, 10, replies).await;
        let _running = rig.run().await;
        rig.answer("which tea?", 1).await;
        assert_eq!(rig.answers(), ["Oolong."]);
        let found = r#"found for {"q":"tea"}"#;
        assert_eq!(rig.server.requests()[1].results(), [found], "{wire}");
        assert_eq!(rig.server.requests()[2].results(), [found, found], "{wire}");
        assert_eq!(tool.count(), 2);
        let log = [EventKind::User, EventKind::Tool, EventKind::Tool, EventKind::Agent, EventKind::System];
        assert_eq!(kinds(&rig), log, "{wire}");
        let block = rig.events(CHANNEL)[1].event.clone();
        assert_eq!(block.author, "look");
        assert_eq!(block.content, format!("{{\"q\":\"tea\"}}\n\n{found}"));
        let facts = rig.facts(CHANNEL).pop().unwrap();
        assert_eq!((facts.calls, facts.input, facts.output), (3, 360, 21), "all rounds count");
        // A later turn is told of it, each call with its result.
        rig.answer("thanks", 2).await;
        assert_eq!(rig.server.requests()[3].results(), [found, found], "{wire}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_while_a_turn_runs_becomes_one_turn_after_it() {
    let replies = vec![look(), Reply::text("First."), Reply::text("All three.")];
    let (rig, tool) = Look::rig("messages", 0, replies).await;
    let _running = rig.run().await;
    tool.asked(&rig, "first?", 1).await;
    let asked = ["second?", "never mind?", "third?", "fourth?", "nor this?"].map(|text| rig.ask(text));
    rig.wait("the questions", || rig.turns(TurnState::Accepted) == 5).await;
    [1, 4].iter().for_each(|gone| rig.fake.delete(CHANNEL, asked[*gone]));
    rig.wait("the deletions", || rig.noted("deleted") == 2).await;
    tool.gate.add_permits(10);
    rig.wait_done(6).await;
    assert_eq!(rig.answers(), ["First.", "All three."]);
    assert_eq!(rig.replies(asked[3]), ["All three."]);
    assert_eq!(rig.server.requests().len(), 3);
    let mut said = rig.server.requests()[2].messages();
    said.retain(|message| message["role"] == "user");
    for (word, said) in ["second?", "third?", "fourth?"].iter().zip(&said[said.len() - 3..]) {
        assert!(said["content"].to_string().contains(word), "each a message of its own, in order: {said}");
    }
    let ids = rig.questions();
    let facts = rig.facts(CHANNEL).pop().unwrap();
    assert_eq!(
        (facts.turn.as_ref(), &facts.with[..]),
        (Some(&ids[4]), &[&ids[1..4], &ids[5..]].concat()[..])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slash_question_asks_one_brain_and_its_answer_shows_the_question() {
    let rig = Rig::with(&[("one", "messages"), ("two", "chat")]).await;
    rig.server.script(vec![Reply::text("From two."), Reply::status(500), Reply::text("never")]);
    let _running = rig.run().await;
    let said = rig.command("ask", &[("question", "what now?"), ("brain", "two")]).await;
    assert_eq!(said, "The answer comes here.");
    rig.wait_done(1).await;
    assert_eq!(rig.answers(), ["> what now?\nFrom two."]);
    assert_eq!(rig.server.requests()[0].wire, "chat");
    // A word beside it says that no message holds the question.
    assert_eq!(kinds(&rig)[..3], [EventKind::User, EventKind::System, EventKind::Agent]);
    assert_eq!(rig.facts(CHANNEL)[0].brain, "two");
    // It alone is asked: where it fails, memory answers.
    rig.command("ask", &[("question", "dentist?"), ("brain", "two")]).await;
    rig.wait_done(2).await;
    let last = rig.answers().pop().unwrap();
    assert!(last.starts_with("> dentist?\ntwo did not answer (") && last.contains("Friday"), "{last}");
    // A brain that isn't there is a sentence.
    rig.command("ask", &[("question", "dentist?"), ("brain", "tow")]).await;
    rig.wait_done(3).await;
    contains_all(rig.answers().pop().unwrap(), &["tow", "Friday"]);
    assert!(rig.server.requests().len() <= 3, "the other brain was not asked");
    assert!(rig.server.requests().iter().all(|asked| asked.wire == "chat"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_turn_is_stopped_by_command_and_by_word() {
    let replies = vec![Reply::hang(), Reply::hang(), Reply::hang(), Reply::text("Here.")];
    let (rig, _running) = Rig::scripted("messages", replies).await;
    assert_eq!(rig.command("stop", &[]).await, "No answer is running here.");
    rig.ask("one?");
    rig.server.wait_for(1).await;
    assert_eq!(rig.command("stop", &[]).await, "Stopped.");
    rig.server.wait_for_gone(1).await;
    rig.wait_done(1).await;
    assert_eq!(rig.answers(), ["Stopped."]);
    // The word does it, too, from the same person, with a mention and without; a stranger's word stops nothing.
    for (nth, word, again) in [(2, "<@500> stop", "<@500> Stop"), (3, "stop", "stop")] {
        rig.ask("what else?");
        rig.server.wait_for(nth).await;
        rig.fake.say(CHANNEL, MALLORY, word);
        rig.say(again);
        rig.server.wait_for_gone(nth).await;
        rig.wait_done(nth).await;
    }
    // With nothing to end it is a word like any other, and nobody was spoken to.
    rig.say("stop");
    rig.answer("four?", 4).await;
    assert_eq!(rig.answers(), ["Stopped.", "Stopped.", "Stopped.", "Here."]);
    assert_eq!(rig.noted("Alice stopped the answer."), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edited_question_is_answered_as_it_is_now_and_a_deleted_one_not_at_all() {
    let (rig, tool) = Look::rig("messages", 0, vec![Reply::hang(), Reply::text("Green.")]).await;
    let _running = rig.run().await;
    let question = rig.ask("black tea?");
    rig.server.wait_for(1).await;
    rig.fake.edit(CHANNEL, question, "<@500> green tea?");
    rig.server.wait_for_gone(1).await;
    rig.wait_done(1).await;
    assert_eq!(rig.answers(), ["Green."]);
    let body = rig.server.requests()[1].body.to_string();
    assert!(body.contains("green tea?") && !body.contains("black tea?"), "{body}");
    // An edit while a tool runs: what it did is not known, and it isn't done again.
    rig.server.script(vec![look(), Reply::text("White.")]);
    let question = tool.asked(&rig, "red tea?", 1).await;
    rig.fake.edit(CHANNEL, question, "<@500> white tea?");
    rig.wait_done(2).await;
    assert_eq!(rig.answers(), ["Green.", "White."]);
    contains_all(&rig.results()[0], &["outcome is unknown"]);
    assert_eq!(tool.count(), 1);
    // Taken back while it is asked.
    rig.server.script(vec![Reply::hang(), Reply::text("Still here.")]);
    let question = rig.ask("secret?");
    rig.server.wait_for(5).await;
    rig.fake.delete(CHANNEL, question);
    rig.server.wait_for_gone(2).await;
    rig.wait("the end of it", || rig.turns(TurnState::Dropped) == 1).await;
    rig.answer("there?", 3).await;
    assert_eq!(rig.answers(), ["Green.", "White.", "Still here."]);
    assert!(!rig.server.requests().pop().unwrap().body.to_string().contains("secret?"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_stopped_and_a_deleted_question_took_is_counted() {
    let replies = vec![look().usage(500, 0, 20), look().usage(300, 0, 10)];
    let (mut rig, tool) = Look::rig("chat", 0, replies).await;
    // Whatever ends before the log is written is seen.
    rig.times.gather = Duration::from_millis(300);
    let _running = rig.run().await;
    tool.asked(&rig, "one?", 1).await;
    rig.command("stop", &[]).await;
    rig.wait_done(1).await;
    let facts = rig.facts(CHANNEL).remove(0);
    assert_eq!((facts.input, facts.output, facts.calls), (500, 20, 1));
    let question = tool.asked(&rig, "two?", 2).await;
    rig.fake.delete(CHANNEL, question);
    rig.wait("the end of it", || rig.turns(TurnState::Dropped) == 1).await;
    assert_eq!(rig.noted("No answer: the question was taken back."), 1, "a crash now would lose it");
    let answers = usage::answers(rig.log_text(0).as_bytes());
    let (total, rows) = usage::add_up(&answers, UsageGrouping::Brain, &jiff::tz::TimeZone::UTC);
    assert_eq!((total.answers, total.calls, total.input, total.output), (1, 2, 800, 30));
    let rows: Vec<_> =
        rows.iter().map(|row| (row.key.as_str(), row.sum.answers, row.sum.calls, row.sum.input)).collect();
    assert_eq!(rows, [("one", 0, 2, 800), ("memory", 1, 0, 0)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_work_says_what_it_does_in_one_message_that_goes() {
    let (mut rig, _tool) = Look::rig("messages", 0, vec![look(), Reply::text("Done.")]).await;
    rig.tell_progress();
    let running = rig.run().await;
    let question = rig.ask("work!");
    rig.wait("what is going on", || rig.replies(question) == ["-# ⏳ using look"]).await;
    // After a restart it is the same message.
    running.crash().await;
    let running = rig.run().await;
    rig.wait_done(1).await;
    rig.wait("it goes", || rig.answers() == ["Done."]).await;
    drop(running);
    let at = |method, path: &str, text: &str| {
        let of = rig.fake.requests(method, path);
        of.iter().rfind(|request| request.body.to_string().contains(text)).unwrap().at
    };
    let gone = at("DELETE", "/channels/2000/messages/", "");
    assert!(gone < at("POST", "/channels/2000/messages", "Done."), "the answer comes in its place");
    assert!(!rig.said(CHANNEL).iter().any(|text| text.contains('⏳')), "{:?}", rig.said(CHANNEL));
    assert!(!rig.events(CHANNEL).iter().any(|b| b.event.content.contains("deleted")), "no trace of it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slash_question_is_not_taken_for_a_deleted_message_after_a_restart() {
    let rig = Rig::with(&[("one", "chat")]).await;
    rig.server.respond(|_| Reply::text("Yes."));
    for nth in 1..=2 {
        let _running = rig.run().await;
        rig.wait("the commands, at each start", || rig.fake.world().command_writes == nth).await;
        assert_eq!(rig.fake.world().commands.len(), 14);
        rig.ask("may I?");
        rig.command("ask", &[("question", "and now?")]).await;
        rig.wait_done(2 * nth).await;
    }
    assert_eq!((rig.answers().len(), rig.noted("deleted")), (4, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_its_channel_refuses_goes_nowhere_else_and_waits() {
    let eyes = || Reply::text("For your eyes.");
    let (rig, _running) = Rig::scripted("chat", vec![eyes(), eyes()]).await;
    let dm = { rig.fake.world().dm(ALICE) };
    let posts = format!("/channels/{dm}/messages");
    rig.fake.fault("POST", &posts, Fault::refuse(403, 50007, "no"), 1);
    rig.fake.say(dm, ALICE, "a secret?");
    rig.wait("the refusal", || rig.fake.requests("POST", &posts).len() == 1).await;
    rig.answer("here?", 1).await;
    assert_eq!(rig.fake.messages(CHANNEL).len(), 2, "the question here and its answer alone");
    assert_eq!(rig.turns(TurnState::Answered), 1, "the other one waits");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_going_on_goes_though_its_requests_fail_and_the_program_ends() {
    for is_killed in [false, true] {
        let (mut rig, tool) = Look::rig("chat", 0, vec![look(), Reply::text("Done.")]).await;
        rig.tell_progress();
        let mut running = rig.run().await;
        rig.fake.fault("POST", "/channels/2000/messages", Fault::StatusAfter(502, json!({})), 1);
        rig.fake.fault("DELETE", "/messages", Fault::Status(502, json!({})), if is_killed { 100 } else { 1 });
        rig.ask("work!");
        rig.wait("what is going on", || !rig.answers().is_empty()).await;
        rig.wait("a second attempt", || rig.posts().len() == 2).await;
        tool.gate.add_permits(1);
        rig.wait_done(1).await;
        if is_killed {
            running.crash().await;
            rig.fake.heal();
            running = rig.run().await;
        }
        rig.wait("it goes", || rig.answers() == ["Done."]).await;
        drop(running);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_chunks_of_an_answer_are_told_apart_without_nonces() {
    let (rig, clock) = Rig::clocked().await;
    rig.write("vault-agent.toml", rig.brains(&[("one", "chat")]));
    rig.fake.world().nonce_in_history = false;
    rig.fake.world().nonce_window = Duration::ZERO;
    rig.server.script(vec![Reply::text("word ".repeat(1200))]);
    let _running = rig.run().await;
    rig.fake.fault("POST", "/channels/2000/messages", Fault::Slow(Duration::ZERO), 1);
    rig.fake.fault("POST", "/channels/2000/messages", Fault::LoseAnswer, 1);
    let question = rig.ask("go on");
    rig.wait("two chunks", || rig.answers().len() == 2).await;
    let is_done = || {
        rig.advance(&clock, SignedDuration::from_mins(3));
        rig.turns(TurnState::Done) == 1
    };
    rig.wait("the clock", is_done).await;
    assert_eq!(rig.answers().len(), rig.turn_journal().turn(question).unwrap().unwrap().chunks as usize);
}
