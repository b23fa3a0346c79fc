//! Completes the options of slash commands while a person types: times, reminders, routines and pins.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use serenity::all::{CommandInteraction, ResolvedValue};

use super::interaction_reply::InteractionReply;
use crate::discord::shared::BotState;
use crate::format::reminder::Recur;
use crate::routines;
use crate::when::WhenError;

/// Sends the completions of an option; none to a stranger.
pub(super) async fn answer(shared: &BotState, command: &CommandInteraction) {
    let call =
        InteractionReply::new(shared, command.id, &command.token, shared.application.load(Ordering::Relaxed));
    let choices =
        if shared.is_owner(command.user.id.get()) { choices(shared, command).await } else { vec![] };
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
            let common = ["in 10 minutes", "in 1 hour", "tomorrow 9:00"].into_iter().filter(|one| has(one));
            let meant = std::iter::once(&*typed).chain(common).flat_map(|phrase| {
                match shared.operations.when(phrase) {
                    Ok(meaning) => {
                        let words = shared.operations.in_words(meaning.local, meaning.recur);
                        vec![(format!("{phrase}: {words}"), phrase.to_owned())]
                    }
                    // An ambiguous phrase is offered in all readings.
                    Err(WhenError::Ambiguous(_, readings)) => {
                        let once = readings.into_iter().filter(|reading| reading.recur == Recur::None);
                        once.map(|reading| {
                            (format!("{}, {}", reading.typed, reading.distance), reading.typed)
                        })
                        .collect()
                    }
                    Err(_) => vec![],
                }
            });
            meant.collect()
        }
        "reminder" => shared
            .blocking(|operations| operations.vault_reminders().list(operations.clock.now()))
            .await
            .unwrap_or_default()
            .into_iter()
            .filter_map(|item| Some((format!("{} {} {}", item.date, item.time, item.msg), item.id?)))
            .filter(|(shown, id)| has(shown) || has(id))
            .collect(),
        "name" => {
            let names = shared.blocking(|operations| routines::names(operations)).await.unwrap_or_default();
            names.into_iter().filter(|name| has(name)).map(|name| (name.clone(), name)).collect()
        }
        // Unpinning takes the beginning of a pin, so a long one can be cut.
        "pin" => shared
            .blocking(|operations| operations.memory().pins())
            .await
            .unwrap_or_default()
            .into_iter()
            .map(|pin| (pin.text.replace('\n', " "), pin.text))
            .filter(|(shown, _)| has(shown))
            .collect(),
        _ => vec![],
    }
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
