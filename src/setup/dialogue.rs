//! Runs `setup` as a state machine: chooses the next question, accepts answers, and requests checks.

use std::collections::{BTreeMap, BTreeSet};

use super::brains::{self, ChosenBrain, OFFERS};
use super::discord;
use super::{
    ApiBase, CheckResult, DiscordBot, DiscordChannel, HeldSecret, MachineFacts, QuestionKey, SetupCheck,
    SetupPlan, SetupQuestion, VaultFolder, vault_folder,
};
use crate::config::{self, DISCORD_TOKEN_VARIABLE, NotifyKind, WEBHOOK_VARIABLE, git_address};
use crate::redact;
use crate::schedule::Zone;

/// The next step.
#[derive(Debug)]
pub enum NextStep {
    /// Ask, and give the answer to [`Dialogue::answer`].
    Ask(SetupQuestion),
    /// Make this check, and give its result to [`Dialogue::checked`].
    Check(SetupCheck),
    /// All is answered: this would be written.
    Done(Box<SetupPlan>),
}

/// A running dialogue.
#[derive(Debug, Default)]
pub struct Dialogue {
    pub(super) machine: MachineFacts,
    /// Whether a file answers, in which no secret may stand.
    pub(super) from_file: bool,
    pub(super) done: BTreeSet<QuestionKey>,
    pub(super) problem: Option<AnswerProblem>,
    pub(super) looking: Option<SetupCheck>,
    pub(super) folder: VaultFolder,
    pub(super) zone: Option<Zone>,
    /// The notifiers, the one that counts first.
    pub(super) kinds: Vec<NotifyKind>,
    /// The ways whose questions are asked.
    pub(super) open_ways: BTreeSet<NotifyKind>,
    /// The ways that were tried, or are kept untried.
    pub(super) tried_ways: BTreeSet<NotifyKind>,
    pub(super) by_webhook: bool,
    /// The secrets of the ways to be told, by their questions.
    pub(super) secrets: BTreeMap<QuestionKey, HeldSecret>,
    pub(super) bot: Option<DiscordBot>,
    invited: bool,
    pub(super) channels: Vec<DiscordChannel>,
    pub(super) channel: Option<u64>,
    pub(super) owners: Vec<u64>,
    pub(super) ntfy: config::NtfySettings,
    pub(super) email: config::EmailSettings,
    pub(super) chosen: ChosenBrain,
    brain_tried: bool,
    /// The git repository that machines share.
    pub(super) remote: Option<String>,
    pub(super) service: bool,
}

/// The fault of the last answer to a question.
#[derive(Debug)]
pub(super) struct AnswerProblem {
    pub step: QuestionKey,
    pub text: String,
    pub may_keep: bool,
}

impl Dialogue {
    /// A dialogue on this machine; `from_file` where no person types.
    pub fn new(machine: MachineFacts, from_file: bool) -> Self {
        Self { machine, from_file, kinds: vec![NotifyKind::default()], ..Self::default() }
    }

    /// The next step.
    pub fn next(&self) -> NextStep {
        if let Some(look) = &self.looking {
            return NextStep::Check(look.clone());
        }
        let open = self.open();
        let before = |last: QuestionKey| open.is_none_or(|step| step > last);
        if let Some(kind) = self.next_untested() {
            return NextStep::Check(self.test_message(kind));
        }
        if !self.brain_tried
            && before(QuestionKey::BrainKey)
            && self.chosen.offer.is_some()
            && let Ok(trial) = self.chosen.trial(&self.folder.settings)
        {
            return NextStep::Check(SetupCheck::Brain(Box::new(trial)));
        }
        match open {
            Some(step) => NextStep::Ask(self.question(step)),
            None => NextStep::Done(Box::new(self.plan())),
        }
    }

    /// The first question without an answer.
    fn open(&self) -> Option<QuestionKey> {
        QuestionKey::ALL.into_iter().find(|step| !self.done.contains(step) && self.is_applicable(*step))
    }

    pub(super) fn is_applicable(&self, step: QuestionKey) -> bool {
        if step.way().is_some_and(|kind| !self.open_ways.contains(&kind)) {
            return false;
        }
        match step {
            QuestionKey::DiscordToken
            | QuestionKey::DiscordInvite
            | QuestionKey::DiscordChannel
            | QuestionKey::DiscordOwner => !self.by_webhook,
            QuestionKey::DiscordWebhook => self.by_webhook,
            QuestionKey::EmailPassword => self.email.user.is_some(),
            // A login that is an address is the sender, too.
            QuestionKey::EmailFrom => !self.email.user.as_deref().is_some_and(|user| user.contains('@')),
            // A vault that isn't there yet is on no other machine.
            QuestionKey::Machines => {
                let machines = self.folder.settings.machines.as_ref();
                self.folder.notes > 0 && machines.is_none_or(|machines| machines.remote.is_some())
            }
            QuestionKey::Brain => cfg!(feature = "assistant"),
            QuestionKey::BrainUrl => self.chosen.offer.is_some_and(|offer| offer.name == "server"),
            QuestionKey::BrainModel => self.chosen.offer.is_some(),
            QuestionKey::BrainKey => {
                self.chosen.offer.is_some_and(|offer| offer.key.is_some() || offer.name == "server")
            }
            _ => true,
        }
    }

