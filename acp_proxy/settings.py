"""What a person set once for all: ``config.toml``, and the variables that go before it.

Read only; options of a command go before both. Not here: what a setting does, and where the log is
when nobody says (``log.place``). ``run`` reads this while its agent starts, so it is quick to
import, and TOML is read only where there is a file.
"""

import os
import re
import stat
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from acp_proxy.errors import AcpProxyError

CONFIG_VARIABLE = "ACP_PROXY_CONFIG"
OFF_VARIABLE = "ACP_PROXY_OFF"
NO_PROGRESS_VARIABLE = "ACP_PROXY_NO_PROGRESS"
VARIABLES = {
    "log": "ACP_PROXY_LOG",
    "label": "ACP_PROXY_LABEL",
    "keep": "ACP_PROXY_KEEP",
    "redact_at_rest": "ACP_PROXY_REDACT_AT_REST",
}
"""The variable that goes before each setting of the file."""
RULES = ("names", "texts", "patterns")
"""The lists under ``[redaction]`` (``redaction.rules``)."""
DEFAULT = "default"
_MAX_BYTES = 64 << 10
"""A larger configuration is none; reading one takes half a second for each MiB."""
_MOST_DOTS = 100
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?$)|\'[^\']*(?:\'|$)')
_TABLES = ("redaction", "agents", "defaults")
_NO = ("", "0", "false", "no", "off")
_AGENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FIELD = re.compile(r"\{([a-z]+)\}")


class SettingsError(AcpProxyError):
    """The configuration file cannot be used; the text says where, why and what to do."""


class Value(NamedTuple):
    """A setting, and where it comes from: ``default``, a variable (``$NAME``) or the file."""

    value: Any
    source: str = DEFAULT


class Settings(NamedTuple):
    """All settings.

    Attributes:
        path: The file, whether it is there or not; None when there is no place for one.
        log: Path of the log, absolute; None for the platform's place.
        label: Template of the label that ``run`` gives to connections (see ``label_of``).
        keep: What ``run`` keeps in the log, as ``log.retention.parse_keep`` reads it.
        redact_at_rest: Whether ``run`` blanks secrets before they are written.
        rules: What else redaction blanks: lists under each of ``RULES``.
        agents: The user's own agents: short name to command.
        defaults: Of each command, its options' defaults.

    """

    path: str | None = None
    log: Value = Value(None)
    label: Value = Value(None)
    keep: Value = Value(None)
    redact_at_rest: Value = Value(value=False)
    rules: Mapping[str, Sequence[str]] = {}
    agents: Mapping[str, Sequence[str]] = {}
    defaults: Mapping[str, Mapping[str, Any]] = {}


def config_path() -> str | None:
    """Return where the configuration is: ``$ACP_PROXY_CONFIG``, else the platform's folder.

    None when this user has no home. The same place as platformdirs gives (a test says so),
    without its 15 ms, for which a client would wait; but never one relative to the working folder,
    which is somebody's repository.

    Raises:
        SettingsError: The variable's path is relative, and the working folder was deleted.

    """
    if chosen := os.environ.get(CONFIG_VARIABLE):
        try:
            return os.path.abspath(os.path.expanduser(chosen))
        except OSError as error:  # the working folder was deleted
            raise SettingsError(
                f"{CONFIG_VARIABLE}={chosen} is relative to a working folder that is gone; "
                "give an absolute path"
            ) from error
    home = "~/Library/Application Support" if sys.platform == "darwin" else "~/.config"
    given = os.environ.get("XDG_CONFIG_HOME", "") if sys.platform != "darwin" else ""
    folder = given if os.path.isabs(given) else os.path.expanduser(home)
    return os.path.join(folder, "acp-proxy", "config.toml") if os.path.isabs(folder) else None


def load() -> Settings:
    """Return the settings of this process's environment and its configuration file.

    Raises:
        SettingsError: The file cannot be read or says what is no setting.

    """
    path = config_path()
    return _with_variables(Settings(path) if path is None else _read(path))


def load_leniently() -> tuple[Settings, str | None]:
    """Return the settings, and why the file could not be used if it could not: for ``run``.

    Whoever wrote a file that cannot be read may have meant that no secret is to be stored:
    secrets are blanked then, unless the variable says otherwise.
    """
    try:
        return load(), None
    except Exception as error:  # noqa: BLE001 - whatever it is, the conversation goes on
        careful = Settings(redact_at_rest=Value(value=True))
        return _with_variables(careful), str(error)


