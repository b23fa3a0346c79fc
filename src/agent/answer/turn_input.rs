//! Collects the input of a turn: questions with their files, the log, summaries, skills, tools; and makes its request.

use jiff::Timestamp;

use super::engine::{AnswerEngine, TurnRun};
use super::note_context::{for_brain, notes, read_vault_file};
use crate::agent::brain_chain::ChainBrain;
use crate::brain::{MessagePart, Request, ToolSpec};
use crate::format::log::{self, LogBlock};
use crate::memory::working::turn_notes;
use crate::summary::Summaries;
use crate::turn::assemble::{self, RequestMaterial, RequestQuestion};
use crate::turn::files::{self, AttachedFile, FilePlace};
use crate::turn::journal::TurnRow;
use crate::turn::past_context::PastSummary;
use crate::turn::skills::{self, RequestSkills};
use crate::turn::{Conversation, Halt, history, rebuild};
use crate::vault::NotePath;

impl AnswerEngine {
    /// The events of the window that holds the question; none if no log does.
    pub(super) fn window(&self, turn: &TurnRow) -> Result<Vec<LogBlock>, Halt> {
        let Some((path, _)) = turn.question.block.split_once("#^") else { return Ok(Vec::new()) };
        let path = NotePath::new(&format!("{path}.md")).map_err(|error| Halt::Later(error.to_string()))?;
        // For a log that a person deleted, the question is answered from the journal alone.
        let bytes = self
            .parts
            .workspace
            .vault
            .read_or_empty(&path)
            .map_err(|error| Halt::Later(error.to_string()))?;
        Ok(log::parse(&bytes).blocks)
    }

    /// The summaries of the window; where they can't be read the turn goes on without.
    pub(super) fn summaries(
        &self,
        turn: &TurnRow,
        blocks: Vec<LogBlock>,
    ) -> (Vec<PastSummary>, Vec<LogBlock>) {
        let workspace = &self.parts.workspace;
        let path = turn.question.block.split_once("#^").map_or("", |(path, _)| path);
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
            let id = one.question.block.split_once("#^").map_or("", |(_, id)| id);
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
        file.to_part(read.ok().as_deref())
    }

    /// The vault's skills for a request; none if the brain has no tool to read them.
    pub(super) fn skills(&self, run: &TurnRun<'_>) -> RequestSkills {
        if !self.tools().iter().any(|tool| tool.name == skills::TOOL) {
            return RequestSkills::default();
        }
        let text: Vec<&str> = run.questions.iter().map(|q| history::strip_mentions(&q.text)).collect();
        let only = self.routine.as_ref().map_or(&[][..], |routine| &routine.skills);
        let skills = crate::agent::skills::Skills::of(&self.parts.workspace).only(only);
        RequestSkills::of(skills.offered(), &text.join("\n"))
    }

    /// The most tokens of a request to this brain.
    pub(super) fn budget(&self, member: &ChainBrain) -> u64 {
        let brain = &member.prepared.settings;
        assemble::budget(brain.context_tokens, brain.max_output_tokens, self.turn_tokens())
    }

    /// The link targets of what the turn's request contains anyway, for each of these brains: events of its log, and
    /// the notes of every request.
    pub(super) fn already_in_request(&self, run: &TurnRun<'_>, members: &[&ChainBrain]) -> Vec<String> {
        let workspace = &self.parts.workspace;
        let Some(member) = members.iter().min_by_key(|member| self.budget(member)) else { return Vec::new() };
        // Recalled memories take room, too.
        let recall = workspace.settings.recall.budget_tokens as u64;
        let budget = self.budget(member).saturating_sub(recall);
        let (at, skills) = (self.now(), self.skills(run));
        let events = self.with_material(run, member, at, budget, &skills, |material| {
            assemble::already_in_request(&material)
        });
        let log = run.turn.question.block.split_once("#^").map_or("", |(log, _)| log);
        let mut known: Vec<String> = events.into_iter().map(|id| format!("{log}#^{id}")).collect();
        let notes = turn_notes(&workspace.settings).chain([workspace.note(&workspace.settings.paths.pinned)]);
        known.extend(notes.map(|note| note.as_str().trim_end_matches(".md").to_owned()));
        known
    }

    pub(super) fn assemble(
        &self,
        run: &TurnRun<'_>,
        member: &ChainBrain,
        at: Timestamp,
        budget: u64,
        skills: &RequestSkills,
    ) -> Request {
        self.with_material(run, member, at, budget, skills, assemble::assemble)
    }

    fn with_material<T>(
        &self,
        run: &TurnRun<'_>,
        member: &ChainBrain,
        at: Timestamp,
        budget: u64,
        skills: &RequestSkills,
        make: impl FnOnce(RequestMaterial<'_>) -> T,
    ) -> T {
        let workspace = &self.parts.workspace;
        let now = at.to_zoned(workspace.zone.tz().clone());
        let vision = member.prepared.settings.vision;
        let questions: Vec<RequestQuestion> =
            run.questions.iter().map(|question| for_brain(question, vision)).collect();
        let read = |path: &str| read_vault_file(workspace, path).unwrap_or_default();
        make(RequestMaterial {
            notes: &notes(workspace, at, &read),
            skills,
            tools: self.tools(),
            blocks: &run.blocks,
            summaries: &run.summaries,
            questions: &questions,
            injection: &run.recalled.injection,
            now: &now,
            budget,
            max_output_tokens: member.prepared.settings.max_output_tokens,
            schema: self.parts.schema.clone(),
        })
    }

    pub(super) fn tools(&self) -> Vec<ToolSpec> {
        if self.settings().tools.is_empty() { Vec::new() } else { self.parts.tools.specs() }
    }
}
