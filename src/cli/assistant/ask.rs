//! `ask`: asks the assistant one question and prints the answer, checked against a JSON schema if the arguments name
//! one. The question and the answer are written to no log.

use std::fs::OpenOptions;
use std::io::{IsTerminal, Read};
use std::ops::RangeInclusive;
use std::os::unix::fs::OpenOptionsExt;

use super::terminal::{TerminalApprovals, TerminalConversation};
use crate::agent::budget::{self, Budget};
use crate::agent::tools::Approvals;
use crate::agent::{
    AnswerEngine, CombinedToolbox, EngineParts, Toolbox, VaultApprovals, Waiter, brain_clients,
};
use crate::brain::MessagePart;
use crate::brain::failover::{self, Availability, BrainId};
use crate::brain::health::HealthStore;
use crate::cli::context::stdin_text;
use crate::cli::prelude::*;
use crate::config::{AttachmentKind, MEMORY};
use crate::daemon;
use crate::reminders::rfc3339;
use crate::routines::message_of;
use crate::turn::turn_journal::{CallRow, ToolRow};
use crate::turn::{NewTurn, Responder, TurnAnswer, TurnJournal, route};

/// The longest question, in kB.
const MAX_QUESTION: u64 = 256;
/// The largest picture, in bytes.
const MAX_PICTURE_BYTES: u64 = 5 << 20;
/// The largest schema, in bytes; of a longer file the rest isn't read.
const MAX_SCHEMA_BYTES: u64 = 5 << 20;

/// Asks the assistant one question and prints the answer: recall, call, print. Nothing of it is logged.
///
/// With no brain set up, or where none answers, it prints what memory says.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The question; `-` reads it from standard input.
    #[arg(required = true)]
    question: Vec<String>,
    /// Asks only this brain.
    #[arg(long, value_name = "NAME")]
    brain: Option<String>,
    /// Shows a picture to a brain that takes them (png, jpeg, gif, webp); may be given again.
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// The answer has to be JSON of the schema in this file; it is checked, and asked for again once,
    /// without tools.
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
}

/// Runs `ask`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = Arc::new(context.workspace()?);
    let question = question(args)?;
    if question.trim().is_empty() && args.image.is_empty() {
        return Err(CommandError::usage("the question is empty")
            .hint("put it behind `ask`, or give `-` and standard input"));
    }
    let files = args.image.iter().map(|path| picture(path)).collect::<Result<Vec<_>, _>>()?;
    let schema = args.schema.as_deref().map(Schema::read).transpose()?;
    let kinds = vec![AttachmentKind::Image; files.len()];
    let asked = route::QuestionProperties { text: &question, attachments: &kinds, ..Default::default() };
    let chain = route(&workspace.settings, &asked, args.brain.as_deref())?.chain;
    let sees = |brain: &crate::config::BrainSettings| brain.vision && chain.contains(&brain.name);
    if !files.is_empty() && !chain.is_empty() && !workspace.settings.brains.iter().any(sees) {
        let error = CommandError::usage(format!("`{}` takes no pictures", chain.join("`, `")));
        return Err(error.hint("set `vision = true` for a brain that does"));
    }
    on_workers(Session { context, args, workspace, files, schema, chain }.ask(question))
}

struct Session<'a> {
    context: &'a Context,
    args: &'a Args,
    workspace: Arc<Workspace>,
    files: Vec<MessagePart>,
    schema: Option<Schema>,
    /// The brains to ask, in their order.
    chain: Vec<String>,
}

