//! Executes a run of a routine, from its claim to its end. Also continues a run that a crash or a waiting question
//! interrupted.
//!
//! 1. The question is logged.
//! 2. The turn is accepted and run by `agent`.
//! 3. The turn's text and message are stored for good.
//! 4. The turn is marked answered.
//! 5. The answer is logged.
//! 6. The answer is appended to a note, sent, or neither.
//! 7. The run is marked done.
//!
//! A crash may come after any step. Each step first checks whether it was done.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::due_runs;
use super::routine_notes;
use super::run_log::{RunConversation, RunLog, RunMemory, is_asked_for};
use super::run_texts::{self, RunSection};
use super::{RunError, message_of};
use crate::agent::{AnswerEngine, Approvals, CallPermits, EngineParts, RunPurpose, Toolbox, TurnMemory};
use crate::config::MEMORY;
use crate::deliver::delivery_journal::{RoutineRun, RunState, run_claim, run_message_key};
use crate::deliver::{AnswerOutcome, DeliveryOrder, Journal, PassSettings, send_answer};
use crate::format::lines::LiveLines;
use crate::format::routine::{self, AnswerDelivery, Condition, Routine};
use crate::machines::protocol::SendRight;
use crate::turn::{Halt, NewTurn, Responder, TurnAnswer, TurnJournal, TurnState};
use crate::vault::{self, Actor, EditPlan, Operation, Origin};
use crate::workspace::Workspace;

/// The progress of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunProgress {
    /// It has ended: its outcome.
    Done(String),
    /// Another process runs it.
    Busy,
    /// It continues later: the reason.
    Later(String),
}

/// The parts of a runner; the front doors provide them.
pub struct RunnerParts {
    /// The vault with the settings that its runs keep.
    pub workspace: Arc<Workspace>,
    /// The progress of each turn.
    pub turns: Arc<TurnJournal>,
    /// The tools that a routine may call.
    pub tools: ToolsOf,
    /// The way to ask a person before a call that may do harm.
    pub approvals: Arc<dyn Approvals>,
    /// The memory.
    pub memory: Arc<dyn TurnMemory>,
    /// The permits for calls.
    pub permits: Arc<CallPermits>,
    /// The notifiers, in their order.
    pub delivery_order: DeliveryOrder,
}

/// The tools that a routine of this name and head may call.
pub type ToolsOf = Arc<dyn Fn(&str, &Routine) -> Arc<dyn Toolbox> + Send + Sync>;

/// Brings runs to their ends.
pub struct Runner {
    parts: RunnerParts,
    journal: Journal,
    settings: PassSettings,
}

impl Runner {
    /// A runner.
    ///
    /// # Errors
    /// The delivery journal can't be used.
    pub fn new(parts: RunnerParts) -> Result<Self, RunError> {
        let (journal, settings) = (parts.workspace.journal()?, parts.workspace.pass_settings());
        Ok(Self { parts, journal, settings })
    }

    /// The delivery journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The turn journal.
    pub fn turns(&self) -> &TurnJournal {
        &self.parts.turns
    }

