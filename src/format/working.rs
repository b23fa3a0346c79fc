//! `user/working.md`: working memory, a text that is good until its expiry.
//!
//! ```text
//! # Working Memory
//! Updated: 2026-02-25T11:30:00Z
//! Expires: 2026-03-10T11:30:00Z
//!
//! What we were in the middle of.
//! ```
//!
//! Absent, malformed or expired reads as none. The grammar is `grammar/working.abnf`.

use jiff::Timestamp;

use super::lines::lines;

const HEAD: &[u8] = b"# Working Memory";

/// Working memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Working {
    /// When it was written.
    pub updated: Timestamp,
    /// From this instant on it counts for nothing.
    pub expires: Timestamp,
    /// What it says, without blank lines around it.
    pub text: String,
}

/// The working memory in a file, unless it is malformed or has expired by `now`.
pub fn parse(bytes: &[u8], now: Timestamp) -> Option<Working> {
    read(bytes).filter(|working| now < working.expires)
}

/// The working memory in a file, whether expired or not, unless it is malformed.
pub fn read(bytes: &[u8]) -> Option<Working> {
    let mut lines = lines(bytes);
    if lines.next()?.text.trim_ascii_end() != HEAD {
        return None;
    }
    let (mut updated, mut expires) = (None, None);
    for line in lines.by_ref() {
        if line.text.trim_ascii().is_empty() {
            break;
        }
        let text = std::str::from_utf8(line.text).ok()?;
        let (key, value) = text.split_once(':')?;
        let slot = match key {
            "Updated" => &mut updated,
            "Expires" => &mut expires,
            _ => return None,
        };
        if slot.replace(value.trim().parse::<Timestamp>().ok()?).is_some() {
            return None;
        }
    }
    let text: Vec<_> = lines.map(|line| String::from_utf8_lossy(line.text)).collect();
    let text = text.join("\n");
    Some(Working { updated: updated?, expires: expires?, text: trim_lines(&text).to_owned() })
}

/// The whole file.
pub fn render(working: &Working) -> String {
    let text = working.text.replace("\r\n", "\n").replace('\r', "\n");
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
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(text in "(?s)[^\\s\r]{1,9}([ \n]{1,3}[^\\s\r]{1,9}){0,4}") {
            let working = Working { updated: at("2026-02-25T11:30:00Z"), expires: at("2026-03-10T11:30:00.5Z"), text };
            prop_assert_eq!(read(render(&working).as_bytes()), Some(working));
        }

        #[test]
        fn no_bytes_panic(tail in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = read(&[b"# Working Memory\nUpdated: ".as_slice(), &tail].concat());
        }
    }
}
