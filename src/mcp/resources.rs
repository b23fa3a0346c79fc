//! Offers notes as MCP resources: the URI `vault://daily/2026-11-20.md` names the note `daily/2026-11-20.md`.
//!
//! In a URI, everything in the note's path but letters, digits and `-._~/` is percent-encoded. Lists come in pages
//! whose cursor is the last path of the page before, so they stay correct while notes are added or removed. Only notes
//! are resources: no hidden file, nothing but Markdown.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{
    ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};

use super::untrusted;
use crate::vault::{NotePath, VaultError, WalkEntry, WalkOptions};
use crate::workspace::Workspace;

/// The scheme of every URI.
pub const SCHEME: &str = "vault://";
/// The characters that percent-encoding escapes in a URI.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const MARKDOWN: &str = "text/markdown";
/// Notes of one page.
const PAGE: usize = 100;

/// The URI of a note.
pub fn uri_of(path: &NotePath) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(path.as_str(), PLAIN))
}

/// The note that a URI names. `vault:///x.md` is `vault://x.md`.
///
/// # Errors
/// It is no such URI, or names something outside the vault or no note.
pub fn path_of(uri: &str) -> Result<NotePath, ErrorData> {
    let bad = |why: String| ErrorData::invalid_params(why, None);
    let shown: String = uri.chars().take(200).collect();
    let rest = uri
        .strip_prefix(SCHEME)
        .ok_or_else(|| bad(format!("{shown:?} is no `vault://` URI; resources/list gives all")))?;
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let text = percent_decode_str(rest)
        .decode_utf8()
        .map_err(|_| bad(format!("{shown:?} is not percent-encoded UTF-8")))?;
    let path = NotePath::new(&text).map_err(|error| bad(error.to_string()))?;
    if !WalkOptions::default().takes(&path) {
        return Err(bad(format!("`{path}` is no note; notes end in `.md` and no part begins with a dot")));
    }
    Ok(path)
}

/// One page of all notes.
///
/// # Errors
/// The cursor is none of ours, or the vault can't be listed.
pub fn list(workspace: &Workspace, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let after = cursor.map(last_path).transpose()?;
    let walk = workspace.vault.walk(&WalkOptions::default()).map_err(unavailable)?;
    let mut entries = walk.entries;
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    let begin =
        after.map_or(0, |after| entries.partition_point(|entry| entry.path.as_str() <= after.as_str()));
    let page = &entries[begin..entries.len().min(begin + PAGE)];
    let mut result = ListResourcesResult::with_all_items(page.iter().map(describe).collect());
    if begin + page.len() < entries.len() {
        result.next_cursor = page.last().map(|entry| BASE64URL_NOPAD.encode(entry.path.as_str().as_bytes()));
    }
    Ok(result)
}

fn last_path(cursor: &str) -> Result<String, ErrorData> {
    let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok();
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| ErrorData::invalid_params("that cursor is none that resources/list gave", None))
}

fn describe(entry: &WalkEntry) -> Resource {
    Resource::new(uri_of(&entry.path), entry.path.as_str())
        .with_title(entry.path.stem())
        .with_mime_type(MARKDOWN)
        .with_size(entry.stat.size)
        .with_meta(untrusted::meta())
}

/// A note's text, byte for byte, with the mark of untrusted context behind it.
///
/// # Errors
/// There is no such note, or it can't be read.
pub fn read(workspace: &Workspace, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let path = workspace.vault.with_names_on_disk(path_of(uri)?);
    if workspace.vault.is_hidden(&path) {
        return Err(ErrorData::invalid_params(
            format!("`{path}` leads to a hidden file, which is no note"),
            None,
        ));
    }
    let bytes = workspace.vault.read(&path).map_err(|error| match error {
        VaultError::NotFound(_) => ErrorData::resource_not_found(error.to_string(), None),
        VaultError::Escapes(_) | VaultError::Loop(_) | VaultError::NotAFile { .. } => {
            ErrorData::invalid_params(error.to_string(), None)
        }
        error => unavailable(error),
    })?;
    let contents = match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(error) => ResourceContents::blob(BASE64.encode(error.as_bytes()), uri),
    };
    let note = contents.with_mime_type(MARKDOWN).with_meta(untrusted::meta());
    let mark = ResourceContents::text(format!("[{}]", untrusted::NOTICE), uri);
    Ok(ReadResourceResult::new(vec![note, mark]))
}

/// The kinds of notes that have a pattern.
pub fn templates(workspace: &Workspace) -> Vec<ResourceTemplate> {
    let daily = workspace.settings.paths.daily.trim_end_matches('/');
    vec![
        ResourceTemplate::new("vault://{+path}", "note")
            .with_title("A note")
            .with_description("Any note of the vault by its path, as in `MEMORY.md`.")
            .with_mime_type(MARKDOWN),
        ResourceTemplate::new(format!("{SCHEME}{daily}/{{date}}.md"), "day")
            .with_title("Notes of a day")
            .with_description("The notes of one day, as in `2026-11-20`.")
            .with_mime_type(MARKDOWN),
    ]
}

/// The vault can't be read at all.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub fn unavailable(error: VaultError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_uri_names_its_note_again(name in "[^\\x00-\\x1f\\x7f-\\u{9f}/\\\\.]{1,20}", folder in "[a-z é%#?:]{1,8}") {
            if let Ok(path) = NotePath::new(&format!("{folder}/{name}.md")) {
                let uri = uri_of(&path);
                proptest::prop_assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()));
                proptest::prop_assert_eq!(path_of(&uri).unwrap(), path);
            }
        }

        #[test]
        fn no_uri_panics(uri in "(vault://)?\\PC{0,30}") {
            let _ = path_of(&uri);
        }
    }

    #[test]
    fn only_notes_inside_are_named() {
        assert_eq!(path_of("vault:///daily/2026-11-20.md").unwrap().as_str(), "daily/2026-11-20.md");
        assert_eq!(path_of("vault://a%20b.md").unwrap().as_str(), "a b.md");
        for bad in [
            "file:///etc/passwd",
            "vault://../x.md",
            "vault://%2e%2e/x.md",
            "vault:////etc/passwd.md",
            "vault://a%2",
            "vault://%ff.md",
            "vault://.obsidian/app.md",
            "vault://picture.png",
            "vault://a%00.md",
            "vault://",
        ] {
            assert!(path_of(bad).is_err(), "{bad}");
        }
    }
}
