//! Reads the notes that every request contains: persona, profile, pinned notes, working memory.

use jiff::Timestamp;

use crate::brain::MessagePart;
use crate::memory::{read_profile, read_working};
use crate::turn::assemble::RequestQuestion;
use crate::turn::history;
use crate::turn::notes::RequestNotes;
use crate::vault::NotePath;
use crate::workspace::Workspace;

/// Longer texts of a note are cut; working memory has a budget of its own.
const MOST_CHARS: usize = 20_000;

/// The bytes of a file of the vault.
pub fn read_vault_file(workspace: &Workspace, path: &str) -> Result<Vec<u8>, String> {
    let path = NotePath::new(path).map_err(|error| error.to_string())?;
    workspace.vault.read(&path).map_err(|error| error.to_string())
}

/// The notes that every request contains, for a request at `at`, with this reader.
pub fn notes(workspace: &Workspace, at: Timestamp, read: &dyn Fn(&str) -> Vec<u8>) -> RequestNotes {
    let settings = &workspace.settings;
    let text = |path: &str| String::from_utf8_lossy(&read(path)).into_owned();
    let by_path = |path: &NotePath| read(path.as_str());
    let pinned = text(&settings.paths.pinned);
    let bullets: Vec<&str> = pinned.lines().filter(|line| line.starts_with("- ")).collect();
    RequestNotes {
        persona: history::shorten(&text(&settings.assistant.persona), MOST_CHARS),
        profile: history::shorten(&read_profile(settings, &by_path).unwrap_or_default(), MOST_CHARS),
        pinned: history::shorten(&bullets.join("\n"), MOST_CHARS),
        working: read_working(settings, at, &by_path).map(|working| working.text).unwrap_or_default(),
    }
}

/// The question for a brain: pictures only where it takes them.
pub(super) fn for_brain(question: &RequestQuestion, vision: bool) -> RequestQuestion {
    let files = question.files.iter().map(|part| part_for_brain(part.clone(), vision)).collect();
    RequestQuestion { files, ..question.clone() }
}

/// A part for a brain with or without vision.
pub fn part_for_brain(part: MessagePart, vision: bool) -> MessagePart {
    match part {
        MessagePart::Image { media_type, .. } if !vision => {
            MessagePart::Text { text: format!("(a picture, {media_type}, which you can't see)") }
        }
        part => part,
    }
}
