//! Carries out a person's requests about this machine and the shared store. Checks whether the machine may join, makes
//! a trial claim, accepts a restored store, and removes the machine. Also defines the request to the daemon that this
//! machine becomes the voice (the machine that speaks on Discord).
//!
//! The checks compare the machines' wall clocks. No right to send depends on that comparison.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::engine::{EngineError, Entries, EntryChange, Result, StoreEngine, SwapOutcome};
use super::identity::random;
use super::protocol::value::{Claim, ClaimState, EntriesFormat, Presence, SharedValue, VERSION, VoiceLease};
use super::protocol::{
    FORMAT, LEASE, OwnMachine, ParticipationProblem, Protocol, Timing, claim_key, machine_key,
};

/// A machine that wrote nothing for this long, by the wall clocks, counts as gone for a person.
const GONE: SignedDuration = SignedDuration::from_mins(15);
/// Another machine's clock may be so far ahead before that is said.
const AHEAD: SignedDuration = SignedDuration::from_mins(2);
/// How often a change is made anew where others changed something meanwhile.
const TRIES: usize = 5;

/// A request over the daemon's socket: this machine is to be the voice.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakeVoiceRequest {
    /// Always `take`.
    pub machines: TakeVoice,
}

/// The only operation that can be requested.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TakeVoice {
    /// To be the voice.
    #[default]
    Take,
}

/// The machine that a command runs on.
#[derive(Debug, Clone)]
pub struct ThisMachine {
    /// Its name.
    pub name: String,
    /// Its own id.
    pub machine: String,
    /// The vault's id, where the settings name one.
    pub vault: Option<String>,
    /// The highest epoch that it saw.
    pub highest: u64,
    /// The time.
    pub now: Timestamp,
}

/// The result of one check before a machine joins, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JoinCheck {
    /// The thing that was looked at.
    pub check: &'static str,
    /// Whether all is well.
    pub ok: bool,
    /// The finding.
    pub detail: String,
}

impl JoinCheck {
    /// All is well.
    pub fn passed(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, ok: true, detail: detail.into() }
    }

    /// A person has something to do.
    pub fn failed(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, ok: false, detail: detail.into() }
    }
}

impl ThisMachine {
    /// The problem that keeps this machine from taking part, as far as one reading of the entries shows it.
    pub fn problem(&self, entries: &Entries) -> Option<ParticipationProblem> {
        let me = OwnMachine { name: self.name.clone(), machine: self.machine.clone(), rank: 0 };
        let mut protocol = Protocol::new(me, Timing::GIT, self.highest);
        protocol.set_vault(self.vault.clone());
        protocol.record_entries(entries.clone(), Duration::ZERO);
        // One that was away for long may have been set up anew; the daemon watches it for ten minutes.
        protocol.problem(Duration::ZERO).filter(|problem| match problem {
            ParticipationProblem::SameName(name) => {
                self.seen(entries, name).is_none_or(|at| at > self.now - GONE)
            }
            _ => true,
        })
    }

    fn seen(&self, entries: &Entries, name: &str) -> Option<Timestamp> {
        let presence = Presence::read(entries.get(&machine_key(name))?)?;
        Timestamp::from_millisecond(presence.clock_ms).ok()
    }

    /// Checks what the entries say about the vault, the name and the clock of a machine that would join.
    pub fn checks(&self, entries: &Entries) -> Vec<JoinCheck> {
        let problem = self.problem(entries);
        let store = match &problem {
            None | Some(ParticipationProblem::SameName(_)) => match entries.contains_key(FORMAT) {
                true => JoinCheck::passed("vault", "the store holds this vault's machines"),
                false => JoinCheck::passed("vault", "the store is empty"),
            },
            Some(problem) => JoinCheck::failed("vault", problem.to_string()),
        };
        let name = match &problem {
            Some(same @ ParticipationProblem::SameName(_)) => JoinCheck::failed("name", same.to_string()),
            _ => JoinCheck::passed("name", format!("this machine is called `{}`", self.name)),
        };
        vec![store, name, self.clock(entries)]
    }

