"""Which names say that their value is a secret, and which values are none whatever they are called.

A name is judged by its words: ``apiKey``, ``API_KEY`` and ``x-api-key`` are the same name.
"""

import functools
import re
from typing import Final

MARKER: Final = "[redacted]"
"""What stands where a secret stood."""

_VENDORS = (
    "openai|anthropic|claude|gemini|google|gcp|aws|amazon|azure|stripe|github|gitlab|slack|discord"
    "|twilio|sendgrid|mailgun|datadog|sentry|groq|mistral|cohere|huggingface|openrouter|deepseek"
    "|perplexity|pinecone|elevenlabs|tavily|vercel|netlify|heroku|cloudflare|digitalocean|npm|pypi"
    "|docker|jira|notion|linear|figma|airtable|shopify|paypal|mapbox|algolia|firebase|supabase"
    "|postman|newrelic|grafana|okta|auth0|db|my|user|app|prod|dev|test|secret|enc|license|sub"
)
_KEYWORD = (
    r"pass_?words?|passwd|pass_?phrases?|pass_?codes?|pwd|secrets?|tokens?|(?:api|access|private|secret|auth"
    r"|account|master|signing|sign|encryption|encrypt|service|session|shared|storage|subscription"
    r"|license|deploy|admin|proxy|client|webhook|root|host|hmac|jwt|ssh|gpg|pgp|deploy|app|application"
    r"|security|recovery|instrumentation|wallet|salt|refresh|functions?|integration)_?keys?"
    r"|credentials?|creds|authorization|cookies?|connection_?string|dsn|jwt|auth|pass|pw|pat|psk"
    r"|salt|pin|otp|totp|mnemonic|seed_phrase|bearer|access_code|auth_code|recovery_codes?|backup_codes?"
    r"|kennwort|passwort|wachtwoord|senha|contrasena|contrase\u00f1a|mot_de_passe|has\u0142o"
    r"|\u043f\u0430\u0440\u043e\u043b\u044c|\u5bc6\u7801|\u5bc6\u78bc|\u30d1\u30b9\u30ef\u30fc\u30c9"
    r"|\ube44\ubc00\ubc88\ud638|keypass|storepass|requirepass|masterauth|passin|passout|client_key_data"
    r"|key_material|sas|signature|sshpass|pgpass(?:word)?"
    rf"|(?:{_VENDORS})_?(?:key|pat|pass|pw)"
)
ANCHORS: Final = (
    "pass", "pwd", "pw", "secret", "token", "key", "credential", "creds", "auth", "cookie", "dsn", "jwt",
    "pat", "psk", "salt", "pin", "otp", "mnemonic", "seed phrase", "seed_phrase", "bearer", "connection",
    "code", "signature", "sas", "wort", "senha", "contrase", "mot de passe", "has\u0142o",
    "\u043f\u0430\u0440\u043e\u043b\u044c", "\u5bc6\u7801", "\u5bc6\u78bc",
    "\u30d1\u30b9\u30ef\u30fc\u30c9", "\ube44\ubc00\ubc88\ud638",
)  # fmt: skip
"""In lower case, one of these stands in every name that says secret."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z\u00df-\u017f]+|[0-9]+|[^\W\d_]+")
_SAYS_SECRET = re.compile(
    rf"(?:^|_)(?:[a-z]{{0,12}}(?:password|passwd|passphrase|secret|token|apikey)|{_KEYWORD})(?:_|$)"
)
_ENDS_IN_KEY = re.compile(r"^[A-Z0-9]+_(?:[A-Z0-9]+_)*KEY$")  # FOO_KEY, as in an environment
_PLAIN_KEYS = frozenset(
    {
        "cache", "sort", "partition", "range", "primary", "foreign", "unique", "public", "map", "object",
        "index", "group", "order", "hot", "short", "legend", "translation", "i18n", "locale", "message",
        "row", "column", "field", "event", "react", "storage", "gpg", "registry", "lookup", "join",
        "candidate", "natural", "surrogate", "composite", "hash", "parent", "child", "route", "routing",
        "idempotency", "dedup", "deduplication", "redis", "query", "metric", "label", "tag", "config",
    }
)  # fmt: skip
"""Words before ``key`` which make it one of a table, not of a door."""

# Words behind the one that says secret which make the name one of something else.
_HARMLESS_AFTER = frozenset(
    {
        "count", "counts", "limit", "limits", "usage", "type", "types", "name", "names", "path",
        "paths", "file", "files", "dir", "url", "uri", "endpoint", "length", "len", "size",
        "expiry", "expires", "expiration", "ttl", "field", "fields", "policy", "required",
        "hint", "prompt", "placeholder", "label", "budget", "per", "max", "min", "window",
        "total", "used", "cost", "price", "prices", "details", "id", "ids", "ref", "reference",
        "env", "var", "vars", "variable", "provider", "method", "methods", "methodid", "status",
        "state", "header", "scheme", "mode", "store", "manager", "helper", "class", "error",
        "message", "description", "title", "enabled", "supported", "present", "valid",
        "missing", "set", "rotation", "version", "format", "schema", "source", "index", "map",
        "stdin", "hash", "hashers", "hasher", "validators", "validator", "rules", "rule",
        "reset", "command", "cmd", "process", "sock", "socket", "agent", "alias", "arn", "expire",
        "expired", "strength", "encoder", "input", "kind", "service", "authentication", "lifetime",
        "days", "hours", "seconds", "minutes", "timeout", "algorithm", "alg", "issuer", "audience",
        "scope", "scopes", "domain", "realm", "server", "host", "port", "app", "flow", "form", "page",
        "provided", "authority", "info", "list", "lists", "create", "created", "updated", "retries",
        "failed", "failure", "success", "handler", "callback", "middleware", "guard", "module",
        "package", "screen", "view", "controller", "test", "tests", "spec", "generator", "parser",
        "stream", "iterator", "storage", "cache", "bucket", "entry", "entries", "item", "items",
        "event", "events", "action", "route", "router", "docs", "help", "example", "level", "log",
        "only", "safe", "based", "like", "free", "less", "less_login", "protected", "aware", "api",
        "client", "user", "username", "email", "account", "group", "role", "permission", "check",
        "checker", "verify", "verification", "change", "changed", "update", "delete", "remove", "get",
        "display", "visible", "visibility", "show", "hide", "toggle", "match", "matches",
        "regex", "pattern", "char", "chars", "color", "colour", "ring", "board", "word", "words", "stroke",
        "down", "up", "press", "frame", "frames", "value_from", "from", "sent", "left",
    }
)  # fmt: skip
# Words before it that do: of tokens that are counted, of keys that are public.
_COUNTED = frozenset(
    {
        "max", "min", "total", "num", "number", "count", "input", "output", "prompt",
        "completion", "cached", "cache", "reasoning", "thought", "context", "used", "remaining",
        "per", "estimated", "avg", "average", "budget", "progress", "cancellation",
    }
)  # fmt: skip
_NO_PASSWORD = frozenset({"first", "second", "third", "last", "one", "two", "multi", "by", "test"})
_PASSWORDS = re.compile(
    r"pass_?word|passwd|pass_?phrase|pass_?code|pwd|(?:^|_)[a-z]{0,8}pass(?:_|$)|(?:^|_)(?:pw|psk|pin|otp|mnemonic)(?:_|$)|seed_phrase"
    r"|wort(?:_|$)|wachtwoord|senha|contrase|mot_de_passe|has\u0142o|\u043f\u0430\u0440\u043e\u043b"
    r"|\u5bc6\u7801|\u5bc6\u78bc|\u30d1\u30b9\u30ef\u30fc\u30c9|\ube44\ubc00\ubc88\ud638"
)
_PIN = re.compile(r"[0-9]{4,}")

# Values that are no secrets: words of programs and of forms, and what stands for a value.
_HARMLESS_VALUE = re.compile(
    r"(?i)(?:string|str|text|number|int|integer|bool|boolean|object|array|any|unknown|bytes"
    r"|none|null|nil|undefined|true|false|yes|no|on|off|required|optional|default|auto|unset|empty"
    r"|secret|secretstr|token|pass|password|passwd|key|api_?key|credentials?|hidden|redacted|masked"
    r"|bearer|basic|digest|negotiate|oauth2?|jwt|env|environment|keychain|keyring|prompt"
    r"|x{3,}|\*+|\.+|\u2026+|-+|_+|<[^<>]*>|\$\{?\w*\}?|\$\([^()]*\)|%\w+%|\{\{[^{}]*\}\}|\{\w*\}"
    r"|#[0-9a-f]{3,8}|sha-?[0-9]{1,3}|md5|[hre]s[0-9]{3}|your[_-][\w-]+|example|changeme|placeholder|todo|\[redacted\])"
)
_PLACEHOLDER = re.compile(
    r"(?i)(?:[\w-]{0,24}[_-])?(?:your|my|the|replace|change|insert|enter|put|some|add|fill|paste)[_ -]?(?:me|this|it|in|here|an?|own)?"
    r"(?:[_ -](?:[a-z]+))*|(?:sk|ghp|gh[osur]|glpat|xox[bp]|key|sk-ant|sk-proj|github_pat)[-_](?:ant-|proj-)?(?:\.{2,}|x{4,}|\*{2,}|\u2026)"
    r"|.{0,12}(?:\.{3,}|\u2026|x{6,}|X{6,}|\*{3,}|\u2022{3,}).{0,6}|\*+\w+\*+|change_?me|replace_?me|example\w*|dummy\w*|placeholder\w*"
)
_TEMPLATE = re.compile(r"%\(\w{1,40}\)[sdr]|%[sdrv]\b|\$?\{[\w.:!\[\]]{0,60}\}")
_NUMBER = re.compile(
    r"[-+]?[0-9][0-9_,]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?(?:ms|s|k|m|%)?", re.IGNORECASE
)
_PLAIN_WORD = re.compile(r"[A-Za-z]+")
_PATH = re.compile(r"(?:~|\.{0,2})?(?:/[\w.@ +-]+)+/?|[A-Za-z]:\\[\w\\. -]+")


def is_path(value: str) -> bool:
    """Tell whether a value is a path of a file, and nothing as random as a secret in base64."""
    return (
        value[:1] in "/~."
        and _PATH.fullmatch(value) is not None
        and value.count("/") > 1 - (value[:1] != "/")
    )


_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S*", re.IGNORECASE)

# Names of things: hosts with or without port, versions, words with hyphens between.
_NAME = re.compile(
    r"[\w.-]+:[0-9]{1,5}|v?[0-9]+(?:\.[0-9]+)+|[\w-]+(?:\.[a-z][a-z-]*)+|[a-z]+(?:[-_ ][a-z]+)*"
)

_MIN_KNOWN = 8
_MIN_WORD = 16
_LONGEST = 100  # of a name
_A_NAME = re.compile(r"[\w. $-]{1,100}")


def words_of(name: str) -> str:
    """Return a name's words in lower case with ``_`` between.

    >>> words_of("X-Api-Key"), words_of("openaiApiKey"), words_of("API_KEY2")
    ('x_api_key', 'openai_api_key', 'api_key_2')
    """
    return "_".join(_WORDS.findall(name[:_LONGEST])).lower()


@functools.lru_cache(4096)
def says_secret(name: str) -> bool:
    """Tell whether a name says that its value is a secret.

    >>> says_secret("OPENAI_API_KEY"), says_secret("clientSecret"), says_secret("FOO_KEY")
    (True, True, True)
    >>> says_secret("CONTEXT7_API_KEY"), says_secret("INPUT_TOKEN"), says_secret("SMTP_PASS")
    (True, True, True)
    >>> says_secret("inputTokens"), says_secret("token_type"), says_secret("key")
    (False, False, False)
    >>> says_secret("PWD"), says_secret("SSH_AUTH_SOCK"), says_secret("SORT_KEY")
    (False, False, False)
    """
    words = words_of(name)
    if not _A_NAME.fullmatch(name) or name in _WORKING_DIRECTORIES or words.startswith("nopass"):
        return False
    if words.endswith("secret_id"):
        return True
    if words.endswith("_pass") or words == "pass":
        return _NO_PASSWORD.isdisjoint(words.split("_")[:-1])
    matches = list(_SAYS_SECRET.finditer(words))
    if not matches:
        is_key = _ENDS_IN_KEY.match(name.replace("-", "_")) is not None
        return is_key and _PLAIN_KEYS.isdisjoint(words.split("_"))
    return _says_secret(name, words, matches[-1])


def _says_secret(name: str, words: str, found: re.Match[str]) -> bool:
    """Tell whether the words around the one that says secret leave it so."""
    before = words[: found.start()].split("_")
    after = words[found.end() :].split("_")
    if words[found.start() :].lstrip("_") in _WEAK:
        return _is_setting_of(words)
    if "token" in found[0] and not name.isupper() and not _COUNTED.isdisjoint(before):
        return False
    return "public" not in before and "no" not in before and _HARMLESS_AFTER.isdisjoint(after)


# Short words that say secret only as the last of several, or alone as an environment writes them.
_WEAK = frozenset(
    {"pat", "pin", "otp", "salt", "sas", "signature", "pw", "auth", "bearer", "psk", "creds"}
)
_WORKING_DIRECTORIES = frozenset({"PWD", "OLDPWD", "CWD"})
_NO_SETTING = frozenset(
    {"require", "enable", "use", "disable", "has", "is", "with", "no", "ssh", "basic"}
)


def _is_setting_of(words: str) -> bool:
    """Tell whether a weak word stands where it names a setting."""
    parts = words.split("_")
    if words in ("pin", "salt", "sas", "signature"):
        return False
    return len(parts) == 1 or (_NO_SETTING.isdisjoint(parts[:-1]) and "".join(parts[:-1]) != "")


def is_setting_name(name: str) -> bool:
    """Tell whether a name is written as in an environment: ``FOO_TOKEN``."""
    return name.replace("-", "_").strip("$_.").isupper()


def says_password(name: str) -> bool:
    """Tell whether a name says password: its value may be anything, short or of words."""
    return _PASSWORDS.search(words_of(name)) is not None


def is_harmless(value: str) -> bool:
    """Tell whether a value is no secret whatever its name says.

    >>> [is_harmless(text) for text in ("string", "${TOKEN}", "4096", "<token>", "hunter2")]
    [True, True, True, True, False]
    >>> is_harmless("Basic %s"), is_harmless("{user}:{password}")
    (True, True)
    """
    if "%" in value or "{" in value:
        value = _TEMPLATE.sub("", value)
    value = value.strip(" :,;")
    if len(value) > _LONGEST:
        return False
    return (
        not value
        or not (value.isascii() or any(map(str.isascii, value)))
        or (
            _HARMLESS_VALUE.fullmatch(value) is not None
            or _NUMBER.fullmatch(value) is not None
            or (_PLACEHOLDER.fullmatch(value) is not None and not is_random(value))
        )
    )


def may_be_secret(name: str, value: str) -> bool:
    """Tell whether a value under a name that says secret may be one; a password may be a number."""
    return not is_harmless(value) or (_PIN.fullmatch(value) is not None and says_password(name))


_CODE_START = (
    "$",
    "%",
    "<",
    "*",
    "{{",
    "process.env",
    "os.environ",
    "import.meta",
    "Deno.env",
    "@",
    "#{",
    "(",
    "[",
    "`",
)
_CODE_PART = re.compile(
    r"[A-Za-z_][\w.]*\(|\$\{|\$\(|\{\{|process\.env|os\.environ|getenv|env\.[A-Z]|secrets\.[A-Z]|var\.\w|\bdata\.\w"
)
_GENERIC = re.compile(r"&?(?:[A-Za-z_]\w*(?:::|\.))*[A-Za-z_]\w*<.*>+|![0-9a-z].*|[a-z]:[a-z]+")
_REFERENCE = re.compile(r"\$\w+(?::\$?\w+)*|\$?\{\{?[^{}]*\}?\}|%\w+%|<[^<>]*>|\$env:\w+")


def is_code(value: str) -> bool:
    """Tell whether a value is code or stands for another value: a variable, a call, a template.

    >>> [is_code(text) for text in ("$TOKEN", "getpass()", "{{ x }}", "pa$$w0rd")]
    [True, True, True, False]
    """
    if _REFERENCE.fullmatch(value):
        return True
    if value.startswith(
        ("${", "$(", "{{", "process.env", "os.environ", "import.meta", "Deno.env", "#{", "`")
    ):
        return True
    if value.startswith(("$", "@", "%", "<", "*")) and not is_random(value[1:]):
        return True
    if _GENERIC.fullmatch(value):
        return True
    found = _CODE_PART.match(value)
    return found is not None and not is_random(value)


_CHANGE = re.compile(r"[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z]|[A-Z]{2}[a-z]")
_LOOKED_AT = 512  # characters of a value
_UNITS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_RUN = re.compile(r"[A-Za-z0-9]{8,}")
_HEX = re.compile(
    r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{16,}|(?=[0-9A-F]*[0-9])(?=[0-9A-F]*[A-F])[0-9A-F]{16,}"
)


def is_random(value: str) -> bool:
    """Tell whether a value has a run of letters and digits that nobody would write as words.

    >>> [is_random(text) for text in ("Zk3vW9qLx7", "4f9a0c1e8b", "createdAt2026", "node20-deps2026")]
    [True, True, False, False]
    >>> [is_random(text) for text in ("getUserTokenOrThrow", "HTTP2Server", "kXbQzRtpWm")]
    [False, False, True]
    """
    value = value[:_LOOKED_AT]
    if not _CHANGE.search(value):
        return False
    for run in _RUN.findall(value):
        units = _UNITS.findall(run)
        if len(units) < _MIN_UNITS or run.isdigit():
            continue
        per_unit = len(run) / len(units)
        if any(map(str.isdigit, run)) and _is_unspeakable(run):
            return True
        if per_unit <= _SHORT_UNIT or (
            len(run) >= _MIN_WORD and per_unit <= _LONG_UNIT and any(map(str.isdigit, run))
        ):
            return True
    return False


def _is_unspeakable(run: str) -> bool:
    """Tell whether the letters of a run follow each other as in no language."""
    lower = run.lower()
    pairs = [lower[at : at + 2] for at in range(len(lower) - 1) if lower[at : at + 2].isalpha()]
    spoken = sum(pair in _SPOKEN for pair in pairs)
    return len(pairs) >= _MIN_PAIRS and spoken < _SPOKEN_SHARE * len(pairs)


_MIN_PAIRS, _SPOKEN_SHARE = 5, 0.6
_SPOKEN = frozenset(
    [
        "th",
        "he",
        "in",
        "er",
        "an",
        "re",
        "nd",
        "at",
        "on",
        "nt",
        "ha",
        "es",
        "st",
        "en",
        "ed",
        "to",
        "it",
        "ou",
        "ea",
        "hi",
        "is",
        "or",
        "ti",
        "as",
        "te",
        "et",
        "ng",
        "of",
        "al",
        "de",
        "se",
        "le",
        "sa",
        "si",
        "ar",
        "ve",
        "ra",
        "ld",
        "ur",
        "ro",
        "ri",
        "io",
        "ic",
        "ne",
        "me",
        "co",
        "ta",
        "ec",
        "ll",
        "so",
        "na",
        "li",
        "la",
        "el",
        "ma",
        "ge",
        "om",
        "ch",
        "be",
        "ho",
        "ca",
        "no",
        "us",
        "di",
        "ee",
        "ac",
        "ot",
        "em",
        "ad",
        "il",
        "ns",
        "ts",
        "ut",
        "ke",
        "pr",
        "tr",
        "ss",
        "ct",
        "po",
        "un",
        "ir",
        "ly",
        "pe",
        "rs",
        "ce",
        "wi",
        "up",
        "ap",
        "mp",
        "op",
        "ow",
        "am",
        "fo",
        "do",
        "mo",
        "wo",
        "lo",
        "bl",
        "ck",
        "ex",
        "ey",
        "ay",
        "ag",
        "ga",
        "go",
        "gr",
        "gh",
        "ht",
        "id",
        "if",
        "im",
        "ie",
        "ig",
        "ev",
        "fi",
        "fa",
        "fe",
        "fl",
        "fr",
        "ff",
        "ab",
        "ba",
        "bo",
        "bi",
        "bu",
        "br",
        "by",
        "cl",
        "cr",
        "cu",
        "da",
        "dr",
        "du",
        "dd",
        "eb",
        "ef",
        "ei",
        "ep",
        "ft",
        "gi",
        "gl",
        "gn",
        "gu",
        "hu",
        "ia",
        "ib",
        "ip",
        "ki",
        "kn",
        "lu",
        "ls",
        "lt",
        "lf",
        "lk",
        "lm",
        "mi",
        "mm",
        "mu",
        "my",
        "nc",
        "nn",
        "nu",
        "ny",
        "ob",
        "od",
        "oi",
        "ok",
        "oo",
        "os",
        "ov",
        "pa",
        "ph",
        "pi",
        "pl",
        "pp",
        "ps",
        "pt",
        "pu",
        "qu",
        "rc",
        "rd",
        "rg",
        "rk",
        "rl",
        "rm",
        "rn",
        "rr",
        "rt",
        "ru",
        "ry",
        "sc",
        "sh",
        "sk",
        "sl",
        "sm",
        "sn",
        "sp",
        "su",
        "sw",
        "sy",
        "tc",
        "tl",
        "tt",
        "tu",
        "tw",
        "ty",
        "ub",
        "uc",
        "ud",
        "ue",
        "ug",
        "ui",
        "ul",
        "um",
        "va",
        "vi",
        "vo",
        "wa",
        "we",
        "wh",
        "wn",
        "wr",
        "xt",
        "ye",
        "yp",
        "ys",
        "ze",
    ]
)
"""Pairs of letters that words are made of."""
_MIN_UNITS, _SHORT_UNIT, _LONG_UNIT = 3, 2.75, 3.6


def is_label(value: str) -> bool:
    """Tell whether a value only says again that it is a password: a label, a name, a type."""
    if any(map(str.isdigit, value)) or len(value) > _LONGEST:
        return False
    return _LABEL.search(value) is not None and _LABEL_WORDS.fullmatch(value) is not None


_LABEL = re.compile(
    r"(?i)pass[ _-]?(?:word|wort|phrase)|wachtwoord|contrase|senha|geheim|passwd|\bpass\b|\bpwd\b|secret|token|key|credential|kennwort|authori[sz]ation"
)
_LABEL_WORDS = re.compile(r"[\w .,:;/$@?!'\u2019()-]+")


def is_memorable(value: str) -> bool:
    """Tell whether a secret's value is so much its own that it is a secret wherever it stands.

    Eight characters at least, no word, path, address, number or UUID: or a password that
    is an ordinary word would blank that word everywhere.

    >>> [is_memorable(text) for text in ("kJ8-hunter2", "production", "/home/me/x", "localhost:80")]
    [True, False, False, False]
    """
    if len(value) < _MIN_KNOWN or is_harmless(value) or value != value.strip():
        return False
    if is_random(value):
        return not _UUID.fullmatch(value)
    if _PATH.fullmatch(value) or _URL.fullmatch(value) or _IDENTIFIER.fullmatch(value):
        return False
    if _PLAIN_WORD.fullmatch(value):
        return len(value) >= _MIN_WORD and not (value.islower() or value.istitle())
    return not _NAME.fullmatch(value) and not is_label(value) and any(map(str.isdigit, value))


_IDENTIFIER = re.compile(r"[A-Za-z]+(?:[-_./: ][A-Za-z]+)*[-_]?[0-9]{0,8}")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
