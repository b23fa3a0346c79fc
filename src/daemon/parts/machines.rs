//! Connects this machine to the store that the vault's machines share. Sends [`DaemonEvent::Voice`] when this machine
//! becomes the voice, or stops being it.
//!
//! The voice is the one machine that speaks on Discord and does shared work, such as routines. If the settings have no
//! `[machines]`, this part connects to nothing and waits until the settings change. If this machine was connected
//! earlier, the daemon's report says that `[machines]` is gone.

use tokio::sync::broadcast;

use super::prelude::*;
use crate::machines::Machines;
use crate::machines::identity::Identity;

/// The interval at which this machine checks whether it is still the voice, because a lease ends without an event.
const LOOK: Duration = Duration::from_secs(1);

/// Reported if the settings of a machine that took part came without the table.
const LOST_TABLE: &str =
    "`[machines]` is not in the settings any more: this machine delivers everything by itself";

/// Takes part among the machines.
pub async fn run(context: PartContext, sender: broadcast::Sender<DaemonEvent>) -> anyhow::Result<()> {
    let PartContext { mut workspace, mut events, board, stop, .. } = context;
    let mut was_voice = workspace.machines.is_alone();
    loop {
        let machines = workspace.machines.clone();
        let drive = stop.child_token();
        let driver = tokio::spawn({
            let (machines, drive) = (machines.clone(), drive.clone());
            async move { machines.drive(drive).await }
        });
        let mut news = machines.rights_changes();
        // Looked up once: a daemon of one machine reads no file at each event.
        let has_lost_table = machines.is_alone() && Identity::is_kept(&workspace.dirs.state);
        let changed = loop {
            let is_voice = machines.is_voice();
            if std::mem::replace(&mut was_voice, is_voice) != is_voice {
                tracing::info!(is_voice, "the voice turned");
                // Without other parts there is no listener, which is fine.
                let _ = sender.send(DaemonEvent::Voice);
            }
            let words = if has_lost_table { LOST_TABLE.to_owned() } else { words(&machines, is_voice) };
            board.update(|report| {
                report.machines = machines.status();
                report.set_part("machines", words);
            });
            let look = workspace.clock.sleep(LOOK);
            tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(DaemonEvent::Settings(changed))
                        if changed.settings.machines != workspace.settings.machines => break Some(changed),
                    Some(_) => {}
                    None => break None,
                },
                () = news.changed() => {}
                () = tokio::time::sleep(look), if !machines.is_alone() => {}
            }
        };
        drive.cancel();
        let _ = driver.await;
        match changed {
            Some(changed) => workspace = changed,
            None => return Ok(()),
        }
    }
}

/// The state in a few words; empty if there is one machine.
fn words(machines: &Machines, is_voice: bool) -> String {
    if machines.is_alone() {
        return String::new();
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
