//! What a person is asked before it happens: by buttons, by the line in the vault, across crashes.

use crate::discord::rig::*;
use vault_agent::agent::tools::{ApprovalSubject, Caller, Precondition};
use vault_agent::brain::{ToolCall, ToolSpec};
use vault_agent::config::allow::{CallToMatch, allows};
use vault_agent::format::approval::{self, Approval, ApprovalState as Ended};
use vault_agent::turn::turn_journal::ToolEnd;
use vault_agent::vault::{WatchTimes, Watcher};

use super::traps::{APPROVAL, SENDING, Traps};

/// `run` asks before it runs, unless the settings allow it; `page` gives text that nobody vouches for.
struct Guarded {
    root: PathBuf,
    ran: Mutex<Vec<String>>,
}

impl Guarded {
    fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap().clone()
    }
}

fn command(call: &ToolCall) -> String {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
    arguments["command"].as_str().unwrap_or_default().to_owned()
}

#[async_trait]
impl Toolbox for Guarded {
    fn specs(&self) -> Vec<ToolSpec> {
        let tool = |name: &str| {
            let schema = json!({ "type": "object", "properties": { "command": { "type": "string" } } });
            ToolSpec { name: name.into(), description: "A tool.".into(), schema }
        };
        vec![tool("run"), tool("page")]
    }

    fn precondition(&self, call: &ToolCall, caller: &Caller) -> Precondition {
        let command = command(call);
        let doing = CallToMatch::Bash(&command);
        let allow = Settings::load(&self.root).unwrap().assistant.allow;
        if call.name == "page" || !caller.tainted && allows(&allow, &doing) {
            return Precondition::Free;
        }
        let (always, why) = (Some(doing.always()), "network".into());
        Precondition::Ask(ApprovalSubject { run: command.clone(), hash: None, why, always, reusable: false })
    }

    fn untrusted(&self, tool: &str) -> bool {
        tool == "page"
    }

    async fn call(&self, call: &ToolCall, _: &Caller, _: &CancellationToken) -> ToolEnd {
        let command = command(call);
        self.ran.lock().unwrap().push(command.clone());
        ToolEnd { text: format!("ran {command}"), is_error: false, ms: 1 }
    }
}

fn run(command: &str) -> Reply {
    Reply::tool("run", json!({ "command": command }))
}

/// A rig with such tools, whose brain says these.
async fn rig_and_tool(replies: Vec<Reply>) -> (Rig, Arc<Guarded>) {
    let mut rig = Rig::with(&[("one", "messages")]).await;
    let tool = Arc::new(Guarded { root: rig.root(), ran: Mutex::default() });
    rig.tools = tool.clone();
    rig.server.script(replies);
    (rig, tool)
}

/// Asks for something; the question that comes of it.
async fn question(rig: &Rig, text: &str, nth: usize) -> Value {
    rig.ask(text);
    rig.asked(nth).await
}

pub(super) fn lines(rig: &Rig) -> Vec<Approval> {
    approval::parse(rig.text("Approvals.md").as_bytes()).lines.into_iter().map(|line| line.approval).collect()
}

fn open(rig: &Rig) -> Vec<Approval> {
    lines(rig).into_iter().filter(Approval::is_open).collect()
}

/// A person changes the note, and the daemon's watcher tells.
fn change(rig: &Rig, change: impl Fn(&str) -> String) {
    rig.write("Approvals.md", change(&rig.text("Approvals.md")));
    recheck(rig);
}

