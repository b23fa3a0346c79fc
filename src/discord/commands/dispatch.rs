//! Handles interactions: slash commands, the message's menu entry, buttons, and completions while a person types.
//!
//! Discord allows three seconds for the first answer, so each interaction is acknowledged first and then handled; the
//! result is an edit of that first answer, which only the person who asked sees. Only owners get more than a sentence.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use serenity::all::{CommandInteraction, ComponentInteraction, Interaction, ResolvedValue};
use serenity::http::{LightMethod, Route};

use super::interaction_reply::InteractionReply;
use super::{definitions, inbox};
use crate::agent::turn_memory;
use crate::discord::api::message::IncomingMessage;
use crate::discord::buttons::{self, NotificationPress, Press};
use crate::discord::shared::{BotState, LaneItem, VaultOperations};
use crate::format::fenced;
use crate::format::reminder::Recur;
use crate::memory::Origin;
use crate::reminders::ReminderError;
use crate::tasks::{self, Scanner};
use crate::turn::NewTurn;
use crate::vault::Actor;
use crate::when::WhenError;

const STRANGER: &str = "Only the owner of this vault may use me.";

/// Answers one interaction.
pub(in crate::discord) async fn handle(shared: Arc<BotState>, interaction: Interaction) {
    match interaction {
        Interaction::Command(command) => run_command(&shared, &command).await,
        Interaction::Autocomplete(command) => autocomplete(&shared, &command).await,
        Interaction::Component(component) => press(&shared, &component).await,
        _ => {}
    }
}

async fn run_command(shared: &BotState, command: &CommandInteraction) {
    let call = InteractionReply::new(shared, command.id, &command.token, command.application_id.get());
    if !shared.owners.has(command.user.id.get()) {
        return call.say_now(STRANGER).await;
    }
    if !call.defer().await {
        return;
    }
    let words = match command.data.name.as_str() {
        "inbox" => blocking(shared, inbox::open).await,
        _ => dispatch(shared, command).await.map(|text| (text, vec![])),
    };
    let (text, rows) = words.unwrap_or_else(|problem| (format!("That didn't work: {problem}"), vec![]));
    call.answer_with(&text, &rows).await;
}

/// A command's text options by name.
fn option(command: &CommandInteraction, name: &str) -> Option<String> {
    command.data.options().into_iter().find(|option| option.name == name).and_then(|option| {
        match option.value {
            ResolvedValue::String(text) => Some(text.to_owned()),
            ResolvedValue::Autocomplete { value, .. } => Some(value.to_owned()),
            _ => None,
        }
    })
}

fn required_option(command: &CommandInteraction, name: &str) -> Result<String, String> {
    option(command, name).filter(|text| !text.trim().is_empty()).ok_or_else(|| format!("`{name}` is missing"))
}

async fn dispatch(shared: &BotState, command: &CommandInteraction) -> Result<String, String> {
    match command.data.name.as_str() {
        "remind" => remind(shared, command).await,
        "reminders" => blocking(shared, list).await,
        "unremind" => {
            let id = required_option(command, "reminder")?;
            let removed = blocking(shared, move |operations| {
                operations.vault_reminders().remove(id.trim(), Actor::Discord)
            })
            .await?;
            shared.operations.services.confirm("Removed", &removed.line_text).await;
            Ok(format!("Removed:\n{}", fenced(&removed.line_text)))
        }
        "remember" => {
            let text = required_option(command, "text")?;
            let bullet = blocking(shared, move |operations| operations.pin(&text, None)).await?;
            Ok(format!("Pinned:\n{}", fenced(&bullet)))
        }
        definitions::REMEMBER_MESSAGE => remember_message(shared, command).await,
        "forget" => {
            let text = required_option(command, "pin")?;
            let bullet = blocking(shared, move |operations| {
                operations.memory().unpin(&text, false, &Origin::new(Actor::Discord))
            })
            .await?;
            Ok(format!("No longer pinned:\n{}", fenced(&bullet.text)))
        }
        "recall" => {
            let found = shared.operations.recall.recall(&required_option(command, "query")?, 5).await?;
            Ok(turn_memory::describe(&found))
        }
        "ask" => ask(shared, command).await,
        "stop" => {
            let (channel, who) = (command.channel_id.get(), user_name(command));
            // A stop that can't be recorded still works while the program runs.
            let kept = shared.turns.stop(channel, &who, shared.clock.now());
            let kept = kept.inspect_err(|error| tracing::warn!("{error}")).unwrap_or_default();
            let stopped = shared.channel_lock.stop(channel, None, &who) || kept;
            Ok(if stopped { "Stopped." } else { "Nothing is being answered here." }.to_owned())
        }
        "new" => new_window(shared, command).await,
        "routine" => {
            let (action, name) = (required_option(command, "action")?, option(command, "name"));
            shared.operations.services.routine(&action, name.as_deref()).await
        }
        "status" => Ok(shared.operations.services.status().await),
        "undo" => shared.operations.services.undo().await,
        other => Err(format!(
            "I don't know the command `{other}`; restart vault-agent to register the present ones"
        )),
    }
}

