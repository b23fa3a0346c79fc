//! `turns` and a turn's request: made again from the notes as they were, and compared with the one that was sent.

use jiff::Timestamp;
use serde::Serialize;

use crate::agent::kept;
use crate::agent::skills::{NOTE, told_of};
use crate::brain::{Part, Request, ToolSpec};
use crate::cli::{CommandError, CommandResult, Context, Status};
use crate::daemon::assistant::{ASSISTANT, toolbox_for};
use crate::format::log::{self, LogBlock};
use crate::format::routine;
use crate::summary::Summaries;
use crate::turn::files::{self, Attached, FilePlace};
use crate::turn::remake::{self, Around};
use crate::turn::told::Told as Summary;
use crate::turn::{Facts, Turn, TurnJournal};
use crate::vault::{NotePath, VaultError, WalkOptions};
use crate::workspace::Workspace;

#[derive(Debug, Serialize)]
struct Remade {
    request: Option<Request>,
    hash: Option<String>,
    stored_hash: Option<String>,
    equal: bool,
}

/// A turn's log with what its answer says of the request.
struct Logged {
    /// The log that holds the question.
    path: String,
    blocks: Vec<LogBlock>,
    facts: Facts,
}

pub(super) fn request(context: &Context, workspace: &Workspace, id: &str) -> CommandResult {
    let mut turn = None;
    if let Some(journal) = journal(workspace)? {
        turn = journal.named(id).map_err(CommandError::problem)?;
        // What was answered with a later question was asked in that one's request.
        if let Some(leader) = turn.as_ref().and_then(|turn| turn.joined) {
            turn = journal.turn(leader).map_err(CommandError::problem)?;
        }
    }
    let question = turn.as_ref().map_or_else(|| id.to_owned(), Turn::name);
    let path = turn.as_ref().and_then(|turn| Some(format!("{}.md", turn.asked.block.split_once("#^")?.0)));
    let near = path.as_ref().map(|path| read(workspace, path)).transpose()?.unwrap_or_default();
    // After `/new` the answer stands in another window than its question.
    let logged = match remake::facts_of(&near, &question) {
        Some(facts) => Some(Logged { path: path.unwrap_or_default(), blocks: near, facts }),
        None => search(workspace, &question)?,
    };
    let stored =
        turn.as_ref().and_then(|turn| turn.assembled.as_ref()).map(|assembled| assembled.hash.clone());
    let Some(logged) = logged else {
        return Err(match turn {
            Some(_) => CommandError::problem(format!(
                "no brain was asked in the turn `{id}`, so there is no request"
            )),
            None => unknown(id),
        });
    };
    let stored = logged.facts.ctx.clone().or(stored);
    let remade = remade(workspace, &logged, &question, stored);
    context.ui.json(&remade);
    if let Some(request) = &remade.request {
        let text = serde_json::to_string_pretty(request).unwrap_or_default();
        context.ui.line(text);
    }
    let hash = remade.hash.as_deref().unwrap_or("none");
    let stored = remade.stored_hash.as_deref().unwrap_or("none");
    if remade.equal {
        context.ui.note(format!("the hash is the stored one: {hash}"));
        return Ok(Status::Fine);
    }
    context.ui.note(format!(
        "the hash is {hash}, the stored one {stored}: a note, the settings or the program changed since"
    ));
    Ok(Status::Problem)
}

/// The request as the notes make it now; where that isn't the stored one, as they stood when it was sent.
fn remade(workspace: &Workspace, logged: &Logged, question: &str, stored_hash: Option<String>) -> Remade {
    let recall = remake::recall_id(question);
    let names = logged.facts.skills.as_ref();
    let skills = |read: &dyn Fn(&str) -> Vec<u8>| {
        let told =
            |name: &str| told_of(name, &read(&format!("{}/{name}/{NOTE}", workspace.settings.paths.skills)));
        names.map(|names| names.shown(told)).unwrap_or_default()
    };
    let tools = |read: &dyn Fn(&str) -> Vec<u8>| tools(workspace, logged, question, read);
    let sums = |read: &dyn Fn(&str) -> Vec<u8>| summaries(workspace, &logged.facts, &logged.path, read);
    let facts = &logged.facts;
    let with = |read: &dyn Fn(&str) -> Vec<u8>| {
        let (skills, tools, summaries) = (skills(read), tools(read), sums(read));
        let brain = workspace.settings.brains.iter().find(|brain| brain.name == facts.brain);
        let around = Around {
            notes: crate::agent::notes(workspace, facts.at.unwrap_or_default(), read),
            skills,
            tools,
            summaries,
            max_output_tokens: brain.and_then(|brain| brain.max_output_tokens),
            files: logged_files(workspace, logged, question, brain.is_some_and(|brain| brain.vision)),
        };
        remake::request(&logged.blocks, facts, &recall, &around, workspace.zone.tz())
    };
    let bytes = |path: &str| kept(workspace, path).unwrap_or_default();
    let now = with(&bytes);
    let equal = |request: &Option<Request>| {
        stored_hash.is_some() && request.as_ref().map(Request::hash) == stored_hash
    };
    let request = if equal(&now) {
        now
    } else {
        let then = facts.at.and_then(|at| notes_at(workspace, at, &with));
        if equal(&then) { then } else { now }
    };
    let equal = equal(&request);
    Remade { hash: request.as_ref().map(Request::hash), request, stored_hash, equal }
}

