//! What is sent to each kind of endpoint, over a real socket, and how a vault's vectors come about: pending, failed,
//! embedded, embedded anew by another model.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use vault_agent::clock::ManualClock;
use vault_agent::config::{self, Settings};
use vault_agent::embed::http::EndpointModel;
use vault_agent::embed::{EmbedPurpose, Provider};
use vault_agent::search::store::corpus::vectors::Counts;
use vault_agent::search::{Index, MemoryPrompt, Query, Recall};
use vault_agent::vault::Vault;

/// A request: path, key header, body.
pub type Seen = Arc<Mutex<Vec<(String, String, Value)>>>;
pub type Answer = Box<dyn Fn(&Value) -> Response + Send + Sync>;

/// An endpoint that writes down what it is asked.
pub async fn endpoint(answer: Answer) -> (String, Seen) {
    let seen = Seen::default();
    let (noted, answer) = (Arc::clone(&seen), Arc::new(answer));
    let app = Router::new().fallback(move |request: Request| {
        let (noted, answer) = (Arc::clone(&noted), Arc::clone(&answer));
        async move {
            let (head, body) = request.into_parts();
            let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
            let key = header("x-goog-api-key").or_else(|| header("authorization")).unwrap_or("").to_owned();
            let path = head.uri.path().to_owned();
            let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            noted.lock().unwrap().push((path, key, body.clone()));
            answer(&body)
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (url, seen)
}

fn settings(provider: &str, url: &str, key: &std::path::Path) -> config::EmbedSettings {
    std::fs::write(key, "s3cret\n").unwrap();
    crate::support::set_mode(key, 0o600);
    config::EmbedSettings {
        provider: provider.into(),
        url: Some(url.into()),
        key_file: Some(key.to_str().unwrap().into()),
        ..config::EmbedSettings::default()
    }
}

#[tokio::test]
async fn each_provider_is_asked_in_its_own_words() {
    let dir = tempfile::tempdir().unwrap();
    let vectors = json!([[0.0, 1.0], [1.0, 0.0]]);
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
        let (url, seen) = endpoint(Box::new(move |_| axum::Json(answer.clone()).into_response())).await;
        let at = dir.path().join("key");
        let http =
            EndpointModel::open(&settings(provider, &url, &at), std::path::Path::new("/nowhere")).unwrap();
        let found = http.embed(&["a".into(), "b".into()], EmbedPurpose::Query).await.unwrap();
        assert_eq!(found, [[0.0, 1.0], [1.0, 0.0]], "{provider}");
        assert_eq!(*seen.lock().unwrap(), [(path.to_owned(), key.to_owned(), body)], "{provider}");
    }
}

/// As a size: the endpoint takes the request, begins to answer and never ends.
const SLOW: usize = usize::MAX;

/// An endpoint whose vectors have as many numbers as its state says; with none it refuses.
async fn sized() -> (String, Arc<Mutex<usize>>) {
    let size = Arc::new(Mutex::new(0));
    let now = Arc::clone(&size);
    let answer = move |body: &Value| {
        let size = *now.lock().unwrap();
        if size == 0 {
            return (axum::http::StatusCode::UNAUTHORIZED, "no").into_response();
        }
        if size == SLOW {
            let never = futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>();
            return axum::body::Body::from_stream(never).into_response();
        }
        let texts = body["input"].as_array().unwrap();
        let one = |text: &Value| {
            let x = f64::from(text.as_str().unwrap().contains("kitten"));
            [vec![x, 1.0 - x], vec![0.1; size - 2]].concat()
        };
        let data = texts.iter().enumerate();
        let data: Vec<Value> =
            data.map(|(index, text)| json!({"index": index, "embedding": one(text)})).collect();
        axum::Json(json!({ "data": data })).into_response()
    };
    (endpoint(Box::new(answer)).await.0, size)
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_go_from_pending_over_failed_to_ok_and_a_new_model_starts_anew() {
    let dir = tempfile::tempdir().unwrap();
    let note = dir.path().join("vault/note.md");
    std::fs::create_dir_all(note.parent().unwrap()).unwrap();
    std::fs::write(&note, "a kitten\n\nthe dishwasher\n").unwrap();
    let (url, size) = sized().await;
    let clock = Arc::new(ManualClock::new("2026-08-01T09:00:00Z".parse().unwrap()));
    let mut all =
        Settings { embed: settings("openai", &url, &dir.path().join("key")), ..Settings::default() };
    let open = |all: &Settings| {
        let vault = Vault::open(&dir.path().join("vault")).unwrap();
        let index = Index::of(vault, all, &dir.path().join("cache"), clock.clone()).unwrap();
        Recall::new(Arc::new(index), all, clock.clone())
    };
    let recall = open(&all);
    let notes = |recall: &Recall| recall.search(&Query::new("kitten")).unwrap().notes.join(" ");
    let share = |recall: &Recall| {
        let given = recall.recall(&MemoryPrompt::new("a kitten?", 400)).unwrap().freshness.embedded_percent;
        (recall.search(&Query::new("kitten")).unwrap().freshness.embedded_percent, given)
    };

    // Refused: failed, and told; nothing is asked again before its time.
    let first = recall.reconcile().await.unwrap();
    assert_eq!((first.failed, first.counts), (2, Counts { pending: 0, ok: 0, failed: 2 }));
    assert!(notes(&recall).contains("nothing is embedded by `openai:text-embedding-3-small` yet"));
    assert_eq!(share(&recall), (Some(0), Some(0)));
    *size.lock().unwrap() = 2;
    assert_eq!(recall.reconcile().await.unwrap().embedded, 0);
    // The hourly pass finds them.
    clock.advance(jiff::SignedDuration::from_hours(1));
    assert_eq!(recall.reconcile().await.unwrap().counts, Counts { pending: 0, ok: 2, failed: 0 });
    assert_eq!(notes(&recall), "");
    assert_eq!(share(&recall), (Some(100), Some(100)));

    // An endpoint that never ends its answer: the built-in vectors rank, and the person is told.
    *size.lock().unwrap() = SLOW;
    let slow = open(&all).patience(std::time::Duration::from_millis(20));
    let answer = slow.search(&Query::new("kitten")).unwrap();
    assert_eq!(answer.hits.len(), 1);
    assert!(
        answer.notes.join(" ").contains("no answer in time; ranked with the built-in vectors"),
        "{answer:?}"
    );

    // Another dimension is no vector of this model: the old ones stay.
    *size.lock().unwrap() = 3;
    std::fs::write(&note, "a kitten\n\nthe dishwasher\n\nthe vet\n").unwrap();
    let third = recall.reconcile().await.unwrap();
    assert_eq!(third.counts, Counts { pending: 0, ok: 2, failed: 1 });
    assert!(third.error.unwrap().to_string().contains("dimension 3 where its stored vectors have 2"));
    assert!(notes(&recall).contains("has embedded 66 % so far") || notes(&recall).contains("dimension 3"));

    // Another model embeds everything; until it has, the answer says who ranked.
    all.embed.model = Some("other".into());
    let recall = open(&all);
    assert!(notes(&recall).contains("nothing is embedded by `openai:other` yet"));
    assert_eq!(recall.reconcile().await.unwrap().counts, Counts { pending: 0, ok: 3, failed: 0 });
    assert_eq!(notes(&recall), "");
    // A moved note is not embedded again.
    std::fs::rename(&note, dir.path().join("vault/moved.md")).unwrap();
    assert_eq!(recall.reconcile().await.unwrap().embedded, 0);
}
