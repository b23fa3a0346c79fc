//! Implements the tool `skill`: reads a skill's text or one of its text files. A long text is shortened.
//!
//! A skill that didn't come unchanged with this program, and that the settings don't allow, needs an approval, bound to
//! the hash of its files.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{LoadedSkill, NOTE, Skills};
use crate::agent::tools::{ApprovalSubject, Caller, Precondition, Toolbox, tool_spec};
use crate::brain::{ToolCall, ToolSpec};
use crate::config::allow::CallToMatch;
use crate::turn::history;
use crate::turn::skills::TOOL;
use crate::turn::turn_journal::ToolEnd;

/// The tool that reads skills.
#[derive(Debug)]
pub struct SkillTool(pub Arc<Skills>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SkillArguments {
    name: String,
    file: Option<String>,
}

impl SkillTool {
    fn load(&self, call: &ToolCall) -> Result<(SkillArguments, LoadedSkill), String> {
        let asked: SkillArguments = serde_json::from_str(&call.arguments)
            .map_err(|error| format!("the arguments can't be understood: {error}"))?;
        let loaded = self.0.load(&asked.name)?;
        Ok((asked, loaded))
    }

    fn read(&self, call: &ToolCall, caller: &Caller) -> Result<String, String> {
        let (asked, loaded) = self.load(call)?;
        self.0.admit(&loaded, caller)?;
        let Some(file) = asked.file.as_deref().filter(|file| *file != NOTE) else {
            let files: Vec<&str> =
                loaded.files.keys().map(String::as_str).filter(|path| *path != NOTE).collect();
            let files = match files.as_slice() {
                [] => String::new(),
                files => format!("\n\nFiles of this skill: {}", files.join(", ")),
            };
            return Ok(format!("{}{files}", history::shorten(&loaded.skill.body, history::MOST_RESULT)));
        };
        let none = || {
            let known: Vec<&str> = loaded.files.keys().map(String::as_str).collect();
            format!("the skill has no such file; it has: {}", known.join(", "))
        };
        let bytes = loaded.files.get(file).ok_or_else(none)?;
        let text = std::str::from_utf8(bytes).map_err(|_| format!("`{file}` is not a text"))?;
        Ok(history::shorten(text, history::MOST_RESULT))
    }
}

/// The approval for the use of a skill that came from elsewhere.
pub(crate) fn approval_subject(loaded: &LoadedSkill) -> ApprovalSubject {
    let doing = CallToMatch::Skill { name: &loaded.skill.name, hash: &loaded.hash };
    ApprovalSubject {
        run: format!("skill {}", loaded.skill.name),
        hash: Some(loaded.hash.clone()),
        why: format!("the skill `{}` came from elsewhere, or was changed", loaded.skill.name),
        always: Some(doing.always()),
        reusable: false,
    }
}

#[async_trait]
impl Toolbox for SkillTool {
    fn specs(&self) -> Vec<ToolSpec> {
        let description =
            "Reads how a skill is done. Read a skill before you use it; a file of it where its text says so.";
        let properties = json!({
            "name": {"type": "string", "description": "The skill's name."},
            "file": {"type": "string", "description": "One of its files, such as `references/more.md`; without it the skill's own text."}
        });
        vec![tool_spec(TOOL, description, &properties, &["name"])]
    }

    fn precondition(&self, call: &ToolCall, caller: &Caller) -> Precondition {
        match self.load(call) {
            Ok((_, loaded)) if self.0.trusts(&loaded, &caller.turn) => Precondition::Free,
            Ok((_, loaded)) => {
                self.0.note_approval_request(&loaded, caller);
                Precondition::Ask(approval_subject(&loaded))
            }
            Err(why) => Precondition::Refused(why),
        }
    }

    fn is_read_only(&self, _: &str) -> bool {
        true
    }

    async fn call(&self, call: &ToolCall, caller: &Caller, _: &CancellationToken) -> ToolEnd {
        let read = self.read(call, caller);
        read.map_or_else(ToolEnd::failed, |text| ToolEnd { text, is_error: false, ms: 0 })
    }

    async fn turn_ended(&self, turn: &str) {
        self.0.turn_ended(turn);
    }
}
