"""Find the Pythons of this machine and make virtual environments; for scripts run on a bare one.

Knows nothing of Opwright: standard library only, any Python from 3.8 on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 10)


def say(sentence: str) -> None:
    """Tell the person at the terminal what happens next."""
    print(f"\033[1m> {sentence}\033[0m" if sys.stdout.isatty() else f"> {sentence}", flush=True)


def run(*command: str | Path) -> int:
    """Run a command in the foreground with no input; its exit code."""
    line = [str(part) for part in command]
    return subprocess.run(line, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode


def python(version: str) -> Path | None:
    """A working Python of that version: this one, one on PATH, or one that pyenv or uv keeps."""
    return next((path for path in _candidates(version) if _answers(path, version)), None)


def _candidates(version: str) -> list[Path]:
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    uv = Path.home() / ".local" / "share" / "uv" / "python"
    kept = [*pyenv.glob(f"{version}*"), *uv.glob(f"cpython-{version}*")]
    return [
        Path(sys.executable),
        *(folder / f"python{version}" for folder in folders),
        *(home / "bin" / "python" for home in sorted(kept, reverse=True)),
    ]


def _answers(path: Path, version: str) -> bool:
    """Whether the file runs (a pyenv shim may not) and is that version."""
    if not path.is_file():
        return False
    ask = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    told = subprocess.run(
        [str(path), "-c", ask], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    )
    return told.stdout.decode().strip() == version


def environment(folder: Path, base: Path, *requirements: str) -> Path:
    """The Python of a virtual environment that holds these requirements, made when it is not there.

    A second call with the same requirements does nothing, so scripts are quick the second time.
    """
    inside = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "requirements.txt"
    wanted = "\n".join((str(base), *requirements)) + "\n"
    if inside.exists() and stamp.exists() and stamp.read_text() == wanted:
        return inside
    say(f"setting up {folder.relative_to(ROOT)} with {base}: pip install {' '.join(requirements)}")
    for command in (
        [base, "-m", "venv", "--clear", folder],
        [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements],
    ):
        if run(*command):
            raise SystemExit(f"this command failed: {' '.join(map(str, command))}")
    stamp.write_text(wanted)
    return inside
