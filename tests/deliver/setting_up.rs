//! `setup` with ntfy, mail and a signed webhook: the dialogue in a real terminal and from a file, against servers that
//! speak their protocols and fail.

use crate::deliver::servers::{Fault, MailFault, MailServer, NtfyServer, Web};
use crate::pty::Pty;
use crate::support::prelude::*;

/// A machine in Tokyo with nothing set up.
pub fn machine() -> TestVault {
    let mut vault = TestVault::new("//- now: 2026-07-01T09:28:40Z\n");
    vault.env("TZ", "Asia/Tokyo");
    vault.env("OLLAMA_HOST", "http://127.0.0.1:1");
    vault
}

/// A file of the vault `v` in the home.
pub fn read(vault: &TestVault, note: &str) -> String {
    std::fs::read_to_string(vault.home().join("v").join(note)).unwrap()
}

/// A command in that vault.
pub fn in_v(vault: &TestVault, args: &[&str]) -> Run {
    vault.run(&[&["--vault", vault.home().join("v").to_str().unwrap()], args].concat())
}

/// A command in a terminal, in the home.
pub fn start(vault: &TestVault, args: &[&str]) -> Pty {
    let mut command = vault.command(args);
    command.current_dir(vault.home());
    Pty::start(&command)
}

/// Up to the question after the list of who is told.
pub fn begin(vault: &TestVault, told: &str) -> Pty {
    let mut at = start(vault, &["setup"]);
    at.answer("Which folder?", "v");
    at.answer("Which time zone", "");
    at.answer("How should reminders reach you?", told);
    at
}

/// From the questions that aren't about who is told to the end: what stood on the terminal since, and all that stood
/// there. A vault that is there may be on another machine, too.
pub fn finish(mut at: Pty, is_there: bool) -> (String, String) {
    if cfg!(feature = "assistant") {
        at.answer("Which brain answers?", "none");
    }
    if is_there {
        at.answer("Is this vault on another machine, too? [no]", "");
    }
    let shown = at.answer("Install it as a service?", "no") + &at.answer("Write this?", "yes");
    let (code, screen) = at.wait();
    assert_eq!(code, Some(0), "{screen}");
    (shown, screen)
}

/// `setup` for the vault `v` with these answers of a file.
pub fn answers(vault: &TestVault, text: &str) -> Run {
    std::fs::write(vault.home().join("answers.toml"), format!("vault = \"v\"\n{text}")).unwrap();
    Run::of(vault.command(&["setup", "--answers", "answers.toml"]).current_dir(vault.home()))
}

pub fn settings(vault: &TestVault) -> String {
    read(vault, "vault-agent.toml")
}

pub fn has_lines(vault: &TestVault, lines: &[&str]) {
    let settings = settings(vault);
    lines.iter().for_each(|line| assert!(settings.lines().any(|one| one == *line), "{line}\n{settings}"));
}

/// A secret's file: its text, and that nobody else can read it.
pub fn secret(vault: &TestVault, name: &str) -> String {
    let file = vault.home().join(".config/vault-agent").join(name);
    assert_eq!(mode(&file), 0o600);
    std::fs::read_to_string(file).unwrap().trim_end().to_owned()
}

/// A vault tells what is due by what was set up: its sample reminder.
fn tick(vault: &TestVault) -> Run {
    in_v(vault, &["tick", "--now", "2026-07-01T09:29:30Z"])
}

