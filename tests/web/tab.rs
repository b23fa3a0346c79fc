//! What a person does with the page: goes somewhere, reads, types, presses, and waits until something is so.

use std::sync::MutexGuard;

use fantoccini::Locator;
use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::elements::Element;
use fantoccini::error::{CmdError, ErrorStatus};
use fantoccini::wd::{WebDriverCompatibleCommand, WindowHandle};

use crate::browser::{self, Browser};
use crate::served::*;

/// The browser, as one test has it: scripts on, light, 1024 px wide, one empty tab.
pub struct Tab {
    browser: MutexGuard<'static, Option<Browser>>,
    /// The page's origin, `http://127.0.0.1:PORT`.
    origin: String,
}

impl Tab {
    /// The browser, let into a page; `None` where there is no browser.
    #[track_caller]
    pub fn enter(served: &Served) -> Option<Self> {
        let tab = Self::open(&format!("http://{}", served.address))?;
        tab.go_to(&served.url);
        tab.wait("h1");
        Some(tab)
    }

    /// The page of a vault, and the browser let into it; `None` where there is no browser.
    #[track_caller]
    pub fn over(vault: TestVault) -> Option<(TestVault, Served, Self)> {
        let served = Served::start(&vault);
        let tab = Self::enter(&served)?;
        Some((vault, served, tab))
    }

    /// The browser with nothing open; paths are this origin's.
    pub fn open(origin: &str) -> Option<Self> {
        let tab = Self { browser: browser::take()?, origin: origin.to_owned() };
        tab.reset();
        Some(tab)
    }

    /// What the test before left is gone.
    fn reset(&self) {
        let windows = self.ask(async |b| b.driver.windows().await).expect("the browser answers");
        for window in &windows[1..] {
            self.switch(window);
            self.ask(async |b| b.driver.close_window().await).expect("a window closes");
        }
        self.switch(&windows[0]);
        self.scripts(true);
        self.look(1024, false);
        self.go_to("about:blank");
        self.cdp("Network.clearBrowserCookies", json!({}));
        self.complaints();
    }

    fn ask<T>(&self, what: impl AsyncFnOnce(&Browser) -> Result<T, CmdError>) -> Result<T, CmdError> {
        let browser = self.browser.as_ref().expect("a browser");
        browser.runtime.block_on(what(browser))
    }

    /// A command of Chromium's own protocol.
    #[track_caller]
    pub fn cdp(&self, method: &str, parameters: Value) -> Value {
        let mut body = json!({"cmd": method});
        body["params"] = parameters;
        let command = Command { path: "goog/cdp/execute", body };
        self.ask(async |b| b.driver.issue_cmd(command).await).expect(method)
    }

    /// Switches scripts on or off for pages that are opened from now on.
    pub fn scripts(&self, on: bool) {
        self.cdp("Emulation.setScriptExecutionDisabled", json!({"value": !on}));
    }

