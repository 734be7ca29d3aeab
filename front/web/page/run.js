// ---- A run: a worker for each chain, and one that puts them together ----

// Results is the page of ppl report within this one.
class Results extends Page {
  constructor() {
    super();
    this.row = null; // asks for the plots of a quantity
  }

  build() {
    super.build();
    $("head").querySelectorAll("h1").forEach((e) => e.remove());
  }

  show(report) {
    const title = document.title;
    super.show(report);
    document.title = title;
    this.themeButton.hidden = true;
  }

  // choose fetches the plots that the report does not have.
  choose(name, go) {
    if (!this.report.run.running && this.row && !this.quantities.has(name)) {
      const report = this.report, i = report.summary.name.indexOf(name);
      if (i >= 0) this.row(i).then((q) => { if (this.report === report) { this.quantities.set(name, this.decode(q)); if (this.chosen === name) this.showQuantity(); } }, () => {});
    }
    super.choose(name, go);
  }

  remember() {} // the address is the playground's
  recall() {}
}

class Runner {
  constructor(make) {
    this.make = make; // makes an Engine
    this.spare = []; // workers that wait for chains
    this.gatherer = null;
    this.run = null;
    this.results = new Results();
    this.results.build();
    this.results.fetchQuantity = (i, name) => this.quantity(i, name);
    this.results.row = (i) => this.gatherer.ask("quantity", { row: i });
    this.onstate = () => {};
  }

  // ready makes workers before they are asked for.
  ready(chains) {
    if (!this.gatherer || this.gatherer.dead) this.gatherer = this.make();
    this.spare = this.spare.filter((e) => !e.dead);
    while (this.spare.length < chains) this.spare.push(this.make());
    for (const e of this.spare.splice(chains)) e.end();
  }

  get running() { return !!this.run; }

  say(text) { if ($("run-status").textContent !== text) $("run-status").textContent = text; }

  async start(settings) {
    if (this.run) return;
    if (this.gatherer && this.gatherer.busy) this.gatherer.end(); // with the report of the run before
    this.ready(settings.chains);
    const run = this.run = { settings, began: performance.now(), chains: [], stopped: false, draws: false, printed: 0, cut: false, failures: [], bound: 0, begun: null, interrupted: false };
    $("failure").hidden = true;
    $("printed").hidden = true;
    $("printed-text").textContent = "";
    this.onstate(true);
    this.say("Starting …");
    run.progress = Array.from({ length: settings.chains }, (_, i) => ({ chain: i + 1, iteration: 0, total: 0, phase: "waiting", divergences: 0 }));
    this.bars();
    // The model is bound where the chains are put together only when it was bound by a chain:
    // what never ends there is ended by ending the chains.
    run.bind = new Promise((resolve) => { run.bindNow = resolve; }).then(() => this.gatherer.ask("gather", settings));
    run.bind.catch(() => {});
    run.engines = this.spare.splice(0, settings.chains);
    run.chains = run.engines.map((engine, i) => engine.ask("chain", { ...settings, chain: i + 1 }, { on: (event, body) => this.event(run, i, event, body) })
      .then(() => {}, (error) => { if (!run.stopped) run.failures.push({ chain: i + 1, error }); }));
    run.timer = setInterval(() => this.tick(run), 200);
    await Promise.allSettled(run.chains);
    if (!run.stopped) await this.finish(run);
  }

  event(run, i, event, body) {
    if (run.stopped && event !== "part") return;
    if (event === "bound") { if (!run.bound++) run.bindNow(); }
    else if (event === "progress") { run.progress[i] = json(body); this.bars(); }
    else if (event === "print") this.print(run, i, decoder.decode(body));
    else if (event === "part") {
      run.bindNow();
      run.parts = (run.parts || run.bind).then(() => this.gatherer.ask("add", body));
      run.parts.catch(() => {});
      run.fresh = true;
    }
  }

  // print shows what the model prints, up to a limit that the page can bear.
  print(run, i, text) {
    if (run.cut) return;
    const most = 50_000;
    let out = text.trimEnd().split("\n").map((l) => (run.settings.chains > 1 ? `chain ${i + 1}: ${l}` : l)).join("\n") + "\n";
    run.printed += out.length;
    if (run.printed > most) { out = out.slice(0, Math.max(0, out.length - (run.printed - most))) + "\n… the rest is not shown.\n"; run.cut = true; }
    $("printed").hidden = false;
    $("printed-text").append(out);
    $("printed").querySelector("summary").textContent = run.cut ? "Printed by the model, the beginning" : "Printed by the model";
  }

