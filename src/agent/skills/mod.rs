//! Reads the skills of a vault: folders with a `SKILL.md`, limited in number and size. Runs no skill.
//!
//! A workspace comes in; listed, offered and loaded skills go out. A skill is identified by a hash over the names and
//! bytes of its files. An approval holds for that hash, so a changed file makes another skill. A skill that came with
//! this program, unchanged, needs no approval. Any other skill needs an approval at its first use in a turn, unless
//! `[assistant] allow` names its hash. A skill that is faulty or lacks its secrets is not offered. Hidden files in a
//! skill's folder are not part of the skill; a symbolic link is a fault.

mod secrets;
mod tool;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use secrecy::SecretString;

use super::tools::Caller;
use crate::config::Settings;
use crate::config::allow::{self, CallToMatch};
use crate::format::skill::{self, Skill};
use crate::format::{Finding, invisible, one_line};
use crate::reminders::PlacedFinding;
use crate::template;
use crate::turn::skills::OfferedSkill;
use crate::vault::{NotePath, Vault, VaultError, WalkEntry, WalkOptions};
use crate::workspace::Workspace;

pub use secrets::HiddenSecrets;
pub use tool::SkillTool;

/// The note that makes a folder a skill.
pub const NOTE: &str = "SKILL.md";
/// The most files of a skill.
const FILES: usize = 200;
/// The most bytes of all its files.
const BYTES: u64 = 4 << 20;
/// The most skills that are read.
const SKILLS: usize = 500;

/// A skill as `skill list` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSkill {
    /// Its folder's name.
    pub folder: String,
    /// Its note.
    pub path: NotePath,
    /// Its description.
    pub skill: Skill,
    /// The faults of its file.
    pub problems: Vec<PlacedFinding>,
}

/// A skill with all of its files, as they stood at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedSkill {
    /// Its description.
    pub skill: Skill,
    /// Its files by their path in its folder.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The hash over names and bytes.
    pub hash: String,
    /// Whether it came with this program and is unchanged.
    pub is_shipped: bool,
}

/// A folder of the folder of skills, as it lies on disk.
#[derive(Default)]
struct SkillFolder {
    entries: Vec<WalkEntry>,
    /// Entries that can't be part of a skill, with the reason.
    skipped: Vec<String>,
}

/// The skills of one vault, and which of them were approved for which turn.
#[derive(Debug)]
pub struct Skills {
    vault: Vault,
    settings: Settings,
    /// The names that are in use; empty for all.
    only: Vec<String>,
    uses: Mutex<HashMap<String, SkillUses>>,
}

/// The skills that were asked about and approved in one turn.
#[derive(Debug, Default)]
struct SkillUses {
    /// The hashes of skills that were approved.
    approved: HashSet<String>,
    /// The hash that each call asked for.
    asked: HashMap<u32, String>,
}

impl Skills {
    /// The skills of this vault, with the settings as they are now.
    pub fn of(workspace: &Workspace) -> Self {
        let (vault, settings) = (workspace.vault.clone(), workspace.settings.clone());
        Self { vault, settings, only: Vec::new(), uses: Mutex::default() }
    }

    /// Limits the skills to these names; with none named, all.
    #[must_use]
    pub fn only(mut self, names: &[String]) -> Self {
        names.clone_into(&mut self.only);
        self
    }

