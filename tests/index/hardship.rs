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
fn a_cache_that_fails_costs_no_answer() {
    if alone(&a_cache_that_fails_costs_no_answer) {
        a_read_only_cache_is_searched_with_what_is_newer_and_says_so();
        an_index_that_is_emptied_before_a_commit_is_looked_at_again();
        a_crash_in_a_checkpoint_is_no_damage();
        a_full_cache_disk_is_an_error_and_search_reads_the_notes();
    }
}

fn a_read_only_cache_is_searched_with_what_is_newer_and_says_so() {
    let vault = searched("//- a.md\nfirst\n//- b.md\nsecond\n");
    let mut kept = None;
    failing("index-open-read-only", || {
        let index = vault.index();
        let answer = index.ask("first");
        assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 0));
        assert!(answer.freshness.complete);
        assert!(answer.freshness.warnings[0].contains("read-only"), "{:?}", answer.freshness);
        assert!(answer.freshness.warnings[0].contains("VAULT_AGENT_CACHE_DIR"), "{:?}", answer.freshness);
        let told = index.health(true).into_iter().filter(|found| found.detail.contains("read-only"));
        assert_eq!(told.count(), 1, "{:?}", index.health(true));
        // What is newer is read directly, again with each query.
        vault.write("a.md", "third");
        (0..2).for_each(|_| assert_eq!(index.directly("third"), (1, 1)));
        assert!(index.ask("first").hits.is_empty());
        assert!(index.catch_up().is_err());
        assert!(index.reindex(&|_| {}, &AtomicBool::new(false)).unwrap_err().is_full_or_read_only());
        kept = Some(index);
    });
    // It can be written again, and the next look does.
    let answer = kept.unwrap().ask("third");
    assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 0));
    assert!(answer.freshness.warnings.is_empty(), "{:?}", answer.freshness);
}

#[test]
fn a_folder_in_the_place_of_the_database_is_damage_that_is_mended() {
    for seal in [true, false] {
        let vault = searched("//- a.md\nfirst\n");
        let database = vault.cache().join("index.sqlite");
        std::fs::remove_file(&database).unwrap();
        std::fs::create_dir_all(database.join("in it")).unwrap();
        if !seal {
            std::fs::remove_file(vault.cache().join("index.seal")).unwrap();
        }
        // The notes are the truth: the cache is made anew without a word.
        for _ in 0..2 {
            let answer = vault.index().ask("first");
            assert_eq!((answer.hits.len(), answer.freshness.warnings), (1, Vec::new()));
        }
        assert!(database.is_file());
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_of_the_cache_is_not_waited_for() {
    for name in ["write.lock", "index.seal", "live", "live.lock", "index.sqlite", "index.sqlite-wal"] {
        let vault = searched("//- a.md\nfirst\n");
        let path = vault.cache().join(name);
        let _ = std::fs::remove_file(&path);
        fifo(&path);
        vault.write("a.md", "first again\n");
        let search = std::thread::spawn(move || vault.find("again").len());
        until(name, || search.is_finished());
        assert_eq!(search.join().unwrap(), 1, "{name}");
    }
}

fn an_index_that_is_emptied_before_a_commit_is_looked_at_again() {
    let vault = searched("//- a.md\nfirst\n//- b.md\nfirst\n");
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
    let answer = vault.index().ask("first");
    assert_eq!((answer.hits.len(), answer.freshness.complete), (2, true));
    fail::remove("index-scan");
    scenario.teardown();
}

fn a_crash_in_a_checkpoint_is_no_damage() {
    let vault = searched("//- a.md\nfirst\n//- b.md\nsecond\n");
    vault.write("a.md", "third");
    // The end of a process makes the checkpoint: the database's file is another, and its seal is not written.
    failing("index-checkpoint-middle", || assert_eq!(vault.find("third").len(), 1));
    for _ in 0..2 {
        let answer = vault.index().ask("third");
        assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 0));
        assert!(answer.freshness.warnings.is_empty(), "{:?}", answer.freshness);
    }
}

