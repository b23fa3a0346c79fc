"""The packages whose translations are read, and the readers: all give pairs of an English text and its translation.

Every package is under a licence that lets its words be used: Apache-2.0, BSD, MIT, PostgreSQL or Unicode-3.0 (beside each).
"""
import glob
import io
import json
import os
import re
import subprocess
import tarfile
import urllib.request

LANGUAGES = ["de", "es", "fr", "it", "pt", "nl", "zh", "ja"]
# What else the packages call a language.
NAMES = {
    "de": ["de", "de_DE"], "es": ["es", "es_ES", "es-es"], "fr": ["fr", "fr_FR", "fr-fr"], "it": ["it", "it_IT"],
    "pt": ["pt_BR", "pt", "pt-br"], "nl": ["nl", "nl_NL"], "ja": ["ja", "ja_JP"],
    "zh": ["zh", "zh_Hans", "zh_CN", "zh_Hans_CN", "zh-hans", "zh-Hans", "zh-cn", "zh-CN"],
}
PACKS = ["de", "es", "fr", "it", "pt-br", "zh-hans", "ja"]
NPM = {
    "typescript": "5.9.2",  # Apache-2.0
    "cldr-annotations-full": "48.2.0", "cldr-annotations-derived-full": "48.2.0",  # Unicode-3.0
    "cldr-localenames-full": "48.2.0", "cldr-units-full": "48.2.0",  # Unicode-3.0
    **{f"@codingame/monaco-vscode-language-pack-{name}": "25.1.2" for name in PACKS},  # MIT
}
PYPI = {
    "home-assistant-frontend": "20250109.2", "homeassistant": "2024.3.3", "apache-superset": "6.1.0",  # Apache-2.0
    "apache-airflow-core": "3.3.2",  # Apache-2.0
    "django": "5.2.19", "wagtail": "8.0.1", "django-cms": "5.1.3", "sphinx": "9.0.4",  # BSD
    **{f"jupyterlab-language-pack-{name}": "4.5.post3"  # BSD
       for name in ["de-DE", "es-ES", "fr-FR", "it-IT", "ja-JP", "nl-NL", "pt-BR", "zh-CN"]},
    "kolibri": "0.19.5", "indico": "3.2.9", "spyder": "6.1.8",  # MIT
    "pgadmin4": "9.18",  # PostgreSQL
}


def fetch(folder):
    """Gets the packages into `folder`, each unpacked in a folder of its own; those that are there stay."""
    for name, version in NPM.items():
        into = os.path.join(folder, "npm", name)
        if not os.path.exists(into):
            base = name.split("/")[-1]
            url = f"https://registry.npmjs.org/{name}/-/{base}-{version}.tgz"
            with tarfile.open(fileobj=io.BytesIO(urllib.request.urlopen(url).read())) as archive:
                archive.extractall(into, filter="data")
    for name, version in PYPI.items():
        into = os.path.join(folder, "pypi", name)
        if not os.path.exists(into):
            subprocess.run(["pip", "install", "-q", "--no-deps", "--target", into, f"{name}=={version}"], check=True)


def flat(value, path=""):
    """The texts of nested objects by their path."""
    if isinstance(value, str):
        return {path: value}
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    return {key: text for name, part in inner for key, text in flat(part, f"{path}/{name}").items()}


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def beside(english, translated):
    """The pairs of two files with the same keys."""
    own, other = flat(load(english)), flat(load(translated))
    return [(text, other[key]) for key, text in own.items() if key in other]


