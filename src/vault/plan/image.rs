//! Describes an in-place rewrite by the file's bytes before and after it, and restores the old bytes from a torn mix of
//! both. Pure.
//!
//! A rewrite in place starts at the first byte that differs. If the machine stops in the middle, each 512-byte sector
//! on disk is the old one or the new one, and the length is either of the two or, where the file grows, something
//! between. [`ImageChange`] describes the change; [`OldImageGuard`] holds enough to find the old bytes again:
//!
//! - for a file up to [`WHOLE_LIMIT`], the whole old image;
//! - for a larger one, a checksum of each old sector from the change on, and, where the rest of the file moves by `d`
//!   bytes, the `d` bytes at one edge of each sector. An overwritten sector still holds the old bytes, moved by `d`;
//!   only bytes that moved across an edge into a sector that was *not* written can be missing. For adding an id, that
//!   is some 5 % of the file instead of all of it.
//!
//! Every rebuilt sector is checked, so recovery gives exactly the old image or nothing.

/// Files up to this many bytes are journalled whole.
pub(super) const WHOLE_LIMIT: usize = 256 * 1024;

/// The unit, in bytes, that a disk writes whole or not at all.
const SECTOR: usize = 512;

/// So many bytes before the change must be the same for a large file to be recognised.
const CONTEXT: usize = 64 * 1024;

/// The one contiguous change that turns the old image into the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::vault) struct ImageChange {
    /// Length of the old image.
    pub pre_len: usize,
    /// Length of the new image.
    pub post_len: usize,
    /// The offset where the images begin to differ.
    pub at: usize,
    /// The old image's bytes there, up to the end of the difference.
    pub old: Vec<u8>,
    /// The new image's bytes there.
    pub new: Vec<u8>,
}

impl ImageChange {
    /// The smallest change between two images.
    pub(in crate::vault) fn between(pre: &[u8], post: &[u8]) -> Self {
        let at = common_prefix(pre, post);
        let suffix = common_suffix(&pre[at..], &post[at..]);
        Self {
            pre_len: pre.len(),
            post_len: post.len(),
            at,
            old: pre[at..pre.len() - suffix].to_vec(),
            new: post[at..post.len() - suffix].to_vec(),
        }
    }

    /// The change that replaces `range` of the old image by `with`.
    pub(super) fn of_change(pre: &[u8], range: std::ops::Range<usize>, with: &[u8]) -> Self {
        let inner = Self::between(&pre[range.clone()], with);
        Self {
            pre_len: pre.len(),
            post_len: pre.len() - range.len() + with.len(),
            at: range.start + inner.at,
            old: inner.old,
            new: inner.new,
        }
    }

    /// Whether both images are the same.
    pub(in crate::vault) fn is_empty(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }

    /// Turns the old image into the new one without a second copy of it.
    pub(in crate::vault) fn carry_out(&self, image: &mut Vec<u8>) {
        image.splice(self.at..self.at + self.old.len(), self.new.iter().copied());
    }

    /// The old image made from the new one.
    pub(in crate::vault) fn backward(&self, post: &[u8]) -> Vec<u8> {
        [&post[..self.at], &self.old, &post[self.at + self.new.len()..]].concat()
    }

    /// The new image made from the old one.
    pub(in crate::vault) fn forward(&self, pre: &[u8]) -> Option<Vec<u8>> {
        let end = self.at.checked_add(self.old.len())?;
        if pre.len() != self.pre_len || pre.get(self.at..end)? != self.old {
            return None;
        }
        Some([&pre[..self.at], &self.new, &pre[end..]].concat())
    }

    /// The range of the new image that has to be written.
    pub(in crate::vault) fn written(&self) -> std::ops::Range<usize> {
        if self.pre_len == self.post_len { self.at..self.at + self.new.len() } else { self.at..self.post_len }
    }

    /// The range of the old image that the write destroys.
    fn destroyed(&self) -> std::ops::Range<usize> {
        let end = if self.pre_len == self.post_len { self.at + self.old.len() } else { self.pre_len };
        self.at - self.at % SECTOR..end
    }
}

/// The bytes that are compared at once.
const STEP: usize = 4096;

fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    let whole = left.chunks_exact(STEP).zip(right.chunks_exact(STEP));
    let at = STEP * whole.take_while(|(left, right)| left == right).count();
    at + left[at..].iter().zip(&right[at..]).take_while(|(left, right)| left == right).count()
}

fn common_suffix(left: &[u8], right: &[u8]) -> usize {
    let whole = left.rchunks_exact(STEP).zip(right.rchunks_exact(STEP));
    let same = STEP * whole.take_while(|(left, right)| left == right).count();
    let rest = left[..left.len() - same].iter().rev().zip(right[..right.len() - same].iter().rev());
    same + rest.take_while(|(left, right)| left == right).count()
}

