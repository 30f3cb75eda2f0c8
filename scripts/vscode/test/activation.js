// Runs the compiled extension with the real language client and the real server, in a stand-in
// for VS Code: a bad path is told, a good one after it starts the server, findings arrive.
//
//     npm test            (OPWRIGHT=/path/to/opwright names another program)

const assert = require("assert");
const fs = require("fs");
const Module = require("module");
const os = require("os");
const path = require("path");

const FILE = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "opwright-")), "ops.py");
const TEXT = 'import torch\nlib = torch.library.Library("a", "FRAGMENT")\nlib.define("f(Tensr x) -> ()")\n';
fs.writeFileSync(FILE, TEXT);

const seen = { commands: new Map(), errors: [], findings: [] };
let program = "/nowhere/opwright";

// What the client asks for and nothing here depends on: any call gives something to dispose of.
const silent = (known) =>
  new Proxy(known, { get: (all, name) => (name in all ? all[name] : () => anything) });
const anything = new Proxy(function () {}, {
  get: (_, name) => (name === "then" || typeof name === "symbol" ? undefined : () => anything),
  apply: () => anything,
});
const classes = {};
const classOf = (name) =>
  (classes[name] ??= new Proxy(class {}, {
    get: (all, key) => (key in all || typeof key === "symbol" ? all[key] : 0),
  }));

const uri = (file) => ({ scheme: "file", path: file, fsPath: file, toString: () => `file://${file}` });
const folder = { uri: uri(path.dirname(FILE)), name: "ws", index: 0 };
const kind = { value: "", append: () => kind };
const known = {
  CodeActionKind: new Proxy({}, { get: () => kind }),
  version: "1.90.0",
  env: { appName: "stand-in", language: "en" },
  Uri: { file: uri, parse: (text) => uri(text.replace("file://", "")) },
  Range: class {
    constructor(...ends) {
      [this.start, this.end] = ends;
    }
  },
  Position: class {
    constructor(line, character) {
      Object.assign(this, { line, character });
    }
  },
  Diagnostic: class {
    constructor(range, message) {
      Object.assign(this, { range, message });
    }
  },
  EventEmitter: class {
    event = () => anything;
    fire() {}
    dispose() {}
  },
  CancellationTokenSource: class {
    token = { isCancellationRequested: false, onCancellationRequested: () => anything };
    cancel() {}
    dispose() {}
  },
  CancellationError: Error,
  commands: silent({ registerCommand: (name, run) => (seen.commands.set(name, run), anything) }),
  languages: silent({
    match: () => 10,
    createDiagnosticCollection: () =>
      silent({ set: (_, found) => seen.findings.push(...found), get: () => [], has: () => false }),
  }),
  window: silent({
    visibleTextEditors: [],
    tabGroups: { all: [], onDidChangeTabs: () => anything },
    showErrorMessage: async (message) => void seen.errors.push(message),
  }),
  workspace: silent({
    workspaceFolders: [folder],
    getWorkspaceFolder: () => folder,
    notebookDocuments: [],
    textDocuments: [
      { uri: uri(FILE), languageId: "python", version: 1, getText: () => TEXT, fileName: FILE },
    ],
    getConfiguration: () => ({ get: (name, other) => (name === "path" ? program : other) }),
  }),
};
const vscode = new Proxy(known, {
  get: (all, name) => (name in all ? all[name] : name === "__esModule" ? false : classOf(name)),
  has: () => true,
});
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

async function main() {
  const extension = require("../out/extension.js");
  await extension.activate({ subscriptions: [] });
  assert(seen.errors.some((text) => text.includes("pip install 'opwright[lsp]'")), seen.errors);
  program = process.env.OPWRIGHT ?? "opwright";
  await seen.commands.get("opwright.restart")();
  for (let turn = 0; turn < 100 && !seen.findings.length; turn++) {
    await new Promise((done) => setTimeout(done, 100));
  }
  assert.match(seen.findings.map((found) => found.message).join(), /Tensr/);
  await extension.deactivate();
  console.log("started, reported, stopped");
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error, seen.errors);
    process.exit(1);
  },
);
