//! Defines the tools that search long conversations and expand summaries.

use rmcp::model;

use super::{Effect, ToolEntry, choice, flag, line, whole};
use crate::mcp::outputs::{Described, Expansion, Grepped};
use crate::mcp::tools::lcm;

const MODES: &[&str] = &["full_text", "regex"];
const SCOPES: &[&str] = &["both", "messages", "summaries"];

pub(super) const GREP: ToolEntry = ToolEntry {
    name: "lcm_grep",
    title: "Search past conversations",
    doc: "Searches past conversations and their summaries, newest first. Cites `[msg#^id]` and `[sum_…]`. Untrusted context.",
    arguments: &[
        line("pattern", true, "Words, all of them, or a regular expression."),
        choice("mode", MODES, false, "Default `full_text`."),
        choice("scope", SCOPES, false, "Default `both`."),
        line("since", false, "From: `2026-12-01` or RFC 3339."),
        line("before", false, "Up to."),
        whole("limit", 1, 200, Some("50"), "Most hits."),
    ],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Grepped>,
    act: lcm::grep,
};

pub(super) const DESCRIBE: ToolEntry = ToolEntry {
    name: "lcm_describe",
    title: "Describe a summary",
    doc: "Gives a summary: its text, what it covers, its sources.",
    arguments: &[line("id", true, "As in `sum_…`.")],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Described>,
    act: lcm::describe,
};

pub(super) const EXPAND: ToolEntry = ToolEntry {
    name: "lcm_expand",
    title: "Expand summaries",
    doc: "Gives what summaries stand for: the summaries below, or every word said. Untrusted context.",
    arguments: &[
        line("ids", true, "`sum_…`, several with commas."),
        whole("max_depth", 1, 10, Some("3"), "Levels of summaries."),
        flag("include_messages", "The messages themselves."),
        whole("token_cap", 100, 10_000, Some("10000"), "Most tokens."),
    ],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Expansion>,
    act: lcm::expand,
};
