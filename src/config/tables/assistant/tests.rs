use crate::config::{BrainKind, Settings};

fn brain(text: &str) -> Result<super::BrainSettings, String> {
    let text = format!("[[brain]]\nname = \"b\"\nmodel = \"m\"\n{text}\n");
    Settings::parse(&text).map(|mut settings| settings.brains.remove(0)).map_err(|error| error.to_string())
}

#[test]
fn a_program_is_a_brain_with_a_command() {
    let claude = brain("kind = \"claude-code\"").unwrap();
    assert_eq!((claude.kind, claude.command()), (BrainKind::ClaudeCode, vec!["claude".to_owned()]));
    assert_eq!((claude.at_once(), claude.tools.len()), (1, 0));
    let codex = brain("kind = \"codex\"\ncommand = [\"npx\", \"codex\"]\nserialize = false").unwrap();
    assert_eq!((codex.command().join(" "), codex.at_once()), ("npx codex".to_owned(), 4));
    assert_eq!(brain("kind = \"chat\"").unwrap().at_once(), 4);
}

#[test]
fn what_is_no_program_has_none() {
    for wrong in ["kind = \"chat\"\ncommand = [\"x\"]", "kind = \"messages\"\ntools = [\"Bash\"]"] {
        let error = brain(wrong).unwrap_err();
        assert!(error.contains("is no program"), "{error}");
    }
    let error = brain("kind = \"codex\"\ncommand = []").unwrap_err();
    assert!(error.contains("has no `command`"), "{error}");
    let error = brain("kind = \"acp\"").unwrap_err();
    assert!(error.contains("has no `command`"), "{error}");
}

#[test]
fn an_answer_has_a_length() {
    let error = brain("kind = \"chat\"\nmax_output_tokens = 0").unwrap_err();
    assert!(error.contains("`max_output_tokens` of brain `b` is 0"), "{error}");
}
