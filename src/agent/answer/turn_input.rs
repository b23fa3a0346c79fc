//! Collects the material of a turn's request: questions with their files, the log, summaries, notes, skills and tools.
//!
//! A turn of the journal comes in; a [`RequestMaterial`] for one brain goes out, recalled memories included. From it
//! `turn::request::assemble` makes the request. Also lists the links of the events and notes in the request, so that
//! recall doesn't repeat them. A log that can't be read delays the turn. Summaries that can't be read are left out, and
//! a note that can't be read counts as empty. Nothing is written.

use jiff::Timestamp;

use super::engine::{AnswerEngine, TurnRun};
use crate::agent::brain_chain::ChainBrain;
use crate::brain::{MessagePart, ToolSpec};
use crate::format::log::{self, LogBlock};
use crate::memory::pins::{self, Pin};
use crate::memory::working::turn_notes;
use crate::memory::{read_profile, read_working};
use crate::summary::Summaries;
use crate::turn::assemble::{self, RequestMaterial, RequestQuestion};
use crate::turn::files::{self, AttachedFile, FilePlace};
use crate::turn::notes::RequestNotes;
use crate::turn::past_context::PastSummary;
use crate::turn::skills::{self, RequestSkills};
use crate::turn::turn_journal::TurnRow;
use crate::turn::{Conversation, Halt, history, rebuild};
use crate::vault::NotePath;
use crate::workspace::Workspace;

impl AnswerEngine {
    /// The events of the window that holds the question; none if no log does.
    pub(super) fn window(&self, turn: &TurnRow) -> Result<Vec<LogBlock>, Halt> {
        let Some(path) = turn.question.log() else { return Ok(Vec::new()) };
        let path = NotePath::new(&format!("{path}.md")).map_err(|error| Halt::Later(error.to_string()))?;
        // For a log that a person deleted, the question is answered from the journal alone.
        let bytes = self.parts.workspace.vault.read_or_empty(&path);
        Ok(log::parse(&bytes.map_err(|error| Halt::Later(error.to_string()))?).blocks)
    }

    /// The summaries of the window; where they can't be read the turn goes on without.
    pub(super) fn summaries(
        &self,
        turn: &TurnRow,
        blocks: Vec<LogBlock>,
    ) -> (Vec<PastSummary>, Vec<LogBlock>) {
        let workspace = &self.parts.workspace;
        let path = turn.question.log().unwrap_or_default();
        match Summaries::of(workspace).past_summaries(&format!("{path}.md"), blocks) {
            (Ok(past), blocks) => (past, blocks),
            (Err(error), blocks) => {
                tracing::warn!("a turn goes on without summaries: {error}");
                (Vec::new(), blocks)
            }
        }
    }

    pub(super) async fn questions(
        &self,
        turn: &TurnRow,
        joined: &[TurnRow],
        blocks: &[LogBlock],
        place: &dyn Conversation,
    ) -> Vec<RequestQuestion> {
        let mut questions = Vec::new();
        for one in joined.iter().chain([turn]) {
            let id = one.question.block_id().unwrap_or_default();
            let logged = blocks.iter().any(|block| block.event.id.as_deref() == Some(id));
            if logged {
                for mut question in rebuild::questions(blocks, &[id]) {
                    for file in files::of(blocks, id) {
                        question.files.push(self.file(&file, place).await);
                    }
                    questions.push(question);
                }
            } else if !one.question.text.is_empty() || !self.parts.files.is_empty() || id.is_empty() {
                questions.push(RequestQuestion {
                    id: id.to_owned(),
                    text: one.question.text.clone(),
                    files: self.parts.files.clone(),
                    remark: None,
                });
            }
        }
        questions
    }

    /// A file of a question, for a brain: whole where it is a picture or a small text, else by
    /// its name.
    pub(super) async fn file(&self, file: &AttachedFile, place: &dyn Conversation) -> MessagePart {
        let Some(most) = file.max_bytes() else { return file.name_part() };
        let read = match &file.place {
            FilePlace::Link(link) => place.fetch(link, most).await,
            FilePlace::Kept(path) => read_vault_file(&self.parts.workspace, path),
        };
        let read = read.inspect_err(|problem| {
            tracing::info!(file = file.name, "a file is told by its name alone: {problem}");
        });
        file.to_part(read.ok().as_deref(), &self.mask())
    }

    /// The most tokens of a request to this brain.
    pub(super) fn budget(&self, member: &ChainBrain) -> u64 {
        let brain = &member.prepared.settings;
        assemble::budget(brain.context_tokens, brain.max_output_tokens, self.turn_tokens())
    }

