//! Lists the words by which prompts and answers are classified, in the languages that people write in.
//!
//! All in lower case, without signs. A `*` at the end lets a word go on. Each table is one kind of words;
//! languages follow each other in it: English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish
//! and Danish, Polish and Czech, Russian and Ukrainian, Turkish, Greek, Arabic, Hebrew, Hindi, Vietnamese and
//! Indonesian, Chinese, Japanese, Korean, Thai.

/// A prompt with one of these asks for something that was said before.
#[rustfmt::skip]
pub const FORCING: &[&str] = &[
    "remember", "remembered", "recall", "do you know my", "did i tell you", "did i say", "did i mention",
    "i told you", "i mentioned", "last time", "previously", "as before", "like before", "we discussed",
    "we talked about", "we decided", "my name", "my birthday", "my preference*", "my favourite",
    "my favorite", "remind me what", "what did i", "what did we", "when did i", "when did we",
    "where did we", "how did we", "from memory", "erinner*", "weißt du noch", "letztes mal",
    "beim letzten mal", "habe ich dir", "hatte ich gesagt", "haben wir besprochen", "mein name",
    "mein geburtstag", "wie besprochen", "souviens", "souvenez", "rappelle*", "la dernière fois",
    "je t'ai dit", "je vous ai dit", "mon nom", "mon anniversaire", "recuerda*", "acuérdate", "te acuerdas",
    "la última vez", "te dije", "mi nombre", "mi cumpleaños", "ricord*", "l'ultima volta", "ti ho detto",
    "il mio nome", "il mio compleanno", "lembra*", "lembre*", "da última vez", "eu te disse", "meu nome",
    "meu aniversário", "herinner*", "weet je nog", "de vorige keer", "mijn naam", "mijn verjaardag",
    "minns du", "kommer du ihåg", "förra gången", "mitt namn", "husker du", "sidste gang", "forrige gang",
    "muistatko", "viimeksi", "pamiętasz", "pamiętaj", "ostatnim razem", "moje imię", "pamatuješ",
    "vzpomínáš", "minule", "emlékszel", "помнишь", "помните", "вспомни", "в прошлый раз", "я говорил*",
    "моё имя", "меня зовут", "пам'ятаєш", "минулого разу", "hatırl*", "geçen sefer", "benim adım",
    "doğum günüm", "θυμάσαι", "την προηγούμενη φορά", "το όνομά μου", "تذكر", "هل تتذكر", "المرة السابقة",
    "اسمي", "זוכר", "זוכרת", "בפעם הקודמת", "याद", "पिछली बार", "मेरा नाम", "nhớ không", "lần trước",
    "tên tôi", "ingat", "terakhir kali", "nama saya", "记得", "記得", "记住", "記住", "上次", "之前说", "之前說", "我说过",
    "我說過", "我的名字", "我的生日", "回忆", "回憶", "覚えて", "前回", "この前", "言ったよね", "私の名前", "思い出", "기억", "지난번", "내 이름",
    "말했잖아", "จำได้", "ครั้งที่แล้ว", "ชื่อของฉัน",
];

