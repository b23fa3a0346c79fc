//! Makes the notifiers that the settings name.
//!
//! The first of `[notify] kinds` is the primary notifier: its outcome decides whether an item counts as sent. If the
//! primary notifier can't be used, the console takes its place and states the reason. A further notifier that can't be
//! used is left out, and `doctor` reports it. If several machines share the vault, a placeholder with the same name
//! replaces a notifier that can't be used. The placeholder sends nothing, so another machine sends. Because of the same
//! name, all machines claim the same messages.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use secrecy::SecretString;

use crate::config::{
    self, ConfigError, EMAIL_PASSWORD_VARIABLE, NTFY_TOKEN_VARIABLE, NotifyKind, NotifySettings,
    SIGNED_SECRET_VARIABLE, SIGNED_URL_VARIABLE, WebhookSettings,
};
use crate::deliver::{
    Console, DeliveryOrder, Desktop, Email, Notifier, NotifierContext, NtfyNotifier, OutgoingMessage,
    SendOutcome, SignedWebhook, takes_links,
};
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
    pub fn delivery_order_with(&self, console: Arc<dyn Notifier>) -> DeliveryOrder {
        let mut all = self.settings.notify.all().into_iter();
        let first = all.next().unwrap_or_default();
        let is_alone = self.settings.machines.is_none();
        let usable = |kind: NotifyKind| match self.notifier(kind, &console) {
            Err(error) if !is_alone => {
                tracing::error!("{error}");
                let unusable = Unusable { name: kind.as_str(), why: not_sending(kind, &error) };
                Ok(Arc::new(unusable) as Arc<dyn Notifier>)
            }
            made => made.inspect_err(|error| tracing::error!("{error}")),
        };
        let (primary, console_reason) = match usable(first) {
            Ok(primary) => (primary, None),
            Err(error) => {
                let why = format!("`{first}` can't be used, so the console gets its messages: {error}");
                (Arc::clone(&console), Some(why))
            }
        };
        let others = all.filter_map(|kind| usable(kind).ok()).collect();
        DeliveryOrder { primary, fallback: console, others, console_reason }
    }

    /// The kind of the notifier that counts.
    pub fn primary_kind(&self) -> NotifyKind {
        self.settings.notify.all().into_iter().next().unwrap_or_default()
    }

    /// The notifier that counts, without a fallback: for confirmations of a process that isn't the scheduler. `None` if
    /// this process can't use it; the daemon, or the next `tick`, then sends them. The console is standard error, and
    /// `None` without `has_console`: its reader is another program.
    pub fn confirming_order(&self, has_console: bool) -> Option<DeliveryOrder> {
        let kind = self.primary_kind();
        if kind == NotifyKind::Console && !has_console {
            return None;
        }
        let console: Arc<dyn Notifier> = Arc::new(Console::stderr(self.zone.tz().clone()));
        let primary = self.notifier(kind, &console).inspect_err(|error| tracing::debug!("{error}")).ok()?;
        if primary.obstacle().is_some() { None } else { Some(DeliveryOrder::only(primary)) }
    }

    /// Why this machine leaves notifications to the others of `[machines]`: a notifier can't be made, or used.
    pub fn reason_for_not_sending(&self) -> Option<String> {
        self.settings.machines.as_ref()?;
        let console: Arc<dyn Notifier> = Arc::new(Console::stderr(self.zone.tz().clone()));
        let mut all = self.settings.notify.all().into_iter();
        all.find_map(|kind| match self.notifier(kind, &console) {
            Ok(notifier) => Some(not_sending(kind, &notifier.obstacle()?)),
            Err(error) => Some(not_sending(kind, &error)),
        })
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
            NotifyKind::Desktop => Ok(Arc::new(Desktop { has_others: self.settings.machines.is_some() })),
            NotifyKind::Discord => discord(self),
            NotifyKind::Ntfy | NotifyKind::Email | NotifyKind::Webhook => self.remote_notifier(kind),
        }
    }

    fn remote_notifier(&self, kind: NotifyKind) -> Result<Arc<dyn Notifier>, ConfigError> {
        let (notify, root) = (&self.settings.notify, self.vault.root());
        let secret = |variable, file: &Option<String>| config::secret(variable, file.as_deref(), root);
        let (address, secret) = match kind {
            NotifyKind::Ntfy => (None, secret(NTFY_TOKEN_VARIABLE, &notify.ntfy.token_file)?),
            NotifyKind::Email => (None, secret(EMAIL_PASSWORD_VARIABLE, &notify.email.password_file)?),
            _ => webhook(self).map(|(address, key)| (Some(address), Some(key)))?,
        };
        let context = NotifierContext {
            authority: authority(notify, root)?,
            links: self.links(),
            rules: Arc::new(self.notify_rules()),
            clock: Arc::clone(&self.clock),
        };
        remote_notifier(kind, notify, address, secret, context)
    }

    /// The order with the bot first, for answers: they go to the channel of the question, whichever notifier gets the
    /// reminders; refused ones go to the console.
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

