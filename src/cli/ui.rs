//! What a command says: results on standard output, words for people on standard error.
//!
//! With `--json` standard output carries one JSON document (or JSON Lines) and nothing else. A reader
//! that goes away (`| head`) ends the output quietly.

use std::io::{IsTerminal, Write};

use serde::Serialize;

/// Where a command's words go.
#[derive(Debug, Clone, Copy)]
pub struct Ui {
    /// Whether standard output is for programs.
    pub json: bool,
}

impl Ui {
    /// One line of the result, for people; nothing with `--json`.
    pub fn line(self, text: impl AsRef<str>) {
        if !self.json {
            write_line(&mut anstream::stdout(), text.as_ref());
        }
    }

    /// A word beside the result: progress, a warning, what happened. Always on standard error.
    pub fn note(self, text: impl AsRef<str>) {
        write_line(&mut anstream::stderr(), text.as_ref());
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
        write_line(&mut anstream::stdout(), &text);
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

fn write_line(out: &mut impl Write, text: &str) {
    // A closed pipe means that nobody reads on: there is nobody to tell.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
