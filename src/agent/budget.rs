//! Computes the day's budgets (the assistant's, and one for each brain) and how much of each is used. Also adds up the
//! cost of all answers in the vault's logs (`usage`).
//!
//! The turn journal holds the cost of every call of this machine; no other machine's calls are counted. From 80 % of a
//! limit a notice is queued, once a day. At 100 % a brain gets no more calls that day. If no brain is left, or the
//! assistant's own limit is reached, a person is asked whether to go on (`answer::budget_check`). The decision holds
//! until midnight.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;

use super::tools::ApprovalSubject;
use crate::brain::Usage;
use crate::config::Settings;
use crate::format::capitalised;
use crate::reminders::rfc3339;
use crate::turn::turn_journal::TurnJournal;
use crate::turn::usage::{self, UsageGrouping, UsageRow, UsageSum};
use crate::vault::VaultError;
use crate::workspace::Workspace;

/// From this share on a notice says how much is used.
const NOTICE_SHARE: f64 = 0.8;

/// The prefix of the name of a budget that a person declined to lift.
pub(super) const DECLINED: &str = "declined ";

/// One limit of a day, and how much of it is used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Budget {
    /// The brain; none for the assistant as a whole.
    pub brain: Option<String>,
    /// The day, in the vault's zone.
    pub day: String,
    /// Tokens used, read and written together.
    pub tokens: u64,
    /// The most of them.
    pub most_tokens: Option<u64>,
    /// USD used, as far as prices are set.
    pub usd: f64,
    /// The most of them.
    pub most_usd: Option<f64>,
    /// How much of it is used: 1 is all.
    pub share: f64,
    /// A person allowed exceeding it today.
    pub lifted: bool,
    /// A person did not allow it.
    pub declined: bool,
}

impl Budget {
    /// Whether nothing may be spent any more.
    pub fn is_used_up(&self) -> bool {
        self.share >= 1.0 && !self.lifted
    }

    /// Whether it is time to say how much is used.
    pub fn is_near(&self) -> bool {
        self.share >= NOTICE_SHARE
    }

    /// Its name, with its day.
    pub fn name(&self) -> String {
        let whose = self.brain.as_ref().map_or("day".to_owned(), |name| format!("brain {name}"));
        format!("{} {whose}", self.day)
    }

    /// `today's budget of 1000 tokens`, and for which brain: the bound that is nearer.
    pub fn words(&self) -> String {
        let whose = self.brain.as_ref().map_or(String::new(), |name| format!(" for {name}"));
        format!("today's budget of {}{whose}", self.bound())
    }

    /// How much is used, of what, in one line.
    pub fn state(&self) -> String {
        let used = if self.is_by_tokens() { self.tokens.to_string() } else { format!("{:.4}", self.usd) };
        let lifted = if self.lifted { "; lifted for today" } else { "" };
        format!("{used} of {} ({:.0} %){lifted}", self.bound(), (self.share * 100.0).floor())
    }

    /// The sentence that it is used up.
    pub fn sentence(&self) -> String {
        format!("{} is used up.", capitalised(&self.words()))
    }

    /// The notice from 80 % on.
    pub fn notice(&self) -> String {
        if self.share >= 1.0 {
            return self.sentence();
        }
        format!("{:.0} % of {} is used.", (self.share * 100.0).floor(), self.words())
    }

    /// The question for a person.
    pub fn approval_subject(&self) -> ApprovalSubject {
        ApprovalSubject {
            run: format!("go on beyond {} on {}", self.words(), self.day),
            why: format!("{} Go on for today?", self.sentence()),
            reusable: true,
            ..ApprovalSubject::default()
        }
    }

    fn is_by_tokens(&self) -> bool {
        token_share(self.tokens, self.most_tokens) >= usd_share(self.usd, self.most_usd)
            && self.most_tokens.is_some()
    }

    fn bound(&self) -> String {
        match (self.most_tokens, self.most_usd) {
            (Some(tokens), _) if self.is_by_tokens() => format!("{tokens} tokens"),
            (_, Some(usd)) => format!("{usd} USD"),
            (tokens, None) => format!("{} tokens", tokens.unwrap_or_default()),
        }
    }
}

