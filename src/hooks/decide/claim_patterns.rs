//! Lists the patterns and words that tell an assistant's claim to have saved something from talk about work.
//!
//! A pattern is elements with spaces between: `a|b` is one of several words, `a_b` several words in a row, `?`
//! at an element's end makes it optional, `*` at a word's end lets it go on, `%NAME` is a list of [`LISTS`],
//! `…` up to ten words, `^` a clause's beginning, `.` its end, `$` a place where a noun has ended. Words are
//! lower case, English short forms are written out, adverbs that change nothing are gone (`from_on` is "from
//! now on"), and code is `§`.

/// Which signs of code, beside a pattern, make a sentence one about work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeSigns {
    /// None: the pattern says enough.
    Sure,
    /// Code as the place that something went to ("to `prefs.json`", "in the table").
    Place,
    /// As `Place`, and a time must be named.
    Timed,
    /// Any sign of code.
    Any,
    /// As `Any`, and nothing else may have been meant: nothing was written in the turn.
    Alone,
    /// As `Any`, and it is a claim only where the user asked to have something kept.
    Asked,
}

/// Lists that patterns name.
#[rustfmt::skip]
pub(super) const LISTS: &[(&str, &str)] = &[
    ("SAVED", "saved|stored|recorded|noted|logged|added|put|written|wrote|jotted|filed|kept|captured|persisted|committed|appended|entered|tracked|registered|pinned|placed|tucked|remembered|memorized|memorised|updated|included|created|made|preserved|taken_note_of|took_note_of|made_a_note_of|made_note_of|a_note_of|set"),
    ("SAVE", "save|store|record|note|log|add|put|write|jot|file|keep|capture|persist|commit|append|pin|make_a_note_of|make_note_of|keep_a_note_of"),
    ("KEPT", "saved|stored|recorded|noted|remembered|memorized|memorised|logged|kept|captured|persisted|filed|written_down|jotted_down|preserved|committed|pinned|added"),
    ("THAT", "that|this|it|them|both|everything|all|your|these|those|you|down|each"),
    ("INTO", "to|in|into|on|under|within|with|inside|part_of"),
    ("OWN", "your|my|our|your_long_term|your_obsidian|my_long_term|your_personal|my_persistent|your_persistent|your_agent|your_agent's|your_pinned"),
    ("NOTES", "memory|memories|vault|notes|reminders|reminder_list|commitments|commitments_list|commitment_list|follow_ups|followups|daily_note|daily_notes|journal|pins|memory_file|memory_bank|memory_store|memory_notes|memory_vault|reminders_list|vault_memory|notes_list|profile|vault_notes|note_vault|pinned_notes|pinned_note|pinned_memories"),
    ("SHELF", "long_term_memory|longterm_memory|persistent_memory|permanent_memory|the_vault|the_obsidian_vault|memory.md|today's_note|today's_daily_note|the_daily_note|the_day's_note|today's_journal|your_profile_in_memory|the_agent_memory|what_i_remember|what_i_know_about_you|vault_memory|the_reminders_list|the_reminder_list|your_memory.md|my_memory.md|the_memory.md|that_memory.md"),
    ("MINE", "preference|preferences|birthday|birthdays|name|names|address|phone|phone_number|number|email_address|job|allergy|allergies|restriction|restrictions|favourite*|favorite*|schedule|time_zone|timezone|details|appointment|flight|anniversary|size|diet|habits|habit|likes|dislikes|interests|contact|contacts|plans|goals|goal|info|information|location|family|dog|cat|pet|routine|order|hobby|hobbies|choice|decision|wish|wishes|instructions|instruction|taste|tastes|answer|doctor|dentist|partner|wife|husband|daughter|son|mother|father|sister|brother|passport|pronouns|nickname|vorliebe*|adresse|geburtstag*|name*|wunsch|wünsche|präferenz*|telefonnummer|allergie*|termin*|préférence*|anniversaire|adresse|nom|allergie*|rendez_vous|preferencia*|cumpleaños|nombre|dirección|alergia*|cita|preferenza|preferenze|compleanno|indirizzo|nome|preferência*|aniversário|endereço|voorkeur*|verjaardag|naam|adres"),
    ("BARE", "saved|stored|recorded|remembered|memorized|memorised"),
    ("FACT", "prefer|like|love|hate|dislike|want|take|live|work|are|have|drink|eat|enjoy|need|speak|always|never|usually|moved|play|study|own|avoid|would_rather|do_not|were_born|favour|favor|go|can_not|cannot|'re"),
    ("LATER", "for_next_time|next_time|for_the_next_time|for_the_future|for_future_reference|for_future_sessions|for_future_conversations|for_future_chats|for_future_interactions|for_our_next_*|for_our_future_*|for_later_sessions|in_future_sessions|in_future_conversations|in_future_chats|in_the_future|across_sessions|across_conversations|from_on|going_forward|moving_forward|so_i_can_recall|so_i_know|so_i_will_know|so_i_remember|so_i_can_remember|so_that_i_do_not_have_to_ask|so_i_do_not_have_to_ask|so_i_will_remember|so_that_i_remember|so_that_i_can_recall|so_that_i_will|in_our_next_*|in_the_next_conversation|in_the_next_session|in_later_sessions|for_next_session|for_the_next_session|for_the_next_conversation"),
    ("DONE", "set|created|scheduled|added|saved|in_place|active|all_set|confirmed|updated|set_up|booked|recorded|on"),
    ("SETS", "set|created|scheduled|added|made|put|saved|got|placed|set_up|put_in|have|registered|recorded|booked|queued"),
    ("SAVING", "saving|storing|adding|noting|recording|writing"),
    ("FACTS", "preference|preferences|fact|facts|detail|details|information|info|one"),
    ("NOTED", "noted|recorded|remembered|saved|stored"),
    ("ITS", "reminder|reminders|follow_up|follow_ups|alarm|commitment|commitments"),
    ("LEGT", "gespeichert|abgelegt|hinterlegt|notiert|eingetragen|hinzugefügt|geschrieben|festgehalten|vermerkt|aufgenommen|gemerkt|abgespeichert|gesichert|verewigt|aufgeschrieben|ergänzt"),
    ("ORT", "gedächtnis|langzeitgedächtnis|deinem_vault|ihrem_vault|deinen_vault|im_vault|den_vault|memory.md|tagesnotiz|tagesnotizen|deinen_notizen|ihren_notizen|deine_notizen|ihre_notizen|deinen_erinnerungen|deine_erinnerungen|ihren_erinnerungen|ihre_erinnerungen|meinen_notizen|meine_notizen|deinem_tresor|deinem_tagebuch|deine_aufgaben|deinen_wiedervorlagen"),
    ("LIEU", "votre_mémoire|ta_mémoire|ma_mémoire|la_mémoire|mémoire_à_long_terme|mémoire_persistante|votre_coffre|ton_coffre|le_coffre|votre_vault|ton_vault|le_vault|vos_notes|tes_notes|mes_notes|vos_rappels|tes_rappels|memory.md|la_note_du_jour|votre_note_du_jour|ta_note_du_jour|vos_engagements|votre_journal|ton_journal"),
    ("LUGAR", "tu_memoria|su_memoria|mi_memoria|la_memoria|memoria_a_largo_plazo|memoria_persistente|tu_bóveda|su_bóveda|la_bóveda|tu_vault|su_vault|el_vault|tus_notas|sus_notas|mis_notas|tus_recordatorios|sus_recordatorios|memory.md|tu_nota_diaria|la_nota_diaria|la_nota_de_hoy|tu_diario|tus_compromisos"),
    ("LUOGO", "tua_memoria|mia_memoria|sua_memoria|la_memoria|in_memoria|nella_memoria|memoria_a_lungo_termine|tuo_vault|tue_note|tuoi_promemoria|tuoi_appunti|memory.md|sua_memória|tua_memória|minha_memória|na_memória|memória_de_longo_prazo|seu_vault|suas_notas|seus_lembretes|tuas_notas|teu_vault"),
];

