//! Parses the arguments of `memory`: texts, scopes, days, line ranges.

use jiff::civil::Date;

use crate::cli::context::stdin_text;
use crate::cli::prelude::*;
use crate::format::lines::parse_range;
use crate::memory::{MemoryError, Scope, derive, legacy_scope};

/// The longest text on standard input, in kB.
const MAX_TEXT: u64 = 1024;

/// A text argument; `-` is standard input.
pub(super) fn text_argument(text: &str) -> Result<String> {
    if text == "-" { stdin_text("the text", MAX_TEXT) } else { Ok(text.to_owned()) }
}

/// A scope as people write it; `here` is this folder's. Without one, what the environment names.
pub(super) fn parse_scope(text: Option<&str>) -> Result<Scope> {
    let env = |name: &str| std::env::var(name).ok();
    match text {
        Some("here") => Ok(derive(&current_dir()?, env)),
        Some(text) => Ok(text.parse().map_err(MemoryError::from)?),
        // In no folder, only the environment counts.
        None => Ok(derive(std::path::Path::new("/"), env)),
    }
}

/// A scope of `search` and `recall` with this folder's project in the place of `here`.
pub(in crate::cli) fn expand_here(scope: Option<&str>) -> Result<Option<String>> {
    let Some(text) = scope else { return Ok(None) };
    let mut parts = Vec::new();
    for part in text.split(',') {
        if part.trim() == "here" {
            parts.push(parse_scope(Some("here"))?.to_string());
            parts.extend(previous_scope().map(|scope| scope.to_string()));
        } else {
            parts.push(part.to_owned());
        }
    }
    Ok(Some(parts.join(",")))
}

/// The scope that earlier versions gave this folder's project, by its name alone.
pub(super) fn previous_scope() -> Option<Scope> {
    legacy_scope(&std::env::current_dir().ok()?, |name| std::env::var(name).ok())
}

pub(super) fn parse_name<T: serde::de::DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_value(text.into())
}

pub(super) fn parse_day(text: &str, workspace: &Workspace) -> Result<Date> {
    let today = workspace.zone.tz().to_datetime(workspace.clock.now()).date();
    match text {
        "today" => Ok(today),
        "yesterday" => Ok(today.yesterday().unwrap_or(today)),
        text => text.parse().map_err(|_| {
            CommandError::usage(format!("`{text}` is no day"))
                .hint("write it as `2026-12-01`, `today` or `yesterday`")
        }),
    }
}

pub(super) fn line_range(text: &str) -> Result<(usize, usize)> {
    parse_range(text).ok_or_else(|| {
        CommandError::usage(format!("`{text}` is no range of lines")).hint("write `3`, `3-7` or `3-`")
    })
}
