//! Embeds texts with a BERT-family sentence model from a directory in the layout of sentence-transformers. A text's
//! vector is the mean of its tokens' vectors ([`super::bert`]), scaled to unit length.

use std::path::Path;

use async_trait::async_trait;
use ndarray::Axis;

use super::bert::Encoder;
use super::table;
use crate::embed::{EmbedPurpose, ModelError, Provider, check};

/// Sentence models are trained on short texts; what is behind this many tokens isn't read.
const MOST_TOKENS: usize = 256;

/// The model.
#[derive(Debug)]
pub struct LocalModel(Encoder);

impl LocalModel {
    /// Loads the model in `dir`.
    ///
    /// # Errors
    /// Something is missing or isn't a BERT model; the error names the file and what it lacks.
    pub fn open(dir: &Path) -> Result<Self, ModelError> {
        let (encoder, ()) = Encoder::open(dir, |_, _| Ok(())).map_err(ModelError::Settings)?;
        Ok(Self(encoder))
    }

    /// The unit vector of one text.
    pub fn embed_one(&self, text: &str) -> Vec<f32> {
        // Two places are for the tokens at its ends.
        let tokens = self.0.tokens(text, MOST_TOKENS.min(self.0.positions()) - 2);
        let x = self.0.encode(&tokens, None);
        let mut mean = x.mean_axis(Axis(0)).map(|mean| mean.to_vec()).unwrap_or_default();
        table::normalise(&mut mean);
        mean
    }
}

#[async_trait]
impl Provider for LocalModel {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn batch(&self) -> usize {
        16
    }

    async fn embed(&self, texts: &[String], _: EmbedPurpose) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            vectors.push(self.embed_one(text));
            // Milliseconds of arithmetic each: let others have their turn.
            tokio::task::yield_now().await;
        }
        check(self.name(), &vectors, texts.len())?;
        Ok(vectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_no_model_says_what_it_lacks() {
        let dir = tempfile::tempdir().unwrap();
        let error = LocalModel::open(&dir.path().join("nowhere")).unwrap_err().to_string();
        assert!(error.ends_with("is no directory"), "{error}");
        let error = LocalModel::open(dir.path()).unwrap_err().to_string();
        assert!(
            error.ends_with("lacks `config.json`, `model.safetensors`, `vocab.txt` (or `tokenizer.json`)"),
            "{error}"
        );
        for name in ["config.json", "model.safetensors", "vocab.txt"] {
            std::fs::write(dir.path().join(name), "{}").unwrap();
        }
        let error = LocalModel::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("`config.json` of another kind"), "{error}");
    }
}
