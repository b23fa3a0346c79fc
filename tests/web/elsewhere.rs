//! Pages of other origins in a browser that is let in: what they send changes nothing, and what they ask for they can't read.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use serde_json::Value;

use crate::served::{Served, with_call};
use crate::support::until;
use crate::tab::Tab;

/// What another page tries; each gives what it got hold of, or nothing. `PAGE` is the page's origin, `FIELDS` a form of it
/// with its token, which such a page could only have by theft.
pub const TRIES: [(&str, &str); 12] = [
    ("a form that sends itself", "post('PAGE/', 'application/x-www-form-urlencoded')"),
    ("a form as plain text", "post('PAGE/', 'text/plain')"),
    (
        "a request with cookies",
        "fetch('PAGE/', {method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams(FIELDS)}).then(it => it.text())",
    ),
    (
        "a request that asks first",
        "fetch('PAGE/', {method: 'POST', credentials: 'include', headers: {'Content-Type': 'application/json'}, body: '{}'}).then(it => it.text())",
    ),
    (
        "a beacon",
        "(navigator.sendBeacon('PAGE/', new URLSearchParams(FIELDS)), new Promise(done => setTimeout(done, 300)))",
    ),
    ("reading a page", "fetch('PAGE/', {credentials: 'include'}).then(it => it.text())"),
    (
        "reading data",
        "fetch('PAGE/notes/Reminders.md', {credentials: 'include', headers: {Accept: 'application/json'}}).then(it => it.text())",
    ),
    (
        "following changes",
        "new Promise(done => { const it = new EventSource('PAGE/events', {withCredentials: true}); it.onopen = () => done('open'); it.onerror = () => done(''); })",
    ),
    (
        "a frame around it",
        "framed('PAGE/').then(it => { try { return it.contentDocument.body.innerText } catch { return '' } })",
    ),
    (
        "a window of it",
        "(() => { const it = open('PAGE/'); return new Promise(done => setTimeout(done, 500)).then(() => { try { return it.document.body.innerText } catch { return '' } finally { it?.close() } }) })()",
    ),
    (
        "its data as a script",
        "new Promise(done => { const it = document.createElement('script'); it.src = 'PAGE/notes/Reminders.md'; it.onload = () => done('ran'); it.onerror = () => done(''); document.body.append(it); })",
    ),
    (
        "its data as a style",
        "new Promise(done => { const it = document.createElement('link'); it.rel = 'stylesheet'; it.href = 'PAGE/memory'; it.onload = () => done('read'); it.onerror = () => done(''); document.head.append(it); })",
    ),
];

const PAGE: &str = r#"<!doctype html><title>elsewhere</title><h1>elsewhere</h1><script>
const FIELDS = JSON.parse(decodeURIComponent("STOLEN"));
const framed = (to) => new Promise((done) => {
  const it = document.createElement("iframe");
  it.name = "frame" + Math.random(); it.onload = () => done(it); if (to) it.src = to;
  document.body.append(it); if (!to) done(it);
});
const post = (to, type) => framed("").then((frame) => new Promise((done) => {
  const form = document.createElement("form");
  Object.assign(form, {method: "post", action: to, enctype: type, target: frame.name});
  for (const [name, value] of FIELDS) { const it = document.createElement("input"); it.type = "hidden"; it.name = name; it.value = value; form.append(it); }
  frame.onload = () => { try { done(frame.contentDocument.body.innerText); } catch { done(""); } };
  document.body.append(form); form.submit();
}));
const tries = {TRIES};
window.found = {};
(async () => {
  for (const [name, act] of Object.entries(tries)) {
    window.found[name] = await act().catch(() => "") || "";
  }
  window.finished = true;
})();
</script>"#;

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
    let vault = with_call();
    let served = Served::start(&vault);
    let Some(tab) = Tab::enter(&served) else { return };
    let visitor = served.visitor_of(&tab);
    let before = vault.tree();
    // Of the same machine with another port, and of another site.
    for name in ["127.0.0.1", "localhost", "elsewhere.test"] {
        let stolen = visitor.form("/?write=tomorrow%209am%3A%20Stolen", "add", "Stolen");
        let stolen = crate::http::encoded(&serde_json::to_string(&stolen.fields).unwrap());
        let tries = TRIES.map(|(what, act)| format!("{what:?}: () => {act}")).join(",\n");
        let page = PAGE.replace("{TRIES}", &format!("{{{tries}}}")).replace("STOLEN", &stolen);
        let address = serve(page.replace("'PAGE", &format!("'http://{}", served.address)));
        tab.go_to(&format!("http://{name}:{}/", address.port()));
        until("all were tried", || tab.eval("window.finished === true") == Value::Bool(true));
        let found = tab.eval("window.found");
        let found = found.as_object().unwrap();
        assert_eq!(found.len(), TRIES.len(), "{found:?}");
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
    let vault = with_call();
    let served = Served::start(&vault);
    let Some(tab) = Tab::enter(&served) else { return };
    for name in ["rebound.test", "127.0.0.1.rebound.test"] {
        tab.go_to(&format!("http://{name}:{}/", served.address.port()));
        assert_eq!(tab.text("h1"), "Another name", "{name}");
        assert!(!tab.source().contains("Call"), "{}", tab.source());
    }
}
