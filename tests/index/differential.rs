//! An index that grew by edits and one made anew give the same answers: same hits, same order, same
//! scores, whatever happened and wherever it crashed.

use proptest::prelude::*;

use std::sync::LazyLock;

use super::vault::*;
use crate::support::processes::alone;

const QUERIES: &str = "alpha|running|dark theme|\"dark theme\"|beta -alpha|the the quick|ru*|tag:x|path:sub gamma\
    |kind:item delta|复杂|alice kind:turn|note0 title|after:2026-01-02 omega";

const FAILS: [&str; 6] = [
    "index-segment-written",
    "index-commit-middle",
    "index-commit-end",
    "index-merge-written",
    "index-merge-end",
    "index-reindex-end",
];

#[derive(Debug, Clone)]
enum Step {
    Write { file: u8, words: Vec<u8> },
    Edit { file: u8, words: Vec<u8> },
    Append { file: u8, words: Vec<u8> },
    SameSize { file: u8 },
    Touch { file: u8 },
    Rename { file: u8, to: u8 },
    RenameCase { file: u8 },
    RenameFolder,
    Delete { file: u8 },
    Turn { log: u8, words: Vec<u8> },
    Search,
    Crash { at: u8 },
    Merge,
}

static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let words =
        "alpha|beta|gamma|delta|the|quick|running|runs|run|dark|theme|omega|复杂度|#x|\n\n|\n- |\n# |title";
    words.split('|').chain(["note0", "[[alpha]]", "\n> ", "2026-01-03"]).collect()
});

fn words() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(0..WORDS.len() as u8, 1..25)
}

fn step() -> impl Strategy<Value = Step> {
    let file = 0..8u8;
    prop_oneof![
        4 => (file.clone(), words()).prop_map(|(file, words)| Step::Write { file, words }),
        4 => (file.clone(), words()).prop_map(|(file, words)| Step::Edit { file, words }),
        3 => (file.clone(), words()).prop_map(|(file, words)| Step::Append { file, words }),
        2 => file.clone().prop_map(|file| Step::SameSize { file }),
        1 => file.clone().prop_map(|file| Step::Touch { file }),
        2 => (file.clone(), 0..8u8).prop_map(|(file, to)| Step::Rename { file, to }),
        1 => file.clone().prop_map(|file| Step::RenameCase { file }),
        1 => Just(Step::RenameFolder),
        2 => file.prop_map(|file| Step::Delete { file }),
        4 => (0..2u8, words()).prop_map(|(log, words)| Step::Turn { log, words }),
        6 => Just(Step::Search),
        2 => (0..FAILS.len() as u8).prop_map(|at| Step::Crash { at }),
        1 => Just(Step::Merge),
    ]
}

fn name(file: u8) -> String {
    if file < 5 { format!("note{file}.md") } else { format!("sub/note{file}.md") }
}

fn text(words: &[u8]) -> String {
    words.iter().map(|word| WORDS[*word as usize]).collect::<Vec<_>>().join(" ")
}

