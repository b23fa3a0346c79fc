//! `remind`: adds, lists, previews, changes, completes, snoozes, skips, moves and removes reminders. All of these
//! except adding and previewing also work for task lines of other plugins.

use jiff::civil::DateTime;

use super::find_by_words;
use crate::cli::init;
use crate::cli::prelude::*;
use crate::format::reminder::Recur;
use crate::reminders::{
    ListedReminder, ReminderChanges, ReminderDraft, ReminderError, VaultReminders, WrittenReminder,
    checked_message, local_after,
};
use crate::schedule;
use crate::tasks::{self, ListedLine, Scanner, TaskAction, TaskRewrite, VaultTasks, is_task_id};
use crate::when::{self, Meaning};

/// Adds, lists, changes and removes reminders; completes and snoozes tasks of other plugins.
#[derive(Debug, clap::Subcommand)]
pub enum Args {
    /// Adds a reminder and prints its line.
    Add {
        /// When: `2026-12-01 09:30`, `tomorrow 9am`, `in 20 minutes`, `fri 17:00`, `every friday 17:00`, `morgen um 8
        /// Uhr`.
        when: String,
        /// The message.
        message: String,
        /// The recurrence: `none`, `daily`, `weekly` or `monthly`; else as the time says, or none.
        #[arg(long, value_name = "R", value_parser = Recur::parse)]
        recur: Option<Recur>,
    },
    /// Lists all reminders in the order of the note.
    List {
        /// Also the tasks of other plugins that are delivered (`[reminders] also`), each with its place.
        #[arg(long)]
        all: bool,
    },
    /// Changes a reminder, or the time and the words of a task of another plugin, and prints its line.
    Edit {
        /// Its id, or its words.
        id: String,
        /// The new time.
        #[arg(long, value_name = "WHEN")]
        when: Option<String>,
        /// The new message.
        #[arg(long, visible_alias = "msg", value_name = "TEXT")]
        message: Option<String>,
        /// The new recurrence.
        #[arg(long, value_name = "R", value_parser = Recur::parse)]
        recur: Option<Recur>,
    },
    /// Removes a reminder or the line of a task of another plugin, and prints the line that it had.
    #[command(visible_alias = "remove")]
    Rm {
        /// Its id, or its words.
        id: String,
    },
    /// Marks a reminder or a task of another plugin as done, and prints the lines.
    ///
    /// A one-off reminder is removed. A recurring one stays; its occurrence that is due and not yet sent is skipped. A
    /// task's line is changed as its plugin would change it: ticked, dated, and with a line for its next occurrence.
    Done {
        /// Its id (`rid_…`, a task's `task_…`), or its words, as the notification shows them: `"pay rent"`.
        id: String,
    },
    /// Postpones a reminder or a task, also one that was delivered and removed from the note, and prints its line.
    Snooze {
        /// Its id, a follow-up's or a task's, or the words of a reminder or a task.
        id: String,
        /// Until when; as for `add`.
        #[arg(long, value_name = "WHEN", conflicts_with = "minutes", required_unless_present = "minutes")]
        until: Option<String>,
        /// In so many minutes.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=527_040))]
        minutes: Option<u32>,
    },
    /// Skips the next occurrence of a recurring reminder or task, and prints its line.
    ///
    /// An occurrence that is due and not yet sent counts as the next one, for `move` and `snooze` too.
    Skip {
        /// Its id, or its words.
        id: String,
    },
    /// Moves the next occurrence of a reminder, a follow-up or a task to another day, and leaves the others; prints the
    /// line.
    ///
    /// The later occurrences of a recurring task are counted from the new day.
    Move {
        /// Its id, a follow-up's or a task's, or the words of a reminder or a task.
        id: String,
        /// To when; as for `add`, and a day alone keeps the reminder's time.
        when: String,
    },
    /// Shows when reminders come next.
    Preview {
        /// One reminder's id; else all.
        id: Option<String>,
        /// How many occurrences each.
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=10_000))]
        count: u16,
        /// No occurrence after this time.
        #[arg(long, value_name = "T")]
        until: Option<String>,
        /// Occurrences from this time on, instead of from now.
        #[arg(long, value_name = "T")]
        from: Option<String>,
    },
}

