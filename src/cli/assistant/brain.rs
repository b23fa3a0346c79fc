//! `brain`: lists the configured brains with their state, tests them, forgets their failures, and shows which brains a
//! question would go to.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::agent::brain_clients::{self, BrainClient, ClientContext};
use crate::agent::brains::{ListedBrain, listed};
use crate::brain::health::HealthStore;
use crate::brain::wire::BrainTimeouts;
use crate::brain::{BrainError, CallProgress, FailureClass, Message, Request, failover};
use crate::cli::prelude::*;
use crate::config::AttachmentKind;
use crate::turn::route::ShownRoute;
use crate::turn::{QuestionProperties, UnknownBrain, route};

/// The time limit of a test call, which is printed before it.
pub(in crate::cli) const TEST_LIMIT: Duration = Duration::from_secs(30);

/// Shows, tests and chooses brains.
#[derive(Debug, clap::Subcommand)]
pub enum Args {
    /// Lists the brains with their recorded state; asks no brain.
    List,
    /// Asks each brain one short question, and shows the errors.
    Test {
        /// Only this one.
        name: Option<String>,
    },
    /// Shows which brains would be asked a question, in which order and why; asks no brain.
    Route {
        /// The question.
        #[arg(required = true)]
        text: Vec<String>,
        /// As if it were asked in this channel.
        #[arg(long, value_name = "ID")]
        channel: Option<u64>,
        /// As if it were asked in this thread.
        #[arg(long, value_name = "ID")]
        thread: Option<u64>,
        /// As if this routine asked.
        #[arg(long, value_name = "NAME")]
        routine: Option<String>,
        /// As if such a file were attached.
        #[arg(long, value_enum, value_name = "KIND")]
        attachment: Vec<AttachmentKind>,
    },
    /// Clears the failures of a brain, or of all, so that it is used again at once.
    Reset {
        /// Only this one.
        name: Option<String>,
    },
}

/// One brain of `brain test --json`.
#[derive(Debug, Serialize)]
struct TestedBrain {
    #[serde(flatten)]
    brain: ListedBrain,
    ms: u64,
}

/// Runs `brain`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    match args {
        Args::List => list(context, &workspace),
        Args::Test { name } => test(context, &workspace, name.as_deref()),
        Args::Route { text, channel, thread, routine, attachment } => {
            let question = QuestionProperties {
                text: &text.join(" "),
                channel: *channel,
                thread: *thread,
                routine: routine.as_deref(),
                attachments: attachment,
            };
            let routed = route(&workspace.settings, &question, None)?;
            context.answer(&json!(ShownRoute::from(routed.clone())), routed.words())
        }
        Args::Reset { name } => reset(context, &workspace, name.as_deref()),
    }
}

fn list(context: &Context, workspace: &Workspace) -> CommandResult {
    let brains = listed(workspace);
    context.ui.json(&brains);
    let none = "no brain is set up; memory answers. `[[brain]]` in vault-agent.toml names one";
    show(context, none, brains.iter().map(|brain| (brain, brain.state(workspace.clock.now()))));
    Ok(Status::Fine)
}

/// Prints each brain with its state; `none` where there is no brain.
fn show<'a>(context: &Context, none: &str, rows: impl Iterator<Item = (&'a ListedBrain, String)>) {
    let mut table = table();
    for (brain, state) in rows {
        table.add_row([&brain.name, brain.kind, &brain.model, &brain.url, &state]);
    }
    if table.is_empty() {
        context.ui.line(none);
    }
    table.lines().filter(|line| !line.trim().is_empty()).for_each(|line| context.ui.line(line.trim()));
}

