//! Caches that can't be written, vaults that move, files that change without looking it, and queries and notes that mean
//! harm: each gets an answer, or a sentence.

use vault_agent::search::MemoryPrompt;

use super::vault::*;
use crate::support::processes::alone;

/// Runs `work` with a failpoint set; failpoints are one for the whole process, so the test is [`alone`] in it.
fn failing(point: &str, work: impl FnOnce()) {
    let scenario = fail::FailScenario::setup();
    fail::cfg(point, "return").unwrap();
    work();
    fail::remove(point);
    scenario.teardown();
}

#[test]
fn a_read_only_cache_is_searched_with_what_is_newer_and_says_so() {
    if !alone(&a_read_only_cache_is_searched_with_what_is_newer_and_says_so) {
        return;
    }
    let vault = TestVault::new("//- a.md\nfirst\n//- b.md\nsecond\n");
    assert_eq!(vault.find("first").len(), 1);
    let mut kept = None;
    failing("index-open-read-only", || {
        let index = vault.index();
        let answer = index.search(&Query::new("first")).unwrap();
        assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 0));
        assert!(answer.freshness.complete);
        assert!(answer.freshness.warnings[0].contains("read-only"), "{:?}", answer.freshness);
        assert!(answer.freshness.warnings[0].contains("VAULT_AGENT_CACHE_DIR"), "{:?}", answer.freshness);
        let told = index.health(true).into_iter().filter(|found| found.detail.contains("read-only"));
        assert_eq!(told.count(), 1, "{:?}", index.health(true));
        // What is newer is read directly, again with each query.
        vault.write("a.md", "third");
        for _ in 0..2 {
            let answer = index.search(&Query::new("third")).unwrap();
            assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 1));
        }
        assert!(index.search(&Query::new("first")).unwrap().hits.is_empty());
        assert!(index.catch_up().is_err());
        assert!(index.reindex(&|_| {}, &AtomicBool::new(false)).unwrap_err().is_full_or_read_only());
        kept = Some(index);
    });
    // It can be written again, and the next look does.
    let answer = kept.unwrap().search(&Query::new("third")).unwrap();
    assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 0));
    assert!(answer.freshness.warnings.is_empty(), "{:?}", answer.freshness);
}

#[test]
fn a_folder_in_the_place_of_the_database_is_damage_that_is_mended() {
    for seal in [true, false] {
        let vault = TestVault::new("//- a.md\nfirst\n");
        assert_eq!(vault.find("first").len(), 1);
        let database = vault.cache().join("index.sqlite");
        std::fs::remove_file(&database).unwrap();
        std::fs::create_dir_all(database.join("in it")).unwrap();
        if !seal {
            std::fs::remove_file(vault.cache().join("index.seal")).unwrap();
        }
        // The notes are the truth: the cache is made anew without a word.
        for _ in 0..2 {
            let answer = vault.index().search(&Query::new("first")).unwrap();
            let warnings = answer.freshness.warnings;
            assert_eq!((answer.hits.len(), warnings.len()), (1, 0), "{warnings:?}");
        }
        assert!(database.is_file());
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_of_the_cache_is_not_waited_for() {
    for name in ["write.lock", "index.seal", "live", "live.lock", "index.sqlite", "index.sqlite-wal"] {
        let vault = TestVault::new("//- a.md\nfirst\n");
        assert_eq!(vault.find("first").len(), 1);
        let path = vault.cache().join(name);
        let _ = std::fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        vault.write("a.md", "first again\n");
        let search = std::thread::spawn(move || vault.find("again").len());
        until(name, || search.is_finished());
        assert_eq!(search.join().unwrap(), 1, "{name}");
    }
}

#[test]
fn an_index_that_is_emptied_before_a_commit_is_looked_at_again() {
    if !alone(&an_index_that_is_emptied_before_a_commit_is_looked_at_again) {
        return;
    }
    let vault = TestVault::new("//- a.md\nfirst\n//- b.md\nfirst\n");
    assert_eq!(vault.find("first").len(), 2);
    vault.write("a.md", "first again");
    let (database, is_emptied) = (vault.cache().join("index.sqlite"), AtomicBool::new(false));
    let scenario = fail::FailScenario::setup();
    // As another process does that has found damage, and hasn't read a note yet.
    fail::cfg_callback("index-scan", move || {
        if !is_emptied.swap(true, Ordering::Relaxed) {
            let anew = "UPDATE meta SET value = json_set(value, '$.epoch', 7) WHERE key = 'commit'";
            let conn = rusqlite::Connection::open(&database).unwrap();
            conn.execute_batch(&format!("DELETE FROM files; DELETE FROM segments; {anew}")).unwrap();
        }
    })
    .unwrap();
    let answer = vault.index().search(&Query::new("first")).unwrap();
    assert_eq!((answer.hits.len(), answer.freshness.complete), (2, true));
    fail::remove("index-scan");
    scenario.teardown();
}

#[test]
fn a_crash_in_a_checkpoint_is_no_damage() {
    if !alone(&a_crash_in_a_checkpoint_is_no_damage) {
        return;
    }
    let vault = TestVault::new("//- a.md\nfirst\n//- b.md\nsecond\n");
    assert_eq!(vault.find("first").len(), 1);
    vault.write("a.md", "third");
    // The end of a process makes the checkpoint: the database's file is another, and its seal is not written.
    failing("index-checkpoint-middle", || assert_eq!(vault.find("third").len(), 1));
    for _ in 0..2 {
        let answer = vault.index().search(&Query::new("third")).unwrap();
        assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 0));
        assert!(answer.freshness.warnings.is_empty(), "{:?}", answer.freshness);
    }
}

