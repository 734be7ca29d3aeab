// The scopes that the TextMate grammar gives.
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const oniguruma = require('vscode-oniguruma');
const textmate = require('vscode-textmate');

const file = path.join(__dirname, '..', 'syntaxes', 'stan.tmLanguage.json');

async function grammar() {
  const wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(file, 'utf8'), file),
  });
  return registry.loadGrammar('source.stan');
}

test('scopes', async () => {
  const g = await grammar();
  let state = textmate.INITIAL;
  const scopes = (line) => {
    const { tokens, ruleStack } = g.tokenizeLine(line, state);
    state = ruleStack;
    return tokens.map((t) => [line.slice(t.startIndex, t.endIndex), t.scopes.at(-1)]).filter(([text]) => text.trim() !== '');
  };
  const has = (line, ...wanted) => {
    const got = scopes(line);
    for (const [text, scope] of wanted) {
      assert.ok(got.some(([t, s]) => t === text && s.startsWith(scope)), `${line}: ${text} as ${scope}: ${JSON.stringify(got)}`);
    }
  };
  has('functions {', ['functions', 'keyword.control.block']);
  has('#include "a/b.stan"', ['#include', 'keyword.control.directive'], ['"a/b.stan"', 'string.unquoted']);
  has('  real f(data real x) { return .5e-3 * x; } // f', ['real', 'storage.type'], ['f', 'entity.name.function'],
    ['data', 'storage.modifier'], ['.5e-3', 'constant.numeric'], ['return', 'keyword.control'], ['// f', 'comment.line']);
  has('transformed  data {', ['transformed  data', 'keyword.control.block']);
  has('  array[N] vector<lower=0, upper=1>[K] p; /* two', ['array', 'storage.type'], ['lower', 'storage.modifier.bound'],
    ['K', 'variable.other'], ['/*', 'comment.block']);
  has('lines */ y ~ normal(mu, sigma) T[0, ];', [' */'.trim(), 'comment.block'], ['~', 'keyword.operator.distribution'],
    ['normal', 'support.function.distribution'], ['T', 'keyword.other.truncation']);
  has('  target += x1 .* 2i - y\';', ['target', 'keyword.other.target'], ['x1', 'variable.other'], ['.*', 'keyword.operator'],
    ['2i', 'constant.numeric'], ['\'', 'keyword.operator']);
  has('  print("a // b", x);', ['print', 'support.function'], ['"a // b"', 'string.quoted']);
  has('  x <- 3; # old', ['<-', 'invalid.deprecated'], ['# old', 'invalid.deprecated.comment']);
});

// The types of the grammar are those of the language.
test('types', () => {
  const rule = JSON.parse(fs.readFileSync(file, 'utf8')).repository.types.patterns[0].match;
  const lexer = fs.readFileSync(path.join(__dirname, '..', '..', '..', '..', 'lang', 'internal', 'grammar', 'lexer.go'), 'utf8');
  const table = lexer.slice(lexer.indexOf('var typeNames'), lexer.indexOf('// keywords cannot be names'));
  const constrained = fs.readFileSync(path.join(__dirname, '..', '..', '..', '..', 'lang', 'types', 'structure.go'), 'utf8');
  const names = [...table.matchAll(/^\t"(\w+)":/gm), ...constrained.matchAll(/keyword: "(\w+)"/g)].map((m) => m[1]);
  assert.ok(names.length > 15);
  for (const name of names) {
    assert.ok(new RegExp(`[(|]${name}[)|]`).test(rule), `${name} is no type of the grammar`);
  }
});
