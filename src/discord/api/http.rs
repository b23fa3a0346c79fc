//! Calls Discord's REST API: a request goes in; a JSON value or an [`ApiError`] comes out. Also reads a channel's
//! history page by page, and downloads files.
//!
//! In production, requests go through serenity with its rate limiter on. With `[discord] api_base`, which must be a
//! loopback address, all requests go to that server. serenity's rate limiter is off in this case, because version
//! 0.12.5 ignores the base in limited requests. As a safeguard, `discord.com` resolves to a closed local port. After an
//! answer that can't be read the request counts as possibly done.
//!
//! Discord returns a page of history newest first, even with `after`. A message that can't be read is left out of its
//! page. A page that isn't full is the last page.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use serenity::http::{Http, HttpBuilder, HttpError, LightMethod, Request, Route};

use super::error::{ApiError, DiscordError};
use super::message::{self, IncomingMessage};

/// The longest that one request may take, waiting for a rate limit included.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// The hosts on which Discord keeps the files of messages.
const FILE_HOSTS: [&str; 2] = ["cdn.discordapp.com", "media.discordapp.net"];
/// The longest that Discord may take to answer.
const ANSWER: Duration = Duration::from_secs(20);

/// The longest pause that is kept to, in seconds.
const MAX_PAUSE: f64 = 86_400.0;

/// How many messages a page holds at most.
const FULL: usize = 100;

/// A page of history, oldest first.
#[derive(Debug)]
pub struct HistoryPage {
    /// Its messages.
    pub messages: Vec<IncomingMessage>,
    /// The ids of all its messages, also of those that can't be read.
    pub ids: Vec<u64>,
    /// The id that the next page begins after; none if this was the last.
    pub next: Option<u64>,
}

/// A client of Discord's REST API.
#[derive(Debug, Clone)]
pub struct DiscordApi {
    http: Arc<Http>,
    /// The client and base of a test server; none for the real Discord.
    local: Option<(reqwest::Client, String)>,
    /// For files: follows no redirect, and carries no token.
    files: reqwest::Client,
    authorization: SecretString,
}

impl DiscordApi {
    /// For a bot with this token; `base` is `[discord] api_base`.
    ///
    /// # Errors
    /// `base` isn't on this machine.
    pub fn new(token: Option<&SecretString>, base: Option<&str>) -> Result<Self, DiscordError> {
        let base = base.map(loopback).transpose()?;
        let builder = || {
            let builder = reqwest::Client::builder().connect_timeout(Duration::from_secs(10)).timeout(ANSWER);
            if base.is_none() {
                return builder;
            }
            // Nothing behind this client can leave the machine, whatever URL it is given.
            let nowhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
            builder
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .resolve("discord.com", nowhere)
                .resolve("localhost", nowhere)
        };
        let set_up = |error: reqwest::Error| DiscordError::SetUp(error.without_url().to_string());
        let files = builder().redirect(reqwest::redirect::Policy::none()).build().map_err(set_up)?;
        let client = builder().build().map_err(set_up)?;
        Ok(Self::with(token, client, files, base))
    }

    /// Makes the API of these clients, so that a test with its own resolver and certificate runs the production code,
    /// with the rate limiter on.
    pub fn with(
        token: Option<&SecretString>,
        client: reqwest::Client,
        files: reqwest::Client,
        base: Option<String>,
    ) -> Self {
        let bare = token.map_or("", |token| token.expose_secret().trim());
        let bare = bare.strip_prefix("Bot ").unwrap_or(bare);
        let mut builder = HttpBuilder::new(bare).client(client.clone());
        if let Some(base) = &base {
            builder = builder.proxy(base.clone()).ratelimiter_disabled(true);
        }
        let authorization = if bare.is_empty() { String::new() } else { format!("Bot {bare}") };
        let local = base.map(|base| (client, base));
        Self {
            http: Arc::new(builder.build()),
            local,
            files,
            authorization: SecretString::from(authorization),
        }
    }

    /// A client of serenity's for the gateway, with connections of its own.
    pub(super) fn fresh_serenity(&self) -> Http {
        let bare = self.authorization.expose_secret().trim_start_matches("Bot ");
        match &self.local {
            Some((_, base)) => HttpBuilder::new(bare).proxy(base.clone()).ratelimiter_disabled(true).build(),
            None => HttpBuilder::new(bare).build(),
        }
    }

    /// Whether this leads to a test server on this machine.
    pub fn is_local(&self) -> bool {
        self.local.is_some()
    }

    /// A request without a body.
    ///
    /// # Errors
    /// As [`ApiError`] tells them apart.
    pub async fn get(&self, route: Route<'_>) -> Result<Value, ApiError> {
        self.call(Request::new(route, LightMethod::Get)).await
    }