/// English: what was done or is promised, and a place of the person's, a fact about them, or a reminder. The first that
/// fits decides nothing for the others: a sentence claims if any does.
#[rustfmt::skip]
pub(super) const PATTERNS: &[(CodeSigns, &[&str])] = &[
    (CodeSigns::Sure, &[
        "i will always? remember that|this|it|these|those|everything|both? .",
        "i will always? remember all? of? %THAT %LATER", "i have? %SAVED %THAT … %INTO %OWN … %NOTES $",
        "i have? %SAVED %THAT … %INTO %SHELF $",
        "i have? %SAVED … %INTO your|the|today's daily_note|daily_notes|journal $",
        "i have? %SAVED %THAT … as a|an long_term? memory|pinned_memory|reminder|commitment|follow_up $",
    ]),
    (CodeSigns::Place, &[
        "i will always? remember that? you|your|how|when|where", "i will always? remember … %MINE",
        "i will always? remember … prefers|likes|loves|hates|lives|dislikes", "i will always? remember … %LATER",
        "i have? remember|memorized that|this|it|your|you", "%KEPT … your … %MINE", "%KEPT down? that? you %FACT",
        "note down? that|about|of you|your|we|our", "a note | you", "your … %MINE is|are|has|have been? %KEPT $",
        "i … %KEPT %THAT … %LATER", "^ %KEPT %THAT? … %LATER", "%THAT … %KEPT … %LATER",
        "keep %THAT in_mind|noted %LATER",
    ]),
    (CodeSigns::Timed, &[
        "i will remind|ping|nudge|notify|message you",
        "i will follow_up|check_in_with_you|check_in_on|check_back|circle_back|get_back_to_you|bring_that_up|bring_this_up|bring_it_up",
        "you will be reminded|pinged|nudged|notified",
        "you will get|receive|have|see … reminder|nudge|ping|notification $",
        "i have? %SETS a|an|the|your|that|another|you_a|two|both … %ITS $", "%ITS … is|are|has|have|was been? %DONE",
        "^ %ITS %DONE",
    ]),
    (CodeSigns::Any, &[
        "%SAVED … %INTO %OWN … %NOTES $", "%SAVED … %INTO %SHELF $", "i … %SAVED … to memory $",
        "i … %KEPT … in|into memory $", "^ %KEPT … to memory $", "and %KEPT … to memory $",
        "%THAT|%MINE|%FACTS … %KEPT … to memory $",
        "%THAT|%MINE|%FACTS is|are|has|have been? %NOTED in|into memory .", "your … %KEPT … to|in|into memory $",
        "i will|am? %SAVE|%SAVING … %INTO %OWN … %NOTES $", "i will|am? %SAVE|%SAVING … %INTO %SHELF $",
        "i will|am? %SAVE|%SAVING %THAT … to memory $", "^ %SAVING %THAT? … to memory $",
        "%THAT|%MINE|%FACTS … is|are %INTO %OWN … %NOTES $", "%THAT|%FACTS is|are %INTO %SHELF $",
        "updated|refreshed|amended|edited my|your? long_term? memory|memories|memory_file|memory.md $",
        "updated the vault|memory with your|that|this", "your memory has|is been? updated|refreshed",
        "^ new? memory|fact|preference entry? updated|created|added|saved|stored|recorded",
        "i will always? remember that|this|it|these|everything|both|all", "i will always? remember .",
        "i will not forget that|this|it|you|your|about_it", "i have? remembered|memorized|memorised",
        "^ remembered .", "count on me to remember", "consider it|that|this %KEPT", "%NOTED … that you|your|we",
        "i have? noted|written|jotted down that", "%KEPT *'s … %MINE", "i … note of that|this|it $",
        "i have? %KEPT … %FACTS $", "keep %THAT in_my|in_your memory|vault|notes",
        "have got? it|that|this noted|saved|stored|on_file|down_for_you|in_your|in_my",
        "a|new|two|three|some long_term? memory|memories about|that|of|for",
        "i have? created|saved|stored|added|made|recorded a|new|two|three|some long_term? memory|memories $",
        "i will remind you to|about|on|at|when|in|every|again|before|by|the|a|an|this", "i will remind you .",
        "i have? %SETS a|an|the|your|that|another|you_a|two|both … %ITS $", "^ %ITS is|has been? %DONE",
        "^ %ITS %DONE", "your|a … %ITS is|has|have been? %DONE $", "the … %ITS is|has|have been? %DONE .",
        "%ITS is|has|have been? %DONE for|at|on",
        "i have? changed|moved|updated|rescheduled|postponed|shifted|snoozed|pushed|cancelled|canceled|deleted|removed|completed|marked the|your … %ITS $",
        "pinned for_you|for_next_time|as_a_memory|in_your", "i have? pinned that|this|it .",
    ]),
    (CodeSigns::Alone, &[
        "^ all? %BARE %THAT? .", "i have? %BARE %THAT .", "%THAT is|has|have|are been? %BARE .",
    ]),
    (CodeSigns::Asked, &[
        "^ all? %KEPT %THAT? .", "i have? %KEPT %THAT .", "%THAT is|has|have|are been? %KEPT .",
        "keep %THAT in_mind .",
    ]),
    // Other languages whose words have spaces between them.
    (CodeSigns::Sure, &[
        // German
        "habe|hab ich mir … gemerkt", "ich habe|hab … mir … gemerkt", "ich merke|merk mir das|es|dies|alles|deine*|ihre*|.", "das|es|dies merke|merk ich mir",
        "ich werde|will mir … merken", "werde ich mir … merken", "ich werde|will daran denken | dass du|sie|ihr", "ich behalte … im_gedächtnis|in_erinnerung|im_hinterkopf",
        "ich habe|hab … %ORT … %LEGT", "habe|hab ich … %ORT … %LEGT", "ist|sind|wurde|wurden … %ORT … %LEGT", "^ %LEGT … im %ORT", "ich habe|hab mein|dein|ihr gedächtnis aktualisiert", "^ im %ORT %LEGT",
        // French
        "j'ai noté|retenu|mémorisé que vous|tu|votre|ta|ton|vos|tes", "j'ai … dans|à|en|sur|au %LIEU", "c'est|est … dans|à|en|sur|au %LIEU", "^ enregistré|noté|ajouté|mémorisé … dans|à|en %LIEU", "je l'ai … dans|à|en %LIEU", "je les ai … dans|à|en %LIEU",
        "je vais m'en_souvenir|me_souvenir|m'en_rappeler", "je m'en souviendrai|rappellerai", "je me souviendrai|rappellerai", "je retiens|retiendrai que|cela|ça|ceci|votre|ta|ton", "j'ai mémorisé|retenu", "j'ai mis_à_jour votre|ta|ma mémoire", "je n'oublierai",
        // Spanish
        "he|lo_he|la_he|los_he|las_he … en|a %LUGAR", "queda|está|quedó|tengo|ha_sido … en|a %LUGAR", "^ guardado|anotado|añadido|apuntado … en|a %LUGAR", "guardé|anoté|añadí|agregué|apunté … en|a %LUGAR",
        "lo|la|los|las recordaré|tendré_presente|tendré_en_cuenta_para_*", "recordaré que|tu|tus|su|sus|eso|esto", "no lo olvidaré", "me acordaré de", "he memorizado", "he actualizado tu|su|mi memoria .",
        // Italian, Portuguese
        "lo|la|li|le ricorderò", "ricorderò che|la_tua|il_tuo|questo", "ho memorizzato", "ho … nella|nel|nei|nelle|in|ai|alle|alla %LUOGO", "me ne ricorderò", "mi ricorderò|ricordo di|che",
        "vou me|te? lembrar", "vou lembrar", "lembrarei que|disso|de", "me lembrarei", "memorizei", "salvei|guardei|anotei|adicionei|registrei … na|no|em|nas|nos|às|aos|à|ao %LUOGO", "salvei|guardei|anotei|registrei … %LUOGO",
        // Dutch, Swedish, Danish, Norwegian
        "ik onthoud|onthou dat|het|je|jouw|uw|dit", "dat|dit|het onthoud ik", "ik zal … onthouden", "ik heb … onthouden", "heb ik … onthouden", "ik heb … opgeslagen in|aan … geheugen|vault|notities|herinneringen", "ik heb … geheugen|vault|notities|memory.md … opgeslagen|genoteerd|toegevoegd|gezet", "opgeslagen in je|jouw|uw|het geheugen|vault",
        "jag kommer|ska att? … komma_ihåg|minnas", "jag kommer ihåg det|att", "jag har sparat|lagrat|noterat … minne|minnet|valv|anteckningar", "jeg vil|skal huske", "jeg husker det", "jeg har gemt|lagret|noteret|notert|lagt … hukommelse*|minne*|vault|noter|notater",
        // Slavic
        "zapamiętałem|zapamiętałam|zapamiętam", "zapisałem|zapisałam|dodałem|dodałam|zachowałem … pamięci|notatkach|notatek|vault|przypomnień", "zapamatoval|zapamatovala jsem", "zapamatuji|zapamatuju si", "uložil|uložila jsem … paměti|poznámek",
        "я запомнил|запомнила|запомню", "запомню это|.", "^ запомню|запомнил|запомнила что|это|ваш*|тво*", "сохранил|сохранила|записал|записала|добавил|добавила|внёс|внес … памят*|ваши_заметк*|твои_заметк*|ваши_напоминания|твои_напоминания|memory.md|ваших_заметк*", "сохранено|записано … памят*", "буду помнить", "не забуду",
        "запам'ятав|запам'ятала|запам'ятаю",
        // Turkish, Greek, Arabic, Hebrew, Hindi, Vietnamese, Indonesian
        "hatırlayacağım", "hafızama|belleğime|hafızaya|belleğe|hafızana … kaydettim|ekledim", "unutmayacağım", "not ettim|aldım", "θα το|τα|το_έχω θυμάμαι|θυμηθώ", "θα θυμάμαι", "سأتذكر", "سأتذكر*", "حفظت*|أضفت*|خزنت*|سجلت* … الذاكرة|ذاكرتي|ذاكرتك|لذاكرتك",
        "אזכור", "שמרתי|הוספתי|רשמתי … בזיכרון|לזיכרון|בזכרון|לתזכורות", "याद रखूंगा|रखूँगा|रखूंगी|रखूँगी", "याद रख लिया", "tôi sẽ nhớ|ghi_nhớ", "đã lưu|ghi … bộ_nhớ|trí_nhớ", "saya akan mengingat|ingat", "disimpan … memori|ingatan", "menyimpan … memori|ingatan",
    ]),
    (CodeSigns::Place, &[
        "ich habe|hab … dein*|ihr*|eure* … %MINE … %LEGT", "dein*|ihr* … %MINE ist|sind|wurde|wurden|habe_ich … %LEGT", "ich habe|hab mir … notiert|aufgeschrieben|vermerkt", "habe|hab ich mir … notiert|aufgeschrieben|vermerkt", "ich habe|hab … für … nächste*|künftige*|zukünftige*|später … %LEGT", "ich habe|hab notiert|vermerkt|festgehalten .",
        "j'ai noté|enregistré|sauvegardé|mémorisé|conservé|retenu votre|vos|ta|ton|tes|que_vous … %MINE", "c'est noté|enregistré|mémorisé|retenu … prochaine|prochaines|futures", "j'ai pris_note|pris_bonne_note de|que|d'un", "j'en ai pris_note|pris_bonne_note", "j'ai noté|enregistré|mémorisé … pour … prochaine|prochaines|futures",
        "he guardado|anotado|apuntado|registrado|memorizado tu|tus|su|sus … %MINE", "he|lo_he|la_he anotado|apuntado|registrado|guardado que … eres|prefieres|te|tienes|vives|trabajas|quieres|usas|prefiere|vive|no", "he tomado_nota de|que", "he anotado|guardado|apuntado … futuras|próxima|futuro", "lo|la he anotado|guardado|apuntado … futuras|próxima|futuro",
        "ho preso_nota", "ho annotato|salvato|registrato|segnato che|la_tua|il_tuo|le_tue|i_tuoi", "anotei que|sua|seu|a_sua|o_seu|isso", "guardei|salvei|registrei a|o? sua|seu|tua|teu … %MINE", "ik heb|heb_ik je|jouw|uw … %MINE genoteerd|opgeslagen|bewaard", "ik heb genoteerd|opgeschreven dat", "ik heb dat|dit|het genoteerd|opgeschreven", "jag har noterat att|din|ditt|det", "jeg har noteret|notert at|din|dit|det", "zanotowałem|zanotowałam|zapisałem|zapisałam że", "το σημείωσα",
    ]),
    (CodeSigns::Timed, &[
        "ich erinnere|erinner dich|sie|euch", "ich melde mich", "erinnere ich dich|sie", "je te|vous|t' … rappellerai|préviendrai|relancerai", "te|le|os|les recordaré|avisaré", "ti ricorderò|avviserò", "vou te|lhe? lembrar|avisar|lembrá_lo", "ik herinner|waarschuw je|jou|u", "jag påminner|kommer_att_påminna dig", "jeg minder|påminner dig|deg", "przypomnę ci|tobie|panu|pani", "я? напомню вам|тебе|об|про|о", "я? нагадаю вам|тобі", "hatırlatacağım", "θα σου|σας υπενθυμίσω|θυμίσω", "saya akan mengingatkan", "tôi sẽ nhắc", "سأذكرك",
        "erinnerung|erinnerungen … gesetzt|erstellt|angelegt|eingerichtet|gestellt|geplant|eingestellt", "rappel|rappels … créé|créés|ajouté|programmé|défini|enregistré", "j'ai créé|ajouté|programmé|mis|défini|planifié un|le|des|votre|ton nouveau|autre? rappel|rappels $", "recordatorio|recordatorios … creado|programado|añadido|configurado|establecido|guardado", "promemoria … creato|impostato|aggiunto|programmato", "lembrete … criado|definido|adicionado|agendado", "herinnering … ingesteld|aangemaakt|toegevoegd|gezet", 
    ]),
    (CodeSigns::Any, &[
        "ich werde dich|sie|euch … erinnern", "werde ich dich|sie … erinnern", "ich erinnere dich|sie|euch daran .", "ich habe|hab … eine|die|deine|dir … erinnerung … gesetzt|erstellt|angelegt|eingerichtet|gestellt|geplant|eingestellt|hinzugefügt", "^ erinnerung|wiedervorlage gesetzt|erstellt|angelegt|eingerichtet|gestellt|gespeichert", "die|deine|eine erinnerung … ist|wurde … gesetzt|erstellt|angelegt|eingerichtet|gestellt|geplant",
        "ich habe|hab das|es|dies mir? notiert|gespeichert|vermerkt für", "ich habe|hab das|es|dies für_dich|für_sie|dir gespeichert|notiert|vermerkt", "werde mich daran erinnern", 
        "j'ai créé|ajouté|programmé|mis|défini|planifié|enregistré un|le|votre|ton nouveau|autre? rappel $", "^ rappel créé|ajouté|programmé|défini|enregistré", "le|votre|ton|un rappel est|a_été créé|ajouté|programmé|défini|enregistré", "je te|vous … rappellerai", "je vais te|vous … rappeler", "j'ai noté cela|ça|ceci|tout", 
        "he creado|añadido|programado|puesto|configurado|establecido un|el|tu nuevo|otro? recordatorio $", "^ recordatorio creado|programado|añadido|configurado|establecido|guardado", "tu|el recordatorio está|ha_sido|quedó creado|programado|configurado|guardado", "te recordaré", "lo|la he anotado|apuntado", 
        "ho creato|impostato|aggiunto|programmato un|il nuovo|altro? promemoria $", "^ promemoria creato|impostato|aggiunto|programmato", "ti ricorderò", "criei|adicionei|defini|agendei um|o novo|outro? lembrete $", "^ lembrete criado|definido|adicionado|agendado", "vou te lembrar",
        "ik heb een|de|je … herinnering … ingesteld|aangemaakt|toegevoegd|gezet|gemaakt", "^ herinnering ingesteld|aangemaakt|toegevoegd", "ik zal je|jou|u … herinneren", "jag har skapat|lagt_till|satt|ställt_in en påminnelse", "^ påminnelse skapad|tillagd|inställd|opprettet", "^ påmindelse oprettet|sat", "jeg har oprettet|lagt|satt|opprettet en påmindelse|påminnelse",
        "ustawiłem|ustawiłam|dodałem|dodałam|utworzyłem|utworzyłam … przypomnienie", "przypomnienie … ustawione|utworzone|dodane", "przypomnę ci", "напоминание … создано|установлено|добавлено|поставлено", "создал|создала|добавил|добавила|поставил|поставила|установил|установила … напоминание", "я напомню", "hatırlatıcı … oluşturdum|ekledim|kurdum|ayarladım", "hatırlatıcı … kuruldu|oluşturuldu|ayarlandı", "нагадування … створено|встановлено|додано",
    ]),
    (CodeSigns::Asked, &[
        "^ ist? gemerkt|gespeichert|notiert|vermerkt|abgespeichert .", "das ist|habe_ich gemerkt|gespeichert|notiert|vermerkt .", "ich habe das|es notiert|gespeichert .", "^ c'est? noté|enregistré|sauvegardé|mémorisé|retenu|fait_et_noté .", "^ queda? guardado|anotado|apuntado|registrado .", "lo he guardado|anotado|apuntado .", "^ fatto? salvato|annotato|memorizzato|segnato .", "^ salvo|anotado|guardado|memorizado .", "^ onthouden|genoteerd|opgeslagen .", "^ sparat|noterat|noteret|gemt|notert|lagret .", "^ zapisane|zanotowane|zapamiętane .", "^ запомнил|запомнила|записал|записала|сохранено|записано|сохранил .", "^ kaydedildi|kaydettim .",
    ]),
];

