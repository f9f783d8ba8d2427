"""``python -m acp_proxy``: the same as ``acp-proxy``."""

import os
import sys

# -m puts the working directory first on the path; it is somebody's repository, and what lies there
# must not be imported in place of what we need (unless we are what lies there).
_package_parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:] = [
    entry for entry in sys.path if (entry and entry != os.getcwd()) or entry == _package_parent
]
if _package_parent not in sys.path:
    sys.path.append(_package_parent)

from acp_proxy.cli import main  # noqa: E402 - the path first

if __name__ == "__main__":
    main()
