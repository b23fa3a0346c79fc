//! Sends one mail for each notification, through the person's own mail server.
//!
//! Each mail has its own connection, which is encrypted before the login. Only a server on this machine may be used
//! without encryption. A mail server can't be asked for earlier mails, so a mail may come twice. All attempts have the
//! same `Message-ID`, by which many servers and mail programs drop the second copy.
//!
//! A failure before the text is handed over means "not sent". A missing answer after it, or a time-out of the whole
//! attempt, means "unknown".

use std::time::{Duration, SystemTime};

use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use secrecy::{ExposeSecret, SecretString};

use super::NotifierContext;
use super::http::unusable_authority;
use crate::config::{self, ConfigError, MailSecurity};
use crate::deliver::prelude::*;
use crate::format::shortened;

/// The longest that connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// The longest that a mail may take in all.
const ANSWER: Duration = Duration::from_secs(25);
/// The longest subject, in characters.
const SUBJECT: usize = 120;

/// Sends mail.
pub struct Email {
    server: String,
    port: u16,
    security: MailSecurity,
    tls: Option<TlsParameters>,
    login: Option<(String, SecretString)>,
    from: Mailbox,
    to: Vec<Mailbox>,
    context: NotifierContext,
}

impl Email {
    /// Through the server of the settings.
    ///
    /// # Errors
    /// An address is invalid, a password is missing, or the connection to another machine would be unencrypted.
    pub fn new(
        settings: &config::EmailSettings,
        password: Option<SecretString>,
        context: NotifierContext,
    ) -> Result<Self, ConfigError> {
        let server = settings.server.clone().unwrap_or_default();
        let near = config::is_this_machine(&server);
        if settings.security == MailSecurity::None && !near {
            return Err(ConfigError::new(format!("mail would travel to `{server}` in the clear"))
                .suggest("set `security` in `[notify.email]` to \"starttls\" or \"tls\""));
        }
        let from = settings.from.as_deref().or(settings.user.as_deref()).unwrap_or_default();
        let from = mailbox(from)?;
        let to = match settings.to.as_slice() {
            [] => vec![from.clone()],
            some => some.iter().map(|address| mailbox(address)).collect::<Result<_, _>>()?,
        };
        let login = match (&settings.user, password) {
            (None, _) => None,
            (Some(user), Some(password)) => Some((user.clone(), password)),
            (Some(user), None) => {
                return Err(ConfigError::new(format!("there is no password for `{user}` at `{server}`"))
                    .suggest(format!(
                        "set `{}`, or `password_file` in `[notify.email]`",
                        config::EMAIL_PASSWORD_VARIABLE
                    )));
            }
        };
        let (security, port) = (settings.security, settings.port.unwrap_or(settings.security.port()));
        let tls = match security {
            MailSecurity::None => None,
            MailSecurity::StartTls | MailSecurity::Tls => Some(tls(&server, context.authority.as_deref())?),
        };
        Ok(Self { server, port, security, tls, login, from, to, context })
    }

    /// The mail as it goes over the wire.
    fn mail(&self, message: &OutgoingMessage) -> Result<Vec<u8>, SendOutcome> {
        let domain = self.from.email.domain();
        let now = SystemTime::from(self.context.clock.now());
        let mut builder = Message::builder()
            .from(self.from.clone())
            .subject(subject(message))
            .message_id(Some(format!("<{}.vault-agent@{domain}>", message.nonce)))
            .date(now)
            .header(ContentType::TEXT_PLAIN)
            .raw_header(raw("Auto-Submitted", "auto-generated"));
        for to in &self.to {
            builder = builder.to(to.clone());
        }
        if self.context.rules.is_urgent(&message.facts) {
            builder = builder.raw_header(raw("Importance", "high")).raw_header(raw("X-Priority", "1"));
        }
        let link = self.context.links.of(message).map(|link| format!("\n\n{link}\n")).unwrap_or_default();
        let mail = builder.body(format!("{}{link}", message.text.trim_end()));
        mail.map(|mail| mail.formatted()).map_err(|error| SendOutcome::Refused { reason: error.to_string() })
    }

    /// A connection with the configured encryption, logged in.
    async fn connect(&self) -> Result<AsyncSmtpConnection, SendOutcome> {
        let hello = ClientId::default();
        let first = if self.security == MailSecurity::Tls { self.tls.clone() } else { None };
        let server = (self.server.as_str(), self.port);
        let failed = |error: lettre::transport::smtp::Error| self.failed(&error);
        let mut connection = AsyncSmtpConnection::connect_tokio1(server, Some(CONNECT), &hello, first, None)
            .await
            .map_err(failed)?;
        if let (MailSecurity::StartTls, Some(tls)) = (self.security, &self.tls) {
            if !connection.can_starttls() {
                let reason = format!("`{}` offers no STARTTLS: set `security = \"tls\"`", self.server);
                return Err(SendOutcome::Refused { reason });
            }
            connection.starttls(tls.clone(), &hello).await.map_err(failed)?;
        }
        if let Some((user, password)) = &self.login {
            let credentials = Credentials::new(user.clone(), password.expose_secret().to_owned());
            connection.auth(DEFAULT_MECHANISMS, &credentials).await.map_err(failed)?;
        }
        Ok(connection)
    }

