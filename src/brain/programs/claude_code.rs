//! Runs Claude Code as a brain: `claude -p` with JSON lines in both directions.
//!
//! The command line holds neither a key nor a word of the conversation: the `initialize` message carries the system
//! text, the prompt follows it, and the environment holds the key. Claude Code reads no settings file, neither the
//! user's nor a project's. It gets vault-agent's MCP server and the MCP servers of the settings. Of Claude Code's own
//! tools it may use those that the settings name.
//!
//! Claude Code asks over the pipe before every use of a tool. A call of a vault tool is allowed as soon as it is
//! recorded on disk. A call of Claude Code's own tools needs a person's approval. Claude Code retries its provider by
//! itself; each retry is reported to the host ([`HarnessHost`]), which may end the run.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::harness::{FOREIGN, Harness, HarnessHost, HarnessSetup, HarnessTask, SERVER, foreign, variables};
use super::harness_text;
use super::process::{Child, Program};
use crate::brain::classify;
use crate::brain::wire::{messages, tokens};
use crate::brain::{BrainError, FailureClass, Reply, Result, StopReason, ToolCall, ToolResult, Usage};
use crate::config::mcp_hosts::VariableSyntax;
use crate::config::{ANTHROPIC_KEY_VARIABLE, CLAUDE_CODE_TOKEN_VARIABLE, McpServer, mcp_hosts};

/// Variables of its own that say where its login is.
const PASS: [&str; 2] = ["CLAUDE_CONFIG_DIR", CLAUDE_CODE_TOKEN_VARIABLE];
/// The beginning of its message after an answer was cut at its longest.
const CONTINUES: &str = "Output token limit";

/// Claude Code with one key.
#[derive(Debug)]
pub struct ClaudeCode {
    /// Its parts.
    pub setup: HarnessSetup,
}

