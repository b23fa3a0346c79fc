//! Pages of other origins in a browser that is let in: what they send changes nothing, and what they ask for they can't read.

use crate::served::*;

use crate::models::Reply;
use crate::tab::Tab;

/// A page of somebody else, which tries all that it can; each try gives what it got hold of, or nothing. `PAGE` is our page's
/// origin, `STOLEN` the fields of a form of it with its token, which such a page could only have by theft.
const PAGE: &str = include_str!("attacks/elsewhere.html");

/// How many ways it tries.
pub fn tries() -> usize {
    PAGE.matches("\": () => ").count()
}

#[test]
fn another_page_reads_and_changes_nothing() {
    let Some((vault, served, tab)) = Tab::over(with_call()) else { return };
    let visitor = served.visitor_of(&tab);
    let before = vault.tree();
    // Serves that page to whoever asks, at an address of its own.
    let (_runtime, server) = ModelServer::alone();
    // Of the same machine with another port, and of another site.
    for name in ["127.0.0.1", "localhost", "elsewhere.test"] {
        let stolen = visitor.writing("tomorrow 9am: Stolen", "add");
        let stolen = encoded(&serde_json::to_string(&stolen.fields).unwrap());
        let page = PAGE.replace("STOLEN", &stolen).replace("'PAGE", &format!("'http://{}", served.address));
        server.respond(move |_| Reply::raw("text/html", page.clone()));
        tab.go_to(&format!("http://{name}:{}/", address(&server.url()).port()));
        until("all were tried", || tab.eval("window.finished === true") == Value::Bool(true));
        let found = tab.eval("window.found");
        let found = found.as_object().unwrap();
        assert_eq!(found.len(), tries(), "{found:?}");
        assert!(found.values().all(|got| got == ""), "{name}: {found:?}");
        assert_eq!(vault.tree(), before, "{name}");
    }
    // The browser is let in all the while.
    tab.go("/");
    tab.wait_for("Call");
}

/// A name of somebody else's that suddenly means this machine.
#[test]
fn a_name_that_was_bound_to_this_machine_shows_nothing() {
    let Some((_vault, served, tab)) = Tab::over(with_call()) else { return };
    for name in ["rebound.test", "127.0.0.1.rebound.test"] {
        tab.go_to(&format!("http://{name}:{}/", served.address.port()));
        assert_eq!(tab.text("h1"), "Wrong host name", "{name}");
        assert!(!tab.source().contains("Call"), "{}", tab.source());
    }
}
