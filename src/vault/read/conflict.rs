//! Recognises traces of sync tools by name and text alone: conflicting copies, merge markers, placeholders, temporary
//! files. Pure.
//!
//! The names are those of Syncthing, Dropbox, Nextcloud and ownCloud, Obsidian Sync, iCloud, Google Drive, OneDrive,
//! Seafile, Resilio Sync, Proton Drive, pCloud, rclone's bisync and Unison.
//!
//! Some tools only add a plain number or a computer's name at the end: iCloud's `NAME 2.md`, Google Drive's `NAME
//! (1).md`, OneDrive's `NAME-DESKTOP-ABC1234.md`. Such a file counts as a conflicting copy only if the note without the
//! addition exists. A person's own note with such a name then counts as a copy, too, because a missed conflicting copy
//! would do more harm.

use unicode_normalization::UnicodeNormalization;

use crate::format::has_shape;

/// The file name of the note that `name` is a conflicting copy of, if it is named like one.
pub fn original_of(name: &str) -> Option<String> {
    if let Some(original) = behind_extension(name) {
        return Some(original.to_owned());
    }
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, Some(extension)),
        _ => (name, None),
    };
    let original = marked(stem).or_else(|| numbered(stem)).or_else(|| onedrive(stem))?;
    if original.is_empty() {
        return None;
    }
    Some(extension.map_or_else(|| original.to_owned(), |extension| format!("{original}.{extension}")))
}

/// The original's name, where the copy's says that it is one.
fn marked(stem: &str) -> Option<&str> {
    // Resilio Sync's and pCloud's.
    let ending = || stem.strip_suffix(".Conflict").or_else(|| stem.strip_suffix(" [conflicted]"));
    syncthing(stem)
        .or_else(|| parenthesised(stem))
        .or_else(|| owncloud(stem))
        .or_else(|| rclone(stem))
        .or_else(ending)
}

/// The original's name where rclone's mark stands behind the extension.
fn behind_extension(name: &str) -> Option<&str> {
    rclone(name).filter(|original| original.contains('.'))
}

/// `NAME.md.conflict1`, before version 1.66 `NAME.md..path1`; `NAME.conflict1.md` with `--suffix-keep-extension`. By
/// default both sides are renamed, so no note of the old name is left.
fn rclone(name: &str) -> Option<&str> {
    let (original, number) = name.rsplit_once(".conflict").or_else(|| name.rsplit_once("..path"))?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !original.is_empty()).then_some(original)
}

/// `NAME.sync-conflict-20261121-093000-ABCDEFG`
fn syncthing(stem: &str) -> Option<&str> {
    let (original, rest) = stem.split_once(".sync-conflict-")?;
    let is_time = rest.get(..15).is_some_and(|time| has_shape(time, "00000000-000000"));
    (is_time && matches!(rest.as_bytes().get(15), None | Some(b'-'))).then_some(original)
}

/// `NAME (Ann's conflicted copy 2026-11-21)`, `NAME (Conflicted copy laptop 202611210930)`,
/// `NAME (conflicted copy 2026-11-21 093000)`, `NAME (case conflict)`; a further one `NAME (conflicted copy … (1))` or
/// `NAME (conflicted copy …) (1)`. `NAME (conflict_on_2026-11-21)`, `NAME (conflict #1_on_2026-11-21)`: Unison's.
fn parenthesised(stem: &str) -> Option<&str> {
    // Dropbox and Nextcloud translate the words; these are the common ones.
    const WORDS: [&str; 17] = [
        "conflicted copy",
        "conflict copy",
        "case conflict",
        "in konflikt stehende kopie",
        "copie en conflit",
        "copia en conflicto",
        "copia in conflitto",
        "conflicterende kopie",
        "copia conflictiva",
        "cópia em conflito",
        "конфликтующая копия",
        "競合コピー",
        "冲突副本",
        "衝突複本",
        // Seafile's and Proton Drive's.
        "sfconflict ",
        "# edit conflict ",
        "conflict_on_",
    ];
    let inner = numbered(stem).unwrap_or(stem).strip_suffix(')')?;
    let is_open = |open: &usize| {
        let words: String = inner[open + 2..].nfc().collect::<String>().to_lowercase();
        let is_whole = words.split_once(')').is_none_or(|(words, _)| words.contains('('));
        let is_known = || WORDS.iter().any(|known| words.contains(known));
        is_whole && (is_known() || words.starts_with("conflict #") && words.contains("_on_"))
    };
    let open = inner.rmatch_indices(" (").map(|(open, _)| open).find(is_open)?;
    Some(&stem[..open])
}

