//! Tests of `cache`.

use super::*;

#[test]
fn many_may_make_the_cache_at_once() {
    for _ in 0..40 {
        let dir = tempfile::tempdir().unwrap();
        let open = || Store::open(dir.path(), "a version").map(drop);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
        });
    }
}