    /// Takes the answer to the question that [`Dialogue::next`] asked.
    pub fn answer(&mut self, step: QuestionKey, text: &str) {
        let text = text.trim();
        let problem = self.problem.take_if(|problem| problem.step == step);
        let taken = match text {
            "skip" => self.skip(step),
            "anyway" if problem.is_some_and(|problem| problem.may_keep) => {
                self.keep_unchecked(step);
                Ok(())
            }
            text => self.take(step, text),
        };
        match taken {
            Ok(()) if self.looking.is_none() => drop(self.done.insert(step)),
            Ok(()) => {}
            Err(words) => self.problem = Some(AnswerProblem { step, text: words, may_keep: false }),
        }
    }

    /// Leaves out what a question is about.
    fn skip(&mut self, step: QuestionKey) -> Result<(), String> {
        match step {
            QuestionKey::Vault => return Err("without a folder there is no vault".to_owned()),
            QuestionKey::Timezone => {
                self.zone = vault_folder::likely_zone(&self.machine, &self.folder);
            }
            QuestionKey::Notify => {
                self.kinds = self.folder.settings.notify.by_default();
                self.open_ways.clear();
            }
            QuestionKey::Brain | QuestionKey::BrainUrl | QuestionKey::BrainModel | QuestionKey::BrainKey => {
                self.chosen = ChosenBrain::default();
                self.done.insert(QuestionKey::Brain);
            }
            QuestionKey::Machines => self.remote = None,
            QuestionKey::Service => self.service = false,
            step => step.way().into_iter().for_each(|kind| self.disable(kind)),
        }
        Ok(())
    }

    /// Keeps an answer that couldn't be checked.
    fn keep_unchecked(&mut self, step: QuestionKey) {
        match step {
            QuestionKey::Notify => drop(self.tried_ways.insert(NotifyKind::Desktop)),
            // The answers after it are still asked.
            QuestionKey::DiscordInvite => {}
            QuestionKey::Brain => {
                self.brain_tried = true;
                self.done.extend([QuestionKey::BrainUrl, QuestionKey::BrainModel, QuestionKey::BrainKey]);
            }
            step => {
                if let Some(kind) = step.way() {
                    self.tried_ways.insert(kind);
                    self.done.extend(QuestionKey::about(kind));
                }
            }
        }
    }

    fn take(&mut self, step: QuestionKey, text: &str) -> Result<(), String> {
        let typed = self.or_default(step, text);
        match step {
            QuestionKey::Vault => {
                let path =
                    vault_folder::folder_path(&typed, &self.machine.home, &self.machine.working_folder)?;
                self.looking = Some(SetupCheck::VaultFolder(path));
            }
            QuestionKey::Timezone => self.zone = Some(Zone::get(&typed).map_err(|error| error.to_string())?),
            QuestionKey::Notify => self.take_ways(&typed)?,
            QuestionKey::DiscordWay => {
                self.by_webhook = match typed.as_str() {
                    "bot" => false,
                    "webhook" => true,
                    _ => return Err("type `bot` or `webhook`".to_owned()),
                };
            }
            QuestionKey::DiscordToken => {
                self.take_secret(QuestionKey::DiscordToken, DISCORD_TOKEN_VARIABLE, &typed)?;
            }
            QuestionKey::DiscordWebhook => {
                self.take_secret(QuestionKey::DiscordWebhook, WEBHOOK_VARIABLE, &typed)?;
            }
            QuestionKey::DiscordInvite => {
                self.invited = true;
                let token = self.secret(QuestionKey::DiscordToken);
                self.looking = token.map(|token| SetupCheck::Channels(token, self.base()));
            }
            QuestionKey::DiscordChannel => self.channel = Some(discord::channel(&typed, &self.channels)?),
            QuestionKey::DiscordOwner => {
                let id = |text: &str| match text.parse() {
                    Ok(id) if id > 0 => Ok(id),
                    _ => Err(format!("`{text}` is no id of a person at Discord")),
                };
                self.owners = typed.split(',').map(|one| id(one.trim())).collect::<Result<_, _>>()?;
            }
            QuestionKey::Brain => self.take_brain(&typed)?,
            QuestionKey::BrainUrl => {
                if let Some(problem) = config::address_problem(&typed) {
                    return Err(problem);
                }
                self.chosen.url = Some(typed);
            }
            QuestionKey::BrainModel if typed.is_empty() => {
                return Err("type the name that the server has for the model".to_owned());
            }
            QuestionKey::BrainModel if !redact::find(&typed).is_empty() => {
                return Err("that is a secret and no model's name; the key is asked for next".to_owned());
            }
            QuestionKey::BrainModel => self.chosen.model = typed,
            QuestionKey::BrainKey => self.take_brain_key(&typed)?,
            QuestionKey::Machines => self.take_remote(typed)?,
            QuestionKey::Service => self.service = parse_yes_no(&typed)?,
            step => match step.way() {
                Some(NotifyKind::Ntfy) => self.take_ntfy(step, &typed)?,
                Some(NotifyKind::Email) => self.take_email(step, &typed)?,
                _ => self.take_signed(step, &typed)?,
            },
        }
        Ok(())
    }

