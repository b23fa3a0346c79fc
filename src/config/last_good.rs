//! Keeps a copy of the last valid settings in the state directory, for when the file is broken.

use std::path::Path;

use super::settings::Settings;
use crate::config::json_file;

/// The copy's name.
const FILE_NAME: &str = "settings.toml";

/// Keeps the text of settings that were understood. An empty one is no copy: it is half a save, or no settings at all. A
/// copy that can't be written is missed only when the file breaks.
pub fn keep(state: &Path, text: &str) {
    let path = state.join(FILE_NAME);
    if text.is_empty() || std::fs::read(&path).is_ok_and(|known| known == text.as_bytes()) {
        return;
    }
    let _ = json_file::replace(&path, text.as_bytes(), false);
}

/// The settings of the copy, if there is one.
pub fn last_good(state: &Path) -> Option<Settings> {
    Settings::parse(&std::fs::read_to_string(state.join(FILE_NAME)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_understood_last_is_kept_and_nothing_empty() {
        let temp = tempfile::tempdir().unwrap();
        assert_eq!(last_good(temp.path()), None);
        keep(temp.path(), "timezone = \"Asia/Tokyo\"\n");
        keep(temp.path(), "");
        assert_eq!(last_good(temp.path()).unwrap().timezone, "Asia/Tokyo");
        keep(temp.path(), "timezone = \"Asia/Seoul\"\n");
        assert_eq!(last_good(temp.path()).unwrap().timezone, "Asia/Seoul");
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1);
    }
}