/// Languages without spaces: phrases with `…` for anything in between.
#[rustfmt::skip]
pub(super) const DENSE: &[&str] = &[
    "记住了", "我会记住", "我會記住", "我会记得", "我會記得", "已记住", "已經記住", "記住了", "记下了", "记下来了", "記下了", "記下來了", "保存到 … 记忆", "保存到 … 記憶", "存入 … 记忆", "存入 … 記憶", "存到 … 记忆", "添加到 … 记忆", "保存到记忆", "存入记忆", "保存到記憶", "保存到你的记忆", "保存到您的记忆", "写入 … 记忆",
    "设置了 … 提醒", "已 … 设置 … 提醒", "已设置提醒", "设置了提醒", "已設定提醒", "提醒已设置", "提醒已創建", "提醒已创建", "提醒已设定", "提醒已設定", "创建了提醒", "我会 … 提醒你", "我会 … 提醒您", "我會 … 提醒你", "我会提醒", "不会忘记", "长期记忆",
    "覚えておきます", "覚えました", "覚えておきました", "記憶しました", "記憶しておきます", "メモリに … 保存しました", "メモリに保存しました", "記憶に保存しました", "長期記憶に", "メモしました", "メモしておきました", "メモしておきます", "リマインダーを設定しました", "リマインダーを作成しました", "リマインダーを登録しました", "リマインダーに追加しました", "リマインドします", "お知らせします", "忘れません",
    "기억하겠습니다", "기억할게요", "기억해 둘게요", "기억해둘게요", "기억해 두겠습니다", "기억했습니다", "기억해 두었습니다", "메모리에 저장했습니다", "기억에 저장했습니다", "메모리에 저장해", "메모해 두었습니다", "메모해 뒀습니다", "알림을 설정했습니다", "알림을 등록했습니다", "리마인더를 설정했습니다", "리마인더를 만들었습니다", "알려 드리겠습니다", "알려드리겠습니다",
    "จำไว้แล้ว", "จะจำไว้", "บันทึกไว้ในความจำแล้ว", "ตั้งเตือนไว้แล้ว", "ตั้งการเตือนแล้ว",
];

