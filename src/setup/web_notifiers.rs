//! Asks the questions of `setup` about ntfy (a server, a topic, a token if the server wants one) and signed webhooks (an
//! address, which may be a secret itself, and the secret).

use toml::Value;

use super::dialogue::Dialogue;
use super::question::QuestionKey;
use super::{HeldSecret, SecretSource};
use crate::config::{self, NTFY_TOKEN_VARIABLE, SIGNED_SECRET_VARIABLE, SIGNED_URL_VARIABLE};

impl Dialogue {
    pub(super) fn take_ntfy(&mut self, step: QuestionKey, typed: &str) -> Result<(), String> {
        match step {
            QuestionKey::NtfyUrl if config::is_web(typed) => {
                typed.trim_end_matches('/').clone_into(&mut self.ntfy.url);
            }
            QuestionKey::NtfyUrl => {
                return Err(format!(
                    "`{typed}` is no web address: write `https://` before the server's name"
                ));
            }
            QuestionKey::NtfyTopic if config::is_topic(typed) => self.ntfy.topic = Some(typed.to_owned()),
            QuestionKey::NtfyTopic => {
                return Err(format!("`{typed}` can't be a topic: use up to 64 letters, digits, `-` and `_`"));
            }
            // An earlier answer is kept; a topic that is open for writing needs no token.
            _ if typed.is_empty()
                && (self.holds(QuestionKey::NtfyToken)
                    || !self.machine.variables.contains(&NTFY_TOKEN_VARIABLE)) => {}
            _ => self.take_secret(QuestionKey::NtfyToken, NTFY_TOKEN_VARIABLE, typed)?,
        }
        Ok(())
    }

    /// Hints, the question, and the meaning of an empty answer.
    pub(super) fn ask_ntfy(&self, step: QuestionKey) -> (Vec<String>, &'static str, Option<String>) {
        let config::NtfySettings { url, topic, token_file } = self.ntfy.clone();
        match step {
            QuestionKey::NtfyUrl => {
                let lines = vec![
                    "The public server needs no account; one of your own keeps the words at home.".to_owned(),
                ];
                (lines, "Which ntfy server?", Some(url))
            }
            QuestionKey::NtfyTopic => {
                let topic = topic.unwrap_or_else(|| self.machine.topic.clone());
                (topic_lines(&url, &topic), "Which topic?", Some(topic))
            }
            _ => {
                let file = token_file.filter(|_| !self.holds(QuestionKey::NtfyToken));
                let line = self.enter_line(self.holds(QuestionKey::NtfyToken), NTFY_TOKEN_VARIABLE);
                let line = line.unwrap_or_else(|| "The public server wants none: press Enter.".to_owned());
                (vec![line], "An access token, if the server wants one (it isn't shown)?", file)
            }
        }
    }

    pub(super) fn ntfy_values(&self, set: &config::NtfySettings, values: &mut Vec<(&'static str, Value)>) {
        if self.ntfy.url != set.url {
            values.push(("notify.ntfy.url", self.ntfy.url.clone().into()));
        }
        if let Some(topic) = self.ntfy.topic.as_ref().filter(|topic| set.topic.as_ref() != Some(topic)) {
            values.push(("notify.ntfy.topic", topic.clone().into()));
        }
    }
}

fn topic_lines(url: &str, topic: &str) -> Vec<String> {
    let server = url.trim_start_matches("https://").trim_start_matches("http://");
    vec![
        "Install the app (https://docs.ntfy.sh/subscribe/phone/), and subscribe there to the topic before you go on:".to_owned(),
        format!("{server}/{topic} (also as a page in a browser)."),
        "On the public server everyone who knows a topic can read it: keep one that is hard to guess.".to_owned(),
    ]
}

impl Dialogue {
    pub(super) fn take_signed(&mut self, step: QuestionKey, typed: &str) -> Result<(), String> {
        let set = self.folder.settings.notify.webhook.clone();
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
        let set = self.folder.settings.notify.webhook.clone();
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
