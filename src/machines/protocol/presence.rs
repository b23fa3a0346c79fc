//! Announces this machine to the others, and finds the problem that keeps it from taking part in shared work
//! ([`ParticipationProblem`]). Also removes old claims, and computes when to act next.

use std::time::Duration;

use super::known_entries::CLAIM;
use super::value::{Claim, ClaimState, EntriesFormat, Presence, SharedValue, VERSION, VoiceLease};
use super::{
    AWAY, ChangeAttempt, ChangeDraft, ChangePurpose, ClaimRequest, ClockReadings, FORMAT, LEASE, Protocol,
};

/// Settled claims, and machines that were not seen, go after so many seconds.
const KEPT: i64 = 30 * 86_400;
/// Claims that were never settled go after so many.
const KEPT_OPEN: i64 = 90 * 86_400;
/// No more claims are kept, so that the entries stay within what every engine reads.
pub(super) const MOST_CLAIMS: usize = 15_000;
/// How often old claims are looked for.
const PRUNE: Duration = Duration::from_secs(86_400);
/// How many go at once.
const PRUNED: usize = 30;
/// Entries that were read so lately count as they were read.
const FRESH: Duration = Duration::from_secs(5);
/// The number of its own nonces that a machine recognizes, also if one is written late.
const OWN: usize = 8;

/// The reason why this machine takes no part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParticipationProblem {
    /// A newer program wrote the entries.
    #[error("the machines' entries have format {0}, and this program knows {VERSION}: update it")]
    Newer(u32),
    /// The entries are older than what this machine saw.
    #[error(
        "the machines' entries went back from epoch {seen} to {found}: they were restored or overwritten; \
         `vault-agent machines join --as-it-is` takes them so"
    )]
    Rewound {
        /// The highest epoch of the lease that was seen.
        seen: u64,
        /// The one that stands there, 0 for none.
        found: u64,
    },
    /// Something stands there that isn't ours.
    #[error("the entry `{0}` of the machines can't be read: another program may have written it")]
    Foreign(String),
    /// Another vault's machines wrote the entries.
    #[error(
        "the machines' entries are those of the vault with the id `{0}`, which isn't this one's: give each vault a store \
         of its own, or put `vault = \"{0}\"` into `[machines]` if it is the same vault"
    )]
    OtherVault(String),
    /// Two machines have one name.
    #[error("another machine is called `{0}`, too: give this one another name (VAULT_AGENT_MACHINE)")]
    SameName(String),
    /// Two machines have one id.
    #[error(
        "another machine goes by this one's id: its state directory is a copy; remove `machines.json` from one of them"
    )]
    Twin,
}

/// The key of the announcement of the machine with this name.
pub fn machine_key(name: &str) -> String {
    format!("machine/{name}")
}

impl Protocol {
    /// The problem that keeps this machine from taking part. Until it is solved, this machine changes and sends
    /// nothing.
    pub fn problem(&self, clock: Duration) -> Option<ParticipationProblem> {
        match self.known.value(FORMAT).map(EntriesFormat::read) {
            Some(Some(format)) if format.version != VERSION => {
                return Some(ParticipationProblem::Newer(format.version));
            }
            Some(None) => return Some(ParticipationProblem::Foreign(FORMAT.to_owned())),
            Some(Some(EntriesFormat { vault: Some(vault), .. })) if self.vault.as_ref() != Some(&vault) => {
                return Some(ParticipationProblem::OtherVault(vault));
            }
            None if !self.known.is_empty() => {
                return Some(ParticipationProblem::Foreign("format".to_owned()));
            }
            _ => {}
        }
        let found = match self.known.value(LEASE).map(VoiceLease::read) {
            Some(None) => return Some(ParticipationProblem::Foreign(LEASE.to_owned())),
            Some(Some(lease)) => lease.epoch,
            None => 0,
        };
        if found < self.highest && self.known.read_at().is_some() {
            return Some(ParticipationProblem::Rewound { seen: self.highest, found });
        }
        let key = machine_key(&self.me.name);
        if self.twin.is_some_and(|at| clock < at + AWAY) {
            return Some(ParticipationProblem::Twin);
        }
        let namesake = Presence::read(self.known.value(&key)?)?.machine != self.me.machine;
        let is_there = self.known.since(&key).is_some_and(|since| clock < since + AWAY);
        (namesake && is_there).then(|| ParticipationProblem::SameName(self.me.name.clone()))
    }

    /// Whether a machine wrote nothing for ten minutes in which this machine could read the entries all the time. While
    /// the store is out of reach, no machine counts as away.
    pub fn is_away(&self, name: &str, clock: Duration) -> bool {
        let is_read = self.known.read_at().is_some_and(|at| clock <= at + self.timing.pause());
        let seen = self.known.since(&machine_key(name)).max(self.known.steady);
        name != self.me.name && is_read && seen.is_some_and(|since| clock >= since + AWAY)
    }

    /// The machine that sent the message with this key, and when it recorded that, by its wall clock, in seconds since
    /// 1970.
    pub fn sender_of(&self, key: &str) -> Option<(String, i64)> {
        let claim = Claim::read(self.known.value(key)?)?;
        (claim.state == ClaimState::Sent).then_some((claim.by, claim.at))
    }

    /// The other machine whose copy lost the line of the claim with this key.
    pub fn dropped_by(&self, key: &str) -> Option<String> {
        let claim = Claim::read(self.known.value(key)?)?;
        let is_other = claim.machine != self.me.machine;
        (claim.state == ClaimState::Dropped && is_other).then_some(claim.by)
    }

    /// The vault's id, where the settings name one.
    pub fn set_vault(&mut self, vault: Option<String>) {
        self.vault = vault;
    }

