//! A vault, a clock, a notifier that behaves as Discord does, and passes over them.

pub use crate::support::prelude::*;
use std::sync::OnceLock;
pub use vault_agent::deliver::notifier::nonce;
pub use vault_agent::deliver::*;
pub use vault_agent::machines::Machines;
use vault_agent::schedule::DigestRule;

/// How long the place knows a nonce.
const NONCE_WINDOW: SignedDuration = SignedDuration::from_mins(3);

/// A message that arrived.
#[derive(Debug, Clone)]
pub struct Arrived {
    pub at: Timestamp,
    pub nonce: String,
    pub text: String,
    pub scope: Option<MessageScope>,
    pub facts: Vec<(String, String)>,
}

/// What the place does with the next message, instead of taking it.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Takes it.
    None,
    /// Takes it, and the answer is lost.
    LostAnswer,
    /// Does not take it, and says nothing either.
    Nothing,
    /// Surely does not take it.
    Unreachable(Option<Duration>),
}

/// A place that deduplicates by nonce for a while and can be asked what it holds.
#[derive(Debug)]
pub struct Place {
    pub name: &'static str,
    pub clock: Arc<ManualClock>,
    pub arrived: Mutex<Vec<Arrived>>,
    pub faults: Mutex<VecDeque<Fault>>,
    pub refuses: Mutex<Vec<Option<MessageScope>>>,
    attempts: Mutex<usize>,
    /// Why it can't be used on this machine.
    pub obstacle: OnceLock<&'static str>,
}

impl Place {
    pub fn new(name: &'static str, clock: Arc<ManualClock>) -> Arc<Self> {
        Arc::new(Self {
            name,
            clock,
            arrived: Mutex::default(),
            faults: Mutex::default(),
            refuses: Mutex::default(),
            attempts: Mutex::default(),
            obstacle: OnceLock::new(),
        })
    }

    pub fn fault(&self, fault: Fault) {
        self.faults.lock().unwrap().push_back(fault);
    }

    /// How often it was asked to take a message.
    pub fn attempts(&self) -> usize {
        *self.attempts.lock().unwrap()
    }

    pub fn texts(&self) -> Vec<String> {
        self.arrived.lock().unwrap().iter().map(|message| message.text.clone()).collect()
    }

    fn take(&self, message: &OutgoingMessage) -> String {
        let now = self.clock.now();
        let mut arrived = self.arrived.lock().unwrap();
        let known = arrived.iter().position(|known| {
            known.nonce == message.nonce && known.at.duration_until(now).abs() <= NONCE_WINDOW
        });
        let index = known.unwrap_or_else(|| {
            let facts = message.facts.iter().map(|fact| (fact.id.clone(), fact.local.to_string())).collect();
            let (nonce, text) = (message.nonce.clone(), message.text.clone());
            arrived.push(Arrived { at: now, nonce, text, scope: message.scope, facts });
            arrived.len() - 1
        });
        self.message_id(index)
    }

    /// Ids of two places are never the same.
    fn message_id(&self, index: usize) -> String {
        if self.name == "place" { format!("m{index}") } else { format!("{}-m{index}", self.name) }
    }
}

#[async_trait]
impl Notifier for Place {
    fn name(&self) -> &'static str {
        self.name
    }

    fn obstacle(&self) -> Option<&str> {
        self.obstacle.get().copied()
    }

    async fn send(&self, message: &OutgoingMessage) -> SendOutcome {
        *self.attempts.lock().unwrap() += 1;
        if self.refuses.lock().unwrap().contains(&message.scope) {
            return SendOutcome::Refused { reason: "unknown channel".to_owned() };
        }
        let fault = self.faults.lock().unwrap().pop_front().unwrap_or(Fault::None);
        let taken = matches!(fault, Fault::None | Fault::LostAnswer).then(|| self.take(message));
        match fault {
            Fault::None => SendOutcome::Sent { message_id: taken },
            Fault::LostAnswer | Fault::Nothing => SendOutcome::Unknown { reason: "no answer".to_owned() },
            Fault::Unreachable(after) => SendOutcome::Retry { after, reason: "unreachable".to_owned() },
        }
    }

    async fn find(&self, message: &OutgoingMessage, since: Timestamp, is_free: IsFree<'_>) -> MessageLookup {
        let arrived = self.arrived.lock().unwrap();
        let is_it = |known: &Arrived| known.nonce == message.nonce || known.text == message.text;
        let found = arrived.iter().enumerate().filter(|(_, known)| known.at >= since && is_it(known));
        let id = found.map(|(index, _)| self.message_id(index)).find(|id| is_free(id));
        id.map_or(MessageLookup::NotFound, |message_id| MessageLookup::Found { message_id })
    }
}

/// All that passes need.
pub struct World {
    /// `path`, `read` and `write` below are those of the reminders' note; this has the others.
    pub folder: Folder,
    pub clock: Arc<ManualClock>,
    pub place: Arc<Place>,
    pub fallback: Option<Arc<Place>>,
    /// Further notifiers.
    pub others: Vec<Arc<Place>>,
    /// Tells in the stead of `place`.
    pub notifier: Option<Arc<dyn Notifier>>,
    pub settings: PassSettings,
    pub memory: PassState,
    /// Whether this machine may send, where there are several.
    pub machines: Machines,
}

holds_folder!(World);

impl World {
    /// A vault with these reminders, at an instant.
    pub fn new(now: &str, reminders: &str) -> Self {
        let world = Self::on(Folder::new(&["state"]), now);
        world.write(reminders);
        world
    }

