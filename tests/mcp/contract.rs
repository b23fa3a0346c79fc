//! The contract of every tool: valid arguments, each required one missing, each of a wrong type, hostile
//! paths, texts of a megabyte. Driven by the catalog, so a new tool is in it at once.

use crate::mcp::client::*;

/// A vault in which every tool has something to do.
fn vault() -> TestVault {
    TestVault::new(include_str!("contract.txt"))
}

/// Arguments with which each tool succeeds.
fn valid(tool: &str) -> Value {
    match tool {
        "memory_save" => json!({"scope": "long", "content": "prefers tea", "key": "Kyle"}),
        "memory_search" | "memory_recall" => json!({"query": "what tea does Ann like?"}),
        "memory_get" => json!({"path": "MEMORY.md"}),
        "memory_list" => json!({"scope": "long"}),
        "memory_commitment_due" | "reminder_list" => json!({}),
        "memory_commitment_done" => json!({"id": "c-2026-11-30-001"}),
        "memory_promote" => json!({"date": "2026-11-30", "line": 1, "section": "Ann"}),
        "reminder_add" => json!({"when": "tomorrow 9am", "message": "Call \"Mum\""}),
        "reminder_update" => json!({"id": "rid_AAAABBBBCCCC", "message": "Water the plants"}),
        "reminder_done" => json!({"id": vault_agent::tasks::task_id("Home.md", "Pay rent")}),
        "reminder_snooze" => json!({"id": "rid_AAAABBBBCCCC", "minutes": 20}),
        "memory_edit" => json!({"path": "MEMORY.md", "text": "likes green tea", "new_text": "black tea"}),
        "memory_forget" => json!({"path": "MEMORY.md", "text": "likes green tea"}),
        "classify_task" | "route_task" => json!({"text": "fix this function"}),
        "lcm_grep" => json!({"pattern": "dentist", "limit": 5}),
        "lcm_describe" => json!({"id": "sum_0123456789abcdef"}),
        "lcm_expand" => json!({"ids": "sum_0123456789abcdef", "include_messages": true}),
        "ask_brain" => json!({"name": "claude", "question": "Is 91 prime?"}),
        "reminder_delete" => json!({"id": "rid_AAAABBBBCCCC"}),
        "memory_pin" => json!({"content": "Mum's birthday is 3 May"}),
        "memory_unpin" => json!({"content": "Pinned fact"}),
        other => panic!("no valid arguments are known for {other}"),
    }
}

#[test]
fn every_tool_does_what_its_schemas_promise() {
    for tool in Client::new(&vault()).tools() {
        let vault = vault();
        let mut client = Client::new(&vault);
        let name = tool["name"].as_str().unwrap();
        if name == "ask_brain" {
            // There is nobody to ask here; `brains` asks.
            continue;
        }
        let arguments = valid(name);
        assert!(jsonschema::is_valid(&tool["inputSchema"], &arguments), "{name}");
        let (before, given) = (vault.tree(), arguments.to_string());
        let answer = client.call(name, arguments).ok();
        let output = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        assert!(output.is_valid(answer.structured()), "{name}: {}", answer.0);
        assert!(!answer.text().is_empty(), "{name}");
        if tool["annotations"]["readOnlyHint"] == true {
            assert_eq!(vault.tree(), before, "{name} reads only");
        } else {
            assert_ne!(vault.tree(), before, "{name} writes");
        }
        // Whatever holds texts from notes that the caller didn't give says that they are not to be obeyed.
        let from_notes = ["green tea", "moves to Leeds", "time=09:30", "Pay rent", "dentist"];
        let shows = from_notes.iter().any(|words| answer.text().contains(words) && !given.contains(words));
        if (shows || answer.structured()["untrusted"] == true) && answer.text() != "NONE" {
            assert!(answer.text().contains("Untrusted context"), "{name}: {}", answer.text());
            assert_eq!(answer.0["_meta"]["vault-agent/trust"], "untrusted", "{name}");
        }
    }
}