def label_of(template: str, command: "Sequence[str]", cwd: str) -> str:
    """Return a connection's label; what is no field stays as it is.

    Fields: ``{folder}`` the working folder's name, ``{cwd}`` its path, ``{agent}`` the agent's
    program, ``{host}``, ``{user}``, ``{pid}``, ``{date}`` (the day, local time).

    >>> label_of("{folder}: {agent} {x}", ["npx", "-y", "@acme/some-agent@1.2"], "/home/me/shop")
    'shop: some-agent {x}'
    """
    fields = {
        "folder": lambda: os.path.basename(cwd) or cwd,
        "cwd": lambda: cwd,
        "agent": lambda: _agent_in(command),
        "host": lambda: os.uname().nodename,
        "user": _user,
        "pid": lambda: str(os.getpid()),
        "date": _today,
    }
    return _FIELD.sub(
        lambda match: fields[match[1]]() if match[1] in fields else match[0], template
    )


def _agent_in(command: "Sequence[str]") -> str:
    """Return the name of the program that matters: not the one that starts it."""
    words = [word for word in command[1:] if not word.startswith("-")]
    program = os.path.basename(command[0])
    starts_others = re.fullmatch(r"npx|uvx|bunx|node|bun|deno|pnpm|python[0-9.]*", program)
    if starts_others is None or not words:
        return program
    return os.path.basename(words[0]).partition("@")[0]


def _user() -> str:
    import pwd  # noqa: PLC0415 - seldom needed

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _today() -> str:
    import time  # noqa: PLC0415 - seldom needed

    try:
        return time.strftime("%Y-%m-%d")
    except (OverflowError, OSError):  # a clock at 2262 or later
        return "unknown"


def _with_variables(settings: Settings) -> Settings:
    """Return the settings with those that the environment says instead."""

    def chosen(name: str, value: Value) -> Value:
        text = os.environ.get(VARIABLES[name])
        if not text:
            return value
        is_flag = isinstance(value.value, bool)
        return Value(text.lower() not in _NO if is_flag else text, f"${VARIABLES[name]}")

    return settings._replace(
        log=chosen("log", settings.log),
        label=chosen("label", settings.label),
        keep=chosen("keep", settings.keep),
        redact_at_rest=chosen("redact_at_rest", settings.redact_at_rest),
    )


def _read(path: str) -> Settings:
    try:
        raw = _content(path)
    except (FileNotFoundError, NotADirectoryError):
        return Settings(path)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}; {_OR}") from error
    if not raw:  # /dev/null, for one
        return Settings(path)
    import tomllib  # noqa: PLC0415 - 10 ms; only where there is a file

    try:
        text = raw.decode("utf-8-sig")
        _check_keys(path, text)
        tree = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8 (byte {error.start}); {_OR}") from error
    except (ValueError, RecursionError) as error:  # also a number with very many digits
        raise SettingsError(f"{path} is no TOML: {error}; correct it, {_OR}") from error
    return _Reader(path).settings(tree)


