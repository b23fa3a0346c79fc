//! The desktop notifier: the session's notification centre (freedesktop over D-Bus, macOS).
//!
//! A notification centre has no memory that can be asked, so its promise after a crash is "at least
//! once". Without a desktop session it refuses, and the message falls back to the console.

use async_trait::async_trait;
use jiff::Timestamp;

use super::notifier::{Lookup, MessageKind, Notifier, Outgoing, SendOutcome};

/// Shows notifications on the desktop.
#[derive(Debug, Clone, Copy, Default)]
pub struct Desktop;

/// The first line of a notification.
fn summary(message: &Outgoing) -> &'static str {
    match message.kind {
        MessageKind::Reminder => "Reminder",
        MessageKind::Commitment => "Follow-up",
        MessageKind::Task => "Task",
        MessageKind::Digest => "While you were away",
        MessageKind::Confirmation => "Reminder changed",
        MessageKind::Notice | MessageKind::Answer | MessageKind::Approval | MessageKind::Routine => {
            "vault-agent"
        }
    }
}

/// The body without the opening word that the summary says already, escaped: freedesktop servers
/// may read markup in it.
fn body(message: &Outgoing) -> String {
    let text = &message.text;
    let text = text.strip_prefix("Reminder: ").or_else(|| text.strip_prefix("Follow-up: "));
    let text = text.or_else(|| message.text.strip_prefix("Task: ")).unwrap_or(&message.text);
    if cfg!(target_os = "macos") {
        return text.to_owned();
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[async_trait]
impl Notifier for Desktop {
    fn name(&self) -> &'static str {
        "desktop"
    }

    async fn send(&self, message: &Outgoing) -> SendOutcome {
        if let Some(reason) = no_session() {
            return SendOutcome::Refused { reason };
        }
        let mut notification = notify_rust::Notification::new();
        notification.appname("vault-agent").summary(summary(message)).body(&body(message));
        match show(notification).await {
            Ok(()) => SendOutcome::Sent { message_id: None },
            Err(reason) => SendOutcome::Retry { after: None, reason },
        }
    }

    async fn find(&self, _: &Outgoing, _: Timestamp) -> Lookup {
        Lookup::CannotAsk
    }
}

/// Why there is no desktop to show anything on, if so.
#[cfg(all(unix, not(target_os = "macos")))]
fn no_session() -> Option<String> {
    let named = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    let socket = std::env::var_os("XDG_RUNTIME_DIR").map(|dir| std::path::Path::new(&dir).join("bus"));
    if named || socket.is_some_and(|path| path.exists()) {
        return None;
    }
    Some("there is no desktop session here: set `[notify] kind = \"console\"` or `\"discord\"`".to_owned())
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn no_session() -> Option<String> {
    None
}

#[cfg(all(unix, not(target_os = "macos")))]
async fn show(notification: notify_rust::Notification) -> Result<(), String> {
    notification
        .show_async()
        .await
        .map(|_| ())
        .map_err(|error| format!("the desktop doesn't answer: {error}"))
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
async fn show(notification: notify_rust::Notification) -> Result<(), String> {
    tokio::task::spawn_blocking(move || notification.show().map(|_| ()).map_err(|error| error.to_string()))
        .await
        .map_err(|error| error.to_string())?
        .map_err(|error| format!("the desktop doesn't answer: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_escaped_and_without_its_opening_word() {
        let message = Outgoing {
            reply_to: None,
            key: String::new(),
            nonce: String::new(),
            chunk: 0,
            chunks: 1,
            kind: MessageKind::Reminder,
            text: "Reminder: a < b & c".to_owned(),
            scope: None,
            facts: Vec::new(),
        };
        assert_eq!(summary(&message), "Reminder");
        if !cfg!(target_os = "macos") {
            assert_eq!(body(&message), "a &lt; b &amp; c");
        }
    }
}
