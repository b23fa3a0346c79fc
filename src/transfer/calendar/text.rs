//! Writes content lines: escaped, folded and ended as in RFC 5545.

/// The most octets of a line, without its end.
const FOLD_AT: usize = 75;

/// Writes content lines.
#[derive(Debug, Default)]
pub struct CalendarWriter(String);

impl CalendarWriter {
    /// A line with a value that needs no escaping.
    pub fn line(&mut self, name: &str, value: &str) {
        let mut room = FOLD_AT;
        for c in name.chars().chain([':']).chain(value.chars()) {
            if c.len_utf8() > room {
                // A folded line goes on behind one space, which counts.
                self.0.push_str("\r\n ");
                room = FOLD_AT - 1;
            }
            self.0.push(c);
            room -= c.len_utf8();
        }
        self.0.push_str("\r\n");
    }

    /// A line with a text.
    pub fn text(&mut self, name: &str, text: &str) {
        self.line(name, &escape(text));
    }

    /// All lines.
    pub fn finish(self) -> String {
        self.0
    }
}

/// A text as a value: line breaks, commas, semicolons and backslashes escaped; control characters, which
/// no value may hold, are spaces.
pub fn escape(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\\' | ';' | ',' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push(c),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_lines_are_folded_between_characters() {
        let mut out = CalendarWriter::default();
        out.text("SUMMARY", &format!("{}é;b\n", "a".repeat(66)));
        assert_eq!(out.finish(), format!("SUMMARY:{}\r\n é\\;b\\n\r\n", "a".repeat(66)));
    }

    proptest! {
        #[test]
        fn no_line_is_too_long_and_nothing_is_lost(text in "\\PC{0,200}") {
            let mut out = CalendarWriter::default();
            out.line("X", &text);
            let out = out.finish();
            prop_assert!(out.split("\r\n").all(|line| line.len() <= FOLD_AT));
            prop_assert_eq!(out.replace("\r\n ", ""), format!("X:{text}\r\n"));
        }
    }
}
