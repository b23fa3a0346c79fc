//! The loop: one turn from its question to its answer.
//!
//! The turn journal is the state. [`Engine::answer`] reads it, does what is missing, and writes each step before
//! what the step announces; called again after a crash it goes on from there. A brain that fails is followed by
//! the next of the chain, which is given the rounds of tools that are in the journal; at the end of the chain
//! stands the answer from memory, with one sentence why.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::calling::{Brains, Permits, Seat, Walk};
use super::memory::Remember;
use super::setup;
use super::tools::{Caller, Toolbox};
use super::words;
use crate::brain::failover::Attempt;
use crate::brain::health::Store;
use crate::brain::wire::{self, Watch};
use crate::brain::{
    BrainError, Class, Event, Message, Part, Reply, Request, Stop, ToolCall, ToolResult, ToolSpec, Usage,
};
use crate::config::{AttachmentKind, MEMORY, ToolGroup};
use crate::format::log::{self, LogBlock};
use crate::turn::assemble::{self, Material, Question};
use crate::turn::files::{self, Attached, FilePlace};
use crate::turn::journal::{Assembled, CallRow, Recalled, ToolEnd, Turn};
use crate::turn::{
    Answer, Facts, Halt, Note, Place, Responder, State, TurnJournal, TurnJournalError, history, remake, route,
};
use crate::vault::NotePath;
use crate::workspace::Workspace;

/// What memory may take before a turn goes on without it.
const RECALL_TIME: Duration = Duration::from_millis(300);
/// Longer texts of the persona note are cut.
const PERSONA_CHARS: usize = 20_000;
/// Events of a stream that wait to be shown.
const EVENTS: usize = 64;

/// What an engine is made of.
pub struct EngineParts {
    /// The vault with the settings that its turns keep.
    pub workspace: Arc<Workspace>,
    /// How far each turn came.
    pub journal: Arc<TurnJournal>,
    /// What may be called.
    pub tools: Arc<dyn Toolbox>,
    /// What is remembered.
    pub memory: Arc<dyn Remember>,
    /// Who may call a brain now.
    pub permits: Arc<Permits>,
    /// How long a brain may be silent.
    pub watch: Watch,
    /// Pictures and files that hang on a question that no log holds.
    pub files: Vec<Part>,
    /// The JSON schema that answers must have.
    pub schema: Option<serde_json::Value>,
    /// Whether an answer from memory leaves out the sentence why it isn't a brain's: whoever asks tells it.
    pub why_apart: bool,
}

/// Runs turns, with the settings that it was made with.
pub struct Engine {
    parts: EngineParts,
    brains: Brains,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// One turn as it runs.
struct Run<'a> {
    turn: Turn,
    joined: Vec<Turn>,
    blocks: Vec<LogBlock>,
    questions: Vec<Question>,
    recalled: Recalled,
    place: &'a dyn Place,
    stop: &'a CancellationToken,
}

/// How asking the chain ended.
enum Asked {
    Answered { text: String, brain: String, model: String },
    Nobody { why: Option<String> },
}

#[async_trait]
impl Responder for Engine {
    async fn answer(
        &self,
        message: u64,
        place: &dyn Place,
        stop: &CancellationToken,
    ) -> Result<Answer, Halt> {
        let limit = Duration::from_secs(60 * u64::from(self.settings().turn_minutes));
        let timed = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(Halt::Stopped),
            timed = tokio::time::timeout(limit, self.run(message, place, stop)) => timed,
        };
        timed.unwrap_or_else(|_| {
            let why =
                format!("This took longer than {} minutes and was ended.", self.settings().turn_minutes);
            self.finish_with(message, &why)
        })
    }
}

