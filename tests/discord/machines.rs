//! Two machines with one vault and one bot: the voice alone is connected, and each question gets one answer.

use std::sync::LazyLock;

use crate::discord::rig::*;

/// When the machines' time began, which all of them share.
static BEGUN: LazyLock<(Timestamp, Instant)> = LazyLock::new(|| (Timestamp::now(), Instant::now()));

/// The machines' time: a minute goes by in a second.
fn now() -> Timestamp {
    BEGUN.0 + BEGUN.1.elapsed() * 60
}

/// A copy of the vault, and the daemon over it.
struct Machine {
    rig: Rig,
    name: &'static str,
    daemon: Option<Killed>,
}

impl Machine {
    fn new(rig: Rig, name: &'static str, store: &Path) -> Self {
        let engine = format!("[machines]\nengine = \"git\"\nremote = \"file://{}\"\n", store.display());
        rig.set(&(engine + "prefer = [\"server\", \"laptop\"]\n"));
        rig.write("MEMORY.md", "## Health\n- The dentist is on Friday at ten\n");
        Self { rig, name, daemon: None }
    }

    fn start(&mut self) {
        let mut command = self.rig.program(&["run"]);
        command.env("VAULT_AGENT_MACHINE", self.name).env("VAULT_AGENT_NOW", format!("{}@60", now()));
        self.daemon = Some(Killed(command.spawn().unwrap()));
    }

    fn kill(&mut self) {
        self.daemon = None;
    }

    /// What the daemon last said of a part of it.
    fn says(&self, part: &str) -> String {
        let report = fs::read(self.rig.state().join("status.json")).unwrap_or_default();
        let report: Value = serde_json::from_slice(&report).unwrap_or_default();
        report["parts"][part].as_str().unwrap_or_default().to_owned()
    }

    async fn hears(&self, part: &str, words: &str) {
        self.rig.wait(&format!("{}: {words}", self.name), || self.says(part) == words).await;
    }

    async fn is_answered(&self, question: u64) {
        self.rig.wait("an answer", || !self.rig.replies(question).is_empty()).await;
    }
}

/// The server speaks, and the laptop knows.
async fn two(store: &Path) -> (Machine, Machine) {
    let mut server = Machine::new(Rig::new().await, "server", store);
    let mut laptop = Machine::new(Rig::on(Arc::clone(&server.rig.fake)).await, "laptop", store);
    server.start();
    server.hears("machines", "this one is the voice").await;
    laptop.start();
    laptop.hears("machines", "server is the voice").await;
    (server, laptop)
}

/// What was answered and not sent when the machine died is claimed anew by the same machine, whose lease is another one then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_never_left_is_sent_after_a_restart() {
    let (_temp, store) = bare_repository();
    let mut server = Machine::new(Rig::new().await, "server", &store);
    server.start();
    server.hears("discord", "connected").await;
    server.rig.fake.fault("POST", "/messages", Fault::DropRequest, 1000);
    let question = server.rig.ask("when is the dentist?");
    server.rig.wait("an attempt", || !server.rig.posts().is_empty()).await;
    server.kill();
    server.rig.fake.heal();
    server.start();
    server.is_answered(question).await;
    assert_eq!(server.rig.replies(question).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_routine_that_a_machine_left_is_run_once_by_the_next_voice() {
    let (_temp, store) = bare_repository();
    let (mut server, laptop) = two(&store).await;
    let due = (now() + SignedDuration::from_mins(20)).strftime("%H:%M");
    let routine = format!("---\nschedule: daily {due}\nenabled: true\n---\nWhen is the dentist?\n");
    [&server, &laptop].iter().for_each(|machine| machine.rig.write("routines/dentist.md", &routine));
    let fake = Arc::clone(&server.rig.fake);
    let is_run =
        |message: &&Value| message["author"]["bot"] == true && message["message_reference"].is_null();
    let runs = || fake.messages(CHANNEL).iter().filter(is_run).count();
    let waits = || server.says("routines") == "waiting" && runs() == 0;
    server.rig.wait("the routine is due in a quarter of an hour", waits).await;
    // The voice dies before the routine is due, and comes back with a copy that knows nothing of the run.
    server.kill();
    laptop.hears("machines", "this one is the voice").await;
    laptop.rig.wait("the routine's message", || runs() > 0).await;
    server.start();
    server.hears("machines", "laptop is the voice").await;
    laptop.is_answered(laptop.rig.ask("when is the dentist?")).await;
    assert_eq!(runs(), 1, "{:?}", fake.messages(CHANNEL));
}
