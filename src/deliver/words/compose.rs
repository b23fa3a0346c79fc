//! Writes the texts of notifications, from the items that are due. Pure.
//!
//! The words are plain and the same for every notifier: the due time, the delay, the number of missed earlier
//! occurrences, the next occurrence. The user's own text is quoted as the note has it.

use std::fmt::Write as _;

use crate::deliver::prelude::*;
use crate::format::fenced;
use crate::schedule;

/// The text for one reminder or follow-up. `today` is the local date at which it is sent.
pub fn single(fact: &NotifiedItem, today: civil::Date) -> String {
    let remark = remark(fact, today);
    let open = open(fact.kind);
    if remark.is_empty() { format!("{open}{}", fact.msg) } else { format!("{open}{} ({remark})", fact.msg) }
}

/// The brain's phrase in the text of one reminder or follow-up; none for a plain text, which has an opening word.
pub fn phrase_of(kind: MessageKind, text: &str) -> Option<&str> {
    let one = matches!(kind, MessageKind::Reminder | MessageKind::Commitment | MessageKind::Task);
    (one && !text.starts_with(open(kind))).then_some(text)
}

fn open(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Commitment => "Follow-up: ",
        MessageKind::Task => "Task: ",
        _ => "Reminder: ",
    }
}

/// The most lines of tasks in a message about several; the rest is counted.
const MAX_TASKS: usize = 100;

/// The subject of a message in a word or two, for places that show a title; with its number if it is one of several
/// chunks.
pub fn title(message: &OutgoingMessage) -> String {
    let is_list = message.facts.iter().all(|fact| {
        fact.kind == MessageKind::Task && !schedule::is_missed(SignedDuration::from_secs(fact.late_seconds))
    });
    let title = match message.kind {
        MessageKind::Reminder => "Reminder",
        MessageKind::Commitment => "Follow-up",
        MessageKind::Task => "Task",
        MessageKind::Digest if is_list => "Tasks",
        MessageKind::Digest => "While you were away",
        MessageKind::Confirmation => "Reminder changed",
        MessageKind::Notice | MessageKind::Answer | MessageKind::Approval | MessageKind::Routine => {
            "vault-agent"
        }
    };
    match message.chunks {
        0 | 1 => title.to_owned(),
        chunks => format!("{title} ({}/{chunks})", message.chunk + 1),
    }
}

/// A text without the opening word that a title says already.
pub fn without_opening(text: &str) -> &str {
    let opening = [MessageKind::Reminder, MessageKind::Commitment, MessageKind::Task].map(open);
    opening.iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text)
}

/// The text for several that were missed, in the order given (oldest first).
pub fn digest(facts: &[NotifiedItem], today: civil::Date) -> String {
    let text = match facts.len() {
        1 => "1 was missed:".to_owned(),
        count => format!("{count} were missed:"),
    };
    listed(text, facts, today)
}

/// The text for several tasks that are due in one minute.
pub fn task_list(facts: &[NotifiedItem], today: civil::Date) -> String {
    listed(format!("{} tasks are due:", facts.len()), facts, today)
}

fn listed(mut text: String, facts: &[NotifiedItem], today: civil::Date) -> String {
    let mut tasks = 0;
    for fact in facts {
        // Reminders are all named; of tasks there may be as many as there are notes.
        tasks += usize::from(fact.kind == MessageKind::Task);
        if fact.kind == MessageKind::Task && tasks > MAX_TASKS {
            continue;
        }
        let what = if fact.kind == MessageKind::Commitment { "follow-up: " } else { "" };
        let _ = write!(text, "\n- {what}{}", indented(&fact.msg));
        let remark = remark(fact, today);
        if !remark.is_empty() {
            let _ = write!(text, " ({remark})");
        }
    }
    if tasks > MAX_TASKS {
        let _ = write!(text, "\n- and {} more tasks", tasks - MAX_TASKS);
    }
    text
}

/// The most characters of a line in a confirmation: a task's line may be as long as a note.
const CONFIRMED: usize = 3_000;

/// The text that confirms a change of a reminder, with the exact line in a code block.
pub fn confirmation(what: &str, line: &str) -> String {
    let cut = line
        .char_indices()
        .nth(CONFIRMED)
        .map(|(end, _)| format!("{}… (and {} more characters)", &line[..end], line[end..].chars().count()));
    let line = cut.as_deref().unwrap_or(line);
    format!("{what}:\n{}", fenced(line))
}

/// The most lines in a confirmation about several reminders; the rest is counted.
const MAX_LINES: usize = 10;

/// The lines of several reminders, as one confirmation shows them.
pub fn confirmed_lines(lines: &[String]) -> String {
    let (shown, more) = lines.split_at(lines.len().min(MAX_LINES));
    let mut text = shown.join("\n");
    if !more.is_empty() {
        let _ = write!(text, "\n… and {} more", more.len());
    }
    text
}

/// `due 09:00, 3 h late; 2 earlier ones folded in; next Tue 8 Dec 09:00`, or nothing.
pub fn remark(fact: &NotifiedItem, today: civil::Date) -> String {
    let late = SignedDuration::from_secs(fact.late_seconds);
    remark_on(fact.local, late, fact.missed, fact.next, today)
}

/// The same about what was due at `local`.
pub fn remark_on(
    local: civil::DateTime,
    late: SignedDuration,
    missed: u32,
    next: Option<civil::DateTime>,
    today: civil::Date,
) -> String {
    let mut parts = Vec::new();
    if schedule::is_missed(late) {
        parts.push(format!("due {}, {} late", moment(local, today), duration(late)));
    }
    match missed {
        0 => {}
        1 => parts.push("1 earlier one folded in".to_owned()),
        count => parts.push(format!("{count} earlier ones folded in")),
    }
    if let Some(next) = next {
        parts.push(format!("next {}", moment(next, today)));
    }
    parts.join("; ")
}

