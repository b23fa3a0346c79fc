//! Lets one brain ask another (`ask_brain`): a turn within a turn, one level deep.
//!
//! An [`AnswerEngine`] of its own answers, over a journal in memory: it recalls memories, asks the named brain alone and
//! gives it the tools of the caller. The budgets of the asking turn and of the day are checked before the call, and the
//! cost is recorded with the asking turn. A brain that gives no answer is an error: the caller has the answer from
//! memory already.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::engine::{AnswerEngine, EngineParts};
use crate::agent::{CallPermits, Toolbox};
use crate::config::MEMORY;
use crate::turn::journal::NewTurn;
use crate::turn::{Halt, NoConversation, QuestionProperties, Responder, TurnJournal, route};
use crate::workspace::Workspace;

/// The time limit of a brain that another brain asks, in minutes.
pub const ASK_TIMEOUT_MINUTES: u32 = 5;
/// The prefix of the name of a turn within a turn; a program that works for such a turn has no `ask_brain`.
pub const ASKED_TURN_PREFIX: &str = "asked-";
/// A question is asked only with this many tokens left.
const FEWEST_TOKENS: u64 = 1_000;

/// The journal and the permits that questions between brains share with other turns.
#[derive(Debug, Default)]
pub struct OtherBrains {
    journal: OnceLock<Arc<TurnJournal>>,
    permits: Arc<CallPermits>,
}

/// A question of one brain to another.
#[derive(Debug, Clone, Copy)]
pub struct BrainQuestion<'a> {
    /// The brain that is asked.
    pub name: &'a str,
    /// The question.
    pub question: &'a str,
    /// The brain that asks, and its turn; none if a program outside asks.
    pub by: Option<(&'a str, &'a str)>,
}

impl OtherBrains {
    /// For a process that runs turns, too.
    pub fn with_journal(journal: Arc<TurnJournal>, permits: Arc<CallPermits>) -> Self {
        Self { journal: OnceLock::from(journal), permits }
    }

    /// Asks a brain, which may use `tools`.
    ///
    /// # Errors
    /// A sentence on why there is no answer.
    pub async fn ask(
        &self,
        workspace: &Workspace,
        tools: Arc<dyn Toolbox>,
        asking: BrainQuestion<'_>,
        stop: &CancellationToken,
    ) -> Result<String, String> {
        let BrainQuestion { name, by, .. } = asking;
        if name == MEMORY {
            return Err("`memory` is no brain; search it with `memory_recall`".to_owned());
        }
        let nothing = QuestionProperties::default();
        route(&workspace.settings, &nothing, Some(name)).map_err(|error| error.to_string())?;
        if by.is_some_and(|(brain, _)| brain == name) {
            return Err(format!("you are `{name}` yourself; ask another brain"));
        }
        let (vault, dirs) = (workspace.vault.clone(), workspace.dirs.clone());
        let opened = Workspace::open_in(vault, dirs, Arc::clone(&workspace.clock));
        let mut own = opened.map_err(|error| error.to_string())?;
        let journal = self.journal(&workspace.dirs.state)?;
        let turn = by.and_then(|(_, turn)| turn_named(&journal, turn));
        let assistant = &mut own.settings.assistant;
        assistant.turn_minutes = assistant.turn_minutes.min(ASK_TIMEOUT_MINUTES);
        if let Some(turn) = turn {
            let used = journal.tokens(turn).map_err(|error| error.to_string())?;
            assistant.turn_tokens = assistant.turn_tokens.saturating_sub(used);
        }
        if assistant.turn_tokens < FEWEST_TOKENS {
            return Err("this turn's tokens are used up; answer with what you know".to_owned());
        }
        let now = workspace.clock.now();
        let inner = Arc::new(inside(asking, now)?);
        let own = Arc::new(own);
        let engine = AnswerEngine::new(EngineParts {
            tools,
            permits: Arc::clone(&self.permits),
            omit_reason: true,
            counted: true,
            ..EngineParts::of(&own, &inner)
        });
        let answered = engine.map_err(|error| error.to_string())?.answer(1, &NoConversation, stop).await;
        let rows = inner.calls(1).map_err(|error| error.to_string())?;
        for row in &rows {
            let counted =
                journal.record_background_call(turn.unwrap_or(0), "ask_brain", row, workspace.clock.now());
            if let Err(error) = counted {
                tracing::warn!("what a question between brains used is not counted: {error}");
            }
        }
        match answered {
            Ok(answer) if answer.facts.brain != MEMORY => Ok(answer.text),
            Ok(_) => {
                let why = inner.memory_reason(1).ok().flatten();
                Err(why.unwrap_or_else(|| format!("`{name}` did not answer")))
            }
            Err(Halt::Gone) => Err("the question is empty".to_owned()),
            Err(halt) => Err(halt.to_string()),
        }
    }

    fn journal(&self, state: &Path) -> Result<Arc<TurnJournal>, String> {
        if let Some(journal) = self.journal.get() {
            return Ok(Arc::clone(journal));
        }
        let opened = Arc::new(TurnJournal::open(state).map_err(|error| error.to_string())?);
        Ok(Arc::clone(self.journal.get_or_init(|| opened)))
    }
}

/// The journal of the inner turn.
fn inside(asking: BrainQuestion<'_>, now: Timestamp) -> Result<TurnJournal, String> {
    let BrainQuestion { name, question, by } = asking;
    let words = |error: crate::sqlite::DatabaseError| error.to_string();
    let inner = TurnJournal::in_memory().map_err(words)?;
    let turn = NewTurn {
        message: 1,
        // No log holds it; the name says for whom it is asked, in the history of what its tools change.
        block: format!("asked#^{ASKED_TURN_PREFIX}{}", by.map_or("outside", |(_, turn)| turn)),
        text: question.to_owned(),
        only: Some(name.to_owned()),
        ..NewTurn::default()
    };
    inner.accept(&turn, now).map_err(words)?;
    Ok(inner)
}

/// The message of the turn with this name.
fn turn_named(journal: &TurnJournal, name: &str) -> Option<u64> {
    let by_block = journal.by_block(name).ok().flatten().map(|turn| turn.question.message);
    let by_message = || journal.turn(name.parse().ok()?).ok().flatten().map(|turn| turn.question.message);
    by_block.or_else(by_message)
}
