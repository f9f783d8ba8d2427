"""Not an agent: holds an exclusive transaction on an SQLite file until the end of its input.

With a second argument ``everyone`` readers are kept out as well.
"""

import os
import sqlite3
import sys


def main() -> None:
    db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
    if sys.argv[2:] == ["everyone"]:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    db.execute("CREATE TABLE IF NOT EXISTS held (x)")
    os.write(1, b"locked\n")
    while os.read(0, 65536):
        pass
    db.execute("ROLLBACK")
    db.close()


if __name__ == "__main__":
    main()