/// Runs file work in a thread for blocking calls.
async fn blocking<T: Send + 'static, E: std::fmt::Display>(
    shared: &BotState,
    work: impl FnOnce(&VaultOperations) -> Result<T, E> + Send + 'static,
) -> Result<T, String> {
    let operations = shared.operations.clone();
    // Boxed: the runtime's code for it is compiled once for each type of result, not for each command.
    let work: Box<dyn FnOnce() -> Result<T, String> + Send> =
        Box::new(move || work(&operations).map_err(|error| error.to_string()));
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

async fn remind(shared: &BotState, command: &CommandInteraction) -> Result<String, String> {
    let (when, what) = (required_option(command, "when")?, required_option(command, "what")?);
    let recur = option(command, "recur");
    let recur: Option<Recur> = recur
        .map(|recur| {
            Recur::named(&recur).ok_or_else(|| format!("`{recur}` is none of {}", Recur::NAMES.join(", ")))
        })
        .transpose()?;
    crate::reminders::check_message(&what).map_err(|error| error.to_string())?;
    let (written, words) = blocking(shared, move |operations| -> Result<_, String> {
        let meaning = operations.when(&when).map_err(|error| format!("{error}; {}", error.hint()))?;
        let recur = meaning.recurring(recur).map_err(|error| error.to_string())?;
        let written = operations.add(meaning.local, recur, &what).map_err(|error| error.to_string())?;
        Ok((written, operations.in_words(meaning.local, recur)))
    })
    .await?;
    shared.operations.services.confirm("Added", &written.line_text).await;
    Ok(format!("Added:\n{}\nIt comes {words}.", fenced(&written.line_text)))
}

/// The most tasks of other plugins in a list.
const MOST_TASKS: usize = 20;

fn list(operations: &VaultOperations) -> Result<String, ReminderError> {
    let reminders = operations.vault_reminders();
    let (all, problems) =
        tasks::all(&reminders, &operations.vault_tasks(), &mut Scanner::default(), operations.clock.now())?;
    let (tasks, reminders): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.is_task());
    let mut out = vec![match reminders.len() {
        0 => "No reminders.".to_owned(),
        count => format!("{count} reminders:"),
    }];
    out.extend(reminders.iter().map(|item| {
        let id = item.id.as_deref().unwrap_or("no id yet");
        format!("- {} {} {} `{id}`: {}", item.date, item.time, item.recur, item.msg)
    }));
    if !tasks.is_empty() {
        out.push(format!("{} tasks of other plugins:", tasks.len()));
    }
    out.extend(tasks.iter().take(MOST_TASKS).map(|item| {
        let recur = if item.recur == "none" { String::new() } else { format!(" {}", item.recur) };
        format!("- {} {}{recur}: {} · {}", item.date, item.time, item.msg, item.place())
    }));
    if tasks.len() > MOST_TASKS {
        out.push(format!("- and {} more: `vault-agent remind list --all`", tasks.len() - MOST_TASKS));
    }
    out.extend(problems);
    Ok(out.join("\n"))
}