  bars() {
    const place = $("bars"), list = this.run ? this.run.progress : [];
    while (place.children.length > list.length) place.lastChild.remove();
    while (place.children.length < list.length) place.append(h("div", { class: "bar" }, h("span", { class: "bar-name" }), h("progress", { max: "1" }), h("span", { class: "bar-text" })));
    list.forEach((c, i) => {
      const [name, bar, text] = place.children[i].children, part = c.total ? c.iteration / c.total : 0;
      name.textContent = `chain ${c.chain}`;
      bar.value = part;
      bar.setAttribute("aria-label", `chain ${c.chain}`);
      place.children[i].dataset.phase = c.phase;
      text.textContent = `${c.phase}, ${Math.floor(100 * part)} %` + (c.divergences ? `, ${c.divergences} divergent` : "");
    });
  }

  // tick says how the run goes, and shows what there is of it.
  async tick(run) {
    if (this.run !== run || run.ended) return;
    const seconds = (performance.now() - run.began) / 1000;
    if (seconds > 1) {
      const waiting = run.bound === 0;
      this.say(waiting ? `The model is being prepared, ${clock(seconds)}` : `Running, ${clock(seconds)}`);
    }
    if (run.looking || !run.fresh || seconds < 0.8) return;
    run.looking = true;
    run.fresh = false;
    const began = performance.now();
    try {
      await run.parts;
      const report = await this.gatherer.ask("sofar", { running: true });
      if (this.run === run && !run.ended) this.show(report);
    } catch { /* told when the run ends */ }
    // Looking takes a small part of the time.
    setTimeout(() => { run.looking = false; }, Math.min(5000, Math.max(400, 10 * (performance.now() - began))));
  }

  show(report) {
    $("results").hidden = false;
    this.results.show(report);
  }

  // finish shows the run when its chains have ended: first the table, then all plots.
  async finish(run) {
    run.ended = true;
    clearInterval(run.timer);
    this.spare.push(...run.engines.filter((e) => !e.dead));
    const interrupted = run.stopped;
    try {
      if (run.failures.length === run.settings.chains && !run.parts) {
        this.fail(run.failures);
        this.say("");
        return;
      }
      await run.parts;
      const first = await this.gatherer.ask("sofar", { interrupted });
      if (this.run !== run) return;
      const seconds = (performance.now() - run.began) / 1000;
      if (first.run.draws === 0 && interrupted) { this.say(`Stopped after ${clock(seconds)}, in warm-up: there are no draws.`); return; }
      this.show(first);
      performance.mark("ppl-result");
      this.say(`${interrupted ? "Stopped" : "Done"} after ${clock(seconds)}. ${plural(first.run.draws, "draw", "draws")} of ${plural(run.settings.chains, "chain", "chains")}.`);
      if (run.failures.length) this.fail(run.failures);
      this.release(run);
      const whole = await this.gatherer.ask("report", { interrupted });
      if (!this.run && this.last === run) { this.show(whole); this.onreport && this.onreport(); performance.mark("ppl-report"); }
    } catch (error) {
      if (this.run === run || (!this.run && this.last === run)) { this.fail([{ error }]); this.say(""); }
    } finally {
      this.release(run);
    }
  }

  release(run) {
    if (this.run !== run) return;
    this.run = null;
    this.last = run;
    this.bars();
    this.onstate(false);
  }

  // stop ends the chains, whatever they do; what they have handed over stays.
  async stop() {
    const run = this.run;
    if (!run || run.ended || run.stopped) return;
    run.stopped = true;
    for (const e of run.engines) e.end();
    clearInterval(run.timer);
    this.say("Stopping …");
    if (!run.parts) {
      if (run.bound) this.gatherer.end(); // it may be at what never ends
      this.release(run);
      this.say(`Stopped after ${clock((performance.now() - run.began) / 1000)}: there are no draws.`);
      this.ready(run.settings.chains);
      return;
    }
    this.ready(run.settings.chains);
    await this.finish(run);
  }

  // fail says what is wrong, once for chains that failed alike.
  fail(failures) {
    const seen = new Map();
    for (const { chain, error } of failures) {
      const text = error.text || error.message;
      seen.set(text, [...(seen.get(text) || []), chain]);
    }
    const box = $("failure");
    box.replaceChildren(h("h2", {}, "The run failed"), ...[...seen].map(([text, chains]) => h("div", {}, chains.length < failures.length ? h("p", {}, `Chain ${chains.join(", ")}:`) : null, h("pre", { tabindex: "0" }, text))));
    box.hidden = false;
    this.onfailure && this.onfailure(failures[0].error);
  }

  async quantity(i, name) {
    const q = await this.gatherer.ask("quantity", { row: i }).catch(() => null);
    if (!q || this.results.chosen !== name) return;
    this.results.quantities.set(name, this.results.decode(q));
    this.results.showQuantity();
  }
}
