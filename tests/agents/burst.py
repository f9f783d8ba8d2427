"""An agent that writes so many seeded random bytes, and is gone at once with code 9."""

import os
import random
import sys


def main() -> None:
    view = memoryview(random.Random(int(sys.argv[2])).randbytes(int(sys.argv[1])))
    while view:
        view = view[os.write(1, view) :]
    os._exit(9)


if __name__ == "__main__":
    main()