/// Hello and goodbye.
#[rustfmt::skip]
pub const GREETINGS: &[&str] = &[
    "hi", "hello", "hey", "hiya", "heya", "howdy", "yo", "sup", "what's up", "whats up", "good morning",
    "good afternoon", "good evening", "good night", "morning", "evening", "bye", "goodbye", "see you",
    "see ya", "see you later", "see you tomorrow", "later", "cheers", "there", "claude", "everyone",
    "again", "how are you", "how are you doing", "how's it going", "are you there", "ping", "hallo",
    "guten morgen", "guten tag", "guten abend", "gute nacht", "moin", "servus", "grüezi", "grüß gott",
    "tschüss", "tschüß", "bis später", "bis morgen", "wie geht's", "wie geht es dir", "bonjour", "bonsoir",
    "salut", "coucou", "bonne nuit", "au revoir", "à bientôt", "à demain", "ça va", "comment ça va", "hola",
    "buenos días", "buenas tardes", "buenas noches", "buenas", "adiós", "hasta luego", "hasta mañana",
    "qué tal", "cómo estás", "ciao", "buongiorno", "buonasera", "buonanotte", "salve", "arrivederci",
    "a domani", "come stai", "come va", "olá", "oi", "bom dia", "boa tarde", "boa noite", "tchau",
    "até logo", "até amanhã", "tudo bem", "como vai", "hoi", "goedemorgen", "goedemiddag", "goedenavond",
    "goedenacht", "doei", "tot ziens", "tot morgen", "hoe gaat het", "hej", "hejsan", "god morgon",
    "god kväll", "hej då", "hallå", "god morgen", "god dag", "goddag", "farvel", "moi", "hei", "terve",
    "huomenta", "cześć", "dzień dobry", "dobry wieczór", "dobranoc", "do widzenia", "ahoj", "dobrý den",
    "dobré ráno", "nashledanou", "szia", "jó napot", "jó reggelt", "привет", "здравствуй", "здравствуйте",
    "доброе утро", "добрый день", "добрый вечер", "спокойной ночи", "пока", "до свидания", "как дела",
    "привіт", "добрий день", "доброго ранку", "до побачення", "merhaba", "selam", "günaydın", "iyi günler",
    "iyi akşamlar", "iyi geceler", "hoşça kal", "görüşürüz", "nasılsın", "γεια", "γεια σου", "γεια σας",
    "καλημέρα", "καλησπέρα", "καληνύχτα", "αντίο", "مرحبا", "السلام عليكم", "أهلا", "صباح الخير",
    "مساء الخير", "مع السلامة", "شلوم", "שלום", "היי", "בוקר טוב", "ערב טוב", "להתראות", "नमस्ते",
    "नमस्कार", "सुप्रभात", "हाय", "हेलो", "xin chào", "chào", "chào bạn", "tạm biệt", "halo",
    "selamat pagi", "selamat siang", "selamat malam", "sampai jumpa", "你好", "您好", "嗨", "哈喽", "早上好", "早安",
    "下午好", "晚上好", "晚安", "再见", "再見", "拜拜", "こんにちは", "こんばんは", "おはよう", "おはようございます", "おやすみ", "おやすみなさい", "さようなら",
    "またね", "やあ", "もしもし", "안녕", "안녕하세요", "안녕히 가세요", "좋은 아침", "잘 자", "สวัสดี", "สวัสดีครับ", "สวัสดีค่ะ",
    "หวัดดี", "ลาก่อน",
];

