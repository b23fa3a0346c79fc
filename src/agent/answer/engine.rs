//! Runs one turn, from its question to its answer, and continues it after a crash ([`AnswerEngine`]).
//!
//! The turn journal is the state. [`AnswerEngine::answer`] reads the journal, does the missing steps, and records each
//! step before its effect. Called again after a crash, it continues from the journal. If a brain fails, the next brain
//! of the chain gets the tool rounds from the journal.
//!
//! If no brain answers (all failed, none may be asked, or the time is up), the answer is made from memory. It begins
//! with the reason, unless the caller shows the reason itself or a routine gave the reason today. It lists the
//! completed calls that changed something.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::time_limit::OpenQuestions;
use crate::agent::brain_chain::{Brains, CallPermits, ChainAnswer, ChainBrain};
use crate::agent::servers::server_output::shorten_name;
use crate::agent::tools::{Approvals, CombinedToolbox, NoApprovals, Toolbox, TurnEndGuard};
use crate::agent::turn_memory::{TurnMemory, VaultMemory};
use crate::brain::wire::BrainTimeouts;
use crate::brain::{BrainError, MessagePart, ToolCall};
use crate::config::AttachmentKind;
use crate::format::log::LogBlock;
use crate::redact::Redactor;
use crate::sqlite::DatabaseError;
use crate::turn::assemble::RequestQuestion;
use crate::turn::past_context::PastSummary;
use crate::turn::turn_journal::{CallRow, RecallRow, TurnRow};
use crate::turn::{
    Conversation, Facts, Halt, Responder, TurnAnswer, TurnJournal, TurnNote, TurnState, history, route,
};
use crate::workspace::Workspace;

/// The time limit of recall; after it a turn goes on without memories.
const RECALL_TIME: Duration = Duration::from_millis(300);
/// The parts of an engine.
pub struct EngineParts {
    /// The vault with the settings that its turns keep.
    pub workspace: Arc<Workspace>,
    /// How far each turn came.
    pub journal: Arc<TurnJournal>,
    /// The tools that may be called.
    pub tools: Arc<dyn Toolbox>,
    /// The way to ask a person before a call that may do harm.
    pub approvals: Arc<dyn Approvals>,
    /// The memories.
    pub memory: Arc<dyn TurnMemory>,
    /// The permits for calls.
    pub permits: Arc<CallPermits>,
    /// How long a brain may be silent.
    pub timeouts: BrainTimeouts,
    /// Pictures and files of a question that no log holds.
    pub files: Vec<MessagePart>,
    /// The JSON schema that answers must have.
    pub schema: Option<serde_json::Value>,
    /// Whether an answer from memory omits the sentence why no brain answered, because the caller shows it.
    pub omit_reason: bool,
    /// Whether the caller counts the cost, where the journal isn't kept on disk.
    pub counted: bool,
    /// The routine that the turns are runs of.
    pub routine: Option<RunPurpose>,
}

impl EngineParts {
    /// Parts for turns without tools and without a person to ask; the caller replaces those that its turns have.
    pub fn of(workspace: &Arc<Workspace>, journal: &Arc<TurnJournal>) -> Self {
        Self {
            workspace: Arc::clone(workspace),
            journal: Arc::clone(journal),
            tools: Arc::new(CombinedToolbox::default()),
            approvals: Arc::new(NoApprovals),
            memory: Arc::new(VaultMemory::new(Arc::clone(workspace))),
            permits: Arc::default(),
            timeouts: BrainTimeouts::default(),
            files: Vec::new(),
            schema: None,
            omit_reason: false,
            counted: false,
            routine: None,
        }
    }
}

/// Runs turns, with the settings that it was made with.
pub struct AnswerEngine {
    pub(in crate::agent) parts: EngineParts,
    pub(in crate::agent) brains: Brains,
}

/// The routine that an engine's turns are runs of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunPurpose {
    /// Its name.
    pub routine: String,
    /// The brain that is asked before all others.
    pub brain: Option<String>,
    /// The skills that it lists; all if none are named.
    pub skills: Vec<String>,
    /// The tokens that one run may spend, if fewer than any turn may.
    pub budget: Option<u64>,
    /// Whether it begins with untrusted text: other people's messages, search results.
    pub tainted: bool,
}

/// One turn as it runs.
pub(super) struct TurnRun<'a> {
    pub engine: &'a AnswerEngine,
    pub turn: TurnRow,
    pub joined: Vec<TurnRow>,
    pub blocks: Vec<LogBlock>,
    pub questions: Vec<RequestQuestion>,
    /// The window's topmost summaries.
    pub summaries: Vec<PastSummary>,
    pub recalled: RecallRow,
    /// Whether a brain was given working memory of untrusted text, which others may replace meanwhile.
    pub has_untrusted_memory: AtomicBool,
    /// The brains that are skipped because their own budget is used up, in words.
    pub skipped: Vec<String>,
    pub conversation: &'a dyn Conversation,
    pub stop: &'a CancellationToken,
    /// The turn's clock, which is paused while a person is asked.
    pub time_limit: &'a OpenQuestions,
}

