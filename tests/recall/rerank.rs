//! The reranker: endpoints that answer and fail as real ones do, a cross-encoder in a directory, and what a deep search
//! makes of them.

use vault_agent::config;
use vault_agent::rerank::{Reranker, endpoint::EndpointReranker, local::LocalReranker};

use crate::recall::table::{tiny, tiny_with};
use crate::recall::{hits, paths};
use crate::reranker::endpoint;
use crate::support::prelude::*;

const PATIENCE: Duration = Duration::from_secs(2);

/// What this endpoint makes of so many texts.
fn scores_of(url: String, count: usize) -> Result<Vec<f64>, String> {
    let settings = config::RerankSettings { url: Some(url), ..config::RerankSettings::default() };
    let reranker = EndpointReranker::open(&settings, Path::new("/nowhere")).unwrap();
    let texts: Vec<String> = (0..count).map(|at| format!("text {at}")).collect();
    reranker.scores("which?", &texts, PATIENCE).map_err(|error| error.to_string())
}

fn scores(word: &'static str, count: usize) -> Result<Vec<f64>, String> {
    scores_of(endpoint(&[word]).0, count)
}

#[test]
fn both_forms_of_an_answer_are_taken() {
    assert_eq!(scores("good", 3).unwrap(), [0.0, 0.1, 0.2]);
    assert_eq!(scores("bare", 3).unwrap(), [0.0, 0.1, 0.2]);
    let forty = scores("tei", 40).unwrap();
    assert_eq!((forty[31], forty[32], forty.len()), (3.1, 0.0, 40), "in batches that it takes");
    assert_eq!(scores("down", 0).unwrap(), [] as [f64; 0], "nobody is asked about nothing");
}

#[test]
fn what_goes_wrong_is_named() {
    for (word, part) in [
        ("down", "refuses: status 500"),
        ("limit", "can't be reached: status 429"),
        ("slow", "no answer in time"),
        ("cut", "the connection broke"),
        ("html", "`<html>login</html>`"),
        ("empty", "no results in `{}`"),
        ("few", "2 scores for 3 texts"),
        ("beyond", "index 3 of 3 texts"),
        ("negative", "index -1 of 3 texts"),
        ("twice", "index 1 twice"),
        ("null", "`null` as a score"),
        ("nan", "something else than scores"),
        ("infinite", "something else than scores"),
        ("large", "more than 4 MiB"),
        ("elsewhere", "refuses: status 307"),
        ("key", "status 401 Unauthorized: `no such key`"),
    ] {
        let error = scores(word, 3).unwrap_err();
        assert!(error.contains(part), "{word}: {error}");
    }
    let error = scores_of("http://127.0.0.1:9".into(), 1).unwrap_err();
    assert!(error.contains("endpoint:127.0.0.1 can't be reached: no connection"), "{error}");
}

const NOTES: &str = "\
//- vault-agent.toml
//- boiler.md
# Repair
The boiler was repaired by the plumber in March.
//- cellar.md
The cellar has a boiler and a plumber's card on its door.
//- plumber.md
A plumber came to look at the boiler's valve, Ms Kovac.
";

fn set(vault: &TestVault, rerank: &str) {
    vault.write("vault-agent.toml", format!("[rerank]\n{rerank}\n"));
}

#[test]
fn a_deep_search_is_in_the_reranker_s_order_and_says_whose() {
    let mut vault = TestVault::new(NOTES);
    let (url, server) = endpoint(&["good"]);
    set(&vault, &format!("provider = \"endpoint\"\nurl = \"{url}/v1/\"\nmodel = \"judge\""));
    vault.env("RERANK_API_KEY", "s3cret");
    let question = "who repaired the boiler?";
    let plain = vault.json(&["search", question]);
    assert!(plain.get("reranked").is_none() && server.requests().is_empty(), "{plain}");
    let deep = vault.run(&["--json", "search", "--deep", question]).ok();
    let (words, deep) = (deep.stderr.clone(), deep.json());
    let (mut before, after) = (paths(&plain), paths(&deep));
    before.reverse();
    assert_eq!(before, after, "{deep}");
    assert_eq!(deep["reranked"], json!({"by": "endpoint:judge", "hits": after.len()}));
    let score = |hit: &Value| hit["score"].as_f64().unwrap();
    assert!(hits(&deep).is_sorted_by(|a, b| score(a) >= score(b)), "{deep}");
    assert!(deep["hits"][0]["relevance"].is_f64(), "{deep}");
    assert!(words.is_empty(), "{words}");
    let asked = server.requests().remove(0);
    let (method, path, body) = (asked.method.as_str(), asked.path.as_str(), &asked.body);
    assert_eq!((method, path, &*asked.headers["authorization"]), ("POST", "/v1/rerank", "Bearer s3cret"));
    assert_eq!(pick(body, "query model top_n"), json!([question, "judge", after.len()]));
    let texts = body["documents"].as_array().unwrap();
    let text = json!("boiler > Repair\nThe boiler was repaired by the plumber in March.");
    assert!(texts.contains(&text), "{body}");
    // Neither what is given unasked nor a plain search asks it, and one hit is the first of all.
    assert_eq!(paths(&vault.json(&["search", "--deep", "-n", "1", question])), after[..1]);
    let lines = [json!({"id": 1, "query": question, "deep": true}), json!({"id": 2, "query": question})];
    let lines = vault.run_with(&["search", "--stdin"], &format!("{}\n{}\n", lines[0], lines[1])).ok();
    let lines: Vec<Value> = lines.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((paths(&lines[0]), &lines[0]["reranked"]["by"]), (after, &json!("endpoint:judge")));
    assert!(lines[1].get("reranked").is_none());
}

