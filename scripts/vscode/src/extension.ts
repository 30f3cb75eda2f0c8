// Starts `opwright lsp` for Python and C++ files and keeps it running; all else is the server's.

import { commands, ExtensionContext, window, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

const WATCHED = "**/*.{py,pyi,cpp,cc,cxx,cu,cuh,h,hpp,hip,mm}";

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand("opwright.restart", restart),
    workspace.onDidChangeConfiguration((event) =>
      event.affectsConfiguration("opwright.path") ? restart() : undefined,
    ),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(): Promise<void> {
  await client?.dispose();
  client = undefined;
  await start();
}

async function start(): Promise<void> {
  const program = workspace.getConfiguration("opwright").get<string>("path", "opwright");
  const starting = new LanguageClient("opwright", "Opwright", server(program), options());
  try {
    await starting.start();
    client = starting; // one that did not start can be neither stopped nor disposed of
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    window.showErrorMessage(
      `Opwright: \`${program} lsp\` did not start (${reason}). ` +
        "Install it with: pip install 'opwright[lsp]', or name it in the setting opwright.path.",
    );
  }
}

function server(program: string): ServerOptions {
  return { command: program, args: ["lsp"] };
}

function options(): LanguageClientOptions {
  const languages = ["python", "cpp", "cuda-cpp"];
  return {
    documentSelector: languages.flatMap((language) => [
      { scheme: "file", language },
      { scheme: "untitled", language },
    ]),
    synchronize: { fileEvents: workspace.createFileSystemWatcher(WATCHED) },
  };
}
