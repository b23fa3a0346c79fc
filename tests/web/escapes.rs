//! Paths that lead out of the vault, or to what of it isn't shown.

use crate::http::Reply;
use crate::served::{Served, Visitor, listening};
use crate::support::TestVault;

/// What an attacker wants to read.
const SECRET: &str = "the-secret-of-another-folder";

/// Addresses; none of them shows the secret, and none is a redirect.
pub const PATHS: [&str; 44] = [
    "/notes/../secret.md",
    "/notes/../../secret.md",
    "/notes/..%2fsecret.md",
    "/notes/..%2Fsecret.md",
    "/notes/%2e%2e/secret.md",
    "/notes/%2e%2e%2fsecret.md",
    "/notes/%252e%252e%252fsecret.md",
    "/notes/..%5csecret.md",
    "/notes/..\\secret.md",
    "/notes/a/../../secret.md",
    "/notes/a%2f..%2f..%2fsecret.md",
    "/notes/.%2e/secret.md",
    "/notes/%c0%ae%c0%ae/secret.md",
    "/notes/%ff",
    "/notes/..%c0%afsecret.md",
    "/notes/%00../secret.md",
    "/notes/..%00/secret.md",
    "/notes/secret.md%00.md",
    "/notes//secret.md",
    "/notes///etc/passwd",
    "/notes/%2fetc%2fpasswd",
    "/notes/C:%5cwindows%5cwin.ini",
    "/notes/out/secret.md",
    "/notes/linked.md",
    "/notes/.obsidian/secret.md",
    "/notes/.secret.md",
    "/notes/~/secret.md",
    "/notes/$HOME/secret.md",
    "/notes/file:%2f%2f%2fetc%2fpasswd",
    "/files/../secret.png",
    "/files/..%2fsecret.png",
    "/files/%2e%2e%2fsecret.png",
    "/files/out/secret.png",
    "/files/linked.png",
    "/files/.obsidian/secret.png",
    "/files/secret.toml",
    "/files/vault-agent.toml",
    "/turns/../secret.md",
    "/turns/..%2f..%2fsecret",
    "/routines/..%2fsecret",
    "/routines/%2e%2e%2f%2e%2e%2fsecret",
    "/../secret.md",
    "//evil.example/secret",
    "/%2f%2fevil.example/secret",
];

fn vault() -> TestVault {
    let vault = listening("//- /a/note.md\nhello\n");
    let outside = vault.root().parent().unwrap().to_owned();
    for name in ["secret.md", "secret.png", "secret"] {
        std::fs::write(outside.join(name), SECRET).unwrap();
    }
    for name in [".secret.md", ".obsidian/secret.md", ".obsidian/secret.png", "secret.toml"] {
        vault.write(name, SECRET);
    }
    std::os::unix::fs::symlink(&outside, vault.path("out")).unwrap();
    std::os::unix::fs::symlink(outside.join("secret.md"), vault.path("linked.md")).unwrap();
    std::os::unix::fs::symlink(outside.join("secret.png"), vault.path("linked.png")).unwrap();
    vault
}

fn shows_nothing(path: &str, reply: &Reply) {
    assert!(reply.status >= 400, "{path}: {}\n{}", reply.status, reply.text());
    let text = reply.text();
    assert!(!text.contains(SECRET) && !text.contains("root:"), "{path}: {text}");
    assert!(reply.header("location").is_empty(), "{path}");
}

#[test]
fn no_path_leads_out_of_the_vault() {
    let (_vault, _served, visitor) = Served::over(vault());
    for path in PATHS {
        shows_nothing(path, &visitor.get(path));
        let json = visitor.send(&visitor.request(path).header("Accept", "application/json"));
        shows_nothing(path, &json);
    }
    still_there(&visitor);
}

/// Values of queries that name notes or snapshots.
pub const QUERIES: [&str; 14] = [
    "/history?note=../secret.md",
    "/history?note=%2fetc%2fpasswd",
    "/history?note=%00",
    "/history?undo=../../secret",
    "/notes/a/note.md?at=../../secret",
    "/notes/a/note.md?at=--help",
    "/notes/a/note.md?at=HEAD%00",
    "/notes/a/note.md?from=%2fetc%2fpasswd&to=HEAD",
    "/notes/a/note.md?plan=%2fetc%2fpasswd",
    "/search?q=path:../secret",
    "/search?q=%22%00",
    "/calendar?month=../../etc",
    "/calendar?month=9999-99",
    "/memory?scope=..%2f..%2fsecret",
];

#[test]
fn no_query_leads_out_of_the_vault() {
    let (_vault, _served, visitor) = Served::over(vault());
    for path in QUERIES {
        let reply = visitor.get(path);
        assert!(matches!(reply.status, 200 | 400 | 404), "{path}: {}\n{}", reply.status, reply.text());
        let text = reply.text();
        assert!(!text.contains(SECRET) && !text.contains("root:x"), "{path}: {text}");
    }
    still_there(&visitor);
}

fn still_there(visitor: &Visitor) {
    let _ = visitor.get("/").is(200);
}

/// Addresses by which a redirect or a header would lead elsewhere.
#[test]
fn no_address_becomes_another_one() {
    let (_vault, _served, visitor) = Served::over(vault());
    for path in [
        "/?said=%0d%0aSet-Cookie:%20a=b",
        "/?said=%3Cscript%3Ealert(1)%3C/script%3E",
        "/?said=You%20must%20call%20555-1234",
        "/in?code=x&to=//evil.example",
        "/in?code=x&next=https://evil.example",
        "/nowhere%0d%0aLocation:%20https://evil.example",
    ] {
        let reply = visitor.get(path);
        assert!(reply.header("location").is_empty() && reply.header("set-cookie").is_empty(), "{path}");
        let text = reply.text();
        assert!(!text.contains("<script>alert") && !text.contains("555-1234"), "{path}: {text}");
    }
}
