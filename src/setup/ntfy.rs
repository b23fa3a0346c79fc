//! Asks the questions of `setup` about ntfy: a server, a topic, a token if the server wants one.

use toml::Value;

use super::dialogue::Dialogue;
use super::question::QuestionKey;
use crate::config::{self, NTFY_TOKEN_VARIABLE};

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
