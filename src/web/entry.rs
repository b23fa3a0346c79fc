//! Authenticates requests to the page. Also reads and sets the session's cookie.
//!
//! Checked are the one-time code that begins a session, the `Host` header of each request, and the origin and the
//! form's token of each change. A request's headers come in. The checked host name or the cookie goes out, or a
//! refusal. The one-time codes are the only state.

use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderName, header};
use jiff::{SignedDuration, Timestamp};

use super::answer::{PageError, Result};
use crate::listen::{HostNames, secret};

/// The browser's header about the origin of a request.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The host name by which a request calls the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CalledHost {
    /// The `Host` header.
    pub host: String,
    /// Whether a proxy says that TLS is before it.
    pub is_tls: bool,
}

/// The host name by which a request calls the page, if it is one of the page's names.
pub(super) fn host(names: &HostNames, headers: &HeaderMap) -> Result<CalledHost> {
    let Some(host) = text(headers, &header::HOST).filter(|host| names.takes(host)) else {
        return Err(PageError::new(421, "this host name is not allowed")
            .hint("behind a proxy, add its host to `[web] trusted_hosts` in vault-agent.toml"));
    };
    let forwarded = text(headers, &HeaderName::from_static("x-forwarded-proto"));
    let is_tls =
        names.is_trusted(host) && forwarded.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
    Ok(CalledHost { host: host.to_owned(), is_tls })
}

/// Checks that a change comes from a page of this program.
pub(super) fn change(called: &CalledHost, headers: &HeaderMap) -> Result<()> {
    let refused = || PageError::new(403, "this form was not sent by this page (wrong or missing `Origin`)");
    let origin = text(headers, &header::ORIGIN).ok_or_else(refused)?;
    let scheme = if called.is_tls { "https" } else { "http" };
    if !origin.eq_ignore_ascii_case(&format!("{scheme}://{}", called.host)) {
        return Err(refused());
    }
    if headers.get_all(FETCH_SITE).iter().all(|site| site == "same-origin") { Ok(()) } else { Err(refused()) }
}

/// Whether a page of another site sent the request, as browsers say.
pub(super) fn is_of_another_site(headers: &HeaderMap) -> bool {
    headers.get_all(FETCH_SITE).iter().any(|site| site == "cross-site" || site == "same-site")
}

/// The cookie's name: cookies of one host are shared by all its ports.
pub(super) fn cookie_name(called: &CalledHost, port: u16) -> String {
    if called.is_tls { "__Host-vault_agent".to_owned() } else { format!("vault_agent_{port}") }
}

/// The session's secret, as a request brings it.
pub(super) fn cookie(called: &CalledHost, port: u16, headers: &HeaderMap) -> Option<String> {
    let name = cookie_name(called, port);
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut found = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned());
    found.next().filter(|value| value.len() == 64)
}

/// The header that gives a browser its cookie.
pub(super) fn set_cookie(called: &CalledHost, port: u16, value: &str) -> String {
    let secure = if called.is_tls { "; Secure" } else { "" };
    let name = cookie_name(called, port);
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000{secure}")
}

/// The proof that a form was made for a session: it can't be computed without the cookie.
pub(super) fn form_token(cookie: &str) -> String {
    data_encoding::HEXLOWER.encode(&blake3::derive_key("vault-agent page: form token", cookie.as_bytes()))
}

/// Checks that a form has the session's token.
pub(super) fn form(token: &str, given: &str) -> Result<()> {
    if secret::is_same(token, given) {
        return Ok(());
    }
    Err(PageError::new(403, "this form belongs to another session")
        .hint("what you typed is kept below and can be sent again"))
}

/// The value of a header that stands once.
pub(super) fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

/// A code is good for so long.
const GOOD_FOR: SignedDuration = SignedDuration::from_secs(60);
/// After this many wrong codes in [`WITHIN`] no further one is checked.
const MOST_WRONG: usize = 10;
/// In which time.
const WITHIN: SignedDuration = SignedDuration::from_secs(60);

/// The hashes of the valid codes, and the wrong codes of the last minute.
#[derive(Debug, Default)]
pub(super) struct LoginCodes(Mutex<CodeState>);

#[derive(Debug, Default)]
struct CodeState {
    good: Vec<(String, Timestamp)>,
    wrong: Vec<Timestamp>,
}

impl LoginCodes {
    /// A new code of 128 bits, and the end of its validity.
    pub(super) fn make(&self, now: Timestamp) -> std::io::Result<(String, Timestamp)> {
        let code = secret::random::<16>()?;
        let until = now + GOOD_FOR;
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.good.retain(|(_, until)| *until > now);
        state.good.push((secret::hash(&code), until));
        Ok((code, until))
    }

