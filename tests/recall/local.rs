//! A sentence model from a directory: a tiny one of our own making.

use vault_agent::embed::local::LocalModel;

use crate::recall::table::{Tensor, bytes, write_tensors};

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
    let mut tensors: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".into(), vec![7, 4]),
        ("embeddings.position_embeddings.weight".into(), vec![16, 4]),
        ("embeddings.token_type_embeddings.weight".into(), vec![2, 4]),
        ("embeddings.LayerNorm.weight".into(), vec![4]),
        ("embeddings.LayerNorm.bias".into(), vec![4]),
    ];
    let linear = |name: &str, out: usize, from: usize| {
        let name = format!("encoder.layer.0.{name}");
        [(format!("{name}.weight"), vec![out, from]), (format!("{name}.bias"), vec![out])]
    };
    for name in
        ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]
    {
        tensors.extend(linear(name, 4, 4));
    }
    tensors.extend(linear("intermediate.dense", 8, 4));
    tensors.extend(linear("output.dense", 4, 8));
    for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
        for part in ["weight", "bias"] {
            tensors.push((format!("encoder.layer.0.{name}.{part}"), vec![4]));
        }
    }
    for (name, out) in heads {
        tensors.extend([(format!("{name}.weight"), vec![*out, 4]), (format!("{name}.bias"), vec![*out])]);
    }
    let tensors: Vec<Tensor<'_>> = tensors
        .iter()
        .enumerate()
        .map(|(n, (name, shape))| {
            let value = |i: usize| ((i * 7 + n * 3) % 11) as f32 / 11.0 - 0.4;
            let values: Vec<f32> = (0..shape.iter().product()).map(value).collect();
            (name.as_str(), "F32", shape.clone(), bytes(&values))
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
