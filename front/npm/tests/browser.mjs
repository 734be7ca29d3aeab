// Samples in a browser with @ppl/engine as it is installed in this folder: serves the folder, opens a
// page, and waits for what it reports.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";

const page = `<!DOCTYPE html><script type="module">
import { compile, sample, ModelError } from "/node_modules/@ppl/engine/browser.js";
const seen = {};
try {
  let progress = 0;
  const model = await compile("data { int n; int y; } parameters { real<lower=0, upper=1> p; } model { y ~ binomial(n, p); }");
  const fit = await sample(model, { data: { n: 20, y: 7 }, seed: 1, chains: 2, warmup: 300, draws: 500, onProgress: () => { progress++; } });
  seen.mean = fit.summary[0].mean;
  seen.draws = fit.draws("p").map((c) => c.length);
  seen.progress = progress;
  await compile("parameters { real x } model {}").catch((e) => { seen.code = e instanceof ModelError && e.messages[0].code; });
} catch (e) { seen.error = String(e.stack || e); }
await fetch("/seen", { method: "POST", body: JSON.stringify(seen) });
</script>`;
const types = { ".js": "text/javascript", ".lzma": "application/x-lzma" };
let browser;
const server = createServer(async (request, response) => {
  if (request.url === "/seen") {
    let body = "";
    for await (const part of request) body += part;
    response.end();
    finish(JSON.parse(body));
  } else if (request.url === "/") response.setHeader("Content-Type", "text/html").end(page);
  else {
    const file = await readFile("." + request.url).catch(() => null);
    response.writeHead(file ? 200 : 404, { "Content-Type": types[extname(request.url)] || "text/plain" }).end(file || "");
  }
});

async function finish(seen) {
  const ended = new Promise((resolve) => browser.on("exit", resolve));
  browser.kill();
  await ended;
  server.close();
  server.closeAllConnections();
  await rm("profile", { recursive: true, force: true, maxRetries: 5 });
  assert.equal(seen.error, undefined);
  assert(Math.abs(seen.mean - 8 / 22) < 0.03, `the mean is ${seen.mean}`);
  assert.deepEqual(seen.draws, [500, 500]);
  assert(seen.progress > 0);
  assert.equal(seen.code, "E0101");
}

server.listen(0, "127.0.0.1", () => {
  browser = spawn(process.argv[2], ["--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir=profile", `http://127.0.0.1:${server.address().port}/`], { stdio: "ignore" });
});
