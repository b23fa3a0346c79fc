//! Requests that no page of ours makes: other names, other origins, no token, forms of somebody else. None gets through.

use crate::http::{Reply, encoded};
use crate::served::*;

/// Such a page, a person who has come in, and how the vault stands.
fn attacked() -> (TestVault, Served, Visitor, BTreeMap<String, String>) {
    let (vault, served, visitor) = Served::over(with_call());
    let before = vault.tree();
    (vault, served, visitor, before)
}

/// The form that adds a reminder `Stolen`, as the page gives it to the visitor.
fn loot(visitor: &Visitor) -> Form {
    visitor.writing("tomorrow 9am: Stolen", "add")
}

/// The same change as a request that would be taken, for an attack to spoil one thing of.
fn good(visitor: &Visitor) -> Request {
    visitor.sending(&loot(visitor))
}

/// Names by which somebody else's page would reach this address; `PORT` is the page's own.
pub const HOSTS: &str = include_str!("attacks/hosts.txt");

#[test]
fn a_page_that_is_called_by_another_name_answers_nothing() {
    let (vault, served, visitor, before) = attacked();
    let port = served.address.port().to_string();
    let change = good(&visitor);
    for host in HOSTS.lines() {
        let host = host.replace("PORT", &port);
        for request in [
            visitor.request("/").instead("Host", &host),
            visitor.request("/health").instead("Host", &host).header("Accept", "application/json"),
            visitor.request("/events").instead("Host", &host),
            change.clone().instead("Host", &host).instead("Origin", &format!("http://{host}")),
        ] {
            let reply = visitor.send(&request);
            assert!(matches!(reply.status, 400 | 421), "{host:?}: {} {}", reply.status, reply.text());
            assert!(!reply.text().contains("Call"), "{host:?} read the notes");
        }
    }
    // No name, two names, and a name that only a header of a proxy's says.
    let two = visitor.request("/").header("Host", "evil.example");
    for request in [visitor.request("/").without("Host"), two] {
        assert!(matches!(visitor.send(&request).status, 400 | 421));
    }
    let forwarded =
        visitor.request("/").instead("Host", "evil.example").header("X-Forwarded-Host", &visitor.host());
    assert_eq!(visitor.send(&forwarded).status, 421);
    assert_eq!(vault.tree(), before);
    for name in ["localhost", "LocalHost"] {
        let host = format!("{name}:{port}");
        assert_eq!(visitor.send(&visitor.request("/").instead("Host", &host)).status, 200, "{host}");
    }
}

