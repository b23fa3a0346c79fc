//! Plays the faults of the world: kills, suspensions, partitions and clocks that jump, spread over its time; and their end.

use super::{Event, HOUR, MACHINES, MINUTE, Random, World};

/// The kinds of faults in a world.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// The longest delay of the sync tool.
    pub sync: i64,
    /// Clocks are off, and jump.
    pub clocks: bool,
    pub partitions: bool,
    pub kills: bool,
    pub suspends: bool,
    /// Requests and answers of the engine and the channel are lost or late.
    pub losses: bool,
    /// The channel takes a message at once, and says so after up to 15 s.
    pub slow: bool,
    /// The engine is away for minutes, for all.
    pub outages: bool,
}

impl World {
    pub fn trouble(&mut self, end: i64) {
        let faults = self.faults;
        let part = end / 24;
        let each = |world: &mut Self, is_on: bool, between: i64, make: fn(&mut Random, usize) -> Event| {
            for at in (0..MACHINES).filter(|_| is_on) {
                let mut when = world.random.below(between);
                while when < end {
                    let event = make(&mut world.random, at);
                    world.push(when, event);
                    when += world.random.below(2 * between) + 1;
                }
            }
        };
        each(self, faults.kills, 2 * part, |random, at| Event::Kill(at, random.any_length(12 * HOUR)));
        each(self, faults.suspends, 2 * part, |random, at| Event::Suspend(at, random.any_length(8 * HOUR)));
        each(self, faults.partitions, 3 * part, |random, at| Event::Cut(at, random.any_length(4 * HOUR)));
        let mut away = if faults.outages { part } else { end };
        while away < end {
            let length = self.random.below(10 * MINUTE);
            (0..MACHINES).for_each(|at| self.push(away, Event::Cut(at, length)));
            away += 12 * MINUTE;
        }
        each(self, faults.clocks, 6 * part, |_, at| Event::Jump(at));
    }

    /// From now on nothing goes wrong any more.
    pub fn heal(&mut self) {
        (self.healed, self.faults) = (true, Faults { sync: MINUTE, ..Faults::default() });
        for at in 0..MACHINES {
            let machine = &mut self.machines[at];
            (machine.off, machine.cut, machine.asleep) = (0, 0, 0);
            self.push(self.now, Event::Up(at));
        }
    }
}