#[test]
fn a_full_cache_disk_is_an_error_and_search_reads_the_notes() {
    if !alone(&a_full_cache_disk_is_an_error_and_search_reads_the_notes) {
        return;
    }
    let vault = TestVault::new("//- a.md\nfirst\n//- b.md\nsecond\n");
    assert_eq!(vault.find("first").len(), 1);
    vault.write("a.md", "third");
    failing("index-disk-full", || {
        let index = vault.index();
        let answer = index.search(&Query::new("third")).unwrap();
        assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 1));
        let said = answer.freshness.warnings.join("; ");
        assert!(said.contains("no storage space"), "{said}");
        assert_eq!(show(&index.search(&Query::new("second")).unwrap()), ["b.md:1 paragraph second"]);
        let error = index.reindex(&|_| {}, &AtomicBool::new(false)).unwrap_err();
        assert!(error.is_full_or_read_only() && !error.is_damage(), "{error}");
        assert!(matches!(error, IndexError::FullText(_) | IndexError::Cache { .. }), "{error}");
    });
    // With space again, the same cache goes on.
    let answer = vault.index().search(&Query::new("third")).unwrap();
    assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 0));
}

#[test]
fn without_any_cache_the_answers_are_the_same() {
    let vault =
        TestVault::new("//- a.md\n# One\nfirst words #x\n\n- first item\n//- b/c.md\nfirst of the second\n");
    // A file where the cache's folder should be: nobody can write there, root neither.
    std::fs::write(vault.home().join("file"), "").unwrap();
    let (usual, none) = (vault.index(), vault.index_at(&vault.home().join("file/cache")));
    for query in ["first", "one first", "tag:x", "\"first item\"", "path:b first", "nothing"] {
        let [usual, none] = [&usual, &none].map(|index| index.search(&Query::new(query)).unwrap());
        assert_eq!(usual.hits, none.hits, "{query}");
        assert!(none.freshness.warnings[0].contains("without a cache"), "{:?}", none.freshness);
    }
    vault.write("d.md", "first thing of all");
    assert_eq!(show(&none.search(&Query::new("thing")).unwrap()), ["d.md:1 paragraph first thing of all"]);
    assert!(none.catch_up().is_err());
    // The file is gone, and the next look makes the cache.
    std::fs::remove_file(vault.home().join("file")).unwrap();
    let answer = none.search(&Query::new("thing")).unwrap();
    assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 0));
    assert!(answer.freshness.warnings.is_empty(), "{:?}", answer.freshness);
}

