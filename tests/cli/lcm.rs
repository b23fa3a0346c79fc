//! `lcm`: a long conversation summarised without any brain, found again, expanded to its bytes, proved, mended.
#![cfg(feature = "assistant")]

use crate::support::prelude::*;

const LOG: &str = "logs/discord-channel/7/20261101T090000Z_0001.md";
const FOLDER: &str = "summaries/discord-channel/7/20261101T090000Z_0001";

/// A log of so many messages of about 250 tokens each; one of them is about the mast.
fn log(messages: usize) -> String {
    let mut text = LOG_HEAD.to_owned();
    for at in 0..messages {
        let (kind, who) = if at % 2 == 0 { ("user", "Alice") } else { ("agent", "Vault") };
        let nothing = format!("Message {at} is about nothing much. ");
        let said = if at == 10 { "We decided that the mast is painted blue on 3 May. " } else { &nothing };
        let filler = "It goes on and on for a while, as talk does. ".repeat(22);
        let minute = format!("2026-11-{:02}T{:02}:{:02}:00Z", 1 + at / 600, 9 + at / 60 % 10, at % 60);
        let words = format!("{said}{filler}\n```\n- [ ] no task ❦");
        text += &event(&format!("{kind}] {minute} {who}"), &words, &format!("M{at:05}"));
    }
    text
}

fn vault(messages: usize) -> TestVault {
    let vault = TestVault::new("");
    vault.write(LOG, log(messages));
    vault
}

/// What `verify` finds wrong; its exit code says whether it finds something.
fn bad(vault: &TestVault) -> Vec<Value> {
    let run = vault.run(&["--json", "lcm", "verify"]);
    let bad = run.json()["bad"].as_array().unwrap().clone();
    assert_eq!(run.code, i32::from(!bad.is_empty()), "{}", run.stdout);
    bad
}

fn ids(vault: &TestVault, depth: u32) -> Vec<String> {
    let notes = vault.tree();
    let ids = notes.iter().filter(|(path, _)| path.contains(&format!("{FOLDER}/d{depth}-")));
    ids.filter_map(|(_, text)| Some(text.lines().nth(1)?.strip_prefix("id: ")?.to_owned())).collect()
}

#[test]
fn a_long_conversation_is_summarised_and_every_byte_comes_back() {
    let vault = vault(520);
    assert_eq!(vault.run(&["lcm", "verify"]).ok().stdout, "there are no summaries yet\n");
    let made = vault.json(&["lcm", "update", "--extract"]);
    let (leaves, above) = (ids(&vault, 0), ids(&vault, 1));
    assert!(leaves.len() >= 4 && !above.is_empty(), "{made}");
    assert_eq!(made["written"].as_array().unwrap().len(), leaves.len() + above.len());
    assert_eq!(vault.json(&["lcm", "verify"]), json!({"summaries": leaves.len() + above.len(), "bad": []}));
    let text = vault.read(LOG);
    let mut at = text.find("\n> [!user]").unwrap() + 1;
    for id in &leaves {
        let bytes = vault.run(&["lcm", "expand", id]).ok().stdout;
        assert!(text[at..].starts_with(&bytes), "the leaves stand one behind another");
        at += bytes.len() + 1;
        let blocks = vault.json(&["lcm", "expand", id])["blocks"].clone();
        let texts = blocks.as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap());
        assert_eq!((texts.collect::<String>(), &blocks[0]["path"]), (bytes, &json!(LOG)));
    }
    let described = vault.run(&["--json", "lcm", "describe", &above[0]]).ok().json();
    assert_eq!(pick(&described, "kind depth sources"), json!(["condensed", 1, leaves[..4]]));
    let below = vault.run(&["--json", "lcm", "expand", &above[0], "--summaries"]).ok().json();
    assert_eq!(below["blocks"].as_array().unwrap().len(), 4);
    let cut = vault.run(&["--json", "lcm", "expand", &above[0], "--max-tokens", "1000"]).ok().json();
    assert_eq!((&cut["truncated"], cut["blocks"].as_array().unwrap().len()), (&true.into(), 3));
    let found = vault.json(&["lcm", "grep", "mast", "blue", "--scope", "messages"]);
    assert_eq!(found["hits"][0]["ref"], "[msg#^M00010]", "{found}");
    let found = vault.json(&["lcm", "grep", "--regex", r"painted \w+ on", "--scope", "summaries"]);
    assert!(found["hits"][0]["ref"].as_str().unwrap().starts_with("[sum_"), "{found}");
    assert_eq!(vault.json(&["lcm", "update", "--extract"])["written"], json!([]));
    vault.run(&["check"]).lacks("summaries/");
}