def po(path):
    """The pairs of a file of gettext."""
    quoted = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for match in re.finditer(rf'msgid {quoted}(?:msgid_plural (?:"(?:[^"\\]|\\.)*"\s*)+)?msgstr(?:\[0\])? {quoted}', text):
        parts = ("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', part)) for part in match.groups())
        yield tuple(part.replace("\\n", " ").replace('\\"', '"') for part in parts)


def cldr(folder, package, path, language):
    [root] = load(f"{folder}/npm/{package}/package/{path.format('en')}").values() or [{}]
    [other] = load(f"{folder}/npm/{package}/package/{path.format(language)}").values() or [{}]
    return root, other


def pairs(folder, language):
    """All pairs for a language, each once, without their placeholders, in order."""
    found = set()

    def add(english, translated):
        strip = r"\{[^}]*\}|%\(\w+\)[sd]|%[sd]|<[^>]*>|&\w+;|\$\w+"
        english, translated = (re.sub(strip, " ", text).strip() for text in (english, translated))
        if translated and translated != english and len(english) <= 300:
            found.add((english, translated))

    names = NAMES[language]
    for name in names:
        file = f"{folder}/npm/typescript/package/lib/{name}/diagnosticMessages.generated.json"
        for key, text in load(file).items():
            add(re.sub(r"_\d+$", "", key).replace("_", " "), text)
        for file in glob.glob(f"{folder}/npm/**/*language-pack-{name}/**/*.i18n.json", recursive=True):
            for key, text in load(file).get("contents", {}).get("bundle", {}).items():
                add(key, text)
        for file in glob.glob(f"{folder}/pypi/**/{name}/LC_MESSAGES/*.po", recursive=True):
            for english, translated in po(file):
                add(english, translated)
        for file in glob.glob(f"{folder}/pypi/jupyterlab-language-pack*/**/{name}/LC_MESSAGES/*.json", recursive=True):
            for key, texts in load(file).items():
                if isinstance(texts, list) and texts:
                    add(key.split("\x04")[-1], texts[0] or "")
        for file in glob.glob(f"{folder}/pypi/homeassistant/**/translations/{name}.json", recursive=True):
            for pair in beside(os.path.join(os.path.dirname(file), "en.json"), file):
                add(*pair)
        for file in glob.glob(f"{folder}/pypi/home-assistant-frontend/**/translations/**/{name}-*.json", recursive=True):
            if re.fullmatch(rf"{name}-[0-9a-f]{{32}}\.json", os.path.basename(file)):
                for english in glob.glob(os.path.dirname(file) + "/en-*.json"):
                    if re.fullmatch(r"en-[0-9a-f]{32}\.json", os.path.basename(english)):
                        for pair in beside(english, file):
                            add(*pair)
        for file in glob.glob(f"{folder}/pypi/apache-airflow-core/**/locales/{name}/*.json", recursive=True):
            for pair in beside(file.replace(f"/locales/{name}/", "/locales/en/"), file):
                add(*pair)
    for kind in ["annotations", "annotationsDerived"]:
        package = f"cldr-annotations-{'derived-' if kind != 'annotations' else ''}full"
        english, translated = cldr(folder, package, f"{kind}/{{}}/annotations.json", language)
        for sign, entry in english.get("annotations", {}).items():
            other = translated.get("annotations", {}).get(sign, {})
            if entry.get("tts") and other.get("tts"):
                add(entry["tts"][0], other["tts"][0])
    for package, name in [("localenames", "territories"), ("localenames", "languages"), ("units", "units")]:
        english, translated = cldr(folder, f"cldr-{package}-full", f"main/{{}}/{name}.json", language)
        own, other = flat(english.get("en", {})), flat(translated.get(language, {}))
        for key, text in own.items():
            if key in other and (name != "units" or re.fullmatch(r"/units/long/[^/]+/displayName", key)):
                add(text, other[key])
    return sorted(found)


def keywords(folder, language):
    """The keywords of each sign of Unicode in English and in a language."""
    english, translated = cldr(folder, "cldr-annotations-full", "annotations/{}/annotations.json", language)
    for sign, entry in english.get("annotations", {}).items():
        other = translated.get("annotations", {}).get(sign, {})
        if entry.get("default") and other.get("default"):
            yield entry["default"], other["default"]
