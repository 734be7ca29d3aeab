// What a worker does: it runs the program, and passes requests to it and events back. The first
// message is {module}, the others are {id, kind, body}; each event is {id, event, body}. One worker
// gets {packed} instead, the compressed program, and sends {module} or {error}.
import "./wasm_exec.js";
import "./unpack.js";

// serve returns the function that takes messages, as wrap makes it from one that takes their data.
export function serve(post, wrap) {
  const waiting = [];
  globalThis.pplTell = (id, event, body) => {
    if (event === "ready") for (const m of waiting.splice(0)) globalThis.pplAsk(m.id, m.kind, m.body);
    post({ id, event, body }, [body.buffer]);
  };
  return wrap(async (m) => {
    if (m.packed) {
      try {
        post({ module: await WebAssembly.compile(globalThis.pplUnpack(m.packed)) }, []);
      } catch (error) {
        post({ error: error.message }, []);
      }
      return;
    }
    if (!m.module) {
      if (globalThis.pplAsk) globalThis.pplAsk(m.id, m.kind, m.body);
      else waiting.push(m);
      return;
    }
    // The lines in which a program says why it dies, without the stacks that follow.
    const said = [];
    console.log = (...text) => {
      const line = text.join(" ");
      if (/^(fatal error|panic|runtime): /.test(line)) said.push(line);
      said.splice(0, said.length - 20);
    };
    try {
      const go = new globalThis.Go();
      await go.run(await WebAssembly.instantiate(m.module, go.importObject));
      throw new Error("the engine has ended");
    } catch (error) {
      post({ id: 0, event: "died", body: [...said, String(error)].join("\n") }, []);
    }
  });
}
