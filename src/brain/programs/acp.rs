//! Runs an agent of the Agent Client Protocol (ACP) as a brain: one process for one turn.
//!
//! A [`HarnessTask`] comes in; a [`Reply`] goes out. The sequence:
//! 1. `initialize`: vault-agent offers the agent neither file access nor terminals;
//! 2. `session/new` or `session/resume`, with vault-agent's own MCP server and the MCP servers that the settings name,
//!    and `authenticate` if needed;
//! 3. `session/set_mode`: a mode in which the agent asks for permission first, if it has such a mode;
//! 4. `session/prompt`, and the agent's updates until its `stopReason`.
//!
//! The answer is the text after the agent's last tool call, thought or plan ([`AnswerText`]). The protocol has no list
//! of the agent's own tools, and no rule that the agent asks before it uses them. So only requests for permission can
//! be refused. The code follows the behaviour of `claude-agent-acp` 0.49 and `codex-acp` 0.16.

mod update;

use std::collections::HashMap;

use async_trait::async_trait;
use serde_json::{Value, json};
use update::{AnswerText, output, status, usage};

use super::harness::{FOREIGN, Harness, HarnessHost, HarnessSetup, HarnessTask, SERVER, foreign, variables};
use super::harness_text;
use super::jsonrpc::{Peer, PeerMessage, RpcFailure};
use super::process::{Child, Program};
use crate::brain::classify;
use crate::brain::{
    BrainError, FailureClass, MessagePart, Reply, Result, StopReason, ToolCall, ToolResult,
    portable_tool_name,
};
use crate::config::{McpServer, mcp_hosts};

/// The protocol's version.
const VERSION: u64 = 1;
/// Modes in which known agents ask before they do something, the strictest first.
const ASKING: [&str; 4] = ["read-only", "default", "ask", "manual"];
/// The protocol's error for a missing login.
const NOT_LOGGED_IN: i64 = -32000;
/// Variables that say where agents have their login.
const PASS: [&str; 2] = ["CLAUDE_CONFIG_DIR", "CODEX_HOME"];

/// An agent. It is given its key in the variable that the settings name.
#[derive(Debug)]
pub struct Acp {
    /// Its parts.
    pub setup: HarnessSetup,
}

#[async_trait]
impl Harness for Acp {
    async fn turn(&self, task: &HarnessTask<'_>, host: &dyn HarnessHost) -> Result<Reply> {
        let mut secrets = variables(task.servers);
        secrets.extend(self.setup.key_env.clone().zip(self.setup.key.clone()));
        let program = Program {
            command: self.setup.command.clone(),
            dir: self.setup.dir.clone(),
            pass: PASS.to_vec(),
            secrets,
            ..Program::default()
        };
        let child = Child::start(&self.setup.supervision, &program)?;
        let mut turn = AcpTurn {
            peer: Peer::new(child, true),
            acp: self,
            servers: task.servers,
            host,
            session: String::new(),
            answer_text: AnswerText::default(),
            open: HashMap::new(),
        };
        let reply = turn.turn(task).await?;
        turn.peer.end().await;
        Ok(reply)
    }
}

/// A call that began.
struct OpenCall {
    call: ToolCall,
    /// All that the agent said of it: a later message may leave out what an earlier one said.
    about: Value,
    /// Whether it is a tool of our server or of another in the settings.
    is_servers: bool,
    /// Whether its arguments are known.
    filled: bool,
    announced: bool,
}

struct AcpTurn<'a> {
    peer: Peer,
    acp: &'a Acp,
    host: &'a dyn HarnessHost,
    session: String,
    answer_text: AnswerText,
    servers: &'a [McpServer],
    open: HashMap<String, OpenCall>,
}

