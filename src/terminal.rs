//! Prints the program's output: results on standard output, messages for people on standard error.
//!
//! With `--json` standard output carries one JSON document (or JSON Lines) and nothing else. If the reader goes away
//! (`| head`), output ends quietly; any other lost output is an error. Control characters from notes, and marks that
//! turn text around, never reach the terminal; the colours and links there are our own.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

/// Whether this run has printed its JSON; a command that fails after it adds no second document.
static HAS_JSON: AtomicBool = AtomicBool::new(false);
/// Whether something of this run's results could not be written, as on a full disk.
static HAS_LOST: AtomicBool = AtomicBool::new(false);
/// Whether the reader of this run's results has closed its end.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// The outputs of a command.
#[derive(Debug, Clone, Copy)]
pub struct Ui {
    /// Whether standard output is for programs.
    pub json: bool,
}

impl Ui {
    /// The output of one run of the program.
    pub fn begin(json: bool) -> Self {
        HAS_JSON.store(false, Ordering::Relaxed);
        HAS_LOST.store(false, Ordering::Relaxed);
        IS_CLOSED.store(false, Ordering::Relaxed);
        Self { json }
    }

    /// Whether some of the results could not be written.
    pub fn has_lost(self) -> bool {
        HAS_LOST.load(Ordering::Relaxed)
    }

    /// Whether the reader of the results has closed its end, which ends endless output.
    pub fn is_closed(self) -> bool {
        IS_CLOSED.load(Ordering::Relaxed) || has_hung_up()
    }

    /// Prints why a command failed: words on standard error; with `--json` also the run's document, if none was printed
    /// yet.
    pub fn error(self, message: &str, hints: &[String]) {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        let cyan = anstyle::AnsiColor::Cyan.on_default();
        self.styled_note(format!("{red}error:{red:#} {}", printable(message)));
        hints.iter().for_each(|hint| self.styled_note(format!("{cyan}hint:{cyan:#} {}", printable(hint))));
        self.json_error(message, hints);
    }

    /// Prints an error as the run's one document; nothing without `--json`, or if a document was printed.
    pub fn json_error(self, error: &str, hints: &[String]) {
        if !HAS_JSON.load(Ordering::Relaxed) {
            self.json(&serde_json::json!({ "error": error, "hints": hints }));
        }
    }

    /// Prints one line of the result, for people; nothing with `--json`.
    pub fn line(self, text: impl AsRef<str>) {
        self.styled_line(&printable(text.as_ref()));
    }

    /// As [`Self::line`], with colours and links; texts of others in it are [`printable`].
    pub fn styled_line(self, text: &str) {
        if !self.json {
            result_line(&escape_control(text));
        }
    }

    /// Prints one line of the result with text of notes: a terminal gets no control characters but those of colours and
    /// links, a program all but the sequences of terminals. False where the reader is gone.
    pub fn line_of_notes(self, text: &str) -> bool {
        let shown = if std::io::stdout().is_terminal() { escape_control(text) } else { text.into() };
        result_line(&shown);
        !self.is_closed()
    }

    /// Prints a message beside the result: progress, a warning, an event. Always on standard error.
    pub fn note(self, text: impl AsRef<str>) {
        self.styled_note(printable(text.as_ref()));
    }

    /// As [`Self::note`], with colours; texts of others in it are [`printable`].
    pub fn styled_note(self, text: impl AsRef<str>) {
        // A lost word can't be reported.
        let _ = write_line(&mut anstream::stderr(), &escape_control(text.as_ref()));
    }

    /// Prints the result as one JSON document on one line; nothing without `--json`.
    pub fn json(self, value: &impl Serialize) {
        if self.json {
            self.json_line(value);
        }
    }

    /// Prints one JSON value on a line, whatever the mode (for JSON Lines).
    pub fn json_line(self, value: &impl Serialize) {
        let text = serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
        HAS_JSON.store(true, Ordering::Relaxed);
        result_line(&text);
    }

    /// Prints a document: byte for byte, but to a terminal without control characters.
    pub fn document_of_notes(self, text: &str) {
        if std::io::stdout().is_terminal() {
            self.document(printable(text).as_bytes());
        } else {
            self.document(text.as_bytes());
        }
    }