/// A local time as people say it: the day only where it isn't today, the year only where it isn't
/// this one.
pub fn moment(at: civil::DateTime, today: civil::Date) -> String {
    let pattern = if at.date() == today {
        "%H:%M"
    } else if at.year() == today.year() {
        "%a %-d %b %H:%M"
    } else {
        "%a %-d %b %Y %H:%M"
    };
    at.strftime(pattern).to_string()
}

/// A length of time in one or two units: `7 min`, `1 h 20 min`, `3 h`, `2 days`.
pub fn duration(length: SignedDuration) -> String {
    let minutes = length.as_mins();
    let (hours, days) = (minutes / 60, minutes / (24 * 60));
    match (days, hours, minutes % 60) {
        (2.., ..) => format!("{days} days"),
        (1, ..) if hours % 24 == 0 => "1 day".to_owned(),
        (1, ..) => format!("1 day {} h", hours % 24),
        (0, 3.., _) | (0, 1.., 0) => format!("{hours} h"),
        (0, 1.., rest) => format!("{hours} h {rest} min"),
        _ => format!("{minutes} min"),
    }
}

/// Continuation lines under a list item.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(local: &str, late_minutes: i64, missed: u32, next: Option<&str>) -> NotifiedItem {
        let local: civil::DateTime = local.parse().unwrap();
        NotifiedItem {
            kind: MessageKind::Reminder,
            id: "rid_K5V4M2J9Q2ZP".to_owned(),
            local,
            due: local.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp(),
            late_seconds: late_minutes * 60,
            missed,
            msg: "Call \"Mum\"".to_owned(),
            recurring: next.is_some(),
            next: next.map(|next| next.parse().unwrap()),
            note: None,
        }
    }

    #[test]
    fn one_reminder_in_plain_words() {
        let today = civil::date(2026, 12, 1);
        let texts = [
            fact("2026-12-01T09:00", 0, 0, None),
            fact("2026-12-01T09:00", 5, 0, Some("2026-12-08T09:00")),
            fact("2026-12-01T09:00", 6, 0, None),
            fact("2026-12-01T09:00", 185, 2, None),
            fact("2026-11-29T09:00", 80 + 48 * 60, 1, Some("2027-01-01T09:00")),
        ]
        .map(|fact| single(&fact, today));
        insta::assert_snapshot!(texts.join("\n"), @r#"
        Reminder: Call "Mum"
        Reminder: Call "Mum" (next Tue 8 Dec 09:00)
        Reminder: Call "Mum" (due 09:00, 6 min late)
        Reminder: Call "Mum" (due 09:00, 3 h late; 2 earlier ones folded in)
        Reminder: Call "Mum" (due Sun 29 Nov 09:00, 2 days late; 1 earlier one folded in; next Fri 1 Jan 2027 09:00)
        "#);
    }

    #[test]
    fn a_digest_is_a_list() {
        let mut follow = fact("2026-11-30T20:00", 780, 0, None);
        follow.kind = MessageKind::Commitment;
        follow.msg = "Ask Kyle\nabout the dentist\n".to_owned();
        let facts = [
            fact("2026-11-29T09:00", 2900, 0, None),
            follow,
            fact("2026-12-01T08:00", 80, 3, Some("2026-12-02T08:00")),
        ];
        insta::assert_snapshot!(digest(&facts, civil::date(2026, 12, 1)), @r#"
        3 were missed:
        - Call "Mum" (due Sun 29 Nov 09:00, 2 days late)
        - follow-up: Ask Kyle
          about the dentist (due Mon 30 Nov 20:00, 13 h late)
        - Call "Mum" (due 08:00, 1 h 20 min late; 3 earlier ones folded in; next Wed 2 Dec 08:00)
        "#);
    }

    #[test]
    fn tasks_of_one_minute_are_not_titled_as_missed() {
        for (late, expected) in [(5, "Tasks"), (6, "While you were away")] {
            let task = NotifiedItem { kind: MessageKind::Task, ..fact("2026-12-01T09:00", late, 0, None) };
            let message = OutgoingMessage::whole(MessageKind::Digest, String::new(), String::new());
            assert_eq!(title(&OutgoingMessage { facts: vec![task.clone(), task], ..message }), expected);
        }
    }

    #[test]
    fn a_confirmation_holds_the_exact_line() {
        assert_eq!(confirmation("added", "- [ ] a"), "added:\n```\n- [ ] a\n```");
        assert_eq!(confirmation("added", "a ``` b"), "added:\n````\na ``` b\n````");
        let long = confirmation("done", &"é".repeat(5_000));
        assert!(long.ends_with("é… (and 2000 more characters)\n```") && long.chars().count() < 3_100);
    }

    #[test]
    fn a_confirmation_of_many_lines_counts_the_rest() {
        let lines: Vec<String> = (1..=13).map(|number| format!("- [ ] {number}")).collect();
        assert_eq!(confirmed_lines(&lines[..2]), "- [ ] 1\n- [ ] 2");
        assert!(confirmed_lines(&lines[..10]).ends_with("\n- [ ] 10"));
        assert!(confirmed_lines(&lines).ends_with("\n- [ ] 10\n… and 3 more"));
    }

    #[test]
    fn durations_in_words() {
        let words =
            [6, 60, 80, 179, 180, 239, 1440, 1500, 2880].map(|m| duration(SignedDuration::from_mins(m)));
        assert_eq!(
            words,
            ["6 min", "1 h", "1 h 20 min", "2 h 59 min", "3 h", "3 h", "1 day", "1 day 1 h", "2 days"]
        );
    }
}