async fn remember_message(shared: &BotState, command: &CommandInteraction) -> Result<String, String> {
    let messages = &command.data.resolved.messages;
    let target = command.data.target_id.map(serenity::all::TargetId::get);
    let message = messages.values().find(|message| Some(message.id.get()) == target);
    let message =
        message.and_then(IncomingMessage::from_serenity).ok_or("Discord didn't say which message")?;
    let link = shared.log.link(message.channel, message.id);
    let excerpt: String = message.content.chars().take(200).collect();
    let more = if excerpt.len() < message.content.len() { "…" } else { "" };
    let words = match (&link, message.content.trim().is_empty()) {
        (_, false) => format!("{}: {excerpt}{more}", message.author.name),
        (Some(_), true) => message.author.name.clone(),
        (None, true) => return Err("that message has no text, and stands in no log".to_owned()),
    };
    // A message that no log holds is pinned with its whole text.
    let words = if link.is_none() { format!("{}: {}", message.author.name, message.content) } else { words };
    let bullet = blocking(shared, move |operations| operations.pin(&words, link.as_deref())).await?;
    Ok(format!("Pinned:\n{}", fenced(&bullet)))
}

/// A question as a turn of its own; its answer comes into the channel.
async fn ask(shared: &BotState, command: &CommandInteraction) -> Result<String, String> {
    let channel = command.channel_id.get();
    let lane = shared.lane(channel).ok_or("this channel isn't bound, so nothing can be asked here")?;
    let turn = NewTurn {
        message: command.id.get(),
        channel,
        author: user_name(command),
        text: required_option(command, "question")?,
        only: option(command, "brain").filter(|brain| !brain.trim().is_empty()),
        ..NewTurn::default()
    };
    let (done, accepted) = tokio::sync::oneshot::channel();
    let stopping = || "the bot is stopping".to_owned();
    lane.send(LaneItem::Ask { turn, done }).map_err(|_| stopping())?;
    accepted.await.map_err(|_| stopping())?;
    Ok("The answer comes here.".to_owned())
}

fn user_name(command: &CommandInteraction) -> String {
    command.user.global_name.clone().unwrap_or_else(|| command.user.name.clone())
}

async fn new_window(shared: &BotState, command: &CommandInteraction) -> Result<String, String> {
    let lane = shared.lane(command.channel_id.get()).ok_or("this channel isn't bound, so it has no log")?;
    let (done, answer) = tokio::sync::oneshot::channel();
    let who = user_name(command);
    let stopping = || "the bot is stopping".to_owned();
    lane.send(LaneItem::NewWindow { who, done }).map_err(|_| stopping())?;
    match answer.await.map_err(|_| stopping())?? {
        Some(path) => Ok(format!("A new window begins: `{path}`")),
        None => Err("this channel has no log yet".to_owned()),
    }
}

/// Sends completions for the text being typed.
async fn autocomplete(shared: &BotState, command: &CommandInteraction) {
    let call =
        InteractionReply::new(shared, command.id, &command.token, shared.application.load(Ordering::Relaxed));
    let choices =
        if shared.owners.has(command.user.id.get()) { choices(shared, command).await } else { vec![] };
    let choices: Vec<Value> = choices
        .into_iter()
        .take(25)
        .map(|(name, value)| json!({ "name": cut(&name, 100), "value": cut(&value, 100) }))
        .collect();
    call.logged(call.callback(&json!({ "type": 8, "data": { "choices": choices } })).await);
}

