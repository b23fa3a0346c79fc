//! Tells the category of a question by its words. Pure.
//!
//! Each category has a list of words; the category with the most of them wins, and the first one of equals. Without
//! such a word there is no category: a guess would route questions wrongly.

use crate::config::TaskCategory;

/// How much of a text is examined.
const HEAD: usize = 4000;

/// The words of a kind, in lower case, language after language: English, German, French, Spanish, Italian,
/// Portuguese, Dutch, Polish, Russian, Chinese, Japanese, Korean. A `*` at the end lets a word go on.
#[rustfmt::skip]
const WORDS: [(TaskCategory, &[&str]); 5] = [
    (TaskCategory::Code, &[
        "code", "coding", "function", "regex", "regexp", "bug", "debug*", "refactor*", "compil*", "stack trace",
        "stacktrace", "traceback", "unit test*", "script", "python", "rust", "javascript", "typescript", "java",
        "golang", "bash", "sql", "html", "css", "json", "yaml", "docker*", "kubernetes", "git", "commit", "merge conflict",
        "pull request", "api", "program*", "algorithm*", "segfault", "null pointer", "exception",
        "quelltext", "quellcode", "funktion", "fehlermeldung", "skript", "code source", "fonction", "código", "función",
        "codice", "funzione", "função", "broncode", "functie", "kod źródłowy", "funkcja", "код", "функци*", "скрипт*",
        "代码", "代碼", "函数", "编程", "报错", "コード", "関数", "バグ", "プログラム", "코드", "함수", "버그",
    ]),
    (TaskCategory::Scheduling, &[
        "remind", "reminder*", "schedule*", "appointment*", "calendar", "meeting*", "deadline*", "due", "agenda",
        "reschedule*", "postpone*", "what's on", "when is", "at what time", "alarm", "free slot", "to-do", "todo",
        "erinner*", "termin", "termine", "terminen", "kalender", "verschieb*", "wann ist", "frist", "wecker",
        "rappelle-moi", "rappelle moi", "rendez-vous", "calendrier", "échéance", "recuérdame", "cita", "calendario",
        "recordatorio*", "ricordami", "appuntament*", "promemoria", "scadenza", "lembre-me", "compromisso*", "lembrete*",
        "calendário", "herinner me", "afspraak", "przypomnij", "spotkanie", "kalendarz", "напомни*", "встреч*", "календар*",
        "提醒", "日程", "会议", "會議", "预约", "預約", "日历", "リマインド", "予定", "会議", "予約", "締め切り", "알려줘", "일정", "회의", "약속",
    ]),
    (TaskCategory::System, &[
        "vault-agent", "daemon", "your settings", "your memory", "your model", "which model", "what model",
        "are you running", "who are you", "what can you do", "disk space", "free memory", "cpu", "uptime", "restart", "reboot",
        "this machine", "this computer", "log file*", "version are you", "deine einstellungen", "welches modell", "wer bist du",
        "was kannst du", "speicherplatz", "neu starten", "neustart", "dieser rechner", "quel modèle", "qui es-tu", "redémarr*",
        "espace disque", "qué modelo", "quién eres", "reinici*", "quale modello", "chi sei", "riavvi*", "qual modelo",
        "quem é você", "welk model", "wie ben je", "jaki model", "kim jesteś", "какая модель", "кто ты", "перезапус*",
        "你是谁", "你是誰", "什么模型", "重启", "あなたは誰", "再起動", "너는 누구", "재시작",
    ]),
    (TaskCategory::Creative, &[
        "poem", "poetry", "haiku", "limerick", "story", "short story", "lyrics", "song", "novel", "slogan*", "brainstorm*",
        "imagine", "invent", "write me", "write a", "draft", "toast for", "speech for", "birthday card", "name ideas", "rhyme*",
        "gedicht*", "geschichte", "liedtext", "erfinde", "schreib mir", "schreibe", "entwurf", "ideen für", "poème", "histoire",
        "chanson", "invente", "écris", "rédige", "poema", "cuento", "canción", "inventa", "escribe", "poesia", "storia", "canzone",
        "scrivi", "escreva", "história", "canção", "gedichtje", "verhaal", "schrijf", "wiersz", "opowiadanie", "napisz", "стих*",
        "рассказ", "сказк*", "придумай", "напиши", "诗", "詩", "故事", "歌词", "写一", "物語", "歌詞", "書いて", "시를", "이야기", "써줘",
    ]),
    (TaskCategory::Analysis, &[
        "analyse", "analyze", "analysis", "compare", "comparison", "explain", "why", "pros and cons", "difference between",
        "summari*", "calculate", "how much", "how many", "evaluate", "trade-off*", "tradeoff*", "estimate", "statistics",
        "analysiere", "vergleich*", "erkläre", "erklär", "warum", "wieso", "unterschied", "fasse", "berechne", "wie viel*", "bewerte",
        "analyser", "compare", "explique", "pourquoi", "différence", "résume", "calcule", "combien", "analiza", "compara", "explica",
        "por qué", "diferencia", "resume", "calcula", "cuánto*", "analizza", "confronta", "spiega", "perché", "differenza", "riassumi",
        "quanto", "analise", "por que", "diferença", "resuma", "vergelijk", "leg uit", "waarom", "verschil", "samenvat*", "bereken",
        "porównaj", "wyjaśnij", "dlaczego", "różnica", "oblicz", "сравни", "объясни", "почему", "разниц*", "посчитай", "сколько",
        "分析", "比较", "比較", "为什么", "為什麼", "区别", "总结", "計算", "计算", "なぜ", "違い", "説明して", "要約", "왜", "비교", "설명", "차이", "계산",
    ]),
];

