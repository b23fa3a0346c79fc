//! Codex as a brain, over a stand-in that speaks its protocol.

use crate::harness::rig::*;
use crate::harness::stand::*;
use vault_agent::brain::StopReason;

fn codex(stand: &Stand) -> Codex {
    Codex { setup: stand.setup.clone() }
}

#[tokio::test]
async fn a_question_is_answered_and_stands_on_no_command_line() {
    let Some(stand) = stand("codex.py") else { return };
    stand.script(&json!([[{"say": "I look.", "phase": "commentary"}, {"usage": 100}, {"usage": 50},
        {"say": "Anna likes oolong.", "phase": "final_answer"}]]));
    let host = Record::default();
    let reply = ask(&codex(&stand), &question("What does Anna like, pray?"), &host).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.stop), ("Anna likes oolong.", StopReason::End));
    assert_eq!((reply.usage.input, reply.usage.cached, reply.usage.output), (150, 75, 15));
    assert_eq!(reply.model, "model-1");
    assert_eq!(host.sessions().len(), 1);

    let argv = stand.heard()[0]["argv"].to_string();
    assert!(!argv.contains("pray") && !argv.contains("Be brief") && !argv.contains(KEY), "{argv}");
    let start = &stand.heard_of("thread/start")[0];
    assert_eq!(start["baseInstructions"], "Be brief.");
    assert_eq!((&start["sandbox"], &start["approvalPolicy"]), (&json!("read-only"), &json!("untrusted")));
    assert_eq!(stand.heard_of("turn/start")[0]["input"][0]["text"], "What does Anna like, pray?");
    stand.nothing_is_left().await;
    stand.script(&json!([[save("likes cocoa"), {"say": "Saved."}]]));
    calls_our_tool(&stand, &codex(&stand)).await;
}

#[tokio::test]
async fn what_it_wants_to_do_itself_is_asked_and_declined_and_what_nobody_knows_is_answered_too() {
    asks_first("codex.py", "shell", codex).await;
    let Some(stand) = stand("codex.py") else { return };
    stand.script(&json!([[{"ask": "item/tool/requestUserInput"}, {"ask": "mcpServer/elicitation/request"},
        {"ask": "item/permissions/requestApproval", "params": {"permissions": {"network": {"enabled": true}}}},
        {"say": "Well."}]]));
    let host = Record { allows: true, ..Record::default() };
    assert_eq!(ask(&codex(&stand), &question("?"), &host).await.unwrap().text, "Well.");
    let mut answers = stand.heard();
    answers.retain(|heard| heard.get("method").is_none());
    let permissions = answers.iter().find(|answer| !answer["result"]["permissions"].is_null()).unwrap();
    assert_eq!(permissions["result"]["permissions"], json!({}));
    assert!(answers.iter().any(|answer| answer["result"]["action"] == "decline"));
    assert!(answers.iter().any(|answer| answer["error"]["code"] == -32601));
}

#[tokio::test]
async fn killed_after_a_tool_it_goes_on_with_its_session_and_a_lost_one_is_made_again() {
    let Some(stand) = stand("codex.py") else { return };
    let reply = goes_on(&stand, &codex(&stand), ("turn/start", "input"), true).await;
    assert_eq!(reply.usage.input, 30, "what the thread had used before is no part of this turn");
    let input = json!([{"type": "text", "text": "And now?", "text_elements": []}]);
    assert_eq!(stand.heard_of("turn/start")[1]["input"], input);
    assert!(stand.heard_of("thread/start")[1].get("threadId").is_none());
}

#[tokio::test]
async fn failures_have_their_class_and_hold_no_key() {
    let Some(stand) = stand("codex.py") else { return };
    let status = |status: u16| json!({"httpConnectionFailed": {"httpStatusCode": status}});
    let refused =
        json!({"message": format!("unexpected status 401: no {KEY}"), "codexErrorInfo": status(401)});
    let broken = json!({"message": "stream disconnected", "codexErrorInfo": "other"});
    is_classed(&stand, &codex(&stand), &[(refused, FailureClass::Auth), (broken, FailureClass::Crash)]).await;
    stand.script(&json!([[{"fail": {"message": "no", "codexErrorInfo": "cyberPolicy"}}]]));
    assert_eq!(answered(&codex(&stand)).await.unwrap().stop, StopReason::Refusal);
}

#[tokio::test]
async fn it_is_ended_where_it_tries_again_and_is_not_to() {
    let retry = json!({"message": "Reconnecting... 1/1", "additionalDetails": "unexpected status 429",
        "codexErrorInfo": {"responseStreamDisconnected": {"httpStatusCode": 429}}});
    for lets_retry in [true, false] {
        let Some(stand) = stand("codex.py") else { return };
        stand.script(&json!([[{"retry": retry}, {"say": "After all."}]]));
        let host = Record { lets_retry, ..Record::default() };
        let answered = ask(&codex(&stand), &question("?"), &host).await;
        assert!(host.told().contains(&Told::Retries(FailureClass::RateLimit)));
        match answered {
            Ok(reply) => assert!(lets_retry && reply.text == "After all."),
            Err(error) => assert!(!lets_retry && error.class == FailureClass::RateLimit, "{error}"),
        }
        stand.nothing_is_left().await;
    }
}

#[tokio::test]
async fn what_misbehaves_is_passed_over_or_ended_and_told_with_its_words() {
    passes_over_nonsense("codex.py", codex).await;
    let Some(mut stand) = stand("codex.py") else { return };
    ends(&mut stand, codex).await;
    stand.setup.command = vec!["/no/such/codex".into()];
    let error = fails(&codex(&stand)).await;
    assert!(error.message.contains("can't be started"), "{error}");
}

#[tokio::test]
async fn a_stop_ends_it_at_once() {
    let Some(stand) = stand("codex.py") else { return };
    stand.script(&json!([[{"say": "Well"}, {"hang": 1}]]));
    let (host, stop) = (Record::default(), CancellationToken::new());
    let (codex, request, begun) = (codex(&stand), question("?"), host.begun.clone());
    let task = task(&request);
    let stopping = async {
        begun.notified().await;
        stop.cancel();
    };
    let (answered, ()) = tokio::join!(codex.run(&task, &host, stop.clone()), stopping);
    assert!(answered.unwrap_err().cancelled);
    stand.nothing_is_left().await;
}
