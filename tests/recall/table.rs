//! Models from a folder: a static one in the place of the built-in table, a sentence model of our own making, and the
//! tokenizer against the reference implementation (`tokenizers` 0.23, all-MiniLM-L6-v2), as `tokens.json` has it. One
//! difference is meant: a text that says `[CLS]` is text here, not a special token.

use safetensors::tensor::{Dtype, TensorView};
use vault_agent::embed::{
    BuiltinTable, Embedder, StaticModel, StaticModelFolder, local::LocalModel, table::DIMENSIONS, wordpiece,
};

use crate::recall::hits;
use crate::support::prelude::*;

const WORDS: [&str; 6] = ["[UNK]", "stubentiger", "miezekatze", "heizung", "brenner", "##s"];

/// Which words mean the same: each a direction of its own.
fn direction(word: &str) -> usize {
    match word {
        "stubentiger" | "miezekatze" => 0,
        "heizung" | "brenner" => 1,
        _ => 2,
    }
}

/// A tensor of a file: its name, type, shape and bytes.
pub type Tensor<'a> = (&'a str, Dtype, Vec<usize>, Vec<u8>);

pub fn write_tensors(dir: &Path, tensors: &[Tensor<'_>]) {
    let views = tensors
        .iter()
        .map(|(name, kind, shape, data)| (*name, TensorView::new(*kind, shape.clone(), data).unwrap()));
    safetensors::serialize_to_file(views, None, &dir.join("model.safetensors")).unwrap();
}

fn write_words(dir: &Path) {
    let vocab = WORDS.iter().zip(0..).map(|(word, at)| ((*word).to_owned(), json!(at)));
    let vocab = Value::Object(vocab.collect());
    let tokenizer = json!({
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocab},
    });
    std::fs::write(dir.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::write(dir.join("config.json"), r#"{"model_type": "model2vec", "normalize": true}"#).unwrap();
}

/// The rows of the table, `width` numbers each.
fn rows(width: usize) -> Vec<f32> {
    WORDS.iter().flat_map(|word| (0..width).map(|at| f32::from(u8::from(at == direction(word))))).collect()
}

pub fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A table of 300 numbers a token, of which 256 are kept.
fn write_model(dir: &Path) {
    std::fs::create_dir_all(dir).unwrap();
    write_words(dir);
    write_tensors(dir, &[("embeddings", Dtype::F32, vec![WORDS.len(), 300], bytes(&rows(300)))]);
}

fn like(dir: &Path, one: &str, other: &str) -> f32 {
    let model = StaticModel::Folder(std::sync::Arc::new(StaticModelFolder::open(dir).unwrap()));
    let (one, other) = (model.embed(one), Embedder::default().embed_with(&model, other));
    assert_eq!((one.len(), other.len()), (DIMENSIONS, DIMENSIONS));
    one.iter().zip(&other).map(|(x, y)| x * y).sum()
}

#[test]
fn tables_of_every_kind_are_read() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    let n = WORDS.len();
    let half = |numbers: &[f32]| -> Vec<u8> {
        numbers.iter().flat_map(|x| if *x == 1.0 { 0x3C00_u16 } else { 0 }.to_le_bytes()).collect()
    };
    let small =
        |numbers: &[f32]| -> Vec<u8> { numbers.iter().map(|x| if *x == 1.0 { 127 } else { 0 }).collect() };
    let weights: Vec<f32> = (0..n).map(|at| if at == 3 { 0.001 } else { 1.0 }).collect();
    // Only three rows, which the tokens share.
    let shared: Vec<f32> = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].concat();
    let mapping: Vec<u8> = WORDS.iter().flat_map(|word| (direction(word) as i64).to_le_bytes()).collect();
    let table = |kind, rows, bytes| ("embeddings", kind, vec![rows, 3], bytes);
    let weights = ("weights", Dtype::F32, vec![n], bytes(&weights));
    let all: [&[Tensor<'_>]; 5] = [
        &[("embeddings", Dtype::F32, vec![n, 300], bytes(&rows(300)))],
        &[table(Dtype::F16, n, half(&rows(3)))],
        &[table(Dtype::I8, n, small(&rows(3)))],
        &[table(Dtype::F32, n, bytes(&rows(3))), weights.clone()],
        &[table(Dtype::F32, 3, bytes(&shared)), ("mapping", Dtype::I64, vec![n], mapping), weights],
    ];
    for (at, tensors) in all.into_iter().enumerate() {
        write_words(dir);
        write_tensors(dir, tensors);
        assert!((like(dir, "Miezekatze!", "stubentigers stubentiger stubentiger") - 1.0).abs() < 0.1, "{at}");
        assert!(like(dir, "Miezekatze", "heizung").abs() < 1e-6, "{at}");
        assert_eq!(like(dir, "unknown", "heizung"), 0.0, "{at}: what it doesn't know has no meaning");
        assert_eq!(like(dir, "brenner", "heizung miezekatze") < 0.1, at >= 3, "{at}");
    }
}

#[test]
fn a_folder_that_is_no_table_says_what_it_lacks() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    let fault = || StaticModelFolder::open(dir).unwrap_err().to_string();
    assert!(StaticModelFolder::open(&dir.join("none")).unwrap_err().to_string().ends_with("is no directory"));
    assert!(fault().ends_with("lacks `model.safetensors`"), "{}", fault());
    write_model(dir);
    let model = StaticModelFolder::open(dir).unwrap();
    assert!(model.is_current());
    let n = WORDS.len();
    let mut broken = rows(3);
    broken[4] = f32::NAN;
    let table = |rows: Vec<usize>, numbers: &[f32]| ("embeddings", Dtype::F32, rows, bytes(numbers));
    let whole = || table(vec![n, 3], &rows(3));
    let strange: Vec<u8> = (0..n).flat_map(|_| 99_i32.to_le_bytes()).collect();
    for (tensors, part) in [
        (vec![table(vec![n, 3], &broken)], "something else than finite numbers"),
        (vec![table(vec![n - 1, 3], &rows(3)[3..])], "a table of 5 rows for 6 tokens"),
        (vec![("vectors", Dtype::F32, vec![n, 3], bytes(&rows(3)))], "without the tensor `embeddings`"),
        (vec![table(vec![3 * n], &rows(3))], "in the shape"),
        (vec![("embeddings", Dtype::BOOL, vec![n, 3], vec![0; 3 * n])], "which isn't known here"),
        (vec![whole(), ("mapping", Dtype::I32, vec![n], strange)], "a table of 6 rows for 6 tokens"),
        (vec![whole(), ("weights", Dtype::F32, vec![1], bytes(&[1.0]))], "fewer weights"),
    ] {
        write_tensors(dir, &tensors);
        assert!(fault().contains(part), "{}", fault());
    }
    assert!(!model.is_current(), "the files are others now");
    write_model(dir);
    let whole = std::fs::read(dir.join("model.safetensors")).unwrap();
    std::fs::write(dir.join("model.safetensors"), &whole[..whole.len() / 2]).unwrap();
    assert!(fault().contains("damaged `model.safetensors`"), "{}", fault());
}