impl Engine {
    /// An engine; nothing is opened but the HTTP client.
    ///
    /// # Errors
    /// The system has no TLS to offer.
    pub fn new(parts: EngineParts) -> Result<Self, BrainError> {
        let workspace = &parts.workspace;
        let prepared = setup::prepare(&workspace.settings, workspace.vault.root());
        let health = Store::new(&workspace.dirs.state);
        let (permits, clock) = (Arc::clone(&parts.permits), Arc::clone(&workspace.clock));
        let brains = Brains::new(prepared, parts.watch, &wire::http::client()?, health, permits, clock);
        Ok(Self { parts, brains })
    }

    fn settings(&self) -> &crate::config::Assistant {
        &self.parts.workspace.settings.assistant
    }

    fn now(&self) -> Timestamp {
        self.parts.workspace.clock.now()
    }

    fn journal(&self) -> &TurnJournal {
        &self.parts.journal
    }

    /// The calls of a turn so far, for whoever shows them.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn calls(&self, message: u64) -> Result<Vec<CallRow>, TurnJournalError> {
        self.journal().calls(message)
    }

    async fn run(&self, message: u64, place: &dyn Place, stop: &CancellationToken) -> Result<Answer, Halt> {
        let turn = self.journal().turn(message).map_err(later)?.ok_or(Halt::Gone)?;
        let joined = self.journal().joined_to(message).map_err(later)?;
        let blocks = self.window(&turn)?;
        let questions = self.questions(&turn, &joined, &blocks, place).await;
        if questions.is_empty() {
            return Err(Halt::Gone);
        }
        let mut run = Run { turn, joined, blocks, questions, recalled: Recalled::default(), place, stop };
        let routed = self.route(&run);
        let mut asked = match routed {
            Ok((chain, why)) if chain.is_empty() => Asked::Nobody { why },
            Ok((chain, _)) => {
                run.recalled = self.recall(&run).await?;
                self.ask_chain(&run, &self.brains.chain(&chain)).await?
            }
            Err(unknown) => Asked::Nobody { why: Some(format!("{unknown}.")) },
        };
        if stop.is_cancelled() {
            return Err(Halt::Stopped);
        }
        if let Asked::Nobody { why } = &mut asked {
            if let Some(why) = &why {
                self.keep(self.journal().memory_answers(message, why, self.now()));
            }
            let why = why.as_deref().filter(|_| !self.parts.why_apart);
            let text = self.memory_says(&run, why).await;
            asked = Asked::Answered { text, brain: MEMORY.to_owned(), model: String::new() };
        }
        let Asked::Answered { text, brain, model } = asked else { return Err(Halt::Gone) };
        self.finish(&run.turn, &run.joined, &text, &brain, &model)
    }

    /// The events of the window that holds the question; none where no log does.
    fn window(&self, turn: &Turn) -> Result<Vec<LogBlock>, Halt> {
        let Some((path, _)) = turn.asked.block.split_once("#^") else { return Ok(Vec::new()) };
        let path = NotePath::new(&format!("{path}.md")).map_err(|error| Halt::Later(error.to_string()))?;
        match self.parts.workspace.vault.read(&path) {
            Ok(bytes) => Ok(log::parse(&bytes).blocks),
            // A log that a person deleted: the question is answered from what the journal knows.
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            Err(error) => Err(Halt::Later(error.to_string())),
        }
    }

    async fn questions(
        &self,
        turn: &Turn,
        joined: &[Turn],
        blocks: &[LogBlock],
        place: &dyn Place,
    ) -> Vec<Question> {
        let mut questions = Vec::new();
        for one in joined.iter().chain([turn]) {
            let id = one.asked.block.split_once("#^").map_or("", |(_, id)| id);
            let logged = blocks.iter().any(|block| block.event.id.as_deref() == Some(id));
            if logged {
                for mut question in remake::questions(blocks, &[id]) {
                    for file in files::of(blocks, id) {
                        question.files.push(self.file(&file, place).await);
                    }
                    questions.push(question);
                }
            } else if !one.asked.text.is_empty() || !self.parts.files.is_empty() || id.is_empty() {
                questions.push(Question {
                    id: id.to_owned(),
                    text: one.asked.text.clone(),
                    files: self.parts.files.clone(),
                });
            }
        }
        questions
    }

    /// A file of a question as a brain is told of it: whole where it is a picture or a text of some size, else by
    /// its name.
    async fn file(&self, file: &Attached, place: &dyn Place) -> Part {
        let Some(most) = file.most() else { return file.told() };
        let read = match &file.place {
            FilePlace::Link(link) => place.fetch(link, most).await,
            FilePlace::Kept(path) => kept(&self.parts.workspace, path),
        };
        let read = read.inspect_err(|problem| {
            tracing::info!(file = file.name, "a file is told by its name alone: {problem}");
        });
        file.tell(read.ok().as_deref())
    }

    /// Which brains are asked; none, with the reason, where today's budget is spent.
    fn route(&self, run: &Run<'_>) -> Result<(Vec<String>, Option<String>), route::UnknownBrain> {
        let asked = &run.turn.asked;
        let kinds: Vec<_> = asked.attachments.iter().map(|kind| kind_of(kind)).collect();
        let text: Vec<&str> = run.questions.iter().map(|question| question.text.as_str()).collect();
        let question = route::Question {
            text: history::strip_mentions(text.last().copied().unwrap_or_default()),
            channel: (asked.channel != 0).then_some(asked.channel),
            thread: asked.thread.then_some(asked.channel),
            routine: None,
            attachments: &kinds,
        };
        let routed = route::route(&self.parts.workspace.settings, &question, asked.only.as_deref())?;
        fail::fail_point!("turn::before-routed");
        self.keep(self.journal().advance(asked.message, State::Routed, &routed.why, self.now()));
        fail::fail_point!("turn::after-routed");
        if let Some(why) = self.spent() {
            return Ok((Vec::new(), Some(why)));
        }
        Ok((routed.chain, None))
    }

    /// Why nobody is asked any more today, where the day's budget is spent.
    fn spent(&self) -> Option<String> {
        let (tokens, usd) = (self.settings().day_tokens, self.settings().day_usd);
        if tokens.is_none() && usd.is_none() {
            return None;
        }
        let zone = self.parts.workspace.zone.tz().clone();
        let midnight = self.now().to_zoned(zone).start_of_day().ok()?.timestamp();
        let calls = self.journal().calls_since(midnight).ok()?;
        let used: u64 = calls.iter().map(|call| call.usage.input + call.usage.output).sum();
        let paid: f64 = calls.iter().filter_map(|call| self.price(&call.brain, &call.usage)).sum();
        if tokens.is_some_and(|most| used >= most) {
            return Some(format!("Today's budget of {} tokens is used up.", tokens.unwrap_or_default()));
        }
        usd.filter(|most| paid >= *most).map(|most| format!("Today's budget of {most} USD is used up."))
    }

    fn price(&self, brain: &str, usage: &Usage) -> Option<f64> {
        Some(self.brains.named(brain)?.prepared.price?.of(usage))
    }

    /// What memory gives; after a crash, what it gave.
    async fn recall(&self, run: &Run<'_>) -> Result<Recalled, Halt> {
        if let Some(recalled) = &run.turn.recalled {
            // The crash may have come before the note.
            let note = recalled.problem.clone().unwrap_or_else(|| recalled.injection.clone());
            if !note.is_empty() {
                run.place.note(Note::Recall(note));
            }
            return Ok(recalled.clone());
        }
        let text: Vec<&str> = run.questions.iter().map(|q| history::strip_mentions(&q.text)).collect();
        let looked = tokio::time::timeout(RECALL_TIME, self.parts.memory.given(&text.join("\n"))).await;
        let (recalled, note) = match looked {
            Ok(Ok(given)) if given.injection.is_empty() => (Recalled::default(), None),
            Ok(Ok(given)) => {
                let note = format!("{}\n\n{}", given.links.trim_end(), given.injection.trim_end());
                (Recalled { injection: given.injection, problem: None }, Some(note))
            }
            Ok(Err(problem)) => (
                Recalled { injection: String::new(), problem: Some(problem.clone()) },
                Some(format!("Memory could not be asked: {problem}")),
            ),
            Err(_) => {
                let problem = format!("Memory gave nothing within {} ms.", RECALL_TIME.as_millis());
                (Recalled { injection: String::new(), problem: Some(problem.clone()) }, Some(problem))
            }
        };
        fail::fail_point!("turn::before-recalled");
        self.journal().recalled(run.turn.asked.message, &recalled, self.now()).map_err(later)?;
        fail::fail_point!("turn::after-recalled");
        if let Some(note) = note {
            run.place.note(Note::Recall(note));
        }
        Ok(recalled)
    }

    /// Asks along the chain until somebody answers.
    async fn ask_chain(&self, run: &Run<'_>, chain: &[&Seat]) -> Result<Asked, Halt> {
        let mut walk = Walk::default();
        while let Some(attempt) = self.brains.next(chain, &walk) {
            let seat = chain[attempt.link];
            let name = seat.prepared.name().to_owned();
            match self.ask_one(run, seat, &attempt).await? {
                Ok((text, model)) => return Ok(Asked::Answered { text, brain: name, model }),
                Err(error) if error.cancelled => return Err(Halt::Stopped),
                Err(error) => {
                    tracing::warn!(
                        brain = name,
                        class = error.class.name(),
                        "a brain did not answer: {error}"
                    );
                    walk.note(attempt, &name, error);
                }
            }
        }
        let failed: Vec<(String, String)> =
            walk.failed.iter().map(|(name, error)| (name.clone(), error.message.clone())).collect();
        let resting: Vec<String> =
            self.brains.skipped(chain, &walk, None).into_iter().map(|(name, _)| name).collect();
        Ok(Asked::Nobody { why: Some(words::why_memory(&failed, &resting)) })
    }

    /// Asks one brain, with as many rounds of tools as it wants and may have.
    async fn ask_one(
        &self,
        run: &Run<'_>,
        seat: &Seat,
        attempt: &Attempt,
    ) -> Result<Result<(String, String), BrainError>, Halt> {
        let message = run.turn.asked.message;
        let brain = &seat.prepared.settings;
        let whole =
            assemble::budget(brain.context_tokens, brain.max_output_tokens, self.settings().turn_tokens);
        let budget = if attempt.shrink { whole / 2 } else { whole };
        let at = run.turn.assembled.as_ref().map_or_else(|| self.now(), |before| before.at);
        let base = self.assemble(run, seat, at, budget);
        let assembled = Assembled { at, budget, tail: tail(&run.blocks), hash: base.hash() };
        fail::fail_point!("turn::before-assembled");
        self.journal().assembled(message, &assembled, self.now()).map_err(later)?;
        fail::fail_point!("turn::after-assembled");
        loop {
            let rounds = self.rounds(run, &brain.name).await?;
            let mut request = base.clone();
            request.messages.extend(rounds);
            if let Some(end) = self.over_budget(message)? {
                return Ok(Ok((end, brain.model.clone())));
            }
            fail::fail_point!("turn::before-called");
            self.journal().calling(message, &brain.name, self.now()).map_err(later)?;
            fail::fail_point!("turn::after-called");
            run.place.progress(&format!("asking {}", brain.name));
            let began = Instant::now();
            let (events, heard) = mpsc::channel(EVENTS);
            let asking = self.brains.ask(seat, attempt, &request, events, run.stop);
            let (answered, ()) = tokio::join!(asking, tell(heard, run.place));
            let answered = answered.and_then(|reply| usable(&reply).map(|()| reply));
            let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            let row = row(brain, &answered, ms);
            match answered {
                Ok(reply) if reply.tool_calls.is_empty() => {
                    self.journal().called(message, &row, None, self.now()).map_err(later)?;
                    let text = words::text_of(&reply).unwrap_or_default();
                    return Ok(Ok((text, reply.model)));
                }
                Ok(reply) => {
                    fail::fail_point!("turn::before-round");
                    self.journal().called(message, &row, Some(&reply), self.now()).map_err(later)?;
                    fail::fail_point!("turn::after-round");
                }
                Err(error) => {
                    if !error.cancelled {
                        self.journal().called(message, &row, None, self.now()).map_err(later)?;
                    }
                    return Ok(Err(error));
                }
            }
        }
    }

    fn assemble(&self, run: &Run<'_>, seat: &Seat, at: Timestamp, budget: u64) -> Request {
        let workspace = &self.parts.workspace;
        let now = at.to_zoned(workspace.zone.tz().clone());
        let vision = seat.prepared.settings.vision;
        let questions: Vec<Question> =
            run.questions.iter().map(|question| for_brain(question, vision)).collect();
        assemble::assemble(Material {
            persona: &persona(workspace),
            pinned: &pinned(workspace),
            tools: self.tools(),
            blocks: &run.blocks,
            questions: &questions,
            injection: &run.recalled.injection,
            now: &now,
            budget,
            max_output_tokens: seat.prepared.settings.max_output_tokens,
            schema: self.parts.schema.clone(),
        })
    }

    fn tools(&self) -> Vec<ToolSpec> {
        if self.settings().tools.contains(&ToolGroup::Vault) { self.parts.tools.specs() } else { Vec::new() }
    }

    /// The rounds of tools so far, as messages; what was asked for and isn't done yet is done now.
    async fn rounds(&self, run: &Run<'_>, brain: &str) -> Result<Vec<Message>, Halt> {
        let message = run.turn.asked.message;
        let rounds = self.journal().rounds(message).map_err(later)?;
        let spent = u32::try_from(rounds.len()).unwrap_or(u32::MAX) >= self.settings().max_rounds;
        let mut messages = Vec::new();
        let mut number = 0;
        let last = rounds.len().saturating_sub(1);
        for (index, round) in rounds.into_iter().enumerate() {
            let mut results = Vec::new();
            for call in &round.tool_calls {
                let end = self.run_tool(run, number, call, brain).await?;
                let mut text = end.text;
                if spent && index == last {
                    text = format!("{text}\n\n{}", words::NO_MORE_ROUNDS);
                }
                results.push(ToolResult { call_id: call.id.clone(), text, is_error: end.is_error });
                number += 1;
            }
            messages.push(Message::Assistant {
                text: round.text,
                tool_calls: round.tool_calls,
                raw: round.raw,
            });
            messages.push(Message::ToolResults { results });
        }
        Ok(messages)
    }

    /// What a tool said; it is started now if it never was.
    async fn run_tool(
        &self,
        run: &Run<'_>,
        number: u32,
        call: &ToolCall,
        brain: &str,
    ) -> Result<ToolEnd, Halt> {
        let message = run.turn.asked.message;
        let known = self.journal().tools(message).map_err(later)?;
        let end = match known.into_iter().find(|row| row.number == number) {
            Some(row) => match row.result {
                Some(end) => {
                    // The crash may have come before the note.
                    note_tool(run, number, call, &end);
                    return Ok(end);
                }
                None => ToolEnd { text: words::OUTCOME_UNKNOWN.to_owned(), is_error: true, ms: 0 },
            },
            None => {
                run.place.progress(&format!("using {}", call.name));
                fail::fail_point!("turn::before-tool-started");
                self.journal().tool_started(message, number, call, self.now()).map_err(later)?;
                fail::fail_point!("turn::after-tool-started");
                let turn = run
                    .turn
                    .asked
                    .block
                    .rsplit_once("#^")
                    .map_or_else(|| message.to_string(), |(_, id)| id.to_owned());
                let caller = Caller { turn, number, brain: brain.to_owned() };
                let end = self.parts.tools.call(call, &caller).await;
                fail::fail_point!("turn::before-tool-finished");
                end
            }
        };
        self.journal().tool_finished(message, number, &end, self.now()).map_err(later)?;
        fail::fail_point!("turn::after-tool-finished");
        note_tool(run, number, call, &end);
        Ok(end)
    }

    /// The sentence that ends a turn whose tokens or rounds are used up.
    fn over_budget(&self, message: u64) -> Result<Option<String>, Halt> {
        let calls = self.journal().calls(message).map_err(later)?;
        let used: u64 = calls.iter().map(|call| call.usage.input + call.usage.output).sum();
        let most = self.settings().turn_tokens;
        if used >= most {
            return Ok(Some(format!("I stopped here: this turn used up its {most} tokens.")));
        }
        let rounds = calls.iter().filter(|call| call.class.is_none()).count();
        let most = self.settings().max_rounds as usize;
        Ok((rounds > most).then(|| format!("I stopped here: this turn had its {most} rounds of tools.")))
    }

    async fn memory_says(&self, run: &Run<'_>, why: Option<&str>) -> String {
        let question = run.questions.last().map_or("", |question| history::strip_mentions(&question.text));
        match self.parts.memory.answer(question, &run.turn.asked.block).await {
            Ok(answer) => words::from_memory(why, &answer),
            Err(problem) => words::from_memory(why, &format!("Memory could not be asked either: {problem}")),
        }
    }

    /// An answer that is only a sentence, with the facts of what was tried.
    fn finish_with(&self, message: u64, text: &str) -> Result<Answer, Halt> {
        let turn = self.journal().turn(message).map_err(later)?.ok_or(Halt::Gone)?;
        let joined = self.journal().joined_to(message).map_err(later)?;
        let brain = turn.brain.clone().unwrap_or_else(|| MEMORY.to_owned());
        self.finish(&turn, &joined, text, &brain, "")
    }

    fn finish(
        &self,
        turn: &Turn,
        joined: &[Turn],
        text: &str,
        brain: &str,
        model: &str,
    ) -> Result<Answer, Halt> {
        let message = turn.asked.message;
        let calls = self.journal().calls(message).map_err(later)?;
        let assembled = self.journal().turn(message).map_err(later)?.and_then(|turn| turn.assembled);
        let assembled = assembled.filter(|_| brain != MEMORY);
        let mut usage = Usage::default();
        calls.iter().for_each(|call| usage += call.usage);
        let prices: Option<Vec<f64>> = calls
            .iter()
            .filter(|call| call.usage != Usage::default())
            .map(|call| self.price(&call.brain, &call.usage))
            .collect();
        let id = |turn: &Turn| turn.asked.block.split_once("#^").map(|(_, id)| id.to_owned());
        let facts = Facts {
            brain: brain.to_owned(),
            model: model.to_owned(),
            input: usage.input,
            cached: usage.cached,
            output: usage.output,
            usd: prices.filter(|prices| !prices.is_empty()).map(|prices| prices.iter().sum()),
            ms: u64::try_from(self.now().duration_since(turn.started).as_millis()).unwrap_or(0),
            ctx: assembled.as_ref().map(|request| request.hash.clone()),
            calls: u32::try_from(calls.len()).unwrap_or(u32::MAX),
            failed: calls.iter().filter_map(|call| Some((call.brain.clone(), call.class?))).collect(),
            part: None,
            at: assembled.as_ref().map(|request| request.at),
            budget: assembled.as_ref().map(|request| request.budget),
            tail: assembled.and_then(|request| request.tail),
            turn: id(turn),
            with: joined.iter().filter_map(id).collect(),
        };
        let text = words::bounded(text);
        let text = if turn.asked.away { words::after_absence(&text) } else { text };
        Ok(Answer { text, facts })
    }

    fn keep<T>(&self, result: Result<T, TurnJournalError>) {
        if let Err(error) = result {
            tracing::warn!("{error}");
        }
    }
}

