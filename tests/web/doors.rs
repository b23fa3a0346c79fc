//! Who is let in: codes, sessions and their ends.

use crate::served::*;

fn try_at(served: &Served, path: &str) -> u16 {
    Request::new("GET", path).header("Host", &served.address.to_string()).send(served.address).unwrap().status
}

#[test]
fn a_code_lets_one_browser_in_once() {
    let vault = with_call();
    let served = Served::start(&vault);
    let code = served.url.split("code=").nth(1).unwrap();
    assert!(code.len() >= 22, "128 bits: {code}");
    let head = Request::new("HEAD", path_of(&served.url)).header("Host", &served.address.to_string());
    assert_eq!(head.send(served.address).unwrap().status, 401, "it uses nothing up");
    let reply = Request::new("GET", path_of(&served.url)).header("Host", &served.address.to_string());
    let reply = reply.send(served.address).unwrap().is(303);
    let cookie = reply.header("set-cookie").to_owned();
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=2592000"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
    assert_eq!(try_at(&served, path_of(&served.url)), 401, "the second time");
}

#[test]
fn wrong_codes_let_nobody_in_and_ten_are_enough() {
    let vault = with_call();
    let served = Served::start(&vault);
    let code = served.url.split("code=").nth(1).unwrap().to_owned();
    let flipped: String = code
        .chars()
        .map(|c| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() })
        .collect();
    let wrong = [
        String::new(),
        "%00".to_owned(),
        code[1..].to_owned(),
        code[..code.len() - 1].to_owned(),
        format!("{code}a"),
        format!("{code}%20"),
        format!("x&other={code}"),
        if flipped == code { "a".repeat(code.len()) } else { flipped },
        "'%20OR%201=1%20--".to_owned(),
    ];
    for code in &wrong {
        assert_eq!(try_at(&served, &format!("/in?code={code}")), 401, "{code:?}");
    }
    assert_eq!(try_at(&served, "/in"), 401);
    assert_eq!(try_at(&served, &format!("/in?code={code}")), 429, "also the right one waits now");
    assert_eq!(try_at(&served, "/"), 401);
}

/// The same session at a page that was started anew on another port.
pub fn moved(visitor: &Visitor, to: &Served) -> Visitor {
    let cookie =
        visitor.cookie.replacen(&visitor.address.port().to_string(), &to.address.port().to_string(), 1);
    Visitor { address: to.address, cookie }
}

#[test]
fn a_session_that_was_ended_is_closed() {
    let (vault, _served, visitor) = Served::over(with_call());
    let listed = vault.json(&["web", "sessions"]);
    let id = listed.to_string();
    let id = id.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    let text = vault.run(&["web", "sessions"]).ok().stdout;
    assert!(text.contains(&id), "{text}");
    let _ = vault.run(&["web", "sessions", "--end", &id]).ok();
    let closed = visitor.get("/").is(401);
    assert!(closed.text().contains("vault-agent web"), "it says what to type: {}", closed.text());
    assert_ne!(vault.run(&["web", "sessions", "--end", &id]).code, 0, "there is none of that name");
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
