//! Asking a person by a line in the vault's note of approvals, which is the state of what is asked.
//!
//! [`VaultApprovals::ask`](Approvals::ask) puts the line on disk before anybody is shown anything, and waits: for the
//! tick, the minus or the deletion, for the end of the time, for `stop`. It wakes where it is told that the note
//! changed ([`VaultApprovals::look_again`]) and where the time is up; nothing polls. A line is bound to its turn, the
//! call's number, the text and the hash of the files, and is used once: what was ticked is marked `state=used` before
//! the call may run. A word that lasts ([`Wanted::lasts`]) is not used up: whoever asks the same finds it in its line,
//! so that a crash between the line and what is made of it asks nobody twice. After a restart the same call finds its
//! line and goes on waiting. A press on a button ([`VaultApprovals::answer`]) writes the person's word into the line,
//! and nothing else counts. `note` says what a line means by now, and ends it.

mod note;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::approval::{Approvals, Verdict, Wanted};
use super::setup;
use super::tools::Caller;
use crate::config::{self, DISCORD_TOKEN_VARIABLE, FILE_NAME, Settings};
use crate::format::approval::{self, Approval, Mark, State};
use crate::turn::{ApprovalRequest, Place};
use crate::vault::{Actor, NotePath, Plan, Why};
use crate::workspace::Workspace;
use note::{Asked, Found, Note};

/// Characters that a person can be expected to read before a yes.
const MOST_CHARS: usize = 8_000;
/// The turn of a question that nobody waits for: `ask` is run again by hand, as another turn.
const NOBODYS_TURN: &str = "ask";

/// What a person said by a button or a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Yes, this once.
    Once,
    /// Yes, and it needn't be asked again.
    Always,
    /// No.
    No,
}

/// Asks by lines in the vault.
pub struct VaultApprovals {
    workspace: RwLock<Arc<Workspace>>,
    news: watch::Sender<u64>,
    waits: bool,
}

impl std::fmt::Debug for VaultApprovals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VaultApprovals").field("waits", &self.waits).finish_non_exhaustive()
    }
}

impl VaultApprovals {
    /// Waits for the word.
    pub fn new(workspace: &Arc<Workspace>) -> Self {
        Self::with(workspace, true)
    }

    /// Leaves the question in the note and waits for nothing; the same question, asked again after the tick, may run.
    pub fn left_behind(workspace: &Arc<Workspace>) -> Self {
        Self::with(workspace, false)
    }

    fn with(workspace: &Arc<Workspace>, waits: bool) -> Self {
        Self { workspace: RwLock::new(Arc::clone(workspace)), news: watch::Sender::new(0), waits }
    }

    /// Takes on other settings.
    pub fn take_on(&self, workspace: &Arc<Workspace>) {
        *self.workspace.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(workspace);
        self.look_again();
    }

