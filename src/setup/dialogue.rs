//! Runs the dialogue of `setup`: asks the questions in their order, takes the answers, and has them checked.

use std::collections::{BTreeMap, BTreeSet};

use super::brains::ChosenBrain;
use super::{
    DiscordChannel, HeldSecret, MachineFacts, QuestionKey, SetupIo, SetupPlan, SetupQuestion, VaultFolder,
    vault_folder,
};
use crate::config::{NotifyKind, Settings, git_address};
use crate::schedule::Zone;

/// Asks all questions, and makes the plan that follows from the answers; `from_file` where no person types.
///
/// # Errors
/// The answers end before the last question.
pub fn run<I: SetupIo>(io: &mut I, machine: &MachineFacts, from_file: bool) -> Result<SetupPlan, I::End> {
    let mut dialogue = Dialogue {
        io,
        machine,
        from_file,
        folder: VaultFolder::default(),
        settings: Settings::default(),
        zone: None,
        kinds: Vec::new(),
        open_notifiers: BTreeSet::new(),
        by_webhook: false,
        channels: Vec::new(),
        secrets: BTreeMap::new(),
        chosen: ChosenBrain::default(),
        remote: None,
        service: false,
    };
    dialogue.ask_folder()?;
    dialogue.ask_zone()?;
    dialogue.ask_notifiers()?;
    dialogue.ask_brain()?;
    dialogue.ask_machines()?;
    dialogue.ask_service()?;
    Ok(dialogue.plan())
}

/// A running dialogue.
pub(super) struct Dialogue<'a, I> {
    pub io: &'a mut I,
    pub machine: &'a MachineFacts,
    /// Whether a file answers, in which no secret may stand.
    pub from_file: bool,
    pub folder: VaultFolder,
    /// The folder's settings with the answers about notifiers.
    pub settings: Settings,
    pub zone: Option<Zone>,
    /// The notifiers, the one that counts first.
    pub kinds: Vec<NotifyKind>,
    /// The notifiers whose questions are asked.
    pub open_notifiers: BTreeSet<NotifyKind>,
    /// Whether Discord is told through a webhook.
    pub by_webhook: bool,
    /// The channels that Discord's bot sees.
    pub channels: Vec<DiscordChannel>,
    /// The secrets of the notifiers, by their questions.
    pub secrets: BTreeMap<QuestionKey, HeldSecret>,
    pub chosen: ChosenBrain,
    /// The git repository that machines share.
    pub remote: Option<String>,
    pub service: bool,
}

