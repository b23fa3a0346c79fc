//! Queries and notes that nobody means well: each gets an answer, or a sentence.

use vault_agent::search::{MemoryPrompt, Query};

use super::vault::{TestVault, show};

#[test]
fn every_query_gets_an_answer() {
    let vault = TestVault::of("//- a.md\nthe green kettle\n\nשלום עולם\n\na 🙂 smiles\n");
    let recall = crate::recall::open(&vault.root(), &vault.cache());
    let long = ["kettle ", "\"green ", "kettle* ", "-green ", "🙂", "שלום ", "(", "path:", "x"]
        .map(|part| part.repeat((1 << 20) / part.len()));
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
    let vault = TestVault::of("//- a.md\nplain gnu\n");
    let line = "needle in a line of words ".repeat((15 << 20) / 26);
    vault.write("one line.md", format!("{line}zebra"));
    vault.write("too large.md", format!("{line}{}", "x ".repeat(1 << 20)));
    let headings: String = (0..100_000).map(|n| format!("# heading {n}\n")).collect();
    vault.write("headings.md", headings + "the okapi\n");
    vault.write("broken.md", [&b"the \xff\xfe\xc3\x28 quagga \xe2\x82"[..], b"\n\nthe emu\n"].concat());
    vault.write("binary.md", [0xff, 0x00, 0xd8, 0x01].repeat(4096));
    let index = vault.index();
    let find = |query: &str| show(&index.search(&Query::new(query)).unwrap());
    assert!(find("zebra")[0].starts_with("one line.md:1 "), "{:?}", find("zebra"));
    assert_eq!(find("okapi"), ["headings.md:100001 paragraph the okapi"]);
    assert_eq!(find("\"heading 99999\""), ["headings.md:100000 heading heading 99999"]);
    assert_eq!(find("emu"), ["broken.md:3 paragraph the emu"]);
    assert_eq!(find("gnu"), ["a.md:1 paragraph plain gnu"]);
    let health: Vec<String> = index.health().into_iter().map(|finding| finding.detail).collect();
    for (path, why) in [("too large.md", "max_file_bytes"), ("binary.md", "not text"), ("broken.md", "UTF-8")]
    {
        assert!(health.iter().any(|said| said.contains(path) && said.contains(why)), "{path}: {health:?}");
    }
}
