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
    let mut found = Files::new();
    let mut folders = vec![vault.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "md")
                && let (Ok(bytes), Ok(at)) =
                    (std::fs::read(&path), entry.metadata().and_then(|data| data.modified()))
            {
                found.insert(path.strip_prefix(vault).unwrap().to_owned(), (bytes, at));
            }
        }
    }
    found
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
                let text = |bytes: Option<&Vec<u8>>| {
                    String::from_utf8_lossy(bytes.map_or(&[][..], Vec::as_slice)).into_owned()
                };
                let (before, here, there) = (text(base), text(mine), text(other));
                eprintln!(
                    "{} changed on both sides\nbefore:\n{before}\nin {}:\n{here}\nelsewhere:\n{there}",
                    name.display(),
                    vault.display()
                );
                let is_newer = ours.map(|file| file.1) > theirs.map(|file| file.1);
                let (kept, lost) = if is_newer { (ours, theirs) } else { (theirs, ours) };
                let copy = name
                    .with_extension(format!("sync-conflict-20261201-{:06}-AAAAAAA.md", self.conflicts.len()));
                let (kept, lost) = (kept.cloned(), lost.cloned());
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
