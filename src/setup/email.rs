//! Asks the questions of `setup` about mail: the server, its encryption, the login, the sender and the recipients.

use super::dialogue::{Dialogue, EndOfQuestions};
use super::{QuestionKey, SetupIo};
use crate::config::{self, EMAIL_PASSWORD_VARIABLE, EmailSettings, MailSecurity};

impl<I: SetupIo> Dialogue<'_, I> {
    pub(super) fn ask_email(&mut self, failed: Option<String>) -> Result<(), EndOfQuestions<I::End>> {
        let before = self.settings.notify.email.clone();
        let port = before.port.map_or_else(String::new, |port| format!(":{port}"));
        let lines = vec![
            "Your provider's help calls it SMTP or outgoing server: smtp.gmail.com, smtp.fastmail.com, ..."
                .to_owned(),
            "A port may follow, as in `smtp.example.org:465`.".to_owned(),
        ];
        let text = (lines, "Which mail server?", before.server.map(|server| server + &port));
        let (name, port) = self.ask(QuestionKey::EmailServer, text, failed, |_, typed| server(typed))?;
        let likely = likely_security(&self.folder.settings.notify.email, &name, port).as_str().to_owned();
        let lines = vec!["`starttls` is usual, at port 587; `tls` at port 465.".to_owned()];
        let text = (lines, "Encryption of the connection?", Some(likely));
        let security = self.ask(QuestionKey::EmailSecurity, text, None, |_, typed| security(typed, &name))?;
        let lines = vec!["Often it is your mail address; `none` where the server needs no login.".to_owned()];
        let text = (lines, "User name for the login?", before.user);
        let user = self.ask(QuestionKey::EmailUser, text, None, |_, typed| Ok(typed.to_owned()))?;
        let user = Some(user).filter(|user| !matches!(user.as_str(), "" | "none"));
        match user {
            Some(_) => self.ask_password(before.password_file)?,
            None => drop(self.secrets.remove(&QuestionKey::EmailPassword)),
        }
        let mut from = before.from;
        // A login that is an address is the sender, too.
        if !user.as_deref().is_some_and(|user| user.contains('@')) {
            let text = (Vec::new(), "Sender address?", from);
            from = Some(self.ask(QuestionKey::EmailFrom, text, None, |_, typed| address(typed))?);
        }
        let to =
            if before.to.is_empty() { from.clone().or(user.clone()) } else { Some(before.to.join(", ")) };
        let text = (Vec::new(), "Recipient address?", to);
        let to = self.ask(QuestionKey::EmailTo, text, None, |_, typed| {
            typed.split(',').map(str::trim).filter(|one| !one.is_empty()).map(address).collect()
        })?;
        let email = &mut self.settings.notify.email;
        *email = EmailSettings { server: Some(name), port, security, user, from, to, ..email.clone() };
        Ok(())
    }

    fn ask_password(&mut self, file: Option<String>) -> Result<(), EndOfQuestions<I::End>> {
        let is_held = self.holds(QuestionKey::EmailPassword);
        let mut lines =
            vec!["Where you log in with two steps, the provider wants an app password: its account pages make one.".to_owned()];
        lines.extend(self.machine.enter_line(is_held, EMAIL_PASSWORD_VARIABLE));
        let ask = "The password, or a file that contains it (hidden while typing)?";
        let text = (lines, ask, file.filter(|_| !is_held));
        self.ask(QuestionKey::EmailPassword, text, None, |this, typed| match typed {
            "" if is_held => Ok(()),
            typed => this.take_secret(QuestionKey::EmailPassword, EMAIL_PASSWORD_VARIABLE, typed),
        })
    }
}

/// The settings that follow from the answers. What is usual isn't written: the port of the chosen security, and mail to
/// the sender alone.
pub(super) fn without_usual(new: EmailSettings, set: &EmailSettings) -> EmailSettings {
    let usual = new.security.port();
    let is_usual = set.port.is_none() && new.port.is_none_or(|port| port == usual);
    let port = (!is_usual).then(|| new.port.unwrap_or(usual));
    let is_to_sender = new.to.len() == 1 && new.to.first() == new.from.as_ref().or(new.user.as_ref());
    let to = if set.to.is_empty() && is_to_sender { Vec::new() } else { new.to };
    EmailSettings { port, to, ..new }
}

/// The security that the settings name for this server, else the usual one of the port.
fn likely_security(set: &EmailSettings, server: &str, port: Option<u16>) -> MailSecurity {
    match port {
        _ if set.server.as_deref() == Some(server) && set.port == port => set.security,
        Some(465) => MailSecurity::Tls,
        Some(25) if config::is_this_machine(server) => MailSecurity::None,
        _ => MailSecurity::StartTls,
    }
}

/// A server's name, and the port that follows it.
fn server(typed: &str) -> Result<(String, Option<u16>), String> {
    let (name, port) = match typed.rsplit_once(':') {
        // An address of IPv6 has colons of its own, and a web address is none of a mail server.
        Some((name, port)) if port.starts_with("//") || (name.contains(':') && !name.ends_with(']')) => {
            (typed, None)
        }
        Some((name, port)) => {
            let number = port.parse().ok().filter(|port| *port > 0);
            (
                name,
                Some(number.ok_or_else(|| {
                    format!("`{port}` is no port: a number from 1 to 65535 follows the colon")
                })?),
            )
        }
        None => (typed, None),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '@')) {
        return Err(format!("`{typed}` is no server's name: type one as in `smtp.example.org`"));
    }
    Ok((name.to_owned(), port))
}

fn security(typed: &str, server: &str) -> Result<MailSecurity, String> {
    match typed.to_lowercase().as_str() {
        "starttls" => Ok(MailSecurity::StartTls),
        "tls" | "ssl" => Ok(MailSecurity::Tls),
        "none" if config::is_this_machine(server) => Ok(MailSecurity::None),
        "none" => Err(format!("mail would travel to `{server}` in the clear: type `starttls` or `tls`")),
        _ => Err("type `starttls` or `tls`".to_owned()),
    }
}

/// Whether a text can be an address; the mail library has the last word.
fn address(typed: &str) -> Result<String, String> {
    let parts = typed.rsplit_once('@').filter(|(before, after)| !before.is_empty() && !after.is_empty());
    match parts {
        Some(_) => Ok(typed.to_owned()),
        None => Err(format!("`{typed}` is no mail address: type one as in `me@example.org`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_may_follow_a_server() {
        let name = |text: &str| server(text).map(|(name, port)| format!("{name} {port:?}"));
        for (text, read) in [
            ("smtp.example.org", "smtp.example.org None"),
            ("smtp.example.org:465", "smtp.example.org Some(465)"),
            ("::1", "::1 None"),
            ("[::1]:25", "::1 Some(25)"),
        ] {
            assert_eq!(name(text).as_deref(), Ok(read));
        }
        for wrong in ["", ":25", "smtp.example.org:", "x:0", "x:70000", "smtps://x", "me@example.org", "a b"]
        {
            assert!(server(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn nothing_travels_in_the_clear_to_another_machine() {
        assert_eq!(security("SSL", "x.org"), Ok(MailSecurity::Tls));
        assert_eq!(security("none", "localhost"), Ok(MailSecurity::None));
        assert!(security("none", "x.org").is_err() && security("", "x.org").is_err());
        assert!(address("me@x.org").is_ok() && address("me").is_err() && address("@x").is_err());
    }
}
