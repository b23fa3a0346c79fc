//! Reads `[assistant]`, `[[brain]]` and `[[route]]`: brains, their order, and the bounds of an answer.
//!
//! Nothing here is needed: with no brain named, questions are answered from memory alone. The names of
//! brains are checked against each other here, so that a chain or a route never names a brain that isn't
//! there.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::brains::{BrainKind, BrainSettings};
use super::checks::{Validation, is_web, wrong};
use crate::defaults::defaults;
use crate::words::words;

defaults! {
    /// How the assistant answers.
    #[derive(Debug, Clone, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct AssistantSettings {
        /// The brains to try, in this order; without it all brains, as they stand.
        pub chain: Option<Vec<String>>,
        /// The note that says how the assistant speaks.
        pub persona: String = "Assistant.md".to_owned(),
        /// The tools of the assistant.
        pub tools: Vec<ToolGroup> = vec![ToolGroup::Vault],
        /// When a shell command is asked about.
        pub bash: BashMode,
        /// The most rounds of tool calls in a turn. A call after them isn't run, and ends the turn.
        pub max_rounds: u32 = 16,
        /// The longest that a turn takes, in minutes.
        pub turn_minutes: u32 = 10,
        /// The most tokens that one turn spends, in and out together.
        pub turn_tokens: u64 = 200_000,
        /// The most tokens of all turns of a day; none for no bound.
        pub day_tokens: Option<u64>,
        /// The most that the turns of a day cost, in USD, where prices are set.
        pub day_usd: Option<f64>,
        /// Calls that need no approval: `bash:GLOB`, `skill:NAME@HASH`, `mcp:SERVER.TOOL`. See [`super::allow`].
        pub allow: Vec<String>,
        /// Whether a brain puts what is due into words of its own, before its minute.
        pub phrase: bool,
    }
}

/// Groups of tools that a brain may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolGroup {
    /// The typed tools of the MCP server, called in process.
    Vault,
    /// One shell command, confined. If this machine can't confine it wholly it is offered only with
    /// `bash = "ask"`; `doctor` says what is missing.
    Bash,
}

/// When a confined command is asked about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BashMode {
    /// Ask only for calls that leave the box: the network, a secret, a skill from elsewhere.
    #[default]
    Confined,
    /// Each time, whatever `allow` says; then also where this machine can't enforce the whole box.
    Ask,
}

/// The secrets of a skill: `[skill.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkillSettings {
    /// For a secret that isn't in the environment: its variable, and the file whose first line it is.
    pub key_files: BTreeMap<String, String>,
}

/// Which brain answers what; the first route that fits wins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Route {
    /// Only in this channel.
    pub channel: Option<u64>,
    /// Only in this thread.
    pub thread: Option<u64>,
    /// Only for this routine.
    pub routine: Option<String>,
    /// Only where the text fits this regular expression.
    #[serde(rename = "match")]
    pub matches: Option<String>,
    /// Only with such a file: `image`, `text` or `any`.
    pub attachment: Option<AttachmentKind>,
    /// Only for questions of this kind.
    pub category: Option<TaskCategory>,
    /// The brain that is tried first; the chain follows.
    pub brain: String,
}

/// Kinds of files that a route can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum AttachmentKind {
    /// A picture.
    Image,
    /// A text file.
    Text,
    /// Another file.
    #[value(name = "other")]
    Any,
}

words! {
    /// Kinds of questions, told by words alone.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TaskCategory, as_str {
        /// About programs and their text.
        Code = "code",
        /// Writing and ideas.
        Creative = "creative",
        /// Comparing, explaining, reckoning.
        Analysis = "analysis",
        /// Dates, reminders, plans.
        Scheduling = "scheduling",
        /// About this machine or the assistant itself.
        System = "system",
        /// About a picture.
        Vision = "vision",
    }
}