/// `NAME_conflict-20261121-093000`
fn owncloud(stem: &str) -> Option<&str> {
    let (original, rest) = stem.rsplit_once("_conflict-")?;
    (rest.len() >= 8 && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')).then_some(original)
}

/// `NAME 2`, `NAME (1)`: at most two digits, never a lone zero.
fn numbered(stem: &str) -> Option<&str> {
    let (original, number) = stem.rsplit_once(' ')?;
    let number = number.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(number);
    let counts = matches!(number.len(), 1 | 2) && number.parse::<u8>().is_ok_and(|count| count >= 1);
    (counts && !original.is_empty()).then_some(original)
}

/// `NAME-DESKTOP-ABC1234`, `NAME-LAPTOP-ABC12345-2`: OneDrive adds the computer's name. One that a person chose can't
/// be told from the note's own words; these are the ones that Windows gives.
fn onedrive(stem: &str) -> Option<&str> {
    let (original, rest) = ["-DESKTOP-", "-LAPTOP-"].iter().find_map(|mark| stem.split_once(mark))?;
    let (code, number) = rest.split_once('-').unwrap_or((rest, "2"));
    let is_code = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let is_host = matches!(code.len(), 6..=8) && code.bytes().all(is_code);
    (is_host && number.parse::<u8>().is_ok()).then_some(original)
}

/// Whether `name` alone shows that a file is a conflicting copy. A plain number or a computer's name at its end doesn't
/// show that.
pub fn is_conflict_copy(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    behind_extension(name).is_some() || marked(stem).is_some_and(|original| !original.is_empty())
}

/// Whether `name` is a temporary file of a sync tool, of an editor, or of ours.
pub fn is_temporary(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    (name.starts_with(".syncthing.") || name.starts_with("~syncthing~")) && lower.ends_with(".tmp")
        || name.starts_with('.') && name.contains(OUR_MARK)
        || name.starts_with(".goutputstream-")
        || name.starts_with(".#")
        || name.ends_with('~')
        || name.starts_with('.') && (lower.ends_with(".swp") || lower.ends_with(".swx"))
}

/// Part of the name of every file of ours in the vault that isn't a note.
pub(in crate::vault) const OUR_MARK: &str = ".vault-agent-";

/// The name of the placeholder that older iCloud clients put in the place of a file.
pub fn icloud_stub(name: &str) -> String {
    format!(".{name}.icloud")
}

/// The 1-based line where a merge conflict begins, if the text has the markers of one, in order and
/// each at the start of its line.
pub fn conflict_markers(bytes: &[u8]) -> Option<usize> {
    // Nearly every note ends here, at the speed of memory.
    memchr::memmem::find(bytes, b"<<<<<<<")?;
    let mut begun = None;
    let mut middle = false;
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.starts_with(b"<<<<<<< ") || line == b"<<<<<<<" {
            begun = Some(index + 1);
            middle = false;
        } else if begun.is_some() && line == b"=======" {
            middle = true;
        } else if middle && (line.starts_with(b">>>>>>> ") || line == b">>>>>>>") {
            return begun;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicting_copies_of_each_tool() {
        for (copy, original) in [
            ("Reminders.sync-conflict-20261121-093000-ABCDEFG.md", "Reminders.md"),
            ("Reminders (Conflicted copy laptop 202611210930).md", "Reminders.md"),
            ("Reminders (Ann's conflicted copy 2026-11-21).md", "Reminders.md"),
            ("Reminders (conflicted copy 2026-11-21 093000).md", "Reminders.md"),
            ("Reminders (Anns in Konflikt stehende Kopie 2026-11-21).md", "Reminders.md"),
            ("Reminders (Cópia em conflito de pc-saito 2026-12-06).md", "Reminders.md"),
            ("Reminders (Co\u{301}pia em conflito de pc-saito 2026-12-06).md", "Reminders.md"),
            ("Reminders (平川 の競合コピー 2026-12-06).md", "Reminders.md"),
            ("Reminders (Ann's conflicted copy 2026-12-06 (1)).md", "Reminders.md"),
            ("Plan (v2) (Ann's conflicted copy 2026-12-06) (1).md", "Plan (v2).md"),
            ("Reminders (pc (old) conflicted copy 2026-12-06).md", "Reminders.md"),
            ("Reminders_conflict-20261121-093000.md", "Reminders.md"),
            ("Reminders (SFConflict ann@example.org 2026-11-21-09-30-00).md", "Reminders.md"),
            ("Reminders (# Edit conflict 2026-11-21 a1b2c3 #).md", "Reminders.md"),
            ("Reminders.Conflict.md", "Reminders.md"),
            ("Reminders [conflicted].md", "Reminders.md"),
            ("Reminders 2.md", "Reminders.md"),
            ("Reminders (1).md", "Reminders.md"),
            ("Plan (v2) (3).md", "Plan (v2).md"),
            ("Reminders.md.conflict1", "Reminders.md"),
            ("Reminders.md..path2", "Reminders.md"),
            ("Reminders.conflict12.md", "Reminders.md"),
            ("Reminders (conflict_on_2026-11-30).md", "Reminders.md"),
            ("Reminders (conflict #1_on_2026-11-30).md", "Reminders.md"),
            ("MEMORY-DESKTOP-ABC1234.md", "MEMORY.md"),
            ("MEMORY-LAPTOP-ABC12345-2.md", "MEMORY.md"),
        ] {
            assert_eq!(original_of(copy).as_deref(), Some(original), "{copy}");
        }
        for name in [
            "Reminders.md",
            "2026-11-20.md",
            "Chapter 2026.md",
            "2.md",
            " 2.md",
            "(1).md",
            "Plan (v2).md",
            "How to (conflict copy) merge (draft).md",
            "x.sync-conflict-y.md",
            "The Northern.conflict.md",
            "Chapter (conflict #1).md",
            ".conflict1",
            "Moving to the new-DESKTOP-PC.md",
            "a-DESKTOP-ABC1234-b.md",
        ] {
            assert_eq!(original_of(name), None, "{name}");
        }
        assert!(!is_conflict_copy("Reminders 2.md"));
        assert!(is_conflict_copy("a (conflicted copy 2026-11-21).md"));
    }

    #[test]
    fn markers_count_only_in_order_and_at_the_start_of_a_line() {
        assert_eq!(conflict_markers(b"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> main\n"), Some(2));
        assert_eq!(conflict_markers(b"<<<<<<< a\r\n=======\r\n>>>>>>> b\r\n"), Some(1));
        assert_eq!(conflict_markers(b"> <<<<<<< HEAD\n=======\n>>>>>>> x\n"), None);
        assert_eq!(conflict_markers(b"=======\n>>>>>>> x\n<<<<<<< y\n"), None);
        assert_eq!(conflict_markers(b"Heading\n=======\n"), None);
    }

    #[test]
    fn temporary_names() {
        for name in [
            ".syncthing.Reminders.md.tmp",
            "~syncthing~a.md.tmp",
            ".a.md.vault-agent-x1.tmp",
            "a.md~",
            ".a.md.swp",
        ] {
            assert!(is_temporary(name), "{name}");
        }
        assert!(!is_temporary("a.tmp.md"));
    }
}