/// What is wrong with a change: its name, and how a good one is spoiled.
type Spoil = (&'static str, fn(Request, &Visitor) -> Request);

/// Changes that come from elsewhere than a page of this session.
pub const FORGED: [Spoil; 17] = [
    ("no origin", |r, _| r.without("Origin")),
    ("the origin null", |r, _| r.instead("Origin", "null")),
    ("another site", |r, _| r.instead("Origin", "http://evil.example")),
    ("a name before an @", |r, v| r.instead("Origin", &format!("http://{}@evil.example", v.host()))),
    ("a path behind it", |r, v| r.instead("Origin", &format!("http://{}/", v.host()))),
    ("two origins", |r, _| r.header("Origin", "http://evil.example")),
    ("cross-site", |r, _| r.instead("Sec-Fetch-Site", "cross-site")),
    ("typed into the address", |r, _| r.instead("Sec-Fetch-Site", "none")),
    ("two sites", |r, _| r.header("Sec-Fetch-Site", "cross-site")),
    ("no cookie", |r, _| r.without("Cookie")),
    ("an empty cookie", |r, v| r.instead("Cookie", &format!("{}=", v.cookie.split('=').next().unwrap()))),
    ("half of the cookie", |r, v| r.instead("Cookie", &v.cookie[..v.cookie.len() - 8])),
    ("the cookie with one letter more", |r, v| r.instead("Cookie", &format!("{}a", v.cookie))),
    ("the cookie as a password", |r, v| {
        let password = format!("Bearer {}", v.cookie.split_once('=').unwrap().1);
        r.without("Cookie").header("Authorization", &password)
    }),
    ("JSON in place of a form", |r, _| {
        let body = r#"{"do":"add","when":"tomorrow 9am","message":"Stolen"}"#;
        r.instead("Content-Type", "application/json").body(body)
    }),
    ("a form of many parts", |r, _| {
        let part = |(name, value)| {
            format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        };
        let parts = [("do", "add"), ("when", "tomorrow 9am"), ("message", "Stolen")].map(part).concat();
        r.instead("Content-Type", "multipart/form-data; boundary=x").body(parts + "--x--\r\n")
    }),
    ("nothing in it", |r, _| r.body("")),
];

#[test]
fn a_change_that_comes_from_elsewhere_changes_nothing() {
    let (vault, _served, visitor, before) = attacked();
    for (name, spoil) in FORGED {
        let reply = visitor.send(&spoil(good(&visitor), &visitor));
        assert!(matches!(reply.status, 400 | 401 | 403 | 415), "{name}: {} {}", reply.status, reply.text());
        assert_eq!(vault.tree(), before, "{name}");
    }
    let reply = visitor.send(&good(&visitor)).is(303);
    assert!(reply.header("location").starts_with("/?said="), "{:?}", reply.headers);
    assert!(vault.read("Reminders.md").contains("msg=\"Stolen\""), "the unspoiled request is taken");
}

/// Fields of a form by which somebody would pass for the page.
pub const FIELDS: [(&str, &str); 12] = [
    ("token", ""),
    ("token", "0"),
    ("token", "0000000000000000000000000000000000000000000000000000000000000000"),
    ("token", "' OR 1=1 --"),
    ("token", "\u{0}"),
    ("form", ""),
    ("form", "1"),
    ("form", "' ; DROP TABLE forms; --aaaaaaaa"),
    ("form", "../../../../../../etc/passwd"),
    ("form", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
    ("do", "<script>"),
    ("do", ""),
];

#[test]
fn a_form_without_its_token_its_id_or_its_action_changes_nothing() {
    let (vault, _served, visitor, before) = attacked();
    for (field, value) in FIELDS {
        let reply = visitor.submit(&loot(&visitor).with(field, value));
        assert!(matches!(reply.status, 400 | 403), "{field}={value:?}: {} {}", reply.status, reply.text());
        assert!(!reply.text().contains("<script>"), "{field}={value:?}");
        assert_eq!(vault.tree(), before, "{field}={value:?}");
    }
    let without = |name: &str| {
        let mut form = loot(&visitor);
        form.fields.retain(|(known, _)| known != name);
        visitor.submit(&form).status
    };
    assert_eq!((without("token"), without("form"), without("do")), (403, 400, 400));
    assert_eq!(visitor.submit(&loot(&visitor).with("message", &"x".repeat(1 << 20))).status, 413);
    assert_eq!(vault.tree(), before);
}

#[test]
fn a_token_is_worth_nothing_in_another_session() {
    let (vault, _served, mine, before) = attacked();
    let (_again, other) = Served::visited(&vault);
    let token = loot(&mine).get("token").unwrap().to_owned();
    assert_ne!(Some(token.as_str()), loot(&other).get("token"));
    let reply = other.submit(&loot(&other).with("token", &token)).is(403);
    assert_eq!(vault.tree(), before);
    // A tab of an earlier session keeps what was typed, with a form that is taken; without a session it is shown.
    let text = reply.text();
    contains_all(&text, &["another session", "Stolen"]);
    let stranger = good(&other).without("Cookie");
    assert!(other.send(&stranger).is(401).text().contains("<pre>Stolen</pre>"));
    let typed = other.request("/?write=tomorrow+9am%3A+Stolen").without("Cookie");
    assert!(other.send(&typed).is(401).text().contains("<pre>tomorrow 9am: Stolen</pre>"));
    let typed = typed.header("Sec-Fetch-Site", "cross-site");
    assert!(!other.send(&typed).is(401).text().contains("Stolen"));
    let forged = stranger.instead("Origin", "http://evil.example");
    assert!(!other.send(&forged).is(401).text().contains("Stolen"));
    let again = crate::forms::forms(&text).into_iter().find(|form| form.holds("Stolen"));
    let _ = other.submit(&again.expect("the form again")).is(303);
    assert!(vault.read("Reminders.md").contains("Stolen"));
}

/// Methods and ways by which a GET might change something, or another method get past.
#[test]
fn nothing_but_a_post_changes_anything() {
    let (vault, served, visitor, before) = attacked();
    let form = loot(&visitor);
    let query: Vec<String> =
        form.fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    let path = format!("/?{}", query.join("&"));
    let _ = visitor.get(&path);
    for header in ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"] {
        let _ = visitor.send(&visitor.request(&path).header(header, "POST"));
    }
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "post"] {
        let Ok(reply) = visitor.request_of_page(method, &path).send(served.address) else { continue };
        assert!(matches!(reply.status, 400 | 403 | 404 | 405), "{method}: {}", reply.status);
        assert_eq!(reply.status == 405, reply.header("allow") == "GET, HEAD, POST", "{method}");
    }
    assert_eq!(vault.tree(), before);
}