impl AcpTurn<'_> {
    async fn turn(&mut self, task: &HarnessTask<'_>) -> Result<Reply> {
        let able = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
        let client = json!({"name": "vault-agent", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": VERSION, "clientCapabilities": able, "clientInfo": client});
        let agent = self.call("initialize", &hello).await?.map_err(|failure| self.failed(&failure))?;
        let fresh = self.begin(task, &agent).await?;
        self.host.session(&self.session).await;
        let mut parts = harness_text::message_parts(task.request, fresh);
        if fresh.is_none() && !task.request.system.trim().is_empty() {
            parts.insert(0, MessagePart::Text { text: harness_text::instructions(task.request) });
        }
        // A session's replay of its past is no answer.
        self.answer_text = AnswerText::default();
        let prompt: Vec<Value> = parts.iter().map(block).collect();
        let ended =
            self.call("session/prompt", &json!({"sessionId": self.session, "prompt": prompt})).await?;
        let ended = ended.map_err(|failure| self.failed(&failure))?;
        let stop = match ended["stopReason"].as_str() {
            Some("end_turn") => StopReason::End,
            Some("max_tokens" | "max_turn_requests") => StopReason::Length,
            Some("refusal") => StopReason::Refusal,
            _ => return Err(BrainError::new(FailureClass::Crash, "the agent broke its turn off")),
        };
        let text = if stop == StopReason::Refusal { String::new() } else { self.answer_text.answer() };
        let usage = usage(&ended["usage"]);
        self.host.used(&usage);
        let model = self.acp.setup.model.clone();
        Ok(Reply { text, tool_calls: Vec::new(), raw: None, usage, stop, model })
    }

    /// Resumes the session, or begins one. Returns how many messages at the request's end a resumed session lacks; none
    /// for a new session.
    async fn begin(&mut self, task: &HarnessTask<'_>, agent: &Value) -> Result<Option<usize>> {
        let setup = &self.acp.setup;
        let mut servers: Vec<Value> = setup.server_for(task.turn).iter().map(server).collect();
        let http = agent["agentCapabilities"]["mcpCapabilities"]["http"] == true;
        servers.extend(task.servers.iter().filter(|one| http || one.url.is_none()).map(other));
        let mut params = json!({"cwd": setup.dir, "mcpServers": servers});
        let resumes = !agent["agentCapabilities"]["sessionCapabilities"]["resume"].is_null();
        if let Some(session) = task.session.filter(|_| resumes) {
            params["sessionId"] = session.into();
            match self.call("session/resume", &params).await? {
                Ok(resumed) => {
                    session.clone_into(&mut self.session);
                    self.ask_first(&resumed["modes"]).await?;
                    return Ok(Some(task.fresh));
                }
                Err(failure) => tracing::info!("a session of an agent is lost: {}", failure.message),
            }
            params.as_object_mut().map(|params| params.remove("sessionId"));
        }
        let mut begun = self.call("session/new", &params).await?;
        if begun.as_ref().is_err_and(|failure| failure.code == NOT_LOGGED_IN)
            && let Some(method) = self.method(&agent["authMethods"])
        {
            let logged_in = self.call("authenticate", &json!({"methodId": method})).await?;
            logged_in.map_err(|failure| self.failed(&failure))?;
            begun = self.call("session/new", &params).await?;
        }
        let begun = begun.map_err(|failure| self.failed(&failure))?;
        begun["sessionId"].as_str().unwrap_or_default().clone_into(&mut self.session);
        self.ask_first(&begun["modes"]).await?;
        Ok(None)
    }

    /// The way to log in with the key in our variable.
    fn method(&self, methods: &Value) -> Option<String> {
        let variable = self.acp.setup.key_env.as_deref()?;
        let has = |method: &&Value| {
            let variables = method["vars"].as_array().into_iter().flatten();
            variables.into_iter().any(|one| one["name"] == variable)
        };
        methods.as_array()?.iter().find(has)?["id"].as_str().map(str::to_owned)
    }

    /// Has the agent ask before it does something, if it has a mode for that.
    async fn ask_first(&mut self, modes: &Value) -> Result<()> {
        let has = |wanted: &&&str| {
            modes["availableModes"].as_array().into_iter().flatten().any(|mode| mode["id"] == **wanted)
        };
        if let Some(mode) = ASKING.iter().find(has)
            && modes["currentModeId"] != **mode
        {
            let params = json!({"sessionId": self.session, "modeId": mode});
            self.call("session/set_mode", &params).await?.map_err(|failure| self.failed(&failure))?;
        }
        Ok(())
    }

    /// Sends a request, and handles all messages until its answer.
    async fn call(&mut self, method: &str, params: &Value) -> Result<Result<Value, RpcFailure>> {
        let number = self.peer.ask(method, params);
        loop {
            match self.peer.next().await? {
                PeerMessage::Answer { id, answer } if id == number => return Ok(answer),
                PeerMessage::Answer { .. } => {}
                PeerMessage::Notification { method, params } if method == "session/update" => {
                    self.handle_update(&params["update"]).await;
                }
                PeerMessage::Notification { .. } => {}
                PeerMessage::Request { id, method, params } if method == "session/request_permission" => {
                    let outcome = self.handle_request(&params).await;
                    self.peer.answer(&id, &json!({"outcome": outcome}));
                }
                PeerMessage::Request { id, method, .. } => self.peer.refuse(&id, &method),
            }
        }
    }

    async fn handle_update(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str() {
            Some("agent_message_chunk") => {
                let words = update["content"]["text"].as_str().unwrap_or_default();
                self.answer_text.words(update["messageId"].as_str(), words);
            }
            Some("agent_thought_chunk" | "plan") => self.answer_text.other(),
            Some("tool_call" | "tool_call_update") => {
                self.answer_text.other();
                self.tool(update).await;
            }
            Some("usage_update") if update["cost"]["currency"] == "USD" => {
                if let Some(usd) = update["cost"]["amount"].as_f64() {
                    self.host.cost(usd);
                }
            }
            _ => {}
        }
    }

    /// Records a call's data. It is announced to the host once its arguments are known, or it runs.
    async fn tool(&mut self, update: &Value) {
        let Some(id) = update["toolCallId"].as_str() else { return };
        let open = self.open.entry(id.to_owned()).or_insert_with(|| OpenCall {
            call: ToolCall { id: id.to_owned(), name: "tool".to_owned(), arguments: "{}".to_owned() },
            about: Value::Null,
            is_servers: false,
            filled: false,
            announced: false,
        });
        for key in ["title", "kind", "rawInput", "_meta"] {
            if !update[key].is_null() {
                open.about[key] = update[key].clone();
            }
        }
        let status = update["status"].as_str().unwrap_or_default();
        if !open.announced {
            if let Some((name, arguments, filled)) = call_details(&open.about, self.servers) {
                open.call.name = name;
                if filled || !open.filled {
                    open.call.arguments = arguments;
                }
                open.filled |= filled;
            }
            open.is_servers = server_and_tool(&open.about, self.servers).is_some();
            if open.filled || !matches!(status, "" | "pending") {
                open.announced = true;
                self.host.tool_started(&open.call).await;
            }
        }
        if matches!(status, "completed" | "failed") {
            let result =
                ToolResult { call_id: id.to_owned(), text: output(update), is_error: status == "failed" };
            self.open.remove(id);
            self.host.tool_finished(&result).await;
        }
    }

    /// The answer to a question for permission: once, or not at all.
    async fn handle_request(&mut self, params: &Value) -> Value {
        let about = &params["toolCall"];
        self.tool(about).await;
        let open = about["toolCallId"].as_str().and_then(|id| self.open.get_mut(id));
        let mut may = false;
        if let Some(open) = open {
            if !open.announced {
                open.announced = true;
                self.host.tool_started(&open.call).await;
            }
            let named = match own_kind(&open.about) {
                None => open.is_servers,
                Some(kind) => !open.is_servers && self.acp.setup.tools.iter().any(|tool| tool == kind),
            };
            may = named && self.host.may(&open.call).await;
        }
        let kind = if may { "allow_once" } else { "reject_once" };
        let options = params["options"].as_array().into_iter().flatten();
        match options.into_iter().find(|option| option["kind"] == kind) {
            Some(option) => json!({"outcome": "selected", "optionId": option["optionId"]}),
            None => json!({"outcome": "cancelled"}),
        }
    }

    fn failed(&self, failure: &RpcFailure) -> BrainError {
        let secrets = self.acp.setup.secrets();
        let more = match &failure.data {
            Value::Null => String::new(),
            Value::String(words) => format!(": {words}"),
            data => format!(": {}", data["message"].as_str().map_or_else(|| data.to_string(), str::to_owned)),
        };
        let message = format!("{}{more}", failure.message);
        let status =
            if failure.code == NOT_LOGGED_IN { Some(401) } else { status(&message).or(status(&more)) };
        classify::in_stream(&json!({"error": {"message": message, "code": status}}), &secrets)
    }
}

/// A part as the protocol has it.
fn block(part: &MessagePart) -> Value {
    match part {
        MessagePart::Text { text } => json!({"type": "text", "text": text}),
        MessagePart::Image { media_type, base64 } => {
            json!({"type": "image", "mimeType": media_type, "data": base64})
        }
    }
}

fn server(server: &super::harness::McpServerCommand) -> Value {
    let (program, arguments) = mcp_hosts::program(&server.command);
    let env: Vec<Value> =
        server.env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    json!({"name": SERVER, "command": program, "args": arguments, "env": env})
}

/// Another MCP server as the protocol has it; the values go over the pipe, to the program that starts the server.
fn other(server: &McpServer) -> Value {
    let value = |name: &str| std::env::var(name).unwrap_or_default();
    if let Some(url) = &server.url {
        let header =
            |name: &String| json!({"name": "Authorization", "value": format!("Bearer {}", value(name))});
        let headers: Vec<Value> = server.key_env.iter().map(header).collect();
        return json!({"type": "http", "name": server.name, "url": url, "headers": headers});
    }
    let (program, arguments) = mcp_hosts::program(&server.command);
    let env: Vec<Value> = server.env.iter().map(|name| json!({"name": name, "value": value(name)})).collect();
    json!({"name": server.name, "command": program, "args": arguments, "env": env})
}

/// The sort of a call of the agent's own tools; none for a tool of an MCP server, of which the agent knows none.
fn own_kind(call: &Value) -> Option<&str> {
    call["kind"].as_str().filter(|kind| *kind != "other")
}

/// The server and the tool of a call, in whichever form the agent names them; the server is ours or one of `others`.
/// The model may write the input, and the title of a command: they alone name no tool.
fn server_and_tool<'a>(call: &'a Value, others: &'a [McpServer]) -> Option<(&'a str, &'a str)> {
    if own_kind(call).is_some() {
        return None;
    }
    let name = call["_meta"]["claudeCode"]["toolName"].as_str().or(call["title"].as_str())?;
    if let Some(tool) = name.strip_prefix(&format!("mcp__{SERVER}__")) {
        return Some((SERVER, tool));
    }
    let Some((server, tool)) = name.strip_prefix("Tool: ").and_then(|name| name.split_once('/')) else {
        return mcp_hosts::resolve_tool_name(others, name);
    };
    let input = call["rawInput"].as_object()?;
    let is_wrapped = input.keys().all(|key| ["server", "tool", "arguments"].contains(&key.as_str()))
        && input.get("server")? == server
        && input.get("tool")? == tool;
    let known = server == SERVER || others.iter().any(|other| other.name == server);
    (is_wrapped && known).then_some((server, tool))
}

/// A call's name and arguments, and whether these are known.
fn call_details(call: &Value, others: &[McpServer]) -> Option<(String, String, bool)> {
    let (input, of) = (&call["rawInput"], server_and_tool(call, others));
    let wrapped = of.is_some() && call["title"].as_str().is_some_and(|title| title.starts_with("Tool: "));
    let arguments = if wrapped { &input["arguments"] } else { input };
    let filled = arguments.as_object().is_some_and(|of| !of.is_empty());
    let arguments = if filled { arguments.clone() } else { json!({}) };
    if let Some((server, tool)) = of.filter(|(server, _)| *server != SERVER) {
        return Some((FOREIGN.to_owned(), foreign(server, tool, &arguments).to_string(), filled));
    }
    let name = of.map(|(_, tool)| tool).or(own_kind(call)).or(call["title"].as_str());
    Some((portable_tool_name(name?), arguments.to_string(), filled))
}

#[cfg(test)]
mod tests;
