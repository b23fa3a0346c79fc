//! A reranker's endpoint on a real socket, which answers as real ones do: well, or in one of the ways in which they fail.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What it was asked: the head of the request, and its body.
pub type Seen = Arc<Mutex<Vec<(String, Value)>>>;

/// An endpoint that answers each request with the next word of the script, the last one for ever. A good answer turns
/// the order round.
pub fn endpoint(script: &[&'static str]) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let seen = Seen::default();
    let (noted, mut script) = (Arc::clone(&seen), script.to_vec());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let word = if script.len() > 1 { script.remove(0) } else { script[0] };
            let noted = Arc::clone(&noted);
            // Whoever hangs up early does what a test wants of it.
            std::thread::spawn(move || converse(&stream.unwrap(), word, &noted));
        }
    });
    (url, seen)
}

fn converse(mut stream: &TcpStream, word: &str, seen: &Seen) -> std::io::Result<()> {
    let mut read = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        read.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
        head += &line;
    }
    let mut body = vec![0; length];
    read.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap();
    let texts = body["documents"].as_array().or_else(|| body["texts"].as_array()).map_or(0, Vec::len);
    let misses = body.get("texts").is_none();
    seen.lock().unwrap().push((head, body));
    let (status, more, text) = answer(word, texts, misses);
    // Cut in the middle: more is promised than comes.
    let length = if word == "cut" { text.len() * 2 } else { text.len() };
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n{text}")?;
    stream.flush()
}

fn answer(word: &str, n: usize, misses: bool) -> (&'static str, &'static str, String) {
    let list =
        |key: &str| -> Vec<Value> { (0..n).map(|at| json!({"index": at, key: at as f64 / 10.0})).collect() };
    let results = |list: Vec<Value>| json!({ "results": list }).to_string();
    let ok = |text: String| ("200 OK", "", text);
    let mut good = list("relevance_score");
    match word {
        "good" => ok(results(good)),
        "bare" => ok(Value::Array(list("score")).to_string()),
        // Text Embeddings Inference.
        "tei" if misses => {
            ("422 Unprocessable Entity", "", "Failed to deserialize: missing field `texts`".into())
        }
        "tei" if n > 32 => ("413 Payload Too Large", "", "batch size > maximum allowed batch size 32".into()),
        "tei" => ok(Value::Array(list("score")).to_string()),
        "few" => {
            good.pop();
            ok(results(good))
        }
        "beyond" => {
            good[0]["index"] = json!(n);
            ok(results(good))
        }
        "twice" => {
            good[0]["index"] = json!(1);
            ok(results(good))
        }
        "negative" => {
            good[0]["index"] = json!(-1);
            ok(results(good))
        }
        "null" => {
            good[0]["relevance_score"] = Value::Null;
            ok(results(good))
        }
        "nan" => ok(results(good).replace("0.0", "NaN")),
        "infinite" => ok(results(good).replace("0.0", "1e999")),
        "empty" => ok("{}".into()),
        "html" => ok("<html>login</html>".into()),
        "cut" => ok(results(good)),
        "large" => ok(" ".repeat(5 << 20)),
        "limit" => ("429 Too Many Requests", "retry-after: 1\r\n", "slow down".into()),
        "down" => ("500 Internal Server Error", "", "oops".into()),
        "elsewhere" => ("307 Temporary Redirect", "location: http://127.0.0.1:9/rerank\r\n", String::new()),
        "slow" => {
            // Longer than anybody waits here; the client has hung up by then.
            std::thread::sleep(Duration::from_secs(3));
            ok(results(good))
        }
        _ => ("401 Unauthorized", "", "no such key".into()),
    }
}
