//! Translates Codex's items, questions and errors into calls of tools, approvals and classes of failure. Pure.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::program::{PATCH, SHELL};
use crate::brain::classify;
use crate::brain::portable_tool_name;
use crate::brain::programs::harness::{FOREIGN, SERVER, foreign};
use crate::brain::{BrainError, ToolCall, ToolResult};

/// An item as a call of a tool; none if it is no tool.
pub(super) fn call(item: &Value) -> Option<ToolCall> {
    let pick = |keys: &[&str]| {
        let kept = keys.iter().filter(|key| !item[**key].is_null());
        Value::Object(kept.map(|key| ((*key).to_owned(), item[*key].clone())).collect())
    };
    let tool = item["tool"].as_str().unwrap_or_default();
    let (name, arguments) = match item["type"].as_str()? {
        "commandExecution" => (SHELL, pick(&["command", "cwd"])),
        "fileChange" => (PATCH, pick(&["changes"])),
        "mcpToolCall" if item["server"] == SERVER => (tool, item["arguments"].clone()),
        "mcpToolCall" => {
            let server = item["server"].as_str().unwrap_or_default();
            (FOREIGN, foreign(server, tool, &item["arguments"]))
        }
        "dynamicToolCall" | "collabAgentToolCall" => (tool, pick(&["arguments", "prompt"])),
        "webSearch" => ("web_search", pick(&["query", "action"])),
        "imageView" => ("view_image", pick(&["path"])),
        "imageGeneration" => ("image_generation", json!({})),
        _ => return None,
    };
    let arguments = if arguments.is_null() { json!({}) } else { arguments };
    Some(ToolCall { id: id(item), name: portable_tool_name(name), arguments: arguments.to_string() })
}

fn id(item: &Value) -> String {
    item["id"].as_str().unwrap_or_default().to_owned()
}

