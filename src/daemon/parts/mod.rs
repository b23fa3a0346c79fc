//! Runs the parts of the daemon beside its loop, one file each. Each part gets all events, applies changed settings
//! itself, and never ends the daemon.
//!
//! - [`history`], [`index`], [`follow`]: snapshots of people's changes, the index, other programs' folders;
//! - [`recall`], [`question_socket`]: the loaded searcher, and the owner's socket on which other processes query it;
//! - [`capture`], [`summaries`], [`working`]: questions of the inbox, summaries, working memory;
//! - [`discord`], [`routines`], [`page`]: the bot, the scheduled prompts, the web page; [`machines`]: the other
//!   machines.

mod capture;
#[cfg(feature = "assistant")]
mod discord;
mod follow;
mod history;
mod index;
mod machines;
#[cfg(all(unix, feature = "assistant"))]
pub(crate) mod page;
mod prelude;
mod question_socket;
mod recall;
#[cfg(feature = "assistant")]
pub(crate) mod routines;
#[cfg(feature = "assistant")]
mod summaries;
#[cfg(feature = "assistant")]
mod working;

use std::pin::Pin;

use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;

use crate::vault::WatchEvent;

use super::part::{DaemonEvent, PartContext, StatusBoard};

/// Starts the parts of this build; each reads the settings itself, which may change while it runs.
#[cfg_attr(not(feature = "assistant"), expect(unused_variables, reason = "only routines print"))]
pub(super) fn start(
    context: impl Fn() -> PartContext,
    board: &StatusBoard,
    events: &broadcast::Sender<DaemonEvent>,
    watched: mpsc::UnboundedReceiver<WatchEvent>,
    json: bool,
) -> Vec<JoinHandle<()>> {
    vec![
        spawn("machines", board, machines::run(context(), events.clone())),
        spawn("history", board, history::run(context())),
        spawn("index", board, index::run(context(), watched)),
        spawn("recall", board, recall::run(context())),
        spawn("inbox", board, capture::run(context())),
        spawn("follow", board, follow::run(context())),
        #[cfg(feature = "assistant")]
        spawn("discord", board, discord::run(context())),
        #[cfg(feature = "assistant")]
        spawn("summaries", board, summaries::run(context())),
        #[cfg(feature = "assistant")]
        spawn("working memory", board, working::run(context())),
        #[cfg(all(unix, feature = "assistant"))]
        spawn("page", board, page::run(context())),
        #[cfg(feature = "assistant")]
        spawn("routines", board, routines::run(context(), json)),
    ]
}

fn spawn(
    name: &'static str,
    board: &StatusBoard,
    part: impl Future<Output = anyhow::Result<()>> + Send + 'static,
) -> JoinHandle<()> {
    let board = board.clone();
    // Boxed: the runtime's code for a task, 5 KB, is compiled once for all of them.
    let part: Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send>> = Box::pin(part);
    tokio::spawn(async move {
        if let Err(error) = part.await {
            tracing::error!(part = name, "{error:#}");
            board.set_part(name, format!("stopped: {error:#}"));
        }
    })
}
