//! Makes the names of the branches: one branch, or one for each month where a server forbids forced pushes. Pure.

use jiff::Timestamp;

/// The first branch.
pub const FIRST: &str = "vault-agent";

/// Whether `name` is one of our branches: the first one, or one of a month.
pub fn is_branch(name: &str) -> bool {
    name == FIRST || month(name).is_some()
}

fn month(name: &str) -> Option<&str> {
    let month = name.strip_prefix(FIRST)?.strip_prefix('-')?;
    let is_month = month.len() == 7
        && month
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 { byte == b'-' } else { byte.is_ascii_digit() });
    is_month.then_some(month)
}

/// The branch that a growing one goes on as at `now`; `None` in the month of the branch itself, and where the clock
/// stands before it.
pub fn next_branch(name: &str, now: Timestamp) -> Option<String> {
    let current = now.strftime("%Y-%m").to_string();
    (month(name).unwrap_or_default() < current.as_str()).then(|| format!("{FIRST}-{current}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_has_its_branch() {
        let now: Timestamp = "2026-12-01T00:00:00Z".parse().unwrap();
        assert_eq!(next_branch(FIRST, now).as_deref(), Some("vault-agent-2026-12"));
        assert_eq!(next_branch("vault-agent-2026-11", now).as_deref(), Some("vault-agent-2026-12"));
        assert_eq!(
            (next_branch("vault-agent-2026-12", now), next_branch("vault-agent-2027-01", now)),
            (None, None)
        );
        for name in [
            "main",
            "vault-agent-",
            "vault-agent-2026-1x",
            "vault-agent-2026/12",
            "-vault-agent",
            "vault-agent-2026-12-1",
        ] {
            assert!(!is_branch(name), "{name}");
        }
    }
}