const NOTES: &str = "\
//- vault-agent.toml
//- pets.md
Der Stubentiger schläft auf dem Ofen.
//- cellar.md
Der Brenner wird im Herbst gewartet.
//- shopping.md
Brot, Milch und ein neuer Eimer.
";

#[test]
fn a_vault_is_searched_with_its_own_table_and_made_anew_with_another() {
    let vault = TestVault::new(NOTES);
    let ask = |question: &str| vault.json(&["search", question]);
    let first = |found: &Value| found["hits"][0]["path"].as_str().map(str::to_owned);
    let before = ask("miezekatze");
    assert_eq!(first(&before), None, "the built-in table is English: {before}");
    let dir = vault.home().join("table");
    write_model(&dir);
    vault.write("vault-agent.toml", format!("[embed]\ntable = \"{}\"\n", dir.display()));
    assert_eq!(first(&ask("miezekatze")).as_deref(), Some("pets.md"));
    assert_eq!(first(&ask("heizung")).as_deref(), Some("cellar.md"));
    assert_eq!(first(&ask("Brot")).as_deref(), Some("shopping.md"));
    std::fs::remove_dir_all(vault.cache()).unwrap();
    assert_eq!(first(&ask("heizung")).as_deref(), Some("cellar.md"), "from nothing as before");
    // Another model in the same folder: what was saved of the old one isn't compared with it.
    let mut turned = rows(3);
    turned.rotate_right(3);
    write_tensors(&dir, &[("embeddings", Dtype::F32, vec![WORDS.len(), 3], bytes(&turned))]);
    assert_eq!(first(&ask("miezekatze")), None, "the two words no longer mean the same");
    // One that can't be read: the built-in table, and why.
    std::fs::write(dir.join("tokenizer.json"), "{}").unwrap();
    let without = ask("miezekatze");
    assert_eq!(without["hits"], before["hits"]);
    assert!(without["notes"][0].as_str().unwrap().contains("the built-in table is used"), "{without}");
    vault.write("vault-agent.toml", "# none\n");
    assert_eq!(hits(&ask("Brot")).len(), 1);
}

/// Writes a BERT of one layer whose weights are a fixed pattern.
pub fn tiny(dir: &std::path::Path) {
    tiny_with(dir, &[]);
}