    fn has(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|one| one == name)
    }

    /// All skills with their faults, ordered by name.
    ///
    /// # Errors
    /// The folder can't be listed. A vault without one has no skills.
    pub fn list(&self) -> Result<Vec<ListedSkill>, VaultError> {
        Ok(self.folders(None)?.iter().map(|(name, folder)| self.inspect(name, folder)).collect())
    }

    /// The tables `[skill.NAME]` of the settings that name no skill, each with its place.
    ///
    /// # Errors
    /// The folder can't be listed.
    pub fn unknown_tables(&self) -> Result<Vec<PlacedFinding>, VaultError> {
        if self.settings.skills.is_empty() {
            return Ok(Vec::new());
        }
        let folders = self.folders(None)?;
        let known: Vec<&str> = folders.keys().map(String::as_str).collect();
        let text =
            std::fs::read_to_string(self.vault.root().join(crate::config::FILE_NAME)).unwrap_or_default();
        let unknown_tables = self.settings.skills.keys().filter(|name| !known.contains(&name.as_str()));
        let findings_of_note = unknown_tables.map(|name| {
            let (line, column) = Settings::place_of(&text, &format!("skill.{name}")).unwrap_or((1, 1));
            PlacedFinding {
                path: crate::config::FILE_NAME.to_owned(),
                line,
                column,
                reason: format!("`[skill.{name}]` names no skill in `{}`", self.settings.paths.skills),
                suggestion: match (crate::format::nearest(name, &known), known.as_slice()) {
                    (Some(near), _) => format!("did you mean `[skill.{near}]`?"),
                    (None, []) => "there are none; take the table out".to_owned(),
                    (None, known) => format!("known: {}", known.join(", ")),
                },
            }
        });
        Ok(findings_of_note.collect())
    }

    /// The skills for a model: those without findings, whose secrets are set.
    pub fn offered(&self) -> Vec<OfferedSkill> {
        let listed = self.list().unwrap_or_else(|error| {
            tracing::warn!("the skills can't be listed: {error}");
            Vec::new()
        });
        let fits = |one: &ListedSkill| {
            self.has(&one.folder) && one.problems.is_empty() && self.secrets(&one.skill).is_ok()
        };
        listed.into_iter().filter(fits).map(|one| offered_entry(one.skill)).collect()
    }

    /// The skill of this name with all of its files.
    ///
    /// # Errors
    /// A sentence: there is none, it has a finding, or its secrets are missing.
    pub fn load(&self, name: &str) -> Result<LoadedSkill, String> {
        let none = || {
            let known: Vec<String> = self.offered().into_iter().map(|skill| skill.name).collect();
            let known = if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
            format!("there is no skill `{}`; known: {known}", name.chars().take(64).collect::<String>())
        };
        if !skill::is_name(name) || !self.has(name) {
            return Err(none());
        }
        let found = self.folders(Some(name)).map_err(|error| error.to_string())?;
        let folder = found.get(name).ok_or_else(none)?;
        let listed = self.inspect(name, folder);
        if let Some(problem) = listed.problems.first() {
            let reason = &problem.reason;
            return Err(format!(
                "the skill `{name}` has a problem ({reason}); `vault-agent skill check` shows it"
            ));
        }
        self.secrets(&listed.skill)?;
        let under = self.folder(name).map_err(|error| error.to_string())?;
        let (mut files, mut hasher) = (BTreeMap::new(), blake3::Hasher::new());
        for entry in &folder.entries {
            let bytes = self.vault.read(&entry.path).map_err(|error| error.to_string())?;
            let inner = entry.path.as_str().strip_prefix(under.as_str()).unwrap_or(entry.path.as_str());
            files.insert(inner.trim_start_matches('/').to_owned(), bytes);
        }
        let total: usize = files.values().map(Vec::len).sum();
        if total as u64 > BYTES {
            return Err(format!("the skill `{name}` is larger than {} MB", BYTES >> 20));
        }
        for (path, bytes) in &files {
            for part in [path.as_bytes(), bytes] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
        }
        // The note is read once more for what is kept, so that what was checked is what is used.
        let (skill, findings) = skill::parse(files.get(NOTE).map_or(b"", Vec::as_slice), name);
        if !findings.is_empty() {
            return Err(format!("the skill `{name}` changed while it was read; try again"));
        }
        let hash = hasher.finalize().to_hex().to_string();
        Ok(LoadedSkill { skill, is_shipped: is_shipped(name, &files), files, hash })
    }

    /// The secrets that a skill's commands are given, by their variables.
    ///
    /// # Errors
    /// A sentence on what is missing or can't be given.
    pub fn secrets(&self, skill: &Skill) -> Result<Vec<(String, SecretString)>, String> {
        skill.secrets.iter().map(|variable| Ok((variable.clone(), self.secret(skill, variable)?))).collect()
    }

    fn secret(&self, skill: &Skill, variable: &str) -> Result<SecretString, String> {
        let name = &skill.name;
        if self.settings.is_own_key(variable) {
            return Err(format!("the skill `{name}` names `{variable}`, which is this program's own key"));
        }
        let file = self.settings.skills.get(name).and_then(|settings| settings.key_files.get(variable));
        match crate::config::secret(variable, file.map(String::as_str), self.vault.root()) {
            Ok(Some(secret)) => Ok(secret),
            Ok(None) => Err(format!(
                "the skill `{name}` needs the secret `{variable}`: set it in the environment, or name its file in \
                 `[skill.{name}] key_files`"
            )),
            Err(error) => Err(error.in_full()),
        }
    }

    /// Whether a skill may be used in this turn without asking.
    pub fn trusts(&self, loaded: &LoadedSkill, turn: &str) -> bool {
        let doing = CallToMatch::Skill { name: &loaded.skill.name, hash: &loaded.hash };
        let uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.is_shipped
            || allow::allows(&self.settings.assistant.allow, &doing)
            || uses.get(turn).is_some_and(|uses| uses.approved.contains(&loaded.hash))
    }

    /// Records that a call asks for approval of the skill as it is now.
    pub(crate) fn note_approval_request(&self, loaded: &LoadedSkill, caller: &Caller) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.entry(caller.turn.clone()).or_default().asked.insert(caller.number, loaded.hash.clone());
    }

    /// Lets a call use a skill that needs no approval, or is still the one that its approval was asked for; the
    /// approval then holds for the turn.
    pub(crate) fn admit(&self, loaded: &LoadedSkill, caller: &Caller) -> Result<(), String> {
        if self.trusts(loaded, &caller.turn) {
            return Ok(());
        }
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let uses = uses.entry(caller.turn.clone()).or_default();
        if uses.asked.get(&caller.number) != Some(&loaded.hash) {
            let name = &loaded.skill.name;
            return Err(format!("the skill `{name}` changed after it was approved; ask again"));
        }
        uses.approved.insert(loaded.hash.clone());
        Ok(())
    }

    /// Forgets the approvals of a turn that is over.
    pub fn turn_ended(&self, turn: &str) {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner).remove(turn);
    }

    fn folder(&self, name: &str) -> Result<NotePath, VaultError> {
        let path = format!("{}/{name}", self.settings.paths.skills);
        NotePath::new(&path)
            .map_err(|_| VaultError::Root(path.into(), std::io::ErrorKind::InvalidInput.into()))
    }

    /// The folders of skills, or the one of this name, with their files and skipped entries.
    fn folders(&self, only: Option<&str>) -> Result<BTreeMap<String, SkillFolder>, VaultError> {
        let under = match only {
            Some(name) => Some(self.folder(name)?),
            None => self.folder("x")?.parent(),
        };
        let options = WalkOptions { under, extensions: Vec::new(), ..WalkOptions::default() };
        let walk = self.vault.walk_if_there(&options)?;
        let root = format!("{}/", self.settings.paths.skills);
        let place = |path: &str| {
            let (name, inner) = path.strip_prefix(&root)?.split_once('/')?;
            Some((name.to_owned(), inner.to_owned()))
        };
        let mut found: BTreeMap<String, SkillFolder> = BTreeMap::new();
        for entry in walk.entries {
            if let Some((name, _)) = place(entry.path.as_str()) {
                found.entry(name).or_default().entries.push(entry);
            }
        }
        for skipped in walk.skipped {
            if let Some((name, inner)) = place(&skipped.path.to_string_lossy()) {
                let word = format!("`{inner}` can't be part of a skill: {}", skipped.reason);
                found.entry(name).or_default().skipped.push(word);
            }
        }
        Ok(found.into_iter().take(SKILLS).collect())
    }

    /// A folder's skill, with the folder's faults.
    fn inspect(&self, folder: &str, found: &SkillFolder) -> ListedSkill {
        let (folder, entries) = (folder.to_owned(), &found.entries);
        let note = format!("{}/{folder}/{NOTE}", self.settings.paths.skills);
        let path = entries.iter().map(|entry| &entry.path).find(|path| path.as_str() == note);
        let mut findings = Vec::new();
        let mut wrong = |reason: String, suggestion: &str| {
            findings.push(Finding::new(1, 1, reason, suggestion));
        };
        let mut skill = Skill::default();
        let mut findings_of_note = Vec::new();
        match path.map(|path| self.vault.read(path)) {
            Some(Ok(bytes)) => (skill, findings_of_note) = skill::parse(&bytes, &folder),
            Some(Err(error)) => wrong(format!("it can't be read: {error}"), ""),
            None => {
                wrong(format!("the folder `{folder}` has no `{NOTE}`"), "write one, or move the folder away");
            }
        }
        for word in &found.skipped {
            wrong(word.clone(), "replace it by a plain file, or delete it");
        }
        if entries.len() > FILES {
            wrong(format!("it has {} files, and {FILES} are read at most", entries.len()), "move some away");
        }
        if entries.iter().map(|entry| entry.stat.size).sum::<u64>() > BYTES {
            wrong(format!("it is larger than {} MB", BYTES >> 20), "move the large files away");
        }
        for variable in skill.secrets.iter().filter(|variable| self.settings.is_own_key(variable)) {
            wrong(format!("`{variable}` is this program's own key"), "name a key of the skill's own");
        }
        let path = path.cloned().unwrap_or_else(|| {
            NotePath::new(&note).unwrap_or_else(|_| NotePath::new(NOTE).expect("it is a path"))
        });
        findings_of_note.extend(findings);
        let problems = findings_of_note.iter().map(|finding| PlacedFinding::new(&path, finding)).collect();
        ListedSkill { folder, path, skill, problems }
    }
}

/// The offered skill of a note with these bytes.
pub fn offered_skill(name: &str, bytes: &[u8]) -> OfferedSkill {
    offered_entry(Skill { name: name.to_owned(), ..skill::parse(bytes, name).0 })
}

/// A skill's name and description on one line, without invisible characters.
fn offered_entry(skill: Skill) -> OfferedSkill {
    let line = one_line(&skill.description);
    let plain: String = line.chars().filter(|c| !c.is_control()).collect();
    OfferedSkill { name: skill.name, description: invisible::strip(&plain).into_owned() }
}

/// Whether these are exactly the files that this program brings for the skill.
fn is_shipped(name: &str, files: &BTreeMap<String, Vec<u8>>) -> bool {
    let root = format!("{}/{name}/", template::SKILLS);
    let of_skill =
        |(path, text): &(&'static str, &'static str)| Some((path.strip_prefix(&root)?, text.as_bytes()));
    let ours: BTreeMap<&str, &[u8]> = template::TEMPLATE.iter().filter_map(of_skill).collect();
    !ours.is_empty()
        && ours.len() == files.len()
        && ours.iter().all(|(path, text)| files.get(*path).is_some_and(|bytes| bytes == text))
}
