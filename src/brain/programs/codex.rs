//! Runs Codex as a brain: starts `codex app-server` and uses its JSON-RPC protocol, as of version 0.169.
//!
//! One process runs one turn. The sequence is `initialize`, `thread/start` (or `thread/resume` for an earlier thread),
//! `turn/start`, and Codex's notifications until `turn/completed`. The whole request is sent in the protocol, so no
//! word of the request is on a command line. Codex stores its threads in a folder for each brain (`CODEX_HOME`,
//! [`program`]); the user's own settings of Codex are neither read nor changed.
//!
//! Codex's commands and file changes need an approval; its web search and its picture viewer don't. Tools that the
//! settings don't name are disabled if Codex allows that, and declined otherwise.

mod items;
mod program;

use async_trait::async_trait;
use serde_json::{Value, json};
use std::collections::HashMap;

use super::harness::{Harness, HarnessHost, HarnessSetup, HarnessTask};
use super::harness_text;
use super::jsonrpc::{Peer, PeerMessage, RpcFailure};
use super::process::Child;
use crate::brain::scrub::scrub;
use crate::brain::wire::{data_url, tokens};
use crate::brain::{BrainError, FailureClass, MessagePart, Reply, Result, StopReason, ToolCall, Usage};

/// The program `codex`.
#[derive(Debug)]
pub struct Codex {
    /// Its parts.
    pub setup: HarnessSetup,
}

#[async_trait]
impl Harness for Codex {
    async fn turn(&self, task: &HarnessTask<'_>, host: &dyn HarnessHost) -> Result<Reply> {
        let program = program::program(&self.setup, task.turn, task.servers)?;
        let child = Child::start(&self.setup.supervision, &program)?;
        let mut turn = CodexTurn {
            peer: Peer::new(child, false),
            setup: &self.setup,
            host,
            thread: String::new(),
            turn: String::new(),
            model: self.setup.model.clone(),
            answer_messages: Vec::new(),
            open: HashMap::new(),
            used_before: None,
            used: Usage::default(),
            ended: None,
        };
        let reply = turn.turn(task).await?;
        turn.peer.end().await;
        Ok(reply)
    }
}

/// One turn's conversation with the program.
struct CodexTurn<'a> {
    peer: Peer,
    setup: &'a HarnessSetup,
    host: &'a dyn HarnessHost,
    thread: String,
    turn: String,
    model: String,
    /// Each message of the answer: its phase, if it has one, and its words.
    answer_messages: Vec<(Option<String>, String)>,
    /// Calls that began, by their items' ids.
    open: HashMap<String, ToolCall>,
    /// The thread's usage before this turn.
    used_before: Option<Usage>,
    used: Usage,
    ended: Option<Value>,
}

