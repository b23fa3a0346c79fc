//! Folders and files stay small enough to be read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::modules::Modules;

/// More source files than this in one folder want inner folders, beside its `mod.rs`.
const FILES_IN_A_FOLDER: usize = 15;
/// A longer file is two.
const LINES_OF_A_FILE: usize = 400;

/// Folders that are larger, with the most files they may have: none, and it stays so.
const LARGER_FOLDERS: &[(&str, usize)] = &[];

/// Files that are longer, with the most lines they may have: none, and it stays so.
const LONGER_FILES: &[(&str, usize)] = &[];

#[test]
fn a_folder_has_no_more_files_than_one_sees() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in Modules::all().files.values() {
        let (folder, name) = file.rsplit_once('/').expect("a folder");
        if name != "mod.rs" {
            *counts.entry(folder.to_owned()).or_default() += 1;
        }
    }
    let larger: BTreeMap<String, usize> =
        counts.into_iter().filter(|(_, count)| *count > FILES_IN_A_FOLDER).collect();
    within(&larger, LARGER_FOLDERS, "files in a folder");
}

#[test]
fn a_file_has_no_more_lines_than_one_reads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let longer: BTreeMap<String, usize> = Modules::all()
        .files
        .values()
        .map(|file| {
            let lines = fs::read_to_string(root.join(file)).expect("a source file").lines().count();
            (file.clone(), lines)
        })
        .filter(|(_, lines)| *lines > LINES_OF_A_FILE)
        .collect();
    within(&longer, LONGER_FILES, "lines of a file");
}

/// What is too large is known to be, and no larger than that.
fn within(found: &BTreeMap<String, usize>, known: &[(&str, usize)], what: &str) {
    let mut wrong = Vec::new();
    for (name, count) in found {
        match known.iter().find(|(known, _)| known == name) {
            Some((_, most)) if count <= most => {}
            Some((_, most)) => wrong.push(format!("{name}: {count}, and it was {most}")),
            None => wrong.push(format!("{name}: {count}")),
        }
    }
    for (name, _) in known.iter().filter(|(name, _)| !found.contains_key(*name)) {
        wrong.push(format!("{name} is small enough now: take it from the list"));
    }
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}
