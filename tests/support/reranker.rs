//! A reranker's endpoint, which answers as real ones do: well, or in one of the ways in which they fail.
#![allow(dead_code)]

use crate::support::prelude::*;

/// An endpoint that answers each request with the next word of the script, the last one for ever, and runs as long as
/// the tests. A good answer turns the order round.
pub fn endpoint(script: &[&'static str]) -> (String, &'static ModelServer) {
    let (_, server) = Box::leak(Box::new(ModelServer::alone()));
    let mut script = script.to_vec();
    server.respond(move |asked| {
        let word = if script.len() > 1 { script.remove(0) } else { script[0] };
        let texts = asked.body["documents"].as_array().or(asked.body["texts"].as_array()).map_or(0, Vec::len);
        answer(word, texts, asked.body.get("texts").is_none())
    });
    (server.url(), server)
}

fn answer(word: &str, n: usize, misses: bool) -> Reply {
    let list =
        |key: &str| -> Vec<Value> { (0..n).map(|at| json!({"index": at, key: at as f64 / 10.0})).collect() };
    let ok = |text: String| Reply::raw("application/json", text);
    let results = |list: Vec<Value>| json!({ "results": list }).to_string();
    let mut good = list("relevance_score");
    match word {
        "good" => {}
        "bare" => return ok(Value::Array(list("score")).to_string()),
        // Text Embeddings Inference.
        "tei" if misses => {
            return Reply::status(422).body("Failed to deserialize: missing field `texts`");
        }
        "tei" if n > 32 => return Reply::status(413).body("batch size > maximum allowed batch size 32"),
        "tei" => return ok(Value::Array(list("score")).to_string()),
        "few" => drop(good.pop()),
        "beyond" => good[0]["index"] = json!(n),
        "twice" => good[0]["index"] = json!(1),
        "negative" => good[0]["index"] = json!(-1),
        "null" => good[0]["relevance_score"] = Value::Null,
        "nan" => return ok(results(good).replace("0.0", "NaN")),
        "infinite" => return ok(results(good).replace("0.0", "1e999")),
        "empty" => return ok("{}".into()),
        "html" => return ok("<html>login</html>".into()),
        "cut" => return ok(results(good)).cut(usize::MAX),
        "large" => return ok(" ".repeat(5 << 20)),
        "limit" => return Reply::status(429).retry_after(1).body("slow down"),
        "down" => return Reply::status(500).body("oops"),
        "elsewhere" => return Reply::status(307).header("location", "http://127.0.0.1:9/rerank"),
        // Longer than anybody waits here; the client has hung up by then.
        "slow" => return ok(results(good)).after(Duration::from_secs(3)),
        _ => return Reply::status(401).body("no such key"),
    }
    ok(results(good))
}
