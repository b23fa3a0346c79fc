//! Downloads the attached files of messages into the folder of the log, if the settings ask for it, because Discord's
//! links expire.

use std::error::Error;

use super::ChannelLane;
use crate::config::KeepAttachments;
use crate::discord::api::message::{Attachment, IncomingMessage};
use crate::discord::shared::access::MessagePolicy;

/// The longest that a file's own name may be, in bytes.
const MAX_NAME_BYTES: usize = 80;

/// Files that Obsidian, a browser or this program would interpret get one more extension.
const ACTIVE: [&str; 8] = ["md", "markdown", "canvas", "base", "html", "htm", "svg", "toml"];

impl ChannelLane {
    /// Downloads the files of new messages into the vault, one after the other. A file that is unavailable or too large
    /// stays a link.
    pub(super) async fn keep_files(&self, messages: &mut [IncomingMessage]) {
        let settings = &self.shared.settings;
        if settings.keep_attachments != KeepAttachments::Files {
            return;
        }
        for message in messages {
            let wanted = message.is_text()
                && !self.shared.log.holds(self.id, message.id)
                && self.policy(message) != MessagePolicy::Dropped;
            let (id, most) = (message.id, settings.max_attachment_bytes);
            for (index, file) in message.attachments.iter_mut().enumerate() {
                if wanted && file.bytes <= most {
                    file.kept_path = self.keep(id, index, file).await;
                }
            }
        }
    }

    async fn keep(&self, message: u64, index: usize, file: &Attachment) -> Option<String> {
        let name = format!("{message}-{}-{}", index + 1, safe(&self.shared.log.masked(&file.name)));
        if let Some(kept) = self.shared.log.kept_file(self.id, &name) {
            return Some(kept);
        }
        let most = self.shared.settings.max_attachment_bytes;
        let kept = async {
            let bytes = self.shared.api.download(&file.url, most).await?;
            Ok::<_, Box<dyn Error + Send + Sync>>(self.shared.log.keep_file(self.id, &name, &bytes)?)
        };
        kept.await.unwrap_or_else(|error| {
            tracing::warn!(channel = self.id, message, %error, "a file could not be kept; the log has its link");
            None
        })
    }
}

/// A name that is safe as a file name on every system and in a link.
fn safe(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
    let mut name: String =
        name.trim_matches(|c: char| c == '.' || c.is_whitespace()).chars().map(plain).collect();
    if name.len() > MAX_NAME_BYTES {
        // The extension stays.
        let extension = name.rfind('.').map_or(String::new(), |at| name[at..].to_owned());
        let extension = if extension.len() <= 12 { extension } else { String::new() };
        let mut end = MAX_NAME_BYTES - extension.len();
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name = format!("{}{extension}", &name[..end]);
    }
    if name.is_empty() {
        name.push_str("file");
    }
    let extension = name.rsplit('.').next().unwrap_or_default().to_lowercase();
    if ACTIVE.contains(&extension.as_str()) { name + ".txt" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_becomes_a_plain_one() {
        for (given, wanted) in [
            ("photo 1.jpg", "photo_1.jpg"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("..", "file"),
            ("", "file"),
            (".obsidian", "obsidian"),
            ("a\\b\u{202e}c\n.png", "a_b_c_.png"),
            ("note.MD", "note.MD.txt"),
            ("[[x|y]]#^.pdf", "__x_y____.pdf"),
        ] {
            assert_eq!(safe(given), wanted, "{given:?}");
        }
        let long = safe(&format!("{}.jpeg", "ä".repeat(200)));
        assert!(long.len() <= MAX_NAME_BYTES && long.ends_with("ä.jpeg"), "{long}");
    }
}