/// Checks the three tables together; an error names its dotted key.
pub(in crate::config) fn validate(
    assistant: &AssistantSettings,
    brains: &[BrainSettings],
    routes: &[Route],
    named: &[(&str, Option<&str>)],
) -> Validation {
    let known = |name: &str| brains.iter().any(|brain| brain.name == name);
    let name_one = |name: &str| match brains {
        [] => format!("add a `[[brain]]` with `name = \"{name}\"`, or take this out: no brain is set up"),
        _ => {
            let names: Vec<String> = brains.iter().map(|brain| format!("`{}`", brain.name)).collect();
            format!("add a `[[brain]]` with `name = \"{name}\"`, or name one of {}", names.join(", "))
        }
    };
    let budgets = brains
        .iter()
        .map(|brain| (format!("brain `{}`", brain.name), brain.day_tokens, brain.day_usd))
        .chain([("`[assistant]`".to_owned(), assistant.day_tokens, assistant.day_usd)]);
    for (of, tokens, usd) in budgets {
        if tokens == Some(0) || usd.is_some_and(|usd| !usd.is_finite() || usd <= 0.0) {
            let key = if tokens == Some(0) { "assistant.day_tokens" } else { "assistant.day_usd" };
            return wrong(
                if of.starts_with("brain") { "brain" } else { key },
                format!("the day's budget of {of} is nothing at all"),
                "give more than 0, or take the key out for no bound",
            );
        }
    }
    for (index, brain) in brains.iter().enumerate() {
        let checked = validate_brain(brain, &brains[..index]);
        checked.or_else(|(message, hint)| wrong(format!("brain[{index}]"), message, hint))?;
    }
    for pattern in &assistant.allow {
        if let Err(why) = super::allow::parse(pattern) {
            return wrong(
                "assistant.allow",
                format!("`assistant.allow` holds `{}`, which allows nothing: {why}", pattern.escape_debug()),
                "write `bash:git log *`, `skill:NAME@HASH` or `mcp:SERVER.TOOL`",
            );
        }
    }
    for name in assistant.chain.iter().flatten() {
        if !known(name) {
            return wrong(
                "assistant.chain",
                format!("`assistant.chain` names `{name}`, and no `[[brain]]` has that name"),
                name_one(name),
            );
        }
    }
    for (key, name) in named {
        if let Some(name) = name.filter(|name| !known(name)) {
            let message = format!("`{key}` names `{name}`, and no `[[brain]]` has that name");
            return wrong(*key, message, name_one(name));
        }
    }
    for (index, route) in routes.iter().enumerate() {
        let this = format!("route[{index}]");
        if !known(&route.brain) {
            return wrong(
                this,
                format!("a route names the brain `{}`, and no `[[brain]]` has that name", route.brain),
                name_one(&route.brain),
            );
        }
        if let Some(pattern) = &route.matches
            && let Err(error) = regex_lite::Regex::new(pattern)
        {
            return wrong(
                this,
                format!("the route's pattern `{pattern}` can't be understood: {error}"),
                "see https://docs.rs/regex-lite for what a pattern may hold",
            );
        }
    }
    Ok(())
}

/// Checks a brain's table; an error has its remedy. `before` are those above it.
fn validate_brain(brain: &BrainSettings, before: &[BrainSettings]) -> Result<(), (String, &'static str)> {
    let wrong = |message: String, hint| Err((message, hint));
    let name = &brain.name;
    let fits = (1..=40).contains(&name.chars().count())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.');
    if !fits || name == MEMORY {
        return wrong(
            format!("`{name}` can't be the name of a brain"),
            "use letters, digits, `-`, `_` and `.`, and another name than `memory`",
        );
    }
    if before.iter().any(|other| other.name == *name) {
        return wrong(format!("two brains have the name `{name}`"), "name each brain once");
    }
    harness(brain)?;
    if let Some(url) = &brain.url
        && !is_web(url)
    {
        return wrong(
            format!("the `url` of brain `{name}` is `{url}`, which is no web address"),
            "begin it with `https://`, or `http://` for a server on this machine",
        );
    }
    for variable in brain.key_env.iter().chain(&brain.key_envs) {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if variable.is_empty() || variable.len() > 80 || !variable.chars().all(plain) {
            return wrong(
                format!("`key_env` of brain `{name}` is no name of an environment variable"),
                "name a variable such as `ANTHROPIC_API_KEY`; if a key stands there, take it out and renew it",
            );
        }
    }
    let prices = brain.price.iter().flat_map(|price| {
        [Some(price.input), price.cached, price.cache_write, Some(price.output)].into_iter().flatten()
    });
    if prices.into_iter().any(|price| !price.is_finite() || price < 0.0) {
        return wrong(format!("a price of brain `{name}` is below zero"), "give USD a million tokens");
    }
    if !(1000..=10_000_000).contains(&brain.context_tokens) {
        return wrong(
            format!("`context_tokens` of brain `{name}` is {}, out of range", brain.context_tokens),
            "give a number from 1000 to 10000000",
        );
    }
    Ok(())
}

/// Checks a brain's keys that are about programs; an error has its remedy.
fn harness(brain: &BrainSettings) -> Result<(), (String, &'static str)> {
    let (name, kind) = (&brain.name, brain.kind.as_str());
    if brain.kind == BrainKind::Acp && !cfg!(feature = "acp") {
        let message = format!("the brain `{name}` is of kind `acp`, which this program was built without");
        return Err((message, "build it with `--features acp`, or take another kind"));
    }
    if !brain.kind.is_harness() && (brain.command.is_some() || !brain.tools.is_empty()) {
        let message =
            format!("the brain `{name}` has a `command` or `tools`, and its kind `{kind}` is no program");
        return Err((message, "take it out, or take the kind `claude-code` or `codex`"));
    }
    if brain.kind.is_harness() && brain.command().first().is_none_or(|program| program.trim().is_empty()) {
        let message = format!("the brain `{name}` of kind `{kind}` has no `command`");
        return Err((message, "name its program: `command = [\"/usr/bin/program\", \"argument\"]`"));
    }
    Ok(())
}

/// The name under which the built-in answer from memory stands in logs.
pub const MEMORY: &str = "memory";

#[cfg(test)]
mod tests;
