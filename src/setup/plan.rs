//! Makes the plan of `setup` from the answers.

use secrecy::SecretString;
use toml::Value;

use super::{
    Dialogue, HeldSecret, QuestionKey, SecretFile, SecretSource, SetupPlan, VaultFolder, free_name,
    vault_folder,
};
use crate::config::{self, FILE_NAME, NotifyKind, Settings};
use crate::schedule::Zone;
use crate::template::{SETTINGS, TEMPLATE};

/// The folder of secrets, below the home directory.
const SECRETS: &str = ".config/vault-agent";

impl Dialogue {
    pub(super) fn plan(&self) -> SetupPlan {
        let VaultFolder { root, text: before, settings: set, .. } = self.folder.clone();
        let zone = self.zone.clone().or_else(|| Zone::get(&set.timezone).ok());
        let zone = zone.unwrap_or_else(|| Zone::get("UTC").expect("the database has UTC"));
        let mut secrets = Vec::new();
        let mut values: Vec<(&str, Value)> = Vec::new();
        if before.is_none() || zone.name() != set.timezone {
            values.push(("timezone", zone.name().into()));
        }
        if self.kinds != set.notify.by_default() {
            values.push(match self.kinds.as_slice() {
                [one] => ("notify.kind", one.as_str().into()),
                all => ("notify.kinds", Value::Array(all.iter().map(|kind| kind.as_str().into()).collect())),
            });
        }
        for kind in &self.open_ways {
            match kind {
                NotifyKind::Console | NotifyKind::Desktop => {}
                NotifyKind::Discord => self.discord_values(&set.discord, &mut values),
                NotifyKind::Ntfy => self.ntfy_values(&set.notify.ntfy, &mut values),
                NotifyKind::Email => self.email_values(&set.notify.email, &mut values),
                NotifyKind::Webhook => {}
            }
            self.secret_values(*kind, &set, &mut values, &mut secrets);
        }
        let known = set.machines.as_ref().and_then(|machines| machines.remote.as_ref());
        if let Some(remote) = self.remote.as_ref().filter(|remote| known != Some(remote)) {
            values.push(("machines.engine", "git".into()));
            values.push(("machines.remote", remote.as_str().into()));
        }
        let base = before.as_deref().unwrap_or(SETTINGS);
        let mut chosen = self.chosen.clone();
        if let Some(HeldSecret { value: Some(key), kept: kept @ None }) = &mut chosen.key {
            let of = chosen.offer.map_or("brain", |offer| offer.name);
            let file = self.secret_file(&format!("{of}-key"), None, key.clone(), &mut secrets);
            *kept = Some(SecretSource::File(file));
        }
        let settings = config::with_values(base, &values).and_then(|text| match chosen.table(&set) {
            Some(brain) => config::with_brain(&text, &brain),
            None => Ok(text),
        });
        let mut plan =
            SetupPlan { root, zone, before, settings, secrets, service: self.service, lines: Vec::new() };
        plan.lines = self.lines(&plan, &values, chosen.table(&set).as_ref());
        plan
    }

