//! Asks the assistant the questions that a person types on the page, and ends the turns that an earlier process left
//! open.
//!
//! A question of the page is written to no log; only the turn journal records it, its calls and its cost. If a call
//! needs an approval, the turn doesn't wait for it: the request stays in the note of approvals. If a person approves
//! it, the call may run when the same question is asked again.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::{AnswerEngine, CallPermits, EngineParts, VaultApprovals, Waiter};
use crate::toolbox::toolbox;
use crate::turn::{NewTurn, NoConversation, PAGE, Responder, TurnAnswer, TurnJournal, TurnState};
use crate::workspace::Workspace;

/// Asks a question, whose turn in the turn journal is `message`; the answer as a person reads it.
///
/// # Errors
/// The reason why there is no answer.
pub(super) async fn ask(
    workspace: Arc<Workspace>,
    permits: Arc<CallPermits>,
    message: u64,
    text: String,
) -> anyhow::Result<String> {
    let journal = Arc::new(TurnJournal::open(&workspace.dirs.state)?);
    let turn = NewTurn { message, author: PAGE.to_owned(), text, ..NewTurn::default() };
    journal.accept(&turn, workspace.clock.now())?;
    let answered = answer(&workspace, &journal, permits, message).await;
    let now = workspace.clock.now();
    match answered {
        Ok(answer) => {
            let facts = answer.facts.render();
            journal.record_answer(message, &answer.text, &facts, 0, now)?;
            for state in [TurnState::Sent, TurnState::Done] {
                journal.advance(message, state, "", now)?;
            }
            Ok(format!("{}\n\n{facts}", answer.text))
        }
        Err(why) => {
            journal.advance(message, TurnState::Dropped, &why.to_string(), now)?;
            Err(why)
        }
    }
}

async fn answer(
    workspace: &Arc<Workspace>,
    journal: &Arc<TurnJournal>,
    permits: Arc<CallPermits>,
    message: u64,
) -> anyhow::Result<TurnAnswer> {
    let engine = AnswerEngine::new(EngineParts {
        tools: toolbox(workspace, Some((journal, &permits))),
        approvals: Arc::new(VaultApprovals::new(workspace, Waiter::Nothing)),
        permits,
        ..EngineParts::of(workspace, journal)
    })?;
    Ok(engine.answer(message, &NoConversation, &CancellationToken::new()).await?)
}

/// Ends the turns of questions that were asked on the page and that an earlier process did not answer.
pub(super) fn end_open(workspace: &Workspace) {
    let ended = TurnJournal::open_if_there(&workspace.dirs.state).and_then(|turns| {
        let Some(turns) = turns else { return Ok(()) };
        let open = turns.open_turns(Some(0))?.into_iter().map(|turn| turn.question);
        open.filter(NewTurn::is_of_page).try_for_each(|asked| {
            let why = "vault-agent stopped before the answer was complete";
            turns.advance(asked.message, TurnState::Dropped, why, workspace.clock.now()).map(drop)
        })
    });
    if let Err(error) = ended {
        tracing::warn!(%error, "questions of the page that were not answered stay open");
    }
}
