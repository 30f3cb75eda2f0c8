"""Fake kernels that follow from the schema alone.

Knows plans; a user's fake is handed to the core as it is.
"""

from __future__ import annotations

from opwright.ops.plan import Plan
from opwright.ops.writer import schema_parameters


def trivial_fake(plan: Plan) -> str | None:
    """The text of a fake for an operator that gives back nothing but what it was given.

    None where a result is made new: then somebody has to say which shape it has.
    """
    if plan.is_silent:
        return f"def written({schema_parameters(plan.schema)}):\n    return None\n"
    leaves = plan.by_meaning()
    given: list[str] = []
    for part in plan.results.parts:
        if len(part.arguments) != 1 or not leaves[part.arguments[0]].argument.writes:
            return None
        given.append(leaves[part.arguments[0]].name)
    result = "None" if not given else given[0] if len(given) == 1 else f"({', '.join(given)})"
    return f"def written({schema_parameters(plan.schema)}):\n    return {result}\n"
