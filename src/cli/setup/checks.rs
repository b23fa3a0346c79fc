//! Runs the checks of `setup` with the settings as they would be written.
//!
//! Checked are the vault's folder and the Discord bot. A brain (a language model) gets a test question, each notifier a
//! test message. A check returns its result or an error for a person. Also detects a desktop session, a service manager
//! and Ollama's models.

use std::fmt::Display;
#[cfg(feature = "assistant")]
use std::time::Duration;

#[cfg(feature = "assistant")]
use secrecy::SecretString;

use crate::cli::prelude::*;
use crate::clock::Clock;
use crate::config::{self, FILE_NAME, NotifyKind, Settings, is_executable};
use crate::deliver::{Desktop, NoteLinks, Notifier, NotifierContext, send_test};
#[cfg(feature = "assistant")]
use crate::discord::{DiscordApi, examine};
use crate::notifiers::{authority, remote_notifier};
use crate::setup::{NotifierTrial, VaultFolder};

/// The most notes that are counted.
const MAX_COUNTED_NOTES: usize = 100;
/// The most folders that are opened to count notes.
const MAX_OPENED_FOLDERS: usize = 200;

/// Looks at a folder that is to be the vault.
pub(super) fn folder(path: &Path) -> Result<VaultFolder, String> {
    let shown = path.display();
    let exists = match std::fs::metadata(path) {
        Ok(there) if !there.is_dir() => return Err(format!("`{shown}` is a file")),
        Ok(_) => true,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(error) => return Err(format!("`{shown}` can't be used: {error}")),
    };
    let root = if exists { path.canonicalize().map_err(|error| error.to_string())? } else { path.to_owned() };
    let near = root.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    if !near.is_dir() || rustix::fs::access(near, rustix::fs::Access::WRITE_OK).is_err() {
        return Err(format!("`{}` can't be written in", near.display()));
    }
    let settings = Settings::load(&root).map_err(|error| format!("its settings are wrong: {error}"))?;
    let text = std::fs::read_to_string(root.join(FILE_NAME)).ok();
    Ok(VaultFolder { notes: if exists { notes(&root) } else { 0 }, root, exists, text, settings })
}

/// The number of notes, up to a hundred.
fn notes(root: &Path) -> usize {
    let (mut open, mut opened, mut notes) = (vec![root.to_owned()], 0, 0);
    while let Some(folder) = open.pop() {
        opened += 1;
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !hidden => open.push(path),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|it| it == "md") => notes += 1,
                _ => {}
            }
        }
        if notes >= MAX_COUNTED_NOTES || opened >= MAX_OPENED_FOLDERS {
            return notes.min(MAX_COUNTED_NOTES);
        }
    }
    notes
}

/// Waits for the end of a check.
pub(super) fn block_on<T, E: Display>(work: impl Future<Output = Result<T, E>>) -> Result<T, String> {
    let runtime = runtime().map_err(|error| error.message)?;
    runtime.block_on(work).map_err(|error| error.to_string())
}

/// Asks a brain a test question. Returns what came of it, in words.
#[cfg(feature = "assistant")]
pub(super) fn test_brain(context: &Context, trial: &crate::setup::BrainTrial) -> Result<String, String> {
    use crate::agent::brain_clients::{ClientContext, PreparedBrain};
    use crate::brain::wire::{BrainTimeouts, http};
    use crate::cli::assistant::brain::{TEST_LIMIT, send_test_prompt};

    // A program that is a brain gets a folder of its own, which goes with the test.
    let scratch = std::env::temp_dir().join(format!("vault-agent-setup-{}", std::process::id()));
    let timeouts = BrainTimeouts { silence: TEST_LIMIT, overall: TEST_LIMIT, first_byte: TEST_LIMIT };
    let (state, clock) = (scratch.clone(), std::sync::Arc::clone(&context.clock));
    let http = http::client().map_err(|error| error.message)?;
    let clients = ClientContext { timeouts, state, server: None, http, clock };
    let mut prepared = PreparedBrain::of(&trial.brain, &scratch);
    if let Some(key) = &trial.key {
        prepared = prepared.with_key(key.clone());
    }
    context.ui.note(format!("asking {} ({}) ...", trial.brain.name, trial.brain.model));
    let began = std::time::Instant::now();
    let asked = prepared.clients(&clients).into_iter().next();
    let asked = asked.ok_or_else(|| "no test question could be sent".to_owned());
    let answered = asked
        .and_then(|brain| block_on(async { send_test_prompt(&brain).await.map_err(|error| error.message) }));
    let _ = std::fs::remove_dir_all(&scratch);
    answered.map(|()| format!("it answered in {} ms", began.elapsed().as_millis()))
}

