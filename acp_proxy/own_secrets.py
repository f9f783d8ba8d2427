"""The secrets of the person who shares: this machine's environment and usual credential files.

They are read when something is shared, handed to redaction as texts, and neither stored nor
printed. What cannot be read is left out without a word: most of these files exist nowhere.
"""

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acp_proxy.redaction.names import says_secret

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOME_FILES: Final = (
    ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf",
    ".env", ".vault-token", ".terraformrc", ".s3cfg", ".boto", ".dockercfg", ".authinfo",
    ".aws/credentials", ".aws/config", ".docker/config.json", ".kube/config", ".config/gh/hosts.yml",
    ".config/hub", ".config/glab-cli/config.yml", ".config/git/credentials", ".config/pip/pip.conf",
    ".config/gcloud/application_default_credentials.json", ".config/rclone/rclone.conf",
    ".config/containers/auth.json", ".config/openai/auth.json", ".codex/auth.json",
    ".claude/.credentials.json", ".gemini/oauth_creds.json", ".huggingface/token",
    ".cache/huggingface/token", ".cargo/credentials.toml", ".cargo/credentials", ".gem/credentials",
    ".composer/auth.json", ".config/composer/auth.json", ".m2/settings.xml", ".gradle/gradle.properties",
    ".terraform.d/credentials.tfrc.json", ".azure/msal_token_cache.json", ".config/doctl/config.yaml",
    ".fly/config.yml", ".netlify/config.json", ".config/netlify/config.json", ".wakatime.cfg",
)  # fmt: skip
"""Files below the home folder that programs keep credentials in."""
PROJECT_FILES: Final = (
    ".env",
    ".env.local",
    ".env.development",
    ".env.production",
    ".npmrc",
    ".netrc",
    ".envrc",
)
"""Files of a project that hold credentials."""
_NAKED = (".vault-token", "token")  # files that hold nothing but a token
_MAX_FILE = 256 << 10
_MAX_ALL = 2 << 20
_MAX_KEYS = 32  # files of ~/.ssh


def own_secrets(
    environment: "Mapping[str, str]", home: Path | None, folders: "tuple[Path, ...]" = ()
) -> "Iterator[str]":
    """Yield texts that hold this machine's secrets, in forms that redaction reads.

    Args:
        environment: Variables of the process; those whose names say secret are taken.
        home: The person's home folder; None when it is not known.
        folders: Folders of projects, whose ``.env`` and the like are read.

    Yields:
        ``NAME=value``, or the content of a file; at most 2 MiB of files in all.

    """
    for name, value in environment.items():
        if says_secret(name) and "\n" not in value:
            yield f"{name}={value}"
        elif "://" in value and "@" in value:
            yield value
    left = _MAX_ALL
    for path in _paths(home, folders):
        text = _read(path)
        left -= len(text)
        if left < 0:
            return
        if text:
            yield f"TOKEN={text.strip()}" if path.name in _NAKED else text


def _paths(home: Path | None, folders: "tuple[Path, ...]") -> "Iterator[Path]":
    if home is not None:
        yield from (home / name for name in HOME_FILES)
        try:
            keys = sorted((home / ".ssh").iterdir())[:_MAX_KEYS]
        except OSError:
            keys = []
        yield from (path for path in keys if path.suffix != ".pub" and path.name != "known_hosts")
    for folder in folders:
        yield from (folder / name for name in PROJECT_FILES)


def _read(path: Path) -> str:
    """Return the text of an ordinary file that is not too large; empty when there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError):
        return ""
    with os.fdopen(descriptor, "rb") as file:
        try:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MAX_FILE:
                return ""
            return file.read(_MAX_FILE).decode(errors="replace")
        except OSError:
            return ""
