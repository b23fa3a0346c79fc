//! Parses and renders the note of working memory (by default `user/working.md`), a text that is valid until its expiry.
//!
//! ```text
//! # Working Memory
//! Updated: 2026-02-25T11:30:00Z
//! Expires: 2026-03-10T11:30:00Z
//!
//! The current work, in a few sentences.
//! ```
//!
//! A note that is absent, malformed or expired counts as no working memory. The grammar is `grammar/working.abnf`.

use jiff::Timestamp;

use super::lines::lines;
use super::with_line_feeds;

const HEAD: &[u8] = b"# Working Memory";

/// Working memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingMemory {
    /// When it was written.
    pub updated: Timestamp,
    /// From this instant on it counts for nothing.
    pub expires: Timestamp,
    /// Its text, without blank lines around it.
    pub text: String,
}

/// The working memory in a file, unless it is malformed or has expired by `now`.
pub fn parse(bytes: &[u8], now: Timestamp) -> Option<WorkingMemory> {
    read(bytes).filter(|working| now < working.expires)
}

/// The working memory in a file, whether expired or not, unless it is malformed.
pub fn read(bytes: &[u8]) -> Option<WorkingMemory> {
    checked(bytes).ok()
}

/// The same; else the line, from 1, at which the file is malformed, and what stands there.
///
/// # Errors
/// As said.
pub fn checked(bytes: &[u8]) -> Result<WorkingMemory, (usize, String)> {
    let mut lines = lines(bytes);
    if lines.next().is_none_or(|line| line.text.trim_ascii_end() != HEAD) {
        return Err((1, "the first line is not `# Working Memory`".to_owned()));
    }
    let (mut updated, mut expires, mut last) = (None, None, 1);
    for line in lines.by_ref() {
        last += 1;
        let text = String::from_utf8_lossy(line.text);
        if text.trim().is_empty() {
            break;
        }
        let slot = match text.split_once(':') {
            Some(("Updated", _)) => &mut updated,
            Some(("Expires", _)) => &mut expires,
            _ => return Err((last, "this is neither `Updated:`, `Expires:` nor an empty line".to_owned())),
        };
        let value = text.split_once(':').map_or("", |(_, value)| value.trim());
        let Ok(at) = value.parse::<Timestamp>() else {
            return Err((last, format!("{} is no instant", super::quote(value))));
        };
        if slot.replace(at).is_some() {
            return Err((last, "this line stands twice".to_owned()));
        }
    }
    let text: Vec<_> = lines.map(|line| String::from_utf8_lossy(line.text)).collect();
    let text = trim_lines(&text.join("\n")).to_owned();
    match (updated, expires) {
        (Some(updated), Some(expires)) => Ok(WorkingMemory { updated, expires, text }),
        (None, _) => Err((last, "there is no line `Updated:`".to_owned())),
        (_, None) => Err((last, "there is no line `Expires:`".to_owned())),
    }
}

/// The whole file.
pub fn render(working: &WorkingMemory) -> String {
    let text = with_line_feeds(&working.text);
    let (head, updated, expires) = ("# Working Memory", working.updated, working.expires);
    format!("{head}\nUpdated: {updated}\nExpires: {expires}\n\n{}\n", trim_lines(&text))
}

/// A text without the blank lines around it.
fn trim_lines(text: &str) -> &str {
    let text = text.trim_end();
    let start = text.len() - text.trim_start().len();
    &text[text[..start].rfind('\n').map_or(0, |at| at + 1)..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn expired_or_malformed_is_none() {
        let now = at("2026-03-01T00:00:00Z");
        let file = "# Working Memory\r\nExpires: 2026-03-10T11:30:00Z\r\nUpdated: 2026-02-25T11:30:00Z\r\n\r\n\r\n  two\r\n\r\nparts\r\n";
        let read = parse(file.as_bytes(), now).unwrap();
        assert_eq!(read.text, "  two\n\nparts");
        assert_eq!(parse(file.as_bytes(), at("2026-03-10T11:30:00Z")), None);
        for bad in [
            "",
            "# Working memory\n",
            "# Working Memory\n\ntext",
            "# Working Memory\nUpdated: 2026-02-25T11:30:00Z\n\ntext",
            "# Working Memory\nUpdated: x\nExpires: 2026-03-10T11:30:00Z\n\ntext",
            "# Working Memory\nUpdated: 2026-02-25T11:30:00Z\nExpires: 2026-03-10T11:30:00Z\ntext",
        ] {
            assert_eq!(parse(bad.as_bytes(), now), None, "{bad}");
        }
        let problem =
            |head: &str| checked(format!("# Working Memory\n{head}\n\ntext").as_bytes()).unwrap_err();
        let good = "Updated: 2026-02-25T11:30:00Z";
        assert_eq!(problem(good), (3, "there is no line `Expires:`".into()));
        assert_eq!(problem(&format!("{good}\nExpires: soon")), (3, "`soon` is no instant".into()));
        assert_eq!(problem(&format!("{good}\n{good}")), (3, "this line stands twice".into()));
        assert!(problem("Updated 2026").1.starts_with("this is neither"));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(text in "(?s)[^\\s\r]{1,9}([ \n]{1,3}[^\\s\r]{1,9}){0,4}") {
            let working = WorkingMemory { updated: at("2026-02-25T11:30:00Z"), expires: at("2026-03-10T11:30:00.5Z"), text };
            prop_assert_eq!(read(render(&working).as_bytes()), Some(working));
        }

        #[test]
        fn no_bytes_panic(tail in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = read(&[b"# Working Memory\nUpdated: ".as_slice(), &tail].concat());
        }
    }
}
