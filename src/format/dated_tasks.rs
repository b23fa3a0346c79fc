//! Finds open task lines that have a date in another program's form, without parsing the rest of the line.
//!
//! Three plugins keep the date in the line:
//!
//! - Tasks: `📅 2026-12-01`, `[due:: 2026-12-01]`;
//! - Reminder: `(@2026-12-01 09:30)`, `⏰ 2026-12-01 09:30`;
//! - Kanban: `@{2026-12-01}`.
//!
//! The line, the column and the date as written go out. Impossible dates (`📅 2026-02-30`) and lines that aren't UTF-8
//! are found, too.

use super::{has_shape, lines, reminder, task};

/// An open task with a date in a form of another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatedTask {
    /// Its line, from 1.
    pub line: usize,
    /// The column of the mark, from 1, in characters.
    pub column: usize,
    /// The mark with the date, as it stands there.
    pub mark: String,
}

/// The marks directly before a date, apart from blanks, in any case.
const MARKS: [&str; 20] = [
    "📅",
    "📆",
    "🗓",
    "🛫",
    "⏰",
    "⏳",
    "⌛",
    "[due::",
    "(due::",
    "[reminder::",
    "(reminder::",
    "[scheduled::",
    "(scheduled::",
    "[start::",
    "(start::",
    "(@[[",
    "(@",
    "@{",
    "@[[",
    "@remind(",
];

/// The open tasks of a note that name a date as other programs do, in order.
pub fn dated(bytes: &[u8]) -> Vec<DatedTask> {
    marked(bytes, |date, _| is_date(date))
}

/// The open tasks of a note with an impossible date (`📅 2026-02-30`), in order. Their own program doesn't read such a
/// date.
pub fn impossible(bytes: &[u8]) -> Vec<DatedTask> {
    marked(bytes, |date, _| is_like_a_date(date) && !is_date(date))
}

/// The open tasks with a date in words that follows a mark directly: the name of a month, a day and a year.
pub fn in_words(bytes: &[u8]) -> Vec<DatedTask> {
    let digits = |word: &&str| word.bytes().take_while(u8::is_ascii_digit).count();
    marked(bytes, |_, rest| {
        let end = rest.char_indices().nth(24).map_or(rest.len(), |(end, _)| end);
        let date = rest[..end].split(['}', ']', ')']).next().unwrap_or_default();
        let words: Vec<&str> = date.split(|c: char| !c.is_alphanumeric()).collect();
        let is_month = |word: &&str| digits(word) == 0 && word.chars().count() > 2;
        words.iter().any(is_month)
            && words.iter().any(|word| matches!(digits(word), 1 | 2))
            && words.iter().any(|word| digits(word) == 4)
    })
}

/// The open tasks with a mark and a date behind it that is meant.
fn marked(bytes: &[u8], is_meant: impl Fn(&str, &str) -> bool) -> Vec<DatedTask> {
    let live = lines::LiveLines::new(bytes);
    live.filter_map(|line| {
        let text = std::str::from_utf8(line.text).ok()?;
        let body = open_task(text)?;
        let (at, mark) = first_mark(body, &is_meant).filter(|_| !reminder::is_reminder(text))?;
        let column = text[..text.len() - body.len() + at].chars().count() + 1;
        Some(DatedTask { line: line.number, column, mark })
    })
    .collect()
}

/// The open tasks of a note that name a date in a line that isn't UTF-8, in order. Each is placed at its first invalid
/// byte, with the line's mark. No program can read such a line as it was meant.
pub fn unreadable(bytes: &[u8]) -> Vec<DatedTask> {
    let live = lines::LiveLines::new(bytes);
    live.filter_map(|line| {
        let wrong = std::str::from_utf8(line.text).err()?.valid_up_to();
        let text = String::from_utf8_lossy(line.text);
        let (_, mark) = first_mark(open_task(&text)?, |date, _| is_like_a_date(date))?;
        Some(DatedTask { line: line.number, column: wrong + 1, mark })
    })
    .collect()
}

/// The length of the date at the beginning of a text, if it is a date that Tasks adds to a line when a person ticks or
/// cancels it: `✅ 2026-12-01`, `[completion:: 2026-12-01]`.
pub(crate) fn end_date(text: &str) -> Option<usize> {
    let marks = [("✅ ", ""), ("❌ ", ""), ("[completion:: ", "]"), ("[cancelled:: ", "]")];
    marks.iter().find_map(|(mark, end)| {
        let rest = text.strip_prefix(mark)?;
        rest.get(..10).filter(|date| is_like_a_date(date) && is_date(date))?;
        rest[10..].starts_with(end).then_some(mark.len() + 10 + end.len())
    })
}

fn is_date(text: &str) -> bool {
    text.parse::<jiff::civil::Date>().is_ok()
}

/// Whether a text of ten characters is digits in the places of a date.
fn is_like_a_date(text: &str) -> bool {
    has_shape(text, "0000-00-00")
}

