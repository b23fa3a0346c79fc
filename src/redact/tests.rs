//! Measures the rules on a corpus of secrets, and on ordinary code and prose.
//!
//! The files of `testdata` have a line for each secret: its family, a tab, a text with `«` and `»` round the secret,
//! `⏎` for a line's end. `¦` cuts every secret in pieces, so that no scanner of a code host sees one. `unseen.txt` is a
//! third of the lines, drawn at random before the rules were written, and not read while they were written.

use super::*;

const SEEN: &str = include_str!("testdata/seen.txt");
const UNSEEN: &str = include_str!("testdata/unseen.txt");

/// The text of a line, and its secrets.
fn put_together(line: &str) -> (String, Vec<String>) {
    let text = line.split_once('\t').unwrap().1.replace('¦', "").replace('⏎', "\n");
    let secrets = text.split('«').skip(1).map(|rest| rest.split('»').next().unwrap().to_owned()).collect();
    (text.replace(['«', '»'], ""), secrets)
}

/// Whether six characters in a row of a secret are still there. Those that the text around it has too don't count.
fn leaks(masked: &str, text: &str, secret: &str) -> bool {
    let marker = regex_lite::Regex::new(r"\[masked: [^\]]*\]").unwrap();
    let (masked, beside) = (marker.replace_all(masked, "\n"), text.replace(secret, "\n"));
    let signs: Vec<char> = secret.chars().collect();
    let mut runs = signs.windows(6.min(signs.len())).map(|run| run.iter().collect::<String>());
    runs.any(|run| masked.contains(&run) && !beside.contains(&run))
}

fn missed(corpus: &str) -> (usize, Vec<String>) {
    let lines: Vec<&str> = corpus.lines().collect();
    let missed = lines.iter().filter_map(|line| {
        let (text, secrets) = put_together(line);
        let masked = redact(&text);
        secrets.iter().any(|secret| leaks(&masked, &text, secret)).then(|| format!("{text}\n  → {masked}"))
    });
    (lines.len(), missed.collect())
}

#[test]
fn of_the_secrets_at_most_two_in_a_hundred_pass() {
    for (name, corpus) in [("seen", SEEN), ("unseen", UNSEEN)] {
        let (all, missed) = missed(corpus);
        println!("{name}: {} of {all} pass", missed.len());
        assert!(missed.len() * 50 <= all, "{name}: {} of {all}:\n{}", missed.len(), missed.join("\n"));
    }
}

