//! `kill -9` of the real binary between a server's taking a message and the journal's knowing of it.

use std::process::Stdio;

use jiff::SignedDuration;

use crate::deliver::servers::{Fault, MailFault, MailServer, NtfyServer, Web};
use crate::deliver::world::{id, line};
use crate::support::{TestVault, until};

const NOW: &str = "2026-12-01T09:30:00Z";

/// A vault whose binary tells one kind.
fn vault(kind: &str, more: &str) -> TestVault {
    let mut vault = TestVault::new(&format!(
        "//- now: {NOW}\n//- /vault-agent.toml\n[notify]\nkind = \"{kind}\"\n{more}\n//- /Reminders.md\n{}",
        line("2026-12-01", "09:30", "none", "Call", &id('A'))
    ));
    vault.env("VAULT_AGENT_WEBHOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    vault.env("VAULT_AGENT_EMAIL_PASSWORD", "passw0rd");
    vault
}

/// `kill -9` of a tick when the server has the message and the journal doesn't know; then ticks until it is told.
fn killed_after_sending(vault: &TestVault, has_it: impl Fn() -> bool) {
    let mut child = vault.command(&["tick"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the server has the message", has_it);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(vault.read("Reminders.md").contains("Call"), "the line is there until the journal knows");
    vault.advance(SignedDuration::from_secs(60));
    let _ = vault.run(&["tick"]).ok();
    assert!(!vault.read("Reminders.md").contains("Call"));
}

#[test]
fn killed_between_ntfy_and_the_journal_it_is_told_once() {
    let server = NtfyServer::start(true, true);
    server.web.fault(Fault::DoneAndSilent);
    let vault = vault("ntfy", &format!("[notify.ntfy]\nurl = \"{}\"\ntopic = \"t\"", server.web.url));
    killed_after_sending(&vault, || !server.texts().is_empty());
    assert_eq!(server.texts(), ["Call"]);
}

#[test]
fn killed_between_the_webhook_and_the_journal_it_is_told_again_under_its_id() {
    let web = Web::start(|_| (200, String::new()));
    web.fault(Fault::DoneAndSilent);
    let vault = vault("webhook", &format!("[notify.webhook]\nurl = \"{}\"", web.url));
    killed_after_sending(&vault, || !web.asked().is_empty());
    let ids: Vec<_> =
        web.asked().iter().map(|asked| asked.header("webhook-id").unwrap().to_owned()).collect();
    assert_eq!((ids.len(), &ids[0]), (2, &ids[1]));
}

#[test]
fn killed_between_the_mail_server_and_the_journal_it_is_told_again_under_its_id() {
    let server = MailServer::start();
    server.faults.lock().unwrap().push_back(MailFault::TakesAndKeepsSilent);
    let more = format!(
        "[notify.email]\nserver = \"127.0.0.1\"\nport = {}\nsecurity = \"none\"\nuser = \"me@example.org\"",
        server.port
    );
    let vault = vault("email", &more);
    killed_after_sending(&vault, || !server.mails().is_empty());
    let ids: Vec<_> = server
        .mails()
        .iter()
        .map(|mail| mail.lines().find(|line| line.starts_with("Message-ID:")).unwrap().to_owned())
        .collect();
    assert_eq!((ids.len(), &ids[0]), (2, &ids[1]));
}