impl Session<'_> {
    async fn ask(&self, question: String) -> CommandResult {
        let journal = Arc::new(TurnJournal::in_memory()?);
        let permits = Arc::default();
        let engine = |tools: Arc<dyn Toolbox>| {
            AnswerEngine::new(EngineParts {
                tools,
                approvals: self.approvals(),
                permits: Arc::clone(&permits),
                files: self.files.clone(),
                schema: self.schema.as_ref().map(|schema| schema.value.clone()),
                omit_reason: true,
                ..EngineParts::of(&self.workspace, &journal)
            })
        };
        let tools = crate::toolbox::toolbox(&self.workspace, Some((&journal, &permits)));
        let first_engine = engine(tools)?;
        let note = self.workspace.settings.paths.approvals.clone();
        let screen = TerminalConversation { ui: self.context.ui, note };
        // Like no other turn's: `undo --turn` takes back what the turn of this name changed.
        let first = message_of(&format!("ask:{}", ulid::Ulid::generate()));
        let mut message = first;
        let mut answer = self.turn(&first_engine, &journal, message, question.clone(), &screen).await?;
        let mut error = self.schema_error(&answer);
        if let Some(reason) = &error {
            message += 1;
            let done = first_engine.completed_changes(first);
            let done = done.map(|done| format!("{done}\n\n")).unwrap_or_default();
            let again = format!(
                "{question}\n\nYour last answer was:\n{}\n\n{done}It doesn't have the form that is asked for: \
                 {reason}. Answer again, with nothing but the JSON.",
                answer.text
            );
            // Only the form is asked for: what was done is not done again.
            let second_engine = engine(Arc::new(CombinedToolbox::default()))?;
            answer = self.turn(&second_engine, &journal, message, again, &screen).await?;
            error = self.schema_error(&answer);
        }
        self.print(&journal, &answer, first..=message)?;
        if let Some(reason) = error {
            self.context.ui.note(format!("the answer doesn't have the form of the schema: {reason}"));
            return Ok(Status::Problem);
        }
        if answer.facts.brain != MEMORY || self.args.brain.as_deref() == Some(MEMORY) {
            return Ok(Status::Fine);
        }
        if self.workspace.settings.brains.is_empty() {
            self.context.ui.note(
                "no brain is set up, so memory answered; name one with `[[brain]]` in vault-agent.toml \
                 (`kind`, `model`, and `url` or a key), see docs/assistant.md",
            );
            return Ok(Status::Fine);
        }
        let why = journal.memory_reason(message)?;
        self.context.ui.note(why.unwrap_or_else(|| "no brain answered; this is what memory says".to_owned()));
        Ok(Status::Problem)
    }

    /// Asks the person at the terminal; without a terminal leaves the question in the note of approvals.
    fn approvals(&self) -> Arc<dyn Approvals> {
        if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            return Arc::new(TerminalApprovals(Arc::clone(&self.workspace), self.context.ui));
        }
        Arc::new(VaultApprovals::new(&self.workspace, Waiter::Nothing))
    }

    async fn turn(
        &self,
        engine: &AnswerEngine,
        journal: &TurnJournal,
        message: u64,
        text: String,
        screen: &TerminalConversation,
    ) -> Result<TurnAnswer> {
        let kinds = self.files.iter().filter_map(|part| match part {
            MessagePart::Image { media_type, .. } => Some(media_type.clone()),
            MessagePart::Text { .. } => None,
        });
        let (only, attachments) = (self.args.brain.clone(), kinds.collect());
        let turn = NewTurn { message, text, only, attachments, ..NewTurn::default() };
        journal.accept(&turn, self.workspace.clock.now())?;
        let stop = daemon::stop_on_signals()?;
        Ok(engine.answer(message, screen, &stop).await?)
    }

    /// The error of an answer against the schema; none without a schema, or where memory answered.
    fn schema_error(&self, answer: &TurnAnswer) -> Option<String> {
        let schema = self.schema.as_ref().filter(|_| answer.facts.brain != MEMORY)?;
        schema.check(&answer.text).err()
    }

    fn print(&self, journal: &TurnJournal, answer: &TurnAnswer, turns: RangeInclusive<u64>) -> Result<()> {
        let text = match &self.schema {
            Some(_) if answer.facts.brain != MEMORY => bare_json(&answer.text),
            _ => answer.text.as_str(),
        };
        let ui = &self.context.ui;
        ui.line(text);
        let mut calls = Vec::new();
        // Calls that chose among memories: no attempts at an answer, but they cost.
        let mut selection_calls: Vec<CallRow> = Vec::new();
        let mut tools = Vec::new();
        let mut tried = Vec::new();
        for message in turns.clone() {
            let made = journal.calls(message)?;
            tried.extend(attempts(&made));
            calls.extend(made);
            selection_calls.extend(journal.background_calls(message)?);
            tools.extend(journal.tools(message)?);
        }
        let answered = Some(answer.facts.brain.as_str()).filter(|brain| *brain != MEMORY);
        let sum = |tokens: fn(&CallRow) -> u64| calls.iter().chain(&selection_calls).map(tokens).sum::<u64>();
        let tool = |row: &ToolRow| {
            let (ok, ms) = row.result.as_ref().map_or((false, 0), |end| (!end.is_error, end.ms));
            json!({ "name": row.call.name, "ok": ok, "ms": ms })
        };
        ui.json(&json!({
            "answer": text,
            "brain": answered,
            "model": answered.map(|_| answer.facts.model.as_str()),
            "attempts": tried,
            "skipped": self.skipped(&calls, answered.is_some()),
            "usage": {
                "input": sum(|call| call.usage.input),
                "cached": sum(|call| call.usage.cached),
                "output": sum(|call| call.usage.output),
                "usd": answer.facts.usd,
            },
            "tools": tools.iter().map(tool).collect::<Vec<_>>(),
            "turns": turns.map(|turn| turn.to_string()).collect::<Vec<_>>(),
            "ms": answer.facts.ms,
        }));
        Ok(())
    }

    /// The brains that were skipped: their budget is used up, or they are in a cooldown.
    fn skipped(&self, calls: &[CallRow], answered: bool) -> Vec<Value> {
        let workspace = &self.workspace;
        let shown = |until: Timestamp| rfc3339(until, workspace.zone.tz());
        let budgets = budget::of_vault(workspace).into_iter().filter(Budget::is_used_up);
        let mut spent: Vec<String> = budgets.filter_map(|budget| budget.brain).collect();
        spent.retain(|brain| self.chain.contains(brain) && calls.iter().all(|call| call.brain != *brain));
        let midnight = budget::midnight(workspace, 1).map(shown);
        let passed = spent.iter().map(|brain| json!({ "brain": brain, "until": midnight }));
        let prepared = brain_clients::prepare(&workspace.settings, workspace.vault.root());
        let link = |name: &String| Some(prepared.iter().find(|brain| brain.name() == name)?.id.clone());
        let left = self.chain.iter().filter(|name| !spent.contains(name));
        let chain: Vec<BrainId> = left.filter_map(link).collect();
        let place = |call: &CallRow| chain.iter().position(|link| link.brain == call.brain);
        let asked: Vec<usize> = calls.iter().filter_map(place).collect();
        let health = HealthStore::new(&workspace.dirs.state).load();
        // Those before the last that was asked, or all where none answered.
        let end = if answered { asked.last().copied().unwrap_or(0) } else { chain.len() };
        let others = chain.iter().enumerate().take(end).filter(|(at, _)| !asked.contains(at));
        let resting = others.filter_map(|(_, link)| {
            let until = match failover::availability(&health, link, workspace.clock.now()) {
                Availability::Free => return None,
                Availability::Until(_, until) => Some(shown(until)),
                Availability::Off(_) => None,
            };
            Some(json!({ "brain": link.brain, "until": until }))
        });
        passed.chain(resting).collect()
    }
}

