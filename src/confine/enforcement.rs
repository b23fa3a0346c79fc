//! Computes how far this machine can enforce each rule of the box (the confinement of one shell command). The helper
//! has built a box as a test; the layers of that box, such as namespaces, Landlock and seccomp, decide.

use EnforcementLevel::{Enforced, Not, Partly};

use super::wire::Layers;

/// How far a rule is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EnforcementLevel {
    /// It can't be enforced.
    Not,
    /// In part: the text names what is not enforced.
    Partly,
    /// It holds.
    Enforced,
}

/// One rule of the box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnforcedRule {
    /// Its subject: `files`, `network`, ….
    pub name: &'static str,
    /// Whether it holds.
    pub level: EnforcementLevel,
    /// The mechanism; if it does not hold, reason and remedy.
    pub detail: String,
}

/// The rules that this machine enforces, one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enforcement {
    /// The rules; the same ones, in the same order, on every machine.
    pub rules: Vec<EnforcedRule>,
    /// Why the box has no namespaces, if so; the rules may hold without them.
    pub without_namespaces: Option<String>,
}

impl Enforcement {
    /// Whether every rule holds. If not, `bash` is off unless the settings say `ask`.
    pub fn is_whole(&self) -> bool {
        self.rules.iter().all(|rule| rule.level == EnforcementLevel::Enforced)
    }

    /// The rules that don't hold, or only in part.
    pub fn weak(&self) -> impl Iterator<Item = &EnforcedRule> {
        self.rules.iter().filter(|rule| rule.level != EnforcementLevel::Enforced)
    }
}

/// The kinds of boxes that a helper can build on this machine.
#[derive(Debug, Clone)]
pub(super) struct Capabilities {
    /// The layers of a box; or the reason why there is none.
    pub layers: Result<Layers, String>,
    /// Why there are no namespaces, if so.
    pub why_none: Option<String>,
}

/// The rules' names.
const NAMES: [&str; 6] = ["files", "network", "processes", "calls", "limits", "end"];

/// The first version of Landlock that restricts truncation.
const TRUNCATION: u8 = 3;
/// The first version of Landlock that restricts signals and abstract sockets.
const SIGNALS: u8 = 6;

/// The enforcement that follows from these capabilities.
pub(super) fn of(found: &Capabilities) -> Enforcement {
    let rules = match &found.layers {
        Ok(layers) => rules(layers),
        Err(why) => NAMES.map(|name| rule(name, Not, why.clone())).to_vec(),
    };
    Enforcement { rules, without_namespaces: found.why_none.clone() }
}

fn rules(layers: &Layers) -> Vec<EnforcedRule> {
    let Layers { namespaces, landlock, calls, counted, profile } = *layers;
    if profile {
        return of_profile();
    }
    let upgrade = "a newer kernel closes it";
    vec![
        match (namespaces, landlock) {
            (true, 0) => rule("files", Enforced, "a root of its own"),
            (true, abi) => rule("files", Enforced, format!("a root of its own, and Landlock {abi}")),
            (false, 0) => rule(
                "files",
                Not,
                "neither user namespaces nor Landlock: allow the first, or boot a kernel with `lsm=landlock,…`",
            ),
            (false, abi) if abi < TRUNCATION => {
                rule("files", Partly, format!("Landlock {abi} lets files be truncated; {upgrade} (6.2)"))
            }
            (false, abi) => rule(
                "files",
                Enforced,
                format!("Landlock {abi}; names, sizes and times of files outside can be looked up"),
            ),
        },
        match (namespaces, calls) {
            (true, true) => rule("network", Enforced, "a network namespace, and no sockets"),
            (true, false) => {
                rule("network", Partly, "a network namespace alone: sockets with a path can be reached")
            }
            (false, true) => rule("network", Enforced, "no sockets"),
            (false, false) => rule("network", Not, "system calls can't be filtered"),
        },
        match (namespaces, landlock) {
            (true, _) => rule("processes", Enforced, "a process namespace"),
            (false, abi) if abi >= SIGNALS => rule("processes", Enforced, format!("Landlock {abi}")),
            (false, abi) => rule(
                "processes",
                Partly,
                format!(
                    "Landlock {abi} does not stop signals to your other processes; {upgrade} (6.12), or user namespaces do"
                ),
            ),
        },
        if calls {
            rule("calls", Enforced, "seccomp")
        } else {
            rule("calls", Not, "the kernel has no seccomp, or no filter for this processor")
        },
        if counted {
            rule("limits", Enforced, "kernel limits, and a look every 10 ms")
        } else {
            rule("limits", Partly, "only for each process by itself, not for all together")
        },
        match (namespaces, counted) {
            (true, _) => rule("end", Enforced, "the process namespace ends with the command"),
            (false, true) => rule("end", Enforced, "what is left is found and killed"),
            (false, false) => rule("end", Partly, "what leaves the command's process group may live on"),
        },
    ]
}

/// On macOS.
fn of_profile() -> Vec<EnforcedRule> {
    let limits = "the time alone: macOS gives no way to count what a command uses";
    vec![
        rule("files", Enforced, "sandbox-exec; names, sizes and times of files outside can be looked up"),
        rule("network", Enforced, "sandbox-exec"),
        rule("processes", Enforced, "sandbox-exec"),
        rule("calls", Partly, "sandbox-exec, which Apple calls deprecated"),
        rule("limits", Partly, limits),
        rule("end", Partly, "what leaves the command's process group may live on, within its box"),
    ]
}

fn rule(name: &'static str, level: EnforcementLevel, word: impl Into<String>) -> EnforcedRule {
    EnforcedRule { name, level, detail: word.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(namespaces: bool, landlock: u8) -> Capabilities {
        Capabilities {
            layers: Ok(Layers { namespaces, landlock, calls: true, counted: true, profile: false }),
            why_none: None,
        }
    }

    fn weak(found: &Capabilities) -> Vec<&'static str> {
        of(found).weak().map(|rule| rule.name).collect()
    }

    #[test]
    fn a_machine_is_whole_with_namespaces_or_with_a_new_enough_landlock() {
        assert!(of(&layers(true, 7)).is_whole());
        assert!(of(&layers(true, 0)).is_whole());
        assert!(of(&layers(false, 6)).is_whole());
        assert_eq!(weak(&layers(false, 5)), ["processes"]);
        assert_eq!(weak(&layers(false, 2)), ["files", "processes"]);
        assert_eq!(weak(&layers(false, 0)), ["files", "processes"]);
    }

    #[test]
    fn the_same_rules_stand_everywhere() {
        let none = Capabilities { layers: Err("no bash".into()), why_none: None };
        let macos = Layers { profile: true, ..Layers::default() };
        let macos = Capabilities { layers: Ok(macos), why_none: None };
        assert!(!of(&macos).is_whole());
        for found in [none, macos, layers(true, 7), layers(false, 0)] {
            let rules = of(&found).rules;
            assert_eq!(rules.iter().map(|rule| rule.name).collect::<Vec<_>>(), NAMES);
            assert!(rules.iter().all(|rule| !rule.detail.is_empty()));
        }
    }
}
