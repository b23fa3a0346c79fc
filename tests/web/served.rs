//! The program that serves: `vault-agent web` by itself or beside a daemon, and who was let in.

pub use crate::support::prelude::*;
use std::sync::mpsc;

pub use crate::forms::Form;
use crate::forms::forms;
use crate::http::Reply;
pub use crate::http::{Request, encoded};

/// The settings by which a test's page listens: a free port.
pub const LISTEN: &str = "timezone = \"Europe/London\"\n[web]\nlisten = \"127.0.0.1:0\"\n";

/// A vault of a fixture whose page listens.
pub fn listening(fixture: &str) -> TestVault {
    let vault = TestVault::new(fixture);
    vault.write("vault-agent.toml", LISTEN);
    vault
}

/// Such a vault that also tells of the tasks in its notes.
pub fn with_tasks(fixture: &str) -> TestVault {
    let vault = listening(fixture);
    vault.write("vault-agent.toml", format!("{LISTEN}\n[reminders]\nalso = [\"tasks\"]\n"));
    vault
}

/// Such a vault with one reminder.
pub fn with_call() -> TestVault {
    listening("//- /Reminders.md\n- [ ] date=2026-12-02 time=09:30 recur=none msg=\"Call\"\n")
}

/// A running page. Dropping it kills its program.
pub struct Served {
    child: Killed,
    pub address: SocketAddr,
    /// Where a browser goes to be let in; good once.
    pub url: String,
    errors: mpsc::Receiver<String>,
}

impl Served {
    /// The page by itself, over a vault whose settings say a free port.
    #[track_caller]
    pub fn start(vault: &TestVault) -> Self {
        Self::start_with(vault, &[])
    }

    /// The same, with a person who has come in.
    #[track_caller]
    pub fn visited(vault: &TestVault) -> (Self, Visitor) {
        let served = Self::start(vault);
        let visitor = served.visitor();
        (served, visitor)
    }

    /// The same, with its vault.
    #[track_caller]
    pub fn over(vault: TestVault) -> (TestVault, Self, Visitor) {
        let (served, visitor) = Self::visited(&vault);
        (vault, served, visitor)
    }

    /// The same with variables, such as `FAILPOINTS`.
    #[track_caller]
    pub fn start_with(vault: &TestVault, variables: &[(&str, &str)]) -> Self {
        let mut command = vault.command(&["web", "--print", "--json"]);
        command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Killed(command.spawn().expect("the binary runs"));
        let (said, errors) = mpsc::channel();
        send_lines(child.stderr.take().expect("a pipe"), said);
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        out.read_line(&mut line).expect("a line");
        let Ok(said) = serde_json::from_str::<Value>(&line) else {
            let _ = child.wait();
            panic!("no address: {line:?}\n{}", errors.iter().collect::<Vec<_>>().join("\n"));
        };
        // The pipe stays open: the program may say more.
        std::thread::spawn(move || out.lines().map_while(Result::ok).for_each(drop));
        let url = said["url"].as_str().expect("an address").to_owned();
        Self { child, address: address(&url), url, errors }
    }

    /// Lets somebody in.
    #[track_caller]
    pub fn visitor(&self) -> Visitor {
        Visitor::enter(self.address, &self.url)
    }

    /// The visitor whose session a tab has.
    pub fn visitor_of(&self, tab: &crate::tab::Tab) -> Visitor {
        Visitor { address: self.address, cookie: tab.cookie() }
    }

    /// `kill -9`.
    pub fn kill(self) {
        drop(self.child);
    }

    /// SIGTERM; gives the exit code and what was said on standard error.
    pub fn stop(mut self) -> (Option<i32>, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a process");
        let code = self.child.wait().expect("its end").code();
        (code, self.errors.iter().collect::<Vec<_>>().join("\n"))
    }
}

/// `127.0.0.1:PORT` of an address such as `http://127.0.0.1:PORT/in?code=…`.
#[track_caller]
pub fn address(url: &str) -> SocketAddr {
    let rest = url.strip_prefix("http://").unwrap_or_else(|| panic!("{url}"));
    rest.split('/').next().and_then(|host| host.parse().ok()).unwrap_or_else(|| panic!("{url}"))
}

