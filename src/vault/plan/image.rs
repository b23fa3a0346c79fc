//! Describes a rewrite by the file's bytes before and after it, and recognises a torn mix of both. Pure.
//!
//! A rewrite in place starts at the first byte that differs. If the machine stops in the middle, each 512-byte sector
//! on disk is the old one or the new one. The length is then the old one or the new one or, if the file grows, any
//! length between them.

use std::ops::Range;

/// The unit, in bytes, that a disk writes whole or not at all.
const SECTOR: usize = 512;

/// The bytes of a file before and after a rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::vault) struct FileImages {
    /// The old image.
    pub pre: Vec<u8>,
    /// The new image.
    pub post: Vec<u8>,
}

/// The state of a file with an open journal entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vault) enum ImageState {
    /// The old image: the edit had not begun.
    Pre,
    /// The new image: the edit was done.
    Post,
    /// A mix of both.
    Torn,
    /// Something else: another program has written since.
    Other,
}

impl FileImages {
    /// The parts of the old and of the new image from the first byte that differs to the last.
    pub(in crate::vault) fn differing(&self) -> [Range<usize>; 2] {
        let Self { pre, post } = self;
        let at = pre.iter().zip(post).take_while(|(a, b)| a == b).count();
        let tails = pre[at..].iter().rev().zip(post[at..].iter().rev());
        let same = tails.take_while(|(a, b)| a == b).count();
        [at..pre.len() - same, at..post.len() - same]
    }

    /// The range of the new image that has to be written.
    pub(in crate::vault) fn written(&self) -> Range<usize> {
        let [_, new] = self.differing();
        if self.pre.len() == self.post.len() { new } else { new.start..self.post.len() }
    }

    /// The state of a file that has the bytes `now`.
    pub(in crate::vault) fn state_of(&self, now: &[u8]) -> ImageState {
        if now == self.pre {
            ImageState::Pre
        } else if now == self.post {
            ImageState::Post
        } else if self.is_mix(now) {
            ImageState::Torn
        } else {
            ImageState::Other
        }
    }

    /// Whether each sector of `now` is the old or the new one.
    fn is_mix(&self, now: &[u8]) -> bool {
        let (pre, post, len) = (&self.pre, &self.post, now.len());
        let old = |at: usize| pre.get(at).copied().unwrap_or(0);
        // Until a shrinking file is cut, its end is still the old one's.
        let new = |at: usize| post.get(at).or_else(|| pre.get(at)).copied().unwrap_or(0);
        let fits = len == pre.len() || len == post.len() || (len > pre.len() && len < post.len());
        fits && now.chunks(SECTOR).enumerate().all(|(index, sector)| {
            let start = index * SECTOR;
            let is = |image: &dyn Fn(usize) -> u8| {
                sector.iter().enumerate().all(|(at, byte)| *byte == image(start + at))
            };
            is(&old) || is(&new)
        })
    }
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
            let len = match length {
                0 => pre.len(),
                1 if post.len() > pre.len() => pre.len() + (post.len() - pre.len()) / 2,
                // A file is cut only after all of it has been written.
                _ if post.len() > pre.len() || cut => post.len(),
                _ => pre.len(),
            };
            let all_new = post.len() < pre.len() && len == post.len();
            let now = tear(&pre, &post, len, |index| all_new || new_sectors[index % 20]);
            let images = FileImages { pre, post };
            match images.state_of(&now) {
                ImageState::Pre => prop_assert!(now == images.pre),
                ImageState::Post => prop_assert!(now == images.post),
                ImageState::Torn => {}
                ImageState::Other => prop_assert!(false, "lost"),
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
            let mut now = post.clone();
            let flip = flip.index(now.len());
            now[flip] = now[flip].wrapping_add(1);
            let found = FileImages { pre, post }.state_of(&now);
            prop_assert_eq!(found, ImageState::Other);
        }
    }

    #[test]
    fn only_what_differs_is_written() {
        let images = |pre: &str, post: &str| FileImages { pre: pre.into(), post: post.into() };
        assert_eq!(images("one two", "one 2wo").differing(), [4..5, 4..5]);
        assert_eq!(images("one two", "one 2wo").written(), 4..5);
        assert_eq!(images("aaa", "aa").differing(), [2..3, 2..2]);
        assert_eq!(images("one two", "one, two").written(), 3..8);
    }
}
