//! A stand-in for Claude Code 2.1.330, as it was seen to speak: this test binary, run as a program.
//!
//! It asks the model server at `ANTHROPIC_BASE_URL`, starts the MCP servers of `--mcp-config` and calls their tools,
//! asks for permission over its pipe before each, keeps sessions in its folder, and reports failures of its provider
//! as the real one does. After a `+` in `--model` stands what it does wrong: `+garbage+die-after-tool`.

use crate::harness::rig::*;
use crate::mcp::client::Client;
use crate::support::processes::name;
use std::panic::{AssertUnwindSafe, catch_unwind};

use vault_agent::brain::wire::{WireBrain, WireFormat, http};
use vault_agent::brain::{
    BrainError, CallProgress, MessagePart, Reply, Request, ToolCall, ToolResult, ToolSpec,
};

/// Where the program's arguments stand, one a line; a test run has none.
const ARGUMENTS: &str = "STAND_IN_ARGUMENTS";

/// Writes the program into a folder: `claude`, whatever `PATH` says.
pub fn install(folder: &Path) {
    let (us, test) = (std::env::current_exe().unwrap(), name(&program));
    let run = format!("exec '{}' {test} --exact --nocapture --test-threads=1", us.display());
    let script = format!("#!/bin/sh\n{ARGUMENTS}=$(printf '%s\\n' \"$@\")\nexport {ARGUMENTS}\n{run}\n");
    write_program(folder.join("claude"), &script);
}

#[test]
fn program() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let arguments: Vec<String> = arguments.split('\n').map(str::to_owned).collect();
    let session = value_of(&arguments, "--resume");
    let session = session.unwrap_or_else(|| format!("session-{}", std::process::id()));
    let input = std::io::stdin().lock().lines();
    std::process::exit(Program { arguments, session, input, servers: Vec::new(), calls: 0 }.run());
}

struct Program {
    arguments: Vec<String>,
    session: String,
    input: std::io::Lines<std::io::StdinLock<'static>>,
    servers: Vec<(String, Client)>,
    calls: usize,
}

impl Program {
    fn value(&self, name: &str) -> Option<String> {
        value_of(&self.arguments, name)
    }

    fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|one| one == argument)
    }

    /// Whether this is what it does wrong.
    fn is(&self, wrong: &str) -> bool {
        self.value("--model").is_some_and(|model| model.split('+').skip(1).any(|one| one == wrong))
    }

    fn say(&self, mut message: Value) {
        message["session_id"] = json!(self.session);
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(format!("{message}\n").as_bytes());
        let _ = out.flush();
    }

    fn read(&mut self) -> Option<Value> {
        Some(serde_json::from_str(&self.input.next()?.ok()?).expect("JSON on standard input"))
    }

    fn run(mut self) -> i32 {
        // The test's own words have no end.
        println!();
        if self.is("hang-start") {
            hang();
        }
        if self.is("exit-start") {
            eprintln!("cannot start: key sk-ant-secret-0123456789 refused");
            return 1;
        }
        if self.is("garbage") {
            println!("Warning: something or other\n{{half a message\n\n\u{1b}[31mred\u{1b}[0m");
        }
        if self.is("long-line") {
            println!("{{\"type\":\"system\",\"filling\":\"{}\"}}", "x".repeat(10 << 20));
        }
        let stored = PathBuf::from(format!("{}.json", self.session));
        let mut request = Request::default();
        if self.has("--resume") {
            let Ok(text) = std::fs::read(&stored) else {
                let words = format!("No conversation found with session ID: {}", self.session);
                self.say(json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
                    "num_turns": 0, "errors": [words], "total_cost_usd": 0}));
                return 1;
            };
            request.messages = serde_json::from_slice(&text).unwrap();
        }
        loop {
            let Some(message) = self.read() else { return 0 };
            if message["type"] == "control_request" {
                assert_eq!(message["request"]["subtype"], "initialize");
                request.system = message["request"]["systemPrompt"].as_str().unwrap().to_owned();
                let response =
                    json!({"subtype": "success", "request_id": message["request_id"], "response": {}});
                self.say(json!({"type": "control_response", "response": response}));
            } else {
                let text = |part: &Value| part["text"].as_str().expect("words").to_owned();
                let content = message["message"]["content"].as_array().unwrap().iter();
                let parts = content.map(|part| MessagePart::Text { text: text(part) }).collect();
                request.messages.push(Message::User { parts });
                break;
            }
        }
        let config = self.value("--mcp-config").unwrap_or_else(|| "{}".to_owned());
        let config: Value = serde_json::from_str(&config).unwrap();
        let all = config["mcpServers"].as_object().into_iter().flatten();
        self.servers = all.filter_map(|(name, entry)| Some((name.clone(), server(entry)?))).collect();
        request.tools = self.servers.iter_mut().flat_map(|(name, client)| tools(name, client)).collect();
        let own = self.value("--tools").unwrap_or_default();
        for name in own.split(',').filter(|name| !name.is_empty()).map(str::to_owned) {
            let schema = json!({"type": "object"});
            request.tools.push(ToolSpec { name, description: "own".to_owned(), schema });
        }
        self.say(json!({"type": "system", "subtype": "init", "model": self.value("--model"),
            "mcp_servers": [{"name": "vault-agent", "status": "connected"}]}));
        let code = self.converse(&mut request);
        if !self.has("--no-session-persistence") {
            std::fs::write(&stored, json!(request.messages).to_string()).unwrap();
        }
        if self.is("hold") {
            // A grandchild that holds the pipe, in a session of its own.
            let _ = Command::new("setsid").args(["sleep", "1000"]).stdin(Stdio::null()).spawn();
        }
        if self.is("hang-end") {
            hang();
        }
        while self.read().is_some() {}
        code
    }

    fn converse(&mut self, request: &mut Request) -> i32 {
        loop {
            let reply = match self.ask(request) {
                Ok(reply) => reply,
                Err(error) => return self.failed(&error),
            };
            self.calls += 1;
            let usage = json!({"input_tokens": reply.usage.input - reply.usage.cached,
                "cache_read_input_tokens": reply.usage.cached, "cache_creation_input_tokens": 0,
                "output_tokens": reply.usage.output});
            let id = format!("msg_{}", self.calls);
            let block = |block: Value| {
                json!({"type": "assistant", "parent_tool_use_id": null, "message": {"id": id, "role": "assistant",
                    "model": reply.model, "content": [block], "usage": usage}})
            };
            if !reply.text.is_empty() {
                self.say(block(json!({"type": "text", "text": reply.text})));
            }
            let (text, tool_calls) = (reply.text.clone(), reply.tool_calls.clone());
            request.messages.push(Message::Assistant { text, tool_calls, raw: None });
            if reply.tool_calls.is_empty() {
                let key = std::env::var("ANTHROPIC_API_KEY").map(|key| format!(" {key}"));
                let said = reply.text.clone() + &key.ok().filter(|_| self.is("tell-key")).unwrap_or_default();
                let usd = 0.25 * request.messages.len() as f64;
                self.say(json!({"type": "result", "subtype": "success", "is_error": false, "result": said,
                    "stop_reason": "end_turn", "usage": usage, "num_turns": self.calls, "total_cost_usd": usd}));
                return 0;
            }
            let mut results = Vec::new();
            for call in &reply.tool_calls {
                let input: Value = serde_json::from_str(&call.arguments).unwrap();
                let used = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input});
                self.say(block(used));
                let (text, is_error) = self.tool(call, &input);
                if self.is("die-in-tool") {
                    die();
                }
                let result = json!({"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": is_error});
                self.say(json!({"type": "user", "message": {"role": "user", "content": [result]}}));
                results.push(ToolResult { call_id: call.id.clone(), text, is_error });
                if self.is("die-after-tool") {
                    die();
                }
                if self.is("hang-after-tool") {
                    hang();
                }
            }
            request.messages.push(Message::ToolResults { results });
        }
    }

    fn tool(&mut self, call: &ToolCall, input: &Value) -> (String, bool) {
        let id = format!("ask-{}", call.id);
        self.say(json!({"type": "control_request", "request_id": id, "request": {"subtype": "can_use_tool",
            "tool_name": call.name, "input": input, "tool_use_id": call.id}}));
        let answer = self.read().unwrap_or_else(|| std::process::exit(0));
        let decision = &answer["response"]["response"];
        if decision["behavior"] != "allow" {
            return (decision["message"].as_str().unwrap_or("no").to_owned(), true);
        }
        match call.name.strip_prefix("mcp__").and_then(|name| name.split_once("__")) {
            Some((server, tool)) => {
                let found = self.servers.iter_mut().find(|(name, _)| name == server);
                let answer = found.expect("a server").1.call(tool, input.clone());
                (answer.text().to_owned(), answer.0["isError"] == true)
            }
            None => {
                let command = input["command"].as_str().unwrap();
                let out = Command::new("sh").args(["-c", command]).stdin(Stdio::null()).output().unwrap();
                (String::from_utf8_lossy(&out.stdout).into_owned(), !out.status.success())
            }
        }
    }

    /// Its provider, as the real one tells it: with one more try where that may help.
    fn ask(&self, request: &Request) -> Result<Reply, BrainError> {
        let variable = |name| std::env::var(name).ok();
        let brain = WireBrain {
            wire: WireFormat::Messages,
            url: variable("ANTHROPIC_BASE_URL").expect("a server"),
            model: self.value("--model").unwrap(),
            key: variable("ANTHROPIC_API_KEY").map(Into::into),
            timeouts: BrainTimeouts::default(),
            client: http::client().unwrap(),
            clock: Arc::new(SystemClock),
        };
        let call = || block_on(brain.call(request, &mut CallProgress::default(), CancellationToken::new()));
        let first = call();
        let status = first.as_ref().err().and_then(status_of);
        let Some(status @ (401 | 408 | 429 | 500..)) = status else { return first };
        self.say(json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 1,
            "retry_delay_ms": 0, "error_status": status, "error": code(status)}));
        if self.is("hang-retry") {
            hang();
        }
        call()
    }

    fn failed(&self, error: &BrainError) -> i32 {
        let status = status_of(error);
        let said = error.message.split_once("(status ").map_or(error.message.as_str(), |(_, said)| said);
        let words = format!("API Error: {}", said.trim_end_matches(')'));
        let message = json!({"id": "x", "role": "assistant", "model": "<synthetic>",
            "content": [{"type": "text", "text": words}]});
        self.say(json!({"type": "assistant", "error": status.map_or("unknown", code), "message": message}));
        self.say(json!({"type": "result", "subtype": "success", "is_error": true, "result": words,
            "api_error_status": status, "stop_reason": "stop_sequence", "usage": {}, "total_cost_usd": 0}));
        1
    }
}

