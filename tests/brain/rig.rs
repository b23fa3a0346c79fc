//! One brain behind the scripted server, and what is asked of it.

pub use crate::support::prelude::*;
pub use vault_agent::brain::wire::WireFormat;
use vault_agent::brain::wire::{BrainTimeouts, WireBrain, http};
use vault_agent::brain::{BrainError, CallProgress, Message, Reply as Answer, Request, ToolSpec};
pub use vault_agent::turn::NoConversation;

/// Long enough for a busy machine.
pub const PATIENT: BrainTimeouts = BrainTimeouts {
    first_byte: Duration::from_secs(60),
    silence: Duration::from_secs(60),
    overall: Duration::from_secs(120),
};

pub const KEY: &str = "test-key-0123456789";

pub fn brain(wire: WireFormat, url: &str, timeouts: BrainTimeouts) -> WireBrain {
    let clock = Arc::new(ManualClock::new("2026-12-01T09:30:00Z".parse().unwrap()));
    let (url, model, client) = (url.to_owned(), "model-1".to_owned(), http::client().unwrap());
    WireBrain { wire, url, model, key: Some(KEY.into()), timeouts, client, clock }
}

/// A server that says these, and a patient brain behind it.
pub async fn scripted(wire: WireFormat, replies: Vec<Reply>) -> (ModelServer, WireBrain) {
    let server = ModelServer::of(replies).await;
    let brain = brain(wire, &server.url(), PATIENT);
    (server, brain)
}

/// Each wire, streamed and in one piece.
pub fn ways() -> impl Iterator<Item = (WireFormat, fn(Reply) -> Reply)> {
    let ways: [fn(Reply) -> Reply; 2] = [|streamed| streamed, Reply::whole];
    WireFormat::ALL.into_iter().flat_map(move |wire| ways.map(|way| (wire, way)))
}

/// The answer to what must be answered.
pub async fn answer(brain: &WireBrain, request: &Request) -> Answer {
    ask(brain, request).await.0.unwrap()
}

/// The answer, and how far the call came.
pub async fn ask(brain: &WireBrain, request: &Request) -> (Result<Answer, BrainError>, CallProgress) {
    let mut progress = CallProgress::default();
    (brain.call(request, &mut progress, CancellationToken::new()).await, progress)
}

pub fn question(text: &str) -> Request {
    Request { system: "Be brief.".into(), messages: vec![Message::user(text)], ..Request::default() }
}

pub fn with_tool(text: &str) -> Request {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    let tool = ToolSpec { name: "look".into(), description: "Looks something up.".into(), schema };
    Request { tools: vec![tool], ..question(text) }
}
