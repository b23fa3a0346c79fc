//! Runs the turns of a channel, one at a time, from an accepted question to its answer in the channel and in the log.
//!
//! The turn journal holds the open turns and their fixed answers; the delivery journal holds the sent texts. Both
//! journals are read again for each step, so that a worker after a crash does the same as a worker that never stopped.
//! Questions that come during a turn become one turn after it; questions from before a restart are answered in order,
//! each alone. A text is fixed before its first byte is sent; from then on no brain is asked.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::approvals::scope;
use super::conversation::{ChannelConversation, ProgressMessage, entry, remove_left, show_typing};
use super::turn_claim;
use crate::deliver::delivery_journal::answer_key;
use crate::deliver::{AnswerOutcome as Delivered, split};
use crate::discord::api::message::{CONTENT_LIMIT, IncomingMessage};
use crate::discord::api::snowflake::BlockEvent;
use crate::discord::log::logbook::LogEntry;
use crate::discord::shared::{BotState, FIRST_PAUSE, Interruption, LONGEST_PAUSE, LaneItem, lock};
use crate::sqlite::DatabaseError;
use crate::turn::{Facts, Halt, TurnRow, TurnState, turn_notes};

/// After a longer wait the answer says that the assistant was away.
pub const AWAY: SignedDuration = SignedDuration::from_mins(15);

/// Starts the worker that answers one channel's questions; a message on the sender wakes it.
pub(in crate::discord) fn start(
    shared: Arc<BotState>,
    channel: u64,
    lane: mpsc::WeakUnboundedSender<LaneItem>,
) -> mpsc::UnboundedSender<()> {
    let (sender, mut wake) = mpsc::unbounded_channel::<()>();
    let (began, answering) = (shared.clock.now(), tokio::sync::Mutex::default());
    let worker = Worker { shared: shared.clone(), channel, lane, began, answering };
    tokio::spawn(async move {
        let channel_lock = Arc::clone(&shared.channel_lock);
        let place = channel_lock.channel(channel);
        let work = async {
            let _mine = place.lock().await;
            // Missed messages are read first: one of them may be a stop.
            if wake.recv().await.is_none() {
                return;
            }
            worker.resume();
            loop {
                match worker.next() {
                    Ok(Some(turn)) => {
                        worker.turn(&turn).await;
                        continue;
                    }
                    Ok(None) => {}
                    Err(error) => {
                        tracing::error!("{error}");
                        tokio::time::sleep(LONGEST_PAUSE).await;
                        continue;
                    }
                }
                if wake.recv().await.is_none() {
                    return;
                }
            }
        };
        // A brain that was asked keeps the settings that it began with; the next bot sends its answer.
        let closed = async {
            shared.closing.cancelled().await;
            drop(worker.answering.lock().await);
        };
        tokio::select! {
            () = work => {}
            () = closed => {}
            () = shared.cut_off.cancelled() => {}
        }
        channel_lock.end(channel);
    });
    sender
}

struct Worker {
    shared: Arc<BotState>,
    channel: u64,
    lane: mpsc::WeakUnboundedSender<LaneItem>,
    began: Timestamp,
    /// Held from the question to a brain until its answer is fixed.
    answering: tokio::sync::Mutex<()>,
}

/// The result of one step of a turn. An error: something can't be read or written now.
type StepResult = Result<(), Halt>;

impl Worker {
    /// Marks turns that waited for long while the program was down, and finished claims.
    fn resume(&self) {
        turn_claim::mark_left_open(&self.shared);
        tokio::spawn(remove_left(Arc::clone(&self.shared), self.channel));
        let open = self.shared.turns.open_turns(Some(self.channel)).unwrap_or_default();
        for turn in open.iter().filter(|turn| self.began.duration_since(turn.started) > AWAY) {
            if let Err(error) = self.shared.turns.mark_away(turn.question.message) {
                tracing::warn!("{error}");
            }
        }
    }

