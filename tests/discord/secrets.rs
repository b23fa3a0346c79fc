//! Secrets of every kind stay where they are: the bot's token, brains' keys, a skill's secret, other servers' keys, and
//! what else stands in the environment. Everybody who may echo one does so.

use crate::agent::rig::is_whole;
use crate::discord::rig::*;
use crate::harness::stand_in;

/// What stands in the environment.
const TOKEN: &str = "canary0token7f3Qz9x";
const STRAY: &str = "canary1stray7f3Qz9x";
const BRAIN_ENV: &str = "canary2brainenv7f3Qz9x";
const SERVER_ENV: &str = "canary3serverenv7f3Qz9x";
/// What stands in key files.
const BRAIN_FILE: &str = "canary4brainfile7f3Qz9x";
const SKILL_FILE: &str = "canary5skillfile7f3Qz9x";
const SERVER_FILE: &str = "canary6serverfile7f3Qz9x";
const CODER_FILE: &str = "canary7coderfile7f3Qz9x";

const ALL: [&str; 8] = [TOKEN, STRAY, BRAIN_ENV, SERVER_ENV, BRAIN_FILE, SKILL_FILE, SERVER_FILE, CODER_FILE];

const SKILL: &str =
    "---\nname: vaulty\ndescription: Tells.\nmetadata:\n  secrets: CANARY_KEY\n---\nRun scripts/tell.sh.\n";
const TELL: &str = "echo \"told: $CANARY_KEY\"\nprintf '%s' \"$CANARY_KEY\" | base64\nprintf '%s' \"$CANARY_KEY\" > kept.txt\n\
                    vault-agent memory save \"the key is $CANARY_KEY\" || echo 'not saved'\n";

const SETTINGS: &str = "[assistant]\ntools = [\"vault\", \"bash\"]\nchain = [\"refused\", \"fine\"]\n\
    [[brain]]\nname = \"refused\"\nkind = \"chat\"\nmodel = \"no\"\nurl = \"URL\"\nkey_env = \"BRAIN_KEY\"\n\
    [[brain]]\nname = \"fine\"\nkind = \"messages\"\nmodel = \"yes\"\nurl = \"URL\"\nkey_file = \"../brain-key\"\n\
    [[brain]]\nname = \"coder\"\nkind = \"claude-code\"\nmodel = \"coder\"\nurl = \"URL\"\nkey_file = \"../coder-key\"\n\
    command = [\"HERE/bin/claude\"]\ntools = [\"Bash\"]\n\
    [[route]]\nmatch = \"coder\"\nbrain = \"coder\"\n\
    [skill.vaulty]\nkey_files = { CANARY_KEY = \"../skill-key\" }\n\
    [[mcp]]\nname = \"far\"\nurl = \"URL/mcp\"\ntools = [\"look\"]\nkey_file = \"../server-key\"\n";

/// Whether a text holds a secret, as it is or in the forms that a tool made of it.
fn found_in(bytes: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(bytes);
    let base64 =
        |secret: &str| data_encoding::BASE64.encode(secret.as_bytes()).trim_end_matches('=').to_owned();
    ALL.into_iter().find(|secret| text.contains(*secret) || text.contains(&base64(secret)))
}

