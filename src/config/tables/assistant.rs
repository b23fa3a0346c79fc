//! Reads `[assistant]`, `[[route]]` and `[skill.NAME]`: the order of brains, the limits of an answer, the files of a
//! skill's secrets. Also checks the brains of `[[brain]]`.
//!
//! A brain is a language model that answers questions. All of these tables are optional: without a brain, questions are
//! answered from memory alone. A table that names an unknown brain is an error.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::brains::BrainSettings;
use super::{Validation, ensure, is_web, wrong};
use crate::words::words;

settings! {
    /// How the assistant answers.
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
        /// Whether a brain words reminders, before they are due.
        pub phrase: bool,
    }

    /// The secrets of a skill: `[skill.NAME]`.
    pub struct SkillSettings {
        /// For a secret that isn't in the environment: its variable, and the file whose first line it is.
        pub key_files: BTreeMap<String, String>,
    }

    /// A rule for the brain of a question; the first rule that matches wins.
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

/// Checks the three tables together, and the brains that other tables name; an error names its dotted key.
pub(in crate::config) fn validate(
    assistant: &AssistantSettings,
    brains: &[BrainSettings],
    routes: &[Route],
    named: [(&str, Option<&str>); 3],
) -> Validation {
    let known = |name: &str| brains.iter().any(|brain| brain.name == name);
    let name_one = |name: &str| {
        let names: Vec<String> = brains.iter().map(|brain| format!("`{}`", brain.name)).collect();
        let or = match names.as_slice() {
            [] => "take this out: no brain is set up".to_owned(),
            names => format!("name one of {}", names.join(", ")),
        };
        format!("add a `[[brain]]` with `name = \"{name}\"`, or {or}")
    };
    let key = if assistant.day_tokens == Some(0) { "assistant.day_tokens" } else { "assistant.day_usd" };
    validate_budget(key, "`[assistant]`", assistant.day_tokens, assistant.day_usd)?;
    for (index, brain) in brains.iter().enumerate() {
        validate_brain(&format!("brain[{index}]"), brain, &brains[..index])?;
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
    let chain = assistant.chain.iter().flatten().map(|name| ("assistant.chain", Some(name.as_str())));
    for (key, name) in chain.chain(named) {
        if let Some(name) = name.filter(|name| !known(name)) {
            let message = format!("`{key}` names `{name}`, and no `[[brain]]` has that name");
            return wrong(key, message, name_one(name));
        }
    }
    for (index, route) in routes.iter().enumerate() {
        let (this, brain) = (format!("route[{index}]"), &route.brain);
        let message = format!("a route names the brain `{brain}`, and no `[[brain]]` has that name");
        ensure(known(brain), &this, message, &name_one(brain))?;
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

/// Checks a brain's table, which is at `key`; `before` are those above it.
fn validate_brain(key: &str, brain: &BrainSettings, before: &[BrainSettings]) -> Validation {
    let name = &brain.name;
    let fits = (1..=40).contains(&name.chars().count())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.');
    ensure(
        fits && name != MEMORY,
        key,
        format!("`{name}` can't be the name of a brain"),
        "use letters, digits, `-`, `_` and `.`, and another name than `memory`",
    )?;
    let is_first = before.iter().all(|other| other.name != *name);
    ensure(is_first, key, format!("two brains have the name `{name}`"), "name each brain once")?;
    validate_budget(key, &format!("brain `{name}`"), brain.day_tokens, brain.day_usd)?;
    validate_program(key, brain)?;
    if let Some(url) = brain.url.as_ref().filter(|url| !is_web(url)) {
        return wrong(
            key,
            format!("the `url` of brain `{name}` is `{url}`, which is no web address"),
            "begin it with `https://`, or `http://` for a server on this machine",
        );
    }
    ensure(
        brain.max_output_tokens != Some(0),
        key,
        format!("`max_output_tokens` of brain `{name}` is 0"),
        "give more than 0, or take the key out",
    )?;
    let is_variable = |variable: &String| {
        (1..=80).contains(&variable.len()) && variable.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    ensure(
        brain.key_env.iter().chain(&brain.key_envs).all(is_variable),
        key,
        format!("`key_env` of brain `{name}` is no name of an environment variable"),
        "name a variable such as `ANTHROPIC_API_KEY`; if a key stands there, take it out and renew it",
    )?;
    let mut prices = brain.price.iter().flat_map(|price| {
        [Some(price.input), price.cached, price.cache_write, Some(price.output)].into_iter().flatten()
    });
    ensure(
        prices.all(|price| price.is_finite() && price >= 0.0),
        key,
        format!("a price of brain `{name}` is below zero"),
        "give USD a million tokens",
    )?;
    let tokens = brain.context_tokens;
    ensure(
        (1000..=10_000_000).contains(&tokens),
        key,
        format!("`context_tokens` of brain `{name}` is {tokens}, out of range"),
        "give a number from 1000 to 10000000",
    )
}

/// Checks the bounds of a day.
fn validate_budget(key: &str, of: &str, tokens: Option<u64>, usd: Option<f64>) -> Validation {
    let is_some = tokens != Some(0) && usd.is_none_or(|usd| usd.is_finite() && usd > 0.0);
    let message = format!("the day's budget of {of} is nothing at all");
    ensure(is_some, key, message, "give more than 0, or take the key out for no bound")
}

/// Checks a brain's keys that are about programs.
fn validate_program(key: &str, brain: &BrainSettings) -> Validation {
    let (name, kind) = (&brain.name, brain.kind);
    ensure(
        kind.is_harness() || brain.command.is_none() && brain.tools.is_empty(),
        key,
        format!("the brain `{name}` has a `command` or `tools`, and its kind `{kind}` is no program"),
        "take it out, or take the kind `claude-code` or `codex`",
    )?;
    ensure(
        !kind.is_harness() || brain.command().first().is_some_and(|program| !program.trim().is_empty()),
        key,
        format!("the brain `{name}` of kind `{kind}` has no `command`"),
        "name its program: `command = [\"/usr/bin/program\", \"argument\"]`",
    )
}

/// The name under which the built-in answer from memory stands in logs.
pub const MEMORY: &str = "memory";

#[cfg(test)]
mod tests;