#[test]
fn a_reranker_that_fails_leaves_the_order_and_a_note() {
    let mut vault = TestVault::new(NOTES);
    vault.env("RERANK_API_KEY", "s3cret");
    let question = "who repaired the boiler?";
    let plain = vault.json(&["search", question]);
    for word in ["down", "limit", "slow", "cut", "html", "beyond", "nan", "elsewhere", "key"] {
        let (url, _) = endpoint(&[word]);
        set(&vault, &format!("provider = \"endpoint\"\nurl = \"{url}\"\ntimeout_seconds = 1"));
        let run = vault.run(&["--json", "search", "--deep", question]).ok();
        let deep = run.json();
        assert_eq!(deep["hits"], plain["hits"], "{word}");
        assert!(deep.get("reranked").is_none(), "{word}");
        let note = deep["notes"][0].as_str().unwrap();
        assert!(note.ends_with("; the order is search's own") && run.stderr.contains(note), "{word}: {note}");
        assert!(!run.stdout.contains("s3cret") && !run.stderr.contains("s3cret"), "{word}");
    }
    for (rerank, part) in [
        ("", "names no reranker"),
        ("provider = \"local:models/none\"", "is no directory"),
        ("provider = \"local:models/none\"\nlanguages = [\"xx\"]", "`xx`, which can't be told"),
    ] {
        set(&vault, rerank);
        let deep = vault.json(&["search", "--deep", question]);
        assert_eq!(deep["hits"], plain["hits"]);
        assert!(deep["notes"][0].as_str().unwrap().contains(part), "{deep}");
    }
}

#[test]
fn a_question_in_a_language_that_it_doesn_t_know_is_not_sent() {
    let vault = TestVault::new(NOTES);
    let (url, server) = endpoint(&["good"]);
    set(&vault, &format!("provider = \"endpoint\"\nurl = \"{url}\"\nlanguages = [\"de\"]"));
    let deep = vault.json(&["search", "--deep", "who repaired the boiler when it was broken?"]);
    contains_all(deep["notes"][0].as_str().unwrap(), &["knows de, and the question seems to be in en"]);
    assert!(server.requests().is_empty());
    set(&vault, &format!("provider = \"endpoint\"\nurl = \"{url}\"\nlanguages = [\"en\", \"de\"]"));
    let deep = vault.json(&["search", "--deep", "who repaired the boiler when it was broken?"]);
    assert_eq!(deep["reranked"]["by"], "endpoint:127.0.0.1", "{deep}");
}

#[test]
fn a_cross_encoder_in_a_directory_reranks() {
    let dir = tempfile::tempdir().unwrap();
    tiny(dir.path());
    let error = LocalReranker::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("without the tensor `pooler.dense.weight`"), "{error}");
    tiny_with(dir.path(), &[("pooler.dense", 4), ("classifier", 3)]);
    let error = LocalReranker::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("`classifier` in another size than 1 rows of 4"), "{error}");
    tiny_with(dir.path(), &[("pooler.dense", 4), ("classifier", 1)]);
    let model = LocalReranker::open(dir.path()).unwrap();
    let texts = ["cat".to_owned(), "dog cats".to_owned(), "dog ".repeat(500), String::new()];
    let scores = model.scores("cats", &texts, PATIENCE).unwrap();
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
    assert_ne!(scores[0], scores[1]);
    assert_eq!(scores, model.scores("cats", &texts, PATIENCE).unwrap());
    let late = model.scores("cats", &texts, Duration::ZERO).unwrap_err().to_string();
    assert!(late.contains("isn't done after 0 s"), "{late}");
    // Through the program, from a folder beside the vault.
    let vault = TestVault::new("//- a.md\ncats and a dog\n//- b.md\na dog, cats, a dog\n");
    set(&vault, &format!("provider = \"local:{}\"", dir.path().display()));
    let deep = vault.json(&["search", "--deep", "cats"]);
    assert!(deep["reranked"]["by"].as_str().unwrap().starts_with("local:"), "{deep}");
}

#[test]
fn wrong_settings_are_pointed_at() {
    for (rerank, part) in [
        ("provider = \"cohere\"", "give `none`, `endpoint` or `local:<dir>`"),
        ("provider = \"endpoint\"", "no `rerank.url` says where it is"),
        ("provider = \"endpoint\"\nurl = \"file:///etc/passwd\"", "is no web address"),
        ("languages = [\"english\"]", "codes of two letters"),
        ("timeout_seconds = 600", "from 1 to 60"),
    ] {
        let error = config::Settings::parse(&format!("[rerank]\n{rerank}\n")).unwrap_err();
        let words = format!("{error} {}", error.suggestion.as_deref().unwrap_or_default());
        assert!(words.contains(part), "{words}");
    }
    let error = config::Settings::parse("[embed]\nprovider = \"cohere\"\n").unwrap_err();
    assert_eq!(
        error.suggestion.unwrap(),
        "give `builtin`, `none`, `local:<dir>`, `google`, `openai` or `ollama`"
    );
}