fn a_full_cache_disk_is_an_error_and_search_reads_the_notes() {
    let vault = searched("//- a.md\nfirst\n//- b.md\nsecond\n");
    vault.write("a.md", "third");
    failing("index-disk-full", || {
        let index = vault.index();
        let answer = index.ask("third");
        assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 1));
        let said = answer.freshness.warnings.join("; ");
        assert!(said.contains("no storage space"), "{said}");
        assert_eq!(index.found("second"), ["b.md:1 paragraph second"]);
        let error = index.reindex(&|_| {}, &AtomicBool::new(false)).unwrap_err();
        assert!(error.is_full_or_read_only() && !error.is_damage(), "{error}");
        assert!(matches!(error, IndexError::FullText(_) | IndexError::Cache { .. }), "{error}");
    });
    // With space again, the same cache goes on.
    assert_eq!(vault.index().directly("third"), (1, 0));
}

#[test]
fn without_any_cache_the_answers_are_the_same() {
    let vault =
        TestVault::new("//- a.md\n# One\nfirst words #x\n\n- first item\n//- b/c.md\nfirst of the second\n");
    // A file where the cache's folder should be: nobody can write there, root neither.
    std::fs::write(vault.home().join("file"), "").unwrap();
    let (usual, none) = (vault.index(), vault.index_at(&vault.home().join("file/cache")));
    for query in ["first", "one first", "tag:x", "\"first item\"", "path:b first", "nothing"] {
        let [usual, none] = [&usual, &none].map(|index| index.ask(query));
        assert_eq!(usual.hits, none.hits, "{query}");
        assert!(none.freshness.warnings[0].contains("without a cache"), "{:?}", none.freshness);
    }
    vault.write("d.md", "first thing of all");
    assert_eq!(none.found("thing"), ["d.md:1 paragraph first thing of all"]);
    assert!(none.catch_up().is_err());
    // The file is gone, and the next look makes the cache.
    std::fs::remove_file(vault.home().join("file")).unwrap();
    let answer = none.ask("thing");
    assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 0));
    assert!(answer.freshness.warnings.is_empty(), "{:?}", answer.freshness);
}

#[test]
fn what_only_looks_changed_changes_nothing_and_what_does_not_look_it_is_found() {
    let (vault, index) = indexed("//- a.md\nalpha beta\n//- b.md\nalpha gamma\n");
    let before = index.ask("alpha");
    let blocks = index.stats().unwrap().dead_blocks;
    // Touched: looked at, not indexed again.
    set_modified(&vault.path("a.md"), SystemTime::now() - Duration::from_secs(90)).unwrap();
    index.catch_up().unwrap();
    assert_eq!(index.ask("alpha").hits, before.hits);
    assert_eq!(index.stats().unwrap().dead_blocks, blocks);
    // Another text of the same size with the same time of change.
    let modified = std::fs::metadata(vault.path("b.md")).unwrap().modified().unwrap();
    vault.write("b.md", "alpha delta\n");
    set_modified(&vault.path("b.md"), modified).unwrap();
    assert_eq!(index.found("delta"), ["b.md:1 paragraph alpha delta"]);
    assert!(index.ask("gamma").hits.is_empty());
}

#[test]
fn renames_of_case_alone_and_of_folders_are_followed() {
    let (vault, index) = indexed("//- Note.md\nalpha\n//- in/deep/b.md\nbeta\n");
    assert_eq!(index.found("alpha"), ["Note.md:1 paragraph alpha"]);
    std::fs::rename(vault.path("Note.md"), vault.path("note.md")).unwrap();
    std::fs::rename(vault.path("in"), vault.path("IN")).unwrap();
    assert_eq!(index.found("alpha"), ["note.md:1 paragraph alpha"]);
    assert_eq!(index.found("beta"), ["IN/deep/b.md:1 paragraph beta"]);
    assert_eq!(index.stats().unwrap().files, 2);
}

#[test]
fn a_note_that_became_a_folder_or_a_link_is_forgotten() {
    let (vault, index) =
        indexed("//- a.md\nfirst\n//- c.md\nsecond\n//- d/e.md\nthird\n//- z/b.md\nfourth\n");
    assert_eq!(index.ask("first").hits.len(), 1);
    for path in ["a.md", "c.md", "d/e.md"] {
        fs::remove_file(vault.path(path)).unwrap();
    }
    fs::remove_dir(vault.path("d")).unwrap();
    fs::create_dir(vault.path("a.md")).unwrap();
    std::os::unix::fs::symlink("z/b.md", vault.path("c.md")).unwrap();
    std::os::unix::fs::symlink("z", vault.path("d")).unwrap();
    fs::copy(vault.path("z/b.md"), vault.path("z/e.md")).unwrap();
    for query in ["first", "second", "third"] {
        assert_eq!(index.found(query), [""; 0], "{query}");
    }
    assert_eq!(index.found("fourth"), ["z/b.md:1 paragraph fourth", "z/e.md:1 paragraph fourth"]);
}

