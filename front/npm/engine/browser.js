// The engine in a browser: workers are web workers, and the program is fetched.
import { engine } from "./engine.js";

export { ModelError } from "./engine.js";

// program fetches and compiles the program. A host may serve the file as it is, or declare that it
// is compressed: then the browser has already decompressed it.
async function program() {
  const answer = await fetch(new URL("./ppl.wasm.gz", import.meta.url));
  if (!answer.ok) throw new Error(`ppl.wasm.gz: ${answer.status} ${answer.statusText}`);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return WebAssembly.compile(bytes);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
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
