//! Sends the test messages of `setup` through each notifier, with the settings as they would be written.

use std::sync::Arc;

use crate::clock::Clock;
use crate::config::{self, NotifyKind};
use crate::deliver::{Email, NoteLinks, Notifier, NotifyRules, NtfyNotifier, SignedWebhook, send_test};
#[cfg(feature = "assistant")]
use crate::setup::SetupCheck;
use crate::setup::{CheckResult, NotifierTrial};

/// Sends a test message; `well` says where it is.
pub(super) async fn send(notifier: &dyn Notifier, well: &str) -> Result<CheckResult, String> {
    send_test(notifier).await.map(|()| CheckResult::Well(well.to_owned()))
}

/// Runs a check of Discord.
#[cfg(feature = "assistant")]
pub(super) async fn check_discord(check: &SetupCheck) -> Result<CheckResult, String> {
    use crate::discord::access::Owners;
    use crate::discord::notifier::BotNotifier;
    use crate::discord::webhook::WebhookNotifier;
    use crate::discord::{DiscordApi, examine, setup_checks};

    let words = |error: crate::discord::DiscordError| error.to_string();
    let api = |token, base: &Option<String>| DiscordApi::new(Some(token), base.as_deref()).map_err(words);
    match check {
        SetupCheck::Bot(token, base) => {
            Ok(CheckResult::Bot(setup_checks::bot(&api(token, base)?).await.map_err(words)?))
        }
        SetupCheck::Channels(token, base) => {
            Ok(CheckResult::Channels(setup_checks::channels(&api(token, base)?).await.map_err(words)?))
        }
        SetupCheck::BotMessage(token, settings) => {
            let api = api(token, &settings.api_base)?;
            if let Some(problem) = examine(&api, settings).await.into_iter().find_map(Result::err) {
                return Err(problem.to_string());
            }
            let bot = BotNotifier::new(api, settings.channel_id, Owners::new(&settings.owner_ids));
            send(&bot, "a test message is in the channel").await
        }
        SetupCheck::WebhookMessage(address, base) => {
            let webhook = WebhookNotifier::new(address, base.as_deref(), Owners::default()).map_err(words)?;
            send(&webhook, "a test message is in the channel").await
        }
        _ => Err("Discord isn't meant".to_owned()),
    }
}

/// Sends a test message by ntfy, by mail or to a signed webhook.
pub(super) async fn send_by(trial: &NotifierTrial, clock: &Arc<dyn Clock>) -> Result<CheckResult, String> {
    let name = trial.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let paths = config::PathSettings::default();
    let links = NoteLinks { vault: name, reminders: paths.reminders, commitments: paths.commitments };
    let rules = Arc::new(NotifyRules::default());
    let authority = match &trial.notify.ca_file {
        Some(file) => {
            let path = config::expand(file, &trial.root);
            Some(std::fs::read(&path).map_err(|error| format!("can't read `{}`: {error}", path.display()))?)
        }
        None => None,
    };
    let (notify, secret, authority) = (&trial.notify, trial.secret.clone(), authority.as_deref());
    let (notifier, well): (Box<dyn Notifier>, &str) = match trial.kind {
        NotifyKind::Ntfy => {
            let made = NtfyNotifier::new(&notify.ntfy, secret, authority, links, rules);
            (Box::new(made.map_err(|error| error.message)?), "a test message is in the topic")
        }
        NotifyKind::Webhook => {
            let (address, secret) = (trial.address.clone().unwrap_or_default(), secret.unwrap_or_default());
            let made = SignedWebhook::new(address, &secret, authority, links, rules, Arc::clone(clock));
            (Box::new(made.map_err(|error| error.message)?), "the address took a test message")
        }
        NotifyKind::Email => {
            let made = Email::new(&notify.email, secret, authority, links, rules, Arc::clone(clock));
            (Box::new(made.map_err(|error| error.message)?), "the mail server took a test message")
        }
        _ => return Err("this build of vault-agent can't do that".to_owned()),
    };
    send(&*notifier, well).await
}
