"""The language server on stdio: requests in, answers out, findings a moment after each change.

Knows the protocol; what to say is known to the rest of the folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import PositionCodec

from opwright import __version__
from opwright.editor import help as helping
from opwright.editor import operators, rename
from opwright.editor.code import Code
from opwright.findings import Diagnostic, Edit, Fix, SchemaError, Severity, Span
from opwright.lint.settings import Project, find_project
from opwright.stubs.installed import find_torch
from opwright.stubs.places import stale

PAUSE = 0.15
"""Seconds without a change after which findings are worth computing."""

SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}
KINDS = {
    helping.Sort.NAMESPACE: lsp.CompletionItemKind.Module,
    helping.Sort.OPERATOR: lsp.CompletionItemKind.Function,
    helping.Sort.OVERLOAD: lsp.CompletionItemKind.Method,
    helping.Sort.ARGUMENT: lsp.CompletionItemKind.Variable,
    helping.Sort.TYPE: lsp.CompletionItemKind.Class,
}


class Server(LanguageServer):
    """The server, with the code base that it serves."""

    def __init__(self) -> None:
        super().__init__("opwright", __version__, max_workers=2)
        self.code = Code(Project(Path.cwd()))
        self.uris: dict[str, str] = {}
        self.reported: dict[str, list[lsp.Diagnostic]] = {}
        self.found: dict[str, list[Diagnostic]] = {}
        self.waiting: asyncio.TimerHandle | None = None
        self.work: asyncio.Task[None] | None = None

    # Places

    def file(self, uri: str) -> str:
        """The name under which a document is surveyed: its path, where it has one."""
        path = to_fs_path(uri) if uri.startswith("file:") else None
        file = path or f"{uri.replace(':', '/')}.py"
        self.uris[file] = uri
        return file

    def uri(self, file: str) -> str:
        return self.uris.get(file) or from_fs_path(str(Path(file).resolve())) or file

    @property
    def codec(self) -> PositionCodec:
        return self.workspace.position_codec

    def lines(self, file: str) -> list[str]:
        return self.code.text(file).splitlines(keepends=True)

    def place(self, uri: str, position: lsp.Position) -> tuple[str, int, int]:
        """File, line and column, counted from 0 in characters."""
        file = self.file(uri)
        here = self.codec.position_from_client_units(self.lines(file), position)
        return file, here.line, here.character

    def range(self, span: Span) -> lsp.Range:
        """A span in the units of the client."""
        start = lsp.Position(max(span.line - 1, 0), max(span.column - 1, 0))
        end = lsp.Position(span.end_line - 1, span.end_column - 1) if span.end_line else start
        return self.codec.range_to_client_units(self.lines(span.file), lsp.Range(start, end))

    def location(self, span: Span) -> lsp.Location:
        return lsp.Location(self.uri(span.file), self.range(span))

    # Findings

    def soon(self) -> None:
        """Report findings once the author pauses."""
        if self.waiting is not None:
            self.waiting.cancel()
        self.waiting = asyncio.get_running_loop().call_later(PAUSE, self._begin)

    def _begin(self) -> None:
        self.waiting = None
        self.work = asyncio.get_running_loop().create_task(self._report())

    async def _report(self) -> None:
        """Survey and judge in another thread, so that questions are answered meanwhile."""
        code = self.code
        found = await asyncio.to_thread(_judged, code)
        if code.stale or code is not self.code:
            self.soon()
            return
        self.found = found
        self.publish()

    def publish(self) -> None:
        """Tell the client what is new and what is gone."""
        files = {*self.found, *self.code.texts}
        now = {file: [*map(self.diagnostic, self.found.get(file, []))] for file in files}
        for file in {*now, *self.reported}:
            if now.get(file, []) != self.reported.get(file):
                params = lsp.PublishDiagnosticsParams(self.uri(file), now.get(file, []))
                self.text_document_publish_diagnostics(params)
        self.reported = now
        if self.client_capabilities.workspace and self.client_capabilities.workspace.inlay_hint:
            self.workspace_inlay_hint_refresh(None)

    def diagnostic(self, found: Diagnostic) -> lsp.Diagnostic:
        hint = f"\n{found.hint}" if found.hint else ""
        related = [
            lsp.DiagnosticRelatedInformation(self.location(each.span), each.message)
            for each in found.related
            if each.span.file
        ]
        return lsp.Diagnostic(
            range=self.range(found.span),
            severity=SEVERITIES[found.severity],
            code=found.code,
            source="opwright",
            message=f"{found.message}{hint}",
            related_information=related or None,
        )

    def changes(self, edits: tuple[Edit, ...] | list[Edit]) -> lsp.WorkspaceEdit:
        """Edits as the client applies them."""
        by_uri: dict[str, list[lsp.TextEdit]] = {}
        for edit in edits:
            text_edit = lsp.TextEdit(self.range(edit.span), edit.text)
            by_uri.setdefault(self.uri(edit.span.file), []).append(text_edit)
        return lsp.WorkspaceEdit(changes=by_uri)


def _judged(code: Code) -> dict[str, list[Diagnostic]]:
    code.catch_up()
    return code.findings()


def make_server() -> Server:
    """A server with everything it answers to."""
    server = Server()
    _follow_documents(server)
    _answer(server)
    _annotate(server)
    _navigate(server)
    return server


# Documents -------------------------------------------------------------------------------------


def _follow_documents(server: Server) -> None:
    @server.feature(lsp.INITIALIZED)
    async def initialized(params: lsp.InitializedParams) -> None:
        folders = [path for uri in _roots(server) if (path := to_fs_path(uri))]
        if not folders:
            return
        texts = server.code.texts
        server.code = Code(_project(server, folders[0]), texts, stale=set(texts))
        _warn_of_stale_stubs(server, Path(folders[0]))
        await asyncio.to_thread(server.code.read_all, folders)
        server.soon()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.reported.pop(server.file(document.uri), None)
        server.code.edit(server.file(document.uri), document.text)
        server.soon()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.code.edit(server.file(uri), server.workspace.get_text_document(uri).source)
        server.soon()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.code.forget(server.file(params.text_document.uri))
        server.soon()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: lsp.DidChangeWatchedFilesParams) -> None:
        files = (server.file(change.uri) for change in params.changes)
        server.code.changed_on_disk(file for file in files if file not in server.code.texts)
        server.soon()


def _roots(server: Server) -> Iterator[str]:
    yield from (uri for uri in server.workspace.folders)
    if not server.workspace.folders and server.workspace.root_uri:
        yield server.workspace.root_uri


def _project(server: Server, folder: str) -> Project:
    """The settings of a workspace; faulty ones are told and not used."""
    try:
        return find_project(Path(folder))
    except SchemaError as faulty:
        message = "; ".join(f"{found.span}: {found.message}" for found in faulty.findings)
        server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, message))
        return Project(Path(folder))


def _warn_of_stale_stubs(server: Server, workspace: Path) -> None:
    """Say which stubs of `torch.ops` describe another torch: checkers would believe them."""
    try:
        torch = find_torch()
    except SchemaError:  # without a torch there is nothing that stubs could differ from
        return
    for found in stale(workspace, torch):
        message = f"{found.span.file}: {found.message}; {found.hint}"
        server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, message))


# Answers ---------------------------------------------------------------------------------------


def _answer(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        place = server.place(params.text_document.uri, params.position)
        text = helping.hover(server.code, *place)
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text)) if text else None

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION,
        lsp.CompletionOptions(trigger_characters=[".", "(", ",", " ", '"', "'"]),
    )
    def complete(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        place = server.place(params.text_document.uri, params.position)
        return [
            lsp.CompletionItem(offer.word, kind=KINDS[offer.sort], detail=offer.detail or None)
            for offer in helping.complete(server.code, *place)
        ]

    @server.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP,
        lsp.SignatureHelpOptions(trigger_characters=["(", ","]),
    )
    def signature_help(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        place = server.place(params.text_document.uri, params.position)
        found = helping.signatures(server.code, *place)
        return lsp.SignatureHelp([_signature(each) for each in found]) if found else None


def _annotate(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        file = server.file(params.text_document.uri)
        lines, wanted = server.lines(file), params.range
        return [
            lsp.InlayHint(
                server.codec.position_to_client_units(lines, lsp.Position(hint.line, hint.column)),
                hint.text,
                padding_left=True,
            )
            for hint in helping.hints(server.code, file, wanted.start.line, wanted.end.line)
        ]

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
    )
    def code_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        file = server.file(params.text_document.uri)
        fresh = file not in server.code.stale  # an edit at the wrong place is worse than none
        return [
            _action(server, found, found.fix)
            for found in (server.found.get(file, []) if fresh else [])
            if found.fix is not None and _meet(server.range(found.span), params.range)
        ]


def _signature(each: helping.Help) -> lsp.SignatureInformation:
    parameters = [lsp.ParameterInformation(argument) for argument in each.arguments]
    return lsp.SignatureInformation(each.text, parameters=parameters, active_parameter=each.current)


def _action(server: Server, found: Diagnostic, fix: Fix) -> lsp.CodeAction:
    return lsp.CodeAction(
        fix.title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[server.diagnostic(found)],
        is_preferred=fix.safe,
        edit=server.changes(fix.edits),
    )


def _meet(one: lsp.Range, other: lsp.Range) -> bool:
    return _at(one.start) <= _at(other.end) and _at(other.start) <= _at(one.end)


def _at(position: lsp.Position) -> tuple[int, int]:
    return position.line, position.character


# Navigation ------------------------------------------------------------------------------------


def _navigate(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        name = _named(server, params)
        return [server.location(span) for span in operators.definitions(server.code, name)]

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        name = _named(server, params)
        found = operators.references(server.code, name) if name else []
        return [server.location(span) for span in found]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        server.code.catch_up()
        place = server.place(params.text_document.uri, params.position)
        target = rename.target_at(server.code, *place)
        if target is None:
            return None
        return lsp.PrepareRenamePlaceholder(server.range(target.span), target.name)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename_argument(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        server.code.catch_up()
        place = server.place(params.text_document.uri, params.position)
        target = rename.target_at(server.code, *place)
        edits = rename.edits(server.code, target, params.new_name) if target else []
        return server.changes(edits) if edits else None


def _named(server: Server, params: lsp.DefinitionParams | lsp.ReferenceParams) -> str:
    server.code.catch_up()
    return helping.name_at(server.code, *server.place(params.text_document.uri, params.position))


def serve() -> None:
    """Answer on standard input and output until the client is gone."""
    make_server().start_io()