#[test]
fn the_fixtures_hold_no_token_for_a_scanner() {
    for corpus in [SEEN, UNSEEN] {
        let mut found = find(corpus);
        found.retain(|one| one.kind.ends_with(" token") || one.kind.ends_with(" key"));
        let found: Vec<&str> = found.iter().map(|one| &corpus[one.range.clone()]).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn what_is_masked_says_its_kind_and_is_masked_once() {
    for (text, expected) in [
        ("DB_PASSWORD=corr-ect", "DB_PASSWORD=[masked: password]"),
        ("DB_PASSWORD: hunter2zz", "DB_PASSWORD: [masked: password]"),
        ("\"DB_PASSWORD\": \"hunter2zz\"", "\"DB_PASSWORD\": \"[masked: password]\""),
        ("DB_PASSWORD = hunter2zz", "DB_PASSWORD = [masked: password]"),
        ("password=hunter2zz", "password=[masked: password]"),
        ("https://x?password=hunter2zz&user=ann", "https://x?password=[masked: password]&user=ann"),
        ("password=hunter2zz&user=ann", "password=[masked: password]&user=ann"),
        ("--password=hunter2zz && ls", "--password=[masked: password] && ls"),
        ("db.password=tr0ub4dor&3", "db.password=[masked: password]"),
        ("password = \"hunter2zz\"", "password = \"[masked: password]\""),
        ("- name: DB_PASSWORD\n  value: hunter2zz", "- name: DB_PASSWORD\n  value: [masked: password]"),
        ("\"DB_PASSWORD\",\n \"value\": \"hunter2\"", "\"DB_PASSWORD\",\n \"value\": \"[masked: password]\""),
        (
            "**Password:** `hunt&r2zz`, **password**: hunt&r2zz",
            "**Password:** `[masked: password]`, **password**: [masked: password]",
        ),
        ("| DB password | hunt&r2zz |", "| DB password | [masked: password] |"),
        (
            "{\\\\\\\"password\\\\\\\":\\\\\\\"hunt&r2zz\\\\\\\"}",
            "{\\\\\\\"password\\\\\\\":\\\\\\\"[masked: password]\\\\\\\"}",
        ),
        ("Пароль: hunt&r2zz, 密码：hunt&r2zz", "Пароль: [masked: password], 密码：[masked: password]"),
        (
            "setx API_KEY hunter22; net user ann hunter22 /add",
            "setx API_KEY [masked: password]; net user ann [masked: password] /add",
        ),
        ("our .net user base keeps growing", "our .net user base keeps growing"),
        ("gh secret set X --body \"hunter22\"", "gh secret set X --body \"[masked: password]\""),
        ("- name: DB_PASSWORD\n  valueFrom: hunter2zz", "- name: DB_PASSWORD\n  valueFrom: hunter2zz"),
        ("curl -u ann:hunter22 https://x.y", "curl -u ann:[masked: password] https://x.y"),
        ("Cookie: lang=en; session=abc123def456", "Cookie: lang=en; session=[masked: cookie]"),
        ("Authorization: Bearer 0123456789abcdef0123", "Authorization: Bearer [masked: bearer token]"),
        (
            "postgres://ann:hunter2@db/x, https://x.y/z",
            "postgres://ann:[masked: password]@db/x, https://x.y/z",
        ),
        ("{\"token\": \"abc0123456789def0\"}", "{\"token\": \"[masked: token]\"}"),
        ("xoxb-123456789012-abcdefGHIJ", "[masked: slack token]"),
        ("line\\nghp_0123456789abcdefghij", "line\\n[masked: github token]"),
        (
            "https://discord.com/api/webhooks/123456789012345678/abcdefghij0123456789",
            "https://discord.com/api/webhooks/123456789012345678/[masked: discord webhook]",
        ),
        // An escape before a token is no part of it.
        ("\u{1b}[32mghp_0123456789abcdefghij\u{1b}[0m", "\u{1b}[32m[masked: github token]\u{1b}[0m"),
        ("\\x1b[1;32mghp_0123456789abcdefghij", "\\x1b[1;32m[masked: github token]"),
        ("?q=token%3Dghp_0123456789abcdefghij%26a", "?q=token%3D[masked: github token]%26a"),
        ("{\"a\":\"t\\u003dghp_0123456789abcdefghij\"}", "{\"a\":\"t\\u003d[masked: github token]\"}"),
        ("password%3Dtr0ub4dor%26user%3Dann", "password%3D[masked: password]%26user%3Dann"),
        ("DB_PASSWORD=\u{1b}[33mcorr-ect\u{1b}[0m", "DB_PASSWORD=[masked: password]"),
        ("\u{1b}[mghp_0123456789abcdefghij", "\u{1b}[m[masked: github token]"),
        ("f:\u{1b}[m\u{1b}[Kghp_0123456789abcdefghij", "f:\u{1b}[m\u{1b}[K[masked: github token]"),
        ("\\u001B[0Kghp_0123456789abcdefghij", "\\u001B[0K[masked: github token]"),
        ("\\033[?25hghp_0123456789abcdefghij", "\\033[?25h[masked: github token]"),
        ("\\e[38:5:1mghp_0123456789abcdefghij", "\\e[38:5:1m[masked: github token]"),
        ("q%253Dghp_0123456789abcdefghij%2526a", "q%253D[masked: github token]%2526a"),
        ("_ghp_0123456789abcdefghij_", "_[masked: github token]_"),
        // A line's end that is written out is one.
        (
            "DB_PASSWORD=\\nDB_TOKEN=ghp_0123456789abcdefghij",
            "DB_PASSWORD=\\nDB_TOKEN=[masked: github token]",
        ),
    ] {
        let once = redact(text);
        assert_eq!(once, expected);
        assert_eq!(redact(&once), expected, "twice");
    }
}

#[test]
fn work_and_words_stay() {
    for text in [
        "commit 24d41322f1c6e9a0b7d8c3e5f4a6b7c8d9e0f1a2 fixes it",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "key: 24d41322f1c6e9a0b7d8c3e5f4a6b7c8d9e0f1a2 and token: 0b9c9e5e-6f5e-4f52-8b8e-2f6b3c1d7a10",
        "rid_01ARZ3NDEKTSV4RRFFQ69G5FAV and 01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "id: rid_7f3k2m9x, key: rid_7f3k2m9x",
        "![](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk)",
        "import sk-learn-something-or-other as well",
        "let token = tokenizer.next_token_after2000();",
        "key: some_function_name_123(x)",
        "fn login(password: &str, token: Option<String>) -> Result<Session2, Error>",
        "password = get_password(user1)",
        "password = field2, password=self.field2, password=os.environ[\"X1\"], PASSWORD: see page2.md, password: step2",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "https://ann@example.org/x:y@z and ://",
        "the password is in the drawer; Password: required",
        "a password is at least 8 characters; its hash is sha256-based",
        "-readpass | -pkcs11module | -in, | password | required |, cat password | base64 -d",
        "toolu_01A09q90qw90lq917835lq9 and msg_01XFDUDYJgAACzvnptvVoYEL",
        "export DB_PASSWORD=$DB_PASSWORD API_KEY=<your key> TOKEN=${TOKEN} PWD=/home/ann",
        "Authorization: Bearer YOUR_TOKEN, the authorization: header",
        "docker run -p 8080:80 x; mkdir -p a/b/c; curl -u ann https://x.y",
        "nextPageToken: CAUQAA1b2c3d4e5f6g7h8",
        "src/x.rs:12:34:error:unused",
        "DB_PASSWORD=\\nDB_HOST=db-01.example.com, password:\\r\\nuser2@example.com",
        "password%3A%0D%0Auser2@example.com, password:\\u000auser2@example.com",
        "list[mghp_0123456789abcdefghij], x_hf_loadModel, a_ghp_0123456789abcdefghij",
    ] {
        assert_eq!(redact(text), text);
    }
}

/// In quadratic time it would take many minutes.
#[test]
fn a_text_of_beginnings_alone_is_read_once() {
    for beginning in ["sk-", "sk-fm2_", "key=", "token_", "-----BEGIN PRIVATE KEY-----\n", "key=&"] {
        find(&beginning.repeat(300_000 / beginning.len()));
    }
}

#[test]
fn a_token_without_a_digit_is_masked_and_an_identifier_is_not() {
    for (prefix, tail, kind) in [
        ("hf_", "NqVwYSVPHbDXpPdkhxEpyIgKpaUnArlXyk", "hugging face token"),
        ("hf_", "nqvwysvphbdxppdk4xepyigkpa", "hugging face token"),
        ("glpat-", "QbzTxKvLmWpRsYhJdFgc", "gitlab token"),
        ("glpat-", "Qbz_TxKvLm-WRsYhJdFc", "gitlab token"),
        ("sk_live_", "hGtRwKqPzXcVbNmLkJfDsaYu", "stripe key"),
        ("sk-proj-", "aBxQzRtYwKLmnPvCdEGhJjSuTf", "openai key"),
    ] {
        assert_eq!(redact(&format!("x {prefix}{tail} y")), format!("x [masked: {kind}] y"));
    }
    for text in [
        "hf_loadModelFromCheckpoint and hf_load_model_from_the_checkpoint",
        "glpat-YourTokenGoesHere, glpat-YOUR_TOKEN_GOES_HERE, glpat-xxxxxxxxxxxxxxxxxxxx",
        "sk_test_isNewTaskInTheListOfAll, sk_live_parseHttpRequestBody",
        "sk-SomeNameInTitleCase-of-a-Package, ghp_getTheItemAtIndexOfIt",
        "hf_HTTPResponseParser, sk-AWSAccountDataProvider",
    ] {
        assert_eq!(redact(text), text);
    }
}

/// Ordinary code and prose: this repository's own, but for the files that have made-up secrets on purpose.
#[test]
fn of_ten_thousand_ordinary_words_at_most_one_is_masked() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open: Vec<_> = ["src", "docs", "grammar", "vault-template", "README.md", "CHANGELOG.md"]
        .iter()
        .map(|name| root.join(name))
        .collect();
    let (mut words, mut masked) = (0, Vec::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if path.starts_with(root.join("src/redact")) || path.ends_with("src/brain/scrub.rs") {
            continue;
        }
        words += text.split_whitespace().count();
        for one in find(&text) {
            masked
                .extend(text[one.range].split_whitespace().map(|word| format!("{}: {word}", path.display())));
        }
    }
    println!("{} of {words} words", masked.len());
    assert!(words > 100_000 && masked.len() * 10_000 <= words, "of {words}: {masked:#?}");
}

#[test]
fn settings_add_patterns_and_turn_the_others_off() {
    let own = Redactor::new(false, &["acme_[a-z]+".to_owned()]);
    let text = "acme_secret and ghp_0123456789abcdefghij";
    assert_eq!(own.apply(text), "[masked: own pattern] and ghp_0123456789abcdefghij");
    let mut value = serde_json::json!({"env": {"API_KEY": "0123456789abcdefXY", "DB_PASSWORD": "hunter2zz"}, "list": ["ghp_0123456789abcdefghij", {"ghp_0123456789abcdefghij": 1, "ghp_0123456789abcdefghik": 2}]});
    Redactor::new(true, &[]).apply_to(&mut value);
    let expected = serde_json::json!({"env": {"API_KEY": marker("key"), "DB_PASSWORD": marker("password")}, "list": [marker("github token"), {"[masked: github token]": 1, "[masked: github token]'": 2}]});
    assert_eq!(value, expected);
}

proptest::proptest! {
    #[test]
    fn a_key_never_comes_through(before in ".{0,40}[ \"'=(\n]", key in "sk-[a-zA-Z]{10,20}[0-9]{6,10}", after in "[ \"'.,)\n].{0,40}") {
        let text = format!("{before}{key}{after}");
        proptest::prop_assert!(!redact(&text).contains(&key), "{}", redact(&text));
    }

    #[test]
    fn any_text_is_masked(text in "(\\PC|[-.:/@=\n]|eyJ|://|token=|password |cookie: |curl -u |-----BEGIN |PRIVATE KEY-----|sk-){0,60}") {
        let _ = redact(&text);
    }
}
