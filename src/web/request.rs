//! Handles an HTTP request to the page, and makes the response.
//!
//! The host name and the session are checked first. Then the code of the requested place (such as `/inbox`) is called.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::Markup;

use super::answer::{MadeChange, PageError, PageView, Result};
use super::dates::DateOrder;
use super::entry::{self, CalledHost};
use super::layout;
use super::parts::is_form_id;
use super::places::{self, PagePlace};
use super::store::{FormIdState, PageSession};
use super::visit::{FormData, PageShared, Visit};
use crate::config::NotifyKind;
use crate::listen::secret;

/// A body may have so many bytes.
const MOST_BODY: usize = 1 << 20;
/// And may take so long.
const PATIENCE: Duration = Duration::from_secs(10);
/// Stands before the outcome of a form that is sent again.
const SENT_BEFORE: &str = "This form was sent before, so nothing was done now. The first time: ";
/// A manifest is asked for besides what the page's own files are.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'";

/// Answers one request.
pub(super) async fn handle(State(shared): State<Arc<PageShared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let wants_json = wants_json(&parts);
    let refused = |found| refused(found, wants_json, &FormData::default());
    let mut response = answer(shared, parts, body).await.unwrap_or_else(refused);
    let is_refused_method = response.status() == StatusCode::METHOD_NOT_ALLOWED;
    let headers = response.headers_mut();
    if is_refused_method {
        headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, HeaderValue::from_static("Accept, Accept-Language, Cookie"));
    response
}

async fn answer(shared: Arc<PageShared>, parts: Parts, body: Body) -> Result<Response> {
    let called = entry::host(&shared.names, &parts.headers)?;
    let path = parts.uri.path();
    let is_read = parts.method == Method::GET || parts.method == Method::HEAD;
    if is_read && let Some(file) = layout::asset(path) {
        return Ok(file);
    }
    // A HEAD, as link checkers send, uses no code up.
    if parts.method == Method::GET && path == "/in" {
        return enter(&shared, &called, &parts);
    }
    let cookie = entry::cookie(&called, shared.port, &parts.headers);
    let (workspace, _) = shared.workspace();
    let session = cookie.as_ref().map(|it| shared.store.session(it, workspace.clock.now())).transpose()?;
    let (Some(session), Some(cookie)) = (session.flatten(), cookie) else {
        let found = PageError::new(401, "this page needs a session")
            .hint("type `vault-agent web` in a terminal on the machine of the vault: it opens the page and lets this browser in");
        let typed = match parts.method {
            Method::POST => sent(&called, &parts, body).await.ok(),
            _ if entry::is_of_another_site(&parts.headers) => None,
            _ => parts.uri.query().map(|query| FormData::parse(query.as_bytes())),
        };
        return Ok(refused(found, wants_json(&parts), &typed.unwrap_or_default()));
    };
    let form = match parts.method {
        Method::GET | Method::HEAD => None,
        Method::POST => Some(sent(&called, &parts, body).await?),
        _ => return Err(PageError::new(405, "a page is read or sent, nothing else")),
    };
    if path == "/events" && form.is_none() {
        let (store, clock) = (Arc::clone(&shared.store), Arc::clone(&workspace.clock));
        let is_let_in = move || store.session(&cookie, clock.now()).is_ok_and(|session| session.is_some());
        return Ok(shared.live.stream(shared.stop.clone(), is_let_in));
    }
    let runtime = tokio::runtime::Handle::current();
    let answered =
        tokio::task::spawn_blocking(move || at_place(&shared, &parts, &session, &cookie, form, runtime))
            .await;
    answered.map_err(|error| {
        tracing::error!(%error, "a page could not be made");
        PageError::failed("this page could not be built; see the log of vault-agent")
    })
}

/// The answer to a request that isn't let in, with what was typed.
fn refused(found: PageError, wants_json: bool, typed: &FormData) -> Response {
    if wants_json { found.into_json() } else { html(found.code(), layout::closed(&found, typed)) }
}

