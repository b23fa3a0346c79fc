//! How the server misbehaves: rules for REST requests, and things done to gateway connections.

use super::Shared;
use super::gateway::Out;
use crate::support::prelude::*;

/// What happens to a REST request.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Done, but the connection breaks before the answer.
    LoseAnswer,
    /// The connection breaks before anything is done.
    DropRequest,
    /// Nothing is done, this is the answer.
    Status(u16, Value),
    /// Done, but the answer says otherwise.
    StatusAfter(u16, Value),
    /// Done, answered with 200 and something that is no JSON.
    Garbage,
    /// Done, answered with 200 and JSON of another shape.
    OddJson,
    /// Not done: 429, with the wait in seconds.
    RateLimited { scope: Scope, retry_after: f64 },
    /// Done, and answered late.
    Slow(Duration),
}

/// Whose limit a 429 speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    User,
    Global,
    Shared,
}

impl Fault {
    /// A refusal as Discord words it.
    pub fn refuse(status: u16, code: u64, message: &str) -> Self {
        Self::Status(status, json!({ "message": message, "code": code }))
    }
}

/// A fault for the next `left` requests that match.
#[derive(Debug, Clone)]
pub struct Rule {
    pub method: &'static str,
    pub path: String,
    pub fault: Fault,
    pub left: usize,
}

/// What happens to gateway connections, or to the next events on them.
#[derive(Debug, Clone)]
pub enum GatewayFault {
    /// Op 7: please reconnect.
    Reconnect,
    /// Op 9: invalid session, resumable or not.
    Invalid(bool),
    /// A close frame with this code.
    Close(u16),
    /// The TCP connection goes away without a word.
    Cut,
    /// Heartbeats are no longer answered, and nothing is delivered.
    Zombie,
    /// The next event never comes, in no connection and no resume.
    Lose,
    /// The next event is not decodable.
    Malform,
    /// The next event comes twice.
    Double,
    /// The next two events come in the other order.
    Swap,
    /// From now on no connection is accepted, and all are cut.
    Outage,
}

/// Takes the fault that is meant for a request, if there is one.
pub fn take(shared: &Shared, method: &str, path: &str) -> Option<Fault> {
    let mut rules = shared.rules.lock().unwrap();
    let at = rules.iter().position(|r| r.method == method && path.contains(&r.path) && r.left > 0)?;
    rules[at].left -= 1;
    let fault = rules[at].fault.clone();
    if rules[at].left == 0 {
        rules.remove(at);
    }
    Some(fault)
}

/// Does it now, or keeps it for the next event.
pub fn apply(shared: &Shared, fault: GatewayFault) {
    let mut world = shared.world.lock().unwrap();
    match fault {
        GatewayFault::Reconnect => world.send_all(&Out::Text(json!({ "op": 7, "d": null }).to_string())),
        GatewayFault::Invalid(is_resumable) => {
            world.send_all(&Out::Text(json!({ "op": 9, "d": is_resumable }).to_string()));
            if !is_resumable {
                world.sessions.clear();
            }
        }
        GatewayFault::Close(code) => world.send_all(&Out::Close(code)),
        GatewayFault::Cut => world.send_all(&Out::Cut),
        GatewayFault::Zombie => world.send_all(&Out::Zombie),
        GatewayFault::Outage => {
            world.refuse_gateway = true;
            world.send_all(&Out::Cut);
            world.sessions.clear();
        }
        next => world.event_faults.push_back(next),
    }
}
