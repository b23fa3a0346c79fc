//! Network providers against an endpoint that behaves in every wrong way.

use serde_json::{Value, json};
use vault_agent::config;
use vault_agent::embed::http::EndpointModel;
use vault_agent::embed::retry::{self, Backoff};
use vault_agent::embed::{EmbedError, EmbedPurpose, Provider};

use crate::models::{ModelServer, Reply};
use crate::recall::shapes::says;

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

fn provider(url: &str) -> EndpointModel {
    let settings = config::EmbedSettings {
        provider: "openai".into(),
        url: Some(url.into()),
        ..config::EmbedSettings::default()
    };
    EndpointModel::open(&settings, std::path::Path::new("/nowhere")).unwrap()
}

async fn embed(script: &[&'static str], tries: u32) -> Result<Vec<Vec<f32>>, EmbedError> {
    let server = endpoint(script).await;
    let pause = std::time::Duration::from_millis;
    let backoff = Backoff { first: pause(1), most: pause(2), tries };
    retry::embed(&provider(&server.url()), &["a".into(), String::new()], EmbedPurpose::Document, backoff)
        .await
}

#[tokio::test]
async fn good_answers_are_taken_in_order_and_empty_texts_are_not_sent() {
    let server = endpoint(&["good"]).await;
    let vectors =
        provider(&server.url()).embed(&["a".into(), " ".into()], EmbedPurpose::Document).await.unwrap();
    assert_eq!(vectors, [[0.6, 0.8], [0.6, 0.8]]);
    assert_eq!(server.requests()[0].body["input"], json!(["a", "-"]));
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    assert!(embed(&["down", "limit", "good"], 5).await.is_ok());
    let error = embed(&["down"], 3).await.unwrap_err();
    assert!(matches!(&error, EmbedError::Unreachable { reason, .. } if reason.contains("502")), "{error}");
    let dead = provider("http://127.0.0.1:9").embed(&["a".into()], EmbedPurpose::Query).await.unwrap_err();
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
    let settings = config::EmbedSettings { provider: "google".into(), ..config::EmbedSettings::default() };
    if std::env::var_os("GOOGLE_API_KEY").is_none() {
        let error = EndpointModel::open(&settings, std::path::Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("set `GOOGLE_API_KEY`"), "{error}");
    }
}
