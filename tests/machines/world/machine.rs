//! Plays one machine of the world: it asks the engine, hears the answers, and sends what its protocol allows.

use super::{Event, MINUTE, Outcome, SECOND, TIMEOUT, World};
use crate::parts::*;

impl World {
    pub(super) fn woken(&mut self, at: usize) {
        for (op, outcome) in std::mem::take(&mut self.machines[at].waiting) {
            self.heard(at, op, outcome);
        }
        self.step(at);
    }

    pub(super) fn clock(&self, at: usize) -> Duration {
        let machine = &self.machines[at];
        let gone = self.now - machine.booted;
        Duration::from_millis((gone + gone / 1_000_000 * machine.drift).unsigned_abs())
    }

    pub(super) fn runs(&self, at: usize) -> bool {
        self.machines[at].is_up && self.machines[at].asleep <= self.now
    }

    /// The things that a machine would send now or soon, and whether each is due.
    fn wanted(&self, at: usize) -> Vec<(ClaimRequest, bool)> {
        let machine = &self.machines[at];
        let wall = self.now + machine.off;
        let soon = machine.copy.range(..(wall + MINUTE + 1, 0)).map(|(due, line)| {
            let right = Eligibility::Any { due_in: due - wall };
            (ClaimRequest { key: self.lines[*line].key.clone(), right, within: None }, *due <= wall)
        });
        let clock = self.clock(at);
        let answer =
            |key: &String| ClaimRequest { key: key.clone(), right: Eligibility::Voice, within: None };
        let said = self.messages.iter().filter(|key| !key.is_empty() && machine.protocol.is_voice(clock));
        let said = said.map(|key| (answer(key), true));
        let is_over = |key: &str| {
            machine.sent.contains(key) || machine.protocol.send_right(key, clock) == SendRight::Never
        };
        soon.chain(said).filter(|(wanted, _)| !is_over(&wanted.key)).collect()
    }

    /// Lets a machine act.
    pub(super) fn step(&mut self, at: usize) {
        if !self.runs(at) {
            return;
        }
        let wanted = self.wanted(at);
        for (wanted, _) in wanted.iter().filter(|(_, is_due)| *is_due) {
            match wanted.right {
                Eligibility::Voice => self.think(at, &wanted.key),
                _ => self.send(at, &wanted.key),
            }
        }
        let wanted: Vec<ClaimRequest> = wanted.into_iter().map(|(wanted, _)| wanted).collect();
        let clock = self.clock(at);
        if self.machines[at].op.is_none() {
            self.ask(at, clock, &wanted);
        }
        let mut wake = self.machines[at].protocol.next_wake(clock, &wanted);
        if self.machines[at].op.is_some() {
            wake = clock + Duration::from_secs(20);
        }
        let mut next = self.now + i64::try_from((wake - clock).as_millis()).unwrap().max(10);
        let wall = self.now + self.machines[at].off;
        for start in [wall, wall + MINUTE] {
            let due = self.machines[at].copy.range((start + 1, 0)..).next();
            next = due.map_or(next, |(due, _)| next.min(self.now + due - start));
        }
        self.step_again(at, next);
    }

    pub(super) fn step_again(&mut self, at: usize, when: i64) {
        if self.machines[at].step_at.is_none_or(|step| step > when) {
            self.machines[at].step_at = Some(when);
            self.push(when, Event::Step(at));
        }
    }

    /// Asks the engine, if there is something to ask.
    fn ask(&mut self, at: usize, clock: Duration, wanted: &[ClaimRequest]) {
        let wall_ms = self.now + self.machines[at].off;
        let machine = &mut self.machines[at];
        let must_read = machine.protocol.must_read(clock);
        let (life, nonces) = (machine.life, &mut machine.nonces);
        let mut nonce = || {
            *nonces += 1;
            format!("{at}-{life}-{nonces}")
        };
        let readings = ClockReadings { clock, wall_ms };
        let attempt = if must_read { None } else { machine.protocol.attempt(readings, wanted, &mut nonce) };
        if !must_read && attempt.is_none() {
            return;
        }
        self.count += 1;
        let op = self.count;
        self.machines[at].op = Some(op);
        self.requests += 1;
        let late = self.faults.losses && self.random.one_in(20);
        let there = self.now + if late { self.random.below(MINUTE) } else { self.random.below(400) };
        let is_lost = self.faults.losses && self.random.one_in(20);
        let is_cut = self.machines[at].cut > self.now;
        let error = if is_cut { EngineError::Unreachable } else { EngineError::Unknown };
        let (event, failed) = match attempt {
            None => (Event::Read { by: at, op }, Outcome::Read(None)),
            Some(attempt) => {
                let failed = Outcome::Swap(attempt.clone(), Err(error(String::new())));
                (Event::Swap { by: at, op, attempt }, failed)
            }
        };
        let gives_up = if is_cut { self.now + SECOND } else { self.now + TIMEOUT };
        self.push(gives_up, Event::Back { by: at, op, outcome: failed });
        if !is_cut && !is_lost {
            self.push(there, event);
        }
    }

