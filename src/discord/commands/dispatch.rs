//! Handles each Discord interaction: a slash command, the entry in a message's context menu, a button. Autocompletion
//! goes to `completion`.
//!
//! Discord allows three seconds for the first answer, so each interaction is acknowledged first and then handled. The
//! result is an edit of that first answer, which only the asking person sees. A person who isn't an owner is only told
//! that the bot is for the vault's owner.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use serenity::all::{CommandInteraction, ComponentInteraction, Interaction, ResolvedValue};
use serenity::http::{LightMethod, Route};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::interaction_reply::InteractionReply;
use super::{completion, definitions, inbox, program};
use crate::deliver::{self, delivery_journal};
use crate::discord::api::ApiError;
use crate::discord::api::message::IncomingMessage;
use crate::discord::buttons::{self, ButtonAction, NotificationPress, Press, PressOutcome};
use crate::discord::shared::{BotParts, BotState, LaneItem, VaultOperations};
use crate::format::reminder::Recur;
use crate::format::{fenced, shortened};
use crate::memory::Origin;
use crate::reminders::ReminderError;
use crate::tasks::{self, Scanner};
use crate::toolbox::runner_with;
use crate::turn::NewTurn;
use crate::vault::Actor;

const STRANGER: &str = "Only the owner of this vault may use me.";

/// Answers one interaction.
pub(in crate::discord) async fn handle(shared: Arc<BotState>, interaction: Interaction) {
    if !shared.is_new_interaction(interaction.id().get()) {
        return;
    }
    match interaction {
        Interaction::Command(command) => run_command(&shared, &command).await,
        Interaction::Autocomplete(command) => completion::answer(&shared, &command).await,
        Interaction::Component(component) => press(&shared, &component).await,
        _ => {}
    }
}

async fn run_command(shared: &BotState, command: &CommandInteraction) {
    let call = InteractionReply::new(shared, command.id, &command.token, command.application_id.get());
    if !shared.is_owner(command.user.id.get()) {
        return call.say_now(STRANGER).await;
    }
    if !call.defer().await {
        return;
    }
    let words = match command.data.name.as_str() {
        "inbox" => shared.blocking(inbox::open).await,
        _ => dispatch(shared, command).await.map(|text| (text, vec![])),
    };
    let (text, rows) = words.unwrap_or_else(|problem| (format!("That didn't work: {problem}"), vec![]));
    call.answer(&text, &rows).await;
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
        "reminders" => shared.blocking(list).await,
        "unremind" => {
            let id = required_option(command, "reminder")?;
            let removed = shared.blocking(move |operations| operations.unremind(id.trim())).await?;
            confirm(shared, "Removed", &removed.line_text).await;
            Ok(format!("Removed:\n{}", fenced(&removed.line_text)))
        }
        "remember" => {
            let text = required_option(command, "text")?;
            let bullet = shared.blocking(move |operations| operations.pin(&text, None)).await?;
            Ok(format!("Pinned:\n{}", fenced(&bullet)))
        }
        definitions::REMEMBER_MESSAGE => remember_message(shared, command).await,
        "forget" => {
            let text = required_option(command, "pin")?;
            let bullet = shared
                .blocking(move |operations| {
                    operations.memory().unpin(&text, false, &Origin::new(Actor::Discord))
                })
                .await?;
            Ok(format!("No longer pinned:\n{}", fenced(&bullet.text)))
        }
        "recall" => shared.operations.recall.answer(&required_option(command, "query")?, &[]).await,
        "ask" => ask(shared, command).await,
        "stop" => {
            let (channel, who) = (command.channel_id.get(), user_name(command));
            // A stop that can't be recorded still works while the program runs.
            let kept = shared.turns.stop(channel, &who, shared.clock.now());
            let kept = kept.inspect_err(|error| tracing::warn!("{error}")).unwrap_or_default();
            let stopped = shared.channel_lock.stop(channel, None, &who) || kept;
            Ok(if stopped { "Stopped." } else { "No answer is running here." }.to_owned())
        }
        "new" => new_window(shared, command).await,
        "routine" => {
            let (action, name) = (required_option(command, "action")?, option(command, "name"));
            routine(shared, action, name).await
        }
        "status" => shared.blocking(|operations| Ok::<_, String>(program::status(operations))).await,
        "undo" => shared.blocking(|operations| program::undo(operations)).await,
        other => Err(format!(
            "I don't know the command `{other}`; restart vault-agent to register the present ones"
        )),
    }
}

