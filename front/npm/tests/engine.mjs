// Samples models with @ppl/engine as it is installed in this folder.
import assert from "node:assert/strict";
import { compile, sample, ModelError } from "@ppl/engine";

// Posterior: beta(8, 14).
const text = `data { int n; int y; }
parameters { real<lower=0, upper=1> p; }
model { y ~ binomial(n, p); }
generated quantities { array[2] int more; for (i in 1:2) more[i] = binomial_rng(n, p); print("drawn"); }`;
const model = await compile(text, { name: "binomial.stan" });
assert.deepEqual([model.name, model.text, model.warnings], ["binomial.stan", text, []]);

const progress = [], printed = [];
const settings = { data: { n: 20, y: 7 }, seed: 1, chains: 3, workers: 2, warmup: 300, draws: 500, thin: 2, html: true, onProgress: (p) => progress.push(p), onPrint: (line, chain) => printed.push([line, chain]) };
const fit = await model.sample(settings);
assert.deepEqual(fit.names, ["p", "more[1]", "more[2]"]);
assert.deepEqual(fit.summary.map((r) => r.name), fit.names);
assert.deepEqual(fit.draws("p").map((c) => c.length), [250, 250, 250]);
const all = fit.draws("p").flatMap((c) => [...c]), mean = all.reduce((a, b) => a + b) / all.length;
assert(Math.abs(mean - fit.summary[0].mean) < 1e-12, "the summary is that of the draws");
assert(Math.abs(mean - 8 / 22) < 6 * fit.summary[0].mcse_mean, `the mean is ${mean}`);
assert(fit.draws("more[2]").every((c) => c.every((v) => Number.isInteger(v) && v >= 0 && v <= 20)));
assert.deepEqual([fit.seed, fit.chains, fit.divergences], ["1", 3, 0]);
assert(fit.html.startsWith("<!DOCTYPE html>") || fit.html.startsWith("<!doctype html>"), fit.html.slice(0, 40));
assert.deepEqual(new Set(progress.filter((p) => p.phase === "done").map((p) => p.chain)), new Set([1, 2, 3]));
assert(printed.length > 0 && printed.every(([line, chain]) => line.startsWith("drawn") && chain >= 1 && chain <= 3));

// The same seed gives the same draws, however many workers there are.
const again = await sample(text, { ...settings, data: JSON.stringify(settings.data), workers: 1, html: false });
assert.deepEqual(again.draws("p"), fit.draws("p"));
assert.equal(again.html, undefined);
assert.throws(() => fit.draws("q"), RangeError);

// Data as JavaScript has them.
const typed = await sample("data { int N; vector[N] y; array[2, N] int k; } parameters { real m; } model { y ~ normal(m, 1); target += k[2, N] * 0; }",
  { data: { N: 2n, y: new Float64Array([1, 3]), k: [new Int32Array([1, 2]), [3, 4]] }, seed: 2, chains: 1, draws: 100, sampler: "nuts", samplerOptions: { delta: 0.9 } });
assert.equal(typed.draws("m")[0].length, 100);

// Errors.
const fails = async (promise, kind, message, code) => {
  const error = await promise.then(() => assert.fail(`no error: ${message}`), (e) => e);
  assert(error instanceof kind && message.test(error.message), String(error));
  if (code) assert.equal(error.messages[0].code, code);
};
await fails(compile("parameters { real x } model {}"), ModelError, /semicolon/, "E0101");
await fails(sample(text, { data: { n: 20 } }), ModelError, /no value for `y`/, "E0601");
await fails(sample(text, { data: {}, chains: 0 }), TypeError, /chains must be/);
await fails(sample(text, { chain: 1 }), TypeError, /no setting chain/);
await fails(sample(text, { data: settings.data, sampler: "none" }), ModelError, /no sampler is called "none"/);

// A run ends when its signal is aborted, even if its model never ends.
const stop = new AbortController();
setTimeout(() => stop.abort(), 500);
await fails(sample("parameters { real x; } model { x ~ std_normal(); } generated quantities { int n = 0; while (x > -1000) n = 1 - n; }", { signal: stop.signal }), DOMException, /abort/);
