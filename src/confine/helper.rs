//! Runs each shell command in its box (the confinement of one command) through a helper process: this program, started
//! once more.
//!
//! This file sends the helper the command and its policy (what the command may read, write and use), and reads the
//! command's output. The helper process also begins in `src/main.rs`. So before the program parses its arguments, it
//! calls [`main`] of this file, which does the helper's work if the arguments ask for it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, open, openat, statat};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::enforcement::{self, Capabilities};
use super::output::Output;
use super::wire::{self, ARGUMENT, HelperJob, HelperReport, INNER, Layers};
use super::{CommandOutcome, ConfineError, Enforcement, Exit, Gate, Policy, gate};

/// The program that is started as the helper.
#[derive(Debug)]
pub struct Helper {
    program: PathBuf,
    namespaces: bool,
    capabilities: OnceLock<Capabilities>,
}

impl Helper {
    /// A program whose `main` asks [`super::main`] first. Another than this one is for tests and for programs that
    /// embed this crate.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), namespaces: true, capabilities: OnceLock::new() }
    }

    /// Builds boxes without namespaces, as on machines that give none.
    #[must_use]
    pub fn without_namespaces(mut self) -> Self {
        self.namespaces = false;
        self
    }

    /// This program, or the one that [`Helper::install`] named.
    pub fn current() -> &'static Self {
        HELPER.get_or_init(|| {
            // On Linux by this name: it is right even after an upgrade has replaced the file.
            let program =
                if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
            Self::new(program.unwrap_or_else(|_| "vault-agent".into()))
        })
    }

    /// Makes this the [`Helper::current`] one of this process. The first one wins.
    pub fn install(self) {
        let _ = HELPER.set(self);
    }

    /// Runs `command` by `bash -c` in a box made after `policy`, and waits for its end. With a `gate` it may talk to
    /// that.
    ///
    /// After `stop` it ends within a second, with all that it started; dropping the future does the same.
    ///
    /// # Errors
    /// The box can't be built, or the scratch can't be used. Whatever the command does is no error.
    pub async fn run(
        &self,
        policy: &Policy,
        command: &str,
        gate: Option<Arc<dyn Gate>>,
        stop: &CancellationToken,
    ) -> Result<CommandOutcome, ConfineError> {
        let namespaces = match &self.found().layers {
            Ok(layers) => layers.namespaces,
            Err(why) => return Err(ConfineError::Unavailable(why.clone())),
        };
        let scratch_error = |source: io::Error| ConfineError::Scratch(policy.write.clone(), source);
        let mut policy = policy.clone();
        policy.write = policy.write.canonicalize().map_err(scratch_error)?;
        let whole = OutputFile::new(&policy.write).map_err(scratch_error)?;
        let limits = policy.limits.clone();
        let (keeper, inside) = match gate {
            Some(gate) => {
                let (ours, theirs) = gate::pair()?;
                (Some(gate::serve_clients(ours, gate)), Some(theirs))
            }
            None => (None, None),
        };
        let job = HelperJob { policy, command: Some(command.to_owned()), namespaces };
        let mut running = self.start(&job, inside).await?;
        tokio::select! {
            ran = running.watch(limits.output_bytes, limits.whole_bytes, whole, stop) => ran,
            () = kept(keeper) => unreachable!("a gate is kept to the end"),
        }
    }

    /// The helper with its end of the socket.
    fn command(&self, theirs: std::os::unix::net::UnixStream, output: Stdio) -> std::process::Command {
        let mut helper = std::process::Command::new(&self.program);
        helper.arg(ARGUMENT).env_clear().current_dir("/").stdin(OwnedFd::from(theirs));
        helper.stdout(output).stderr(Stdio::null());
        helper
    }

    async fn start(&self, job: &HelperJob, inside: Option<OwnedFd>) -> io::Result<RunningBox> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let mut helper = Command::from(self.command(theirs, Stdio::piped())).spawn()?;
        let output = helper.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        wire::send_mark(&ours, inside.as_ref().map(AsFd::as_fd))?;
        ours.set_nonblocking(true)?;
        let mut control = UnixStream::from_std(ours)?;
        control.write_all(&wire::body(job)?).await?;
        Ok(RunningBox { helper, control, output })
    }

    /// The rules that this machine enforces, by this helper.
    pub fn enforcement(&self) -> Enforcement {
        enforcement::of(self.found())
    }

    /// Tests once which boxes can be built.
    fn found(&self) -> &Capabilities {
        self.capabilities.get_or_init(|| {
            let first = self.probe(self.namespaces);
            match first {
                Err(why) if self.namespaces => match self.probe(false) {
                    Ok(layers) => Capabilities { layers: Ok(layers), why_none: Some(why) },
                    Err(second) => Capabilities { layers: Err(second), why_none: Some(why) },
                },
                layers => Capabilities {
                    layers,
                    why_none: (!self.namespaces).then(|| "they are not to be used".to_owned()),
                },
            }
        })
    }

    fn probe(&self, namespaces: bool) -> Result<Layers, String> {
        let job = HelperJob { policy: Policy::new(std::env::temp_dir()), command: None, namespaces };
        let said = || -> io::Result<Option<HelperReport>> {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
            let mut helper = self.command(theirs, Stdio::null()).spawn()?;
            wire::send(&ours, &job, None)?;
            let report = wire::receive(&ours)?.map(|(report, _)| report);
            helper.wait()?;
            Ok(report)
        };
        match said() {
            Ok(Some(HelperReport::Built(layers))) => Ok(layers),
            Ok(Some(HelperReport::Failed(why))) => Err(why),
            Ok(_) => Err("the helper ended without a word".to_owned()),
            Err(error) => Err(format!("the helper can't be started: {error}")),
        }
    }
}

