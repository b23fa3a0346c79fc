//! What the index costs beside bare tantivy over the same blocks, in one run.
//!
//! `cargo bench --bench search [-- NOTES [ROUNDS]]` makes a vault (10,000 notes unless told otherwise) of
//! sentences with natural word frequencies, and prints times and ratios; it asserts nothing. Bare
//! tantivy gets the blocks' texts ready made, one document each, stemmed, with its usual settings.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions};
use vault_agent::clock::SystemClock;
use vault_agent::config::Settings;
use vault_agent::search::follow::follower::Follower;
use vault_agent::search::{Index, Query};
use vault_agent::vault::Vault;

const QUERIES: [&str; 10] = [
    "w7",
    "w3 w400",
    "w1200 w15 w8000",
    "w2 w9 w31 w77",
    "w5000",
    "w1 w2 w3",
    "w640 w41",
    "w19000",
    "w88 w888 w2222 w11",
    "w300",
];

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|arg| arg.parse::<usize>().ok());
    let (notes, rounds) = (numbers.next().unwrap_or(10_000), numbers.next().unwrap_or(50));
    let temp = tempfile::tempdir().unwrap();
    let (root, cache) = (temp.path().join("vault"), temp.path().join("cache"));
    let bytes = make(&root, notes);
    println!("{notes} notes, {:.1} MB", bytes as f64 / 1e6);

    let index = Arc::new(open(&root, &cache));
    let before = processor();
    let (made, ours) = timed(|| index.reindex(&|_| {}, &AtomicBool::new(false)).unwrap());
    let spent = processor() - before;
    let stats = index.stats().unwrap();
    let size = stats.index_bytes as f64 / bytes as f64;
    println!(
        "from nothing: {ours:.2?} ({spent:.2} s of processor, at most {} MB of memory), {} blocks; the index is {size:.2} of the text",
        peak_megabytes(),
        made.blocks
    );
    let mut count = Command::new("rg");
    count.args(["-c", "w7"]).arg(&root).stdout(Stdio::null());
    match timed(|| count.status()) {
        (Ok(_), rg) => println!("`rg -c`: {rg:.2?}; ratio {:.1}", ratio(ours, rg)),
        (Err(error), _) => println!("`rg -c` did not run: {error}"),
    }

    let before = processor();
    let bare = Bare::new(&index);
    let bare_spent = processor() - before;
    println!(
        "bare tantivy, ready-made blocks: {:.2?} ({bare_spent:.2} s of processor with fetching them); ratio {:.2}",
        bare.took,
        ratio(ours, bare.took)
    );

    let follower = Follower::start(Arc::clone(&index)).unwrap();
    while !follower.following().following {
        std::thread::yield_now();
    }
    let mut warm: Vec<Duration> = Vec::new();
    let mut peer: Vec<Duration> = Vec::new();
    for _ in 0..rounds {
        for query in QUERIES {
            warm.push(timed(|| index.search(&Query::new(query)).unwrap()).1);
            peer.push(timed(|| bare.search(query)).1);
        }
    }
    let (p50, p99) = (quantile(&mut warm, 0.5), quantile(&mut warm, 0.99));
    let (bare50, bare99) = (quantile(&mut peer, 0.5), quantile(&mut peer, 0.99));
    println!(
        "warm query: p50 {p50:.2?}, p99 {p99:.2?}; bare p50 {bare50:.2?}, p99 {bare99:.2?}; ratios {:.2}, {:.2}",
        ratio(p50, bare50),
        ratio(p99, bare99)
    );

    let mut cold: Vec<Duration> =
        (0..30).map(|n| timed(|| process(temp.path(), &root, &cache, QUERIES[n % 10])).1).collect();
    let mut nothing: Vec<Duration> =
        (0..30).map(|_| timed(|| Command::new("/bin/true").status().unwrap()).1).collect();
    println!(
        "whole process, daemon running: {:.2?}; /bin/true {:.2?}",
        quantile(&mut cold, 0.5),
        quantile(&mut nothing, 0.5)
    );

    let mut fresh: Vec<Duration> = (0..30).map(|n| timed(|| change(&root, &index, &follower, n)).1).collect();
    println!(
        "one note changed, until it is found: {:.2?}, p99 {:.2?}",
        quantile(&mut fresh, 0.5),
        quantile(&mut fresh, 0.99)
    );
}

