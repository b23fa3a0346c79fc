use std::ffi::OsString;

use super::supervise::{is_orphan, state_hash};
use super::*;

#[tokio::test]
async fn lines_are_read_however_long_they_are() {
    let text = format!("one\n{}\n\nlast", "x".repeat(50));
    let mut reader = BufReader::with_capacity(7, text.as_bytes());
    let mut lines = Vec::new();
    while let Some(line) = next_line(&mut reader, 20).await {
        lines.push(line.map(|line| String::from_utf8(line).unwrap()));
    }
    assert_eq!(lines, [Ok("one".into()), Err(()), Ok(String::new()), Ok("last".into())]);
}

#[test]
fn of_a_key_no_rest_is_kept() {
    let key = "0123456789abcdef0123456789abcdef";
    let mut kept = Vec::new();
    keep_end(&mut kept, format!("KEY={key} {}", "end ".repeat(MOST_WORDS / 4 - 2)).as_bytes());
    let text = String::from_utf8(kept.clone()).unwrap();
    assert!(text.starts_with(" end end") && text.ends_with("end "), "{text}");
    keep_end(&mut kept, "x".repeat(2 * MOST_WORDS).as_bytes());
    assert!(kept.is_empty());
}

#[test]
fn the_environment_of_a_child_holds_what_it_needs_and_no_secret() {
    let ours = [
        "PATH",
        "HOME",
        "LC_ALL",
        "XDG_RUNTIME_DIR",
        "https_proxy",
        "no_proxy",
        "DISCORD_TOKEN",
        "VAULT_AGENT_DISCORD_TOKEN",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "path",
        "CODEX_HOME",
        "LD_PRELOAD",
    ];
    let given = ours.iter().map(|name| (OsString::from(name), OsString::from("x")));
    let kept: Vec<_> = environment(given, &["CODEX_HOME"]).map(|(name, _)| name).collect();
    assert_eq!(kept, ["PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR", "https_proxy", "no_proxy", "CODEX_HOME"]);
}

#[test]
fn an_orphan_is_of_our_place_and_of_a_process_that_is_no_more() {
    let place = state_hash(Path::new("/state"));
    let started = |pid| (pid == 7).then_some(100);
    let orphan = |mark: &str| is_orphan(mark, &place, started);
    assert!(!orphan(&format!("7.100.{place}.0")));
    assert!(orphan(&format!("7.99.{place}.0")), "the id was given again");
    assert!(orphan(&format!("8.100.{place}.3")));
    assert!(!orphan("8.100.elsewhere.3"));
    assert!(!orphan("8"));
    assert!(mark_prefix(Path::new("/state")).contains(&place));
}

#[test]
fn of_many_words_the_end_is_kept() {
    let mut kept = Vec::new();
    (0..1000).for_each(|n| keep_end(&mut kept, format!("line {n}\n").as_bytes()));
    assert_eq!(kept.len(), MOST_WORDS);
    assert!(kept.ends_with(b"line 999\n"));
}
