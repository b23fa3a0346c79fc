//! Asks the questions of `setup` about notifiers: several may be chosen, each has questions of its own and ends with a
//! test message.

use super::dialogue::{AnswerProblem, Dialogue};
use super::question::QuestionKey;
use super::{NotifierTrial, SetupCheck, VaultFolder};
use crate::config::{self, NotifyKind};

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
    /// Takes the list of who is told.
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

    /// Leaves one way out: as it is set it stays, else it isn't told.
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

    /// The first way whose questions are answered and that wasn't tried yet.
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

    /// The test message of a way.
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
}
