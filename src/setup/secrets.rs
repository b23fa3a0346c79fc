//! Asks the questions of `setup` about secrets: set in the environment, in a file, or typed.

use secrecy::SecretString;

use super::{Dialogue, HeldSecret, MachineFacts, QuestionKey, SecretSource, SetupCheck};

impl MachineFacts {
    /// The hint that Enter takes the secret in the environment, if it is set there.
    pub(super) fn environment_line(&self, variable: &'static str) -> Option<String> {
        let is_set = self.variables.contains(&variable);
        is_set.then(|| format!("Enter takes the one in `{variable}`, and leaves it there."))
    }
}

impl Dialogue {
    /// The line that says which value Enter takes: an earlier answer, or the secret in the environment.
    pub(super) fn enter_line(&self, is_held: bool, variable: &'static str) -> Option<String> {
        match is_held {
            true => Some("Enter keeps the one from before.".to_owned()),
            false => self.machine.environment_line(variable),
        }
    }

    /// A secret that is set, in a file, or typed; an answer that names a file is a path.
    pub(super) fn take_secret(
        &mut self,
        step: QuestionKey,
        variable: &'static str,
        typed: &str,
    ) -> Result<(), String> {
        let is_set = self.machine.variables.contains(&variable);
        let kept = match typed {
            "" | "env" if is_set => Some(SecretSource::Variable(variable)),
            "" => return Err("there is none yet: paste it, or type `skip`".to_owned()),
            path if path.starts_with(['/', '~', '.']) => Some(SecretSource::File(path.to_owned())),
            _ if self.from_file => {
                return Err(format!("`{}` has to name a file: a secret never stands in answers", step.key()));
            }
            _ => None,
        };
        let value = kept.is_none().then(|| SecretString::from(typed));
        self.looking = match (&kept, &value) {
            (Some(kept), _) => Some(SetupCheck::Secret(kept.clone(), self.folder.root.clone())),
            (None, Some(value)) if step == QuestionKey::DiscordToken => {
                Some(SetupCheck::Bot(value.clone(), self.base()))
            }
            (None, _) => None,
        };
        let held = HeldSecret { value, kept };
        match step {
            QuestionKey::BrainKey => self.chosen.key = Some(held),
            step => drop(self.secrets.insert(step, held)),
        }
        Ok(())
    }

    /// Whether a question's secret was given, here or elsewhere; a brain's key is with the brain.
    pub(super) fn holds(&self, step: QuestionKey) -> bool {
        self.secrets.contains_key(&step)
    }

    /// A question's secret, where its value is known.
    pub(super) fn secret(&self, step: QuestionKey) -> Option<SecretString> {
        self.secrets.get(&step)?.value.clone()
    }

    pub(super) fn take_brain_key(&mut self, typed: &str) -> Result<(), String> {
        let needed = self.chosen.offer.and_then(|offer| offer.key);
        match (typed, needed) {
            // An earlier answer is kept; a server on this machine may need no secret.
            ("", _) if self.chosen.key_value().is_some() || needed.is_none() => Ok(()),
            (typed, variable) => self.take_secret(QuestionKey::BrainKey, variable.unwrap_or("-"), typed),
        }
    }

    pub(super) fn secret_found(&mut self, open: Option<QuestionKey>, value: SecretString) {
        let step = open.unwrap_or(QuestionKey::BrainKey);
        match self.secrets.get_mut(&step) {
            Some(held) => held.value = Some(value.clone()),
            None if step.way().is_some() => {}
            None => self.chosen.key.iter_mut().for_each(|held| held.value = Some(value.clone())),
        }
        if step == QuestionKey::DiscordToken {
            self.looking = Some(SetupCheck::Bot(value, self.base()));
        } else {
            self.done.insert(step);
        }
    }
}
