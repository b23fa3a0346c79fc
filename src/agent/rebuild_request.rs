//! Rebuilds the request of a past turn from the notes, and compares its hash with that of the request that was sent.
//!
//! A turn's id, the turn journal (if it exists) and the tools of its purpose come in. A [`RebuiltRequest`] goes out,
//! with the reason for a difference. The present notes and settings are tried first, then those of the snapshots from
//! the time of the request. The rebuilt request differs from the sent request in four cases:
//! - no snapshot has a note or the settings as they were;
//! - the program has changed since;
//! - an attached file was not kept;
//! - no brain answered, and the turn journal is gone.
//!
//! A question on the page is in no log, so its request can't be rebuilt. Nothing is written.

use std::sync::Arc;

use serde::Serialize;

use super::read_vault_file;
use super::skills::{NOTE, offered_skill};
use crate::brain::{MessagePart, Request, ToolSpec};
use crate::config::FILE_NAME;
use crate::format::log::{self, LogBlock};
use crate::format::routine;
use crate::history::Commit;
use crate::sqlite::DatabaseError;
use crate::summary::Summaries;
use crate::turn::assemble::{self, RequestMaterial};
use crate::turn::files::{self, AttachedFile, FilePlace};
use crate::turn::past_context::PastSummary;
use crate::turn::{Facts, TurnJournal, TurnRow, rebuild};
use crate::vault::{NotePath, PathError, VaultError};
use crate::workspace::Workspace;

/// The purpose of a turn that is no routine's.
pub const ASSISTANT: &str = "assistant";

/// A turn's request, rebuilt from the notes.
#[derive(Debug, Serialize)]
pub struct RebuiltRequest {
    /// The request; none if a note that it needs is gone.
    pub request: Option<Request>,
    /// Its hash.
    pub hash: Option<String>,
    /// The hash of the request that was sent.
    pub stored_hash: Option<String>,
    /// Whether both hashes are the same.
    pub equal: bool,
    /// Why they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl RebuiltRequest {
    /// Whether it is the request that was sent, in a sentence.
    pub fn words(&self) -> String {
        let (hash, stored) = (self.hash.as_deref().unwrap_or("none"), self.stored_hash.as_deref());
        if self.equal {
            return format!("the hash is the stored one: {hash}");
        }
        let (stored, reason) = (stored.unwrap_or("none"), self.reason.as_deref().unwrap_or_default());
        format!("the hash is {hash}, the stored one {stored}: {reason}")
    }
}

/// Why there is no request.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// There is no such turn.
    #[error("no turn `{0}`")]
    Unknown(String),
    /// The turn asked no brain.
    #[error("no brain was asked in the turn `{0}`, so there is no request")]
    NotAsked(String),
    /// It was asked on the page.
    #[error("the turn `{0}` was asked on the page, which logs nothing: its request can't be made again")]
    NotLogged(String),
    /// The turn journal can't be read.
    #[error(transparent)]
    Journal(#[from] DatabaseError),
    /// A log's name is not a path of the vault.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A log can't be read.
    #[error(transparent)]
    Notes(#[from] VaultError),
}

/// The tools that a brain could call: by the settings, its purpose (`assistant`, `routine:NAME`) and the MCP servers that
/// it names.
pub type ToolSource<'a> = dyn Fn(&Arc<Workspace>, &str, &[String]) -> Vec<ToolSpec> + 'a;

/// Reads a note, as it is now or was then.
type NoteReader<'a> = dyn Fn(&str) -> Vec<u8> + 'a;

/// A turn's log, and the facts of its answer.
struct LoggedTurn<'a> {
    workspace: &'a Arc<Workspace>,
    /// The question's block.
    question: String,
    /// The log that holds the question.
    path: String,
    blocks: Vec<LogBlock>,
    facts: Facts,
}

