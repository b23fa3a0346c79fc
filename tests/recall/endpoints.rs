//! Network providers: what is sent to each kind of endpoint, how a vault's vectors come about, and an endpoint that behaves
//! in every wrong way.

use vault_agent::config::EmbedSettings;
use vault_agent::embed::{EmbedPurpose, ModelError, Provider, http::EndpointModel, retry, retry::Backoff};
use vault_agent::search::{Index, MemoryPrompt, Query, Recall, store::vectors::Counts};

use crate::models::{Asked, Fault};
use crate::support::prelude::*;

/// An endpoint that answers each request with the next word of the script, the last one for ever.
async fn endpoint(script: &[&'static str]) -> ModelServer {
    let mut script = script.to_vec();
    ModelServer::by(move |asked| {
        let word = if script.len() > 1 { script.remove(0) } else { script[0] };
        answer(word, asked.body["input"].as_array().map_or(0, Vec::len))
    })
    .await
}

fn answer(word: &str, n: usize) -> Reply {
    let data = |vector: Value, n: usize| {
        let data: Vec<Value> = (0..n).rev().map(|i| json!({"index": i, "embedding": vector})).collect();
        says(&json!({ "data": data }))
    };
    match word {
        "good" => data(json!([0.6, 0.8]), n),
        "few" => data(json!([0.6, 0.8]), n - 1),
        "null" => data(json!([0.6, null]), n),
        "huge" => data(json!([0.6, 1e300]), n),
        "html" => Reply::raw("text/html", "<html>login</html>"),
        "limit" => Reply::status(429).retry_after(0).body("slow down"),
        "down" => Reply::status(502),
        _ => Reply::status(401).body("no such key"),
    }
}

/// The settings of a provider at this address, with this key.
fn settings(provider: &str, url: &str, key: Option<&Path>) -> EmbedSettings {
    let key = key.inspect(|key| write_private(key, "s3cret\n"));
    let key_file = key.map(|key| key.to_str().unwrap().into());
    EmbedSettings { provider: provider.into(), url: Some(url.into()), key_file, ..EmbedSettings::default() }
}

fn open(settings: &EmbedSettings) -> Result<EndpointModel, ModelError> {
    EndpointModel::open(settings, Path::new("/nowhere"))
}

/// What an endpoint without a key makes of these texts.
async fn embedded(url: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    open(&settings("openai", url, None)).unwrap().embed(&texts, EmbedPurpose::Document).await
}

async fn embed(script: &[&'static str], tries: u32) -> Result<Vec<Vec<f32>>, ModelError> {
    let server = endpoint(script).await;
    let (first, most) = (Duration::from_millis(1), Duration::from_millis(2));
    let model = open(&settings("openai", &server.url(), None)).unwrap();
    let texts = ["a".into(), String::new()];
    retry::embed(&model, &texts, EmbedPurpose::Document, Backoff { first, most, tries }).await
}

#[tokio::test]
async fn good_answers_are_taken_in_order_and_empty_texts_are_not_sent() {
    let server = endpoint(&["good"]).await;
    assert_eq!(embedded(&server.url(), &["a", " "]).await.unwrap(), [[0.6, 0.8], [0.6, 0.8]]);
    assert_eq!(server.requests()[0].body["input"], json!(["a", "-"]));
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    assert!(embed(&["down", "limit", "good"], 5).await.is_ok());
    let error = embed(&["down"], 3).await.unwrap_err();
    assert!(matches!(&error, ModelError::Unreachable { reason, .. } if reason.contains("502")), "{error}");
    let dead = embedded("http://127.0.0.1:9", &["a"]).await.unwrap_err();
    assert!(dead.to_string().contains("can't be reached: no connection"), "{dead}");
}

#[tokio::test]
async fn what_is_wrong_is_named_and_not_tried_again() {
    for (word, part) in [
        ("html", "`<html>login</html>`"),
        ("few", "1 vectors for 2 texts"),
        ("null", "`null` in a vector"),
        ("huge", "`inf` at place 1"),
        ("no", "status 401 Unauthorized: `no such key`"),
    ] {
        // A second try would be "good": it must not happen.
        let error = embed(&[word, "good"], 5).await.unwrap_err().to_string();
        assert!(error.contains(part), "{word}: {error}");
    }
}

#[test]
fn a_missing_key_is_a_setting_to_mend() {
    let settings = EmbedSettings { provider: "google".into(), ..EmbedSettings::default() };
    if std::env::var_os("GOOGLE_API_KEY").is_none() {
        let error = open(&settings).unwrap_err().to_string();
        assert!(error.contains("set `GOOGLE_API_KEY`"), "{error}");
    }
}

/// JSON as an endpoint's answer.
pub fn says(value: &Value) -> Reply {
    Reply::raw("application/json", value.to_string())
}

#[tokio::test]
async fn each_provider_is_asked_in_its_own_words() {
    let (dir, vectors) = (tempfile::tempdir().unwrap(), json!([[0.0, 1.0], [1.0, 0.0]]));
    let model = "models/gemini-embedding-001";
    let requests = ["a", "b"].map(
        |text| json!({"model": model, "taskType": "RETRIEVAL_QUERY", "content": {"parts": [{"text": text}]}}),
    );
    for (provider, answer, path, key, body) in [
        (
            "google",
            json!({"embeddings": [{"values": [0.0, 1.0]}, {"values": [1.0, 0.0]}]}),
            "/models/gemini-embedding-001:batchEmbedContents",
            "s3cret",
            json!({ "requests": requests }),
        ),
        (
            "openai",
            json!({"data": [{"index": 1, "embedding": [1.0, 0.0]}, {"index": 0, "embedding": [0.0, 1.0]}]}),
            "/embeddings",
            "Bearer s3cret",
            json!({"model": "text-embedding-3-small", "input": ["a", "b"], "encoding_format": "float"}),
        ),
        (
            "ollama",
            json!({ "embeddings": vectors }),
            "/api/embed",
            "Bearer s3cret",
            json!({"model": "nomic-embed-text", "input": ["a", "b"], "truncate": true}),
        ),
    ] {
        let server = ModelServer::of(vec![says(&answer)]).await;
        let http = open(&settings(provider, &server.url(), Some(&dir.path().join("key")))).unwrap();
        let found = http.embed(&["a".into(), "b".into()], EmbedPurpose::Query).await.unwrap();
        assert_eq!(found, [[0.0, 1.0], [1.0, 0.0]], "{provider}");
        let [asked] = &server.requests()[..] else { panic!("{provider}: {:?}", server.requests()) };
        let found = asked.headers.get("x-goog-api-key").or(asked.headers.get("authorization"));
        let found = (asked.path.as_str(), found.map(String::as_str), &asked.body);
        assert_eq!(found, (path, Some(key), &body), "{provider}");
    }
}

/// Recall of a vault with these settings.
fn recall(vault: &Folder, settings: &Settings, clock: Arc<dyn Clock>) -> Recall {
    let index = Index::of(Vault::open(&vault.root()).unwrap(), settings, &vault.cache(), clock).unwrap();
    Recall::new(Arc::new(index), settings)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_refused_keeps_no_other_out() {
    let vault = TestVault::new("");
    for n in 0..200 {
        vault.write(format!("{n}.md"), format!("{} {n}\n", if n == 70 { "poison" } else { "number" }));
    }
    let server = ModelServer::by(|asked| {
        let texts = asked.body["input"].as_array().unwrap();
        let is_long = texts.iter().any(|text| text.as_str().unwrap().contains("poison"));
        if is_long { Reply::status(500).body("input is too large") } else { answer("good", texts.len()) }
    })
    .await;
    let all = Settings { embed: settings("openai", &server.url(), None), ..Settings::default() };
    let done = recall(&vault, &all, Arc::new(SystemClock)).embed_pending().await.unwrap();
    assert_eq!(done.counts, Counts { pending: 0, ok: 199, failed: 1 });
    assert!(done.error.unwrap().to_string().contains("input is too large"));
    assert!(server.requests().len() < 30, "{}", server.requests().len());
}

/// As a size: the endpoint takes the request, begins to answer and never ends.
const SLOW: usize = usize::MAX;

/// An endpoint whose vectors have as many numbers as its state says; with none it refuses.
async fn sized() -> (ModelServer, Arc<Mutex<usize>>) {
    let size = Arc::new(Mutex::new(0));
    let now = Arc::clone(&size);
    let answer = move |asked: &Asked| {
        let size = *now.lock().unwrap();
        if size == 0 {
            return Reply::status(401).body("no");
        }
        if size == SLOW {
            return says(&Value::Null).fault(Fault::HangAfter(0));
        }
        let texts = asked.body["input"].as_array().unwrap();
        let one = |text: &Value| {
            let x = f64::from(text.as_str().unwrap().contains("kitten"));
            [vec![x, 1.0 - x], vec![0.1; size - 2]].concat()
        };
        let data = texts.iter().enumerate();
        let data: Vec<Value> =
            data.map(|(index, text)| json!({"index": index, "embedding": one(text)})).collect();
        says(&json!({ "data": data }))
    };
    (ModelServer::by(answer).await, size)
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_go_from_pending_over_failed_to_ok_and_a_new_model_starts_anew() {
    let vault = TestVault::new("//- note.md\na kitten\n\nthe dishwasher\n");
    let (server, size) = sized().await;
    let clock = Arc::new(ManualClock::new("2026-08-01T09:00:00Z".parse().unwrap()));
    let mut all = Settings { embed: settings("openai", &server.url(), None), ..Settings::default() };
    let open = |all: &Settings| recall(&vault, all, clock.clone());
    let recall = open(&all);
    let notes = |recall: &Recall| recall.search(&Query::new("kitten")).unwrap().notes.join(" ");
    let share = |recall: &Recall| {
        let given = recall.recall(&MemoryPrompt::new("a kitten?", 400)).unwrap().freshness.embedded_percent;
        (recall.search(&Query::new("kitten")).unwrap().freshness.embedded_percent, given)
    };

    // Refused: failed, and told; nothing is asked again before its time.
    let first = recall.embed_pending().await.unwrap();
    assert_eq!((first.failed, first.counts), (2, Counts { pending: 0, ok: 0, failed: 2 }));
    assert!(notes(&recall).contains("nothing is embedded by `openai:text-embedding-3-small` yet"));
    assert_eq!(share(&recall), (Some(0), Some(0)));
    *size.lock().unwrap() = 2;
    assert_eq!(recall.embed_pending().await.unwrap().embedded, 0);
    // The hourly pass finds them.
    clock.advance(jiff::SignedDuration::from_hours(1));
    assert_eq!(recall.embed_pending().await.unwrap().counts, Counts { pending: 0, ok: 2, failed: 0 });
    assert_eq!(notes(&recall), "");
    assert_eq!(share(&recall), (Some(100), Some(100)));

    // An endpoint that never ends its answer: the built-in vectors rank, and the person is told.
    *size.lock().unwrap() = SLOW;
    let mut slow = open(&all);
    slow.patience = std::time::Duration::from_millis(20);
    let answer = slow.search(&Query::new("kitten")).unwrap();
    assert_eq!(answer.hits.len(), 1);
    contains_all(answer.notes.join(" "), &["no answer in time; ranked with the built-in vectors"]);

    // Another dimension is no vector of this model: the old ones stay.
    *size.lock().unwrap() = 3;
    vault.write("note.md", "a kitten\n\nthe dishwasher\n\nthe vet\n");
    let third = recall.embed_pending().await.unwrap();
    assert_eq!(third.counts, Counts { pending: 0, ok: 2, failed: 1 });
    assert!(third.error.unwrap().to_string().contains("dimension 3 where its stored vectors have 2"));
    assert!(notes(&recall).contains("has embedded 66 % so far") || notes(&recall).contains("dimension 3"));

    // Another model embeds everything; until it has, the answer says who ranked.
    all.embed.model = Some("other".into());
    let recall = open(&all);
    assert!(notes(&recall).contains("nothing is embedded by `openai:other` yet"));
    assert_eq!(recall.embed_pending().await.unwrap().counts, Counts { pending: 0, ok: 3, failed: 0 });
    assert_eq!(notes(&recall), "");
    // A moved note is not embedded again.
    fs::rename(vault.path("note.md"), vault.path("moved.md")).unwrap();
    assert_eq!(recall.embed_pending().await.unwrap().embedded, 0);
}
