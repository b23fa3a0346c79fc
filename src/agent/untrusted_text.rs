//! Decides whether an event of a log, a tool's result or recalled memories hold untrusted text. Such text may contain
//! instructions to a brain.
//!
//! Untrusted are:
//! - output of the shell, of MCP servers and of a harness's own tools;
//! - attached files, forwarded messages, and words of other people;
//! - text from logs, from summaries, or from other programs' memories.

use std::collections::HashMap;

use super::tools::Toolbox;
use crate::config::PathSettings;
use crate::format::log::{EventKind, FORWARDED, INJECTED, LogEvent};
use crate::search::results::injection::Injection;
use crate::turn::files::AttachedFile;

/// Judges the events of one log.
pub(super) struct UntrustedText<'a> {
    tools: &'a dyn Toolbox,
    paths: &'a PathSettings,
    /// The names of our own tools.
    ours: Vec<String>,
    /// The tools that were judged before: a long log has the same few names again and again.
    known: HashMap<String, bool>,
    /// The author of the question, and the agents of the log.
    trusted: Vec<&'a str>,
}

impl<'a> UntrustedText<'a> {
    /// For turns with these tools, in a vault with these paths. The words of the `trusted` authors are trusted.
    pub fn new(tools: &'a dyn Toolbox, paths: &'a PathSettings, trusted: Vec<&'a str>) -> Self {
        let ours = tools.specs().into_iter().map(|spec| spec.name).collect();
        Self { tools, paths, ours, known: HashMap::new(), trusted }
    }

    /// Whether an event holds untrusted text.
    pub fn is_in_event(&mut self, event: &LogEvent) -> bool {
        match event.kind {
            EventKind::User => {
                !self.trusted.contains(&event.author.as_str()) || event.content.contains(FORWARDED)
            }
            EventKind::Tool => self.is_in_result(&event.author, &event.content),
            EventKind::Recall => self.is_in_memories(&event.content),
            EventKind::System => event.content.lines().any(|line| AttachedFile::parse(line).is_some()),
            EventKind::Agent => false,
        }
    }

    /// Whether a tool's result holds untrusted text. A harness's own tools read what they like.
    pub fn is_in_result(&mut self, tool: &str, result: &str) -> bool {
        let (ours, tools) = (&self.ours, self.tools);
        let is_foreign = || !ours.iter().any(|own| own == tool) || tools.untrusted(tool);
        *self.known.entry(tool.to_owned()).or_insert_with(is_foreign) || self.names_others(result)
    }

    /// Whether recalled memories hold words of others.
    pub fn is_in_memories(&self, text: &str) -> bool {
        let json = text.split_once(INJECTED).map(|(_, json)| json).filter(|json| json.starts_with("\n{"));
        let Some(json) = json else { return self.names_others(text) };
        // Memories that a brain chose don't say where they stand.
        let Some(Ok(found)) = serde_json::Deserializer::from_str(json).into_iter::<Injection>().next() else {
            return true;
        };
        let is_trusted = |author: &str| self.trusted.contains(&author);
        let mut of_others = found.memories.iter().filter(|one| self.names_others(&one.path));
        of_others.any(|one| !one.author.as_deref().is_some_and(is_trusted) || one.excerpt.contains(FORWARDED))
    }

    /// Whether a text, of a tool or of memory, names a log, a summary or another program's memory (`memory/NAME/…`).
    fn names_others(&self, text: &str) -> bool {
        let spoken =
            [&self.paths.logs, &self.paths.summaries].map(|path| format!("{}/", path.trim_end_matches('/')));
        let begins = |at: usize| at == 0 || text[..at].ends_with([' ', '\n', '"', '[', '(']);
        let is_program =
            |at: usize| text[at..].split([' ', '\n', '"', ']']).next().is_some_and(|it| it.contains('/'));
        let mut memories = text.match_indices("memory/").map(|(at, folder)| (at, at + folder.len()));
        spoken.iter().flat_map(|folder| text.match_indices(folder)).any(|(at, _)| begins(at))
            || memories.any(|(at, name)| begins(at) && is_program(name))
    }
}
