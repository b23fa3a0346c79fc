//! Holds the answers given so far to the questions of `setup` about mail and ntfy, and a secret.

use secrecy::SecretString;

use super::SecretSource;
use crate::config::{self, MailSecurity};

/// A secret, and where it is kept; none where it was typed and has to be written.
#[derive(Debug, Clone)]
pub(super) struct HeldSecret {
    pub value: Option<SecretString>,
    pub kept: Option<SecretSource>,
}

/// The answers about mail.
#[derive(Debug, Default)]
pub(super) struct Email {
    pub server: String,
    pub port: Option<u16>,
    pub security: MailSecurity,
    pub user: Option<String>,
    pub from: Option<String>,
    pub to: Vec<String>,
}

impl Email {
    /// The settings that the answers come to, with what was not asked as it is set.
    pub(super) fn settings(&self, set: &config::Email) -> config::Email {
        let usual = set.port.is_none() && self.port.is_none_or(|port| port == self.security.port());
        config::Email {
            server: Some(self.server.clone()),
            port: if usual { None } else { Some(self.port.unwrap_or(self.security.port())) },
            security: self.security,
            user: self.user.clone(),
            from: self.from.clone().or_else(|| set.from.clone()),
            to: self.to.clone(),
            password_file: set.password_file.clone(),
        }
    }

    /// Whether the sender has to be asked for: the login is no address.
    pub(super) fn needs_sender(&self) -> bool {
        !self.user.as_deref().is_some_and(|user| user.contains('@'))
    }
}

/// The answers about ntfy.
#[derive(Debug, Default)]
pub(super) struct Ntfy {
    pub url: String,
    pub topic: String,
}
