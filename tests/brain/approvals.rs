//! Asking by the note alone, with no conversation beside it.

use crate::brain::rig::*;
use vault_agent::agent::approvals::{ApprovalDecision, digest_of};
use vault_agent::agent::tools::{ApprovalRequest, ApprovalSubject, ApprovalVerdict, Approvals, Caller};
use vault_agent::agent::{VaultApprovals, Waiter};
use vault_agent::format::approval::{Approval, CheckboxMark};

use crate::brain::spending::World;

/// A world with one workspace open.
struct Room {
    world: World,
    workspace: Arc<Workspace>,
    approvals: VaultApprovals,
}

impl Room {
    fn new(settings: &str, waiter: Waiter) -> Self {
        let world = World::new(settings);
        world.clock.advance(SignedDuration::from_secs(10));
        write_private(world.path("../key"), "canary-0123456789\n");
        let workspace = world.workspace();
        Self { approvals: VaultApprovals::new(&workspace, waiter), workspace, world }
    }

    /// Asks, in a turn's first call.
    async fn ask(&self, subject: &ApprovalSubject) -> Verdict {
        ask(&self.approvals, subject, &caller(0)).await
    }

    /// Whether nothing is left that `undo` would take back.
    fn has_no_undo(&self) -> bool {
        self.workspace.history().unwrap().unwrap().plan_undo(9).unwrap().writes.is_empty()
    }

    fn note(&self) -> String {
        self.world.text("Approvals.md")
    }

    fn change(&self, change: impl Fn(&str) -> String) {
        self.world.write("Approvals.md", change(&self.note()));
    }

    fn lines(&self) -> Vec<Approval> {
        self.world.asked()
    }
}

fn wanted(run: &str) -> ApprovalSubject {
    let always = Some(format!("bash:{run}"));
    ApprovalSubject { run: run.into(), hash: None, why: "network".into(), always, reusable: false }
}

fn caller(number: u32) -> Caller {
    Caller { turn: "1".into(), number, brain: "claude".into(), tainted: false }
}

type Verdict = Result<ApprovalVerdict, String>;
const YES: Verdict = Ok(ApprovalVerdict::Yes);
const WAITS: Verdict = Ok(ApprovalVerdict::Waits);

async fn ask(approvals: &VaultApprovals, wanted: &ApprovalSubject, caller: &Caller) -> Verdict {
    let (place, stop) = (&NoConversation, &CancellationToken::new());
    approvals.ask(ApprovalRequest { subject: wanted, caller, place, stop }).await
}

#[tokio::test]
async fn what_was_left_in_the_note_runs_once_after_the_tick() {
    let (room, two_lines) = (Room::new("", Waiter::Nothing), wanted("echo \"a\"\ncurl https://a.example"));
    for _ in 0..2 {
        assert_eq!(room.ask(&two_lines).await, WAITS);
    }
    assert_eq!(room.lines().len(), 1, "the same question is one line: {}", room.note());
    let line = room.lines().remove(0);
    assert_eq!((line.run.as_str(), line.turn.as_deref()), (two_lines.run.as_str(), Some("ask")));
    assert_eq!(line.until, "2026-12-01T10:01:00Z".parse().unwrap());
    room.change(|note| note.replace("- [ ]", "- [x]"));
    assert_eq!(room.ask(&wanted("curl https://b.example")).await, WAITS);
    // Another turn and call: what counts is the text.
    assert_eq!(ask(&room.approvals, &two_lines, &caller(3)).await, YES);
    assert_eq!(room.ask(&two_lines).await, WAITS, "once");
    // A question and its end are answered by a box, and no `undo` makes a used approval count again.
    assert!(room.has_no_undo());
}

#[tokio::test]
async fn what_is_approved_is_the_command_and_the_hash_not_the_reason() {
    let (room, hash) = (Room::new("", Waiter::Nothing), Some("0123456789abcdef".to_owned()));
    let skill = ApprovalSubject { hash: hash.clone(), ..wanted("skill tea") };
    let foreign = "network, the skill `tea`, which came from elsewhere";
    let brew = ApprovalSubject { hash, ..wanted("skill tea: brew") };
    let first = ApprovalSubject { why: foreign.into(), always: None, ..brew.clone() };
    for one in [&skill, &first] {
        assert_eq!(room.ask(one).await, WAITS);
    }
    room.change(|note| note.replace("- [ ]", "- [x]"));
    // The skill is approved by now, so that the command's reason is the network alone, and "Always" could be said.
    assert_eq!(room.ask(&skill).await, YES);
    assert_eq!(ask(&room.approvals, &brew, &caller(1)).await, YES, "{}", room.note());
    assert_eq!(room.lines().len(), 2, "{}", room.note());
    // Other files, or another command, are another question.
    room.change(|note| note.replace(" state=used", ""));
    let changed = ApprovalSubject { hash: Some("fedcba9876543210".into()), ..brew };
    for other in [changed, wanted("skill tea: b")] {
        assert_eq!(room.ask(&other).await, WAITS);
    }
}