/// Confirms a change on the notifier, with the exact line as it stands in the note.
async fn confirm(shared: &BotState, what: &str, line: &str) {
    let (what, line) = (what.to_owned(), line.to_owned());
    let queued = shared.blocking(move |operations| {
        deliver::confirm(&operations.journal()?, &what, &line, operations.clock.now())
    });
    if let Err(error) = queued.await {
        tracing::warn!("a change could not be confirmed: {error}");
    }
}

async fn routine(shared: &BotState, action: String, name: Option<String>) -> Result<String, String> {
    let BotParts { turns, permits, approvals, .. } = &shared.parts;
    let (turns, permits, approvals) = (Arc::clone(turns), Arc::clone(permits), Arc::clone(approvals));
    let (answer, run) = shared
        .blocking(move |operations| {
            let workspace = &operations.workspace;
            let runner =
                || runner_with(workspace, turns, permits, approvals, workspace.delivery_order(false));
            program::routine(workspace, &action, name.as_deref(), runner)
        })
        .await?;
    if let Some((runner, key)) = run {
        // The next check continues a run that a stop cut off.
        tokio::spawn(async move { runner.drive_logged(&key, &CancellationToken::new()).await });
    }
    Ok(answer)
}

async fn remind(shared: &BotState, command: &CommandInteraction) -> Result<String, String> {
    let (when, what) = (required_option(command, "when")?, required_option(command, "what")?);
    let recur = option(command, "recur");
    let recur: Option<Recur> = recur
        .map(|recur| {
            Recur::named(&recur).ok_or_else(|| format!("`{recur}` is none of {}", Recur::NAMES.join(", ")))
        })
        .transpose()?;
    let what = crate::reminders::checked_message(&what).map_err(|error| error.to_string())?;
    let (written, words) = shared
        .blocking(move |operations| -> Result<_, String> {
            let meaning = operations.when(&when).map_err(|error| format!("{error}; {}", error.hint()))?;
            let recur = meaning.recurring(recur).map_err(|error| error.to_string())?;
            let written = operations.add(meaning.local, recur, &what).map_err(|error| error.to_string())?;
            Ok((written, operations.in_words(meaning.local, recur)))
        })
        .await?;
    confirm(shared, "Added", &written.line_text).await;
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
    let (author, content) = (&message.author.name, message.words(shared.identity().user));
    let excerpt = shortened(&content, 200);
    let words = match (&link, content.trim().is_empty()) {
        (Some(_), false) => format!("{author}: {excerpt}"),
        (Some(_), true) => author.clone(),
        // A message that no log holds is pinned with its whole text.
        (None, false) => format!("{author}: {content}"),
        (None, true) => return Err("that message has no text, and stands in no log".to_owned()),
    };
    let bullet = shared.blocking(move |operations| operations.pin(&words, link.as_deref())).await?;
    Ok(format!("Pinned:\n{}", fenced(&bullet)))
}

/// A question as a turn of its own; its answer comes into the channel.
async fn ask(shared: &BotState, command: &CommandInteraction) -> Result<String, String> {
    let channel = command.channel_id.get();
    let turn = NewTurn {
        message: command.id.get(),
        channel,
        author: shared.log_name(command.user.id.get(), &user_name(command)),
        text: required_option(command, "question")?,
        only: option(command, "brain").filter(|brain| !brain.trim().is_empty()),
        ..NewTurn::default()
    };
    let ask = |done| LaneItem::Ask { turn, done };
    done_by_lane(shared, channel, "this channel isn't bound, so nothing can be asked here", ask).await?;
    Ok("The answer comes here.".to_owned())
}

/// Sends an item to the lane of a channel; the lane's answer. `unbound`: why there is none without a lane.
async fn done_by_lane<T>(
    shared: &BotState,
    channel: u64,
    unbound: &str,
    item: impl FnOnce(oneshot::Sender<T>) -> LaneItem,
) -> Result<T, String> {
    let lane = shared.lane(channel).ok_or(unbound)?;
    let (done, answer) = oneshot::channel();
    // Without a receiver there is no answer either.
    let _ = lane.send(item(done));
    answer.await.map_err(|_| "the bot is stopping".to_owned())
}

