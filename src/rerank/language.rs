//! Detects a text's language by its trigrams and letters (the crate `whatlang`). Short texts are uncertain, so it
//! answers only where it is sure.

use whatlang::{Lang, detect};

/// Text beyond so many bytes says no more.
const ENOUGH: usize = 2_000;

/// The language of `text` by its code of ISO 639-1; none where it isn't sure.
pub fn of(text: &str) -> Option<&'static str> {
    let found = detect(crate::embed::cut(text, ENOUGH))?;
    if found.is_reliable() { code(found.lang()) } else { None }
}

/// Whether languages by these codes can be told.
///
/// # Errors
/// One can't, in words for people.
pub fn check(codes: &[String]) -> Result<(), String> {
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
    CODES.iter().find(|(three, _)| *three == lang.code()).map(|(_, two)| *two)
}

/// ISO 639-3, as `whatlang` names them, and ISO 639-1.
#[rustfmt::skip]
const CODES: [(&str, &str); 69] = [
    ("afr", "af"), ("aka", "ak"), ("amh", "am"), ("ara", "ar"), ("aze", "az"), ("bel", "be"), ("ben", "bn"),
    ("bul", "bg"), ("cat", "ca"), ("ces", "cs"), ("cmn", "zh"), ("cym", "cy"), ("dan", "da"), ("deu", "de"),
    ("ell", "el"), ("eng", "en"), ("epo", "eo"), ("est", "et"), ("fin", "fi"), ("fra", "fr"), ("guj", "gu"),
    ("heb", "he"), ("hin", "hi"), ("hrv", "hr"), ("hun", "hu"), ("hye", "hy"), ("ind", "id"), ("ita", "it"),
    ("jav", "jv"), ("jpn", "ja"), ("kan", "kn"), ("kat", "ka"), ("khm", "km"), ("kor", "ko"), ("lat", "la"),
    ("lav", "lv"), ("lit", "lt"), ("mal", "ml"), ("mar", "mr"), ("mkd", "mk"), ("mya", "my"), ("nep", "ne"),
    ("nld", "nl"), ("nob", "nb"), ("ori", "or"), ("pan", "pa"), ("pes", "fa"), ("pol", "pl"), ("por", "pt"),
    ("ron", "ro"), ("rus", "ru"), ("sin", "si"), ("slk", "sk"), ("slv", "sl"), ("sna", "sn"), ("spa", "es"),
    ("srp", "sr"), ("swe", "sv"), ("tam", "ta"), ("tel", "te"), ("tgl", "tl"), ("tha", "th"), ("tuk", "tk"),
    ("tur", "tr"), ("ukr", "uk"), ("urd", "ur"), ("uzb", "uz"), ("vie", "vi"), ("zul", "zu"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_a_language_and_scraps_have_none() {
        let english = "The boiler in the cellar was repaired by the plumber, who thought that its valve was worn out and \
                       would have to be replaced before the winter; he left us the number of the workshop that makes \
                       them. When we called there on the following morning nobody answered, so that we wrote a letter and asked \
                       whether they could send somebody with the right parts before the end of the month.";
        assert_eq!(of(english), Some("en"));
        let german = "Der Heizkessel im Keller wurde vom Klempner repariert, der meinte, dass sein Ventil abgenutzt sei und \
                      vor dem Winter ersetzt werden müsse; er ließ uns die Nummer der Werkstatt da, die sie herstellt. \
                      Als wir dort am nächsten Morgen anriefen, meldete sich niemand, weshalb wir einen Brief schrieben und \
                      fragten, ob sie noch vor dem Ende des Monats jemanden mit den richtigen Teilen schicken könnten.";
        assert_eq!(of(german), Some("de"));
        assert_eq!(of("我们什么时候收养了那只小猫？"), Some("zh"));
        assert_eq!(of("vet 2026"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn every_code_is_a_language_s_own() {
        for (three, two) in CODES {
            assert!(Lang::from_code(three).is_some(), "{three}");
            assert_eq!(CODES.iter().filter(|(_, other)| *other == two).count(), 1, "{two}");
        }
        assert!(check(&["en".to_owned(), "de".to_owned()]).is_ok());
        let error = check(&["xx".to_owned()]).unwrap_err();
        assert!(error.contains("`xx`") && error.contains("en"), "{error}");
    }
}
