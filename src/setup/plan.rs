//! Makes the plan of `setup` from the answers. Writes nothing.
//!
//! The plan has the new text of the settings, the files of secrets, the choice whether a service is installed, and a
//! summary in lines. The person sees the summary before anything is written.

use secrecy::SecretString;
use serde::Serialize;
use toml::{Table, Value};

use super::dialogue::Dialogue;
use super::{QuestionKey, SecretFile, SecretSource, SetupPlan, VaultFolder, email, free_name, vault_folder};
use crate::config::{self, FILE_NAME, NotifyKind, Settings};
use crate::schedule::Zone;
use crate::template::{SETTINGS, TEMPLATE};

/// The folder of secrets, below the home directory.
const SECRETS: &str = ".config/vault-agent";

/// Keys of the settings with their values.
type Values = Vec<(String, Value)>;

impl<I> Dialogue<'_, I> {
    pub(super) fn plan(&self) -> SetupPlan {
        let VaultFolder { root, text: before, settings: set, .. } = self.folder.clone();
        let zone = self.zone.clone().or_else(|| Zone::get(&set.timezone).ok());
        let zone = zone.unwrap_or_else(|| Zone::get("UTC").expect("the database has UTC"));
        let (mut secrets, mut new) = (Vec::new(), self.new_settings());
        for (step, held) in &self.secrets {
            let Some((name, file)) = secret_place(*step, &mut new) else { continue };
            match &held.kept {
                Some(SecretSource::File(path)) => *file = Some(path.clone()),
                Some(SecretSource::Variable(_)) => {}
                None => *file = Some(self.secret_file(name, file.as_ref(), &held.value, &mut secrets)),
            }
        }
        let mut values = Values::new();
        let mut put = |key: &str, value: Value| values.push((key.to_owned(), value));
        if before.is_none() || zone.name() != set.timezone {
            put("timezone", zone.name().into());
        }
        if self.kinds != set.notify.by_default() {
            match self.kinds.as_slice() {
                [one] => put("notify.kind", one.as_str().into()),
                all => put("notify.kinds", all.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().into()),
            }
        }
        let known = set.machines.as_ref().and_then(|machines| machines.remote.as_ref());
        if let Some(remote) = self.remote.as_ref().filter(|remote| known != Some(remote)) {
            put("machines.engine", "git".into());
            put("machines.remote", remote.as_str().into());
        }
        for kind in &self.open_notifiers {
            values.extend(match kind {
                NotifyKind::Console | NotifyKind::Desktop => Values::new(),
                NotifyKind::Discord => changes("discord", &set.discord, &new.discord),
                NotifyKind::Ntfy => changes("notify.ntfy", &set.notify.ntfy, &new.notify.ntfy),
                NotifyKind::Email => changes("notify.email", &set.notify.email, &new.notify.email),
                NotifyKind::Webhook => changes("notify.webhook", &set.notify.webhook, &new.notify.webhook),
            });
        }
        let mut chosen = self.chosen.clone();
        let known = self.chosen.key_file(&set);
        if let Some(key) = chosen.key.as_mut().filter(|key| key.kept.is_none()) {
            let of = chosen.offer.map_or("brain", |offer| offer.name);
            let file = self.secret_file(&format!("{of}-key"), known, &key.value, &mut secrets);
            key.kept = Some(SecretSource::File(file));
        }
        // An entry that exists isn't added again.
        let brain = chosen.table(&set).filter(|_| !chosen.is_set(&set));
        let settings = config::with_values(before.as_deref().unwrap_or(SETTINGS), &values);
        let settings = settings.and_then(|text| match &brain {
            Some(brain) => config::with_brain(&text, brain),
            None => Ok(text),
        });
        let mut plan =
            SetupPlan { root, zone, before, settings, secrets, service: self.service, lines: Vec::new() };
        plan.lines = self.lines(&plan, &values, brain.as_ref());
        plan
    }

    /// The settings that follow from the answers about notifiers.
    pub(super) fn new_settings(&self) -> Settings {
        let mut new = self.settings.clone();
        new.notify.email = email::without_usual(new.notify.email, &self.folder.settings.notify.email);
        new
    }

    /// Plans a file for a secret, and gives its name for the settings: the one that they name, else a new one.
    fn secret_file(
        &self,
        name: &str,
        set: Option<&String>,
        value: &SecretString,
        secrets: &mut Vec<SecretFile>,
    ) -> String {
        let (home, value) = (&self.machine.home, value.clone());
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
        let held = self.secrets.values().chain(&self.chosen.key);
        let named = held.filter_map(|held| match held.kept.as_ref()? {
            SecretSource::Variable(name) => Some(*name),
            SecretSource::File(_) => None,
        });
        named.map(|name| format!("`{name}`")).collect()
    }

    fn lines(&self, plan: &SetupPlan, values: &[(String, Value)], brain: Option<&Table>) -> Vec<String> {
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
                lines.extend(values.iter().map(|(key, value)| format!("{settings}: {key} = {value}")));
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
        if values.iter().any(|(key, _)| key == "machines.remote") {
            lines
                .push("then, on each machine: `vault-agent machines join` checks what they share".to_owned());
        }
        if plan.service {
            lines.push("a service of yours that runs it now and after every login".to_owned());
        }
        lines
    }
}

/// The keys of a table whose values are others than those that are set.
fn changes(table: &str, set: &impl Serialize, new: &impl Serialize) -> Values {
    let [set, new] = [Table::try_from(set), Table::try_from(new)].map(Result::unwrap_or_default);
    let is_other = |(key, value): &(String, Value)| set.get(key) != Some(value);
    new.into_iter().filter(is_other).map(|(key, value)| (format!("{table}.{key}"), value)).collect()
}

/// The place of a question's secret: its file's usual name, and the setting that names the file.
fn secret_place(step: QuestionKey, new: &mut Settings) -> Option<(&'static str, &mut Option<String>)> {
    let (discord, notify) = (&mut new.discord, &mut new.notify);
    Some(match step {
        QuestionKey::DiscordToken => ("discord-token", &mut discord.token_file),
        QuestionKey::DiscordWebhook => ("discord-webhook", &mut discord.webhook_url_file),
        QuestionKey::NtfyToken => ("ntfy-token", &mut notify.ntfy.token_file),
        QuestionKey::EmailPassword => ("mail-password", &mut notify.email.password_file),
        QuestionKey::WebhookUrl => ("webhook-url", &mut notify.webhook.url_file),
        QuestionKey::WebhookSecret => ("webhook-secret", &mut notify.webhook.secret_file),
        _ => return None,
    })
}
