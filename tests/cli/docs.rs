//! The documents that must say what the program does: README, command reference, CI; and settings of the documentation,
//! pasted at the end of a new vault's file.

use crate::support::prelude::*;

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap_or_default()
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
        out.push_str(&format!(
            "\n## {}\n\n```text\n{}\n```\n",
            format!("vault-agent {}", path.join(" ")).trim_end(),
            help.trim_end()
        ));
        let commands =
            help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let names: Vec<_> = commands
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help")
            .map(str::to_owned)
            .collect();
        todo.extend(names.into_iter().rev().map(|name| path.iter().cloned().chain([name]).collect()));
    }
    out
}

#[test]
fn the_command_reference_is_what_help_says() {
    let now = reference(&TestVault::new(""));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    assert!(
        file("docs/commands.md") == now,
        "docs/commands.md is old: UPDATE_DOCS=1 cargo test --test rooms cli::docs"
    );
}

#[test]
fn the_readme_gives_the_two_commands_and_ci_runs_the_second() {
    let readme = file("README.md");
    assert!(readme.contains("cargo run --release -- run --vault "));
    let tests =
        readme.lines().filter_map(|line| line.split(" #").next()).any(|line| line.trim() == "cargo test");
    assert!(tests, "the README's test command");
    assert!(
        file(".ci/run").lines().any(|line| line == "cargo test"),
        ".ci/run must run the README's own command"
    );
}

#[test]
fn every_command_that_the_readme_names_exists() {
    let vault = TestVault::new("");
    let help = vault.run(&["--help"]).ok().stdout;
    for line in file("README.md").lines().filter(|line| line.starts_with("vault-agent ")) {
        let command = line.split_whitespace().nth(1).unwrap();
        assert!(help.contains(&format!("\n  {command}")), "{line}");
    }
}

#[test]
fn every_setting_is_explained_in_the_template() {
    let vault = TestVault::new("");
    // Each commented default, uncommented, must be understood and be the default.
    let template = file("vault-template/vault-agent.toml");
    let all: String = template
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    vault.write("vault-agent.toml", &all);
    let run = vault.run(&["status"]);
    assert_ne!(run.code, 2, "{}", run.stderr);
    // And each setting that the code knows must stand there.
    let code = file("src/config/settings.rs")
        + &file("src/config/tables/assistant.rs")
        + &file("src/config/tables/mcp.rs")
        + &file("src/config/tables/machines.rs");
    let others = ["notify", "paths", "reminders", "rerank", "capture", "summary", "hooks"];
    let code = others.iter().fold(code, |code, name| code + &file(&format!("src/config/{name}.rs")));
    let fields = code.lines().filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(": "));
    let keys =
        fields.map(|(key, _)| key).filter(|key| key.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
    for key in keys {
        // Tables that may stand several times, and a word that Rust keeps for itself.
        let key = match key {
            "brains" => "[brain]",
            "routes" => "[route]",
            "matches" => "match",
            "mcp" => "[mcp]",
            "used_by" => "for",
            key => key,
        };
        let forms = [
            format!("\n{key} = "),
            format!("[{key}]"),
            format!(".{key}]"),
            format!("{{ {key} = "),
            format!(", {key} = "),
        ];
        let stands = forms.iter().any(|form| all.contains(form));
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

#[test]
fn the_example_crontab_and_units_call_commands_that_exist() {
    let vault = TestVault::new("");
    let help = vault.run(&["--help"]).ok().stdout;
    for (example, command) in [
        ("examples/crontab", "tick"),
        ("examples/vault-agent.service", "run"),
        ("examples/md.vault-agent.plist", "run"),
    ] {
        assert!(file(example).contains(command) && help.contains(&format!("\n  {command}")), "{example}");
    }
}

/// A block of settings and the page that shows it.
struct Block {
    page: String,
    text: String,
}

/// Every block of settings in the README, `docs/` and what `--help` says (`docs/commands.md`).
fn blocks() -> Vec<Block> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages.insert(0, root.join("README.md"));
    let mut blocks = Vec::new();
    for path in pages {
        let page = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let fenced = text.split("\n```toml\n").skip(1).map(|rest| rest.split("\n```").next().unwrap());
        blocks.extend(fenced.map(|block| Block { page: page.clone(), text: block.to_owned() }));
    }
    assert!(blocks.len() >= 15, "{} blocks were found", blocks.len());
    blocks
}

#[test]
fn every_block_of_the_documentation_fits_at_the_end_of_new_settings() {
    let vault = TestVault::new("");
    let _ = vault.run(&["init"]).ok();
    let new = vault.read("vault-agent.toml");
    for Block { page, text } in blocks() {
        vault.write("vault-agent.toml", format!("{new}\n{text}\n"));
        let run = vault.run(&["check"]);
        assert_eq!(run.code, 0, "{page}\n{text}\n{run:?}");
        let settings = vault.doctor("settings").remove(0);
        assert_eq!(settings["status"], "ok", "{page}\n{text}\n{settings}");
    }
}

#[test]
fn those_that_fit_together_are_pasted_one_after_the_other_and_the_others_name_the_line() {
    let vault = TestVault::new("");
    let _ = vault.run(&["init"]).ok();
    let mut settings = vault.read("vault-agent.toml");
    let mut refused = 0;
    for Block { page, text } in blocks() {
        let with = format!("{settings}\n{text}\n");
        vault.write("vault-agent.toml", &with);
        let run = vault.run(&["check"]);
        if run.code == 0 {
            settings = with;
            continue;
        }
        refused += 1;
        assert_eq!(run.code, 2, "{page}\n{text}\n{}{}", run.stdout, run.stderr);
        let header = text.lines().find(|line| line.starts_with('[')).unwrap();
        let first = settings.lines().position(|line| line == header).map(|at| at + 1).unwrap();
        let said = format!("line {first} has the first one");
        assert!(run.stderr.contains(&said), "{page}: {header}\n{}", run.stderr);
    }
    assert!(refused >= 3, "pages show the same table, and {refused} were refused");
    vault.write("vault-agent.toml", &settings);
    let _ = vault.run(&["check"]).ok();
    assert_ne!(vault.run(&["doctor"]).code, 2);
}
