"""Secrets that their context gives away: headers, addresses, command lines, SQL, files of a known form.

Each context is a row of a table: words one of which stands in it, where its pattern is tried, and
what decides. Patterns take what fits without going back, so that the cost is linear in the text.
"""

import base64
import binascii
import re
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.redaction.finding import Finder
from acp_proxy.redaction.names import (
    MARKER,
    is_code,
    is_harmless,
    is_label,
    is_random,
    says_password,
    says_secret,
)
from acp_proxy.redaction.vendors import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_WORDS = re.compile(r"[a-z]+(?:[-_.][a-z]+)*")
_Q = r"\\{0,3}[\"'`]"
_MIN_OPAQUE = 20
_LINE = 4096  # characters of a command line that are looked at
_VALUE = r"(?:\"(?P<double>(?:[^\"\\\r\n]|\\.){1,4096}+)\"|'(?P<single>[^'\r\n]{1,4096}+)'|(?P<bare>[^\s\"'`|;&)]{1,4096}+))"
_TEXT = r"(?:\"(?P<double>(?:[^\"\\\r\n]|\\.){1,4096}+)\"|'(?P<single>(?:[^'\\\r\n]|\\.|''){1,4096}+)'|(?P<bare>[^\s\"'`;,)]{1,4096}+))"


class _At(Enum):
    """Where a pattern is tried: at the word, in its line, in the lines around it, in the whole text."""

    WORD = 1
    LINE = 2
    BLOCK = 3
    TEXT = 4


class _Context(NamedTuple):
    words: tuple[str, ...]
    at: _At
    pattern: re.Pattern[str]
    judge: "Callable[[str], bool]"


def _is_given(value: str) -> bool:
    """Tell whether what a command is given as a password is one, and no variable or option."""
    return (
        not (
            is_harmless(value)
            or is_code(value)
            or value.startswith(("-", "$", "<"))
            or is_label(value)
        )
        and value not in _NO_PASSWORDS
    )


_NO_PASSWORDS = frozenset({"user:password", "-", "pass", "password"})


def _is_opaque(value: str) -> bool:
    """Tell whether a credential is one, and no word of a sentence."""
    if is_harmless(value) or value[0] in "$<{%" or is_code(value):
        return False
    return (any(map(str.isdigit, value)) and not _ENDS_IN_NUMBER.fullmatch(value)) or (
        len(value) >= _MIN_OPAQUE and not _WORDS.fullmatch(value)
    )


_ENDS_IN_NUMBER = re.compile(r"[A-Za-z]+[0-9]{1,4}")


def _is_pair(text: str) -> bool:
    """Tell whether a text is ``user:password`` in base64, or as random as one."""
    try:
        if b":" in base64.b64decode(text + "=" * (-len(text) % 4), validate=True):
            return True
    except (binascii.Error, ValueError):
        pass
    return is_random(text)


def _is_number_or_random(value: str) -> bool:
    return is_random(value) or (value.isdigit() and len(value) >= 6)


def _of(
    words: str, at: _At, pattern: str, judge: "Callable[[str], bool]", flags: int = 0
) -> _Context:
    return _Context(tuple(words.split("|")), at, re.compile(pattern, re.IGNORECASE | flags), judge)