#[test]
fn what_is_lost_or_changed_is_shown_and_mended() {
    let vault = vault(520);
    let _ = vault.run(&["lcm", "update", "--extract"]).ok();
    let leaves = ids(&vault, 0);
    let note = |at: usize| format!("{FOLDER}/d0-{:04}.md", at + 1);
    // A deleted summary is missing, and comes back with its id.
    fs::remove_file(vault.path(note(1))).unwrap();
    assert_eq!(bad(&vault)[0]["id"], leaves[1]);
    let _ = vault.run(&["lcm", "update", "--extract"]).ok();
    assert_eq!(ids(&vault, 0), leaves);
    let _ = vault.run(&["lcm", "verify"]).ok();
    // A log that somebody changed is a finding of `check`, too.
    let log = vault.read(LOG);
    vault.write(LOG, log.replace("Message 3 is", "Message 3 was"));
    assert!(vault.run(&["check"]).stdout.contains(&format!("{}:1:1: `{LOG}` changed after", note(0))));
    fs::remove_file(vault.path(LOG)).unwrap();
    // A log that a person moved is read there.
    let moved = format!("logs/old/{}", LOG.rsplit('/').next().unwrap());
    vault.write(&moved, &log);
    let _ = vault.run(&["lcm", "verify"]).ok();
    assert_eq!(vault.json(&["lcm", "expand", &leaves[0]])["blocks"][0]["path"], moved);
    fs::remove_file(vault.path(&moved)).unwrap();
    vault.write(LOG, log);
    let _ = vault.run(&["lcm", "verify"]).ok();
    // A note whose head somebody broke is a finding of `check`.
    vault.write(note(0), vault.read(&note(0)).replace("sha256: ", "sha256: x"));
    vault.run(&["check"]).exits(1).says(format!("{}:7:9: ", note(0)));
}

#[test]
fn what_a_person_wrote_into_a_summary_stays() {
    let vault = vault(520);
    let _ = vault.run(&["lcm", "update", "--extract"]).ok();
    let log = vault.read(LOG);
    for (name, depth) in [("d1-0001.md", 1), ("d0-0001.md", 0)] {
        let note = format!("{FOLDER}/{name}");
        let mine = vault.read(&note).replace("\nExpand for", "\nMY OWN WORDS\n\nExpand for");
        vault.write(&note, &mine);
        vault.write(LOG, log.replace("Message 3 is", "Message 3 was"));
        if depth == 1 {
            fs::remove_file(vault.path(format!("{FOLDER}/d0-0002.md"))).unwrap();
        }
        let _ = vault.run(&["lcm", "update", "--extract"]).ok();
        assert_eq!(vault.read(&note), mine);
        let told = bad(&vault);
        let delete = format!("edited by hand: delete `{note}`");
        assert!(told.iter().any(|bad| bad["why"].as_str().unwrap().contains(&delete)), "{told:?}");
        fs::remove_file(vault.path(&note)).unwrap();
        let _ = vault.run(&["lcm", "update", "--extract"]).ok();
        assert_eq!(bad(&vault), Vec::<Value>::new());
        vault.write(LOG, &log);
        let _ = vault.run(&["lcm", "update", "--extract"]).ok();
    }
}

#[test]
fn undo_means_no_summary() {
    let vault = vault(400);
    let _ = vault.run(&["memory", "save", "Anna likes oolong"]).ok();
    let _ = vault.run(&["lcm", "update", "--extract"]).ok();
    let summaries = ids(&vault, 0);
    assert!(!summaries.is_empty());
    let _ = vault.run(&["undo"]).ok();
    assert!(!vault.has("MEMORY.md") || !vault.read("MEMORY.md").contains("oolong"));
    assert_eq!(ids(&vault, 0), summaries);
}