    /// The next turn: the oldest, joined with those that came while the one before it ran.
    fn next(&self) -> Result<Option<TurnRow>, DatabaseError> {
        let open = self.shared.turns.open_turns(Some(self.channel))?;
        let open: Vec<TurnRow> = open.into_iter().filter(|turn| turn.joined.is_none()).collect();
        let Some(first) = open.first() else { return Ok(None) };
        let live = lock(&self.shared.channel_lock.live);
        let together = |turn: &&TurnRow| {
            turn.state == TurnState::Accepted
                && matches!(self.shared.turns.stopped_by(turn.question.message), Ok(None))
                && turn.question.reply
                && live.contains(&turn.question.message)
                && turn.question.log() == first.question.log()
        };
        let mut others: Vec<u64> =
            open.iter().take_while(together).map(|turn| turn.question.message).collect();
        if others.len() < 2 {
            return Ok(Some(first.clone()));
        }
        // The answer replies to the last one that is still there.
        let there = self.shared.log.recent(self.channel, first.question.message, usize::MAX);
        let last = others.iter().rposition(|message| there.contains(message)).unwrap_or(others.len() - 1);
        others.remove(last);
        let last = &open[last];
        match self.shared.turns.join(last.question.message, &others, self.shared.clock.now()) {
            Ok(()) => Ok(Some(last.clone())),
            Err(error) => {
                tracing::error!("{error}");
                Ok(Some(first.clone()))
            }
        }
    }

