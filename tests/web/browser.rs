//! One headless Chromium for all tests of this binary, driven over WebDriver; whoever has it has it alone.

use std::os::unix::process::CommandExt;
use std::sync::{MutexGuard, Once};

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;

use crate::support::prelude::*;

/// The variable by which a missing browser or axe-core is a failure and not left out.
const VARIABLE: &str = "VAULT_AGENT_BROWSER";

/// What Chromium needs on a machine without a display and without a way to the internet.
const FLAGS: &str = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --force-color-profile=srgb \
    --lang=en-GB --accept-lang=en-GB";

/// Names of other sites, which an attacker has bound to this machine.
const REBOUND: &str = "--host-resolver-rules=MAP *.test 127.0.0.1";

/// Starts what follows in a session of its own, and ends all of it when the pipe closes: however this binary ends.
const KEEPER: &str = r#"trap : INT HUP
profile=$1; shift
setsid "$@" & group=$!
cat >/dev/null
kill -s KILL -- "-$group"
wait $group 2>/dev/null
rm -rf "$profile""#;

/// A browser with its driver.
pub struct Browser {
    pub runtime: tokio::runtime::Runtime,
    pub driver: Client,
    /// The source of axe-core.
    pub axe: String,
    /// While it is open, the driver runs.
    _keeper: Child,
}

static BROWSER: Mutex<Option<Browser>> = Mutex::new(None);

/// The browser, started by whoever asks first; `None` where a part of it isn't here, which is said once.
pub fn take() -> Option<MutexGuard<'static, Option<Browser>>> {
    if let Some(missing) = missing() {
        assert!(std::env::var(VARIABLE).as_deref() != Ok("required"), "no browser tests: {missing}");
        static SAID: Once = Once::new();
        // Past the capture of the test harness: whoever runs the tests is to see it.
        SAID.call_once(|| {
            let _ = writeln!(std::io::stderr(), "left out: tests of the page in a browser ({missing})");
        });
        return None;
    }
    let mut browser = BROWSER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if browser.is_none() {
        *browser = Some(Browser::start());
    }
    Some(browser)
}

fn missing() -> Option<String> {
    let program = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    };
    let name = ["chromium", "chromedriver"].into_iter().find(|name| !program(name));
    match name {
        Some(name) => Some(format!("no {name}: Debian's packages chromium and chromium-driver")),
        None => (!axe().is_file())
            .then(|| format!("no axe-core: npm install --prefix {} axe-core", folder().display())),
    }
}

/// Where `.ci/run` has npm put axe-core.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("axe")
}

fn axe() -> PathBuf {
    folder().join("node_modules/axe-core/axe.min.js")
}

impl Browser {
    fn start() -> Self {
        let profile = crate::support::folder::temporary().keep();
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "sh"]).arg(&profile).args(["chromedriver", "--port=0"]).process_group(0);
        keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut keeper = keeper.spawn().expect("a shell");
        let mut lines = BufReader::new(keeper.stdout.take().expect("a pipe")).lines();
        let port = |line: String| {
            let port = line.split("on port ").nth(1)?.trim_end_matches('.').parse::<u16>().ok();
            port.filter(|port| *port > 0)
        };
        let port = lines.by_ref().map_while(Result::ok).find_map(port).expect("chromedriver says its port");
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let profile = format!("--user-data-dir={}", profile.display());
        let args: Vec<&str> = FLAGS.split(' ').chain([REBOUND, &profile]).collect();
        let capabilities = [
            ("browserName", json!("chrome")),
            ("goog:loggingPrefs", json!({"browser": "ALL"})),
            ("goog:chromeOptions", json!({"args": args})),
        ];
        let capabilities = capabilities.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        let (mut client, address) =
            (ClientBuilder::new(HttpConnector::new()), format!("http://127.0.0.1:{port}"));
        let driver = runtime.block_on(client.capabilities(capabilities).connect(&address));
        let driver = driver.expect("Chromium starts");
        let axe = fs::read_to_string(axe()).expect("axe-core");
        Self { runtime, driver, axe, _keeper: keeper }
    }
}
