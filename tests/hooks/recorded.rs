//! The messages of `inputs/`, one an event, with all fields that Claude Code documents: each is understood
//! and answered in the host's format.

use crate::hooks::host::*;

fn recorded(event: HostEvent) -> String {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks/inputs");
    fs::read_to_string(inputs.join(format!("{}.json", event.as_str()))).unwrap()
}

#[test]
fn a_session_from_its_start_to_its_end() {
    let vault = TestVault::new(
        "//- vault-agent.toml\n[memory]\nuser_namespace = \"user\"\n//- MEMORY.md\n## House\n\n- The boiler is serviced every October\n",
    );
    let asked = user("2026-12-01T09:29:00.000Z", "Remember that Anna collects teapots.");
    record(&vault, &[asked, said("Noted!")]);
    let home = vault.home().to_string_lossy().into_owned();
    let transcript = transcript_path(&vault).to_string_lossy().into_owned();
    let answer = |event: HostEvent| {
        let theirs = "[HOME]/.claude/projects/-work-garden/5f0d3c52-9a1b-4e0e-8a55-3f1f0f6f2d11.jsonl";
        hook(&vault, event.as_str(), &recorded(event).replace(theirs, &transcript).replace("[HOME]", &home))
    };
    let start = answer(HostEvent::SessionStart).json();
    assert_eq!(start["hookSpecificOutput"]["hookEventName"], "SessionStart");
    assert!(start["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("boiler"));
    assert_eq!(answer(HostEvent::UserPromptSubmit).stdout, "", "nothing in the vault is about Anna");
    assert_eq!(answer(HostEvent::Stop).json()["decision"], "block");
    vault.write("MEMORY.md", vault.read("MEMORY.md") + "\n## People\n\n- Anna collects teapots\n");
    let prompt = answer(HostEvent::UserPromptSubmit).json();
    assert_eq!(prompt["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit");
    assert!(prompt["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("teapots"));
    for silent in [HostEvent::Stop, HostEvent::PreCompact, HostEvent::SessionEnd] {
        let run = answer(silent);
        assert!(run.stdout.is_empty() || run.json().get("decision").is_none(), "{}", run.stdout);
    }
    assert!(vault.read("user/working.md").contains("Anna collects teapots"));
    assert!(vault.read("daily/2026-12-01.md").contains("recalled [[MEMORY]] line 7"));
    assert_eq!(log(&vault), "");
}
