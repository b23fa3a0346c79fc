//! Lists the configured brains with their health and budgets, for `brain list`, `status`, `doctor` and the page.
//!
//! Makes no call.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::brain_clients::{self, PreparedBrain};
use super::budget::{self, Budget};
use crate::brain::FailureClass;
use crate::brain::failover::{self, Availability};
use crate::brain::health::{BrainHealth, HealthStore};
use crate::config::address_problem;
use crate::deliver::instants::ShownInstant;
use crate::workspace::Workspace;

/// One brain of `brain list --json`.
#[derive(Debug, Clone, Serialize)]
pub struct ListedBrain {
    /// Its name.
    pub name: String,
    /// Its protocol.
    pub kind: &'static str,
    /// Its model.
    pub model: String,
    /// Its server.
    pub url: String,
    /// Whether it would be asked now.
    pub ok: bool,
    /// The end of its cooldown.
    pub cooldown_until: Option<ShownInstant>,
    /// Why it is in cooldown.
    pub class: Option<FailureClass>,
    /// Its own budget of the day, if it has one.
    pub budget: Option<Budget>,
    /// When it answered last.
    pub last_ok: Option<ShownInstant>,
    /// When it failed last.
    pub last_failed: Option<ShownInstant>,
    /// Its error when it failed last, or the fault of its key.
    pub last_error: Option<String>,
}

/// All brains of the settings with their health. Makes no call.
pub fn listed(workspace: &Workspace) -> Vec<ListedBrain> {
    let health = HealthStore::new(&workspace.dirs.state).load();
    let (now, zone) = (workspace.clock.now(), workspace.zone.tz());
    let brains = brain_clients::prepare(&workspace.settings, workspace.vault.root());
    let budgets = budget::of_vault(workspace);
    let midnight = budget::midnight(workspace, 1).map(|at| ShownInstant::new(at, zone));
    let one = |brain: &PreparedBrain| {
        let mut listed = ListedBrain::of(brain, &health, now, zone);
        let own = budgets.iter().find(|budget| budget.brain.as_deref() == Some(brain.name()));
        if own.is_some_and(Budget::is_used_up) && listed.class.is_none() {
            listed.ok = false;
            listed.cooldown_until.clone_from(&midnight);
        }
        listed.budget = own.cloned();
        listed
    };
    brains.iter().map(one).collect()
}

impl ListedBrain {
    /// One brain with its health, without its budget.
    pub fn of(brain: &PreparedBrain, health: &BrainHealth, now: Timestamp, zone: &TimeZone) -> Self {
        let seen = health.seen.get(brain.name());
        let (class, until) = match failover::availability(health, &brain.id, now) {
            _ if brain.lacks_key() => (Some(FailureClass::Auth), None),
            Availability::Free => (None, None),
            Availability::Until(class, until) => (Some(class), Some(until)),
            Availability::Off(class) => (Some(class), None),
        };
        Self {
            name: brain.name().to_owned(),
            kind: brain.settings.kind.as_str(),
            model: brain.settings.model.clone(),
            url: without_secrets(&brain.url),
            ok: class.is_none(),
            cooldown_until: until.map(|until| ShownInstant::new(until, zone)),
            class,
            budget: None,
            last_ok: seen.and_then(|seen| seen.last_ok).map(|at| ShownInstant::new(at, zone)),
            last_failed: seen.and_then(|seen| seen.failed).map(|at| ShownInstant::new(at, zone)),
            last_error: brain.problem.clone().or_else(|| seen.and_then(|seen| seen.last_error.clone())),
        }
    }

    /// Whether its last call failed.
    pub fn fails(&self) -> bool {
        let at = |when: &Option<ShownInstant>| when.as_ref().map(ShownInstant::at);
        at(&self.last_failed) > at(&self.last_ok)
    }

    /// How it is now, in a few words.
    pub fn state(&self, now: Timestamp) -> String {
        let Some(class) = self.class else {
            if let (Some(budget), Some(until)) = (&self.budget, &self.cooldown_until) {
                return format!("off until {}: {} is used up", until.for_people(now), budget.words());
            }
            let error = self.last_error.as_deref().unwrap_or("no reason was given");
            return match (&self.last_ok, &self.last_failed) {
                (None, Some(at)) => {
                    format!("fails: no answer yet, last tried {}: {error}", at.for_people(now))
                }
                (Some(_), Some(at)) if self.fails() => format!("fails since {}: {error}", at.for_people(now)),
                (Some(at), _) => format!("ok, last answer {}", at.for_people(now)),
                (None, None) => "not asked yet".to_owned(),
            };
        };
        let until = match (&self.cooldown_until, class) {
            (Some(until), _) => format!("cooldown until {}", until.for_people(now)),
            (None, FailureClass::UnknownModel) => "off until its settings change".to_owned(),
            (None, _) => "off until its key or its settings change".to_owned(),
        };
        let error = self.last_error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        format!("{until} ({}){error}", class.name())
    }
}

/// An address without what `doctor` warns of: a name and password, or a key.
fn without_secrets(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(mut parsed) if address_problem(url).is_some() => {
            let _ = parsed.set_username("").and_then(|()| parsed.set_password(None));
            parsed.set_query(None);
            parsed.set_fragment(None);
            parsed.into()
        }
        _ => url.to_owned(),
    }
}
