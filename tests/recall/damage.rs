//! A damaged cache: every answer is the one of a fresh cache, in silence; `doctor` tells.

use vault_agent::search::{MemoryPrompt, Query, Recall, Severity};

use crate::recall::open;
use crate::support::prelude::*;

/// A vault of notes and logs.
fn vault() -> Folder {
    let vault = Folder::new(&[]);
    let words = "kitten shelter dentist garden tea dishwasher bicycle Biscuit harbour violin";
    let words: Vec<&str> = words.split(' ').collect();
    let mut dice = Rng::with_seed(7);
    let mut said =
        |count: usize| (0..count).map(|_| words[dice.usize(..words.len())]).collect::<Vec<_>>().join(" ");
    for note in 0..24 {
        let text = format!("# Note {note}\n\n{}.\n\n- {}\n- {} #tag{note}\n", said(12), said(5), said(7));
        vault.write(format!("note {note}.md"), text);
    }
    for log in 1..4 {
        let mut text = LOG_HEAD.to_owned();
        for turn in 0..30 {
            let of = format!("user] 2026-08-0{log}T09:{turn:02}:00Z Ann");
            text += &event(&of, &said(8), &format!("01K1J00000000000000{log}{turn:06}"));
        }
        vault.write(format!("logs/discord-channel/7/2026080{log}T090000Z_0001.md"), text);
    }
    vault
}

const QUESTION: &str = "Where is the bicycle of the dentist?";

/// What is wrong with an index.
fn faults(recall: &Recall, deep: bool) -> Vec<String> {
    let found = recall.index().health(deep).into_iter().filter(|found| found.status != Severity::Ok);
    found.map(|found| found.detail).collect()
}

/// All hits, and what is wrong with the index afterwards. The answers themselves say nothing.
fn ask(root: &Path, cache: &Path) -> (Vec<String>, String) {
    let (recall, mut hits) = (open(root, cache), Vec::new());
    for question in ["kitten shelter", QUESTION, "\"garden tea\"", "violin role:user", "tag:tag7", "har*"] {
        let answer = recall.search(&Query::new(question)).unwrap();
        hits.push(serde_json::to_string(&answer.hits).unwrap());
        assert!(answer.freshness.warnings.is_empty(), "{question}: {:?}", answer.freshness);
    }
    let given = recall.recall(&MemoryPrompt::new(QUESTION, 400)).unwrap();
    hits.push(serde_json::to_string(&given.hits).unwrap() + &given.digest.unwrap_or_default());
    assert!(given.freshness.warnings.is_empty(), "{:?}", given.freshness);
    (hits, faults(&recall, false).join("; "))
}

fn copy(from: &Path, to: &Path) {
    for file in files_below(from) {
        let new = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(new.parent().unwrap()).unwrap();
        std::fs::copy(&file, new).unwrap();
    }
}

/// Damages one file, or swaps two; what was done, and whether bytes that count are other ones now.
fn damage(cache: &Path, dice: &mut Rng) -> (String, bool) {
    let files: Vec<PathBuf> =
        files_below(cache).into_iter().filter(|file| std::fs::metadata(file).unwrap().len() > 0).collect();
    let file = &files[dice.usize(..files.len())];
    let mut bytes = std::fs::read(file).unwrap();
    let at = dice.usize(..bytes.len());
    let what = match dice.usize(..5) {
        0 => {
            bytes[at] ^= 1 << dice.usize(..8);
            "flip"
        }
        1 => {
            bytes.truncate(at);
            "truncate"
        }
        2 => {
            let end = (at + 1 + dice.usize(..4096)).min(bytes.len());
            let is_zero = bytes[at..end].iter().all(|byte| *byte == 0);
            bytes[at..end].fill(u8::from(is_zero));
            "zero"
        }
        3 => {
            let other = &files[dice.usize(..files.len())];
            let others = std::fs::read(other).unwrap();
            std::fs::write(other, &bytes).unwrap();
            bytes = others;
            "swap"
        }
        _ => "delete",
    };
    let name = file.strip_prefix(cache).unwrap().display().to_string();
    if what == "delete" {
        std::fs::remove_file(file).unwrap();
    } else {
        std::fs::write(file, &bytes).unwrap();
    }
    let counts = name == "index.sqlite" || name == "index.seal" || name.starts_with("tantivy");
    (format!("{what} {name} at {at}"), counts && matches!(what, "flip" | "truncate" | "zero"))
}

