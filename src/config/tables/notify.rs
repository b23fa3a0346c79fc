//! Reads `[notify]`: the notifiers with their settings, quiet hours, tags.
//!
//! The table holds no secret: it names the file that a token, a password or a signing secret comes from, if the
//! environment doesn't hold it.

use std::collections::BTreeMap;

use jiff::civil::Time;
use serde::{Deserialize, Deserializer};

use super::{Validation, ensure, wrong};
use crate::words::words;

settings! {
    /// Notifiers, quiet hours and tags.
    pub struct NotifySettings {
        /// A single notifier, instead of a list with it alone.
        pub kind: Option<NotifyKind>,
        /// The notifiers: each gets the messages, and the first one counts.
        pub kinds: Vec<NotifyKind>,
        /// The hours in which due items wait.
        pub quiet: Option<QuietHours>,
        /// The tag of reminders that are sent in the quiet hours too.
        #[serde(deserialize_with = "tag")]
        pub urgent: String = "urgent".to_owned(),
        /// The notifiers of tagged reminders, in the place of `kinds`.
        #[serde(deserialize_with = "tags")]
        pub tags: BTreeMap<String, Vec<NotifyKind>>,
        /// A file with certificates in PEM form that are trusted besides the public ones.
        pub ca_file: Option<String>,
        /// The ntfy server.
        pub ntfy: NtfySettings,
        /// The mail server.
        pub email: EmailSettings,
        /// The address that signed JSON is sent to.
        pub webhook: WebhookSettings,
    }

    /// An ntfy server: the public one, or one's own.
    #[derive(serde::Serialize)]
    pub struct NtfySettings {
        /// The server.
        pub url: String = "https://ntfy.sh".to_owned(),
        /// The topic that is published to. On a server without access control everyone who knows it may read it.
        pub topic: Option<String>,
        /// A file with the access token, instead of `VAULT_AGENT_NTFY_TOKEN`.
        pub token_file: Option<String>,
    }

    /// A mail server that takes mail from this person.
    #[derive(serde::Serialize)]
    pub struct EmailSettings {
        /// Its name.
        pub server: Option<String>,
        /// Its port; without one, 587 for STARTTLS, 465 for TLS, 25 for neither.
        pub port: Option<u16>,
        /// How the connection is kept private.
        pub security: MailSecurity = MailSecurity::StartTls,
        /// The login; without it there is none.
        pub user: Option<String>,
        /// A file with the password, instead of `VAULT_AGENT_EMAIL_PASSWORD`.
        pub password_file: Option<String>,
        /// The sender; without it, `user`.
        pub from: Option<String>,
        /// The recipients; without them, the sender.
        pub to: Vec<String>,
    }

    /// An address that takes signed JSON.
    #[derive(serde::Serialize)]
    pub struct WebhookSettings {
        /// The address.
        pub url: Option<String>,
        /// A file with the address, where it is a secret itself, instead of `VAULT_AGENT_WEBHOOK_URL`.
        pub url_file: Option<String>,
        /// A file with the secret that signs, instead of `VAULT_AGENT_WEBHOOK_SECRET`.
        pub secret_file: Option<String>,
    }
}

words! {
    /// The kinds of notifiers.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum NotifyKind, as_str {
        /// A line on standard output.
        #[default]
        Console = "console",
        /// The desktop's notification centre.
        Desktop = "desktop",
        /// A Discord bot or webhook.
        Discord = "discord",
        /// A topic of an ntfy server.
        Ntfy = "ntfy",
        /// Mail.
        Email = "email",
        /// Signed JSON to an address of one's own.
        Webhook = "webhook",
    }
}

impl NotifySettings {
    /// The notifiers without a tag, the one that counts first; never empty.
    pub fn by_default(&self) -> Vec<NotifyKind> {
        if self.kinds.is_empty() { vec![self.kind.unwrap_or_default()] } else { self.kinds.clone() }
    }

