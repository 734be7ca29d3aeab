// A session with the server through the client library that the extension uses, without
// an editor. The command is PPL, or ppl on the path.
const assert = require('node:assert');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { pathToFileURL } = require('node:url');
const lsp = require('vscode-languageserver-protocol/node');

const model = `data {
  int<lower=0> N; // 😀 observations
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  y ~ normal(muu, sigma);
}
`;

test('a session', { timeout: 60000 }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ppl-'));
  const name = path.join(folder, 'model.stan');
  fs.writeFileSync(name, model);
  fs.writeFileSync(path.join(folder, 'model.data.json'), '{"N": 3, "y": [1, 2, 3]}');
  const uri = pathToFileURL(name).toString();
  const server = spawn(process.env.PPL ?? 'ppl', ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => server.on('exit', resolve));
  const connection = lsp.createProtocolConnection(
    new lsp.StreamMessageReader(server.stdout), new lsp.StreamMessageWriter(server.stdin));
  const published = [];
  let wake = () => {};
  connection.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => { published.push(p); wake(); });
  connection.onNotification(lsp.ShowMessageNotification.type, () => {});
  connection.onNotification(lsp.LogMessageNotification.type, () => {});
  connection.onRequest(lsp.RegistrationRequest.type, () => {});
  connection.onRequest(lsp.WorkDoneProgressCreateRequest.type, () => {});
  connection.listen();
  const diagnostics = async (ok) => {
    for (;;) {
      const last = published.filter((p) => p.uri === uri).at(-1);
      if (last && ok(last.diagnostics)) return last.diagnostics;
      await new Promise((resolve) => { wake = resolve; });
    }
  };
  const errors = (list) => list.filter((d) => d.severity === 1);
  const at = (line, character) => ({ textDocument: { uri }, position: { line, character } });

  const { capabilities } = await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid, rootUri: pathToFileURL(folder).toString(),
    capabilities: {
      window: { workDoneProgress: true },
      textDocument: { completion: { completionItem: { snippetSupport: true } } },
    },
  });
  assert.equal(capabilities.textDocumentSync.change, lsp.TextDocumentSyncKind.Incremental);
  await connection.sendNotification(lsp.InitializedNotification.type, {});
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: 'stan', version: 1, text: model },
  });
  const [wrong] = errors(await diagnostics((l) => errors(l).length > 0));
  assert.equal(wrong.code, 'E0201');

  const actions = await connection.sendRequest(lsp.CodeActionRequest.type, {
    textDocument: { uri }, range: wrong.range, context: { diagnostics: [wrong] },
  });
  const edit = actions[0].edit.changes[uri][0];
  assert.equal(edit.newText, 'mu');
  await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 }, contentChanges: [{ range: edit.range, text: edit.newText }],
  });
  await diagnostics((l) => errors(l).length === 0);

  const completion = await connection.sendRequest(lsp.CompletionRequest.type, at(9, 6));
  const normal = completion.items.find((i) => i.label === 'normal');
  assert.equal(normal.textEdit.newText, 'normal(${1:mu}, ${2:sigma})');
  const resolved = await connection.sendRequest(lsp.CompletionResolveRequest.type, normal);
  assert.match(resolved.documentation.value, /standard deviation/);
  const hover = await connection.sendRequest(lsp.HoverRequest.type, at(1, 15));
  assert.match(hover.contents.value, /😀 observations/);
  const changes = await connection.sendRequest(lsp.RenameRequest.type, { ...at(5, 7), newName: 'location' });
  assert.equal(changes.changes[uri].length, 2);
  await assert.rejects(connection.sendRequest(lsp.RenameRequest.type, { ...at(5, 7), newName: 'sigma' }), /sigma/);
  const hints = await connection.sendRequest(lsp.InlayHintRequest.type, {
    textDocument: { uri }, range: { start: { line: 0, character: 0 }, end: { line: 20, character: 0 } },
  });
  assert.deepEqual(hints.map((h) => h.label), ['= 3', ': [3]']);
  const tokens = await connection.sendRequest(lsp.SemanticTokensRequest.type, { textDocument: { uri } });
  assert.equal(tokens.data.length % 5, 0);
  const lenses = await connection.sendRequest(lsp.CodeLensRequest.type, { textDocument: { uri } });
  assert.deepEqual(lenses.map((l) => l.command.command), ['ppl.run', 'ppl.check']);
  const run = await connection.sendRequest(lsp.ExecuteCommandRequest.type, lenses[0].command);
  assert.equal(run.exitCode, 0);
  assert.match(run.output, /sigma/);
  const check = await connection.sendRequest(lsp.ExecuteCommandRequest.type, lenses[1].command);
  assert.equal(check.exitCode, 0);

  await connection.sendRequest(lsp.ShutdownRequest.type);
  await connection.sendNotification(lsp.ExitNotification.type);
  assert.equal(await ended, 0);
  connection.dispose();
  fs.rmSync(folder, { recursive: true });
});