#[test]
fn what_only_looks_changed_changes_nothing_and_what_does_not_look_it_is_found() {
    let vault = TestVault::new("//- a.md\nalpha beta\n//- b.md\nalpha gamma\n");
    let index = vault.index();
    let before = index.search(&Query::new("alpha")).unwrap();
    let blocks = index.stats().unwrap().dead_blocks;
    // Touched: looked at, not indexed again.
    let touch = |path: &str, at: std::time::SystemTime| {
        std::fs::File::options().write(true).open(vault.path(path)).unwrap().set_modified(at).unwrap();
    };
    touch("a.md", std::time::SystemTime::now() - std::time::Duration::from_secs(90));
    index.catch_up().unwrap();
    assert_eq!(index.search(&Query::new("alpha")).unwrap().hits, before.hits);
    assert_eq!(index.stats().unwrap().dead_blocks, blocks);
    // Another text of the same size with the same time of change.
    let modified = std::fs::metadata(vault.path("b.md")).unwrap().modified().unwrap();
    vault.write("b.md", "alpha delta\n");
    touch("b.md", modified);
    assert_eq!(show(&index.search(&Query::new("delta")).unwrap()), ["b.md:1 paragraph alpha delta"]);
    assert!(index.search(&Query::new("gamma")).unwrap().hits.is_empty());
}

#[test]
fn renames_of_case_alone_and_of_folders_are_followed() {
    let vault = TestVault::new("//- Note.md\nalpha\n//- in/deep/b.md\nbeta\n");
    let index = vault.index();
    let find = |query: &str| show(&index.search(&Query::new(query)).unwrap());
    assert_eq!(find("alpha"), ["Note.md:1 paragraph alpha"]);
    std::fs::rename(vault.path("Note.md"), vault.path("note.md")).unwrap();
    std::fs::rename(vault.path("in"), vault.path("IN")).unwrap();
    assert_eq!(find("alpha"), ["note.md:1 paragraph alpha"]);
    assert_eq!(find("beta"), ["IN/deep/b.md:1 paragraph beta"]);
    assert_eq!(index.stats().unwrap().files, 2);
}

#[test]
fn a_note_that_became_a_folder_or_a_link_is_forgotten() {
    let vault = TestVault::new("//- a.md\nfirst\n//- c.md\nsecond\n//- d/e.md\nthird\n//- z/b.md\nfourth\n");
    let index = vault.index();
    assert_eq!(index.search(&Query::new("first")).unwrap().hits.len(), 1);
    for path in ["a.md", "c.md", "d/e.md"] {
        fs::remove_file(vault.path(path)).unwrap();
    }
    fs::remove_dir(vault.path("d")).unwrap();
    fs::create_dir(vault.path("a.md")).unwrap();
    std::os::unix::fs::symlink("z/b.md", vault.path("c.md")).unwrap();
    std::os::unix::fs::symlink("z", vault.path("d")).unwrap();
    fs::copy(vault.path("z/b.md"), vault.path("z/e.md")).unwrap();
    for query in ["first", "second", "third"] {
        let answer = index.search(&Query::new(query)).unwrap();
        assert_eq!(show(&answer), [""; 0], "{query}");
    }
    let found = show(&index.search(&Query::new("fourth")).unwrap());
    assert_eq!(found, ["z/b.md:1 paragraph fourth", "z/e.md:1 paragraph fourth"]);
}