    /// Uses a code up. Another site's wrong codes aren't counted: it could keep the right one from being looked at.
    ///
    /// # Errors
    /// There is no such code, it was used, or its time is over; or it wasn't looked at, after too many wrong ones.
    pub(super) fn try_code(&self, code: &str, is_of_another_site: bool, now: Timestamp) -> Result<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back brings no old mistakes back.
        state.wrong.retain(|at| now.duration_since(*at).abs() < WITHIN);
        if state.wrong.len() >= MOST_WRONG {
            let words = "too many wrong codes; try again in a minute";
            return Err(PageError::new(429, words));
        }
        state.good.retain(|(_, until)| *until > now);
        let hash = secret::hash(code);
        let before = state.good.len();
        state.good.retain(|(good, _)| *good != hash);
        if state.good.len() < before {
            return Ok(());
        }
        state.wrong.extend((!is_of_another_site).then_some(now));
        Err(PageError::new(401, "this address was already used, or has expired")
            .hint("run `vault-agent web` again: each address works once, for one minute"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn names() -> HostNames {
        HostNames::new("127.0.0.1:8790".parse().unwrap(), &["vault.ts.net".to_owned()])
    }

    #[test]
    fn a_change_comes_from_the_page_itself() {
        let called = host(&names(), &headers(&[("host", "127.0.0.1:8790")])).unwrap();
        assert!(change(&called, &headers(&[("origin", "http://127.0.0.1:8790")])).is_ok());
        for wrong in [
            &[][..],
            &[("origin", "null")],
            &[("origin", "http://127.0.0.1:8791")],
            &[("origin", "http://localhost:8790")],
            &[("origin", "https://127.0.0.1:8790")],
            &[("origin", "http://127.0.0.1:8790.evil.example")],
            &[("origin", "http://127.0.0.1:8790"), ("sec-fetch-site", "cross-site")],
            &[("origin", "http://127.0.0.1:8790"), ("sec-fetch-site", "same-site")],
        ] {
            assert_eq!(change(&called, &headers(wrong)).unwrap_err().status, 403, "{wrong:?}");
        }
    }

    #[test]
    fn tls_is_believed_of_a_trusted_host_alone() {
        let tls = [("host", "vault.ts.net"), ("x-forwarded-proto", "https")];
        let called = host(&names(), &headers(&tls)).unwrap();
        assert!(
            called.is_tls
                && set_cookie(&called, 8790, "x").starts_with("__Host-")
                && set_cookie(&called, 8790, "x").contains("; Secure")
        );
        assert!(change(&called, &headers(&[("origin", "https://vault.ts.net")])).is_ok());
        let own = [("host", "localhost:8790"), ("x-forwarded-proto", "https")];
        assert!(!host(&names(), &headers(&own)).unwrap().is_tls);
        assert_eq!(host(&names(), &headers(&[("host", "evil.example")])).unwrap_err().status, 421);
        assert_eq!(host(&names(), &headers(&[])).unwrap_err().status, 421);
    }

    #[test]
    fn a_form_is_proven_by_what_only_its_session_has() {
        let token = form_token("a cookie");
        assert!(form(&token, &token).is_ok());
        assert_eq!(form(&token, &form_token("another")).unwrap_err().status, 403);
        assert_eq!(form(&token, "").unwrap_err().status, 403);
    }

    fn status(tried: Result<()>) -> Option<u16> {
        tried.err().map(|problem| problem.status)
    }

    #[test]
    fn a_code_is_good_once_and_for_a_minute() {
        let codes = LoginCodes::default();
        let now: Timestamp = "2026-12-01T09:00:00Z".parse().unwrap();
        let (code, until) = codes.make(now).unwrap();
        assert_eq!((code.len(), until), (32, now + GOOD_FOR));
        assert_eq!(codes.try_code(&code, false, now), Ok(()));
        assert_eq!(status(codes.try_code(&code, false, now)), Some(401));
        let (code, until) = codes.make(now).unwrap();
        assert_eq!(status(codes.try_code(&code, false, until)), Some(401));
    }

    #[test]
    fn ten_wrong_codes_in_a_minute_are_enough() {
        let codes = LoginCodes::default();
        let now: Timestamp = "2026-12-01T09:00:00Z".parse().unwrap();
        let (code, _) = codes.make(now).unwrap();
        // Those of other sites, as of an `<img>`, don't count.
        for _ in 0..MOST_WRONG {
            assert_eq!(status(codes.try_code("x", true, now)), Some(401));
        }
        for _ in 0..MOST_WRONG {
            assert_eq!(status(codes.try_code("x", false, now)), Some(401));
        }
        assert_eq!(status(codes.try_code(&code, false, now)), Some(429));
        let later = now + WITHIN;
        let (code, _) = codes.make(later).unwrap();
        assert_eq!(codes.try_code(&code, false, later), Ok(()));
    }
}
