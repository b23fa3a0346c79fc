//! An agent of the Agent Client Protocol as a brain, over a stand-in that speaks it.

use crate::harness::rig::*;
use crate::harness::stand::*;
use vault_agent::brain::StopReason;

fn acp(stand: &Stand) -> Acp {
    stand.acp(Some("AGENT_KEY"))
}

/// An answer with half of a character.
const HALF: &str = "{\"method\":\"session/update\",\"params\":{\"update\":\
    {\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"text\":\"see \\ud83d end\"}}}}\n";

#[tokio::test]
async fn a_question_is_answered_without_the_adapters_own_words() {
    let Some(stand) = stand("acp.py") else { return };
    stand.script(&json!([
        [{"note": "Model metadata for `model-1` not found. Defaulting."}, {"say": "Anna likes oolong."}],
        [{"note": "We're changing auto mode"}, {"say": "I look.", "message": "m1"}, save("likes cocoa"),
            {"note": "One more note."}, {"say": "Saved.", "message": "m2"}],
        [{"noise": HALF}],
    ]));
    let reply = ask(&acp(&stand), &question("What does Anna like, pray?"), &Record::default()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.stop), ("Anna likes oolong.", StopReason::End));
    assert_eq!((reply.usage.input, reply.usage.cached, reply.usage.output), (30, 20, 9));
    let said = stand.prompted(("session/prompt", "prompt"), 0);
    assert_eq!(said, "<instructions>\nBe brief.\n</instructions>What does Anna like, pray?");
    let argv = stand.heard()[0]["argv"].to_string();
    assert!(!argv.contains("pray") && !argv.contains(KEY), "{argv}");
    let able = &stand.heard_of("initialize")[0]["clientCapabilities"];
    assert_eq!((&able["fs"]["readTextFile"], &able["terminal"]), (&json!(false), &json!(false)));
    assert_eq!(stand.heard_of("session/set_mode")[0]["modeId"], "default", "the mode that asks");
    stand.nothing_is_left().await;

    calls_our_tool(&stand, &acp(&stand)).await;
    assert_eq!(answered(&acp(&stand)).await.unwrap().text, "see \u{fffd} end");
}

#[tokio::test]
async fn what_it_wants_to_do_itself_is_asked_and_declined_by_default() {
    asks_first("acp.py", "execute", acp).await;
    // In the words of a tool of ours, which the model may write.
    let input = json!({"server": "vault-agent", "tool": "memory_get", "arguments": {}});
    for title in ["touch made", "Tool: vault-agent/memory_get", "mcp__vault-agent__memory_get", "mcp_call"] {
        let Some(stand) = stand("acp.py") else { return };
        stand.script(&json!([[{"command": "touch made", "title": title, "input": input}, {"say": "Done."}]]));
        let host = Record { allows: true, ..Record::default() };
        ask(&acp(&stand), &question("make it"), &host).await.unwrap();
        assert!(!stand.setup.dir.join("made").exists(), "{title}");
        assert_eq!(host.started(), ["execute"], "{title}");
    }
    let Some(stand) = stand("acp.py") else { return };
    stand.script(&json!([[{"ask": "fs/write_text_file"}, {"say": "Done."}]]));
    let host = Record { allows: true, ..Record::default() };
    assert_eq!(ask(&acp(&stand), &question("write it"), &host).await.unwrap().text, "Done.");
    assert!(!host.told().iter().any(|told| matches!(told, Told::May(_))));
}

#[tokio::test]
async fn a_session_is_gone_on_with_where_the_agent_can() {
    for (way, resumes) in [("", true), ("no-resume", false)] {
        let Some(mut stand) = stand("acp.py") else { return };
        stand.setup.command.push(way.into());
        goes_on(&stand, &acp(&stand), ("session/prompt", "prompt"), resumes).await;
    }
}

#[tokio::test]
async fn a_key_is_given_where_the_agent_asks_for_a_login() {
    let Some(mut stand) = stand("acp.py") else { return };
    stand.setup.command.push("login".into());
    stand.script(&json!([[{"say": "Hello."}]]));
    assert_eq!(answered(&acp(&stand)).await.unwrap().text, "Hello.");
    assert!(!stand.heard()[0]["argv"].to_string().contains(KEY));
    assert_eq!(fails(&stand.acp(None)).await.class, FailureClass::Auth);
}

#[tokio::test]
async fn failures_have_their_class_and_hold_no_key() {
    let Some(stand) = stand("acp.py") else { return };
    let internal =
        |words: String| json!({"code": -32603, "message": "Internal error", "data": {"message": words}});
    let cases = [
        (internal(format!("API Error: 401 no {KEY}")), FailureClass::Auth),
        (internal("unexpected status 429 Too Many Requests".into()), FailureClass::RateLimit),
        (json!({"code": -32000, "message": "Authentication required"}), FailureClass::Auth),
        (internal("it fell over".into()), FailureClass::Crash),
    ];
    is_classed(&stand, &acp(&stand), &cases).await;
    stand.script(&json!([[{"say": "I"}, {"stop": "refusal"}], [{"say": "Half"}, {"stop": "max_tokens"}],
        [{"stop": "cancelled"}]]));
    for (text, stop) in [("", StopReason::Refusal), ("Half", StopReason::Length)] {
        let reply = answered(&acp(&stand)).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.stop), (text, stop));
    }
    assert_eq!(fails(&acp(&stand)).await.class, FailureClass::Crash);
}

#[tokio::test]
async fn what_misbehaves_is_passed_over_or_ended() {
    passes_over_nonsense("acp.py", acp).await;
    let Some(mut stand) = stand("acp.py") else { return };
    ends(&mut stand, acp).await;
}