#[test]
fn a_moved_vault_keeps_its_index() {
    let vault = searched("//- a.md\nfirst\n");
    let moved = vault.home().join("elsewhere");
    std::fs::rename(vault.root(), &moved).unwrap();
    let index = index_of(&moved, &vault.cache(), "UTC", SystemClock);
    let generation = index.stats().unwrap().generation;
    let answer = index.ask("first");
    assert_eq!((answer.hits.len(), answer.freshness.checked_by), (1, CheckedBy::Scan));
    assert!(answer.freshness.generation <= generation + 1, "{:?}", answer.freshness);
}

#[test]
fn a_clock_that_jumps_hides_no_change() {
    let vault = TestVault::new("//- a.md\nfirst\n");
    // The clock says a year from now, then a year ago; the files' times are the system's.
    for (round, now) in ["2037-01-01T00:00:00Z", "2001-01-01T00:00:00Z"].iter().enumerate() {
        let index = index_of(&vault.root(), &vault.cache(), "UTC", ManualClock::new(now.parse().unwrap()));
        assert_eq!(index.ask(["first", "round0"][round]).hits.len(), 1);
        vault.write("a.md", format!("round{round}\n"));
        assert_eq!(index.ask(format!("round{round}")).hits.len(), 1);
    }
}

#[test]
fn every_query_gets_an_answer() {
    let vault = TestVault::new("//- a.md\nthe green kettle\n\nשלום עולם\n\na 🙂 smiles\n");
    let recall = crate::recall::open(&vault.root(), &vault.cache());
    let long = ["kettle ", "\"green ", "kettle* ", "-green ", "🙂", "שלום ", "(", "path:", "x"]
        .map(|part| part.repeat((1 << 17) / part.len()));
    let odd = "\"|*|-|- - -|\"\"\"|path:|tag: kind: -|AND OR NOT|-\"|()[]{}|after:x before:|?|   ||a|before:never\
        |path:**/**/**|\0|green\0kettle|\u{202e}elttek\u{202c}|שלום|🙂|\u{200d}\u{fe0f}|e\u{301}\u{301}\u{301}\
        |\u{feff}kettle";
    for query in long.iter().map(String::as_str).chain(odd.split('|')) {
        for exact in [false, true] {
            let answer = recall.search(&Query { exact, ..Query::new(query) }).unwrap();
            assert!(answer.hits.len() <= 3 && answer.freshness.complete, "{answer:?}");
        }
        let given = recall.recall(&MemoryPrompt::new(query, 400)).unwrap();
        assert!(given.digest.is_none_or(|digest| digest.len() < 2000));
        recall.index().ask(query);
    }
    for (query, line) in [("green\0kettle", 1), ("שלום", 3), ("\u{feff}kettle", 1)] {
        assert_eq!(recall.search(&Query::new(query)).unwrap().hits[0].line, line, "{query:?}");
    }
    // What was not looked for is said.
    let notes = recall.index().ask(&long[0]).notes.join("; ");
    assert!(notes.contains("only the first"), "{notes}");
}

