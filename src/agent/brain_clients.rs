//! Makes the clients of each brain of the settings: a client for each of its API keys, or a single client without a
//! key.
//!
//! [`prepare`] reads the keys from environment variables and key files. It makes no client; `status` and `doctor` need
//! no more. [`PreparedBrain::clients`] makes the clients. A brain without the key that it needs gets a client too. Each
//! call of this client fails as if the provider had refused the key, so that failover needs no extra rule.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use tokio_util::sync::CancellationToken;

use crate::brain::acp::Acp;
use crate::brain::claude_code::ClaudeCode;
use crate::brain::codex::Codex;
use crate::brain::failover::BrainId;
use crate::brain::harness::{HarnessSetup, McpServerCommand};
use crate::brain::process::{self, Supervision};
use crate::brain::scrub::scrub_reply;
use crate::brain::wire::{self, BrainTimeouts, WireBrain, WireFormat};
use crate::brain::{
    BrainError, CallProgress, FailureClass, Harness, HarnessHost, HarnessTask, Reply, Request,
};
use crate::clock::Clock;
use crate::config::{self, BrainKind, Settings};
use crate::workspace::Workspace;

/// A brain of the settings with its keys.
#[derive(Debug, Clone)]
pub struct PreparedBrain {
    /// Its table in the settings.
    pub settings: config::BrainSettings,
    /// Its server.
    pub url: String,
    /// Its identity in failover and health.
    pub id: BrainId,
    /// The fault of one of its keys, with its remedy.
    pub problem: Option<String>,
    pub(super) keys: Vec<SecretString>,
}

/// All brains of the settings, in their order. `root` is the vault's folder.
pub fn prepare(settings: &Settings, root: &Path) -> Vec<PreparedBrain> {
    settings.brains.iter().map(|brain| PreparedBrain::of(brain, root)).collect()
}

/// The values that clients need in addition to the settings of their brain.
#[derive(Debug, Clone)]
pub struct ClientContext {
    /// How long a brain may be silent.
    pub timeouts: BrainTimeouts,
    /// The state directory.
    pub state: PathBuf,
    /// Our MCP server, where brains are given the vault's tools.
    pub server: Option<McpServerCommand>,
    /// The HTTP client of all wires.
    pub http: reqwest::Client,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl ClientContext {
    /// For the turns of a vault.
    ///
    /// # Errors
    /// The system has no TLS to offer.
    pub fn of(workspace: &Workspace, timeouts: BrainTimeouts) -> Result<Self, BrainError> {
        let (dirs, root) = (&workspace.dirs, workspace.vault.root());
        let vault_tools = workspace.settings.assistant.tools.contains(&config::ToolGroup::Vault);
        let words = |path: &Path| path.to_string_lossy().into_owned();
        // A harness may pass on another environment: all that the server needs is named here.
        let ours = ["PATH", "HOME", "LANG", "TZ", "XDG_CONFIG_HOME", crate::clock::NOW_VARIABLE];
        let ours = ours.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
        let folders = [(config::STATE_VARIABLE, &dirs.state), (config::CACHE_VARIABLE, &dirs.cache)];
        let env = ours.chain(folders.map(|(name, dir)| (name.to_owned(), words(dir)))).collect();
        let command =
            vec![words(&process::our_program()), "--vault".to_owned(), words(root), "mcp".to_owned()];
        let server = vault_tools.then_some(McpServerCommand { command, env });
        let (state, clock) = (dirs.state.clone(), Arc::clone(&workspace.clock));
        Ok(Self { timeouts, state, server, http: wire::http::client()?, clock })
    }
}

impl PreparedBrain {
    /// One brain of the settings.
    pub fn of(settings: &config::BrainSettings, root: &Path) -> Self {
        let url = settings.url.clone().unwrap_or_else(|| settings.kind.default_url().to_owned());
        let (keys, problem) = keys(settings, root);
        // The failure of a missing key ends with these settings, as that of a refused key ends with the key.
        let missing = problem.as_deref().filter(|_| keys.is_empty());
        let exposed: Vec<&str> = keys.iter().map(ExposeSecret::expose_secret).chain(missing).collect();
        let id = BrainId::new(&settings.name, settings.kind.as_str(), &url, &settings.model, &exposed);
        Self { settings: settings.clone(), url, id, problem, keys }
    }