    /// The vault.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.parts.workspace
    }

    /// Runs a run as far as it can go now.
    ///
    /// # Errors
    /// Something that it needs can't be used; the next call continues from there.
    pub async fn drive(&self, key: &str, stop: &CancellationToken) -> Result<RunProgress, RunError> {
        let lock = self.journal.lock(&format!("run-{:016x}.lock", message_of(key)))?;
        let Some(lock) = lock else { return Ok(RunProgress::Busy) };
        match due_runs::claim_from_machines(&self.parts.workspace, &self.journal, key, stop).await? {
            SendRight::Yes { .. } => {}
            SendRight::Wait => {
                let is_end = stop.is_cancelled();
                let why = if is_end { "the program is stopping" } else { "another machine is the voice" };
                return Ok(RunProgress::Later(why.to_owned()));
            }
            SendRight::Never => {
                if let Some(run) = self.journal.run(key)?.filter(|run| run.state != RunState::Done) {
                    self.drop_run(&run, "another machine ran it")?;
                }
            }
        }
        loop {
            let Some(run) = self.journal.run(key)? else {
                return Ok(RunProgress::Done("the run is no longer in the journal".to_owned()));
            };
            let later = match run.state {
                RunState::Done => {
                    run_claim(key)
                        .iter()
                        .for_each(|claim| self.parts.workspace.machines.mark_sent(claim, None));
                    let _ = std::fs::remove_file(&lock.path);
                    return Ok(RunProgress::Done(run.outcome.unwrap_or_default()));
                }
                RunState::Claimed => self.ask(&run, stop).await?,
                RunState::Fixed => {
                    let later = self.deliver(&run).await?;
                    if let Some(why) = &later
                        && self.journal.record_run_wait(key, why)?
                    {
                        tracing::warn!(run = key, "a routine's answer is not delivered yet: {why}");
                    }
                    later
                }
            };
            if let Some(why) = later {
                return Ok(RunProgress::Later(why));
            }
        }
    }

    /// As [`Self::drive`], for a run beside other work: logs how far it came.
    ///
    /// # Errors
    /// As [`Self::drive`].
    pub async fn drive_logged(&self, key: &str, stop: &CancellationToken) -> Result<RunProgress, RunError> {
        let driven = self.drive(key, stop).await;
        match &driven {
            Ok(RunProgress::Done(outcome)) => tracing::info!(run = key, "a routine ran: {outcome}"),
            Ok(RunProgress::Later(why)) => tracing::info!(run = key, "a routine's run goes on later: {why}"),
            Ok(RunProgress::Busy) => {}
            Err(error) => tracing::warn!(run = key, "a routine's run can't go on: {error}"),
        }
        driven
    }

    /// Why an unfixed run is dropped: its note was deleted or disabled. A note that was renamed is found by its bytes.
    fn cancel_reason(&self, run: &RoutineRun) -> Result<Option<&'static str>, RunError> {
        let notes = routine_notes::read_all(&self.parts.workspace)?;
        let named = notes.iter().find(|note| note.name == run.routine);
        let Some(note) = named.or_else(|| notes.iter().find(|note| note.bytes == run.note)) else {
            return Ok(Some("its note was removed before it had answered"));
        };
        let is_on = note.is_enabled();
        Ok((!is_on && !is_asked_for(&run.key)).then_some("it was disabled before it had answered"))
    }

    /// Asks for the text and fixes it; a sentence where it has to wait.
    async fn ask(&self, run: &RoutineRun, stop: &CancellationToken) -> Result<Option<String>, RunError> {
        let (workspace, message) = (&self.parts.workspace, message_of(&run.key));
        if let Some(why) = self.cancel_reason(run)? {
            return self.drop_run(run, why);
        }
        let Some(routine) = routine::parse(&run.note).0 else {
            return self.drop_run(run, "its note was not understood");
        };
        // Checked before any cost, since a note that must not be appended to stays so.
        let day = workspace.zone.tz().to_datetime(run.started).date();
        if let Err(why) = run_texts::target(workspace, &routine, day) {
            return self.drop_run(run, &why);
        }
        let log = RunLog::of(workspace, run);
        let question = run_texts::question(run, &routine, workspace.zone.tz());
        log.question(&question, run.started)?;
        fail::fail_point!("routines::after-question");
        let turn = NewTurn {
            message,
            author: format!("routine:{}", run.routine),
            block: log.block(),
            text: question,
            ..NewTurn::default()
        };
        self.parts.turns.accept(&turn, workspace.clock.now())?;
        fail::fail_point!("routines::after-accepted");
        let engine = self.engine(run, &routine)?;
        let place = RunConversation { log: &log, journal: &self.journal, routine: &run.routine };
        let answer = match engine.answer(message, &place, stop).await {
            Ok(answer) => answer,
            Err(Halt::Later(why)) => return Ok(Some(why)),
            Err(Halt::Stopped) => return Ok(Some("the program is stopping".to_owned())),
            Err(Halt::Gone) => return self.drop_run(run, "its question was removed"),
        };
        // A person may have disabled the routine meanwhile: then nothing is sent.
        if let Some(why) = self.cancel_reason(run)? {
            return self.drop_run(run, why);
        }
        self.fix(run, &routine, &answer)?;
        Ok(None)
    }

    fn drop_run(&self, run: &RoutineRun, why: &str) -> Result<Option<String>, RunError> {
        tracing::info!(run = run.key, "a routine's run ends: {why}");
        self.parts.turns.advance(
            message_of(&run.key),
            TurnState::Dropped,
            why,
            self.parts.workspace.clock.now(),
        )?;
        self.journal.finish_run(&run.key, Some(why))?;
        Ok(None)
    }

    fn engine(&self, run: &RoutineRun, routine: &Routine) -> Result<AnswerEngine, RunError> {
        let parts = &self.parts;
        let memory = RunMemory {
            inner: Arc::clone(&parts.memory),
            workspace: Arc::clone(&parts.workspace),
            prompt: routine.prompt.clone(),
            sections: serde_json::from_str::<Vec<RunSection>>(&run.material).unwrap_or_default(),
            quiet: routine.quiet,
        };
        let others =
            |it: &Condition| matches!(it, Condition::Said | Condition::Unanswered | Condition::Search(_));
        let purpose = RunPurpose {
            routine: run.routine.clone(),
            brain: routine.brain.clone(),
            skills: routine.skills.clone(),
            budget: routine.budget,
            tainted: routine.only_if.iter().any(others),
        };
        let engine = AnswerEngine::new(EngineParts {
            tools: (parts.tools)(&run.routine, routine),
            approvals: Arc::clone(&parts.approvals),
            memory: Arc::new(memory),
            permits: Arc::clone(&parts.permits),
            routine: Some(purpose),
            ..EngineParts::of(&parts.workspace, &parts.turns)
        });
        engine.map_err(|error| RunError::Problem(format!("no brain can be asked: {error}")))
    }

    fn fix(&self, run: &RoutineRun, routine: &Routine, answer: &TurnAnswer) -> Result<(), RunError> {
        let tz = self.parts.workspace.zone.tz();
        // The answer from memory may follow the sentence why no brain answered.
        let last = answer.text.rsplit("\n\n").next().filter(|_| answer.facts.brain == MEMORY);
        let is_quiet = routine.quiet && run_texts::is_nothing(last.unwrap_or(&answer.text));
        let (outcome, message) = match routine.deliver {
            _ if is_quiet => ("nothing to report (NONE)", None),
            AnswerDelivery::None => ("answer in its log", None),
            AnswerDelivery::Note => ("", None),
            AnswerDelivery::Channel | AnswerDelivery::Thread => {
                ("sent", Some((run_texts::scope(routine), run_texts::message(run, &answer.text, tz))))
            }
        };
        let limit = self.parts.delivery_order.primary.limit();
        fail::fail_point!("routines::before-fixed");
        let text = (answer.text.as_str(), answer.facts.render());
        self.journal.fix_run(&run.key, (text.0, &text.1), outcome, message, limit)?;
        fail::fail_point!("routines::after-fixed");
        Ok(())
    }

    /// Logs and delivers a fixed text; a sentence where it has to wait.
    async fn deliver(&self, run: &RoutineRun) -> Result<Option<String>, RunError> {
        let (workspace, message) = (&self.parts.workspace, message_of(&run.key));
        let now = || workspace.clock.now();
        let (text, facts) =
            (run.answer.as_deref().unwrap_or_default(), run.facts.as_deref().unwrap_or_default());
        let chunks =
            self.journal.answer(&run_message_key(&run.key))?.map_or(0, |message| message.chunks.len());
        self.parts.turns.record_answer(message, text, facts, chunks, now())?;
        fail::fail_point!("routines::after-answered");
        let log = RunLog::of(workspace, run);
        for note in crate::turn::turn_notes(&self.parts.turns, message)? {
            log.note(&note, now())?;
        }
        log.answer(text, facts, now())?;
        fail::fail_point!("routines::after-logged");
        let mut outcome = None;
        if run.outcome.as_deref() == Some("") {
            match self.append(run, text) {
                Ok(path) => outcome = Some(path),
                // The settings changed since: the text stands in the log.
                Err(RunError::Problem(why)) => outcome = Some(why),
                Err(error) => return Ok(Some(error.to_string())),
            }
        } else if run.outcome.as_deref() == Some("sent") {
            let order = &self.parts.delivery_order;
            // The run's lock keeps others from its message.
            let context = workspace.pass_context(&self.journal, order, &self.settings);
            match send_answer(&context, &run_message_key(&run.key)).await? {
                AnswerOutcome::Sent => {}
                AnswerOutcome::Later(at) => return Ok(Some(format!("its message is tried again at {at}"))),
                AnswerOutcome::Refused(_) => outcome = Some("every notifier refused its message".to_owned()),
            }
        }
        self.parts.turns.advance(message, TurnState::Sent, outcome.as_deref().unwrap_or_default(), now())?;
        fail::fail_point!("routines::before-done");
        self.parts.turns.advance(message, TurnState::Done, "", now())?;
        self.journal.finish_run(&run.key, outcome.as_deref())?;
        fail::fail_point!("routines::after-done");
        Ok(None)
    }

    /// Appends the text to its note, once. Returns the outcome.
    fn append(&self, run: &RoutineRun, text: &str) -> Result<String, RunError> {
        let workspace = &self.parts.workspace;
        let routine = routine::parse(&run.note).0.ok_or_else(|| RunError::NoRoutine(run.routine.clone()))?;
        let day = workspace.zone.tz().to_datetime(run.started).date();
        let path = run_texts::target(workspace, &routine, day).map_err(RunError::Problem)?;
        let Some(path) = path else { return Ok("answer in its log".to_owned()) };
        let text = workspace.settings.hooks.redactor().apply(text);
        let id = format!("run-{:016x}", message_of(&run.key));
        let turn = self.parts.turns.turn(message_of(&run.key))?.map(|turn| format!("turn {}", turn.name()));
        let origin = Origin::new(Actor::Assistant).conversation(turn.unwrap_or_default());
        let why = origin.why(format!("routine: {}", run.routine)).trailer("Run", run.key.clone());
        fail::fail_point!("routines::before-append");
        workspace.editor.try_edit_with(&path, &why, |bytes| {
            if memchr::memmem::find(bytes, id.as_bytes()).is_some() {
                return Ok((EditPlan::NOTHING, ()));
            }
            let text = run_texts::passage(run, &text, &id, workspace.zone.tz()).into_bytes();
            let append = [Operation::Append { text }];
            let (after, _) = vault::apply(&append, bytes);
            let mut live = LiveLines::new(&after);
            if !live.any(|line| line.text.strip_prefix(b"^") == Some(id.as_bytes())) {
                return Err(RunError::LeftOpen(path.clone()));
            }
            Ok((EditPlan::Operations(append.into()), ()))
        })?;
        fail::fail_point!("routines::after-append");
        Ok(format!("appended to {path}"))
    }
}