_OPTION = r"(?:(?<=\s)|(?<=\A))"
_W, _L, _B, _T = _At.WORD, _At.LINE, _At.BLOCK, _At.TEXT
_CONTEXTS = (
    # Headers
    _of("authorization", _W, rf"authorization(?:{_Q})?[ \t]*+[:=,][ \t]*+(?:{_Q})?(?:digest|aws4-hmac-sha256|oauth|hawk)[ \t]++(?P<value>[^\r\n`\\]{{4,4096}}+)", lambda value: True),
    _of("authorization", _W, rf"authorization(?:{_Q})?[ \t]*+[:=, ][ \t]*+(?:{_Q})?(?:[A-Za-z][\w-]{{1,20}}+[ \t]++(?:token=)?(?:{_Q})?)?(?P<value>[^\s\"'`,;<>\\]{{6,4096}}+)", _is_opaque),
    _of("bearer", _W, r"bearer(?:[ \t]|%20)++(?P<value>[A-Za-z0-9._~+/-]{6,4096}+=*+)", _is_opaque),
    _of("basic", _W, r"basic[ \t]++(?P<value>[A-Za-z0-9+/]{6,4096}+={0,2}+)", _is_pair),
    _of("cookie", _W, rf"cookie2?(?:{_Q})?[ \t]*+:[ \t]*+(?:{_Q})?(?P<value>[\w.$!#%&'*+^|~-]{{1,128}}+=[^\r\n\"'`\\]{{1,8192}}+)", lambda value: MARKER not in value),
    # Addresses
    _of("?", _T, r"(?<=[?&#])(?:[\w.-]{0,40}(?:key|sig|signature|code|auth|token|secret)|state|sid|session)=(?P<value>[^\s&#\"'`<>\\]{12,2048}+)", lambda value: _is_opaque(value) and is_random(value)),
    _of("jdbc:oracle", _W, r"jdbc:oracle:\w+:[^/\s]{1,64}+/(?P<value>[^\s@]{1,256}+)@", _is_given),
    # Programs
    _of("curl|wget|http |https |aria2c", _L, rf"{_OPTION}(?:-u|--(?:proxy-)?user|-a|--auth|-U)[ =]?(?P<q>[\"'])?[^\s:\"'/=-][^\s:\"'/]{{0,64}}+:(?P<value>(?(q)[^\r\n\"']{{3,512}}+|[^\s\"']{{3,512}}+))", _is_given),
    _of("curl", _L, r"[ ](?:-b|--cookie)[ =]?[\"']?(?P<value>[\w.-]{1,128}+=[^\"'\s]{3,4096}+)", lambda value: True),
    _of("oauth2-bearer", _W, rf"oauth2-bearer[ =]{_VALUE}", _is_given),
    _of("http |https ", _L, r"(?<=\s)[\w-]{0,40}(?:key|token|auth|secret)[\w-]{0,10}:(?P<value>[A-Za-z0-9_.+/=-]{8,4096}+)(?=\s|\Z)", is_random),
    _of("mysql|mysqldump|mysqladmin|mysqlimport|mariadb|7z|7za|unrar|rar", _L, r"(?<=\s)-p(?:\"(?P<double>[^\"\r\n]{3,512}+)\"|'(?P<single>[^'\r\n]{3,512}+)'|(?P<bare>[^\s\"'`-][^\s\"'`]{2,512}+))", _is_given),
    _of("mongo|sshpass|az login|docker login|podman login|helm registry|twine|skopeo|ncftp|oc login|cf login|mosquitto|ibmcloud", _L, rf"{_OPTION}-p[ =]{{0,2}}{_VALUE}", _is_given),
    _of("redis-cli", _L, rf"(?<=\s)(?:-a|--pass)[ =]{_VALUE}", _is_given),
    _of("sqlcmd|bcp|mosquitto|zip|rabbitmqadmin|isql|cqlsh|nxc|crackmapexec", _L, rf"(?<=\s)-P[ ]?{_VALUE}", _is_given),
    _of("ldapsearch|ldapmodify|ldapadd|ldapwhoami|ldapdelete|ldappasswd|wpscan", _L, rf"(?<=\s)-w[ ]?{_VALUE}", _is_given),
    _of("ssh-keygen", _L, rf"(?<=\s)-[NP][ ]{{0,2}}{_VALUE}", _is_given),
    _of("openssl", _L, rf"(?<=\s)-(?:k|K|pass)[ ](?:pass:)?{_VALUE}", _is_given),
    _of("mysqladmin", _L, rf"[ ]password[ ]{_VALUE}", _is_given),
    _of("pass:", _W, r"pass:(?P<value>[^\s\"'`]{3,512}+)", _is_given),
    _of("keytool|jarsigner", _L, rf"(?<=\s)-(?:storepass|keypass|srcstorepass|deststorepass)[ ]{_VALUE}", _is_given),
    _of("sqlplus|sqlldr|expdp|impdp", _L, r"[ ][\"']?[\w$#]{1,64}/(?P<value>[^\s@\"']{3,256}+)(?=@|\s|\Z)", _is_given),
    _of("smbclient|smbmount|rpcclient|mount.cifs|smbget", _L, r"(?<=\s)(?:-U|--user)[ =]?[\"']?[^\s%\"']{1,64}+%(?P<value>[^\s\"']{3,256}+)", _is_given),
    _of("lftp", _L, r"(?<=\s)-u[ ][\"']?[^\s,\"']{1,64}+,(?P<value>[^\s\"']{3,256}+)", _is_given),
    _of("chpasswd", _L, r"[\"'][^\s:\"']{1,64}+:(?P<value>[^\"'\r\n]{3,512}+)", _is_given),
    _of("--with-token|--password-stdin|secret create|--stdin|secret set|-pass stdin|--pass-stdin|passphrase-fd|login --token", _L, r"(?:echo|printf)[ ](?:-n[ ]|[\"']?%s(?:\\n)?[\"']?[ ])?[\"']?(?P<value>[^\s\"'|]{6,4096}+)[\"']?[ ]?\|", _is_given),
    _of("cargo login|vault login|npm login|pulumi login|ngrok|authtoken|add-authtoken|dvc|wandb login|gcloud auth|snyk auth|flyctl auth", _L, r"(?:login|auth|authtoken|config)[ ](?P<value>[A-Za-z0-9_./+=-]{16,4096}+)", is_random),
    _of("securestring|put-parameter|create-secret|put-secret|update-secret|keyvault secret set|secret set|secrets versions", _L, rf"(?<=\s)--(?:value|secret-string|body|secret-value|data)[ =]{_VALUE}", _is_given),
    _of("secret generic|secret docker-registry|create secret", _L, rf"--(?:from-literal|docker-password)[ =][\"']?(?:[\w.-]{{1,80}}=)?{_VALUE}", _is_given),
    _of("config:set|secrets set|env:set|config set|env add", _L, r"[ ][A-Z][A-Z0-9_]{1,60}=(?P<value>[^\s\"']{8,4096}+)", is_random),
    _of("auth ", _W, r"auth[ ](?:[A-Za-z][\w-]{0,30}[ ])?(?P<value>[^\s\"'`]{8,512}+)", is_random),
    _of("--otp", _W, r"--otp[ =](?P<value>[0-9]{6,10})", lambda value: True),
    _of("user/pass|login/pass|username/pass|credentials|log in|login with|logged in|sign in", _L, r"[ ][\"'`]?[\w.@+-]{2,64}+[\"'`]?[ ]?/[ ]?[\"'`]?(?P<value>[^\s\"'`/]{8,512}+)", is_random),
    # SQL
    _of("identified", _W, rf"identified[ ]+(?:with[ ]\w{{1,40}}[ ])?by[ ]+(?:password[ ]+|values[ ]+)?{_TEXT}", _is_given),
    _of("password", _W, r"password(?:[ ]*[=(][ ]*|[ ]for[ ][^=\r\n]{1,64}=[ ]*|[ ]+)(?:password)?\(?[ ]*N?'(?P<value>(?:[^'\r\n]|''){4,4096}+)'", _is_given),
    # People
    _of("as pass|as the pass|as my pass|as your pass|as api|as the api|as token|as the token|as key|as secret|as the secret|as bearer|as the key|as its pass|as its token|as a token|as a pass|as the admin|as the root|as the db|as the access|as access", _L, r"(?P<value>[^\s\"'`]{6,4096}+)[\"'`]?[ ]as[ ](?:(?:the|my|your|its|an?)[ ])?(?:[\w-]{1,20}[ ]){0,2}(?:pass|token|key|secret)", is_random),
    # Files
    _of("login ", _W, r"login\s{1,8}\S{1,128}+(?:\s{1,8}account\s{1,8}\S{1,128}+)?\s{1,8}password\s{1,8}(?P<value>\S{1,512}+)", _is_given),
    _of("password", _W, r"password\s{1,8}(?P<value>\S{3,512}+)\s{1,8}(?:account|login|machine|macdef)\b", is_random),
    _of(":", _T, r":\d{2,5}:[\w.*-]{1,64}:[\w.*@-]{1,64}:(?P<value>(?:[^\s:\\]|\\.){6,512}+)(?=\s|\Z|[\"'`])", is_random),
    _of("*:*:*:", _W, r"\*:\*:\*:[^\s:]{1,64}:(?P<value>(?:[^\s:\\]|\\.){3,512}+)", _is_given),
    _of("\ttrue\t|\tfalse\t", _W, r"\t(?:true|false)\t\d{1,12}\t[^\t\n]{1,200}\t(?P<value>[^\s]{6,4096})", is_random),
    _of("auth-user-pass", _W, r"auth-user-pass>\s{1,4}[^\n]{1,128}\n(?P<value>[^\n<]{3,512}+)", lambda value: True),
    _of("mnemonic|seed phrase|seed_phrase|recovery phrase|seedphrase", _W, r"[a-z]{4,10}[ _]?(?:phrase)?[\"'*]{0,3}[ ]?[:=][ ]?[\"'`*]{0,3}(?P<value>\w{3,12}(?:[ ,]{1,2}\w{3,12}){8,26})", lambda value: True),
    _of("recovery code|backup code|recovery-code|recovery_code", _B, r"(?<=\n)[ \t]*(?:[-*\d.]{1,3}[ ])?(?P<value>[A-Za-z0-9]{4,12}(?:[- ][A-Za-z0-9]{4,12}){1,5})(?=[ \t]*(?:[\r\n`\"']|\Z))", lambda value: any(map(str.isdigit, value))),
    _of("stringdata:|kind: secret|\"secret\"", _B, r"(?<=\n)[ \t]+[\w.-]{1,80}:[ ](?P<value>[^\s#|>\"']{8,8192}+)(?=[ \t]*(?:[\r\n`\"']|\Z))", is_random),
    _of("\"secret\"", _B, r"\"[\w.-]{1,80}\":[ ]?\"(?P<value>[A-Za-z0-9+/]{8,8192}={0,2})\"", is_random),
    _of("data:", _B, r"(?<=\n)[ \t]+[\w.-]{1,80}:[ ](?P<value>[A-Za-z0-9+/]{12,8192}={0,2})(?=[ \t]*(?:[\r\n`\"']|\Z))", lambda value: False),
    _of("\"bearer\"|\"gitlab-token\"|\"github-oauth\"|\"http-basic\"", _W, r"\"[\w-]{1,20}\":[ ]?\{\s{0,8}\"[\w.-]{1,100}\":[ ]?\"(?P<value>[^\"\\\r\n]{6,4096})\"", is_random),
    _of("\"env\"|\"environment\"|\"headers\"", _W, r"\"\w{3,30}\"[ ]?:[ ]?\{\s{0,20}\"[\w.-]{1,100}\"[ ]?:[ ]?\"(?P<value>[^\"\\\r\n]{1,4096})\"", _is_given),
    _of("variable \"", _W, r"variable[ ]\"[\w-]{0,60}(?:pass|secret|token|key)[\w-]{0,60}\"[ ]?\{[^{}]{0,300}?default[ ]{0,8}=[ ]{0,8}\"(?P<value>[^\"\r\n]{3,4096})\"", _is_given),
    _of("expect ", _W, r"expect[ ][^\n]{0,80}(?:pass|token|pin)[^\n]{0,40}\n[ \t]*send[ ](?:--[ ])?[\"'](?P<value>[^\"'\\\r\n]{3,512})", _is_given),
    _of("value", _W, r"value[\"']?[ ]?[:=][ ]?[\"']?(?P<value>[^\s\"',]{6,4096}+)[\"']?,?\s{1,40}[\"']?(?:name|key)[\"']?[ ]?[:=][ ]?[\"']?(?P<name>[\w.-]{2,60})", is_random),
    _of("name|key|variable", _W, r"(?:name|key|variable)[\"']?[ ]?[:=][ ]?[\"']?(?P<name>[\w.-]{2,60}+)[\"']?,?[ \t]{0,8}\r?\n?[ \t+|>-]{0,60}[\"']?value[\"']?[ ]?[:=][ ]?[\"']?(?P<value>[^\s\"',]{3,4096}+)", _is_given),
    # Markup
    _of("type=", _W, r"type=[\"']?password[\"']?[^<>\r\n]{0,200}?[ ]value=[\"'](?P<value>[^\"'\r\n]{3,4096})", _is_given),
    _of("name=", _W, r"name=\\{0,3}[\"'](?P<name>[\w.-]{2,60}+)\\{0,3}[\"'][^<>\r\n]{0,100}?[ ]value=\\{0,3}[\"'](?P<value>[^\"'\r\n\\]{3,4096}+)", _is_given),
    _of("key=", _W, r"key=\\{0,3}[\"'](?P<name>[\w.:-]{2,60}+)\\{0,3}[\"'][ \t]{1,8}value=\\{0,3}[\"'](?P<value>[^\"'\r\n\\]{3,4096}+)", _is_given),
    _of("name=", _W, r"name=\\{0,3}[\"'](?P<name>[\w.-]{2,60}+)\\{0,3}[\"'](?:>|\r?\n\r?\n)(?P<value>[^<\r\n]{3,4096}+)", _is_given),
    _of("<", _T, r"<(?P<name>[A-Za-z][\w.:-]{1,60}+)(?:[ ][^<>]{0,100})?>\s{0,40}(?:<!\[CDATA\[)?(?P<value>[^<>\r\n]{3,4096}?)\s{0,40}(?:(?:[^<>]|<[^/<>])?[^<>\s]{0,200}\]\]>)?</", _is_given),
    _of("<![cdata[", _W, r"<!\[CDATA\[(?P<value>[^\r\n]{3,4096}?)\]\]>", is_random),
    _of("<key>", _W, r"<key>(?P<name>[\w. -]{2,60})</key>\s{0,40}<string>(?P<value>[^<\r\n]{3,4096})", _is_given),
)  # fmt: skip

