"""Real packages, downloaded and read: every operator found, every refusal looked at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import report  # noqa: E402
from corpora import CORPORA, Corpus  # noqa: E402

# What was counted when the versions were pinned: found, inferred.
COUNTS = {
    "nvidia-physicsnemo": (71, 71),
    "torchao": (62, 50),
    "torchrec": (13, 13),
    "xformers": (14, 14),
    "quack-kernels": (35, 35),
    "lightning-thunder": (6, 6),
    "helion": (0, 0),
    "flashinfer-python": (289, 237),
    "sglang": (194, 192),
    "transformers": (3, 3),
    "xformers-source": (14, 14),
    "torch-sparse": (0, 0),
}
BIG = [pytest.param(c, id=c.name, marks=pytest.mark.nightly) for c in CORPORA if not c.small]
SMALL = [pytest.param(c, id=c.name) for c in CORPORA if c.small]
assert len(SMALL) >= 7
assert sum(found for found, _ in COUNTS.values()) > 600


def downloaded(corpus: Corpus) -> report.Survey:
    script = [sys.executable, str(ROOT / "scripts" / "corpora.py"), corpus.name]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return report.survey(corpus)


@pytest.mark.parametrize("corpus", [*SMALL, *BIG])
def test_every_operator_is_read_or_refused_for_a_reason(corpus: Corpus) -> None:
    survey = downloaded(corpus)
    inferred = [one for one in survey.operators if one.schema is not None]
    assert (len(survey.operators), len(inferred)) == COUNTS[corpus.name]
    _, faults = report.judged(survey.refusals())
    assert [fault for fault in faults if fault.startswith("not judged")] == []
    assert survey.unreadable == ()


def test_a_refusal_that_nobody_looked_at_is_told() -> None:
    unseen = report.Refusal("torchao", "torchao::new", "OW102", "dict has no schema type")
    _, faults = report.judged([unseen])
    assert faults[0] == "not judged: torchao: torchao::new: OW102: dict has no schema type"
    assert faults[1].startswith("judged, but gone: ")


def test_a_corpus_of_another_name_is_refused() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "corpora.py"), "nowhere"]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no corpus is called 'nowhere'" in done.stderr