#[test]
fn what_a_person_changed_in_a_log_is_told_as_it_is() {
    let vault = vault(520);
    let _ = vault.run(&["lcm", "update", "--extract"]).ok();
    let (leaves, log) = (ids(&vault, 0), vault.read(LOG));
    let first = vault.run(&["lcm", "expand", &leaves[0]]).ok().stdout;
    let why = |text: &str| {
        vault.write(LOG, text);
        let bad = bad(&vault);
        let one = bad.iter().find(|bad| bad["id"] == leaves[0].as_str()).unwrap_or_else(|| panic!("{bad:?}"));
        one["why"].as_str().unwrap().to_owned()
    };
    // Other words: what stands there is given, with a word that it isn't what was summarised.
    assert!(why(&log.replace("Message 3 is", "Message 3 was")).contains("changed after it was summarised"));
    let run = vault.run(&["lcm", "expand", &leaves[0]]);
    run.exits(1).warns("the log differs from the summarised text: ");
    assert_eq!(run.stdout, first.replace("Message 3 is", "Message 3 was"));
    let run = vault.run(&["--json", "lcm", "expand", &leaves[0]]);
    assert!(run.json()["problem"].as_str().unwrap().contains("changed after it was"), "{}", run.stdout);
    // No first event: nothing is made up, and what to do stands there.
    let gone = why(&log.replace("\n^M00000\n", "\n"));
    contains_all(&gone, &["doesn't hold the event ^M00000 any more", "d0-0001.md"]);
    let run = vault.run(&["lcm", "expand", &leaves[0]]);
    assert_eq!(run.exits(1).warns("can't be given back: ").warns("^M00000").stdout, "");
    // Whoever does what is advised gets there.
    let _ = why(&log.replace("\n^M00000\n", "\n"));
    for _ in 0..3 {
        for bad in bad(&vault) {
            let why = bad["why"].as_str().unwrap();
            if let Some((path, _)) = why.split_once("delete `").and_then(|(_, rest)| rest.split_once('`')) {
                fs::remove_file(vault.path(path)).unwrap();
            }
        }
        let _ = vault.run(&["lcm", "update", "--extract"]).ok();
    }
    let _ = vault.run(&["lcm", "verify"]).ok();
}

#[test]
fn what_others_wrote_does_nothing_to_a_terminal() {
    let vault = vault(520);
    vault.write(LOG, vault.read(LOG).replace("Message 3 is", "\u{1b}]52;c;aGk=\u{7} Message 3 is"));
    let _ = vault.run(&["lcm", "update", "--extract"]).ok();
    let first = &ids(&vault, 0)[0];
    let shown = vault.run(&["lcm", "expand", first, "--max-tokens", "5000"]).ok().stdout;
    assert!(shown.contains("\u{fffd}]52;c;aGk=\u{fffd} Message 3") && !shown.contains('\u{1b}'), "{shown}");
    assert!(vault.run(&["lcm", "expand", first]).ok().stdout.contains('\u{1b}'), "a file gets every byte");
    for args in [&["lcm", "describe", first][..], &["lcm", "grep", "Message", "3"]] {
        assert!(!vault.run(args).ok().stdout.contains(['\u{1b}', '\u{7}']), "{args:?}");
    }
}

#[test]
fn what_can_not_be_searched_or_found_says_so() {
    let vault = TestVault::new("//- now: 2026-12-01T09:30:00Z\n");
    for (args, code, words) in [
        (&["lcm", "grep"][..], 2, "there is nothing to search for"),
        (&["lcm", "grep", "--regex", "("], 2, "is no regular expression"),
        (&["lcm", "grep", "x", "--since", "whenever"], 2, "`whenever` is no time"),
        (&["lcm", "expand", "../../etc/passwd"], 1, "no summary has the id"),
    ] {
        vault.run(args).exits(code).warns(words);
    }
}