    /// The brain with this key instead of its own, for a trial call.
    #[must_use]
    pub fn with_key(mut self, key: SecretString) -> Self {
        (self.keys, self.problem) = (vec![key], None);
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Whether it wants a key and has none.
    pub fn lacks_key(&self) -> bool {
        self.keys.is_empty() && self.problem.is_some()
    }

    /// Whether a text holds one of its keys.
    pub fn is_key_in(&self, text: &str) -> bool {
        self.keys.iter().any(|key| is_secret_in(key, text))
    }

    /// A client for each of its keys, in the order of `id.keys`.
    pub fn clients(&self, context: &ClientContext) -> Vec<BrainClient> {
        if let Some(problem) = self.problem.clone().filter(|_| self.lacks_key()) {
            return vec![BrainClient::Unavailable(FailureClass::Auth, problem)];
        }
        let client = |key: Option<SecretString>| match self.settings.kind {
            BrainKind::Messages => self.wire(WireFormat::Messages, key, context),
            BrainKind::Responses => self.wire(WireFormat::Responses, key, context),
            BrainKind::Chat => self.wire(WireFormat::Chat, key, context),
            BrainKind::ClaudeCode => self.program(|setup| Box::new(ClaudeCode { setup }), key, context),
            BrainKind::Codex => self.program(|setup| Box::new(Codex { setup }), key, context),
            BrainKind::Acp => self.program(|setup| Box::new(Acp { setup }), key, context),
        };
        if self.keys.is_empty() {
            return vec![client(None)];
        }
        self.keys.iter().cloned().map(Some).map(client).collect()
    }

    fn wire(&self, wire: WireFormat, key: Option<SecretString>, context: &ClientContext) -> BrainClient {
        BrainClient::Wire(WireBrain {
            wire,
            url: self.url.clone(),
            model: self.settings.model.clone(),
            key,
            timeouts: context.timeouts,
            client: context.http.clone(),
            clock: Arc::clone(&context.clock),
        })
    }

    fn program(
        &self,
        harness: impl Fn(HarnessSetup) -> Box<dyn Harness>,
        key: Option<SecretString>,
        context: &ClientContext,
    ) -> BrainClient {
        let dir = context.state.join("harness").join(&self.settings.name);
        if let Err(error) = std::fs::create_dir_all(&dir) {
            let message = format!("its folder `{}` can't be made: {error}", dir.display());
            return BrainClient::Unavailable(FailureClass::Crash, message);
        }
        let setup = HarnessSetup {
            brain: self.settings.name.clone(),
            command: self.settings.command(),
            model: self.settings.model.clone(),
            url: self.settings.url.clone(),
            key: key.clone(),
            key_env: self.settings.key_env.clone(),
            tools: self.settings.tools.clone(),
            supervision: Supervision { state: context.state.clone(), timeouts: context.timeouts },
            dir,
            server: context.server.clone(),
        };
        BrainClient::Program(harness(setup), key.unwrap_or_default())
    }
}

/// Whether a text holds a secret. A secret of fewer than four bytes doesn't count, since any text may contain it.
pub fn is_secret_in(secret: &SecretString, text: &str) -> bool {
    let secret = secret.expose_secret().trim();
    secret.len() >= 4 && text.contains(secret)
}

/// The keys that can be read, each once, and the fault of the others.
///
/// `key_env` or else `key_file` is the first, as with every secret; those of `key_envs` follow. A provider's own server
/// is asked with its usual variable if no key is named; another server may want none.
fn keys(brain: &config::BrainSettings, root: &Path) -> (Vec<SecretString>, Option<String>) {
    let mut keys: Vec<SecretString> = Vec::new();
    let mut problem = None;
    // A harness may have its own login.
    let usual = brain.kind.usual_key().filter(|_| !brain.kind.is_harness());
    let named = brain.key_env.is_some() || brain.key_file.is_some() || !brain.key_envs.is_empty();
    let first = brain.key_env.as_deref().or(usual.filter(|_| !named && brain.url.is_none()));
    let mut take = |variable: &str, file: Option<&str>| match config::secret(variable, file, root) {
        Ok(Some(key)) if !keys.iter().any(|known| known.expose_secret() == key.expose_secret()) => {
            keys.push(key);
        }
        Ok(_) => {}
        Err(error) => problem = Some(error.in_full()),
    };
    if first.is_some() || brain.key_file.is_some() {
        take(first.unwrap_or_default(), brain.key_file.as_deref());
    }
    brain.key_envs.iter().for_each(|variable| take(variable, None));
    if keys.is_empty() && problem.is_none() {
        let variables = first.into_iter().chain(brain.key_envs.iter().map(String::as_str));
        let variables: Vec<String> = variables.map(|variable| format!("`{variable}`")).collect();
        problem = (!variables.is_empty()).then(|| format!("there is no key; set {}", variables.join(" or ")));
    }
    (keys, problem)
}

/// A brain with one of its keys.
pub enum BrainClient {
    /// A model behind an HTTP format.
    Wire(WireBrain),
    /// A program with a loop of its own, and its key; empty without one.
    Program(Box<dyn Harness>, SecretString),
    /// It can't be asked: it lacks the key that it wants, or its folder can't be made.
    Unavailable(FailureClass, String),
}

impl BrainClient {
    /// Makes a single request outside of turns; a program has no tools then.
    ///
    /// # Errors
    /// As [`WireBrain::call`].
    pub async fn call(
        &self,
        request: &Request,
        progress: &mut CallProgress,
        cancel: CancellationToken,
    ) -> Result<Reply, BrainError> {
        if let Self::Wire(brain) = self {
            return brain.call(request, progress, cancel).await;
        }
        let fresh = request.messages.len();
        let task = HarnessTask { request, fresh, session: None, turn: None, keep: false, servers: &[] };
        self.run(&task, &DenyingHost, cancel).await
    }

