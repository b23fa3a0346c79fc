//! Moves a task to another day, changes its words, skips its next time, or removes it. The note's bytes come in; its
//! new bytes go out. Pure.
//!
//! The written task is parsed again before it is accepted: a moved task must have its new time, a reworded one its new
//! words and its old time. [`later`] computes the further times of a recurring task, as its plugin would write them if
//! each occurrence were done on its day.

use jiff::civil::DateTime;

use super::change::{self, ChangedText, replace_line};
use super::{ChangedNote, Result, TaskError, TaskRef, task_id};
use crate::format::task::{self, Rules, Task, TaskFormat, TaskLine, edit};

/// The change of a task.
#[derive(Debug, Clone, Copy, Default)]
pub struct TaskRewrite<'a> {
    /// Its words.
    pub words: Option<&'a str>,
    /// The local time of its notification.
    pub to: Option<DateTime>,
}

/// The note with the task changed.
///
/// # Errors
/// The task isn't there, or can't be written so.
pub fn rewritten(
    bytes: &[u8],
    meant: &TaskRef<'_>,
    rules: &Rules,
    rewrite: TaskRewrite<'_>,
) -> Result<ChangedNote> {
    let placed = meant.find(bytes, rules).ok_or_else(|| TaskError::gone(meant))?;
    let (task, text) = (&placed.task, String::from_utf8_lossy(&placed.text).into_owned());
    let unwritable =
        || TaskError::Unwritable(if text.is_empty() { meant.path.to_owned() } else { text.clone() });
    if task.format == TaskFormat::TaskNotes {
        let to = rewrite.to.filter(|_| rewrite.words.is_none()).ok_or_else(unwritable)?;
        let changed = change::moved_note(bytes, rules, to).ok_or_else(unwritable)?;
        return meant.told_at(changed, rules, to).ok_or_else(unwritable);
    }
    let mut line = text.clone();
    if let Some(words) = rewrite.words {
        let read = TaskLine::read(&line, rules).ok_or_else(|| TaskError::gone(meant))?;
        let is_line = !words.trim().is_empty() && !words.chars().any(char::is_control);
        let after = edit::reworded(&read, words).filter(|_| is_line).ok_or_else(unwritable)?;
        let says_so = task::read_line(&after, rules).is_some_and(|after| {
            after.words == crate::format::one_line(words)
                && (after.format, &after.notification_times, &after.repeat)
                    == (task.format, &task.notification_times, &task.repeat)
        });
        line = Some(after).filter(|_| says_so).ok_or_else(unwritable)?;
    }
    let Some(to) = rewrite.to else {
        return Ok(replace_line(bytes, &placed, ChangedText::only(line)));
    };
    let read = TaskLine::read(&line, rules).ok_or_else(|| TaskError::gone(meant))?;
    let line = edit::on_day(&read, task.format, rules, to).ok_or_else(unwritable)?;
    let words = task::read_line(&line, rules).map(|task| task.words).ok_or_else(unwritable)?;
    let id = task_id(meant.path, &words);
    let changed = replace_line(bytes, &placed, ChangedText::only(line));
    TaskRef { id: &id, ..*meant }.told_at(changed, rules, to).ok_or_else(unwritable)
}

/// The note without the task's line.
///
/// # Errors
/// The task isn't there, or is a whole note.
pub fn removed(bytes: &[u8], meant: &TaskRef<'_>, rules: &Rules) -> Result<ChangedNote> {
    let placed = meant.find(bytes, rules).ok_or_else(|| TaskError::gone(meant))?;
    if placed.task.format == TaskFormat::TaskNotes {
        return Err(TaskError::Unwritable(meant.path.to_owned()));
    }
    Ok(replace_line(bytes, &placed, ChangedText { line: None, next: None, remark: None }))
}

