"""Runs commands inside an odd machine and tells how they went, as one JSON document.

Standard input is a JSON list of objects: ``words``, ``stdin`` (text) and ``closed`` (descriptors to be
closed first). It needs nothing of the project.
"""

import base64
import json
import os
import subprocess
import sys


def main() -> None:
    """Run all, in order."""
    results = []
    for job in json.load(sys.stdin):
        words = [os.fsencode(word) for word in job["words"]]
        closing = "".join(f" {fd}>&-" for fd in job.get("closed", ()))
        if closing:
            words = [b"sh", b"-c", f'exec "$@"{closing}'.encode(), b"sh", *words]
        done = subprocess.run(
            words, input=job.get("stdin", "").encode(), capture_output=True, timeout=90, check=False
        )
        results.append(
            {
                "code": done.returncode,
                "out": base64.b64encode(done.stdout).decode(),
                "err": base64.b64encode(done.stderr).decode(),
            }
        )
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
