//! Implements `ask_brain`, `classify_task` and `route_task`: questions to another brain, and routing.

use super::{McpCall, ToolAnswer, ToolOutcome};
use crate::agent::other_brains::BrainQuestion;
use crate::config::TaskCategory;
use crate::mcp::failure::ToolFailure;
use crate::mcp::outputs::{Asked, Classified, Routed};
use crate::turn::{QuestionProperties, category, route};

/// The tool that a brain which is asked by another doesn't have.
pub const ASK: &str = "ask_brain";
/// The tools that mean nothing where there is one brain at most.
pub const AMONG_BRAINS: [&str; 3] = [ASK, "classify_task", "route_task"];

/// `ask_brain`.
pub fn ask(call: &McpCall<'_>) -> ToolOutcome {
    let name = call.arguments.text("name").unwrap_or_default();
    let question = call.arguments.text("question").unwrap_or_default();
    let by = call.by.as_ref().map(|(brain, turn)| (brain.as_str(), turn.as_str()));
    let tools = (call.tools_of_asked)(call.shared);
    let asking = BrainQuestion { name, question, by };
    let runtime = tokio::runtime::Handle::try_current()
        .map_err(|error| ToolFailure::new("internal", error.to_string()))?;
    let asked = call.shared.other_brains().ask(&call.workspace, tools, asking, &call.cancel);
    let answer = runtime.block_on(asked).map_err(|why| {
        let known = call.workspace.settings.brains.iter().any(|brain| brain.name == name);
        let kind = if known { "no_answer" } else { "no_such_brain" };
        let failure = ToolFailure::new(kind, why);
        if known { failure } else { failure.of("name") }
    })?;
    let output = Asked { brain: name.to_owned(), answer, untrusted: true };
    Ok(ToolAnswer::from_notes(&output.answer, &output))
}

/// `classify_task`.
pub fn classify(call: &McpCall<'_>) -> ToolOutcome {
    let found = category::of(call.arguments.text("text").unwrap_or_default()).map(TaskCategory::as_str);
    let output = Classified { category: found.map(str::to_owned) };
    Ok(ToolAnswer::new(found.unwrap_or("none"), &output))
}

/// `route_task`.
pub fn route_task(call: &McpCall<'_>) -> ToolOutcome {
    let question = QuestionProperties {
        text: call.arguments.text("text").unwrap_or_default(),
        ..QuestionProperties::default()
    };
    let routed = route(&call.workspace.settings, &question, None)
        .map_err(|error| ToolFailure::new("no_such_brain", error.to_string()))?;
    let category = routed.category.map(|found| found.as_str().to_owned());
    let chain = if routed.chain.is_empty() { "memory".to_owned() } else { routed.chain.join(", then ") };
    let words = format!("{chain}\n{}\ncategory: {}", routed.why, category.as_deref().unwrap_or("none"));
    let output = Routed {
        brain: routed.chain.first().cloned(),
        chain: routed.chain,
        rule: routed.rule,
        why: routed.why,
        category,
    };
    Ok(ToolAnswer::new(words, &output))
}
