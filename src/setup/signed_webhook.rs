//! Asks the questions of `setup` about signed webhooks: an address, which may be a secret itself, and the secret.

use super::HeldSecret;
use super::SecretSource;
use super::dialogue::Dialogue;
use super::question::QuestionKey;
use crate::config::{SIGNED_SECRET_VARIABLE, SIGNED_URL_VARIABLE};

impl Dialogue {
    pub(super) fn take_signed(&mut self, step: QuestionKey, typed: &str) -> Result<(), String> {
        let set = self.set().notify.webhook;
        let is_path = typed.starts_with(['/', '~', '.']);
        match step {
            QuestionKey::WebhookUrl => match (typed, set.url) {
                ("", _) if self.holds(QuestionKey::WebhookUrl) => {}
                ("", Some(url)) => {
                    let held = HeldSecret { value: Some(url.into()), kept: Some(SecretSource::Settings) };
                    self.secrets.insert(step, held);
                }
                (text, _) if !matches!(text, "" | "env") && !is_path && !text.starts_with("http") => {
                    return Err("that is no web address: it begins with `https://`".to_owned());
                }
                (text, _) => self.take_secret(QuestionKey::WebhookUrl, SIGNED_URL_VARIABLE, text)?,
            },
            _ if typed.is_empty() && self.holds(QuestionKey::WebhookSecret) => {}
            _ if typed.is_empty() && !self.machine.variables.contains(&SIGNED_SECRET_VARIABLE) => {
                let held = HeldSecret { value: Some(self.machine.signing_secret.clone()), kept: None };
                self.secrets.insert(step, held);
            }
            _ => self.take_secret(QuestionKey::WebhookSecret, SIGNED_SECRET_VARIABLE, typed)?,
        }
        Ok(())
    }

    /// Hints, the question, and the meaning of an empty answer.
    pub(super) fn ask_signed(&self, step: QuestionKey) -> (Vec<String>, &'static str, Option<String>) {
        let set = self.set().notify.webhook;
        if step == QuestionKey::WebhookUrl {
            let file = set.url_file.filter(|_| !self.holds(QuestionKey::WebhookUrl));
            let is_held = self.holds(QuestionKey::WebhookUrl);
            let line = match (&file, self.enter_line(is_held, SIGNED_URL_VARIABLE)) {
                (_, Some(line)) if is_held => line,
                (None, _) if set.url.is_some() => "Enter keeps the one in the settings.".to_owned(),
                (None, Some(line)) => line,
                _ => "It gets a POST of JSON, signed as https://www.standardwebhooks.com says.".to_owned(),
            };
            return (vec![line], "The address, or a file that holds it (it isn't shown)?", file);
        }
        let file = set.secret_file.filter(|_| !self.holds(QuestionKey::WebhookSecret));
        let is_held = self.holds(QuestionKey::WebhookSecret);
        let lines = match (&file, self.enter_line(is_held, SIGNED_SECRET_VARIABLE)) {
            (file, Some(line)) if is_held || file.is_none() => vec![line],
            (None, _) => vec![
                "The receiver checks the signature with the same secret. Enter makes a new one, and keeps it in a file".to_owned(),
                "that only you can read; a receiver that doesn't have it yet refuses the test message.".to_owned(),
            ],
            (Some(_), _) => Vec::new(),
        };
        (lines, "The secret that signs, or a file that holds it (it isn't shown)?", file)
    }
}