    /// The files of a notifier's secrets, which the settings name.
    fn secret_values(
        &self,
        kind: NotifyKind,
        set: &Settings,
        values: &mut Vec<(&'static str, Value)>,
        secrets: &mut Vec<SecretFile>,
    ) {
        for (step, held) in &self.secrets {
            if step.way() != Some(kind) || !self.is_applicable(*step) {
                continue;
            }
            let Some((key, name, set)) = secret_place(*step, set) else { continue };
            let file = match (&held.kept, &held.value) {
                (Some(SecretSource::File(file)), _) => file.clone(),
                (None, Some(value)) => self.secret_file(name, set, value.clone(), secrets),
                _ => continue,
            };
            if set != Some(&file) {
                values.push((key, file.into()));
            }
        }
    }

    fn discord_values(&self, set: &config::DiscordSettings, values: &mut Vec<(&'static str, Value)>) {
        if self.by_webhook {
            return;
        }
        let number =
            |id: u64| i64::try_from(id).map(Value::Integer).unwrap_or_else(|_| id.to_string().into());
        if let Some(channel) = self.channel.filter(|channel| set.channel_id != Some(*channel)) {
            values.push(("discord.channel_id", number(channel)));
        }
        let new: Vec<u64> =
            self.owners.iter().copied().filter(|owner| !set.owner_ids.contains(owner)).collect();
        if !new.is_empty() {
            let all = set.owner_ids.iter().copied().chain(new).map(number).collect();
            values.push(("discord.owner_ids", Value::Array(all)));
        }
    }

    /// Plans a file for a secret, and gives its name for the settings: the one that they name, else a new one.
    fn secret_file(
        &self,
        name: &str,
        set: Option<&String>,
        value: SecretString,
        secrets: &mut Vec<SecretFile>,
    ) -> String {
        let home = &self.machine.home;
        if let Some(set) = set
            && let Ok(path) = vault_folder::folder_path(set, home, home)
            && (set.starts_with('/') || set.starts_with("~/"))
        {
            secrets.push(SecretFile { path, value });
            return set.clone();
        }
        let name = free_name(name, |name| !self.machine.used_names.contains(name));
        secrets.push(SecretFile { path: home.join(SECRETS).join(&name), value });
        format!("~/{SECRETS}/{name}")
    }

    /// The environment variables that the answers need.
    pub(super) fn variables_used(&self) -> Vec<String> {
        let held = self.secrets.iter().filter(|(step, _)| self.is_applicable(**step)).map(|(_, held)| held);
        let named = held.chain(&self.chosen.key).filter_map(|held| match held.kept.as_ref()? {
            SecretSource::Variable(name) => Some((*name).to_owned()),
            SecretSource::File(_) | SecretSource::Settings => None,
        });
        named.map(|name| format!("`{name}`")).collect()
    }

    fn lines(&self, plan: &SetupPlan, values: &[(&str, Value)], brain: Option<&toml::Table>) -> Vec<String> {
        let shown = |path: &std::path::Path| vault_folder::shown(path, &self.machine.home);
        let mut lines = Vec::new();
        lines.push(match self.folder.exists {
            true => format!("{}: the notes to begin with that aren't there yet", shown(&plan.root)),
            false => format!("{}: a new vault ({} files)", shown(&plan.root), TEMPLATE.len()),
        });
        let settings = shown(&plan.root.join(FILE_NAME));
        match &plan.settings {
            Err(why) => lines.push(format!("{settings}: not changed: {why}")),
            Ok(_) => {
                for (key, value) in values {
                    lines.push(format!("{settings}: {key} = {value}"));
                }
                if let Some(brain) = brain {
                    let of = |key: &str| brain.get(key).and_then(Value::as_str).unwrap_or_default();
                    let (name, kind, model) = (of("name"), of("kind"), of("model"));
                    lines.push(format!("{settings}: [[brain]] {name} ({kind}, {model})"));
                }
            }
        }
        for secret in &plan.secrets {
            lines.push(format!("{}: a secret, for you alone (mode 600)", shown(&secret.path)));
        }
        if values.iter().any(|(key, _)| *key == "machines.remote") {
            lines
                .push("then, on each machine: `vault-agent machines join` checks what they share".to_owned());
        }
        if plan.service {
            lines.push("a service of yours that runs it now and after every login".to_owned());
        }
        lines
    }
}

/// The place of a question's secret: the key that names its file, the file's usual name, and the file that is set.
fn secret_place(step: QuestionKey, set: &Settings) -> Option<(&'static str, &'static str, Option<&String>)> {
    let (discord, notify) = (&set.discord, &set.notify);
    let (key, name, file) = match step {
        QuestionKey::DiscordToken => ("discord.token_file", "discord-token", &discord.token_file),
        QuestionKey::DiscordWebhook => {
            ("discord.webhook_url_file", "discord-webhook", &discord.webhook_url_file)
        }
        QuestionKey::NtfyToken => ("notify.ntfy.token_file", "ntfy-token", &notify.ntfy.token_file),
        QuestionKey::EmailPassword => {
            ("notify.email.password_file", "mail-password", &notify.email.password_file)
        }
        QuestionKey::WebhookUrl => ("notify.webhook.url_file", "webhook-url", &notify.webhook.url_file),
        QuestionKey::WebhookSecret => {
            ("notify.webhook.secret_file", "webhook-secret", &notify.webhook.secret_file)
        }
        _ => return None,
    };
    Some((key, name, file.as_ref()))
}