/// Runs `remind`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = match args {
        Args::List { .. } | Args::Preview { .. } => context.workspace_or_last()?,
        Args::Add { .. } => init::ensure_own_times(context, context.workspace()?)?,
        _ => context.workspace()?,
    };
    let remind = Remind { context, workspace: &workspace, now: workspace.clock.now() };
    let id = |text: &str| find_by_words::id_of(context, &workspace, text, false);
    match args {
        Args::Add { when, message, recur } => remind.add(when, message, *recur),
        Args::List { all: false } => remind.list(),
        Args::List { all: true } => remind.list_all(),
        Args::Edit { id: text, when, message, recur } => {
            remind.edit(&id(text)?, when.as_deref(), message.as_deref(), *recur)
        }
        Args::Rm { id: text } => remind.remove(&id(text)?),
        Args::Done { id: text } => remind.done(&id(text)?),
        Args::Snooze { id: text, until, minutes } => {
            let id = find_by_words::id_of(context, &workspace, text, true)?;
            remind.snooze(&id, until.as_deref(), *minutes)
        }
        Args::Skip { id: text } => remind.skip(&id(text)?),
        Args::Move { id, when } => remind.move_next(id, when),
        Args::Preview { id, count, until, from } => {
            remind.preview(id.as_deref(), usize::from(*count), until.as_deref(), from.as_deref())
        }
    }
}

pub(super) struct Remind<'a> {
    pub(super) context: &'a Context,
    pub(super) workspace: &'a Workspace,
    pub(super) now: Timestamp,
}

