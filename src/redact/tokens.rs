//! Finds tokens by their own prefix and length, or by their form.

use super::rule::SecretRule;
use super::{FoundSecret, run};

/// The characters that may follow a prefix.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// Letters and digits.
    Plain,
    /// Small letters and digits.
    Small,
    /// Capital letters and digits.
    Upper,
    /// Hexadecimal digits in small letters, and `-`.
    Hex,
    /// Letters, digits, `_` and `-`.
    Dashed,
    /// The same, and `.`.
    Dotted,
    /// The signs of Base64, and `_` and `-`.
    Base64,
}
use Class::{Base64, Dashed, Dotted, Hex, Plain, Small, Upper};

impl Class {
    fn has(self, byte: u8) -> bool {
        match self {
            Plain => byte.is_ascii_alphanumeric(),
            Small => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'),
            Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'='),
        }
    }
}

/// Tokens of one kind: the prefixes, the least and the greatest length of what follows, and its characters.
pub(super) struct TokenShape(&'static str, pub(super) &'static [&'static str], usize, usize, Class);

/// No greatest length.
const ANY: usize = 4096;

/// Models and tools for them.
#[rustfmt::skip]
const MODELS: &[TokenShape] = &[
    TokenShape("anthropic key", &["sk-ant-"], 16, ANY, Dashed),
    TokenShape("openrouter key", &["sk-or-"], 20, ANY, Dashed),
    TokenShape("langfuse key", &["sk-lf-"], 20, ANY, Dashed),
    TokenShape("openai key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-"], 16, ANY, Dashed),
    TokenShape("elevenlabs key", &["sk_"], 40, 64, Hex),
    TokenShape("google api key", &["AIza"], 30, 40, Dashed),
    TokenShape("google client secret", &["GOCSPX-"], 20, 40, Dashed),
    TokenShape("google token", &["ya29.", "1//0"], 20, ANY, Dotted),
    TokenShape("groq key", &["gsk_"], 20, ANY, Plain), TokenShape("xai key", &["xai-"], 20, ANY, Dashed),
    TokenShape("perplexity key", &["pplx-"], 20, ANY, Plain), TokenShape("replicate token", &["r8_"], 20, ANY, Plain),
    TokenShape("hugging face token", &["hf_", "api_org_"], 20, ANY, Plain),
    TokenShape("nvidia key", &["nvapi-"], 20, ANY, Dashed), TokenShape("tavily key", &["tvly-"], 20, ANY, Dashed),
    TokenShape("firecrawl key", &["fc-"], 32, 40, Hex), TokenShape("jina key", &["jina_"], 30, ANY, Dashed),
    TokenShape("brave key", &["BSA"], 24, 36, Dashed), TokenShape("llamacloud key", &["llx-"], 30, ANY, Dashed),
    TokenShape("langsmith key", &["lsv2_pt_", "lsv2_sk_"], 30, ANY, Dashed),
    TokenShape("cerebras key", &["csk-"], 40, ANY, Plain), TokenShape("together key", &["tgp_v1_"], 30, ANY, Dashed),
    TokenShape("fireworks key", &["fw_"], 22, 40, Plain), TokenShape("runpod key", &["rpa_"], 36, ANY, Plain),
    TokenShape("e2b key", &["e2b_"], 40, 40, Hex), TokenShape("apify token", &["apify_api_"], 30, ANY, Plain),
    TokenShape("context7 key", &["ctx7sk-"], 32, ANY, Dashed), TokenShape("cursor key", &["crsr_"], 40, ANY, Hex),
];

/// Code, packages and their machines.
#[rustfmt::skip]
const CODE: &[TokenShape] = &[
    TokenShape("github token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], 16, ANY, Plain),
    TokenShape("github token", &["github_pat_"], 20, ANY, Dashed),
    TokenShape("gitlab token", &["glpat-", "glptt-", "gldt-", "glrt-", "glrtr-", "glft-", "glimt-", "glagent-", "glsoat-",
        "glffct-", "glcbt-", "glwt-", "gloas-", "GR1348941"], 16, ANY, Dotted),
    TokenShape("atlassian token", &["ATATT3", "ATCTT3"], 40, ANY, Base64),
    TokenShape("bitbucket password", &["ATBB"], 28, 40, Plain), TokenShape("trello token", &["ATTA"], 60, 80, Hex),
    TokenShape("npm token", &["npm_"], 30, 40, Plain), TokenShape("pypi token", &["pypi-"], 30, ANY, Dashed),
    TokenShape("rubygems key", &["rubygems_"], 40, 60, Hex), TokenShape("nuget key", &["oy2"], 43, 43, Small),
    TokenShape("clojars token", &["CLOJARS_"], 50, 70, Small), TokenShape("crates.io token", &["cio"], 32, 32, Plain),
    TokenShape("artifactory key", &["AKCp"], 60, 80, Plain), TokenShape("artifactory token", &["cmVmd"], 50, 70, Plain),
    TokenShape("docker token", &["dckr_pat_", "dckr_oat_"], 20, ANY, Dashed),
    TokenShape("circleci token", &["CCIPAT_", "CCIPRJ_"], 30, ANY, Dashed),
    TokenShape("buildkite token", &["bkua_"], 40, 40, Hex),
    TokenShape("sonar token", &["sqp_", "squ_", "sqa_"], 40, 40, Hex),
    TokenShape("sourcegraph token", &["sgp_"], 40, ANY, Dashed), TokenShape("pulumi token", &["pul-"], 40, 40, Hex),
    TokenShape("prefect token", &["pnu_", "pnb_"], 36, 36, Plain), TokenShape("infracost key", &["ico-"], 32, 32, Plain),
    TokenShape("readme key", &["rdme_"], 60, 80, Small), TokenShape("octopus key", &["API-"], 26, 36, Upper),
    TokenShape("postman key", &["PMAK-", "PMAT-"], 30, ANY, Dashed), TokenShape("figma token", &["figd_", "figo_"], 36, ANY, Dashed),
    TokenShape("linear key", &["lin_api_", "lin_oauth_"], 20, ANY, Plain), TokenShape("notion token", &["ntn_"], 40, 60, Plain),
    TokenShape("notion token", &["secret_"], 43, 43, Plain), TokenShape("typeform token", &["tfp_"], 40, ANY, Dashed),
    TokenShape("contentful token", &["CFPAT-"], 40, 50, Dashed), TokenShape("dropbox token", &["sl."], 100, ANY, Dotted),
    TokenShape("scalingo token", &["tk-us-"], 40, ANY, Dashed), TokenShape("frame.io token", &["fio-u-"], 50, ANY, Dashed),
    TokenShape("adobe secret", &["p8e-"], 32, 32, Plain),
];

/// Clouds, databases and what watches them.
#[rustfmt::skip]
const CLOUDS: &[TokenShape] = &[
    TokenShape("aws access key", &["AKIA", "ASIA", "ABIA", "ACCA"], 16, 16, Upper),
    TokenShape("aws bedrock key", &["ABSK"], 100, ANY, Base64),
    TokenShape("alibaba key", &["LTAI"], 16, 30, Plain), TokenShape("tencent key", &["AKID"], 24, 40, Plain),
    TokenShape("yandex key", &["AQVN", "y0_"], 35, ANY, Dashed),
    TokenShape("digitalocean token", &["dop_v1_", "doo_v1_", "dor_v1_"], 30, ANY, Hex),
    TokenShape("fly.io token", &["FlyV1 fm2_", "FlyV1 fm1r_", "FlyV1 fm1a_", "fo1_", "fm1a_", "fm1r_", "fm2_"], 40, ANY, Base64),
    TokenShape("heroku key", &["HRKU-"], 36, ANY, Dashed),
    TokenShape("netlify token", &["nfp_", "nfc_", "nfo_", "nfu_", "nfb_"], 36, 50, Plain),
    TokenShape("vercel token", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], 24, ANY, Plain),
    TokenShape("render key", &["rnd_"], 28, 40, Plain), TokenShape("deno token", &["ddp_"], 30, 50, Plain),
    TokenShape("supabase key", &["sbp_", "sb_secret_"], 20, ANY, Dashed), TokenShape("neon key", &["napi_"], 40, ANY, Plain),
    TokenShape("planetscale secret", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], 30, ANY, Dotted),
    TokenShape("doppler token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], 40, ANY, Dotted),
    TokenShape("vault token", &["hvs.", "hvb.", "hvr."], 20, ANY, Dashed),
    TokenShape("databricks token", &["dapi", "dose"], 32, 36, Hex),
    TokenShape("tailscale key", &["tskey-"], 16, ANY, Dashed), TokenShape("cloudflare ca key", &["v1.0-"], 150, 200, Hex),
    TokenShape("clickhouse key", &["4b1d"], 38, 38, Plain), TokenShape("openshift token", &["sha256~"], 43, 43, Dashed),
    TokenShape("grafana token", &["glsa_"], 32, ANY, Dashed), TokenShape("grafana token", &["glc_"], 32, ANY, Base64),
    TokenShape("new relic key", &["NRAK-", "NRII-", "NRAL-"], 20, ANY, Upper),
    TokenShape("dynatrace token", &["dt0c01.", "dt0s01.", "dt0s16."], 60, ANY, Dotted),
    TokenShape("sentry token", &["sntrys_"], 60, ANY, Base64), TokenShape("sentry token", &["sntryu_", "sntryi_"], 64, 64, Hex),
    TokenShape("posthog key", &["phx_", "phs_"], 40, ANY, Dashed), TokenShape("honeycomb key", &["hcaik_", "hcxik_"], 40, ANY, Plain),
    TokenShape("defined.net key", &["dnkey-"], 60, ANY, Dashed),
    TokenShape("settlemint token", &["sm_aat_", "sm_pat_", "sm_sat_"], 16, ANY, Plain),
    TokenShape("inngest key", &["signkey-prod-", "signkey-test-"], 32, ANY, Hex),
];

/// Talk, mail, money and keys of files.
#[rustfmt::skip]
const TALK: &[TokenShape] = &[
    TokenShape("slack token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe.xoxb-",
        "xoxe.xoxp-", "xapp-"], 10, ANY, Dashed),
    TokenShape("discord token", &["mfa."], 60, ANY, Dashed), TokenShape("matrix token", &["syt_"], 30, ANY, Dashed),
    TokenShape("ntfy token", &["tk_"], 29, 29, Small), TokenShape("twitch token", &["oauth:"], 30, 30, Small),
    TokenShape("vk token", &["vk1.a."], 60, ANY, Dashed),
    TokenShape("stripe key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "whsec_"], 10, ANY, Plain),
    TokenShape("square secret", &["sq0csp-", "sq0atp-"], 20, ANY, Dashed), TokenShape("square token", &["EAAA"], 56, 64, Dashed),
    TokenShape("facebook token", &["EAA"], 100, ANY, Plain),
    TokenShape("shopify token", &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"], 20, ANY, Plain),
    TokenShape("razorpay key", &["rzp_live_", "rzp_test_"], 14, 24, Plain),
    TokenShape("flutterwave key", &["FLWSECK-", "FLWSECK_TEST-"], 12, ANY, Dashed),
    TokenShape("easypost key", &["EZAK", "EZTK"], 54, 54, Plain), TokenShape("duffel token", &["duffel_live_", "duffel_test_"], 40, ANY, Dashed),
    TokenShape("shippo token", &["shippo_live_", "shippo_test_"], 40, 40, Hex), TokenShape("lob key", &["live_", "test_"], 35, 35, Hex),
    TokenShape("sendgrid key", &["SG."], 30, ANY, Dotted), TokenShape("mailgun key", &["key-"], 32, 32, Hex),
    TokenShape("brevo key", &["xkeysib-", "xsmtpsib-"], 60, ANY, Dashed), TokenShape("twilio key", &["SK"], 32, 32, Hex),
    TokenShape("polar token", &["polar_oat_"], 30, ANY, Dashed),
    TokenShape("age key", &["AGE-SECRET-KEY-1"], 30, ANY, Upper), TokenShape("1password token", &["ops_eyJ"], 60, ANY, Base64),
    TokenShape("wallet key", &["xprv", "yprv", "zprv"], 90, 120, Plain),
];

/// The shapes of all tokens with a prefix.
pub(super) fn shapes() -> impl Iterator<Item = &'static TokenShape> {
    MODELS.iter().chain(CODE).chain(CLOUDS).chain(TALK)
}

/// Tokens that are known by their form.
#[rustfmt::skip]
pub(super) const RULES: &[SecretRule] = &[
    form("json web token", &["eyj"], r"(eyJ[\w-]{7,}\.[\w-]{8,}\.[\w-]*)").near(2, 2048),
    form("telegram token", &[":a"], r"(?:\b|bot)(\d{6,12}:A[\w-]{33,35})\b").near(16, 40),
    form("terraform token", &["atlasv1"], r"\b([A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70})").near(16, 90),
    form("airtable token", &["pat"], r"\b(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})\b").near(2, 90),
    form("hubspot token", &["pat-"], r"\b(pat-(?:na|eu|ap)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b").near(2, 48),
    form("mailchimp key", &["-us"], r"\b([0-9a-f]{32}-us\d{1,2})\b").near(34, 8),
    form("resend key", &["re_"], r"\b(re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,28})\b").near(2, 44),
    form("voyage key", &["pa-"], r"\b(pa-[\w-]{43})(?:$|[^\w-])").near(2, 50),
    form("firebase key", &[":apa91b"], r"\b(AAAA[\w-]{7}:APA91b[\w-]{100,})").near(16, 256),
    form("azure client secret", &["q~"], r"(?:^|[^\w~.])([\w.-]{3}\dQ~[\w.~-]{31,34})").near(8, 40),
    form("1password key", &["a3-"], r"\b(A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})\b").near(2, 48),
    form("plaid token", &["access-"], r"\b(access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b").near(2, 72),
    form("clickup token", &["pk_"], r"\b(pk_\d{6,10}_[A-Z0-9]{32})\b").near(2, 56),
    form("asana token", &["1/", "2/"], r"\b([12]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32})\b").near(2, 80),
    form("maxmind key", &["_mmk"], r"\b([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)\b").near(38, 6),
    form("paypal token", &["access_token$"], r"(access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32})").near(2, 80),
    form("harness token", &["pat.", "sat."], r"\b([ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20})\b").near(2, 80),
    form("launchdarkly key", &["sdk-", "api-"], r"\b((?:sdk|api)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})\b").near(2, 48),
    form("pubnub key", &["sec-c-"], r"\b(sec-c-[A-Za-z0-9+/=-]{36,64})").near(2, 80),
    form("facebook secret", &["0|", "1|", "2|", "3|", "4|", "5|", "6|", "7|", "8|", "9|"], r"\b(\d{15,16}\|[\w-]{27,40})\b").near(17, 48),
    form("new relic key", &["nral"], r"\b([0-9a-f]{36,40}NRAL)\b").near(44, 6),
];

const fn form(kind: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> SecretRule {
    SecretRule::new(kind, keywords, pattern)
        .where_it(|secret| secret.bytes().any(|byte| byte.is_ascii_digit()))
}

/// A prefix in a text.
pub(super) struct TokenPrefix {
    pub(super) at: usize,
    pub(super) prefix: &'static str,
    pub(super) shape: &'static TokenShape,
}

impl TokenPrefix {
    /// Whether the prefix stands there as it is written, at the beginning of a word.
    pub(super) fn stands_in(&self, text: &str) -> bool {
        text.as_bytes()[self.at..].starts_with(self.prefix.as_bytes()) && begins(text, self.at)
    }
}

/// Adds the tokens that begin with these prefixes.
pub(super) fn with_prefix(text: &str, mut prefixes: Vec<TokenPrefix>, found: &mut Vec<FoundSecret>) {
    // Of two prefixes at one place the longer one holds.
    prefixes.sort_by_key(|one| (one.at, std::cmp::Reverse(one.prefix.len())));
    prefixes.dedup_by_key(|one| one.at);
    let mut from = 0;
    for TokenPrefix { at, prefix, shape: TokenShape(kind, _, least, most, class) } in prefixes {
        if at < from {
            continue;
        }
        let behind = at + prefix.len();
        let tail = run(text, behind, |byte| class.has(byte)).trim_end_matches(['.', '-']);
        let is_token = (*least..=*most).contains(&tail.len())
            && (*class == Upper || tail.bytes().any(|byte| byte.is_ascii_digit()))
            && is_mixed(*class, tail);
        if is_token {
            from = behind + tail.len();
            found.push(FoundSecret { range: at..from, kind });
        }
    }
}

/// Adds the tokens of Discord's bots: an id, a time and a signature with dots between, of which no word is known.
pub(super) fn of_discord(text: &str, found: &mut Vec<FoundSecret>) {
    let bytes = text.as_bytes();
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    for dot in memchr::memchr_iter(b'.', bytes) {
        let time = bytes[dot + 1..].iter().take(8).take_while(|byte| is_sign(byte)).count();
        if !(6..=7).contains(&time) || bytes.get(dot + 1 + time) != Some(&b'.') {
            continue;
        }
        let id = bytes[..dot].iter().rev().take(64).take_while(|byte| is_sign(byte)).count();
        let signature = bytes[dot + time + 2..].iter().take(64).take_while(|byte| is_sign(byte)).count();
        let whole = &text[dot - id..dot + time + 2 + signature];
        if (23..=32).contains(&id)
            && (27..=42).contains(&signature)
            && whole.starts_with(['M', 'N', 'O'])
            && whole.bytes().any(|byte| byte.is_ascii_digit())
        {
            found.push(FoundSecret { range: dot - id..dot - id + whole.len(), kind: "discord token" });
        }
    }
}

/// Whether a tail is of more than words: `sk-learn-something-or-other-2` isn't.
fn is_mixed(class: Class, tail: &str) -> bool {
    match class {
        Dashed | Dotted | Base64 => tail.split(['-', '_', '.']).any(|word| {
            let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
            let has_letter = word.bytes().any(|byte| byte.is_ascii_alphabetic());
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            word.len() >= 16 || word.len() >= 6 && (has_digit && has_letter || is_number)
        }),
        Hex => tail.bytes().any(|byte| byte.is_ascii_alphabetic()),
        Plain | Small | Upper => true,
    }
}

/// Whether a word may begin here; the `n` of a written-out `\n` is no letter of it.
fn begins(text: &str, at: usize) -> bool {
    match &text.as_bytes()[..at] {
        [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., last] => !(last.is_ascii_alphanumeric() || *last == b'_'),
        [] => true,
    }
}