_BY_WORD: dict[str, list[int]] = {}
_ANYWHERE = [context for context in _CONTEXTS if context.at is _At.TEXT]
for _number, _context in enumerate(_CONTEXTS):
    if _context.at is _At.TEXT:
        continue
    for _word in _context.words:
        _BY_WORD.setdefault(_word, []).append(_number)
ANCHORS = (*_BY_WORD, *(word for context in _ANYWHERE for word in context.words), "://")
"""In lower case, one of these stands in every text in which ``find`` finds anything."""
_HEAD_WORDS = ("pass", "pwd", "pw", "secret", "token", "key", "credential")
for _word in _HEAD_WORDS:
    _BY_WORD.setdefault(_word, [])
_FINDER = Finder(tuple(_BY_WORD))
_BLOCK_SIZE = 2048


def find(text: str, lower: str) -> "Iterator[Span]":
    """Yield secrets that their context gives away.

    Args:
        text: Any text.
        lower: The same in lower case, of the same length.

    """
    done: dict[int, int] = {}  # of each context, how far the text was looked at
    columns = 0
    for start, word in _FINDER.matches(lower):
        if word in _HEAD_WORDS and start >= columns and _HEAD.match(text, start):
            columns, spans = _columns(text, start)
            yield from spans
        for number in _BY_WORD[word]:
            if start >= done.get(number, 0):
                for span in _around(_CONTEXTS[number], text, start):
                    yield span
                    done[number] = max(done.get(number, 0), span.end)
                if _CONTEXTS[number].at is not _At.WORD:
                    done[number] = _window(text, start, _CONTEXTS[number].at)[1]
    for context in _ANYWHERE:
        if context.words[0] in text:
            yield from _judged_all(context, context.pattern.finditer(text))
    if "://" in text:
        yield from _in_addresses(text)


