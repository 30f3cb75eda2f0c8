#!/usr/bin/env python3
"""Download the packages that Opwright is tried on: pinned, cached, unpacked, never imported.

    scripts/corpora.py                 the small ones
    scripts/corpora.py --all           every one
    scripts/corpora.py torchao helion  these

Of a source archive pip has the package's own build name its metadata; nothing else of a package is
ever run. Standard library only. A second run finds what the first one left and downloads nothing.
Exit code 1 if a package could not be had; the others are unpacked all the same.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).resolve().parent.parent / ".corpora"
# Wheels with compiled parts exist per platform. One is named here, so that every machine reads the
# same files; nothing of them is ever loaded.
PLATFORM = (
    *("--python-version", "3.11", "--implementation", "cp"),
    *(f"--platform=manylinux_2_{minor}_x86_64" for minor in (34, 28, 24, 17)),
    *("--platform=manylinux2014_x86_64", "--platform=any"),
    *("--abi=cp311", "--abi=abi3", "--abi=none"),
)


class Corpus(NamedTuple):
    """One package: what the index calls it, which version, and whether CI can afford it."""

    name: str
    version: str
    small: bool
    package: str = ""
    """The package whose source archive it is, with C++ that no wheel has."""

    @property
    def folder(self) -> Path:
        return HOME / f"{self.name}-{self.version}"


CORPORA = (
    Corpus("nvidia-physicsnemo", "2.2.2", small=True),
    Corpus("torchao", "0.18.0", small=True),
    Corpus("torchrec", "1.9.2", small=True),
    Corpus("xformers", "0.0.35", small=True),
    Corpus("quack-kernels", "0.6.5", small=True),
    Corpus("lightning-thunder", "0.2.6", small=True),
    Corpus("helion", "1.5.1", small=True),
    Corpus("flashinfer-python", "0.7.4", small=False),
    Corpus("sglang", "0.5.23", small=False),
    Corpus("transformers", "5.24.0", small=False),
    Corpus("xformers-source", "0.0.35", small=False, package="xformers"),
    Corpus("torch-sparse", "0.6.18", small=False),
)


def say(text: str) -> None:
    print(text, flush=True)


def download(corpus: Corpus, into: Path) -> Path | None:
    """Fetch the wheel, or where none is published the source archive; None if neither is there."""
    wheel, source = (
        ("--only-binary=:all:", *PLATFORM),
        ("--no-binary=:all:", "--no-build-isolation"),
    )
    kinds = (("wheel", wheel), ("source archive", source))
    for kind, flags in kinds[1:] if corpus.package else kinds:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
        pip += ["--disable-pip-version-check", "--dest", str(into), *flags]
        done = subprocess.run(
            [*pip, f"{corpus.package or corpus.name}=={corpus.version}"],
            capture_output=True,
            text=True,
        )
        archives = sorted(into.iterdir())
        if done.returncode == 0 and archives:
            return archives[0]
        said = done.stderr.strip().splitlines() or ["pip gave no reason"]
        say(f"  no {kind}: {said[-1]}")
    return None


def unpack(archive: Path, folder: Path) -> None:
    """Unpack beside the folder and rename, so that a folder that is there is whole."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        part = Path(scratch, "part")
        if archive.name.endswith((".whl", ".zip")):
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(part)
        else:
            with tarfile.open(archive) as opened_tar:
                opened_tar.extractall(part, filter="data")
        part.rename(folder)


def fetch(corpus: Corpus) -> bool:
    """Make the folder of one corpus be there."""
    if corpus.folder.is_dir():
        say(f"{corpus.folder.name}: here")
        return True
    say(f"{corpus.folder.name}: downloading")
    HOME.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=HOME) as scratch:
        archive = download(corpus, Path(scratch))
        if archive is None:
            return False
        size = archive.stat().st_size / 1e6
        unpack(archive, corpus.folder)
    files = sum(1 for _ in corpus.folder.rglob("*.py"))
    say(f"  {archive.name}: {size:.1f} MB, {files} Python files")
    return True


def forget_others(wanted: Iterable[Corpus]) -> None:
    """Remove versions that are no longer pinned."""
    known = {corpus.folder for corpus in wanted}
    for folder in HOME.iterdir() if HOME.is_dir() else ():
        if folder.is_dir() and folder not in known:
            say(f"{folder.name}: no longer pinned, removed")
            shutil.rmtree(folder)


def chosen(arguments: Sequence[str]) -> list[Corpus]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--all", action="store_true", help="the big ones too")
    names = [corpus.name for corpus in CORPORA]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(names)}")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in names:
            parser.error(f"no corpus is called {name!r}: {', '.join(names)}")
    if options.names:
        return [corpus for corpus in CORPORA if corpus.name in options.names]
    return [corpus for corpus in CORPORA if options.all or corpus.small]


def main(arguments: Sequence[str]) -> int:
    wanted = chosen(arguments)
    say(f"{len(wanted)} corpora in {HOME}")
    forget_others(CORPORA)
    missing = [corpus for corpus in wanted if not fetch(corpus)]
    for corpus in missing:
        say(f"{corpus.name} {corpus.version} could not be had")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
