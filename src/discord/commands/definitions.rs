//! Defines the slash commands and registers them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use serenity::http::{LightMethod, Route};

use crate::discord::api::ApiError;
use crate::discord::shared::BotState;
use crate::format::reminder::Recur;

/// The entry in a message's menu.
pub(super) const REMEMBER_MESSAGE: &str = "Remember";

/// All commands, as Discord's JSON.
fn all() -> Vec<Value> {
    let text = |name: &str, description: &str, required: bool, autocomplete: bool| {
        json!({
            "type": 3, "name": name, "description": description, "required": required, "autocomplete": autocomplete,
        })
    };
    let command = |name: &str, description: &str, options: Vec<Value>| json!({ "type": 1, "name": name, "description": description, "options": options });
    let mut recur = text("recur", "The recurrence", false, false);
    recur["choices"] = Recur::NAMES.map(|word| json!({ "name": word, "value": word })).into();
    let mut action = text("action", "The action", true, false);
    action["choices"] =
        ["list", "run", "enable", "disable"].map(|word| json!({ "name": word, "value": word })).into();
    let when =
        text("when", "For example: tomorrow 9am, in 20 minutes, fri 17:00, 2026-12-01 09:30", true, true);
    vec![
        command("remind", "Adds a reminder", vec![when, text("what", "Its text", true, false), recur]),
        command("reminders", "Lists the reminders", vec![]),
        command("unremind", "Removes a reminder", vec![text("reminder", "Its words or its id", true, true)]),
        command("remember", "Pins something to be remembered", vec![text("text", "The text", true, false)]),
        json!({ "type": 3, "name": REMEMBER_MESSAGE }),
        command("forget", "Unpins something", vec![text("pin", "Its beginning", true, true)]),
        command(
            "recall",
            "Searches the notes",
            vec![text("query", "The words or the question", true, false)],
        ),
        command(
            "ask",
            "Asks the assistant",
            vec![
                text("question", "The question", true, false),
                text("brain", "Only this brain", false, false),
            ],
        ),
        command("stop", "Stops the running answer", vec![]),
        command("new", "Ends this conversation's window and begins a new one", vec![]),
        command(
            "routine",
            "Lists the routines, runs one now, turns one on or off",
            vec![action, text("name", "The name of the routine", false, true)],
        ),
        command("inbox", "Shows the facts proposed for memory, to keep or to decline", vec![]),
        command("status", "Shows the state of the agent", vec![]),
        command("undo", "Undoes the agent's last change of the vault", vec![]),
    ]
}

/// Registers the commands in the place of those that Discord has. Retries for a while.
pub(in crate::discord) async fn register(shared: Arc<BotState>) {
    let mut pause = Duration::from_secs(2);
    for _ in 0..6 {
        match update_commands(&shared).await {
            Ok(()) => return,
            Err(error @ ApiError::Refused { .. }) => {
                tracing::error!(%error, "the slash commands can't be registered: invite the bot with the scope `applications.commands`");
                return;
            }
            Err(error) => tracing::warn!(%error, "the slash commands could not be registered; trying again"),
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
}

async fn update_commands(shared: &BotState) -> Result<(), ApiError> {
    let known = shared.application.load(Ordering::Relaxed);
    let application_id = shared.settings.application_id.unwrap_or(known).into();
    let route = match shared.settings.guild_id {
        Some(guild) => Route::GuildCommands { application_id, guild_id: guild.into() },
        None => Route::Commands { application_id },
    };
    shared.api.send(LightMethod::Put, route, &json!(all())).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_descriptions_keep_discords_limits() {
        for command in all() {
            assert!(command["name"].as_str().unwrap().len() <= 32);
            for option in command["options"].as_array().into_iter().flatten() {
                assert!(option["description"].as_str().unwrap().len() <= 100);
            }
        }
    }
}
