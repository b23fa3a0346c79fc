//! ntfy, mail and signed webhooks against servers that speak their protocols and fail in every way.

use crate::deliver::world::*;

use secrecy::SecretString;
use vault_agent::config::{ConfigError, EmailSettings, MailSecurity, NtfySettings};

use crate::deliver::servers::{Fault, MailFault, MailServer, NtfyServer, Web};

fn context(clock: Arc<dyn Clock>) -> NotifierContext {
    let [vault, reminders, commitments] = ["My Vault", "Reminders.md", "COMMITMENTS.md"].map(Into::into);
    let links = NoteLinks { vault, reminders, commitments };
    let rules = NotifyRules { urgent: "urgent".to_owned(), ..NotifyRules::default() };
    NotifierContext { authority: None, links, rules: Arc::new(rules), clock }
}

fn ntfy_with(url: &str, token: Option<&str>) -> Result<NtfyNotifier, ConfigError> {
    let settings = NtfySettings { url: url.to_owned(), topic: Some("t".to_owned()), ..Default::default() };
    NtfyNotifier::new(&settings, token.map(SecretString::from), context(Arc::new(SystemClock)))
}

fn ntfy(url: &str) -> Arc<NtfyNotifier> {
    Arc::new(ntfy_with(url, Some("tk_secret")).unwrap())
}

/// A world of these reminders that are due, and the server to which they go.
fn by_ntfy(reminders: &[&str], knows_sequences: bool, readable: bool) -> (World, NtfyServer) {
    let server = NtfyServer::start(knows_sequences, readable);
    let notifier: Arc<dyn Notifier> = ntfy(&server.web.url);
    (World { notifier: Some(notifier), ..World::all_due(reminders) }, server)
}

fn webhook(url: &str, world: &World) -> Arc<SignedWebhook> {
    let key = SecretString::from("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let context = context(Arc::clone(&world.clock) as _);
    Arc::new(SignedWebhook::new(SecretString::from(url), &key, context).unwrap())
}

fn email_by(settings: &EmailSettings, world: &World) -> Result<Email, ConfigError> {
    Email::new(settings, Some(SecretString::from("passw0rd")), context(Arc::clone(&world.clock) as _))
}

/// The settings of mail by a server of this machine.
fn at_port(port: u16) -> EmailSettings {
    let (server, user) = (Some("127.0.0.1".to_owned()), Some("me@example.org".to_owned()));
    EmailSettings { server, port: Some(port), user, ..Default::default() }
}

fn email(port: u16, world: &World) -> Arc<Email> {
    let to = vec!["Me <me@example.org>".to_owned(), "you@example.org".to_owned()];
    Arc::new(email_by(&EmailSettings { security: MailSecurity::None, to, ..at_port(port) }, world).unwrap())
}

fn send(notifier: &dyn Notifier) -> SendOutcome {
    block_on(notifier.send(&message(MessageKind::Notice, "k", "hello")))
}

/// A port at which nobody listens.
fn closed() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The kind of an outcome, and its words.
fn shown(outcome: &SendOutcome) -> (&'static str, &str) {
    match outcome {
        SendOutcome::Sent { .. } => ("sent", ""),
        SendOutcome::Unknown { reason } => ("unknown", reason),
        SendOutcome::Retry { reason, .. } => ("retry", reason),
        SendOutcome::Refused { reason } | SendOutcome::Never { reason } => ("refused", reason),
    }
}

/// Sends; once the server has heard everything, lets the time go by in which it should have answered.
fn send_to_the_silent(notifier: Arc<dyn Notifier>, has_heard: impl Fn() -> bool) -> SendOutcome {
    block_on(async move {
        let sending =
            tokio::spawn(async move { notifier.send(&message(MessageKind::Notice, "k", "hello")).await });
        when("all is heard", has_heard).await;
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(40)).await;
        sending.await.unwrap()
    })
}

