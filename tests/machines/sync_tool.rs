//! Plays a sync tool as people have one: it carries changed notes to and from a place in the middle, and where both sides changed
//! one the newer one wins and the other is kept as a conflict copy.

use std::time::SystemTime;

use crate::support::prelude::*;

type Files = BTreeMap<PathBuf, (Vec<u8>, SystemTime)>;

/// The notes that one machine's sync tool last saw.
#[derive(Default)]
pub struct Link(BTreeMap<PathBuf, Vec<u8>>);

/// The place in the middle.
#[derive(Default)]
pub struct Cloud {
    files: Files,
    /// Which notes were changed on both sides.
    pub conflicts: Vec<PathBuf>,
}

/// The notes of a vault.
pub fn notes(vault: &Path) -> Files {
    let note = |path: PathBuf| {
        let name = path.strip_prefix(vault).unwrap().to_owned();
        let is_hidden = name.iter().any(|part| part.to_string_lossy().starts_with('.'));
        if is_hidden || name.extension().is_none_or(|ext| ext != "md") {
            return None;
        }
        Some((name, (fs::read(&path).ok()?, fs::metadata(&path).ok()?.modified().ok()?)))
    };
    files_below(vault).into_iter().filter_map(note).collect()
}

fn put(vault: &Path, name: &Path, bytes: Option<&[u8]>) {
    let path = vault.join(name);
    let Some(bytes) = bytes else { return std::fs::remove_file(path).unwrap_or_default() };
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let beside = path.with_extension("md.part");
    std::fs::write(&beside, bytes).unwrap();
    std::fs::rename(beside, path).unwrap();
}

impl Cloud {
    /// Carries what changed, both ways.
    pub fn sync(&mut self, vault: &Path, link: &mut Link) {
        let here = notes(vault);
        let names: BTreeSet<PathBuf> =
            here.keys().chain(self.files.keys()).chain(link.0.keys()).cloned().collect();
        for name in names {
            let (ours, theirs) = (here.get(&name), self.files.get(&name));
            let (mine, other) = (ours.map(|file| &file.0), theirs.map(|file| &file.0));
            let base = link.0.get(&name);
            if mine == other {
                // Nothing is to be carried.
            } else if other == base {
                self.take(&name, ours.cloned());
            } else if mine == base {
                put(vault, &name, other.map(Vec::as_slice));
            } else {
                self.conflicts.push(name.clone());
                let texts =
                    [base, mine, other].map(|bytes| bytes.map(|bytes| String::from_utf8_lossy(bytes)));
                let (note, place) = (name.display(), vault.display());
                eprintln!("{note} changed on both sides; before, in {place} and elsewhere: {texts:#?}");
                let is_newer = ours.map(|file| file.1) > theirs.map(|file| file.1);
                let (ours, theirs) = (ours.cloned(), theirs.cloned());
                let (kept, lost) = if is_newer { (ours, theirs) } else { (theirs, ours) };
                let end = format!("sync-conflict-20261201-{:06}-AAAAAAA.md", self.conflicts.len());
                let copy = name.with_extension(end);
                put(vault, &name, kept.as_ref().map(|file| file.0.as_slice()));
                self.take(&name, kept);
                self.take(&copy, lost);
            }
            match self.files.get(&name) {
                Some((bytes, _)) => link.0.insert(name, bytes.clone()),
                None => link.0.remove(&name),
            };
        }
    }

    fn take(&mut self, name: &Path, file: Option<(Vec<u8>, SystemTime)>) {
        match file {
            Some(file) => self.files.insert(name.to_owned(), file),
            None => self.files.remove(name),
        };
    }
}
