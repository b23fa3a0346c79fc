//! Crashes at a failpoint that hit one rig alone, while other tests of this process go on.

use crate::discord::rig::*;
use crate::support::processes::at;
use std::sync::{Once, PoisonError, Weak};

/// Every step of a turn, from the message to the log.
pub const TURN: [&str; 23] = [
    "turn::before-accepted",
    "turn::after-accepted",
    "turn::before-routed",
    "turn::after-routed",
    "turn::before-recalled",
    "turn::after-recalled",
    "turn::before-assembled",
    "turn::after-assembled",
    "turn::before-called",
    "turn::after-called",
    "turn::before-round",
    "turn::after-round",
    "turn::before-tool-started",
    "turn::after-tool-started",
    "turn::before-tool-finished",
    "turn::after-tool-finished",
    "turn::before-answered",
    "turn::after-answered",
    "turn::before-fixed",
    "turn::after-fixed",
    "turn::before-sent",
    "turn::after-sent",
    "turn::before-done",
];

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

/// The next crash: how often the point is passed before it.
struct Trap {
    point: &'static str,
    left: usize,
}

/// Of all rigs.
static TRAPS: Mutex<Vec<Weak<Traps>>> = Mutex::new(Vec::new());

/// Sets a trap for the threads of this rig's bots; says when it was sprung.
pub struct Traps {
    thread: String,
    armed: Mutex<Option<Trap>>,
    sprung: AtomicBool,
}

impl Traps {
    pub fn set(rig: &Rig) -> Arc<Self> {
        let traps = Arc::new(Self {
            thread: rig.thread_name(),
            armed: Mutex::default(),
            sprung: AtomicBool::new(false),
        });
        // The points are the whole process's: each rig with traps is asked whether it is meant.
        static POINTS_SET: Once = Once::new();
        POINTS_SET.call_once(|| {
            for point in TURN.iter().chain(&SENDING).chain(&AROUND).chain(&APPROVAL).chain(&[STOP]) {
                at(point, || Self::pass_all(point));
            }
        });
        TRAPS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&traps));
        traps
    }

    fn pass_all(point: &str) {
        let all: Vec<_> =
            TRAPS.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect();
        all.iter().for_each(|traps| traps.pass(point));
    }

    fn pass(&self, point: &str) {
        if std::thread::current().name() != Some(&self.thread) {
            return;
        }
        if self.sprung.load(Ordering::SeqCst) {
            // What is dead does nothing more.
            std::panic::resume_unwind(Box::new("a crash"));
        }
        let mut armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *armed {
            Some(trap) if trap.point == point && trap.left == 0 => {
                *armed = None;
                self.sprung.store(true, Ordering::SeqCst);
                drop(armed);
                std::panic::resume_unwind(Box::new("a crash"));
            }
            Some(trap) if trap.point == point => trap.left -= 1,
            _ => {}
        }
    }

    pub fn arm(&self, point: &'static str, left: usize) {
        self.sprung.store(false, Ordering::SeqCst);
        *self.armed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Trap { point, left });
    }

    pub fn disarm(&self) {
        *self.armed.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
