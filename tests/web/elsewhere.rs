//! Pages of other origins in a browser that is let in: what they send changes nothing, and what they ask for they can't read.

use crate::served::*;

use crate::tab::Tab;

/// A page of somebody else, which tries all that it can; each try gives what it got hold of, or nothing. `PAGE` is our page's
/// origin, `STOLEN` the fields of a form of it with its token, which such a page could only have by theft.
const PAGE: &str = include_str!("attacks/elsewhere.html");

/// How many ways it tries.
pub fn tries() -> usize {
    PAGE.matches("\": () => ").count()
}

/// Serves one page to whoever asks, at an address of its own.
fn serve(page: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let page = page.clone();
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 8192]);
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    page.len()
                );
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(page.as_bytes()));
            });
        }
    });
    address
}

#[test]
fn another_page_reads_and_changes_nothing() {
    let Some((vault, served, tab)) = Tab::over(with_call()) else { return };
    let visitor = served.visitor_of(&tab);
    let before = vault.tree();
    // Of the same machine with another port, and of another site.
    for name in ["127.0.0.1", "localhost", "elsewhere.test"] {
        let stolen = visitor.form("/?write=tomorrow%209am%3A%20Stolen", "add", "Stolen");
        let stolen = crate::http::encoded(&serde_json::to_string(&stolen.fields).unwrap());
        let page = PAGE.replace("STOLEN", &stolen);
        let address = serve(page.replace("'PAGE", &format!("'http://{}", served.address)));
        tab.go_to(&format!("http://{name}:{}/", address.port()));
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
