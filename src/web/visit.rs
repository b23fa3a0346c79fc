//! Defines [`Visit`], one request to a place, with the vault, the address, the session and the form's values. Also
//! holds the state that all requests share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use jiff::Timestamp;
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::answer::{PageError, PageView, Result};
use super::dates::DateOrder;
use super::entry::LoginCodes;
use super::store::PageSession;
use super::{LiveUpdates, PageChange, PageStore};
use crate::agent::CallPermits;
use crate::conflicts::Finder;
use crate::listen::{HostNames, secret};
use crate::reminders::rfc3339;
use crate::tasks::Scanner;
use crate::vault::{Actor, Origin};
use crate::workspace::Workspace;

/// The characters that a path of an address may hold unescaped.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The number of a note's lines on one page.
pub(super) const LINES_PER_PAGE: usize = 300;

/// The names and values of a query or a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormData(Vec<(String, String)>);

impl FormData {
    /// From the text of a query or of a form's body. Browsers end the lines of all values with CRLF, hidden ones too.
    pub(super) fn parse(text: &[u8]) -> Self {
        let values = form_urlencoded::parse(text);
        Self(values.map(|(name, value)| (name.into_owned(), value.replace("\r\n", "\n"))).collect())
    }

    /// The first value of a name; empty where there is none.
    pub fn get(&self, name: &str) -> &str {
        self.first(name).unwrap_or_default()
    }

    /// The first value of a name, trimmed; none where it is missing or blank.
    pub fn non_blank(&self, name: &str) -> Option<&str> {
        self.first(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// A hash of its values, without the form's id and token.
    pub(super) fn words(&self) -> String {
        let own = self.0.iter().filter(|(name, _)| !matches!(name.as_str(), "form" | "token"));
        secret::hash(&form_urlencoded::Serializer::new(String::new()).extend_pairs(own).finish())
    }

    /// The first value of a name, as it was sent.
    pub(super) fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// One request to a place.
pub struct Visit<'a> {
    /// The vault with the settings in force.
    pub workspace: &'a Arc<Workspace>,
    /// The time of the request.
    pub now: Timestamp,
    /// The address's path after the place's name, decoded, without the slash between; empty without more.
    pub rest: String,
    /// The session.
    pub session: &'a PageSession,
    /// The state that all requests share.
    pub(super) shared: &'a PageShared,
    /// The form that was just refused, as it was sent, and the reason.
    pub(super) refused: Option<(FormData, PageError)>,
    /// The outcome of the form that led here.
    pub(super) outcome: Option<String>,
    /// The proof that a form is of this session.
    pub(super) token: String,
    pub(super) query: FormData,
    pub(super) wants_json: bool,
    /// The order in which dates are written.
    pub(super) dates: DateOrder,
    pub(super) path: String,
    pub(super) runtime: tokio::runtime::Handle,
}

impl Visit<'_> {
    /// The tasks of other plugins as they were last read: a repeated scan reads only changed notes.
    pub fn tasks(&self) -> MutexGuard<'_, Scanner> {
        self.shared.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A value of the address's query, trimmed; none where it is missing or blank.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.non_blank(name)
    }

    /// The requested page of a long list, from 1.
    pub fn page_number(&self) -> usize {
        self.query("page").and_then(|page| page.parse().ok()).filter(|page| *page > 0).unwrap_or(1)
    }

    /// The address with other values in its query; an empty value leaves the name out.
    pub fn address_with(&self, changes: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let kept = self.query.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let kept =
            kept.filter(|(name, _)| *name != "said" && changes.iter().all(|(changed, _)| changed != name));
        query.extend_pairs(kept.chain(changes.iter().copied()).filter(|(_, value)| !value.is_empty()));
        match query.finish() {
            query if query.is_empty() => self.path.clone(),
            query => format!("{}?{query}", self.path),
        }
    }

    /// An answer from data: JSON for a program that asked for it, else the page that `page` makes of it.
    ///
    /// # Errors
    /// The data can't be JSON.
    pub fn view<T: Serialize>(
        &self,
        title: &str,
        data: &T,
        page: impl FnOnce(&T) -> Markup,
    ) -> Result<PageView> {
        if self.wants_json {
            return Ok(PageView::Json(serde_json::to_value(data)?));
        }
        Ok(PageView::Page(title.to_owned(), page(data)))
    }