/// Denials; they count before and inside of a pattern.
#[rustfmt::skip]
pub(super) const NO: &[&str] = &[
    "not", "never", "nothing", "cannot", "no", "unable", "failed", "without", "neither", "nor", "almost", "nearly", "where", "which", "that's_what", "whether", "how", "why",
    "pas", "n'ai", "ne", "rien", "jamais", "aucun", "aucune", "non", "nunca", "nada", "não", "nie", "не", "ні", "no_pude", "δεν", "لم", "لن", "לא", "नहीं", "không", "tidak", "değil", "jak", "чтобы", "qu'il", "como",
];

/// Denials that stand anywhere in their clause, and signs of what happens in general.
#[rustfmt::skip]
pub(super) const NO_AFTER: &[&str] = &[
    "nicht", "kein", "keine", "keinen", "keiner", "nichts", "nie", "niemals", "wird", "werden", "könnte", "kann",
    "niet", "geen", "nooit", "wordt", "worden", "inte", "aldrig", "ikke", "aldri", "lagras", "sparas", "नहीं",
    "değil", "misin", "mısın", "mıyım", "miyim", "wurden_früher",
];

/// Conditions and times that are still to come; they count anywhere before a pattern.
#[rustfmt::skip]
pub(super) const IF: &[&str] = &[
    "if", "once", "when", "whenever", "unless", "before", "after", "until", "should", "would", "could", "might", "may", "let_me_know", "tell_me", "say_the_word", "just_say", "say", "says", "said", "saying", "as_soon_as", "want_me", "like_me", "wish", "ask_me", "confirm", "test", "tests", "check", "checks", "verify", "verifies", "ensure", "ensures", "assert*", "like_to_know", "imagine", "suppose", "pretend", "claims", "claim", "example",
    "wenn", "falls", "sobald", "soll", "sollte", "möchtest", "willst", "würde", "si", "voulez", "veux", "quieres", "quiere", "cuando", "quand", "dès", "lorsque", "se", "vuoi", "quando", "quer", "quiser", "als", "zodra", "zal_ik", "om", "hvis", "vill", "når", "jeśli", "czy", "gdy", "если", "когда", "хотите", "хочешь", "якщо", "ister", "isterseniz", "eğer", "αν", "όταν", "إذا", "אם", "अगर", "nếu", "jika",
];