#[test]
fn ntfy_gets_title_text_link_and_urgency() {
    let (mut world, server) = by_ntfy(&["Call Zoë #urgent"], true, true);
    assert_eq!(world.fires(), 1);
    let asked = server.web.asked();
    assert_eq!(asked[0].header("authorization"), Some("Bearer tk_secret"));
    let sent = ["topic", "title", "message", "priority", "click"].map(|key| asked[0].body[key].clone());
    let link = "obsidian://open?vault=My%20Vault&file=Reminders";
    assert_eq!(json!(sent), json!(["t", "Reminder", "Call Zoë #urgent", 5, link]));
    assert_eq!(world.read(), "");
}

#[test]
fn an_answer_of_ntfy_that_is_lost_makes_no_second_message() {
    // While the topic can't be read nothing is guessed.
    let unreadable = Fault::Status(500, "");
    for (knows_sequences, fault, reading, sends) in [
        (true, Fault::LostAnswer, None, 1),
        (false, Fault::LostAnswer, None, 1),
        (true, Fault::LostAnswer, Some(unreadable), 1),
        (true, Fault::Cut, None, 2),
        (false, Fault::Cut, None, 2),
    ] {
        let (mut world, server) = by_ntfy(&["Call"], knows_sequences, true);
        for fault in [Some(fault.clone()), reading].into_iter().flatten() {
            server.web.fault(fault);
            assert!(world.later(secs(20)).tick().failed.len() == 1 && !world.read().is_empty());
        }
        world.later(SignedDuration::from_secs(30)).tick();
        assert_eq!(server.texts(), ["Call"], "{fault:?}");
        let posts = server.web.asked().iter().filter(|asked| asked.method == "POST").count();
        assert_eq!((posts, world.read().as_str()), (sends, ""), "{fault:?}");
    }
}

#[test]
fn two_reminders_that_say_the_same_both_reach_ntfy() {
    for knows_sequences in [true, false] {
        let (mut world, server) = by_ntfy(&["Call", "Call"], knows_sequences, true);
        server.web.fault(Fault::LostAnswer);
        [0, 30, 60].iter().for_each(|wait| drop(world.later(secs(*wait)).tick()));
        assert_eq!(server.texts(), ["Call", "Call"], "{knows_sequences}");
    }
}

#[test]
fn a_topic_that_may_only_be_written_is_told_at_least_once() {
    let (mut world, server) = by_ntfy(&["Call"], true, false);
    server.web.fault(Fault::LostAnswer);
    world.tick();
    world.later(secs(20)).tick();
    assert_eq!(server.texts(), ["Call", "Call"]);
    let kept = server.messages.lock().unwrap();
    assert_eq!(kept[0]["sequence_id"], kept[1]["sequence_id"], "so that a phone shows one");
}

