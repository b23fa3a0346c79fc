//! Makes the faults of a run: daemons and the store's servers that are killed or stopped, a network that is cut, slow or silent, a
//! Discord that loses requests; each ends by itself.

use crate::support::prelude::*;

use super::run::Run;
use super::servers::Servers;
use crate::fake::Fault;
use crate::proxy::{CUT, HOLE};

/// Something that ends by itself.
pub(super) enum Undo {
    Start(usize),
    Heal(usize),
    Node { node: usize, was_stopped: bool },
}

impl Run {
    fn later(&mut self, most: i64, undo: Undo) {
        let after = 300 + self.random.below(most);
        self.undo.push((Instant::now() + Duration::from_millis(after.unsigned_abs()), undo));
    }

    pub(super) fn undo(&mut self, all: bool) {
        let now = Instant::now();
        let (due, left): (Vec<_>, Vec<_>) = self.undo.drain(..).partition(|(at, _)| all || *at <= now);
        self.undo = left;
        for (_, undo) in due {
            match undo {
                Undo::Start(at) => self.start(at),
                Undo::Heal(at) => self.machines[at].net.set(0),
                Undo::Node { node, was_stopped } => {
                    self.servers.bring_up(node, was_stopped);
                    self.down[node] = false;
                }
            }
        }
    }

    /// One thing goes wrong, for a while.
    pub(super) fn fault(&mut self) {
        let at = usize::try_from(self.random.below(3)).unwrap();
        let kind = self.random.below(10);
        match kind {
            0..=4 => {
                self.kills[0] += usize::from(self.machines[at].daemon.take().is_some());
                self.later(3000, Undo::Start(at));
            }
            5..=7 => {
                self.kills[1] += 1;
                self.machines[at].net.set([CUT, HOLE, 100][usize::try_from(kind - 5).unwrap()]);
                self.later(2500, Undo::Heal(at));
            }
            8 => self.node(at),
            _ => {
                self.kills[3] += 1;
                let odd = [Fault::LoseAnswer, Fault::DropRequest, Fault::Slow(Duration::from_millis(400))];
                self.discord.fault("POST", "/messages", odd[at].clone(), 1);
            }
        }
    }

    /// Kills one of the store's servers, or stops it; most of them are down only now and then.
    fn node(&mut self, node: usize) {
        let node = if matches!(self.servers, Servers::Etcd(_)) { node } else { 0 };
        if self.down[node] || self.down.iter().any(|down| *down) && !self.random.one_in(3) {
            return;
        }
        let was_stopped = self.random.one_in(3);
        if self.servers.take_down(node, was_stopped) {
            (self.kills[2], self.down[node]) = (self.kills[2] + 1, true);
            self.later(if was_stopped { 2000 } else { 3000 }, Undo::Node { node, was_stopped });
        }
    }
}
