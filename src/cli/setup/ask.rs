//! The terminal: a question is printed, a line is read; a secret isn't shown while it is typed.

use std::io::{BufRead, Write};

use anstyle::{AnsiColor, Style};

use crate::cli::error::CommandError;
use crate::setup::Question;
use crate::terminal::Ui;

const ASK: Style = Style::new().bold();
const WELL: Style = AnsiColor::Green.on_default();
const WRONG: Style = AnsiColor::Yellow.on_default();
const DIM: Style = Style::new().dimmed();

/// A person at a terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    ui: Ui,
}

impl Terminal {
    /// Says how it goes.
    pub(super) fn begin(ui: Ui) -> Self {
        ui.note(format!(
            "{DIM}Enter takes what stands in brackets, `skip` leaves it out, Ctrl-C ends it. Nothing is written before it is shown.{DIM:#}"
        ));
        Self { ui }
    }

    /// Asks, and gives what was typed.
    pub(super) fn ask(&self, question: &Question) -> Result<String, CommandError> {
        match &question.problem {
            Some(problem) => {
                self.ui.note(format!("{WRONG}{problem}{WRONG:#}"));
                if question.may_keep {
                    self.ui.note("`anyway` keeps it all the same, `skip` leaves it out.");
                }
            }
            None => self.ui.note(""),
        }
        question.lines.iter().for_each(|line| self.ui.note(line));
        let default = question.default.as_ref().map(|default| format!(" [{default}]")).unwrap_or_default();
        let prompt = format!("{ASK}{}{ASK:#}{default} ", question.ask);
        let echo = question.step.is_secret().then(Silence::begin).flatten();
        let line = self.line(&prompt)?;
        if let Some(silence) = echo {
            drop(silence);
            self.ui.note("");
        }
        Ok(line)
    }

    /// That something is well.
    pub(super) fn well(&self, words: &str) {
        self.ui.note(format!("{WELL}ok{WELL:#} {words}"));
    }

    /// Asks a yes-or-no question whose usual answer is yes.
    pub(super) fn confirm(&self, question: &str) -> Result<bool, CommandError> {
        loop {
            match self.line(&format!("{ASK}{question}{ASK:#} [yes] "))?.trim() {
                "" | "y" | "Y" | "yes" => return Ok(true),
                "n" | "N" | "no" | "skip" => return Ok(false),
                _ => self.ui.note("type `yes` or `no`"),
            }
        }
    }

    #[expect(clippy::unused_self, reason = "there is a terminal")]
    fn line(&self, prompt: &str) -> Result<String, CommandError> {
        let mut err = anstream::stderr();
        let _ = write!(err, "{prompt}").and_then(|()| err.flush());
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line)? {
            // Ctrl-D.
            0 => {
                Err(CommandError::problem("it was ended before the last question")
                    .hint("nothing was written"))
            }
            _ => Ok(line),
        }
    }
}

/// A terminal that doesn't show what is typed, until this goes.
struct Silence {
    #[cfg(unix)]
    before: rustix::termios::Termios,
}

impl Silence {
    #[cfg(unix)]
    fn begin() -> Option<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let input = std::io::stdin();
        let before = tcgetattr(&input).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&input, OptionalActions::Now, &quiet).ok()?;
        Some(Self { before })
    }

    #[cfg(not(unix))]
    fn begin() -> Option<Self> {
        None
    }
}

#[cfg(unix)]
impl Drop for Silence {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}