fn recheck(rig: &Rig) {
    rig.approvals.lock().unwrap().as_ref().unwrap().recheck();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn once_runs_it_once_and_only_the_owner_may_say_so() {
    let curl = run("curl https://a.example");
    let (mut rig, tool) = rig_and_tool(vec![curl.clone(), curl, Reply::text("Fetched.")]).await;
    rig.tell_progress();
    let _running = rig.run().await;
    let id = rig.ask("fetch it");
    let question = rig.asked(1).await;
    contains_all(rig.asked_text(1).await, &["\n```\ncurl https://a.example\n```\n", "(network)"]);
    assert_eq!(question["message_reference"]["message_id"], id.to_string());
    let line = open(&rig).remove(0);
    assert_eq!((line.run.as_str(), line.brain.as_str()), ("curl https://a.example", "one"));
    let note = rig.text("Approvals.md");
    assert!(note.starts_with("# Approvals\n\nActions of the assistant"), "{note}");
    let is_told = || rig.answers().iter().any(|text| text.contains("waiting for approval of run"));
    rig.wait("what is going on", is_told).await;

    assert_eq!(rig.press_as(MALLORY, &question, "Once").await, "Only the owner of this vault may use me.");
    assert!(tool.ran().is_empty() && open(&rig).len() == 1);
    assert_eq!(rig.press(&question, "Once").await, "Approved once");
    let second = rig.asked(2).await;
    assert_eq!(tool.ran(), ["curl https://a.example"], "the same again is asked again");
    let first = rig.asked(1).await;
    assert!(first["content"].as_str().unwrap().ends_with("\n**Approved once.**"), "{first}");
    assert!(first["components"][0]["components"].as_array().unwrap().iter().all(|b| b["disabled"] == true));
    contains_all(rig.press(&first, "Once").await, &["already settled (used)"]);
    assert_eq!(rig.press(&second, "No").await, "Declined");
    rig.wait_done(1).await;
    assert_eq!(tool.ran(), ["curl https://a.example"]);
    contains_all(&rig.results()[1], &["The person declined this"]);
    let states: Vec<_> = lines(&rig).into_iter().map(|line| line.state).collect();
    assert_eq!(states, [Some(Ended::Used), Some(Ended::Declined)]);
    // The questions are no part of the conversation.
    assert_eq!(rig.said(CHANNEL), ["<@500> fetch it", "Fetched."]);
    contains_none(rig.log_text(0), &["May this run?"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn always_is_written_into_the_settings_and_a_tainted_turn_asks_all_the_same() {
    let (log, page) = (|| run("git log -3"), Reply::tool("page", json!({ "command": "" })));
    let (rig, tool) = rig_and_tool(vec![log(), log(), Reply::text("Done.")]).await;
    rig.server.script(vec![log(), Reply::text("Again."), page, log(), Reply::text("Third.")]);
    let more = "\n# How it behaves.\n[assistant] # mine\nmax_rounds = 9 # enough\n";
    let before = rig.text("vault-agent.toml") + more;
    rig.write("vault-agent.toml", &before);
    let _running = rig.run().await;
    let asked = question(&rig, "what is new?", 1).await;
    contains_all(rig.press(&asked, "Always").await, &["allows `bash:git log -3` from now on"]);
    rig.wait_done(1).await;
    assert_eq!(tool.ran().len(), 2, "also later in this turn");
    let expected = before.replace("# mine\n", "# mine\nallow = [\"bash:git log -3\"]\n");
    assert_eq!(rig.text("vault-agent.toml"), expected);
    assert!(rig.asked_text(1).await.ends_with("**Approved, always.**"));
    rig.answer("and now?", 2).await;
    assert_eq!((tool.ran().len(), rig.questions_asked().len()), (3, 1), "not asked");
    let asked = question(&rig, "and what does the page say?", 2).await;
    assert_eq!(tool.ran().len(), 4, "the page alone");
    rig.press(&asked, "Once").await;
    rig.wait_done(3).await;
    assert_eq!((tool.ran().len(), rig.answers().last().map(String::as_str)), (5, Some("Third.")));
    assert_eq!(rig.text("vault-agent.toml"), expected, "once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_ticks_declines_or_deletes_the_line_in_the_vault() {
    let replies = (0..4).flat_map(|n| [run(&format!("step {n}")), Reply::text(format!("End {n}."))]);
    let (rig, tool) = rig_and_tool(replies.collect()).await;
    let _running = rig.run().await;
    // As in the daemon: the vault's watcher tells.
    let approvals = rig.approvals.lock().unwrap().clone().unwrap();
    let vault = Vault::open(&rig.root()).unwrap();
    let heard = move |_| approvals.recheck();
    let _watcher = Watcher::start_with(&vault, WatchTimes::default(), None, heard).unwrap();
    type Change = fn(&str) -> String;
    let without: Change = |note| note.split_inclusive('\n').filter(|line| !line.contains("- [ ]")).collect();
    let another: Change = |note| note.replace("- [ ]", "- [X]").replace("step 3", "step 4");
    let changes: [(Change, &str, &str); 4] = [
        (|note| note.replace("- [ ]", "- [x]"), "ran step 0", "Approved once."),
        (|note| note.replace("- [ ]", "- [-]"), "declined", "Declined."),
        (without, "declined", "Declined."),
        (another, "declined", "nothing was approved."),
    ];
    for (n, (changed, told, ends)) in changes.into_iter().enumerate() {
        question(&rig, &format!("do step {n}"), n + 1).await;
        rig.write("Approvals.md", changed(&rig.text("Approvals.md")));
        rig.wait_done(n + 1).await;
        contains_all(rig.results().join("\n"), &[told]);
        contains_all(rig.asked_text(n + 1).await, &[ends]);
    }
    assert_eq!(tool.ran(), ["step 0"]);
    contains_all(rig.text("Approvals.md"), &["step 4", "state=changed"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_answers_expires_and_that_is_no_no() {
    let (mut rig, tool) = rig_and_tool(vec![run("curl a"), Reply::text("Nobody was there.")]).await;
    let clock = Arc::new(ManualClock::new(Timestamp::now()));
    rig.clock = clock.clone();
    let _running = rig.run().await;
    let asked = question(&rig, "fetch it", 1).await;
    clock.advance(SignedDuration::from_mins(32));
    contains_all(rig.press(&asked, "Once").await, &["expired; ask again"]);
    recheck(&rig);
    rig.wait_done(1).await;
    contains_all(&rig.results()[0], &["That is no refusal"]);
    assert_eq!(lines(&rig)[0].state, Some(Ended::Expired));
    assert!(rig.asked_text(1).await.ends_with("**Expired; ask again.**"));
    change(&rig, |note| note.replace("- [ ]", "- [x]"));
    assert!(tool.ran().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_outlives_the_program_and_a_tick_meanwhile_counts() {
    let (rig, tool) = rig_and_tool(vec![run("curl a"), Reply::text("Fetched.")]).await;
    let running = rig.run().await;
    question(&rig, "fetch it", 1).await;
    running.crash().await;
    let running = rig.run().await;
    rig.wait("it waits again", || rig.turns(TurnState::Done) == 0 && rig.questions_asked().len() == 1).await;
    assert_eq!(open(&rig).len(), 1);
    running.crash().await;
    rig.write("Approvals.md", rig.text("Approvals.md").replace("- [ ]", "- [x]"));
    let _running = rig.run().await;
    rig.wait_done(1).await;
    let ran = (tool.ran(), rig.questions_asked().len());
    assert_eq!(ran, (vec!["curl a".to_owned()], 1), "{:?}", rig.results());
    assert!(rig.asked_text(1).await.ends_with("**Approved once.**"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_ends_the_waiting_and_the_question() {
    let (rig, tool) = rig_and_tool(vec![run("curl a")]).await;
    let _running = rig.run().await;
    let asked = question(&rig, "fetch it", 1).await;
    rig.answer("stop", 1).await;
    let shown = || rig.questions_asked()[0]["content"].as_str().unwrap().ends_with("**Stopped.**");
    rig.wait("it says so", shown).await;
    assert_eq!(lines(&rig)[0].state, Some(Ended::Stopped));
    let late = rig.press(&asked, "Once").await;
    assert!(late.contains("already settled (stopped)") && tool.ran().is_empty(), "{late}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_each_step_of_a_question_it_runs_at_most_once_and_only_after_a_yes() {
    let (rig, tool) = rig_and_tool(vec![]).await;
    let mut replies = 0;
    rig.server.respond(move |asked| {
        let said = asked.last_user();
        let step = said.split_whitespace().rfind(|word| word.starts_with("step")).unwrap_or("none");
        let told = asked.messages().last().is_some_and(|m| m["content"][0]["type"] == "tool_result");
        replies += 1;
        if told { Reply::text(format!("{step} end {replies}")) } else { run(step) }
    });
    let (traps, mut running) = (Traps::set(&rig), rig.run().await);
    let points =
        APPROVAL.iter().chain(&SENDING).chain(&["turn::before-tool-started", "turn::after-tool-started"]);
    for (number, point) in points.enumerate() {
        traps.arm(point, 0);
        let step = format!("step{number}");
        let id = rig.ask(&format!("do {step}"));
        let is_done = || rig.is_over(id);
        // The person approves whatever is asked, as it comes.
        let approve = |may: bool| {
            if may && open(&rig).iter().any(|line| line.mark == approval::CheckboxMark::Open) {
                change(&rig, |note| note.replace("- [ ]", "- [x]"));
            }
            is_done()
        };
        let is_shown = *point != "approval::after-line" && !SENDING.contains(point);
        rig.wait(point, || traps.is_sprung() || approve(is_shown)).await;
        assert!(traps.is_sprung(), "{point}");
        running.crash().await;
        traps.disarm();
        running = rig.run().await;
        rig.wait(point, || approve(true)).await;
        let ran = tool.ran().iter().filter(|ran| **ran == step).count();
        let lost = *point == "turn::after-tool-started";
        assert_eq!(ran, usize::from(!lost), "{point}: {:?}", tool.ran());
        let is_used = |line: &Approval| line.run == step && line.state == Some(Ended::Used);
        let used = lines(&rig).into_iter().filter(is_used).count();
        let note = rig.text("Approvals.md");
        assert_eq!(used, 1, "{point}: a call that was approved is not asked about again\n{note}");
        let questions = rig.questions_asked();
        let shown = questions.iter().filter(|q| q["content"].as_str().unwrap().contains(&step)).count();
        // What was ticked in the note before it was sent need not be shown at all.
        let least = usize::from(!SENDING.contains(point));
        assert!((least..=1).contains(&shown), "{point}: a question is shown once, not {shown} times");
    }
}
