//! Crashes at a failpoint that hit one rig alone, while other tests of this process go on.

use crate::discord::rig::*;
use crate::support::processes::at;
use std::sync::{MutexGuard, Once, PoisonError, Weak};

/// Every step of a turn, from the message to the log.
pub const TURN: &str = "\
    turn::before-accepted turn::after-accepted turn::before-routed turn::after-routed turn::before-recalled \
    turn::after-recalled turn::before-assembled turn::after-assembled turn::before-called turn::after-called \
    turn::before-round turn::after-round turn::before-tool-started turn::after-tool-started \
    turn::before-tool-finished turn::after-tool-finished turn::before-answered turn::after-answered \
    turn::before-fixed turn::after-fixed turn::before-sent turn::after-sent turn::before-done";

/// Those of one chunk: with three chunks, at each of them.
pub const SENDING: [&str; 5] = [
    "deliver::before-sending-row",
    "deliver::before-send",
    "deliver::after-send",
    "deliver::before-sent-row",
    "deliver::after-sent-row",
];

/// Those of a question to a person.
pub const APPROVAL: [&str; 2] = ["approval::after-line", "approval::after-word"];

/// That of a word to stop, once it is kept and before it is obeyed.
pub const STOP: &str = "turn::before-stopped";

/// Those before and after sending.
pub const AROUND: [&str; 4] =
    ["deliver::before-claim", "deliver::after-claim", "deliver::before-rewrite", "deliver::after-rewrite"];

/// Of all rigs.
static TRAPS: Mutex<Vec<Weak<Traps>>> = Mutex::new(Vec::new());

/// What is behind a lock, also after a crash.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets a trap for the threads of this rig's bots; says when it was sprung.
pub struct Traps {
    thread: String,
    /// The next crash: its point, and how often that is passed before it.
    armed: Mutex<Option<(&'static str, usize)>>,
    sprung: AtomicBool,
}

impl Traps {
    pub fn set(rig: &Rig) -> Arc<Self> {
        let (thread, sprung) = (rig.thread_name(), AtomicBool::new(false));
        let traps = Arc::new(Self { thread, armed: Mutex::default(), sprung });
        // The points are the whole process's: each rig with traps is asked whether it is meant.
        static POINTS_SET: Once = Once::new();
        POINTS_SET.call_once(|| {
            for point in TURN.split(' ').chain(SENDING).chain(AROUND).chain(APPROVAL).chain([STOP]) {
                at(point, move || Self::pass_all(point));
            }
        });
        locked(&TRAPS).push(Arc::downgrade(&traps));
        traps
    }

    fn pass_all(point: &str) {
        let all: Vec<_> = locked(&TRAPS).iter().filter_map(Weak::upgrade).collect();
        all.iter().for_each(|traps| traps.pass(point));
    }

    fn pass(&self, point: &str) {
        if std::thread::current().name() != Some(&self.thread) {
            return;
        }
        if self.is_sprung() {
            // What is dead does nothing more.
            std::panic::resume_unwind(Box::new("a crash"));
        }
        let mut armed = locked(&self.armed);
        match &mut *armed {
            Some((at, 0)) if *at == point => {
                *armed = None;
                self.sprung.store(true, Ordering::SeqCst);
                drop(armed);
                std::panic::resume_unwind(Box::new("a crash"));
            }
            Some((at, left)) if *at == point => *left -= 1,
            _ => {}
        }
    }

    pub fn arm(&self, point: &'static str, left: usize) {
        self.sprung.store(false, Ordering::SeqCst);
        *locked(&self.armed) = Some((point, left));
    }

    pub fn disarm(&self) {
        *locked(&self.armed) = None;
        self.sprung.store(false, Ordering::SeqCst);
    }

    /// Waits for the crash, and cuts the bot off where it stands.
    pub async fn crash(&self, rig: &Rig, running: Running) {
        rig.wait("the crash", || self.is_sprung()).await;
        running.crash().await;
        self.disarm();
    }

    pub fn is_sprung(&self) -> bool {
        self.sprung.load(Ordering::SeqCst)
    }
}