impl Deref for TurnRun<'_> {
    type Target = AnswerEngine;

    fn deref(&self) -> &AnswerEngine {
        self.engine
    }
}

/// A brain's text and model, or why it did not answer.
pub(super) type AskedBrain = Result<Result<(String, String), BrainError>, Halt>;

impl TurnRun<'_> {
    /// The turn's questions, as its log has them.
    pub fn question_texts(&self) -> Vec<&str> {
        self.questions.iter().map(|question| history::strip_mentions(&question.text)).collect()
    }

    /// Shows a step that concerns a call.
    pub fn show_progress(&self, doing: &str, call: &ToolCall) {
        self.conversation.progress(&format!("{doing} {}", shorten_name(&call.name)));
    }

    /// Chooses the chain of brains, and records it.
    fn route(&self) -> Result<Vec<String>, route::UnknownBrain> {
        let asked = &self.turn.question;
        let kinds: Vec<_> = asked.attachments.iter().map(|kind| kind_of(kind)).collect();
        let question = route::QuestionProperties {
            text: self.question_texts().last().copied().unwrap_or_default(),
            channel: (asked.channel != 0).then_some(asked.channel),
            thread: asked.thread.then_some(asked.channel),
            routine: self.parts.routine.as_ref().map(|routine| routine.routine.as_str()),
            attachments: &kinds,
        };
        let mut routed = route::route(&self.parts.workspace.settings, &question, asked.only.as_deref())?;
        if let Some(first) = self.parts.routine.as_ref().and_then(|routine| routine.brain.as_ref()) {
            routed.ask_first(&self.parts.workspace.settings, first);
        }
        fail::fail_point!("turn::before-routed");
        self.log_failure(self.journal().advance(asked.message, TurnState::Routed, &routed.why, self.now()));
        fail::fail_point!("turn::after-routed");
        Ok(routed.chain)
    }

    /// Recalls memories; after a crash, those of the journal.
    async fn recall(&self, members: &[&ChainBrain]) -> Result<RecallRow, Halt> {
        if let Some(recalled) = &self.turn.recalled {
            // The crash may have come before the note.
            let note = recalled.problem.clone().unwrap_or_else(|| recalled.injection.clone());
            if !note.is_empty() {
                self.conversation.note(TurnNote::Recall(note));
            }
            return Ok(recalled.clone());
        }
        let (text, began) = (self.question_texts().join("\n"), Instant::now());
        let known = self.already_in_request(members);
        let own = question_links(&self.turn, &self.joined);
        let without: Vec<&str> = own.into_iter().chain(known.iter().map(String::as_str)).collect();
        let mut looked =
            tokio::time::timeout(RECALL_TIME, self.parts.memory.context_for(&text, &without)).await;
        if let Ok(Ok(given)) = &mut looked {
            // As the log has it, so that the request can be made again.
            given.injection = self.mask().apply(&given.injection).into_owned();
        }
        if let Ok(Ok(given)) = &mut looked
            && !given.injection.is_empty()
            && let Some(chosen) = self.choose(&text, given, began).await
        {
            *given = chosen;
        }
        let (recalled, note) = match looked {
            Ok(Ok(given)) if given.injection.is_empty() => (RecallRow::default(), None),
            Ok(Ok(given)) => {
                let note = format!("{}\n\n{}", given.links.trim_end(), given.injection.trim_end());
                (RecallRow { injection: given.injection, problem: None }, Some(note))
            }
            Ok(Err(problem)) => {
                let note = format!("The memory search failed: {problem}");
                (RecallRow { problem: Some(problem), ..RecallRow::default() }, Some(note))
            }
            Err(_) => {
                let problem =
                    format!("The memory search gave no result within {} ms.", RECALL_TIME.as_millis());
                (RecallRow { problem: Some(problem.clone()), ..RecallRow::default() }, Some(problem))
            }
        };
        fail::fail_point!("turn::before-recalled");
        self.journal().record_recalled(self.turn.question.message, &recalled, self.now())?;
        fail::fail_point!("turn::after-recalled");
        if let Some(note) = note {
            self.conversation.note(TurnNote::Recall(note));
        }
        Ok(recalled)
    }
}

