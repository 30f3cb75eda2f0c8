"""A client of language servers: starts one, speaks the protocol over its pipes, waits for answers.

Standard library only, so that it tests our server with code that our server does not use.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds after which an answer will not come any more."""

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "completion": {"completionItem": {"documentationFormat": ["markdown", "plaintext"]}},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "signatureHelp": {"signatureInformation": {"documentationFormat": ["plaintext"]}},
        "publishDiagnostics": {"relatedInformation": True},
        "rename": {"prepareSupport": True},
    },
    "workspace": {"configuration": True, "workspaceFolders": True},
}


class Client:
    """One running server and what it has said so far."""

    def __init__(self, command: Sequence[str], folder: Path, settings: object = None) -> None:
        self.settings = settings
        self.folder = folder
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        self.answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.shown: list[str] = []
        self.reports = threading.Condition()
        self.count = 0
        self.versions: dict[str, int] = {}
        self.reader = threading.Thread(target=self._listen, daemon=True)
        self.reader.start()

    # Protocol

    def request(self, method: str, params: object) -> Any:
        """Ask and wait for the answer."""
        self.count += 1
        number = self.count
        self.answers[number] = queue.Queue()
        self._send({"id": number, "method": method, "params": params})
        answer = self.answers[number].get(timeout=PATIENCE)
        assert "error" not in answer, answer
        return answer["result"]

    def notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def _listen(self) -> None:
        for message in self._messages():
            if "method" not in message:
                self.answers[message["id"]].put(message)
            elif message["method"] == "textDocument/publishDiagnostics":
                with self.reports:
                    params = message["params"]
                    self.diagnostics[params["uri"]] = params["diagnostics"]
                    self.reports.notify_all()
            elif message["method"] == "window/showMessage":
                with self.reports:
                    self.shown.append(message["params"]["message"])
                    self.reports.notify_all()
            elif "id" in message:
                self._send({"id": message["id"], "result": self._reply(message)})

    def _reply(self, message: dict[str, Any]) -> object:
        if message["method"] == "workspace/configuration":
            return [self.settings for _ in message["params"]["items"]]
        return None

    def _messages(self) -> Iterator[dict[str, Any]]:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                return
            yield json.loads(stream.read(length))

    # Documents

    def uri(self, file: str) -> str:
        return file if ":" in file else (self.folder / file).as_uri()

    def open(self, file: str, text: str | None = None, language: str = "python") -> str:
        """Open a file with its content, or with another one."""
        uri = self.uri(file)
        text = (self.folder / file).read_bytes().decode() if text is None else text
        self.versions[uri] = 1
        self.diagnostics.pop(uri, None)
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def close_all(self) -> None:
        """Close what is open: what lies on disk counts again."""
        for uri in self.versions:
            self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.versions.clear()

    def change(self, uri: str, *changes: dict[str, Any]) -> None:
        self.versions[uri] += 1
        document = {"uri": uri, "version": self.versions[uri]}
        params = {"textDocument": document, "contentChanges": changes}
        self.notify("textDocument/didChange", params)

    def at(self, uri: str, line: int, character: int, **more: object) -> dict[str, Any]:
        position = {"line": line, "character": character}
        return {"textDocument": {"uri": uri}, "position": position, **more}

    def wait_for_message(self, text: str) -> None:
        """Until the server has shown a message with this text in it."""
        with self.reports:
            there = self.reports.wait_for(lambda: any(text in m for m in self.shown), PATIENCE)
            assert there, self.shown

    def wait_for(self, uri: str, codes: set[str]) -> list[dict[str, Any]]:
        """The findings of a document, once they are exactly these codes."""

        def there() -> bool:
            found = self.diagnostics.get(uri)
            return found is not None and {str(each.get("code")) for each in found} == codes

        with self.reports:
            assert self.reports.wait_for(there, PATIENCE), self.diagnostics.get(uri)
            return self.diagnostics[uri]


@contextmanager
def running(command: Sequence[str], folder: Path, settings: object = None) -> Iterator[Client]:
    """A server for a folder, told to stop in the end."""
    client = Client(command, folder, settings)
    try:
        client.request(
            "initialize",
            {
                "processId": None,
                "rootUri": folder.as_uri(),
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
                "capabilities": CAPABILITIES,
                "initializationOptions": settings,
            },
        )
        client.notify("initialized", {})
        yield client
        client.request("shutdown", None)
        client.notify("exit", None)
        assert client.process.wait(PATIENCE) is not None
    finally:
        client.process.kill()
        client.process.wait()
        for stream in (client.process.stdin, client.process.stdout):
            assert stream is not None
            stream.close()
        client.reader.join()
