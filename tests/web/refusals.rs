//! Wrong input: every form with wrong values, pages past the end of a list, and what an `Accept` header asks for.

use crate::sample::*;

/// Values that no field is meant for.
const WRONG: [&str; 7] =
    ["", "zz-wrong-zz", "../../etc/passwd", "/", "-1", "99999999999999999999", "a\u{0}b\nc\u{202e}"];
/// Fields that a person types into.
const TYPED: [&str; 7] = ["when", "message", "recur", "text", "section", "scope", "until"];

/// The addresses whose forms are tried.
fn addresses(visitor: &Visitor) -> Vec<String> {
    let mut all = places(&visitor.get("/").is(200).text());
    let turn = visitor.json("/turns")[0]["id"].as_str().unwrap().to_owned();
    let history = visitor.json("/history");
    let by = |actor: &str| {
        let entries = history.as_array().unwrap();
        let one = entries.iter().find(|one| one["actor"] == actor).unwrap_or_else(|| panic!("{actor}"));
        one["id"].as_str().unwrap().to_owned()
    };
    all.extend([
        "/calendar?week=2026-12-01".to_owned(),
        "/notes/Projects/Garden.md?n=2&plan=note".to_owned(),
        "/notes/Projects/Garden.md?n=2&plan=line:3".to_owned(),
        format!("/history/{}?plan=undo", by("cli")),
        format!("/turns/{turn}?plan=undo"),
        "/routines/morning".to_owned(),
        "/memory?kind=days".to_owned(),
        "/memory?kind=pins".to_owned(),
        "/inbox?all=1".to_owned(),
        format!("/?write={}", encoded("tomorrow 9am: call Mum")),
        format!("/?write={}", encoded("why is that")),
    ]);
    all
}

#[test]
fn a_form_with_wrong_values_is_refused_and_never_fails() {
    let sample = Sample::new();
    drop(sample.vault.run(&["memory", "pin", "the code is 1234"]).ok());
    let (_sample, _served, visitor) = sample.visited();
    let mut tried = BTreeSet::new();
    let mut wrong = Vec::new();
    let mut sent = 0;
    for path in addresses(&visitor) {
        for form in visitor.forms(&path) {
            let what = form.get("do").unwrap_or_default().to_owned();
            let kind = form.action.split('?').next().unwrap_or_default().to_owned();
            if !tried.insert((kind, what.clone(), form.fields.len())) {
                continue;
            }
            let names: Vec<String> = form.fields.iter().map(|(name, _)| name.clone()).collect();
            for name in names.iter().filter(|name| !matches!(name.as_str(), "form" | "token")) {
                for value in WRONG {
                    sent += 1;
                    let reply = visitor.submit(
                        &form.clone().with(name, value).with("form", &format!("aaaaaaaaaaaaaaaa{sent}")),
                    );
                    let text = reply.text();
                    let is_refused = matches!(reply.status, 400 | 403 | 404 | 409);
                    let is_kept =
                        value != "zz-wrong-zz" || !TYPED.contains(&name.as_str()) || text.contains(value);
                    if reply.status != 303 && !(is_refused && text.contains("role=\"alert\"") && is_kept) {
                        let alert = text.split("role=\"alert\"").nth(1).unwrap_or(&text);
                        let alert: String = alert.chars().take(300).collect();
                        wrong.push(format!("{path} {what} {name}={value:?}: {} {alert}", reply.status));
                    }
                }
            }
        }
    }
    assert!(tried.len() > 20, "{tried:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_page_past_the_end_says_so_and_leads_back() {
    let (_sample, _served, visitor) = Sample::new().visited();
    for path in [
        "/memory",
        "/memory?kind=days",
        "/history",
        "/turns",
        "/inbox",
        "/notes/Projects/Garden.md",
        "/history?actor=cli",
    ] {
        let mark = if path.contains('?') { '&' } else { '?' };
        let page = visitor.get(&format!("{path}{mark}page=99")).is(200).text();
        assert!(page.contains("ends before page 99") && page.contains("To the first page"), "{path}: {page}");
        assert!(!visitor.get(path).text().contains("ends before"), "{path}");
    }
    let past = visitor.get("/notes/Projects/Garden.md?n=99").is(404).text();
    assert!(
        past.contains("0 is the current one") && past.contains("href=\"/notes/Projects/Garden.md\""),
        "{past}"
    );
}

#[test]
fn an_accept_header_says_which_form_is_wanted() {
    let (_sample, _served, visitor) = Sample::still().visited();
    for (accept, is_json) in [
        ("application/json", true),
        ("application/json, text/plain, */*", true),
        ("text/html, application/json;q=0.9, */*;q=0.8", false),
        ("*/*", false),
    ] {
        let reply = visitor.send(&visitor.request("/memory").header("Accept", accept)).is(200);
        assert_eq!(reply.header("content-type") == "application/json", is_json, "{accept}");
    }
    // Refusals come in the same form, also to somebody without a session.
    let stranger =
        visitor.request("/memory").without("Cookie").header("Accept", "application/json, text/plain, */*");
    assert!(visitor.send(&stranger).is(401).json()["error"].is_string());
}