#[test]
fn a_moved_vault_keeps_its_index() {
    let vault = TestVault::new("//- a.md\nfirst\n");
    assert_eq!(vault.find("first").len(), 1);
    let moved = vault.home().join("elsewhere");
    std::fs::rename(vault.root(), &moved).unwrap();
    let open = Vault::open(&moved).unwrap();
    let settings = Settings { timezone: "UTC".to_owned(), ..Settings::default() };
    let index = Index::of(open, &settings, &vault.cache(), Arc::new(SystemClock)).unwrap();
    let generation = index.stats().unwrap().generation;
    let answer = index.search(&Query::new("first")).unwrap();
    assert_eq!((answer.hits.len(), answer.freshness.checked_by), (1, CheckedBy::Scan));
    assert!(answer.freshness.generation <= generation + 1, "{:?}", answer.freshness);
}

#[test]
fn a_clock_that_jumps_hides_no_change() {
    let vault = TestVault::new("//- a.md\nfirst\n");
    // The clock says a year from now, then a year ago; the files' times are the system's.
    for (round, now) in ["2037-01-01T00:00:00Z", "2001-01-01T00:00:00Z"].iter().enumerate() {
        let clock = ManualClock::new(now.parse().unwrap());
        let index = vault.index_with(&vault.cache(), "UTC", clock);
        assert_eq!(index.search(&Query::new(["first", "round0"][round])).unwrap().hits.len(), 1);
        vault.write("a.md", format!("round{round}\n"));
        assert_eq!(index.search(&Query::new(format!("round{round}"))).unwrap().hits.len(), 1);
    }
}

#[test]
fn what_stands_around_a_nul_is_found_and_a_tail_of_them_is_no_binary() {
    let vault = TestVault::new("//- a.md\nplain\n");
    vault.write("stray.md", "The gnu\0 walks far\n\nThe emu sits\n");
    vault.write("latin.md", [&b"caf\xe9\0 with quagga\n"[..], "plain words\n".repeat(5).as_bytes()].concat());
    vault.write("cut off.md", [&b"The okapi sleeps\n"[..], &[0; 4096]].concat());
    vault.write("zeros.md", [0; 64]);
    let index = vault.index();
    let find = |query: &str| show(&index.search(&Query::new(query)).unwrap());
    assert_eq!(find("far").len(), 1);
    assert_eq!(find("emu"), ["stray.md:3 paragraph The emu sits"]);
    assert_eq!(find("quagga").len(), 1);
    assert_eq!(find("okapi"), ["cut off.md:1 paragraph The okapi sleeps"]);
    let health = index.health(true);
    assert!(health.iter().any(|finding| finding.detail.contains("zeros.md")), "{health:?}");
    assert!(!health.iter().any(|finding| finding.detail.contains("cut off.md")), "{health:?}");
}

#[test]
fn the_next_kinds_of_files_and_odd_frontmatter_are_found() {
    let long = format!("---\naliases: [\"unclosed\ntags: x\n---\nbody zebra\n\n{}", "word ".repeat(3));
    let vault = TestVault::new(
        "//- board.canvas\n{\"nodes\":[{\"id\":\"n1\",\"type\":\"text\",\"text\":\"canvas giraffe\"}],\"edges\":[]}\n\
//- view.base\nfilters:\n  and:\n    - file.hasTag(\"okapi\")\n//- broken.canvas\n{\"nodes\": [ lemur\n\
//- no heading.md\njust a marmot\n//- only frontmatter.md\n---\ntitle: The tapir\n---\n\
//- open frontmatter.md\n---\ntitle: ibex\nno end of it\n",
    );
    vault.write("broken.md", long);
    vault.write("empty.md", "");
    vault.write("blank.md", "\n \n\t\n");
    let index = vault.index();
    let find = |query: &str| show(&index.search(&Query::new(query)).unwrap());
    assert_eq!(find("giraffe kind:canvas"), ["board.canvas:1 canvas canvas giraffe"]);
    assert_eq!(find("okapi kind:text").len(), 1);
    assert_eq!(find("lemur").len(), 1);
    assert_eq!(find("marmot"), ["no heading.md:1 paragraph just a marmot"]);
    assert_eq!(find("tapir")[0].split(':').next(), Some("only frontmatter.md"));
    assert!(!find("ibex").is_empty());
    assert_eq!(find("zebra")[0], "broken.md:5 paragraph body zebra");
    assert_eq!(index.stats().unwrap().files, 9);
    let health = index.health(true);
    assert!(health.iter().any(|finding| finding.detail.contains("broken.canvas")), "{health:?}");
}