/// The request of the turn `id`, made again from the notes.
///
/// # Errors
/// There is no such turn, it asked no brain, or the journal or a log can't be read.
pub fn rebuild(
    workspace: &Arc<Workspace>,
    journal: Option<&TurnJournal>,
    id: &str,
    tools: &ToolSource<'_>,
) -> Result<RebuiltRequest, RebuildError> {
    let mut turn = None;
    if let Some(journal) = journal {
        turn = journal.named(id)?;
        // A question that was answered with a later one was asked in that one's request.
        if let Some(leader) = turn.as_ref().and_then(|turn| turn.joined) {
            turn = journal.turn(leader)?;
        }
    }
    let question = turn.as_ref().map_or_else(|| id.to_owned(), TurnRow::name);
    let path = turn.as_ref().and_then(|turn| Some(format!("{}.md", turn.question.log()?)));
    let window = path.as_ref().map(|path| read(workspace, path)).transpose()?.unwrap_or_default();
    // After `/new` the answer stands in another window than its question.
    let mut facts = rebuild::facts_of(&window, &question);
    let mut logged = match facts {
        Some(_) => None,
        None => LoggedTurn::find(workspace, &question)?,
    };
    let assembled = turn.as_ref().and_then(|turn| turn.assembled.as_ref());
    // A turn that runs or waits has no answer in a log yet.
    if path.is_some() && assembled.is_some() {
        facts = facts.or_else(|| Some(Facts::default()));
    }
    if let (None, Some(facts)) = (&logged, facts) {
        let path = path.unwrap_or_default();
        logged = Some(LoggedTurn { workspace, question, path, blocks: window, facts });
    }
    let stored = assembled.map(|assembled| assembled.hash.clone());
    let id = || id.to_owned();
    let missing = || match &turn {
        Some(turn) if turn.question.is_of_page() => RebuildError::NotLogged(id()),
        Some(_) => RebuildError::NotAsked(id()),
        None => RebuildError::Unknown(id()),
    };
    let mut logged = logged.ok_or_else(missing)?;
    if let (None, Some(journal), Some(turn)) = (logged.facts.at, journal, &turn) {
        logged.complete(turn, &journal.joined_to(turn.question.message)?);
    }
    let stored = logged.facts.ctx.clone().or(stored);
    Ok(logged.rebuild(stored, tools))
}

impl<'a> LoggedTurn<'a> {
    /// The answer to a question in any log, with the window that holds the question.
    fn find(workspace: &'a Arc<Workspace>, question: &str) -> Result<Option<Self>, RebuildError> {
        let logs = workspace.vault.notes_below(workspace.note(&workspace.settings.paths.logs))?;
        let recall = rebuild::recall_id(question);
        let (mut asked, mut facts, mut given, mut path) = (Vec::new(), None, None, String::new());
        for entry in logs {
            let blocks = read(workspace, entry.path.as_str())?;
            facts = facts.or_else(|| rebuild::facts_of(&blocks, question));
            let block = |id: &str| blocks.iter().find(|block| block.event.id.as_deref() == Some(id));
            given = given.or_else(|| block(&recall).cloned());
            if block(question).is_some() {
                asked = blocks;
                path = entry.path.to_string();
            }
        }
        // Recalled memories may stand in the later window; they are no part of the past in any.
        asked.extend(given);
        let question = question.to_owned();
        Ok(facts.map(|facts| Self { workspace, question, path, blocks: asked, facts }))
    }

    /// Adds what the journal knows of a request that no brain answered: of a turn that runs or was stopped, or one that
    /// memory answered.
    fn complete(&mut self, turn: &TurnRow, joined: &[TurnRow]) {
        let Some(request) = turn.assembled.clone() else { return };
        let facts = &mut self.facts;
        facts.brain = turn.brain.clone().unwrap_or_default();
        (facts.at, facts.budget, facts.tail) = (Some(request.at), Some(request.budget), request.tail);
        (facts.skills, facts.sums) = (request.skills, request.sums);
        facts.with = joined.iter().filter_map(|turn| turn.question.block_id().map(str::to_owned)).collect();
    }

    /// The request from the present notes; where its hash is another one, from the notes of the time that it was sent.
    fn rebuild(&self, stored_hash: Option<String>, tools: &ToolSource<'_>) -> RebuiltRequest {
        let now = self.request(self.workspace, tools, &|path| {
            read_vault_file(self.workspace, path).unwrap_or_default()
        });
        let equal = |request: &Option<Request>| {
            stored_hash.is_some() && request.as_ref().map(Request::hash) == stored_hash
        };
        let request = if equal(&now) {
            now
        } else {
            let mut then = self.points().into_iter().flat_map(|point| self.requests_at(&point, tools));
            then.find(equal).unwrap_or(now)
        };
        let equal = equal(&request);
        let reason = (!equal).then(|| self.difference());
        RebuiltRequest { hash: request.as_ref().map(Request::hash), request, stored_hash, equal, reason }
    }

    /// Why the request can't be made again as it was, in a sentence.
    fn difference(&self) -> String {
        if self.facts.at.is_none() {
            return "no brain answered, so the log doesn't say what the request was made from".to_owned();
        }
        let sent =
            |file: &AttachedFile| matches!(file.place, FilePlace::Link(_)) && file.max_bytes().is_some();
        let files = self.questions().flat_map(|id| files::of(&self.blocks, id)).find(sent);
        match files {
            Some(file) => format!(
                "the file {} was sent and isn't kept (`[discord] keep_attachments = \"files\"` keeps files)",
                crate::format::quote(&file.name)
            ),
            None => {
                "no snapshot has a note or the settings as they were, or the program changed since".to_owned()
            }
        }
    }

    /// The blocks of the questions that were answered.
    fn questions(&self) -> impl Iterator<Item = &str> {
        self.facts.with.iter().chain([&self.question]).map(String::as_str)
    }

