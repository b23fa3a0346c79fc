//! Checks the page for `doctor`: its address, and its open sessions.

use super::store::{FILE_NAME, PageStore};
use crate::doctor::Check;
use crate::instance::DaemonLock;
use crate::web::control_socket;
use crate::workspace::Workspace;

/// The check.
pub fn checks(workspace: &Workspace) -> Vec<Check> {
    let (web, state) = (&workspace.settings.web, &workspace.dirs.state);
    let daemon = DaemonLock::holder(state).is_some();
    if web.enabled && daemon && !control_socket::socket(state).exists() {
        return vec![Check::fail(
            "page",
            "the daemon doesn't serve it",
            "start the daemon again: it may be an older version",
        )];
    }
    // A check makes no file.
    let sessions = match state
        .join(FILE_NAME)
        .exists()
        .then(|| PageStore::open(state).and_then(|store| store.sessions(workspace.clock.now())))
    {
        None => 0,
        Some(Ok(sessions)) => sessions.len(),
        Some(Err(error)) => {
            return vec![Check::fail(
                "page",
                error.to_string(),
                "delete the file: that ends all its sessions, and nothing else",
            )];
        }
    };
    let listens = if web.enabled {
        format!("listens on {}", web.listen)
    } else {
        "listens when `vault-agent web` asks".to_owned()
    };
    let who = if sessions == 1 {
        "1 browser is let in".to_owned()
    } else {
        format!("{sessions} browsers are let in")
    };
    vec![Check::ok("page", format!("{listens}; {who}"))]
}
