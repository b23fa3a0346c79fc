//! The state machine: which question comes next, what an answer changes, what has to be looked at.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::brains::{self, Chosen, OFFERS};
use super::choices::{Email, Held, Ntfy, Signed};
use super::discord::{self, Bot, Channel};
use super::place;
use super::question::{Question, Step};
use super::{Base, Folder, Found, Look, Machine, Plan};
use crate::config::{self, DISCORD_TOKEN_VARIABLE, NotifyKind, WEBHOOK_VARIABLE};
use crate::schedule::Zone;

/// What is to be done next.
#[derive(Debug)]
pub enum Next {
    /// Ask, and give the answer to [`Dialogue::answer`].
    Ask(Question),
    /// Look, and say what was found to [`Dialogue::found`].
    Look(Look),
    /// All is answered: this would be written.
    Done(Box<Plan>),
}

/// A dialogue that is going on.
#[derive(Debug)]
pub struct Dialogue {
    pub(super) machine: Machine,
    /// Whether a file answers, in which no secret may stand.
    pub(super) from_file: bool,
    pub(super) done: BTreeSet<Step>,
    pub(super) problem: Option<Problem>,
    pub(super) looking: Option<Look>,
    pub(super) folder: Option<Folder>,
    pub(super) zone: Option<Zone>,
    /// Who is told, the one that counts first.
    pub(super) kinds: Vec<NotifyKind>,
    /// The ways whose questions are asked.
    pub(super) asked: BTreeSet<NotifyKind>,
    /// The ways that were tried, or are kept untried.
    pub(super) told: BTreeSet<NotifyKind>,
    pub(super) by_webhook: bool,
    pub(super) token: Option<Held>,
    pub(super) webhook: Option<Held>,
    pub(super) bot: Option<Bot>,
    invited: bool,
    pub(super) channels: Vec<Channel>,
    pub(super) channel: Option<u64>,
    pub(super) owners: Vec<u64>,
    pub(super) ntfy: Ntfy,
    pub(super) email: Email,
    pub(super) signed: Signed,
    pub(super) chosen: Chosen,
    brain_tried: bool,
    pub(super) service: bool,
}

/// What is wrong with the last answer to a question.
#[derive(Debug)]
pub(super) struct Problem {
    pub step: Step,
    pub words: String,
    pub may_keep: bool,
}

impl Dialogue {
    /// A dialogue on this machine; `from_file` where nobody types.
    pub fn new(machine: Machine, from_file: bool) -> Self {
        Self {
            machine,
            from_file,
            done: BTreeSet::new(),
            problem: None,
            looking: None,
            folder: None,
            zone: None,
            kinds: vec![NotifyKind::default()],
            asked: BTreeSet::new(),
            told: BTreeSet::new(),
            by_webhook: false,
            token: None,
            webhook: None,
            bot: None,
            invited: false,
            channels: Vec::new(),
            channel: None,
            owners: Vec::new(),
            ntfy: Ntfy::default(),
            email: Email::default(),
            signed: Signed::default(),
            chosen: Chosen::default(),
            brain_tried: false,
            service: false,
        }
    }

    /// What is to be done next.
    pub fn next(&self) -> Next {
        if let Some(look) = &self.looking {
            return Next::Look(look.clone());
        }
        let open = Step::ALL.into_iter().find(|step| !self.done.contains(step) && self.applies(*step));
        let before = |last: Step| open.is_none_or(|step| step > last);
        if let Some(kind) = self.untold() {
            return Next::Look(self.test_of(kind));
        }
        if !self.brain_tried
            && before(Step::BrainKey)
            && self.chosen.offer.is_some()
            && let Ok(trial) = self.chosen.trial(&self.set())
        {
            return Next::Look(Look::Brain(Box::new(trial)));
        }
        match open {
            Some(step) => Next::Ask(self.question(step)),
            None => Next::Done(Box::new(self.plan())),
        }
    }

