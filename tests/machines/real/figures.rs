//! Counts what came of a run: how often each line was told and each question answered, and whether all copies are one.

use super::run::Run;
use super::{CHANNEL, REST};
use crate::support::prelude::*;
use crate::sync_tool::notes;

impl Run {
    /// How often each line was told, and each question answered.
    pub(super) fn told(&self) -> (Vec<usize>, Vec<usize>) {
        let messages = self.discord.messages(CHANNEL);
        let said = messages.iter().filter(|message| message["author"]["bot"] == true).map(|message| {
            let to = message["message_reference"]["message_id"].as_str();
            (to, message["content"].as_str().unwrap_or_default())
        });
        // A note of progress is no answer.
        let said: Vec<_> = said.filter(|(_, text)| !text.starts_with("-# ⏳ ")).collect();
        let tells =
            |token: &str| said.iter().filter(|(to, text)| to.is_none() && text.contains(token)).count();
        let answers = |id: String| said.iter().filter(|(to, _)| *to == Some(id.as_str())).count();
        let lines = self.lines.iter().map(|(token, _)| tells(token)).collect();
        (lines, self.questions.iter().map(|id| answers(id.to_string())).collect())
    }

    pub(super) fn is_all_told(&self) -> bool {
        let (lines, questions) = self.told();
        lines.iter().chain(&questions).all(|count| *count > 0)
    }

    pub(super) async fn until(&self, what: &str, done: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            assert!(begun.elapsed() < 2 * REST, "waited in vain for {what}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Whether all was told, each told line was rewritten, and all copies are one.
    pub(super) fn rests(&self) -> bool {
        let copies: Vec<_> = self.machines.iter().map(|machine| notes(&machine.vault())).collect();
        let bytes = |at: usize| copies[at].iter().map(|(name, (bytes, _))| (name.clone(), bytes.clone()));
        let text = String::from_utf8_lossy(&copies[0][Path::new("Reminders.md")].0).into_owned();
        let is_written = text.lines().all(|line| !line.contains("tell-") || line.contains("date=2026-12-02"));
        self.is_all_told() && is_written && (1..3).all(|at| bytes(at).eq(bytes(0)))
    }

    pub(super) fn figures(&self) -> String {
        let (lines, questions) = self.told();
        let odd: Vec<_> = self.lines.iter().zip(&lines).filter(|(_, told)| **told != 1).collect();
        format!(
            "{} lines, not told once {odd:?}; questions, each answered so often {questions:?}; conflicts {:?}; kills of \
             daemons, of the network, of nodes, of Discord {:?}",
            lines.len(),
            self.cloud.conflicts,
            self.kills,
        )
    }
}
