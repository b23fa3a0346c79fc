//! Lists the choices of brains in `setup`, and the settings that each choice writes.

use secrecy::SecretString;
use toml::{Table, Value};

use super::{HeldSecret, MachineFacts, SecretSource, free_name};
use crate::config::{self, BrainKind, Settings};

/// A brain to be tried: as it will stand in the settings, with a key that is in no file yet.
#[derive(Debug, Clone)]
pub struct BrainTrial {
    /// Its block.
    pub brain: config::BrainSettings,
    /// The key that was typed, if one was.
    pub key: Option<SecretString>,
}

/// A brain that can be chosen.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BrainOffer {
    /// The word that chooses it, and its name in the settings.
    pub name: &'static str,
    pub kind: BrainKind,
    /// Its description.
    pub description: &'static str,
    /// Its server, where that isn't the kind's own.
    pub url: Option<&'static str>,
    /// A model of it; empty where the person has to say.
    pub model: &'static str,
    /// The variable that holds its key by custom; none where it needs no key.
    pub key: Option<&'static str>,
    /// The page where a person gets a key.
    pub keys_at: &'static str,
    context: i64,
}

/// All that can be chosen.
const OFFER: BrainOffer = BrainOffer {
    name: "",
    kind: BrainKind::Chat,
    description: "",
    url: None,
    model: "",
    key: None,
    keys_at: "",
    context: 200_000,
};

pub(super) const OFFERS: [BrainOffer; 7] = [
    BrainOffer {
        name: "claude",
        kind: BrainKind::Messages,
        description: "Anthropic's models, with a key",
        model: "claude-sonnet-4-6",
        key: Some("ANTHROPIC_API_KEY"),
        keys_at: "https://console.anthropic.com/settings/keys",
        ..OFFER
    },
    BrainOffer {
        name: "openai",
        kind: BrainKind::Responses,
        description: "OpenAI's models, with a key",
        model: "gpt-5.5",
        key: Some("OPENAI_API_KEY"),
        keys_at: "https://platform.openai.com/api-keys",
        ..OFFER
    },
    BrainOffer {
        name: "openrouter",
        description: "many providers behind one key",
        url: Some("https://openrouter.ai/api"),
        key: Some("OPENROUTER_API_KEY"),
        keys_at: "https://openrouter.ai/keys",
        context: 32_000,
        ..OFFER
    },
    BrainOffer {
        name: "ollama",
        description: "a model on this machine (https://ollama.com/download, then `ollama pull qwen3:8b`)",
        url: Some(config::OLLAMA_URL),
        model: "qwen3:8b",
        context: 16_000,
        ..OFFER
    },
    BrainOffer {
        name: "server",
        description: "another server that speaks Chat Completions: llama.cpp, vLLM, LM Studio",
        url: Some("http://127.0.0.1:8080"),
        context: 16_000,
        ..OFFER
    },
    BrainOffer {
        name: "claude-code",
        kind: BrainKind::ClaudeCode,
        description: "Claude Code, with its own login",
        model: "claude-sonnet-4-6",
        ..OFFER
    },
    BrainOffer {
        name: "codex",
        kind: BrainKind::Codex,
        description: "Codex, with its own login",
        model: "gpt-5.5",
        ..OFFER
    },
];

/// The word for no brain.
pub(super) const NONE: &str = "none";

/// The chosen brain, by the answers.
#[derive(Debug, Clone, Default)]
pub(super) struct ChosenBrain {
    pub offer: Option<&'static BrainOffer>,
    pub url: Option<String>,
    pub model: String,
    pub key: Option<HeldSecret>,
}

impl ChosenBrain {
    /// Its table in the settings, under a name that is still free.
    pub(super) fn table(&self, settings: &Settings) -> Option<Table> {
        let offer = self.offer?;
        let name = free_name(offer.name, |name| settings.brains.iter().all(|brain| brain.name != *name));
        let mut table = Table::new();
        let mut set = |key: &str, value: Value| drop(table.insert(key.to_owned(), value));
        set("name", name.into());
        set("kind", offer.kind.as_str().into());
        set("model", self.model.clone().into());
        if let Some(url) = &self.url {
            set("url", url.clone().into());
        }
        match self.key.as_ref().and_then(|held| held.kept.as_ref()) {
            Some(SecretSource::Variable(name)) => set("key_env", (*name).into()),
            Some(SecretSource::File(file)) => set("key_file", file.clone().into()),
            None => {}
        }
        set("context_tokens", Value::Integer(offer.context));
        Some(table)
    }

