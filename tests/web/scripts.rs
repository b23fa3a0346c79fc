//! Scripts that somebody wrote into notes, names, logs, headings, settings and addresses: words on the page, and nothing more.

use crate::attacks::{FIELDS, FORGED, HOSTS};
use crate::escapes::{PATHS, QUERIES};
use crate::sample::*;

/// What is written wherever words can be written. Whatever of it runs sets `window.owned`.
const SCRIPTS: &str = include_str!("attacks/scripts.txt");

/// Links and pictures of Markdown; `\n` is the end of a line.
const LINKS: &str = include_str!("attacks/links.txt");

/// All of them.
fn attacks() -> Vec<String> {
    SCRIPTS.lines().chain(LINKS.lines()).map(|line| line.replace("\\n", "\n")).collect()
}

/// A vault that says them all, wherever it can.
fn vault() -> TestVault {
    let vault = TestVault::new("//- now: 2026-12-01T09:30:00Z\n");
    let (mut note, mut memory, mut reminders, mut log) =
        (String::from("# Attack\n\n"), String::from("# Memory\n\n"), String::new(), String::from(LOG));
    for (at, script) in attacks().iter().enumerate() {
        let line = script.replace('\n', " ");
        note += &format!(
            "## {line}\n\n{script}\n\n- {line}\n\n> {line}\n\n| {line} | b |\n|---|---|\n| `{line}` | {line} |\n\n```{line}\n{script}\n```\n\n"
        );
        memory += &format!("## {line}\n- {line}\n");
        let quoted = line.replace('\\', "\\\\").replace('"', "\\\"");
        reminders += &format!("- [ ] date=2026-12-02 time=10:{at:02} recur=none msg=\"{quoted}\"\n");
        log += &format!(
            "> [!user] 2026-11-20T10:{at:02}:00Z {}\n> Remember that {line} is what I like.\n\n^01JGXYZ000000000000000{:04}\n\n",
            line.replace(['[', ']'], ""),
            at + 1
        );
        let name: String = line.replace('/', "_").chars().take(80).collect();
        vault.write(format!("odd/{name}.md"), format!("# {line}\n{script}\n"));
    }
    vault.write("attack.md", note);
    vault.write("MEMORY.md", memory);
    vault.write("Reminders.md", reminders);
    vault.write("logs/discord-channel/7/20261120T100000Z_0001.md", log);
    vault.write("Approvals.md", "- [ ] ap_K5V4M2J7Q2ZP until=2026-12-01T12:30Z brain=<script>window.owned=1</script> run=\"<img src=x onerror=window.owned=1>\" why=<svg/onload=window.owned=1>\n- [ ] ap_K5V4M2J7Q2ZQ until=2026-12-01T12:30Z brain=claude run=\"<script>window.owned=1</script>\"\n");
    const OWN: &str = "<script>window.owned=1</script>";
    let routine = format!("---\nschedule: {OWN}\n---\n# {OWN}\n\nSay.\n");
    vault.write("routines/<img src=x onerror=window.owned=1>.md", routine);
    vault.write(
        "routines/b.md",
        format!("---\nschedule: daily 08:00\nenabled: false\n---\n# {OWN}\n\n{OWN}\n"),
    );
    vault.write("vector.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"window.owned=1\"><script>window.owned=1</script></svg>");
    vault.write("vault-agent.toml", LISTEN);
    let _ = vault.run(&["history"]).ok();
    let _ = vault.run(&["inbox", "scan"]);
    vault
}

const LOG: &str = "---\nsurface: discord-channel\ncontext_id: \"7\"\nstarted: 2026-11-20T10:00:00Z\n---\n\n";

/// Every address that shows some of it.
fn addresses(visitor: &Visitor) -> Vec<String> {
    let mut all = places(&visitor.get("/").is(200).text());
    let more = "/notes/attack.md /notes/MEMORY.md /memory?kind=days /calendar?week=2026-12-02 /inbox?all=1";
    all.extend(more.split(' ').map(str::to_owned));
    for script in &attacks() {
        all.push(format!("/?write={}", encoded(&format!("tomorrow 9am: {script}"))));
        all.push(format!("/search?q={}", encoded(script)));
        let name: String = script.replace('\n', " ").replace('/', "_").chars().take(80).collect();
        all.push(format!("/notes/odd/{}.md", encoded(&name)));
    }
    all
}