/// The part of the old image that is kept while the new one is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::vault) enum OldImageGuard {
    /// All of it.
    Whole(Vec<u8>),
    /// The bytes that can't be found again in a torn file.
    Sectors {
        /// Checksum of the bytes before the change, at most [`CONTEXT`] of them.
        context: u32,
        /// Checksum of each sector that is destroyed.
        sums: Vec<u32>,
        /// The bytes at one edge of each, which may be lost.
        edges: Vec<u8>,
    },
}

impl OldImageGuard {
    /// The guard of `pre` while `script` is carried out.
    pub(in crate::vault) fn of(script: &ImageChange, pre: &[u8]) -> Self {
        if pre.len() <= WHOLE_LIMIT { Self::Whole(pre.to_vec()) } else { Self::sectors(script, pre) }
    }

    fn sectors(script: &ImageChange, pre: &[u8]) -> Self {
        let destroyed = script.destroyed();
        let mut sums = Vec::with_capacity(destroyed.len() / SECTOR + 1);
        let mut edges = Vec::new();
        for sector in pre[destroyed.clone()].chunks(SECTOR) {
            sums.push(crc32fast::hash(sector));
            edges.extend_from_slice(&sector[edge(script, sector.len())]);
        }
        Self::Sectors { context: context(script, pre), sums, edges }
    }

    /// The old image, rebuilt from the file's present bytes; `None` if that isn't possible.
    pub(in crate::vault) fn rebuild(&self, script: &ImageChange, now: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Whole(pre) => Some(pre.clone()),
            Self::Sectors { context: known, sums, edges } => {
                let destroyed = script.destroyed();
                if now.len() < destroyed.start
                    || !lengths_fit(script, now.len())
                    || context(script, now) != *known
                {
                    return None;
                }
                let mut pre = now[..destroyed.start].to_vec();
                let mut edges = edges.as_slice();
                for (index, sum) in sums.iter().enumerate() {
                    let start = destroyed.start + index * SECTOR;
                    let end = (start + SECTOR).min(destroyed.end);
                    let lost = edge(script, end - start);
                    let (kept, rest) = edges.split_at_checked(lost.len())?;
                    edges = rest;
                    match now.get(start..end).filter(|sector| crc32fast::hash(sector) == *sum) {
                        Some(sector) => pre.extend_from_slice(sector),
                        None => {
                            let mut sector = moved_back(script, now, start..end);
                            sector[lost].copy_from_slice(kept);
                            if crc32fast::hash(&sector) != *sum {
                                return None;
                            }
                            pre.extend_from_slice(&sector);
                        }
                    }
                }
                pre.extend_from_slice(now.get(destroyed.end..script.pre_len).unwrap_or_default());
                (pre.len() == script.pre_len).then_some(pre)
            }
        }
    }
}

/// The part of a sector of `len` bytes whose new place is in a neighbour.
fn edge(script: &ImageChange, len: usize) -> std::ops::Range<usize> {
    // So far the rest of the file moves.
    let by = script.pre_len.abs_diff(script.post_len).min(len);
    if script.post_len > script.pre_len { len - by..len } else { 0..by }
}

/// The old bytes `range` as they stand in a file whose sector there has been overwritten.
fn moved_back(script: &ImageChange, now: &[u8], range: std::ops::Range<usize>) -> Vec<u8> {
    let old_end = script.at + script.old.len();
    range
        .map(|at| {
            if at < script.at {
                now.get(at).copied()
            } else if at < old_end {
                script.old.get(at - script.at).copied()
            } else {
                now.get(at - old_end + script.at + script.new.len()).copied()
            }
            .unwrap_or(0)
        })
        .collect()
}

fn context(script: &ImageChange, bytes: &[u8]) -> u32 {
    let end = script.destroyed().start;
    bytes.get(end.saturating_sub(CONTEXT)..end).map_or(0, crc32fast::hash)
}

fn lengths_fit(script: &ImageChange, len: usize) -> bool {
    len == script.pre_len || len == script.post_len || (len > script.pre_len && len < script.post_len)
}

/// The state of a file with an open journal entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::vault) enum ImageState {
    /// The old image: the edit had not begun.
    Pre(Vec<u8>),
    /// The new image: the edit was done.
    Post {
        /// The old image.
        pre: Vec<u8>,
    },
    /// A mix of both.
    Torn {
        /// The old image.
        pre: Vec<u8>,
        /// The new image.
        post: Vec<u8>,
    },
    /// Something else: another program has written since.
    Other,
}

/// Classifies `now`.
pub(in crate::vault) fn classify(script: &ImageChange, guard: &OldImageGuard, now: &[u8]) -> ImageState {
    let Some((pre, post)) =
        guard.rebuild(script, now).and_then(|pre| script.forward(&pre).map(|post| (pre, post)))
    else {
        return ImageState::Other;
    };
    if now == pre {
        ImageState::Pre(pre)
    } else if now == post {
        ImageState::Post { pre }
    } else if is_mix(script, &pre, &post, now) {
        ImageState::Torn { pre, post }
    } else {
        ImageState::Other
    }
}