def _check_keys(path: str, text: str) -> None:
    """Refuse keys of very many parts: reading them takes tomllib the square of their number."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > _MOST_DOTS:
            outside, _, _ = _QUOTED.sub("", line).partition("#")
            if outside.count(".") > _MOST_DOTS:
                raise SettingsError(
                    f"{path}, line {number}: a key of more than {_MOST_DOTS} parts; {_OR}"
                )


def _content(path: str) -> bytes:
    """Return what is in a file; a conversation waits for this, so nothing else is waited for."""
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            if os.path.samestat(status, os.stat(os.devnull)):
                return b""
            raise SettingsError(f"{path} is no ordinary file; {_OR}")
        raw = file.read(_MAX_BYTES + 1)
    if len(raw) > _MAX_BYTES:
        raise SettingsError(f"{path} is larger than {_MAX_BYTES >> 10} KiB; {_OR}")
    return raw


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a pipe nobody writes into would never open


_OR = f"or set {CONFIG_VARIABLE}=/dev/null to do without it"


class _Reader:
    """Takes the settings out of a parsed file, and says what is wrong with them."""

    def __init__(self, path: str) -> None:
        self._path = path

    def settings(self, tree: dict[str, Any]) -> Settings:
        self._check_names(tree, (*VARIABLES, *_TABLES), "")
        for name in _TABLES:
            if not isinstance(tree.get(name, {}), dict):
                raise self._wrong(f"{name} is no table; write [{name}]")
        return Settings(
            path=self._path,
            log=self._value(tree, "log", self._log),
            label=self._value(tree, "label", self._text),
            keep=self._value(tree, "keep", self._text),
            redact_at_rest=self._value(tree, "redact_at_rest", self._flag, default=False),
            rules=self._rules(tree.get("redaction", {})),
            agents={
                name: self._command(name, given) for name, given in tree.get("agents", {}).items()
            },
            defaults=self._defaults(tree.get("defaults", {})),
        )

    def _value(self, tree: dict[str, Any], name: str, read: Any, default: Any = None) -> Value:
        return Value(read(name, tree[name]), self._path) if name in tree else Value(default)

    def _text(self, name: str, given: object) -> str:
        if not isinstance(given, str) or "\0" in given:
            raise self._wrong(f"{name} is no text; write it in quotes")
        return given

    def _flag(self, name: str, given: object) -> bool:
        if not isinstance(given, bool):
            raise self._wrong(f"{name} is neither true nor false")
        return given

    def _log(self, name: str, given: object) -> str:
        path = os.path.expanduser(self._text(name, given))
        if not os.path.isabs(path):
            raise self._wrong(f'log = "{given}" is relative; begin it with / or ~/')
        return path

    def _rules(self, given: dict[str, Any]) -> dict[str, list[str]]:
        self._check_names(given, RULES, "redaction.")
        rules = {name: self._texts(f"redaction.{name}", value) for name, value in given.items()}
        if not all(all(texts) for texts in rules.values()):
            raise self._wrong("redaction: an empty text is everywhere; take it out")
        for name in rules.get("names", ()):
            if not re.sub(r"[-_. ]", "", name).isalnum():
                raise self._wrong(
                    f'redaction.names: "{name}" is no name: letters, digits, "-", "_" and "."; a '
                    "pattern can say more"
                )
        for pattern in rules.get("patterns", ()):
            self._check_pattern(pattern)
        return rules

    def _check_pattern(self, pattern: str) -> None:
        import warnings  # noqa: PLC0415 - seldom needed

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python's own words would reach the client
                re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise self._wrong(
                f'redaction.patterns: "{pattern}" is no regular expression: {error}'
            ) from error

    def _texts(self, name: str, given: object) -> list[str]:
        if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
            raise self._wrong(f'{name} is no list of texts; write ["one", "two"]')
        return given

    def _command(self, name: str, given: object) -> list[str]:
        if not _AGENT_NAME.fullmatch(name):
            raise self._wrong(
                f'agents: "{name}" is no short name; use letters, digits, ".", "_" and "-"'
            )
        if isinstance(given, str):
            import shlex  # noqa: PLC0415 - seldom needed

            try:
                given = shlex.split(given)
            except ValueError as error:
                raise self._wrong(f"agents.{name}: {error}") from error
        command = self._texts(f"agents.{name}", given)
        if not command or not command[0] or any("\0" in word for word in command):
            raise self._wrong(f'agents.{name} is no command; write ["program", "argument"]')
        return [os.path.expanduser(command[0]), *command[1:]]

    def _defaults(self, given: dict[str, Any]) -> dict[str, dict[str, Any]]:
        for command, options in given.items():
            if not isinstance(options, dict):
                raise self._wrong(
                    f"defaults.{command} is no table; write [defaults.{command}] and the options "
                    "below it"
                )
        if "run" in given:  # it may ask for secrets to be blanked: not to be passed over in silence
            raise self._wrong(
                f"defaults.run: what run does by default stands at the top: {', '.join(VARIABLES)}"
            )
        return given

    def _check_names(self, given: dict[str, Any], known: Sequence[str], where: str) -> None:
        for name in given:
            if name not in known:
                import difflib  # noqa: PLC0415 - seldom needed

                near = difflib.get_close_matches(name, known, 1)
                meant = f"did you mean {where}{near[0]}?" if near else f"known: {', '.join(known)}"
                raise self._wrong(f"there is no setting {where}{name}; {meant}")

    def _wrong(self, what: str) -> SettingsError:
        return SettingsError(f"{self._path}: {what}")
