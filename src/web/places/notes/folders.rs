//! Serves `/notes` and `/notes/FOLDER`: the folders and notes of a folder. `/notes` also lists the notes that changed
//! recently, by the history.
//!
//! The notes themselves aren't opened; hidden files and links are left out.

use crate::history::LogFilter;
use crate::web::places::history::is_shown;
use crate::web::places::prelude::*;

/// The number of changes that are searched for notes that changed lately.
const LATELY: usize = 60;
/// The most names of a folder that are listed.
const MOST: usize = 2_000;

/// The contents of a folder.
#[derive(Debug, Serialize)]
pub(super) struct FolderListing {
    /// From the vault's root; empty for that itself.
    path: String,
    /// The folders in it, by path, in the order of their names.
    folders: Vec<String>,
    /// The notes in it, by path, in the order of their names.
    notes: Vec<String>,
    /// Whether there are more than are listed.
    more: bool,
}

impl FolderListing {
    /// The folder at a path of the vault; none where there is no folder.
    pub fn read(visit: &Visit<'_>, path: &str) -> Option<Self> {
        let root = std::fs::canonicalize(visit.workspace.vault.root()).ok()?;
        let at = if path.is_empty() { root.clone() } else { root.join(path) };
        // No link on the way may lead out of the vault.
        if std::fs::canonicalize(&at).ok()? != at || !at.is_dir() {
            return None;
        }
        let mut folder = Self { path: path.to_owned(), folders: Vec::new(), notes: Vec::new(), more: false };
        for entry in std::fs::read_dir(at).ok()?.flatten() {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
            let inside = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            if !is_shown(&inside) {
                continue;
            }
            if kind.is_dir() {
                folder.folders.push(inside);
            } else if kind.is_file() && name.ends_with(".md") {
                folder.notes.push(inside);
            }
        }
        for names in [&mut folder.folders, &mut folder.notes] {
            names.sort_unstable();
            folder.more |= names.len() > MOST;
            names.truncate(MOST);
        }
        Some(folder)
    }

    /// As a list of links.
    pub fn shown(&self) -> Markup {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        html! {
            @if let Some((above, _)) = self.path.rsplit_once('/') { p { a href=(note_address(above)) { "Up to " (above) } } }
            @else if !self.path.is_empty() { p { a href="/notes" { "All notes" } } }
            @if self.folders.is_empty() && self.notes.is_empty() { (parts::empty("No note stands here.")) }
            ul.plainlist {
                @for folder in &self.folders { li { a href=(note_address(folder)) { (name(folder)) "/" } } }
                @for note in &self.notes { li { a href=(note_address(note)) { (name(note)) } } }
            }
            @if self.more { p.soft { "There is more; search finds it." } }
        }
    }
}

/// The notes that changed lately, and what stands at the top of the vault.
#[derive(Debug, Serialize)]
struct TopFolders {
    lately: Vec<String>,
    top: Option<FolderListing>,
}

/// The page of all notes.
pub(super) fn recent_page(visit: &Visit<'_>) -> Result<PageView> {
    let mut lately: Vec<String> = Vec::new();
    if let Some(history) = visit.workspace.history()? {
        let filter = LogFilter { limit: Some(LATELY), ..LogFilter::default() };
        for record in history.records(&filter)? {
            let new = record.changes.iter().filter(|change| change.new.is_some()).map(|change| &change.path);
            for path in new.filter(|path| path.ends_with(".md") && is_shown(path)).take(LATELY) {
                if !lately.contains(path) && lately.len() < LATELY {
                    lately.push(path.clone());
                }
            }
        }
    }
    visit.view("Notes", &TopFolders { lately, top: FolderListing::read(visit, "") }, |top| {
        html! {
            form.row method="get" action="/search" { (parts::field(visit, "", "q", "Search in notes", "")) button { "Search" } }
            @if let Some(folder) = &top.top { h2 { "Folders" } (folder.shown()) }
            h2 { "Changed lately" }
            @if top.lately.is_empty() { (parts::empty("No changes are recorded.")) }
            ul.plainlist { @for path in &top.lately { li { (visit.note_link(path)) } } }
        }
    })
}