def _around(context: _Context, text: str, start: int) -> "Iterator[Span]":
    """Yield what a context gives away around one of its words."""
    if context.at is _At.WORD:
        match = context.pattern.match(text, start)
        return _judged_all(context, () if match is None else (match,))
    return _judged_all(context, context.pattern.finditer(text, *_window(text, start, context.at)))


def _judged_all(context: _Context, matches: "Iterable[re.Match[str]]") -> "Iterator[Span]":
    for match in matches:
        span = _judged(context, match)
        if span is not None:
            yield span


def _window(text: str, start: int, at: _At) -> tuple[int, int]:
    """Return what is looked at around a word: its line, or the lines behind it."""
    if at is _At.BLOCK:
        return max(start - _BLOCK_SIZE, 0), min(start + _BLOCK_SIZE, len(text))
    first = text.rfind("\n", max(start - _LINE, 0), start) + 1
    first = first or max(start - _LINE, 0)
    last = text.find("\n", start, start + _LINE)
    while last > 0 and text[last - 1 : last] == "\\" and last - start < _LINE:
        following = text.find("\n", last + 1, start + _LINE)
        last = following if following > 0 else min(start + _LINE, len(text))
    return first, last if last >= 0 else min(start + _LINE, len(text))


def _judged(context: _Context, match: re.Match[str]) -> Span | None:
    """Return where the value of a match stands, if it is a secret."""
    groups = match.groupdict()
    name = groups.get("name")
    if name is not None and not says_secret(name):
        return None
    group = next(each for each in ("value", "double", "single", "bare") if groups.get(each))
    value = groups[group]
    if MARKER in value or not context.judge(value):
        return None
    if name is not None and not (says_password(name) or any(map(str.isdigit, value))):
        return None
    return Span(*match.span(group), is_open=group in ("value", "bare"))