/// Makes a session of a one-time code.
fn enter(shared: &PageShared, called: &CalledHost, parts: &Parts) -> Result<Response> {
    let (workspace, _) = shared.workspace();
    let now = workspace.clock.now();
    let query = FormData::parse(parts.uri.query().unwrap_or_default().as_bytes());
    shared.codes.try_code(query.get("code"), entry::is_of_another_site(&parts.headers), now)?;
    let value = secret::random::<32>()?;
    let browser = entry::text(&parts.headers, &header::USER_AGENT).unwrap_or_default();
    shared.store.begin(&value, browser, now)?;
    let cookie = entry::set_cookie(called, shared.port, &value);
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)])
        .into_response())
}

/// The form that a request sends from a page of this program.
async fn sent(called: &CalledHost, parts: &Parts, body: Body) -> Result<FormData> {
    entry::change(called, &parts.headers)?;
    let read = tokio::time::timeout(PATIENCE, to_bytes(body, MOST_BODY)).await;
    let bytes = read
        .map_err(|_| PageError::new(408, "the form took too long to arrive"))?
        .map_err(|_| PageError::new(413, "the form is longer than 1 MB, or was cut off"))?;
    Ok(FormData::parse(&bytes))
}

/// The answer of a place, computed on a thread that may wait.
fn at_place(
    shared: &PageShared,
    parts: &Parts,
    session: &PageSession,
    cookie: &str,
    form: Option<FormData>,
    runtime: tokio::runtime::Handle,
) -> Response {
    let (workspace, settings_error) = shared.workspace();
    let path = parts.uri.path();
    let decoded = percent_encoding::percent_decode_str(path.trim_start_matches('/')).decode_utf8();
    let query = FormData::parse(parts.uri.query().unwrap_or_default().as_bytes());
    let said = query.non_blank("said").map(|id| shared.store.outcome(id, &session.id));
    let outcome = said.and_then(|outcome| outcome.ok().flatten().flatten());
    let name = path.split('/').nth(1).unwrap_or_default();
    let rest = decoded.as_deref().ok().and_then(|path| path.split_once('/')).map_or("", |(_, rest)| rest);
    let stale = |error: String| {
        PageError::failed(error).hint("the previous settings stay in use; correct the settings file")
    };
    let visit = Visit {
        workspace: &workspace,
        now: workspace.clock.now(),
        rest: rest.to_owned(),
        session,
        shared,
        refused: settings_error.map(|error| (FormData::default(), stale(error))),
        outcome,
        token: entry::form_token(cookie),
        query,
        wants_json: wants_json(parts),
        dates: DateOrder::of(entry::text(&parts.headers, &header::ACCEPT_LANGUAGE).unwrap_or_default()),
        path: path.to_owned(),
        runtime,
    };
    let place = decoded.ok().and_then(|_| places::PLACES.iter().find(|place| place.name == name));
    let place = place.filter(|_| visit.rest.is_empty() || places::WITH_PARTS.contains(&name));
    let (Some(place), true) = (place, path.starts_with('/') && !path.starts_with("//")) else {
        return problem(&visit, &PageError::not_found("there is no such page"));
    };
    match form {
        None if visit.query("page").is_some_and(|page| !page.parse().is_ok_and(|page: usize| page > 0)) => {
            problem(&visit, &PageError::bad("`page` must be a number from 1 up"))
        }
        None => see(place, &visit, StatusCode::OK),
        Some(form) => change(place, visit, form),
    }
}

fn see(place: &PagePlace, visit: &Visit<'_>, status: StatusCode) -> Response {
    match (place.see)(visit) {
        Ok(view) => shown(visit, view, status),
        Err(found) => problem(visit, &found),
    }
}

/// The answer to a change: where it is seen, or why it wasn't made, with what was typed.
fn change(place: &PagePlace, mut visit: Visit<'_>, form: FormData) -> Response {
    let found = match changed(place, &visit, &form) {
        Ok(done) => return gone_to(&visit, &done, form.get("form")),
        Err(found) if visit.wants_json => return problem(&visit, &found),
        Err(found) => found,
    };
    let status = found.code();
    visit.refused = Some((form, found));
    see(place, &visit, status)
}