    /// The note may have changed: whoever waits looks again.
    pub fn look_again(&self) {
        self.news.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Whether this is the note.
    pub fn is_note(&self, path: &NotePath) -> bool {
        self.workspace().settings.paths.approvals == path.as_str()
    }

    /// Marks what nobody answered in time and nobody waits for any more.
    pub async fn tidy(&self) {
        let now = self.workspace().clock.now();
        if let Err(error) = self.in_note(move |note| note.tidy(now)).await {
            tracing::warn!("the note of approvals could not be tidied: {error}");
        }
    }

    /// Writes a person's word into the line with this id, if it is still the line with this digest; what came of it,
    /// in words.
    ///
    /// # Errors
    /// A sentence on why it counts for nothing.
    pub async fn answer(&self, id: &str, digest: &str, word: Word, actor: Actor) -> Result<String, String> {
        let workspace = self.workspace();
        let (id, digest, now) = (id.to_owned(), digest.to_owned(), workspace.clock.now());
        let written = self.in_note(move |note| {
            let path = &note.path;
            let lines = approval::parse(&note.read()?).lines;
            let Some(line) = lines.into_iter().find(|line| line.approval.id == id) else {
                return Err(format!("that question doesn't stand in `{path}` any more"));
            };
            let asked = &line.approval;
            match (asked.state, asked.mark) {
                (Some(State::Expired), _) => return Err("it is expired; ask again".to_owned()),
                (Some(state), _) => return Err(format!("it is over already ({state})")),
                (None, Mark::Ticked) => return Err("it is approved already".to_owned()),
                (None, Mark::Declined) => return Err("it is declined already".to_owned()),
                (None, Mark::Open) if asked.until <= now => return Err("it is expired; ask again".to_owned()),
                (None, Mark::Open) => {}
            }
            if digest_of(asked) != digest {
                return Err(format!("its line in `{path}` was changed, so nothing is approved by it"));
            }
            let mark = if word == Word::No { Mark::Declined } else { Mark::Ticked };
            if word == Word::Always {
                let pattern = asked.always.as_deref().ok_or("this is asked every time; press Once")?;
                allow(&workspace, pattern, actor)?;
            }
            if !note.mark(&line, mark, actor)? {
                return Err(format!("its line in `{path}` was changed at this very moment; look at it"));
            }
            Ok(match (word, &asked.always) {
                (Word::Always, Some(pattern)) => {
                    format!("Approved; `{FILE_NAME}` allows `{pattern}` from now on")
                }
                (Word::No, _) => "Declined".to_owned(),
                _ => "Approved once".to_owned(),
            })
        });
        let written = written.await;
        self.look_again();
        written
    }

    fn workspace(&self) -> Arc<Workspace> {
        Arc::clone(&self.workspace.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Works on the note where nothing else waits for files.
    async fn in_note<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Note) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let workspace = self.workspace();
        let path = workspace.note(&workspace.settings.paths.approvals);
        let note = Note { editor: Arc::clone(&workspace.editor), path };
        match tokio::task::spawn_blocking(move || work(&note)).await {
            Ok(done) => done,
            // The program is ending: nothing is decided by that, and the line goes on waiting.
            Err(error) if error.is_cancelled() => std::future::pending().await,
            Err(error) => Err(format!("it went wrong inside: {error}")),
        }
    }

    /// Waits until it is over.
    async fn wait(&self, asked: &Asked, news: &mut watch::Receiver<u64>) -> Result<State, String> {
        let clock = Arc::clone(&self.workspace().clock);
        loop {
            news.borrow_and_update();
            let (now, looked) = (clock.now(), asked.clone());
            if let Found::Over(state) = self.in_note(move |note| note.look(&looked, now)).await? {
                return Ok(state);
            }
            let left = Duration::try_from(now.duration_until(asked.line.until)).unwrap_or(Duration::ZERO);
            tokio::select! {
                changed = news.changed() => changed.map_err(|_| "the program is stopping".to_owned())?,
                () = tokio::time::sleep(clock.sleep(left)) => {}
            }
        }
    }
}

#[async_trait]
impl Approvals for VaultApprovals {
    async fn ask(
        &self,
        wanted: &Wanted,
        caller: &Caller,
        place: &dyn Place,
        stop: &CancellationToken,
    ) -> Result<Verdict, String> {
        let workspace = self.workspace();
        if let Some(verdict) = before_asking(&workspace, wanted, caller)? {
            return Ok(verdict);
        }
        // Before the line stands, so that no change is missed.
        let mut news = self.news.subscribe();
        let turn =
            if self.waits { format!("{}/{}", caller.turn, caller.number) } else { NOBODYS_TURN.to_owned() };
        let (put, brain, now) = (wanted.clone(), caller.brain.clone(), workspace.clock.now());
        let line = self.in_note(move |note| note.put(&put, &brain, &turn, now)).await?;
        let (over, request) = (line.state, request(&line));
        let asked = Asked { line, lasts: wanted.lasts };
        fail::fail_point!("approval::after-line");
        if !self.waits {
            let looked = asked.clone();
            return Ok(match self.in_note(move |note| note.look(&looked, now)).await? {
                Found::Waiting => {
                    place.ask_approval(&request).await;
                    Verdict::Waits
                }
                Found::Over(state) => verdict(state),
            });
        }
        let shown = async {
            place.ask_approval(&request).await;
            std::future::pending::<()>().await;
        };
        let state = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            state = self.wait(&asked, &mut news) => Some(state?),
            // A word that stands already needs no question.
            () = shown, if over.is_none() => None,
        };
        let state = match state {
            Some(state) => state,
            None => {
                let (ended, now) = (asked.clone(), workspace.clock.now());
                self.in_note(move |note| note.stop(&ended, now)).await?;
                State::Stopped
            }
        };
        fail::fail_point!("approval::after-word");
        place
            .approval_over(&request, ending(state, state == State::Used && is_allowed(&workspace, wanted)))
            .await;
        Ok(verdict(state))
    }
}

