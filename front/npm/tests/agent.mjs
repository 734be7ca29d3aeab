// A short analysis with ppl mcp by the protocol's official client for TypeScript, which is stricter
// about messages than the one for Go.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command: "npx", args: ["--no-install", "ppl", "mcp"], stderr: "ignore" }));
const call = async (name, args, options) => {
  const answer = await client.callTool({ name, arguments: args }, undefined, options);
  assert.ok(!answer.isError, JSON.stringify(answer.content));
  return answer.structuredContent;
};

const { tools } = await client.listTools();
assert.ok(tools.some((t) => t.name === "run") && tools.some((t) => t.name === "doc"));
const wrong = "data { int n; array[n] int y; } parameters { real<lower=0, upper=1> p; } model { y ~ bernouli(p); }";
const checked = await call("check", { model: wrong });
assert.equal(checked.fixed, wrong.replace("bernouli", "bernoulli"));

let progress = 0;
const data = { n: 5, y: [1, 0, 1, 1, 0] };
const fit = await call("run", { model: checked.fixed, data, name: "coin", seed: 1 }, { onprogress: () => progress++ });
const mean = fit.summary.find((q) => q.name === "p").mean;
assert.ok(Math.abs(mean - 4 / 7) < 0.03, `${mean}`); // of beta(4, 3)
assert.ok(progress > 0);
for (const tool of ["summary", "findings", "loo", "predict", "ppc"]) await call(tool, { fit: "coin" });
const { resources } = await client.listResources();
assert.ok(resources.some((r) => r.uri === "ppl://fit/coin/report"));
const { contents } = await client.readResource({ uri: "ppl://fit/coin/report" });
assert.match(contents[0].text, /<html/);
await client.listResourceTemplates();
const refused = await client.callTool({ name: "run", arguments: { model: wrong, data } });
assert.ok(refused.isError);
await client.close();
