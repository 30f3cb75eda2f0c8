"""Reads live functions, and everything else that can be called, into the values that lower takes.

Knows what a function can be; annotations are read by `annotation`, defaults by `values`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import CodeType, FunctionType, MethodType
from typing import Any

from opwright import _compat
from opwright.frozen import replace
from opwright.hints.annotation import read_hint, remembered
from opwright.hints.model import MISSING, Function, Hint, Kind, Missing, Parameter, Role
from opwright.hints.names import Scope
from opwright.hints.values import path_of, value

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: Kind.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: Kind.POSITIONAL,
    inspect.Parameter.VAR_POSITIONAL: Kind.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY: Kind.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD: Kind.VAR_KEYWORD,
}
_VARARGS, _VARKEYWORDS = inspect.CO_VARARGS, inspect.CO_VARKEYWORDS
_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE
_GENERATOR = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_DEEPEST = 64
_HOLDERS = {"torch._library.custom_ops.CustomOpDef": "_init_fn"}
"""Classes whose instances keep the function that they were made of, and where."""


def read(subject: object) -> Function:
    """Read anything that can be called.

    What is wrapped is read where it was written; what a partial, a bound method or a callable
    object already holds is left out.

    >>> def scale(x: int, by: "float" = 2) -> None: ...
    >>> function = read(scale)
    >>> [(p.name, str(p.hint), p.default) for p in function.parameters]
    [('x', 'int', MISSING), ('by', 'float', 2)]
    """
    return _read(subject, 0)


def _read(subject: Any, depth: int) -> Function:
    if type(subject) is FunctionType and not subject.__dict__:
        return _function(subject)
    if depth > _DEEPEST:  # wrapped in itself
        return _opaque(subject)
    for kinds, reader in _READERS:
        if isinstance(subject, kinds):
            return reader(subject, depth + 1)
    if isinstance(signature := getattr(subject, "__signature__", None), inspect.Signature):
        return _signed(subject, signature)
    if wrapped := getattr(subject, "__wrapped__", None):
        return _read(wrapped, depth + 1)
    if isinstance(subject, FunctionType):
        return _function(subject)
    return _object(subject, depth + 1)


# What can be called ----------------------------------------------------------------------------


def _object(subject: Any, depth: int) -> Function:
    """A callable object: its `__call__`, or the function that it keeps."""
    held = getattr(subject, _HOLDERS.get(path_of(type(subject)), ""), None)
    if held is not None:
        return _read(held, depth)
    call = _call(subject)
    if not isinstance(call, FunctionType):
        return _opaque(subject)
    return replace(_bound(_read(call, depth)), name=type(subject).__name__)


def _call(subject: object) -> object:
    """The `__call__` of the class, unbound."""
    return next((vars(c)["__call__"] for c in type(subject).__mro__ if "__call__" in vars(c)), None)


def _bound(function: Function) -> Function:
    """Without the `self` that it already holds."""
    return replace(function, parameters=function.parameters[1:], role=_as_function(function.role))


def _as_function(role: Role) -> Role:
    return Role.FUNCTION if role is Role.METHOD else role


def _method(subject: MethodType, depth: int) -> Function:
    return _bound(_read(subject.__func__, depth))


def _static(subject: staticmethod[Any, Any], depth: int) -> Function:
    function = _read(subject.__func__, depth)
    return replace(function, role=_as_function(function.role))


def _class_method(subject: classmethod[Any, Any, Any], depth: int) -> Function:
    return replace(_read(subject.__func__, depth), role=Role.METHOD)


def _class(subject: type, depth: int) -> Function:
    return Function(
        subject.__name__, (), None, Role.CLASS, subject.__qualname__, subject.__module__
    )


def _opaque(subject: object) -> Function:
    name = getattr(subject, "__name__", type(subject).__name__)
    return Function(name, (), None, Role.OPAQUE, name, getattr(subject, "__module__", None) or "")


def _partial(subject: functools.partial[Any], depth: int) -> Function:
    """What a partial leaves open; a name given by keyword stays, by keyword, as in `inspect`."""
    function = _read(subject.func, depth)
    open_ = list(function.parameters)
    for _ in subject.args:
        if open_ and open_[0].kind in (Kind.POSITIONAL_ONLY, Kind.POSITIONAL):
            open_.pop(0)
    return replace(function, parameters=tuple(_with_keywords(open_, subject.keywords)))


def _with_keywords(parameters: list[Parameter], given: dict[str, Any]) -> Iterator[Parameter]:
    keyword = False
    for parameter in parameters:
        if parameter.kind is Kind.POSITIONAL and (keyword or parameter.name in given):
            keyword = True
            parameter = replace(parameter, kind=Kind.KEYWORD_ONLY)
        if parameter.name in given:
            parameter = replace(parameter, default=value(given[parameter.name]))
        yield parameter


_READERS: tuple[tuple[type, Callable[[Any, int], Function]], ...] = (
    (type, _class),
    (functools.partial, _partial),
    (MethodType, _method),
    (staticmethod, _static),
    (classmethod, _class_method),
)


# Functions -------------------------------------------------------------------------------------


def _function(function: FunctionType) -> Function:
    """A plain function, read from its code object: `inspect.signature` takes far longer."""
    annotations, scope = _compat.annotations_of(function), _scope(function)
    parameters = tuple(_parameters(function, annotations, scope))
    return Function(
        function.__name__,
        parameters,
        _hint(annotations["return"], scope) if "return" in annotations else None,
        _role(function, parameters),
        function.__qualname__,
        function.__module__,
    )


def _hint(annotation: Any, scope: Scope) -> Hint:
    return remembered(annotation) or read_hint(annotation, scope)


def _parameters(
    function: FunctionType, annotations: Mapping[str, Any], scope: Scope
) -> list[Parameter]:
    code, defaults = function.__code__, function.__defaults__ or ()
    keyword_defaults = function.__kwdefaults__ or {}
    first_default = code.co_argcount - len(defaults)
    parameters = []
    for place, (name, kind) in enumerate(_names(code)):
        default: object = MISSING
        if first_default <= place < code.co_argcount:
            default = defaults[place - first_default]
        elif kind is Kind.KEYWORD_ONLY:
            default = keyword_defaults.get(name, MISSING)
        annotation = annotations.get(name, MISSING)
        parameters.append(_parameter(name, kind, annotation, default, scope))
    return parameters


def _evaluated(text: str, scope: Scope) -> object:
    """What a text stands for, if that was met before and means the same everywhere."""
    try:
        annotation = scope.evaluate(text)
    except Exception:  # `read_hint` says what is wrong with it
        return text
    return annotation if remembered(annotation) else text


_MOST_KNOWN = 4096
_KEYS = frozenset({type(None), bool, int, str, Missing})
_known: dict[object, Parameter] = {}
"""Parameters met before, so that `lower` knows them again by identity."""


def _parameter(name: str, kind: Kind, annotation: Any, default: object, scope: Scope) -> Parameter:
    if type(annotation) is str:
        annotation = _evaluated(annotation, scope)
    key = (name, kind, annotation, default, type(default))
    simple = type(default) in _KEYS or (type(default) is float and default != 0)
    try:
        if simple and (known := _known.get(key)):
            return known
    except TypeError:  # an annotation that cannot be hashed
        simple = False
    hint = None if annotation is MISSING else _hint(annotation, scope)
    made = Parameter(name, hint, MISSING if default is MISSING else value(default), kind)
    if simple and remembered(annotation):
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        _known[key] = made
    return made


def _names(code: CodeType) -> list[tuple[str, Kind]]:
    """The parameters of a code object, in the order of the `def`."""
    names, positional, keyword = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    after = positional + keyword
    found = [
        (name, _POSITIONAL[n >= code.co_posonlyargcount])
        for n, name in enumerate(names[:positional])
    ]
    if code.co_flags & _VARARGS:
        found.append((names[after], Kind.VAR_POSITIONAL))
    found += [(name, Kind.KEYWORD_ONLY) for name in names[positional:after]]
    if code.co_flags & _VARKEYWORDS:
        found.append((names[after + bool(code.co_flags & _VARARGS)], Kind.VAR_KEYWORD))
    return found


_POSITIONAL = (Kind.POSITIONAL_ONLY, Kind.POSITIONAL)


def _scope(function: FunctionType, always: Mapping[str, str] | None = None) -> Scope:
    found = {variable.__name__: variable for variable in getattr(function, "__type_params__", ())}
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        with suppress(ValueError):  # not assigned yet
            found[name] = cell.cell_contents
    return Scope(function.__globals__, found, function.__qualname__, always or {})


def _role(function: FunctionType, parameters: tuple[Parameter, ...]) -> Role:
    flags = function.__code__.co_flags
    if flags & _COROUTINE:
        return Role.COROUTINE
    if flags & _GENERATOR:
        return Role.GENERATOR
    first = parameters[0] if parameters else None
    if first is not None and first.name in ("self", "cls") and first.hint is None:
        return Role.METHOD
    return Role.FUNCTION


def _signed(subject: Any, signature: inspect.Signature) -> Function:
    """A signature of its own; its annotations may be text that names torch without importing it."""
    function = underneath(subject)
    scope = Scope({}, always=_ALWAYS)
    known = Function(getattr(subject, "__name__", type(subject).__name__), (), None)
    if function is not None:
        scope, known = _scope(function, _ALWAYS), _function(function)
    parameters = tuple(_signed_parameters(signature, scope))
    returns = signature.return_annotation
    hint = None if returns is inspect.Signature.empty else read_hint(returns, scope)
    return replace(known, parameters=parameters, returns=hint, role=Role.FUNCTION)


_MARKS = ("Aliases", "Const", "Json", "Mutable", "Opaque", "Out", "Scalar")
_ALWAYS = {
    "Annotated": "typing.Annotated",
    "Any": "typing.Any",
    "Tensor": "torch.Tensor",
    "opwright": "opwright",
    "torch": "torch",
    **{name: f"opwright.{name}" for name in _MARKS},
}
"""The names that `opwright.signature` writes."""


def _signed_parameters(signature: inspect.Signature, scope: Scope) -> Iterator[Parameter]:
    empty = inspect.Parameter.empty
    for parameter in signature.parameters.values():
        written, given = parameter.annotation, parameter.default
        hint = None if written is empty else read_hint(written, scope)
        default = MISSING if given is empty else value(given)
        yield Parameter(parameter.name, hint, default, _KINDS[parameter.kind])


def underneath(subject: Any) -> FunctionType | None:
    """The plain function at the bottom of what wraps it, if there is one."""
    for _ in range(_DEEPEST):
        held = getattr(subject, _HOLDERS.get(path_of(type(subject)), ""), None)
        if isinstance(subject, functools.partial):
            subject = subject.func
        elif (wrapped := getattr(subject, "__wrapped__", held)) is not None:
            subject = wrapped
        elif isinstance(subject, FunctionType):
            return subject
        elif (inner := getattr(subject, "__func__", None)) is not None:
            subject = inner
        else:
            subject = _call(subject)
    return None
