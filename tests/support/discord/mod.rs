//! A Discord of our own for tests and for the bench: the REST API and the gateway over real sockets on 127.0.0.1,
//! spoken to through serenity itself. It keeps channels, threads, messages, commands and interactions, enforces
//! nonces within a window, pages history newest first, counts who would have been pinged, and can be told to
//! misbehave in every way that is known of the real one (`faults`). Requests and answers are checked against
//! Discord's own OpenAPI description where that file is at hand (`schema`).
//!
//! It never talks to anything but the sockets that it opened.

#![allow(clippy::needless_pass_by_value)]
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, missing_docs)]

mod api;
mod faults;
mod gateway;
mod rest;
mod schema;
pub mod tls;
pub mod world;

#[allow(unused_imports)]
pub use faults::{Fault, GatewayFault, Scope};
#[allow(unused_imports)]
pub use world::{Access, Record, World};

use crate::support::prelude::*;
use std::sync::MutexGuard;

/// What both front doors of the server share.
pub struct Shared {
    pub world: Mutex<World>,
    pub rules: Mutex<Vec<faults::Rule>>,
    pub records: Mutex<Vec<Arc<Record>>>,
    pub violations: Mutex<Vec<String>>,
    pub schema: Option<schema::Schema>,
}

/// A running server. Dropping it closes its sockets, and fails the test if a request or an answer broke the API's
/// description.
pub struct FakeDiscord {
    pub shared: Arc<Shared>,
    rest: SocketAddr,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl FakeDiscord {
    /// Opens both sockets on free ports of 127.0.0.1.
    pub async fn start() -> Self {
        let gateway = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let rest = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let (ws_address, rest_address) = (gateway.local_addr().unwrap(), rest.local_addr().unwrap());
        let shared = Arc::new(Shared {
            world: Mutex::new(World::new(format!("ws://{ws_address}"))),
            rules: Mutex::default(),
            records: Mutex::default(),
            violations: Mutex::default(),
            schema: schema::Schema::find(),
        });
        let tasks = vec![
            tokio::spawn(gateway::serve(gateway, shared.clone())),
            tokio::spawn(rest::serve(rest, shared.clone())),
        ];
        Self { shared, rest: rest_address, tasks }
    }

    /// The REST base, for `[discord] api_base`.
    pub fn api_base(&self) -> String {
        format!("http://{}", self.rest)
    }

    /// A second REST door with TLS, as `discord.com`; returns where it is.
    pub async fn start_tls(&mut self) -> SocketAddr {
        let (address, task) = tls::serve(rest::router(self.shared.clone())).await;
        self.tasks.push(task);
        address
    }

    pub fn world(&self) -> MutexGuard<'_, World> {
        self.shared.world.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Makes the next `times` requests whose method and path match go wrong.
    pub fn fault(&self, method: &'static str, path: &str, fault: Fault, times: usize) {
        let rule = faults::Rule { method, path: path.into(), fault, left: times };
        self.shared.rules.lock().unwrap().push(rule);
    }

    /// Forgets all faults that are still to come.
    pub fn heal(&self) {
        self.shared.rules.lock().unwrap().clear();
        self.world().refuse_gateway = false;
    }

    /// Does something to every open gateway connection, at once.
    pub fn gateway(&self, fault: GatewayFault) {
        faults::apply(&self.shared, fault);
    }

    /// Every request so far whose method and path match, oldest first.
    pub fn requests(&self, method: &str, path: &str) -> Vec<Arc<Record>> {
        let records = self.shared.records.lock().unwrap();
        records.iter().filter(|r| r.method == method && r.path.contains(path)).cloned().collect()
    }

    /// Waits until `done` says so.
    pub async fn until(&self, what: &str, mut done: impl FnMut(&World) -> bool) {
        when(what, || done(&self.world())).await;
    }

    /// Waits until a gateway session is ready.
    pub async fn connected(&self) {
        self.until("a gateway session", |w| w.sessions.values().any(|s| s.tx.is_some())).await;
    }

    /// A person writes. Stored and dispatched like any message; returns its id.
    pub fn say(&self, channel: u64, author: u64, content: &str) -> u64 {
        self.post(channel, author, json!({ "content": content }))
    }

    /// A person writes, with more keys (`message_reference`, `attachments`, …) in the message.
    pub fn post(&self, channel: u64, author: u64, extra: Value) -> u64 {
        let mut world = self.world();
        let message = world.message(channel, author, &extra);
        world.store(message, true)
    }

    pub fn edit(&self, channel: u64, id: u64, content: &str) {
        self.world().edit(channel, id, &json!({ "content": content }));
    }

    pub fn delete(&self, channel: u64, id: u64) {
        self.world().delete(channel, id);
    }

    /// The texts of a channel, oldest first.
    pub fn texts(&self, channel: u64) -> Vec<String> {
        self.messages(channel).iter().map(|m| m["content"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The messages of a channel, oldest first.
    pub fn messages(&self, channel: u64) -> Vec<Value> {
        self.world().channels[&channel].messages.values().cloned().collect()
    }

    /// Sends an interaction and waits for its answer: the callback's body, with later edits merged into `edited`.
    pub async fn interact(&self, interaction: Value) -> Value {
        let id = self.world().interact(interaction);
        let is_answer = |callback: &Value| !matches!(callback["type"].as_u64(), Some(5 | 6));
        let settled =
            |i: &world::Interaction| i.edited.is_some() || i.callback.as_ref().is_some_and(is_answer);
        let answered = |w: &World| w.interactions.get(&id).is_some_and(settled);
        self.until("an answer to the interaction", answered).await;
        let world = self.world();
        let interaction = &world.interactions[&id];
        json!({ "callback": interaction.callback, "edited": interaction.edited })
    }

    /// The text that the person who used a command sees.
    pub async fn reply(&self, interaction: Value) -> String {
        let answer = self.interact(interaction).await;
        let edited = answer["edited"]["content"].as_str();
        edited.or(answer["callback"]["data"]["content"].as_str()).unwrap_or_default().to_owned()
    }
}

impl Drop for FakeDiscord {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
        if !std::thread::panicking() {
            let violations = self.shared.violations.lock().unwrap();
            assert!(violations.is_empty(), "against Discord's API description:\n{}", violations.join("\n"));
        }
    }
}
