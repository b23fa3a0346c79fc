//! Makes the report of `vault-agent machines --json` from the entries in the shared store. The report names each
//! machine, the voice (the machine that speaks on Discord), and the open claims. Also adds the methods of [`Machines`]
//! that only read these entries.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::engine::Entries;
use super::handle::Machines;
use super::protocol::value::{Claim, ClaimState, Presence, SharedValue, VoiceLease};
use super::protocol::{LEASE, SenderMark, machine_key};

/// The state of all machines. Names and keys come out of the engine: they are shown as plain text alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachinesStatus {
    /// `git` or `etcd`.
    pub engine: String,
    /// Whether this machine takes part.
    pub ok: bool,
    /// The reason why it doesn't, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub problem: Option<String>,
    /// The machine that is the voice, as far as is known.
    pub voice: Option<String>,
    /// The lease's epoch, 0 for none.
    pub epoch: u64,
    /// The machines that said that they are there, by name.
    pub machines: Vec<MachineStatus>,
    /// Claims that are not settled, oldest first.
    pub open: Vec<OpenClaim>,
}

/// One machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineStatus {
    /// Its name.
    pub name: String,
    /// When it last said that it is there, by its own clock.
    pub seen: Option<Timestamp>,
    /// The version of its program.
    pub version: String,
    /// Its wall clock when it said so, in milliseconds since 1970.
    pub clock_ms: i64,
    /// Whether its notes are others than those of the machine that is the voice.
    pub notes_behind: bool,
    /// Whether it is the voice.
    pub holds: bool,
}

/// One claim that isn't settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenClaim {
    /// Its key.
    pub key: String,
    /// The machine that holds it.
    pub by: String,
    /// When it was made, by that machine's clock.
    pub since: Option<Timestamp>,
    /// Its progress.
    pub state: ClaimState,
}

impl MachineStatus {
    /// Whether it was not seen for a quarter of an hour: nothing brings its notes up to date then.
    pub fn is_off(&self, now: Timestamp) -> bool {
        self.seen.is_some_and(|at| at.duration_until(now) > SignedDuration::from_mins(15))
    }
}

impl MachinesStatus {
    /// Reads `entries` of this kind of engine; `problem` is what keeps this machine from taking part.
    pub fn of(engine: &str, entries: &Entries, problem: Option<String>) -> Self {
        let lease = entries.get(LEASE).and_then(|text| VoiceLease::read(text));
        let voice = lease.as_ref().and_then(|lease| lease.by.clone());
        let presence = |name: &str| Presence::read(entries.get(&machine_key(name))?);
        let notes = voice.as_deref().and_then(presence).map(|presence| presence.notes).unwrap_or_default();
        let machine = |(key, text): (&String, &String)| {
            let name = key.strip_prefix("machine/")?.to_owned();
            let found = Presence::read(text)?;
            Some(MachineStatus {
                seen: Timestamp::from_millisecond(found.clock_ms).ok(),
                version: found.version,
                clock_ms: found.clock_ms,
                notes_behind: !notes.is_empty() && !found.notes.is_empty() && found.notes != notes,
                holds: voice.as_ref() == Some(&name),
                name,
            })
        };
        let open = |(key, text): (&String, &String)| {
            let key = key.strip_prefix("claim/")?.to_owned();
            let claim = Claim::read(text).filter(|claim| claim.state == ClaimState::Claimed)?;
            let since = Timestamp::from_second(claim.at).ok();
            Some(OpenClaim { key, by: claim.by, since, state: claim.state })
        };
        let mut open: Vec<OpenClaim> = entries.iter().filter_map(open).collect();
        open.sort_by_key(|claim| claim.since);
        Self {
            engine: engine.to_owned(),
            ok: problem.is_none(),
            problem,
            epoch: lease.map_or(0, |lease| lease.epoch),
            machines: entries.iter().filter_map(machine).collect(),
            voice,
            open,
        }
    }
}

impl Machines {
    /// The state of all machines as it is known here; `None` where there are no others.
    pub fn status(&self) -> Option<MachinesStatus> {
        let member = self.member()?;
        let entries = member.state().protocol.known().unsettled();
        Some(MachinesStatus::of(member.joining.kind, &entries, self.problem()))
    }

    /// The sender of the message with this key, as far as the entries tell it.
    pub fn sender_mark(&self, key: &str) -> SenderMark {
        self.member().map_or(SenderMark::Open, |member| member.state().protocol.sender_mark(key))
    }

    /// Whether another machine holds the claim, as far as is known.
    pub fn is_claimed_elsewhere(&self, key: &str) -> bool {
        self.member().is_some_and(|member| member.state().protocol.is_claimed_elsewhere(key))
    }

    /// Whether this process has read the entries since it was started.
    pub fn has_read_entries(&self) -> bool {
        self.member().is_none_or(|member| member.state().protocol.known().read_at().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_who_is_there_and_what_is_open() {
        let presence = |machine: &str, notes: &str| {
            format!(
                r#"{{"machine":"{machine}","nonce":"n","version":"1","clock_ms":60000,"notes":"{notes}"}}"#
            )
        };
        let claim = |state: &str| {
            format!(r#"{{"by":"a","machine":"A","epoch":1,"nonce":"n","until":1,"state":"{state}","at":60}}"#)
        };
        let entries = Entries::from([
            (
                "lease".into(),
                r#"{"by":"a","machine":"A","epoch":4,"nonce":"n","lasts":1,"held":0,"at":0}"#.into(),
            ),
            ("machine/a".into(), presence("A", "x")),
            ("machine/b".into(), presence("B", "y")),
            ("machine/c".into(), "hostile".into()),
            ("claim/one/discord".into(), claim("claimed")),
            ("claim/two/discord".into(), claim("sent")),
        ]);
        let status = MachinesStatus::of("git", &entries, None);
        assert_eq!((status.voice.as_deref(), status.epoch, status.ok), (Some("a"), 4, true));
        let lags: Vec<_> =
            status.machines.iter().map(|one| (one.name.as_str(), one.notes_behind, one.holds)).collect();
        assert_eq!(lags, [("a", false, true), ("b", true, false)]);
        assert_eq!(status.open.len(), 1);
        assert_eq!(
            (status.open[0].key.as_str(), status.open[0].since.map(jiff::Timestamp::as_second)),
            ("one/discord", Some(60))
        );
    }
}
