//! Who is let in: codes, sessions and their ends.

use crate::http::Reply;
use crate::served::*;

/// What a browser gets that has no session.
fn try_at(served: &Served, method: &str, path: &str) -> Reply {
    Request::new(method, path).header("Host", &served.address.to_string()).send(served.address).unwrap()
}

#[test]
fn a_code_lets_one_browser_in_once() {
    let vault = with_call();
    let served = Served::start(&vault);
    let code = served.url.split("code=").nth(1).unwrap();
    assert!(code.len() >= 22, "128 bits: {code}");
    let path = path_of(&served.url);
    assert_eq!(try_at(&served, "HEAD", path).status, 401, "it uses nothing up");
    let reply = try_at(&served, "GET", path).is(303);
    let cookie = reply.header("set-cookie");
    contains_all(cookie, &["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=2592000"]);
    contains_none(cookie, &["Domain"]);
    assert_eq!(try_at(&served, "GET", path).status, 401, "the second time");
}

#[test]
fn wrong_codes_let_nobody_in_and_ten_are_enough() {
    let vault = with_call();
    let served = Served::start(&vault);
    let code = served.url.split("code=").nth(1).unwrap().to_owned();
    let flip = |c: char| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
    let flipped: String = code.chars().map(flip).collect();
    let other = if flipped == code { "a".repeat(code.len()) } else { flipped };
    let (begins, ends) = (&code[..code.len() - 1], &code[1..]);
    let wrong = format!("|%00|{ends}|{begins}|{code}a|{code}%20|x&other={code}|{other}|'%20OR%201=1%20--");
    let status = |path: &str| try_at(&served, "GET", path).status;
    for code in wrong.split('|') {
        assert_eq!(status(&format!("/in?code={code}")), 401, "{code:?}");
    }
    assert_eq!(status("/in"), 401);
    assert_eq!(status(&format!("/in?code={code}")), 429, "also the right one waits now");
    assert_eq!(status("/"), 401);
}

/// The same session at a page that was started anew on another port.
pub fn moved(visitor: &Visitor, to: &Served) -> Visitor {
    let [from, at] = [visitor.address, to.address].map(|address| address.port().to_string());
    Visitor { address: to.address, cookie: visitor.cookie.replacen(&from, &at, 1) }
}

#[test]
fn a_session_that_was_ended_is_closed() {
    let (vault, _served, visitor) = Served::over(with_call());
    let listed = vault.json(&["web", "sessions"]).to_string();
    let id = listed.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    vault.run(&["web", "sessions"]).ok().says(id);
    let _ = vault.run(&["web", "sessions", "--end", id]).ok();
    // It says what to type.
    contains_all(visitor.get("/").is(401).text(), &["vault-agent web"]);
    assert_ne!(vault.run(&["web", "sessions", "--end", id]).code, 0, "there is none of that name");
    assert_eq!(visitor.send(&visitor.change("/", &[("do", "add")])).status, 401);
    assert_eq!(visitor.get("/events").status, 401);
}

#[test]
fn behind_a_proxy_the_cookie_is_bound_to_the_host_over_tls() {
    let vault = with_call();
    vault.write("vault-agent.toml", format!("{LISTEN}trusted_hosts = [\"vault.tail1234.ts.net\"]\n"));
    let served = Served::start(&vault);
    let through = |path: &str| {
        Request::new("GET", path).header("Host", "vault.tail1234.ts.net").header("X-Forwarded-Proto", "https")
    };
    let reply = through(path_of(&served.url)).send(served.address).unwrap().is(303);
    let cookie = reply.header("set-cookie");
    assert!(cookie.starts_with("__Host-") && cookie.contains("; Secure"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let _ = through("/").header("Cookie", cookie).send(served.address).unwrap().is(200);
    for (host, status) in [("vault.tail1234.ts.net.evil.example", 421), ("evil.tail1234.ts.net", 421)] {
        let request = through("/").instead("Host", host).header("Cookie", cookie);
        assert_eq!(request.send(served.address).unwrap().status, status, "{host}");
    }
}

#[test]
fn stopped_it_ends_quietly() {
    let (_vault, served, visitor) = Served::over(with_call());
    let _ = visitor.get("/").is(200);
    let (code, said) = served.stop();
    assert!(matches!(code, Some(0)), "{code:?}: {said}");
    assert!(!said.contains("error") && !said.contains("panic"), "{said}");
}
