"""Which names say that their value is a secret, and which values are none whatever they are called.

A name is judged by its words: ``apiKey``, ``API_KEY`` and ``x-api-key`` are the same name.
"""

import re
from typing import Final

MARKER: Final = "[redacted]"
"""What stands where a secret stood."""

KEYWORD: Final = (
    r"pass[_-]?words?|passwd|pass[_-]?phrase|pwd|secrets?|tokens?|api[_ -]?keys?"
    r"|(?:access|private|secret|auth|account|master|signing|encryption|encrypt|service|session"
    r"|shared|storage|subscription|license|deploy|admin|proxy|client|webhook|root)[_-]?keys?"
    r"|credentials?|authorization|cookies?|connection[_-]?string|dsn|jwt|auth|(?-i:_KEY)|_pass(?![a-z])"
)
"""The part of a name that says secret, as a pattern without case."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SAYS_SECRET = re.compile(
    rf"(?:^|_)(?:[a-z]{{0,12}}(?:password|passwd|secret|token|apikey)|{KEYWORD})(?:_|$)"
)
_ENDS_IN_KEY = re.compile(r"^[A-Z0-9]+_(?:[A-Z0-9]+_)*KEY$")  # FOO_KEY, as in an environment

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
_PASSWORDS = re.compile(r"pass_?word|passwd|pass_?phrase|pwd")
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
_TEMPLATE = re.compile(r"%\(\w{1,40}\)[sdr]|%[sdrv]\b|\$?\{[\w.:!\[\]]{0,60}\}")
_NUMBER = re.compile(
    r"[-+]?[0-9][0-9_,]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?(?:ms|s|k|m|%)?", re.IGNORECASE
)
_PLAIN_WORD = re.compile(r"[A-Za-z]+")
_PATH = re.compile(r"(?:~|\.{0,2})?(?:/[\w.@ +-]+)+/?|[A-Za-z]:\\[\w\\. -]+")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S*", re.IGNORECASE)

# Names of things: hosts with or without port, versions, words with hyphens between.
_NAME = re.compile(
    r"[\w.-]+:[0-9]{1,5}|v?[0-9]+(?:\.[0-9]+)+|[\w-]+(?:\.[a-z][a-z-]*)+|[a-z]+(?:[-_ ][a-z]+)*"
)

_MIN_KNOWN = 8
_MIN_WORD = 16
_LONGEST = 100  # of a name
_A_NAME = re.compile(r"[A-Za-z0-9_. -]{1,100}")


def words_of(name: str) -> str:
    """Return a name's words in lower case with ``_`` between.

    >>> words_of("X-Api-Key"), words_of("openaiApiKey"), words_of("API_KEY2")
    ('x_api_key', 'openai_api_key', 'api_key_2')
    """
    return "_".join(_WORDS.findall(name[:_LONGEST])).lower()


def says_secret(name: str) -> bool:
    """Tell whether a name says that its value is a secret.

    >>> says_secret("OPENAI_API_KEY"), says_secret("clientSecret"), says_secret("FOO_KEY")
    (True, True, True)
    >>> says_secret("CONTEXT7_API_KEY"), says_secret("INPUT_TOKEN"), says_secret("SMTP_PASS")
    (True, True, True)
    >>> says_secret("inputTokens"), says_secret("token_type"), says_secret("key")
    (False, False, False)
    """
    if not _A_NAME.fullmatch(name):
        return False
    words = words_of(name)
    if words.endswith("_pass"):
        return _NO_PASSWORD.isdisjoint(words.split("_"))
    found = _SAYS_SECRET.search(words)
    if found is None:
        return _ENDS_IN_KEY.match(name) is not None and "PUBLIC" not in name
    before = words[: found.start()].split("_")
    after = words[found.end() :].split("_")
    if "token" in found[0] and not name.isupper() and not _COUNTED.isdisjoint(before):
        return False
    return "public" not in before and _HARMLESS_AFTER.isdisjoint(after)


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
    return not value or (
        _HARMLESS_VALUE.fullmatch(value) is not None or _NUMBER.fullmatch(value) is not None
    )


def may_be_secret(name: str, value: str) -> bool:
    """Tell whether a value under a name that says secret may be one; a password may be a number."""
    return not is_harmless(value) or (_PIN.fullmatch(value) is not None and says_password(name))


def is_memorable(value: str) -> bool:
    """Tell whether a secret's value is so much its own that it is a secret wherever it stands.

    Eight characters at least, no word, path, address, number or UUID: or a password that
    is an ordinary word would blank that word everywhere.

    >>> [is_memorable(text) for text in ("kJ8-hunter2", "production", "/home/me/x", "localhost:80")]
    [True, False, False, False]
    """
    if len(value) < _MIN_KNOWN or is_harmless(value) or value != value.strip():
        return False
    if _PATH.fullmatch(value) or _URL.fullmatch(value):
        return False
    if _PLAIN_WORD.fullmatch(value):
        return len(value) >= _MIN_WORD and not (value.islower() or value.istitle())
    return not _NAME.fullmatch(value)
