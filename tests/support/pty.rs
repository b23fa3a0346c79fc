//! A person at a terminal: the program in a pty of `script` (util-linux), typed to and read line by line.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::process::ChildStdin;
use std::sync::Condvar;

use crate::support::prelude::*;

/// A running program, and what stands on its terminal so far.
pub struct Pty {
    child: Killed,
    input: ChildStdin,
    screen: Arc<(Mutex<String>, Condvar)>,
    read: usize,
}

impl Pty {
    /// Starts a command in a terminal of its own.
    pub fn start(command: &Command) -> Self {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let line: Vec<String> =
            words.map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', "'\\''"))).collect();
        let mut script = Command::new("script");
        script.args(["-qefc", &line.join(" "), "/dev/null"]).env_clear();
        script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.env("SHELL", "/bin/sh").env("TERM", "xterm");
        if let Some(dir) = command.get_current_dir() {
            script.current_dir(dir);
        }
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = Killed(script.spawn().expect("`script` of util-linux"));
        let (input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let screen: Arc<(Mutex<String>, Condvar)> = Arc::default();
        let seen = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                seen.0.lock().unwrap().push_str(&text);
                seen.1.notify_all();
            }
        });
        Self { child, input, screen, read: 0 }
    }

    /// Runs a command to its end, and gives what it wrote to its terminal: as it is, and as it reads.
    pub fn raw(command: &Command) -> (String, String) {
        let (_, raw) = Self::start(command).ended();
        let text = plain(&raw);
        (raw, text)
    }

    /// Waits for `text` after what was waited for before, and gives all that came before it; the limit is only for
    /// what never comes.
    #[track_caller]
    pub fn see(&mut self, text: &str) -> String {
        let limit = Instant::now() + Duration::from_secs(60);
        let mut screen = self.screen.0.lock().unwrap();
        loop {
            let shown = plain(&screen);
            if let Some(at) = shown[self.read..].find(text) {
                let before = shown[self.read..self.read + at].to_owned();
                self.read += at + text.len();
                return before;
            }
            let left = limit.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{text:?} never came:\n{shown}");
            screen = self.screen.1.wait_timeout(screen, left).unwrap().0;
        }
    }

    /// Types a line.
    pub fn line(&mut self, text: &str) {
        self.input.write_all(format!("{text}\n").as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    /// Waits for `text`, then types a line.
    #[track_caller]
    pub fn answer(&mut self, text: &str, line: &str) -> String {
        let before = self.see(text);
        self.line(line);
        before
    }

    /// Presses keys: bytes without the end of a line.
    pub fn press(&mut self, keys: &[u8]) {
        self.input.write_all(keys).unwrap();
        self.input.flush().unwrap();
    }

    /// Ctrl-D.
    pub fn end(&mut self) {
        self.press(b"\x04");
    }

    /// Waits for the end, and gives the exit code with all that stood on the terminal.
    pub fn wait(self) -> (Option<i32>, String) {
        let (code, raw) = self.ended();
        (code, plain(&raw))
    }

    /// The same, as it was written.
    fn ended(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap();
        // The reader ends with the terminal.
        while Arc::strong_count(&self.screen) > 1 {
            std::thread::yield_now();
        }
        (status.code(), std::mem::take(&mut *self.screen.0.lock().unwrap()))
    }
}

/// The text without colours and links.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string().replace('\r', "")
}
