//! A person at a tab: with scripts and a mouse, with scripts switched off, or with keys alone.

use crate::sample::*;

/// Keys of WebDriver.
pub const ENTER: &str = "\u{e007}";
pub const TAB: &str = "\u{e004}";
pub const RIGHT: &str = "\u{e014}";

/// How a page is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Mouse,
    WithoutScripts,
    Keys,
}

/// A person and what is looked at.
pub struct Person<'t> {
    pub tab: &'t Tab,
    pub sample: &'t Sample,
    way: Way,
}

impl<'t> Person<'t> {
    pub fn new(tab: &'t Tab, sample: &'t Sample, way: Way) -> Self {
        tab.scripts(way != Way::WithoutScripts);
        Self { tab, sample, way }
    }

    /// Opens a path and waits until it is there.
    #[track_caller]
    pub fn go(&self, path: &str) {
        self.tab.go(path);
        self.tab.wait("h1");
    }

    /// Presses the button or link with these words, near other words.
    #[track_caller]
    pub fn press(&self, words: &str, near: &str) {
        if self.way == Way::Keys {
            self.tab.tab_to(&self.tab.button(words, near));
            self.tab.keys(ENTER);
        } else {
            self.tab.press(words, near);
        }
    }

    /// Presses what a selector names.
    #[track_caller]
    pub fn press_css(&self, css: &str) {
        self.tab.wait(css);
        self.types(css, ENTER, |tab| tab.click(css));
    }

    /// Types into a field, in place of what stands there.
    #[track_caller]
    pub fn fill(&self, css: &str, text: &str) {
        // What a field holds is selected when the Tab key comes to it.
        self.types(css, text, |tab| tab.fill(css, text));
    }

    /// Keys to a field, beside what stands there.
    #[track_caller]
    pub fn keys_to(&self, css: &str, keys: &str) {
        self.types(css, keys, |tab| tab.send(css, keys));
    }

    /// Where there are keys alone, goes there by the Tab key, and types.
    #[track_caller]
    fn types(&self, css: &str, keys: &str, otherwise: impl FnOnce(&Tab)) {
        if self.way != Way::Keys {
            return otherwise(self.tab);
        }
        self.tab.tab_to(&format!("document.querySelector({css:?})"));
        self.tab.keys(keys);
    }

    /// Waits until the page says what was done; then Reload, Back and Reload do nothing more, with scripts and without.
    #[track_caller]
    pub fn is_told(&self, words: &str) {
        self.tab.wait_text(".said", words);
        if self.way == Way::Keys {
            return;
        }
        let after = self.sample.vault.tree();
        for step in [Tab::reload, Tab::back, Tab::reload] {
            step(self.tab);
            self.tab.wait("h1");
            assert_eq!(self.sample.vault.tree(), after, "after {words:?}");
        }
    }

    /// Waits until the page says this: an open page follows, without scripts it is loaded again.
    #[track_caller]
    pub fn sees(&self, words: &str) {
        self.tab.wait_until(words, |main| {
            let is_there = main.contains(words);
            if !is_there && self.way == Way::WithoutScripts {
                self.tab.reload();
            }
            is_there
        });
    }
}