/// The HTTP status that an error's sentence names.
fn status_of(error: &BrainError) -> Option<u16> {
    let (_, status) = error.message.split_once("(status ")?;
    status.get(..3)?.parse().ok()
}

fn code(status: u16) -> &'static str {
    match status {
        401 => "authentication_failed",
        429 => "rate_limit",
        529 => "overloaded",
        500.. => "server_error",
        404 => "model_not_found",
        _ => "unknown",
    }
}

fn value_of(arguments: &[String], name: &str) -> Option<String> {
    arguments.get(arguments.iter().position(|one| one == name)? + 1).cloned()
}

fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

/// As by `kill -9`.
fn die() -> ! {
    let _ = Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
    hang()
}

/// An MCP server, as a host starts it; none where it ends before it has said who it is.
fn server(entry: &Value) -> Option<Client> {
    // A variable that is named is filled in.
    let filled = |value: &str| match value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
        Some(name) => std::env::var(name).unwrap_or_default(),
        None => value.to_owned(),
    };
    let env = entry["env"].as_object().into_iter().flatten();
    let mut command = Command::new(entry["command"].as_str().unwrap());
    command.args(entry["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()));
    command.envs(env.map(|(name, value)| (name, filled(value.as_str().unwrap()))));
    let mut client = Client::silent(command);
    catch_unwind(AssertUnwindSafe(|| client.initialize("claude-code"))).is_ok().then_some(client)
}

fn tools(server: &str, client: &mut Client) -> Vec<ToolSpec> {
    let tool = |tool: &Value| ToolSpec {
        name: format!("mcp__{server}__{}", tool["name"].as_str().unwrap()),
        description: tool["description"].as_str().unwrap_or_default().to_owned(),
        schema: tool["inputSchema"].clone(),
    };
    client.tools().iter().map(tool).collect()
}