    pub(super) fn back(&mut self, by: usize, op: u64, outcome: Outcome) {
        if !(self.machines[by].cut > self.now || self.faults.losses && self.random.one_in(20)) {
            let delay = self.random.below(400);
            self.push(self.now + delay, Event::Back { by, op, outcome });
        }
    }

    pub(super) fn heard(&mut self, by: usize, op: u64, outcome: Outcome) {
        if !self.machines[by].is_up || self.machines[by].op != Some(op) {
            return;
        }
        if !self.runs(by) {
            self.machines[by].waiting.push((op, outcome));
            return;
        }
        self.machines[by].op = None;
        let clock = self.clock(by);
        let protocol = &mut self.machines[by].protocol;
        match outcome {
            Outcome::Read(None) => return self.failed(by),
            Outcome::Read(Some(entries)) => {
                protocol.record_entries(entries, clock);
                // The open claims whose sending the local journal knows.
                let mut mine = protocol.left_open();
                mine.retain(|key| self.machines[by].sent.contains(key));
                mine.iter().for_each(|key| self.machines[by].protocol.mark_sent(key, None));
            }
            Outcome::Swap(attempt, answer @ Err(EngineError::Unreachable(_))) => {
                protocol.record_outcome(attempt, answer, clock);
                return self.failed(by);
            }
            Outcome::Swap(attempt, answer) => protocol.record_outcome(attempt, answer, clock),
        }
        // A line that was told is rewritten once that is marked.
        for line in std::mem::take(&mut self.machines[by].unwritten) {
            if self.machines[by].protocol.sender_mark(&self.lines[line].key) == SenderMark::Open {
                self.machines[by].unwritten.push(line);
            } else {
                self.spread(by, line, false);
            }
        }
        self.step(by);
    }

    /// The engine can't be reached: it is asked again later, as the program does it after some failures.
    fn failed(&mut self, by: usize) {
        let protocol = &mut self.machines[by].protocol;
        protocol.record_failure();
        let pause = if protocol.has_unmarked() { 10 * SECOND } else { MINUTE };
        self.step_again(by, self.now + pause);
    }

    /// Works on an answer.
    fn think(&mut self, at: usize, key: &str) {
        if !self.machines[at].busy.contains(key) && self.may_send(at, key) {
            let (life, took) = (self.machines[at].life, self.random.below(2 * MINUTE));
            self.machines[at].busy.insert(key.to_owned());
            self.push(self.now + took, Event::Thought { by: at, life, key: key.to_owned() });
        }
    }

    /// Sends what this machine may send.
    pub(super) fn send(&mut self, at: usize, key: &str) {
        let clock = self.clock(at);
        let can_ask = self.can_ask(key);
        let machine = &mut self.machines[at];
        let SendRight::Yes { ask, left } = machine.protocol.send_right(key, clock) else { return };
        if machine.busy.contains(key) {
            return;
        }
        let life = machine.life;
        if can_ask && (ask || machine.sending.contains(key)) && self.told.contains_key(key) {
            self.sent(at, life, key, true);
            return;
        }
        machine.sending.insert(key.to_owned());
        machine.busy.insert(key.to_owned());
        let left = i64::try_from(left.as_millis()).unwrap();
        let most = left.min(TIMEOUT);
        let late = self.faults.losses && self.random.one_in(20);
        let took = self.random.below(if late { most } else { most.min(300) });
        let is_lost = self.faults.losses && self.random.one_in(20);
        if !is_lost {
            self.push(self.now + took, Event::Arrive { key: key.to_owned() });
        }
        let known = !(is_lost || self.faults.losses && self.random.one_in(10));
        let slow = if self.faults.slow { TIMEOUT } else { 300 };
        let back = if known { took + self.random.below(slow) } else { TIMEOUT };
        let until = self.now + left;
        self.push(self.now + back, Event::Sent { by: at, life, key: key.to_owned(), known, until });
    }

    pub(super) fn may_send(&self, at: usize, key: &str) -> bool {
        matches!(self.machines[at].protocol.send_right(key, self.clock(at)), SendRight::Yes { .. })
    }

    pub(super) fn sent(&mut self, by: usize, life: u64, key: &str, known: bool) {
        if self.machines[by].life != life || !self.machines[by].is_up {
            return;
        }
        self.machines[by].busy.remove(key);
        if known {
            self.machines[by].sent.insert(key.to_owned());
            self.machines[by].protocol.mark_sent(key, None);
            self.machines[by].unwritten.extend(self.by_key.get(key).copied());
        }
        self.step_again(by, self.now);
    }
}