/// The bytes of a file that is kept in the vault.
pub fn kept(workspace: &Workspace, path: &str) -> Result<Vec<u8>, String> {
    let path = NotePath::new(path).map_err(|error| error.to_string())?;
    workspace.vault.read(&path).map_err(|error| error.to_string())
}

/// Hands on the words of an answer as they come.
async fn tell(mut events: mpsc::Receiver<Event>, place: &dyn Place) {
    while let Some(event) = events.recv().await {
        if let Event::Text(text) = event {
            place.said(&text);
        }
    }
}

/// Logs a tool's call and result; the log takes each once.
fn note_tool(run: &Run<'_>, number: u32, call: &ToolCall, end: &ToolEnd) {
    let text = history::tool_block(call, &end.text, end.is_error);
    run.place.note(Note::Tool { number, name: call.name.clone(), text });
}

/// The persona note as it stands; none where there is none.
pub fn persona(workspace: &Workspace) -> String {
    persona_text(&note(workspace, &workspace.settings.assistant.persona))
}

/// What a brain is told of a persona note's text.
pub fn persona_text(text: &str) -> String {
    history::shorten(text, PERSONA_CHARS)
}

/// The pinned note as it stands.
pub fn pinned(workspace: &Workspace) -> String {
    pinned_text(&note(workspace, &workspace.settings.paths.pinned))
}

