//! The real Codex, where `tests/harness/run-codex` names it in `VAULT_AGENT_CODEX`: over the scripted model server,
//! with our real MCP server, without a key and without a network. Without it there is nothing to check.

use crate::harness::rig::*;
use crate::harness::stand::*;
use vault_agent::brain::MessagePart;

struct Real {
    stand: Stand,
    server: ModelServer,
}

async fn real() -> Option<Real> {
    let program = std::env::var("VAULT_AGENT_CODEX").ok()?;
    let (server, mut stand) = (ModelServer::start().await, stand_of(vec![program]));
    stand.setup.url = Some(server.url());
    Some(Real { stand, server })
}

impl Real {
    fn codex(&self) -> Codex {
        Codex { setup: self.stand.setup.clone() }
    }

    /// What the model was told in its last request.
    fn told(&self) -> String {
        self.server.requests().last().unwrap().body["input"].to_string()
    }
}

fn saved() -> Reply {
    Reply::tool("mcp__vault_agent::memory_save", save("likes cocoa")["arguments"].clone())
}

#[tokio::test]
async fn a_question() {
    let Some(real) = real().await else { return };
    real.server.script(vec![Reply::text("Anna likes oolong.").usage(120, 100, 7)]);
    let host = Record::default();
    let base64 =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
    let picture = MessagePart::Image { media_type: "image/png".into(), base64: base64.into() };
    let mut request = question("What does Anna like?");
    let Message::User { parts } = &mut request.messages[0] else { panic!("a question") };
    parts.push(picture);
    let reply = ask(&real.codex(), &request, &host).await.unwrap();
    assert_eq!(reply.text, "Anna likes oolong.");
    assert_eq!((reply.usage.input, reply.usage.cached, reply.usage.output), (120, 100, 7));
    let asked = &real.server.requests()[0];
    assert_eq!(asked.headers["authorization"], format!("Bearer {KEY}"));
    assert!(real.told().contains("Be brief.") && real.told().contains("data:image/png;base64,iVBOR"));
    let tools = asked.body["tools"].clone();
    let names: Vec<Value> = tools.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    println!("codex: tools {names:?}: {} bytes of {}", tools.to_string().len(), asked.bytes.len());
    assert!(!names.iter().any(|name| ["exec_command", "shell", "web_search"].iter().any(|own| name == own)));
    real.stand.nothing_is_left().await;
}

#[tokio::test]
async fn a_tool_through_our_server_with_the_turns_name() {
    let Some(real) = real().await else { return };
    real.server.script(vec![saved(), Reply::text("Saved.")]);
    let host = Record::default();
    assert_eq!(ask(&real.codex(), &question("Ben likes cocoa"), &host).await.unwrap().text, "Saved.");
    assert!(real.stand.memory().contains("likes cocoa"));
    assert_eq!(host.started(), ["memory_save"]);
    assert!(!host.finished()[0].is_error && host.finished()[0].text.contains("likes cocoa"));
    contains_all(history(real.stand.temp.path()), &["assistant", "turn 77"]);
}

#[tokio::test]
async fn a_command_is_asked_about() {
    for (named, allows) in [(true, true), (true, false), (false, true)] {
        let Some(mut real) = real().await else { return };
        if named {
            real.stand.setup.tools.push("shell".into());
        }
        let call = |command: &str| Reply::tool("exec_command", json!({"cmd": command}));
        real.server.script(vec![call("touch made"), call("env"), Reply::text("So be it.")]);
        let host = Record { allows, ..Record::default() };
        assert_eq!(ask(&real.codex(), &question("make it"), &host).await.unwrap().text, "So be it.");
        let made = real.stand.setup.dir.join("made").exists();
        assert_eq!(made, named && allows, "{named} {allows} {:?}", host.told());
        let environment = host.finished().pop().map(|result| result.text).unwrap_or_default();
        assert_eq!(environment.contains("PATH="), named && allows, "{environment}");
        assert!(!real.told().contains("canary"), "a command sees no key");
    }
}

#[tokio::test]
async fn killed_after_a_tool_and_gone_on_with() {
    let Some(real) = real().await else { return };
    real.server.script(vec![saved(), Reply::hang()]);
    let host = Record::default();
    let (codex, request) = (real.codex(), question("Ben likes cocoa"));
    let killing = async {
        real.server.wait_for(2).await;
        for pid in real.stand.programs("app-server") {
            let _ = Command::new("kill").args(["-9", &pid]).status();
        }
    };
    let (answered, ()) = tokio::join!(ask(&codex, &request, &host), killing);
    assert_eq!(answered.unwrap_err().class, FailureClass::Crash);
    assert_eq!(host.finished().len(), 1);
    real.stand.nothing_is_left().await;

    real.server.script(vec![Reply::text("It is saved.")]);
    let mut request = request;
    request.messages.push(Message::user("Is it?"));
    let again = Record::default();
    let session = host.sessions().remove(0);
    assert_eq!(go_on(&codex, &request, &session, &again).await.unwrap().text, "It is saved.");
    assert_eq!(again.sessions(), [session]);
    assert!(real.told().contains("Ben likes cocoa") && real.told().contains("Is it?"));
    assert_eq!(real.stand.memory().matches("likes cocoa").count(), 1);

    // Its memory is gone; ours isn't.
    std::fs::remove_dir_all(real.stand.temp.path().join("state/codex")).unwrap();
    real.server.script(vec![Reply::text("Yes, again.")]);
    let lost = Record::default();
    assert_eq!(go_on(&codex, &request, &again.sessions()[0], &lost).await.unwrap().text, "Yes, again.");
    assert_ne!(lost.sessions(), again.sessions());
    assert!(real.told().contains("Ben likes cocoa") && real.told().contains("Is it?"));
}

#[tokio::test]
async fn a_failing_provider_is_classed() {
    let Some(real) = real().await else { return };
    let error =
        |words: &str| format!(r#"{{"error":{{"message":"{words}","type":"invalid_request_error"}}}}"#);
    for (reply, class) in [
        (Reply::status(401).body(error("bad key")), FailureClass::Auth),
        (
            Reply::status(429).body(r#"{"error":{"message":"quota","type":"insufficient_quota"}}"#),
            FailureClass::Billing,
        ),
        (Reply::status(404).body(error("no such model")), FailureClass::UnknownModel),
        (Reply::error_event("context_length_exceeded", "too long"), FailureClass::Format),
        (Reply::cut_after(300), FailureClass::Crash),
    ] {
        let before = real.server.requests().len();
        real.server.respond(move |_| reply.clone());
        let error = ask(&real.codex(), &question("?"), &Record::default()).await.unwrap_err();
        assert_eq!(error.class, class, "{error}");
        assert_eq!(real.server.requests().len(), before + 1, "{class:?}: it tried again");
        assert!(!error.message.contains("canary"), "{error}");
    }
}