/// The same with further linear layers, each by its name and what it gives.
pub fn tiny_with(dir: &std::path::Path, heads: &[(&str, usize)]) {
    let config = r#"{"model_type":"bert","hidden_size":4,"num_hidden_layers":1,"num_attention_heads":2,
        "intermediate_size":8,"max_position_embeddings":16,"hidden_act":"gelu","layer_norm_eps":1e-12}"#;
    std::fs::write(dir.join("config.json"), config).unwrap();
    std::fs::write(dir.join("vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\ncat\ndog\n##s\n").unwrap();
    // Each name with the shape of its weight; what has a bias has one for each number that it gives.
    let layer = |name: &str, shape: &[usize]| (format!("encoder.layer.0.{name}"), shape.to_vec());
    let mut biased = vec![
        ("embeddings.LayerNorm".to_owned(), vec![4]),
        layer("attention.self.query", &[4, 4]),
        layer("attention.self.key", &[4, 4]),
        layer("attention.self.value", &[4, 4]),
        layer("attention.output.dense", &[4, 4]),
        layer("intermediate.dense", &[8, 4]),
        layer("output.dense", &[4, 8]),
        layer("attention.output.LayerNorm", &[4]),
        layer("output.LayerNorm", &[4]),
    ];
    biased.extend(heads.iter().map(|(name, out)| ((*name).to_owned(), vec![*out, 4])));
    let embeddings = [("word", 7), ("position", 16), ("token_type", 2)]
        .map(|(of, rows)| (format!("embeddings.{of}_embeddings.weight"), vec![rows, 4]));
    let both = biased.into_iter().flat_map(|(name, shape)| {
        let bias = (format!("{name}.bias"), vec![shape[0]]);
        [(format!("{name}.weight"), shape), bias]
    });
    let tensors: Vec<(String, Vec<usize>)> = embeddings.into_iter().chain(both).collect();
    let tensors: Vec<Tensor<'_>> = tensors
        .iter()
        .enumerate()
        .map(|(n, (name, shape))| {
            let value = |i: usize| ((i * 7 + n * 3) % 11) as f32 / 11.0 - 0.4;
            let values: Vec<f32> = (0..shape.iter().product()).map(value).collect();
            (name.as_str(), Dtype::F32, shape.clone(), bytes(&values))
        })
        .collect();
    write_tensors(dir, &tensors);
}

#[test]
fn a_model_embeds_and_a_broken_one_names_its_fault() {
    let dir = tempfile::tempdir().unwrap();
    tiny(dir.path());
    let model = LocalModel::open(dir.path()).unwrap();
    let vector = model.embed_one("Cats dog");
    let length: f32 = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    assert!((length - 1.0).abs() < 1e-5 && vector.len() == 4);
    assert_ne!(model.embed_one("dog"), vector);
    assert_eq!(model.embed_one("cats dog"), vector, "case is folded");
    assert!(model.embed_one(&"cat ".repeat(1000)).iter().all(|x| x.is_finite()));
    let bytes = std::fs::read(dir.path().join("model.safetensors")).unwrap();
    std::fs::write(dir.path().join("model.safetensors"), &bytes[..bytes.len() / 2]).unwrap();
    assert!(LocalModel::open(dir.path()).unwrap_err().to_string().contains("damaged `model.safetensors`"));
}

#[test]
fn tokens_are_those_of_the_reference() {
    let cases: Vec<(String, Vec<u32>)> = serde_json::from_str(include_str!("tokens.json")).unwrap();
    let table = BuiltinTable::builtin();
    assert!(cases.len() > 15);
    for (text, expected) in cases {
        let mut found = Vec::new();
        wordpiece::words(&text, |word| wordpiece::split(&table, word, &mut found));
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn the_table_is_whole() {
    let table = BuiltinTable::builtin();
    assert!(table.piece("dentist", false).is_some() && table.piece("ing", true).is_some());
    assert_ne!(table.piece("ing", true), table.piece("ing", false));
    assert_eq!(table.piece("dentistically", false), None);
    assert!((table.embed("The cat sat on the mat.").iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-4);
    assert!(table.embed("").iter().all(|x| *x == 0.0));
    let near: Vec<&str> = table.neighbours("dentist").map(|(word, _)| word).collect();
    assert!(near.contains(&"dental"), "{near:?}");
    let like =
        |a: &str, b: &str| -> f32 { table.embed(a).iter().zip(table.embed(b)).map(|(x, y)| x * y).sum() };
    assert!(
        like("She adopted a kitten", "They got a new cat")
            > like("She adopted a kitten", "The invoice is overdue") + 0.2
    );
}
