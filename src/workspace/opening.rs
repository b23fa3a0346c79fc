//! Opens a vault with the settings on disk, or with the last valid ones. If several machines share the vault, joins
//! them under this machine's name, through the store in the settings (git or etcd).

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::Workspace;
use crate::clock::Clock;
use crate::config::{
    ConfigError, Dirs, FILE_NAME, MachinesEngine, OnPartition, Settings, json_file, machine_name,
};
use crate::machines::protocol::Timing;
use crate::machines::{JoinConfig, Machines, engine};
use crate::schedule::Zone;
use crate::vault::{EditOptions, Editor, Vault};

impl Workspace {
    /// Opens the vault at `dir`.
    ///
    /// # Errors
    /// `dir` is no folder, the settings are wrong, or the directories can't be made.
    pub fn open(dir: &Path, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        let vault = Vault::open(dir).map_err(|error| {
            ConfigError::new(error.to_string()).suggest("name a folder with `--vault DIR`")
        })?;
        let dirs = Dirs::for_vault(vault.root())?;
        Self::open_in(vault, dirs, clock)
    }

    /// Opens a vault whose state and cache are in `dirs`. If its settings are suddenly missing or empty, the last valid
    /// ones are used; [`Workspace::settings_on_disk`] then returns the fault.
    ///
    /// # Errors
    /// The settings are wrong, the directories can't be made, or the state is another vault's.
    pub fn open_in(vault: Vault, dirs: Dirs, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        let (read, _) = read(vault.root(), || last_good(&dirs.state))?;
        Self::open_with(vault, dirs, clock, read)
    }

    /// Opens the vault at `dir`. If the settings on disk are wrong, the last valid ones are used too.
    ///
    /// # Errors
    /// As [`Workspace::open`]; the settings are wrong and were never valid.
    pub fn open_or_last(dir: &Path, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        let Ok(vault) = Vault::open(dir) else { return Self::open(dir, clock) };
        let dirs = Dirs::for_vault(vault.root())?;
        let read = match read(vault.root(), || last_good(&dirs.state)) {
            Ok((read, _)) => read,
            Err(error) => {
                let zoned = |settings| Some((zone(&settings, vault.root()).ok()?, settings));
                let Some((zone, settings)) = last_good(&dirs.state).and_then(zoned) else {
                    return Err(error);
                };
                (settings, zone, String::new())
            }
        };
        Self::open_with(vault, dirs, clock, read)
    }

    fn open_with(
        vault: Vault,
        dirs: Dirs,
        clock: Arc<dyn Clock>,
        (settings, zone, text): (Settings, Zone, String),
    ) -> Result<Self, ConfigError> {
        dirs.create()?;
        dirs.bind(vault.root())?;
        keep(&dirs.state, &text);
        Ok(Self::with_own_editor(vault, settings, zone, dirs, clock))
    }

    fn with_own_editor(
        vault: Vault,
        settings: Settings,
        zone: Zone,
        dirs: Dirs,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let options = EditOptions { strategy: settings.edit.strategy, ..EditOptions::default() };
        let editor = Arc::new(Editor::new(vault.clone(), &dirs.state, Arc::clone(&clock), options));
        let machines = initial_machines(&settings);
        Self::assemble(vault, editor, settings, zone, dirs, clock, machines)
    }

    /// The same vault with the same settings, whatever is on disk by now, and with an editor of its own: for the tools
    /// of a turn.
    #[cfg(feature = "assistant")]
    pub fn for_tools(&self) -> Self {
        let (settings, zone, dirs) = (self.settings.clone(), self.zone.clone(), self.dirs.clone());
        Self::with_own_editor(self.vault.clone(), settings, zone, dirs, Arc::clone(&self.clock))
    }

    /// The same vault with the settings that this text of the settings file has, and with an editor of its own.
    ///
    /// # Errors
    /// The text or its time zone is wrong.
    #[cfg(feature = "assistant")]
    pub fn with_settings(&self, text: &str) -> Result<Self, ConfigError> {
        let settings = Settings::parse(text)?;
        let (vault, zone) = (self.vault.clone(), zone(&settings, self.vault.root())?);
        Ok(Self::with_own_editor(vault, settings, zone, self.dirs.clone(), Arc::clone(&self.clock)))
    }

    /// The same vault with the present settings on disk; `None` if nothing changed.
    ///
    /// # Errors
    /// The settings on disk are wrong, or suddenly missing or empty: that is a half-finished save or sync, and with the
    /// defaults reminders would be sent at other times and elsewhere.
    pub fn reload(&self) -> Result<Option<Self>, ConfigError> {
        let (settings, zone, text) = self.settings_on_disk()?;
        keep(&self.dirs.state, &text);
        if settings == self.settings {
            return Ok(None);
        }
        let (vault, editor) = (self.vault.clone(), Arc::clone(&self.editor));
        let is_same = settings.machines == self.settings.machines;
        let machines = if is_same { self.machines.clone() } else { initial_machines(&settings) };
        let clock = Arc::clone(&self.clock);
        Ok(Some(Self::assemble(vault, editor, settings, zone, self.dirs.clone(), clock, machines)))
    }

    /// The present settings on disk with their zone and text.
    ///
    /// # Errors
    /// As [`Workspace::reload`].
    pub fn settings_on_disk(&self) -> Result<ReadSettings, ConfigError> {
        let (read, gone) = read(self.vault.root(), || Some(self.settings.clone()))?;
        gone.map_or(Ok(read), Err)
    }

