//! Defines the hook tool of our MCP server: hosts that are connected to the server call it instead of starting a
//! process.
//!
//! The tool is in no list: it is for the host, not for the model. Its arguments are the host's message, filled in by
//! the host as texts; its answer is what the command would have printed. Pure.

use serde_json::{Map, Value, json};

use super::messages::HostEvent;

/// The tool's name.
pub const TOOL: &str = "vault_agent_hook";

/// Whether an event can be a tool's: at a session's start and end the host's servers may not be connected.
pub fn can_be(event: HostEvent) -> bool {
    matches!(event, HostEvent::UserPromptSubmit | HostEvent::Stop)
}

/// The arguments that the host is to give: `${…}` are fields of its message.
pub fn arguments(event: HostEvent) -> Value {
    let field = |name: &str| Value::from(format!("${{{name}}}"));
    let mut all = json!({ "event": event.as_str() });
    let more = match event {
        HostEvent::Stop => &["stop_hook_active", "last_assistant_message"][..],
        _ => &["prompt"],
    };
    for name in ["session_id", "transcript_path", "cwd"].iter().chain(more) {
        all[*name] = field(name);
    }
    all
}

/// The event and the host's message, from the arguments of a call; none where they are of another kind.
pub fn message(given: &Map<String, Value>) -> Option<(HostEvent, Vec<u8>)> {
    let event = HostEvent::named(given.get("event")?.as_str()?).filter(|event| can_be(*event))?;
    let mut message = Map::new();
    for (name, value) in given.iter().filter(|(name, _)| *name != "event") {
        let value = match value.as_str() {
            // A field that the message lacks arrives as an empty text.
            Some("") => continue,
            Some(text) if name == "stop_hook_active" => Value::from(text == "true"),
            _ => value.clone(),
        };
        message.insert(name.clone(), value);
    }
    message.insert("hook_event_name".to_owned(), event.host_name().into());
    Some((event, Value::Object(message).to_string().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::host::messages::HookInput;

    #[test]
    fn what_the_host_fills_in_is_its_message() {
        let mut given = arguments(HostEvent::Stop).as_object().unwrap().clone();
        given["stop_hook_active"] = "true".into();
        given["session_id"] = "s-1".into();
        given["last_assistant_message"] = "".into();
        let (event, bytes) = message(&given).unwrap();
        let input = HookInput::parse(&bytes).unwrap();
        assert_eq!(
            (event, input.stop_hook_active, input.session_id.as_deref()),
            (HostEvent::Stop, Some(true), Some("s-1"))
        );
        assert_eq!(input.last_assistant_message, None);
        for other in [json!({}), json!({"event": "session-start"}), json!({"event": 3})] {
            assert!(message(other.as_object().unwrap()).is_none());
        }
    }
}