fn reset(context: &Context, workspace: &Workspace, name: Option<&str>) -> CommandResult {
    let store = HealthStore::new(&workspace.dirs.state);
    if let Some(name) = name {
        // A brain that left the settings may have left its failures behind.
        let health = store.load();
        let remembered = health.seen.contains_key(name) || health.rows.iter().any(|row| row.brain == name);
        if !remembered {
            check_known(workspace, name)?;
        }
    }
    let any = store.reset(name)?;
    context.answer(
        &json!({ "reset": any }),
        match (any, name) {
            (false, _) => "no failure is recorded".to_owned(),
            (true, Some(name)) => format!("the failures of `{name}` are cleared"),
            (true, None) => "the failures of all brains are cleared".to_owned(),
        },
    )
}

/// Checks that a brain has this name.
fn check_known(workspace: &Workspace, name: &str) -> Result<(), UnknownBrain> {
    let known: Vec<String> = workspace.settings.brains.iter().map(|brain| brain.name.clone()).collect();
    if known.iter().any(|brain| brain == name) {
        Ok(())
    } else {
        Err(UnknownBrain { name: name.to_owned(), known })
    }
}

fn test(context: &Context, workspace: &Workspace, name: Option<&str>) -> CommandResult {
    if let Some(name) = name {
        check_known(workspace, name)?;
    }
    let brains = brain_clients::prepare(&workspace.settings, workspace.vault.root());
    let watch = BrainTimeouts { silence: TEST_LIMIT, overall: TEST_LIMIT, first_byte: TEST_LIMIT };
    let clients = ClientContext::of(workspace, watch).map_err(CommandError::problem)?;
    let runtime = runtime()?;
    let store = HealthStore::new(&workspace.dirs.state);
    let links: Vec<_> = brains.iter().map(|brain| brain.id.clone()).collect();
    let mut tested = Vec::new();
    for (at, brain) in brains.iter().enumerate() {
        if name.is_some_and(|name| brain.name() != name) {
            continue;
        }
        if !brain.lacks_key() {
            let (model, limit) = (&brain.settings.model, TEST_LIMIT.as_secs());
            context.ui.note(format!(
                "asking `{}` ({model}) for one word, at most {limit} s; a model that is only being loaded may need more",
                brain.name()
            ));
        }
        let began = Instant::now();
        let mut error = None;
        for (key, call) in brain.clients(&clients).iter().enumerate() {
            error = runtime.block_on(send_test_prompt(call)).err();
            // A missing key is found at each check; it isn't recorded.
            if !brain.lacks_key() {
                let now = workspace.clock.now();
                store
                    .update(|health| failover::record(health, &links, at, key, error.as_ref(), now))
                    .unwrap_or_else(|error| context.ui.note(format!("the result is not recorded: {error}")));
            }
            if error.as_ref().is_none_or(|error| error.class != FailureClass::Auth) {
                break;
            }
        }
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut row = ListedBrain::of(brain, &store.load(), workspace.clock.now(), workspace.zone.tz());
        row.ok = error.is_none();
        row.class = error.as_ref().map(|error| error.class);
        row.last_error = error.map(|error| error.message).or(row.last_error);
        tested.push(TestedBrain { brain: row, ms });
    }
    context.ui.json(&tested);
    let none = "no brain is set up; `[[brain]]` in vault-agent.toml names one";
    show(context, none, tested.iter().map(|row| (&row.brain, row.sentence())));
    Ok(Status::of(tested.iter().all(|row| row.brain.ok)))
}

impl TestedBrain {
    fn sentence(&self) -> String {
        match self.brain.class {
            None => format!("answered in {} ms", self.ms),
            Some(class) => {
                let error = self.brain.last_error.as_deref().unwrap_or("it gave no answer");
                format!("{}: {error}", class.name())
            }
        }
    }
}

/// Makes one short call. Any answer is a success, a refusal too.
pub(in crate::cli) async fn send_test_prompt(brain: &BrainClient) -> Result<(), BrainError> {
    let request = Request {
        system: "Answer with one word.".to_owned(),
        messages: vec![Message::user("Say OK.")],
        max_output_tokens: Some(16),
        ..Request::default()
    };
    brain.call(&request, &mut CallProgress::default(), CancellationToken::new()).await.map(drop)
}