/// The category of a text, if its words show one.
pub fn of(text: &str) -> Option<TaskCategory> {
    let head: String = text.chars().take(HEAD).collect::<String>().to_lowercase();
    // A fence means code, whatever surrounds it.
    if head.contains("```") {
        return Some(TaskCategory::Code);
    }
    let plain = plain(&head);
    let mut best = (0, None);
    for (category, words) in WORDS {
        let count = words.iter().filter(|word| holds(&plain, word)).count();
        if count > best.0 {
            best = (count, Some(category));
        }
    }
    best.1
}

/// Words with one space around each; a hyphen or an apostrophe within a word stays.
fn plain(text: &str) -> String {
    let mut out = String::from(" ");
    for c in text.chars() {
        match c {
            '’' => out.push('\''),
            c if c.is_alphanumeric() || "'-_".contains(c) => out.push(c),
            _ if !out.ends_with(' ') => out.push(' '),
            _ => {}
        }
    }
    out.push(' ');
    out
}

fn holds(plain: &str, word: &str) -> bool {
    // Scripts without spaces have no word boundaries.
    if word
        .chars()
        .any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
    {
        return plain.contains(word);
    }
    let (word, open) = word.strip_suffix('*').map_or((word, false), |stem| (stem, true));
    plain
        .match_indices(word)
        .any(|(at, _)| plain[..at].ends_with(' ') && (open || plain[at + word.len()..].starts_with(' ')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_tell_the_kind() {
        for (text, category) in [
            ("Why does my Rust code panic in this function?", Some(TaskCategory::Code)),
            ("look:\n```\nx\n```\nwhy?", Some(TaskCategory::Code)),
            ("Remind me about the dentist appointment", Some(TaskCategory::Scheduling)),
            ("Erinnere mich an den Termin", Some(TaskCategory::Scheduling)),
            ("Wer bist du, und welches Modell?", Some(TaskCategory::System)),
            ("Write me a poem about autumn", Some(TaskCategory::Creative)),
            ("Écris un poème", Some(TaskCategory::Creative)),
            ("Explain the difference between an IRA and a 401k", Some(TaskCategory::Analysis)),
            ("为什么天空是蓝色的", Some(TaskCategory::Analysis)),
            ("明日の会議の予定", Some(TaskCategory::Scheduling)),
            ("сравни два тарифа", Some(TaskCategory::Analysis)),
            ("I had soup today", None),
            ("what about the barcode or the rusty gate", None),
            ("", None),
            ("??", None),
        ] {
            assert_eq!(of(text), category, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_decided(text in "\\PC{0,300}|(code |why |诗|-|'){0,20}") {
            let _ = of(&text);
        }
    }
}
