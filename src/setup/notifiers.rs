//! Asks the questions of `setup` about notifiers. A person may choose several. Each notifier but the console is tried
//! with a test message; console and desktop have no questions. The questions about ntfy and about signed webhooks are
//! in this file; `discord` and `email` have the others.

use super::dialogue::{Dialogue, EndOfQuestions};
use super::secrets::is_path;
use super::{HeldSecret, NotifierTrial, QuestionKey, SetupIo, unknown_choice};
use crate::config::{
    self, NTFY_TOKEN_VARIABLE, NotifyKind, SIGNED_SECRET_VARIABLE, SIGNED_URL_VARIABLE, Settings,
};

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
fn lines() -> Vec<String> {
    let offered = OFFERS.into_iter().filter(|(_, _, built)| *built);
    let mut lines: Vec<String> =
        offered.map(|(kind, words, _)| format!("  {:<8} {words}", kind.as_str())).collect();
    lines.push(
        "Separate several with commas. Each gets every message; the first confirms the delivery.".to_owned(),
    );
    lines
}

/// Kinds as a person types them.
fn named(kinds: &[NotifyKind]) -> String {
    kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ")
}

impl<I: SetupIo> Dialogue<'_, I> {
    /// Asks for the notifiers, and then about each that was chosen.
    pub(super) fn ask_notifiers(&mut self) -> Result<(), I::End> {
        let set = self.folder.settings.notify.by_default();
        // The desktop of a person who runs an installer isn't chosen for them.
        let is_guess = set == [NotifyKind::Console]
            && self.folder.text.is_none()
            && self.machine.has_desktop
            && !self.from_file;
        let default = if is_guess { "desktop".to_owned() } else { named(&set) };
        let is_chosen = self.ask_about(|this, failed| {
            let text = (lines(), "How should reminders reach you?", Some(default.clone()));
            this.ask(QuestionKey::Notify, text, failed, Self::take_ways)?;
            match this.open_notifiers.contains(&NotifyKind::Desktop) {
                true => this.test(NotifyKind::Desktop),
                false => Ok(()),
            }
        });
        if !is_chosen? {
            self.kinds = set;
            self.open_notifiers.clear();
        }
        for kind in self.open_notifiers.clone() {
            if !self.ask_about(|this, failed| this.ask_way(kind, failed))? {
                self.disable(kind);
            }
        }
        Ok(())
    }

    /// Takes the list of the chosen notifiers.
    fn take_ways(&mut self, typed: &str) -> Result<(), String> {
        let set = self.folder.settings.notify.by_default();
        let mut kinds = Vec::new();
        for word in typed.split([',', ' ', ';']).filter(|word| !word.is_empty()) {
            let offer = OFFERS.into_iter().find(|(kind, _, _)| kind.as_str() == word.to_lowercase());
            let kind = match offer {
                // A notifier that was set by hand stays, though this build lacks it.
                Some((kind, _, built)) if built || set.contains(&kind) => kind,
                _ => {
                    let all = OFFERS.iter().filter(|(_, _, built)| *built).map(|(kind, _, _)| kind.as_str());
                    return Err(unknown_choice(word, &all.collect::<Vec<_>>()));
                }
            };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if kinds.is_empty() {
            return Err("no notifier is chosen: type `console`, or another one".to_owned());
        }
        self.open_notifiers = kinds.iter().copied().collect();
        self.kinds = kinds;
        Ok(())
    }

    /// Leaves out one notifier: if it is configured already, its settings stay; otherwise it isn't used.
    fn disable(&mut self, kind: NotifyKind) {
        self.open_notifiers.remove(&kind);
        self.secrets.retain(|step, _| step.notifier() != Some(kind));
        let set = self.folder.settings.notify.by_default();
        if !set.contains(&kind) {
            self.kinds.retain(|other| *other != kind);
        }
        if self.kinds.is_empty() {
            self.kinds = set;
        }
    }

    /// Asks the questions about a notifier, and sends its test message. If an earlier one failed, those questions come
    /// again that it depends on.
    fn ask_way(&mut self, kind: NotifyKind, failed: Option<String>) -> Result<(), EndOfQuestions<I::End>> {
        match kind {
            NotifyKind::Console | NotifyKind::Desktop => return Ok(()),
            NotifyKind::Discord => self.ask_discord(failed)?,
            NotifyKind::Ntfy => self.ask_ntfy(failed)?,
            NotifyKind::Email => self.ask_email(failed)?,
            NotifyKind::Webhook => self.ask_signed(failed)?,
        }
        self.test(kind)
    }

    /// Sends the test message of a notifier.
    fn test(&mut self, kind: NotifyKind) -> Result<(), EndOfQuestions<I::End>> {
        let (secret, address) = match kind {
            NotifyKind::Console | NotifyKind::Desktop => (None, None),
            NotifyKind::Discord => {
                (self.secret(QuestionKey::DiscordToken), self.secret(QuestionKey::DiscordWebhook))
            }
            NotifyKind::Ntfy => (self.secret(QuestionKey::NtfyToken), None),
            NotifyKind::Email => (self.secret(QuestionKey::EmailPassword), None),
            NotifyKind::Webhook => {
                let set = self.settings.notify.webhook.url.as_ref();
                let address =
                    self.secret(QuestionKey::WebhookUrl).or_else(|| set.map(|url| url.clone().into()));
                (self.secret(QuestionKey::WebhookSecret), address)
            }
        };
        let Settings { notify, discord, .. } = self.new_settings();
        let root = self.folder.root.clone();
        let trial = NotifierTrial { kind, notify, discord, secret, address, root };
        self.io.test_notifier(&trial).map_err(EndOfQuestions::Failed)
    }

    fn ask_ntfy(&mut self, failed: Option<String>) -> Result<(), EndOfQuestions<I::End>> {
        let config::NtfySettings { url, topic, token_file } = self.settings.notify.ntfy.clone();
        let lines =
            vec!["The public server needs no account; one of your own keeps the words at home.".to_owned()];
        let text = (lines, "Which ntfy server?", Some(url));
        let url = self.ask(QuestionKey::NtfyUrl, text, failed, |_, typed| match config::is_web(typed) {
            true => Ok(typed.trim_end_matches('/').to_owned()),
            false => Err(format!("`{typed}` is no web address: write `https://` before the server's name")),
        })?;
        let topic = topic.unwrap_or_else(|| self.machine.topic.clone());
        let text = (topic_lines(&url, &topic), "Which topic?", Some(topic));
        self.settings.notify.ntfy.url = url;
        let topic = self.ask(QuestionKey::NtfyTopic, text, None, |_, typed| match config::is_topic(typed) {
            true => Ok(typed.to_owned()),
            false => Err(format!("`{typed}` can't be a topic: use up to 64 letters, digits, `-` and `_`")),
        });
        self.settings.notify.ntfy.topic = Some(topic?);
        let is_held = self.holds(QuestionKey::NtfyToken);
        let line = self.machine.enter_line(is_held, NTFY_TOKEN_VARIABLE);
        let line = line.unwrap_or_else(|| "The public server needs none: press Enter.".to_owned());
        let ask = "Access token, if the server needs one (hidden while typing)?";
        let text = (vec![line], ask, token_file.filter(|_| !is_held));
        self.ask(QuestionKey::NtfyToken, text, None, |this, typed| match typed {
            // An earlier answer is kept; a topic that is open for writing needs no token.
            "" if is_held || !this.machine.variables.contains(&NTFY_TOKEN_VARIABLE) => Ok(()),
            typed => this.take_secret(QuestionKey::NtfyToken, NTFY_TOKEN_VARIABLE, typed),
        })
    }

    fn ask_signed(&mut self, failed: Option<String>) -> Result<(), EndOfQuestions<I::End>> {
        let set = self.folder.settings.notify.webhook.clone();
        let is_held = self.holds(QuestionKey::WebhookUrl);
        let file = set.url_file.filter(|_| !is_held);
        let line = match (&file, self.machine.enter_line(is_held, SIGNED_URL_VARIABLE)) {
            (_, Some(line)) if is_held => line,
            (None, _) if set.url.is_some() => "Enter keeps the one in the settings.".to_owned(),
            (None, Some(line)) => line,
            _ => "It gets a POST of JSON, signed as https://www.standardwebhooks.com says.".to_owned(),
        };
        let text = (vec![line], "The address, or a file that contains it (hidden while typing)?", file);
        self.ask(QuestionKey::WebhookUrl, text, failed, |this, typed| match (typed, &set.url) {
            ("", _) if is_held => Ok(()),
            ("", Some(_)) => Ok(()),
            (text, _) if !matches!(text, "" | "env") && !is_path(text) && !text.starts_with("http") => {
                Err("that is no web address: it begins with `https://`".to_owned())
            }
            (text, _) => this.take_secret(QuestionKey::WebhookUrl, SIGNED_URL_VARIABLE, text),
        })?;
        let is_held = self.holds(QuestionKey::WebhookSecret);
        let file = set.secret_file.filter(|_| !is_held);
        let lines = match (&file, self.machine.enter_line(is_held, SIGNED_SECRET_VARIABLE)) {
            (file, Some(line)) if is_held || file.is_none() => vec![line],
            (None, _) => vec![
                "The receiver checks the signature with the same secret. Enter makes a new one, and keeps it in a file".to_owned(),
                "that only you can read; a receiver that doesn't have it yet refuses the test message.".to_owned(),
            ],
            (Some(_), _) => Vec::new(),
        };
        let text = (lines, "Signing secret, or a file that contains it (hidden while typing)?", file);
        self.ask(QuestionKey::WebhookSecret, text, None, |this, typed| match typed {
            "" if is_held => Ok(()),
            "" if !this.machine.variables.contains(&SIGNED_SECRET_VARIABLE) => {
                let held = HeldSecret { value: this.machine.signing_secret.clone(), kept: None };
                this.secrets.insert(QuestionKey::WebhookSecret, held);
                Ok(())
            }
            typed => this.take_secret(QuestionKey::WebhookSecret, SIGNED_SECRET_VARIABLE, typed),
        })
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