/// All limits of the settings, the assistant's first. A cost that a program states counts instead of its price.
pub fn budgets(
    settings: &Settings,
    spent: &[(String, Usage)],
    costs: &[(String, f64)],
    lifted: &BTreeSet<String>,
    day: &str,
) -> Vec<Budget> {
    let price = |brain: &str, usage: &Usage| {
        let brain = settings.brains.iter().find(|known| known.name == brain);
        brain.and_then(|brain| brain.price).map_or(0.0, |price| price.of(usage))
    };
    let one = |brain: Option<&str>, most_tokens: Option<u64>, most_usd: Option<f64>| {
        if most_tokens.is_none() && most_usd.is_none() {
            return None;
        }
        let calls = || spent.iter().filter(|(name, _)| brain.is_none_or(|brain| brain == name));
        let tokens = calls().fold(0_u64, |sum, (_, usage)| sum.saturating_add(usage.input + usage.output));
        let states_cost = |name: &str| costs.iter().any(|(known, _)| known == name);
        let computed = calls().filter(|(name, _)| !states_cost(name)).map(|(name, usage)| price(name, usage));
        let reported = costs.iter().filter(|(name, _)| brain.is_none_or(|brain| brain == name));
        let usd = computed.chain(reported.map(|(_, usd)| *usd)).sum();
        let mut budget = Budget {
            brain: brain.map(str::to_owned),
            day: day.to_owned(),
            tokens,
            most_tokens,
            usd,
            most_usd,
            share: token_share(tokens, most_tokens).max(usd_share(usd, most_usd)),
            lifted: false,
            declined: false,
        };
        budget.lifted = lifted.contains(&budget.name());
        budget.declined = lifted.contains(&format!("{DECLINED}{}", budget.name()));
        Some(budget)
    };
    let whole = one(None, settings.assistant.day_tokens, settings.assistant.day_usd);
    let each = settings.brains.iter().map(|brain| one(Some(&brain.name), brain.day_tokens, brain.day_usd));
    whole.into_iter().chain(each.flatten()).collect()
}

/// Today's budgets, from this journal. If it can't be read nothing counts as used: the question is answered.
pub fn today(workspace: &Workspace, journal: &TurnJournal) -> Vec<Budget> {
    let Some(midnight) = midnight(workspace, 0) else { return Vec::new() };
    let day = workspace.clock.now().to_zoned(workspace.zone.tz().clone()).date().to_string();
    let read = |error: &crate::sqlite::DatabaseError| tracing::warn!("{error}");
    let spent = journal.spent_since(midnight).inspect_err(read).unwrap_or_default();
    let lifted = journal.budget_events_since(midnight).inspect_err(read).unwrap_or_default();
    let costs = journal.costs_since(midnight).inspect_err(read).unwrap_or_default();
    budgets(&workspace.settings, &spent, &costs, &lifted, &day)
}

/// Today's budgets, from the vault's own journal; none if the settings have no limit.
pub fn of_vault(workspace: &Workspace) -> Vec<Budget> {
    if !are_set(&workspace.settings) {
        return Vec::new();
    }
    match TurnJournal::open_if_there(&workspace.dirs.state) {
        Ok(Some(journal)) => return today(workspace, &journal),
        Ok(None) => {}
        Err(error) => tracing::warn!("{error}"),
    }
    budgets(&workspace.settings, &[], &[], &BTreeSet::new(), "")
}

/// Whether the settings limit a day at all.
pub fn are_set(settings: &Settings) -> bool {
    let whole = &settings.assistant;
    whole.day_tokens.is_some()
        || whole.day_usd.is_some()
        || settings.brains.iter().any(|brain| brain.day_tokens.is_some() || brain.day_usd.is_some())
}