    /// The value of a field of a refused form.
    pub fn typed(&self, action: &str, name: &str) -> Option<&str> {
        let (form, _) = self.refused.as_ref()?;
        (form.get("do") == action).then(|| form.first(name)).flatten()
    }

    /// The same of a form about one item, whose fields with these names had these values.
    pub fn typed_of(&self, action: &str, item: &[(&str, &str)], name: &str) -> Option<&str> {
        let is_it = item.iter().all(|(name, value)| self.typed(action, name) == Some(*value));
        self.typed(action, name).filter(|_| is_it)
    }

    /// The origin of changes here: the person at the page.
    pub fn origin(&self) -> Origin {
        Origin::new(Actor::Page)
    }

    /// Waits for a future. Places run on threads of their own, so they may block.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Lets work go on after the answer. Open pages get a report when it is done.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let live = self.shared.live.clone();
        self.runtime.spawn(async move {
            work.await;
            live.send(PageChange::State);
        });
    }

    /// An instant in the vault's zone, as a person reads it and with the instant for programs.
    pub fn at(&self, at: Timestamp) -> Markup {
        let tz = self.workspace.zone.tz();
        let shown = self.dates.instant(&at.to_zoned(tz.clone()));
        html! { time datetime=(rfc3339(at, tz)) { (shown) } }
    }

    /// The link that opens a note in Obsidian.
    pub fn obsidian(&self, path: &str) -> Markup {
        let vault = self.workspace.vault.root().file_name().unwrap_or_default().to_string_lossy();
        let link = crate::deliver::link::obsidian(&vault, path);
        html! { a.obsidian href=(link) { "Open in Obsidian" } }
    }

    /// The link to a note's page.
    pub fn note_link(&self, path: &str) -> Markup {
        html! { a href=(note_address(path)) { (path) } }
    }
}

/// The address of a note's page.
pub fn note_address(path: &str) -> String {
    format!("/notes/{}", encoded(path))
}

/// The address of a note's line on the page.
pub fn line_address(path: &str, line: usize) -> String {
    let page = line.saturating_sub(1) / LINES_PER_PAGE + 1;
    let page = if page > 1 { format!("?page={page}") } else { String::new() };
    format!("{}{page}#L{line}", note_address(path))
}

/// The address that leads to the line of a note with a block's id.
pub fn block_address(path: &str, block: &str) -> String {
    format!("{}?block={}", note_address(path), encoded(block))
}

/// A path as it stands in an address.
pub fn encoded(path: &str) -> String {
    utf8_percent_encode(path, PLAIN).to_string()
}

/// The state that all requests share.
pub(super) struct PageShared {
    pub names: HostNames,
    pub port: u16,
    pub store: Arc<PageStore>,
    pub codes: LoginCodes,
    pub live: LiveUpdates,
    pub stop: CancellationToken,
    /// Changes are made one after the other, so a form that is sent twice at once is sent twice in a row.
    pub changes: Mutex<()>,
    /// The tasks of other plugins as they were read last.
    pub tasks: Mutex<Scanner>,
    /// The copies of sync tools as they were found last.
    pub copies: Mutex<Finder>,
    /// The permits for calling a brain.
    pub permits: Arc<CallPermits>,
    pub workspace: RwLock<Arc<Workspace>>,
    /// Whether the settings are read again at each request.
    pub reloads: bool,
}

impl PageShared {
    /// The settings changed and are in force.
    pub(super) fn set_workspace(&self, workspace: Arc<Workspace>) {
        *self.workspace.write().unwrap_or_else(PoisonError::into_inner) = workspace;
    }

    /// The vault with the settings in force, and what is wrong with those on disk.
    pub(super) fn workspace(&self) -> (Arc<Workspace>, Option<String>) {
        if self.reloads {
            let (workspace, wrong) = Workspace::present(&self.workspace);
            return (workspace, wrong.map(|error| error.to_string()));
        }
        (Arc::clone(&self.workspace.read().unwrap_or_else(PoisonError::into_inner)), None)
    }
}