/// Headers that every answer has.
fn insist_on_headers(what: &str, reply: &Reply) {
    let policy = reply.header("content-security-policy");
    let parts = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                 form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    for part in parts.split("; ") {
        assert!(policy.split("; ").any(|known| known == part), "{what}: {part} in {policy:?}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{what}: {policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("access-control-allow-origin", ""),
    ] {
        assert_eq!(reply.header(name), value, "{what}: {name}");
    }
}

#[test]
fn every_answer_has_the_policy_and_no_note_is_kept_by_a_browser() {
    let (_vault, _served, visitor) = Served::over(with_call());
    for path in ["/", "/?write=tomorrow%209am%3A%20x", "/nowhere", "/notes/Reminders.md", "/notes/none.md"] {
        for reply in [visitor.get(path), visitor.get_json(path)] {
            insist_on_headers(path, &reply);
            assert_eq!(reply.header("cache-control"), "no-store", "{path}");
        }
    }
    let host = visitor.host();
    for (what, request) in [
        ("without a session", Request::new("GET", "/").header("Host", &host)),
        ("by another name", Request::new("GET", "/").header("Host", "evil.example")),
        ("a wrong code", Request::new("GET", "/in?code=x").header("Host", &host)),
        ("a forged change", visitor.change("/", &[("do", "add")]).instead("Origin", "null")),
    ] {
        insist_on_headers(what, &visitor.send(&request));
    }
    let page = visitor.get("/").text();
    contains_none(&page, &[" style=", " onclick=", "<style"]);
    let is_asset = |part: &str| part.ends_with(".js") || part.ends_with(".css") || part.contains("icon");
    let files = page.split(['"', '\'']).filter(|part| part.starts_with('/') && is_asset(part));
    let files: Vec<&str> = files.collect();
    assert!(files.len() >= 2, "{page}");
    files.into_iter().for_each(|file| insist_on_headers(file, &visitor.get(file).is(200)));
    // Nothing is of another host.
    contains_none(&page, &["http://", "https://"]);
}

#[test]
fn a_form_sent_again_does_nothing_twice() {
    let (vault, _served, visitor) = Served::over(with_call());
    let form = loot(&visitor);
    let first = visitor.submit(&form).is(303);
    let after = vault.tree();
    for _ in 0..3 {
        assert_eq!(visitor.submit(&form).is(303).header("location"), first.header("location"));
    }
    contains_all(visitor.get(first.header("location")).is(200).text(), &["sent before", "time: Added: "]);
    // Other words under its id are kept, and neither done silently nor dropped.
    let other = visitor.submit(&form.with("message", "the lamp is broken")).is(409).text();
    contains_all(other, &["with other words", "the lamp is broken"]);
    assert_eq!(vault.tree(), after);
    // As Back does it: the page of a plan comes anew, and its form is sent again.
    let page = visitor.get("/").text();
    let id = page.split("name=\"form\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let plan = format!("/?write=tomorrow+9am%3A+Back&form={id}");
    (0..2).for_each(|_| drop(visitor.submit(&visitor.form(&plan, "add", "Back")).is(303)));
    assert_eq!(vault.read("Reminders.md").matches("Back").count(), 1);
    // Ten at once, as an impatient finger sends them.
    let form = loot(&visitor).with("message", "Once");
    let replies: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..10).map(|_| scope.spawn(|| visitor.submit(&form).status)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(replies, [303; 10]);
    assert_eq!(vault.read("Reminders.md").matches("msg=\"Once\"").count(), 1);
}