async fn choices(shared: &BotState, command: &CommandInteraction) -> Vec<(String, String)> {
    let focused = command.data.options().into_iter().find_map(|option| match option.value {
        ResolvedValue::Autocomplete { value, .. } => Some((option.name.to_owned(), value.to_owned())),
        _ => None,
    });
    let Some((name, typed)) = focused else { return vec![] };
    let has = |text: &str| text.to_lowercase().contains(&typed.trim().to_lowercase());
    match name.as_str() {
        "when" => {
            let mut phrases = vec![typed.clone()];
            phrases.extend(
                ["in 10 minutes", "in 1 hour", "tomorrow 9:00"]
                    .map(str::to_owned)
                    .into_iter()
                    .filter(|p| has(p)),
            );
            let meant = phrases.iter().flat_map(|phrase| match shared.operations.when(phrase) {
                Ok(meaning) => {
                    let words = shared.operations.in_words(meaning.local, meaning.recur);
                    vec![(format!("{phrase}: {words}"), phrase.clone())]
                }
                // An ambiguous phrase is offered in all readings.
                Err(WhenError::Ambiguous(_, readings)) => {
                    let once = readings.into_iter().filter(|reading| reading.recur == Recur::None);
                    once.map(|reading| (format!("{}, {}", reading.typed, reading.distance), reading.typed))
                        .collect()
                }
                Err(_) => vec![],
            });
            meant.collect()
        }
        "reminder" => {
            blocking(shared, |operations| operations.vault_reminders().list(operations.clock.now()))
                .await
                .unwrap_or_default()
                .into_iter()
                .filter_map(|item| Some((format!("{} {} {}", item.date, item.time, item.msg), item.id?)))
                .filter(|(shown, id)| has(shown) || has(id))
                .collect()
        }
        "name" => {
            let names = shared.operations.services.routines().await;
            names.into_iter().filter(|name| has(name)).map(|name| (name.clone(), name)).collect()
        }
        // Unpinning takes the beginning of a pin, so a long one can be cut.
        "pin" => blocking(shared, |operations| operations.memory().pins())
            .await
            .unwrap_or_default()
            .into_iter()
            .map(|pin| (pin.text.replace('\n', " "), pin.text))
            .filter(|(shown, _)| has(shown))
            .collect(),
        _ => vec![],
    }
}

async fn press(shared: &BotState, component: &ComponentInteraction) {
    let call = InteractionReply::new(shared, component.id, &component.token, component.application_id.get());
    if !shared.owners.has(component.user.id.get()) {
        return call.say_now(STRANGER).await;
    }
    let Some(press) = buttons::parse(&component.data.custom_id) else {
        return call.say_now("This button is of another version of me; use the slash commands.").await;
    };
    if !call.defer().await {
        return;
    }
    let words = match press {
        Press::Notification(press) => return press_notification(shared, component, &call, press).await,
        Press::Approval { decision, id, digest } => {
            shared.approvals.answer(&id, &digest, decision, Actor::Discord).await
        }
        Press::Candidate { keep, id } => {
            blocking(shared, move |operations| inbox::act(operations, keep, &id)).await
        }
    };
    call.answer(&words.unwrap_or_else(|problem| format!("That didn't work: {problem}."))).await;
}

async fn press_notification(
    shared: &BotState,
    component: &ComponentInteraction,
    call: &InteractionReply<'_>,
    press: NotificationPress,
) {
    let known = shared.operations.services.fact(&press.id, press.due).await.map(|fact| fact.msg);
    let words = component.message.content.clone();
    let result = blocking(shared, move |operations| {
        let in_note = || operations.line(&press.id).ok().flatten().map(|line| line.reminder.msg);
        let msg = known.or_else(in_note).unwrap_or_else(|| buttons::msg_of(&words));
        buttons::act(operations, &press, &msg)
    })
    .await;
    match result {
        Ok(pressed) => {
            let line = pressed.line.as_deref().map(|line| format!(":\n{}", fenced(line))).unwrap_or_default();
            let remark = pressed.remark.as_deref().map(|remark| format!("\n{remark}")).unwrap_or_default();
            call.answer(&format!("{}{line}{remark}", pressed.text)).await;
            disable(shared, component, &pressed.text).await;
            if let (true, Some(line)) = (pressed.changed, &pressed.line) {
                shared.operations.services.confirm(&pressed.text, line).await;
            }
        }
        Err(problem) => call.answer(&format!("That didn't work: {problem}")).await,
    }
}

/// Disables the buttons; they stay visible.
async fn disable(shared: &BotState, component: &ComponentInteraction, words: &str) {
    let rows = component.message.components.iter().map(serde_json::to_value);
    let mut rows: Vec<Value> = rows.filter_map(Result::ok).collect();
    buttons::disable(&mut rows);
    let body = json!({ "components": rows, "allowed_mentions": { "parse": [] } });
    let route =
        Route::ChannelMessage { channel_id: component.message.channel_id, message_id: component.message.id };
    if let Err(error) = shared.api.send(LightMethod::Patch, route, &body).await {
        tracing::debug!(%error, words, "the buttons could not be switched off");
    }
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