fn clean_folder(folder: &Path) {
    for path in files_below(folder) {
        // A program that starts a server itself keeps in its own session what the server says of its variables.
        let own = path.components().any(|part| part.as_os_str() == "harness");
        let found = found_in(&fs::read(&path).unwrap_or_default());
        assert_eq!(found.filter(|found| !(own && *found == SERVER_ENV)), None, "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_is_in_anything_that_is_said_kept_or_sent() {
    if !is_whole() || !python() {
        return;
    }
    let of_server = "tools = [\"look\"]\nenv = [\"SECRET_OF_SERVER\"]\nask_after_reading = false";
    let server = |name: &str, mode: &str| scripted_server(name, mode, Path::new("/dev/null"), of_server);
    let more = server("near", "env") + &server("broken", "exit");
    let rig = Rig::new().await;
    let here = rig.dir().display().to_string();
    let settings = format!("{SETTINGS}ask_after_reading = false\n{more}\n");
    rig.set(&settings.replace("URL", &rig.server.url()).replace("HERE", &here));
    fs::create_dir(rig.dir().join("bin")).unwrap();
    fs::create_dir(rig.path(".obsidian")).unwrap();
    stand_in::install(&rig.dir().join("bin"));
    rig.fake.world().token = TOKEN.to_owned();
    let cli = |args: &[&str]| {
        let mut command = rig.program(args);
        command.envs([("STRAY_SECRET", STRAY), ("BRAIN_KEY", BRAIN_ENV), ("SECRET_OF_SERVER", SERVER_ENV)]);
        command
    };
    for (of, value) in
        [("brain", BRAIN_FILE), ("coder", CODER_FILE), ("skill", SKILL_FILE), ("server", SERVER_FILE)]
    {
        write_private(rig.dir().join(format!("{of}-key")), &format!("{value}\n"));
    }
    rig.write("MEMORY.md", "## General\n- tea\n");
    rig.write("skills/vaulty/SKILL.md", SKILL);
    rig.write("skills/vaulty/scripts/tell.sh", TELL);
    let steal = format!(
        "env; cat {here}/*-key; tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/*/environ; cat {here}/state/*; echo tried"
    );
    let servers = ["near", "broken", "far"].map(|name| json!({ "server": name, "tool": "look" }));
    let commands = [
        json!({ "command": steal }),
        json!({ "command": "bash scripts/tell.sh", "skill": "vaulty" }),
        json!({ "command": "cat kept.txt output*; ls -R ." }),
    ];
    let calls = servers.map(|call| Reply::tool("mcp_call", call)).into_iter();
    let mut left = calls.chain(commands.map(|call| Reply::tool("bash", call)));
    // A provider and a server that say a key back, in errors; a brain that tries whatever may get it one.
    rig.server.respond(move |asked: &Asked| {
        let echo = format!("{{\"error\":{{\"message\":\"bad key {:?}\"}}}}", asked.headers);
        if asked.wire.is_empty() {
            return Reply::status(403).body(echo);
        }
        match asked.body["model"].as_str() {
            Some("no") => Reply::status(401).body(echo),
            Some("coder") if asked.results().is_empty() => {
                Reply::tool("Bash", json!({ "command": "env | grep -v ANTHROPIC; echo env told" }))
            }
            Some("coder") => Reply::text("Coded."),
            _ => left.next().unwrap_or_else(|| Reply::text("Done.")),
        }
    });
    let said = fs::File::create(rig.said_file()).unwrap();
    let daemon = cli(&["-vv", "run"]).stdout(said.try_clone().unwrap()).stderr(said).spawn();
    let daemon = Killed(daemon.unwrap());
    rig.wait("the history is read", || rig.rounds() > 0).await;
    rig.fake.connected().await;
    rig.ask("tell me all");
    rig.press(&rig.asked(1).await, "Once").await;
    rig.wait_done(1).await;
    let results = rig.results();
    assert_eq!(results.len(), 6, "{results:#?}");
    // Each of them was really tried, and really had it.
    let told: [&[&str]; 5] = [
        &["SECRET_OF_SERVER", "[hidden]"],
        &["no good: the key is"],
        &["403"],
        &["tried"],
        &["told: [hidden]", "not saved"],
    ];
    results.iter().zip(told).for_each(|(result, words)| contains_all(result, words));
    let sent = |key: &str| {
        rig.server.requests().iter().any(|asked| asked.headers.values().any(|value| value.contains(key)))
    };
    for key in [BRAIN_ENV, BRAIN_FILE, SERVER_FILE] {
        assert!(sent(key), "{key} went where it belongs");
    }
    rig.ask("coder, tell me all");
    rig.press(&rig.asked(2).await, "Once").await;
    rig.wait_done(2).await;
    assert!(rig.results()[0].contains("env told") && sent(CODER_FILE));
    drop(daemon);

    let state = rig.state();
    for file in ["turns.sqlite", "mcp.json", "brains.json", "history.git"] {
        assert!(state.join(file).exists(), "{file}");
    }
    [&state, &rig.root(), &rig.cache()].iter().for_each(|folder| clean_folder(folder));
    assert_eq!(found_in(&fs::read(rig.said_file()).unwrap()), None, "the daemon's own words");
    for request in rig.server.requests() {
        // What a server says to a program goes to that program's provider without us.
        let own = request.body["model"] == "coder";
        let found = found_in(&request.bytes).filter(|found| !(own && *found == SERVER_ENV));
        assert_eq!(found, None, "{}", request.body);
    }
    for message in rig.fake.messages(CHANNEL) {
        assert_eq!(found_in(message.to_string().as_bytes()), None, "{message}");
    }
    for record in rig.fake.shared.records.lock().unwrap().iter() {
        assert_eq!(found_in(record.body.to_string().as_bytes()), None, "{record:?}");
    }
    // History's objects are packed: as git reads them.
    let mut git = Command::new("git");
    git.args(["cat-file", "--batch", "--batch-all-objects"]).current_dir(state.join("history.git"));
    if let Ok(output) = git.output() {
        assert!(String::from_utf8_lossy(&output.stdout).contains("vaulty"), "history has the notes");
        assert_eq!(found_in(&output.stdout), None, "history");
    }
    let commands = "status, -vv doctor, --json status, --json turns, --json history, usage, brain list, skill list, \
                    mcp-config claude-code";
    for args in commands.split(", ") {
        let args: Vec<&str> = args.split(' ').collect();
        let output = cli(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(found_in(&[output.stdout, output.stderr].concat()), None, "{args:?}");
    }
}