#[test]
fn no_damage_changes_an_answer_and_doctor_knows_of_it() {
    let vault = vault();
    let root = vault.root();
    // File systems' clocks have a grain: the notes are to be trusted by their times.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let age = |note: &Path| {
        std::fs::File::options().write(true).open(note).unwrap().set_modified(old).unwrap();
    };
    files_below(&root).iter().for_each(|note| age(note));
    let (closed, killed) = (vault.dir().join("closed"), vault.dir().join("killed"));
    let (fresh, words) = ask(&root, &closed);
    assert!(words.is_empty() && fresh.iter().all(|hits| hits.len() > 20), "{words} {fresh:?}");
    let log = |cache: &Path| std::fs::metadata(cache.join("index.sqlite-wal")).map_or(0, |log| log.len());
    assert_eq!(log(&closed), 0, "a closed cache has no log left");
    // As a process leaves it that is killed while its last commit stands in the log alone.
    {
        let (index, note) = (open(&root, &closed).index().clone(), root.join("note 3.md"));
        let text = std::fs::read_to_string(&note).unwrap();
        std::fs::write(&note, text.clone() + "\n- one more kitten\n").unwrap();
        index.catch_up().unwrap();
        std::fs::write(&note, text).unwrap();
        age(&note);
        index.catch_up().unwrap();
        assert!(log(&closed) > 0);
        copy(&closed, &killed);
    }
    assert_eq!(ask(&root, &killed), (fresh.clone(), String::new()));
    assert_eq!(ask(&root, &closed), (fresh.clone(), String::new()));
    let seed = std::env::var("DAMAGE_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut dice = Rng::with_seed(seed.unwrap_or(22));
    for trial in 0..120 {
        let from = if trial % 4 == 0 { &killed } else { &closed };
        let cache = vault.dir().join(format!("trial {trial}"));
        copy(from, &cache);
        if trial % 4 != 0 && trial % 3 != 0 {
            // Seen before, so that its files are trusted by what the file system says of them.
            assert_eq!(ask(&root, &cache), (fresh.clone(), String::new()));
        }
        let (what, counts) = damage(&cache, &mut dice);
        if trial % 5 == 1 {
            assert!(!faults(&open(&root, &cache), true).is_empty() || !counts, "doctor says ok of {what}");
        }
        let (hits, words) = ask(&root, &cache);
        assert_eq!(hits, fresh, "trial {trial}: {what}; {words}");
        assert!(!counts || trial % 5 == 1 || words.contains("was rebuilt"), "trial {trial}: {what}; {words}");
        assert_eq!(ask(&root, &cache), (fresh.clone(), String::new()), "trial {trial}: {what}, asked again");
        std::fs::remove_dir_all(&cache).unwrap();
    }
}

#[test]
fn a_reindex_makes_everything_anew() {
    let vault = vault();
    let (root, cache) = (vault.root(), vault.cache());
    let (fresh, _) = ask(&root, &cache);
    let rows = files_below(&cache).into_iter().find(|file| file.extension().is_some_and(|end| end == "rows"));
    let rows = rows.unwrap();
    fs::write(&rows, vec![7; fs::read(&rows).unwrap().len()]).unwrap();
    open(&root, &cache).index().reindex(&|_| {}, &std::sync::atomic::AtomicBool::new(false)).unwrap();
    assert!(!rows.exists());
    let (hits, words) = ask(&root, &cache);
    assert_eq!((hits, words.as_str()), (fresh, ""));
}
