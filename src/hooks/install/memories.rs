//! Finds the folder of Claude Code's own memories, and changes the host's setting that moves this folder into the
//! vault.
//!
//! The host has one folder of Markdown files for each project, and a setting for another folder ([`KEY`], an absolute
//! path). The host reads that setting only from the person's own settings of the project
//! (`.claude/settings.local.json`), not from shared settings. Texts and paths go in and come out; only [`project`]
//! looks at the disk.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::entries::{begun, cut_member, parse_settings, read};
use super::json::{self, SettingsError, get, members, span};
use crate::config::split_bom;
use crate::memory::Scope;

/// The host's setting.
pub const KEY: &str = "autoMemoryDirectory";
/// The folder of the vault that holds a folder a project.
pub const FOLDER: &str = "memory/claude";
/// The host cuts the names of longer project paths.
const MAX_NAME_CHARS: usize = 200;

/// The folder that the settings name.
///
/// # Errors
/// The text is no JSON, or not of the host's shape.
pub fn configured_folder(text: &str) -> Result<Option<String>, SettingsError> {
    Ok(read(text)?.and_then(|root| Some(json::text(get(&root, KEY)?)?.to_owned())))
}

/// The folder that the settings name, if it is one of a vault.
pub fn our_folder(text: &str) -> Option<String> {
    configured_folder(text).ok()?.filter(|folder| folder.contains(&format!("/{FOLDER}/")))
}

/// The settings with this folder; all else stays byte for byte.
///
/// # Errors
/// As [`configured_folder`].
pub fn with_folder(text: &str, folder: &str) -> Result<String, SettingsError> {
    let (bom, style, mut body) = begun(text);
    let root = parse_settings(&body)?;
    let value = Value::from(folder);
    let (range, new) = match get(&root, KEY) {
        Some(node) => (span(node), value.to_string()),
        None => style.add_member(&root, 0, KEY, &value),
    };
    body.replace_range(range, &new);
    Ok(format!("{bom}{body}"))
}

/// The settings without the folder. `before` is the file before the folder was set, if it is known: a folder that it
/// names is set again, and if nothing else has changed since, exactly its bytes are returned.
///
/// # Errors
/// As [`configured_folder`].
pub fn without_folder(text: &str, before: Option<&str>) -> Result<String, SettingsError> {
    let Some(root) = read(text)? else { return Ok(text.to_owned()) };
    if let (Some(before), Some(ours)) = (before, our_folder(text))
        && with_folder(before, &ours).is_ok_and(|after| after == text)
    {
        return Ok(before.to_owned());
    }
    if let Some(folder) = before.and_then(|before| configured_folder(before).ok()?) {
        return with_folder(text, &folder);
    }
    let (bom, body) = split_bom(text);
    let mut body = body.to_owned();
    if let Some(at) = members(&root).iter().position(|member| member.name.as_str() == KEY) {
        body.replace_range(cut_member(&root, at), "");
    }
    Ok(format!("{bom}{body}"))
}

/// The project around a folder: where its repository begins, else the folder itself.
pub fn project(here: &Path) -> &Path {
    here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here)
}

/// The name of a project's folder in the vault: that of its scope, as a file name.
pub fn name(scope: &Scope, project: &Path) -> String {
    let tag = scope.tag().unwrap_or_default();
    let id = tag.split_once('/').map_or("", |(_, id)| id);
    let last = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let source = if id.is_empty() { last.as_str() } else { id };
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = source.chars().map(plain).take(80).collect();
    match name.trim_matches(['-', '.']) {
        "" => "project".to_owned(),
        name => name.to_owned(),
    }
}

/// The host's own folder of a project's memories; none where it hashes the name.
pub fn default_folder(config: &Path, project: &Path) -> Option<PathBuf> {
    let text = project.to_str()?;
    // The host counts in UTF-16 units.
    let plain = |unit: u16| char::from_u32(unit.into()).filter(char::is_ascii_alphanumeric).unwrap_or('-');
    let name: String = text.encode_utf16().map(plain).collect();
    (name.len() <= MAX_NAME_CHARS).then(|| config.join("projects").join(name).join("memory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_put_changed_and_taken_out_and_all_else_stays() {
        for before in
            ["{\n  \"model\": \"x\"\n}\n", "{\"a\":1,\"b\":[ ]}", "\u{feff}{\r\n\t\"a\": 1\r\n}", "{}"]
        {
            let once = with_folder(before, "/v/memory/claude/app").unwrap();
            assert_eq!(configured_folder(&once).unwrap().as_deref(), Some("/v/memory/claude/app"), "{once}");
            let moved = with_folder(&once, "/w \"x\"").unwrap();
            assert_eq!(moved, once.replace("/v/memory/claude/app", "/w \\\"x\\\""));
            assert_eq!(without_folder(&moved, None).unwrap(), before);
        }
        assert_eq!(with_folder("", "/v").unwrap(), "{\n  \"autoMemoryDirectory\": \"/v\"\n}\n");
        assert_eq!(configured_folder("").unwrap(), None);
        assert!(with_folder("[1]", "/v").is_err() && with_folder("{,}", "/v").is_err());
    }

    #[test]
    fn the_host_names_its_folders_after_the_path() {
        let dir = default_folder(Path::new("/h/.claude"), Path::new("/home/me/my_app.rs/ü")).unwrap();
        assert_eq!(dir, Path::new("/h/.claude/projects/-home-me-my-app-rs--/memory"));
        assert_eq!(default_folder(Path::new("/h"), Path::new(&format!("/{}", "a".repeat(200)))), None);
    }

    #[test]
    fn a_project_s_folder_is_a_plain_name() {
        let here = Path::new("/home/me/Ärger & Co");
        let named = |id: &str| name(&Scope::of_tag(id).unwrap_or(Scope::Global), here);
        assert_eq!(named("#project/me/app"), "me-app");
        assert_eq!(named("#nothing"), "Ärger---Co");
        assert_eq!(name(&Scope::Global, Path::new("/")), "project");
    }
}
