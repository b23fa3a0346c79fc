//! Counts dated tasks whose syntax (`tasks`, `dataview`, …) is not enabled in the settings, and names the setting that
//! enables it.

use jiff::Timestamp;

use super::{Scanner, TaskSettings};
use crate::config::Settings;
use crate::format::task::TaskFormat;
use crate::schedule::Zone;
use crate::vault::Vault;

/// Open tasks with a date in forms that aren't on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisabledForms {
    /// How many there are of each form that isn't on.
    pub counts: Vec<(TaskFormat, usize)>,
    /// The forms that would be on then.
    pub also: Vec<TaskFormat>,
}

/// Counts the tasks of forms that aren't on; `None` where there are none.
///
/// # Errors
/// The vault can't be listed, or what its plugins mean can't be found out.
pub fn count_disabled_forms(
    vault: &Vault,
    settings: &Settings,
    zone: &Zone,
    now: Timestamp,
) -> Result<Option<DisabledForms>, String> {
    let on = TaskSettings::of(settings, zone).map_or_else(Vec::new, |settings| settings.on);
    let off: Vec<TaskFormat> = TaskFormat::ALL.into_iter().filter(|format| !on.contains(format)).collect();
    if off.is_empty() {
        return Ok(None);
    }
    let mut scanner = Scanner::default();
    scanner.scan(vault, &TaskSettings::with(off.clone(), settings, zone), now)?;
    let tasks = scanner.tasks();
    let count = |format: TaskFormat| tasks.iter().filter(|(_, found)| found.task.format == format).count();
    let counts: Vec<(TaskFormat, usize)> =
        off.into_iter().map(|format| (format, count(format))).filter(|(_, count)| *count > 0).collect();
    let is_meant = |format: &TaskFormat| on.contains(format) || counts.iter().any(|(seen, _)| seen == format);
    let also = TaskFormat::ALL.into_iter().filter(is_meant).collect();
    Ok((!counts.is_empty()).then_some(DisabledForms { counts, also }))
}

impl DisabledForms {
    /// `12 tasks with a date are not told (tasks 10, dataview 2)`.
    pub fn count_text(&self) -> String {
        let all: usize = self.counts.iter().map(|(_, count)| count).sum();
        let each: Vec<String> =
            self.counts.iter().map(|(format, count)| format!("{format} {count}")).collect();
        let tasks = if all == 1 { "task with a date is" } else { "tasks with a date are" };
        format!("{all} {tasks} not told ({})", each.join(", "))
    }

    /// The setting that turns them on.
    pub fn setting_hint(&self) -> String {
        let forms: Vec<String> = self.also.iter().map(|format| format!("\"{format}\"")).collect();
        format!(
            "to be told of them, set `also = [{}]` under `[reminders]` in vault-agent.toml",
            forms.join(", ")
        )
    }
}
