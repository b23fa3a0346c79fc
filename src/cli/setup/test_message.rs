//! Sends the test messages of `setup` through each notifier, with the settings as they would be written.

use std::sync::Arc;

use crate::clock::Clock;
use crate::config::{self, NotifyKind};
use crate::deliver::{Links, NotifyRules};
use crate::deliver::{Notifier, send_test};
#[cfg(feature = "assistant")]
use crate::setup::Check;
use crate::setup::CheckResult;
use crate::setup::NotifierTrial;

/// Sends a test message, and says where it is, or why it isn't.
pub(super) async fn sent(notifier: &dyn Notifier, well: &str) -> Result<CheckResult, String> {
    send_test(notifier).await.map(|()| CheckResult::Well(well.to_owned()))
}

/// Looks at what Discord has.
#[cfg(feature = "assistant")]
pub(super) async fn on_discord(look: &Check) -> Result<CheckResult, String> {
    use crate::discord::access::Owners;
    use crate::discord::notifier::BotNotifier;
    use crate::discord::webhook::WebhookNotifier;
    use crate::discord::{Api, examine, setup_checks};

    let words = |error: crate::discord::DiscordError| error.to_string();
    let api = |token, base: &Option<String>| Api::new(Some(token), base.as_deref()).map_err(words);
    match look {
        Check::Bot(token, base) => {
            Ok(CheckResult::Bot(setup_checks::bot(&api(token, base)?).await.map_err(words)?))
        }
        Check::Channels(token, base) => {
            Ok(CheckResult::Channels(setup_checks::channels(&api(token, base)?).await.map_err(words)?))
        }
        Check::BotMessage(token, settings) => {
            let api = api(token, &settings.api_base)?;
            if let Some(problem) = examine(&api, settings).await.into_iter().find_map(Result::err) {
                return Err(problem.to_string());
            }
            let bot = BotNotifier::new(api, settings.channel_id, Owners::new(&settings.owner_ids));
            sent(&bot, "a test message is in the channel").await
        }
        Check::WebhookMessage(address, base) => {
            let webhook = WebhookNotifier::new(address, base.as_deref(), Owners::default()).map_err(words)?;
            sent(&webhook, "a test message is in the channel").await
        }
        _ => Err("Discord isn't meant".to_owned()),
    }
}

/// Sends a test message by ntfy, by mail or to a signed webhook.
pub(super) async fn by(trying: &NotifierTrial, clock: &Arc<dyn Clock>) -> Result<CheckResult, String> {
    let name = trying.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let paths = config::Paths::default();
    let links = Links { vault: name, reminders: paths.reminders, commitments: paths.commitments };
    let telling = Arc::new(NotifyRules::default());
    let authority = match &trying.notify.ca_file {
        Some(file) => {
            let path = config::expand(file, &trying.root);
            Some(std::fs::read(&path).map_err(|error| format!("can't read `{}`: {error}", path.display()))?)
        }
        None => None,
    };
    let (notifier, well) = match trying.kind {
        NotifyKind::Ntfy => {
            (ntfy(trying, authority.as_deref(), links, telling)?, "a test message is in the topic")
        }
        NotifyKind::Webhook => {
            (webhook(trying, authority.as_deref(), links, telling, clock)?, "the address took a test message")
        }
        NotifyKind::Email => (
            email(trying, authority.as_deref(), links, telling, clock)?,
            "the mail server took a test message",
        ),
        _ => return Err("this build of vault-agent can't do that".to_owned()),
    };
    sent(&*notifier, well).await
}

type TestResult = Result<Box<dyn Notifier>, String>;

fn ntfy(
    trying: &NotifierTrial,
    authority: Option<&[u8]>,
    links: Links,
    telling: Arc<NotifyRules>,
) -> TestResult {
    let (settings, token) = (&trying.notify.ntfy, trying.secret.clone());
    let made = crate::deliver::NtfyNotifier::new(settings, token, authority, links, telling);
    made.map(|made| Box::new(made) as _).map_err(|error| error.message)
}

fn webhook(
    trying: &NotifierTrial,
    authority: Option<&[u8]>,
    links: Links,
    telling: Arc<NotifyRules>,
    clock: &Arc<dyn Clock>,
) -> TestResult {
    let (address, secret) =
        (trying.address.clone().unwrap_or_default(), trying.secret.clone().unwrap_or_default());
    let clock = Arc::clone(clock);
    let made = crate::deliver::SignedWebhook::new(address, &secret, authority, links, telling, clock);
    made.map(|made| Box::new(made) as _).map_err(|error| error.message)
}

fn email(
    trying: &NotifierTrial,
    authority: Option<&[u8]>,
    links: Links,
    telling: Arc<NotifyRules>,
    clock: &Arc<dyn Clock>,
) -> TestResult {
    let (settings, password, clock) = (&trying.notify.email, trying.secret.clone(), Arc::clone(clock));
    let made = crate::deliver::Email::new(settings, password, authority, links, telling, clock);
    made.map(|made| Box::new(made) as _).map_err(|error| error.message)
}
