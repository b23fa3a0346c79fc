//! What was missed is read from history: after every READY and RESUMED, and by a slow sweep.
//!
//! A resumed session replays events, but the library drops those that it can't decode, and a zombie connection loses
//! all; so history is the truth, and live events are only quicker. One round at a time: a trigger during a round makes
//! one more after it. A round that could not read everything is repeated with a growing pause.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::Value;
use serenity::http::Route;
use tokio::sync::{Notify, oneshot};

use super::bot::Shared;
use super::error::{ApiError, DiscordError};
use super::gateway::GatewayStatus;
use super::ingress::{Item, Place};
use super::log::Surface;
use super::message;
use super::notifier::dm_channel;

/// Starts rounds.
pub(super) struct Trigger {
    notify: Arc<Notify>,
    task: tokio::task::JoinHandle<()>,
}

impl Trigger {
    /// A round as soon as can be.
    pub fn now(&self) {
        self.notify.notify_one();
    }
}

impl Drop for Trigger {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts the task that makes the rounds: the first at the first trigger, then also every `sweep`.
pub(super) fn start(shared: Arc<Shared>, sweep: Duration) -> Trigger {
    let notify = Arc::new(Notify::new());
    let triggered = notify.clone();
    let task = tokio::spawn(async move {
        triggered.notified().await;
        loop {
            let mut pause = Duration::from_secs(1);
            while let Err(error) = round(&shared).await {
                tracing::warn!(%error, again_in_s = pause.as_secs(), "not all of what was missed could be read");
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = triggered.notified() => {}
                }
                pause = (pause * 2).min(sweep);
            }
            tokio::select! {
                () = tokio::time::sleep(sweep) => {}
                () = triggered.notified() => {}
            }
        }
    });
    Trigger { notify, task }
}

/// One round over the bound channel, its threads and the owners' DMs.
async fn round(shared: &Arc<Shared>) -> Result<(), DiscordError> {
    let mut places: Vec<(u64, Place)> = vec![];
    if let Some(channel) = shared.settings.channel_id {
        let found = get(shared, Route::Channel { channel_id: channel.into() }).await;
        match found {
            Ok(found) => {
                let guild = shared.settings.guild_id.or_else(|| message::id(&found["guild_id"]));
                if let Some(guild) = guild {
                    identify(shared, guild).await;
                    places.extend(active_threads(shared, guild).await?);
                }
                places.extend(shared.place_of(&found).map(|place| (channel, place)));
            }
            Err(error @ ApiError::Refused { .. }) => {
                // A person has to mend it; the DMs work all the same.
                let problem = error.for_channel(channel);
                tracing::error!(%problem, "the bound channel can't be read");
                let _ = shared.status.send(GatewayStatus::Degraded(problem));
            }
            Err(error) => return Err(DiscordError::Unreachable(error.to_string())),
        }
    }
    for id in known_threads(shared, &places) {
        match get(shared, Route::Channel { channel_id: id.into() }).await {
            Ok(found) => places.extend(shared.place_of(&found).map(|place| (id, place))),
            // Deleted, or none of ours any more.
            Err(ApiError::Refused { .. }) => {}
            Err(error) => return Err(DiscordError::Unreachable(error.to_string())),
        }
    }
    for owner in shared.owners.ids() {
        // A person who takes no DMs has none to be read.
        if let Ok(channel) = dm_channel(&shared.api, *owner).await {
            let title = Some("Direct messages".to_owned());
            places.push((channel, Place { surface: Surface::Channel, dm: true, title }));
        }
    }
    let mut waiting = vec![];
    for (id, place) in places {
        let (done, whole) = oneshot::channel();
        let _ = shared.open_lane(id, place).send(Item::CatchUp { done });
        waiting.push(whole);
    }
    let mut all = true;
    for whole in waiting {
        all &= whole.await.unwrap_or(true);
    }
    if all { Ok(()) } else { Err(DiscordError::Unreachable("some history could not be read".to_owned())) }
}

async fn get(shared: &Shared, route: Route<'_>) -> Result<Value, ApiError> {
    shared.api.get(route, vec![]).await
}

/// Which roles the bot holds; asked anew each time, since they change and no event says so.
async fn identify(shared: &Shared, guild: u64) {
    let user = shared.identity().user;
    if user == 0 {
        return;
    }
    match get(shared, Route::GuildMember { guild_id: guild.into(), user_id: user.into() }).await {
        Ok(member) => {
            let roles = member["roles"].as_array().map(Vec::as_slice).unwrap_or_default();
            let roles = roles.iter().filter_map(message::id).collect();
            shared.set_identity(|identity| identity.roles = roles);
        }
        Err(error) => tracing::debug!(%error, "the bot's roles are not known: only its own mention is heard"),
    }
}

async fn active_threads(shared: &Shared, guild: u64) -> Result<Vec<(u64, Place)>, DiscordError> {
    let answer = get(shared, Route::GuildThreadsActive { guild_id: guild.into() })
        .await
        .map_err(|error| DiscordError::Unreachable(error.to_string()))?;
    let threads = answer["threads"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ours = |thread: &Value| Some((message::id(&thread["id"])?, shared.place_of(thread)?));
    Ok(threads.iter().filter_map(ours).collect())
}

/// Threads that were read lately but aren't active: what was said before they were archived may have been missed.
fn known_threads(shared: &Shared, active: &[(u64, Place)]) -> Vec<u64> {
    let idle = SignedDuration::from_hours(24 * i64::from(shared.settings.thread_idle_days));
    let now = shared.clock.now();
    let recent = |id: &u64| {
        let read_to = shared.cursors.get(*id).map(super::snowflake::time_of);
        read_to.is_none_or(|at| now.duration_since(at) <= idle)
    };
    let mut known = shared.log.contexts(Surface::Thread);
    known.extend(shared.cursors.channels().into_iter().filter(|id| Some(*id) != shared.settings.channel_id));
    known.sort_unstable();
    known.dedup();
    known.into_iter().filter(|id| active.iter().all(|(other, _)| other != id)).filter(recent).collect()
}
