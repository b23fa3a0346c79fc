//! Asks the questions of `setup` about a brain: which one, and its address, model and key.

use super::brains::{BrainOffer, ChosenBrain, NONE, OFFERS, best, lines};
use super::dialogue::{Dialogue, EndOfQuestions};
use super::{QuestionKey, SetupIo, unknown_choice};
use crate::{config, redact};

impl<I: SetupIo> Dialogue<'_, I> {
    /// Asks for a brain and its particulars, and then the brain a test question.
    pub(super) fn ask_brain(&mut self) -> Result<(), I::End> {
        if cfg!(feature = "assistant") && !self.ask_about(Self::ask_for_brain)? {
            self.chosen = ChosenBrain::default();
        }
        Ok(())
    }

    fn ask_for_brain(&mut self, failed: Option<String>) -> Result<(), EndOfQuestions<I::End>> {
        let set = &self.folder.settings;
        let default = self.chosen.offer.map_or_else(|| best(self.machine, set), |offer| offer.name);
        let text = (lines(self.machine, set), "Which brain answers?", Some(default.to_owned()));
        let offer = self.ask(QuestionKey::Brain, text, failed, |_, typed| {
            match OFFERS.iter().find(|offer| offer.name == typed) {
                None if typed != NONE => {
                    let names = OFFERS.iter().map(|offer| offer.name).chain([NONE]);
                    Err(unknown_choice(typed, &names.collect::<Vec<_>>()))
                }
                offer => Ok(offer),
            }
        })?;
        if self.chosen.offer != offer {
            let local = self.machine.local_url.as_deref();
            let url = offer.and_then(|offer| local.filter(|_| offer.name == "ollama").or(offer.url));
            let url = url.map(str::to_owned);
            self.chosen = ChosenBrain { offer, url, ..ChosenBrain::default() };
        }
        let Some(offer) = offer else { return Ok(()) };
        let is_server = offer.name == "server";
        if is_server {
            let text = (Vec::new(), "Address of the server?", self.chosen.url.clone());
            let url = self.ask(QuestionKey::BrainUrl, text, None, |_, typed| {
                config::address_problem(typed).map_or_else(|| Ok(typed.to_owned()), Err)
            });
            self.chosen.url = Some(url?);
        }
        let here = self.machine.local_models.first().filter(|_| offer.name == "ollama");
        let known = [self.chosen.model.as_str(), here.map_or("", String::as_str), offer.model];
        let likely = known.into_iter().find(|model| !model.is_empty()).map(str::to_owned);
        let text = (Vec::new(), "Which model?", likely);
        self.chosen.model = self.ask(QuestionKey::BrainModel, text, None, |_, typed| match typed {
            "" => Err("type the name that the server has for the model".to_owned()),
            typed if redact::find(typed).is_empty() => Ok(typed.to_owned()),
            _ => Err("that is a secret, not a model name; the key is asked for next".to_owned()),
        })?;
        if is_server || offer.key.is_some() {
            self.ask_key(offer)?;
        }
        match self.chosen.trial(&self.folder.settings) {
            Ok(trial) => self.io.test_brain(&trial).map_err(EndOfQuestions::Failed),
            Err(_) => Ok(()),
        }
    }

    fn ask_key(&mut self, offer: &BrainOffer) -> Result<(), EndOfQuestions<I::End>> {
        let is_held = self.chosen.key.is_some();
        let text = match offer.key {
            None => (Vec::new(), "API key, if the server needs one (hidden while typing)?", None),
            Some(variable) => {
                let mut lines = vec![format!("A key is made at {}.", offer.keys_at)];
                lines.extend(self.machine.enter_line(is_held, variable));
                (lines, "API key, or a file that contains it (hidden while typing)?", None)
            }
        };
        self.ask(QuestionKey::BrainKey, text, None, |this, typed| {
            // An earlier answer is kept; a server on this machine may need no secret.
            if !typed.is_empty() || offer.key.is_some() && !is_held {
                let variable = offer.key.unwrap_or("-");
                this.chosen.key = Some(this.read_secret(QuestionKey::BrainKey, variable, typed)?);
            }
            Ok(())
        })
    }
}
