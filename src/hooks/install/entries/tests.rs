//! Tests `entries`.

use super::*;

fn caller() -> HookCaller {
    HookCaller { program: "/opt/it's/vault-agent".into(), vault: "/home/a b/Vault".into(), server: None }
}

#[test]
fn commands_are_quoted_and_known_again() {
    let command = caller().command(HostEvent::Stop);
    assert_eq!(command, r"'/opt/it'\''s/vault-agent' --vault '/home/a b/Vault' hook stop");
    assert_eq!(event_of_command(&command), Some(HostEvent::Stop));
    assert_eq!(shlex::split(&command).unwrap()[0], "/opt/it's/vault-agent");
    assert_eq!(event_of_command("\"/x/vault-agent\" hook pre-compact"), Some(HostEvent::PreCompact));
    for other in ["vault-agent recall x", "other hook stop", "vault-agent hook", "'vault-agent hook stop", ""]
    {
        assert_eq!(event_of_command(other), None, "{other}");
    }
}

#[test]
fn an_empty_file_gets_every_event() {
    let text =
        install("", &HookCaller { program: "/bin/vault-agent".into(), vault: "/v".into(), server: None })
            .unwrap();
    let stop = text.find("    \"UserPromptSubmit\"").unwrap();
    insta::assert_snapshot!(&text[..stop], @r#"
        {
          "hooks": {
            "SessionStart": [
              {
                "hooks": [
                  {
                    "command": "'/bin/vault-agent' --vault '/v' hook session-start",
                    "timeout": 5,
                    "type": "command"
                  }
                ]
              }
            ],
        "#);
    let events: Vec<HostEvent> = installed(&text).unwrap().into_iter().map(|(event, _)| event).collect();
    assert_eq!(events, HostEvent::ALL);
    assert_eq!(uninstall(&text, None).unwrap(), "{}\n");
    assert_eq!(uninstall(&text, Some("")).unwrap(), "");
    assert!(is_all_ours(&text, None).unwrap() && is_all_ours(&text, Some("[]")).unwrap());
    assert!(!is_all_ours(&text, Some("")).unwrap() && !is_all_ours("{}", None).unwrap());
    assert!(!is_all_ours(&text.replace("{\n", "{ \n"), None).unwrap());
}

#[test]
fn a_moved_program_is_brought_up_to_date_where_it_stands() {
    let old = install("{\n\t\"model\": \"x\"\n}", &caller()).unwrap();
    let touched = old.replace("\"timeout\": 5", "\"timeout\": 9");
    let new = HookCaller { program: "/new/vault-agent".into(), ..caller() };
    let after = install(&touched, &new).unwrap();
    assert_eq!(after, touched.replace(r"'/opt/it'\\''s/vault-agent'", "'/new/vault-agent'"));
    assert_eq!(install(&after, &new).unwrap(), after);
    assert_eq!(uninstall(&after, None).unwrap(), "{\n\t\"model\": \"x\"\n}");
}

#[test]
fn prompts_and_stops_call_our_server_s_tool_where_there_is_one() {
    let with = HookCaller { server: Some("vault".into()), ..caller() };
    for before in ["{\n\t\"model\": \"x\"\n}", "{}", "{\"a\":1}"] {
        let after = install(before, &with).unwrap();
        let value: Value = serde_json::from_str(&after).unwrap();
        let prompt = &value["hooks"]["UserPromptSubmit"][0]["hooks"][0];
        assert_eq!((&prompt["type"], &prompt["server"]), (&"mcp_tool".into(), &"vault".into()), "{after}");
        assert_eq!(prompt["input"]["prompt"], "${prompt}");
        assert_eq!(value["hooks"]["SessionStart"][0]["hooks"][0]["type"], "command");
        assert_eq!(installed(&after).unwrap().len(), HostEvent::ALL.len());
        assert_eq!(install(&after, &with).unwrap(), after, "once");
        assert_eq!(uninstall(&after, Some(before)).unwrap(), before);
        assert_eq!(uninstall(&after, None).unwrap(), before);
        // To and fro: a server that came or went changes two entries where they stand.
        let to = install(&install(before, &caller()).unwrap(), &with).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&to).unwrap(), value);
        let fro = install(&to, &caller()).unwrap();
        assert_eq!(fro, install(before, &caller()).unwrap());
    }
}

#[test]
fn other_hooks_stay_where_they_are() {
    let before = r#"{"hooks": {"Stop": [{"matcher":"","hooks":[{"type":"command","command":"say done"}]} ], "Other":[ ]},"x":[1 ,2]}"#;
    let after = install(before, &caller()).unwrap();
    assert!(after.contains("say done") && !after.contains('\n'), "{after}");
    assert_eq!(uninstall(&after, None).unwrap(), before);
    // A person put a hook of theirs beside ours.
    let beside = after.replacen(
            "{\"hooks\":[{\"type\":\"command\",\"command\":\"'/opt",
            "{\"hooks\":[{\"type\":\"command\",\"command\":\"theirs\"}, {\"type\":\"command\",\"command\":\"'/opt",
            1,
        );
    if beside != after {
        let left = uninstall(&beside, None).unwrap();
        assert!(left.contains("\"theirs\"") && !left.contains("vault-agent"), "{left}");
    }
}

#[test]
fn twice_the_same_entry_becomes_one() {
    let once = install("{}", &caller()).unwrap();
    let group = json!({"hooks": [{"type": "command", "command": caller().command(HostEvent::Stop)}]});
    let mut value: Value = serde_json::from_str(&once).unwrap();
    value["hooks"]["Stop"].as_array_mut().unwrap().push(group);
    let healed = install(&value.to_string(), &caller()).unwrap();
    assert_eq!(installed(&healed).unwrap().len(), HostEvent::ALL.len());
}

#[test]
fn what_has_another_shape_is_refused_with_its_place() {
    let refused = |text: &str| install(text, &caller()).unwrap_err().to_string();
    insta::assert_snapshot!(refused("[1]"), @"the file's value at line 1, column 1 should be an object");
    insta::assert_snapshot!(refused("{\n \"hooks\": 3}"), @"`hooks` at line 2, column 11 should be an object");
    insta::assert_snapshot!(refused("{\"hooks\": {\"Stop\": {}}}"), @"`hooks.Stop` at line 1, column 20 should be a list");
    insta::assert_snapshot!(refused("{\"a\": tru}"), @"not valid JSON at line 1, column 10: expected ident");
    assert!(uninstall("{,}", None).is_err());
}
