//! Checks the box for commands: the rules that this machine enforces.

use super::Check;
use crate::confine::{self, EnforcementLevel};

pub(super) fn checks() -> Vec<Check> {
    let enforcement = confine::enforcement();
    let why = enforcement.without_namespaces.as_deref();
    let without = why.map(|why| format!("; without user namespaces: {why}")).unwrap_or_default();
    let rules: Vec<String> = enforcement
        .rules
        .iter()
        .filter(|rule| rule.level == EnforcementLevel::Enforced)
        .map(|rule| format!("{} ({})", rule.name, rule.detail))
        .collect();
    let mut checks = Vec::new();
    if !rules.is_empty() {
        checks.push(Check::ok("box", format!("a command is held to: {}{without}", rules.join(", "))));
    }
    checks.extend(enforcement.weak().map(|rule| {
        let part = if rule.level == EnforcementLevel::Partly { "only in part" } else { "not" };
        Check::warn(
            "box",
            format!("a command is {part} held to: {} ({}){without}", rule.name, rule.detail),
            "`bash` is off here unless `[assistant] bash = \"ask\"`; `docs/tools.md` says what each rule needs",
        )
    }));
    checks
}
