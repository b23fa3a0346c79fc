//! What the documentation shows as settings, pasted at the end of a new vault's file.

use std::path::Path;

use crate::support::TestVault;

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
        assert_eq!(run.code, 0, "{page}\n{text}\n{}{}", run.stdout, run.stderr);
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
