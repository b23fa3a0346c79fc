//! Reranks a search's first hits: scores how well each text answers the question.
//!
//! A reranker reads question and text together. This gives better scores than comparing vectors, but is far slower. So
//! only a deep search uses a reranker ([`crate::search::SearchClient::deep`]), for a few dozen texts. `[rerank]
//! provider` chooses the model: [`endpoint`] calls a model behind an endpoint, [`local`] runs a model from a directory.
//! After a [`ModelError`] the search keeps its own order. This module depends on no note, no index and no ranking.

pub mod endpoint;
pub mod local;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use whatlang::{Lang, detect};

use crate::config::{RerankSettings, Settings};
use crate::embed::ModelError;

/// A model that scores texts for a question.
pub trait Reranker: Send + Sync + std::fmt::Debug {
    /// Its provider and model, for answers and errors.
    fn name(&self) -> &str;
    /// The score of each of `texts` for `question`, within `patience`: finite numbers, of which more is better.
    ///
    /// # Errors
    /// It can't be reached, takes too long, refuses, or answers something that isn't such numbers.
    fn scores(&self, question: &str, texts: &[String], patience: Duration) -> Result<Vec<f64>, ModelError>;
}

/// The reranker that the settings name, or none where they say `none`. `local:` directories count from `root`, the
/// vault's folder. Nothing is sent yet.
///
/// # Errors
/// Its directory holds no such model, its key can't be read, or a language's code is unknown.
pub fn open(settings: &Settings, root: &Path) -> Result<Option<Arc<dyn Reranker>>, ModelError> {
    let rerank: &RerankSettings = &settings.rerank;
    check_languages(&rerank.languages).map_err(ModelError::Settings)?;
    if let Some(dir) = rerank.provider.strip_prefix("local:") {
        return Ok(Some(Arc::new(local::LocalReranker::open(&root.join(dir))?)));
    }
    if rerank.provider == "none" {
        return Ok(None);
    }
    Ok(Some(Arc::new(endpoint::EndpointReranker::open(rerank, root)?)))
}

/// Text beyond so many bytes says no more.
const ENOUGH: usize = 2_000;

/// The language of `text` by its code of ISO 639-1; none where it isn't sure.
pub fn language_of(text: &str) -> Option<&'static str> {
    let found = detect(crate::embed::cut(text, ENOUGH))?;
    if found.is_reliable() { code(found.lang()) } else { None }
}

/// Whether languages by these codes can be told.
///
/// # Errors
/// One can't, in words for people.
pub fn check_languages(codes: &[String]) -> Result<(), String> {
    let known: Vec<&str> = Lang::all().iter().filter_map(|lang| code(*lang)).collect();
    match codes.iter().find(|code| !known.contains(&code.as_str())) {
        Some(wrong) => Err(format!(
            "`rerank.languages` holds `{wrong}`, which can't be told from others; known are {}",
            known.join(", ")
        )),
        None => Ok(()),
    }
}

/// Those that have no code of two letters are never named in the settings.
fn code(lang: Lang) -> Option<&'static str> {
    CODES
        .split(' ')
        .filter_map(|both| both.split_once('-'))
        .find(|(three, _)| *three == lang.code())
        .map(|(_, two)| two)
}

/// ISO 639-3, as `whatlang` names them, and ISO 639-1.
const CODES: &str = "afr-af aka-ak amh-am ara-ar aze-az bel-be ben-bn bul-bg cat-ca ces-cs cmn-zh cym-cy dan-da deu-de \
    ell-el eng-en epo-eo est-et fin-fi fra-fr guj-gu heb-he hin-hi hrv-hr hun-hu hye-hy ind-id ita-it \
    jav-jv jpn-ja kan-kn kat-ka khm-km kor-ko lat-la lav-lv lit-lt mal-ml mar-mr mkd-mk mya-my nep-ne \
    nld-nl nob-nb ori-or pan-pa pes-fa pol-pl por-pt ron-ro rus-ru sin-si slk-sk slv-sl sna-sn spa-es \
    srp-sr swe-sv tam-ta tel-te tgl-tl tha-th tuk-tk tur-tr ukr-uk urd-ur uzb-uz vie-vi zul-zu";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_a_language_and_scraps_have_none() {
        let english = "The boiler in the cellar was repaired by the plumber, who thought that its valve was worn out and \
                       would have to be replaced before the winter; he left us the number of the workshop that makes \
                       them. When we called there on the following morning nobody answered, so that we wrote a letter and asked \
                       whether they could send somebody with the right parts before the end of the month.";
        assert_eq!(language_of(english), Some("en"));
        let german = "Der Heizkessel im Keller wurde vom Klempner repariert, der meinte, dass sein Ventil abgenutzt sei und \
                      vor dem Winter ersetzt werden müsse; er ließ uns die Nummer der Werkstatt da, die sie herstellt. \
                      Als wir dort am nächsten Morgen anriefen, meldete sich niemand, weshalb wir einen Brief schrieben und \
                      fragten, ob sie noch vor dem Ende des Monats jemanden mit den richtigen Teilen schicken könnten.";
        assert_eq!(language_of(german), Some("de"));
        assert_eq!(language_of("我们什么时候收养了那只小猫？"), Some("zh"));
        assert_eq!(language_of("vet 2026"), None);
        assert_eq!(language_of(""), None);
    }

    #[test]
    fn every_code_is_a_language_s_own() {
        let codes: Vec<_> = CODES.split(' ').map(|both| both.split_once('-').unwrap()).collect();
        for (three, two) in &codes {
            assert!(Lang::from_code(*three).is_some(), "{three}");
            assert_eq!(codes.iter().filter(|(_, other)| other == two).count(), 1, "{two}");
        }
        assert!(check_languages(&["en".to_owned(), "de".to_owned()]).is_ok());
        let error = check_languages(&["xx".to_owned()]).unwrap_err();
        assert!(error.contains("`xx`") && error.contains("en"), "{error}");
    }
}
