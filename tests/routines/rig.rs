//! A vault with routines, a model server, a place, and steps that are processes of their own.

use std::sync::{LazyLock, atomic::AtomicU32};

pub use crate::support::prelude::*;
use tokio::runtime::Runtime;
use vault_agent::agent::tools::{ApprovalSubject, Caller, Precondition};
use vault_agent::agent::{Approvals, CombinedToolbox, NoApprovals, Toolbox, VaultApprovals, Waiter};
use vault_agent::brain::{ToolCall, ToolSpec};
use vault_agent::deliver::DeliveryOrder;
use vault_agent::format::log::{self, EventKind};
pub use vault_agent::routines::{ClaimReport, RunProgress, Runner, RunnerParts, claim_due_runs};
pub use vault_agent::turn::TurnJournal;
use vault_agent::turn::turn_journal::ToolEnd;

use crate::brain::spending::Ears;
pub use crate::deliver::world::{Fault, Place};
use crate::discord::traps::{APPROVAL, SENDING, TURN};
use crate::support::processes::until_crash;

pub struct Rig {
    folder: Folder,
    pub clock: Arc<ManualClock>,
    pub place: Arc<Place>,
    pub server: ModelServer,
    pub tools: Arc<dyn Toolbox>,
    /// Whether a run is left at a call that needs a person's word, as `tick` does; else nobody can be asked.
    pub leaves: bool,
    /// Lives as long as the server's tasks.
    _servers: Runtime,
    steps: Runtime,
}

holds_folder!(Rig);

/// What a step did.
#[derive(Debug)]
pub struct Step {
    pub looked: ClaimReport,
    pub driven: Vec<(String, RunProgress)>,
}

impl Step {
    pub fn outcomes(&self) -> Vec<String> {
        let shown = |(key, driven): &(String, RunProgress)| match driven {
            RunProgress::Done(outcome) => format!("{key}: {outcome}"),
            other => format!("{key}: {other:?}"),
        };
        self.driven.iter().map(shown).collect()
    }
}

impl Rig {
    /// With one brain, `local`, whose server answers by the script or the responder.
    pub fn new(now: &str) -> Self {
        Self::with(now, "")
    }

    /// At this instant, where whatever is asked is answered so.
    pub fn answering(now: &str, answer: &str) -> Self {
        let (rig, answer) = (Self::new(now), answer.to_owned());
        rig.respond(move |_| Reply::text(&answer));
        rig
    }

    /// At 2026-12-01 08:00, with the routine `a` of that time of the day, which is answered so.
    pub fn daily(answer: &str) -> Self {
        let rig = Self::answering("2026-12-01T08:00:00Z", answer);
        rig.routine("a", "schedule: daily 08:00", "What now?");
        rig
    }

    /// With further settings.
    pub fn with(now: &str, settings: &str) -> Self {
        let (servers, server) = ModelServer::alone();
        let folder = Folder::new(&["vault/.obsidian", "state", "cache"]);
        let clock = Arc::new(ManualClock::new(now.parse().unwrap()));
        let place = Place::new("place", Arc::clone(&clock));
        let steps = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let tools = Arc::new(CombinedToolbox::default());
        let rig = Self { folder, clock, place, server, tools, leaves: false, _servers: servers, steps };
        let brain = rig.server.brain("local", "chat", "");
        // Nothing here is about history; commits of every line would only take time.
        rig.write("vault-agent.toml", &format!("[history]\nenabled = false\n{settings}\n{brain}"));
        rig
    }

    /// Writes a note, as a person does at this moment.
    pub fn write(&self, path: &str, text: &str) {
        write_at(&self.path(path), text, self.clock.now());
    }

    /// A routine that is enabled, with these further lines in its head.
    pub fn routine(&self, name: &str, head: &str, prompt: &str) {
        self.write(&format!("routines/{name}.md"), &note(head, prompt));
    }

    pub fn at(&self, now: &str) -> &Self {
        self.clock.set(now.parse().unwrap());
        self
    }

    pub fn later(&self, by: SignedDuration) -> &Self {
        self.clock.advance(by);
        self
    }

    pub fn workspace(&self) -> Arc<Workspace> {
        let workspace = support::workspace(self.dir(), self.clock.clone());
        workspace.editor.recover().unwrap();
        Arc::new(workspace)
    }

    pub fn runner(&self) -> Runner {
        match self.leaves {
            true => self.runner_with(Arc::new(VaultApprovals::new(&self.workspace(), Waiter::Turn))),
            false => self.runner_with(Arc::new(NoApprovals)),
        }
    }