#[test]
fn every_argument_is_checked() {
    let vault = vault();
    let (mut client, before) = (Client::new(&vault), vault.tree());
    for tool in client.tools() {
        let name = tool["name"].as_str().unwrap();
        let schema = &tool["inputSchema"];
        let good = valid(name);
        let with = |argument: &str, value: Value| {
            let mut arguments = good.clone();
            arguments[argument] = value;
            arguments
        };
        for argument in schema["required"].as_array().into_iter().flatten() {
            let argument = argument.as_str().unwrap();
            let mut missing = good.clone();
            missing.as_object_mut().unwrap().remove(argument);
            let answer = client.refuses(name, missing, "missing_argument");
            assert_eq!(answer.0["_meta"]["vault-agent/error"]["argument"], argument, "{name}");
            answer.says(&format!("`{argument}`"));
        }
        for (argument, property) in schema["properties"].as_object().unwrap() {
            let wrong = match property["type"].as_str() {
                Some("integer") => json!(["three", 1.5, [], true]),
                Some("boolean") => json!([7, "true", ["a"], {"a": 1}]),
                _ => json!([7, ["a"], {"a": 1}, false]),
            };
            for value in wrong.as_array().unwrap() {
                client.refuses(name, with(argument, value.clone()), "wrong_type");
            }
            if property["type"] == "string" {
                let answer = client.call(name, with(argument, json!("x".repeat(1_000_000))));
                let kind = answer.error();
                let kinds = ["too_long", "unknown_choice", "unknown_scope"];
                assert!(kinds.contains(&kind), "{name} {argument}: {kind}");
                assert!(answer.text().len() < 3_000, "{name} {argument} echoes what was sent");
            }
            if property["type"] == "integer" {
                client.refuses(name, with(argument, json!(-1)), "out_of_range");
            }
        }
        client.refuses(name, with("surprise", json!(1)), "unknown_argument");
    }
    assert_eq!(vault.tree(), before, "a refused call writes nothing");
}

