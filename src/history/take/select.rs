//! Selects the files that a snapshot keeps, by path and size alone. Pure.
//!
//! A path comes in; a [`PathTreatment`] goes out. The rules, the first that applies:
//!
//! - the agent's own notes ([`Selection::own`]) are kept;
//! - files below `.trash`, `.git`, `node_modules` and the folders of sync tools, temporary files, Obsidian's workspace
//!   files, and files that `[history] exclude` names are ignored;
//! - notes, canvases, bases, text files, settings, the files of skills, and files that `include` names are kept;
//! - attachments are kept if the settings say so;
//! - a sync tool's conflict copy is kept if its original would be;
//! - all other files are ignored.
//!
//! Two kinds of files are left out of a snapshot although a rule keeps them, unless they are the agent's own notes:
//! files with a name in their path that git reserves for itself, such as `.gitmodules` ([`PathTreatment::Reserved`]),
//! and files over `max_file_bytes`.

use std::ops::RangeInclusive;

use crate::config::{PathPatterns, Settings};
use crate::vault::conflict;

/// Extensions of text that people write.
const TEXT: [&str; 6] = ["md", "markdown", "canvas", "base", "txt", "org"];
/// Extensions that `attachments = true` adds.
const ATTACHMENTS: &str = "\
    png jpg jpeg gif webp svg bmp avif heic pdf mp3 wav m4a ogg flac webm mp4 mov mkv ogv 3gp csv json \
    docx xlsx pptx excalidraw";
/// Folders that are never kept, at any depth.
const NEVER_FOLDERS: [&str; 6] = [".trash", ".stversions", ".stfolder", ".sync", "node_modules", ".git"];
/// Files that Obsidian rewrites all the time and that are not worth restoring.
const NEVER_FILES: [&str; 6] = [
    ".obsidian/workspace.json",
    ".obsidian/workspace-mobile.json",
    ".obsidian/workspaces.json.bak",
    ".obsidian/cache",
    ".obsidian/.workspace",
    ".DS_Store",
];

/// The rules of one vault.
#[derive(Debug, Clone)]
pub struct Selection {
    include: PathPatterns,
    exclude: PathPatterns,
    attachments: bool,
    /// The folder of skills, with its slash: their scripts are kept as notes are.
    skills: String,
    /// Larger files are left out, in bytes.
    pub max_file_bytes: u64,
    /// The agent's own notes, where ids live.
    pub own: Vec<String>,
}

/// The treatment of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathTreatment {
    /// It is kept.
    Keep,
    /// It is ignored.
    Ignore,
    /// It would be kept but for its name, which git reserves.
    Reserved,
}

impl Selection {
    /// The rules that the settings make.
    pub fn new(settings: &Settings) -> Self {
        let history = &settings.history;
        let paths = &settings.paths;
        let own = [
            &paths.reminders,
            &paths.commitments,
            &paths.memory,
            &paths.pinned,
            &paths.profile,
            &paths.working,
            &paths.inbox,
        ];
        Self {
            include: PathPatterns::of(&history.include),
            exclude: PathPatterns::of(&history.exclude),
            attachments: history.attachments,
            skills: format!("{}/", paths.skills),
            max_file_bytes: history.max_file_bytes,
            own: own.into_iter().cloned().collect(),
        }
    }

    /// Whether a file of that many bytes is left out; the agent's own notes never are.
    pub fn is_too_large(&self, path: &str, bytes: u64) -> bool {
        bytes > self.max_file_bytes && !self.own.iter().any(|own| own == path)
    }

    /// The reason for leaving out a file of that many bytes, in words.
    pub(crate) fn too_large(&self, bytes: u64) -> String {
        format!("{bytes} bytes; `[history] max_file_bytes` is {}", self.max_file_bytes)
    }

    /// The treatment of the file at `path`.
    pub fn verdict(&self, path: &str) -> PathTreatment {
        if self.own.iter().any(|own| own == path) {
            return PathTreatment::Keep;
        }
        let mut parts = path.split('/');
        let name = parts.next_back().unwrap_or(path);
        if parts.any(|part| NEVER_FOLDERS.contains(&part))
            || NEVER_FILES.contains(&path)
            || NEVER_FILES.contains(&name)
            || is_temporary(name)
            || self.exclude.matches(path)
            || !self.wanted(path, name)
        {
            return PathTreatment::Ignore;
        }
        if path.split('/').any(is_reserved) { PathTreatment::Reserved } else { PathTreatment::Keep }
    }