    /// Sets the hash of this machine's notes.
    pub fn set_notes(&mut self, hash: String) {
        self.notes = hash;
    }

    /// The changes that announce this machine, write the format, and remove old entries.
    pub(super) fn presence_changes(&mut self, draft: &mut ChangeDraft<'_>) {
        let ChangeDraft { now, nonce, attempt } = draft;
        let now = *now;
        let value = self.known.value(FORMAT);
        let standing = value.and_then(EntriesFormat::read);
        if self.known.is_empty() || standing.as_ref().is_some_and(|format| format.vault != self.vault) {
            let rest = standing.map(|format| format.rest).unwrap_or_default();
            let format = EntriesFormat { version: VERSION, vault: self.vault.clone(), rest };
            attempt.push(FORMAT, value, Some(format.write()), ChangePurpose::Plain);
        }
        // It goes along with what is written or was read anyway.
        let goes_along =
            !attempt.changes.is_empty() || self.known.read_at().is_some_and(|at| now.clock < at + FRESH);
        let early = if goes_along { self.timing.renew } else { Duration::ZERO };
        if self.presence_at().is_none_or(|at| at <= now.clock + early) {
            let key = machine_key(&self.me.name);
            let value = self.known.value(&key);
            let before = value.and_then(Presence::read);
            let presence = Presence {
                machine: self.me.machine.clone(),
                nonce: nonce(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                clock_ms: now.wall_ms,
                notes: self.notes.clone(),
                rest: before.map(|presence| presence.rest).unwrap_or_default(),
            };
            attempt.push(key, value, Some(presence.write()), ChangePurpose::Presence);
            self.own_presence.truncate(OWN - 1);
            self.own_presence.insert(0, presence.nonce);
        }
        self.prune(now, attempt);
    }

    /// Removes old claims and machines, as the voice, and the oldest of too many claims; what is left of them the next
    /// attempt removes.
    fn prune(&mut self, now: ClockReadings, attempt: &mut ChangeAttempt) {
        let is_full = self.known.under(CLAIM).count() > MOST_CLAIMS;
        let is_done = !is_full && self.pruned.is_some_and(|at| now.clock < at + PRUNE);
        if is_done || !self.is_voice(now.clock) {
            return;
        }
        let wall = now.wall_ms.div_euclid(1000);
        let mut claims: Vec<(Claim, &str, &str)> = Vec::new();
        for (key, text) in self.known.under("").filter(|(key, _)| key.starts_with(CLAIM)) {
            claims.extend(Claim::read(text).map(|claim| (claim, key, text)));
        }
        claims.sort_by_key(|(claim, ..)| claim.at);
        let mut surplus = claims.len().saturating_sub(MOST_CLAIMS);
        let is_gone = |(claim, key, _): &(Claim, &str, &str)| {
            let is_surplus = surplus > 0 && claim.state != ClaimState::Claimed;
            surplus -= usize::from(is_surplus);
            (is_surplus || is_old(claim, wall)) && !self.held.contains_key(*key) && !attempt.has(key)
        };
        let gone = claims.into_iter().filter(is_gone).map(|(_, key, text)| (key.to_owned(), text.to_owned()));
        // A machine that was given away can't leave by itself.
        let is_lost = |text: &str| {
            Presence::read(text).is_some_and(|one| one.clock_ms.div_euclid(1000) < wall.saturating_sub(KEPT))
        };
        let is_gone_machine = |(name, text): &(&str, &str)| is_lost(text) && self.is_away(name, now.clock);
        let machines = self.known.under("machine/").filter(is_gone_machine);
        let machines = machines.map(|(name, text)| (machine_key(name), text.to_owned()));
        let gone: Vec<(String, String)> = gone.chain(machines).take(PRUNED).collect();
        // Before that no machine counts as away.
        if gone.len() < PRUNED && self.known.steady.is_some_and(|since| now.clock >= since + AWAY) {
            self.pruned = Some(now.clock);
        }
        for (key, value) in &gone {
            attempt.push(key, Some(value), None, ChangePurpose::Plain);
        }
    }

    /// The time at which all entries are to be read again; `None` if they never were read. It is just after the
    /// expected renewal of the voice's lease, so that the lease is new when it is read.
    pub(super) fn next_read(&self) -> Option<Duration> {
        let latest = self.known.read_at()? + self.timing.look;
        let Some(written) = self.others_lease_written() else { return Some(latest) };
        let renew = self.timing.renew;
        let ago = latest.saturating_sub(written + FRESH * 2).as_nanos() % renew.as_nanos().max(1);
        Some(latest - Duration::from_nanos(u64::try_from(ago).unwrap_or(0)))
    }

    fn presence_at(&self) -> Option<Duration> {
        self.present.map(|at| at + self.timing.presence)
    }

    /// The time, by this machine's clock, of the next reading or change, as far as is known.
    pub fn next_wake(&self, clock: Duration, wanted: &[ClaimRequest]) -> Duration {
        let Some(look) = self.next_read().filter(|_| self.doubt.is_empty()) else { return clock };
        if self.problem(clock).is_some() {
            return look;
        }
        if self.has_unmarked() {
            return clock;
        }
        let claims = wanted.iter().filter_map(|wanted| self.claim_at(wanted, clock));
        let presence = self.presence_at().unwrap_or(clock);
        claims.chain([look, presence, self.lease_at(clock)]).min().unwrap_or(look).max(clock)
    }
}

fn is_old(claim: &Claim, wall: i64) -> bool {
    let kept = if claim.state == ClaimState::Claimed { KEPT_OPEN } else { KEPT };
    claim.at < wall.saturating_sub(kept)
}