    pub(super) fn applies(&self, step: Step) -> bool {
        if step.way().is_some_and(|kind| !self.asked.contains(&kind)) {
            return false;
        }
        match step {
            Step::DiscordToken | Step::DiscordInvite | Step::DiscordChannel | Step::DiscordOwner => {
                !self.by_webhook
            }
            Step::DiscordWebhook => self.by_webhook,
            Step::EmailPassword => self.email.user.is_some(),
            Step::EmailFrom => self.email.needs_sender(),
            Step::Brain => cfg!(feature = "assistant"),
            Step::BrainUrl => self.chosen.offer.is_some_and(|offer| offer.name == "server"),
            Step::BrainModel => self.chosen.offer.is_some(),
            Step::BrainKey => {
                self.chosen.offer.is_some_and(|offer| offer.key.is_some() || offer.name == "server")
            }
            _ => true,
        }
    }

    /// Takes the answer to the question that [`Dialogue::next`] asked.
    pub fn answer(&mut self, step: Step, text: &str) {
        let text = text.trim();
        let problem = self.problem.take_if(|problem| problem.step == step);
        let taken = match text {
            "skip" => self.skip(step),
            "anyway" if problem.is_some_and(|problem| problem.may_keep) => {
                self.keep(step);
                Ok(())
            }
            text => self.take(step, text),
        };
        match taken {
            Ok(()) if self.looking.is_none() => drop(self.done.insert(step)),
            Ok(()) => {}
            Err(words) => self.problem = Some(Problem { step, words, may_keep: false }),
        }
    }