/// Offers; they count wherever they stand.
#[rustfmt::skip]
pub(super) const OFFER: &[&str] = &[
    "if_you_want", "if_you_like", "if_you_would", "if_that_helps", "if_needed", "if_you_prefer", "if_you_wish", "if_you_need", "if_you_tell", "if_you_ask", "if_i_remember", "wenn_du", "wenn_sie", "si_tu", "si_vous", "si_quieres", "si_quiere", "se_vuoi", "se_quiser", "als_je", "om_du", "hvis_du", "jeśli_chcesz", "если_хотите", "если_хочешь",
];

/// Denials, conditions and questions of the languages without spaces.
#[rustfmt::skip]
pub(super) const NO_DENSE: &[&str] = &[
    "没有", "沒有", "没能", "未能", "无法", "無法", "不会记", "如果", "要不要", "是否", "吗", "嗎", "需要我", "ません", "ない", "もし", "ますか", "ましょうか",
    "않", "못", "만약", "까요", "ไม่", "ถ้า",
];

/// Words of programs and documents: what was saved there is no memory.
#[rustfmt::skip]
pub(super) const WORK: &[&str] = &[
    "file", "files", "folder", "directory", "disk", "database", "db", "table", "tables", "column", "row", "collection", "repo", "repository", "branch", "branches", "commit", "commits", "pr", "pull", "issue", "issues", "ticket", "readme", "changelog", "changes", "docs", "documentation", "doc", "comment", "comments", "docstring", "code", "codebase", "function", "functions", "method", "class", "module", "component", "components", "service", "endpoint", "api", "server", "client", "worker", "job", "cron", "queue", "cache", "buffer", "heap", "stack", "pointer", "array", "struct", "enum", "variable", "constant", "state", "store", "session", "cookie", "token", "hash", "key", "config", "configuration", "settings", "environment", "env", "parser", "compiler", "linter", "test", "tests", "fixture", "fixtures", "snapshot", "bug", "error", "errors", "exception", "log", "logs", "loop", "header", "field", "fields", "schema", "model", "migration", "migrations", "query", "index", "page", "button", "checkbox", "dialog", "toast", "form", "view", "ui", "frontend", "backend", "app", "application", "plugin", "script", "scripts", "workflow", "pipeline", "build", "release", "version", "dependency", "dependencies", "package", "library", "crate", "binary", "process", "thread", "daemon", "scheduler", "cursor", "editor", "browser", "localstorage", "redis", "postgres", "sqlite", "mongodb", "s3", "bucket", "docker", "container", "compose", "image", "todo", "authors", "line", "lines", "section", "template", "helper", "util", "utility", "type", "types", "string", "json", "yaml", "toml", "csv", "html", "css", "output", "input", "result", "results", "response", "request", "requests", "response", "benchmark", "benchmarks", "numbers", "algorithm", "implementation", "refactor", "feature", "flag", "option", "hook", "handler", "event", "listener", "callback", "terraform", "kubernetes", "hashicorp", "users", "user", "user's", "invoice", "diff", "patch", "draft", "document", "slide", "spreadsheet", "email_template", "unsafe", "deprecated", "async", "mutex", "lock", "struct", "trait", "trade", "edge", "below", "above", "limit", "allocator", "usage", "leak", "translation", "review", "figure", "notebook", "dataset", "weights", "cli", "tags", "frontmatter", "value", "values", "ref", "checkpoint", "seat", "alert", "alerts", "null", "case", "refactoring", "pass", "flushed", "encrypted", "blob", "composant", "componente", "componenti", "komponente", "konfiguration", "configuración", "configuration", "registro", "mb", "gb", "kb", "bytes", "list", "lists",
    "datei", "dateien", "datenbank", "tabelle", "ordner", "speicher", "funktion", "variable", "kommentar", "zeile", "schleife", "zweig", "dienst", "klasse", "modul", "unsicher", "einstellungen", "änderungen",
    "fichier", "fichiers", "base", "fonction", "commentaire", "boucle", "branche", "classe", "dossier", "données", "modifications", "problèmes", "table", "variable", "archivo", "archivos", "datos", "tabla", "función", "comentario", "bucle", "rama", "carpeta", "clase", "cambios", "problemas", "código", "prueba", "pruebas",
    "tabella", "funzione", "commento", "cartella", "ramo", "arquivo", "arquivos", "banco", "tabela", "função", "comentário", "pasta", "bestand", "tabel", "functie", "opmerking", "map", "gegevens", "filen", "fil", "databas*", "plik", "baza", "bazie", "tabela", "файл", "файле", "базе", "таблиц*", "функци*", "комментари*", "ветк*", "dosya*", "tablo", "αρχείο", "ملف", "الملف", "קובץ", "הקובץ", "tệp", "berkas",
];

