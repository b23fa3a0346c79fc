//! A connection that stays open, as a browser's does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::served::Visitor;

pub struct Kept {
    stream: BufReader<TcpStream>,
    visitor: Visitor,
}

impl Kept {
    pub fn open(visitor: &Visitor) -> Self {
        let stream = TcpStream::connect(visitor.address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), visitor: visitor.clone() }
    }

    fn ask(&mut self, path: &str) {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nAccept: text/html\r\nAccept-Encoding: gzip\r\n\r\n",
            self.visitor.host(),
            self.visitor.cookie
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
    }

    /// The head of what comes: whether it is packed, and the length of its body.
    fn head(&mut self, path: &str) -> (bool, usize) {
        let (mut is_packed, mut length) = (false, 0);
        for at in 0.. {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let line = line.trim_end().to_ascii_lowercase();
            if at == 0 {
                assert!(line.contains(" 200 "), "{path}: {line}");
            }
            if line.is_empty() {
                break;
            }
            is_packed |= line == "content-encoding: gzip";
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
        }
        (is_packed, length)
    }

    /// A page as it came, and whether it was packed.
    pub fn get(&mut self, path: &str) -> (bool, Vec<u8>) {
        self.ask(path);
        let (is_packed, length) = self.head(path);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (is_packed, body)
    }

    /// Follows what changes, as an open page does; for as long as what comes back is kept.
    pub fn follow(mut self) -> Self {
        self.ask("/events");
        self.head("/events");
        self
    }
}