    /// A sentence about the settings on disk, if they are not those in use.
    pub fn settings_problem(&self) -> Option<String> {
        let error = self.settings_on_disk().err()?;
        let hint = error.suggestion.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
        Some(format!("the settings are invalid, the last valid ones are used: {error}{hint}"))
    }

    /// The vault of `held` with the present settings on disk, which `held` then has. If these are invalid, the last
    /// valid settings, and the fault.
    pub fn present(held: &RwLock<Arc<Self>>) -> (Arc<Self>, Option<ConfigError>) {
        let current = Arc::clone(&held.read().unwrap_or_else(PoisonError::into_inner));
        match current.reload() {
            Ok(Some(changed)) => {
                let changed = Arc::new(changed);
                *held.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&changed);
                (changed, None)
            }
            Ok(None) => (current, None),
            Err(error) => (current, Some(error)),
        }
    }
}

/// The role of a process before it joins: alone, or beside the daemon of a vault that is on several machines.
fn initial_machines(settings: &Settings) -> Machines {
    if settings.machines.is_some() { Machines::beside() } else { Machines::alone() }
}

/// Settings with their zone and the text of their file.
pub type ReadSettings = (Settings, Zone, String);

/// The settings on disk. If their file is missing or empty and they were others before, these, and the fault.
fn read(
    root: &Path,
    before: impl FnOnce() -> Option<Settings>,
) -> Result<(ReadSettings, Option<ConfigError>), ConfigError> {
    let (settings, text) = Settings::read(root)?;
    if text.is_empty()
        && let Some(before) = before().filter(|before| *before != settings)
    {
        let zone = zone(&before, root)?;
        let gone = ConfigError::new("is gone or empty; if the defaults are meant, write a comment into it")
            .in_file(&root.join(FILE_NAME))
            .suggest("bring it back with `vault-agent restore vault-agent.toml`");
        return Ok(((before, zone, text), Some(gone)));
    }
    let zone = zone(&settings, root)?;
    Ok(((settings, zone, text), None))
}

/// The zone of the settings, or an error that points at it.
fn zone(settings: &Settings, root: &Path) -> Result<Zone, ConfigError> {
    Zone::get(&settings.timezone).map_err(|error| {
        let path = root.join(FILE_NAME);
        let mut wrong = ConfigError::new(error.to_string()).in_file(&path);
        wrong.place =
            std::fs::read_to_string(&path).ok().and_then(|text| Settings::place_of(&text, "timezone"));
        wrong
    })
}

impl Workspace {
    /// The same vault for a process that takes part among several machines: the daemon, or one pass without it. Without
    /// `[machines]` nothing changes. The store isn't called yet.
    ///
    /// # Errors
    /// The engine or the machine's name can't be used.
    pub fn joined(mut self) -> Result<Self, ConfigError> {
        if !self.machines.is_internal() {
            return Ok(self);
        }
        let Some(settings) = &self.settings.machines else { return Ok(self) };
        let wrong = |message: String| {
            let file = self.vault.root().join(FILE_NAME);
            ConfigError::new(format!("`[machines]` can't be used: {message}")).in_file(&file)
        };
        let name = machine_name()?;
        let engine = engine::open(settings, self.vault.root(), &self.dirs.state, &self.clock)
            .map_err(|error| wrong(error.to_string()))?;
        let joining = JoinConfig {
            engine,
            kind: settings.engine.as_str(),
            timing: match settings.engine {
                MachinesEngine::Git => Timing::GIT,
                MachinesEngine::Etcd => Timing::ETCD,
            },
            rank: settings.rank(&name),
            name,
            vault: settings.vault.clone(),
            sends_when_cut_off: settings.on_partition == OnPartition::Tell,
            state: self.dirs.state.clone(),
            clock: Arc::clone(&self.clock),
        };
        self.machines = Machines::join(joining).map_err(|error| wrong(error.to_string()))?;
        Ok(self)
    }

    /// A sentence that names the voice, if that is another machine. `None` in a process beside the daemon, where a
    /// person acts.
    pub(super) fn other_voice(&self) -> Option<String> {
        if self.machines.is_internal() || self.machines.is_voice() {
            return None;
        }
        let here = self.machines.name();
        Some(match self.machines.voice().filter(|voice| Some(voice.as_str()) != here) {
            Some(voice) => format!("`{voice}` is the voice of this vault"),
            None => "no machine is the voice of this vault yet".to_owned(),
        })
    }
}

/// The copy of the last valid settings, in the state directory, for when the file is broken.
const COPY: &str = "settings.toml";

/// Keeps the text of settings that were understood. An empty one is no copy: it is half a save, or no settings at all.
/// A copy that can't be written is missed only when the file breaks.
fn keep(state: &Path, text: &str) {
    let path = state.join(COPY);
    if text.is_empty() || std::fs::read(&path).is_ok_and(|known| known == text.as_bytes()) {
        return;
    }
    let _ = json_file::replace(&path, text.as_bytes(), false);
}

/// Whether a vault with this state directory had settings that were understood.
pub fn has_saved_settings(state: &Path) -> bool {
    state.join(COPY).exists()
}

/// The settings of the copy, if there is one.
fn last_good(state: &Path) -> Option<Settings> {
    Settings::parse(&std::fs::read_to_string(state.join(COPY)).ok()?).ok()
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
