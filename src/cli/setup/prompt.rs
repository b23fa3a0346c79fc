//! Prints the questions of `setup` at the terminal and reads the answers; a secret isn't shown while it is typed.

use anstyle::{AnsiColor, Style};

use crate::cli::error::CommandError;
use crate::cli::prelude::*;
use crate::setup::SetupQuestion;

const ASK: Style = Style::new().bold();
const OK: Style = AnsiColor::Green.on_default();
const WRONG: Style = AnsiColor::Yellow.on_default();
const DIM: Style = Style::new().dimmed();

/// A person at a terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    ui: Ui,
}

impl Terminal {
    /// Prints how to answer.
    pub(super) fn begin(ui: Ui) -> Self {
        ui.styled_note(format!(
            "{DIM}Enter accepts the value in brackets, `skip` skips the question, Ctrl-C quits. Nothing is written before it is shown.{DIM:#}"
        ));
        Self { ui }
    }

    /// Asks a question and returns the typed line.
    pub(super) fn ask(&self, question: &SetupQuestion) -> Result<String, CommandError> {
        match &question.problem {
            Some(problem) => {
                self.ui.styled_note(format!("{WRONG}{}{WRONG:#}", printable(problem)));
                if question.may_keep {
                    self.ui.note("`anyway` keeps it despite that, `skip` skips it.");
                }
            }
            None => self.ui.note(""),
        }
        question.lines.iter().for_each(|line| self.ui.note(line));
        let default = question.default.as_ref().map(|default| format!(" [{default}]")).unwrap_or_default();
        let prompt = format!("{ASK}{}{ASK:#}{default} ", question.ask);
        self.read_prompted(&prompt, question.step.is_secret())
    }

    /// Prints that a check succeeded.
    pub(super) fn print_ok(&self, words: &str) {
        self.ui.styled_note(format!("{OK}ok{OK:#} {}", printable(words)));
    }

    /// Asks a yes-or-no question whose usual answer is yes.
    pub(super) fn confirm(&self, question: &str) -> Result<bool, CommandError> {
        loop {
            match self.read_prompted(&format!("{ASK}{question}{ASK:#} [yes] "), false)?.trim() {
                "" | "y" | "Y" | "yes" => return Ok(true),
                "n" | "N" | "no" | "skip" => return Ok(false),
                _ => self.ui.note("type `yes` or `no`"),
            }
        }
    }

    /// Reads a line; of a secret nothing is shown. A line that isn't UTF-8 is asked for again.
    fn read_prompted(&self, prompt: &str, is_secret: bool) -> Result<String, CommandError> {
        loop {
            // Before the question is there to be answered.
            let silence = is_secret.then(HiddenInput::begin).flatten();
            let mut err = anstream::stderr();
            let _ = write!(err, "{prompt}").and_then(|()| err.flush());
            let line = read_line(&mut std::io::stdin().lock())?;
            if silence.is_some() {
                drop(silence);
                self.ui.note("");
            }
            if line.last() == Some(&INTERRUPT) {
                // Ends the program as Ctrl-C does.
                let _ =
                    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT);
            }
            // Ctrl-D.
            if line.is_empty() || line.last() == Some(&INTERRUPT) {
                let error = CommandError::problem("the setup ended before the last question");
                return Err(error.hint("nothing was written"));
            }
            match String::from_utf8(line) {
                Ok(line) => return Ok(line),
                Err(_) => {
                    self.ui.styled_note(format!("{WRONG}that is no UTF-8 text; type it again{WRONG:#}"));
                }
            }
        }
    }
}

/// Ctrl-C, where it ends a line instead of the program.
const INTERRUPT: u8 = 0x03;

/// The bytes up to the end of a line, or to a Ctrl-C; none at the end of the input.
fn read_line(input: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let bytes = input.fill_buf()?;
        let end = bytes.iter().position(|byte| matches!(*byte, b'\n' | INTERRUPT));
        let taken = end.map_or(bytes.len(), |at| at + 1);
        line.extend_from_slice(&bytes[..taken]);
        input.consume(taken);
        if end.is_some() || taken == 0 {
            return Ok(line);
        }
    }
}

/// Hides typed characters until it is dropped. Ctrl-C ends a line meanwhile, so that the terminal is always restored.
struct HiddenInput {
    before: rustix::termios::Termios,
}

impl HiddenInput {
    fn begin() -> Option<Self> {
        use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
        let input = std::io::stdin();
        let before = tcgetattr(&input).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
        quiet.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
        tcsetattr(&input, OptionalActions::Now, &quiet).ok()?;
        Some(Self { before })
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}
