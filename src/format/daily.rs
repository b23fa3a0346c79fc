//! Parses notes of the day, `daily/YYYY-MM-DD.md`: bullets such as `- 14:02 Met Anna about the flat`.
//!
//! The bullets are those of [`super::memory`], with a local time of day first. The time may be missing. The grammar is
//! `grammar/daily.abnf`.

use std::ops::Range;

use jiff::civil::{Date, Time};

use super::{memory, reminder::DateText, reminder::TimeText};

/// A note of the day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyBullet {
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// Its bytes, with the newline of its last line.
    pub range: Range<usize>,
    /// The section that it stands in.
    pub section: Option<String>,
    /// The local time of day, if it has one.
    pub time: Option<Time>,
    /// Its text, without marker and time; as in [`memory::Bullet`].
    pub text: String,
}

/// The notes of a day.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DailyFile {
    /// The sections in order.
    pub sections: Vec<memory::MemorySection>,
    /// The bullets in order.
    pub bullets: Vec<DailyBullet>,
}

/// The bullets of a day's file.
pub fn parse(bytes: &[u8]) -> DailyFile {
    let file = memory::parse(bytes);
    let bullets = file.bullets.into_iter().map(|bullet| {
        let (time, text) = match split_time(&bullet.text).filter(|_| bullet.timestamp.is_none()) {
            Some((time, text)) => (Some(time), text.to_owned()),
            None => (None, bullet.text),
        };
        // A bracketed timestamp isn't this file's way, and no word of a person's is dropped.
        let text = match &bullet.timestamp {
            Some(timestamp) => format!("[{timestamp}] {text}"),
            None => text,
        };
        let (line, end_line, range, section) = (bullet.line, bullet.end_line, bullet.range, bullet.section);
        DailyBullet { line, end_line, range, section, time, text }
    });
    DailyFile { bullets: bullets.collect(), sections: file.sections }
}

/// A bullet as it is written, ending in a newline.
pub fn render_bullet(time: Time, text: &str) -> String {
    memory::render_item(&format!("{} {}", TimeText(time), text.trim_matches(['\n', '\r', ' '])))
}

/// The name of a day's file, without its folder: `2026-11-20.md`.
pub fn file_name(date: Date) -> String {
    format!("{}.md", DateText(date))
}

/// The day that a file of this name is about.
pub fn date_of(file_name: &str) -> Option<Date> {
    let text = file_name.strip_suffix(".md")?;
    let date = text.parse::<Date>().ok()?;
    (DateText(date).to_string() == text && date.year() > 0).then_some(date)
}

fn split_time(text: &str) -> Option<(Time, &str)> {
    let b = text.as_bytes();
    let digit = |at: usize| b.get(at).filter(|b| b.is_ascii_digit()).map(|b| (b - b'0') as i8);
    let (hour, minute) = (digit(0)? * 10 + digit(1)?, digit(3)? * 10 + digit(4)?);
    let time = Time::new(hour, minute, 0, 0).ok().filter(|_| b[2] == b':')?;
    match b.get(5) {
        None | Some(b' ' | b'\n') => Some((time, text.get(6..).unwrap_or_default().trim_start_matches(' '))),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::{date, time};

    #[test]
    fn times_are_read_and_written() {
        let file = parse(b"# Friday\n- 14:02 Met Anna\n  about the flat\n- 24:00 no\n- 9:30 no\n- 07:05\n- [2026-01-01] x\n");
        let found: Vec<_> = file.bullets.iter().map(|b| (b.line, b.time, b.text.as_str())).collect();
        assert_eq!(
            found,
            [
                (2, Some(time(14, 2, 0, 0)), "Met Anna\nabout the flat"),
                (4, None, "24:00 no"),
                (5, None, "9:30 no"),
                (6, Some(time(7, 5, 0, 0)), ""),
                (7, None, "[2026-01-01] x"),
            ]
        );
        assert_eq!(
            render_bullet(time(14, 2, 0, 0), "Met Anna\nabout the flat"),
            "- 14:02 Met Anna\n  about the flat\n"
        );
    }

    #[test]
    fn a_day_has_one_name() {
        assert_eq!(file_name(date(2026, 11, 20)), "2026-11-20.md");
        assert_eq!(date_of("2026-11-20.md"), Some(date(2026, 11, 20)));
        for name in ["2026-11-31.md", "2026-1-2.md", "20261120.md", "About.md", "2026-11-20", "0000-01-01.md"]
        {
            assert_eq!(date_of(name), None, "{name}");
        }
    }
}