impl CodexTurn<'_> {
    async fn turn(&mut self, task: &HarnessTask<'_>) -> Result<Reply> {
        let client = json!({"name": "vault-agent", "title": null, "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"clientInfo": client, "capabilities": null});
        self.call("initialize", &hello).await?.map_err(|failure| self.refused("initialize", &failure))?;
        self.peer.notify("initialized");
        let fresh = self.thread(task).await?;
        self.host.session(&self.thread).await;
        let input: Vec<Value> = harness_text::message_parts(task.request, fresh).iter().map(input).collect();
        let start = json!({"threadId": self.thread, "input": input});
        let started = self.call("turn/start", &start).await?;
        let started = started.map_err(|failure| self.refused("turn/start", &failure))?;
        text(&started["turn"]["id"]).clone_into(&mut self.turn);
        loop {
            if let Some(ended) = self.ended.take() {
                return self.reply(&ended);
            }
            let message = self.peer.next().await?;
            self.handle_message(message).await?;
        }
    }

    /// Resumes the thread, or begins one. Returns how many messages at the request's end a resumed thread lacks; none
    /// for a new thread.
    async fn thread(&mut self, task: &HarnessTask<'_>) -> Result<Option<usize>> {
        let mut params = json!({
            "cwd": self.setup.dir,
            "model": self.setup.model,
            "approvalPolicy": "untrusted",
            "sandbox": "read-only",
            "baseInstructions": task.request.system,
        });
        if let Some(session) = task.session {
            params["threadId"] = session.into();
            params["excludeTurns"] = true.into();
            match self.call("thread/resume", &params).await? {
                Ok(thread) => {
                    self.begun(&thread);
                    return Ok(Some(task.fresh));
                }
                // Deleted, of another version, or never written: the request holds all that it held.
                Err(failure) => tracing::info!("a thread of Codex is lost: {}", failure.message),
            }
            for key in ["threadId", "excludeTurns"] {
                params.as_object_mut().map(|params| params.remove(key));
            }
        }
        params["ephemeral"] = (!task.keep).into();
        let thread = self.call("thread/start", &params).await?;
        let thread = thread.map_err(|failure| self.refused("thread/start", &failure))?;
        self.begun(&thread);
        Ok(None)
    }

    fn begun(&mut self, thread: &Value) {
        text(&thread["thread"]["id"]).clone_into(&mut self.thread);
        if let Some(model) = thread["model"].as_str() {
            model.clone_into(&mut self.model);
        }
    }

    /// Sends a request, and handles all messages until its answer.
    async fn call(&mut self, method: &str, params: &Value) -> Result<Result<Value, RpcFailure>> {
        let number = self.peer.ask(method, params);
        loop {
            match self.peer.next().await? {
                PeerMessage::Answer { id, answer } if id == number => return Ok(answer),
                other => self.handle_message(other).await?,
            }
        }
    }

    async fn handle_message(&mut self, message: PeerMessage) -> Result<()> {
        match message {
            PeerMessage::Notification { method, params } => self.handle_update(&method, &params).await,
            PeerMessage::Request { id, method, params } => {
                self.handle_request(&id, &method, &params).await;
                Ok(())
            }
            PeerMessage::Answer { .. } => Ok(()),
        }
    }

    async fn handle_update(&mut self, method: &str, params: &Value) -> Result<()> {
        if params["threadId"].as_str().is_some_and(|thread| thread != self.thread) {
            return Ok(());
        }
        match method {
            "item/started" => self.started(&params["item"]).await,
            "item/completed" => self.finished(&params["item"]).await,
            "thread/tokenUsage/updated" => self.used(params),
            "model/rerouted" => {
                if let Some(model) = params["toModel"].as_str() {
                    model.clone_into(&mut self.model);
                }
            }
            "error" if params["willRetry"] == true => {
                let error = self.failed(&params["error"]);
                if !self.host.retries(error.class, &error.message) {
                    return Err(error);
                }
            }
            "mcpServer/startupStatus/updated" if params["status"] == "failed" => {
                let why = scrub(text(&params["error"]), &self.setup.secrets());
                tracing::warn!("Codex can't use the server `{}`: {why}", text(&params["name"]));
            }
            "turn/completed" => self.ended = Some(params["turn"].clone()),
            _ => {}
        }
        Ok(())
    }

    async fn started(&mut self, item: &Value) {
        if let Some(call) = items::call(item)
            && !self.open.contains_key(&call.id)
        {
            self.host.tool_started(&call).await;
            self.open.insert(call.id.clone(), call);
        }
    }

    async fn finished(&mut self, item: &Value) {
        if item["type"] == "agentMessage" {
            let phase = item["phase"].as_str().map(str::to_owned);
            self.answer_messages.push((phase, text(&item["text"]).to_owned()));
        }
        if items::call(item).is_some() {
            self.started(item).await;
            let result = items::result(item);
            self.open.remove(&result.call_id);
            self.host.tool_finished(&result).await;
        }
    }

    /// Records the turn's usage: the thread's totals less its usage before this turn.
    fn used(&mut self, params: &Value) {
        if !self.turn.is_empty() && params["turnId"].as_str() != Some(&self.turn) {
            return;
        }
        let [total, last] = ["total", "last"].map(|key| usage(&params["tokenUsage"][key]));
        // Usage of a resumed thread before its turn belongs to an earlier turn.
        let before = if self.turn.is_empty() { total } else { subtract(total, last) };
        let before = *self.used_before.get_or_insert(before);
        self.used = subtract(total, before);
        self.host.used(&self.used);
    }

    async fn handle_request(&mut self, id: &Value, method: &str, params: &Value) {
        let Some(wanted) = items::approval(method, params, &self.open) else {
            return match method {
                "mcpServer/elicitation/request" => self.peer.answer(id, &json!({"action": "decline"})),
                _ => self.peer.refuse(id, method),
            };
        };
        let named = wanted.named_by.is_none_or(|tool| self.setup.tools.iter().any(|named| named == tool));
        let may = named && self.host.may(&wanted.call).await;
        self.peer.answer(id, &if may { wanted.yes } else { wanted.no });
    }

    fn reply(&self, turn: &Value) -> Result<Reply> {
        let mut text = None;
        let mut stop = StopReason::End;
        match turn["status"].as_str() {
            Some("completed") => {
                let messages = &self.answer_messages;
                let last = messages.iter().rfind(|(phase, _)| phase.as_deref() == Some("final_answer"));
                text = last.or(messages.last()).map(|(_, words)| words.clone());
            }
            Some("failed") if items::is_refusal(&turn["error"]) => stop = StopReason::Refusal,
            Some("failed") => return Err(self.failed(&turn["error"])),
            _ => return Err(BrainError::new(FailureClass::Crash, "Codex broke its turn off")),
        }
        let (text, model) = (text.unwrap_or_default(), self.model.clone());
        Ok(Reply { text, tool_calls: Vec::new(), raw: None, usage: self.used, stop, model })
    }

    fn failed(&self, error: &Value) -> BrainError {
        items::failure(error, &self.setup.secrets())
    }

    fn refused(&self, method: &str, failure: &RpcFailure) -> BrainError {
        let why = scrub(&failure.message, &self.setup.secrets());
        BrainError::new(FailureClass::Crash, format!("Codex refused `{method}`: {why}"))
    }
}

/// A part as Codex takes it.
fn input(part: &MessagePart) -> Value {
    match part {
        MessagePart::Text { text } => json!({"type": "text", "text": text, "text_elements": []}),
        MessagePart::Image { media_type, base64 } => {
            json!({"type": "image", "url": data_url(media_type, base64)})
        }
    }
}

fn usage(counts: &Value) -> Usage {
    let count = |key: &str| tokens(&counts[key]);
    Usage {
        input: count("inputTokens"),
        cached: count("cachedInputTokens"),
        cache_write: count("cacheWriteInputTokens"),
        output: count("outputTokens"),
    }
}

fn subtract(all: Usage, part: Usage) -> Usage {
    Usage {
        input: all.input.saturating_sub(part.input),
        cached: all.cached.saturating_sub(part.cached),
        cache_write: all.cache_write.saturating_sub(part.cache_write),
        output: all.output.saturating_sub(part.output),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