/// What a brain is told of the pinned note's text: its bullets.
pub fn pinned_text(text: &str) -> String {
    let bullets: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
    history::shorten(&bullets.join("\n"), PERSONA_CHARS)
}

fn note(workspace: &Workspace, path: &str) -> String {
    let bytes = workspace.vault.read(&workspace.note(path)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What routes call a file of this media type.
fn kind_of(media_type: &str) -> AttachmentKind {
    match media_type.split('/').next() {
        Some("image") => AttachmentKind::Image,
        Some("text") => AttachmentKind::Text,
        _ => AttachmentKind::Any,
    }
}

/// The question as a brain gets it: pictures only where it takes them.
fn for_brain(question: &Question, vision: bool) -> Question {
    let files = question.files.iter().map(|part| shown(part.clone(), vision)).collect();
    Question { files, ..question.clone() }
}

/// A part as a brain gets it that takes pictures, or doesn't.
pub fn shown(part: Part, vision: bool) -> Part {
    match part {
        Part::Image { media_type, .. } if !vision => {
            Part::Text { text: format!("(a picture, {media_type}, which you can't see)") }
        }
        part => part,
    }
}

fn tail(blocks: &[LogBlock]) -> Option<String> {
    blocks.iter().rev().find_map(|block| block.event.id.clone())
}

/// A reply that says nothing and asks for nothing is none.
fn usable(reply: &Reply) -> Result<(), BrainError> {
    if reply.tool_calls.is_empty() && words::text_of(reply).is_none() {
        let why = if reply.stop == Stop::Length {
            "it thought until its longest answer was full, and said nothing"
        } else {
            "its answer was empty"
        };
        return Err(BrainError::new(Class::Crash, why));
    }
    Ok(())
}

fn row(brain: &crate::config::Brain, answered: &Result<Reply, BrainError>, ms: u64) -> CallRow {
    let (model, class, error, usage) = match answered {
        Ok(reply) => (reply.model.clone(), None, None, reply.usage),
        Err(error) => (brain.model.clone(), Some(error.class), Some(error.message.clone()), Usage::default()),
    };
    CallRow { brain: brain.name.clone(), model, class, error, ms, usage }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn later(error: TurnJournalError) -> Halt {
    Halt::Later(error.to_string())
}
