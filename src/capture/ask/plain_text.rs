//! Turns a speaker's words into plain text for a memory, without markup and invisible characters. Pure.

use crate::format::invisible;
use crate::memory::wording;

/// Beginnings of a line that make it a list item, a task, a heading or a quotation.
const BEGINNINGS: [&str; 11] =
    ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "> ", "# ", "## ", "### ", "#### ", "[ ] "];

/// The words of a text on one line: without marks at its beginning and invisible characters, and with comments, embeds and
/// a block id at its end written so that they are read as text.
pub(super) fn escape_markup(text: &str) -> String {
    let words: Vec<String> = invisible::strip(text).split_whitespace().map(str::to_owned).collect();
    let line = words.join(" ");
    let mut line = line.as_str();
    while let Some(rest) = BEGINNINGS.iter().find_map(|mark| line.strip_prefix(mark)) {
        line = rest.trim_start();
    }
    let mut out = line.replace("![[", "! [[").replace("<!--", "<! --");
    while out.contains("%%") {
        out = out.replace("%%", "% %");
    }
    let last = out.rfind(' ').map_or(0, |blank| blank + 1);
    if out[last..].starts_with('^') {
        out.insert(last, '\\');
    }
    out
}

/// Whether a text and its section can be kept.
pub(in crate::capture) fn is_keepable(text: &str, section: &str) -> bool {
    wording::checked(&escape_markup(text)).is_ok() && wording::section(section).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_what_was_said_is_text() {
        for (said, kept) in [
            ("I like tea.", "I like tea."),
            ("- [ ] I like tea ^mine", "I like tea \\^mine"),
            ("# I like tea\n## and coffee", "I like tea ## and coffee"),
            ("![[Secrets]] is mine", "! [[Secrets]] is mine"),
            ("tea %%%hidden%% and <!-- more", "tea % % %hidden% % and <! -- more"),
            ("pay \u{202e}tneg\u{e0041}", "pay tneg"),
        ] {
            assert_eq!(escape_markup(said), kept, "{said:?}");
            assert_eq!(escape_markup(kept), kept, "once");
        }
    }

    #[test]
    fn what_can_not_be_kept_is_known() {
        assert!(is_keepable("I like tea", "Anna"));
        for (text, section) in [("\u{200b}", "Anna"), ("a\u{7}", "Anna"), ("I like tea", "a <!-- b")] {
            assert!(!is_keepable(text, section), "{text:?} {section}");
        }
    }
}
