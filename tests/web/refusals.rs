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
    let more = "/calendar?week=2026-12-01 /notes/Projects/Garden.md?n=2&plan=note \
                /notes/Projects/Garden.md?n=2&plan=line:3 /routines/morning /memory?kind=days /memory?kind=pins \
                /inbox?all=1 /?write=tomorrow%209am%3A%20call%20Mum /?write=why%20is%20that";
    all.extend(more.split(' ').map(str::to_owned));
    all.extend([format!("/history/{}?plan=undo", by("cli")), format!("/turns/{turn}?plan=undo")]);
    all
}

#[test]
fn a_form_with_wrong_values_is_refused_and_never_fails() {
    let sample = Sample::new();
    drop(sample.vault.run(&["memory", "pin", "the code is 1234"]).ok());
    let (_sample, _served, visitor) = sample.visited();
    let (mut tried, mut wrong, mut sent) = (BTreeSet::new(), Vec::new(), 0);
    for path in addresses(&visitor) {
        for form in visitor.forms(&path) {
            let what = form.get("do").unwrap_or_default().to_owned();
            let kind = form.action.split('?').next().unwrap_or_default().to_owned();
            if !tried.insert((kind, what.clone(), form.fields.len())) {
                continue;
            }
            let names = form.fields.iter().map(|(name, _)| name.as_str());
            for name in names.filter(|name| !matches!(*name, "form" | "token")) {
                for value in WRONG {
                    sent += 1;
                    let id = format!("aaaaaaaaaaaaaaaa{sent}");
                    let reply = visitor.submit(&form.clone().with(name, value).with("form", &id));
                    let text = reply.text();
                    let is_refused = matches!(reply.status, 400 | 403 | 404 | 409);
                    let is_kept = value != "zz-wrong-zz" || !TYPED.contains(&name) || text.contains(value);
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
    let paths = "/memory? /memory?kind=days& /history? /turns? /inbox? /notes/Projects/Garden.md? /history?actor=cli&";
    for path in paths.split(' ') {
        let past = visitor.get(&format!("{path}page=99")).is(200).text();
        contains_all(format!("{path}: {past}"), &["ends before page 99", "To the first page"]);
        assert!(!visitor.get(path).is(200).text().contains("ends before"), "{path}");
    }
    let past = visitor.get("/notes/Projects/Garden.md?n=99").is(404).text();
    contains_all(past, &["0 is the current one", "href=\"/notes/Projects/Garden.md\""]);
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
