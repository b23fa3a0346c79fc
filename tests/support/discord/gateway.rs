//! The gateway: HELLO, IDENTIFY, READY, heartbeats, RESUME with replay, dispatch.

use super::Shared;
use super::faults::GatewayFault;
use super::world::{Session, World};
use crate::support::prelude::*;
use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::{Message, protocol::CloseFrame};

/// What a connection is told to do.
#[derive(Debug, Clone)]
pub enum Out {
    Text(String),
    Close(u16),
    Cut,
    Zombie,
}

/// Events that a resume can bring back, at most.
const REPLAY: usize = 10_000;

pub async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        if shared.world.lock().unwrap().refuse_gateway {
            continue;
        }
        tokio::spawn(connection(stream, shared.clone()));
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else { return };
    let interval = shared.world.lock().unwrap().heartbeat_ms;
    let hello = json!({ "op": 10, "d": { "heartbeat_interval": interval, "_trace": [] } });
    if socket.send(Message::Text(hello.to_string())).await.is_err() {
        return;
    }
    let (tx, mut rx) = mpsc::unbounded_channel();
    let mut zombie = false;
    loop {
        tokio::select! {
            out = rx.recv() => match out {
                Some(Out::Text(text)) if !zombie => {
                    if socket.send(Message::Text(text)).await.is_err() { break }
                }
                Some(Out::Text(_)) => {}
                Some(Out::Close(code)) => {
                    let _ = socket.close(Some(CloseFrame { code: code.into(), reason: "".into() })).await;
                    break
                }
                Some(Out::Cut) | None => break,
                Some(Out::Zombie) => zombie = true,
            },
            incoming = socket.next() => match incoming {
                Some(Ok(Message::Text(text))) => {
                    let Ok(payload) = serde_json::from_str::<Value>(&text) else { break };
                    if !zombie { receive(&shared, &payload, &tx) }
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => {}
            },
        }
    }
    let mut world = shared.world.lock().unwrap();
    for session in world.sessions.values_mut() {
        if session.tx.as_ref().is_some_and(|t| t.same_channel(&tx)) {
            session.tx = None;
        }
    }
}

fn receive(shared: &Shared, payload: &Value, tx: &mpsc::UnboundedSender<Out>) {
    let mut world = shared.world.lock().unwrap();
    match payload["op"].as_u64() {
        Some(1) => {
            let _ = tx.send(Out::Text(json!({ "op": 11 }).to_string()));
        }
        Some(2) => identify(&mut world, &payload["d"], tx),
        Some(6) => resume(&mut world, &payload["d"], tx),
        _ => {}
    }
}

fn identify(world: &mut World, data: &Value, tx: &mpsc::UnboundedSender<Out>) {
    world.identifies += 1;
    let token = data["token"].as_str().unwrap_or_default().trim_start_matches("Bot ").to_owned();
    world.intents = data["intents"].as_u64().unwrap_or_default();
    if token != world.token {
        let _ = tx.send(Out::Close(4004));
        return;
    }
    if world.intents & (1 << 15) != 0 && !world.message_content_enabled {
        let _ = tx.send(Out::Close(4014));
        return;
    }
    let id = format!("session-{}", world.identifies);
    let ready = json!({
        "v": 10, "user": world.user(world.bot), "session_id": id, "resume_gateway_url": world.ws_url,
        "guilds": [{ "id": world.guild.to_string(), "unavailable": true }], "shard": [0, 1],
        "application": { "id": world.application.to_string(), "flags": 0 },
        "private_channels": [], "relationships": [], "presences": [], "user_settings": {},
    });
    let mut session = Session { seq: 0, replay: Default::default(), tx: Some(tx.clone()) };
    push(&mut session, "READY", &ready);
    world.sessions.insert(id, session);
}

fn resume(world: &mut World, data: &Value, tx: &mpsc::UnboundedSender<Out>) {
    let after = data["seq"].as_u64().unwrap_or_default();
    let Some(session) = world.sessions.get_mut(data["session_id"].as_str().unwrap_or_default()) else {
        let _ = tx.send(Out::Text(json!({ "op": 9, "d": false }).to_string()));
        return;
    };
    for (_, text) in session.replay.iter().filter(|(seq, _)| *seq > after) {
        let _ = tx.send(Out::Text(text.clone()));
    }
    session.tx = Some(tx.clone());
    push(session, "RESUMED", &json!({ "_trace": [] }));
}

fn push(session: &mut Session, event: &str, data: &Value) -> String {
    session.seq += 1;
    let text = json!({ "op": 0, "s": session.seq, "t": event, "d": data }).to_string();
    session.replay.push_back((session.seq, text.clone()));
    if session.replay.len() > REPLAY {
        session.replay.pop_front();
    }
    if let Some(tx) = &session.tx {
        let _ = tx.send(Out::Text(text.clone()));
    }
    text
}

impl World {
    /// Tells every open connection.
    pub fn send_all(&mut self, out: &Out) {
        for session in self.sessions.values() {
            if let Some(tx) = &session.tx {
                let _ = tx.send(out.clone());
            }
        }
    }

    /// An event for every session, subject to the faults that wait for one.
    pub fn dispatch(&mut self, event: &str, data: &Value) {
        let data = &if event.starts_with("MESSAGE_") {
            self.veiled(data.clone(), self.intents & (1 << 15) != 0)
        } else {
            data.clone()
        };
        let held = self.held.take();
        match self.event_faults.pop_front() {
            Some(GatewayFault::Lose) => {}
            Some(GatewayFault::Malform) => {
                let mut broken = data.clone();
                broken["author"] = json!(17);
                broken["timestamp"] = json!({});
                self.emit(event, &broken);
            }
            Some(GatewayFault::Double) => {
                self.emit(event, data);
                self.emit(event, data);
            }
            Some(GatewayFault::Swap) => self.held = Some((event.to_owned(), data.clone())),
            _ => self.emit(event, data),
        }
        if let Some((event, data)) = held {
            self.emit(&event, &data);
        }
    }

    fn emit(&mut self, event: &str, data: &Value) {
        for session in self.sessions.values_mut() {
            push(session, event, data);
        }
    }
}