    /// Runs a program for a turn, until `cancel`; a wire answers the request of the task.
    ///
    /// # Errors
    /// As [`Harness::run`].
    pub async fn run(
        &self,
        task: &HarnessTask<'_>,
        host: &dyn HarnessHost,
        cancel: CancellationToken,
    ) -> Result<Reply, BrainError> {
        match self {
            Self::Wire(brain) => brain.call(task.request, &mut CallProgress::default(), cancel).await,
            Self::Program(harness, key) => {
                Ok(scrub_reply(harness.run(task, host, cancel).await?, key.expose_secret()))
            }
            Self::Unavailable(class, why) => Err(BrainError::new(*class, why.clone())),
        }
    }
}

/// A host that allows nothing and no second try.
struct DenyingHost;

impl HarnessHost for DenyingHost {}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A folder with a vault, and a key file of each of the given modes beside it.
    fn stage(files: &[(&str, &str, u32)]) -> (tempfile::TempDir, std::path::PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let vault = temp.path().join("vault");
        std::fs::create_dir(&vault).unwrap();
        for (name, text, mode) in files {
            let file = temp.path().join(name);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(*mode)).unwrap();
        }
        (temp, vault)
    }

    fn brain(text: &str) -> config::BrainSettings {
        let text = format!("[[brain]]\nname = \"b\"\nmodel = \"m\"\n{text}\n");
        Settings::parse(&text).unwrap().brains.remove(0)
    }

    #[test]
    fn a_key_file_is_read_and_never_shown() {
        let (_temp, vault) = stage(&[("key", "sk-secret-one\n", 0o600)]);
        let ready = PreparedBrain::of(&brain("kind = \"messages\"\nkey_file = \"../key\""), &vault);
        assert_eq!((ready.problem.as_deref(), ready.keys.len(), ready.lacks_key()), (None, 1, false));
        assert_eq!(ready.url, "https://api.anthropic.com");
        assert!(!format!("{ready:?}").contains("secret-one"));
        let other =
            PreparedBrain::of(&brain("kind = \"messages\"\nkey_env = \"VAULT_AGENT_TEST_UNSET\""), &vault);
        assert_ne!(ready.id.keys, other.id.keys);
    }

    #[test]
    fn what_is_wrong_with_a_key_is_said() {
        let (_temp, vault) = stage(&[("open", "k\n", 0o644)]);
        let problem = |text: &str| {
            let ready = PreparedBrain::of(&brain(text), &vault);
            assert!(ready.lacks_key());
            ready.problem.unwrap()
        };
        assert_eq!(
            problem("kind = \"chat\"\nkey_env = \"VAULT_AGENT_NO_A\"\nkey_envs = [\"VAULT_AGENT_NO_B\"]"),
            "there is no key; set `VAULT_AGENT_NO_A` or `VAULT_AGENT_NO_B`"
        );
        let open = problem("kind = \"chat\"\nkey_file = \"../open\"");
        assert!(open.contains("can be read by other users; run `chmod 600"), "{open}");
        let missing = problem("kind = \"chat\"\nkey_file = \"../none\"");
        assert!(missing.ends_with("create it with mode 600"), "{missing}");
    }

    #[test]
    fn a_server_of_ones_own_needs_no_key() {
        let (_temp, vault) = stage(&[]);
        let ready = PreparedBrain::of(&brain("kind = \"chat\"\nurl = \"http://127.0.0.1:8080\""), &vault);
        assert_eq!((ready.problem.as_deref(), ready.keys.len()), (None, 0));
        assert_eq!(ready.id.keys, [""]);
    }

    #[tokio::test]
    async fn a_brain_without_its_key_says_so() {
        let (_temp, vault) = stage(&[]);
        let ready = PreparedBrain::of(&brain("kind = \"chat\"\nkey_env = \"VAULT_AGENT_NO_A\""), &vault);
        let context = ClientContext {
            timeouts: BrainTimeouts::default(),
            state: vault.join("../state"),
            server: None,
            http: wire::http::client().unwrap(),
            clock: Arc::new(crate::clock::SystemClock),
        };
        let calls = ready.clients(&context);
        assert_eq!(calls.len(), ready.id.keys.len());
        let progress = &mut CallProgress::default();
        let error = calls[0].call(&Request::default(), progress, CancellationToken::new()).await.unwrap_err();
        assert_eq!(
            (error.class, error.message.as_str()),
            (FailureClass::Auth, "there is no key; set `VAULT_AGENT_NO_A`")
        );
    }
}
