//! Joins the other machines of the vault, with the engine that the settings name and under this machine's name.

use std::sync::Arc;

use super::Workspace;
use crate::config::{ConfigError, FILE_NAME, MachinesEngine, OnPartition, machine_name};
use crate::machines::protocol::Timing;
use crate::machines::{JoinConfig, Machines, connect};

impl Workspace {
    /// The same vault for a process that takes part: the daemon, or one pass without it. Without `[machines]` nothing
    /// changes. Nothing is asked yet.
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
        let engine = connect::engine(settings, self.vault.root(), &self.dirs.state, &self.clock)
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
            tells_cut_off: settings.on_partition == OnPartition::Tell,
            state: self.dirs.state.clone(),
            clock: Arc::clone(&self.clock),
        };
        self.machines = Machines::join(joining).map_err(|error| wrong(error.to_string()))?;
        Ok(self)
    }

    /// Names the machine that speaks for the vault, in a sentence, if it isn't this one; `None` in a process beside the
    /// daemon, where a person acts.
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
