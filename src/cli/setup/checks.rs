//! Runs the checks of `setup`: folder, secrets, Discord, a brain. A check returns its result or an error for a person.

use std::path::{Path, PathBuf};

use crate::cli::context::Context;
use crate::config::{self, FILE_NAME, Settings};
use crate::setup::{CheckResult, SecretSource, SetupCheck, VaultFolder};

use super::test_message;

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
        SetupCheck::Desktop
        | SetupCheck::BotMessage(..)
        | SetupCheck::WebhookMessage(..)
        | SetupCheck::Way(_)
        | SetupCheck::Brain(_)
            if no_tests =>
        {
            Ok(CheckResult::Well("not tested".to_owned()))
        }
        #[cfg(feature = "assistant")]
        SetupCheck::Brain(trial) => test_brain(context, trial),
        SetupCheck::Desktop => {
            block_on(test_message::send(&crate::deliver::Desktop, "a notification was shown"))
        }
        #[cfg(feature = "assistant")]
        SetupCheck::Bot(..)
        | SetupCheck::Channels(..)
        | SetupCheck::BotMessage(..)
        | SetupCheck::WebhookMessage(..) => block_on(test_message::check_discord(check)),
        SetupCheck::Way(trial) => block_on(test_message::send_by(trial, &context.clock)),
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

fn block_on<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(work)
}

#[cfg(feature = "assistant")]
fn test_brain(context: &Context, trial: &crate::setup::BrainTrial) -> Result<CheckResult, String> {
    use crate::agent::brain_clients::{HarnessContext, PreparedBrain};
    use crate::brain::wire::{BrainTimeouts, http};
    use crate::cli::assistant::brain::{TEST_LIMIT, send_test_prompt};

    // A program that is a brain gets a folder of its own, which goes with the test.
    let scratch = std::env::temp_dir().join(format!("vault-agent-setup-{}", std::process::id()));
    let watch = BrainTimeouts { silence: TEST_LIMIT, overall: TEST_LIMIT, first_byte: TEST_LIMIT };
    let harness = HarnessContext { watch, state: scratch.clone(), server: None };
    let prepared = PreparedBrain::of(&trial.brain, &scratch);
    let prepared = match &trial.key {
        Some(key) => prepared.with_key(key.clone()),
        None => prepared,
    };
    let client = http::client().map_err(|error| error.message)?;
    context.ui.note(format!("asking {} ({}) ...", trial.brain.name, trial.brain.model));
    let began = std::time::Instant::now();
    let asked = prepared.single_request_clients(&harness, &client, &context.clock).into_iter().next();
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
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(std::time::Duration::from_millis(500))
            .build()
            .map_err(|error| error.to_string())?;
        let answer =
            client.get(format!("{base}/api/tags")).send().await.map_err(|error| error.to_string())?;
        answer.json::<serde_json::Value>().await.map_err(|error| error.to_string())
    });
    let models = listed.ok().and_then(|listed| listed["models"].as_array().cloned()).unwrap_or_default();
    models.iter().filter_map(|model| model["name"].as_str().map(str::to_owned)).collect()
}

#[cfg(not(feature = "assistant"))]
pub(super) fn local_models() -> Vec<String> {
    Vec::new()
}
