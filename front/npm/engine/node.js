// The engine in Node: workers are threads, and the program is a file of the package.
import { Worker } from "node:worker_threads";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { engine } from "./engine.js";

export { ModelError } from "./engine.js";

export const { compile, sample } = engine({
  cores: availableParallelism,
  program: async () => new Uint8Array(await readFile(new URL("./ppl.wasm.lzma", import.meta.url))),
  worker(receive, failed) {
    const w = new Worker(new URL("./worker-node.js", import.meta.url));
    w.on("message", receive);
    w.on("error", failed);
    return { post: (m, moved) => w.postMessage(m, moved), end: () => void w.terminate() };
  },
});
