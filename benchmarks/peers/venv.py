"""Makes the environment of a Python peer: `.venv` in the working directory, with what requirements.txt pins.

    cd benchmarks/peers/numpyro && python3 ../venv.py

`octopus bench setup` calls it. The pinned versions are the peers' newest, which need Python 3.12 or 3.13: the newer of
them that is in PATH or among pyenv's is taken.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = ("3.13", "3.12")


def interpreter():
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        for python in (f"python{version}", *sorted(pyenv.glob(f"{version}.*/bin/python"))):
            try:
                subprocess.run([python, "-m", "venv", "--help"], check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError):  # pyenv has a shim for versions that are not chosen, too.
                continue
            return python
    sys.exit(f"error: no Python {' or '.join(VERSIONS)} with the module venv: install one")


subprocess.run([interpreter(), "-m", "venv", "--clear", ".venv"], check=True)
if subprocess.run([".venv/bin/pip", "install", "--quiet", "-r", "requirements.txt"]).returncode != 0:
    # Half an environment would look like a peer that is there.
    shutil.rmtree(".venv")
    sys.exit("error: pip has not installed requirements.txt")