impl Remind<'_> {
    pub(super) fn reminders(&self) -> VaultReminders<'_> {
        self.workspace.vault_reminders()
    }

    pub(super) fn tasks(&self) -> VaultTasks<'_> {
        self.workspace.vault_tasks()
    }

    fn when(&self, text: &str) -> Result<Meaning> {
        Ok(when::read(text, self.now, &self.workspace.zone)?)
    }

    /// Words for a local time: its weekday and how far away it is.
    pub(super) fn confirmation(&self, local: DateTime, recur: Recur) -> String {
        when::confirmation_with(local, recur, self.now, &self.workspace.zone)
    }

    fn add(&self, when: &str, message: &str, recur: Option<Recur>) -> CommandResult {
        let meaning = self.when(when)?;
        let recur = meaning.recurring(recur).map_err(CommandError::usage)?;
        let draft = ReminderDraft { local: meaning.local, recur, msg: checked_message(message)? };
        let written = self.reminders().add(&draft, self.context.origin())?;
        self.report_change("added", &written, Some(self.confirmation(meaning.local, recur)))
    }

    fn edit(
        &self,
        id: &str,
        when: Option<&str>,
        message: Option<&str>,
        mut recur: Option<Recur>,
    ) -> CommandResult {
        let meaning = when.map(|when| self.when(when)).transpose()?;
        let local = meaning.as_ref().map(|meaning| meaning.local);
        let message = message.map(checked_message).transpose()?;
        let own = meaning.filter(|meaning| meaning.recur != Recur::None);
        if is_task_id(id) {
            if recur.is_some() || own.is_some() {
                return Err(CommandError::usage(
                    "the recurrence of a task can only be changed in its own note",
                ));
            }
            if local.is_none() && message.is_none() {
                return Err(ReminderError::NothingToChange.into());
            }
            return self.rewrite("changed", id, TaskRewrite { to: local, words: message.as_deref() });
        }
        if let Some(meaning) = own {
            recur = Some(meaning.recurring(recur).map_err(CommandError::usage)?);
        }
        let changes = ReminderChanges { local, recur, msg: message };
        let written = self.reminders().change(id, &changes, self.context.origin())?;
        let recur =
            recur.or_else(|| Some(self.reminders().line(id).ok()?.reminder.recur)).unwrap_or_default();
        let said = local.map(|local| self.confirmation(local, recur));
        self.report_change("changed", &written, said)
    }

    fn remove(&self, id: &str) -> CommandResult {
        if is_task_id(id) {
            return self.change_task("removed", id, TaskAction::Remove, None);
        }
        let written = self.reminders().remove(id, self.context.origin())?;
        self.report_change("removed", &written, None)
    }

    fn snooze(&self, id: &str, until: Option<&str>, minutes: Option<u32>) -> CommandResult {
        let zone = &self.workspace.zone;
        let local = match until {
            Some(until) => when::parse_when(until, self.now, zone)?,
            None => local_after(self.now, SignedDuration::from_mins(i64::from(minutes.unwrap_or(10))), zone),
        };
        if is_task_id(id) {
            let said = Some(self.confirmation(local, Recur::None));
            return self.change_task("snoozed", id, TaskAction::Snooze(local), said);
        }
        self.postpone("snoozed", id, local)
    }

    /// Lets a reminder or a follow-up come at a local time: once more, if it was told.
    pub(super) fn postpone(&self, what: &str, id: &str, local: DateTime) -> CommandResult {
        let written = match self.workspace.postpone_follow_up(id, None, local, &self.context.origin())? {
            Some(line_text) => WrittenReminder::new(id, line_text),
            None => {
                let told = self.workspace.last_message_of(id);
                self.reminders().snooze(id, local, told.as_deref(), self.now, self.context.origin())?
            }
        };
        self.report_change(what, &written, Some(self.confirmation(local, Recur::None)))
    }

    fn done(&self, id: &str) -> CommandResult {
        if is_task_id(id) {
            return self.change_task("done", id, TaskAction::Done(self.now), None);
        }
        let line = self.reminders().line(id)?;
        if line.reminder.recur == Recur::None {
            return self.remove(id);
        }
        let skipped = self.reminders().skip_unsent(id, self.now, self.context.origin())?;
        let is_changed = skipped.is_some();
        let unchanged = || WrittenReminder::new(id, String::from_utf8_lossy(&line.text).into_owned());
        let written = skipped.unwrap_or_else(unchanged);
        self.context.answer(&written, &written.line_text)?;
        if written.id != id {
            self.context.ui.note("the snoozed line was removed");
        }
        if let Some(next) = schedule::next_occurrence(&self.workspace.zone, &line.reminder, self.now) {
            let said = self.confirmation(next.local, line.reminder.recur);
            self.context.ui.note(format!("next time: {said}"));
        }
        if is_changed { self.confirm("done", &written.line_text) } else { Ok(Status::Fine) }
    }

    fn list_all(&self) -> CommandResult {
        let (reminders, tasks) = (self.reminders(), self.tasks());
        let (all, problems) = tasks::all(&reminders, &tasks, &mut Scanner::default(), self.now)?;
        let none = format!("no reminders in `{}`, and no tasks that are delivered", reminders.path);
        self.context.list(&all, none, |one| task_row(one, self.now))?;
        if tasks.settings.is_none() {
            self.context.ui.note("tasks of other plugins are not delivered: `[reminders] also` is empty");
        }
        problems.iter().for_each(|problem| self.context.ui.note(problem));
        Ok(Status::of(problems.is_empty()))
    }

    fn list(&self) -> CommandResult {
        let reminders = self.reminders();
        let none = format!("no reminders in `{}`", reminders.path);
        let problems = reminders.read()?.near_misses.len();
        if problems > 0 {
            let note = format!("lines with problems: {problems} (`vault-agent check` shows them)");
            self.context.ui.note(note);
        }
        self.context.list(&reminders.list(self.now)?, none, |one| reminder_row(one, self.now))
    }

    /// Prints the changed line, and confirms the change through the other notifiers.
    pub(super) fn report_change(
        &self,
        what: &str,
        written: &WrittenReminder,
        when: Option<String>,
    ) -> CommandResult {
        self.context.answer(written, &written.line_text)?;
        when.into_iter().for_each(|when| self.context.ui.note(when));
        let others = written.series_text.iter().map(|line| format!("its other occurrences: {line}"));
        others.for_each(|text| self.context.ui.note(text));
        self.confirm(what, &written.lines())
    }

    /// Changes a task of another plugin, and prints its lines and where they are.
    pub(super) fn change_task(
        &self,
        what: &str,
        id: &str,
        action: TaskAction<'_>,
        when: Option<String>,
    ) -> CommandResult {
        let written = self.tasks().change(id, None, action, self.context.origin())?;
        let shown = written.shown();
        self.context.report(&written, Some(&shown).filter(|shown| !shown.is_empty()), true)?;
        self.context.ui.note(format!("{what} in {}", written.place()));
        when.into_iter().chain(written.remark.clone()).for_each(|text| self.context.ui.note(text));
        self.confirm(what, &shown)
    }

    fn confirm(&self, what: &str, lines: &str) -> CommandResult {
        self.context.confirm(self.workspace, what, lines);
        Ok(Status::Fine)
    }
}

/// How it comes again; `late` for what comes once and is overdue.
fn how_often(recur: &str, at: Timestamp, now: Timestamp) -> &str {
    match recur {
        "none" if at < now => "late",
        "none" => "once",
        recur => recur,
    }
}

/// `rid_…  2026-12-01 09:30  weekly   Call Mum`.
fn reminder_row(reminder: &ListedReminder, now: Timestamp) -> String {
    let id = reminder.id.as_deref().unwrap_or("(no id yet)");
    let recur = how_often(&reminder.recur, reminder.at, now);
    format!("{id:<16}  {} {}  {recur:<7}  {}", reminder.date, reminder.time, reminder.msg)
}

/// As [`reminder_row`], with its place.
fn task_row(one: &ListedLine, now: Timestamp) -> String {
    let id = one.id.as_deref().unwrap_or("(no id yet)");
    let recur = how_often(&one.recur, one.at, now);
    format!("{id}  {} {}  {recur}  {}  {}", one.date, one.time, one.msg, one.place())
}