#[test]
fn what_http_servers_answer_is_told_apart() {
    let world = World::due("x");
    let web = Web::start(|_| (200, "{}".to_owned()));
    let hook = webhook(&format!("{}/secret-path", web.url), &world);
    let until = "date: Tue, 01 Dec 2026 09:30:00 GMT\r\nretry-after: Tue, 01 Dec 2026 09:31:17 GMT\r\n";
    for (fault, kind) in [
        (Fault::Status(401, ""), "refused"),
        (Fault::Status(404, ""), "refused"),
        (Fault::Status(302, "location: http://127.0.0.1:1/\r\n"), "refused"),
        (Fault::Status(500, ""), "unknown"),
        (Fault::Status(503, ""), "unknown"),
        (Fault::Status(429, "retry-after: 77\r\n"), "retry"),
        (Fault::Status(429, until), "retry"),
        (Fault::Cut, "unknown"),
        (Fault::LostAnswer, "unknown"),
        (Fault::CutBody, "sent"),
    ] {
        web.fault(fault.clone());
        let outcome = send(&*hook);
        assert_eq!(shown(&outcome).0, kind, "{fault:?}: {outcome:?}");
        assert!(!format!("{outcome:?}").contains("secret-path"), "an address may be a secret: {outcome:?}");
        if let SendOutcome::Retry { after, .. } = outcome {
            assert_eq!(after, Some(Duration::from_secs(77)));
        }
    }
    // A wrong number doesn't silence it for ever, and one that is none is as if there were none.
    let day = Duration::from_secs(86_400);
    for (header, wanted) in [("retry-after: 31536000000\r\n", Some(day)), ("retry-after: soon\r\n", None)] {
        web.fault(Fault::Status(429, header));
        let SendOutcome::Retry { after, .. } = send(&*hook) else { panic!("{header}") };
        assert_eq!(after, wanted, "{header}");
    }
    assert_eq!(shown(&send(&*hook)).0, "sent");
    let repeats = Web::start(|_| (404, "Cannot POST /secret-path".to_owned()));
    let outcome = send(&*webhook(&format!("{}/secret-path?key=secret-key", repeats.url), &world));
    assert_eq!(shown(&outcome), ("refused", "the webhook answers 404: Cannot POST /…"));
    let nobody = format!("http://127.0.0.1:{}", closed());
    for outcome in [send(&*webhook(&nobody, &world)), send(&*ntfy(&nobody))] {
        let (kind, words) = shown(&outcome);
        assert!(kind == "retry" && words.contains("can't be reached"), "{outcome:?}");
    }
    // An answer that is none: ntfy says which message it made.
    assert_eq!(shown(&send(&*ntfy(&web.url))).0, "unknown");
}

#[test]
fn a_server_that_says_nothing_may_have_it() {
    let world = World::due("x");
    let web = Web::start(|_| (200, "{}".to_owned()));
    for notifier in [webhook(&web.url, &world) as Arc<dyn Notifier>, ntfy(&web.url)] {
        web.fault(Fault::Silent);
        let before = web.asked().len();
        let outcome = send_to_the_silent(notifier, || web.asked().len() > before);
        assert_eq!(shown(&outcome).0, "unknown", "{outcome:?}");
    }
    let server = MailServer::start();
    server.fault(MailFault::TakesAndKeepsSilent);
    let outcome = send_to_the_silent(email(server.port, &world), || !server.mails().is_empty());
    assert_eq!(shown(&outcome).0, "unknown", "{outcome:?}");
}

#[test]
fn a_webhook_gets_signed_json_with_the_same_id_on_every_attempt() {
    let web = Web::start(|_| (204, String::new()));
    let mut world = World::due("Call");
    world.notifier = Some(webhook(&web.url, &world));
    web.fault(Fault::LostAnswer);
    world.tick();
    world.later(SignedDuration::from_secs(20)).tick();
    assert_eq!(world.read(), "");
    let [first, again] = &web.asked()[..] else { panic!("{:?}", web.asked()) };
    let differ = ["webhook-id", "webhook-timestamp", "webhook-signature"]
        .map(|name| first.header(name) != again.header(name));
    assert_eq!(differ, [false, true, true]);
    let body = &again.body;
    let said = json!([body["type"], body["text"], body["facts"][0]["msg"], body["urgent"], body["link"]]);
    let link = "obsidian://open?vault=My%20Vault&file=Reminders";
    assert_eq!(said, json!(["vault-agent.reminder", "Reminder: Call", "Call", false, link]));
}