/// The path and query of an address.
pub fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |at| &rest[at..])
}

/// Somebody with a session, without a browser.
#[derive(Debug, Clone)]
pub struct Visitor {
    pub address: SocketAddr,
    /// `NAME=VALUE`.
    pub cookie: String,
}

impl Visitor {
    #[track_caller]
    pub fn enter(address: SocketAddr, url: &str) -> Self {
        let request = Request::new("GET", path_of(url)).header("Host", &address.to_string());
        let reply = request.send(address).unwrap().is(303);
        let cookie = reply.header("set-cookie").split(';').next().unwrap_or_default().to_owned();
        assert!(cookie.contains('='), "{:?}", reply.headers);
        Self { address, cookie }
    }

    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// A request that this visitor's browser would make when it goes to a page.
    pub fn request(&self, path: &str) -> Request {
        self.request_by("GET", path)
    }

    fn request_by(&self, method: &str, path: &str) -> Request {
        Request::new(method, path).header("Host", &self.host()).header("Cookie", &self.cookie)
    }

    /// One that comes from the page itself.
    pub fn request_of_page(&self, method: &str, path: &str) -> Request {
        self.request_by(method, path).header("Origin", &format!("http://{}", self.host()))
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Reply {
        self.request(path).send(self.address).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Follows the changes of the page: the open connection, and the status of the answer.
    pub fn follow(&self) -> (TcpStream, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let (host, cookie) = (self.host(), &self.cookie);
        write!(stream, "GET /events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (stream, String::from_utf8_lossy(&status[9..]).into_owned())
    }

    /// The same page as JSON, or what is said instead.
    #[track_caller]
    pub fn get_json(&self, path: &str) -> Reply {
        self.send(&self.request(path).header("Accept", "application/json"))
    }

    #[track_caller]
    pub fn json(&self, path: &str) -> Value {
        self.get_json(path).is(200).json()
    }

    /// A change as this visitor's browser would send it, with these fields and no others.
    pub fn change(&self, path: &str, fields: &[(&str, &str)]) -> Request {
        let request = self.request_of_page("POST", path).header("Sec-Fetch-Site", "same-origin");
        request.form(fields.iter().copied())
    }

    #[track_caller]
    pub fn send(&self, request: &Request) -> Reply {
        request.send(self.address).unwrap_or_else(|error| panic!("{request:?}: {error}"))
    }

    /// The forms of a page that post.
    #[track_caller]
    pub fn forms(&self, path: &str) -> Vec<Form> {
        forms(&self.get(path).is(200).text())
    }

    /// The form of a page with this `do`, and with a field that holds this value.
    #[track_caller]
    pub fn form(&self, path: &str, action: &str, holding: &str) -> Form {
        let all = self.forms(path);
        let found = all.iter().find(|form| form.get("do") == Some(action) && form.holds(holding));
        found.cloned().unwrap_or_else(|| panic!("{path} has no form {action} with {holding:?}: {all:#?}"))
    }

    /// The form by which the first page does this with what was written.
    #[track_caller]
    pub fn writing(&self, words: &str, action: &str) -> Form {
        self.form(&format!("/?write={}", encoded(words)), action, "")
    }

    /// Asks the assistant: the form that was sent, and where the answer comes.
    #[track_caller]
    pub fn ask(&self, question: &str) -> (Form, String) {
        let form = self.writing(question, "ask");
        let to = self.submit(&form).is(303).header("location").to_owned();
        (form, to)
    }

    /// A form that a page showed, as it is sent.
    pub fn sending(&self, form: &Form) -> Request {
        let fields = form.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        self.change(&form.action, &fields.collect::<Vec<_>>())
    }

    /// Sends it.
    #[track_caller]
    pub fn submit(&self, form: &Form) -> Reply {
        self.send(&self.sending(form))
    }
}

/// How long whoever waits for a condition waits before it is a defect.
pub const PATIENCE: Duration = Duration::from_secs(60);
