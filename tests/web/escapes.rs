//! Paths that lead out of the vault, or to what of it isn't shown.

use crate::served::*;

/// What an attacker wants to read.
const SECRET: &str = "the-secret-of-another-folder";

/// Addresses; none of them shows the secret, and none is a redirect.
pub const PATHS: &str = include_str!("attacks/paths.txt");

/// Values of queries that name notes or snapshots.
pub const QUERIES: &str = include_str!("attacks/queries.txt");

fn vault() -> TestVault {
    let vault = listening("//- /a/note.md\nhello\n");
    let outside = vault.root().parent().unwrap().to_owned();
    ["secret.md", "secret.png", "secret"]
        .iter()
        .for_each(|name| fs::write(outside.join(name), SECRET).unwrap());
    for name in [".secret.md", ".obsidian/secret.md", ".obsidian/secret.png", "secret.toml"] {
        vault.write(name, SECRET);
    }
    for (to, link) in [("", "out"), ("secret.md", "linked.md"), ("secret.png", "linked.png")] {
        std::os::unix::fs::symlink(outside.join(to), vault.path(link)).unwrap();
    }
    vault
}

#[test]
fn no_path_and_no_query_leads_out_of_the_vault() {
    let (_vault, _served, visitor) = Served::over(vault());
    for path in PATHS.lines() {
        for reply in [visitor.get(path), visitor.get_json(path)] {
            let text = reply.text();
            assert!(reply.status >= 400, "{path}: {}\n{text}", reply.status);
            assert!(!text.contains(SECRET) && !text.contains("root:"), "{path}: {text}");
            assert!(reply.header("location").is_empty(), "{path}");
        }
    }
    for path in QUERIES.lines() {
        let reply = visitor.get(path);
        assert!(matches!(reply.status, 200 | 400 | 404), "{path}: {}\n{}", reply.status, reply.text());
        contains_none(reply.text(), &[SECRET, "root:x"]);
    }
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