    pub(super) fn tools(&self) -> Vec<ToolSpec> {
        if self.settings().tools.is_empty() { Vec::new() } else { self.parts.tools.specs() }
    }
}

impl TurnRun<'_> {
    /// The vault's skills for a request; none if the brain has no tool to read them.
    pub(super) fn skills(&self) -> RequestSkills {
        if !self.tools().iter().any(|tool| tool.name == skills::TOOL) {
            return RequestSkills::default();
        }
        let only = self.parts.routine.as_ref().map_or(&[][..], |routine| &routine.skills);
        let skills = crate::agent::skills::Skills::of(&self.parts.workspace).only(only);
        RequestSkills::of(skills.offered(), &self.question_texts().join("\n"))
    }

    /// The link targets of what the turn's request contains anyway, for each of these brains: events of its log, and
    /// the notes of every request.
    pub(super) fn already_in_request(&self, members: &[&ChainBrain]) -> Vec<String> {
        let workspace = &self.parts.workspace;
        let Some(member) = members.iter().min_by_key(|member| self.budget(member)) else { return Vec::new() };
        // Recalled memories take room, too.
        let recall = workspace.settings.recall.budget_tokens as u64;
        let budget = self.budget(member).saturating_sub(recall);
        let (at, skills) = (self.now(), self.skills());
        let events = assemble::already_in_request(&self.material(member, at, budget, skills));
        let log = self.turn.question.log().unwrap_or_default();
        let mut known: Vec<String> = events.into_iter().map(|id| format!("{log}#^{id}")).collect();
        let notes = turn_notes(&workspace.settings).chain([workspace.note(&workspace.settings.paths.pinned)]);
        known.extend(notes.map(|note| note.as_str().trim_end_matches(".md").to_owned()));
        known
    }

    /// The inputs of a request to this brain at an instant.
    pub(super) fn material<'a>(
        &'a self,
        member: &ChainBrain,
        at: Timestamp,
        budget: u64,
        skills: RequestSkills,
    ) -> RequestMaterial<'a> {
        let (workspace, brain) = (&self.parts.workspace, &member.prepared.settings);
        let read = |path: &str| read_vault_file(workspace, path).unwrap_or_default();
        let for_brain = |question: &RequestQuestion| {
            let files =
                question.files.iter().map(|part| part_for_brain(part.clone(), brain.vision)).collect();
            RequestQuestion { files, ..question.clone() }
        };
        RequestMaterial {
            notes: notes(workspace, at, &read),
            skills,
            tools: self.tools(),
            blocks: &self.blocks,
            summaries: &self.summaries,
            questions: self.questions.iter().map(for_brain).collect(),
            injection: &self.recalled.injection,
            now: at.to_zoned(workspace.zone.tz().clone()),
            budget,
            max_output_tokens: brain.max_output_tokens,
            schema: self.parts.schema.clone(),
        }
    }
}

/// Longer texts of a note are cut; working memory has a budget of its own.
const MOST_CHARS: usize = 20_000;

/// The bytes of a file of the vault.
pub fn read_vault_file(workspace: &Workspace, path: &str) -> Result<Vec<u8>, String> {
    let path = NotePath::new(path).map_err(|error| error.to_string())?;
    workspace.vault.read(&path).map_err(|error| error.to_string())
}

/// The notes that every request contains, for a request at `at`, with this reader.
pub fn notes(workspace: &Workspace, at: Timestamp, read: &dyn Fn(&str) -> Vec<u8>) -> RequestNotes {
    let settings = &workspace.settings;
    let text = |path: &str| String::from_utf8_lossy(&read(path)).into_owned();
    let by_path = |path: &NotePath| read(path.as_str());
    let pins: Vec<String> = pins::parse(&read(&settings.paths.pinned)).iter().map(Pin::shown).collect();
    RequestNotes {
        persona: history::shorten(&text(&settings.assistant.persona), MOST_CHARS),
        profile: history::shorten(&read_profile(settings, &by_path).unwrap_or_default(), MOST_CHARS),
        pinned: history::shorten(&pins.join("\n"), MOST_CHARS),
        working: read_working(settings, at, &by_path).map(|working| working.text).unwrap_or_default(),
    }
}

/// A part for a brain with or without vision.
pub fn part_for_brain(part: MessagePart, vision: bool) -> MessagePart {
    match part {
        MessagePart::Image { media_type, .. } if !vision => {
            MessagePart::Text { text: format!("(a picture, {media_type}, which you can't see)") }
        }
        part => part,
    }
}
