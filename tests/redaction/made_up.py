"""Made-up secrets: reproducible random values, so that no file holds anything like a real one.

Each value depends only on its label, so that adding a shape changes no other.
"""

import base64
import hashlib
import json
import random
import string
from typing import NamedTuple

_ALNUM = string.ascii_letters + string.digits
_LOWER = string.ascii_lowercase + string.digits
_UPPER = string.ascii_uppercase + string.digits


class Shape(NamedTuple):
    """A text that holds a secret.

    Attributes:
        name: What it is, unique in the table.
        group: ``vendor`` (recognised by its own shape), ``name`` (by what stands around it) or
            ``known`` (a secret elsewhere in the same connection).
        text: The secret in its context.
        secrets: The strings of which no piece may survive.
        source: For ``known``: which source of the connection gives the secret away.
        value: For ``known``: the secret as that source holds it.

    """

    name: str
    group: str
    text: str
    secrets: tuple[str, ...]
    source: str = ""
    value: str = ""


class Random:
    """Random strings for one label, the same in every process."""

    def __init__(self, label: str) -> None:
        seed = hashlib.sha256(label.encode()).digest()
        self._random = random.Random(seed)

    def of(self, alphabet: str, size: int) -> str:
        """Return a string over an alphabet."""
        return "".join(self._random.choices(alphabet, k=size))

    def alnum(self, size: int) -> str:
        """Return letters and digits; both cases and a digit occur from 8 characters on."""
        return self._mixed(_ALNUM, size)

    def lower(self, size: int) -> str:
        """Return lower-case letters and digits."""
        return self._mixed(_LOWER, size)

    def upper(self, size: int) -> str:
        """Return upper-case letters and digits."""
        return self._mixed(_UPPER, size)

    def hex(self, size: int) -> str:
        """Return lower-case hexadecimal digits."""
        return self.of("0123456789abcdef", size)

    def digits(self, size: int) -> str:
        """Return a decimal number that does not begin with 0."""
        return self.of("123456789", 1) + self.of(string.digits, size - 1)

    def url64(self, size: int) -> str:
        """Return the alphabet of base64url, beginning and ending with a letter or digit."""
        return self.alnum(4) + self.of(_ALNUM + "-_", size - 8) + self.alnum(4)

    def base64(self, size: int) -> str:
        """Return the alphabet of base64, beginning with letters or digits."""
        return self.alnum(4) + self.of(_ALNUM + "+/", size - 4)

    def uuid(self) -> str:
        """Return a random UUID."""
        return "-".join(self.hex(size) for size in (8, 4, 4, 4, 12))

    def integer(self, low: int, high: int) -> int:
        """Return an integer between two bounds, both included."""
        return self._random.randint(low, high)

    def pem(self, rows: int = 6) -> tuple[str, ...]:
        """Return the lines of the body of a PEM block."""
        return (
            "MIIE" + self.base64(60),
            *(self.base64(64) for _ in range(rows - 2)),
            self.base64(40) + "==",
        )

    def jwt(self) -> tuple[str, str, str]:
        """Return the three parts of a JSON Web Token."""
        claims = {"sub": self.alnum(12), "jti": self.uuid(), "iat": 1700000000}
        return _part({"alg": "HS256", "typ": "JWT"}), _part(claims), self.url64(43)

    def _mixed(self, alphabet: str, size: int) -> str:
        """Return a string in which every class of the alphabet occurs, if it is long enough."""
        classes = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
        wanted = [each for each in classes if each[0] in alphabet]
        while True:
            found = self.of(alphabet, size)
            if size < 8 or all(set(found) & set(each) for each in wanted):
                return found


def _part(value: object) -> str:
    text = json.dumps(value, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
