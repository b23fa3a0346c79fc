//! Implements a turn's conversation at the terminal: prints its progress on standard error, and asks the person to
//! approve calls.

use async_trait::async_trait;

use crate::agent::approvals::{ApprovalDecision, allow, decide_without_asking};
use crate::agent::tools::{ApprovalRequest, ApprovalSubject, ApprovalVerdict, Approvals};
use crate::cli::prelude::*;
use crate::format::approval::{self, Approval, shown};
use crate::turn::Conversation;

/// The terminal of a question. An answer is printed when it is whole.
pub(super) struct TerminalConversation {
    pub ui: Ui,
    /// The path of the note of approvals.
    pub note: String,
}

#[async_trait]
impl Conversation for TerminalConversation {
    async fn ask_approval(&self, asked: &Approval) {
        let run = approval::quoted(&asked.run);
        self.ui.note(format!("{} waits for a tick in {}: {run}; then ask again", asked.id, self.note));
    }

    fn progress(&self, words: &str) {
        if std::io::stderr().is_terminal() {
            self.ui.note(words);
        }
    }
}

/// The time after which an unanswered question expires.
const WAIT: Duration = Duration::from_secs(30 * 60);

/// Asks on the terminal.
pub(super) struct TerminalApprovals(pub Arc<Workspace>, pub Ui);

#[async_trait]
impl Approvals for TerminalApprovals {
    async fn ask(&self, asked: ApprovalRequest<'_>) -> Result<ApprovalVerdict, String> {
        let ApprovalRequest { subject: wanted, caller, stop, .. } = asked;
        if let Some(verdict) = decide_without_asking(&self.0, wanted, caller)? {
            return Ok(verdict);
        }
        let (question, always) = (question(wanted, &caller.brain), wanted.always.is_some());
        // Standard error is locked for each write alone: a stop or an expiry is reported while this waits for a line.
        let read = tokio::task::spawn_blocking(move || {
            // An expired question may still read. What was typed before this one is no answer to it.
            let mut input = std::io::stdin().lock();
            let _ = rustix::termios::tcflush(&input, rustix::termios::QueueSelector::IFlush);
            ask(&question, always, &mut input, &mut anstream::stderr())
        });
        let word = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(ApprovalVerdict::No),
            word = read => word.map_err(|error| format!("internal error: {error}"))?,
            () = tokio::time::sleep(self.0.clock.sleep(WAIT)) => return Ok(ApprovalVerdict::Expired),
        };
        match (word, &wanted.always) {
            (ApprovalDecision::No, _) => return Ok(ApprovalVerdict::No),
            (ApprovalDecision::Always, Some(pattern)) => {
                if let Err(why) = allow(&self.0, pattern, Actor::Cli) {
                    self.1.note(format!("it runs once: {why}"));
                }
            }
            _ => {}
        }
        Ok(ApprovalVerdict::Yes)
    }
}

/// The text of the question.
fn question(wanted: &ApprovalSubject, brain: &str) -> String {
    let why = if wanted.why.is_empty() { String::new() } else { format!(" ({})", one_line(&wanted.why)) };
    let run: String = shown(&wanted.run).lines().map(|line| format!("  {line}\n")).collect();
    let hash = wanted.hash.as_ref().map(|hash| format!("Hash of its files: {hash}.\n")).unwrap_or_default();
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