#[test]
fn ntfy_is_asked_for_tried_and_told() {
    let (server, vault) = (NtfyServer::start(true, true), machine());
    let mut at = begin(&vault, "ntfy");
    at.answer("Which ntfy server? [https://ntfy.sh]", "ntfy.sh");
    assert!(at.answer("Which ntfy server?", "http://127.0.0.1:1").contains("write `https://` before"));
    contains_all(at.answer("Which topic? [vault-", "a b"), &["127.0.0.1:1/vault-"]);
    assert!(at.answer("Which topic?", "t").contains("`a b` can't be a topic"));
    at.answer("Access token, if the server needs one (hidden while typing)?", "tk_secret");
    // Nobody is there: its questions come again, with what was typed.
    let said = at.answer("Which ntfy server? [http://127.0.0.1:1]", &server.web.url);
    contains_all(said, &["the ntfy server can't be reached", "`anyway` keeps it"]);
    server.web.fault(Fault::Status(403, ""));
    at.answer("Which topic? [t]", "");
    assert!(at.answer("Access token", "").contains("Enter keeps the one from before"));
    assert!(at.answer("Which ntfy server?", "").contains("answers 403"));
    at.answer("Which topic? [t]", "");
    at.answer("Access token", "");
    at.see("ok a test message is in the topic");
    let shown = finish(at, false).0;
    contains_all(&shown, &["kind = \"ntfy\"", "ntfy-token: a secret, for you alone"]);
    assert!(!shown.contains("tk_secret"), "{shown}");
    let token = "token_file = \"~/.config/vault-agent/ntfy-token\"";
    has_lines(&vault, &["kind = \"ntfy\"", "topic = \"t\"", token]);
    assert_eq!(secret(&vault, "ntfy-token"), "tk_secret");
    let _ = tick(&vault).ok();
    let texts = server.texts();
    assert!(texts[0].contains("reminders are delivered here") && texts[1].contains("alive"), "{texts:?}");
    assert!(server.web.asked().iter().all(|asked| asked.header("authorization") == Some("Bearer tk_secret")));
}

#[test]
fn mail_is_asked_for_tried_and_told_and_a_wrong_password_is_said() {
    let (server, vault) = (MailServer::start(), machine());
    let mut at = begin(&vault, "email");
    at.answer("Which mail server?", "smtp://localhost");
    assert!(at.answer("Which mail server?", "mail.example.org").contains("is no server's name"));
    at.answer("Encryption of the connection? [starttls]", "none");
    let said = at.answer("Encryption of the connection?", "skip");
    assert!(said.contains("mail would travel to `mail.example.org` in the clear"), "{said}");
    drop(at);

    let vault = machine();
    let mut at = begin(&vault, "email");
    at.answer("Which mail server?", &format!("localhost:{}", server.port));
    at.answer("Encryption of the connection?", "none");
    at.answer("User name for the login?", "me");
    at.answer("The password", "");
    assert!(at.answer("The password", "wr0ng").contains("no secret is set"));
    server.fault(MailFault::Says("AUTH", "535 5.7.8 no"));
    at.answer("Sender address?", "me");
    assert!(at.answer("Sender address?", "me@example.org").contains("is no mail address"));
    at.answer("Recipient address? [me@example.org]", "me@example.org, Zoë <you@example.org>");
    let said = at.answer(&format!("Which mail server? [localhost:{}]", server.port), "");
    assert!(said.contains("535") && !said.contains("wr0ng"), "{said}");
    at.answer("Encryption of the connection?", "none");
    at.answer("User name for the login? [me]", "");
    at.answer("The password", "passw0rd");
    at.answer("Sender address? [me@example.org]", "");
    at.answer("Recipient address? [me@example.org, Zoë <you@example.org>]", "");
    at.see("ok the mail server accepted a test message");
    let shown = finish(at, false).0;
    assert!(!shown.contains("passw0rd") && shown.contains("mail-password: a secret"), "{shown}");
    let to = "to = [\"me@example.org\", \"Zoë <you@example.org>\"]";
    has_lines(&vault, &["kind = \"email\"", "server = \"localhost\"", "security = \"none\""]);
    has_lines(&vault, &["user = \"me\"", "from = \"me@example.org\"", to]);
    assert_eq!(secret(&vault, "mail-password"), "passw0rd");
    let _ = tick(&vault).ok();
    assert_eq!(server.mails().len(), 2);
}