    /// Clocks that differ change at most when something is told.
    fn clock(&self, entries: &Entries) -> JoinCheck {
        let others = entries.keys().filter_map(|key| key.strip_prefix("machine/"));
        let others = others.filter(|name| *name != self.name);
        let latest = others.filter_map(|name| Some((self.seen(entries, name)?, name))).max();
        match latest {
            Some((at, name)) if at > self.now + AHEAD => {
                let minutes = self.now.duration_until(at).as_mins();
                let detail = format!("this clock is {minutes} min behind that of `{name}`: set one of them");
                JoinCheck::failed("clock", detail)
            }
            Some(_) => JoinCheck::passed("clock", "no other machine's clock is ahead"),
            None => JoinCheck::passed("clock", "there is no other machine's clock to compare with"),
        }
    }

    /// Makes a trial claim that no send uses, and takes it back. Also writes the format with the vault's id, if it is
    /// missing.
    ///
    /// # Errors
    /// The engine refuses, or doesn't compare.
    pub async fn try_claim(&self, engine: &dyn StoreEngine, entries: &Entries) -> Result<()> {
        let nonce = random();
        let key = claim_key(&format!("trial-{nonce}"), "nowhere");
        let claim = Claim {
            by: self.name.clone(),
            machine: self.machine.clone(),
            epoch: 1,
            nonce,
            until: 1,
            state: ClaimState::Dropped,
            at: self.now.as_second(),
            ..Claim::default()
        };
        let trial = EntryChange { key: key.clone(), expected: None, value: Some(claim.write()) };
        let mut changes = vec![trial.clone()];
        changes.extend(self.format_change(entries));
        if engine.swap(&changes).await? != SwapOutcome::Done {
            return Err(busy());
        }
        let again = engine.swap(std::slice::from_ref(&trial)).await?;
        engine.swap(&[EntryChange { key, expected: trial.value, value: None }]).await?;
        match again {
            SwapOutcome::Lost(_) => Ok(()),
            SwapOutcome::Done => Err(EngineError::Refused(
                "the store accepted two claims for one key: it doesn't compare and swap".to_owned(),
            )),
        }
    }

    fn format_change(&self, entries: &Entries) -> Option<EntryChange> {
        let standing = entries.get(FORMAT);
        let format = standing.and_then(|text| EntriesFormat::read(text));
        if format.as_ref().is_some_and(|format| format.vault == self.vault) {
            return None;
        }
        let rest = format.map(|format| format.rest).unwrap_or_default();
        let value = EntriesFormat { version: VERSION, vault: self.vault.clone(), rest }.write();
        Some(EntryChange { key: FORMAT.to_owned(), expected: standing.cloned(), value: Some(value) })
    }

    /// Accepts a store that was restored or overwritten: releases its lease with the highest epoch that this machine
    /// saw, so that epochs never fall.
    ///
    /// # Errors
    /// The engine did not answer, or refused.
    pub async fn raise_epoch(&self, engine: &dyn StoreEngine, entries: &Entries) -> Result<()> {
        let standing = entries.get(LEASE);
        let lease = standing.and_then(|text| VoiceLease::read(text)).unwrap_or_default();
        if lease.epoch >= self.highest {
            return Ok(());
        }
        let raised = VoiceLease {
            machine: self.machine.clone(),
            epoch: self.highest,
            nonce: random(),
            lasts: lease.lasts,
            at: self.now.as_second(),
            rest: lease.rest,
            ..VoiceLease::default()
        };
        let value = Some(raised.write());
        let mut changes = vec![EntryChange { key: LEASE.to_owned(), expected: standing.cloned(), value }];
        changes.extend(self.format_change(entries).filter(|change| change.expected.is_none()));
        match engine.swap(&changes).await? {
            SwapOutcome::Done => Ok(()),
            SwapOutcome::Lost(_) => Err(busy()),
        }
    }

    /// Removes this machine from the entries, and releases the voice if it has it. Returns whether there was anything
    /// to remove.
    ///
    /// # Errors
    /// The engine did not answer, or refused.
    pub async fn leave(&self, engine: &dyn StoreEngine) -> Result<bool> {
        for _ in 0..TRIES {
            let changes = self.leave_changes(&engine.read().await?);
            if changes.is_empty() {
                return Ok(false);
            }
            if engine.swap(&changes).await? == SwapOutcome::Done {
                return Ok(true);
            }
        }
        Err(busy())
    }