fn user_name(command: &CommandInteraction) -> String {
    command.user.global_name.clone().unwrap_or_else(|| command.user.name.clone())
}

async fn new_window(shared: &BotState, command: &CommandInteraction) -> Result<String, String> {
    let (channel, who) = (command.channel_id.get(), user_name(command));
    let begin = |done| LaneItem::NewWindow { who, done };
    match done_by_lane(shared, channel, "this channel isn't bound, so it has no log", begin).await?? {
        Some(path) => Ok(format!("A new window begins: `{path}`")),
        None => Err("this channel has no log yet".to_owned()),
    }
}

async fn press(shared: &BotState, component: &ComponentInteraction) {
    let call = InteractionReply::new(shared, component.id, &component.token, component.application_id.get());
    if !shared.is_owner(component.user.id.get()) {
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
            shared.blocking(move |operations| inbox::act(operations, keep, &id)).await
        }
    };
    call.answer(&words.unwrap_or_else(|problem| format!("That didn't work: {problem}.")), &[]).await;
}

async fn press_notification(
    shared: &BotState,
    component: &ComponentInteraction,
    call: &InteractionReply<'_>,
    press: NotificationPress,
) {
    let (words, button) = (component.message.content.clone(), component.data.custom_id.clone());
    let result = shared
        .blocking(move |operations| {
            let journal = operations.journal()?;
            // Done, and all actions on a task, look for what they change; a second press of others would act again.
            let earlier = match press.action == ButtonAction::Done || tasks::is_task_id(&press.id) {
                true => None,
                false => journal.begin_press(&button, operations.clock.now())?,
            };
            if let Some(answer) = earlier {
                let unknown = "This button was already used; see its note for the result.";
                let text = if answer.is_empty() { unknown.to_owned() } else { answer };
                return Ok((text, None));
            }
            let in_note = || operations.line(&press.id).ok().flatten().map(|line| line.reminder.msg);
            let key = delivery_journal::key(&press.id, press.due, None);
            let known = journal.row(&key).ok().flatten();
            let msg =
                known.map(|row| row.fact.msg).or_else(in_note).unwrap_or_else(|| buttons::msg_of(&words));
            let pressed = buttons::act(operations, &press, &msg);
            let answer = pressed.as_ref().ok().map(answer_to_press);
            journal.end_press(&button, answer.as_deref())?;
            let pressed = pressed?;
            Ok::<_, Box<dyn Error>>((answer.unwrap_or_default(), Some(pressed)))
        })
        .await;
    match result {
        Ok((answer, pressed)) => {
            call.answer(&answer, &[]).await;
            if let Some(PressOutcome { text, line: Some(line), changed: true, .. }) = &pressed {
                confirm(shared, text, line).await;
            }
            disable(shared, component, &answer).await;
        }
        Err(problem) => call.answer(&format!("That didn't work: {problem}"), &[]).await,
    }
}

fn answer_to_press(pressed: &PressOutcome) -> String {
    let line = pressed.line.as_deref().map(|line| format!(":\n{}", fenced(line))).unwrap_or_default();
    let remark = pressed.remark.as_deref().map(|remark| format!("\n{remark}")).unwrap_or_default();
    format!("{}{line}{remark}", pressed.text)
}

/// Disables the buttons; they stay visible.
async fn disable(shared: &BotState, component: &ComponentInteraction, words: &str) {
    let rows = component.message.components.iter().map(serde_json::to_value);
    let mut rows: Vec<Value> = rows.filter_map(Result::ok).collect();
    buttons::disable(&mut rows);
    let body = json!({ "components": rows, "allowed_mentions": { "parse": [] } });
    let route =
        Route::ChannelMessage { channel_id: component.message.channel_id, message_id: component.message.id };
    for pause in [1, 4, 16, 0] {
        let Err(error) = shared.api.send(LightMethod::Patch, route, &body).await else { return };
        tracing::debug!(%error, words, "the buttons could not be switched off");
        if matches!(error, ApiError::Refused { .. }) {
            return;
        }
        tokio::time::sleep(Duration::from_secs(pause)).await;
    }
}
