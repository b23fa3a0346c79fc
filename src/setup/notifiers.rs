//! Asks the questions of `setup` about notifiers. A person may choose several; each has questions of its own and ends
//! with a test message. The questions about ntfy (server, topic, token) and about signed webhooks (address, secret) are
//! in this file; `discord` and `email` have the others.

use toml::Value;

use super::dialogue::AnswerProblem;
use super::{Dialogue, HeldSecret, NotifierTrial, QuestionKey, SecretSource, SetupCheck, VaultFolder};
use crate::config::{self, NTFY_TOKEN_VARIABLE, NotifyKind, SIGNED_SECRET_VARIABLE, SIGNED_URL_VARIABLE};

/// The ways that can be chosen, with what a person should know of each, and whether this build has it.
const OFFERS: [(NotifyKind, &str, bool); 6] = [
    (NotifyKind::Console, "on the terminal that it runs in: nothing to set up", true),
    (NotifyKind::Desktop, "in the notification centre of this machine", true),
    (
        NotifyKind::Discord,
        "on your phone and everywhere, with answers: a bot of your own, in about five minutes",
        cfg!(feature = "assistant"),
    ),
    (NotifyKind::Ntfy, "on your phone, without an account: an app and a topic, in one minute", true),
    (NotifyKind::Email, "by mail, through your own mail server", true),
    (NotifyKind::Webhook, "as signed JSON to an address of yours, for your own programs", true),
];

/// The choices, a line each.
pub(super) fn lines() -> Vec<String> {
    let offered = OFFERS.into_iter().filter(|(_, _, built)| *built);
    let mut lines: Vec<String> =
        offered.map(|(kind, words, _)| format!("  {:<8} {words}", kind.as_str())).collect();
    lines.push("Several are fine, with commas: each is told, and the first one counts.".to_owned());
    lines
}

/// Kinds as a person types them.
pub(super) fn named(kinds: &[NotifyKind]) -> String {
    kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ")
}

impl Dialogue {
    /// Takes the list of the chosen notifiers.
    pub(super) fn take_ways(&mut self, typed: &str) -> Result<(), String> {
        let set = self.folder.settings.notify.by_default();
        let mut kinds = Vec::new();
        for word in typed.split([',', ' ', ';']).filter(|word| !word.is_empty()) {
            let offer = OFFERS.into_iter().find(|(kind, _, _)| kind.as_str() == word.to_lowercase());
            let kind = match offer {
                // A notifier that was set by hand stays, though this build lacks it.
                Some((kind, _, built)) if built || set.contains(&kind) => kind,
                _ => {
                    let all: Vec<_> =
                        OFFERS.iter().filter(|(_, _, built)| *built).map(|(kind, _, _)| *kind).collect();
                    return Err(format!("`{word}` is none of them: type {}", named(&all)));
                }
            };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if kinds.is_empty() {
            return Err("no notifier is chosen: type `console`, or another one".to_owned());
        }
        self.open_ways = kinds.iter().copied().collect();
        self.kinds = kinds;
        self.tried_ways.clear();
        self.done.retain(|step| step.way().is_none());
        Ok(())
    }

    /// Leaves out one notifier: if it is configured already, its settings stay; otherwise it isn't used.
    pub(super) fn disable(&mut self, kind: NotifyKind) {
        self.open_ways.remove(&kind);
        let set = self.folder.settings.notify.by_default();
        if !set.contains(&kind) {
            self.kinds.retain(|other| *other != kind);
        }
        if self.kinds.is_empty() {
            self.kinds = set;
        }
    }

    /// The first notifier whose questions are answered and that wasn't tried yet.
    pub(super) fn next_untested(&self) -> Option<NotifyKind> {
        let is_answered = |kind: &NotifyKind| {
            QuestionKey::about(*kind).all(|step| self.done.contains(&step) || !self.is_applicable(step))
        };
        let open = |kind: &NotifyKind| *kind != NotifyKind::Console && !self.tried_ways.contains(kind);
        let mut waiting = self.open_ways.iter().copied().filter(open);
        waiting.find(is_answered).filter(|_| self.done.contains(&QuestionKey::Notify))
    }

    /// A test message didn't arrive: the questions that it depends on come again, with the reason.
    pub(super) fn test_failed(&mut self, kind: NotifyKind, words: String) {
        let step = match kind {
            NotifyKind::Console | NotifyKind::Desktop => QuestionKey::Notify,
            NotifyKind::Discord if self.by_webhook => QuestionKey::DiscordWebhook,
            NotifyKind::Discord => QuestionKey::DiscordChannel,
            NotifyKind::Ntfy => QuestionKey::NtfyUrl,
            NotifyKind::Email => QuestionKey::EmailServer,
            NotifyKind::Webhook => QuestionKey::WebhookUrl,
        };
        match kind {
            NotifyKind::Ntfy | NotifyKind::Email | NotifyKind::Webhook => {
                self.done.retain(|step| step.way() != Some(kind));
            }
            _ => drop(self.done.remove(&step)),
        }
        self.problem = Some(AnswerProblem { step, text: words, may_keep: true });
    }

    /// The test message of a notifier.
    pub(super) fn test_message(&self, kind: NotifyKind) -> SetupCheck {
        let VaultFolder { root, settings: config::Settings { notify, discord, .. }, .. } =
            self.folder.clone();
        let mut trying = NotifierTrial { kind, notify, discord, secret: None, address: None, root };
        match kind {
            NotifyKind::Console | NotifyKind::Desktop => {}
            NotifyKind::Discord if self.by_webhook => {
                trying.address = Some(self.secret(QuestionKey::DiscordWebhook).unwrap_or_default());
            }
            NotifyKind::Discord => {
                trying.secret = self.secret(QuestionKey::DiscordToken);
                trying.discord.channel_id = self.channel;
                trying.discord.owner_ids.clone_from(&self.owners);
            }
            NotifyKind::Ntfy => {
                trying.notify.ntfy = self.ntfy.clone();
                trying.secret = self.secret(QuestionKey::NtfyToken);
            }
            NotifyKind::Email => {
                trying.notify.email = self.email_settings(&trying.notify.email);
                trying.secret = self.secret(QuestionKey::EmailPassword);
            }
            NotifyKind::Webhook => {
                trying.address = self.secret(QuestionKey::WebhookUrl);
                trying.secret = self.secret(QuestionKey::WebhookSecret);
            }
        }
        SetupCheck::Test(Box::new(trying))
    }

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

fn topic_lines(url: &str, topic: &str) -> Vec<String> {
    let server = url.trim_start_matches("https://").trim_start_matches("http://");
    vec![
        "Install the app (https://docs.ntfy.sh/subscribe/phone/), and subscribe there to the topic before you go on:".to_owned(),
        format!("{server}/{topic} (also as a page in a browser)."),
        "On the public server everyone who knows a topic can read it: keep one that is hard to guess.".to_owned(),
    ]
}