    fn leave_changes(&self, entries: &Entries) -> Vec<EntryChange> {
        let (machine, lease) = (machine_key(&self.name), entries.get(LEASE));
        let presence = entries.get(&machine);
        let is_there = presence.and_then(|text| Presence::read(text));
        let mut changes = Vec::new();
        if is_there.is_some_and(|presence| presence.machine == self.machine) {
            changes.push(EntryChange { key: machine, expected: presence.cloned(), value: None });
        }
        let held = lease.and_then(|text| VoiceLease::read(text));
        if let Some(held) = held.filter(|held| held.machine == self.machine && held.by.is_some()) {
            let nonce = random();
            let value = VoiceLease { by: None, nonce, at: self.now.as_second(), ..held }.write();
            changes.push(EntryChange { key: LEASE.to_owned(), expected: lease.cloned(), value: Some(value) });
        }
        changes
    }
}

fn busy() -> EngineError {
    EngineError::Unreachable("other machines changed the store just now: try again".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn this_machine() -> ThisMachine {
        ThisMachine {
            name: "a".to_owned(),
            machine: "A".to_owned(),
            vault: Some("V".to_owned()),
            highest: 0,
            now: Timestamp::from_second(100_000).unwrap(),
        }
    }

    fn presence(machine: &str, seconds: i64) -> String {
        format!(r#"{{"machine":"{machine}","nonce":"n","version":"1","clock_ms":{}}}"#, seconds * 1000)
    }

    fn said(entries: &Entries) -> Vec<String> {
        let all = this_machine().checks(entries);
        all.into_iter().filter(|looked| !looked.ok).map(|looked| looked.detail).collect()
    }

    #[test]
    fn a_name_that_another_machine_has_now_is_refused_and_one_that_is_gone_is_free() {
        let format = (FORMAT.to_owned(), r#"{"version":1,"vault":"V"}"#.to_owned());
        let there = Entries::from([format.clone(), ("machine/a".into(), presence("B", 99_900))]);
        assert!(said(&there)[0].contains("another machine is called `a`"), "{:?}", said(&there));
        let gone = Entries::from([format.clone(), ("machine/a".into(), presence("B", 90_000))]);
        assert_eq!(said(&gone), Vec::<String>::new());
        let own = Entries::from([format, ("machine/a".into(), presence("A", 99_900))]);
        assert_eq!(said(&own), Vec::<String>::new());
        assert_eq!(said(&Entries::new()), Vec::<String>::new());
    }

    #[test]
    fn a_clock_that_lags_and_another_vault_are_said() {
        let entries = Entries::from([
            (FORMAT.to_owned(), r#"{"version":1,"vault":"other"}"#.to_owned()),
            ("machine/b".into(), presence("B", 100_600)),
        ]);
        let said = said(&entries);
        assert!(said[0].contains("the vault with the id `other`"), "{said:?}");
        assert_eq!(said[1], "this clock is 10 min behind that of `b`: set one of them");
    }

    #[test]
    fn who_leaves_gives_the_voice_back_and_takes_nothing_of_others() {
        let lease = |machine: &str| {
            format!(r#"{{"by":"a","machine":"{machine}","epoch":4,"nonce":"n","lasts":1,"held":0,"at":0}}"#)
        };
        let own = Entries::from([("machine/a".into(), presence("A", 1)), (LEASE.into(), lease("A"))]);
        let changes = this_machine().leave_changes(&own);
        assert_eq!((changes[0].key.as_str(), &changes[0].value), ("machine/a", &None));
        let given = VoiceLease::read(changes[1].value.as_ref().unwrap()).unwrap();
        assert_eq!((given.by, given.epoch), (None, 4));
        let others = Entries::from([("machine/a".into(), presence("B", 1)), (LEASE.into(), lease("B"))]);
        assert_eq!(this_machine().leave_changes(&others), []);
    }
}
