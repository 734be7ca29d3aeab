"use strict";
// A worker: the engine in WebAssembly, and what passes between it and the page. The page
// sends {module} first, then {id, kind, body}; it is sent {id, event, body}. One worker gets {packed}
// instead, the compressed program, and sends {module} or {error}.
importScripts("wasm_exec.js", "unpack.js");

const waiting = [];

self.pplTell = (id, event, body) => {
  if (event === "ready") {
    for (const m of waiting.splice(0)) self.pplAsk(m.id, m.kind, m.body);
  }
  self.postMessage({ id, event, body }, [body.buffer]);
};

self.onmessage = async ({ data }) => {
  if (data.packed) {
    try {
      self.postMessage({ module: await WebAssembly.compile(pplUnpack(data.packed)) });
    } catch (error) {
      self.postMessage({ error: error.message });
    }
    return;
  }
  if (!data.module) {
    if (self.pplAsk) self.pplAsk(data.id, data.kind, data.body);
    else waiting.push(data);
    return;
  }
  const go = new Go();
  // What the program says when it dies, such as that there is no memory left, reaches the
  // page: the reason, and not the stacks that follow it.
  const said = [];
  const log = console.log;
  console.log = (...text) => {
    const line = text.join(" ");
    if (/^(fatal error|panic|runtime): /.test(line)) said.push(line);
    said.splice(0, said.length - 20);
    log(...text);
  };
  try {
    await go.run(await WebAssembly.instantiate(data.module, go.importObject));
    throw new Error("the engine has ended");
  } catch (error) {
    self.postMessage({ id: 0, event: "died", body: [...said, String(error)].join("\n") });
  }
};
