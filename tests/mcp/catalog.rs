//! The catalog: what a client is told of each tool.

use serde_json::{Value, json};

use crate::mcp::client::Client;

/// The tools as listed.
pub fn tools(client: &mut Client) -> Vec<Value> {
    client.result("tools/list", json!({}))["tools"].as_array().unwrap().clone()
}

#[test]
fn the_list_of_tools_is_this() {
    let (_vault, mut client) = Client::over("");
    let mut shown = String::new();
    for tool in tools(&mut client) {
        let hints = &tool["annotations"];
        let marks: String = [
            ("readOnlyHint", 'r'),
            ("destructiveHint", 'd'),
            ("idempotentHint", 'i'),
            ("openWorldHint", 'o'),
        ]
        .iter()
        .map(|(name, mark)| if hints[*name] == true { *mark } else { '-' })
        .collect();
        let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
        let arguments: Vec<String> = tool["inputSchema"]["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(|name| if required.contains(&json!(name)) { name.clone() } else { format!("[{name}]") })
            .collect();
        let outputs: Vec<&str> =
            tool["outputSchema"]["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        shown.push_str(&format!(
            "{marks} {} ({}): {} -> {}\n",
            tool["name"].as_str().unwrap(),
            tool["title"].as_str().unwrap(),
            arguments.join(" "),
            outputs.join(" ")
        ));
    }
    insta::assert_snapshot!(shown, @r"
    r-i- memory_search (Search memory): [deep] [limit] [memory_scope] query [scope] -> complete hits notes reranked_by untrusted
    r-i- memory_recall (Recall for a prompt): [max_chars] [memory_scope] query -> digest hits untrusted
    r-i- memory_get (Read a note): [lines] path -> end_line hash line next_lines path text total_lines untrusted
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

#[test]
fn every_schema_is_one_and_every_word_is_said() {
    let (_vault, mut client) = Client::over("");
    for tool in tools(&mut client) {
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
    }
}

/// Every request of a conversation carries the tools: they are short. What a model is told, in characters.
#[test]
fn the_default_tools_are_short() {
    let (_vault, mut client) = Client::over("");
    let told = |tool: &Value| {
        let told = json!({
            "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"],
        });
        told.to_string().chars().count()
    };
    let characters: usize = tools(&mut client).iter().map(told).sum();
    assert!(characters <= 10_000, "{characters} characters");
}
