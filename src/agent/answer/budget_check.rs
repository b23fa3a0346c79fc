//! What a turn does about the day's budgets: who may still be asked, what a person is asked, and when they are told.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::engine::{Engine, Run};
use crate::agent::approval_request::ApprovalVerdict;
use crate::agent::budget::{self, Budget, DECLINED};
use crate::agent::tools::Caller;
use crate::config::MEMORY;
use crate::deliver;
use crate::turn::journal::CallRow;
use crate::turn::{ApprovalRequest, Conversation, NoConversation, TurnJournal, TurnJournalError, TurnNote};

/// For so long a turn waits for a word that may be there already; then it goes on, as if it had crashed where it
/// waits, and somebody else waits for the word. Nobody waits half an hour for an answer from memory.
const MOMENT: Duration = Duration::from_secs(1);

/// For so long, at most, a turn waits until the question is shown: its answer says that it was asked.
const SHOWING: Duration = Duration::from_secs(10);

/// What a question is told where its answer has to come from memory, since a person is asked first.
const ASKED: &str = "I asked whether to go on for today; after a yes, ask me again.";

/// The name under which it is kept that a routine's run said a budget's end.
const TOLD: &str = "told";

/// Who may be asked, and who is passed over.
#[derive(Debug, Default)]
pub(super) struct BudgetedChain {
    /// The chain without those whose own budget is used up.
    pub chain: Vec<String>,
    /// These, with the reason, in words.
    pub passed: Vec<String>,
}

impl Engine {
    /// The budgets of the day, with what is used of them.
    pub(in crate::agent) fn budgets(&self) -> Vec<Budget> {
        let workspace = &self.parts.workspace;
        match self.journal() {
            _ if !budget::are_set(&workspace.settings) => Vec::new(),
            journal if journal.is_kept() => budget::today(workspace, journal),
            // A question that leaves no trace is counted all the same.
            _ => budget::of_vault(workspace),
        }
    }

    /// Who of the chain may be asked by what was spent today; where nobody may, why, in words.
    pub(super) async fn within_budgets(
        &self,
        run: &Run<'_>,
        chain: Vec<String>,
    ) -> Result<BudgetedChain, String> {
        let budgets = self.budgets();
        let used_up = |budget: &&Budget| budget.is_used_up();
        if let Some(day) = budgets.iter().filter(|budget| budget.brain.is_none()).find(used_up) {
            self.may_go_on(run, day).await?;
        }
        let own =
            |name: &String| budgets.iter().filter(used_up).find(|budget| budget.brain.as_ref() == Some(name));
        let mut allowed = BudgetedChain::default();
        let mut first = None;
        for name in chain {
            match own(&name) {
                None => allowed.chain.push(name),
                Some(budget) => {
                    allowed.passed.push(format!("{name} ({} is used up)", budget.words()));
                    first = first.or(Some((name, budget)));
                }
            }
        }
        if let (true, Some((name, budget))) = (allowed.chain.is_empty(), first) {
            self.may_go_on(run, budget).await?;
            return Ok(BudgetedChain { chain: vec![name], passed: Vec::new() });
        }
        Ok(allowed)
    }

    /// Why no brain is asked, where a budget is used up; none where another run of a routine said so on this day. The same
    /// run says it again after a crash. Whoever asks a question is told with each answer.
    pub(super) fn once_a_day(&self, message: u64, why: String) -> Option<String> {
        if self.routine.is_none() {
            return Some(why);
        }
        let now = self.now();
        let day = self.parts.workspace.zone.tz().to_datetime(now).date();
        // What is added on a question to a person is of this run alone.
        let sentence = why.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let name = format!("{TOLD} {day} {sentence}: ");
        let own = format!("{name}{message}");
        let since = now.saturating_sub(SignedDuration::from_hours(48)).unwrap_or(now);
        let told = self.journal().lifted_since(since).unwrap_or_default();
        if told.iter().any(|told| told.starts_with(&name) && *told != own) {
            return None;
        }
        self.keep(self.journal().lift(&own, now));
        Some(why)
    }

    /// Asks a person whether a budget may be exceeded today; the error says that it is used up. The question is the
    /// same one all day and its word lasts, so one that came while the program was away, or wasn't kept here before a
    /// crash, is found by the next turn.
    async fn may_go_on(&self, run: &Run<'_>, budget: &Budget) -> Result<(), String> {
        if budget.declined {
            return Err(budget.sentence());
        }
        let (caller, wanted) = (caller(budget), budget.question());
        // The question is the day's, not the turn's: whoever stops the turn has said nothing about it.
        let never = CancellationToken::new();
        let place = BudgetConversation { place: run.place, shown: Notify::new() };
        let asking = self.parts.approvals.ask(&wanted, &caller, &place, &never);
        let moment = async {
            let _ = tokio::time::timeout(SHOWING, place.shown.notified()).await;
            tokio::time::sleep(MOMENT).await;
        };
        // At a terminal somebody sits there and is waited for; where nobody does, `Waits` is said at once.
        let said = if self.journal().is_kept() {
            tokio::select! {
                biased;
                said = asking => Some(said),
                () = moment => None,
            }
        } else {
            Some(asking.await)
        };
        match said {
            Some(Ok(ApprovalVerdict::Waits)) => Err(format!("{} {ASKED}", budget.sentence())),
            Some(Ok(verdict)) => {
                self.keep(self.heard(budget, verdict));
                if verdict == ApprovalVerdict::Yes { Ok(()) } else { Err(budget.sentence()) }
            }
            Some(Err(problem)) => {
                tracing::warn!("nobody can be asked about a budget: {problem}");
                Err(budget.sentence())
            }
            None => {
                self.wait_for_the_word(budget);
                Err(format!("{} {ASKED}", budget.sentence()))
            }
        }
    }