    /// Prints a document, byte for byte.
    pub fn document(self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        record_write_error(out.write_all(bytes).and_then(|()| out.flush()));
    }

    /// Whether a person can answer a question here.
    pub fn can_ask(self) -> bool {
        !self.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Asks a yes-or-no question; no answer is no.
    pub fn confirm(self, question: &str) -> bool {
        let mut err = anstream::stderr();
        let _ = write!(err, "{question} [y/N] ").and_then(|()| err.flush());
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).is_ok_and(|_| matches!(answer.trim(), "y" | "Y" | "yes"))
    }
}

/// Whether a terminal does something else with a character than to show it in its place.
fn is_wild(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t' || matches!(c, '\u{202d}' | '\u{202e}')
}

/// Escapes control characters of a text for people, except for colours and links: text of others could fill the
/// clipboard, name the window, or overwrite earlier lines.
fn escape_control(text: &str) -> Cow<'_, str> {
    if !text.contains(is_wild) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        let length = if c == '\u{1b}' { ours(rest) } else { 0 };
        let length = if length > 0 { length } else { c.len_utf8() };
        let (taken, after) = rest.split_at(length);
        match taken {
            "\r" if after.starts_with('\n') => {}
            _ if length == c.len_utf8() && is_wild(c) => out.push('\u{fffd}'),
            _ => out.push_str(taken),
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// The length of the colour or link that a text begins with; 0 for any other text.
fn ours(text: &str) -> usize {
    if let Some(colour) = text.strip_prefix("\u{1b}[") {
        let end = colour.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(colour.len());
        return if colour[end..].starts_with('m') { 2 + end + 1 } else { 0 };
    }
    let Some(link) = text.strip_prefix("\u{1b}]8;") else { return 0 };
    let end = link.find(char::is_control).unwrap_or(link.len());
    if link[end..].starts_with("\u{1b}\\") { 4 + end + 2 } else { 0 }
}

/// Whether the reader of standard output has closed it, also if nothing was written since.
fn has_hung_up() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let out = std::io::stdout();
    let mut fds = [PollFd::new(&out, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().contains(PollFlags::ERR)
}

fn result_line(text: &str) {
    record_write_error(write_line(&mut anstream::stdout(), text));
}

/// Records that a result could not be written. A reader that has closed its end is no loss.
fn record_write_error(written: std::io::Result<()>) {
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => IS_CLOSED.store(true, Ordering::Relaxed),
        Err(_) => HAS_LOST.store(true, Ordering::Relaxed),
    }
}

fn write_line(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    writeln!(out, "{text}").and_then(|()| out.flush())
}

/// A text of others, safe for a terminal.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_wild) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if is_wild(c) { '\u{fffd}' } else { c };
    Cow::Owned(text.replace("\r\n", "\n").chars().map(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_links_pass_and_nothing_else_does() {
        for own in [
            "plain\ttext\nmore ❦",
            "\u{1b}[1;31merror:\u{1b}[0m x",
            "\u{1b}]8;;obsidian://a\u{1b}\\a\u{1b}]8;;\u{1b}\\",
        ] {
            assert_eq!(escape_control(own), own);
        }
        assert_eq!(printable("\u{1b}[31mred\u{202e}\r\nb"), "\u{fffd}[31mred\u{fffd}\nb");
        for (theirs, shown) in [
            ("\u{1b}]52;c;aGk=\u{7}", "\u{fffd}]52;c;aGk=\u{fffd}"),
            ("\u{1b}[2J\u{1b}[H", "\u{fffd}[2J\u{fffd}[H"),
            ("\u{1b}]0;name\u{1b}\\", "\u{fffd}]0;name\u{fffd}\\"),
            ("\u{1b}]8;;x\u{7}", "\u{fffd}]8;;x\u{fffd}"),
            ("\u{9b}2J a\rb\u{8}\u{7f}", "\u{fffd}2J a\u{fffd}b\u{fffd}\u{fffd}"),
            ("one\r\ntwo\u{1b}", "one\ntwo\u{fffd}"),
        ] {
            assert_eq!(escape_control(theirs), shown);
        }
    }
}
