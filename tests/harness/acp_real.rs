//! Real agents of the Agent Client Protocol, where `tests/harness/run-acp` names them in `VAULT_AGENT_CLAUDE_ACP` and
//! `VAULT_AGENT_CODEX_ACP`: over the scripted model server, with our real MCP server. Without them there is nothing
//! to check.

use crate::harness::rig::*;
use crate::harness::stand::*;

/// An agent, and the names that it gives to our tool and to its own for commands.
struct Real {
    stand: Stand,
    agent: Acp,
    server: ModelServer,
    save: &'static str,
    command: (&'static str, Value),
}

async fn claude() -> Option<Real> {
    let program = std::env::var("VAULT_AGENT_CLAUDE_ACP").ok()?;
    let (server, mut stand) = (ModelServer::start().await, stand_of(vec!["env".into()]));
    let set = [
        // What a person's own shell does at its start is no part of this.
        format!("HOME={}", stand.temp.path().display()),
        format!("ANTHROPIC_BASE_URL={}", server.url()),
        format!("CLAUDE_CONFIG_DIR={}/config", stand.temp.path().display()),
        "CLAUDE_CODE_MAX_RETRIES=1".into(),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1".into(),
    ];
    stand.setup.command.extend(set);
    stand.setup.command.push(program);
    let agent = stand.acp(Some("ANTHROPIC_API_KEY"));
    let command = ("Bash", json!({"command": "touch made", "description": "makes it"}));
    Some(Real { stand, agent, server, save: "mcp__vault-agent__memory_save", command })
}

async fn codex() -> Option<Real> {
    let program = std::env::var("VAULT_AGENT_CODEX_ACP").ok()?;
    let (server, mut stand) = (ModelServer::start().await, stand_of(vec!["env".into()]));
    let home = stand.temp.path().join("config");
    std::fs::create_dir(&home).unwrap();
    let provider = format!(
        "model_providers.x={{name=\"x\",base_url=\"{}/v1\",wire_api=\"responses\",env_key=\"OPENAI_API_KEY\",\
         request_max_retries=0,stream_max_retries=0}}",
        server.url()
    );
    let own = format!("HOME={}", stand.temp.path().display());
    stand.setup.command.extend([own, format!("CODEX_HOME={}", home.display()), program]);
    for setting in ["model=\"model-1\"", "model_provider=\"x\"", provider.as_str()] {
        stand.setup.command.extend(["-c".to_owned(), setting.to_owned()]);
    }
    let agent = stand.acp(Some("OPENAI_API_KEY"));
    let command =
        json!({"cmd": "touch made", "sandbox_permissions": "require_escalated", "justification": "?"});
    let command = ("exec_command", command);
    Some(Real { stand, agent, server, save: "mcp__vault_agent::memory_save", command })
}

/// The agent asks for more than the answer (a title): whoever has no tools gets one.
fn answers(real: &Real, replies: Vec<Reply>) {
    let mut replies = replies.into_iter();
    real.server.respond(move |asked: &Asked| {
        match asked.body["tools"].as_array().is_some_and(|t| !t.is_empty()) {
            true => replies.next().unwrap_or_else(|| Reply::status(400)),
            false => Reply::text("A title"),
        }
    });
}

async fn check(real: Real) {
    let call = Reply::tool(real.save, save("likes cocoa")["arguments"].clone());
    answers(&real, vec![call, Reply::text("Saved.")]);
    let host = Record::default();
    let reply = ask(&real.agent, &question("Ben likes cocoa"), &host).await.unwrap();
    assert_eq!(reply.text, "Saved.", "{:?}", host.told());
    assert!(real.stand.memory().contains("likes cocoa"), "{:?}", host.told());
    assert_eq!(host.started(), ["memory_save"]);
    let asked = real.server.requests();
    assert!(asked.iter().any(|asked| asked.headers.values().any(|value| value.contains(KEY))));
    println!("acp: a request of {} bytes", asked.iter().map(|asked| asked.bytes.len()).max().unwrap());
    real.stand.nothing_is_left().await;

    let mut request = question("Ben likes cocoa");
    request.messages.push(Message::user("Is it?"));
    answers(&real, vec![Reply::text("It is saved.")]);
    let again = Record::default();
    assert_eq!(go_on(&real.agent, &request, &host.sessions()[0], &again).await.unwrap().text, "It is saved.");
    assert_eq!(again.sessions(), host.sessions());
    contains_all(words(real.server.requests().last().unwrap()), &["Ben likes cocoa", "Is it?"]);

    for (named, allows) in [(false, true), (true, false), (true, true)] {
        let variable = if real.save.contains("::") { "OPENAI_API_KEY" } else { "ANTHROPIC_API_KEY" };
        let mut agent = real.stand.acp(Some(variable));
        if named {
            agent.setup.tools.push("execute".into());
        }
        answers(&real, vec![Reply::tool(real.command.0, real.command.1.clone()), Reply::text("So be it.")]);
        let host = Record { allows, ..Record::default() };
        // A refusal ends the turn of some agents.
        let ended = ask(&agent, &question("make it"), &host).await;
        let made = real.stand.setup.dir.join("made").exists();
        let results = real.server.requests().last().unwrap().results();
        assert_eq!(made, named && allows, "{named} {allows}: {ended:?} {results:?} {:?}", host.told());
        assert_eq!(host.started(), ["execute"]);
    }
    real.stand.nothing_is_left().await;
}

#[tokio::test]
async fn claude_agent_acp() {
    if let Some(real) = claude().await {
        check(real).await;
    }
}

#[tokio::test]
async fn codex_acp() {
    if let Some(real) = codex().await {
        check(real).await;
    }
}