/// What a brain could call in the turn: what its routine may, where it is a run of one.
fn tools(
    workspace: &Workspace,
    logged: &Logged,
    question: &str,
    read: &dyn Fn(&str) -> Vec<u8>,
) -> Vec<ToolSpec> {
    let asked = logged.blocks.iter().find(|block| block.event.id.as_deref() == Some(question));
    let author = asked.map_or("", |block| block.event.author.as_str());
    let Some(name) = author.strip_prefix("routine:") else {
        return toolbox_for(workspace, None, ASSISTANT, &[], &[]).specs();
    };
    let folder = workspace.settings.paths.routines.trim_end_matches('/');
    let servers = routine::parse(&read(&format!("{folder}/{name}.md"))).0.map(|routine| routine.mcp);
    toolbox_for(workspace, None, author, &servers.unwrap_or_default(), &[]).specs()
}

/// What the brain was told of the files of a turn's questions, as far as the vault keeps them.
fn logged_files(
    workspace: &Workspace,
    logged: &Logged,
    question: &str,
    vision: bool,
) -> Vec<(String, Vec<Part>)> {
    let told = |file: &Attached| match &file.place {
        FilePlace::Kept(path) => file.tell(crate::agent::kept(workspace, path).ok().as_deref()),
        FilePlace::Link(_) => file.told(),
    };
    let ids = logged.facts.with.iter().map(String::as_str).chain([question]);
    ids.map(|id| {
        let files = files::of(&logged.blocks, id);
        (id.to_owned(), files.iter().map(|file| crate::agent::shown(told(file), vision)).collect())
    })
    .collect()
}

/// The summaries that a turn's request was made with, as whoever reads the notes finds them.
fn summaries(
    workspace: &Workspace,
    facts: &Facts,
    path: &str,
    read: &dyn Fn(&str) -> Vec<u8>,
) -> Vec<Summary> {
    if facts.sums.is_empty() {
        return Vec::new();
    }
    let ids: Vec<String> = facts.sums.iter().map(|id| format!("sum_{id}")).collect();
    Summaries::of(workspace).told_by(path, &ids, read).unwrap_or_default()
}

/// A request, by whoever reads the notes.
type Make<'a> = dyn Fn(&dyn Fn(&str) -> Vec<u8>) -> Option<Request> + 'a;

/// The request of the notes as history has them at an instant.
#[cfg(feature = "history")]
fn notes_at(workspace: &Workspace, at: Timestamp, make: &Make<'_>) -> Option<Request> {
    let history = workspace.history().ok()??;
    let point = history.point(&at.to_string()).ok()?;
    make(&|path| history.read_at(&point.commit, path).ok().flatten().unwrap_or_default())
}

#[cfg(not(feature = "history"))]
fn notes_at(_: &Workspace, _: Timestamp, _: &Make<'_>) -> Option<Request> {
    None
}

fn read(workspace: &Workspace, path: &str) -> Result<Vec<LogBlock>, CommandError> {
    let path = NotePath::new(path).map_err(CommandError::problem)?;
    match workspace.vault.read(&path) {
        Ok(bytes) => Ok(log::parse(&bytes).blocks),
        Err(VaultError::NotFound(_)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// The answer to a question in any log, with the window that holds the question.
fn search(workspace: &Workspace, question: &str) -> Result<Option<Logged>, CommandError> {
    let under = workspace.note(&workspace.settings.paths.logs);
    let walk = match workspace.vault.walk(&WalkOptions { under: Some(under), ..WalkOptions::default() }) {
        Ok(walk) => walk,
        Err(VaultError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let recall = remake::recall_id(question);
    let (mut asked, mut facts, mut given, mut path) = (Vec::new(), None, None, String::new());
    for entry in walk.entries {
        let blocks = read(workspace, entry.path.as_str())?;
        facts = facts.or_else(|| remake::facts_of(&blocks, question));
        let block = |id: &str| blocks.iter().find(|block| block.event.id.as_deref() == Some(id));
        given = given.or_else(|| block(&recall).cloned());
        if block(question).is_some() {
            asked = blocks;
            path = entry.path.to_string();
        }
    }
    // What memory gave may stand in the later window; it is no part of the past in any.
    asked.extend(given);
    Ok(facts.map(|facts| Logged { path, blocks: asked, facts }))
}

pub(super) fn unknown(id: &str) -> CommandError {
    CommandError::problem(format!("no turn `{id}`")).hint("`vault-agent turns` lists the latest")
}

/// The journal, if there is one; listing makes none.
pub(super) fn journal(workspace: &Workspace) -> Result<Option<TurnJournal>, CommandError> {
    if !workspace.dirs.state.join(crate::turn::journal::FILE_NAME).exists() {
        return Ok(None);
    }
    TurnJournal::open(&workspace.dirs.state).map(Some).map_err(CommandError::problem)
}
