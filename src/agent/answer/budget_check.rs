//! Applies the day's budgets to a turn: leaves out brains (models or agent programs) whose budget is used up. Also
//! queues a notice for each budget that is nearly used up.
//!
//! If no brain is left, or the assistant's own budget is used up, a person is asked for permission to exceed the
//! budget. The decision is kept in the turn journal and holds for the day. A turn waits for the decision for about a
//! second after the question is shown. Without a decision by then, the answer is made from memory, without a brain, and
//! a background task waits on. A turn without a journal on disk, as in the command `ask`, has no such task: the turn
//! itself waits until the request for approval ends.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::engine::{AnswerEngine, TurnRun};
use crate::agent::budget::{self, Budget, DECLINED};
use crate::agent::tools::{ApprovalRequest, ApprovalVerdict, Caller};
use crate::config::MEMORY;
use crate::deliver;
use crate::format::approval::Approval;
use crate::sqlite::DatabaseError;
use crate::turn::turn_journal::CallRow;
use crate::turn::{Conversation, NoConversation, TurnJournal};

/// How long a turn waits for a decision, which may have been made already. After that the turn goes on without it, and
/// a background task waits: an answer from memory must not take half an hour.
const DECISION_WAIT: Duration = Duration::from_secs(1);

/// How long a turn waits, at most, until the question is shown: the turn's answer says that a person was asked.
const SHOW_WAIT: Duration = Duration::from_secs(10);

/// The sentence of an answer from memory while a person is being asked.
const QUESTION_OPEN: &str = "I asked whether to continue today; once that is approved, ask me again.";

/// The prefix under which a routine's notice of a used-up budget is recorded.
const NOTICED: &str = "told";

impl AnswerEngine {
    /// The budgets of the day.
    pub(in crate::agent) fn budgets(&self) -> Vec<Budget> {
        let workspace = &self.parts.workspace;
        match self.journal() {
            _ if !budget::are_set(&workspace.settings) => Vec::new(),
            journal if journal.is_kept() => budget::today(workspace, journal),
            // A question without a journal is counted all the same.
            _ => budget::of_vault(workspace),
        }
    }

    /// The notice that no brain is asked because a budget is used up; none if another run of a routine gave it today.
    /// The same run gives it again after a crash. Outside of routines each answer gives it.
    pub(super) fn once_a_day(&self, message: u64, why: String) -> Option<String> {
        if self.parts.routine.is_none() {
            return Some(why);
        }
        let now = self.now();
        let day = self.parts.workspace.zone.tz().to_datetime(now).date();
        // The sentence about an open question belongs to this run alone.
        let sentence = why.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let name = format!("{NOTICED} {day} {sentence}: ");
        let own = format!("{name}{message}");
        let since = now.saturating_sub(SignedDuration::from_hours(48)).unwrap_or(now);
        let noticed = self.journal().budget_events_since(since).unwrap_or_default();
        if noticed.iter().any(|noticed| noticed.starts_with(&name) && *noticed != own) {
            return None;
        }
        self.log_failure(self.journal().record_budget_event(&own, now));
        Some(why)
    }

    /// Records a decision so that the day's next question finds it, also if the turn's journal isn't on disk.
    fn keep_decision(&self, budget: &Budget, verdict: ApprovalVerdict) -> Result<(), DatabaseError> {
        let (name, now) = (budget.name(), self.now());
        if self.journal().is_kept() {
            return remember(self.journal(), &name, verdict, now);
        }
        remember(&TurnJournal::open(&self.parts.workspace.dirs.state)?, &name, verdict, now)
    }

    /// Waits for the decision in a background task, so that a "yes" counts as soon as it is given.
    fn wait_for_decision(&self, budget: &Budget) {
        let (approvals, journal) = (Arc::clone(&self.parts.approvals), Arc::clone(&self.parts.journal));
        let (clock, name) = (Arc::clone(&self.parts.workspace.clock), budget.name());
        let (caller, subject) = (caller(budget), budget.approval_subject());
        tokio::spawn(async move {
            let (place, stop) = (&NoConversation, &CancellationToken::new());
            let asked = ApprovalRequest { subject: &subject, caller: &caller, place, stop };
            let verdict = approvals.ask(asked).await;
            let kept = verdict.map(|verdict| remember(&journal, &name, verdict, clock.now()));
            if let Ok(Err(error)) = kept {
                tracing::warn!("{error}");
            }
        });
    }

    /// Counts the cost of a turn without a journal on disk, if a budget is set.
    pub(super) fn count_unlogged_calls(&self, calls: &[CallRow]) {
        let workspace = &self.parts.workspace;
        if self.journal().is_kept()
            || self.parts.counted
            || calls.is_empty()
            || !budget::are_set(&workspace.settings)
        {
            return;
        }
        match TurnJournal::open(&workspace.dirs.state) {
            Ok(journal) => {
                for call in calls {
                    self.log_failure(journal.record_background_call(0, "ask", call, self.now()));
                }
            }
            Err(error) => tracing::warn!("not counted: {error}"),
        }
    }
}

