//! Makes the two sides' lines of one reminder equal where a merge by lines would keep both. Pure. There are two cases:
//!
//! - only one line has an id;
//! - one side changed the time, as the scheduler does after a notification, and the other side changed the words.

use std::collections::{HashMap, HashSet};

use crate::format::ReminderId;
use crate::format::changes::{body, lines};
use crate::format::reminder::{self, Reminder, ReminderLine, split_id};

/// `note` and `copy`, in which such reminders are one and the same line.
pub(super) fn aligned(base: Option<&[u8]>, note: &[u8], copy: &[u8]) -> [Vec<u8>; 2] {
    let [note, copy] = [with_ids_of(note, copy), with_ids_of(copy, note)];
    let [old, ours, theirs] = [base.unwrap_or_default(), &note, &copy].map(by_id);
    let mut joint = HashMap::new();
    for (id, old) in &old {
        let (Some(ours), Some(theirs)) = (ours.get(id), theirs.get(id)) else { continue };
        if let Some(line) = moved(old, ours, theirs).or_else(|| moved(old, theirs, ours)) {
            joint.extend([(ours.text.clone(), line.clone()), (theirs.text.clone(), line)]);
        }
    }
    [note, copy].map(|text| replaced(&text, &joint))
}

/// The line of `reworded` at the time of `moved`, if each differs from `old` in that alone.
fn moved(old: &ReminderLine, moved: &ReminderLine, reworded: &ReminderLine) -> Option<Vec<u8>> {
    let time = |line: &ReminderLine| {
        let Reminder { date, time, day, .. } = line.reminder;
        (date, time, day)
    };
    let at =
        |line: &ReminderLine, (date, time, day)| reminder::with_schedule(&line.text, date, Some(time), day);
    let is_it = time(reworded) == time(old) && at(moved, time(old)) == old.text;
    is_it.then(|| at(reworded, time(moved)))
}

/// A text, with those of its reminders without an id that have one in `other` alone, named so.
fn with_ids_of(text: &[u8], other: &[u8]) -> Vec<u8> {
    let own: HashSet<_> =
        reminder::parse(text).reminders.iter().filter_map(|line| line.reminder.id).collect();
    let named = by_id(other).into_iter().filter(|(id, _)| !own.contains(id));
    replaced(text, &named.filter_map(|(_, line)| Some((split_id(&line.text)?.0, line.text))).collect())
}

/// The reminders of a text by their ids. An id that differing lines have, as of a line that a person copied and
/// reworded, says of none of them which line of another text it is.
fn by_id(text: &[u8]) -> HashMap<ReminderId, ReminderLine> {
    let mut all: HashMap<ReminderId, Option<ReminderLine>> = HashMap::new();
    for line in reminder::parse(text).reminders {
        let Some(id) = line.reminder.id else { continue };
        let known = all.entry(id).or_insert_with(|| Some(line.clone()));
        known.take_if(|known| known.text != line.text);
    }
    all.into_iter().filter_map(|(id, line)| Some((id, line?))).collect()
}

/// A text with other lines in the place of these.
fn replaced(text: &[u8], with: &HashMap<Vec<u8>, Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in lines(text) {
        let old = body(line);
        out.extend_from_slice(with.get(old).map_or(old, Vec::as_slice));
        out.extend_from_slice(&line[old.len()..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(day: u32, msg: &str, id: char) -> String {
        let id = if id == '-' { String::new() } else { format!(" id=rid_{}", id.to_string().repeat(12)) };
        format!("- [ ] date=2026-12-{day:02} time=09:30 recur=daily msg=\"{msg}\"{id}\n")
    }

    #[test]
    fn a_reminder_that_was_moved_and_reworded_is_one_line() {
        let (old, told, words) = (line(1, "pills", 'A'), line(2, "pills", 'A'), line(1, "pills, water", 'A'));
        let both = line(2, "pills, water", 'A');
        for (ours, theirs, expected) in [
            (&words, &told, [&both, &both]),
            (&told, &words, [&both, &both]),
            // If both changed the words, both lines stay.
            (&both, &words, [&both, &words]),
            (&old, &told, [&told, &told]),
        ] {
            let aligned = aligned(Some(old.as_bytes()), ours.as_bytes(), theirs.as_bytes());
            assert_eq!(aligned, expected.map(|line| line.clone().into_bytes()));
        }
        let words = words.replace('\n', "\r\n");
        let expected = both.replace('\n', "\r\n").into_bytes();
        assert_eq!(aligned(Some(old.as_bytes()), words.as_bytes(), told.as_bytes())[0], expected);
    }

    #[test]
    fn lines_with_one_id_stay_as_they_are() {
        let (old, copied) = (line(1, "pills", 'A'), line(1, "water", 'A'));
        let both = format!("{old}{copied}");
        for (base, ours, theirs) in
            [(&old, &old, &both), (&both, &both, &format!("{both}{}", line(1, "tea", 'A')))]
        {
            let aligned = aligned(Some(base.as_bytes()), ours.as_bytes(), theirs.as_bytes());
            assert_eq!(aligned.map(|text| String::from_utf8(text).unwrap()), [ours.clone(), theirs.clone()]);
        }
        // A copy whose id a person took out is to get one of its own.
        let note = format!("{old}{}", line(1, "pills", '-'));
        assert_eq!(aligned(None, note.as_bytes(), old.as_bytes())[0], note.into_bytes());
    }

    #[test]
    fn a_reminder_that_got_its_id_on_one_side_is_one_line() {
        let (bare, named) = (line(1, "pills", '-'), line(1, "pills", 'A'));
        let other = line(1, "other", '-');
        let note = format!("# R\n{bare}{other}");
        let [note, copy] = aligned(None, note.as_bytes(), named.as_bytes());
        assert_eq!(String::from_utf8(note).unwrap(), format!("# R\n{named}{other}"));
        assert_eq!(copy, named.into_bytes());
    }
}
