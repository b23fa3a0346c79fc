//! Work grows with the bytes and not faster: inputs on which a careless parser takes hours are read as they
//! stand. No time is asserted; a quadratic parser wouldn't come back.

use vault_agent::format::lines::LiveLines;
use vault_agent::format::{commitment, memory, reminder};

const BIG: usize = 1 << 20;

#[test]
fn long_lines_and_many_lines() {
    let line = |msg: &str| format!("- [ ] date=2026-12-01 time=09:30 recur=none msg=\"{msg}\"");
    let long = line(&"x".repeat(BIG));
    assert_eq!(reminder::parse(long.as_bytes()).reminders.len(), 1);
    let open = &long[..long.len() - 1];
    assert_eq!(reminder::parse(open.as_bytes()).near_misses[0].column, 49);
    for unit in [
        "%",
        "%a",
        "<!-- ",
        "` `` ``` ",
        "\\\"",
        "date= ",
        "- ",
        "= ",
        "[a::",
        "^",
        "\u{a0}",
        "---\na: b\n",
        "```\n",
        "\n",
        "> ",
    ] {
        let text = unit.repeat(BIG / unit.len() / 4);
        for text in [text.clone(), format!("- [ ] {text}"), line(&text)] {
            let _ = LiveLines::new(text.as_bytes()).count();
            let _ = reminder::parse(text.as_bytes());
            let _ = commitment::parse(text.as_bytes());
            let _ = memory::parse(text.as_bytes());
        }
    }
}
