//! Shows notifications in the desktop's notification centre, through a program of the desktop.
//!
//! On macOS the program is `osascript`. Elsewhere it is `notify-send`, or else `gdbus`; both speak to the freedesktop
//! service over D-Bus, so vault-agent needs no D-Bus library. A text is passed to the program as an argument of its
//! own, never as code. A notification centre can't be asked for earlier messages, so a notification may be shown twice
//! after a crash.
//!
//! Without a desktop session or without such a program, the notifier refuses, and the message falls back to the
//! console. If other machines could show the message, it waits for them instead.

use std::process::Stdio;

use tokio::process::Command;

use crate::config::is_executable;
use crate::deliver::prelude::*;
use crate::deliver::words::compose;

/// Shows notifications on the desktop.
#[derive(Debug, Clone, Copy, Default)]
pub struct Desktop {
    /// Whether other machines can show what this one can't, so that no message falls back to the console.
    pub has_others: bool,
}

impl Desktop {
    /// What this process lacks to show anything, if so.
    pub fn missing() -> Option<&'static str> {
        let has_program = || programs("", "").iter().any(|(program, _)| is_executable(program));
        no_session().or_else(|| (!has_program()).then_some(NO_PROGRAM))
    }
}

/// The body without the opening word that the summary says already, escaped: freedesktop servers
/// may read markup in it.
fn body(message: &OutgoingMessage) -> String {
    let text = compose::without_opening(&message.text).replace('\0', "");
    if cfg!(target_os = "macos") {
        return text;
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[async_trait]
impl Notifier for Desktop {
    fn name(&self) -> &'static str {
        "desktop"
    }

    fn obstacle(&self) -> Option<&str> {
        self.has_others.then(Self::missing)?
    }

    async fn send(&self, message: &OutgoingMessage) -> SendOutcome {
        if let Some(reason) = self.obstacle() {
            return SendOutcome::Retry { after: None, reason: reason.to_owned() };
        }
        if let Some(reason) = no_session() {
            return SendOutcome::Refused { reason: reason.to_owned() };
        }
        for (program, arguments) in programs(&compose::title(message), &body(message)) {
            match show(program, &arguments).await {
                Ok(true) => return SendOutcome::Sent { message_id: None },
                Ok(false) => {}
                Err(reason) => return SendOutcome::Retry { after: None, reason },
            }
        }
        SendOutcome::Refused { reason: NO_PROGRAM.to_owned() }
    }
}

const NO_PROGRAM: &str = "there is neither `notify-send` nor `gdbus` here to show a notification with: install \
                          `libnotify-bin` (Debian, Ubuntu) or `libnotify`, or set another `[notify] kind`";

/// The programs that can show a notification, in the order in which they are tried, with their arguments.
fn programs(summary: &str, body: &str) -> Vec<(&'static str, Vec<String>)> {
    if cfg!(target_os = "macos") {
        let script =
            ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];
        let mut arguments: Vec<String> =
            script.iter().flat_map(|line| ["-e".to_owned(), (*line).to_owned()]).collect();
        arguments.extend(["--".to_owned(), summary.to_owned(), body.to_owned()]);
        return vec![("osascript", arguments)];
    }
    let notify_send = ["--app-name=vault-agent", "--", summary, body];
    let (title, text) = (variant(summary), variant(body));
    let call = "call --session --dest org.freedesktop.Notifications --object-path /org/freedesktop/Notifications \
                --method org.freedesktop.Notifications.Notify -- 'vault-agent' 0 ''";
    let gdbus: Vec<&str> = call.split(' ').chain([title.as_str(), &text, "[]", "{}", "-1"]).collect();
    let owned = |arguments: &[&str]| arguments.iter().map(|&argument| argument.to_owned()).collect();
    vec![("notify-send", owned(&notify_send)), ("gdbus", owned(&gdbus))]
}

/// A string in the text form of GVariant, which `gdbus` reads its arguments in.
fn variant(text: &str) -> String {
    let mut out = String::from("'");
    for character in text.chars() {
        match character {
            '\\' | '\'' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

/// Runs a program that shows a notification. False if there is no such program.
async fn show(program: &str, arguments: &[String]) -> Result<bool, String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = match command.kill_on_drop(true).output().await {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(format!("`{program}` can't be started: {error}")),
    };
    if output.status.success() {
        return Ok(true);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it says nothing");
    Err(format!("the desktop doesn't take notifications: `{program}`: {said}"))
}

/// Why there is no desktop to show anything on, if so.
#[cfg(all(unix, not(target_os = "macos")))]
fn no_session() -> Option<&'static str> {
    let named = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    let socket = std::env::var_os("XDG_RUNTIME_DIR").map(|dir| std::path::Path::new(&dir).join("bus"));
    if named || socket.is_some_and(|path| path.exists()) {
        return None;
    }
    Some("there is no desktop session here: set `[notify] kind = \"console\"` or `\"discord\"`")
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn no_session() -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deliver::MessageKind;

    #[test]
    fn a_body_is_escaped_and_without_its_opening_word() {
        let message = OutgoingMessage::whole(MessageKind::Reminder, "", "Reminder: a < b & c");
        assert_eq!(compose::title(&message), "Reminder");
        if !cfg!(target_os = "macos") {
            assert_eq!(body(&message), "a &lt; b &amp; c");
        }
    }

    #[test]
    fn text_can_end_no_string_of_gdbus() {
        assert_eq!(variant("it's \\ \"so\"\nand 'so'"), r#"'it\'s \\ "so"\nand \'so\''"#);
    }
}
