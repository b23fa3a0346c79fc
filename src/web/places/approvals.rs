//! Serves `/approvals`: the assistant's questions for permission, which a person answers with once, always or no.

use super::prelude::*;
use crate::agent::approvals::{ApprovalDecision, digest_of};
use crate::agent::{VaultApprovals, Waiter};
use crate::format::approval::{self, Approval, ApprovalLine, CheckboxMark, shown};
use crate::reminders::rfc3339;
use crate::vault::Actor;

/// A question of the assistant's; the first five as `status` shows them.
#[derive(Debug, Serialize)]
pub(super) struct ApprovalQuestion {
    id: String,
    line: usize,
    until: String,
    brain: String,
    run: String,
    why: Option<String>,
    always: Option<String>,
    turn: Option<String>,
    /// The digest that distinguishes its line from a changed one.
    digest: String,
    /// `waits`, or how it ended.
    state: String,
    #[serde(skip)]
    approval: Approval,
}

impl ApprovalQuestion {
    pub(super) fn waits(&self) -> bool {
        self.state == "waits"
    }
}

/// All questions of the note, waiting ones first.
pub(super) fn approval_questions(visit: &Visit<'_>) -> Result<Vec<ApprovalQuestion>> {
    let workspace = visit.workspace;
    let path = workspace.note(&workspace.settings.paths.approvals);
    let bytes = workspace.vault.read_or_empty(&path)?;
    let of = |ApprovalLine { line, approval, .. }: ApprovalLine| ApprovalQuestion {
        id: approval.id.clone(),
        line,
        until: rfc3339(approval.until, workspace.zone.tz()),
        brain: approval.brain.clone(),
        run: approval.run.clone(),
        why: approval.why.clone(),
        always: approval.always.clone(),
        turn: approval.turn.clone(),
        digest: digest_of(&approval),
        state: state(visit, &approval),
        approval,
    };
    let mut all: Vec<ApprovalQuestion> = approval::parse(&bytes).lines.into_iter().map(of).collect();
    all.sort_by_key(|one| !one.waits());
    Ok(all)
}

fn state(visit: &Visit<'_>, one: &Approval) -> String {
    match (one.state, one.mark) {
        (Some(state), _) => state.to_string(),
        (None, CheckboxMark::Ticked) => "approved".to_owned(),
        (None, CheckboxMark::Declined) => "declined".to_owned(),
        (None, CheckboxMark::Open) if one.until <= visit.now => "expired".to_owned(),
        (None, CheckboxMark::Open) => "waits".to_owned(),
    }
}

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let all = approval_questions(visit)?;
    visit.view("Approvals", &all, |all| {
        html! {
            p.soft { "Actions of the assistant that need your approval. " (visit.obsidian(&visit.workspace.settings.paths.approvals)) }
            @if all.is_empty() { (parts::empty("No requests.")) }
            @for one in all { (entry(visit, one)) }
        }
    })
}

fn entry(visit: &Visit<'_>, one: &ApprovalQuestion) -> Markup {
    let values = [("id", one.id.as_str()), ("digest", one.digest.as_str())];
    html! {
        article id=(one.id) {
            h2 { "The brain " (one.brain) " asks" @if let Some(why) = &one.why { ": " (shown(why)) } }
            pre { (shown(&one.run)) }
            @if let Some(hash) = &one.approval.hash { p.soft { "Hash of its files: " (hash) "." } }
            @if one.waits() {
                p { "Until " (visit.at(one.approval.until)) "." }
                (parts::button(visit, "/approvals", "once", &values, "Allow once"))
                @if let Some(always) = &one.always {
                    (parts::confirmed(visit, "/approvals", "always", &values, "Always allow",
                        &format!("`{}` is added to the allowed commands in the settings.", shown(always))))
                }
                (parts::button(visit, "/approvals", "no", &values, "No"))
            } @else {
                p { (parts::badge(&one.state, "")) }
            }
        }
    }
}

pub(super) fn act(visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    let word = match form.get("do") {
        "once" => ApprovalDecision::Once,
        "always" => ApprovalDecision::Always,
        "no" => ApprovalDecision::No,
        other => return Err(PageError::no_such_action(other)),
    };
    let approvals = VaultApprovals::new(visit.workspace, Waiter::Nothing);
    let answered = visit.block_on(approvals.answer(form.get("id"), form.get("digest"), word, Actor::Page));
    answered.map(|said| MadeChange::new("/approvals", format!("{said}."))).map_err(PageError::changed)
}
