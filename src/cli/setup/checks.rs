//! Runs the checks of `setup` (folder, secrets, Discord, a brain, a test message through each notifier) with the
//! settings as they would be written. A check returns its result or an error for a person.

use std::fmt::Display;
#[cfg(feature = "assistant")]
use std::time::Duration;

#[cfg(feature = "assistant")]
use secrecy::SecretString;

use crate::cli::prelude::*;
use crate::clock::Clock;
use crate::config::{self, FILE_NAME, NotifyKind, Settings};
use crate::deliver::{Desktop, NoteLinks, Notifier, NotifyRules, send_test};
#[cfg(feature = "assistant")]
use crate::discord::{DiscordApi, examine, setup};
use crate::notifiers::NotifierParts;
use crate::setup::{CheckResult, NotifierTrial, SecretSource, SetupCheck, VaultFolder};

/// The most notes that are counted.
const MAX_COUNTED_NOTES: usize = 100;
/// The most folders that are opened to count notes.
const MAX_OPENED_FOLDERS: usize = 200;

/// Runs one check; `no_tests` skips those that send something.
pub(super) fn run_check(
    context: &Context,
    check: &SetupCheck,
    no_tests: bool,
) -> Result<CheckResult, String> {
    match check {
        SetupCheck::VaultFolder(path) => {
            folder(path).map(|folder| CheckResult::VaultFolder(Box::new(folder)))
        }
        SetupCheck::Secret(source, root) => secret(source, root),
        SetupCheck::Test(_) | SetupCheck::Brain(_) if no_tests => {
            Ok(CheckResult::Well("not tested".to_owned()))
        }
        SetupCheck::Test(trial) => block_on(test_notifier(trial, &context.clock)),
        #[cfg(feature = "assistant")]
        SetupCheck::Brain(trial) => test_brain(context, trial),
        #[cfg(feature = "assistant")]
        SetupCheck::Bot(token, base) => {
            block_on(setup::bot(&discord_api(token, base)?)).map(CheckResult::Bot)
        }
        #[cfg(feature = "assistant")]
        SetupCheck::Channels(token, base) => {
            block_on(setup::channels(&discord_api(token, base)?)).map(CheckResult::Channels)
        }
        #[cfg(not(feature = "assistant"))]
        _ => {
            let _ = context;
            Err("this build of vault-agent can't do that".to_owned())
        }
    }
}

fn folder(path: &Path) -> Result<VaultFolder, String> {
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

fn secret(source: &SecretSource, root: &Path) -> Result<CheckResult, String> {
    let (variable, file) = match source {
        SecretSource::Variable(name) => (*name, None),
        SecretSource::File(file) => ("", Some(file.as_str())),
        SecretSource::Settings => return Err("it stands in the settings".to_owned()),
    };
    match config::secret(variable, file, root) {
        Ok(Some(secret)) => Ok(CheckResult::Secret(secret)),
        Ok(None) => Err(format!("`{variable}` is not set")),
        Err(error) => {
            let hint = error.suggestion.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
            Err(format!("{error}{hint}"))
        }
    }
}

fn block_on<T, E: Display>(work: impl Future<Output = Result<T, E>>) -> Result<T, String> {
    let runtime = runtime().map_err(|error| error.message)?;
    runtime.block_on(work).map_err(|error| error.to_string())
}

#[cfg(feature = "assistant")]
fn test_brain(context: &Context, trial: &crate::setup::BrainTrial) -> Result<CheckResult, String> {
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
    let asked = asked.ok_or_else(|| "it can't be asked".to_owned());
    let answered = asked
        .and_then(|brain| block_on(async { send_test_prompt(&brain).await.map_err(|error| error.message) }));
    let _ = std::fs::remove_dir_all(&scratch);
    answered.map(|()| CheckResult::Well(format!("it answered in {} ms", began.elapsed().as_millis())))
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
    bus.is_some_and(|socket| socket.exists()) && is_installed("systemctl")
}

/// Whether a program is found by its name.
pub(super) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The models of an Ollama that runs here; none where none does.
#[cfg(feature = "assistant")]
pub(super) fn local_models() -> Vec<String> {
    let host = std::env::var("OLLAMA_HOST").ok().filter(|host| host.starts_with("http://127.0.0.1:"));
    let base = host.unwrap_or_else(|| "http://127.0.0.1:11434".to_owned());
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

#[cfg(feature = "assistant")]
fn discord_api(token: &SecretString, base: &Option<String>) -> Result<DiscordApi, String> {
    DiscordApi::new(Some(token), base.as_deref()).map_err(|error| error.to_string())
}

/// Sends a test message.
async fn test_notifier(trial: &NotifierTrial, clock: &Arc<dyn Clock>) -> Result<CheckResult, String> {
    let (notifier, well): (Arc<dyn Notifier>, _) = match trial.kind {
        NotifyKind::Console | NotifyKind::Desktop => (Arc::new(Desktop), "a notification was shown"),
        NotifyKind::Discord => (discord_notifier(trial).await?, "a test message is in the channel"),
        NotifyKind::Ntfy => (notifier(trial, clock)?, "a test message is in the topic"),
        NotifyKind::Email => (notifier(trial, clock)?, "the mail server took a test message"),
        NotifyKind::Webhook => (notifier(trial, clock)?, "the address took a test message"),
    };
    send_test(&*notifier).await.map(|()| CheckResult::Well(well.to_owned()))
}

/// Discord's webhook, or the bot, which has to be let in.
#[cfg(feature = "assistant")]
async fn discord_notifier(trial: &NotifierTrial) -> Result<Arc<dyn Notifier>, String> {
    use crate::discord::access::Owners;
    use crate::discord::notifier::{BotNotifier, WebhookNotifier};

    let base = &trial.discord.api_base;
    if let Some(address) = &trial.address {
        let webhook = WebhookNotifier::new(address, base.as_deref(), Owners::default())
            .map_err(|error| error.to_string())?;
        return Ok(Arc::new(webhook));
    }
    let api = discord_api(&trial.secret.clone().unwrap_or_default(), base)?;
    if let Some(problem) = examine(&api, &trial.discord).await.into_iter().find_map(Result::err) {
        return Err(problem.to_string());
    }
    let owners = Owners::new(&trial.discord.owner_ids);
    Ok(Arc::new(BotNotifier::new(api, trial.discord.channel_id, owners)))
}

#[cfg(not(feature = "assistant"))]
async fn discord_notifier(_: &NotifierTrial) -> Result<Arc<dyn Notifier>, String> {
    Err("this build of vault-agent can't do that".to_owned())
}

/// ntfy, mail or a signed webhook.
fn notifier(trial: &NotifierTrial, clock: &Arc<dyn Clock>) -> Result<Arc<dyn Notifier>, String> {
    let vault = trial.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let config::PathSettings { reminders, commitments, .. } = config::PathSettings::default();
    let parts = NotifierParts {
        notify: &trial.notify,
        secret: trial.secret.clone(),
        address: trial.address.clone(),
        root: &trial.root,
        links: NoteLinks { vault, reminders, commitments },
        rules: NotifyRules::default(),
        clock,
    };
    parts.make(trial.kind).map_err(|error| error.message)
}
