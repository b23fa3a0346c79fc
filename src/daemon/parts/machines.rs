//! Connects this machine to the store that the vault's machines share, and reports when it becomes the voice.
//!
//! Without `[machines]` it starts nothing and waits for changed settings.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

use crate::daemon::part::{DaemonEvent, Part, StatusBoard};
use crate::machines::identity::Identity;
use crate::machines::status::MachinesStatus;
use crate::workspace::Workspace;

/// How often it is looked whether this machine is still the voice: a lease ends without a word.
const LOOK: Duration = Duration::from_secs(1);

/// Said where the settings of a machine that took part came without the table.
const LOST_TABLE: &str =
    "`[machines]` is not in the settings any more: this machine tells everything by itself";

/// Takes part among the machines.
#[derive(Debug)]
pub struct MachinesPart {
    /// Where the other parts hear who is the voice.
    pub events: broadcast::Sender<DaemonEvent>,
}

/// What was last said of the machines.
#[derive(Debug, Default)]
struct LastReport {
    status: Option<MachinesStatus>,
    words: String,
    is_voice: bool,
}

#[async_trait]
impl Part for MachinesPart {
    fn name(&self) -> &'static str {
        "machines"
    }

    async fn run(
        self: Box<Self>,
        mut workspace: Arc<Workspace>,
        mut events: broadcast::Receiver<DaemonEvent>,
        board: StatusBoard,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        let mut last_status = LastReport { is_voice: workspace.machines.is_alone(), ..LastReport::default() };
        loop {
            let machines = workspace.machines.clone();
            let drive = stop.child_token();
            let driver = tokio::spawn({
                let (machines, drive) = (machines.clone(), drive.clone());
                async move { machines.drive(drive).await }
            });
            let changed = self.watch(&workspace, &mut last_status, &mut events, &board, &stop).await;
            drive.cancel();
            let _ = driver.await;
            match changed {
                Some(changed) => workspace = changed,
                None => return Ok(()),
            }
        }
    }
}

impl MachinesPart {
    /// Says what changes until other machines are named; none when the daemon stops.
    async fn watch(
        &self,
        workspace: &Arc<Workspace>,
        last_status: &mut LastReport,
        events: &mut broadcast::Receiver<DaemonEvent>,
        board: &StatusBoard,
        stop: &CancellationToken,
    ) -> Option<Arc<Workspace>> {
        let machines = &workspace.machines;
        let mut news = machines.news();
        loop {
            self.report_status(workspace, last_status, board);
            let look = workspace.clock.sleep(LOOK);
            tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                event = events.recv() => match event {
                    Ok(DaemonEvent::Settings(changed)) if changed.settings.machines != workspace.settings.machines => {
                        return Some(changed);
                    }
                    Err(RecvError::Closed) => return None,
                    _ => {}
                },
                () = news.changed() => {}
                () = tokio::time::sleep(look), if !machines.is_alone() => {}
            }
        }
    }

    fn report_status(&self, workspace: &Workspace, last_status: &mut LastReport, board: &StatusBoard) {
        let machines = &workspace.machines;
        let is_voice = machines.is_voice();
        if std::mem::replace(&mut last_status.is_voice, is_voice) != is_voice {
            tracing::info!(is_voice, "the voice turned");
            // Without other parts there is no listener, which is fine.
            let _ = self.events.send(DaemonEvent::Voice);
        }
        let status = machines.status();
        let words = words(workspace, is_voice);
        if status == last_status.status && words == last_status.words {
            return;
        }
        board.update(|report| {
            report.machines.clone_from(&status);
            match words.as_str() {
                "" => report.parts.remove("machines"),
                words => report.parts.insert("machines".to_owned(), words.to_owned()),
            };
        });
        (last_status.status, last_status.words) = (status, words);
    }
}

/// How it stands, in a few words; none where there is and was one machine.
fn words(workspace: &Workspace, is_voice: bool) -> String {
    let machines = &workspace.machines;
    if machines.is_alone() {
        let took_part = Identity::is_kept(&workspace.dirs.state);
        return if took_part { LOST_TABLE.to_owned() } else { String::new() };
    }
    match (machines.problem(), is_voice) {
        (Some(problem), _) => format!("takes no part: {problem}"),
        (None, true) => "this one is the voice".to_owned(),
        (None, false) => match machines.voice().filter(|voice| Some(voice.as_str()) != machines.name()) {
            Some(voice) => format!("{voice} is the voice"),
            None => "none is the voice yet".to_owned(),
        },
    }
}
