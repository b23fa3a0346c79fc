//! `restore`: brings back a file, a folder, the vault, one line or one section.

use super::shared::{ago, diff_style, diff_text, note_path, open_history, scopes, vault_path};
use crate::cli::context::note_line;
use crate::cli::prelude::*;
use crate::history::{Commit, History, Interrupted, LineTarget, Rename, RestorePlan, RestoreReport};

/// Restores files, folders, the whole vault, one line or one section to an earlier state.
///
/// Without `--at`, paths go back to their state before their last change; in a folder for which `status` reports
/// missing notes, all of these are restored. A snapshot is taken first, so a restore can itself be undone. Files that
/// are newer than the point stay, and what was renamed since keeps its new name, unless `--exact`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files and folders; none means the whole vault.
    paths: Vec<String>,
    /// A snapshot's id, or a time such as `yesterday 18:00` or `2 hours ago`.
    #[arg(long, value_name = "REV|TIME")]
    at: Option<String>,
    /// Shows the difference and changes nothing.
    #[arg(long)]
    dry_run: bool,
    /// Removes files that are newer than the point, and moves back what was renamed since.
    #[arg(long)]
    exact: bool,
    /// Doesn't ask.
    #[arg(short, long)]
    yes: bool,
    /// One reminder, by its id.
    #[arg(long, value_name = "ID", conflicts_with_all = ["paths", "exact", "line"])]
    id: Option<String>,
    /// One line, by its number at that point.
    #[arg(long, value_name = "PATH:N", conflicts_with_all = ["paths", "exact"])]
    line: Option<String>,
    /// One section, by its heading, as in `Plan.md#Next steps`.
    #[arg(long, value_name = "PATH#HEADING", conflicts_with_all = ["paths", "exact", "line", "id"])]
    section: Option<String>,
    /// Fires reminders and follow-ups whose time has passed.
    #[arg(long)]
    fire_missed: bool,
    /// Fetches the history from `[history] remote`, or from this URL, and restores from there.
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    from_remote: Option<String>,
    /// Undoes a restore that was interrupted, instead of finishing it.
    #[arg(long, conflicts_with_all = ["at", "id", "line", "section", "from_remote"])]
    roll_back: bool,
}

#[derive(Debug, Serialize)]
struct RestoreDocument<'a> {
    #[serde(flatten)]
    report: &'a RestoreReport,
    newer: &'a [String],
    /// The files that have another path now.
    renamed: &'a [Rename],
    dry_run: bool,
}

/// Runs `restore`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace_or_last()?;
    let restore = Restore { context, args, history: open_history(&workspace)?, workspace: &workspace };
    if args.roll_back {
        return restore.roll_back();
    }
    if !args.dry_run
        && let Some(report) = restore.finish_pending(Interrupted::Finish)?
    {
        let done = report.restored.len() + report.deleted.len();
        context.ui.note(format!("first finished a restore that had been interrupted: {done} files"));
    }
    let remote = args.from_remote.as_deref().map(|url| restore.fetch_remote(url)).transpose()?;
    if let Some(id) = &args.id {
        let path = workspace.settings.paths.reminders.clone();
        return restore.restore_part(&path, &LineTarget::Id(id.clone()), remote);
    }
    if let Some(line) = &args.line {
        let (path, number) = note_line(line)?;
        return restore.restore_part(&vault_path(&workspace, path)?, &LineTarget::Number(number), remote);
    }
    if let Some(section) = &args.section {
        let (path, heading) = parse_section_target(section)?;
        let target = LineTarget::Section(heading.to_owned());
        return restore.restore_part(&vault_path(&workspace, path)?, &target, remote);
    }
    restore.restore_files(remote)
}

struct Restore<'a> {
    context: &'a Context,
    args: &'a Args,
    history: std::sync::Arc<History>,
    workspace: &'a Workspace,
}

