//! Completes the argument of a resource template or a prompt: paths of notes, and days that have notes.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData};

use super::resources;
use crate::vault::WalkOptions;
use crate::workspace::Workspace;

/// The values that the argument may become, best first: those that begin with the text, then those that hold it.
///
/// # Errors
/// The vault can't be listed.
pub fn complete(workspace: &Workspace, request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let walk = workspace.vault.walk(&WalkOptions::default()).map_err(resources::unavailable)?;
    let daily = format!("{}/", workspace.settings.paths.daily.trim_end_matches('/'));
    let paths = walk.entries.iter().map(|entry| entry.path.as_str());
    let candidates: Vec<String> = match request.argument.name.as_str() {
        "path" => paths.map(str::to_owned).collect(),
        "date" => {
            let mut days: Vec<String> = paths
                .filter_map(|path| path.strip_prefix(&daily)?.strip_suffix(".md"))
                .filter(|day| day.parse::<jiff::civil::Date>().is_ok())
                .map(str::to_owned)
                .collect();
            days.sort_unstable_by(|a, b| b.cmp(a));
            days
        }
        _ => Vec::new(),
    };
    Ok(CompleteResult::new(best(candidates, &request.argument.value)))
}

fn best(candidates: Vec<String>, typed: &str) -> CompletionInfo {
    let typed = typed.to_lowercase();
    let (begin, rest): (Vec<String>, Vec<String>) =
        candidates.into_iter().partition(|one| one.to_lowercase().starts_with(&typed));
    let mut values = begin;
    values.extend(rest.into_iter().filter(|one| one.to_lowercase().contains(&typed)));
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let has_more = values.len() < total;
    CompletionInfo::with_pagination(values, u32::try_from(total).ok(), has_more).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_so_comes_first_and_no_more_than_a_hundred() {
        let all = vec!["notes/mum.md".to_owned(), "Mum.md".to_owned(), "dad.md".to_owned()];
        assert_eq!(best(all, "mum").values, ["Mum.md", "notes/mum.md"]);
        let info = best((0..150).map(|n| format!("{n}.md")).collect(), "");
        assert_eq!((info.values.len(), info.total, info.has_more), (100, Some(150), Some(true)));
    }
}