#[test]
fn hostile_paths_read_nothing() {
    let vault = vault();
    let outside = vault.home().join("secret.md");
    std::fs::write(&outside, "the secret\n").unwrap();
    std::os::unix::fs::symlink(&outside, vault.path("link.md")).unwrap();
    std::os::unix::fs::symlink(vault.home(), vault.path("folder")).unwrap();
    let mut client = Client::new(&vault);
    let paths = [("link.md", "bad_path"), ("", "empty_argument"), ("a\u{0}b.md", "control_character")];
    for (path, kind) in paths {
        contains_none(client.refuses("memory_get", json!({"path": path}), kind).text(), &["the secret"]);
    }
    for (scopes, kind) in
        [("../home /etc folder link.md", "bad_path"), ("nowhere chanel:1 channel: user:1", "unknown_scope")]
    {
        for scope in scopes.split(' ') {
            client.refuses("memory_search", json!({"query": "secret", "scope": scope}), kind);
        }
    }
    // A comma in a folder's name ends no scope.
    vault.write("work/a.md", "green tea\n");
    vault.write("work, private/b.md", "green tea\n");
    let found = client.does("memory_search", json!({"query": "green tea", "scope": "work, private"}));
    assert_eq!(found["hits"][0]["path"], "work, private/b.md");
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn dates_that_are_none_are_refused() {
    let mut client = Client::new(&vault());
    for now in ["yesterday-ish", "2026-02-30T09:00:00Z", "2026-13-01 09:00"] {
        client.refuses("memory_commitment_due", json!({"now": now}), "bad_date");
    }
    for when in ["2026-02-30 09:00", "2020-01-01 09:00", "soonish", "25:00"] {
        let arguments = json!({"when": when, "message": "x"});
        client.refuses("reminder_add", arguments, "bad_time").says("tomorrow 9am");
    }
}

#[test]
fn lines_of_a_note_are_given_as_they_stand() {
    let long = "long ".repeat(40 << 10);
    let (_vault, mut client) =
        Client::over(&format!("//- /a.md\none\ntwo\nthree\n//- /long.md\n{long}\nlast\n"));
    let all = "one\ntwo\nthree\n";
    for (lines, text) in [("2", "two\n"), ("2-3", &all[4..]), ("2-", &all[4..]), ("1-99", all)] {
        let answer = client.does("memory_get", json!({"path": "a.md", "lines": lines}));
        assert_eq!(pick(&answer, "text total_lines cut"), json!([text, 3, false]), "{lines}");
    }
    let cut = client.does("memory_get", json!({"path": "long.md"}));
    assert_eq!(pick(&cut, "cut end_line next_lines"), json!([true, 1, "2-2"]));
    for lines in ["0", "b", "3-2", "-1"] {
        client.refuses("memory_get", json!({"path": "a.md", "lines": lines}), "bad_lines");
    }
    client.refuses("memory_get", json!({"path": "a.md", "lines": "9"}), "no_such_line");
}

#[test]
fn recall_answers_with_one_word_where_nothing_is_sure() {
    let vault = vault();
    let mut client = Client::new(&vault);
    let none = client.call("memory_recall", json!({"query": "hello"})).ok();
    assert_eq!((none.text(), &none.structured()["digest"]), ("NONE", &Value::Null));
    client.call("memory_recall", json!({"query": "What kind of tea does Ann like?"})).ok().says("green tea");
}

#[test]
fn the_list_of_tools_is_this() {
    let ((_vault, mut client), mut shown) = (Client::over(""), String::new());
    for tool in client.tools() {
        let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        let mark = |hint: &'static str| if tool["annotations"][hint] == true { &hint[..1] } else { "-" };
        let marks: String = hints.map(mark).concat();
        let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
        let names_of = |schema: &str| tool[schema]["properties"].as_object().unwrap().keys().cloned();
        let show = |name| if required.contains(&json!(name)) { name } else { format!("[{name}]") };
        let arguments = names_of("inputSchema").map(show).collect::<Vec<_>>().join(" ");
        let outputs = names_of("outputSchema").collect::<Vec<_>>().join(" ");
        let (name, title) = (tool["name"].as_str().unwrap(), tool["title"].as_str().unwrap());
        shown.push_str(&format!("{marks} {name} ({title}): {arguments} -> {outputs}\n"));
    }
    insta::assert_snapshot!(shown, @r"
    r-i- memory_search (Search memory): [deep] [limit] [memory_scope] query [scope] -> complete hits notes reranked_by untrusted
    r-i- memory_recall (Recall for a prompt): [max_chars] [memory_scope] query -> digest hits untrusted
    r-i- memory_get (Read a note): [lines] path -> cut end_line hash line next_lines path text total_lines untrusted
    r-i- memory_list (List memory): [memory_scope] scope -> commitments days sections untrusted
    r-i- memory_commitment_due (Due follow-ups): [now] -> commitments days sections untrusted
    r-i- reminder_list (List reminders):  -> more reminders untrusted
    r-i- classify_task (Classify a task): text -> category
    r-i- route_task (Route a task): text -> brain category chain rule why
    r-i- lcm_grep (Search past conversations): [before] [limit] [mode] pattern [scope] [since] -> hits more untrusted
    r-i- lcm_describe (Describe a summary): id -> covered_tokens covers depth events id kind log parents path sources text tokens untrusted
    r-i- lcm_expand (Expand summaries): ids [include_messages] [max_depth] [token_cap] -> blocks truncated untrusted
    ---- ask_brain (Ask another brain): name question -> answer brain untrusted
    ---- memory_save (Save a memory): [commitment_scope] content [due] [expected] [key] [memory_scope] [precision] scope -> end_line existing id line memory_scope near notes path section text
    -di- memory_edit (Change a memory): [expected] [line] new_text path text -> end_line existing id line memory_scope near notes path section text was
    -di- memory_forget (Forget a memory): [expected] [line] path text -> path text
    -d-- memory_promote (Promote a note of the day): date line [section] [text] -> end_line existing from id line memory_scope near notes path removed section text
    -di- memory_commitment_done (Mark a follow-up delivered): id -> commitments days sections untrusted
    ---- reminder_add (Add a reminder): message [recur] when -> id line_text path when
    -d-- reminder_update (Change a reminder): id [message] [recur] [when] -> id line_text path when
    -d-- reminder_done (Say that a reminder or a task is done): id -> id line_text next_text path remark
    -d-- reminder_snooze (Snooze a reminder): id [minutes] [until] -> id line_text path when
    -di- reminder_delete (Delete a reminder): id -> id line_text path when
    --i- memory_pin (Pin a memory): content [link] -> end_line existing id line memory_scope near notes path section text
    -di- memory_unpin (Unpin a memory): content -> path text
    ");
}

/// Every request of a conversation carries the tools: they are short. What a model is told, in characters.
#[test]
fn every_schema_is_one_every_word_is_said_and_all_of_it_is_short() {
    let ((_vault, mut client), mut characters) = (Client::over(""), 0);
    for tool in client.tools() {
        let name = tool["name"].as_str().unwrap();
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}");
            assert!(jsonschema::validator_for(&tool[schema]).is_ok(), "{name} {schema}");
            assert!(!tool[schema].to_string().contains("\"format\":"), "{name} {schema}");
        }
        assert!(tool["description"].as_str().unwrap().len() > 20, "{name}");
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert!(schema["description"].as_str().unwrap().len() > 5, "{name} {argument}");
        }
        let (words, schema) = (&tool["description"], &tool["inputSchema"]);
        let told = json!({"name": name, "description": words, "inputSchema": schema});
        characters += told.to_string().chars().count();
    }
    assert!(characters <= 10_000, "{characters} characters");
}