/// The text of an open task, anywhere in a list or a callout.
fn open_task(line: &str) -> Option<&str> {
    let item = task::list_item(line).filter(|item| matches!(item.status, ' ' | '/'))?;
    Some(&line[item.body..])
}

/// The offset of the first mark with such a date (ten characters, and the text from there), and both as they stand there.
fn first_mark(body: &str, is_meant: impl Fn(&str, &str) -> bool) -> Option<(usize, String)> {
    let lower = body.to_ascii_lowercase();
    let found = MARKS.iter().flat_map(|mark| lower.match_indices(mark)).filter_map(|(at, mark)| {
        let rest = body[at + mark.len()..].trim_start_matches(['\u{fe0f}', ' ']);
        let end = rest.char_indices().nth(10).map_or(rest.len(), |(end, _)| end);
        let date = Some(&rest[..end]).filter(|date| is_meant(date, rest))?;
        Some((at, format!("{mark}{}{date}", if mark.ends_with(['@', '{', '[', '(']) { "" } else { " " })))
    });
    found.min_by_key(|(at, mark)| (*at, mark.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_of_an_end_is_measured_where_it_is_one() {
        assert_eq!(end_date("✅ 2026-12-01 ^a"), Some(14));
        assert_eq!(end_date("[completion:: 2026-12-01]"), Some(25));
        for other in ["✅", "✅ 2026-02-30", "📅 2026-12-01", "[completion:: 2026-12-01", "✅ 2026-12-0é"]
        {
            assert_eq!(end_date(other), None, "{other}");
        }
    }

    #[test]
    fn each_form_is_told_apart() {
        for line in [
            "- [ ] Pay rent 🔁 every month on the 1st 📅 2026-12-01",
            "* [ ] Pay rent 📅2026-12-01",
            "  - [/] Pay rent ⏳ 2026-12-01",
            "> - [ ] in a callout 📅 2026-12-01",
            "1. [ ] Pay rent [repeat:: every month] [due:: 2026-12-01]",
            "- [ ] Pay rent (due:: 2026-12-01)",
            "- [ ] Call Bob (@2026-12-01 09:30)",
            "- [ ] Call Bob (@[[2026-12-01]] 09:30)",
            "- [ ] Call Bob ⏰ 2026-12-01 09:30 📅 2026-12-02",
            "- [ ] Call Bob [reminder:: 2026-12-01T09:30] [due:: 2026-12-02]",
            "- [ ] Task @{2026-12-01} @@{20:26}",
            "- [ ] Task @[[2026-12-01]]",
            "- [ ] Task @Remind(2026-12-01 09:30)",
            "- [ ] Task 🗓️ 2026-12-01",
            "- [ ] Task ⌛ 2026-12-01",
            "- [ ] Task [Start:: 2026-12-01]",
        ] {
            assert_eq!(dated(line.as_bytes()).len(), 1, "{line}");
        }
        let found = dated("# x\n\n- [ ] é 📅 2026-12-01 ✅\n".as_bytes());
        assert_eq!(found, [DatedTask { line: 3, column: 9, mark: "📅 2026-12-01".to_owned() }]);
    }

    #[test]
    fn a_date_that_is_none_is_named() {
        let found = impossible("- [ ] a 📅 2026-12-01\n- [ ] b ⏳ 2026-02-01 📅 2026-02-30\n".as_bytes());
        assert_eq!(found, [DatedTask { line: 2, column: 22, mark: "📅 2026-02-30".to_owned() }]);
        for none in ["- [x] a 📅 2026-02-30", "- [ ] a 📅 tomorrow", "- [ ] a 2026-02-30", "📅 2026-02-30"]
        {
            assert_eq!(impossible(none.as_bytes()), [], "{none}");
        }
    }

    #[test]
    fn a_date_in_words_is_named() {
        let found = in_words("- [ ] a 📅 2026-12-01\n- [ ] b @{1. März 2026}\n- [ ] c @[[Ann]]\n- [ ] ⏳ 30 min, 9am\n- [ ] (@ann2) @[[Plan 2]]".as_bytes());
        assert_eq!(found, [DatedTask { line: 2, column: 9, mark: "@{1. März 20".to_owned() }]);
    }

    #[test]
    fn what_is_done_undated_or_hidden_is_none() {
        for text in [
            "- [x] Pay rent 📅 2026-12-01 ✅ 2026-12-01",
            "- [-] Pay rent 📅 2026-12-01",
            "- [ ] Pay rent ➕ 2026-12-01",
            "- [ ] Pay rent 📅 tomorrow",
            "- [ ] Pay rent 📅 2026-02-30",
            "- Pay rent 📅 2026-12-01",
            "Pay rent 📅 2026-12-01",
            "- [ ]Pay rent 📅 2026-12-01",
            "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"a (@2026-12-03)\"",
            "```\n- [ ] Pay rent 📅 2026-12-01\n```",
            "%%\n- [ ] Pay rent 📅 2026-12-01\n%%",
        ] {
            assert_eq!(dated(text.as_bytes()), [], "{text}");
        }
    }
}