fn open(root: &Path, cache: &Path) -> Index {
    // With the settings that the program finds in the vault, so that it asks this index and makes none of its own.
    Index::of(Vault::open(root).unwrap(), &Settings::default(), cache, Arc::new(SystemClock)).unwrap()
}

fn change(root: &Path, index: &Index, follower: &Follower, n: usize) {
    let path = format!("{:03}/note{n}.md", n % 100);
    let mut text = std::fs::read_to_string(root.join(&path)).unwrap();
    writeln!(text, "\nfresh{n}word").unwrap();
    std::fs::write(root.join(&path), text).unwrap();
    follower.changed([path]);
    let query = Query::new(format!("fresh{n}word"));
    // Committed, not only read directly.
    loop {
        let answer = index.search(&query).unwrap();
        if answer.hits.len() == 1 && answer.freshness.read_directly == 0 {
            return;
        }
    }
}

fn process(home: &Path, root: &Path, cache: &Path, query: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vault-agent"));
    command.args(["--vault", root.to_str().unwrap(), "--json", "search", query]).env("HOME", home);
    command.env("VAULT_AGENT_STATE_DIR", home.join("state")).env("VAULT_AGENT_CACHE_DIR", cache);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
}

/// tantivy alone.
struct Bare {
    searcher: tantivy::Searcher,
    parser: QueryParser,
    took: Duration,
}

impl Bare {
    fn new(index: &Index) -> Self {
        let texts = index
            .snapshot(|snapshot| {
                let mut texts = Vec::new();
                for path in snapshot.notes() {
                    for stored in snapshot.blocks(&path)? {
                        texts.push(snapshot.text(stored.slot)?);
                    }
                }
                Ok(texts)
            })
            .unwrap();
        let mut schema = Schema::builder();
        let stemmed = TextFieldIndexing::default()
            .set_tokenizer("en_stem")
            .set_index_option(IndexRecordOption::WithFreqs);
        let body =
            schema.add_text_field("body", TextOptions::default().set_indexing_options(stemmed) | STORED);
        let bare = tantivy::Index::create_in_ram(schema.build());
        let ((), took) = timed(|| {
            let mut writer = bare.writer_with_num_threads(2, 128_000_000).unwrap();
            for text in &texts {
                writer.add_document(tantivy::doc!(body => text.as_str())).unwrap();
            }
            writer.commit().unwrap();
            writer.wait_merging_threads().unwrap();
        });
        let searcher = bare.reader().unwrap().searcher();
        Self { searcher, parser: QueryParser::for_index(&bare, vec![body]), took }
    }

    fn search(&self, query: &str) -> usize {
        let query = self.parser.parse_query(query).unwrap();
        let top = self.searcher.search(&query, &TopDocs::with_limit(10).order_by_score()).unwrap();
        top.iter().map(|(_, at)| self.searcher.doc::<tantivy::TantivyDocument>(*at).unwrap().len()).sum()
    }
}

/// Notes of paragraphs and lists, words drawn by Zipf's law; returns their bytes.
fn make(root: &Path, notes: usize) -> usize {
    let mut seed = 7u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut bytes = 0;
    for n in 0..notes {
        let mut text = format!("# Note {n}\n");
        for paragraph in 0..16 {
            text.push_str(if paragraph % 4 == 3 { "\n- " } else { "\n\n" });
            for _ in 0..45 {
                write!(text, "w{:.0} ", (20_000f64.ln() * next()).exp()).unwrap();
            }
        }
        let folder = root.join(format!("{:03}", n % 100));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("note{n}.md")), &text).unwrap();
        bytes += text.len();
    }
    bytes
}

/// Seconds of processor time that this process has spent.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // User and system time, in hundredths.
    [11, 12].iter().filter_map(|n| fields.get(*n)?.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The most memory that this process has had.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let done = work();
    (done, start.elapsed())
}

fn quantile(times: &mut [Duration], at: f64) -> Duration {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * at) as usize]
}

fn ratio(ours: Duration, peer: Duration) -> f64 {
    ours.as_secs_f64() / peer.as_secs_f64()
}