    /// The snapshots that may hold the notes of the request: the last up to its time, the one before the turn's own
    /// changes of that second, and the first after it.
    fn points(&self) -> Vec<Commit> {
        let (Some(at), Ok(Some(history))) = (self.facts.at, self.workspace.history()) else {
            return Vec::new();
        };
        let before_turn = history.point_before_turn(at, &self.question).ok().flatten();
        let after = history.point_after(at).ok().flatten();
        history.point(&at.to_string()).into_iter().chain(before_turn).chain(after).collect()
    }

    /// The requests of the notes as a snapshot has them: with its settings, and with the present ones, since a history
    /// may leave the settings out.
    fn requests_at(&self, point: &Commit, tools: &ToolSource<'_>) -> Vec<Option<Request>> {
        let Ok(Some(history)) = self.workspace.history() else { return Vec::new() };
        let read_at = |path: &str| history.read_at(point, path).ok().flatten();
        let then = read_at(FILE_NAME)
            .and_then(|bytes| self.workspace.with_settings(&String::from_utf8_lossy(&bytes)).ok())
            .map(Arc::new);
        let read = |path: &str| read_at(path).unwrap_or_default();
        then.iter().chain([self.workspace]).map(|workspace| self.request(workspace, tools, &read)).collect()
    }

    fn request(
        &self,
        workspace: &Arc<Workspace>,
        tools: &ToolSource<'_>,
        read: &NoteReader<'_>,
    ) -> Option<Request> {
        let (facts, settings) = (&self.facts, &workspace.settings);
        let (at, budget) = facts.at.zip(facts.budget)?;
        let brain = settings.brains.iter().find(|brain| brain.name == facts.brain);
        let blocks = rebuild::blocks_up_to(&self.blocks, facts.tail.as_deref());
        let ids: Vec<&str> = self.questions().collect();
        let mut questions = rebuild::questions(blocks, &ids);
        for question in &mut questions {
            question.files = self.files(&question.id, brain.is_some_and(|brain| brain.vision));
        }
        if questions.is_empty() {
            return None;
        }
        let skill =
            |name: &str| offered_skill(name, &read(&format!("{}/{name}/{NOTE}", settings.paths.skills)));
        let skills = facts.skills.as_ref().map(|names| names.with_descriptions(skill)).unwrap_or_default();
        Some(assemble::assemble(RequestMaterial {
            notes: super::notes(workspace, at, read),
            skills,
            tools: self.tools(workspace, tools, read),
            blocks,
            summaries: &self.summaries(read),
            questions,
            injection: rebuild::injection(&self.blocks, &rebuild::recall_id(&self.question)),
            now: at.to_zoned(workspace.zone.tz().clone()),
            budget,
            max_output_tokens: brain.and_then(|brain| brain.max_output_tokens),
            schema: None,
        }))
    }

    /// The tools that a brain could call in the turn: those of its routine, if it is a run of one.
    fn tools(
        &self,
        workspace: &Arc<Workspace>,
        tools: &ToolSource<'_>,
        read: &NoteReader<'_>,
    ) -> Vec<ToolSpec> {
        let asked = self.blocks.iter().find(|block| block.event.id.as_deref() == Some(&self.question));
        let author = asked.map_or("", |block| block.event.author.as_str());
        let Some(name) = author.strip_prefix("routine:") else { return tools(workspace, ASSISTANT, &[]) };
        let folder = workspace.settings.paths.routines.trim_end_matches('/');
        let servers = routine::parse(&read(&format!("{folder}/{name}.md"))).0.map(|routine| routine.mcp);
        tools(workspace, author, &servers.unwrap_or_default())
    }

    /// The message parts of the files of a question, as far as the vault keeps them.
    fn files(&self, question: &str, vision: bool) -> Vec<MessagePart> {
        let mask = self.workspace.settings.hooks.redactor();
        let part = |file: &AttachedFile| {
            let FilePlace::Kept(path) = &file.place else { return file.name_part() };
            file.to_part(read_vault_file(self.workspace, path).ok().as_deref(), &mask)
        };
        let files = files::of(&self.blocks, question);
        files.iter().map(|file| super::part_for_brain(part(file), vision)).collect()
    }

    /// The summaries that the turn's request contained.
    fn summaries(&self, read: &NoteReader<'_>) -> Vec<PastSummary> {
        if self.facts.sums.is_empty() {
            return Vec::new();
        }
        let ids: Vec<String> = self.facts.sums.iter().map(|id| format!("sum_{id}")).collect();
        Summaries::of(self.workspace).summaries_by_id(&self.path, &ids, read).unwrap_or_default()
    }
}

fn read(workspace: &Workspace, path: &str) -> Result<Vec<LogBlock>, RebuildError> {
    Ok(log::parse(&workspace.vault.read_or_empty(&NotePath::new(path)?)?).blocks)
}