    /// The brains of the settings with its kind, model and address, by whatever name.
    fn known<'s>(&self, settings: &'s Settings) -> impl Iterator<Item = &'s config::BrainSettings> {
        let new = self.trial(settings).ok().map(|trial| trial.brain);
        settings.brains.iter().filter(move |brain| {
            new.as_ref()
                .is_some_and(|new| (brain.kind, &brain.model, &brain.url) == (new.kind, &new.model, &new.url))
        })
    }

    /// The file of the key that a newly typed one replaces, if the settings have the brain, once.
    pub(super) fn key_file<'s>(&self, settings: &'s Settings) -> Option<&'s String> {
        let mut known = self.known(settings);
        known.next().filter(|_| known.next().is_none())?.key_file.as_ref()
    }

    /// Whether the settings have it already, with the same key.
    pub(super) fn is_set(&self, settings: &Settings) -> bool {
        let Ok(new) = self.trial(settings).map(|trial| trial.brain) else { return false };
        self.known(settings).any(|old| (&old.key_env, &old.key_file) == (&new.key_env, &new.key_file))
    }

    /// The brain with the settings and the key that a trial uses.
    pub(super) fn trial(&self, settings: &Settings) -> Result<BrainTrial, String> {
        let table = self.table(settings).ok_or("no brain is chosen")?;
        let text =
            Table::from_iter([("brain".to_owned(), Value::Array(vec![Value::Table(table)]))]).to_string();
        let mut parsed = Settings::parse(&text).map_err(|error| error.message)?;
        Ok(BrainTrial {
            brain: parsed.brains.remove(0),
            key: self.key.as_ref().map(|held| held.value.clone()),
        })
    }
}

/// The choices on this machine, after the brains that the settings have.
pub(super) fn lines(machine: &MachineFacts, settings: &Settings) -> Vec<String> {
    let mut lines =
        vec!["With a brain you can talk to it. Reminders, memory and search work without one.".to_owned()];
    let set: Vec<&str> = settings.brains.iter().map(|brain| brain.name.as_str()).collect();
    if !set.is_empty() {
        lines.push(format!("The settings have {}; another one is added after it.", set.join(", ")));
    }
    for offer in &OFFERS {
        let here = match offer.kind {
            BrainKind::ClaudeCode | BrainKind::Codex => {
                let program = offer.kind.program().unwrap_or_default();
                if !machine.programs.contains(&program) {
                    continue;
                }
                "; it is installed here".to_owned()
            }
            _ if offer.name == "ollama" && !machine.local_models.is_empty() => {
                format!("; here: {}", machine.local_models.join(", "))
            }
            _ => match offer.key {
                Some(key) if machine.variables.contains(&key) => format!("; `{key}` is set"),
                _ => String::new(),
            },
        };
        lines.push(format!("  {:<12} {}{here}", offer.name, offer.description));
    }
    lines.push(format!("  {NONE:<12} none for now"));
    lines
}

/// The proposed choice: a brain that is installed already and costs nothing to try; none where the settings have one.
pub(super) fn best(machine: &MachineFacts, settings: &Settings) -> &'static str {
    let with_key = OFFERS.iter().find(|offer| offer.key.is_some_and(|key| machine.variables.contains(&key)));
    match with_key {
        _ if !settings.brains.is_empty() => NONE,
        _ if !machine.local_models.is_empty() => "ollama",
        Some(offer) => offer.name,
        None => NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offer_makes_a_block_that_the_settings_take() {
        for offer in &OFFERS {
            let chosen = ChosenBrain {
                offer: Some(offer),
                url: offer.url.map(str::to_owned),
                model: "some/model:1".to_owned(),
                key: offer
                    .key
                    .map(|name| HeldSecret { value: "k".into(), kept: Some(SecretSource::Variable(name)) }),
            };
            let trial = chosen.trial(&Settings::default()).unwrap();
            assert_eq!((trial.brain.name.as_str(), trial.brain.kind), (offer.name, offer.kind));
            let with = Settings { brains: vec![trial.brain], ..Settings::default() };
            assert_eq!(chosen.trial(&with).unwrap().brain.name, format!("{}-2", offer.name));
            assert!(chosen.is_set(&with) && !chosen.is_set(&Settings::default()));
            let other = ChosenBrain { model: "other".to_owned(), ..chosen };
            assert!(!other.is_set(&with));
        }
    }
}