/// The same for languages without spaces.
#[rustfmt::skip]
pub(super) const WORK_DENSE: &[&str] = &[
    "文件", "代码", "代碼", "数据库", "資料庫", "表中", "函数", "变量", "内存", "ファイル", "データベース", "コード", "関数", "テーブル", "テスト", "파일",
    "데이터베이스", "테이블", "코드", "함수", "ไฟล์",
];

/// Words that come after a noun has ended.
#[rustfmt::skip]
pub(super) const AFTER_NOUN: &[&str] = &[
    "for", "so", "and", "under", "as", "with", "that", "about", "in", "to", "from", "on", "at", "too", "today", "this", "next", "because", "since", "along", "where", "which", "when", "by", "but", "the", "it", "is", "are", "was", "has", "via", "using", "of", "a", "every", "before", "after", "tomorrow", "tonight", "later", "here", "there", "well", "you", "your", "i", "we", "per", "until", "saying", "called", "due", "already", "again", "scheduled", "set", "titled", "named", "labelled", "entitled",
    "pour", "para", "per", "für", "à", "a", "le", "de", "el", "de_la", "que", "dass", "am", "um", "om", "voor", "för",
];

/// Adverbs that change nothing in a claim.
#[rustfmt::skip]
pub(super) const FILLERS: &[&str] = &[
    "also", "just", "now", "already", "successfully", "safely", "permanently", "quickly", "then", "duly", "gladly", "happily", "definitely", "certainly", "actually", "all_of", "properly", "officially", "of_course", "automatically", "carefully", "absolutely", "securely", "correctly", "make_sure_i", "make_sure_that_i", "be_sure_to", "made_sure_to", "make_sure_to", "be_certain_to", "make_certain_to", "do_my_best_to", "gone_ahead_and", "went_ahead_and", "both_been",
    "jetzt", "auch", "gerade", "bereits", "schon", "nun", "soeben", "hiermit", "natürlich", "gerne", "bien", "aussi", "déjà", "maintenant", "ya", "también", "ahora", "già", "anche", "já", "também", "al", "ook", "nu", "już", "też", "уже", "также",
];

/// Words that name a time: beside them a reminder is one.
#[rustfmt::skip]
pub(super) const TIMES: &[&str] = &[
    "tomorrow", "tonight", "today", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays", "weekday*", "weekend*", "morning", "evening", "afternoon", "noon", "midnight", "week", "weeks", "weekly", "month", "months", "monthly", "yearly", "daily", "hour", "hours", "minutes", "days", "year", "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december", "am", "pm", "o'clock", "later",
    "morgen", "übermorgen", "heute", "abend", "montag*", "dienstag*", "mittwoch*", "donnerstag*", "freitag*", "samstag*", "sonntag*", "uhr", "woche", "stunde*", "minuten", "täglich", "wöchentlich", "monat", "nächste*", "demain", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche", "matin", "soir", "semaine", "heure*", "mañana", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo", "semana", "hora*", "domani", "lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica", "settimana", "amanhã", "segunda", "terça", "quarta", "quinta", "sexta", "ore", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag", "uur", "vanavond", "i_morgon", "imorgon", "måndag", "fredag", "jutro", "poniedziałek", "piątek", "завтра", "понедельник", "пятницу", "утром", "неделе", "yarın", "sabah", "αύριο", "غدا", "besok", "mai",
];
