//! The pictures of the documentation: made by this test where `VAULT_AGENT_PICTURES` is set, never changed else.

use crate::sample::*;

/// A picture has at most so many bytes.
const MOST: u64 = 120_000;

#[test]
fn the_pictures_of_the_documentation() {
    if std::env::var_os("VAULT_AGENT_PICTURES").is_none() {
        return;
    }
    let sample = Sample::new();
    let served = sample.serve();
    // As beside a daemon: its lock says that one runs.
    let _daemon =
        vault_agent::instance::DaemonLock::acquire(&sample.vault.state(), &sample.vault.root()).unwrap();
    let Some(tab) = Tab::enter(&served) else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    fs::create_dir_all(&folder).unwrap();
    tab.cdp("Emulation.setScrollbarsHidden", json!({"hidden": true}));
    let shoot = |name: &str, path: &str, width: u32, dark: bool| {
        tab.look(width, dark);
        tab.go(path);
        tab.wait("h1");
        let file = folder.join(format!("{name}.png"));
        tab.shot(&file);
        let size = fs::metadata(&file).unwrap().len();
        assert!(size <= MOST, "{name} has {size} bytes");
    };
    let turns = served.visitor_of(&tab).json("/turns");
    let turn = format!("/turns/{}", turns[0]["id"].as_str().unwrap());
    for place in places(&tab.source()) {
        let (name, path) = match place.as_str() {
            "/" => ("today", "/"),
            "/notes" => ("notes", "/notes/Projects/Garden.md?n=2"),
            "/turns" => ("turns", &*turn),
            "/calendar" => ("calendar", "/calendar?month=2026-12"),
            "/routines" => ("routines", "/routines/morning"),
            "/search" => ("search", "/search?q=tomatoes"),
            path => (&path[1..], path),
        };
        // The longest words: a little narrower, to stay below the bound.
        shoot(name, path, if name == "health" { 940 } else { 1024 }, false);
    }
    shoot("today-dark", "/", 1024, true);
    shoot("today-phone", "/", 360, false);
    tab.cdp("Emulation.setScrollbarsHidden", json!({"hidden": false}));
}