    /// The width in pixels, and light or dark.
    pub fn look(&self, width: u32, dark: bool) {
        let (height, is_phone) = if width < 700 { (740, true) } else { (900, false) };
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone});
        self.cdp("Emulation.setDeviceMetricsOverride", size);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"}]);
        self.cdp("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Gives the browser somebody's session.
    pub fn take(&self, visitor: &Visitor) {
        let (name, value) = visitor.cookie.split_once('=').expect("a cookie");
        let url = &self.origin;
        let cookie =
            json!({"name": name, "value": value, "url": url, "httpOnly": true, "sameSite": "Strict"});
        self.cdp("Network.setCookie", cookie);
    }

    /// The cookie of the page's session, `NAME=VALUE`.
    pub fn cookie(&self) -> String {
        let all = self.cdp("Network.getCookies", json!({"urls": [self.origin]}));
        let one = &all["cookies"][0];
        format!("{}={}", one["name"].as_str().expect("a cookie"), one["value"].as_str().expect("a cookie"))
    }

    /// Opens a path of the page.
    #[track_caller]
    pub fn go(&self, path: &str) {
        self.go_to(&format!("{}{path}", self.origin));
    }

    #[track_caller]
    pub fn go_to(&self, url: &str) {
        self.ask(async |b| b.driver.goto(url).await).unwrap_or_else(|error| panic!("{url}: {error}"));
    }

    pub fn back(&self) {
        self.ask(async |b| b.driver.back().await).expect("a page before");
    }

    pub fn reload(&self) {
        self.ask(async |b| b.driver.refresh().await).expect("a page");
    }

    /// Path and query of what is open.
    pub fn path(&self) -> String {
        let url = self.ask(async |b| b.driver.current_url().await).expect("an address");
        url.as_str().strip_prefix(&self.origin).unwrap_or(url.as_str()).to_owned()
    }

    /// A second tab, which becomes the one that is used; gives the first and the second.
    pub fn second(&self) -> (WindowHandle, WindowHandle) {
        let first = self.ask(async |b| b.driver.window().await).expect("a window");
        let second = self.ask(async |b| b.driver.new_window(true).await).expect("a second tab").handle;
        self.switch(&second);
        (first, second)
    }

    pub fn switch(&self, window: &WindowHandle) {
        self.ask(async |b| b.driver.switch_to_window(window.clone()).await).expect("a window");
    }

    /// Does something until it works, since a page may be exchanged while it is looked at.
    #[track_caller]
    fn insist<T>(&self, what: &str, mut act: impl AsyncFnMut(&Browser) -> Result<T, CmdError>) -> T {
        let start = Instant::now();
        loop {
            match self.ask(&mut act) {
                Ok(done) => return done,
                Err(error) if start.elapsed() > PATIENCE || !is_passing(&error) => {
                    panic!("{what}: {error}\nat {}\n{}", self.path(), self.main());
                }
                Err(_) => pause(),
            }
        }
    }

    /// Waits until an element is there.
    #[track_caller]
    pub fn wait(&self, css: &str) {
        self.insist(css, async |b| b.driver.find(Locator::Css(css)).await.map(drop));
    }

    /// Waits until the page's `<main>` says this.
    #[track_caller]
    pub fn wait_for(&self, words: &str) {
        self.wait_until(words, |main| main.contains(words));
    }

    /// Waits until what `<main>` says is so.
    #[track_caller]
    pub fn wait_until(&self, what: &str, mut so: impl FnMut(&str) -> bool) {
        self.patiently(|| {
            let main = self.main();
            (!so(&main)).then(|| format!("{what:?} never came; {}:\n{main}", self.path()))
        });
    }

    /// Looks until nothing is wrong any more.
    #[track_caller]
    fn patiently(&self, mut wrong: impl FnMut() -> Option<String>) {
        let start = Instant::now();
        while let Some(wrong) = wrong() {
            assert!(start.elapsed() < PATIENCE, "{wrong}");
            pause();
        }
    }

    /// The words of `<main>` as they are seen; empty while the page is exchanged.
    pub fn main(&self) -> String {
        self.ask(async |b| b.driver.find(Locator::Css("main")).await?.text().await).unwrap_or_default()
    }

    /// The words of an element.
    #[track_caller]
    pub fn text(&self, css: &str) -> String {
        self.insist(css, async |b| b.driver.find(Locator::Css(css)).await?.text().await)
    }

    /// Waits until an element says this.
    #[track_caller]
    pub fn wait_text(&self, css: &str, part: &str) {
        self.patiently(|| {
            let text = self.text(css);
            (!text.contains(part)).then(|| format!("{css} never said {part:?} but {text:?}"))
        });
    }

    /// The page as it is now, as HTML.
    pub fn source(&self) -> String {
        self.ask(async |b| b.driver.source().await).expect("a page")
    }

    pub fn count(&self, css: &str) -> usize {
        self.ask(async |b| b.driver.find_all(Locator::Css(css)).await).expect("a selector").len()
    }

    #[track_caller]
    pub fn value(&self, css: &str) -> String {
        let value = self.insist(css, async |b| b.driver.find(Locator::Css(css)).await?.prop("value").await);
        value.unwrap_or_default()
    }

    #[track_caller]
    pub fn click(&self, css: &str) {
        self.insist(css, async |b| b.driver.find(Locator::Css(css)).await?.click().await);
    }

    /// Presses the button or link with these words; where `near` isn't empty, the one in the innermost element that
    /// says `near` too.
    #[track_caller]
    pub fn press(&self, words: &str, near: &str) {
        let what = format!("the button {words:?} near {near:?}");
        self.insist(&what, async |b| find(b, words, near).await?.click().await);
    }

    /// Types into a field, in place of what stands there.
    #[track_caller]
    pub fn fill(&self, css: &str, text: &str) {
        self.insist(css, async |b| {
            let field = b.driver.find(Locator::Css(css)).await?;
            field.clear().await?;
            field.send_keys(text).await
        });
    }

    /// Keys to a field, beside what stands there.
    #[track_caller]
    pub fn send(&self, css: &str, keys: &str) {
        self.insist(css, async |b| b.driver.find(Locator::Css(css)).await?.send_keys(keys).await);
    }

    /// The button or link that [`Tab::press`] presses, as an expression of the page.
    pub fn button(&self, words: &str, near: &str) -> String {
        format!("document.evaluate({}, document, null, 9, null).singleNodeValue", json!(path_to(words, near)))
    }

    /// Goes on with the Tab key until the element that an expression of the page gives has the focus; from the top of a
    /// page past its navigation, by the link for that.
    #[track_caller]
    pub fn tab_to(&self, element: &str) {
        const MOST: usize = 600;
        let place = format!(
            "const at = document.activeElement; return at && at.className === 'skip' ? 'top' : at === {element} ? 'there' : '';"
        );
        for _ in 0..MOST {
            // A page that is just being exchanged answers with an error; the next look is at the new one.
            let at = self.ask(async |b| b.driver.execute(&place, Vec::new()).await).unwrap_or_default();
            match at.as_str() {
                Some("there") => return,
                Some("top") => drop(self.try_keys("\u{e007}")),
                _ => drop(self.try_keys("\u{e004}")),
            }
        }
        panic!("no way by the Tab key to {element}; at {}\n{}", self.path(), self.main());
    }

    /// Keys to whatever has the focus.
    #[track_caller]
    pub fn keys(&self, keys: &str) {
        self.try_keys(keys).expect("keys");
    }

    fn try_keys(&self, keys: &str) -> Result<(), CmdError> {
        let mut pressed = KeyActions::new("keys".to_owned());
        for value in keys.chars() {
            pressed = pressed.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        }
        self.ask(async |b| b.driver.perform_actions(pressed).await)
    }

    /// The value of an expression of the page.
    #[track_caller]
    pub fn eval(&self, script: &str) -> Value {
        self.ask(async |b| b.driver.execute(&format!("return ({script});"), Vec::new()).await).expect(script)
    }

    /// What accessibility demands of the open page and isn't so: one line a finding.
    #[track_caller]
    pub fn axe(&self) -> Vec<String> {
        let run = |script: String| {
            self.ask(async |b| b.driver.execute_async(&script, Vec::new()).await).expect("axe-core")
        };
        crate::axe::findings(&run, &self.browser.as_ref().expect("a browser").axe)
    }

    /// What the browser complained of since the last question: script errors, refused requests, broken policies.
    pub fn complaints(&self) -> Vec<String> {
        let command = Command { path: "se/log", body: json!({"type": "browser"}) };
        let log = self.ask(async |b| b.driver.issue_cmd(command).await).expect("a log");
        let line =
            |entry: &Value| format!("{}: {}", entry["level"], entry["message"].as_str().unwrap_or_default());
        log.as_array().into_iter().flatten().map(line).collect()
    }

    /// The addresses that the open page asked for.
    pub fn asked(&self) -> Vec<String> {
        let all = self.eval("performance.getEntriesByType('resource').map(entry => entry.name)");
        all.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    }

    /// A picture of what is seen, as far down as there is something.
    pub fn shot(&self, file: &Path) {
        let size =
            self.eval("[innerWidth, Math.min(innerHeight, document.body.getBoundingClientRect().bottom)]");
        let clip = json!({"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1});
        let reply = self.cdp("Page.captureScreenshot", json!({"format": "png", "clip": clip}));
        let png = data_encoding::BASE64.decode(reply["data"].as_str().expect("a picture").as_bytes());
        fs::write(file, png.expect("a picture")).expect("a file");
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let name = std::thread::current().name().unwrap_or("test").replace("::", "-");
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
            if let Ok(png) = self.ask(async |b| b.driver.screenshot().await) {
                let _ = fs::write(file, png);
            }
        }
    }
}

/// A command of chromedriver's own, beside WebDriver's.
#[derive(Debug)]
struct Command {
    /// Below the session's address.
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Command {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

/// Between two looks at a page that isn't so yet: a look takes the processor that the page waits for.
fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}

/// Whether an error may be of a page that is just being exchanged.
fn is_passing(error: &CmdError) -> bool {
    let CmdError::Standard(error) = error else { return false };
    matches!(
        error.error,
        ErrorStatus::NoSuchElement
            | ErrorStatus::StaleElementReference
            | ErrorStatus::ElementNotInteractable
            | ErrorStatus::ElementClickIntercepted
            | ErrorStatus::InvalidElementState
    )
}

async fn find(browser: &Browser, words: &str, near: &str) -> Result<Element, CmdError> {
    browser.driver.find(Locator::XPath(&path_to(words, near))).await
}

/// XPath to the button or link with these words, in the innermost element that says `near`.
fn path_to(words: &str, near: &str) -> String {
    let (its, beside) = (quoted(words), quoted(near));
    let button = format!("(self::button or self::a or self::summary) and normalize-space(.)={its}");
    if near.is_empty() {
        return format!("//main//*[{button}]");
    }
    format!("(//main//*[contains(normalize-space(.), {beside}) and .//*[{button}]])[last()]//*[{button}]")
}

/// A text of XPath, which knows no escapes.
fn quoted(text: &str) -> String {
    if text.contains('"') { format!("'{text}'") } else { format!("\"{text}\"") }
}