    /// Leaves out what a question is about.
    fn skip(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Vault => return Err("without a folder there is no vault".to_owned()),
            Step::Timezone => self.zone = place::likely_zone(&self.machine, self.folder.as_ref()),
            Step::Notify => {
                self.kinds = self.set().notify.by_default();
                self.asked.clear();
            }
            Step::Brain | Step::BrainUrl | Step::BrainModel | Step::BrainKey => {
                self.chosen = Chosen::default();
                self.done.insert(Step::Brain);
            }
            Step::Service => self.service = false,
            step => step.way().into_iter().for_each(|kind| self.leave_out(kind)),
        }
        Ok(())
    }

    /// Keeps an answer that couldn't be checked.
    fn keep(&mut self, step: Step) {
        match step {
            Step::Notify => drop(self.told.insert(NotifyKind::Desktop)),
            // The answers after it are still asked.
            Step::DiscordInvite => {}
            Step::Brain => {
                self.brain_tried = true;
                self.done.extend([Step::BrainUrl, Step::BrainModel, Step::BrainKey]);
            }
            step => {
                if let Some(kind) = step.way() {
                    self.told.insert(kind);
                    self.done.extend(Step::about(kind));
                }
            }
        }
    }

    fn take(&mut self, step: Step, text: &str) -> Result<(), String> {
        let typed = self.or_default(step, text);
        match step {
            Step::Vault => {
                let path = place::folder_path(&typed, &self.machine.home, &self.machine.here)?;
                self.looking = Some(Look::Folder(path));
            }
            Step::Timezone => self.zone = Some(Zone::get(&typed).map_err(|error| error.to_string())?),
            Step::Notify => self.take_ways(&typed)?,
            Step::DiscordWay => {
                self.by_webhook = match typed.as_str() {
                    "bot" => false,
                    "webhook" => true,
                    _ => return Err("type `bot` or `webhook`".to_owned()),
                };
            }
            Step::DiscordToken => self.take_secret(Step::DiscordToken, DISCORD_TOKEN_VARIABLE, &typed)?,
            Step::DiscordWebhook => self.take_secret(Step::DiscordWebhook, WEBHOOK_VARIABLE, &typed)?,
            Step::DiscordInvite => {
                self.invited = true;
                let token = self.token.as_ref().and_then(|held| held.value.clone());
                self.looking = token.map(|token| Look::Channels(token, self.base()));
            }
            Step::DiscordChannel => self.channel = Some(discord::channel(&typed, &self.channels)?),
            Step::DiscordOwner => {
                let id = |text: &str| match text.parse() {
                    Ok(id) if id > 0 => Ok(id),
                    _ => Err(format!("`{text}` is no id of a person at Discord")),
                };
                self.owners = typed.split(',').map(|one| id(one.trim())).collect::<Result<_, _>>()?;
            }
            Step::NtfyUrl | Step::NtfyTopic | Step::NtfyToken => self.take_ntfy(step, &typed)?,
            Step::EmailServer
            | Step::EmailSecurity
            | Step::EmailUser
            | Step::EmailPassword
            | Step::EmailFrom
            | Step::EmailTo => self.take_email(step, &typed)?,
            Step::WebhookUrl | Step::WebhookSecret => self.take_signed(step, &typed)?,
            Step::Brain => self.take_brain(&typed)?,
            Step::BrainUrl => {
                if !config::is_web(&typed) {
                    return Err(format!(
                        "`{typed}` is no web address: it begins with `http://` or `https://`"
                    ));
                }
                self.chosen.url = Some(typed);
            }
            Step::BrainModel if typed.is_empty() => {
                return Err("type the name that the server has for the model".to_owned());
            }
            Step::BrainModel => self.chosen.model = typed,
            Step::BrainKey => self.take_brain_key(&typed)?,
            Step::Service => self.service = yes(&typed)?,
        }
        Ok(())
    }

    fn take_brain(&mut self, typed: &str) -> Result<(), String> {
        self.brain_tried = false;
        let offer = OFFERS.iter().find(|offer| offer.name == typed);
        if offer.is_none() && typed != brains::NONE {
            return Err(format!("`{typed}` is none of the names above"));
        }
        if self.chosen.offer != offer {
            self.chosen = Chosen { offer, ..Chosen::default() };
            self.chosen.url = offer.and_then(|offer| offer.url).map(str::to_owned);
        }
        for step in [Step::BrainUrl, Step::BrainModel, Step::BrainKey] {
            self.done.remove(&step);
        }
        Ok(())
    }

    fn or_default(&self, step: Step, text: &str) -> String {
        match text {
            "" => self.question(step).default.unwrap_or_default(),
            text => text.to_owned(),
        }
    }

    /// Takes what was found where [`Dialogue::next`] wanted something looked at.
    pub fn found(&mut self, found: Result<Found, String>) {
        let look = self.looking.take();
        let open = Step::ALL.into_iter().find(|step| !self.done.contains(step) && self.applies(*step));
        let found = match found {
            Ok(found) => found,
            Err(words) => return self.not_well(look.as_ref(), open, words),
        };
        match (found, look) {
            (Found::Folder(folder), _) => {
                self.kinds = folder.settings.notify.by_default();
                self.folder = Some(*folder);
                self.done.insert(Step::Vault);
            }
            (Found::Secret(value), _) => self.secret_found(open, value),
            (Found::Bot(bot), Some(Look::Bot(token, base))) => {
                self.bot = Some(bot);
                self.done.insert(Step::DiscordToken);
                self.looking = Some(Look::Channels(token, base));
            }
            (Found::Channels(channels), _) => {
                self.channels = channels;
                if !self.channels.is_empty() {
                    self.done.insert(Step::DiscordInvite);
                } else if self.invited {
                    let words = "the bot is in no server yet, or sees no channel there".to_owned();
                    self.problem = Some(Problem { step: Step::DiscordInvite, words, may_keep: true });
                }
            }
            // What is looked at without a question is a test message, or else the brain.
            _ => match self.untold() {
                Some(kind) => drop(self.told.insert(kind)),
                None => self.brain_tried = true,
            },
        }
    }

    /// What was looked at isn't well: the question comes again, with the reason.
    fn not_well(&mut self, look: Option<&Look>, open: Option<Step>, words: String) {
        let (step, may_keep) = match look {
            Some(Look::Channels(..)) => {
                // The channel's id can be typed.
                self.done.insert(Step::DiscordInvite);
                return;
            }
            Some(Look::Bot(..)) => (Step::DiscordToken, false),
            Some(_) => (open.unwrap_or(Step::Vault), false),
            None => match self.untold() {
                Some(kind) => return self.not_told(kind, words),
                None => (Step::Brain, true),
            },
        };
        self.done.remove(&step);
        self.problem = Some(Problem { step, words, may_keep });
    }

    pub(super) fn root(&self) -> PathBuf {
        self.folder.as_ref().map(|folder| folder.root.clone()).unwrap_or_default()
    }

    pub(super) fn base(&self) -> Base {
        self.folder.as_ref().and_then(|folder| folder.settings.discord.api_base.clone())
    }
}

fn yes(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err("type `yes` or `no`".to_owned()),
    }
}