impl TurnRun<'_> {
    /// The brains of the chain that are within their budgets; if none is, the reason in words. The others are named in
    /// `skipped`.
    pub(super) async fn apply_budgets(&mut self, chain: Vec<String>) -> Result<Vec<String>, String> {
        let budgets = self.budgets();
        let used_up = |budget: &&Budget| budget.is_used_up();
        if let Some(day) = budgets.iter().filter(|budget| budget.brain.is_none()).find(used_up) {
            self.ask_to_exceed(day).await?;
        }
        let (mut allowed, mut skipped) = (Vec::new(), Vec::new());
        for name in chain {
            match budgets.iter().filter(used_up).find(|budget| budget.brain.as_ref() == Some(&name)) {
                None => allowed.push(name),
                Some(budget) => skipped.push((name, budget)),
            }
        }
        if let (true, Some((name, budget))) = (allowed.is_empty(), skipped.first()) {
            self.ask_to_exceed(budget).await?;
            return Ok(vec![name.clone()]);
        }
        let words = |(name, budget): &(String, &Budget)| format!("{name} ({} is used up)", budget.words());
        self.skipped = skipped.iter().map(words).collect();
        Ok(allowed)
    }

    /// Asks a person whether a budget may be exceeded today; the error says that it is used up. The question is
    /// the same all day and its decision is reusable, so that a decision that came while the program was down, or was
    /// not recorded here before a crash, is found by the next turn.
    async fn ask_to_exceed(&self, budget: &Budget) -> Result<(), String> {
        if budget.declined {
            return Err(budget.sentence());
        }
        let (caller, subject) = (caller(budget), budget.approval_subject());
        // The question is the day's, not the turn's: stopping the turn is no answer to it.
        let never = CancellationToken::new();
        let place = BudgetConversation { place: self.conversation, shown: Notify::new() };
        let asked = ApprovalRequest { subject: &subject, caller: &caller, place: &place, stop: &never };
        let asking = self.parts.approvals.ask(asked);
        let moment = async {
            let _ = tokio::time::timeout(SHOW_WAIT, place.shown.notified()).await;
            tokio::time::sleep(DECISION_WAIT).await;
        };
        // At a terminal a person is waited for; without one, `Waits` comes at once.
        let decision = if self.journal().is_kept() {
            tokio::select! {
                biased;
                decision = asking => Some(decision),
                () = moment => None,
            }
        } else {
            Some(asking.await)
        };
        match decision {
            Some(Ok(ApprovalVerdict::Waits)) => Err(format!("{} {QUESTION_OPEN}", budget.sentence())),
            Some(Ok(verdict)) => {
                self.log_failure(self.keep_decision(budget, verdict));
                if verdict == ApprovalVerdict::Yes { Ok(()) } else { Err(budget.sentence()) }
            }
            Some(Err(problem)) => {
                tracing::warn!("no person can be asked about a budget: {problem}");
                Err(budget.sentence())
            }
            None => {
                self.wait_for_decision(budget);
                Err(format!("{} {QUESTION_OPEN}", budget.sentence()))
            }
        }
    }
}

/// The conversation of a turn, for a question alone: it signals that the question is shown there.
struct BudgetConversation<'a> {
    place: &'a dyn Conversation,
    shown: Notify,
}

#[async_trait]
impl Conversation for BudgetConversation<'_> {
    async fn ask_approval(&self, request: &Approval) {
        self.place.ask_approval(request).await;
        self.shown.notify_one();
    }

    async fn approval_over(&self, request: &Approval, words: &str) {
        self.place.approval_over(request, words).await;
    }
}

/// The caller of a budget's question: the same all day.
fn caller(budget: &Budget) -> Caller {
    let turn = format!("budget-{}", budget.name().replace(' ', "-"));
    Caller { turn, number: 0, brain: MEMORY.to_owned(), tainted: false }
}

/// Records a decision about a budget.
fn remember(
    journal: &TurnJournal,
    budget: &str,
    verdict: ApprovalVerdict,
    now: Timestamp,
) -> Result<(), DatabaseError> {
    match verdict {
        ApprovalVerdict::Yes => journal.record_budget_event(budget, now),
        ApprovalVerdict::No => journal.record_budget_event(&format!("{DECLINED}{budget}"), now),
        _ => Ok(()),
    }
}

/// Whether a brain is within these budgets.
pub(in crate::agent) fn may_spend(budgets: &[Budget], brain: &str) -> bool {
    let concerns = |budget: &&Budget| budget.brain.as_deref().is_none_or(|name| name == brain);
    !budgets.iter().filter(concerns).any(Budget::is_used_up)
}

/// Queues the notices that are due.
pub(in crate::agent) fn queue_notices(workspace: &crate::workspace::Workspace, budgets: &[Budget]) {
    let mut near = budgets.iter().filter(|budget| budget.is_near()).peekable();
    if near.peek().is_none() {
        return;
    }
    let journal = match workspace.journal() {
        Ok(journal) => journal,
        Err(error) => return tracing::warn!("{error}"),
    };
    for budget in near {
        let name = format!("budget {}", budget.name());
        let noticed = deliver::notice_once(&journal, &name, &budget.notice(), workspace.clock.now());
        if let Err(error) = noticed {
            tracing::warn!("{error}");
        }
    }
}
