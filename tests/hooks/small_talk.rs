//! Prompts that get nothing, and prompts that do: by their words alone.

use vault_agent::hooks::recall_gate::{RecallDecision, gate};

/// Greetings and confirmations, by language.
const SMALL_TALK: &str = "\
en: hi | Hello there! | hey Claude 👋 | Good morning. | yes | OK | ok, thanks! | Yes, please go ahead.
en: sounds good | LGTM | continue | do it | no thanks | perfect, thank you so much
de: Hallo | Guten Morgen! | Moin | ja | Ja, bitte. | alles klar, danke | weiter
fr: Bonjour | Salut, ça va ? | oui | d'accord, merci | vas-y
es: ¡Hola! ¿Qué tal? | Buenos días | sí, por favor | vale, gracias
it: Ciao | Buongiorno! | va bene, grazie
pt: Olá, tudo bem? | Bom dia | sim | obrigado!
nl: Goedemorgen | ja, graag | prima, dank je wel
sv: Hej | God morgon | tack så mycket
pl: Cześć | Dzień dobry | dziękuję
cs: Ahoj
ru: Привет! | Доброе утро | да, спасибо | продолжай
uk: Привіт | так, дякую
tr: Merhaba | Günaydın | tamam, teşekkürler
el: Γεια σου | ναι, ευχαριστώ
ar: مرحبا | السلام عليكم | نعم شكرا
he: שלום | כן, תודה
hi: नमस्ते | हाँ, धन्यवाद
vi: xin chào | vâng, cảm ơn
id: selamat pagi | ya, terima kasih
zh: 你好 | 早上好！ | 好的，谢谢 | 继续
ja: こんにちは | おはようございます。 | はい、お願いします | ありがとうございます！
ko: 안녕하세요 | 네, 감사합니다
th: สวัสดีครับ | ครับ ขอบคุณครับ
";

/// Questions, requests and words about memory, by language.
const WORTH_A_LOOK: &str = "\
en: hello, can you look at the garden plan again and order oaks | When is Anna's birthday? | who is Rex
en: /etc/hosts on the laptop is wrong | Refactor the reminder parser so that it keeps comments | remember?
en: as before | my name | last time
de: Wann ist der Zahnarzt? | wo wohnt Anna | Erinnerst du dich? | wie besprochen
fr: Où est la clé ? | tu te souviens
es: ¿Dónde vive Ana? | te acuerdas
it: Dov'è la chiave di casa? | ti ricordi
pt: Onde mora a Ana? | você lembra
ru: Где ключи от дачи? | помнишь
zh: 钥匙在哪里 | 安娜的生日是什么时候？ | 记得吗 | 上次
ja: アンナの誕生日はいつ？ | 前回 | 覚えてる
ko: 안나의 생일은 언제야? | 기억나
nl: weet je nog
sv: minns du
tr: hatırla
el: θυμάσαι
ar: تذكر
";

/// Every prompt of a table is decided so.
fn decides(table: &str, decision: RecallDecision) {
    for (language, prompts) in table.lines().map(|line| line.split_once(": ").unwrap()) {
        for prompt in prompts.split(" | ") {
            assert_eq!(gate(prompt), decision, "{language}: {prompt}");
        }
    }
}

#[test]
fn greetings_and_confirmations_get_nothing_in_any_language() {
    decides(SMALL_TALK, RecallDecision::SmallTalk);
}

#[test]
fn questions_requests_and_words_about_memory_get_through() {
    decides(WORTH_A_LOOK, RecallDecision::Open);
}

#[test]
fn commands_and_signs_get_nothing() {
    let commands = "host: /clear | /compact focus on tests\n\
                    shell: !ls -la | git status | cargo test --all | npm run build | cd .. | pwd | $ make";
    decides(commands, RecallDecision::Command);
    for text in ["👍", "🎉🎉🎉", "...", "!!!", "?", "❤️ 😀", "—"] {
        assert_ne!(gate(text), RecallDecision::Open, "{text}");
    }
    for text in ["", "   ", "\n\t"] {
        assert_eq!(gate(text), RecallDecision::Empty);
    }
    for text in ["fix the tests", "run it", "add docs", "测试一下"] {
        assert_eq!(gate(text), RecallDecision::Short, "{text}");
    }
}
