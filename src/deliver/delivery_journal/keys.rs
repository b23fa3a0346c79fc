//! Builds and parses the journal's keys of deliveries, answers and approvals, and the keys of the claims that machines
//! make. Also hashes lines. Pure.

use jiff::civil;

use crate::machines::protocol::claim_key;

/// The key of a delivery: id, local due time and, where two differing lines share the id, the hash
/// of the line.
pub fn key(subject: &str, local: civil::DateTime, disputed: Option<&LineHash>) -> String {
    let base = format!("{subject}@{}", local_text(local));
    match disputed {
        Some(hash) => format!("{base}#{}", hash.short()),
        None => base,
    }
}

/// The subject and the local time of a key; the subject of a disputed one holds its hash, so that
/// lines that share an id have histories of their own.
pub(super) fn parts(key: &str) -> (String, &str) {
    let (id, rest) = key.rsplit_once('@').unwrap_or((key, ""));
    match rest.split_once('#') {
        Some((local, hash)) => (format!("{id}#{hash}"), local),
        None => (id.to_owned(), rest),
    }
}

/// The subject under which the deliveries of an id, or of one of the lines that share it, stand.
pub fn subject(id: &str, disputed: Option<&LineHash>) -> String {
    disputed.map_or_else(|| id.to_owned(), |hash| format!("{id}#{}", hash.short()))
}

/// The local due time as it stands in keys: `2026-12-01T09:30`, which sorts as time does.
pub(in crate::deliver) fn local_text(local: civil::DateTime) -> String {
    local.strftime("%Y-%m-%dT%H:%M").to_string()
}

/// The hash of a line's bytes (without its terminator).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineHash(pub(super) [u8; 16]);

impl LineHash {
    /// The hash of these bytes.
    pub fn of(line: &[u8]) -> Self {
        let mut out = [0; 16];
        out.copy_from_slice(&blake3::hash(line).as_bytes()[..16]);
        Self(out)
    }

    fn short(&self) -> String {
        data_encoding::BASE32_NOPAD.encode(&self.0[..10])
    }

    pub(in crate::deliver) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The hash as text, for a claim.
    pub(in crate::deliver) fn text(&self) -> String {
        data_encoding::BASE32_NOPAD.encode(&self.0)
    }

    /// The hash that this text spells.
    pub(in crate::deliver) fn parse(text: &str) -> Option<Self> {
        let bytes = data_encoding::BASE32_NOPAD.decode(text.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }
}

/// The key of the answer to a message; a reply quotes the message in the chat.
pub fn answer_key(question: u64, reply: bool) -> String {
    if reply { format!("reply:{question}") } else { format!("answer:{question}") }
}

/// The message that a message with this key is a reply to.
pub(super) fn replied_to(key: &str) -> Option<u64> {
    match key.strip_prefix("reply:") {
        Some(message) => message.parse().ok(),
        None => asked_in(key)?.reply_to,
    }
}

/// The contents of a question's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedIn {
    /// The message that it is a reply to.
    pub reply_to: Option<u64>,
    /// The id of its line.
    pub id: String,
    /// The digest of its line.
    pub digest: String,
    /// Whether "Always" can be said.
    pub always: bool,
}

/// The key of the question with this line.
pub fn approval_key(reply_to: Option<u64>, id: &str, digest: &str, always: bool) -> String {
    format!("approval:{}:{id}:{digest}:{}", reply_to.unwrap_or_default(), u8::from(always))
}

/// Parses a question's key.
pub fn asked_in(key: &str) -> Option<AskedIn> {
    let parts: Vec<&str> = key.strip_prefix("approval:")?.split(':').collect();
    let [reply_to, id, digest, always] = parts[..] else { return None };
    let reply_to = reply_to.parse().ok().filter(|message| *message > 0);
    Some(AskedIn { reply_to, id: id.to_owned(), digest: digest.to_owned(), always: always == "1" })
}

/// The prefix that makes a run's key the key of its message.
pub(super) const RUN: &str = "routine:";

/// The part that marks the keys of runs that a person asked for.
const ASKED_FOR: &str = "@run-";

/// The claim for the turn of a message.
pub fn turn_claim(message: u64) -> String {
    claim_key(&format!("turn-{message}"), "answer")
}

/// The message of the turn that a claim is for.
pub fn claimed_turn(claim: &str) -> Option<u64> {
    claim.strip_prefix("claim/turn-")?.strip_suffix("/answer")?.parse().ok()
}

/// The claim for a run of a routine; none for one that a person asked for, which is this machine's.
pub fn run_claim(run: &str) -> Option<String> {
    (!run.contains(ASKED_FOR)).then(|| claim_key(run, "routine"))
}

/// The claim that a message without deliveries needs, by its key: of an answer, or of a scheduled routine.
pub(in crate::deliver) fn voice_claim(key: &str) -> Option<String> {
    match question_of(key) {
        Some(message) => Some(turn_claim(message)),
        None => run_claim(key.strip_prefix(RUN)?),
    }
}

/// The message that the answer with this key answers.
pub(super) fn question_of(key: &str) -> Option<u64> {
    key.strip_prefix("reply:").or_else(|| key.strip_prefix("answer:"))?.parse().ok()
}