impl ClaudeCode {
    fn program(&self, task: &HarnessTask<'_>, session: Option<&str>) -> Program {
        let setup = &self.setup;
        let mut command = setup.command.clone();
        let mut say = |arguments: &[&str]| command.extend(arguments.iter().map(|one| (*one).to_owned()));
        say(&["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]);
        say(&["--permission-prompt-tool", "stdio", "--permission-mode", "default"]);
        say(&["--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"]);
        say(&["--model", &setup.model, "--tools", &setup.tools.join(",")]);
        if !setup.tools.is_empty() {
            // Without this rule it considers some uses harmless and doesn't ask.
            let ask = json!({"permissions": {"ask": setup.tools}});
            say(&["--settings", &ask.to_string()]);
        }
        let entry = |other: &McpServer| (other.name.clone(), other.for_json(VariableSyntax::Dollar));
        let mut servers: serde_json::Map<String, Value> = task.servers.iter().map(entry).collect();
        if let Some(server) = setup.server_for(task.turn) {
            let (program, arguments) = mcp_hosts::program(&server.command);
            let env: serde_json::Map<String, Value> =
                server.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            let entry = json!({"command": program, "args": arguments, "env": env});
            servers.insert(SERVER.to_owned(), entry);
        }
        if !servers.is_empty() {
            say(&["--mcp-config", &json!({"mcpServers": servers}).to_string()]);
        }
        match session {
            Some(id) => say(&["--resume", id]),
            // It gives a new session a name, and says it.
            None if task.keep => {}
            None => say(&["--no-session-persistence"]),
        }
        let mut set = vec![
            ("CLAUDE_CODE_MAX_RETRIES".to_owned(), "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC".to_owned(), "1".to_owned()),
            ("DISABLE_AUTOUPDATER".to_owned(), "1".to_owned()),
        ];
        if let Some(url) = &setup.url {
            let url = url.trim().trim_end_matches('/');
            let url = url.strip_suffix("/v1").unwrap_or(url);
            set.push(("ANTHROPIC_BASE_URL".to_owned(), url.to_owned()));
        }
        if let Some(most) = task.request.max_output_tokens {
            set.push(("CLAUDE_CODE_MAX_OUTPUT_TOKENS".to_owned(), most.to_string()));
        }
        let mut secrets = variables(task.servers);
        secrets.extend(setup.key.iter().map(|key| (ANTHROPIC_KEY_VARIABLE.to_owned(), key.clone())));
        Program { command, dir: setup.dir.clone(), pass: PASS.to_vec(), set, secrets, untrusted: false }
    }

    /// Runs the program once, in an existing session or in a new one. `None`: the session doesn't exist.
    async fn run_once(
        &self,
        task: &HarnessTask<'_>,
        session: Option<&str>,
        host: &dyn HarnessHost,
    ) -> Result<Option<Reply>> {
        let mut child = Child::start(&self.setup.supervision, &self.program(task, session))?;
        let system = json!({"subtype": "initialize", "systemPrompt": task.request.system, "systemPromptSnapshot": false});
        child.send(&json!({"type": "control_request", "request_id": "begin", "request": system}));
        let parts = harness_text::message_parts(task.request, session.map(|_| task.fresh));
        let content: Vec<Value> = parts.iter().map(messages::part).collect();
        child.send(&json!({"type": "user", "message": {"role": "user", "content": content}}));
        let mut messages = MessagesSoFar {
            model: self.setup.model.clone(),
            servers: task.servers,
            ..MessagesSoFar::default()
        };
        loop {
            let Some(message) = child.next().await? else { return Err(child.crashed().await) };
            match message["type"].as_str() {
                Some("system") => self.system(&message, host)?,
                Some("assistant") => messages.assistant(&message, host).await,
                Some("user") => messages.results(&message, host).await,
                Some("control_request") => child.send(&messages.handle_request(&message, host).await),
                Some("result") => {
                    if let Some(usd) = message["total_cost_usd"].as_f64() {
                        host.cost(usd);
                    }
                    let answered = self.result(&message, messages, session.is_some())?;
                    // Its session is whole on disk once it has ended by itself; of a failure nothing is needed.
                    child.end().await;
                    return Ok(answered);
                }
                _ => {}
            }
        }
    }

    fn system(&self, message: &Value, host: &dyn HarnessHost) -> Result<()> {
        match message["subtype"].as_str() {
            Some("init") => {
                let servers = message["mcp_servers"].as_array().into_iter().flatten();
                for server in servers.filter(|server| server["status"] == "failed") {
                    let name = &server["name"];
                    tracing::warn!(brain = self.setup.brain, "the MCP server {name} can't be reached");
                }
            }
            Some("api_retry") => {
                let code = message["error"].as_str().unwrap_or_default();
                let status = message["error_status"].as_u64().and_then(|status| u16::try_from(status).ok());
                let error = self.class(status, code, "");
                if !host.retries(error.class, &error.message) {
                    return Err(error);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The last message: the answer, or why there is none. `None`: the session to resume is lost.
    fn result(&self, message: &Value, messages: MessagesSoFar<'_>, resumed: bool) -> Result<Option<Reply>> {
        let words = message["result"].as_str().unwrap_or_default();
        let stop = match message["stop_reason"].as_str() {
            Some("refusal") => StopReason::Refusal,
            Some("max_tokens") => StopReason::Length,
            _ => StopReason::End,
        };
        if message["is_error"] == true && stop != StopReason::Refusal {
            let errors: Vec<&str> =
                message["errors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let words = if words.is_empty() { errors.join("; ") } else { words.to_owned() };
            if resumed && words.contains("No conversation found") {
                return Ok(None);
            }
            let status = message["api_error_status"].as_u64().and_then(|status| u16::try_from(status).ok());
            return Err(self.class(status, &messages.error, &words));
        }
        let text = match stop {
            // The text is then the program's, not the model's.
            StopReason::Refusal => String::new(),
            _ if messages.continued => messages.text,
            _ => words.to_owned(),
        };
        let usage = usage(&message["usage"]);
        Ok(Some(Reply { text, tool_calls: Vec::new(), raw: None, usage, stop, model: messages.model }))
    }

    /// Classifies a failure of its provider, by its words and its code.
    fn class(&self, status: Option<u16>, code: &str, words: &str) -> BrainError {
        let of_code = match code {
            "authentication_failed" | "oauth_org_not_allowed" => Some(401),
            "billing_error" => Some(402),
            "rate_limit" => Some(429),
            "overloaded" => Some(529),
            "server_error" => Some(500),
            "model_not_found" => Some(404),
            "invalid_request" => Some(400),
            _ => None,
        };
        let secrets = self.setup.secrets();
        let status = if code == "billing_error" { of_code } else { status.or(of_code) };
        match status {
            Some(status) => classify::status(status, words, &secrets),
            None => classify::in_stream(&json!({"error": {"message": words}}), &secrets),
        }
    }
}

#[async_trait]
impl Harness for ClaudeCode {
    async fn turn(&self, task: &HarnessTask<'_>, host: &dyn HarnessHost) -> Result<Reply> {
        if let Some(reply) = self.run_once(task, task.session, host).await? {
            return Ok(reply);
        }
        // The session is lost, but the request holds the conversation.
        let reply = self.run_once(task, None, host).await?;
        reply.ok_or_else(|| BrainError::new(FailureClass::Crash, "its new session was lost at once"))
    }
}

/// The messages of a run so far.
#[derive(Debug, Default)]
struct MessagesSoFar<'a> {
    /// The words since the last tool.
    text: String,
    /// Whether an answer was cut at its length limit and goes on.
    continued: bool,
    model: String,
    /// Its own code for what went wrong.
    error: String,
    /// The calls that the host knows.
    calls: Vec<ToolCall>,
    /// The message whose usage was counted last, and the usage of the messages before it.
    counted: (String, Usage),
    used: Usage,
    /// The other MCP servers.
    servers: &'a [McpServer],
}

impl MessagesSoFar<'_> {
    async fn assistant(&mut self, message: &Value, host: &dyn HarnessHost) {
        if let Some(session) = message["session_id"].as_str()
            && self.counted.0.is_empty()
        {
            host.session(session).await;
        }
        let content = &message["message"];
        if let Some(code) = message["error"].as_str() {
            code.clone_into(&mut self.error);
            return;
        }
        self.count(content, host);
        if let Some(model) = content["model"].as_str().filter(|model| !model.starts_with('<')) {
            model.clone_into(&mut self.model);
        }
        for block in content["content"].as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("text") => self.text.push_str(block["text"].as_str().unwrap_or_default()),
                Some("tool_use") => {
                    self.text.clear();
                    self.continued = false;
                    let id = block["id"].as_str().unwrap_or_default();
                    self.started(id, block["name"].as_str().unwrap_or_default(), &block["input"], host).await;
                }
                _ => {}
            }
        }
    }

    /// One message comes in several events, one a block, each with what the message has used so far.
    fn count(&mut self, content: &Value, host: &dyn HarnessHost) {
        let id = content["id"].as_str().unwrap_or_default();
        if self.counted.0 != id {
            let before = self.counted.1;
            self.used += before;
            id.clone_into(&mut self.counted.0);
        }
        self.counted.1 = usage(&content["usage"]);
        let mut used = self.used;
        used += self.counted.1;
        host.used(&used);
    }

    async fn started(&mut self, id: &str, name: &str, input: &Value, host: &dyn HarnessHost) -> ToolCall {
        if let Some(known) = self.calls.iter().find(|call| call.id == id) {
            return known.clone();
        }
        let ours = name.strip_prefix("mcp__").and_then(|name| name.strip_prefix(SERVER)?.strip_prefix("__"));
        let (name, arguments) = match (ours, mcp_hosts::resolve_tool_name(self.servers, name)) {
            (None, Some((server, tool))) => (FOREIGN, foreign(server, tool, input)),
            (ours, _) => (ours.unwrap_or(name), input.clone()),
        };
        let arguments = if arguments.is_null() { "{}".to_owned() } else { arguments.to_string() };
        let call = ToolCall { id: id.to_owned(), name: name.to_owned(), arguments };
        host.tool_started(&call).await;
        self.calls.push(call.clone());
        call
    }

    async fn results(&mut self, message: &Value, host: &dyn HarnessHost) {
        for block in message["message"]["content"].as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_result") => {
                    let call_id = block["tool_use_id"].as_str().unwrap_or_default().to_owned();
                    if self.calls.iter().any(|call| call.id == call_id) {
                        let is_error = block["is_error"] == true;
                        let text = words(&block["content"]);
                        host.tool_finished(&ToolResult { call_id, text, is_error }).await;
                    }
                }
                Some("text") if words(&block["text"]).starts_with(CONTINUES) => self.continued = true,
                Some("text") => self.text.clear(),
                _ => {}
            }
        }
    }

