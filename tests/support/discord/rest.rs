//! The REST door: reads a request, lets the faults have their way, asks `api`, and writes the record.

use super::Shared;
use super::api::{self, Answer};
use super::faults::{self, Fault, Scope};
use super::world::Record;
use crate::support::prelude::*;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::{Router, extract::State, response::Response};

pub async fn serve(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    let _ = axum::serve(listener, router(shared)).await;
}

pub fn router(shared: Arc<Shared>) -> Router {
    Router::new().fallback(handle).with_state(shared)
}

async fn handle(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let path = uri.path().trim_start_matches("/api/v10").to_owned();
    let query = uri.query().unwrap_or_default().to_owned();
    let body: Value =
        if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap_or(Value::Null) };
    let authorization =
        headers.get("authorization").and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    let fault = faults::take(&shared, method.as_str(), &format!("{path}?{query}"));
    if let Some(file) = path.strip_prefix("/attachments/") {
        let bytes = shared.world.lock().unwrap().files.get(file).cloned().filter(|_| fault.is_none());
        let answer = Response::builder().status(if bytes.is_some() { 200 } else { 404 });
        return answer.body(Body::from(bytes.unwrap_or_default())).unwrap();
    }
    let request = api::Request {
        method: method.as_str(),
        path: &path,
        query: &query,
        authorization: &authorization,
        body: &body,
    };
    let not_done = match &fault {
        Some(Fault::DropRequest) => Some(None),
        Some(Fault::Status(status, body)) => Some(Some(Answer::new(*status, body.clone()))),
        Some(Fault::RateLimited { scope, retry_after }) => Some(Some(limited(*scope, *retry_after))),
        _ => None,
    };
    let answer = not_done.unwrap_or_else(|| Some(ask(&shared, &request)));
    let status = answer.as_ref().map_or(0, |a| a.status);
    shared.records.lock().unwrap().push(Arc::new(Record {
        at: std::time::Instant::now(),
        method: method.to_string(),
        path: path.clone(),
        body: body.clone(),
        status,
    }));
    let Some(answer) = answer else { break_connection() };
    match fault {
        Some(Fault::LoseAnswer) => break_connection(),
        Some(Fault::StatusAfter(status, body)) => write(&Answer::new(status, body)),
        Some(Fault::Garbage) => raw(200, &[], "<html>this is no JSON</html>".into()),
        Some(Fault::OddJson) => raw(200, &[], json!({ "ok": true }).to_string()),
        Some(Fault::Slow(by)) => {
            tokio::time::sleep(by).await;
            write(&answer)
        }
        _ => write(&answer),
    }
}

/// Asks the API, and checks request and answer against its description.
fn ask(shared: &Shared, request: &api::Request<'_>) -> Answer {
    let answer = api::answer(&mut shared.world.lock().unwrap(), request);
    let Some(schema) = &shared.schema else { return answer };
    let mut found = vec![];
    if !request.body.is_null() {
        found.extend(schema.request(request.method, request.path, request.body));
    }
    if !answer.body.is_null() && answer.status < 300 {
        found.extend(schema.answer(request.method, request.path, answer.status, &answer.body));
    }
    shared.violations.lock().unwrap().extend(found);
    answer
}

/// Ends the connection without an answer: the task that serves it unwinds, silently.
fn break_connection() -> ! {
    std::panic::resume_unwind(Box::new("the connection is to break here"))
}

pub fn limited(scope: Scope, retry_after: f64) -> Answer {
    let global = scope == Scope::Global;
    let body =
        json!({ "message": "You are being rate limited.", "retry_after": retry_after, "global": global });
    let mut headers = vec![
        ("x-ratelimit-scope", format!("{scope:?}").to_lowercase()),
        ("retry-after", format!("{}", retry_after.ceil())),
        ("x-ratelimit-reset-after", format!("{retry_after}")),
        ("x-ratelimit-remaining", "0".into()),
    ];
    headers.extend(global.then(|| ("x-ratelimit-global", "true".into())));
    Answer { headers, ..Answer::new(429, body) }
}

fn write(answer: &Answer) -> Response {
    let text = if answer.body.is_null() { String::new() } else { answer.body.to_string() };
    raw(answer.status, &answer.headers, text)
}

fn raw(status: u16, headers: &[(&'static str, String)], text: String) -> Response {
    let mut response = Response::builder().status(StatusCode::from_u16(status).unwrap());
    if !text.is_empty() {
        response = response.header("content-type", "application/json");
    }
    for (name, value) in headers {
        response = response.header(*name, value);
    }
    response.body(Body::from(text)).unwrap()
}