    /// Runs the dialogue up to the server's answer that it waits for the text; until then nothing was sent.
    async fn introduce(
        &self,
        connection: &mut AsyncSmtpConnection,
        is_ascii: bool,
    ) -> Result<(), SendOutcome> {
        let mut options = Vec::new();
        let mut addresses = std::iter::once(&self.from).chain(&self.to);
        if !addresses.all(|address| address.email.to_string().is_ascii()) {
            options.push(MailParameter::SmtpUtfEight);
        }
        if !is_ascii && connection.server_info().supports_feature(Extension::EightBitMime) {
            options.push(MailParameter::Body(MailBodyParameter::EightBitMime));
        }
        let failed = |error: lettre::transport::smtp::Error| self.failed(&error);
        let from = Some(self.from.email.clone());
        connection.command(Mail::new(from, options)).await.map_err(failed)?;
        // An address that is refused for good doesn't keep the mail from the others.
        let mut refused = Vec::new();
        for to in &self.to {
            match connection.command(Rcpt::new(to.email.clone(), Vec::new())).await {
                Err(error) if error.is_permanent() => refused.push(failed(error)),
                outcome => drop(outcome.map_err(failed)?),
            }
        }
        if let Some(SendOutcome::Refused { reason }) = refused.first() {
            tracing::error!("{} of {} addresses get no mail: {reason}", refused.len(), self.to.len());
        }
        if refused.len() == self.to.len() {
            return Err(refused.remove(0));
        }
        connection.command(Data).await.map(drop).map_err(failed)
    }

    /// The outcome of a failed step before the text.
    fn failed(&self, error: &lettre::transport::smtp::Error) -> SendOutcome {
        let reason = format!("the mail server `{}`: {}", self.server, words(error));
        match error.is_permanent() {
            true => SendOutcome::Refused { reason },
            false => SendOutcome::Retry { after: None, reason },
        }
    }

    async fn deliver(&self, message: &OutgoingMessage) -> Result<SendOutcome, SendOutcome> {
        let mail = self.mail(message)?;
        let mut connection = self.connect().await?;
        self.introduce(&mut connection, mail.is_ascii()).await?;
        fail::fail_point!("email::before-text");
        let outcome = match connection.message(&mail).await {
            Ok(_) => SendOutcome::Sent { message_id: None },
            Err(error) if error.status().is_some() => self.failed(&error),
            Err(error) => SendOutcome::Unknown {
                reason: format!("the mail server `{}` gave no answer: {}", self.server, words(&error)),
            },
        };
        // It has the mail, or not; its goodbye changes nothing.
        let _ = tokio::time::timeout(Duration::from_secs(1), connection.quit()).await;
        Ok(outcome)
    }
}

fn tls(server: &str, authority: Option<&[u8]>) -> Result<TlsParameters, ConfigError> {
    let mut builder = TlsParameters::builder(server.to_owned());
    if let Some(pem) = authority {
        let certificate = Certificate::from_pem(pem).map_err(unusable_authority)?;
        builder = builder.add_root_certificate(certificate);
    }
    builder.build().map_err(|error| ConfigError::new(format!("there is no TLS for `{server}`: {error}")))
}

fn mailbox(address: &str) -> Result<Mailbox, ConfigError> {
    address.parse().map_err(|error| {
        ConfigError::new(format!("`{address}` in `[notify.email]` is no mail address: {error}"))
            .suggest("write `name@example.org` or `A Name <name@example.org>`")
    })
}

fn raw(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value.to_owned())
}

/// The first line of the message, without anything that a header could end with.
fn subject(message: &OutgoingMessage) -> String {
    let line = message.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    shortened(line.trim(), SUBJECT).into_owned()
}

/// An error with its cause, on one line.
fn words(error: &lettre::transport::smtp::Error) -> String {
    error.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[async_trait]
impl Notifier for Email {
    fn name(&self) -> &'static str {
        "email"
    }

    fn limit(&self) -> usize {
        usize::MAX
    }

    async fn send(&self, message: &OutgoingMessage) -> SendOutcome {
        let answer = tokio::time::timeout(ANSWER, self.deliver(message)).await;
        let (Ok(outcome) | Err(outcome)) = answer.unwrap_or_else(|_| {
            let reason =
                format!("the mail server `{}` did not answer in {} s", self.server, ANSWER.as_secs());
            Err(SendOutcome::Unknown { reason })
        });
        outcome
    }
}
