//! Asks the questions of `setup` about mail: the server, the login, the sender and the recipients.

use toml::Value;

use super::{Dialogue, QuestionKey};
use crate::config::{self, EMAIL_PASSWORD_VARIABLE, MailSecurity};

impl Dialogue {
    pub(super) fn take_email(&mut self, step: QuestionKey, typed: &str) -> Result<(), String> {
        match step {
            QuestionKey::EmailServer => {
                let (name, port) = server(typed)?;
                (self.email.server, self.email.port) = (Some(name), port);
            }
            QuestionKey::EmailSecurity => self.email.security = security(typed, self.server())?,
            QuestionKey::EmailUser => {
                self.email.user = Some(typed.to_owned()).filter(|user| !matches!(user.as_str(), "" | "none"));
            }
            QuestionKey::EmailFrom => self.email.from = Some(address(typed)?),
            QuestionKey::EmailTo => {
                let all = typed.split(',').map(str::trim).filter(|one| !one.is_empty());
                self.email.to = all.map(address).collect::<Result<_, _>>()?;
            }
            _ if typed.is_empty() && self.holds(QuestionKey::EmailPassword) => {}
            _ => self.take_secret(QuestionKey::EmailPassword, EMAIL_PASSWORD_VARIABLE, typed)?,
        }
        Ok(())
    }

    /// Hints, the question, and the meaning of an empty answer.
    pub(super) fn ask_email(&self, step: QuestionKey) -> (Vec<String>, &'static str, Option<String>) {
        let email = self.email.clone();
        match step {
            QuestionKey::EmailServer => {
                let port = email.port.map_or_else(String::new, |port| format!(":{port}"));
                let shown = email.server.map(|server| server + &port);
                let lines = vec![
                    "Your provider's help calls it SMTP or outgoing server: smtp.gmail.com, smtp.fastmail.com, ...".to_owned(),
                    "A port may follow, as in `smtp.example.org:465`.".to_owned(),
                ];
                (lines, "Which mail server?", shown)
            }
            QuestionKey::EmailSecurity => {
                let lines = vec!["`starttls` is usual, at port 587; `tls` at port 465.".to_owned()];
                (lines, "How is the connection made private?", Some(self.likely_security().to_owned()))
            }
            QuestionKey::EmailUser => {
                let lines =
                    vec!["Often it is your mail address; `none` where the server needs no login.".to_owned()];
                (lines, "Who logs in there?", email.user)
            }
            QuestionKey::EmailPassword => {
                let file = email.password_file.filter(|_| !self.holds(QuestionKey::EmailPassword));
                (self.password_lines(), "The password, or a file that holds it (it isn't shown)?", file)
            }
            QuestionKey::EmailFrom => (Vec::new(), "Which address does it write from?", email.from),
            _ => {
                let to =
                    if email.to.is_empty() { email.from.or(email.user) } else { Some(email.to.join(", ")) };
                (Vec::new(), "Which address does it write to?", to)
            }
        }
    }

    fn server(&self) -> &str {
        self.email.server.as_deref().unwrap_or_default()
    }

    fn likely_security(&self) -> &'static str {
        let set = &self.folder.settings.notify.email;
        let is_set = set.server == self.email.server && set.port == self.email.port;
        match self.email.port {
            _ if is_set => set.security.as_str(),
            Some(465) => MailSecurity::Tls.as_str(),
            Some(25) if config::is_this_machine(self.server()) => MailSecurity::None.as_str(),
            _ => MailSecurity::StartTls.as_str(),
        }
    }

    fn password_lines(&self) -> Vec<String> {
        let mut lines =
            vec!["Where you log in with two steps, the provider wants an app password: its account pages make one.".to_owned()];
        lines.extend(self.enter_line(self.holds(QuestionKey::EmailPassword), EMAIL_PASSWORD_VARIABLE));
        lines
    }

    /// The settings that follow from the answers. The usual port of the chosen security isn't written.
    pub(super) fn email_settings(&self, set: &config::EmailSettings) -> config::EmailSettings {
        let (typed, usual) = (self.email.port, self.email.security.port());
        let is_usual = set.port.is_none() && typed.is_none_or(|port| port == usual);
        config::EmailSettings { port: (!is_usual).then(|| typed.unwrap_or(usual)), ..self.email.clone() }
    }

    pub(super) fn email_values(&self, set: &config::EmailSettings, values: &mut Vec<(&'static str, Value)>) {
        let new = self.email_settings(set);
        let text =
            |new: &Option<String>, set: &Option<String>| new.clone().filter(|_| new != set).map(Value::from);
        let sender = new.from.clone().or_else(|| new.user.clone());
        let to = (new.to != set.to && !(set.to.is_empty() && new.to.as_slice() == sender.as_slice()))
            .then(|| Value::Array(new.to.iter().map(|to| to.clone().into()).collect()));
        let port = new.port.filter(|_| new.port != set.port).map(|port| Value::Integer(port.into()));
        let security = (new.security != set.security).then(|| new.security.as_str().into());
        let all = [
            ("notify.email.server", text(&new.server, &set.server)),
            ("notify.email.port", port),
            ("notify.email.security", security),
            ("notify.email.user", text(&new.user, &set.user)),
            ("notify.email.from", text(&new.from, &set.from)),
            ("notify.email.to", to),
        ];
        values.extend(all.into_iter().filter_map(|(key, value)| Some((key, value?))));
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