    /// Keeps a person's word where the day's next question finds it, also one that was said to a turn without a trace.
    fn heard(&self, budget: &Budget, verdict: ApprovalVerdict) -> Result<(), TurnJournalError> {
        let (name, now) = (budget.name(), self.now());
        if self.journal().is_kept() {
            return remember(self.journal(), &name, verdict, now);
        }
        remember(&TurnJournal::open(&self.parts.workspace.dirs.state)?, &name, verdict, now)
    }

    /// Goes on waiting for the word beside everything else, so that a "yes" counts when it is said.
    fn wait_for_the_word(&self, budget: &Budget) {
        let name = budget.name();
        if !lock(&self.waiting).insert(name.clone()) {
            return;
        }
        let (approvals, journal) = (Arc::clone(&self.parts.approvals), Arc::clone(&self.parts.journal));
        let (clock, waiting) = (Arc::clone(&self.parts.workspace.clock), Arc::clone(&self.waiting));
        let (caller, wanted) = (caller(budget), budget.question());
        tokio::spawn(async move {
            let verdict = approvals.ask(&wanted, &caller, &NoConversation, &CancellationToken::new()).await;
            let kept = verdict.map(|verdict| remember(&journal, &name, verdict, clock.now()));
            if let Ok(Err(error)) = kept {
                tracing::warn!("{error}");
            }
            lock(&waiting).remove(&name);
        });
    }

    /// Whether a brain may be asked for something that isn't an answer: nobody is asked about that.
    pub(in crate::agent) fn may_spend(&self, brain: &str) -> bool {
        may_spend(&self.budgets(), brain)
    }

    /// Counts what a turn without a trace spent, where a budget is set.
    pub(super) fn count_apart(&self, calls: &[CallRow]) {
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
                    self.keep(journal.called_beside(0, "ask", call, self.now()));
                }
            }
            Err(error) => tracing::warn!("not counted: {error}"),
        }
    }

    /// Says, once a day for each budget, that most of it is used.
    pub(super) fn tell_budgets(&self) {
        tell(&self.parts.workspace, &self.budgets());
    }
}

/// The place of a turn, which also tells that a question is shown there.
struct BudgetConversation<'a> {
    place: &'a dyn Conversation,
    shown: Notify,
}

#[async_trait]
impl Conversation for BudgetConversation<'_> {
    fn note(&self, note: TurnNote) {
        self.place.note(note);
    }

    fn progress(&self, words: &str) {
        self.place.progress(words);
    }

    async fn fetch(&self, link: &str, most: u64) -> Result<Vec<u8>, String> {
        self.place.fetch(link, most).await
    }

    async fn ask_approval(&self, request: &ApprovalRequest) {
        self.place.ask_approval(request).await;
        self.shown.notify_one();
    }

    async fn approval_over(&self, request: &ApprovalRequest, words: &str) {
        self.place.approval_over(request, words).await;
    }

    fn said(&self, text: &str) {
        self.place.said(text);
    }
}

/// Who asks for a budget: the same all day.
fn caller(budget: &Budget) -> Caller {
    let turn = format!("budget-{}", budget.name().replace(' ', "-"));
    Caller { turn, number: 0, brain: MEMORY.to_owned(), tainted: false }
}

/// Keeps what a person said about a budget.
fn remember(
    journal: &TurnJournal,
    budget: &str,
    verdict: ApprovalVerdict,
    now: Timestamp,
) -> Result<(), TurnJournalError> {
    match verdict {
        ApprovalVerdict::Yes => journal.lift(budget, now),
        ApprovalVerdict::No => journal.lift(&format!("{DECLINED}{budget}"), now),
        _ => Ok(()),
    }
}

fn lock(waiting: &Mutex<HashSet<String>>) -> MutexGuard<'_, HashSet<String>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether these budgets let a brain be asked.
pub(in crate::agent) fn may_spend(budgets: &[Budget], brain: &str) -> bool {
    let concerns = |budget: &&Budget| budget.brain.as_deref().is_none_or(|name| name == brain);
    !budgets.iter().filter(concerns).any(Budget::is_used_up)
}

/// Queues the notices that are due.
pub(in crate::agent) fn tell(workspace: &crate::workspace::Workspace, budgets: &[Budget]) {
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
        let told = deliver::notice_once(&journal, &name, &budget.notice(), workspace.clock.now());
        if let Err(error) = told {
            tracing::warn!("{error}");
        }
    }
}
