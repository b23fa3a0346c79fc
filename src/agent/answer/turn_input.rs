//! Collects the input of a turn: questions with their files, the log, summaries, skills, tools; and makes its request.

use jiff::Timestamp;

use super::engine::{Engine, Run};
use super::note_context::{for_brain, kept, notes};
use crate::agent::brain_chain::ChainBrain;
use crate::brain::{Part, Request, ToolSpec};
use crate::format::log::{self, LogBlock};
use crate::memory::working::told_notes;
use crate::summary::Summaries;
use crate::turn::assemble::{self, Question, RequestMaterial};
use crate::turn::files::{self, AttachedFile, FilePlace};
use crate::turn::journal::TurnRow;
use crate::turn::past_context::PastSummary;
use crate::turn::skills::{self, RequestSkills};
use crate::turn::{Conversation, Halt, history, rebuild};
use crate::vault::NotePath;

impl Engine {
    /// The events of the window that holds the question; none if no log does.
    pub(super) fn window(&self, turn: &TurnRow) -> Result<Vec<LogBlock>, Halt> {
        let Some((path, _)) = turn.asked.block.split_once("#^") else { return Ok(Vec::new()) };
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
        let path = turn.asked.block.split_once("#^").map_or("", |(path, _)| path);
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
    ) -> Vec<Question> {
        let mut questions = Vec::new();
        for one in joined.iter().chain([turn]) {
            let id = one.asked.block.split_once("#^").map_or("", |(_, id)| id);
            let logged = blocks.iter().any(|block| block.event.id.as_deref() == Some(id));
            if logged {
                for mut question in rebuild::questions(blocks, &[id]) {
                    for file in files::of(blocks, id) {
                        question.files.push(self.file(&file, place).await);
                    }
                    questions.push(question);
                }
            } else if !one.asked.text.is_empty() || !self.parts.files.is_empty() || id.is_empty() {
                questions.push(Question {
                    id: id.to_owned(),
                    text: one.asked.text.clone(),
                    files: self.parts.files.clone(),
                });
            }
        }
        questions
    }

    /// A file of a question, for a brain: whole where it is a picture or a small text, else by
    /// its name.
    pub(super) async fn file(&self, file: &AttachedFile, place: &dyn Conversation) -> Part {
        let Some(most) = file.max_bytes() else { return file.name_part() };
        let read = match &file.place {
            FilePlace::Link(link) => place.fetch(link, most).await,
            FilePlace::Kept(path) => kept(&self.parts.workspace, path),
        };
        let read = read.inspect_err(|problem| {
            tracing::info!(file = file.name, "a file is told by its name alone: {problem}");
        });
        file.to_part(read.ok().as_deref())
    }

    /// The vault's skills for a request; none if the brain has no tool to read them.
    pub(super) fn skills(&self, run: &Run<'_>) -> RequestSkills {
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
    pub(super) fn already_in_request(&self, run: &Run<'_>, members: &[&ChainBrain]) -> Vec<String> {
        let workspace = &self.parts.workspace;
        let Some(member) = members.iter().min_by_key(|member| self.budget(member)) else { return Vec::new() };
        // Recalled memories take room, too.
        let recall = workspace.settings.recall.budget_tokens as u64;
        let budget = self.budget(member).saturating_sub(recall);
        let (at, skills) = (self.now(), self.skills(run));
        let events = self.with_material(run, member, at, budget, &skills, |material| {
            assemble::already_in_request(&material)
        });
        let log = run.turn.asked.block.split_once("#^").map_or("", |(log, _)| log);
        let mut known: Vec<String> = events.into_iter().map(|id| format!("{log}#^{id}")).collect();
        let notes = told_notes(&workspace.settings).chain([workspace.note(&workspace.settings.paths.pinned)]);
        known.extend(notes.map(|note| note.as_str().trim_end_matches(".md").to_owned()));
        known
    }

    pub(super) fn assemble(
        &self,
        run: &Run<'_>,
        member: &ChainBrain,
        at: Timestamp,
        budget: u64,
        skills: &RequestSkills,
    ) -> Request {
        self.with_material(run, member, at, budget, skills, assemble::assemble)
    }

    fn with_material<T>(
        &self,
        run: &Run<'_>,
        member: &ChainBrain,
        at: Timestamp,
        budget: u64,
        skills: &RequestSkills,
        make: impl FnOnce(RequestMaterial<'_>) -> T,
    ) -> T {
        let workspace = &self.parts.workspace;
        let now = at.to_zoned(workspace.zone.tz().clone());
        let vision = member.prepared.settings.vision;
        let questions: Vec<Question> =
            run.questions.iter().map(|question| for_brain(question, vision)).collect();
        let read = |path: &str| kept(workspace, path).unwrap_or_default();
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