    /// The answer to something that it asks us.
    async fn handle_request(&mut self, message: &Value, host: &dyn HarnessHost) -> Value {
        let (id, request) = (&message["request_id"], &message["request"]);
        if request["subtype"] != "can_use_tool" {
            let error = "this is not offered here";
            let response = json!({"subtype": "error", "request_id": id, "error": error});
            return json!({"type": "control_response", "response": response});
        }
        let tool = request["tool_use_id"].as_str().unwrap_or_default();
        let name = request["tool_name"].as_str().unwrap_or_default();
        let call = self.started(tool, name, &request["input"], host).await;
        let decision = if host.may(&call).await {
            json!({"behavior": "allow", "updatedInput": request["input"]})
        } else {
            json!({"behavior": "deny", "message": "This was not approved. Go on without it."})
        };
        let response = json!({"subtype": "success", "request_id": id, "response": decision});
        json!({"type": "control_response", "response": response})
    }
}

/// The words of a tool's result: a text, or blocks of which some are texts.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let text = blocks.iter().map(|block| block["text"].as_str().unwrap_or("[no text]"));
            text.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn usage(usage: &Value) -> Usage {
    let count = |key: &str| tokens(&usage[key]);
    let (cached, cache_write) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
    let input = count("input_tokens") + cached + cache_write;
    Usage { input, cached, cache_write, output: count("output_tokens") }
}
