//! A large vault: many notes, reminders and facts, and a long history.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::served::*;

/// How much of each.
#[derive(Debug, Clone, Copy)]
pub struct Large {
    pub notes: usize,
    pub reminders: usize,
    pub operations: usize,
    pub facts: usize,
}

/// The vault that the page is made for.
pub const LARGE: Large = Large { notes: 10_000, reminders: 2_000, operations: 5_000, facts: 1_000 };

const WRITERS: [&str; 5] = ["scheduler", "scheduler", "cli", "assistant", "human"];

impl Large {
    pub fn vault(self) -> TestVault {
        let vault = listening("");
        vault.write("MEMORY.md", self.memory());
        vault.write("Reminders.md", self.lines());
        drop(vault.run(&["history"]).ok());
        self.operate(&vault);
        for at in 0..self.notes {
            let text = format!("# Note {at}\nThe words of number {at} are about topic {}.\n", at % 97);
            vault.write(format!("many/{}/note {at}.md", at % 100), text);
        }
        vault
    }

    fn lines(self) -> String {
        (0..self.reminders).fold(String::from("# Reminders\n\n"), |mut out, at| {
            let (day, hour, minute) = (1 + at % 28, at % 24, at % 60);
            let recur = if at % 50 == 0 { "weekly" } else { "none" };
            let _ = writeln!(
                out,
                "- [ ] date=2026-12-{day:02} time={hour:02}:{minute:02} recur={recur} msg=\"Number {at}\""
            );
            out
        })
    }

    fn memory(self) -> String {
        (0..self.facts).fold(String::from("# Memory\n"), |mut out, at| {
            if at % 10 == 0 {
                let _ = writeln!(out, "\n## Section {}", at / 10);
            }
            let _ = writeln!(out, "- fact number {at}");
            out
        })
    }

    /// Changes of one note, written as the program writes them, by git's own import: one by one they would take minutes.
    fn operate(self, vault: &TestVault) {
        let mut git = Command::new("git");
        git.arg("--git-dir").arg(vault.state().join("history.git"));
        git.args(["fast-import", "--quiet", "--force"]).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut git = git.spawn().expect("git, to make a long history");
        let mut input = std::io::BufWriter::new(git.stdin.take().expect("a pipe"));
        let first = 1_796_000_000 - 600 * self.operations;
        for at in 0..self.operations {
            let who = WRITERS[at % WRITERS.len()];
            let from = if at == 0 { "from refs/heads/main^0\n" } else { "" };
            let text = format!("# Log\n\n- line {at}\n- line {}\n", at / 2);
            let message = format!("changed: number {at}\n\nActor: {who}\nNote: Log.md\n");
            write!(
                input,
                "commit refs/heads/main\ncommitter {who} <{who}@vault-agent.invalid> {} +0000\ndata {}\n{message}\n{from}M 100644 inline Log.md\ndata {}\n{text}\n",
                first + 600 * at,
                message.len(),
                text.len(),
            )
            .expect("git reads");
        }
        drop(input);
        assert!(git.wait().expect("git").success());
    }
}