    async fn turn(&self, turn: &TurnRow) {
        let message = turn.question.message;
        let _typing = show_typing(self.shared.api.clone(), self.channel);
        let (words, heard) = watch::channel(String::new());
        let mut shown = Some(ProgressMessage::start(Arc::clone(&self.shared), self.channel, message, heard));
        let mut pause = FIRST_PAUSE;
        loop {
            let step = match self.shared.turns.turn(message) {
                Ok(Some(turn)) if !turn.state.is_final() => {
                    // The answer comes in the place of the progress message.
                    if turn.state >= TurnState::Answered
                        && let Some(shown) = shown.take()
                    {
                        shown.end().await;
                    }
                    self.step(&turn, &words).await
                }
                Ok(_) => break,
                Err(error) => Err(error.into()),
            };
            match step {
                Ok(()) => pause = FIRST_PAUSE,
                Err(why) => {
                    tracing::warn!(channel = self.channel, "a turn can't go on now: {why}");
                    self.wait(message, tokio::time::sleep(pause)).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
        if let Some(shown) = shown {
            shown.end().await;
        }
        let ended = self.with_joined(message);
        lock(&self.shared.channel_lock.live).retain(|id| !ended.contains(id));
    }

    /// The messages that a turn answers.
    fn with_joined(&self, message: u64) -> Vec<u64> {
        let joined = self.shared.turns.joined_to(message).unwrap_or_default();
        joined.iter().map(|turn| turn.question.message).chain([message]).collect()
    }

    async fn step(&self, turn: &TurnRow, words: &watch::Sender<String>) -> StepResult {
        if turn.state == TurnState::Sent {
            return self.log(turn).await;
        }
        // Asked anew for an answer that waits, too: the voice may have gone and come back meanwhile.
        match turn_claim::is_ours(&self.shared, turn).await? {
            true if turn.state == TurnState::Answered => self.send(turn).await,
            true => self.answer(turn, words).await,
            false => self.advance(turn.question.message, TurnState::Dropped, "another machine answered it"),
        }
    }

    /// Asks for the answer and fixes it.
    async fn answer(&self, turn: &TurnRow, words: &watch::Sender<String>) -> StepResult {
        let message = turn.question.message;
        let _answering = self.answering.lock().await;
        let stop = self.begin(message);
        let place =
            ChannelConversation { lane: self.lane.clone(), turn, text: words.clone(), shared: &self.shared };
        let answered = self.shared.responder.answer(message, &place, &stop).await;
        let why = self.shared.channel_lock.end(self.channel);
        match (answered, why) {
            (_, Some(Interruption::Changed)) => self.restart(message),
            (Err(Halt::Stopped), Some(Interruption::Stopped(who))) => self.stopped(turn, &who).await,
            (Ok(answer), _) => self.fix(turn, &answer.text, &answer.facts),
            (Err(Halt::Gone), _) => self.taken_back(message).await,
            (Err(Halt::Stopped), None) => {
                Err(Halt::Later("the answer was stopped, and no stop is recorded".to_owned()))
            }
            (Err(later @ Halt::Later(_)), _) => Err(later),
        }
    }

    /// The token that stops the turn; already cancelled if the turn was stopped before, also before a crash.
    fn begin(&self, message: u64) -> CancellationToken {
        let stop = self.shared.channel_lock.begin(self.channel, self.with_joined(message));
        if let Ok(Some(who)) = self.shared.turns.stopped_by(message) {
            self.shared.channel_lock.stop(self.channel, None, &who);
        }
        stop
    }

    /// Waits before a turn goes on. `/stop` ends it here as it does while a brain is asked; an edited question begins
    /// again while it has no answer.
    async fn wait(&self, message: u64, pause: impl Future<Output = ()>) {
        let turn = self.shared.turns.turn(message).ok().flatten();
        let Some(turn) = turn.filter(|turn| turn.state <= TurnState::Answered) else { return pause.await };
        let stop = match turn.state {
            TurnState::Answered => self.shared.channel_lock.begin(self.channel, vec![message]),
            _ => self.begin(message),
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = pause => {}
        }
        match self.shared.channel_lock.end(self.channel) {
            Some(Interruption::Stopped(who)) => drop(self.stopped(&turn, &who).await),
            Some(Interruption::Changed) => drop(self.restart(message)),
            None => {}
        }
    }

    async fn stopped(&self, turn: &TurnRow, who: &str) -> StepResult {
        let message = turn.question.message;
        let mut said = format!("{who} stopped the answer.");
        let is_answered = turn.state == TurnState::Answered;
        if let Some(facts) = turn.facts.as_deref().and_then(Facts::parse).filter(|_| is_answered) {
            // No answer will say what it took.
            said = facts.append_to(&said);
        }
        self.remark(message, said).await?;
        if is_answered {
            return self.advance(message, TurnState::Dropped, "stopped while it waited to be sent");
        }
        let (brain, block) = (crate::config::MEMORY.to_owned(), turn.question.block_id().map(str::to_owned));
        let facts = Facts { brain, turn: block, ..self.spent(message) };
        self.fix(turn, "Stopped.", &facts)
    }

    /// The tokens and cost of a turn, as far as they are known.
    fn spent(&self, message: u64) -> Facts {
        self.shared.responder.spent(message).unwrap_or_default()
    }

    /// Ends a turn without an answer; the log says what it took all the same.
    async fn taken_back(&self, message: u64) -> StepResult {
        let why = "the question was taken back";
        let spent = self.spent(message);
        if spent.calls > 0 {
            let facts = Facts { brain: crate::config::MEMORY.to_owned(), ..spent };
            self.remark(message, facts.append_to(&format!("No answer: {why}."))).await?;
        }
        self.advance(message, TurnState::Dropped, why)
    }

    fn restart(&self, message: u64) -> StepResult {
        self.shared.turns.begin_again(message, self.shared.clock.now())?;
        Ok(())
    }

    fn fix(&self, turn: &TurnRow, text: &str, facts: &Facts) -> StepResult {
        let message = turn.question.message;
        let question = (!turn.question.reply).then_some(turn.question.text.as_str());
        let text = if text.trim().is_empty() { "(an empty answer)" } else { text };
        // A question that stands in no message is quoted above its answer.
        let text = &question.map_or_else(|| text.to_owned(), |question| quoted(question, text));
        let chunks = split::split(text, CONTENT_LIMIT).len();
        fail::fail_point!("turn::before-answered");
        let fixed =
            self.shared.turns.record_answer(message, text, &facts.render(), chunks, self.shared.clock.now());
        fail::fail_point!("turn::after-answered");
        fixed.map(drop).map_err(Into::into)
    }

    fn advance(&self, message: u64, state: TurnState, detail: &str) -> StepResult {
        self.shared.turns.advance(message, state, detail, self.shared.clock.now())?;
        Ok(())
    }

    /// Passes the text to `deliver` until every chunk arrived.
    async fn send(&self, turn: &TurnRow) -> StepResult {
        let message = turn.question.message;
        let key = answer_key(message, turn.question.reply);
        let scope = scope(turn);
        let text = turn.answer.clone().unwrap_or_default();
        match self.shared.answers.send(&key, scope, &text).await? {
            Delivered::Sent => {
                fail::fail_point!("turn::before-sent");
                turn_claim::answered(&self.shared, message);
                let step = self.advance(message, TurnState::Sent, "");
                fail::fail_point!("turn::after-sent");
                step
            }
            Delivered::Later(at) => {
                self.wait(message, self.shared.wait_until(at)).await;
                Ok(())
            }
            Delivered::Refused(why) => {
                tracing::error!(channel = self.channel, "an answer could not be delivered: {why}");
                let facts = turn.facts.as_deref().and_then(Facts::parse).unwrap_or_default();
                self.remark(message, facts.append_to(&format!("This answer could not be shown:\n{text}")))
                    .await?;
                // The question was answered, so its turn ends, though the answer can't be shown.
                let _ = self.advance(message, TurnState::Sent, &why);
                self.advance(message, TurnState::Done, &why)
            }
        }
    }

    /// Waits until the log holds every chunk.
    async fn log(&self, turn: &TurnRow) -> StepResult {
        let message = turn.question.message;
        let key = answer_key(message, turn.question.reply);
        let sent = self.shared.answers.sent(&key)?;
        let name = self.shared.bot_name().await?;
        let lane = self.lane.upgrade().ok_or_else(|| Halt::Later("the bot is stopping".to_owned()))?;
        // A crash may have come before the notes were written; the log takes each once.
        let (noted, at) = (turn_notes(&self.shared.turns, message), self.shared.clock.now());
        let entries = noted.unwrap_or_default().into_iter().map(|note| entry(message, note, at)).collect();
        let _ = lane.send(LaneItem::Write { entries, done: None });
        for (index, chunk) in sent.iter().enumerate() {
            // A message that was deleted before its id was known stays out of the log.
            let Some(id) = chunk.message_id.as_deref().and_then(|id| id.parse().ok()) else { continue };
            let reply_to = (index == 0 && turn.question.reply).then_some(message);
            let posted = IncomingMessage::own(
                id,
                self.channel,
                self.shared.identity().user,
                &name,
                &chunk.text,
                reply_to,
            );
            let _ = lane.send(LaneItem::Message(Box::new(posted)));
        }
        drop(lane);
        self.written(Vec::new()).await?;
        fail::fail_point!("turn::before-done");
        self.advance(message, TurnState::Done, "")
    }

    /// Logs a remark on a question. It is written before the turn goes on, so that a crash doesn't lose it.
    async fn remark(&self, message: u64, said: String) -> StepResult {
        self.written(vec![LogEntry::remark(message, BlockEvent::Stopped, self.shared.clock.now(), said)])
            .await
    }

    /// Waits until the log holds these entries, and all that was sent to it before.
    async fn written(&self, entries: Vec<LogEntry>) -> StepResult {
        let (done, written) = oneshot::channel();
        let lane = self.lane.upgrade().ok_or_else(|| Halt::Later("the bot is stopping".to_owned()))?;
        let _ = lane.send(LaneItem::Write { entries, done: Some(done) });
        drop(lane);
        written.await.map_err(|_| Halt::Later("the log could not be written".to_owned()))
    }
}

/// The answer below the question that it answers.
fn quoted(question: &str, text: &str) -> String {
    let lines: String = question.trim().lines().map(|line| format!("> {line}\n")).collect();
    lines + text
}

/// The log's text for one of the bot's own messages: a chunk of an answer with its facts.
pub(in crate::discord) fn logged_text(shared: &BotState, message: &IncomingMessage) -> Option<String> {
    let id = message.id.to_string();
    let posted = shared.answers.journal.chunk_of_message(&id, message.nonce.as_deref(), &message.content);
    let posted = posted.inspect_err(|error| tracing::warn!("{error}")).ok()??;
    let turn = shared.turns.turn(posted.question).ok()??;
    let mut facts = Facts::parse(turn.facts.as_deref()?)?;
    if posted.chunks > 1 {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        facts.part = Some((number(posted.chunk + 1), number(posted.chunks)));
    }
    Some(facts.append_to(&posted.text))
}