#[async_trait]
impl Responder for AnswerEngine {
    async fn answer(
        &self,
        message: u64,
        place: &dyn Conversation,
        stop: &CancellationToken,
    ) -> Result<TurnAnswer, Halt> {
        let limit = Duration::from_secs(60 * u64::from(self.settings().turn_minutes));
        let time_limit = OpenQuestions::default();
        let turn = self.journal().turn(message).ok().flatten().map(|turn| turn.name());
        let turn_end = TurnEndGuard::new(&self.parts.tools, turn);
        let work = self.run(message, place, stop, &time_limit);
        let ended = time_limit.limit(limit, stop, work).await;
        turn_end.end_turn().await;
        let answered = match ended {
            Some(answered) => answered,
            None if stop.is_cancelled() => Err(Halt::Stopped),
            None => self.answer_after_timeout(message).await,
        };
        if answered.is_err() {
            self.count_unlogged_calls(&self.paid_calls(message)?);
        }
        answered
    }

    fn spent(&self, message: u64) -> Result<Facts, Halt> {
        Ok(self.brains.call_facts(&self.paid_calls(message)?, &self.journal().costs(message)?))
    }
}

impl AnswerEngine {
    /// An engine; nothing is opened but the HTTP client.
    ///
    /// # Errors
    /// The system has no TLS to offer.
    pub fn new(parts: EngineParts) -> Result<Self, BrainError> {
        let brains = Brains::of(&parts.workspace, parts.timeouts, Arc::clone(&parts.permits))?;
        Ok(Self { parts, brains })
    }

    /// The tokens that a turn may spend.
    pub(super) fn turn_tokens(&self) -> u64 {
        let own = self.parts.routine.as_ref().and_then(|routine| routine.budget);
        own.map_or(self.settings().turn_tokens, |own| own.min(self.settings().turn_tokens))
    }

    pub(in crate::agent) fn settings(&self) -> &crate::config::AssistantSettings {
        &self.parts.workspace.settings.assistant
    }

    /// Masks secrets in what is sent and kept.
    pub(super) fn mask(&self) -> Redactor {
        self.parts.workspace.settings.hooks.redactor()
    }

    pub(in crate::agent) fn now(&self) -> Timestamp {
        self.parts.workspace.clock.now()
    }

    pub(in crate::agent) fn journal(&self) -> &TurnJournal {
        &self.parts.journal
    }

    /// The calls of a turn, those in the background (such as of a brain that chose memories) counted too.
    pub(super) fn paid_calls(&self, message: u64) -> Result<Vec<CallRow>, Halt> {
        let mut calls = self.journal().calls(message)?;
        calls.extend(self.journal().background_calls(message)?);
        Ok(calls)
    }

    async fn run(
        &self,
        message: u64,
        place: &dyn Conversation,
        stop: &CancellationToken,
        time_limit: &OpenQuestions,
    ) -> Result<TurnAnswer, Halt> {
        let turn = self.journal().turn(message)?.ok_or(Halt::Gone)?;
        let joined = self.journal().joined_to(message)?;
        let (summaries, blocks) = self.summaries(&turn, self.window(&turn)?);
        let questions = self.questions(&turn, &joined, &blocks, place).await;
        if questions.is_empty() {
            return Err(Halt::Gone);
        }
        let (recalled, skipped) = (RecallRow::default(), Vec::new());
        let mut run = TurnRun {
            engine: self,
            turn,
            joined,
            blocks,
            questions,
            summaries,
            recalled,
            has_untrusted_memory: AtomicBool::new(false),
            skipped,
            conversation: place,
            stop,
            time_limit,
        };
        let asked = match run.route() {
            Ok(chain) if chain.is_empty() => Err(None),
            Ok(chain) => match run.apply_budgets(chain).await {
                Ok(allowed) => {
                    let members = self.brains.chain(&allowed);
                    run.recalled = run.recall(&members).await?;
                    run.ask_chain(&members).await?.map_err(Some)
                }
                Err(why) => Err(self.once_a_day(message, why)),
            },
            Err(unknown) => Err(Some(format!("{unknown}."))),
        };
        if stop.is_cancelled() {
            return Err(Halt::Stopped);
        }
        match asked {
            Ok(ChainAnswer { text, brain, model }) => {
                self.finish(&run.turn, &run.joined, &text, &brain, &model)
            }
            Err(why) => {
                let question = run.questions.last().map_or("", |question| &question.text);
                self.memory_answer(&run.turn, &run.joined, question, why.as_deref()).await
            }
        }
    }

    pub(in crate::agent) fn log_failure<T>(&self, result: Result<T, DatabaseError>) {
        if let Err(error) = result {
            tracing::warn!("{error}");
        }
    }
}

/// The link targets of a turn's questions in their log.
pub(super) fn question_links<'t>(turn: &'t TurnRow, joined: &'t [TurnRow]) -> Vec<&'t str> {
    joined.iter().chain([turn]).map(|turn| turn.question.block.as_str()).collect()
}

/// The kind of attachment, as routes name it, of a media type.
fn kind_of(media_type: &str) -> AttachmentKind {
    match media_type.split('/').next() {
        Some("image") => AttachmentKind::Image,
        Some("text") => AttachmentKind::Text,
        _ => AttachmentKind::Any,
    }
}