fn verdict(state: State) -> Verdict {
    match state {
        State::Used => Verdict::Yes,
        State::Expired => Verdict::Expired,
        State::Declined | State::Changed | State::Stopped => Verdict::No,
    }
}

fn ending(state: State, always: bool) -> &'static str {
    match state {
        State::Used if always => "Approved, always.",
        State::Used => "Approved once.",
        State::Declined => "Declined.",
        State::Expired => "Expired; ask again.",
        State::Changed => "The line was changed, so nothing was approved.",
        State::Stopped => "Stopped.",
    }
}

/// What is known without asking: a person may have said "Always" since the turn began. It doesn't hold for a turn that
/// has read what nobody vouches for.
///
/// # Errors
/// A sentence on why it can't be put to a person at all.
pub fn before_asking(
    workspace: &Workspace,
    wanted: &Wanted,
    caller: &Caller,
) -> Result<Option<Verdict>, String> {
    askable(wanted, workspace)?;
    Ok((!caller.tainted && is_allowed(workspace, wanted)).then_some(Verdict::Yes))
}

/// Whether it can be put to a person at all.
fn askable(wanted: &Wanted, workspace: &Workspace) -> Result<(), String> {
    let length = wanted.run.chars().count();
    if wanted.run.trim().is_empty() {
        return Err("it says nothing of what would run".to_owned());
    }
    if length > MOST_CHARS {
        return Err(format!(
            "it has {length} characters, and a person is shown {MOST_CHARS} at most; make it shorter"
        ));
    }
    let (settings, root) = (&workspace.settings, workspace.vault.root());
    let texts = [Some(&wanted.run), Some(&wanted.why), wanted.always.as_ref()];
    let token =
        config::secret(DISCORD_TOKEN_VARIABLE, settings.discord.token_file.as_deref(), root).ok().flatten();
    let brains = setup::prepare(settings, root);
    let holds = |text: &String| {
        brains.iter().any(|brain| brain.is_key_in(text))
            || token.as_ref().is_some_and(|token| setup::is_secret_in(token, text))
    };
    if texts.into_iter().flatten().any(holds) {
        return Err("it holds a secret of this vault, which is written and shown nowhere".to_owned());
    }
    Ok(())
}

/// Whether the settings as they are now allow it.
fn is_allowed(workspace: &Workspace, wanted: &Wanted) -> bool {
    let Some(pattern) = &wanted.always else { return false };
    let now = Settings::load(workspace.vault.root());
    let allow =
        now.as_ref().map_or(&workspace.settings.assistant.allow, |settings| &settings.assistant.allow);
    allow.contains(pattern)
}

/// Adds a pattern to `[assistant] allow`; on disk when it returns.
///
/// # Errors
/// A sentence on why it can't be added.
pub fn allow(workspace: &Workspace, pattern: &str, actor: Actor) -> Result<(), String> {
    let why = Why::new(actor, format!("always allowed: {}", pattern.escape_debug()));
    let path = NotePath::new(FILE_NAME).map_err(|error| error.to_string())?;
    let mut refused = None;
    let report = workspace.editor.edit_with(&path, &why, |bytes| {
        let text = std::str::from_utf8(bytes).map_err(|_| format!("`{FILE_NAME}` is not UTF-8 text"));
        match text.and_then(|text| config::with_allowed(text, pattern)) {
            Ok(after) => {
                refused = None;
                Plan::Bytes(after.into_bytes())
            }
            Err(error) => {
                refused = Some(error);
                Plan::Operations(Vec::new())
            }
        }
    });
    match (report, refused) {
        (Err(error), _) => Err(error.to_string()),
        (Ok(_), Some(error)) => Err(error),
        (Ok(_), None) => Ok(()),
    }
}

fn request(asked: &Approval) -> ApprovalRequest {
    ApprovalRequest {
        id: asked.id.clone(),
        digest: digest_of(asked),
        run: asked.run.clone(),
        hash: asked.hash.clone(),
        why: asked.why.clone().unwrap_or_default(),
        brain: asked.brain.clone(),
        always: asked.always.clone(),
        until: asked.until,
    }
}

/// What tells a changed line from the one that was asked, whatever its box says.
pub fn digest_of(asked: &Approval) -> String {
    let neutral = Approval { mark: Mark::Open, state: None, block_id: None, ..asked.clone() };
    blake3::hash(neutral.to_line().as_bytes()).to_hex()[..12].to_owned()
}
