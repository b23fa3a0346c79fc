//! Takes the secrets that `setup` asks for: from the environment, from a file, or typed at the terminal.
//!
//! If the question's environment variable is set, an empty answer or `env` takes the secret from it. If it isn't set,
//! an empty answer is an error. A path names a file that contains the secret. Any other answer is the secret itself; in
//! a file of prepared answers that is an error, so such a file never contains a secret.

use secrecy::SecretString;

use super::dialogue::Dialogue;
use super::{HeldSecret, MachineFacts, QuestionKey, SecretSource, SetupIo};

impl MachineFacts {
    /// The hint that Enter takes the secret in the environment, if it is set there.
    pub(super) fn environment_line(&self, variable: &'static str) -> Option<String> {
        let is_set = self.variables.contains(&variable);
        is_set.then(|| format!("Enter takes the one in `{variable}`, and leaves it there."))
    }

    /// The line that says which value Enter takes: an earlier answer, or the secret in the environment.
    pub(super) fn enter_line(&self, is_held: bool, variable: &'static str) -> Option<String> {
        match is_held {
            true => Some("Enter keeps the one from before.".to_owned()),
            false => self.environment_line(variable),
        }
    }
}

impl<I: SetupIo> Dialogue<'_, I> {
    /// The secret that is set, in a file, or typed; an answer that names a file is a path.
    pub(super) fn read_secret(
        &self,
        step: QuestionKey,
        variable: &'static str,
        typed: &str,
    ) -> Result<HeldSecret, String> {
        let kept = match typed {
            "" | "env" if self.machine.variables.contains(&variable) => SecretSource::Variable(variable),
            "" => return Err("no secret is set: paste it, or type `skip`".to_owned()),
            path if is_path(path) => SecretSource::File(path.to_owned()),
            _ if self.from_file => {
                return Err(format!(
                    "`{}` must name a file: an answers file never contains a secret",
                    step.key()
                ));
            }
            _ => return Ok(HeldSecret { value: typed.into(), kept: None }),
        };
        Ok(HeldSecret { value: self.io.secret(&kept, &self.folder.root)?, kept: Some(kept) })
    }

    /// As [`Self::read_secret`], and keeps it for its notifier.
    pub(super) fn take_secret(
        &mut self,
        step: QuestionKey,
        variable: &'static str,
        typed: &str,
    ) -> Result<(), String> {
        let held = self.read_secret(step, variable, typed)?;
        self.secrets.insert(step, held);
        Ok(())
    }

    /// Whether a question's secret was given, here or elsewhere; a brain's key is with the brain.
    pub(super) fn holds(&self, step: QuestionKey) -> bool {
        self.secrets.contains_key(&step)
    }

    /// A question's secret.
    pub(super) fn secret(&self, step: QuestionKey) -> Option<SecretString> {
        Some(self.secrets.get(&step)?.value.clone())
    }
}

/// Whether an answer names a file.
pub(super) fn is_path(typed: &str) -> bool {
    typed.starts_with(['/', '~', '.'])
}