/// Groups the calls of one turn into attempts: the tool rounds of one brain are one attempt.
fn attempts(calls: &[CallRow]) -> Vec<Value> {
    let rounds = calls.chunk_by(|call, next| call.class.is_none() && call.brain == next.brain);
    let attempt = |rounds: &[CallRow]| {
        let ms = rounds.iter().map(|call| call.ms).sum::<u64>();
        json!({ "brain": rounds[0].brain, "class": rounds[rounds.len() - 1].class, "ms": ms })
    };
    rounds.map(attempt).collect()
}

fn question(args: &Args) -> Result<String> {
    match args.question == ["-"] {
        true => stdin_text("the question", MAX_QUESTION),
        false => Ok(args.question.join(" ")),
    }
}

fn picture(path: &Path) -> Result<MessagePart> {
    let shown = path.display();
    let bytes = read(path, MAX_PICTURE_BYTES)
        .map_err(|error| CommandError::usage(format!("can't read `{shown}`: {error}")))?;
    if bytes.len() as u64 > MAX_PICTURE_BYTES {
        return Err(CommandError::usage(format!("`{shown}` is larger than {} MB", MAX_PICTURE_BYTES >> 20)));
    }
    MessagePart::picture(&bytes).ok_or_else(|| {
        let error = CommandError::usage(format!("`{shown}` is no picture that a brain takes"));
        error.hint("give a png, jpeg, gif or webp")
    })
}

/// The bytes of a file or pipe, at most one more than `most`. A pipe that nobody writes to is empty.
fn read(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::empty())?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A compiled JSON schema.
struct Schema {
    value: Value,
    compiled: boon::Schemas,
    whole: boon::SchemaIndex,
}

/// Refuses references to other schemas: nothing is read or fetched.
struct NoLoader;

impl boon::UrlLoader for NoLoader {
    fn load(&self, url: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err(format!("it refers to `{url}`, which isn't read: put it into the schema").into())
    }
}

impl Schema {
    fn read(path: &Path) -> Result<Self> {
        const NAME: &str = "schema:answer";
        let shown = path.display();
        let text = read(path, MAX_SCHEMA_BYTES)
            .map_err(|error| CommandError::usage(format!("can't read the schema `{shown}`: {error}")))?;
        let value: Value = serde_json::from_slice(&text)
            .map_err(|error| CommandError::usage(format!("the schema `{shown}` is no JSON: {error}")))?;
        let (mut compiler, mut compiled) = (boon::Compiler::new(), boon::Schemas::new());
        compiler.use_loader(Box::new(NoLoader));
        let wrong =
            |error: boon::CompileError| CommandError::usage(format!("`{shown}` is no JSON schema: {error}"));
        compiler.add_resource(NAME, value.clone()).map_err(wrong)?;
        let whole = compiler.compile(NAME, &mut compiled).map_err(wrong)?;
        Ok(Self { value, compiled, whole })
    }

    fn check(&self, text: &str) -> Result<(), String> {
        let value: Value =
            serde_json::from_str(bare_json(text)).map_err(|error| format!("it is no JSON ({error})"))?;
        self.compiled.validate(&value, self.whole).map_err(|error| first_cause(&error))
    }
}

/// The first cause of a validation error, with its place.
fn first_cause(error: &boon::ValidationError<'_, '_>) -> String {
    let mut cause = error;
    while let Some(first) = cause.causes.first() {
        cause = first;
    }
    let place = cause.instance_location.to_string();
    if place.is_empty() { cause.kind.to_string() } else { format!("at `{place}`: {}", cause.kind) }
}

/// The JSON of an answer, without a code fence around it.
fn bare_json(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|inner| inner.trim_end().strip_suffix("```")).map_or(text, str::trim)
}

#[cfg(test)]
mod tests;