/// Whether there is a desktop session to show something on.
pub(super) fn has_desktop() -> bool {
    if cfg!(target_os = "macos") {
        return true;
    }
    let named = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    (named("DISPLAY") || named("WAYLAND_DISPLAY"))
        && (named("DBUS_SESSION_BUS_ADDRESS") || named("XDG_RUNTIME_DIR"))
}

/// Whether services of this user can be started from here.
pub(super) fn has_services() -> bool {
    if cfg!(target_os = "macos") {
        return true;
    }
    let bus = std::env::var_os("XDG_RUNTIME_DIR").map(|dir| PathBuf::from(dir).join("systemd/private"));
    bus.is_some_and(|socket| socket.exists()) && is_executable("systemctl")
}

/// The address of an Ollama on this machine, where the environment has another one than the usual.
pub(super) fn local_url() -> Option<String> {
    let host = std::env::var("OLLAMA_HOST").ok().filter(|host| host.starts_with("http://127.0.0.1:"));
    host.map(|host| host.trim_end_matches('/').to_owned())
}

/// The models of an Ollama that runs here; none where none does.
#[cfg(feature = "assistant")]
pub(super) fn local_models() -> Vec<String> {
    let base = local_url().unwrap_or_else(|| crate::config::OLLAMA_URL.to_owned());
    let listed = block_on(async {
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_millis(500)).build()?;
        client.get(format!("{base}/api/tags")).send().await?.json::<serde_json::Value>().await
    });
    let models = listed.ok().and_then(|listed| listed["models"].as_array().cloned()).unwrap_or_default();
    models.iter().filter_map(|model| model["name"].as_str().map(str::to_owned)).collect()
}

#[cfg(not(feature = "assistant"))]
pub(super) fn local_models() -> Vec<String> {
    Vec::new()
}

/// Discord as the bot of a token sees it.
#[cfg(feature = "assistant")]
pub(super) fn discord_api(token: &SecretString, base: Option<&str>) -> Result<DiscordApi, String> {
    DiscordApi::new(Some(token), base).map_err(|error| error.to_string())
}

/// Sends a test message. Returns what came of it, in words.
pub(super) async fn test_notifier(
    trial: &NotifierTrial,
    clock: &Arc<dyn Clock>,
) -> Result<&'static str, String> {
    let (notifier, well): (Arc<dyn Notifier>, _) = match trial.kind {
        NotifyKind::Console | NotifyKind::Desktop => {
            (Arc::new(Desktop::default()), "a notification was shown")
        }
        NotifyKind::Discord => (discord_notifier(trial).await?, "a test message is in the channel"),
        NotifyKind::Ntfy => (notifier(trial, clock)?, "a test message is in the topic"),
        NotifyKind::Email => (notifier(trial, clock)?, "the mail server accepted a test message"),
        NotifyKind::Webhook => (notifier(trial, clock)?, "the address accepted a test message"),
    };
    send_test(&*notifier).await.map(|()| well)
}

/// Discord's webhook, or the bot, which has to be let in.
#[cfg(feature = "assistant")]
async fn discord_notifier(trial: &NotifierTrial) -> Result<Arc<dyn Notifier>, String> {
    use crate::discord::notifier::{BotNotifier, WebhookNotifier};

    let base = trial.discord.api_base.as_deref();
    if let Some(address) = &trial.address {
        let webhook = WebhookNotifier::new(address, base, Vec::new()).map_err(|error| error.to_string())?;
        return Ok(Arc::new(webhook));
    }
    let api = discord_api(&trial.secret.clone().unwrap_or_default(), base)?;
    if let Some(problem) = examine(&api, &trial.discord).await.into_iter().find_map(Result::err) {
        return Err(problem.to_string());
    }
    Ok(Arc::new(BotNotifier::new(api, trial.discord.channel_id, trial.discord.owner_ids.clone())))
}

#[cfg(not(feature = "assistant"))]
async fn discord_notifier(_: &NotifierTrial) -> Result<Arc<dyn Notifier>, String> {
    Err(crate::setup::NOT_BUILT.to_owned())
}

/// ntfy, mail or a signed webhook.
fn notifier(trial: &NotifierTrial, clock: &Arc<dyn Clock>) -> Result<Arc<dyn Notifier>, String> {
    let vault = trial.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let config::PathSettings { reminders, commitments, .. } = config::PathSettings::default();
    let made = authority(&trial.notify, &trial.root).and_then(|authority| {
        let links = NoteLinks { vault, reminders, commitments };
        let context = NotifierContext { authority, links, rules: Arc::default(), clock: Arc::clone(clock) };
        remote_notifier(trial.kind, &trial.notify, trial.address.clone(), trial.secret.clone(), context)
    });
    made.map_err(|error| error.message)
}
