//! Counts what came of a run: how often each line was told and each question answered, and whether all copies are one.

use super::run::Run;
use super::{CHANNEL, REST};
use crate::support::prelude::*;
use crate::sync_tool::notes;

impl Run {
    /// How often each line was told, and each question answered.
    pub(super) fn told(&self) -> (Vec<usize>, Vec<usize>) {
        let messages = self.discord.messages(CHANNEL);
        // A note of progress is no answer.
        let is_said = |message: &&serde_json::Value| {
            let text = message["content"].as_str().unwrap_or_default();
            message["author"]["bot"] == true && !text.starts_with("-# ⏳ ")
        };
        let by_bot = || messages.iter().filter(is_said);
        let to = |message: &serde_json::Value| {
            message["message_reference"]["message_id"].as_str().map(str::to_owned)
        };
        let tells = |token: &str| {
            let alone = by_bot().filter(|message| to(message).is_none());
            alone
                .filter(|message| message["content"].as_str().is_some_and(|text| text.contains(token)))
                .count()
        };
        let replies =
            |question: &u64| by_bot().filter(|message| to(message) == Some(question.to_string())).count();
        (
            self.lines.iter().map(|(token, _)| tells(token)).collect(),
            self.questions.iter().map(replies).collect(),
        )
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
