use super::*;

#[test]
fn our_tools_are_known_whoever_names_them() {
    for call in [
        json!({"title": "mcp__vault-agent__memory_save", "rawInput": {"content": "x"}}),
        json!({"title": "Save", "_meta": {"claudeCode": {"toolName": "mcp__vault-agent__memory_save"}},
            "rawInput": {"content": "x"}}),
        json!({"title": "Tool: vault-agent/memory_save",
            "rawInput": {"server": "vault-agent", "tool": "memory_save", "arguments": {"content": "x"}}}),
    ] {
        let expected = Some(("memory_save".to_owned(), r#"{"content":"x"}"#.to_owned(), true));
        assert_eq!(call_details(&call, &[]), expected, "{call}");
    }
    let foreign = json!({"title": "rm -r x", "kind": "execute", "rawInput": {"command": "rm -r x"}});
    assert_eq!(server_and_tool(&foreign, &[]), None);
    assert_eq!(call_details(&foreign, &[]).unwrap().0, "execute");
    let wrapped = json!({"server": "vault-agent", "tool": "memory_save", "arguments": {}});
    let more = json!({"command": "rm", "server": "vault-agent", "tool": "memory_save", "arguments": {}});
    for (kind, title, input) in [
        ("execute", "rm -r x", &wrapped),
        ("execute", "Tool: vault-agent/memory_save", &wrapped),
        ("fetch", "mcp__vault-agent__memory_save", &foreign["rawInput"]),
        ("other", "rm -r x", &wrapped),
        ("other", "Tool: vault-agent/memory_save", &more),
        ("other", "Tool: vault-agent/memory_save", &foreign["rawInput"]),
        ("other", "Tool: vault-agent/memory_get", &wrapped),
        ("other", "mcp_call", &wrapped),
    ] {
        let call = json!({"kind": kind, "title": title, "rawInput": input});
        assert_eq!(server_and_tool(&call, &[]), None, "{call}");
    }
    let odd = json!({"title": "Odd one", "kind": "other"});
    assert_eq!(call_details(&odd, &[]), Some(("Odd_one".into(), "{}".into(), false)));
}

#[test]
fn tools_of_other_servers_are_calls_of_the_box() {
    let text = "[[mcp]]\nname = \"web\"\ncommand = [\"x\"]\ntools = [\"look\"]";
    let others = crate::config::Settings::parse(text).unwrap().mcp;
    let expected = r#"{"arguments":{"at":"x"},"server":"web","tool":"look"}"#;
    for call in [
        json!({"title": "mcp__web__look", "rawInput": {"at": "x"}}),
        json!({"title": "Tool: web/look", "rawInput": {"server": "web", "tool": "look", "arguments": {"at": "x"}}}),
    ] {
        assert_eq!(call_details(&call, &others), Some((FOREIGN.into(), expected.into(), true)), "{call}");
    }
    let strange = json!({"title": "mcp__far__look", "kind": "other"});
    assert_eq!(server_and_tool(&strange, &others), None);
}

#[test]
fn a_status_is_found_in_words() {
    assert_eq!(status("API Error: 401 no"), Some(401));
    assert_eq!(status("unexpected status 429 Too Many"), Some(429));
    assert_eq!(status("it took 500 ms, error 12"), None);
}