impl Restore<'_> {
    /// Writes, and confirms the reminders that this brings back or changes.
    fn confirming<T>(&self, write: impl FnOnce() -> T) -> T {
        self.context.confirming(self.workspace, "restore", write)
    }

    fn finish_pending(&self, what: Interrupted) -> Result<Option<RestoreReport>> {
        Ok(self.confirming(|| self.history.finish_pending(&self.workspace.editor, what))?)
    }

    fn roll_back(&self) -> CommandResult {
        let report = self.finish_pending(Interrupted::RollBack)?;
        if report.is_none() {
            self.context.ui.note("no restore was interrupted");
        }
        self.print_report(&report.unwrap_or_default(), None)
    }

    fn fetch_remote(&self, url: &str) -> Result<Commit> {
        let remote = match (url, &self.workspace.settings.history.remote) {
            ("", Some(remote)) => remote.as_str(),
            ("", None) => {
                return Err(CommandError::usage("no remote is known")
                    .hint("name one: `vault-agent restore --from-remote URL`, or set `[history] remote`"));
            }
            (url, _) => url,
        };
        let newest = self.history.adopt_remote(remote)?;
        Ok(self.history.point(&newest.to_string())?)
    }

    fn restore_files(&self, remote: Option<Commit>) -> CommandResult {
        let mut scopes = scopes(self.workspace, &self.args.paths)?;
        let point = match (remote, &self.args.at) {
            (_, Some(at)) => self.history.point(at)?,
            (Some(point), None) => point,
            (None, None) => match self.before_loss(&scopes)? {
                Some((point, lost)) => {
                    scopes = lost;
                    point
                }
                None => self.history.before_last_change(&scopes)?.ok_or_else(|| {
                    CommandError::usage("name a snapshot or a time to restore")
                        .hint("for example `--at \"yesterday 18:00\"`")
                })?,
            },
        };
        let plan = self.history.plan_restore(&point, &scopes, self.args.exact)?;
        self.show(&point, &plan)?;
        let mut report = RestoreReport { from: point.id.to_string(), ..RestoreReport::default() };
        if self.args.dry_run || (plan.steps.is_empty() && plan.blocked.is_empty()) {
            let of = |gone: bool| {
                let steps = plan.steps.iter().filter(move |step| step.after.is_none() == gone);
                steps.map(|step| step.path.clone()).collect()
            };
            (report.restored, report.deleted) = (of(false), of(true));
            report.skipped.clone_from(&plan.blocked);
            self.context.ui.json(&document(&report, Some(&plan), self.args.dry_run));
            return Ok(Status::Fine);
        }
        if !plan.steps.is_empty() && !self.confirmed(&format!("restore {} files?", plan.steps.len())) {
            self.context.ui.note("nothing was changed");
            return Ok(Status::Problem);
        }
        let paths = &self.workspace.settings.paths;
        for step in &plan.steps {
            let fires = [&paths.reminders, &paths.commitments].contains(&&step.path);
            if let Some(after) = step.after.filter(|_| fires) {
                let now = self.workspace.vault.read_or_empty(&note_path(&step.path)?)?;
                self.record_restored_items(&step.path, &now, &self.history.content(after.id)?)?;
            }
        }
        let restore = || self.history.restore(&self.workspace.editor, &point, &scopes, self.args.exact);
        let report = self.confirming(restore)?;
        self.print_report(&report, Some(&plan))
    }

    /// The point before a mass deletion in this folder, and its missing notes; none where `status` reports no such
    /// loss.
    fn before_loss(&self, scopes: &[String]) -> Result<Option<(Commit, Vec<String>)>> {
        let [scope] = scopes else { return Ok(None) };
        let losses = crate::doctor::losses::recent(self.workspace);
        let Some(loss) = losses.into_iter().find(|loss| loss.folder == *scope) else { return Ok(None) };
        let point = match &loss.before {
            Some(before) => self.history.point(before)?,
            None => self.history.newest()?,
        };
        // Also notes that were deleted since the newest snapshot.
        let steps = self.history.plan_restore(&point, scopes, false)?.steps.into_iter();
        let lost: Vec<String> = steps.filter(|step| step.before.is_none()).map(|step| step.path).collect();
        Ok((!lost.is_empty()).then_some((point, lost)))
    }

    fn show(&self, point: &Commit, plan: &RestorePlan) -> Result<()> {
        let ui = self.context.ui;
        if ui.json {
            return Ok(());
        }
        let when = ago(point.time, self.context.clock.now());
        ui.line(format!("as of {} ({when}): {}", point.short(), point.message.subject));
        if plan.steps.is_empty() && plan.blocked.is_empty() {
            ui.line(if plan.renamed.is_empty() {
                "nothing to restore: the files are as they were then"
            } else {
                "nothing to restore: the missing files were only renamed"
            });
        }
        for Rename { from, to, .. } in plan.renamed.iter().filter(|_| !self.args.exact) {
            ui.line(format!("keep {to} (it was {from} then; `--exact` moves it back)"));
        }
        for step in &plan.steps {
            let word = match (step.before, step.after) {
                (None, _) => "add",
                (_, None) => "remove",
                _ => "change",
            };
            ui.line(format!("{word} {}", step.path));
        }
        plan.newer.iter().for_each(|path| ui.line(format!("keep {path} (newer; `--exact` removes it)")));
        plan.blocked.iter().for_each(|skip| ui.line(format!("skip {}: {}", skip.path, skip.reason)));
        // The list names everything; the differences of a whole vault would drown it.
        if self.args.dry_run || plan.steps.len() <= 20 {
            for step in &plan.steps {
                match self.history.step_diff(step) {
                    Ok(diff) => ui.styled_line(&diff_text(&diff, diff_style())),
                    Err(error) => ui.note(error.to_string()),
                }
            }
        }
        Ok(())
    }

    fn confirmed(&self, question: &str) -> bool {
        self.args.yes || !self.context.ui.can_ask() || self.context.ui.confirm(question)
    }

    fn print_report(&self, report: &RestoreReport, plan: Option<&RestorePlan>) -> CommandResult {
        let ui = self.context.ui;
        ui.json(&document(report, plan, false));
        report.restored.iter().for_each(|path| ui.line(format!("restored {path}")));
        report.deleted.iter().for_each(|path| ui.line(format!("removed {path}")));
        for skip in &report.skipped {
            ui.note(format!("not restored: `{}`: {}", skip.path, skip.reason));
        }
        if let Some(after) = report.snapshot_after.as_ref().filter(|_| report.snapshot_before.is_some()) {
            let short: String = after.chars().take(10).collect();
            ui.note(format!("to undo this: `vault-agent undo {short}`"));
        }
        Ok(Status::of(report.skipped.is_empty()))
    }

    fn restore_part(&self, path: &str, target: &LineTarget, remote: Option<Commit>) -> CommandResult {
        let point = match &self.args.at {
            Some(at) => Some(self.history.point(at)?),
            None => remote,
        };
        let plan = self.history.plan_part(&note_path(path)?, target, point)?;
        let mut report = RestoreReport { from: plan.point.id.to_string(), ..RestoreReport::default() };
        if plan.is_unchanged() {
            let what = if matches!(target, LineTarget::Section(_)) { "section" } else { "line" };
            let document = document(&report, None, self.args.dry_run);
            return self.context.answer(&document, format!("nothing to restore: the {what} is there"));
        }
        let diff = diff_text(&plan.diff(), diff_style());
        if self.args.dry_run {
            report.restored.push(path.to_owned());
            self.context.ui.json(&document(&report, None, true));
            self.context.ui.styled_line(&diff);
            return Ok(Status::Fine);
        }
        self.context.ui.styled_line(&diff);
        if !self.confirmed("restore this?") {
            self.context.ui.note("nothing was changed");
            return Ok(Status::Problem);
        }
        self.record_restored_items(path, &plan.now, &plan.after)?;
        let report = self.confirming(|| self.history.restore_part(&self.workspace.editor, &plan))?;
        self.print_report(&report, None)
    }

    /// Keeps overdue reminders that come back in `path` from firing, unless `--fire-missed`; before they are written.
    fn record_restored_items(&self, path: &str, now: &[u8], then: &[u8]) -> Result<()> {
        if let Some(held) = self.workspace.record_restored_items(path, now, then, self.args.fire_missed)? {
            self.context.ui.note(held.words());
            if !held.fire && self.workspace.settings.machines.is_some() {
                self.context
                    .ui
                    .note("another machine may deliver it, or remove its line: give it a new time");
            }
        }
        Ok(())
    }
}

fn document<'a>(
    report: &'a RestoreReport,
    plan: Option<&'a RestorePlan>,
    dry_run: bool,
) -> RestoreDocument<'a> {
    let (newer, renamed) = plan.map_or((&[][..], &[][..]), |plan| (&plan.newer, &plan.renamed));
    RestoreDocument { report, newer, renamed, dry_run }
}

fn parse_section_target(text: &str) -> Result<(&str, &str)> {
    let place = text.split_once('#').map(|(path, heading)| (path, heading.trim_start_matches('#').trim()));
    place.filter(|(path, heading)| !path.is_empty() && !heading.is_empty()).ok_or_else(|| {
        CommandError::usage(format!("`{text}` names no section"))
            .hint("give a path and a heading, as in `--section \"Plan.md#Next steps\"`")
    })
}