/// Stands in for a notifier that can't be made on this machine.
struct Unusable {
    name: &'static str,
    why: String,
}

#[async_trait]
impl Notifier for Unusable {
    fn name(&self) -> &'static str {
        self.name
    }

    fn obstacle(&self) -> Option<&str> {
        Some(&self.why)
    }

    async fn send(&self, _: &OutgoingMessage) -> SendOutcome {
        SendOutcome::Retry { after: None, reason: self.why.clone() }
    }
}

fn not_sending(kind: NotifyKind, error: &dyn std::fmt::Display) -> String {
    format!("this machine doesn't send by `{kind}`: {error}")
}

/// The notifier of a kind that sends over the network: ntfy, mail, else a webhook with this address. The secret is its
/// token, its password, or what it signs with.
///
/// # Errors
/// The settings can't work.
pub(crate) fn remote_notifier(
    kind: NotifyKind,
    notify: &NotifySettings,
    address: Option<SecretString>,
    secret: Option<SecretString>,
    context: NotifierContext,
) -> Result<Arc<dyn Notifier>, ConfigError> {
    Ok(match kind {
        NotifyKind::Ntfy => Arc::new(NtfyNotifier::new(&notify.ntfy, secret, context)?),
        NotifyKind::Email => Arc::new(Email::new(&notify.email, secret, context)?),
        _ => {
            let (address, key) = (address.unwrap_or_default(), secret.unwrap_or_default());
            Arc::new(SignedWebhook::new(address, &key, context)?)
        }
    })
}

/// A certificate authority's certificates, from the file that the settings name.
pub(crate) fn authority(notify: &NotifySettings, root: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    let Some(file) = &notify.ca_file else { return Ok(None) };
    let path = config::expand(file, root);
    let read = std::fs::read(&path).map_err(|error| {
        ConfigError::new(format!("can't read `[notify] ca_file`, `{}`: {error}", path.display()))
            .suggest("name a file with certificates in PEM form")
    });
    read.map(Some)
}

/// The address of the settings, and the secret that signs.
fn webhook(workspace: &Workspace) -> Result<(SecretString, SecretString), ConfigError> {
    let WebhookSettings { url, url_file, secret_file } = &workspace.settings.notify.webhook;
    let root = workspace.vault.root();
    let address = match url {
        Some(url) => Some(SecretString::from(url.as_str())),
        None => config::secret(SIGNED_URL_VARIABLE, url_file.as_deref(), root)?,
    };
    let address = address.ok_or_else(|| {
        ConfigError::new("the webhook has no address")
            .suggest(format!("set `url` in `[notify.webhook]`, or `{SIGNED_URL_VARIABLE}`"))
    })?;
    let key = config::secret(SIGNED_SECRET_VARIABLE, secret_file.as_deref(), root)?.ok_or_else(|| {
        ConfigError::new("the webhook has no secret to sign with")
            .suggest(format!("set `{SIGNED_SECRET_VARIABLE}`, or `secret_file` in `[notify.webhook]`"))
    })?;
    Ok((address, key))
}

#[cfg(feature = "assistant")]
fn discord(workspace: &Workspace) -> Result<Arc<dyn Notifier>, ConfigError> {
    use crate::discord::DiscordError;
    use crate::discord::setup::notifier;
    notifier(&workspace.settings.discord, workspace.vault.root()).map_err(|error| match error {
        DiscordError::Secret(error) => error,
        error => ConfigError::new(error.to_string()),
    })
}

#[cfg(not(feature = "assistant"))]
fn discord(_: &Workspace) -> Result<Arc<dyn Notifier>, ConfigError> {
    Err(ConfigError::new("this build of vault-agent has no Discord")
        .suggest("build it with its default features, or set another `[notify] kind`"))
}