/// The note with a recurring task moved past its next time: all dates of its line move as after Done.
///
/// # Errors
/// The task isn't there, comes once, or can't be written so.
pub fn skipped(bytes: &[u8], meant: &TaskRef<'_>, rules: &Rules) -> Result<ChangedNote> {
    let placed = meant.find(bytes, rules).ok_or_else(|| TaskError::gone(meant))?;
    let task = &placed.task;
    let last = |task: &Task| task.notification_times.last().map(|time| time.at);
    let is_note = task.format == TaskFormat::TaskNotes;
    let mut next = steps(meant.path, task, if is_note { bytes } else { &placed.text }, rules);
    let next = next.find(|(_, next)| last(next) > last(task));
    let Some((after, _)) = next else {
        // Of a rule that isn't understood, Done knows the reason.
        let now = last(task).unwrap_or_default();
        return change::complete(bytes, meant, rules, now).and(Err(TaskError::Once(task.words.clone())));
    };
    if is_note {
        return Ok(change::changed_note(bytes, after, None));
    }
    let line = String::from_utf8_lossy(&after).into_owned();
    Ok(replace_line(bytes, &placed, ChangedText::only(line)))
}

/// No more times than these are looked for: two years of a daily task.
const MOST: usize = 800;

/// A task alone (its line, or the note that it is) at each later time, as its plugin would write it if each were done
/// on its day; nothing if its rule isn't understood.
fn steps(path: &str, task: &Task, bytes: &[u8], rules: &Rules) -> impl Iterator<Item = (Vec<u8>, Task)> {
    let step = move |(bytes, task): &(Vec<u8>, Task)| {
        let after = change::at_next_time(bytes, task.format, rules, task.notification_times.last()?.at)?;
        let next = task::scan(path, &after, rules).into_iter().next()?.task;
        let goes_on = next.words == task.words && next.notification_times != task.notification_times;
        goes_on.then_some((after, next))
    };
    std::iter::successors(Some((bytes.to_vec(), task.clone())), step).skip(1).take(MOST)
}

