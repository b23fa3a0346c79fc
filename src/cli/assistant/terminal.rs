//! Acts as the conversation at the terminal: prints an answer as it arrives, notes on standard error, and asks the person
//! whether a call may happen.

use std::io::{BufRead, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::agent::approvals::{ApprovalDecision, allow, decide_without_asking};
use crate::agent::tools::{ApprovalRequest, ApprovalSubject, ApprovalVerdict, Approvals};
use crate::cli::prelude::*;
use crate::format::approval::{self, Approval, shown};
use crate::terminal::{Ui, escape_control};
use crate::turn::Conversation;
use crate::vault::Actor;

/// A terminal that shows the answer as it comes.
pub(super) struct TerminalConversation {
    pub live: bool,
    pub shown: Mutex<String>,
    pub ui: Ui,
    /// The path of the note of approvals.
    pub note: String,
}

impl TerminalConversation {
    /// The part of a whole answer that isn't printed yet; none where other text was printed.
    pub(super) fn unprinted<'a>(&self, text: &'a str) -> Option<&'a str> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        text.strip_prefix(shown.trim())
    }
}

#[async_trait]
impl Conversation for TerminalConversation {
    async fn ask_approval(&self, asked: &Approval) {
        let run = approval::quoted(&asked.run);
        self.ui.note(format!("{} waits for a tick in {}: {run}; then ask again", asked.id, self.note));
    }

    fn progress(&self, _: &str) {
        // A call begins: the text of an earlier one is no part of its answer.
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::take(&mut *shown).is_empty() {
            print_now("\n\n");
        }
    }

    fn partial_text(&self, text: &str) {
        if self.live {
            self.shown.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
            print_now(text);
        }
    }
}

pub(super) fn print_now(text: &str) {
    // A closed output is reported when the whole answer is printed.
    let _ = write_tamed(&mut anstream::stdout().lock(), text);
}

/// Writes a part of an answer without control characters. An escape sequence that is cut into two parts loses its effect.
pub(super) fn write_tamed(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    out.write_all(escape_control(text).as_bytes()).and_then(|()| out.flush())
}

/// The time after which an unanswered question expires.
const WAIT: Duration = Duration::from_secs(30 * 60);

/// Asks on the terminal.
pub(super) struct TerminalApprovals(pub Arc<Workspace>);

#[async_trait]
impl Approvals for TerminalApprovals {
    async fn ask(&self, asked: ApprovalRequest<'_>) -> Result<ApprovalVerdict, String> {
        let ApprovalRequest { subject: wanted, caller, stop, .. } = asked;
        if let Some(verdict) = decide_without_asking(&self.0, wanted, caller)? {
            return Ok(verdict);
        }
        let (question, always) = (question(wanted, &caller.brain), wanted.always.is_some());
        let read = tokio::task::spawn_blocking(move || {
            ask(&question, always, &mut std::io::stdin().lock(), &mut anstream::stderr().lock())
        });
        let word = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(ApprovalVerdict::No),
            word = read => word.map_err(|error| format!("it went wrong inside: {error}"))?,
            () = tokio::time::sleep(self.0.clock.sleep(WAIT)) => return Ok(ApprovalVerdict::Expired),
        };
        match (word, &wanted.always) {
            (ApprovalDecision::No, _) => return Ok(ApprovalVerdict::No),
            (ApprovalDecision::Always, Some(pattern)) => allow(&self.0, pattern, Actor::Cli)?,
            _ => {}
        }
        Ok(ApprovalVerdict::Yes)
    }
}

/// The text of the question.
fn question(wanted: &ApprovalSubject, brain: &str) -> String {
    let why = if wanted.why.is_empty() { String::new() } else { format!(" ({})", one_line(&wanted.why)) };
    let run: String = shown(&wanted.run).lines().map(|line| format!("  {line}\n")).collect();
    let hash =
        wanted.hash.as_ref().map(|hash| format!("Its files have the hash {hash}.\n")).unwrap_or_default();
    let always =
        wanted.always.as_ref().map(|pattern| format!("Always would allow `{}`.\n", one_line(pattern)));
    format!("\n{brain} asks whether this may run{why}:\n{run}{hash}{}", always.unwrap_or_default())
}

fn one_line(text: &str) -> String {
    shown(text).replace('\n', "\\n")
}

/// Asks until there is a decision. The end of the input declines.
fn ask(question: &str, always: bool, input: &mut dyn BufRead, out: &mut dyn Write) -> ApprovalDecision {
    let _ = out.write_all(question.as_bytes());
    loop {
        let choice = if always { "[o]nce, [a]lways, [n]o? " } else { "[o]nce, [n]o? " };
        let _ = out.write_all(choice.as_bytes()).and_then(|()| out.flush());
        let mut line = String::new();
        match input.read_line(&mut line) {
            Ok(0) | Err(_) => return ApprovalDecision::No,
            Ok(_) => {}
        }
        match line.trim().to_lowercase().as_str() {
            "o" | "once" | "y" | "yes" => return ApprovalDecision::Once,
            "a" | "always" if always => return ApprovalDecision::Always,
            "n" | "no" => return ApprovalDecision::No,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(input: &str, always: bool) -> (ApprovalDecision, String) {
        let mut out = Vec::new();
        let word = ask("run?\n", always, &mut input.as_bytes(), &mut out);
        (word, String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_decision_is_waited_for_and_end_of_input_is_no() {
        assert_eq!(asked("o\n", true).0, ApprovalDecision::Once);
        assert_eq!(asked("Always\n", true).0, ApprovalDecision::Always);
        assert_eq!(
            asked("a\nn\n", false),
            (ApprovalDecision::No, "run?\n[o]nce, [n]o? [o]nce, [n]o? ".to_owned())
        );
        assert_eq!(asked("\nwhat\nno\n", true).0, ApprovalDecision::No);
        assert_eq!(asked("", true).0, ApprovalDecision::No);
    }

    #[test]
    fn the_command_is_shown_in_full() {
        let wanted = ApprovalSubject {
            run: "echo a\ncurl \u{202e}x\u{1b}[2K".into(),
            hash: None,
            why: "net\nwork".into(),
            always: Some("bash:echo *".into()),
            reusable: false,
        };
        insta::assert_snapshot!(question(&wanted, "claude"), @r"
        claude asks whether this may run (net\nwork):
          echo a
          curl \u{202e}x\u{1b}[2K
        Always would allow `bash:echo *`.
        ");
    }
}
