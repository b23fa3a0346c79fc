//! Recall's own view of the vault goes in step with the index, and with nothing else.

use std::sync::Arc;

use vault_agent::search::follow::follower::Follower;
use vault_agent::search::{Query, Recall};

use crate::recall::open;
use crate::support::until;

#[test]
fn what_was_read_before_it_was_committed_and_taken_back_is_forgotten() {
    let (dir, root) = crate::recall::folder();
    let write = |text: &str| std::fs::write(root.join("a.md"), text).unwrap();
    write("the kitten\n");
    let open = || open(&root, &dir.path().join("cache"));
    let recall = open();
    let texts = |recall: &Recall| {
        let hits = recall.search(&Query::new("kitten zebra")).unwrap().hits;
        hits.into_iter().map(|hit| hit.text).collect::<Vec<_>>()
    };
    let follower = Follower::start(Arc::clone(recall.index())).unwrap();
    until("the first look", || follower.following().following);
    assert_eq!(texts(&recall), ["the kitten"]);
    // Being typed, and not settled: read directly.
    write("the zebra\n");
    follower.stirring(["a.md".to_owned()]);
    assert_eq!(texts(&recall), ["the zebra"]);
    // Taken back before anything was committed: the index never knew of it.
    write("the kitten\n");
    follower.changed(["a.md".to_owned()]);
    until("the commit", || follower.following().behind == 0);
    assert_eq!(texts(&recall), ["the kitten"]);
    // A process that begins with what this one saved finds the same.
    assert_eq!(texts(&open()), ["the kitten"]);
}

#[test]
fn what_a_rest_gave_back_is_made_again() {
    let (dir, root) = crate::recall::folder();
    std::fs::write(root.join("a.md"), "the kitten\n\nthe zebra and its kitten\n").unwrap();
    let recall = open(&root, &dir.path().join("cache")).resident();
    let first = recall.search(&Query::new("kitten zebra")).unwrap().hits;
    assert_eq!(first.len(), 2);
    for _ in 0..2 {
        recall.rest();
        assert_eq!(recall.search(&Query::new("kitten zebra")).unwrap().hits, first);
    }
}

#[test]
fn few_hits_are_the_first_of_many() {
    let (dir, root) = crate::recall::folder();
    std::fs::create_dir(root.join("some")).unwrap();
    let words = ["kitten", "shelter", "garden", "kettle", "river", "adopted", "a cat", "young dog"];
    for n in 0..60 {
        let of = |by: usize| words[n * by % words.len()];
        let text =
            format!("# {}\n\nthe {} and the {}\n\n%% {} %%\n\n- {}\n", of(1), of(3), of(5), of(7), of(7));
        let folder = if n % 3 == 0 { "some/" } else { "" };
        std::fs::write(root.join(format!("{folder}{n}.md")), text).unwrap();
    }
    let recall = open(&root, &dir.path().join("cache"));
    let places = |text: &str, scope: Option<&str>, limit: usize| -> Vec<(String, u32)> {
        let query = Query { limit, scope: scope.map(str::to_owned), ..Query::new(text) };
        recall.search(&query).unwrap().hits.into_iter().map(|hit| (hit.path, hit.line)).collect()
    };
    for text in ["kitten shelter", "who adopted a cat?", "kettle by the river"] {
        for scope in [None, Some("some")] {
            // So many that words alone don't find them all.
            let all = places(text, scope, 1000);
            assert!(all.len() >= 10, "{text}: {}", all.len());
            for limit in (1..all.len()).step_by(3) {
                assert_eq!(places(text, scope, limit), all[..limit], "{text} in {scope:?}");
            }
        }
    }
}

#[test]
fn others_memories_don_t_crowd_out_what_is_seen() {
    let (dir, root) = crate::recall::folder();
    for n in 0..250 {
        std::fs::write(root.join(format!("{n}.md")), "kitten shelter #project/x\n").unwrap();
    }
    let far = "a kitten, in a long text about many other things that makes the one word count for little";
    std::fs::write(root.join("seen.md"), format!("{far}\n")).unwrap();
    std::fs::write(root.join("own.md"), format!("{far} #project/y\n")).unwrap();
    let recall = open(&root, &dir.path().join("cache"));
    for limit in [1, 2, 10] {
        for (scope, path) in [("global", "seen.md"), ("project:Y", "own.md")] {
            for text in ["kitten shelter", "kitt* shelt*"] {
                let query = Query { limit, scope: Some(scope.to_owned()), ..Query::new(text) };
                let hits = recall.search(&query).unwrap().hits;
                let paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
                assert_eq!(paths, [path], "{text} in {scope}, {limit}");
            }
        }
    }
}