/// Names of tags and attributes that no page of ours has.
fn insist_on_words(path: &str, page: &str) {
    let page = page.to_lowercase();
    for tag in page.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        let is_ours = match name.as_str() {
            "iframe" | "object" | "embed" | "math" | "base" | "style" | "video" | "source" | "animate" => {
                false
            }
            "script" => tag.starts_with("script src=\"/assets/"),
            "meta" => !tag.contains("http-equiv"),
            "link" => !tag.contains("evil"),
            _ => true,
        };
        assert!(is_ours, "{path}: <{tag}>");
        // Outside of quotes: what stands between them is a value.
        let outside: String = tag.split('"').step_by(2).collect::<Vec<_>>().join(" ");
        ["onerror", "onload", "onfocus"]
            .iter()
            .for_each(|name| assert!(!outside.contains(name), "{path}: <{tag}>"));
        for at in ["href=\"", "src=\"", "action=\""] {
            let value = tag.split(at).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
            let bare: String = value.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
            let dead = ["javascript:", "data:", "vbscript:", "file:", "//"];
            assert!(!dead.iter().any(|scheme| bare.starts_with(scheme)), "{path}: <{tag}>");
            assert!(name == "a" || !bare.contains("evil.example/"), "{path}: <{tag}>");
        }
    }
}

#[test]
fn no_page_holds_a_script_that_a_note_holds() {
    let (_vault, _served, visitor) = Served::over(vault());
    for path in addresses(&visitor) {
        let reply = visitor.get(&path);
        assert!(matches!(reply.status, 200 | 400 | 404 | 409), "{path}: {}\n{}", reply.status, reply.text());
        insist_on_words(&path, &reply.text());
    }
    let drawing = visitor.get("/files/vector.svg").is(200);
    assert!(drawing.header("content-disposition").starts_with("attachment"), "{:?}", drawing.headers);
    assert!(!drawing.header("content-type").contains("svg"), "{:?}", drawing.headers);
}

#[test]
fn nothing_runs_in_a_browser() {
    let (_vault, served, visitor) = Served::over(vault());
    assert_eq!(visitor.get(path_of(&served.url)).status, 401, "the code is used");
    let Some(tab) = Tab::open(&format!("http://{}", served.address)) else { return };
    tab.take(&visitor);
    let mut pages: Vec<String> = places(&visitor.get("/").text());
    pages.push("/notes/attack.md".to_owned());
    pages.push(format!("/?write={}", encoded("tomorrow 9am: <img src=x onerror=window.owned=1>")));
    pages.push(format!("/search?q={}", encoded("<script>window.owned=1</script>")));
    for path in &pages {
        tab.go(path);
        tab.wait("h1");
        assert!(tab.eval("window.owned === undefined").as_bool().unwrap(), "{path}");
        // Every link that a note wrote is pressed where it stands.
        let _ = tab.eval("[...document.querySelectorAll('main a')].filter(a => /press/.test(a.textContent)).forEach(a => { a.target = ''; if (!/^https?:/.test(a.href)) a.click(); })");
        tab.wait("h1");
        assert!(tab.eval("window.owned === undefined").as_bool().unwrap(), "{path}");
        let (asked, origin) = (tab.asked(), format!("http://{}/", served.address));
        assert!(asked.iter().all(|url| url.starts_with(&origin)), "{path}: {asked:?}");
    }
}

/// How many attacks there are in all; each of `SCRIPTS` and `LINKS` stands in ten places of a note alone.
#[test]
fn the_attacks_are_as_many_as_promised() {
    let lists = [HOSTS, PATHS, QUERIES].map(|list| list.lines().count()).iter().sum::<usize>();
    assert!(lists + FORGED.len() + FIELDS.len() + crate::elsewhere::tries() + attacks().len() >= 120);
}
