//! The three wires against somebody else's model server, where one is running: `tests/brain/aimock/run` starts
//! aimock and names its URL in `VAULT_AGENT_AIMOCK_URL`. Without it there is nothing to check.

use serde_json::Value;
use vault_agent::brain::wire::Wire;
use vault_agent::brain::{FailureClass, Message, StopReason, ToolResult};

use crate::brain::rig::{PATIENT, ask, brain, question, told, with_tool};

#[tokio::test]
async fn the_wires_work_against_somebody_elses_server() {
    let Ok(url) = std::env::var("VAULT_AGENT_AIMOCK_URL") else { return };
    for wire in Wire::ALL {
        let brain = brain(wire, &url, PATIENT);
        let (answer, events) = ask(&brain, &question("What does Anna like?")).await;
        let answer = answer.unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.stop),
            ("Anna likes oolong tea.", StopReason::End),
            "{wire:?}"
        );
        assert_eq!(told(&events), answer.text);

        let mut request = with_tool("Look for Anna");
        let answer = ask(&brain, &request).await.0.unwrap();
        assert_eq!(answer.stop, StopReason::ToolUse, "{wire:?}");
        let call = &answer.tool_calls[0];
        assert_eq!(call.name, "look");
        assert_eq!(serde_json::from_str::<Value>(&call.arguments).unwrap()["q"], "Anna");
        let result = ToolResult { call_id: call.id.clone(), text: "oolong".into(), is_error: false };
        let (text, tool_calls, raw) = (answer.text.clone(), answer.tool_calls.clone(), answer.raw.clone());
        request.messages.push(Message::Assistant { text, tool_calls, raw });
        request.messages.push(Message::ToolResults { results: vec![result] });
        assert_eq!(ask(&brain, &request).await.0.unwrap().text, "Found: oolong.", "{wire:?}");

        let error = ask(&brain, &question("Be too busy")).await.0.unwrap_err();
        assert_eq!(error.class, FailureClass::RateLimit, "{wire:?}: {error}");
    }
}
