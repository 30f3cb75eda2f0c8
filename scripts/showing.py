"""The main job, step by step, on the operators of quack-kernels; `scripts/demo` runs this file."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import torch
from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from torch import Tensor
from torch.nn.functional import rms_norm

import opwright as ow
from corpora import CORPORA
from opwright import Mutable
from opwright.cli.show import wrapped
from opwright.survey.operators import Operator, operators

SCREEN = Console(highlight=False, markup=False, soft_wrap=True)
PACKAGE = next(corpus.folder for corpus in CORPORA if corpus.name == "quack-kernels") / "quack"
NAME = "quack::_rmsnorm_fwd"


def step(title: str) -> None:
    SCREEN.print()
    SCREEN.print(Rule(title, align="left", characters="─"), soft_wrap=False)


def infer(*files: Path) -> None:
    """Run the command as a user would."""
    program = Path(sys.executable).with_name("opwright")
    paths = [str(file.relative_to(Path.cwd())) for file in files]
    SCREEN.print(f"$ opwright infer {' '.join(paths)}", style="bold")
    sys.stdout.flush()
    done = subprocess.run([program, "infer", *paths], check=False)
    assert done.returncode in (0, 1), f"opwright infer ended with {done.returncode}"


def laid_out(schema: ow.Schema) -> str:
    return wrapped(str(schema), SCREEN.width) if SCREEN.is_terminal else str(schema)


def found() -> dict[str, Operator]:
    """Every operator of the package by its name."""
    return {each.name: each for each in operators(PACKAGE) if isinstance(each, Operator)}


def check(operator: Operator) -> None:
    """Hold the handwritten schema against the annotations; then again with one default changed."""
    assert operator.written
    assert operator.schema
    written = ow.parse(f"{operator.name}{operator.written}")
    SCREEN.print(f"By hand:\n{laid_out(written)}")
    SCREEN.print(f"Inferred:\n{laid_out(operator.schema)}\n")
    tell(ow.compare(written, operator.schema))
    SCREEN.print("\nWith 1e-5 for 1e-6, which torch would not notice:")
    changed = ow.parse(f"{operator.name}{operator.written}".replace("eps=1e-6", "eps=1e-5"))
    differences = [d for d in ow.compare(changed, operator.schema) if d.code == "OW206"]
    assert len(differences) == 1
    tell(differences)


def tell(differences: list[ow.Diagnostic]) -> None:
    for difference in differences:
        SCREEN.print(f"{difference.severity.value}: {difference}", style="yellow")
    if not differences:
        SCREEN.print("they agree", style="green")


def rmsnorm_fwd(
    x: Tensor,
    weight: Tensor | None,
    out: Mutable[Tensor],
    bias: Tensor | None = None,
    rstd: Mutable[Tensor | None] = None,
    mean: Mutable[Tensor | None] = None,
    residual: Tensor | None = None,
    residual_out: Mutable[Tensor | None] = None,
    eps: float = 1e-6,
    is_layernorm: bool = False,
    weight_offset: float = 0.0,
) -> None:
    """The signature of quack's operator, with a kernel that runs on a CPU."""
    summed = x if residual is None else x + residual
    if residual_out is not None:
        residual_out.copy_(summed)
    scale = torch.rsqrt(summed.square().mean(-1, keepdim=True) + eps)
    if rstd is not None:
        rstd.copy_(scale.squeeze(-1))
    normal = summed * scale
    if weight is not None:
        normal = normal * (weight + weight_offset)
    out.copy_(normal if bias is None else normal + bias)


def register_and_run(inferred: ow.Schema) -> None:
    """Register, run eagerly and compiled, compare with torch."""
    source = f'@ow.op("demo::rmsnorm_fwd")\n{inspect.getsource(rmsnorm_fwd)}'
    SCREEN.print(Syntax(source, "python", theme="ansi_dark"))
    operator = ow.op("demo::rmsnorm_fwd")(rmsnorm_fwd)
    assert replace(operator.schema, name=inferred.name) == inferred
    SCREEN.print(f"Registered:\n{laid_out(operator.schema)}")
    SCREEN.print("the same schema as inferred from quack's source", style="green")

    def model(x: Tensor, weight: Tensor) -> Tensor:
        out = torch.empty_like(x)
        operator(x, weight, out)
        return torch.relu(out)

    backend = "inductor" if shutil.which("g++") else "aot_eager"
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    x, weight = torch.randn(64, 512), torch.rand(512)
    wanted = torch.relu(rms_norm(x, (512,), weight, eps=1e-6))
    assert wanted.max() > 0.5
    for name, run in (("eager", model), (f"torch.compile, {backend}, one graph", compiled)):
        worst = (run(x, weight) - wanted).abs().max().item()
        assert worst < 1e-5, f"{name} is off by {worst}"
        SCREEN.print(f"{name}: within {worst:.1e} of torch.nn.functional.rms_norm", style="green")
    verdicts = torch.library.opcheck(operator.overload, (x, weight, torch.empty_like(x)))
    assert set(verdicts.values()) == {"SUCCESS"}
    SCREEN.print(f"torch.library.opcheck: all {len(verdicts)} tests pass", style="green")


def main() -> None:
    step("1. Schemas of real operators, from source; nothing is imported")
    infer(PACKAGE / "rmsnorm.py", PACKAGE / "cross_entropy.py")
    every = found()
    good = sum(operator.schema is not None for operator in every.values())
    SCREEN.print(f"In the whole package: {len(every)} operators, {good} schemas inferred.")
    step(f"2. A handwritten schema against its annotations: {NAME}")
    check(every[NAME])
    step("3. The same signature, registered, eager and compiled")
    schema = every[NAME].schema
    assert schema
    register_and_run(schema)


if __name__ == "__main__":
    main()
