// ---- The engine: the program in WebAssembly, in workers ----

const encoder = new TextEncoder(), decoder = new TextDecoder();

// fetchModule loads and compiles the program, once for all workers. A worker decompresses and
// compiles it, since the page would not answer meanwhile.
async function fetchModule() {
  const answer = await fetch("ppl.wasm.lzma");
  if (!answer.ok) throw new Error(`ppl.wasm.lzma: ${answer.status} ${answer.statusText}`);
  const packed = new Uint8Array(await answer.arrayBuffer()), worker = new Worker("worker.js");
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => (data.module ? resolve(data.module) : reject(new Error(data.error)));
      worker.onerror = (e) => { e.preventDefault(); reject(new Error(e.message || "the worker has failed")); };
      worker.postMessage({ packed }, [packed.buffer]);
    });
  } finally {
    worker.terminate();
  }
}

// Engine is a worker that answers requests one after another.
class Engine {
  constructor(module) {
    this.next = 1;
    this.pending = new Map();
    this.dead = null;
    this.worker = new Worker("worker.js");
    this.worker.onmessage = ({ data }) => this.told(data);
    this.worker.onerror = (e) => { e.preventDefault(); this.died(e.message || "the worker has failed"); };
    module.then((m) => this.worker.postMessage({ module: m }), (e) => this.died(e.message));
  }

  get busy() { return this.pending.size > 0; }

  // ask sends a request: a value, sent as JSON, or bytes. on is told its events. The
  // answer is a value, or bytes if raw is set.
  ask(kind, body, { on, raw } = {}) {
    if (this.dead) return Promise.reject(this.dead);
    const id = this.next++;
    const bytes = body instanceof Uint8Array ? body : encoder.encode(body === undefined ? "{}" : JSON.stringify(body));
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject, on, raw });
      this.worker.postMessage({ id, kind, body: bytes }, [bytes.buffer]);
    });
  }

  told({ id, event, body }) {
    if (event === "died") return this.died(body);
    const p = this.pending.get(id);
    if (!p) return;
    if (event === "answer") {
      this.pending.delete(id);
      p.resolve(p.raw ? body : body.length ? JSON.parse(decoder.decode(body)) : null);
    } else if (event === "failure") {
      this.pending.delete(id);
      const f = JSON.parse(decoder.decode(body));
      p.reject(Object.assign(new Error(f.message), f, { told: true }));
    } else if (p.on) p.on(event, body);
  }

  died(why) {
    this.dead ||= new Error(/out of memory|Memory.grow|allocation/i.test(why) ? "The page has no more memory for this." : `The engine has ended: ${why}`);
    this.end();
  }

  // end gives the worker up, whatever it does.
  end() {
    this.worker.terminate();
    this.dead ||= new Error("stopped");
    for (const p of this.pending.values()) p.reject(this.dead);
    this.pending.clear();
  }
}

// json reads the body of an event.
const json = (body) => JSON.parse(decoder.decode(body));