#[test]
fn a_webhook_gets_a_secret_of_its_own_and_an_untried_one_can_be_kept() {
    let web = Web::start(|_| (204, String::new()));
    let vault = machine();
    let mut at = begin(&vault, "webhook");
    at.answer("The address, or a file that contains it", "example.org/hook");
    let said = at.answer("The address", &web.url);
    assert!(said.contains("that is no web address") && !said.contains("example.org/hook"), "{said}");
    web.fault(Fault::Status(401, ""));
    assert!(at.answer("Signing secret", "").contains("Enter makes a new one"));
    assert!(at.answer("The address", "anyway").contains("the webhook answers 401"));
    let shown = finish(at, false).0;
    assert!(!shown.contains(&web.url) && shown.contains("webhook-url: a secret"), "{shown}");
    assert_eq!(secret(&vault, "webhook-url"), web.url);
    assert!(secret(&vault, "webhook-secret").starts_with("whsec_"));
    let _ = tick(&vault).ok();
    let said = web.asked().pop().unwrap().body.clone();
    assert!(said["text"].as_str().unwrap().contains("alive"), "{said}");
}

#[test]
fn several_are_asked_for_one_after_the_other_and_one_can_be_left_out() {
    let (server, vault) = (NtfyServer::start(true, true), machine());
    let mut at = begin(&vault, "pigeon, ntfy");
    let said = at.answer("How should reminders reach you", "ntfy, email, console");
    contains_all(said, &["`pigeon` is none of them"]);
    at.answer("Which ntfy server?", &server.web.url);
    at.answer("Which topic?", "t");
    at.answer("Access token", "");
    at.see("ok a test message is in the topic");
    at.answer("Which mail server?", "skip");
    contains_all(finish(at, false).0, &["notify.kinds = [\"ntfy\", \"console\"]"]);
    let before = settings(&vault);
    has_lines(&vault, &["kinds = [\"ntfy\", \"console\"]"]);
    contains_none(&before, &["kind = \"console\""]);
    // Again: what is set stands in the brackets, and nothing changes.
    let mut at = begin(&vault, "");
    at.answer(&format!("Which ntfy server? [{}]", server.web.url), "");
    at.answer("Which topic? [t]", "");
    at.answer("Access token", "");
    finish(at, true);
    assert_eq!(settings(&vault), before);
    // Leaving the question out keeps it too; naming another one changes it.
    finish(begin(&vault, "skip"), true);
    assert_eq!(settings(&vault), before);
    finish(begin(&vault, "console"), true);
    assert!(settings(&vault).contains("\nkind = \"console\"\n"));
}

#[test]
fn a_machine_names_several_in_a_file_and_no_secret_stands_in_it() {
    let (ntfy, mail) = (NtfyServer::start(true, true), MailServer::start());
    let (vault, at_ntfy) = (machine(), format!("[ntfy]\nurl = \"{}\"\ntopic = \"t\"\n", ntfy.web.url));
    let with_secret = format!("ntfy\"]\n{at_ntfy}token_file = \"tk_secret\"\n");
    for (text, why) in [
        (with_secret.as_str(), "an answers file never contains a secret"),
        ("webhook\"]\n[webhook]\nurl = \"https://x\"\n", "did you mean `webhook.url_file`?"),
        ("ntfy\"]\n[ntfy]\nurl = \"http://127.0.0.1:1\"\n", "`ntfy.url`: the ntfy server can't be reached"),
        ("email\"]\n", "`email.server`: "),
        ("ntfy\", \"pigeon\"]\n", "`notify`: `pigeon` is none of them"),
    ] {
        answers(&vault, &format!("notify = [\"{text}")).exits(2).warns(why).warns_not("tk_secret");
        assert!(!vault.home().join("v").exists(), "{text}");
    }
    let password = vault.home().join("password");
    write_private(&password, "passw0rd\n");
    let text = format!(
        "notify = [\"ntfy\", \"email\"]\n{at_ntfy}[email]\nserver = \"localhost:{}\"\nsecurity = \"none\"\nuser = \"me@example.org\"\npassword_file = \"~/password\"\n",
        mail.port
    );
    let _ = answers(&vault, &text).ok();
    let settings = settings(&vault);
    has_lines(&vault, &["kinds = [\"ntfy\", \"email\"]", "password_file = \"~/password\""]);
    assert!(!settings.contains("\nto = "), "mail to oneself needs no list: {settings}");
    let _ = tick(&vault).ok();
    assert_eq!((ntfy.texts().len(), mail.mails().len()), (2, 2));
}
