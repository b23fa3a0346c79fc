//! Plays the lines of the notes: written, taken out and written again by people, and carried between the copies by a sync tool.

use super::{Event, Line, MACHINES, MINUTE, World};
use crate::parts::*;

impl World {
    /// A person writes a line on a machine at `written`.
    pub fn line(&mut self, at: usize, written: i64, due: i64, can_ask: bool) -> usize {
        let line = self.lines.len();
        let key = claim_key(&format!("rid_{line:012}@due"), if can_ask { "discord" } else { "console" });
        self.by_key.insert(key.clone(), line);
        self.lines.push(Line { key, due, can_ask, is_removed: false, is_edited: false, version: 0 });
        self.edit(at, written, line, true);
        line
    }

    /// A person takes a line out, or writes it again.
    pub fn edit(&mut self, at: usize, when: i64, line: usize, is_there: bool) {
        self.push(when, Event::Edit { at, line, is_there });
    }

    pub fn message(&mut self, when: i64) {
        let number = self.messages.len();
        self.messages.push(String::new());
        self.push(when, Event::Message(number));
    }

    /// A machine changed a line of its copy; the sync tool brings it to the others.
    pub(super) fn spread(&mut self, from: usize, line: usize, is_there: bool) {
        self.lines[line].version += 1;
        let version = self.lines[line].version;
        self.brought(from, line, is_there);
        for at in (0..MACHINES).filter(|at| *at != from) {
            let delay = self.random.any_length(self.faults.sync.max(1));
            self.push(self.now + delay, Event::Sync { at, line, is_there, version });
        }
    }

    pub(super) fn brought(&mut self, at: usize, line: usize, is_there: bool) {
        let (key, due) = (self.lines[line].key.clone(), self.lines[line].due);
        let clock = self.clock(at);
        let machine = &mut self.machines[at];
        machine.versions.insert(line, self.lines[line].version);
        if is_there {
            if machine.copy.insert((due, line)) && machine.is_up {
                machine.protocol.line_restored(&key, clock);
            }
        } else if machine.copy.remove(&(due, line)) && machine.is_up && !machine.sent.contains(&key) {
            machine.protocol.line_removed(&key);
        }
    }

    pub(super) fn can_ask(&self, key: &str) -> bool {
        self.by_key.get(key).is_none_or(|line| self.lines[*line].can_ask)
    }

    /// A person takes a line out of a machine's copy, or writes it again.
    pub(super) fn edited(&mut self, at: usize, line: usize, is_there: bool) {
        let is_told = is_there && self.told.contains_key(&self.lines[line].key);
        if self.healed || is_told || (self.lines[line].is_removed && !is_there) {
            return;
        }
        self.lines[line].is_removed = !is_there;
        self.lines[line].is_edited |= self.lines[line].version > 0;
        self.spread(at, line, is_there);
        self.step(at);
    }

    /// The channel gets a message.
    pub(super) fn arrived(&mut self, key: &str) {
        // A channel that can be asked knows the nonces of the last minute, too.
        let before = self.told_at.insert(key.to_owned(), self.now);
        if self.can_ask(key) && before.is_some_and(|before| self.now < before + MINUTE) {
            return;
        }
        *self.told.entry(key.to_owned()).or_default() += 1;
        if let Some(line) = self.by_key.get(key).map(|line| &self.lines[*line]).filter(|line| !line.is_edited)
        {
            self.latest = self.latest.max(self.now - line.due);
        }
    }
}