#[test]
fn every_query_gets_an_answer() {
    let vault = TestVault::new("//- a.md\nthe green kettle\n\nשלום עולם\n\na 🙂 smiles\n");
    let recall = crate::recall::open(&vault.root(), &vault.cache());
    let long = ["kettle ", "\"green ", "kettle* ", "-green ", "🙂", "שלום ", "(", "path:", "x"]
        .map(|part| part.repeat((1 << 17) / part.len()));
    let operators = [
        "\"",
        "*",
        "-",
        "- - -",
        "\"\"\"",
        "path:",
        "tag: kind: -",
        "AND OR NOT",
        "-\"",
        "()[]{}",
        "after:x before:",
        "?",
        "   ",
        "",
        "a",
        "before:never",
        "path:**/**/**",
    ];
    let odd = [
        "\0",
        "green\0kettle",
        "\u{202e}elttek\u{202c}",
        "שלום",
        "🙂",
        "\u{200d}\u{fe0f}",
        "e\u{301}\u{301}\u{301}",
        "\u{feff}kettle",
    ];
    for query in long.iter().map(String::as_str).chain(operators).chain(odd) {
        for exact in [false, true] {
            let answer = recall.search(&Query { exact, ..Query::new(query) }).unwrap();
            assert!(answer.hits.len() <= 3 && answer.freshness.complete, "{answer:?}");
        }
        let given = recall.recall(&MemoryPrompt::new(query, 400)).unwrap();
        assert!(given.digest.is_none_or(|digest| digest.len() < 2000));
        recall.index().search(&Query::new(query)).unwrap();
    }
    for (query, line) in [("green\0kettle", 1), ("שלום", 3), ("\u{feff}kettle", 1)] {
        assert_eq!(recall.search(&Query::new(query)).unwrap().hits[0].line, line, "{query:?}");
    }
    // What was not looked for is said.
    let notes = recall.index().search(&Query::new(&long[0])).unwrap().notes.join("; ");
    assert!(notes.contains("only the first"), "{notes}");
}

#[test]
fn large_and_broken_notes_are_indexed_or_named() {
    let vault = TestVault::new("//- a.md\nplain gnu\n");
    let line = "needle in a line of words ".repeat((15 << 20) / 26);
    vault.write("one line.md", format!("{line}zebra"));
    vault.write("too large.md", format!("{line}{}", "x ".repeat(1 << 20)));
    // More than 65,536.
    let headings: String = (0..70_000).map(|n| format!("# heading {n}\n")).collect();
    vault.write("headings.md", headings + "the okapi\n");
    vault.write("broken.md", [&b"the \xff\xfe\xc3\x28 quagga \xe2\x82"[..], b"\n\nthe emu\n"].concat());
    vault.write("binary.md", [0xff, 0x00, 0xd8, 0x01].repeat(4096));
    let index = vault.index();
    let find = |query: &str| show(&index.search(&Query::new(query)).unwrap());
    assert!(find("zebra")[0].starts_with("one line.md:1 "), "{:?}", find("zebra"));
    assert_eq!(find("okapi"), ["headings.md:70001 paragraph the okapi"]);
    assert_eq!(find("\"heading 69999\""), ["headings.md:70000 heading heading 69999"]);
    assert_eq!(find("emu"), ["broken.md:3 paragraph the emu"]);
    assert_eq!(find("gnu"), ["a.md:1 paragraph plain gnu"]);
    let health: Vec<String> = index.health(true).into_iter().map(|finding| finding.detail).collect();
    for (path, why) in [("too large.md", "max_file_bytes"), ("binary.md", "not text"), ("broken.md", "UTF-8")]
    {
        assert!(health.iter().any(|said| said.contains(path) && said.contains(why)), "{path}: {health:?}");
    }
}
