//! Brings into scope the items that each topic of tools uses: `use super::prelude::*`.

pub(super) use rmcp::schemars::{self, JsonSchema};
pub(super) use serde::Serialize;

pub(super) use super::{Effect, McpCall, ToolAnswer, ToolEntry, ToolOutcome, one_line, tool};
pub(super) use crate::mcp::arguments::{
    Argument, MAX_TEXT_CHARS, MEMORY_KINDS, MEMORY_SCOPE, QUESTION, choice, flag, line, line_of, text, whole,
};
pub(super) use crate::mcp::failure::{Result, ToolFailure};
