//! Walks back through the commits: first along the first parents to this machine's first commit. Then come the
//! histories of other machines that were joined to this one, the last joined first. Each commit comes once.

use std::collections::{HashSet, VecDeque};

use git2::Oid;

use super::repository::HistoryStore;
use crate::history::{Commit, Result};

/// The place of a walk.
#[derive(Debug, Default)]
pub(crate) struct CommitWalk {
    next: VecDeque<Oid>,
    seen: HashSet<Oid>,
}

impl CommitWalk {
    /// A walk that begins with `head`.
    pub(crate) fn from(head: Option<Oid>) -> Self {
        Self { next: head.into_iter().collect(), ..Self::default() }
    }

    /// The next commit; its parents are to be told with [`CommitWalk::go_on`].
    pub(crate) fn next(&mut self) -> Option<Oid> {
        std::iter::from_fn(|| self.next.pop_front()).find(|id| self.seen.insert(*id))
    }

    /// Goes on with the parents of the last commit.
    pub(crate) fn go_on(&mut self, parents: &[Oid]) {
        if let [first, joined @ ..] = parents {
            self.next.push_front(*first);
            self.next.extend(joined);
        }
    }
}

impl HistoryStore {
    /// The commits from `head` back to the first.
    pub(crate) fn commits(&self, head: Option<Oid>) -> impl Iterator<Item = Result<Commit>> {
        let mut walk = CommitWalk::from(head);
        std::iter::from_fn(move || {
            let commit = self.commit(walk.next()?);
            walk.go_on(commit.as_ref().map_or(&[], |commit| &commit.parents));
            Some(commit)
        })
    }

    /// Every commit that can be reached and read from `head`, newest first.
    pub(in crate::history) fn ancestry(&self, head: Oid) -> impl Iterator<Item = Oid> {
        let mut walk = CommitWalk::from(Some(head));
        std::iter::from_fn(move || {
            let id = walk.next()?;
            walk.go_on(&self.parents(id).unwrap_or_default());
            Some(id)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_past_comes_first_then_the_last_that_was_joined() {
        let id = |number: u8| Oid::from_bytes(&[number; 20]).unwrap();
        // Of another machine are 3, 4 and 6; 4 was joined by 5, 6 by 7.
        let parents: [&[u8]; 8] = [&[], &[], &[1], &[], &[3], &[2, 4], &[4], &[5, 6]];
        let mut walk = CommitWalk::from(Some(id(7)));
        let mut order = Vec::new();
        while let Some(next) = walk.next() {
            let number = next.as_bytes()[0];
            order.push(number);
            walk.go_on(&parents[usize::from(number)].iter().copied().map(id).collect::<Vec<_>>());
        }
        assert_eq!(order, [7, 5, 2, 1, 6, 4, 3]);
    }
}