#[tokio::test]
async fn a_secret_is_never_written_into_the_note() {
    let brain = "[[brain]]\nname = \"a\"\nkind = \"chat\"\nmodel = \"m\"\nurl = \"http://localhost:1\"\n";
    let room = Room::new(&format!("{brain}key_file = \"../key\"\n"), Waiter::Call);
    let hidden = wanted("curl -H \"X-Key: canary-0123456789\" https://a.example");
    let refused = room.ask(&hidden).await.unwrap_err();
    assert!(refused.contains("a secret of this vault") && !refused.contains("canary"), "{refused}");
    assert!(room.ask(&ApprovalSubject { why: "canary-0123456789".into(), ..wanted("ls") }).await.is_err());
    assert!(room.ask(&wanted(" ")).await.is_err());
    contains_all(room.ask(&wanted(&"x".repeat(8_001))).await.unwrap_err(), &["8001 characters"]);
    assert_eq!(room.note(), "", "nothing was written");
}

#[tokio::test]
async fn what_is_allowed_now_is_not_asked_but_in_a_tainted_turn() {
    let room = Room::new("[assistant]\nallow = [\"bash:ls\"]\n", Waiter::Nothing);
    assert_eq!(room.ask(&wanted("ls")).await, YES);
    assert_eq!(room.note(), "");
    assert_eq!(ask(&room.approvals, &wanted("ls"), &Caller { tainted: true, ..caller(0) }).await, WAITS);
    assert_eq!(room.ask(&ApprovalSubject { always: None, ..wanted("ls -l") }).await, WAITS);
    assert!(!room.lines()[1].to_line().contains("always="));
}

#[tokio::test]
async fn a_line_that_nobody_could_tick_is_not_waited_for() {
    let room = Room::new("", Waiter::Call);
    room.change(|_| "# Mine\n\n```\ncode that never ends\n".to_owned());
    contains_all(room.ask(&wanted("ls")).await.unwrap_err(), &["code or a comment"]);
    assert!(room.lines().is_empty() && room.note().ends_with("never ends\n"), "{}", room.note());
}

#[tokio::test]
async fn a_press_counts_for_the_line_that_was_shown_and_no_other() {
    let room = Room::new("# mine\n", Waiter::Nothing);
    assert_eq!(room.ask(&wanted("ls")).await, WAITS);
    let id = room.lines()[0].id.clone();
    let press = async |digest: &str, word| room.approvals.answer(&id, digest, word, Actor::Discord).await;
    contains_all(press("000000000000", ApprovalDecision::Always).await.unwrap_err(), &["was changed"]);
    assert_eq!(room.world.read("vault-agent.toml"), "# mine\n", "nothing is allowed by it");
    let gone = room.approvals.answer("ap_AAAAAAAAAAAA", "0", ApprovalDecision::Once, Actor::Discord).await;
    contains_all(gone.unwrap_err(), &["is no longer in `Approvals.md`"]);
    assert!(room.lines()[0].is_open());
    // An answer is no operation that `undo` would take back, or stumble over.
    press(&digest_of(&room.lines()[0]), ApprovalDecision::Once).await.unwrap();
    assert_eq!(room.lines()[0].mark, CheckboxMark::Ticked);
    assert!(room.has_no_undo());
}

/// What another does at `point` while a thread of this name is there.
fn meanwhile(point: &'static str, thread: &'static str, act: impl Fn() + Send + Sync + 'static) {
    let passed = move || {
        if std::thread::current().name() == Some(thread) {
            act();
        }
    };
    fail::cfg_callback(point, passed).unwrap();
}

fn runtime(thread: &str) -> tokio::runtime::Runtime {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(1).thread_name(thread).enable_all().build().unwrap()
}

async fn left(workspace: &Arc<Workspace>, run: &str) -> Verdict {
    ask(&VaultApprovals::new(workspace, Waiter::Nothing), &wanted(run), &caller(0)).await
}

#[test]
fn what_is_asked_while_somebody_saves_the_note_or_asks_the_same_is_one_line() {
    let room = Room::new("", Waiter::Nothing);
    let (asking, other) = (runtime("asks"), runtime("another"));
    assert_eq!(asking.block_on(left(&room.workspace, "ls")), WAITS);
    // An editor that saves: for a moment the note is empty, and it is whole again before a line would be added.
    let (note, whole) = (room.world.path("Approvals.md"), room.note());
    room.change(|_| String::new());
    meanwhile("approval::before-line", "asks", move || fs::write(&note, &whole).unwrap());
    assert_eq!(asking.block_on(left(&room.workspace, "ls")), WAITS);
    assert_eq!(room.lines().len(), 1, "{}", room.note());
    // Two turns that ask the same at once.
    let workspace = Arc::clone(&room.workspace);
    let handle = other.handle().clone();
    meanwhile("approval::before-line", "asks", move || {
        assert_eq!(handle.block_on(left(&workspace, "date")), WAITS);
    });
    assert_eq!(asking.block_on(left(&room.workspace, "date")), WAITS);
    fail::remove("approval::before-line");
    assert_eq!(room.lines().len(), 2, "{}", room.note());
}