    fn on(folder: Folder, now: &str) -> Self {
        let clock = Arc::new(ManualClock::new(now.parse().unwrap()));
        let settings = PassSettings {
            zone: Zone::get("Europe/London").unwrap(),
            reminders: NotePath::new("Reminders.md").unwrap(),
            commitments: NotePath::new("COMMITMENTS.md").unwrap(),
            tasks: None,
            digest: DigestRule::default(),
            read_only: None,
            pause: None,
            notifiers: "settings 1".to_owned(),
            notify_rules: NotifyRules { urgent: "urgent".to_owned(), ..NotifyRules::default() },
            phrase: false,
        };
        let place = Place::new("place", Arc::clone(&clock));
        Self {
            folder,
            clock,
            place,
            fallback: None,
            others: Vec::new(),
            notifier: None,
            settings,
            memory: PassState::default(),
            machines: Machines::alone(),
        }
    }

    /// A vault with one reminder of 2026-12-01 09:30, at its minute.
    pub fn due(msg: &str) -> Self {
        Self::all_due(&[msg])
    }

    /// The same with several; their ids are of A, B and so on.
    pub fn all_due(words: &[&str]) -> Self {
        Self::new("2026-12-01T09:30:00Z", &due(words))
    }

    /// The same over another world's folder.
    pub fn of(root: PathBuf, now: &str) -> Self {
        Self::on(Folder::Others(root), now)
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path("Reminders.md")
    }

    pub fn write(&self, reminders: impl AsRef<[u8]>) {
        self.folder.write("Reminders.md", reminders);
    }

    pub fn read(&self) -> String {
        self.folder.read("Reminders.md")
    }

    pub fn at(&mut self, now: &str) -> &mut Self {
        self.clock.set(now.parse().unwrap());
        self
    }

    pub fn later(&mut self, by: SignedDuration) -> &mut Self {
        self.clock.advance(by);
        self
    }

    pub fn journal(&self) -> Journal {
        Journal::open(&self.state()).unwrap()
    }

    /// One pass as a process of its own makes it.
    pub fn pass(&mut self, mode: PassMode) -> PassReport {
        self.try_pass(mode).unwrap()
    }

    pub fn try_pass(&mut self, mode: PassMode) -> Result<PassReport, PassError> {
        let vault = Vault::open(&self.root()).unwrap();
        let editor = Editor::new(vault.clone(), &self.state(), self.clock.clone(), EditOptions::default());
        editor.recover().unwrap();
        let journal = self.journal();
        let primary = self.notifier.clone().unwrap_or_else(|| self.place.clone());
        let delivery_order = DeliveryOrder {
            fallback: self.fallback.clone().map_or_else(|| primary.clone(), |place| place as _),
            primary,
            others: self.others.iter().map(|place| place.clone() as _).collect(),
            console_reason: None,
        };
        let context = PassContext {
            vault: &vault,
            editor: &editor,
            journal: &journal,
            delivery_order: &delivery_order,
            clock: &*self.clock,
            settings: &self.settings,
            machines: &self.machines,
        };
        block_on(pass(&context, &mut self.memory, mode))
    }

    /// What the place has after one more pass.
    pub fn told(&mut self) -> Vec<String> {
        self.tick();
        self.place.texts()
    }

    /// How much is told in one more pass.
    pub fn fires(&mut self) -> usize {
        self.tick().fired.len()
    }

    pub fn tick(&mut self) -> PassReport {
        self.pass(PassMode::Tick)
    }

    /// Tells a second place too, of everything.
    pub fn with_other(mut self) -> Self {
        self.others.push(Place::new("other", Arc::clone(&self.clock)));
        self.settings.notify_rules.kinds = vec!["place", "other"];
        self
    }

    /// What the second place took.
    pub fn other(&self) -> Vec<String> {
        self.others[0].texts()
    }
}

/// A message of this kind and key, with no facts.
pub fn message(kind: MessageKind, key: &str, text: &str) -> OutgoingMessage {
    OutgoingMessage {
        reply_to: None,
        key: key.to_owned(),
        nonce: nonce(kind, key, 0, 0),
        chunk: 0,
        chunks: 1,
        kind,
        text: text.to_owned(),
        scope: None,
        facts: Vec::new(),
    }
}

/// What a message tells of.
#[cfg_attr(not(feature = "assistant"), allow(dead_code))]
pub fn fact(kind: MessageKind, id: &str, local: &str, msg: &str) -> NotifiedItem {
    NotifiedItem {
        kind,
        id: id.to_owned(),
        local: local.parse().unwrap(),
        due: Timestamp::now(),
        late_seconds: 0,
        missed: 0,
        msg: msg.to_owned(),
        recurring: false,
        next: None,
        note: None,
    }
}

/// A reminder line.
pub fn line(date: &str, time: &str, recur: &str, msg: &str, id: &str) -> String {
    let id = if id.is_empty() { String::new() } else { format!(" id=rid_{id}") };
    format!("- [ ] date={date} time={time} recur={recur} msg=\"{msg}\"{id}\n")
}

/// Lines that are due at 2026-12-01 09:30 with these words; their ids are of A, B and so on.
pub fn due(words: &[&str]) -> String {
    words.iter().zip('A'..).map(|(words, c)| line("2026-12-01", "09:30", "none", words, &id(c))).collect()
}

/// Lines that are due at a time of 2026-12-01, one for each letter: its message and its id.
pub fn due_at(time: &str, letters: &str) -> String {
    letters.chars().map(|c| line("2026-12-01", time, "none", &c.to_string(), &id(c))).collect()
}

pub fn secs(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

/// An id that reads well in a test: `AAAAAAAAAAAA`.
pub fn id(letter: char) -> String {
    letter.to_string().repeat(12)
}
