//! The documents that must say what the program does: README, command reference, CI; and settings of the documentation,
//! pasted at the end of a new vault's file.

use crate::support::prelude::*;

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap_or_default()
}

/// The help of every command, in the order of the tree.
fn reference(vault: &TestVault) -> String {
    let mut out = String::from(
        "# Commands\n\nThis page is what `--help` says. `UPDATE_DOCS=1 cargo test --test rooms cli::docs` writes it anew; the test fails where it differs.\n",
    );
    let mut todo = vec![Vec::<String>::new()];
    while let Some(path) = todo.pop() {
        let mut args: Vec<&str> = path.iter().map(String::as_str).collect();
        args.push("--help");
        let help = vault.run(&args).ok().stdout;
        let command = format!("vault-agent {}", path.join(" "));
        out += &format!("\n## {}\n\n```text\n{}\n```\n", command.trim_end(), help.trim_end());
        let commands =
            help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
        let names = commands.filter(is_name).filter_map(|line| line.split_whitespace().next());
        let names: Vec<_> = names.filter(|name| *name != "help").map(str::to_owned).collect();
        todo.extend(names.into_iter().rev().map(|name| path.iter().cloned().chain([name]).collect()));
    }
    out
}

#[test]
fn the_command_reference_is_what_help_says() {
    let now = reference(&TestVault::new(""));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let is_new = file("docs/commands.md") == now;
    assert!(is_new, "docs/commands.md is old: UPDATE_DOCS=1 cargo test --test rooms cli::docs");
}

#[test]
fn the_readme_gives_commands_that_there_are_and_ci_runs_its_tests() {
    let readme = file("README.md");
    assert!(readme.contains("cargo run --release -- run --vault "));
    let mut commands = readme.lines().filter_map(|line| line.split(" #").next());
    assert!(commands.any(|line| line.trim() == "cargo test"), "the README's test command");
    let is_run = file(".ci/run").lines().any(|line| line == "cargo test");
    assert!(is_run, ".ci/run must run the README's own command");
    // Every command that it names is one.
    let help = TestVault::new("").run(&["--help"]).ok().stdout;
    for line in readme.lines().filter(|line| line.starts_with("vault-agent ")) {
        let command = line.split_whitespace().nth(1).unwrap();
        assert!(help.contains(&format!("\n  {command}")), "{line}");
    }
}

#[test]
fn every_setting_is_explained_in_the_template() {
    let vault = TestVault::new("");
    // Each commented default, uncommented, must be understood and be the default.
    let template = file("vault-template/vault-agent.toml");
    let set = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    let all: String = template.lines().map(set).collect();
    vault.write("vault-agent.toml", &all);
    let run = vault.run(&["status"]);
    assert_ne!(run.code, 2, "{}", run.stderr);
    // And each setting that the code knows must stand there.
    let tables = files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/tables"));
    let tables = tables.into_iter().filter(|path| !path.ends_with("tests.rs")).map(fs::read_to_string);
    let code = file("src/config/settings.rs") + &tables.collect::<Result<String, _>>().unwrap();
    let fields = code.lines().filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(": "));
    let keys =
        fields.map(|(key, _)| key).filter(|key| key.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
    let keys: BTreeSet<&str> = keys.collect();
    assert!(keys.len() >= 140, "{} keys were found", keys.len());
    // Tables that may stand several times, and words that Rust keeps for itself.
    let others = "brains [brain], routes [route], matches match, mcp [mcp], used_by for";
    let others: HashMap<&str, &str> = others.split(", ").filter_map(|pair| pair.split_once(' ')).collect();
    for key in keys {
        let key = others.get(key).copied().unwrap_or(key);
        let forms = [("\n", " = "), ("[", "]"), (".", "]"), ("{ ", " = "), (", ", " = ")];
        let stands = forms.iter().any(|(before, after)| all.contains(&format!("{before}{key}{after}")));
        assert!(stands || key == "api_base", "`{key}` is not explained in the template");
    }
}

#[test]
fn the_example_settings_are_understood() {
    let vault = TestVault::new("");
    for example in ["vault-agent.toml", "playwright.toml", "machines/vault-agent.toml"] {
        vault.write("vault-agent.toml", file(&format!("examples/{example}")));
        assert_ne!(vault.run(&["status"]).code, 2, "{example}");
    }
}

/// Every block of settings in the README, `docs/` and what `--help` says (`docs/commands.md`).
#[test]
fn every_block_of_the_documentation_fits_at_the_end_of_new_settings() {
    let vault = TestVault::new("");
    let _ = vault.run(&["init"]).ok();
    let new = vault.read("vault-agent.toml");
    let docs = names_in(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs"));
    let pages = docs.iter().filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    let mut blocks = 0;
    for page in pages.chain(["README.md".to_owned()]) {
        let text = file(&page);
        for block in text.split("\n```toml\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()) {
            blocks += 1;
            vault.write("vault-agent.toml", format!("{new}\n{block}\n"));
            vault.run(&["check"]).exits(0);
            let settings = vault.doctor("settings").remove(0);
            assert_eq!(settings["status"], "ok", "{page}\n{block}\n{settings}");
        }
    }
    assert!(blocks >= 15, "{blocks} blocks were found");
}