static HELPER: OnceLock<Helper> = OnceLock::new();

/// If the arguments ask for the helper, runs it and returns the exit code.
///
/// `main` calls this before there is a second thread: the helper puts its own process into namespaces.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let mut args = args.into_iter().skip(1);
    if args.next()? != ARGUMENT {
        return None;
    }
    let is_inner = args.next().is_some_and(|arg| arg == INNER);
    Some(work(is_inner))
}

#[cfg(target_os = "linux")]
fn work(is_inner: bool) -> u8 {
    if is_inner { super::linux::inner() } else { super::linux::supervise() }
}

#[cfg(target_os = "macos")]
fn work(_: bool) -> u8 {
    super::macos::supervise()
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn work(_: bool) -> u8 {
    2
}

async fn kept(keeper: Option<impl Future<Output = ()>>) {
    match keeper {
        Some(keeper) => keeper.await,
        None => std::future::pending().await,
    }
}

/// A helper at work. When its socket is closed, by this being dropped or the program being killed, it ends the box.
struct RunningBox {
    helper: tokio::process::Child,
    control: UnixStream,
    output: tokio::process::ChildStdout,
}

impl RunningBox {
    async fn watch(
        &mut self,
        keep: usize,
        most: u64,
        mut whole: OutputFile,
        stop: &CancellationToken,
    ) -> Result<CommandOutcome, ConfineError> {
        let mut output = Output::new(keep);
        let mut ended: Option<Exit> = None;
        let mut buffer = vec![0; 64 << 10];
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled(), if ended.is_none() => {
                    ended = Some(Exit::Stopped);
                    self.control.shutdown().await?;
                }
                read = self.output.read(&mut buffer) => {
                    let bytes = &buffer[..read?];
                    if bytes.is_empty() {
                        break;
                    }
                    // Bytes over the cap count as not written.
                    let room = usize::try_from(most.saturating_sub(output.total())).unwrap_or(usize::MAX);
                    let taken = &bytes[..bytes.len().min(room)];
                    let before = output.all();
                    output.push(taken);
                    whole.take(before, taken, &output);
                    if taken.len() < bytes.len() && ended.is_none() {
                        ended = Some(Exit::TooMuchOutput);
                        self.control.shutdown().await?;
                    }
                }
            }
        }
        let report = self.report().await;
        let _ = self.helper.wait().await;
        let exit = match report? {
            Some(HelperReport::Ended(exit)) => ended.unwrap_or(exit),
            Some(HelperReport::Failed(why)) => return Err(io::Error::other(why).into()),
            _ => ended.ok_or_else(|| io::Error::other("the helper was killed"))?,
        };
        let text = output.text();
        Ok(CommandOutcome { exit, text, bytes: output.total(), whole: whole.path() })
    }

    async fn report(&mut self) -> io::Result<Option<HelperReport>> {
        let mut said = Vec::new();
        let read = self.control.read_to_end(&mut said).await;
        // A helper that was killed resets the connection.
        if read.is_err() {
            return Ok(None);
        }
        Ok(said.get(5..).and_then(|body| serde_json::from_slice(body).ok()))
    }
}

/// The file that gets a long output whole.
///
/// The command can write to the scratch, too: the file is made anew and never through a link, and its path is given
/// only if it still is that file.
struct OutputFile {
    scratch: PathBuf,
    dir: OwnedFd,
    file: Option<(String, File)>,
    is_broken: bool,
}

impl OutputFile {
    fn new(scratch: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let dir = open(scratch, flags, Mode::empty())?;
        Ok(Self { scratch: scratch.to_path_buf(), dir, file: None, is_broken: false })
    }

    /// Takes the further bytes, once not all are kept in memory; `before` are the earlier ones.
    fn take(&mut self, before: Option<Vec<u8>>, bytes: &[u8], output: &Output) {
        if output.left_out() == 0 || self.is_broken {
            return;
        }
        self.is_broken = self.write(before, bytes).is_err();
    }

    fn write(&mut self, before: Option<Vec<u8>>, bytes: &[u8]) -> io::Result<()> {
        let (_, file) = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(self.make()?),
        };
        file.write_all(&before.unwrap_or_default())?;
        file.write_all(bytes)
    }

    fn make(&self) -> io::Result<(String, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for n in 1..10_000 {
            let name = format!("output-{n}.txt");
            match openat(&self.dir, &name, flags, Mode::RUSR | Mode::WUSR) {
                Ok(fd) => return Ok((name, fd.into())),
                Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("too many outputs"))
    }

    fn path(&self) -> Option<PathBuf> {
        let (name, file) = self.file.as_ref().filter(|_| !self.is_broken)?;
        let written = fstat(file).ok()?;
        let there = statat(&self.dir, name.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let dir = (fstat(&self.dir).ok()?, statat(CWD, &self.scratch, AtFlags::SYMLINK_NOFOLLOW).ok()?);
        let is_same =
            |a: &rustix::fs::Stat, b: &rustix::fs::Stat| (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino);
        (is_same(&written, &there) && is_same(&dir.0, &dir.1)).then(|| self.scratch.join(name))
    }
}
