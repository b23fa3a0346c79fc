//! Detects that the program which reads standard output has ended, as in `vault-agent run | head`; the daemon then ends
//! quietly.
//!
//! Only a pipe can lose its reader. Due items that were not sent stay due for the next start.

use std::os::fd::AsFd;

use tokio::{io::Interest, net::unix::pipe};

/// The reader of standard output, where that is a pipe.
#[derive(Debug)]
pub struct StdoutReader {
    pipe: Option<pipe::Sender>,
}

impl StdoutReader {
    /// The reader of standard output.
    pub fn of_stdout() -> Self {
        Self { pipe: stdout() }
    }

    /// Ends when the reader has closed the pipe; never if there is no pipe.
    pub async fn closed(&self) {
        if let Some(pipe) = &self.pipe
            && pipe.ready(Interest::ERROR).await.is_ok()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}

fn stdout() -> Option<pipe::Sender> {
    let out = std::io::stdout();
    let stat = rustix::fs::fstat(out.as_fd()).ok()?;
    let is_pipe = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Fifo;
    let own = is_pipe.then(|| out.as_fd().try_clone_to_owned().ok()).flatten()?;
    // Nothing is written through it, so it stays blocking, as other users of the pipe expect.
    pipe::Sender::from_owned_fd_unchecked(own).ok()
}