_ADDRESS = re.compile(r"://[^\s\"'`<>]{1,4096}+")
_SCHEME = re.compile("://")
_USER = re.compile(r"(?P<user>[^:@/?#\s]{0,512}+)(?P<colon>:?)")
_PORT = re.compile(r"\d{1,5}(?:[/?#,]|\Z)")


def _in_addresses(text: str) -> "Iterator[Span]":
    """Yield passwords in addresses: up to the last ``@``, whatever they hold."""
    for match in _ADDRESS.finditer(text):
        places = [
            match.start(),
            *(each.start() + match.start() for each in _SCHEME.finditer(match[0], 3)),
        ]
        for place, following in zip(places, [*places[1:], match.end()], strict=True):
            yield from _in_address(text, place + 3, following)


def _in_address(text: str, start: int, end: int) -> "Iterator[Span]":
    """Yield the password, or the token in its place, of one address."""
    at = text.rfind("@", start, end)
    if at >= 0:
        yield from _of_user(text, start, at)


def _of_user(text: str, start: int, at: int) -> "Iterator[Span]":
    user = _USER.match(text, start, at)
    if user is None:
        return
    first = user.end()
    if not user["colon"]:
        if first == at and is_random(user["user"]):
            yield Span(start, at, is_open=False)
        return
    value = text[first:at]
    if not value or _PORT.match(value) or MARKER in value or value in ("password", "pass", "%s"):
        return
    if not (is_harmless(value) or is_code(value) or is_label(value)):
        yield Span(first, at, is_open=False)


