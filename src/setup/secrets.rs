//! The part of the dialogue that is about secrets: set in the environment, in a file, or typed.

use secrecy::SecretString;

use super::dialogue::{Dialogue, Held};
use super::question::Step;
use super::{Kept, Look};

impl Dialogue {
    /// A secret that is set, in a file, or typed; an answer that names a file is a path.
    pub(super) fn take_secret(
        &mut self,
        step: Step,
        variable: &'static str,
        typed: &str,
    ) -> Result<(), String> {
        let is_set = self.machine.variables.contains(&variable);
        let kept = match typed {
            "" | "env" if is_set => Some(Kept::Variable(variable)),
            "" => return Err("there is none yet: paste it, or type `skip`".to_owned()),
            path if path.starts_with(['/', '~', '.']) => Some(Kept::File(path.to_owned())),
            _ if self.from_file => {
                return Err(format!("`{}` has to name a file: a secret never stands in answers", step.key()));
            }
            _ => None,
        };
        let value = kept.is_none().then(|| SecretString::from(typed));
        self.looking = match (&kept, &value) {
            (Some(kept), _) => Some(Look::Secret(kept.clone(), self.root())),
            (None, Some(value)) if step == Step::DiscordToken => Some(Look::Bot(value.clone(), self.base())),
            (None, _) => None,
        };
        let held = Held { value, kept };
        match step {
            Step::DiscordToken => self.token = Some(held),
            Step::DiscordWebhook => self.webhook = Some(held),
            _ => self.chosen.hold(held),
        }
        Ok(())
    }

    pub(super) fn take_brain_key(&mut self, typed: &str) -> Result<(), String> {
        let needed = self.chosen.offer.and_then(|offer| offer.key);
        match (typed, needed) {
            // What was typed before is kept; a server on this machine may need none.
            ("", _) if self.chosen.key.is_some() || needed.is_none() => Ok(()),
            (typed, variable) => self.take_secret(Step::BrainKey, variable.unwrap_or("-"), typed),
        }
    }

    pub(super) fn secret_found(&mut self, open: Option<Step>, value: SecretString) {
        match open {
            Some(Step::DiscordToken) => {
                if let Some(held) = &mut self.token {
                    held.value = Some(value.clone());
                }
                self.looking = Some(Look::Bot(value, self.base()));
            }
            Some(Step::DiscordWebhook) => {
                if let Some(held) = &mut self.webhook {
                    held.value = Some(value);
                }
                self.done.insert(Step::DiscordWebhook);
            }
            _ => {
                self.chosen.key = Some(value);
                self.done.insert(Step::BrainKey);
            }
        }
    }
}