/// Hints, the question, and the meaning of an empty answer.
pub(super) type QuestionText = (Vec<String>, &'static str, Option<String>);

/// Why the questions about a subject end before the last one.
pub(super) enum EndOfQuestions<E> {
    /// The subject is left out.
    Skip,
    /// The answers are kept, although they couldn't be checked.
    Anyway,
    /// The answers don't work, with the reason: the questions come again.
    Failed(String),
    /// No more answers come.
    End(E),
}

impl<I: SetupIo> Dialogue<'_, I> {
    /// Asks a question until its answer can be taken; `failed` says why the answers before didn't work.
    pub fn ask<T>(
        &mut self,
        step: QuestionKey,
        (lines, ask, default): QuestionText,
        failed: Option<String>,
        mut take: impl FnMut(&mut Self, &str) -> Result<T, String>,
    ) -> Result<T, EndOfQuestions<I::End>> {
        let may_keep = failed.is_some();
        let mut question = SetupQuestion { step, lines, ask, default, problem: failed, may_keep };
        loop {
            let typed = self.io.ask(&question).map_err(EndOfQuestions::End)?;
            let taken = match typed.trim() {
                "skip" if step == QuestionKey::Vault => Err("without a folder there is no vault".to_owned()),
                "skip" => return Err(EndOfQuestions::Skip),
                "anyway" if question.may_keep => return Err(EndOfQuestions::Anyway),
                "" => take(self, question.default.as_deref().unwrap_or_default()),
                text => take(self, text),
            };
            match taken {
                Ok(value) => return Ok(value),
                Err(words) => (question.problem, question.may_keep) = (Some(words), false),
            }
        }
    }

    /// Asks a question that is a subject of its own; none where it is left out.
    fn ask_alone<T>(
        &mut self,
        step: QuestionKey,
        text: QuestionText,
        take: impl FnMut(&mut Self, &str) -> Result<T, String>,
    ) -> Result<Option<T>, I::End> {
        match self.ask(step, text, None, take) {
            Ok(value) => Ok(Some(value)),
            Err(EndOfQuestions::End(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Asks the questions about a subject until the answers work, or are kept all the same; false where the subject is
    /// left out.
    pub fn ask_about(
        &mut self,
        mut questions: impl FnMut(&mut Self, Option<String>) -> Result<(), EndOfQuestions<I::End>>,
    ) -> Result<bool, I::End> {
        let mut failed = None;
        loop {
            match questions(self, failed) {
                Ok(()) | Err(EndOfQuestions::Anyway) => return Ok(true),
                Err(EndOfQuestions::Skip) => return Ok(false),
                Err(EndOfQuestions::Failed(words)) => failed = Some(words),
                Err(EndOfQuestions::End(error)) => return Err(error),
            }
        }
    }

    fn ask_folder(&mut self) -> Result<(), I::End> {
        let machine = self.machine;
        let lines = vec![
            "The vault is a folder of Markdown notes. One that you have is fine: nothing in it is overwritten.".to_owned(),
        ];
        let likely = machine.vault.clone().unwrap_or_else(|| machine.home.join("MyVault"));
        let text = (lines, "Which folder?", Some(vault_folder::shown(&likely, &machine.home)));
        let found = self.ask_alone(QuestionKey::Vault, text, |this, typed| {
            this.io.vault_folder(&vault_folder::folder_path(typed, &machine.home, &machine.working_folder)?)
        })?;
        self.folder = found.unwrap_or_default();
        self.settings = self.folder.settings.clone();
        self.kinds = self.settings.notify.by_default();
        Ok(())
    }

    fn ask_zone(&mut self) -> Result<(), I::End> {
        let likely = vault_folder::likely_zone(self.machine, &self.folder);
        let mut lines = vec![vault_folder::words(&self.folder, &self.machine.home)];
        lines.extend(vault_folder::zone_lines(self.machine, likely.as_ref()));
        let name = likely.as_ref().map(|zone| zone.name().to_owned());
        let text = (lines, "Which time zone do its dates and times use?", name);
        let read = |_: &mut Self, typed: &str| Zone::get(typed).map_err(|error| error.to_string());
        self.zone = self.ask_alone(QuestionKey::Timezone, text, read)?.or(likely);
        Ok(())
    }

    fn ask_machines(&mut self) -> Result<(), I::End> {
        let machines = self.folder.settings.machines.as_ref();
        // A vault that isn't there yet is on no other machine.
        if self.folder.notes == 0 || machines.is_some_and(|machines| machines.remote.is_none()) {
            return Ok(());
        }
        let lines = vec![
            "Machines that share a synced vault agree over a git repository on which of them speaks; no note goes there."
                .to_owned(),
            "If it is on another machine, too: the address of a repository that all of them can push to, as in `ssh://me@host/~/voice.git`."
                .to_owned(),
        ];
        let set = machines.and_then(|machines| machines.remote.clone()).unwrap_or_else(|| "no".to_owned());
        let text = (lines, "Is this vault on another machine, too?", Some(set));
        let remote = self.ask_alone(QuestionKey::Machines, text, |_, typed| match typed {
            "" | "no" => Ok(None),
            "yes" => Err("type the repository's address: `ssh://me@host/~/voice.git`".to_owned()),
            address => match git_address::check(address) {
                Ok(()) => Ok(Some(address.to_owned())),
                Err(why) => Err(format!("`{address}` {why}")),
            },
        });
        self.remote = remote?.flatten();
        Ok(())
    }

    fn ask_service(&mut self) -> Result<(), I::End> {
        let mut lines = vec![
            "As a service it runs now and after every login; without one, you start it yourself.".to_owned(),
        ];
        if !self.machine.has_services {
            lines.push("No service of yours can be started from here.".to_owned());
        }
        let variables = self.variables_used();
        if !variables.is_empty() {
            lines.push(format!(
                "A service doesn't see what is set in your shell: {} would be missing; put it into a file first.",
                variables.join(", ")
            ));
        }
        let default = if self.machine.has_services && variables.is_empty() { "yes" } else { "no" };
        let text = (lines, "Install it as a service?", Some(default.to_owned()));
        let wanted = self.ask_alone(QuestionKey::Service, text, |_, typed| match &*typed.to_lowercase() {
            "y" | "yes" => Ok(true),
            "n" | "no" => Ok(false),
            _ => Err("type `yes` or `no`".to_owned()),
        });
        self.service = wanted?.unwrap_or_default();
        Ok(())
    }
}
