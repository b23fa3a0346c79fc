//! A client that sends exactly the bytes that it is given: hosts, cookies and bodies that no browser would send.
#![allow(dead_code)]

use std::net::{SocketAddr, TcpStream};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::support::prelude::*;

/// What came back.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    /// Names in lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    /// The first header of this name (in lower case); empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("no JSON: {error}\n{} {}", self.status, self.text()))
    }

    /// Insists on a status.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:?}\n{}", self.headers, self.text());
        self
    }
}

/// A request with all its headers written out.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub fn new(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    /// Adds a header; one of the same name stays beside it.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Replaces the headers of this name by one.
    pub fn instead(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// A form's fields as its body: as a browser's, whose lines end with CRLF.
    pub fn form<'a>(self, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let value = |text: &str| encoded(&text.replace("\r\n", "\n").replace('\n', "\r\n"));
        let body: Vec<String> =
            fields.into_iter().map(|(name, text)| format!("{}={}", encoded(name), value(text))).collect();
        self.instead("Content-Type", "application/x-www-form-urlencoded").body(body.join("&"))
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = format!("{} {} HTTP/1.1\r\n", self.method, self.path).into_bytes();
        for (name, value) in &self.headers {
            out.extend(format!("{name}: {value}\r\n").into_bytes());
        }
        if (self.method != "GET" || !self.body.is_empty())
            && !self.headers.iter().any(|(name, _)| name == "Content-Length")
        {
            out.extend(format!("Content-Length: {}\r\n", self.body.len()).into_bytes());
        }
        out.extend(b"Connection: close\r\n\r\n");
        out.extend(&self.body);
        out
    }

    /// Sends it; an error where the server ended the connection without an answer.
    pub fn send(&self, to: SocketAddr) -> std::io::Result<Reply> {
        let mut stream = TcpStream::connect(to)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        // A server that refuses a body closes before it has read it all.
        let written = stream.write_all(&self.bytes());
        let mut raw = Vec::new();
        match stream.read_to_end(&mut raw) {
            Err(error) if raw.is_empty() => return Err(error),
            _ => {}
        }
        if raw.is_empty() {
            written?;
        }
        parsed(&raw)
            .ok_or_else(|| std::io::Error::other(format!("no answer: {}", String::from_utf8_lossy(&raw))))
    }
}

/// A text as it stands in a form's body or a query.
pub fn encoded(text: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, KEPT).to_string()
}

fn parsed(raw: &[u8]) -> Option<Reply> {
    let end = raw.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&raw[..end]);
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if chunked { unchunked(&raw[end + 4..]) } else { raw[end + 4..].to_vec() };
    Some(Reply { status, headers, body })
}

fn unchunked(mut raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(line) = raw.windows(2).position(|two| two == b"\r\n") {
        let size =
            std::str::from_utf8(&raw[..line]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let Some(size) = size.filter(|size| *size > 0 && line + 2 + size <= raw.len()) else { break };
        out.extend(&raw[line + 2..line + 2 + size]);
        raw = &raw[(line + 4 + size).min(raw.len())..];
    }
    out
}