/// Yes, no, thanks, go on.
#[rustfmt::skip]
pub const CONFIRMATIONS: &[&str] = &[
    "yes", "yeah", "yep", "yup", "ya", "y", "no", "nope", "nah", "n", "ok", "okay", "okey", "k", "kk",
    "sure", "of course", "fine", "right", "correct", "exactly", "agreed", "true", "please", "please do",
    "thanks", "thank you", "thank you so much", "thanks a lot", "thx", "ty", "great", "good", "nice",
    "cool", "perfect", "awesome", "excellent", "wonderful", "amazing", "lovely", "brilliant", "well done",
    "good job", "nice work", "great work", "great job", "looks good", "look good", "looks good to me",
    "lgtm", "sounds good", "got it", "i see", "understood", "makes sense", "done", "go", "go on",
    "go ahead", "go for it", "do it", "do that", "let's go", "let's do it", "lets go", "continue",
    "proceed", "carry on", "keep going", "next", "next one", "more", "again", "try again", "retry", "stop",
    "wait", "cancel", "never mind", "nevermind", "no thanks", "no problem", "not now", "not yet", "maybe",
    "hm", "hmm", "ah", "oh", "wow", "lol", "haha", "that works", "it works", "that's it", "thats it",
    "that's all", "that is all", "that's fine", "all good", "very", "so", "much", "a lot", "and", "then",
    "now", "it", "that", "this", "yes please", "as you like", "up to you", "approved", "accept",
    "confirmed", "heartbeat", "ja", "jawohl", "jo", "jep", "nein", "nö", "gut", "sehr gut", "genau",
    "richtig", "stimmt", "klar", "alles klar", "natürlich", "gerne", "bitte", "ja bitte", "danke",
    "danke schön", "dankeschön", "vielen dank", "danke sehr", "super", "prima", "toll", "perfekt", "weiter",
    "mach weiter", "mach das", "mach", "los", "passt", "einverstanden", "verstanden", "fertig", "nochmal",
    "okay danke", "stopp", "warte", "schon gut", "in ordnung", "dann", "oui", "ouais", "non", "si",
    "d'accord", "dac", "bien", "très bien", "bien sûr", "merci", "merci beaucoup", "parfait", "génial",
    "super merci", "continue", "vas y", "allez y", "allez", "c'est bon", "c'est ça", "exact", "compris",
    "s'il te plaît", "s'il vous plaît", "encore", "fait", "attends", "stop", "sí", "vale", "claro",
    "claro que sí", "por supuesto", "gracias", "muchas gracias", "perfecto", "genial", "bueno", "muy bien",
    "de acuerdo", "adelante", "sigue", "continúa", "hazlo", "entendido", "listo", "correcto", "por favor",
    "otra vez", "espera", "sì", "certo", "grazie", "grazie mille", "perfetto", "va bene", "bene",
    "molto bene", "d'accordo", "avanti", "vai", "continua", "capito", "fatto", "esatto", "per favore",
    "ancora", "aspetta", "sim", "não", "obrigado", "obrigada", "muito obrigado", "muito obrigada", "certo",
    "perfeito", "ótimo", "tá bom", "está bem", "beleza", "pode ser", "vai em frente", "continue", "entendi",
    "feito", "por favor", "nee", "oké", "prima", "bedankt", "dank je", "dank je wel", "dankjewel", "dank u",
    "graag", "natuurlijk", "ga door", "ga verder", "doe maar", "klopt", "goed", "heel goed", "begrepen",
    "klaar", "japp", "jadå", "nej", "tack", "tack så mycket", "bra", "perfekt", "fortsätt", "kör", "okej",
    "precis", "takk", "tusen takk", "tak", "mange tak", "jep", "fint", "fortsett", "kiitos", "joo", "kyllä",
    "ei", "hyvä", "jatka", "tak", "nie", "dobrze", "dziękuję", "dzięki", "świetnie", "super", "jasne",
    "kontynuuj", "dalej", "rozumiem", "ano", "ne", "díky", "děkuji", "dobře", "pokračuj", "igen", "nem",
    "köszönöm", "köszi", "jó", "folytasd", "да", "нет", "ага", "угу", "хорошо", "ладно", "ок", "окей",
    "спасибо", "большое спасибо", "спасибо большое", "отлично", "супер", "понятно", "понял", "поняла",
    "верно", "точно", "конечно", "давай", "продолжай", "дальше", "готово", "пожалуйста", "так", "ні",
    "добре", "дякую", "гаразд", "продовжуй", "звичайно", "evet", "hayır", "tamam", "peki", "olur", "tabii",
    "teşekkürler", "teşekkür ederim", "sağ ol", "harika", "mükemmel", "devam", "devam et", "anladım",
    "doğru", "ναι", "όχι", "εντάξει", "ευχαριστώ", "ωραία", "τέλεια", "συνέχισε", "παρακαλώ", "نعم", "لا",
    "حسنا", "حسناً", "شكرا", "شكراً", "شكرا جزيلا", "تمام", "ممتاز", "موافق", "استمر", "أجل", "כן", "לא",
    "בסדר", "תודה", "תודה רבה", "מעולה", "תמשיך", "हाँ", "हां", "नहीं", "ठीक है", "ठीक", "धन्यवाद",
    "शुक्रिया", "अच्छा", "बहुत अच्छा", "जारी रखें", "vâng", "dạ", "không", "được", "cảm ơn", "tốt",
    "tiếp tục", "ya", "tidak", "terima kasih", "makasih", "baik", "oke", "lanjut", "lanjutkan", "bagus",
    "是", "是的", "对", "對", "好", "好的", "好吧", "行", "可以", "没问题", "沒問題", "不", "不是", "不用", "谢谢", "謝謝", "谢谢你", "谢了",
    "多谢", "很好", "太好了", "不错", "继续", "繼續", "明白", "明白了", "知道了", "嗯", "了解", "完美", "下一个", "请", "吧", "了", "はい",
    "うん", "ええ", "いいえ", "いや", "了解", "了解です", "わかりました", "分かりました", "わかった", "ありがとう", "ありがとうございます", "どうも", "いいね",
    "いいよ", "大丈夫", "大丈夫です", "続けて", "続けてください", "お願いします", "完璧", "オーケー", "そうです", "そう", "네", "예", "응", "아니",
    "아니요", "아니오", "좋아", "좋아요", "좋습니다", "감사합니다", "고마워", "고마워요", "고맙습니다", "알겠습니다", "알겠어", "계속", "계속해",
    "계속하세요", "완벽해", "그래", "맞아", "맞아요", "오케이", "ใช่", "ไม่", "ไม่ใช่", "ขอบคุณ", "ขอบคุณครับ", "ขอบคุณค่ะ",
    "ครับ", "ค่ะ", "โอเค", "ตกลง", "ดี", "ดีมาก", "ต่อ", "ทำต่อ", "ได้",
];