/// The result of a finished item's tool.
pub(super) fn result(item: &Value) -> ToolResult {
    let status = item["status"].as_str().unwrap_or("completed");
    let mut is_error = status != "completed";
    let text = match item["type"].as_str().unwrap_or_default() {
        "commandExecution" => {
            let code = item["exitCode"].as_i64();
            is_error |= code.is_some_and(|code| code != 0);
            let code = code.filter(|code| *code != 0).map(|code| format!("\n(exit code {code})"));
            format!("{}{}", item["aggregatedOutput"].as_str().unwrap_or_default(), code.unwrap_or_default())
        }
        "mcpToolCall" => {
            let blocks = item["result"]["content"].as_array().into_iter().flatten();
            let words = blocks.map(|block| match block["text"].as_str() {
                Some(text) => text.to_owned(),
                None => format!("[{}]", block["type"].as_str().unwrap_or("data")),
            });
            let words = words.collect::<Vec<_>>().join("\n");
            let error = item["error"]["message"].as_str().unwrap_or_default();
            if words.is_empty() { error.to_owned() } else { words }
        }
        "dynamicToolCall" => {
            let blocks = item["contentItems"].as_array().into_iter().flatten();
            blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    let text = match (text.trim().is_empty(), status) {
        (false, _) => text,
        (true, "declined") => "declined".to_owned(),
        (true, status) => format!("({status})"),
    };
    ToolResult { call_id: id(item), text, is_error }
}

/// A call for which Codex asks permission.
pub(super) struct CodexApproval {
    pub call: ToolCall,
    /// Its own tool, which the settings have to name; none for other tools.
    pub named_by: Option<&'static str>,
    pub yes: Value,
    pub no: Value,
}

/// Reads a request from Codex; none if we don't know it. `open` are the calls that began, by their ids.
pub(super) fn approval(
    method: &str,
    params: &Value,
    open: &HashMap<String, ToolCall>,
) -> Option<CodexApproval> {
    let item = params["itemId"].as_str().and_then(|item| open.get(item));
    let made = |name: &str, arguments: Value| {
        let id = params["itemId"].as_str().unwrap_or(name).to_owned();
        ToolCall { id, name: name.to_owned(), arguments: arguments.to_string() }
    };
    let of_item = |tool: &'static str| {
        let arguments = if tool == SHELL {
            json!({"command": params["command"], "cwd": params["cwd"]})
        } else {
            json!({"root": params["grantRoot"]})
        };
        let call = item.cloned().unwrap_or_else(|| made(tool, arguments));
        let [yes, no] = ["accept", "decline"].map(|word| json!({"decision": word}));
        CodexApproval { call, named_by: Some(tool), yes, no }
    };
    match method {
        "item/commandExecution/requestApproval" => Some(of_item(SHELL)),
        "item/fileChange/requestApproval" => Some(of_item(PATCH)),
        "item/permissions/requestApproval" => {
            let arguments = json!({"permissions": params["permissions"], "reason": params["reason"]});
            Some(CodexApproval {
                call: made("permissions", arguments),
                named_by: Some(SHELL),
                yes: json!({"permissions": params["permissions"], "scope": "turn"}),
                no: json!({"permissions": {}, "scope": "turn"}),
            })
        }
        "mcpServer/elicitation/request" if params["_meta"]["codex_approval_kind"] == "mcp_tool_call" => {
            let meta = &params["_meta"];
            let server = params["serverName"].as_str().unwrap_or_default();
            let tool = meta["tool_name"].as_str().unwrap_or_default();
            let item = json!({
                "type": "mcpToolCall", "id": tool, "server": server, "tool": tool, "arguments": meta["tool_params"],
            });
            let made = call(&item)?;
            // It doesn't say which call it is about.
            let same = |known: &&ToolCall| known.name == made.name && known.arguments == made.arguments;
            Some(CodexApproval {
                call: open.values().find(same).cloned().unwrap_or(made),
                named_by: None,
                yes: json!({"action": "accept", "content": {}, "_meta": null}),
                no: json!({"action": "decline", "content": null, "_meta": null}),
            })
        }
        _ => None,
    }
}

/// Whether an error is the provider's refusal of the question itself.
pub(super) fn is_refusal(error: &Value) -> bool {
    matches!(error["codexErrorInfo"].as_str(), Some("cyberPolicy" | "misalignmentPolicyViolation"))
}

/// Classes an error that ends a turn, or one after which Codex retries.
pub(super) fn failure(error: &Value, secrets: &[&str]) -> BrainError {
    let words = |key: &str| error[key].as_str().filter(|words| !words.is_empty());
    // While it tries again, its own words are "Reconnecting", and the provider's stand beside.
    let message = words("additionalDetails").or(words("message")).unwrap_or("Codex failed and said nothing");
    let info = &error["codexErrorInfo"];
    let status = info.as_object().and_then(|info| info.values().find_map(|of| of["httpStatusCode"].as_u64()));
    if let Ok(provider @ Value::Object(_)) = serde_json::from_str::<Value>(message) {
        return classify::in_stream(&provider, secrets);
    }
    let code = match info.as_str().unwrap_or_default() {
        "contextWindowExceeded" => "context_length_exceeded",
        "usageLimitExceeded" | "sessionBudgetExceeded" => "insufficient_quota",
        "rateLimitExceeded" => "rate_limit_exceeded",
        "serverOverloaded" | "flexUnavailable" | "policyCapacityUnavailable" => "overloaded",
        "internalServerError" => "server_error",
        "modelNotFound" => "model_not_found",
        "unauthorized" => "unauthorized",
        "badRequest" => "bad_request",
        // Its sentence for any status of 500 and more, if it hides the status.
        _ if status.is_none() && message.contains("experiencing high demand") => "server_error",
        _ => "",
    };
    classify::in_stream(&json!({"error": {"message": message, "code": status, "type": code}}), secrets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brain::call_result::FailureClass;

    /// Errors that Codex 0.169 reported of a server that failed in these ways.
    #[test]
    fn errors_have_their_class() {
        let told = |message: &str, info: Value, details: Option<&str>| {
            let error = json!({"message": message, "codexErrorInfo": info, "additionalDetails": details});
            failure(&error, &["sk-canary-1"])
        };
        let disconnected = |status: Value| json!({"responseStreamDisconnected": {"httpStatusCode": status}});
        let failed = |status: u16| json!({"httpConnectionFailed": {"httpStatusCode": status}});
        let unexpected =
            |words: &str| format!("unexpected status {words}, url: http://127.0.0.1:1/v1/responses");
        for (error, class, too_long) in [
            (
                told(
                    "Reconnecting... 1/1",
                    disconnected(json!(401)),
                    Some(&unexpected("401 Unauthorized: no")),
                ),
                FailureClass::Auth,
                false,
            ),
            (told(&unexpected("401 Unauthorized: bad key"), failed(401), None), FailureClass::Auth, false),
            (
                told(
                    "exceeded retry limit, last status: 429 Too Many Requests",
                    json!({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}),
                    None,
                ),
                FailureClass::RateLimit,
                false,
            ),
            (
                told(
                    "Quota exceeded. Check your plan and billing details.",
                    json!("usageLimitExceeded"),
                    None,
                ),
                FailureClass::Billing,
                false,
            ),
            (told(&unexpected("402 Payment Required: pay"), failed(402), None), FailureClass::Billing, false),
            (
                told(
                    r#"{"error": {"message": "bad thing", "type": "invalid_request_error"}}"#,
                    json!("other"),
                    None,
                ),
                FailureClass::Format,
                false,
            ),
            (
                told(&unexpected("404 Not Found: no such model"), failed(404), None),
                FailureClass::UnknownModel,
                false,
            ),
            (
                told("We're currently experiencing high demand.", json!("internalServerError"), None),
                FailureClass::Overloaded,
                false,
            ),
            (
                told(&unexpected("529 <unknown status code>: overloaded"), failed(529), None),
                FailureClass::RateLimit,
                false,
            ),
            (
                told(
                    "Codex ran out of room in the model's context window.",
                    json!("contextWindowExceeded"),
                    None,
                ),
                FailureClass::Format,
                true,
            ),
            (
                told("rate limit exceeded: Please try again in 11.054s.", json!("rateLimitExceeded"), None),
                FailureClass::RateLimit,
                false,
            ),
            (
                told(
                    "Reconnecting... 1/1",
                    disconnected(Value::Null),
                    Some("We’re currently experiencing high demand, which may cause temporary errors."),
                ),
                FailureClass::Overloaded,
                false,
            ),
            (
                told("Reconnecting... 1/1", disconnected(Value::Null), Some("stream disconnected: broke")),
                FailureClass::Crash,
                false,
            ),
            (told("busy", json!("serverOverloaded"), None), FailureClass::RateLimit, false),
            (told("what?", json!("modelNotFound"), None), FailureClass::UnknownModel, false),
            (failure(&Value::Null, &[]), FailureClass::Crash, false),
        ] {
            assert_eq!((error.class, error.too_long), (class, too_long), "{error}");
        }
        let echoed = told("unexpected status 401 Unauthorized: no sk-canary-1", failed(401), None);
        assert!(!echoed.message.contains("canary"), "{echoed}");
    }

    #[test]
    fn items_are_calls_with_results() {
        let item = json!({"type": "mcpToolCall", "id": "c1", "server": "vault-agent", "tool": "memory_get",
            "status": "completed", "arguments": {"path": "MEMORY.md"},
            "result": {"content": [{"type": "text", "text": "tea"}, {"type": "image"}]}, "error": null});
        let made = call(&item).unwrap();
        assert_eq!((made.name.as_str(), made.arguments.as_str()), ("memory_get", r#"{"path":"MEMORY.md"}"#));
        assert_eq!(
            result(&item),
            ToolResult { call_id: "c1".into(), text: "tea\n[image]".into(), is_error: false }
        );

        let item = json!({"type": "mcpToolCall", "id": "c2", "server": "o.her", "tool": "x y", "status": "failed",
            "arguments": null, "result": null, "error": {"message": "no"}});
        let made = call(&item).unwrap();
        let told = r#"{"arguments":{},"server":"o.her","tool":"x y"}"#;
        assert_eq!((made.name.as_str(), made.arguments.as_str()), ("mcp_call", told));
        assert_eq!(result(&item), ToolResult { call_id: "c2".into(), text: "no".into(), is_error: true });

        let mut item = json!({"type": "commandExecution", "id": "c3", "command": "false", "cwd": "/d",
            "status": "completed", "aggregatedOutput": "oh", "exitCode": 2});
        assert_eq!(call(&item).unwrap().arguments, r#"{"command":"false","cwd":"/d"}"#);
        assert_eq!(
            result(&item),
            ToolResult { call_id: "c3".into(), text: "oh\n(exit code 2)".into(), is_error: true }
        );
        item["status"] = "declined".into();
        item["aggregatedOutput"] = Value::Null;
        item["exitCode"] = Value::Null;
        assert_eq!(result(&item).text, "declined");
        assert!(result(&item).is_error);

        assert_eq!(call(&json!({"type": "agentMessage", "id": "m"})), None);
        assert_eq!(call(&json!({})), None);
    }

    #[test]
    fn what_is_wanted_has_a_yes_and_a_no() {
        let params = json!({"itemId": "c3", "command": "rm x", "cwd": "/d"});
        let command = approval("item/commandExecution/requestApproval", &params, &HashMap::new()).unwrap();
        assert_eq!(command.call.arguments, r#"{"command":"rm x","cwd":"/d"}"#);
        assert_eq!((command.yes["decision"].as_str(), command.named_by), (Some("accept"), Some("shell")));
        assert_eq!(command.no, json!({"decision": "decline"}));
        let permissions = json!({"network": {"enabled": true}});
        let params = json!({"itemId": "p", "permissions": permissions, "reason": "why"});
        let more = approval("item/permissions/requestApproval", &params, &HashMap::new()).unwrap();
        assert_eq!(more.yes["permissions"], permissions);
        assert_eq!(more.no["permissions"], json!({}));
        let params = json!({"serverName": "vault-agent", "_meta": {"codex_approval_kind": "mcp_tool_call",
            "tool_name": "memory_save", "tool_params": {"content": "x"}}});
        let began =
            ToolCall { id: "c9".into(), name: "memory_save".into(), arguments: r#"{"content":"x"}"#.into() };
        let open = HashMap::from([(began.id.clone(), began.clone())]);
        let tool = approval("mcpServer/elicitation/request", &params, &open).unwrap();
        assert_eq!((tool.call, tool.named_by), (began, None));
        assert!(approval("mcpServer/elicitation/request", &json!({"message": "?"}), &open).is_none());
        assert!(approval("item/tool/call", &json!({}), &open).is_none());
    }
}
