//! `/health`, and the request of a turn: what the commands say, on the page.

use crate::sample::Sample;
use crate::served::{LISTEN, Served};
use crate::support::TestVault;

#[test]
fn health_says_what_doctor_says_and_ends_a_session() {
    let vault = TestVault::new(
        "//- /Reminders.md\n- [ ] date=2026-12-02 time=09:30 recur=none msg=\"Call\"\n- [ ] date=someday time=09:30 recur=none msg=\"Odd\"\n",
    );
    vault.write("vault-agent.toml", LISTEN);
    let served = Served::start(&vault);
    let visitor = served.visitor();
    let health = visitor.json("/health?ask=network");
    let doctor = vault.run(&["--json", "doctor"]).json();
    // The paths of the vault are masked in what a command prints here.
    let seen = |all: &serde_json::Value| -> Vec<String> {
        all.as_array().unwrap().iter().map(|one| format!("{} {}", one["check"], one["status"])).collect()
    };
    assert_eq!(seen(&health["checks"]), seen(&doctor));
    assert_eq!(health["status"]["running"], false);
    let page = visitor.get("/health").is(200).text();
    assert!(page.contains("someday") && page.contains("No daemon runs"), "{page}");
    // The index is made anew beside the answer.
    let form = visitor.form("/health", "reindex", "");
    assert!(visitor.submit(&form).is(303).header("location").starts_with("/health"));
    // The session that is ended is let in no more.
    let id = health["sessions"][0]["id"].as_str().unwrap();
    visitor.submit(&visitor.form("/health", "end", id)).is(303);
    visitor.get("/health").is(401);
}

#[test]
fn a_turn_shows_what_the_model_was_given() {
    let sample = Sample::new();
    let served = sample.serve();
    let visitor = served.visitor();
    let turns = visitor.json("/turns");
    let id = turns[0]["id"].as_str().unwrap().to_owned();
    let command = sample.vault.run(&["--json", "turns", &id, "--request"]).ok().json();
    let path = format!("/turns/{id}?request=yes");
    assert_eq!(visitor.json(&path), command);
    let page = visitor.get(&path).is(200).text();
    assert!(page.contains("What is due today? Answer in five lines.") && page.contains("the same"), "{page}");
    visitor.get("/turns/none?request=yes").is(404);
}
