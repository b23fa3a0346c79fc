//! What an assistant says it has saved.
//!
//! "Saved it" with nothing saved is what users of agent memories complain of. A claim is a sentence in the
//! assistant's own words (no code, no quotation, no question, no offer, no denial) that says that something
//! was remembered, noted or will be reminded of. Rather one claim missed than one invented: in programs,
//! too, things are "stored in memory". Pure; whether a claim is true is for the vault to say.

use super::gate::{holds, plain};
use super::sentences::{asks, one_line, sentences};

/// More claims of one answer are not looked at.
const MOST: usize = 3;

/// Phrases that claim, by language. `…` stands for any words in between.
#[rustfmt::skip]
const CLAIMS: &[&str] = &[
    "i'll remember", "i will remember", "i've remembered", "i have remembered", "i've made a note",
    "i have made a note", "i made a note of", "i've noted that you", "i've noted your",
    "i've noted this for", "i've noted that for", "noted for next time", "noted for future",
    "committed to memory", "saved to memory", "saved that to memory", "saved to your memory",
    "added to your memory", "added to my memory", "memory updated", "updated my memory",
    "updated your memory", "reminder set", "reminder created", "reminder is set", "i've set a reminder",
    "i have set a reminder", "i've created a reminder", "i've added a reminder", "i've set up a reminder",
    "i'll remind you", "i will remind you", "i've pinned", "saved … to memory", "saved … to your memory",
    "saved … to my memory", "saved … to long term memory", "saved … to your vault", "saved … in your vault",
    "saved … to the vault", "saved … in the vault", "saved … to your notes", "saved … in your notes",
    "saved … for future sessions", "saved … for next time", "stored … in your vault",
    "stored … in your memory", "stored … in my memory", "stored … to memory", "recorded … in your vault",
    "recorded … in your memory", "recorded … in my memory", "recorded … in memory md", "added … to memory",
    "added … to your vault", "added … to the vault", "added … to your notes", "added … to your reminders",
    "added … to your commitments", "added … to today's note*", "added … to your daily note*",
    "added … to the daily note*", "added … to memory md", "saved … to memory md", "saved … in memory md",
    "noted … in your vault", "noted … in your daily note*", "noted … in memory md", "noted … in my memory",
    "written … to memory md", "ich merke mir", "ich werde mir … merken", "werde ich mir merken",
    "habe ich mir gemerkt", "ich habe mir … gemerkt", "ist gemerkt", "habe ich notiert",
    "ich habe … notiert", "im gedächtnis gespeichert", "gespeichert … gedächtnis",
    "gedächtnis … gespeichert", "vault … gespeichert", "erinnerung … erstellt", "erinnerung … angelegt",
    "erinnerung … eingerichtet", "erinnerung … gesetzt", "ich erinnere dich", "ich werde dich … erinnern",
    "je m'en souviendrai", "je me souviendrai", "j'ai noté que", "j'ai bien noté", "j'ai mémorisé",
    "j'ai enregistré … mémoire", "enregistré … en mémoire", "j'ai ajouté … rappel", "j'ai créé … rappel",
    "rappel créé", "rappel ajouté", "je te rappellerai", "je vous rappellerai", "lo recordaré",
    "recordaré que", "he guardado … memoria", "guardado … en tu memoria", "guardado en la memoria",
    "lo he anotado", "he anotado que", "lo he apuntado", "recordatorio creado", "he creado … recordatorio",
    "he añadido … recordatorio", "te recordaré", "lo ricorderò", "me lo ricorderò", "ricorderò che",
    "ho salvato … memoria", "ho memorizzato", "ho annotato", "ho preso nota", "promemoria creato",
    "ho creato … promemoria", "ti ricorderò", "vou lembrar que", "vou me lembrar", "lembrarei que",
    "lembrarei disso", "salvei … memória", "guardei … memória", "memorizei", "anotei que", "anotei isso",
    "lembrete criado", "criei … lembrete", "vou te lembrar", "ik onthoud dat", "ik zal … onthouden",
    "dat heb ik onthouden", "ik heb … onthouden", "opgeslagen in … geheugen", "ik heb … genoteerd",
    "herinnering ingesteld", "ik herinner je", "jag kommer att komma ihåg", "jag kommer ihåg det",
    "jag har sparat … minne*", "jag har noterat", "påminnelse skapad", "jeg vil huske", "jeg har noteret",
    "jeg har notert", "jeg har gemt … hukommelse*", "påmindelse oprettet", "påminnelse opprettet",
    "zapamiętałem", "zapamiętałam", "zapamiętam", "zapisałem … pamięci", "zapisałam … pamięci",
    "zanotowałem", "zanotowałam", "przypomnienie … ustawione", "zapamatoval jsem", "zapamatuji si",
    "запомнил", "запомнила", "запомню", "сохранил … памят*", "сохранила … памят*", "сохранено в памяти",
    "записал … заметк*", "записал … памят*", "напоминание … создано", "напоминание … установлено",
    "напоминание … добавлено", "я напомню", "запам'ятав", "запам'ятала", "запам'ятаю", "hatırlayacağım",
    "hafızama kaydettim", "belleğe kaydettim", "hafızaya kaydettim", "not ettim",
    "hatırlatıcı … oluşturdum", "hatırlatıcı kuruldu", "θα το θυμάμαι", "το σημείωσα", "سأتذكر",
    "حفظت … في الذاكرة", "حفظت … في ذاكرتي", "אזכור את זה", "שמרתי … בזיכרון", "याद रखूंगा", "याद रखूँगा",
    "याद रख लिया", "tôi sẽ nhớ", "đã lưu vào bộ nhớ", "saya akan mengingat", "disimpan … memori", "记住了",
    "我会记住", "我會記住", "已记住", "已經記住", "记下了", "记下来了", "保存到记忆", "存入记忆", "保存到記憶", "已设置提醒", "设置了提醒", "已設定提醒",
    "我会提醒你", "覚えておきます", "覚えました", "記憶しました", "メモリに保存しました", "記憶に保存しました", "メモしました", "メモしておきました",
    "リマインダーを設定しました", "リマインダーを作成しました", "기억하겠습니다", "기억해 둘게요", "기억해둘게요", "기억했습니다", "메모리에 저장했습니다", "메모해 두었습니다",
    "알림을 설정했습니다", "จำไว้แล้ว", "บันทึกไว้ในความจำแล้ว",
];