#[test]
fn a_mail_has_a_subject_a_link_and_the_same_id_on_every_attempt() {
    let (server, mut world) = (MailServer::start(), World::due("Call Zoë #urgent"));
    world.notifier = Some(email(server.port, &world));
    server.fault(MailFault::TakesAndCuts);
    assert_eq!(world.tick().failed.len(), 1);
    world.later(SignedDuration::from_secs(20)).tick();
    assert_eq!(world.read(), "");
    // A mail server can't be asked.
    let [mail, again] = &server.mails()[..] else { panic!("{:?}", server.mails()) };
    let header = |mail: &str, name: &str| {
        mail.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
    };
    let id = header(mail, "Message-ID:");
    assert!(id.ends_with("@example.org>") && header(again, "Message-ID:") == id, "{mail}\n{again}");
    assert_eq!(["Auto-Submitted:", "Importance:"].map(|name| header(mail, name)), ["auto-generated", "high"]);
    assert!(header(mail, "Date:").starts_with("Tue, 01 Dec 2026 09:30:00"), "{mail}");
    contains_all(mail, &["Subject:", "obsidian://open?vault"]);
    let said = server.said.lock().unwrap().join("\n");
    contains_all(&said, &["RCPT TO:<me@example.org>", "RCPT TO:<you@example.org>"]);
}

#[test]
fn what_a_mail_server_says_is_told_apart() {
    let (world, server) = (World::due("x"), MailServer::start());
    let notifier = email(server.port, &world);
    let cuts = ["EHLO", "AUTH", "RCPT", "DATA"].map(|step| (MailFault::CutsAt(step), "retry"));
    let says = [
        (MailFault::Says("GREETING", "421 too busy"), "retry"),
        (MailFault::Says("AUTH", "535 5.7.8 wrong password"), "refused"),
        (MailFault::Says("MAIL", "451 later"), "retry"),
        (MailFault::Says("RCPT", "550 5.1.1 nobody here"), "refused"),
        (MailFault::Says("RCPT TO:<YOU", "550 5.1.1 nobody here"), "sent"),
        (MailFault::Says("RCPT", "450 4.2.0 greylisted"), "retry"),
        (MailFault::Says("TEXT", "554 5.7.1 looks like spam"), "refused"),
        (MailFault::Says("TEXT", "452 4.3.1 full"), "retry"),
        (MailFault::TakesAndCuts, "unknown"),
    ];
    for (fault, kind) in says.into_iter().chain(cuts) {
        server.fault(fault.clone());
        let outcome = send(&*notifier);
        assert_eq!(shown(&outcome).0, kind, "{fault:?}: {outcome:?}");
        assert!(!format!("{outcome:?}").contains("passw0rd"), "{outcome:?}");
    }
    assert_eq!(shown(&send(&*notifier)).0, "sent");
    let outcome = send(&*email(closed(), &world));
    assert_eq!(shown(&outcome).0, "retry", "{outcome:?}");
}

#[test]
fn mail_never_travels_in_the_clear_to_another_machine() {
    let world = World::due("x");
    let (server, from) = (Some("mail.example.org".to_owned()), Some("me@example.org".to_owned()));
    let settings = EmailSettings { server, security: MailSecurity::None, from, ..Default::default() };
    let error = email_by(&settings, &world).err().unwrap();
    assert!(error.to_string().contains("in the clear"), "{error}");
    // A server that offers no STARTTLS is told no password.
    let server = MailServer::start();
    let outcome = send(&email_by(&at_port(server.port), &world).unwrap());
    let (kind, words) = shown(&outcome);
    assert!(kind == "refused" && words.contains("STARTTLS"), "{outcome:?}");
    assert!(!server.said.lock().unwrap().iter().any(|said| said.starts_with("AUTH")));
}

#[test]
fn a_token_never_travels_in_the_clear_to_another_machine() {
    let error = ntfy_with("http://ntfy.example.org", Some("tk")).unwrap_err();
    assert!(error.to_string().contains("in the clear"), "{error}");
    for url in ["http://ntfy.example.org", "ftp://x", "nonsense"] {
        assert_eq!(ntfy_with(url, None).is_ok(), url.contains("example"), "{url}");
    }
    for url in ["https://ntfy.sh", "http://localhost:8080/", "http://192.168.1.4", "http://nas.local"] {
        assert!(ntfy_with(url, Some("tk")).is_ok(), "{url}");
    }
}
