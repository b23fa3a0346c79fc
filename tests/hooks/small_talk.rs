//! Prompts that get nothing, and prompts that do: by their words alone.

use vault_agent::hooks::recall_gate::{NoRecallReason, RecallDecision, gate};

#[test]
fn greetings_get_nothing_in_any_language() {
    for text in [
        "hi",
        "Hello there!",
        "hey Claude 👋",
        "Good morning.",
        "Hallo",
        "Guten Morgen!",
        "Moin",
        "Bonjour",
        "Salut, ça va ?",
        "¡Hola! ¿Qué tal?",
        "Buenos días",
        "Ciao",
        "Buongiorno!",
        "Olá, tudo bem?",
        "Bom dia",
        "Goedemorgen",
        "Hej",
        "God morgon",
        "Cześć",
        "Dzień dobry",
        "Ahoj",
        "Привет!",
        "Доброе утро",
        "Привіт",
        "Merhaba",
        "Günaydın",
        "Γεια σου",
        "مرحبا",
        "السلام عليكم",
        "שלום",
        "नमस्ते",
        "xin chào",
        "selamat pagi",
        "你好",
        "早上好！",
        "こんにちは",
        "おはようございます。",
        "안녕하세요",
        "สวัสดีครับ",
    ] {
        assert_eq!(gate(text), RecallDecision::Shut(NoRecallReason::SmallTalk), "{text}");
    }
}

#[test]
fn confirmations_get_nothing_in_any_language() {
    for text in [
        "yes",
        "OK",
        "ok, thanks!",
        "Yes, please go ahead.",
        "sounds good",
        "LGTM",
        "continue",
        "do it",
        "no thanks",
        "perfect, thank you so much",
        "ja",
        "Ja, bitte.",
        "alles klar, danke",
        "weiter",
        "oui",
        "d'accord, merci",
        "vas-y",
        "sí, por favor",
        "vale, gracias",
        "va bene, grazie",
        "sim",
        "obrigado!",
        "ja, graag",
        "prima, dank je wel",
        "tack så mycket",
        "dziękuję",
        "да, спасибо",
        "продолжай",
        "так, дякую",
        "tamam, teşekkürler",
        "ναι, ευχαριστώ",
        "نعم شكرا",
        "כן, תודה",
        "हाँ, धन्यवाद",
        "vâng, cảm ơn",
        "ya, terima kasih",
        "好的，谢谢",
        "继续",
        "はい、お願いします",
        "ありがとうございます！",
        "네, 감사합니다",
        "ครับ ขอบคุณครับ",
    ] {
        assert_eq!(gate(text), RecallDecision::Shut(NoRecallReason::SmallTalk), "{text}");
    }
}

#[test]
fn commands_and_signs_get_nothing() {
    for text in [
        "/clear",
        "/compact focus on tests",
        "!ls -la",
        "git status",
        "cargo test --all",
        "npm run build",
        "cd ..",
        "pwd",
        "$ make",
    ] {
        assert_eq!(gate(text), RecallDecision::Shut(NoRecallReason::Command), "{text}");
    }
    for text in ["👍", "🎉🎉🎉", "...", "!!!", "?", "❤️ 😀", "—"] {
        assert!(matches!(gate(text), RecallDecision::Shut(_)), "{text}");
    }
    for text in ["", "   ", "\n\t"] {
        assert_eq!(gate(text), RecallDecision::Shut(NoRecallReason::Empty));
    }
    for text in ["fix the tests", "run it", "add docs", "测试一下"] {
        assert_eq!(gate(text), RecallDecision::Shut(NoRecallReason::Short), "{text}");
    }
}

#[test]
fn questions_and_requests_get_through() {
    for text in [
        "When is Anna's birthday?",
        "who is Rex",
        "Refactor the reminder parser so that it keeps comments",
        "Wann ist der Zahnarzt?",
        "wo wohnt Anna",
        "Où est la clé ?",
        "¿Dónde vive Ana?",
        "Dov'è la chiave di casa?",
        "Onde mora a Ana?",
        "Где ключи от дачи?",
        "钥匙在哪里",
        "安娜的生日是什么时候？",
        "アンナの誕生日はいつ？",
        "안나의 생일은 언제야?",
        "/etc/hosts on the laptop is wrong",
        "hello, can you look at the garden plan again and order oaks",
    ] {
        assert_eq!(gate(text), RecallDecision::Open, "{text}");
    }
}

#[test]
fn words_about_memory_force_a_look() {
    for text in [
        "remember?",
        "as before",
        "my name",
        "last time",
        "Erinnerst du dich?",
        "wie besprochen",
        "tu te souviens",
        "te acuerdas",
        "ti ricordi",
        "você lembra",
        "weet je nog",
        "minns du",
        "помнишь",
        "hatırla",
        "θυμάσαι",
        "تذكر",
        "记得吗",
        "上次",
        "前回",
        "覚えてる",
        "기억나",
    ] {
        assert_eq!(gate(text), RecallDecision::Open, "{text}");
    }
}
