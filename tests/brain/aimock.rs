//! The three wires against somebody else's model server, where one is running: `tests/brain/aimock/run` starts
//! aimock and names its URL in `VAULT_AGENT_AIMOCK_URL`. Without it there is nothing to check.

use crate::brain::rig::*;
use vault_agent::brain::{FailureClass, StopReason};

use crate::brain::conversation::after;

#[tokio::test]
async fn the_wires_work_against_somebody_elses_server() {
    let Ok(url) = std::env::var("VAULT_AGENT_AIMOCK_URL") else { return };
    for wire in WireFormat::ALL {
        let brain = brain(wire, &url, PATIENT);
        let (answer, progress) = ask(&brain, &question("What does Anna like?")).await;
        let answer = answer.unwrap();
        let text = "Anna likes oolong tea.";
        assert_eq!((answer.text.as_str(), answer.stop), (text, StopReason::End), "{wire:?}");
        assert_eq!(progress.chars, answer.text.chars().count());

        let request = with_tool("Look for Anna");
        let answer = ask(&brain, &request).await.0.unwrap();
        assert_eq!(answer.stop, StopReason::ToolUse, "{wire:?}");
        let call = &answer.tool_calls[0];
        assert_eq!(call.name, "look");
        assert_eq!(serde_json::from_str::<Value>(&call.arguments).unwrap()["q"], "Anna");
        let next = after(&request, &answer, &["oolong"]);
        assert_eq!(ask(&brain, &next).await.0.unwrap().text, "Found: oolong.", "{wire:?}");

        let error = ask(&brain, &question("Be too busy")).await.0.unwrap_err();
        assert_eq!(error.class, FailureClass::RateLimit, "{wire:?}: {error}");
    }
}
