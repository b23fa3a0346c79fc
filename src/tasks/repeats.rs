//! Computes the further times of a recurring task, as its plugin would write them if each occurrence were done on its
//! day. Pure.

use jiff::civil::DateTime;

use super::change;
use super::task_ref::TaskRef;
use crate::format::task::{Rules, Task};

/// No more times than these are looked for: two years of a daily task.
const MOST: usize = 800;

/// The times of the task's notifications after the present ones, before `until` and in order. `bytes` is its line, or
/// the note that it is; empty if its rule isn't understood.
pub fn later(meant: TaskRef<'_>, task: &Task, bytes: &[u8], rules: &Rules, until: DateTime) -> Vec<DateTime> {
    let (mut bytes, mut notification_times) = (bytes.to_vec(), task.notification_times.clone());
    let mut out = Vec::new();
    for _ in 0..MOST {
        let (Some(first), Some(last)) = (notification_times.first(), notification_times.last()) else {
            break;
        };
        let this = TaskRef { due: Some(first.at), ..meant };
        let Ok(changed) = change::complete(&bytes, &this, rules, last.at) else { break };
        let Some(next) = (TaskRef { due: None, ..meant }).find(&changed.bytes, rules) else { break };
        let goes_on =
            next.task.notification_times.first().is_some_and(|next| first.at < next.at && next.at < until);
        if !goes_on {
            break;
        }
        out.extend(next.task.notification_times.iter().map(|time| time.at).filter(|at| *at < until));
        bytes = if next.text.is_empty() { changed.bytes } else { next.text };
        notification_times = next.task.notification_times;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::task::{self, TaskFormat};
    use crate::tasks::task_id;

    fn times(line: &str, until: &str) -> Vec<String> {
        let rules = Rules { on: TaskFormat::ALL.to_vec(), ..Rules::default() };
        let found = task::read_line(line, &rules).unwrap();
        let id = task_id("a.md", &found.words);
        let meant = TaskRef { path: "a.md", id: &id, due: None };
        later(meant, &found, line.as_bytes(), &rules, until.parse().unwrap())
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
        assert!(times("- [ ] Once 📅 2026-12-01", "2027-12-01T00:00").is_empty());
        assert!(times("- [ ] Odd 🔁 every blue moon 📅 2026-12-01", "2027-12-01T00:00").is_empty());
    }
}