/// Makes a change once, even if its form is sent again.
fn changed(place: &PagePlace, visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    entry::form(&visit.token, form.get("token"))?;
    let (id, store) = (form.get("form"), &visit.shared.store);
    if !is_form_id(id) {
        return Err(PageError::bad("the form has no id: reload the page, and send it again"));
    }
    let _alone = visit.shared.changes.lock().unwrap_or_else(PoisonError::into_inner);
    match store.claim(id, &visit.session.id, &form.words(), visit.now)? {
        FormIdState::New => {}
        FormIdState::Other => {
            return Err(PageError::changed("this form was already sent with other words")
                .hint("the first change was made; what you typed is kept below and can be sent again"));
        }
        FormIdState::Done(to, said) => {
            // What it did then may be no more.
            let first = said.strip_prefix(SENT_BEFORE).unwrap_or(&said);
            let sentence = format!("{SENT_BEFORE}{first}");
            // Without it the first outcome is shown; the change is made either way.
            let _ = store.finish(id, &to, &sentence);
            return Ok(MadeChange { to, sentence });
        }
        FormIdState::Open => {
            let words = "this form was already sent, but vault-agent stopped during the change: it may be done or not";
            return Err(PageError::changed(words).hint(
                "check the current state; if the change is missing, reload the page and send it again",
            ));
        }
    }
    fail::fail_point!("web::claimed");
    let act = || (place.act)(visit, form);
    // The page itself takes the console's place.
    let made = match visit.workspace.primary_kind() {
        NotifyKind::Console => act(),
        _ => visit.workspace.with_confirmation("on the page", act),
    };
    let Ok(done) = &made else {
        // A form that can't be released may not be sent again, and says so then.
        let _ = store.release(id);
        return made;
    };
    fail::fail_point!("web::done");
    match store.finish(id, &done.to, &done.sentence) {
        Ok(()) => made,
        Err(why) => {
            Err(PageError::failed(format!("{} This is done, but {why}", done.sentence)).hints(why.hint()))
        }
    }
}

/// The answer to a change that is made: where it is seen.
fn gone_to(visit: &Visit<'_>, done: &MadeChange, id: &str) -> Response {
    if visit.wants_json {
        return json(StatusCode::OK, &serde_json::json!({ "said": done.sentence, "to": done.to }));
    }
    let (path, fragment) = done.to.find('#').map_or((&*done.to, ""), |at| done.to.split_at(at));
    let mark = if path.contains('?') { '&' } else { '?' };
    (StatusCode::SEE_OTHER, [(header::LOCATION, format!("{path}{mark}said={id}{fragment}"))]).into_response()
}

fn shown(visit: &Visit<'_>, view: PageView, status: StatusCode) -> Response {
    match view {
        PageView::Page(title, body) => html(status, layout::page(visit, &title, &body)),
        PageView::Json(value) => json(status, &value),
        PageView::Elsewhere(to) => (StatusCode::FOUND, [(header::LOCATION, to)]).into_response(),
        PageView::File { bytes, kind, is_download } => {
            let mut response = (status, [(header::CONTENT_TYPE, kind)], bytes).into_response();
            if is_download {
                let save = HeaderValue::from_static("attachment");
                response.headers_mut().insert(header::CONTENT_DISPOSITION, save);
            }
            response
        }
    }
}

fn problem(visit: &Visit<'_>, found: &PageError) -> Response {
    if visit.wants_json {
        return found.clone().into_json();
    }
    html(found.code(), layout::problem(visit, found))
}

fn html(status: StatusCode, page: Markup) -> Response {
    (status, Html(page.into_string())).into_response()
}

fn json(status: StatusCode, value: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

impl PageError {
    fn code(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn into_json(self) -> Response {
        json(self.code(), &serde_json::json!({ "error": self.message, "hints": self.hints }))
    }
}

/// Whether JSON is wanted, and no HTML, as browsers do.
fn wants_json(parts: &Parts) -> bool {
    let accepts = |kind| {
        let mut named = parts.headers.get_all(header::ACCEPT).into_iter();
        named.any(|it| it.to_str().is_ok_and(|it| it.contains(kind)))
    };
    accepts("application/json") && !accepts("text/html")
}