/// A prompt with one of these asks, with a question mark or without.
#[rustfmt::skip]
pub const QUESTIONS: &[&str] = &[
    "who", "whom", "whose", "what", "what's", "where", "where's", "when", "when's", "why", "which", "how",
    "is there", "are there", "wer", "wen", "wem", "wessen", "was", "wo", "wohin", "woher", "wann", "warum",
    "wieso", "welche*", "wie", "qui", "quoi", "que", "où", "quand", "pourquoi", "comment", "quel*",
    "combien", "quién*", "qué", "dónde", "cuándo", "cómo", "cuál*", "cuánto*", "por qué", "chi", "che cosa",
    "cosa", "dove", "quando", "perché", "come", "quale", "quanto", "quem", "onde", "qual", "quanto*", "wie",
    "wat", "waar", "wanneer", "waarom", "welke", "hoe", "vem", "vad", "var", "när", "varför", "hur",
    "vilken", "hvem", "hvad", "hvor", "hvornår", "hvorfor", "kuka", "mikä", "missä", "milloin", "miksi",
    "kto", "co", "gdzie", "kiedy", "dlaczego", "jak", "jaki*", "kdo", "kde", "kdy", "proč", "ki", "mi",
    "hol", "mikor", "miért", "кто", "что", "где", "куда", "когда", "почему", "зачем", "как", "какой",
    "какая", "какие", "сколько", "хто", "що", "де", "коли", "чому", "як", "kim", "ne", "nerede", "ne zaman",
    "neden", "nasıl", "hangi", "kaç", "ποιος", "ποια", "τι", "πού", "πότε", "γιατί", "πώς", "من", "ما",
    "ماذا", "أين", "متى", "لماذا", "كيف", "מי", "מה", "איפה", "מתי", "למה", "איך", "कौन", "क्या", "कहाँ",
    "कहां", "कब", "क्यों", "कैसे", "ai", "gì", "đâu", "khi nào", "tại sao", "siapa", "apa", "di mana",
    "kapan", "mengapa", "bagaimana", "谁", "誰", "什么", "什麼", "哪", "什么时候", "为什么", "為什麼", "怎么", "怎麼", "多少", "几",
    "吗", "嗎", "誰", "何", "どこ", "いつ", "なぜ", "どう", "どれ", "いくら", "누구", "무엇", "뭐", "어디", "언제", "왜", "어떻게", "ใคร",
    "อะไร", "ที่ไหน", "เมื่อไร", "เมื่อไหร่", "ทำไม", "อย่างไร",
];

/// A text that the host itself puts in a prompt's place begins so.
#[rustfmt::skip]
pub const HOST_MARKS: &[&str] = &[
    "<command-name>", "<command-message>", "<local-command-", "<bash-input>", "<bash-stdout>",
    "<task-notification>", "<system-reminder>", "[Request interrupted", "Caveat: The messages below",
];

/// Programs whose names are no words of a sentence.
#[rustfmt::skip]
pub const PROGRAMS: &[&str] = &[
    "git", "ls", "ll", "cd", "pwd", "npm", "npx", "pnpm", "yarn", "bun", "node", "deno", "cargo", "rustc",
    "rustup", "pip", "pip3", "python", "python3", "pytest", "uv", "docker", "kubectl", "podman", "grep",
    "rg", "sed", "awk", "chmod", "chown", "mkdir", "rm", "rmdir", "mv", "cp", "curl", "wget", "ssh", "scp",
    "rsync", "tar", "unzip", "sudo", "apt", "apt-get", "brew", "systemctl", "journalctl", "gh", "tmux",
    "vim", "nano", "whoami", "htop", "df", "du", "ps", "xargs", "gcc", "clang", "cmake", "mvn", "gradle",
    "terraform", "psql", "sqlite3", "vault-agent", "tsc", "eslint", "jq",
];

/// Programs whose names are words, too: only with signs of a shell beside them.
#[rustfmt::skip]
pub const WORDY_PROGRAMS: &[&str] = &[
    "make", "find", "cat", "kill", "test", "touch", "sort", "head", "tail", "which", "watch", "time", "go",
    "echo", "export", "source", "clear", "exit", "top", "less", "more", "open", "code", "just", "history",
    "date", "env", "set", "man", "help", "ruby", "java", "php", "swift", "nix", "bash", "zsh", "sh",
];