/// Who says one of these in the same sentence claims nothing: denials, conditions, offers, intentions.
#[rustfmt::skip]
const NOT: &[&str] = &[
    "not", "can't", "cannot", "couldn't", "haven't", "hasn't", "didn't", "don't", "won't", "wasn't",
    "isn't", "unable", "failed", "if", "unless", "once you", "would you", "should i", "shall i",
    "want me to", "i can", "i could", "could be", "let me know", "before i", "when i've", "after i've",
    "nicht", "kein*", "wenn du", "wenn sie", "falls", "soll ich", "möchtest", "könnte", "konnte", "pas",
    "si tu", "si vous", "veux tu", "voulez vous", "n'ai", "no", "si quieres", "si quiere", "quieres que",
    "non", "se vuoi", "vuoi che", "não", "se quiser", "quer que", "niet", "als je", "zal ik", "inte",
    "ikke", "om du", "hvis du", "vill du", "vil du", "nie", "jeśli", "czy", "ne", "не", "если", "хочешь",
    "хотите", "якщо", "değil", "ister misin*", "isterseniz", "eğer", "δεν", "αν", "لم", "لن", "إذا", "לא",
    "אם", "नहीं", "अगर", "không", "nếu", "tidak", "jika", "没有", "沒有", "没能", "未能", "无法", "無法", "如果", "要不要",
    "是否", "ません", "ない", "もし", "않", "못", "만약", "ไม่", "ถ้า",
];

/// Those who say one of these mean to do something, or tell how it was.
const OTHER: &[&str] = &["remember to", "remember when", "remember how", "remember why"];

/// The sentences of an answer that claim, each shortened to a line.
pub fn claims(answer: &str) -> Vec<String> {
    let claimed = |sentence: &String| {
        let words = plain(&sentence.to_lowercase());
        !asks(sentence)
            && words.len() < 600
            && !OTHER.iter().any(|phrase| holds(&words, phrase))
            && CLAIMS.iter().any(|phrase| {
                // What denies must stand outside of the claim's own words (Turkish "not ettim").
                in_order(&words, phrase) && {
                    let rest = words.replace(phrase, " ");
                    !NOT.iter().any(|word| holds(&rest, word))
                }
            })
    };
    sentences(answer)
        .iter()
        .filter(|sentence| claimed(sentence))
        .take(MOST)
        .map(|s| one_line(s, 200))
        .collect()
}

/// Whether the parts of a phrase stand in `words`, one after the other.
pub(super) fn in_order(words: &str, phrase: &str) -> bool {
    let mut rest = words;
    for part in phrase.split(" … ") {
        if !holds(rest, part) {
            return false;
        }
        let part = part.trim_end_matches('*');
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_in_many_languages() {
        for text in [
            "Got it! I've saved that to your memory.",
            "I'll remember that you prefer tabs.",
            "Done. I've added the dentist to your reminders.",
            "Saved this to MEMORY.md under Preferences.",
            "Alles klar, das habe ich mir gemerkt.",
            "Ich habe das in deinem Vault gespeichert.",
            "C'est fait, j'ai noté que vous préférez le thé.",
            "De acuerdo, lo recordaré.",
            "Perfetto, ho memorizzato la tua preferenza.",
            "Certo, anotei isso para a próxima vez.",
            "Ik heb je voorkeur onthouden.",
            "Хорошо, я запомнил.",
            "Zapamiętałem Twoje preferencje.",
            "好的，我记住了。",
            "承知しました。覚えておきます。",
            "네, 기억하겠습니다.",
            "Tamam, not ettim.",
        ] {
            assert_eq!(claims(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn what_claims_nothing() {
        for text in [
            "I've saved the file and the tests pass.",
            "The tree is stored in memory and freed at the end.",
            "I've added an LRU cache to keep pages in memory.",
            "I haven't saved that to memory.",
            "Would you like me to save this to your vault?",
            "If you want, I'll remember that.",
            "I'll remember to run the tests.",
            "The tool says \"I've saved that to your memory\" here.",
            "> I've saved that to your memory.",
            "```\nI've saved that to your memory.\n```",
            "Das habe ich mir nicht gemerkt.",
            "我没有记住了这个。",
            "覚えておきますか。",
            "",
        ] {
            assert_eq!(claims(text), Vec::<String>::new(), "{text}");
        }
    }
}
