//! Reads `[follow]`: folders of other programs whose notes the daemon copies into the vault.

use std::collections::BTreeMap;

use super::checks::{Validation, wrong};

/// Checks the folders that are followed.
pub(in crate::config) fn validate(folders: &BTreeMap<String, String>) -> Validation {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    for (name, folder) in folders {
        let why = match folder {
            _ if name.is_empty() || !name.chars().all(plain) => {
                "its name may have letters, digits, `-` and `_`"
            }
            _ if name == "claude" => "`claude` is Claude Code's own: `vault-agent hook install --memories`",
            folder if !folder.starts_with('/') && !folder.starts_with("~/") => {
                "it has to begin with `/` or `~/`"
            }
            _ => continue,
        };
        let key = format!("follow.{name}");
        let message = format!("`{key}` can't be followed: {why}");
        return wrong(key, message, "write it as in `codex = \"~/.codex/memories\"`");
    }
    Ok(())
}
