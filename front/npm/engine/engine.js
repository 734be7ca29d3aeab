// compile and sample, for any platform. A platform has the functions
//
//   program()              the compressed WebAssembly program, as bytes whose buffer may be moved
//   worker(receive, failed)   a new worker: {post, end}
//   cores()                the number of processors
const encoder = new TextEncoder(), decoder = new TextDecoder();
const json = (body) => (body.length ? JSON.parse(decoder.decode(body)) : null);

/** An error of a model, its data or its settings. */
export class ModelError extends Error {
  constructor({ message, text, messages }) {
    super(text || message);
    this.name = "ModelError";
    this.messages = messages || [];
  }
}

// Program is a worker that answers requests one after another.
class Program {
  constructor(platform, module) {
    this.next = 1;
    this.pending = new Map();
    this.dead = null;
    this.worker = platform.worker((m) => this.receive(m), (error) => this.end(error));
    module.then((m) => this.dead || this.worker.post({ module: m }, []), (error) => this.end(error));
  }

  // ask sends a request: a value, sent as JSON, or bytes. The answer is bytes.
  ask(kind, body, on) {
    if (this.dead) return Promise.reject(this.dead);
    const id = this.next++, bytes = body instanceof Uint8Array ? body : encoder.encode(JSON.stringify(body ?? {}));
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject, on });
      this.worker.post({ id, kind, body: bytes }, [bytes.buffer]);
    });
  }

  receive({ id, event, body }) {
    if (event === "died") return this.end(new Error(/out of memory|Memory.grow|allocation/i.test(body) ? "the engine has no more memory for this" : `the engine has ended: ${body}`));
    const p = this.pending.get(id);
    if (!p) return;
    if (event === "answer" || event === "failure") this.pending.delete(id);
    if (event === "answer") p.resolve(body);
    else if (event === "failure") p.reject(new ModelError(json(body)));
    else if (p.on) p.on(event, body);
  }

  end(why) {
    this.dead ||= why;
    this.worker.end();
    for (const p of this.pending.values()) p.reject(this.dead);
    this.pending.clear();
  }
}

// known are the settings of sample, with the names that the program has for those that it gets.
const known = {
  data: "data", dataName: "data_name", counts: "counts", seed: "seed", chains: "chains", warmup: "warmup", draws: "draws", thin: "thin",
  sampler: "sampler", samplerOptions: "options", workers: null, html: null, signal: null, onProgress: null, onPrint: null,
};

// request makes the settings that the program gets.
function request(model, settings) {
  const r = { name: model.name, model: model.text };
  for (const [name, value] of Object.entries(settings)) {
    if (!(name in known)) throw new TypeError(`sample has no setting ${name}; it has ${Object.keys(known).join(", ")}`);
    if (known[name] && value !== undefined) r[known[name]] = value;
  }
  for (const name of ["chains", "warmup", "draws", "thin", "workers"]) {
    const v = settings[name];
    if (v !== undefined && (!Number.isInteger(v) || v < (name === "warmup" ? 0 : 1))) throw new TypeError(`${name} must be a whole number, ${name === "warmup" ? 0 : 1} or more, but is ${v}`);
  }
  if (r.warmup === 0) r.warmup = -1; // the program's 0 is its default
  r.chains ??= 4;
  r.seed = String(r.seed ?? crypto.getRandomValues(new Uint32Array(1))[0]);
  if (r.options) r.options = Object.fromEntries(Object.entries(r.options).map(([k, v]) => [k, String(v)]));
  if (r.data !== undefined && typeof r.data !== "string") r.data = JSON.stringify(r.data, plain);
  return r;
}

// plain makes values of JSON from what JavaScript has for data.
function plain(_, v) {
  if (ArrayBuffer.isView(v)) v = Array.from(v);
  if (typeof v === "bigint") return Number.isSafeInteger(Number(v)) ? Number(v) : String(v);
  if (typeof v === "number" && !Number.isFinite(v)) return String(v); // "NaN", "Infinity", "-Infinity"
  return v;
}

// number reads a number of a report.
const number = (v) => (typeof v === "string" ? Number(v) : v);

