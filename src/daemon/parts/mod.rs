//! The parts beside the loop, one file each. Each gets all events, reads the settings itself, and never ends the
//! daemon.
//!
//! - [`history`], [`index`], [`follow`]: snapshots of people's changes, the index, other programs' folders;
//! - [`recall`], [`question_socket`]: recall kept warm, and the socket of the owner's on which other processes ask it;
//! - [`capture`], [`summaries`], [`working`]: questions of the inbox, summaries, working memory;
//! - [`discord`], [`routines`], [`page`]: the bot, the scheduled prompts, the page; [`machines`]: the other machines.

mod capture;
#[cfg(feature = "assistant")]
mod discord;
mod follow;
mod history;
mod index;
mod machines;
#[cfg(all(unix, feature = "assistant"))]
mod page;
#[cfg(unix)]
mod question_socket;
mod recall;
#[cfg(feature = "assistant")]
pub(crate) mod routines;
#[cfg(feature = "assistant")]
mod summaries;
#[cfg(feature = "assistant")]
mod working;

#[cfg(feature = "assistant")]
use std::sync::Arc;

use tokio::sync::broadcast;

use super::part::{DaemonEvent, Part};

/// The parts of this build; each reads the settings itself, which may change while it runs.
#[cfg_attr(not(feature = "assistant"), expect(unused_variables, reason = "only routines print"))]
pub(super) fn all(json: bool, events: &broadcast::Sender<DaemonEvent>) -> Vec<Box<dyn Part>> {
    // One brain has one queue, for all callers of this process.
    #[cfg(feature = "assistant")]
    let permits = Arc::<crate::agent::CallPermits>::default();
    vec![
        Box::new(machines::MachinesPart { events: events.clone() }),
        Box::new(history::HistoryPart),
        Box::new(index::IndexPart),
        Box::new(recall::RecallPart),
        Box::new(capture::CapturePart {
            #[cfg(feature = "assistant")]
            permits: Arc::clone(&permits),
        }),
        Box::new(follow::FollowPart),
        #[cfg(feature = "assistant")]
        Box::new(discord::DiscordPart { permits: Arc::clone(&permits) }),
        #[cfg(feature = "assistant")]
        Box::new(summaries::SummariesPart { permits: Arc::clone(&permits) }),
        #[cfg(feature = "assistant")]
        Box::new(working::WorkingPart { permits: Arc::clone(&permits) }),
        #[cfg(all(unix, feature = "assistant"))]
        Box::new(page::PagePart { permits: Arc::clone(&permits) }),
        #[cfg(feature = "assistant")]
        Box::new(routines::RoutinesPart { json, permits }),
    ]
}