    /// Every kind that the settings name, each once.
    pub fn all(&self) -> Vec<NotifyKind> {
        let mut all = self.by_default();
        for kind in self.tags.values().flatten() {
            if !all.contains(kind) {
                all.push(*kind);
            }
        }
        all
    }

    /// Whether a kind gets any messages.
    pub fn is_used(&self, kind: NotifyKind) -> bool {
        self.all().contains(&kind)
    }
}

/// Hours of the day, by the vault's clock: from `from` on, until `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct QuietHours {
    /// The first quiet minute.
    pub from: Time,
    /// The first minute that isn't quiet any more.
    pub to: Time,
}

impl TryFrom<String> for QuietHours {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parsed = text.split_once('-').and_then(|(from, to)| Some((minute(from)?, minute(to)?)));
        match parsed {
            Some((from, to)) if from != to => Ok(Self { from, to }),
            _ => Err(format!("`{text}` are no quiet hours: write two times of the day, as in `22:00-07:00`")),
        }
    }
}

fn minute(text: &str) -> Option<Time> {
    let (hour, minute) = text.trim().split_once(':')?;
    let is_number = |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    if !is_number(hour) || minute.len() != 2 || !is_number(minute) {
        return None;
    }
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

/// A tag may be written with or without its `#`.
fn tag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    bare(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

fn tags<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Vec<NotifyKind>>, D::Error> {
    let read = BTreeMap::<String, Vec<NotifyKind>>::deserialize(deserializer)?;
    let mut out = BTreeMap::new();
    for (tag, kinds) in read {
        let tag = bare(&tag).map_err(serde::de::Error::custom)?;
        if kinds.is_empty() {
            return Err(serde::de::Error::custom(format!("the list of `#{tag}` is empty: name a kind")));
        }
        out.insert(tag, kinds);
    }
    Ok(out)
}

fn bare(text: &str) -> Result<String, String> {
    let tag = text.trim().trim_start_matches('#').to_lowercase();
    let fine = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/');
    if tag.is_empty() || !tag.chars().all(fine) {
        return Err(format!("`{text}` is no tag: use letters, digits, `-`, `_` and `/`"));
    }
    Ok(tag)
}

words! {
    /// How the connection to a mail server is kept private.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum MailSecurity, as_str {
        /// Begins unencrypted and is encrypted before anything is sent, or isn't used.
        #[default]
        StartTls = "starttls",
        /// Private from the first byte.
        Tls = "tls",
        /// In the clear: only to a server on this machine.
        None = "none",
    }
}

impl MailSecurity {
    /// The port where nothing else is set.
    pub fn port(self) -> u16 {
        match self {
            Self::StartTls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

/// Whether a server's name means this machine, to which mail may go in the clear.
pub fn is_this_machine(server: &str) -> bool {
    matches!(server, "localhost" | "127.0.0.1" | "::1")
}

/// Whether a text can be a topic of ntfy.
pub fn is_topic(text: &str) -> bool {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(fine)
}

/// Checks values that are fine by themselves; an error names its key.
pub(in crate::config) fn validate(notify: &NotifySettings) -> Validation {
    ensure(
        notify.kind.is_none() || notify.kinds.is_empty(),
        "notify.kinds",
        "both `kind` and `kinds` are set",
        "keep one of them",
    )?;
    for (key, kinds) in std::iter::once(("notify.kinds".to_owned(), &notify.kinds))
        .chain(notify.tags.iter().map(|(tag, kinds)| (format!("notify.tags.{tag}"), kinds)))
    {
        let twice = kinds.iter().enumerate().find(|(at, kind)| kinds[..*at].contains(kind));
        if let Some((_, kind)) = twice {
            let message = format!("`{key}` names `{kind}` twice");
            return wrong(key, message, "name each kind once");
        }
    }
    if notify.is_used(NotifyKind::Ntfy) {
        let Some(topic) = notify.ntfy.topic.as_deref() else {
            return wrong(
                "notify.ntfy",
                "ntfy is to be told, but has no topic",
                "set `topic` in `[notify.ntfy]`: letters, digits, `-` and `_`, hard to guess on a public server",
            );
        };
        let message = format!("`{topic}` can't be a topic");
        ensure(is_topic(topic), "notify.ntfy.topic", message, "use up to 64 letters, digits, `-` and `_`")?;
    }
    let mail = &notify.email;
    if notify.is_used(NotifyKind::Email) {
        let hint = "set `server` in `[notify.email]`";
        ensure(mail.server.is_some(), "notify.email", "mail has no server", hint)?;
        let has_sender = mail.from.is_some() || mail.user.as_deref().is_some_and(|user| user.contains('@'));
        let hint = "set `from` in `[notify.email]` to an address";
        ensure(has_sender, "notify.email", "mail has no sender", hint)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::config::settings::tests::problem;

    #[test]
    fn one_kind_or_several() {
        let notify = |text: &str| Settings::parse(text).unwrap().notify;
        assert_eq!(notify("").by_default(), [NotifyKind::Console]);
        assert_eq!(notify("[notify]\nkind = \"desktop\"\n").by_default(), [NotifyKind::Desktop]);
        let both =
            notify("[notify]\nkinds = [\"discord\", \"desktop\"]\ntags = { \"#Work\" = [\"console\"] }\n");
        assert_eq!(both.by_default(), [NotifyKind::Discord, NotifyKind::Desktop]);
        assert_eq!(both.all(), [NotifyKind::Discord, NotifyKind::Desktop, NotifyKind::Console]);
        assert_eq!(both.tags.keys().collect::<Vec<_>>(), ["work"]);
    }

    #[test]
    fn quiet_hours_are_two_times_of_the_day() {
        let quiet = |text: &str| {
            let text = format!("[notify]\nquiet = \"{text}\"\n");
            Settings::parse(&text).ok().and_then(|settings| settings.notify.quiet)
        };
        let found = quiet("22:00-7:00").unwrap();
        assert_eq!((found.from.hour(), found.to.hour()), (22, 7));
        for wrong in ["", "22-7", "22:00", "24:00-07:00", "22:00-22:00", "22:0-07:00", "22:00-07:00-08:00"] {
            assert_eq!(quiet(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn errors_point_into_the_file() {
        insta::assert_snapshot!(problem("[notify]\nkind = \"desktop\"\nkinds = [\"console\"]\n"), @"Some((3, 9)) both `kind` and `kinds` are set | keep one of them");
        insta::assert_snapshot!(problem("[notify]\nkinds = [\"ntfy\"]\n"), @"None ntfy is to be told, but has no topic | set `topic` in `[notify.ntfy]`: letters, digits, `-` and `_`, hard to guess on a public server");
        insta::assert_snapshot!(problem("[notify]\nkind = \"ntfy\"\n[notify.ntfy]\ntopic = \"a b\"\n"), @"Some((4, 9)) `a b` can't be a topic | use up to 64 letters, digits, `-` and `_`");
        insta::assert_snapshot!(problem("[notify]\nkinds = [\"desktop\", \"desktop\"]\n"), @"Some((2, 9)) `notify.kinds` names `desktop` twice | name each kind once");
        insta::assert_snapshot!(problem("[notify]\nkind = \"email\"\n[notify.email]\nserver = \"x\"\n"), @"Some((3, 1)) mail has no sender | set `from` in `[notify.email]` to an address");
        insta::assert_snapshot!(problem("[notify]\nquiet = \"late\"\n"), @"Some((2, 9)) `late` are no quiet hours: write two times of the day, as in `22:00-07:00` | -");
        insta::assert_snapshot!(problem("[notify]\ntags = { work = [] }\n"), @"Some((2, 8)) the list of `#work` is empty: name a kind | -");
    }
}
