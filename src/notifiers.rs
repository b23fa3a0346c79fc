//! Makes the notifiers that the settings name.
//!
//! The first of `[notify] kinds` is the one whose outcome decides whether an item counts as sent. If it can't be used,
//! the console takes its place, with the reason. A further notifier that can't be used is left out, and `doctor` says
//! so. Discord's notifiers are in its own room, so only front doors make notifiers here.

use std::sync::Arc;

use crate::config::{ConfigError, NotifyKind};

use crate::deliver::{Console, DeliveryOrder, Desktop, Notifier, takes_links};
use crate::workspace::Workspace;

impl Workspace {
    /// The notifiers of the settings; `json` makes the console's lines JSON objects.
    pub fn delivery_order(&self, json: bool) -> DeliveryOrder {
        let console = Console::stdout(json, self.zone.tz().clone());
        let console = if takes_links() { console.with_links(self.links()) } else { console };
        self.delivery_order_with(Arc::new(console))
    }

    /// The notifiers of the settings; with `json` standard output is one document, and the console prints to standard
    /// error.
    pub fn delivery_order_off_stdout(&self, json: bool) -> DeliveryOrder {
        if json {
            self.delivery_order_with(Arc::new(Console::stderr(self.zone.tz().clone())))
        } else {
            self.delivery_order(false)
        }
    }

    /// The notifiers of the settings, with this console.
    #[expect(clippy::needless_pass_by_value, reason = "the caller hands its console over")]
    pub fn delivery_order_with(&self, console: Arc<dyn Notifier>) -> DeliveryOrder {
        let mut all = self.settings.notify.all().into_iter();
        let first = all.next().unwrap_or_default();
        let (primary, fallback) = match self.notifier(first, &console) {
            Ok(primary) if first == NotifyKind::Console => (primary, None),
            Ok(primary) => (primary, Some(Arc::clone(&console))),
            Err(error) => {
                tracing::error!("{error}");
                (Arc::clone(&console), None)
            }
        };
        let usable =
            |kind| self.notifier(kind, &console).inspect_err(|error| tracing::error!("{error}")).ok();
        DeliveryOrder { primary, fallback, others: all.filter_map(usable).collect() }
    }

    /// The notifier of one kind, by the settings.
    ///
    /// # Errors
    /// The settings can't work: a missing secret, an invalid address, a build without it.
    pub fn notifier(
        &self,
        kind: NotifyKind,
        console: &Arc<dyn Notifier>,
    ) -> Result<Arc<dyn Notifier>, ConfigError> {
        match kind {
            NotifyKind::Console => Ok(Arc::clone(console)),
            NotifyKind::Desktop => Ok(Arc::new(Desktop)),
            NotifyKind::Discord => discord(self),
            NotifyKind::Ntfy => ntfy(self),
            NotifyKind::Email => email(self),
            NotifyKind::Webhook => webhook(self),
        }
    }

    /// The bot, for answers: they go to the channel of the question, whichever notifier has the reminders; refused ones
    /// go to the console.
    #[cfg(feature = "assistant")]
    pub fn bot_delivery_order(&self) -> DeliveryOrder {
        let console: Arc<dyn Notifier> = Arc::new(Console::stdout(false, self.zone.tz().clone()));
        match discord(self) {
            Ok(primary) => DeliveryOrder::with_fallback(primary, console),
            Err(error) => {
                tracing::error!("{error}");
                DeliveryOrder::only(console)
            }
        }
    }
}

/// A certificate authority's certificates, from the file that the settings name.
fn authority(workspace: &Workspace) -> Result<Option<Vec<u8>>, ConfigError> {
    let Some(file) = &workspace.settings.notify.ca_file else { return Ok(None) };
    let path = crate::config::expand(file, workspace.vault.root());
    let read = std::fs::read(&path).map_err(|error| {
        ConfigError::new(format!("can't read `[notify] ca_file`, `{}`: {error}", path.display()))
            .suggest("name a file with certificates in PEM form")
    });
    read.map(Some)
}

#[cfg(feature = "assistant")]
fn discord(workspace: &Workspace) -> Result<Arc<dyn Notifier>, ConfigError> {
    use crate::discord::setup::{SetUpError, notifier};
    notifier(&workspace.settings.discord, workspace.vault.root()).map_err(|error| match error {
        SetUpError::Secret(error) => error,
        SetUpError::Discord(error) => ConfigError::new(error.to_string()),
    })
}

#[cfg(not(feature = "assistant"))]
fn discord(_: &Workspace) -> Result<Arc<dyn Notifier>, ConfigError> {
    Err(without("Discord"))
}

fn ntfy(workspace: &Workspace) -> Result<Arc<dyn Notifier>, ConfigError> {
    let settings = &workspace.settings.notify.ntfy;
    let token = secret(crate::config::NTFY_TOKEN_VARIABLE, settings.token_file.as_deref(), workspace)?;
    let authority = authority(workspace)?;
    let notify_rules = Arc::new(workspace.notify_rules());
    let ntfy = crate::deliver::NtfyNotifier::new(
        settings,
        token,
        authority.as_deref(),
        workspace.links(),
        notify_rules,
    )?;
    Ok(Arc::new(ntfy))
}

fn webhook(workspace: &Workspace) -> Result<Arc<dyn Notifier>, ConfigError> {
    use crate::config::{SIGNED_SECRET_VARIABLE, SIGNED_URL_VARIABLE};
    let settings = &workspace.settings.notify.webhook;
    let address = match &settings.url {
        Some(url) => Some(secrecy::SecretString::from(url.as_str())),
        None => secret(SIGNED_URL_VARIABLE, settings.url_file.as_deref(), workspace)?,
    };
    let address = address.ok_or_else(|| {
        ConfigError::new("the webhook has no address")
            .suggest(format!("set `url` in `[notify.webhook]`, or `{SIGNED_URL_VARIABLE}`"))
    })?;
    let key =
        secret(SIGNED_SECRET_VARIABLE, settings.secret_file.as_deref(), workspace)?.ok_or_else(|| {
            ConfigError::new("the webhook has no secret to sign with")
                .suggest(format!("set `{SIGNED_SECRET_VARIABLE}`, or `secret_file` in `[notify.webhook]`"))
        })?;
    let webhook = crate::deliver::SignedWebhook::new(
        address,
        &key,
        authority(workspace)?.as_deref(),
        workspace.links(),
        Arc::new(workspace.notify_rules()),
        Arc::clone(&workspace.clock),
    )?;
    Ok(Arc::new(webhook))
}

fn email(workspace: &Workspace) -> Result<Arc<dyn Notifier>, ConfigError> {
    let settings = &workspace.settings.notify.email;
    let password =
        secret(crate::config::EMAIL_PASSWORD_VARIABLE, settings.password_file.as_deref(), workspace)?;
    let email = crate::deliver::Email::new(
        settings,
        password,
        authority(workspace)?.as_deref(),
        workspace.links(),
        Arc::new(workspace.notify_rules()),
        Arc::clone(&workspace.clock),
    )?;
    Ok(Arc::new(email))
}

fn secret(
    variable: &str,
    file: Option<&str>,
    workspace: &Workspace,
) -> Result<Option<secrecy::SecretString>, ConfigError> {
    crate::config::secret(variable, file, workspace.vault.root())
}

#[cfg(not(feature = "assistant"))]
fn without(what: &str) -> ConfigError {
    ConfigError::new(format!("this build of vault-agent has no {what}"))
        .suggest("build it with its default features, or set another `[notify] kind`")
}
