//! What the assistant may do by itself is decided in notes that its tools can't write.

use serde_json::Map;
use vault_agent::agent::{OtherBrains, Toolbox, tools::Caller};
use vault_agent::brain::ToolCall;
use vault_agent::mcp::VaultTools;
use vault_agent::memory::MemoryError;
use vault_agent::turn::turn_journal::ToolEnd;
use vault_agent::vault::Origin;

use crate::support::prelude::*;

const LINE: &str = "- [ ] ap_K5V4M2J7Q2ZP until=2026-12-01T10:00Z brain=claude run=\"rm x\" turn=1/0";
const PROTECTED: [(&str, &str); 4] = [
    ("vault-agent.toml", "[assistant]\nallow = []\n"),
    ("skills/web/SKILL.md", "---\nname: web\ndescription: The web.\n---\nbody\n"),
    ("routines/morning.md", "---\nschedule: daily 08:00\nenabled: false\n---\nbody\n"),
    ("Approvals.md", LINE),
];

/// Arguments for a tool, with `text` wherever words are taken, and each of the values that an enumeration has.
fn arguments(schema: &Value, text: &str) -> Vec<Map<String, Value>> {
    let mut all = vec![Map::new()];
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let kind = property["type"].as_str().or_else(|| property["type"][0].as_str()).unwrap_or("string");
        let values = match (property["enum"].as_array(), kind) {
            (Some(values), _) => values.clone(),
            (None, "integer" | "number") => vec![json!(1)],
            (None, "boolean") => vec![json!(true)],
            (None, "array") => vec![json!([text])],
            (None, "object") => vec![json!({ "path": text })],
            // A place in time must be one, or the call is refused before it does anything.
            _ if ["due", "when", "date", "time"].contains(&name.as_str()) => {
                vec![json!("tomorrow 9:00"), json!(text)]
            }
            _ => vec![json!(text)],
        };
        let required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
        let with = all.iter().flat_map(|known| {
            values
                .iter()
                .map(|value| known.clone().into_iter().chain([(name.clone(), value.clone())]).collect())
        });
        let mut next: Vec<_> = with.collect();
        if !required {
            next.extend(all.iter().cloned());
        }
        next.truncate(64);
        all = next;
    }
    all
}

fn read(vault: &TestVault) -> Vec<String> {
    PROTECTED.iter().map(|(path, _)| vault.read(path)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_tool_can_write_settings_skills_routines_or_approvals() {
    let vault = TestVault::new("");
    PROTECTED.iter().for_each(|(path, text)| vault.write(path, text));
    let tools = VaultTools::beside_turns(Arc::into_inner(vault.workspace()).unwrap(), OtherBrains::default());
    let (before, ticked) = (read(&vault), LINE.replace("[ ]", "[x]"));
    let others = "ap_K5V4M2J7Q2ZP skills/web routines Approvals ./Approvals.md daily/../Approvals.md";
    let texts = [LINE, &ticked].into_iter().chain(others.split(' '));
    let texts: Vec<&str> = texts.chain(PROTECTED.map(|(path, _)| path)).collect();
    let (mut calls, mut fine) = (0, 0);
    for spec in tools.specs() {
        for text in &texts {
            for arguments in arguments(&spec.schema, text) {
                let end = call(&tools, &spec.name, &Value::Object(arguments.clone()), calls).await;
                calls += 1;
                fine += u32::from(!end.is_error);
                assert_eq!(read(&vault), before, "{} {arguments:?}", spec.name);
            }
        }
    }
    assert!(fine > 20, "the calls do something: {fine} of {calls}");
}

/// Calls a tool as a brain does, as its turn's call number so many.
async fn call(tools: &VaultTools, name: &str, arguments: &Value, number: u32) -> ToolEnd {
    let call = ToolCall { id: "1".into(), name: name.into(), arguments: arguments.to_string() };
    let caller = Caller { turn: "1".into(), number, brain: "claude".into(), tainted: false };
    tools.call(&call, &caller, &CancellationToken::new()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_brain_sends_a_follow_up_to_its_owner_alone() {
    let vault = TestVault::new("//- /vault-agent.toml\n[discord]\nchannel_id = 3\nowner_ids = [4]\n");
    vault.write("logs/discord-thread/7/20260130T142355Z_0001.md", "x\n");
    let tools = VaultTools::beside_turns(Arc::into_inner(vault.workspace()).unwrap(), OtherBrains::default());
    let others = "user:3 user:666 channel:7 channel:666 thread:4";
    for (places, is_owners) in [("user:4 channel:3 thread:7", true), (others, false)] {
        for place in places.split(' ') {
            let arguments = json!({
                "scope": "commitment", "content": place, "due": "tomorrow 9:00", "commitment_scope": place,
            });
            let end = call(&tools, "memory_save", &arguments, 0).await;
            assert_eq!(end.is_error, !is_owners, "{place}: {}", end.text);
            let note = vault.read("COMMITMENTS.md");
            assert_eq!(note.contains(&format!("scope: {place}")), is_owners, "{place}");
        }
    }
    // Nor does it fill one that waits for somebody else.
    let block = "---\nid: c-2026-12-01-900\nstatus: pending\nprecision: soft\ndue: 2026-12-08T19:00:00Z\nscope: user:666\n\
                 created: 2026-11-20T14:00:00Z\n---\nWater\n";
    vault.write("COMMITMENTS.md", block);
    let (workspace, origin) = (vault.workspace(), Origin::new(Actor::Assistant));
    let change = workspace.memory().ledger().change("c-2026-12-01-900", (Some("my notes"), None), &origin);
    assert!(matches!(change, Err(MemoryError::BadPlace(..))), "{change:?}");
}
