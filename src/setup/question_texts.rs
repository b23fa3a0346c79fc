//! Holds the texts of each question of `setup`.

use super::{Dialogue, QuestionKey, SetupQuestion, brains, discord, notifiers, vault_folder};
use crate::config::NotifyKind;

impl Dialogue {
    pub(super) fn question(&self, step: QuestionKey) -> SetupQuestion {
        let set = &self.folder.settings;
        let (lines, ask, default) = match step {
            QuestionKey::Vault => self.ask_vault(),
            QuestionKey::Timezone => {
                let likely = vault_folder::likely_zone(&self.machine, &self.folder);
                let mut lines = vec![vault_folder::words(&self.folder, &self.machine.home)];
                lines.extend(vault_folder::zone_lines(&self.machine, likely.as_ref()));
                (
                    lines,
                    "Which time zone are its dates and times meant in?",
                    likely.map(|zone| zone.name().to_owned()),
                )
            }
            QuestionKey::Notify => self.ask_notify(),
            QuestionKey::DiscordWay => {
                let lines = vec![
                    "A bot has buttons, commands and answers; a webhook only posts, and takes a minute less."
                        .to_owned(),
                ];
                (lines, "As a bot, or through a webhook?", Some("bot".to_owned()))
            }
            QuestionKey::DiscordToken => {
                let ask = "The bot's token (it isn't shown while you paste it)?";
                (discord::token_lines(&self.machine), ask, set.discord.token_file.clone())
            }
            QuestionKey::DiscordWebhook => {
                let file = set.discord.webhook_url_file.clone();
                (discord::webhook_lines(&self.machine), "The webhook's URL (it isn't shown)?", file)
            }
            QuestionKey::DiscordInvite => (
                discord::invite_lines(self.bot.as_ref()),
                "Press Enter once the bot is in your server.",
                None,
            ),
            QuestionKey::DiscordChannel => {
                let set = set.discord.channel_id.map(|id| id.to_string());
                let one = set.or_else(|| (self.channels.len() == 1).then(|| "1".to_owned()));
                (discord::channel_lines(&self.channels), "Which channel is it told in?", one)
            }
            QuestionKey::DiscordOwner => self.ask_owner(),
            QuestionKey::Brain => {
                let default =
                    self.chosen.offer.map_or_else(|| brains::best(&self.machine), |offer| offer.name);
                (brains::lines(&self.machine), "Who answers?", Some(default.to_owned()))
            }
            QuestionKey::BrainUrl => (Vec::new(), "Its address?", self.chosen.url.clone()),
            QuestionKey::BrainModel => (Vec::new(), "Which model?", self.likely_model()),
            QuestionKey::BrainKey => self.ask_key(),
            QuestionKey::Machines => self.ask_machines(),
            QuestionKey::Service => self.ask_service(),
            step => match step.way() {
                Some(NotifyKind::Ntfy) => self.ask_ntfy(step),
                Some(NotifyKind::Email) => self.ask_email(step),
                _ => self.ask_signed(step),
            },
        };
        let problem = self.problem.as_ref().filter(|problem| problem.step == step);
        SetupQuestion {
            step,
            lines,
            ask: ask.to_owned(),
            default,
            problem: problem.map(|problem| problem.text.clone()),
            may_keep: problem.is_some_and(|problem| problem.may_keep),
        }
    }

    fn ask_vault(&self) -> QuestionText {
        let lines = vec![
            "The vault is a folder of Markdown notes. One that you have is fine: nothing in it is overwritten.".to_owned(),
        ];
        let likely = self.machine.vault.clone().unwrap_or_else(|| self.machine.home.join("MyVault"));
        (lines, "Which folder?", Some(vault_folder::shown(&likely, &self.machine.home)))
    }

    fn ask_notify(&self) -> QuestionText {
        let has_text = self.folder.text.is_some();
        let set = self.folder.settings.notify.by_default();
        // The desktop of a person who runs an installer isn't chosen for them.
        let is_guess =
            set == [NotifyKind::Console] && !has_text && self.machine.has_desktop && !self.from_file;
        let default = if is_guess { "desktop".to_owned() } else { notifiers::named(&set) };
        (notifiers::lines(), "Where are you told what is due?", Some(default))
    }

    fn ask_owner(&self) -> QuestionText {
        let known = self.bot.as_ref().and_then(|bot| bot.owner.as_ref());
        let set = self.folder.settings.discord.owner_ids.first().copied();
        let mut lines = vec!["Only these people command the bot and are answered.".to_owned()];
        match known {
            Some((name, id)) => lines.push(format!("The bot was made by {name} ({id}).")),
            None => lines.push(
                "Your id: in Discord switch on `Settings`, `Advanced`, `Developer Mode`, click your name, `Copy User ID`."
                    .to_owned(),
            ),
        }
        let default = set.or(known.map(|(_, id)| *id)).map(|id| id.to_string());
        (lines, "Your id at Discord?", default)
    }

    fn likely_model(&self) -> Option<String> {
        if !self.chosen.model.is_empty() {
            return Some(self.chosen.model.clone());
        }
        let offer = self.chosen.offer?;
        let here = self.machine.local_models.first().filter(|_| offer.name == "ollama");
        here.cloned().or_else(|| (!offer.model.is_empty()).then(|| offer.model.to_owned()))
    }

    fn ask_key(&self) -> QuestionText {
        let Some((offer, variable)) = self.chosen.offer.and_then(|offer| Some((offer, offer.key?))) else {
            return (Vec::new(), "Its key, if it wants one (it isn't shown)?", None);
        };
        let mut lines = vec![format!("A key is made at {}.", offer.keys_at)];
        lines.extend(self.enter_line(self.chosen.key_value().is_some(), variable));
        (lines, "The key, or a file that holds it (it isn't shown)?", None)
    }

    fn ask_machines(&self) -> QuestionText {
        let lines = vec![
            "Machines that share a synced vault agree over a git repository on which of them speaks; no note goes there."
                .to_owned(),
            "If it is on another machine, too: the address of a repository that all of them can push to, as in `ssh://me@host/~/voice.git`."
                .to_owned(),
        ];
        let set = self.folder.settings.machines.as_ref().and_then(|machines| machines.remote.clone());
        (lines, "Is this vault on another machine, too?", Some(set.unwrap_or_else(|| "no".to_owned())))
    }

    fn ask_service(&self) -> QuestionText {
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
        let default = self.machine.has_services && variables.is_empty();
        (lines, "Install it as a service?", Some(if default { "yes" } else { "no" }.to_owned()))
    }
}

/// Hints, the question, and the meaning of an empty answer.
type QuestionText = (Vec<String>, &'static str, Option<String>);