    /// A request with a JSON body.
    ///
    /// # Errors
    /// As [`ApiError`] tells them apart.
    pub async fn send(&self, method: LightMethod, route: Route<'_>, body: &Value) -> Result<Value, ApiError> {
        let bytes = body.to_string().into_bytes();
        self.call(Request::new(route, method).body(Some(bytes))).await
    }

    /// Posts a message. A reply that Discord refuses as a reply, since the bot may not read the history, is posted
    /// without its reference.
    ///
    /// # Errors
    /// As [`ApiError`] tells them apart.
    pub async fn post(&self, channel: u64, mut body: Value) -> Result<Value, ApiError> {
        let route = || Route::ChannelMessages { channel_id: channel.into() };
        let posted = self.send(LightMethod::Post, route(), &body).await;
        let mut take_reference = || body.as_object_mut().and_then(|body| body.remove("message_reference"));
        match posted.as_ref().err().and_then(ApiError::code) {
            Some(50_035 | 160_002 | 160_009) if take_reference().is_some() => {
                self.send(LightMethod::Post, route(), &body).await
            }
            _ => posted,
        }
    }

    /// Any request.
    ///
    /// # Errors
    /// As [`ApiError`] tells them apart.
    pub async fn call(&self, request: Request<'_>) -> Result<Value, ApiError> {
        let done = async {
            let response = match &self.local {
                Some((client, base)) => self.perform(client, base, request).await?,
                None => self.http.request(request).await.map_err(from_serenity)?,
            };
            if response.status() == reqwest::StatusCode::NO_CONTENT {
                return Ok(Value::Null);
            }
            let bytes = response.bytes().await.map_err(|error| ApiError::Unknown(words(error)))?;
            serde_json::from_slice(&bytes).map_err(|_| ApiError::Unknown("its answer isn't JSON".to_owned()))
        };
        match tokio::time::timeout(REQUEST_TIMEOUT, done).await {
            Ok(result) => result,
            Err(_) => Err(ApiError::Unknown(format!("no answer in {} s", REQUEST_TIMEOUT.as_secs()))),
        }
    }

    /// Downloads an attached file of at most `most` bytes. Only Discord's own file servers are asked (with
    /// `api_base`, only this machine), and without the token.
    ///
    /// # Errors
    /// It isn't there, isn't Discord's, or is larger.
    pub async fn download(&self, url: &str, most: u64) -> Result<Vec<u8>, ApiError> {
        let refuse = ApiError::refused_here;
        let url = reqwest::Url::parse(url).map_err(|_| refuse("the file's address is none"))?;
        let ours = match self.is_local() {
            true => is_loopback_address(url.host_str()),
            false => url.scheme() == "https" && url.host_str().is_some_and(|host| FILE_HOSTS.contains(&host)),
        };
        if !ours {
            return Err(refuse("the file lies on no server of Discord's"));
        }
        let mut response = self.files.get(url).send().await.map_err(from_reqwest)?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused(status.as_u16(), None, Some("the file can't be had"), None));
        }
        let mut bytes = vec![];
        while let Some(chunk) = response.chunk().await.map_err(from_reqwest)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() as u64 > most {
                return Err(refuse("the file is larger than Discord said"));
            }
        }
        Ok(bytes)
    }

    /// The messages of a channel that come next after the id `after`.
    ///
    /// # Errors
    /// As [`Self::call`]. Without the permission to read history Discord answers an empty page, and no error.
    pub async fn history(&self, channel: u64, after: u64) -> Result<HistoryPage, ApiError> {
        let route = Route::ChannelMessages { channel_id: channel.into() };
        let params = vec![("limit", FULL.to_string()), ("after", after.to_string())];
        let answer = self.call(Request::new(route, LightMethod::Get).params(Some(params))).await?;
        let page = history_page(&answer, after);
        page.ok_or_else(|| ApiError::Unknown("the answer is no page of history".to_owned()))
    }

    /// The first message after the id `after` that matches, on at most so many pages.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn find(
        &self,
        channel: u64,
        mut after: u64,
        pages: usize,
        is_sought: impl Fn(&IncomingMessage) -> bool,
    ) -> Result<Option<IncomingMessage>, ApiError> {
        for _ in 0..pages {
            let page = self.history(channel, after).await?;
            if let Some(found) = page.messages.into_iter().find(&is_sought) {
                return Ok(Some(found));
            }
            let Some(next) = page.next else { break };
            after = next;
        }
        Ok(None)
    }

    /// A request to the test server, keeping what serenity's error would lose: how long to wait.
    async fn perform(
        &self,
        client: &reqwest::Client,
        base: &str,
        request: Request<'_>,
    ) -> Result<reqwest::Response, ApiError> {
        let built = request
            .build(client, self.authorization.expose_secret(), Some(base))
            .map_err(from_serenity)?
            .build()
            .map_err(from_reqwest)?;
        let response = client.execute(built).await.map_err(from_reqwest)?;
        let status = response.status().as_u16();
        if response.status().is_success() {
            return Ok(response);
        }
        let body: Value = response.json().await.unwrap_or(Value::Null);
        let after =
            body["retry_after"].as_f64().and_then(|s| Duration::try_from_secs_f64(s.min(MAX_PAUSE)).ok());
        Err(refused(status, body["code"].as_i64(), body["message"].as_str(), after))
    }
}