    /// The same, where a person's word is asked for so.
    pub fn runner_with(&self, approvals: Arc<dyn Approvals>) -> Runner {
        let workspace = self.workspace();
        let turns = Arc::new(TurnJournal::open(&workspace.dirs.state).unwrap());
        let tools = Arc::clone(&self.tools);
        Runner::new(RunnerParts {
            workspace,
            turns,
            tools: Arc::new(move |_, _| Arc::clone(&tools)),
            approvals,
            // It knows nothing: what is asked and said then follows from the notes alone.
            memory: Arc::new(Ears::default()),
            permits: Arc::default(),
            delivery_order: DeliveryOrder::only(Arc::clone(&self.place) as _),
        })
        .unwrap()
    }

    /// One look, and every run that is open brought as far as it can be, by a process of its own.
    pub fn step(&self) -> Step {
        self.step_of(&self.runner())
    }

    pub fn step_of(&self, runner: &Runner) -> Step {
        let looked = claim_due_runs(runner.workspace(), runner.journal(), runner.turns(), false).unwrap();
        let stop = CancellationToken::new();
        let drive = |key: &String| (key.clone(), self.steps.block_on(runner.drive(key, &stop)).unwrap());
        let driven = looked.open.iter().map(drive).collect();
        Step { looked, driven }
    }

    /// A step that ends when it passes a failpoint for the (n + 1)-th time; none where it did.
    pub fn step_until(&self, nth: usize) -> Option<Step> {
        until_crash(&POINTS, nth, || self.step())
    }

    /// What the place was told, in order.
    pub fn told(&self) -> Vec<String> {
        self.place.texts()
    }

    pub fn respond(&self, responder: impl FnMut(&Asked) -> Reply + Send + 'static) {
        self.server.respond(responder);
    }

    /// The logs of a routine, oldest first: each as its events.
    pub fn logs(&self, routine: &str) -> Vec<Vec<log::LogEvent>> {
        let files = files_below(&self.path("logs/routines").join(routine));
        let read = |file: PathBuf| {
            log::parse(&std::fs::read(file).unwrap()).blocks.into_iter().map(|block| block.event).collect()
        };
        files.into_iter().map(read).collect()
    }

    /// What a routine's logs say it answered, in order.
    pub fn answers(&self, routine: &str) -> Vec<String> {
        let all = self.logs(routine);
        let answers = all.iter().flatten().filter(|event| event.kind == EventKind::Agent);
        answers.map(|event| event.said().to_owned()).collect()
    }
}

/// A tool that has to be asked about, and counts how often it ran.
#[derive(Default)]
pub struct Outside(pub AtomicU32);

#[async_trait]
impl Toolbox for Outside {
    fn specs(&self) -> Vec<ToolSpec> {
        let schema = json!({"type": "object"});
        vec![ToolSpec { name: "fetch".into(), description: "Fetches a page.".into(), schema }]
    }
    fn precondition(&self, call: &ToolCall, _: &Caller) -> Precondition {
        let (run, why) = (format!("fetch {}", call.arguments), "network".into());
        Precondition::Ask(ApprovalSubject { run, hash: None, why, always: None, reusable: false })
    }
    async fn call(&self, _: &ToolCall, _: &Caller, _: &CancellationToken) -> ToolEnd {
        self.0.fetch_add(1, Ordering::SeqCst);
        ToolEnd { text: "the page".into(), is_error: false, ms: 0 }
    }
}

/// Calls this tool once, and says what it said.
pub fn calls(name: &'static str, arguments: Value) -> impl FnMut(&Asked) -> Reply + Send + 'static {
    move |asked| match asked.results().last() {
        None => Reply::tool(name, arguments.clone()),
        Some(said) => Reply::text(format!("It said: {said}")),
    }
}

/// A routine's note.
pub fn note(head: &str, prompt: &str) -> String {
    format!("---\nenabled: true\n{head}\n---\n{prompt}\n")
}

pub fn write_at(file: &std::path::Path, text: &str, at: Timestamp) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
    fs::File::options().write(true).open(file).unwrap().set_modified(at.into()).unwrap();
}

/// Every point at which a step can be ended.
static POINTS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let run = "routines::before-claim routines::after-claim routines::after-question routines::after-accepted \
               routines::before-fixed routines::after-fixed routines::after-answered routines::after-logged \
               routines::before-append routines::after-append routines::before-done routines::after-done";
    let vault = "vault::create::named vault::create::told vault::in-place::journalled \
                 vault::in-place::half-written vault::in-place::told";
    run.split(' ').chain(vault.split(' ')).chain(TURN.split(' ')).chain(APPROVAL).chain(SENDING).collect()
});
