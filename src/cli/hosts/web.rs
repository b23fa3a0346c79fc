//! `web`: opens the page in a browser, closes the page, and lists or ends its sessions.

use std::process::{Command, Stdio};

use crate::cli::prelude::*;
use crate::daemon::{DaemonEvent, notify_pages, stop_on_signals};
use crate::vault::Watcher;
use crate::web::control_socket::{self, ControlReply, ControlRequest};
use crate::web::{Invitation, LiveUpdates, PageServer, PageStore};

/// Opens the web page in a browser: what is due, changes, questions.
///
/// The running daemon serves the page; without one, this command serves it until Ctrl-C. The address works once, within
/// a minute. `[web]` of vault-agent.toml says where it listens.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Only prints the address.
    #[arg(long)]
    print: bool,
    /// Shows the address as a QR code for a phone, by the first of `[web] trusted_hosts`.
    #[arg(long)]
    pair: bool,
    /// Closes the page: the daemon stops listening.
    #[arg(long, conflicts_with_all = ["print", "pair"])]
    stop: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Lists the browser sessions, or ends one.
    Sessions {
        /// The session to end.
        #[arg(long, value_name = "ID")]
        end: Option<String>,
    },
}

/// Runs `web`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    if let Some(Action::Sessions { end }) = &args.action {
        return sessions(context, &workspace, end.as_deref());
    }
    let request = match (args.stop, args.pair) {
        (true, _) => ControlRequest::Stop,
        (false, true) => ControlRequest::Pair,
        (false, false) => ControlRequest::Open,
    };
    match control_socket::ask(&workspace.dirs.state, request) {
        Some(ControlReply::Open(invitation)) => print_invitation(context, args, &invitation),
        Some(ControlReply::Stopped(was_open)) => context.answer(
            &serde_json::json!({ "stopped": was_open }),
            if was_open { "the page is closed" } else { "the page was not open" },
        ),
        Some(ControlReply::Refused(why)) => Err(CommandError::problem(why).hint(
            "another `vault-agent web` may have the address: end it, or look at `[web]` in vault-agent.toml",
        )),
        None if DaemonLock::holder(&workspace.dirs.state).is_some() => {
            Err(CommandError::problem("the daemon is running but does not answer")
                .hint("it may be starting: try again in a moment; restart it if it is an older version"))
        }
        None if args.stop => Err(CommandError::problem("the daemon is not running, so the page is not open")),
        None => serve(context, args, workspace),
    }
}

/// Serves until Ctrl-C.
fn serve(context: &Context, args: &Args, workspace: Workspace) -> CommandResult {
    let workspace = Arc::new(workspace);
    on_workers(async {
        let stop = stop_on_signals()?;
        let live = LiveUpdates::default();
        let changes = live.clone();
        let tell =
            move |event| DaemonEvent::of(&event).iter().for_each(|event| notify_pages(&changes, event));
        let watcher = Watcher::start(&workspace.vault, tell);
        if let Err(error) = &watcher {
            context.ui.note(format!("the page doesn't follow changes: {error}"));
        }
        let page = PageServer::start(Arc::clone(&workspace), live, true, Arc::default(), true).await?;
        print_invitation(context, args, &page.invite(args.pair)?)?;
        context.ui.note(
            "the daemon is not running: the page is served until Ctrl-C, and no reminders are delivered meanwhile",
        );
        stop.cancelled().await;
        Ok(Status::Fine)
    })
}

/// Prints the address, and opens it where a person sits.
fn print_invitation(context: &Context, args: &Args, invitation: &Invitation) -> CommandResult {
    let ui = context.ui;
    ui.json(invitation);
    if args.pair {
        let code = qrcode::QrCode::new(invitation.url.as_bytes())?;
        ui.line(code.render::<qrcode::render::unicode::Dense1x2>().build());
        if invitation.url.starts_with("http://127.0.0.1") {
            ui.note("a phone can't reach this machine's own address: name a host in `[web] trusted_hosts`, see docs/web.md");
        }
    }
    ui.line(&invitation.url);
    if !(args.print || args.pair || ui.json) {
        open_browser(&invitation.url);
    }
    ui.note(format!("the address works once, until {}", invitation.expires));
    Ok(Status::Fine)
}

/// Opens an address in the browser; it is printed, too, so that a person without one has it.
fn open_browser(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        tracing::info!("`{program}` can't be started: {error}");
    }
}

fn sessions(context: &Context, workspace: &Workspace, end: Option<&str>) -> CommandResult {
    let store = PageStore::open(&workspace.dirs.state)?;
    if let Some(id) = end {
        if !store.end(id)? {
            return Err(CommandError::usage(format!("there is no session {}", crate::format::quote(id)))
                .hint("`vault-agent web sessions` lists them"));
        }
        return context.answer(&serde_json::json!({ "ended": id }), format!("ended {id}"));
    }
    let tz = workspace.zone.tz();
    let day = |at: jiff::Timestamp| at.to_zoned(tz.clone()).strftime("%Y-%m-%d %H:%M").to_string();
    context.list(&store.sessions(workspace.clock.now())?, "no browser sessions", |one| {
        format!("{}  since {}  until {}  {}", one.id, day(one.began), day(one.ends), one.browser)
    })
}
