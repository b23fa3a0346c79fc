//! Serves the page's own files, which are in the binary. Each address contains the file's hash, so it may be cached for
//! ever.

use std::sync::LazyLock;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// A file of the page.
pub(super) struct Asset {
    /// Its address.
    pub address: String,
    text: &'static str,
    kind: &'static str,
}

pub(super) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| asset("style", "css", "text/css; charset=utf-8", include_str!("assets/page.css")));
pub(super) static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| asset("page", "js", "text/javascript; charset=utf-8", include_str!("assets/page.js")));
pub(super) static ICON: LazyLock<Asset> =
    LazyLock::new(|| asset("icon", "svg", "image/svg+xml", include_str!("assets/icon.svg")));

fn asset(name: &str, extension: &str, kind: &'static str, text: &'static str) -> Asset {
    let hash = &blake3::hash(text.as_bytes()).to_hex()[..12];
    Asset { address: format!("/assets/{name}.{hash}.{extension}"), text, kind }
}

/// A file of the page that anybody may have; none where the path names none.
pub(super) fn get(path: &str) -> Option<Response> {
    if path == "/manifest.webmanifest" {
        let manifest = serde_json::json!({
            "name": "vault-agent", "short_name": "vault", "start_url": "/", "display": "standalone",
            "background_color": "#ffffff", "theme_color": "#3b5b8c",
            "icons": [{ "src": ICON.address, "sizes": "any", "type": "image/svg+xml", "purpose": "any maskable" }],
        });
        let kind = [(header::CONTENT_TYPE, "application/manifest+json")];
        return Some((kind, manifest.to_string()).into_response());
    }
    let name = path.strip_prefix("/assets/")?;
    let found = [&*STYLE, &*SCRIPT, &*ICON].into_iter().find(|asset| asset.address == path);
    Some(match found {
        Some(asset) => (
            [
                (header::CONTENT_TYPE, asset.kind),
                (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            ],
            asset.text,
        )
            .into_response(),
        None => {
            (StatusCode::NOT_FOUND, format!("no such file: {}\n", crate::format::quote(name))).into_response()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_small() {
        assert!(STYLE.text.len() <= 20_000 && SCRIPT.text.len() <= 30_000 && ICON.text.len() <= 4_000);
    }
}
