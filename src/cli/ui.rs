//! What a command says: results on standard output, words for people on standard error.
//!
//! With `--json` standard output carries one JSON document (or JSON Lines) and nothing else. A reader
//! that goes away (`| head`) ends the output quietly; output that is lost otherwise is a problem.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::CommandError;

/// Whether this run has printed its JSON; a command that fails after it adds no second document.
static HAS_JSON: AtomicBool = AtomicBool::new(false);
/// Whether something of this run's results could not be written, as on a full disk.
static HAS_LOST: AtomicBool = AtomicBool::new(false);
/// Whether nobody reads this run's results any more.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Where a command's words go.
#[derive(Debug, Clone, Copy)]
pub struct Ui {
    /// Whether standard output is for programs.
    pub json: bool,
}

/// An error as programs read it.
#[derive(Debug, Serialize)]
struct ErrorDocument<'a> {
    error: &'a str,
    hints: &'a [String],
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

    /// Whether nobody reads the results any more: what is endless ends then.
    pub fn is_closed(self) -> bool {
        IS_CLOSED.load(Ordering::Relaxed) || has_hung_up()
    }

    /// Why the command failed: words on standard error, and with `--json` the document that the command
    /// didn't come to print.
    pub fn error(self, error: &CommandError) {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        let cyan = anstyle::AnsiColor::Cyan.on_default();
        self.note(format!("{red}error:{red:#} {}", error.message));
        for hint in &error.hints {
            self.note(format!("{cyan}hint:{cyan:#} {hint}"));
        }
        self.json_error(&error.message, &error.hints);
    }

    /// An error as the run's one document; nothing without `--json` or where there is one.
    pub fn json_error(self, error: &str, hints: &[String]) {
        if !HAS_JSON.load(Ordering::Relaxed) {
            self.json(&ErrorDocument { error, hints });
        }
    }

    /// One line of the result, for people; nothing with `--json`.
    pub fn line(self, text: impl AsRef<str>) {
        if !self.json {
            result_line(text.as_ref());
        }
    }

    /// A word beside the result: progress, a warning, what happened. Always on standard error.
    pub fn note(self, text: impl AsRef<str>) {
        // There is nobody to tell of a lost word.
        let _ = write_line(&mut anstream::stderr(), text.as_ref());
    }

    /// The result as one JSON document on one line; nothing without `--json`.
    pub fn json(self, value: &impl Serialize) {
        if self.json {
            self.json_line(value);
        }
    }

    /// One JSON value a line, whatever the mode (for JSON Lines).
    pub fn json_line(self, value: &impl Serialize) {
        let text = serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
        HAS_JSON.store(true, Ordering::Relaxed);
        result_line(&text);
    }

    /// A document, byte for byte.
    pub fn document(self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        heed(out.write_all(bytes).and_then(|()| out.flush()));
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

/// Whether the reader of standard output went, though nothing was written since.
#[cfg(unix)]
fn has_hung_up() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let out = std::io::stdout();
    let mut fds = [PollFd::new(&out, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().contains(PollFlags::ERR)
}

#[cfg(not(unix))]
fn has_hung_up() -> bool {
    false
}

fn result_line(text: &str) {
    heed(write_line(&mut anstream::stdout(), text));
}

/// Notes that a result was lost; that nobody reads on is no loss.
pub(super) fn heed(written: std::io::Result<()>) {
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => IS_CLOSED.store(true, Ordering::Relaxed),
        Err(_) => HAS_LOST.store(true, Ordering::Relaxed),
    }
}

fn write_line(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    writeln!(out, "{text}").and_then(|()| out.flush())
}
