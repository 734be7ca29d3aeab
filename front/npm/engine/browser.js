// The engine in a browser: workers are web workers, and the program is fetched.
import { engine } from "./engine.js";

export { ModelError } from "./engine.js";

async function program() {
  const answer = await fetch(new URL("./ppl.wasm.lzma", import.meta.url));
  if (!answer.ok) throw new Error(`ppl.wasm.lzma: ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
}

export const { compile, sample } = engine({
  cores: () => navigator.hardwareConcurrency || 4,
  program,
  worker(receive, failed) {
    const w = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    w.onmessage = ({ data }) => receive(data);
    w.onerror = (e) => { e.preventDefault(); failed(new Error(e.message || "the worker has failed")); };
    return { post: (m, moved) => w.postMessage(m, moved), end: () => w.terminate() };
  },
});
