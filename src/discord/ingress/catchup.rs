//! Starts the reading of missed messages from history. The triggers are every READY and RESUMED, a lost event, a failed
//! lookup of a channel, and a regular interval.
//!
//! A resumed session replays events, but some can't be decoded, and a connection that hangs loses all. So history is
//! the reliable source; events are only faster. One round runs at a time: a trigger during a round starts one more
//! round after it. A round that could not list its channels is repeated with a growing pause. A lane (the task of one
//! channel) that could not read its history tries again by itself.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use serenity::http::{LightMethod, Request, Route};
use tokio::sync::{Notify, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::discord::api::{ApiError, DiscordError, bot_checks, granted, message, snowflake};
use crate::discord::log::logbook::Surface;
use crate::discord::notify::notifier::dm_channel;
use crate::discord::shared::{BotState, LaneItem, LaneKind};

/// The most pages of archived threads that a round reads, of a hundred each.
const ARCHIVE_PAGES: usize = 5;

/// Triggers rounds.
pub(in crate::discord) struct CatchupTrigger {
    notify: Arc<Notify>,
    _task: AbortOnDropHandle<()>,
}

impl CatchupTrigger {
    /// Triggers a round.
    pub fn now(&self) {
        self.notify.notify_one();
    }
}

/// Starts the task that makes the rounds: the first at the first trigger, then also every `sweep`.
pub(in crate::discord) fn start(shared: Arc<BotState>, sweep: Duration) -> CatchupTrigger {
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
    CatchupTrigger { notify, _task: AbortOnDropHandle::new(task) }
}

/// One round over the bound channel, its threads and the owners' DMs.
async fn round(shared: &Arc<BotState>) -> Result<(), DiscordError> {
    let mut places: Vec<(u64, LaneKind)> = vec![];
    let mut problems = vec![];
    // Archived threads without new messages.
    let mut quiet = vec![];
    if let Some(channel) = shared.settings.channel_id {
        let found = shared.api.get(Route::Channel { channel_id: channel.into() }).await;
        match found {
            Ok(found) => {
                if let Some(guild) = message::id(&found["guild_id"]).or(shared.settings.guild_id) {
                    problems = examine_bound(shared, guild, &found).await;
                    for user in shared.settings.owner_ids.iter().copied() {
                        let route = Route::GuildMember { guild_id: guild.into(), user_id: user.into() };
                        let member = granted(shared.api.get(route).await)?;
                        learn_names(shared, user, &member.unwrap_or_default());
                    }
                    shared.knows_names.store(true, Ordering::Relaxed);
                    places.extend(active_threads(shared, guild).await?);
                    archived_threads(shared, channel, &mut places, &mut quiet).await?;
                }
                places.extend(shared.lane_kind(&found).map(|place| (channel, place)));
            }
            Err(error @ ApiError::Refused { .. }) => {
                // A person has to fix it; the DMs still work.
                problems.push(error.for_channel(channel));
            }
            Err(error) => return Err(error.into()),
        }
    }
    problems.extend(shared.settings.owner_ids.is_empty().then_some(DiscordError::NoOwner));
    problems.extend(shared.is_blind().then_some(DiscordError::MissingIntent));
    shared.report_problems(problems);
    let mut known = known_threads(shared, &places);
    known.retain(|id| !quiet.contains(id));
    known.extend(waiting_for_answers(shared, &places, &known));
    for id in known {
        let found = granted(shared.api.get(Route::Channel { channel_id: id.into() }).await)?;
        places.extend(found.and_then(|found| Some((id, shared.lane_kind(&found)?))));
    }
    let mut failed = None;
    for owner in &shared.settings.owner_ids {
        // A person who takes no DMs has none to read. After another failure the round is repeated.
        match granted(dm_channel(&shared.api, *owner).await) {
            Ok(Some(channel)) => {
                let title = Some("Direct messages".to_owned());
                places.push((channel, LaneKind { surface: Surface::Channel, dm: true, title }));
            }
            Ok(None) => {}
            Err(error) => failed = Some(error),
        }
    }
    let mut waiting = vec![];
    for (id, place) in places {
        let (done, tried) = oneshot::channel();
        let _ = shared.open_lane(id, place).send(LaneItem::CatchUp { done });
        waiting.push(tried);
    }
    for tried in waiting {
        // A lane that could not read all of its history reads it again by itself.
        let _ = tried.await;
    }
    failed.map_or(Ok(()), |error| Err(error.into()))
}

/// The channels with an unanswered question, however old.
fn waiting_for_answers(shared: &BotState, places: &[(u64, LaneKind)], known: &[u64]) -> Vec<u64> {
    let open = shared.turns.open_turns(None).unwrap_or_else(|error| {
        tracing::error!("{error}");
        Vec::new()
    });
    let mut channels: Vec<u64> =
        open.into_iter().map(|turn| turn.question.channel).filter(|channel| *channel != 0).collect();
    channels.sort_unstable();
    channels.dedup();
    channels.retain(|id| !known.contains(id) && places.iter().all(|(other, _)| other != id));
    channels
}

/// Updates the bot's roles and checks its permissions in its channel; asked each time, since both change and no
/// event reports that.
async fn examine_bound(shared: &BotState, guild: u64, channel: &Value) -> Vec<DiscordError> {
    let user = shared.identity().user;
    let (member, problems) =
        bot_checks::examine_server(&shared.api, &shared.settings, user, guild, channel).await;
    if let Some(member) = member {
        let roles = message::list(&member["roles"]).iter().filter_map(message::id).collect();
        shared.set_identity(|identity| identity.roles = roles);
        learn_names(shared, user, &member);
    }
    problems
}

/// Learns the names of the bot or an owner on the server, before messages of others are logged.
fn learn_names(shared: &BotState, user: u64, member: &Value) {
    for name in [&member["nick"], &member["user"]["global_name"], &member["user"]["username"]] {
        name.as_str().map(|name| shared.log_name(user, name));
    }
}

async fn active_threads(shared: &BotState, guild: u64) -> Result<Vec<(u64, LaneKind)>, DiscordError> {
    let answer = shared.api.get(Route::GuildThreadsActive { guild_id: guild.into() }).await;
    // If the list is refused, the channel can still be read.
    let answer = granted(answer)?.unwrap_or_default();
    Ok(message::list(&answer["threads"]).iter().filter_map(|thread| ours(shared, thread)).collect())
}

/// Threads of the bound channel that were archived lately: one that was made and archived while the bot was down stands
/// in no other list. Those without new messages go into `quiet`.
async fn archived_threads(
    shared: &BotState,
    channel: u64,
    places: &mut Vec<(u64, LaneKind)>,
    quiet: &mut Vec<u64>,
) -> Result<(), DiscordError> {
    let idle = SignedDuration::from_hours(24 * i64::from(shared.settings.thread_idle_days));
    let mut before: Option<String> = None;
    for _ in 0..ARCHIVE_PAGES {
        let mut params = vec![("limit", "100".to_owned())];
        params.extend(before.take().map(|before| ("before", before)));
        let route = Route::ChannelArchivedPublicThreads { channel_id: channel.into() };
        let Some(answer) =
            granted(shared.api.call(Request::new(route, LightMethod::Get).params(Some(params))).await)?
        else {
            return Ok(());
        };
        for thread in message::list(&answer["threads"]) {
            let archived = thread["thread_metadata"]["archive_timestamp"].as_str();
            let at: Option<Timestamp> = archived.and_then(|text| text.parse().ok());
            if at.is_some_and(|at| shared.clock.now().duration_since(at) > idle) {
                return Ok(());
            }
            before = archived.map(str::to_owned);
            let Some((id, place)) = ours(shared, thread) else { continue };
            let last = message::id(&thread["last_message_id"]);
            match shared.cursors.get(id) {
                Some(read) if last.is_some_and(|last| last <= read) => quiet.push(id),
                _ => places.push((id, place)),
            }
        }
        if answer["has_more"] != true || before.is_none() {
            break;
        }
    }
    Ok(())
}

/// A thread of the bound channel, with its kind. One that was made since the channel was last read is read from its
/// beginning, also if it belongs to an older message and has that one's id.
fn ours(shared: &BotState, thread: &Value) -> Option<(u64, LaneKind)> {
    let (id, place) = (message::id(&thread["id"])?, shared.lane_kind(thread)?);
    let made = thread["thread_metadata"]["create_timestamp"].as_str().and_then(|text| text.parse().ok());
    let is_new = shared.cursors.get(id).is_none() && !shared.log.contexts(Surface::Thread).contains(&id);
    if is_new && made.is_some_and(|made| shared.is_young(made)) {
        shared.cursors.set(id, id.saturating_sub(1));
    }
    Some((id, place))
}

/// Threads that were read lately but aren't active: messages from before they were archived may have been missed.
fn known_threads(shared: &BotState, active: &[(u64, LaneKind)]) -> Vec<u64> {
    let idle = SignedDuration::from_hours(24 * i64::from(shared.settings.thread_idle_days));
    let now = shared.clock.now();
    let recent = |id: &u64| {
        let read_to = shared.cursors.get(*id).map(snowflake::time_of);
        read_to.is_none_or(|at| now.duration_since(at) <= idle)
    };
    let mut known = shared.log.contexts(Surface::Thread);
    known.extend(shared.cursors.channels().into_iter().filter(|id| Some(*id) != shared.settings.channel_id));
    known.sort_unstable();
    known.dedup();
    known.into_iter().filter(|id| active.iter().all(|(other, _)| other != id)).filter(recent).collect()
}
