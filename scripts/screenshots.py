#!/usr/bin/env python3
"""Take the pictures of the site: a notebook in a headless Chromium, and the terminal.

    scripts/screenshots.py              both, into docs/pictures
    scripts/screenshots.py --into DIR

The notebook is run for the occasion; the terminal shows what the program writes on one. Needs
Chromium and the dependency group `pictures`.
"""

from __future__ import annotations

import argparse
import os
import pty
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
COLUMNS = 100

CELLS = (
    """\
import torch
import opwright as ow
from torch import Tensor


@ow.op("mylib::rms_norm")
def rms_norm(x: Tensor, weight: Tensor | None = None, *, eps: float = 1e-6) -> Tensor:
    '''Normalise the rows of `x`.'''
    y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    return y if weight is None else y * weight


@rms_norm.fake
def shape(x: Tensor, weight: Tensor | None = None, *, eps: float = 1e-6) -> Tensor:
    return torch.empty_like(x)


rms_norm""",
    "rms_norm(torch.ones(2, 4), eps=0.5)",
    'import inspect\n\now.enrich("mylib")\nprint(inspect.signature(torch.ops.mylib.rms_norm))',
)

LIBRARY = """\
import torch
from torch import Tensor

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale_(Tensor(a!) x, float by=2.0) -> ()")


@torch.library.impl(lib, "scale_", "CPU")
def scale_(x: Tensor, by: float = 3.0) -> None:
    x.mul_(by)


@torch.library.custom_op("mylib::clip", mutates_args=())
def clip(x: Tensor, low: float | None = None, high: float = 1.0) -> Tensor:
    return x.clamp(low, high)


@torch.library.custom_op("mylib::quant", mutates_args=())
def quant(x: Tensor, scales: dict[str, float]) -> Tensor:
    return torch.round(x)
"""
COMMANDS = (("infer", "ops.py"), ("lint", "--select", "OW304", "ops.py"))


def notebook(folder: Path) -> Path:
    """A notebook, run, as a page."""
    import nbformat
    from nbconvert import HTMLExporter
    from nbconvert.preprocessors import ExecutePreprocessor

    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(book)
    page, _ = HTMLExporter(embed_images=True).from_notebook_node(book)
    path = folder / "notebook.html"
    path.write_text(page, "utf-8")
    return path


def terminal(folder: Path) -> Path:
    """What some commands write on a terminal, as a page."""
    from rich.console import Console
    from rich.text import Text

    (folder / "ops.py").write_text(LIBRARY, "utf-8")
    screen = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    for command in COMMANDS:
        screen.print(f"$ opwright {' '.join(command)}", style="bold", highlight=False)
        screen.print(Text.from_ansi(on_terminal(command, folder)))
    path = folder / "terminal.html"
    svg = screen.export_svg(title="opwright")
    style = "<style>body{margin:0} svg{width:100%;height:auto}</style>"
    path.write_text(f"{style}{svg}", "utf-8")
    return path


def on_terminal(command: Sequence[str], folder: Path) -> str:
    """Run the program on a pseudo-terminal; what it wrote there."""
    here, there = pty.openpty()
    program = Path(sys.executable).with_name("opwright")
    environment = os.environ | {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    with subprocess.Popen(
        [program, *command], stdin=there, stdout=there, stderr=there, cwd=folder, env=environment
    ) as process:
        os.close(there)
        seen = b"".join(iter(lambda: _read(here), b""))
        process.wait()
    os.close(here)
    return seen.decode("utf-8").replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other side has closed
        return b""


def photograph(page: Path, picture: Path, size: tuple[int, int]) -> None:
    """A picture of a page, without a person at the browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"no browser found: install one of {', '.join(BROWSERS)}")
    width, height = size
    subprocess.run(
        [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *(
                "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={page.parent / 'profile'}",
            ),
            *(f"--window-size={width},{height}", f"--screenshot={picture}", page.as_uri()),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    assert picture.stat().st_size > 5000, f"{picture} is empty"


PICTURES = {"notebook": (notebook, (1000, 720)), "terminal": (terminal, (1240, 563))}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "docs" / "pictures")
    into = parser.parse_args(arguments).into.resolve()
    into.mkdir(parents=True, exist_ok=True)
    for name, (page, size) in PICTURES.items():
        with tempfile.TemporaryDirectory() as scratch:
            photograph(page(Path(scratch)), into / f"{name}.png", size)
        print(f"wrote {into / name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