    fn take_remote(&mut self, typed: String) -> Result<(), String> {
        self.remote = match typed.as_str() {
            "" | "no" => None,
            "yes" => return Err("type the repository's address: `ssh://me@host/~/voice.git`".to_owned()),
            address => {
                git_address::check(address).map_err(|why| format!("`{address}` {why}"))?;
                Some(typed)
            }
        };
        Ok(())
    }

    fn take_brain(&mut self, typed: &str) -> Result<(), String> {
        self.brain_tried = false;
        let offer = OFFERS.iter().find(|offer| offer.name == typed);
        if offer.is_none() && typed != brains::NONE {
            return Err(format!("`{typed}` is none of the names above"));
        }
        if self.chosen.offer != offer {
            self.chosen = ChosenBrain { offer, ..ChosenBrain::default() };
            self.chosen.url = offer.and_then(|offer| offer.url).map(str::to_owned);
        }
        for step in [QuestionKey::BrainUrl, QuestionKey::BrainModel, QuestionKey::BrainKey] {
            self.done.remove(&step);
        }
        Ok(())
    }

    fn or_default(&self, step: QuestionKey, text: &str) -> String {
        match text {
            "" => self.question(step).default.unwrap_or_default(),
            text => text.to_owned(),
        }
    }

    /// Takes the result of the check that [`Dialogue::next`] requested.
    pub fn checked(&mut self, found: Result<CheckResult, String>) {
        let look = self.looking.take();
        let open = self.open();
        let found = match found {
            Ok(found) => found,
            Err(words) => return self.check_failed(look.as_ref(), open, words),
        };
        match (found, look) {
            (CheckResult::VaultFolder(folder), _) => {
                let notify = &folder.settings.notify;
                self.kinds = notify.by_default();
                (self.ntfy, self.email) = (notify.ntfy.clone(), notify.email.clone());
                self.folder = *folder;
                self.done.insert(QuestionKey::Vault);
            }
            (CheckResult::Secret(value), _) => self.secret_found(open, value),
            (CheckResult::Bot(bot), Some(SetupCheck::Bot(token, base))) => {
                self.bot = Some(bot);
                self.done.insert(QuestionKey::DiscordToken);
                self.looking = Some(SetupCheck::Channels(token, base));
            }
            (CheckResult::Channels(channels), _) => {
                self.channels = channels;
                if !self.channels.is_empty() {
                    self.done.insert(QuestionKey::DiscordInvite);
                } else if self.invited {
                    let words = "the bot is in no server yet, or sees no channel there".to_owned();
                    self.problem =
                        Some(AnswerProblem { step: QuestionKey::DiscordInvite, text: words, may_keep: true });
                }
            }
            // A check without a question is a test message, or else the brain.
            _ => match self.next_untested() {
                Some(kind) => drop(self.tried_ways.insert(kind)),
                None => self.brain_tried = true,
            },
        }
    }

    /// A check failed: the question comes again, with the reason.
    fn check_failed(&mut self, look: Option<&SetupCheck>, open: Option<QuestionKey>, words: String) {
        let (step, may_keep) = match look {
            Some(SetupCheck::Channels(..)) => {
                // The channel's id can be typed.
                self.done.insert(QuestionKey::DiscordInvite);
                return;
            }
            Some(SetupCheck::Bot(..)) => (QuestionKey::DiscordToken, false),
            Some(_) => (open.unwrap_or(QuestionKey::Vault), false),
            None => match self.next_untested() {
                Some(kind) => return self.test_failed(kind, words),
                None => (QuestionKey::Brain, true),
            },
        };
        self.done.remove(&step);
        self.problem = Some(AnswerProblem { step, text: words, may_keep });
    }

    pub(super) fn base(&self) -> ApiBase {
        self.folder.settings.discord.api_base.clone()
    }
}

fn parse_yes_no(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err("type `yes` or `no`".to_owned()),
    }
}