/// Whether each sector of `now` is the old or the new one.
fn is_mix(script: &ImageChange, pre: &[u8], post: &[u8], now: &[u8]) -> bool {
    let old = |at: usize| pre.get(at).copied().unwrap_or(0);
    // Until a shrinking file is cut, its end is still the old one's.
    let new = |at: usize| post.get(at).or_else(|| pre.get(at)).copied().unwrap_or(0);
    lengths_fit(script, now.len())
        && now.chunks(SECTOR).enumerate().all(|(index, sector)| {
            let start = index * SECTOR;
            let is = |image: &dyn Fn(usize) -> u8| {
                sector.iter().enumerate().all(|(at, byte)| *byte == image(start + at))
            };
            is(&old) || is(&new)
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file as a crash in the middle of the rewrite leaves it: `choose` says which sectors are new.
    fn tear(pre: &[u8], post: &[u8], len: usize, choose: impl Fn(usize) -> bool) -> Vec<u8> {
        let mut now = pre.to_vec();
        now.resize(pre.len().max(post.len()), 0);
        for (index, sector) in post.chunks(SECTOR).enumerate().filter(|(index, _)| choose(*index)) {
            now[index * SECTOR..index * SECTOR + sector.len()].copy_from_slice(sector);
        }
        now.truncate(len);
        now
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn a_torn_file_is_always_recognised_and_the_way_back_is_exact(
            pre in proptest::collection::vec(any::<u8>(), 0..6000),
            at in any::<prop::sample::Index>(),
            removed in 0usize..900,
            added in proptest::collection::vec(any::<u8>(), 0..900),
            new_sectors in proptest::collection::vec(any::<bool>(), 20),
            cut in any::<bool>(),
            length in 0usize..3,
        ) {
            let at = at.index(pre.len() + 1);
            let end = (at + removed).min(pre.len());
            let post = [&pre[..at], &added, &pre[end..]].concat();
            let script = ImageChange::between(&pre, &post);
            prop_assert_eq!(script.forward(&pre).unwrap(), post.clone());
            let len = match length {
                0 => pre.len(),
                1 if post.len() > pre.len() => pre.len() + (post.len() - pre.len()) / 2,
                // A file is cut only after all of it has been written.
                _ if post.len() > pre.len() || cut => post.len(),
                _ => pre.len(),
            };
            let all_new = post.len() < pre.len() && len == post.len();
            let now = tear(&pre, &post, len, |index| all_new || new_sectors[index % 20]);
            for guard in [OldImageGuard::Whole(pre.clone()), OldImageGuard::sectors(&script, &pre)] {
                match classify(&script, &guard, &now) {
                    ImageState::Pre(found) => prop_assert!(found == pre && now == pre),
                    ImageState::Post { pre: found } => prop_assert!(found == pre && now == post),
                    ImageState::Torn { pre: old, post: new } => prop_assert!(old == pre && new == post),
                    ImageState::Other => prop_assert!(false, "lost"),
                }
            }
        }

        #[test]
        fn what_a_person_wrote_since_is_never_taken_for_a_torn_file(
            pre in proptest::collection::vec(any::<u8>(), 600..3000),
            at in any::<prop::sample::Index>(),
            flip in any::<prop::sample::Index>(),
        ) {
            let at = at.index(pre.len());
            let post = [&pre[..at], b"agent", &pre[at..]].concat();
            let script = ImageChange::between(&pre, &post);
            let mut now = post.clone();
            // Anywhere from the change on; before it a large file's guard needs to know nothing.
            let flip = script.at + flip.index(now.len() - script.at);
            now[flip] = now[flip].wrapping_add(1);
            for guard in [OldImageGuard::Whole(pre.clone()), OldImageGuard::sectors(&script, &pre)] {
                let found = classify(&script, &guard, &now);
                prop_assert!(found == ImageState::Other || matches!(&found, ImageState::Torn { post: new, .. } if *new == now), "{found:?}");
            }
        }
    }

    #[test]
    fn a_large_file_costs_the_journal_a_fraction() {
        let line = b"- [ ] date=2026-12-01 time=09:30 recur=weekly msg=\"Call Mum\" id=rid_K5V4M2J9Q2ZP\n";
        let pre = line.repeat(100_000);
        let middle = line.len() * 50_000;
        let post = [&pre[..middle], &b"- [ ] twenty more bytes\n"[..], &pre[middle..]].concat();
        let script = ImageChange::between(&pre, &post);
        let OldImageGuard::Sectors { sums, edges, .. } = OldImageGuard::of(&script, &pre) else {
            panic!("a large file")
        };
        let kept = sums.len() * 4 + edges.len() + script.old.len() + script.new.len();
        assert!(kept < pre.len() / 25, "{kept} of {}", pre.len());
    }
}
