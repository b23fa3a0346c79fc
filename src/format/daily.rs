//! Parses daily notes, `daily/YYYY-MM-DD.md`: bullets such as `- 14:02 Met Anna about the flat`.
//!
//! The bullets are those of [`super::memory`]; each may begin with a local time of day. The grammar is
//! `grammar/daily.abnf`.

use jiff::civil::{Date, Time};

use super::has_shape;
use super::memory::{self, MemoryFile};

/// The bullets of a day's file, with their times.
pub fn parse(bytes: &[u8]) -> MemoryFile {
    let mut file = memory::parse(bytes);
    for bullet in &mut file.bullets {
        // A bracketed timestamp isn't this file's way, and no word of a person's is dropped.
        if let Some(timestamp) = bullet.timestamp.take() {
            bullet.text = format!("[{timestamp}] {}", bullet.text);
        } else if let Some((time, text)) = split_time(&bullet.text) {
            (bullet.time, bullet.text) = (Some(time), text.to_owned());
        }
    }
    file
}

/// A bullet as it is written, ending in a newline.
pub fn render_bullet(time: Time, text: &str) -> String {
    memory::render_item(&format!("{} {}", time.strftime("%H:%M"), text.trim_matches(['\n', '\r', ' '])))
}

/// The name of a day's file, without its folder: `2026-11-20.md`.
pub fn file_name(date: Date) -> String {
    format!("{date}.md")
}

/// The day that a file of this name is about.
pub fn date_of(file_name: &str) -> Option<Date> {
    let text = file_name.strip_suffix(".md")?;
    let date = text.parse::<Date>().ok()?;
    (date.to_string() == text && date.year() > 0).then_some(date)
}

fn split_time(text: &str) -> Option<(Time, &str)> {
    let (clock, rest) = text.split_at_checked(5).filter(|(clock, _)| has_shape(clock, "00:00"))?;
    let behind = if rest.is_empty() { rest } else { rest.strip_prefix([' ', '\n'])? };
    Some((clock.parse().ok()?, behind.trim_start_matches(' ')))
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