/// The base of a test server, which must be on this machine.
fn loopback(base: &str) -> Result<String, DiscordError> {
    let refuse = || DiscordError::NotLoopback(base.to_owned());
    let url = reqwest::Url::parse(base).map_err(|_| refuse())?;
    let is_plain = url.username() == "" && url.password().is_none() && url.query().is_none();
    let is_local = matches!(url.scheme(), "http" | "https") && is_loopback_address(url.host_str());
    if is_plain && is_local { Ok(base.trim_end_matches('/').to_owned()) } else { Err(refuse()) }
}

/// Whether a URL's host is a loopback address in numbers; a name could resolve to anything.
pub fn is_loopback_address(host: Option<&str>) -> bool {
    let host = host.unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn from_serenity(error: serenity::Error) -> ApiError {
    match error {
        serenity::Error::Http(HttpError::UnsuccessfulRequest(response)) => {
            let error = response.error;
            refused(response.status_code.as_u16(), i64::try_from(error.code).ok(), Some(&error.message), None)
        }
        serenity::Error::Http(HttpError::Request(error)) => from_reqwest(error),
        serenity::Error::Http(HttpError::InvalidHeader(_)) => {
            refused(401, None, Some("the token holds characters that no token has"), None)
        }
        // serenity reads a 429's headers before it hands the answer on: the request itself was refused.
        serenity::Error::Http(HttpError::RateLimitI64F64 | HttpError::RateLimitUtf8) => {
            ApiError::RateLimited { after: None }
        }
        _ => ApiError::Unknown("the library could not handle the answer".to_owned()),
    }
}

fn from_reqwest(error: reqwest::Error) -> ApiError {
    if error.is_connect() || error.is_builder() {
        return ApiError::NotSent(words(error));
    }
    ApiError::Unknown(words(error))
}

/// An error's words down to its root, without the URL, which may hold a secret.
fn words(error: reqwest::Error) -> String {
    format!("{:#}", anyhow::Error::new(error.without_url()))
}

fn refused(status: u16, code: Option<i64>, message: Option<&str>, after: Option<Duration>) -> ApiError {
    match status {
        429 => ApiError::RateLimited { after },
        408 | 500..=599 => ApiError::Unknown(format!("status {status}")),
        _ => ApiError::Refused {
            status,
            code: code.unwrap_or_default().max(0),
            message: message.unwrap_or("no reason given").to_owned(),
        },
    }
}

fn history_page(answer: &Value, after: u64) -> Option<HistoryPage> {
    let items = answer.as_array()?;
    let mut messages: Vec<IncomingMessage> = items.iter().filter_map(IncomingMessage::from_json).collect();
    messages.sort_by_key(|message| message.id);
    messages.dedup_by_key(|message| message.id);
    let ids: Vec<u64> = items.iter().filter_map(|item| message::id(&item["id"])).collect();
    let newest = ids.iter().copied().max();
    let next = newest.filter(|newest| items.len() >= FULL && *newest > after);
    Some(HistoryPage { messages, ids, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_message_costs_neither_the_page_nor_the_way_on() {
        let mut items: Vec<Value> = (1..100u64)
            .rev()
            .map(|id| serde_json::json!({ "id": id.to_string(), "channel_id": "2", "author": { "id": "3" } }))
            .collect();
        items.insert(0, serde_json::json!({ "id": "100", "author": 7 }));
        let page = history_page(&serde_json::json!(items), 0).unwrap();
        assert_eq!(page.messages.len(), 99);
        assert_eq!(page.messages[0].id, 1);
        assert_eq!(page.next, Some(100));
        assert!(history_page(&serde_json::json!({ "message": "odd" }), 0).is_none());
    }

    #[test]
    fn only_numbers_of_this_machine_are_a_base() {
        for good in ["http://127.0.0.1:80", "http://127.9.9.9/", "http://[::1]:3/"] {
            assert!(loopback(good).is_ok(), "{good}");
        }
        for bad in [
            "https://discord.com",
            "http://localhost:1",
            "http://127.0.0.1.example.com",
            "http://127.0.0.1@example.com/",
            "http://10.0.0.1",
            "ftp://127.0.0.1",
            "http://127.0.0.1/?x=1",
            "127.0.0.1:80",
            "",
        ] {
            assert!(loopback(bad).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_local_api_can_not_reach_discord() {
        let api = DiscordApi::new(None, Some("http://127.0.0.1:1")).unwrap();
        let (client, _) = api.local.as_ref().unwrap();
        let error = client.get("https://discord.com/api/v10/gateway").send().await.unwrap_err();
        assert!(error.is_connect(), "{error}");
    }
}
