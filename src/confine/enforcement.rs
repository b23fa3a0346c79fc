//! What this machine can hold a command to.

/// Whether a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It can't be held to it.
    Not,
    /// In part: the word says what is open.
    Partly,
    /// It holds.
    Enforced,
}

/// One rule of the box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it is about: `files`, `network`, ….
    pub name: &'static str,
    /// Whether it holds.
    pub level: Level,
    /// By what; where it does not hold, why and what to do.
    pub word: String,
}

/// What this machine enforces, rule by rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enforcement {
    /// The rules; the same ones, in the same order, on every machine.
    pub rules: Vec<Rule>,
}

impl Enforcement {
    /// Whether every rule holds. Where it is not so, `bash` is off unless the settings say `ask`.
    pub fn is_whole(&self) -> bool {
        self.rules.iter().all(|rule| rule.level == Level::Enforced)
    }

    /// The rules that don't hold, or only in part.
    pub fn weak(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.level != Level::Enforced)
    }
}