    fn wanted(&self, path: &str, name: &str) -> bool {
        // A tool's mark may stand behind the extension.
        let original = conflict::original_of(name);
        let name = original.as_deref().unwrap_or(name);
        let extension = name.rsplit_once('.').map_or_else(String::new, |(_, it)| it.to_ascii_lowercase());
        if self.include.matches(path) || path == "vault-agent.toml" || path.starts_with(&self.skills) {
            return true;
        }
        if let Some(inside) = path.strip_prefix(".obsidian/") {
            return extension == "json" || (inside.starts_with("snippets/") && extension == "css");
        }
        TEXT.contains(&extension.as_str())
            || (self.attachments && ATTACHMENTS.split(' ').any(|known| known == extension))
    }
}

/// Temporary files of editors and sync tools, by their names.
fn is_temporary(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    conflict::is_temporary(name)
        || [".~", "~$", ".syncthing.", "~syncthing~", ".dropbox"].iter().any(|start| lower.starts_with(start))
        || [".tmp", ".swp", ".swx", ".part", ".crdownload"].iter().any(|end| lower.ends_with(end))
}

/// The code points that HFS+ ignores when it compares names.
const UNSEEN: [RangeInclusive<char>; 4] =
    ['\u{200c}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{206a}'..='\u{206f}', '\u{feff}'..='\u{feff}'];

/// Names that `git fsck --strict` refuses in a tree or reads as its own settings, in the spellings
/// that HFS+ and NTFS take for the same.
pub fn is_reserved(name: &str) -> bool {
    let is_seen = |c: &char| !UNSEEN.iter().any(|range| range.contains(c));
    let lower = name.chars().filter(is_seen).collect::<String>().to_lowercase();
    // NTFS drops trailing dots and spaces and what follows a colon.
    let bare = lower.split(':').next().unwrap_or(&lower).trim_end_matches(['.', ' ']);
    [".git", "git~1", ".gitmodules", ".gitattributes", ".gitignore", ".mailmap"].contains(&bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(change: impl FnOnce(&mut Settings)) -> Selection {
        let mut settings = Settings::default();
        change(&mut settings);
        Selection::new(&settings)
    }

    #[test]
    fn notes_canvases_bases_and_settings_are_kept() {
        let selection = selection(|_| {});
        for path in [
            "a.md",
            "b/c.MD",
            "x.canvas",
            "y.base",
            "a.md..path1",
            "a.md.conflict2",
            "vault-agent.toml",
            ".obsidian/app.json",
            ".obsidian/snippets/a.css",
        ] {
            assert_eq!(selection.verdict(path), PathTreatment::Keep, "{path}");
        }
        for path in [
            "a.png",
            ".git/config",
            "sub/.git/x.md",
            ".trash/a.md",
            ".obsidian/workspace.json",
            ".syncthing.a.md.tmp",
            "a.md~",
            ".obsidian/plugins/x/main.js",
            "x.exe",
            "a.png.conflict1",
        ] {
            assert_eq!(selection.verdict(path), PathTreatment::Ignore, "{path}");
        }
    }

    #[test]
    fn settings_add_and_take_away_but_never_the_agents_own_notes() {
        let selection = selection(|settings| {
            settings.history.include = vec!["*.png".into(), "code/".into()];
            settings.history.exclude = vec!["private/**".into(), "*.md".into()];
        });
        assert_eq!(selection.verdict("a.png"), PathTreatment::Keep);
        assert_eq!(selection.verdict("code/deep/x.rs"), PathTreatment::Keep);
        assert_eq!(selection.verdict("private/a.canvas"), PathTreatment::Ignore);
        assert_eq!(selection.verdict("note.md"), PathTreatment::Ignore);
        assert_eq!(selection.verdict("Reminders.md"), PathTreatment::Keep);
    }

    #[test]
    fn names_that_git_reserves_are_told_apart() {
        let selection = selection(|settings| settings.history.include = vec!["**".into()]);
        for path in [
            ".gitmodules",
            "a/.gitattributes",
            ".GIT ",
            "git~1",
            "x/.g\u{200c}it/y.md",
            ".git::$INDEX_ALLOCATION",
        ] {
            assert_eq!(selection.verdict(path), PathTreatment::Reserved, "{path:?}");
        }
        for path in ["git.md", "gitmodules", ".github/x.md", "a~1.md"] {
            assert_eq!(selection.verdict(path), PathTreatment::Keep, "{path:?}");
        }
    }
}
