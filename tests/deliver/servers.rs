//! Servers that speak the real protocols over real sockets, and fail where they are told to.

use crate::support::prelude::*;
use std::thread;

use crate::models;

/// What a server does with the next one, instead of what it should.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Answers with this status and these headers, and does nothing.
    Status(u16, &'static str),
    /// Does it, and cuts the connection in the middle of its answer.
    LostAnswer,
    /// Does it, and cuts the connection in the middle of its answer's body.
    CutBody,
    /// Cuts the connection before it does anything.
    Cut,
    /// Says nothing, and does nothing.
    Silent,
    /// Does it, says nothing, and keeps the connection.
    DoneAndSilent,
}

/// An HTTP server, which runs as long as the tests.
pub struct Web {
    pub url: String,
    server: &'static ModelServer,
    faults: Arc<Mutex<VecDeque<Fault>>>,
}

impl Web {
    pub fn start(handler: impl Fn(&Asked) -> (u16, String) + Send + Sync + 'static) -> Self {
        let (_, server) = Box::leak(Box::new(ModelServer::alone()));
        let faults: Arc<Mutex<VecDeque<Fault>>> = Arc::default();
        let next = Arc::clone(&faults);
        server.respond(move |asked| {
            let done = || {
                let (status, body) = handler(asked);
                let kind = if body.starts_with("data:") { "text/event-stream" } else { "application/json" };
                Reply { status, ..Reply::raw(kind, body) }
            };
            match next.lock().unwrap().pop_front() {
                None => done(),
                Some(Fault::Status(status, headers)) => {
                    let headers = headers.lines().filter_map(|line| line.split_once(": "));
                    let reply = Reply::status(status).body("{\"error\":\"so it is\"}");
                    headers.fold(reply, |reply, (name, value)| reply.header(name, value))
                }
                Some(Fault::LostAnswer) => done().fault(models::Fault::CutHead(20)),
                Some(Fault::CutBody) => done().fault(models::Fault::Cut(1)),
                Some(Fault::Cut) => Reply::hang().fault(models::Fault::CutHead(0)),
                Some(Fault::Silent) => Reply::hang(),
                Some(Fault::DoneAndSilent) => done().fault(models::Fault::Hang),
            }
        });
        Self { url: server.url(), server, faults }
    }

    pub fn fault(&self, fault: Fault) {
        self.faults.lock().unwrap().push_back(fault);
    }

    pub fn asked(&self) -> Vec<Arc<Asked>> {
        self.server.requests()
    }
}

/// An ntfy server with one topic, `t`.
pub struct NtfyServer {
    pub web: Web,
    pub messages: Arc<Mutex<Vec<Value>>>,
}

impl NtfyServer {
    /// `knows_sequences`: as ntfy does since 2.16. `readable`: whether the topic may be read.
    pub fn start(knows_sequences: bool, readable: bool) -> Self {
        let messages: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = Arc::clone(&messages);
        let web = Web::start(move |asked| match asked.method.as_str() {
            "GET" if !readable => (403, r#"{"code": 40301, "http": 403, "error": "forbidden"}"#.to_owned()),
            "GET" => {
                assert!(asked.path.starts_with("/t/json?poll=1&since="), "{}", asked.path);
                let lines: Vec<String> = kept.lock().unwrap().iter().map(Value::to_string).collect();
                (200, lines.join("\n") + "\n")
            }
            _ => {
                let sent = &asked.body;
                let mut kept = kept.lock().unwrap();
                let id = format!("m{}", kept.len());
                let mut message = json!({"id": id, "time": 1_780_000_000, "event": "message", "topic": sent["topic"],
                    "title": sent["title"], "message": sent["message"], "click": sent["click"]});
                if knows_sequences {
                    message["sequence_id"] = sent["sequence_id"].clone();
                }
                kept.push(message.clone());
                (200, message.to_string())
            }
        });
        Self { web, messages }
    }

    pub fn texts(&self) -> Vec<String> {
        let kept = self.messages.lock().unwrap();
        kept.iter().map(|message| message["message"].as_str().unwrap().to_owned()).collect()
    }
}

/// A step of a conversation with a mail server: what the client says.
pub type Step = &'static str;

/// What the mail server does at a step, instead of what it should.
#[derive(Debug, Clone)]
pub enum MailFault {
    /// Says this.
    Says(Step, &'static str),
    /// Cuts the connection.
    CutsAt(Step),
    /// Takes the mail and cuts the connection.
    TakesAndCuts,
    /// Takes the mail, and then says nothing.
    TakesAndKeepsSilent,
}

/// A mail server in the clear, for this machine; a clone is the same one.
#[derive(Clone, Default)]
pub struct MailServer {
    pub port: u16,
    pub mails: Arc<Mutex<Vec<String>>>,
    pub said: Arc<Mutex<Vec<String>>>,
    pub faults: Arc<Mutex<VecDeque<MailFault>>>,
}

impl MailServer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { port: listener.local_addr().unwrap().port(), ..Self::default() };
        let own = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (one, fault) = (own.clone(), own.faults.lock().unwrap().pop_front());
                thread::spawn(move || one.converse(&stream, fault.as_ref()));
            }
        });
        server
    }

    pub fn mails(&self) -> Vec<String> {
        self.mails.lock().unwrap().clone()
    }

    /// What happens to the next connection.
    pub fn fault(&self, fault: MailFault) {
        self.faults.lock().unwrap().push_back(fault);
    }

    fn converse(&self, mut stream: &TcpStream, fault: Option<&MailFault>) {
        let mut reader = BufReader::new(stream);
        let mut say = |text: &str| drop(stream.write_all(format!("{text}\r\n").as_bytes()));
        let mut step = "GREETING".to_owned();
        loop {
            let wants = |name: &str| step.to_uppercase().starts_with(name);
            match fault {
                Some(MailFault::CutsAt(at)) if wants(at) => return,
                Some(MailFault::Says(at, text)) if wants(at) => say(text),
                _ if wants("GREETING") => say("220 mail.test ESMTP"),
                _ if wants("EHLO") => say("250-mail.test\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN"),
                _ if wants("AUTH") => say("235 2.7.0 welcome"),
                _ if wants("DATA") => {
                    say("354 go on");
                    let lines = reader.by_ref().lines().map_while(Result::ok).take_while(|line| line != ".");
                    let mail = lines.map(|line| line + "\r\n").collect();
                    if let Some(MailFault::Says("TEXT", text)) = fault {
                        say(text);
                    } else {
                        self.mails.lock().unwrap().push(mail);
                        match fault {
                            Some(MailFault::TakesAndCuts) => return,
                            Some(MailFault::TakesAndKeepsSilent) => thread::sleep(Duration::from_secs(600)),
                            _ => say("250 2.0.0 taken"),
                        }
                    }
                }
                _ if wants("QUIT") => return say("221 bye"),
                _ => say("250 2.1.0 fine"),
            }
            step.clear();
            if reader.read_line(&mut step).unwrap_or(0) == 0 {
                return;
            }
            self.said.lock().unwrap().push(step.trim().to_owned());
        }
    }
}
