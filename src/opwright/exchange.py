"""Schemas as JSON, in and out, with a published JSON Schema of the form.

The only module that knows pydantic; `schema/` does not.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import NotRequired, TypedDict

from opwright.codes import finding
from opwright.findings import Diagnostic, SchemaError
from opwright.never import assert_never
from opwright.schema.kinds import Alias, Apply, Base, List, Maybe, Type
from opwright.schema.literal import Symbol, Value
from opwright.schema.model import REQUIRED, Argument, Return, Schema

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
_strict = with_config(_STRICT)


@_strict
class AliasForm(TypedDict):
    """`(before! -> after)`."""

    before: list[str]
    writes: bool
    after: list[str]


@_strict
class BaseForm(TypedDict):
    """`Tensor`, `SymInt`, ..."""

    kind: Literal["base"]
    name: str
    alias: NotRequired[AliasForm]


@_strict
class OptionalForm(TypedDict):
    """`T?`."""

    kind: Literal["optional"]
    of: TypeForm


@_strict
class ListForm(TypedDict):
    """`T[]`, with a size `T[2]`."""

    kind: Literal["list"]
    of: TypeForm
    size: NotRequired[int]
    alias: NotRequired[AliasForm]


@_strict
class ApplyForm(TypedDict):
    """`Dict(K, V)`, `Union(A, B)`; a tuple has an empty name."""

    kind: Literal["apply"]
    name: str
    of: list[TypeForm]
    alias: NotRequired[AliasForm]


TypeForm: TypeAlias = Annotated[
    BaseForm | OptionalForm | ListForm | ApplyForm, Field(discriminator="kind")
]


@_strict
class NoneForm(TypedDict):
    """`None`."""

    kind: Literal["none"]


@_strict
class BoolForm(TypedDict):
    """`True`, `False`."""

    kind: Literal["bool"]
    value: bool


@_strict
class IntForm(TypedDict):
    """A whole number."""

    kind: Literal["int"]
    value: int


@_strict
class FloatForm(TypedDict):
    """A number with a fraction."""

    kind: Literal["float"]
    value: float


@_strict
class ComplexForm(TypedDict):
    """An imaginary number; a schema has no others."""

    kind: Literal["complex"]
    imag: float


@_strict
class TextForm(TypedDict):
    """A text in quotes."""

    kind: Literal["str"]
    value: str


@_strict
class SymbolForm(TypedDict):
    """A bare word: `float32`, `Mean`."""

    kind: Literal["symbol"]
    name: str


@_strict
class ItemsForm(TypedDict):
    """`[1, 2]`."""

    kind: Literal["list"]
    items: list[ValueForm]


ValueForm: TypeAlias = Annotated[
    NoneForm | BoolForm | IntForm | FloatForm | ComplexForm | TextForm | SymbolForm | ItemsForm,
    Field(discriminator="kind"),
]


@_strict
class ArgumentForm(TypedDict):
    """One argument; without `default` it must be given."""

    name: str
    type: TypeForm
    kw_only: bool
    default: NotRequired[ValueForm]


@_strict
class ReturnForm(TypedDict):
    """One result."""

    type: TypeForm
    name: NotRequired[str]


@_strict
class SchemaForm(TypedDict):
    """What an operator takes, writes and gives back."""

    name: str
    overload: str
    arguments: list[ArgumentForm]
    returns: list[ReturnForm]
    varargs: bool
    varrets: bool


_FORM: TypeAdapter[SchemaForm] = TypeAdapter(SchemaForm)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the form, as it is published with the documentation."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_FORM.json_schema(),
        "title": "An operator schema",
    }


def dump(schema: Schema) -> SchemaForm:
    """The schema as plain data.

    >>> from opwright.schema.parse import parse
    >>> dump(parse("f(int? n=3) -> ()"))["arguments"][0]["default"]
    {'kind': 'int', 'value': 3}
    """
    return {
        "name": schema.name,
        "overload": schema.overload,
        "arguments": [_dump_argument(argument) for argument in schema.arguments],
        "returns": [_dump_return(result) for result in schema.returns],
        "varargs": schema.varargs,
        "varrets": schema.varrets,
    }


def dumps(schema: Schema, *, indent: int | None = None) -> str:
    """The schema as JSON text."""
    return _FORM.dump_json(dump(schema), indent=indent).decode()


def load(data: object) -> Schema:
    """The schema of plain data; `SchemaError` where the data is none.

    >>> from opwright.schema.parse import parse
    >>> schema = parse("f(Tensor(a!) x, str s='?') -> Tensor(a!)")
    >>> load(dump(schema)) == schema == loads(dumps(schema))
    True
    """
    try:
        return _schema(_FORM.validate_python(data))
    except ValidationError as error:
        raise SchemaError(_findings(error)) from None


def loads(text: str | bytes) -> Schema:
    """The schema of a JSON text; `SchemaError` where the text is none.

    >>> loads('{"name": 3}')
    Traceback (most recent call last):
    opwright.findings.SchemaError: OW014 name: Input should be a valid string
    OW014 overload: Field required
    OW014 arguments: Field required
    OW014 returns: Field required
    OW014 varargs: Field required
    OW014 varrets: Field required
    """
    try:
        return _schema(_FORM.validate_json(text))
    except ValidationError as error:
        raise SchemaError(_findings(error)) from None


def _findings(error: ValidationError) -> list[Diagnostic]:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    rows = [(".".join(map(str, fault["loc"])), fault["msg"]) for fault in faults]
    return [finding("OW014", f"{where}: {what}" if where else what) for where, what in rows]


def _dump_argument(argument: Argument) -> ArgumentForm:
    form: ArgumentForm = {
        "name": argument.name,
        "type": _dump_type(argument.type),
        "kw_only": argument.kw_only,
    }
    if argument.default is not REQUIRED:
        form["default"] = _dump_value(argument.default)
    return form


def _dump_return(result: Return) -> ReturnForm:
    if result.name is None:
        return {"type": _dump_type(result.type)}
    return {"type": _dump_type(result.type), "name": result.name}


def _dump_type(kind: Type) -> TypeForm:
    form: BaseForm | ListForm | ApplyForm
    match kind:
        case Maybe(of):
            return {"kind": "optional", "of": _dump_type(of)}
        case Base(name):
            form = {"kind": "base", "name": name}
        case List(of, size):
            form = {"kind": "list", "of": _dump_type(of)}
            if size is not None:
                form["size"] = size
        case Apply(name, parts):
            form = {"kind": "apply", "name": name, "of": [_dump_type(part) for part in parts]}
        case _:
            assert_never(kind)
    if (alias := kind.alias) is not None:
        before, after = list(alias.before), list(alias.after or ())
        form["alias"] = {"before": before, "writes": alias.writes, "after": after}
    return form


def _dump_value(value: Value) -> ValueForm:
    match value:
        case None:
            return {"kind": "none"}
        case bool():
            return {"kind": "bool", "value": value}
        case int():
            return {"kind": "int", "value": value}
        case float():
            return {"kind": "float", "value": value}
        case complex():
            return {"kind": "complex", "imag": value.imag}
        case str():
            return {"kind": "str", "value": value}
        case Symbol(name):
            return {"kind": "symbol", "name": name}
        case tuple():
            return {"kind": "list", "items": [_dump_value(part) for part in value]}
        case _:
            assert_never(value)


def _schema(form: SchemaForm) -> Schema:
    return Schema(
        form["name"],
        form["overload"],
        tuple(_argument(argument) for argument in form["arguments"]),
        tuple(Return(_type(result["type"]), result.get("name")) for result in form["returns"]),
        form["varargs"],
        form["varrets"],
    )


def _argument(form: ArgumentForm) -> Argument:
    default = _value(form["default"]) if "default" in form else REQUIRED
    return Argument(form["name"], _type(form["type"]), default, form["kw_only"])


def _type(form: TypeForm) -> Type:
    match form["kind"]:
        case "optional":
            return Maybe(_type(form["of"]))
        case "base":
            return Base(form["name"], _alias(form.get("alias")))
        case "list":
            return List(_type(form["of"]), form.get("size"), _alias(form.get("alias")))
        case "apply":
            of = tuple(_type(part) for part in form["of"])
            return Apply(form["name"], of, _alias(form.get("alias")))
        case _:
            assert_never(form)


def _alias(form: AliasForm | None) -> Alias | None:
    if form is None:
        return None
    return Alias(tuple(form["before"]), form["writes"], tuple(form["after"]))


def _value(form: ValueForm) -> Value:
    match form["kind"]:
        case "none":
            return None
        case "bool" | "int" | "float" | "str":
            return form["value"]
        case "complex":
            return complex(0, form["imag"])
        case "symbol":
            return Symbol(form["name"])
        case "list":
            return tuple(_value(item) for item in form["items"])
        case _:
            assert_never(form)
