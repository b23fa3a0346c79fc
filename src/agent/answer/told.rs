//! What a brain is told of the vault's notes and files.

use crate::brain::Part;
use crate::turn::assemble::Question;
use crate::turn::history;
use crate::vault::NotePath;
use crate::workspace::Workspace;

/// Longer texts of the persona note are cut.
const PERSONA_CHARS: usize = 20_000;

/// The bytes of a file that is kept in the vault.
pub fn kept(workspace: &Workspace, path: &str) -> Result<Vec<u8>, String> {
    let path = NotePath::new(path).map_err(|error| error.to_string())?;
    workspace.vault.read(&path).map_err(|error| error.to_string())
}

/// The persona note as it stands; none where there is none.
pub fn persona(workspace: &Workspace) -> String {
    persona_text(&note(workspace, &workspace.settings.assistant.persona))
}

/// What a brain is told of a persona note's text.
pub fn persona_text(text: &str) -> String {
    history::shorten(text, PERSONA_CHARS)
}

/// The pinned note as it stands.
pub fn pinned(workspace: &Workspace) -> String {
    pinned_text(&note(workspace, &workspace.settings.paths.pinned))
}

/// What a brain is told of the pinned note's text: its bullets.
pub fn pinned_text(text: &str) -> String {
    let bullets: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
    history::shorten(&bullets.join("\n"), PERSONA_CHARS)
}

fn note(workspace: &Workspace, path: &str) -> String {
    let bytes = workspace.vault.read(&workspace.note(path)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The question as a brain gets it: pictures only where it takes them.
pub(super) fn for_brain(question: &Question, vision: bool) -> Question {
    let files = question.files.iter().map(|part| shown(part.clone(), vision)).collect();
    Question { files, ..question.clone() }
}

/// A part as a brain gets it that takes pictures, or doesn't.
pub fn shown(part: Part, vision: bool) -> Part {
    match part {
        Part::Image { media_type, .. } if !vision => {
            Part::Text { text: format!("(a picture, {media_type}, which you can't see)") }
        }
        part => part,
    }
}
