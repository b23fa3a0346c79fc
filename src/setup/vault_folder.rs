//! Parses the vault's path that a person types in `setup`, and makes the hints about the folder and its time zone.

use std::path::{Path, PathBuf};

use super::{MachineFacts, VaultFolder};
use crate::schedule::Zone;

/// The absolute path that a person means, or why it is none.
///
/// # Errors
/// A sentence.
pub fn folder_path(text: &str, home: &Path, here: &Path) -> Result<PathBuf, String> {
    let text = text.trim();
    // Terminals quote a folder that is dropped on them.
    let text = ['\'', '"'].iter().find_map(|q| text.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(text);
    let path = match text.strip_prefix('~') {
        _ if text.contains(char::is_control) => {
            return Err("that looks like a key, not a folder: type the path of the folder".to_owned());
        }
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(&rest[1..]),
        Some(_) => return Err(format!("`{text}` names another user's home: write the whole path")),
        None if text.is_empty() => return Err("a vault needs a folder".to_owned()),
        None => here.join(text),
    };
    match path == home || path.parent().is_none() {
        true => Err(format!("`{}` is no folder for a vault: name one inside it", path.display())),
        false => Ok(path),
    }
}

/// A path as a person writes it.
pub(super) fn shown(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) if !rest.as_os_str().is_empty() => format!("~/{}", rest.display()),
        _ => path.display().to_string(),
    }
}

/// The folder's description, in words.
pub(super) fn words(folder: &VaultFolder, home: &Path) -> String {
    let path = shown(&folder.root, home);
    let notes = match folder.notes {
        0 => "no notes".to_owned(),
        1 => "one note".to_owned(),
        100.. => "a hundred notes or more".to_owned(),
        count => format!("{count} notes"),
    };
    match (&folder.text, folder.exists) {
        (Some(_), _) => format!("{path} is a vault with settings and {notes}; they are kept, and added to."),
        (None, true) => format!("{path} is there, with {notes}; nothing of it is overwritten."),
        (None, false) => format!("{path} will be made."),
    }
}

/// The zone that the folder's settings mean, also where they don't name it; without settings this machine's.
pub(super) fn likely_zone(machine: &MachineFacts, folder: &VaultFolder) -> Option<Zone> {
    let set = folder.text.as_ref().and_then(|_| Zone::get(&folder.settings.timezone).ok());
    set.or_else(|| machine.zone.clone())
}

pub(super) fn zone_lines(machine: &MachineFacts, likely: Option<&Zone>) -> Vec<String> {
    let now = |zone: &Zone| zone.tz().to_datetime(machine.now).strftime("%H:%M").to_string();
    match (likely, &machine.zone) {
        (Some(zone), Some(here)) if zone == here => {
            vec![format!("This machine is in {}, where it is {} now.", zone.name(), now(zone))]
        }
        (Some(zone), Some(here)) => vec![format!(
            "The vault's times are in {} ({} now); this machine is in {} ({}).",
            zone.name(),
            now(zone),
            here.name(),
            now(here)
        )],
        (Some(zone), None) => vec![format!("The vault's times are in {} ({} now).", zone.name(), now(zone))],
        (None, _) => vec!["This machine's time zone has no name that is known.".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_people_write_them() {
        let (home, here) = (Path::new("/home/me"), Path::new("/work"));
        for (text, path) in [
            ("~/My Vault", "/home/me/My Vault"),
            ("notes", "/work/notes"),
            (" '/a/b c' ", "/a/b c"),
            ("/a/ü", "/a/ü"),
        ] {
            assert_eq!(folder_path(text, home, here), Ok(PathBuf::from(path)), "{text}");
        }
        for wrong in ["", "  ", "~", "~other/x", "/", "/home/me", "\u{1b}[A", "a\u{7f}b"] {
            assert!(folder_path(wrong, home, here).is_err(), "{wrong}");
        }
    }
}
