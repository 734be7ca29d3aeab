// The extension starts `ppl lsp` and shows what runs give; all else is the server's.
const fs = require('node:fs/promises');
const path = require('node:path');
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

// The outputs of runs by the URIs of the texts that show them, which cannot be edited.
const outputs = new Map();
const changed = new vscode.EventEmitter();

// start begins a session with the server.
async function start() {
  const settings = vscode.workspace.getConfiguration('ppl');
  client = new LanguageClient(
    'ppl',
    'ppl',
    { command: settings.get('path'), args: ['lsp'] },
    {
      documentSelector: [{ language: 'stan' }],
      initializationOptions: {
        includePaths: settings.get('includePaths'),
        runSeconds: settings.get('runSeconds'),
        hints: settings.get('hints'),
        runArguments: settings.get('runArguments'),
      },
      middleware: { executeCommand: execute },
    },
  );
  try {
    await client.start();
  } catch (error) {
    const open = 'Open settings';
    const chosen = await vscode.window.showErrorMessage(
      `ppl cannot be started (${error.message ?? error}). Install it, or set where it is.`, open);
    if (chosen === open) {
      vscode.commands.executeCommand('workbench.action.openSettings', 'ppl.path');
    }
  }
}

// execute passes a command on for the model that it names, or that is being edited, and
// shows the output of a run beside it.
async function execute(command, args, next) {
  const uri = args?.[0] ?? vscode.window.activeTextEditor?.document.uri.toString();
  if (!uri || !vscode.workspace.isTrusted) {
    vscode.window.showErrorMessage(uri ? 'Models are run in workspaces that you trust.' : 'No model is being edited.');
    return undefined;
  }
  const result = await next(command, [String(uri)]);
  if (command === 'ppl.run' && result) {
    const shown = vscode.Uri.from({ scheme: 'ppl-run', path: `${vscode.Uri.parse(String(uri)).path}.txt` });
    outputs.set(shown.toString(), result.output);
    changed.fire(shown);
    const document = await vscode.workspace.openTextDocument(shown);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true });
  }
  if (command === 'ppl.report' && result?.report) {
    // The page brings all that it needs, and reaches nothing.
    const panel = vscode.window.createWebviewPanel(
      'ppl.report', `Report of ${path.basename(vscode.Uri.parse(String(uri)).path)}`,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { enableScripts: true, localResourceRoots: [], enableFindWidget: true });
    panel.webview.html = await fs.readFile(result.report, 'utf8');
  }
  return result;
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider('ppl-run', {
      onDidChange: changed.event,
      provideTextDocumentContent: (uri) => outputs.get(uri.toString()) ?? '',
    }),
    vscode.commands.registerCommand('ppl.restart', async () => {
      await client?.stop().catch(() => {});
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('ppl') && !event.affectsConfiguration('ppl.trace')) {
        await client?.stop().catch(() => {});
        await start();
      }
    }),
  );
  await start();
};

exports.deactivate = () => client?.stop();