/** A model without errors. */
class Model {
  constructor(name, text, warnings, run) {
    Object.assign(this, { name, text, warnings });
    Object.defineProperty(this, "sample", { value: (settings) => run(this, settings) });
  }
}

/** The result of sample. */
class Fit {
  constructor(result) {
    const { columns, ...rest } = result;
    Object.assign(this, rest);
    Object.defineProperty(this, "columns", { value: columns });
  }

  draws(name) {
    const column = this.columns.get(name);
    if (!column) throw new RangeError(`the fit has no quantity ${name}; it has ${[...this.columns.keys()].slice(0, 20).join(", ")}`);
    return column;
  }
}

// compiled returns the compiled program. A worker decompresses and compiles it, since a page or
// server would not answer meanwhile.
async function compiled(platform) {
  const packed = await platform.program();
  let worker;
  try {
    return await new Promise((resolve, reject) => {
      worker = platform.worker(({ module, error }) => (module ? resolve(module) : reject(new Error(error))), reject);
      worker.post({ packed }, [packed.buffer]);
    });
  } finally {
    worker.end();
  }
}

export function engine(platform) {
  let module; // of all programs
  const start = () => new Program(platform, (module ||= compiled(platform).catch((error) => { module = undefined; throw error; })));

  async function compile(text, { name = "model.stan" } = {}) {
    if (typeof text !== "string") throw new TypeError("compile needs the text of a model");
    const p = start();
    try {
      const { messages } = json(await p.ask("text", { name, text }));
      const errors = messages.filter((m) => m.severity === "error");
      if (errors.length) {
        // The program words errors when it compiles.
        await p.ask("gather", { name, model: text, chains: 1 });
        throw new ModelError({ message: errors[0].summary, messages });
      }
      return new Model(name, text, messages, sample);
    } finally {
      p.end(new Error("ended"));
    }
  }

  async function sample(model, settings = {}) {
    const { signal, onProgress, onPrint, html } = settings;
    if (typeof model === "string") model = { name: "model.stan", text: model };
    const r = request(model, settings);
    signal?.throwIfAborted();
    const began = performance.now(), gatherer = start(), all = [gatherer];
    const abort = () => { for (const p of all) p.end(signal.reason); };
    signal?.addEventListener("abort", abort);
    try {
      let next = 1;
      let parts = gatherer.ask("gather", r);
      parts.catch(() => {});
      const chains = async () => {
        const p = start();
        all.push(p);
        while (next <= r.chains) {
          const chain = next++;
          await p.ask("chain", { ...r, chain }, (event, body) => {
            if (event === "progress") onProgress?.(json(body));
            else if (event === "print") onPrint?.(decoder.decode(body), chain);
            else if (event === "part") { parts = parts.then(() => gatherer.ask("add", body)); parts.catch(() => {}); }
          });
        }
        p.end(new Error("ended"));
      };
      await Promise.all(Array.from({ length: Math.min(r.chains, settings.workers ?? platform.cores()) }, chains));
      await parts;
      const report = json(await gatherer.ask(html ? "report" : "sofar", {}));
      const { name: names, label, ...figures } = report.summary, { draws } = json(await gatherer.ask("columns"));
      const columns = new Map();
      for (const [row, name] of names.entries()) {
        const body = await gatherer.ask("column", { row });
        const numbers = new Float64Array(body.buffer, body.byteOffset, body.length / 8);
        let from = 0;
        columns.set(name, draws.map((n) => numbers.subarray(from, (from += n))));
      }
      const summary = names.map((of, i) => Object.fromEntries([["name", of], ...Object.entries(figures).map(([k, v]) => [k, number(v[i])])]));
      return new Fit({
        seed: r.seed, names, chains: draws.length, summary, findings: report.findings, divergences: report.run.divergences,
        seconds: (performance.now() - began) / 1000, html: html ? decoder.decode(await gatherer.ask("page")) : undefined, columns,
      });
    } finally {
      signal?.removeEventListener("abort", abort);
      for (const p of all) p.end(new Error("ended"));
    }
  }

  return { compile, sample };
}