/// The start of today, or of the day a number of days later, in the vault's zone.
pub fn midnight(workspace: &Workspace, days: i64) -> Option<Timestamp> {
    let today = workspace.clock.now().to_zoned(workspace.zone.tz().clone()).start_of_day().ok()?;
    let day = today.checked_add(jiff::Span::new().days(days)).ok()?;
    Some(day.start_of_day().ok()?.timestamp())
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn token_share(used: u64, most: Option<u64>) -> f64 {
    most.map_or(0.0, |most| used as f64 / most.max(1) as f64)
}

fn usd_share(used: f64, most: Option<f64>) -> f64 {
    most.filter(|most| *most > 0.0).map_or(0.0, |most| used / most)
}

/// Calls, tokens and cost, added up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UsageReport {
    /// The first counted answer, or the requested start; none if there is none.
    pub from: Option<String>,
    /// The present, in the vault's zone.
    pub to: String,
    /// All of it.
    pub total: UsageSum,
    /// By what was asked for.
    pub by: Vec<UsageRow>,
    /// Today's budgets with their use.
    pub budgets: Vec<Budget>,
    /// The logs that couldn't be read; the others are counted.
    #[serde(skip)]
    pub unread: Vec<String>,
}

/// Adds up all answers of the logs since an instant.
///
/// # Errors
/// The logs can't be listed.
pub fn usage(
    workspace: &Workspace,
    since: Option<Timestamp>,
    by: UsageGrouping,
) -> Result<UsageReport, VaultError> {
    let logs = workspace.vault.notes_below(workspace.note(&workspace.settings.paths.logs))?;
    let is_meant = |at: Timestamp| since.is_none_or(|since| at >= since);
    let (mut answers, mut unread) = (Vec::new(), Vec::new());
    for entry in logs {
        match workspace.vault.read(&entry.path) {
            Ok(bytes) => {
                answers.extend(usage::answers(&bytes).into_iter().filter(|answer| is_meant(answer.at)));
            }
            Err(error) => unread.push(error.to_string()),
        }
    }
    let zone = workspace.zone.tz();
    let (total, rows) = usage::add_up(&answers, by, zone);
    let from = since.or_else(|| answers.iter().map(|answer| answer.at).min());
    Ok(UsageReport {
        from: from.map(|from| rfc3339(from, zone)),
        to: rfc3339(workspace.clock.now(), zone),
        total,
        by: rows,
        budgets: of_vault(workspace),
        unread,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings::parse(
            "[assistant]\nday_tokens = 1000\nday_usd = 0.5\n[[brain]]\nname = \"a\"\nkind = \"chat\"\nmodel = \"m\"\n\
             day_usd = 0.01\nprice = { input = 10.0, output = 20.0 }\n[[brain]]\nname = \"b\"\nkind = \"chat\"\n\
             model = \"m\"\nday_tokens = 300\n[[brain]]\nname = \"c\"\nkind = \"chat\"\nmodel = \"m\"\n",
        )
        .unwrap()
    }

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    #[test]
    fn each_bound_says_how_much_of_it_is_used() {
        let spent =
            [("a".to_owned(), usage(500, 0)), ("b".into(), usage(200, 100)), ("c".into(), usage(10, 0))];
        let lifted = BTreeSet::from(["2026-12-01 brain b".to_owned()]);
        let all = budgets(&settings(), &spent, &[], &lifted, "2026-12-01");
        let states_cost: Vec<String> = all
            .iter()
            .map(|budget| format!("{} {} {}", budget.name(), budget.notice(), budget.state()))
            .collect();
        insta::assert_snapshot!(states_cost.join("\n"), @"
        2026-12-01 day 81 % of today's budget of 1000 tokens is used. 810 of 1000 tokens (81 %)
        2026-12-01 brain a 50 % of today's budget of 0.01 USD for a is used. 0.0050 of 0.01 USD (50 %)
        2026-12-01 brain b Today's budget of 300 tokens for b is used up. 300 of 300 tokens (100 %); lifted for today
        ");
        assert_eq!(all.iter().map(Budget::is_near).collect::<Vec<_>>(), [true, false, true]);
        assert!(all.iter().all(|budget| !budget.is_used_up()), "b's was lifted");
        let all = budgets(&settings(), &spent, &[], &BTreeSet::new(), "2026-12-01");
        assert!(all[2].is_used_up());
        assert_eq!(
            all[2].approval_subject().run,
            "go on beyond today's budget of 300 tokens for b on 2026-12-01"
        );
    }

    #[test]
    fn no_bound_is_no_budget() {
        assert_eq!(budgets(&Settings::default(), &[], &[], &BTreeSet::new(), "d"), []);
        assert!(!are_set(&Settings::default()) && are_set(&settings()));
    }
}
