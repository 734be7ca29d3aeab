"""The command ppl: it hands its arguments to the program that the package has."""

import os
import subprocess
import sys

from ._carried import binary


def main() -> int:
    """Runs the program and returns its exit code."""
    args = [binary(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(args[0], args)
    process = subprocess.Popen(args)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # the program has it too, and ends
            pass


if __name__ == "__main__":
    sys.exit(main())