fn take(vault: &TestVault, step: &Step, turns: &mut u32) {
    let append = |path: &str, text: &str| {
        vault.write(path, std::fs::read_to_string(vault.path(path)).unwrap_or_default() + text);
    };
    match step {
        Step::Write { file, words } => vault.write(name(*file), text(words)),
        Step::Edit { file, words } => {
            if let Ok(old) = std::fs::read_to_string(vault.path(name(*file))) {
                let half = old.char_indices().nth(old.chars().count() / 2).map_or(0, |(at, _)| at);
                vault.write(name(*file), format!("{}{}{}", &old[..half], text(words), &old[half..]));
            }
        }
        Step::Append { file, words } => append(&name(*file), &text(words)),
        Step::SameSize { file } => {
            let path = vault.path(name(*file));
            if let (Ok(old), Ok(stat)) = (fs::read_to_string(&path), fs::metadata(&path)) {
                fs::write(&path, old.replace("alpha", "omega").replace("run", "nur")).unwrap();
                set_modified(&path, stat.modified().unwrap()).unwrap();
            }
        }
        Step::Touch { file } => {
            let _ = set_modified(&vault.path(name(*file)), SystemTime::now());
        }
        Step::Rename { file, to } => {
            fs::create_dir_all(vault.path("sub")).unwrap();
            let _ = fs::rename(vault.path(name(*file)), vault.path(name(*to)));
        }
        Step::RenameCase { file } => {
            let (lower, upper) = (vault.path(name(*file)), vault.path(name(*file).replace("note", "NOTE")));
            let _ = std::fs::rename(&lower, &upper).or_else(|_| std::fs::rename(&upper, &lower));
        }
        Step::RenameFolder => {
            let _ = fs::remove_dir_all(vault.path("moved"));
            let _ = fs::rename(vault.path("sub"), vault.path("moved"));
        }
        Step::Delete { file } => _ = fs::remove_file(vault.path(name(*file))),
        Step::Turn { log, words } => {
            *turns += 1;
            let path = format!("logs/discord-channel/{log}/20260101T000000Z_0001.md");
            if !vault.path(&path).exists() {
                append(&path, &format!("---\nsurface: discord-channel\ncontext_id: \"{log}\"\n---\n"));
            }
            let said = text(words).replace('\n', "\n> ");
            let (hour, minute) = (*turns / 60 % 24, *turns % 60);
            let of = format!("user] 2026-01-03T{hour:02}:{minute:02}:00Z Alice");
            append(&path, &format!("\n> [!{of}\n> {said}\n\n^01JGXYZ{turns:019}\n"));
        }
        Step::Search | Step::Crash { .. } | Step::Merge => {}
    }
}

fn answers(index: &Index) -> Vec<String> {
    let answer = |query: &str| {
        let answer = index.search(&Query::new(query).limit(5)).unwrap();
        assert!(answer.freshness.complete, "{query}: {:?}", answer.freshness);
        format!("{query}: {}", serde_json::to_string(&answer.hits).unwrap())
    };
    QUERIES.split('|').map(answer).collect()
}

/// Merges whatever there is, for the seed of a many-layered index needs many commits.
fn check(steps: &[Step]) {
    let scenario = fail::FailScenario::setup();
    let vault = TestVault::new("");
    vault.write("keep.md", "always here, so the vault is never empty");
    let (mut index, mut turns) = (vault.index(), 0);
    for step in steps {
        take(&vault, step, &mut turns);
        match step {
            Step::Search => drop(index.ask("alpha")),
            Step::Crash { at } => {
                fail::cfg(FAILS[*at as usize], "return").unwrap();
                match index.catch_up().and_then(|_| index.store()?.compact(u64::MAX)) {
                    Ok(_) | Err(IndexError::Interrupted) => {}
                    Err(error) => panic!("{error}"),
                }
                if *at == 5 {
                    let _ = index.reindex(&|_| {}, &AtomicBool::new(false));
                }
                fail::remove(FAILS[*at as usize]);
                drop(index);
                index = vault.index();
            }
            Step::Merge => index.store().unwrap().compact(u64::MAX).unwrap(),
            _ => {}
        }
    }
    let grown = answers(&index);
    let fresh = vault.index_at(&vault.home().join("fresh"));
    fresh.reindex(&|_| {}, &AtomicBool::new(false)).unwrap();
    let made = answers(&fresh);
    grown.iter().zip(&made).for_each(|(grown, made)| assert_eq!(grown, made));
    // Nobody left files behind that no segment owns.
    index.store().unwrap().sweep().unwrap();
    assert_eq!(answers(&index), made);
    scenario.teardown();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    fn of_any_history(steps in proptest::collection::vec(step(), 1..40)) {
        check(&steps);
    }
}

#[test]
fn any_history_gives_the_answers_of_a_fresh_index() {
    if alone(&any_history_gives_the_answers_of_a_fresh_index) {
        of_any_history();
    }
}

#[test]
fn many_small_commits_merge_and_still_agree() {
    if !alone(&many_small_commits_merge_and_still_agree) {
        return;
    }
    let mut steps = Vec::new();
    for n in 0..60u8 {
        steps.push(Step::Write { file: n % 8, words: vec![n % 12, 6, n % 5, 14, n % 7, 3] });
        steps.push(Step::Turn { log: n % 2, words: vec![n % 12, 4, 5] });
        steps.push(Step::Search);
    }
    check(&steps);
}