_HEAD = re.compile(r"\w{2,10}[\w ]{0,12}[\"`*]{0,3}[ \t]*+(?=[|,\t\r\n])", re.IGNORECASE)
_WIDEST, _LONGEST_HEAD = 1000, 30
_FRAME = ' `*\r"'
_RULE = re.compile(r"[-+|:= \t\r]+")
_ROW = re.compile(r"[^\n]{3,2000}")


def _columns(text: str, at: int) -> tuple[int, list[Span]]:
    """Return where a table ends whose head has a name that says secret, and the values below it."""
    first = text.rfind("\n", max(at - _WIDEST, 0), at) + 1
    row = _ROW.match(text, first or max(at - _WIDEST, 0))
    if row is None:
        return at, []
    separator = "|" if "|" in row[0] else "\t" if "\t" in row[0] else ","
    cells = [cell.strip(_FRAME) for cell in row[0].split(separator)]
    wanted = [number for number, cell in enumerate(cells) if says_secret(cell)]
    done = row.end()
    found: list[Span] = []
    if len(cells) > 1 and wanted and max(map(len, cells)) < _LONGEST_HEAD:
        for row in _ROW.finditer(text, done):
            if separator not in row[0] and not _RULE.fullmatch(row[0]):
                break
            done = row.end()
            found += _cells(row, separator, wanted)
    return done, found


def _cells(row: re.Match[str], separator: str, wanted: list[int]) -> "Iterator[Span]":
    """Yield the random values of the wanted columns of a table's row."""
    at = row.start()
    for number, cell in enumerate(row[0].split(separator)):
        value = cell.strip(_FRAME)
        if number in wanted and is_random(value) and MARKER not in value:
            start = at + cell.index(value)
            yield Span(start, start + len(value), is_open=False)
        at += len(cell) + 1
