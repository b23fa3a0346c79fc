//! Parses Kanban's marks: `Task @{2026-12-01} @@{20:26}`, `@[[2026-12-01]]`. Triggers and formats are the plugin's
//! settings.

use super::field::{FieldKind, TaskField};
use super::item::ListItem;
use super::{KanbanRules, TaskFormat, TaskTime, moment};

/// The date, which holds the time too where there is one, and the time for itself.
pub(super) fn fields(item: &ListItem<'_>, rules: &KanbanRules) -> Vec<TaskField> {
    let (date_trigger, time_trigger) = (rules.date_trigger.as_str(), rules.time_trigger.as_str());
    // Most task lines hold neither, and none of them needs to be searched for both.
    if !date_trigger.is_empty() && !item.body().contains(date_trigger) {
        return Vec::new();
    }
    let time = marked(item, time_trigger, "{", "}", None);
    let not = (time_trigger != date_trigger).then_some(time_trigger);
    let date =
        marked(item, date_trigger, "{", "}", not).or_else(|| marked(item, date_trigger, "[[", "]]", not));
    let Some((at, value)) = date else { return Vec::new() };
    let Some(read) = moment::read(&item.text[value.clone()], &rules.date_format) else { return Vec::new() };
    let clock = time.and_then(|(at, value)| {
        let time = moment::read_time(&item.text[value.clone()], &rules.time_format)?;
        Some((at, value, time))
    });
    let when = TaskTime { date: read.date, time: clock.as_ref().map(|(_, _, time)| *time) };
    let mut fields =
        vec![TaskField { format: TaskFormat::Kanban, key: FieldKind::Due, at, value, when: Some(when) }];
    if let Some((at, value, _)) = clock {
        fields.push(TaskField { format: TaskFormat::Kanban, key: FieldKind::Time, at, value, when: None });
    }
    fields
}

type FieldRange = std::ops::Range<usize>;

/// The first `trigger{…}` of the body: its place and that of its value. One that is the end of `not` isn't it.
fn marked(
    item: &ListItem<'_>,
    trigger: &str,
    open: &str,
    close: &str,
    not: Option<&str>,
) -> Option<(FieldRange, FieldRange)> {
    if trigger.is_empty() {
        return None;
    }
    let opening = format!("{trigger}{open}");
    let body = item.body();
    let at = body.match_indices(&opening).map(|(at, _)| at).find(|at| {
        // `(@[[…]]` is Reminder's.
        !body[..*at].ends_with('(')
            && !not.is_some_and(|not| not.ends_with(trigger) && body[..at + trigger.len()].ends_with(not))
    })?;
    let start = item.body + at + opening.len();
    let length = item.text[start..item.end].find(close)?;
    Some((item.body + at..start + length + close.len(), start..start + length))
}