#[test]
fn odd_large_and_broken_files_are_indexed_as_far_as_they_are_text_or_named() {
    let vault = TestVault::new(
        "//- a.md\nplain gnu\n//- no heading.md\njust a marmot\n//- crlf.md\none\r\n\r\ntwo thistles\r\n\
//- board.canvas\n{\"nodes\":[{\"id\":\"n1\",\"type\":\"text\",\"text\":\"canvas giraffe\"}],\"edges\":[]}\n\
//- view.base\nfilters:\n  and:\n    - file.hasTag(\"ocelot\")\n//- broken.canvas\n{\"nodes\": [ lemur\n\
//- only frontmatter.md\n---\ntitle: The tapir\n---\n//- open frontmatter.md\n---\ntitle: ibex\nno end of it\n\
//- odd frontmatter.md\n---\ntags: [a\n  b: : c\n---\nbroken frontmatter walrus\n\
//- unclosed.md\n---\naliases: [\"unclosed\ntags: x\n---\nbody gecko\n\nword word word \n\
//- empty.md\n//- blank.md\n\n \n\n\t\n//- note (conflicted copy 2026-01-01).md\nconflict\n//- x.bin\nnot a note\n",
    );
    let utf16: Vec<u8> = "\u{feff}Grüße aus sixteen".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let line = "needle in a line of words ".repeat((15 << 20) / 26);
    // More than 65,536.
    let headings: String = (0..70_000).map(|n| format!("# heading {n}\n")).collect();
    let broken = [&b"the \xff\xfe\xc3\x28 quagga \xe2\x82"[..], b"\n\nthe emu\n"].concat();
    vault.write("utf16.md", utf16);
    vault.write("latin #1 100%.md", b"Gr\xfc\xdfe aus latin");
    vault.write("🙂/ü/#a %20?.md", "emoji folder");
    vault.write("binary.md", [0u8, 1, 2, 3].repeat(50));
    vault.write("binary too.md", [0xff, 0x00, 0xd8, 0x01].repeat(4096));
    vault.write("big.md", "big words here. ".repeat(400_000));
    vault.write("list.md", (0..10_000).map(|n| format!("- item number x{n}\n")).collect::<String>());
    vault.write(format!("{}deep.md", "deep/".repeat(60)), "abyss");
    vault.write("one line.md", format!("{line}zebra"));
    vault.write("too large.md", format!("{line}{}", "x ".repeat(1 << 20)));
    vault.write("headings.md", headings + "the okapi\n");
    vault.write("broken.md", broken);
    // What stands around a NUL is found, and a tail of them is no binary.
    vault.write("stray.md", "The newt\0 walks far\n\nThe kiwi sits\n");
    vault.write("caf.md", [&b"caf\xe9\0 with potoo\n"[..], "plain words\n".repeat(5).as_bytes()].concat());
    vault.write("cut off.md", [&b"The capybara sleeps\n"[..], &[0; 4096]].concat());
    vault.write("zeros.md", [0; 64]);
    let index = vault.index();
    for (query, found) in [
        ("thistles", "crlf.md:3 paragraph two thistles"),
        ("x7777", "list.md:7778 item item number x7777"),
        ("okapi", "headings.md:70001 paragraph the okapi"),
        ("\"heading 69999\"", "headings.md:70000 heading heading 69999"),
        ("emu", "broken.md:3 paragraph the emu"),
        ("gnu", "a.md:1 paragraph plain gnu"),
        ("kiwi", "stray.md:3 paragraph The kiwi sits"),
        ("capybara", "cut off.md:1 paragraph The capybara sleeps"),
        ("giraffe kind:canvas", "board.canvas:1 canvas canvas giraffe"),
        ("marmot", "no heading.md:1 paragraph just a marmot"),
    ] {
        assert_eq!(index.found(query), [found], "{query}");
    }
    for query in ["abyss", "walrus", "far", "potoo", "ocelot kind:text", "lemur"] {
        assert_eq!(index.found(query).len(), 1, "{query}");
    }
    for (query, first) in [
        ("grusse sixteen", "utf16.md:1 paragraph Grüße aus sixteen"),
        ("latin", "latin #1 100%.md:1 paragraph Grüße aus latin"),
        ("emoji", "🙂/ü/#a %20?.md:1 paragraph emoji folder"),
        ("zebra", "one line.md:1 "),
        ("gecko", "unclosed.md:5 paragraph body gecko"),
        ("tapir", "only frontmatter.md:"),
        ("ibex", "open frontmatter.md:"),
    ] {
        assert!(index.found(query)[0].starts_with(first), "{query}: {:?}", index.found(query));
    }
    assert_eq!(index.search(&Query::new("big").limit(3)).unwrap().hits.len(), 3);
    let stats = index.stats().unwrap();
    assert_eq!((stats.files, stats.skipped, stats.by_kind["item"]), (24, 5, 10_000));
    assert!(stats.left_out["binary.md"].contains("not text"));
    assert!(stats.left_out["note (conflicted copy 2026-01-01).md"].contains("conflict copy"));
    let health: Vec<String> = index.health(true).into_iter().map(|finding| finding.detail).collect();
    for (path, why) in [
        ("too large.md", "max_file_bytes"),
        ("binary too.md", "not text"),
        ("broken.md", "UTF-8"),
        ("odd frontmatter.md", ""),
        ("broken.canvas", ""),
        ("zeros.md", ""),
    ] {
        assert!(health.iter().any(|said| said.contains(path) && said.contains(why)), "{path}: {health:?}");
    }
    assert!(!health.iter().any(|said| said.contains("cut off.md")), "{health:?}");
}
