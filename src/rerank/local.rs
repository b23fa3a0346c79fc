//! Runs a cross-encoder from a directory, in process, to score how well texts answer a question.
//!
//! The encoder of [`crate::embed::bert`] takes question and text as one input; a classifier turns its output into a
//! score. The input is cut at 256 tokens, or at the model's longest input if that is shorter. The directory has the
//! layout in which sentence-transformers saves a `CrossEncoder` over BERT (such as
//! cross-encoder/ms-marco-MiniLM-L6-v2). The texts are divided among the processor's cores; the scores don't depend on
//! the number of cores.

use std::path::Path;
use std::time::{Duration, Instant};

use ndarray::{Axis, s};
use rayon::prelude::*;

use super::Reranker;
use crate::embed::ModelError;
use crate::embed::bert::{Encoder, Linear};

/// Of a question no more tokens are read than these, so that the text has room.
const MOST_QUESTION: usize = 64;
/// Question and text together: time grows with their length, and the beginning tells most.
const MOST_TOKENS: usize = 256;

/// The model.
#[derive(Debug)]
pub struct LocalReranker {
    encoder: Encoder,
    pooler: Linear,
    classifier: Linear,
}

impl LocalReranker {
    /// Loads the model in `dir`.
    ///
    /// # Errors
    /// Something is missing or isn't a cross-encoder of BERT's; the error names the file and what it lacks.
    pub fn open(dir: &Path) -> Result<Self, ModelError> {
        let heads = Encoder::open(dir, |tensors, size| {
            Ok((tensors.linear("pooler.dense", size, size)?, tensors.linear("classifier", size, 1)?))
        });
        let (encoder, (pooler, classifier)) = heads.map_err(ModelError::Settings)?;
        Ok(Self { encoder, pooler, classifier })
    }

    /// The score of `text` for the question with these tokens, between 0 and 1.
    pub fn score(&self, question: &[u32], text: &str) -> f64 {
        // Three places are for the tokens between and around them.
        let room = MOST_TOKENS.min(self.encoder.positions()) - 3;
        let question = &question[..question.len().min(room / 2)];
        let text = self.encoder.tokens(text, room - question.len());
        let x = self.encoder.encode(question, Some(&text));
        let first = x.slice(s![0..1, ..]).to_owned();
        let pooled = self.pooler.apply(&first).mapv(f32::tanh);
        let logit = self.classifier.apply(&pooled).index_axis(Axis(0), 0)[0];
        1.0 / (1.0 + f64::from(-logit).exp())
    }
}

impl Reranker for LocalReranker {
    fn name(&self) -> &str {
        self.encoder.name()
    }

    fn scores(&self, question: &str, texts: &[String], patience: Duration) -> Result<Vec<f64>, ModelError> {
        let started = Instant::now();
        let question = self.encoder.tokens(question, MOST_QUESTION);
        let scores = texts.par_iter().map(|text| {
            let is_late = started.elapsed() >= patience;
            (!is_late).then(|| self.score(&question, text))
        });
        let provider = self.name().to_owned();
        let Some(scores) = scores.collect::<Option<Vec<f64>>>() else {
            let reason = format!("it isn't done after {} s", patience.as_secs());
            return Err(ModelError::Unreachable { provider, reason, after: None });
        };
        if scores.iter().any(|score| !score.is_finite()) {
            let reason = "no finite number".to_owned();
            return Err(ModelError::BadAnswer { provider, wanted: "scores", reason });
        }
        Ok(scores)
    }
}