/// The times of the task's notifications after the present ones and before `until`, in order. `bytes` is its line or
/// its note.
pub fn later(path: &str, task: &Task, bytes: &[u8], rules: &Rules, until: DateTime) -> Vec<DateTime> {
    let last = task.notification_times.last().map(|time| time.at);
    steps(path, task, bytes, rules)
        .map(|(_, task)| task.notification_times)
        .take_while(|times| times.first().is_some_and(|first| first.at < until))
        .flat_map(|times| times.into_iter().map(|time| time.at))
        .filter(|at| Some(*at) > last && *at < until)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::task::{self, TaskFormat};
    use crate::tasks::task_id;

    fn rules() -> Rules {
        Rules { on: TaskFormat::ALL.to_vec(), ..Rules::default() }
    }

    fn tried(line: &str, act: impl Fn(&[u8], &TaskRef<'_>, &Rules) -> Result<ChangedNote>) -> Result<String> {
        let (rules, note) = (rules(), format!("# Home\n{line}\nend\n"));
        let words = task::read_line(line, &rules).unwrap().words;
        let id = task_id("a.md", &words);
        let changed = act(note.as_bytes(), &TaskRef { path: "a.md", id: &id, due: None }, &rules)?;
        let text = String::from_utf8(changed.bytes).unwrap();
        Ok(text.strip_prefix("# Home\n").unwrap().strip_suffix("end\n").unwrap().trim_end().to_owned())
    }

    fn moved(line: &str, to: &str) -> String {
        let to = Some(to.parse().unwrap());
        tried(line, |bytes, meant, rules| rewritten(bytes, meant, rules, TaskRewrite { to, words: None }))
            .unwrap()
    }

    #[test]
    fn a_task_moves_to_another_day_in_its_own_form() {
        let default = rules().default_time;
        let at = |day: &str| format!("{day}T{}", default.strftime("%H:%M"));
        for (line, to, after) in [
            ("- [ ] Call 📅 2026-12-03", at("2026-12-05"), "- [ ] Call 📅 2026-12-05"),
            (
                "- [ ] Call 🔁 every week 📅 2026-12-03",
                at("2026-12-05"),
                "- [ ] Call 🔁 every week 📅 2026-12-05",
            ),
            (
                "- [ ] Call 📅 2026-12-03",
                "2026-12-05T15:30".to_owned(),
                "- [ ] Call ⏰ 2026-12-05 15:30 📅 2026-12-05",
            ),
            (
                "- [ ] Call ⏰ 2026-12-03 08:15 📅 2026-12-03",
                "2026-12-05T15:30".to_owned(),
                "- [ ] Call ⏰ 2026-12-05 15:30 📅 2026-12-05",
            ),
            (
                "- [ ] Call (@2026-12-03 08:15)",
                "2026-12-05T15:30".to_owned(),
                "- [ ] Call (@2026-12-05 15:30)",
            ),
            ("- [ ] Call (@2026-12-03)", at("2026-12-05"), "- [ ] Call (@2026-12-05)"),
            ("- [ ] Call [due:: 2026-12-03]", at("2026-12-05"), "- [ ] Call [due:: 2026-12-05]"),
        ] {
            assert_eq!(moved(line, &to), after);
        }
    }

    #[test]
    fn other_words_stand_where_the_old_ones_stood_or_nothing_is_written() {
        let words = |line: &str, words: &str| {
            let rewrite = TaskRewrite { words: Some(words), to: None };
            tried(line, |bytes, meant, rules| rewritten(bytes, meant, rules, rewrite))
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            words("- [ ] Call Bob 📅 2026-12-03 ^x", "Write to Bob").unwrap(),
            "- [ ] Write to Bob 📅 2026-12-03 ^x"
        );
        assert_eq!(
            words("  * [ ]  Call (@2026-12-03)", "Call #home").unwrap(),
            "  * [ ]  Call #home (@2026-12-03)"
        );
        // Words in pieces become one: a tag behind the date, say.
        assert_eq!(
            words("- [ ] A 📅 2026-12-03 #tag ^x", "B #tag").unwrap(),
            "- [ ] B #tag 📅 2026-12-03 ^x"
        );
        assert_eq!(words("- [ ] Call (@2026-12-03) Bob", "Write").unwrap(), "- [ ] Write (@2026-12-03)");
        for (line, new) in [
            ("- [ ] Call 📅 2026-12-03", "Call 📅 2026-12-24"),
            ("- [ ] Call 📅 2026-12-03", "Call\n- [ ] Other"),
            ("- [ ] Call 📅 2026-12-03", ""),
            ("- [ ] Call 📅 2026-12-03", "Call ⏰ 2026-12-24 10:00"),
        ] {
            assert!(words(line, new).is_err(), "{line} {new:?}");
        }
    }

    #[test]
    fn a_line_is_taken_out_and_a_time_passed_over() {
        assert_eq!(tried("- [ ] Call 📅 2026-12-03", removed).unwrap(), "");
        for (line, after) in [
            (
                "- [ ] Rent 🔁 every month on the 1st 📅 2026-12-01",
                "- [ ] Rent 🔁 every month on the 1st 📅 2027-01-01",
            ),
            // All dates move, and box, id, creation and block id stay.
            (
                "- [/] A 🆔 a1 ➕ 2026-11-01 🛫 2026-12-01 ⏳ 2026-12-02 🔁 every week 📅 2026-12-04 ^b",
                "- [/] A 🆔 a1 ➕ 2026-11-01 🛫 2026-12-08 ⏳ 2026-12-09 🔁 every week 📅 2026-12-11 ^b",
            ),
            (
                "- [ ] A ⏰ 2026-12-03 18:00 🔁 every week 📅 2026-12-04",
                "- [ ] A ⏰ 2026-12-10 18:00 🔁 every week 📅 2026-12-11",
            ),
            (
                "- [ ] A [reminder:: 2026-12-03T18:00]  [repeat:: every week]  [due:: 2026-12-04]",
                "- [ ] A [reminder:: 2026-12-10T18:00]  [repeat:: every week]  [due:: 2026-12-11]",
            ),
            // A snooze is left out with its day, and with those that it had passed already.
            ("- [ ] A ⏰ 2026-12-10 17:45 🔁 every day 📅 2026-12-03", "- [ ] A 🔁 every day 📅 2026-12-11"),
            // The early alarm is no time of its own.
            (
                "- [ ] A @remind(2026-12-03 15:30) @before(1h) @repeat(weekly)",
                "- [ ] A @remind(2026-12-10 15:30) @before(1h) @repeat(weekly)",
            ),
            (
                "- [ ] A @remind(2026-12-03 15:30) @snooze(2026-12-03 14:41) @before(1h) @repeat(weekly)",
                "- [ ] A @remind(2026-12-10 15:30) @before(1h) @repeat(weekly)",
            ),
            ("- [ ] A (@2026-12-03 09:30 🔁every week)", "- [ ] A (@2026-12-10 09:30 🔁every week)"),
        ] {
            assert_eq!(tried(line, skipped).unwrap(), after);
        }
        assert!(matches!(tried("- [ ] Call 📅 2026-12-03", skipped), Err(TaskError::Once(_))));
        for line in
            ["- [ ] Odd 🔁 every blue moon 📅 2026-12-03", "- [ ] Odd (@2026-12-03 🔁 every blue moon)"]
        {
            assert!(matches!(tried(line, skipped), Err(TaskError::Repeat { .. })), "{line}");
        }
    }

    #[test]
    fn a_recurring_note_is_passed_over_as_its_plugin_does_it() {
        let note =
            "---\ntags: [task]\ndue: 2026-12-03T18:00\nrecurrence: DTSTART:20261203;FREQ=WEEKLY\n---\n";
        let rules = rules();
        let id = task_id("Gym.md", "Gym");
        let meant = TaskRef { path: "Gym.md", id: &id, due: None };
        let once = skipped(note.as_bytes(), &meant, &rules).unwrap().bytes;
        let written = "scheduled: 2026-12-10\n---\n";
        assert!(String::from_utf8(once.clone()).unwrap().ends_with(written));
        let task = task::scan("Gym.md", &once, &rules).remove(0).task;
        assert_eq!(task.notification_times[0].at.to_string(), "2026-12-10T18:00:00");
        let later = later("Gym.md", &task, &once, &rules, "2026-12-25T00:00".parse().unwrap());
        let later: Vec<String> = later.iter().map(ToString::to_string).collect();
        assert_eq!(later, ["2026-12-17T18:00:00", "2026-12-24T18:00:00"]);
        let snoozed = change::snooze(note.as_bytes(), &meant, &rules, "2026-12-04T10:00".parse().unwrap());
        let after =
            String::from_utf8(skipped(&snoozed.unwrap().bytes, &meant, &rules).unwrap().bytes).unwrap();
        assert!(after.ends_with(written) && !after.contains("snooze"), "{after}");
    }

    fn times(line: &str, until: &str) -> Vec<String> {
        let rules = Rules { on: TaskFormat::ALL.to_vec(), ..Rules::default() };
        let found = task::read_line(line, &rules).unwrap();
        later("a.md", &found, line.as_bytes(), &rules, until.parse().unwrap())
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn each_time_is_what_the_plugin_would_write() {
        let rent = times("- [ ] Rent 🔁 every month on the 1st 📅 2026-12-01", "2027-03-02T00:00");
        assert_eq!(rent.len(), 3, "{rent:?}");
        assert!(rent[0].starts_with("2027-01-01T") && rent[2].starts_with("2027-03-01T"), "{rent:?}");
        let toast = times("- [ ] Water [repeat:: every week] [due:: 2026-12-02]", "2026-12-20T00:00");
        assert_eq!(toast.len(), 2, "{toast:?}");
        let snoozed = times("- [ ] Water ⏰ 2026-12-10 17:45 🔁 every day 📅 2026-12-03", "2026-12-13T00:00");
        assert_eq!(snoozed, ["2026-12-11T09:00:00", "2026-12-12T09:00:00"]);
        assert!(times("- [ ] Once 📅 2026-12-01", "2027-12-01T00:00").is_empty());
        assert!(times("- [ ] Odd 🔁 every blue moon 📅 2026-12-01", "2027-12-01T00:00").is_empty());
    }
}
