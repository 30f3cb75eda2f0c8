"""What public values are to a type checker; read by mypy and pyright, never run."""

from typing_extensions import reveal_type

from opwright import Diagnostic, Schema, Severity, Span

span = Span("ops.py", line=3)
reveal_type(span.line)  #: int
reveal_type(Schema("f").arguments[0].type)  #: Base | Maybe | List | Apply
match Diagnostic("OW001", "", span=span):
    case Diagnostic(code, _, _, place):
        reveal_type(code)  #: str
        reveal_type(place)  #: Span
reveal_type(Diagnostic("OW001", "").severity)  #: Severity
Span(3)  #! the file is a text
Span(files="ops.py")  #! there is no such field
Diagnostic("OW001")  #! the message is required
span.line = 4  #! values are frozen
Diagnostic("OW001", "", severity=Severity.NOTE)
