// ---- The page ----

class Playground {
  constructor() {
    this.module = fetchModule();
    this.module.catch((e) => this.say(`The engine could not be loaded, so nothing can be run: ${e.message}`));
    const make = () => new Engine(this.module);
    this.writing = make();
    // The engine of the text is replaced if it dies.
    const writing = () => (this.writing.dead ? (this.writing = make()) : this.writing);
    this.editor = new ModelEditor($("editor"), writing);
    this.data = new DataPane(writing, () => this.settings());
    this.runner = new Runner(make);
    this.samplers = [];
    this.theme(localStorageGet("theme") || "system");
    this.listen();
    this.begin();
  }

  listen() {
    const { editor, data, runner } = this;
    editor.onchange = () => this.changed();
    editor.onmessages = (list) => this.messages(list);
    editor.onmove = () => this.about();
    $("about").addEventListener("toggle", () => this.about());
    data.onchange = () => this.changed();
    data.onints = (ints) => { const text = JSON.stringify(ints); if (text !== this.ints) { this.ints = text; editor.ints = ints; editor.version++; editor.check(); } };
    $("model-name").addEventListener("change", () => { editor.name = $("model-name").value; editor.version++; editor.check(); });
    $("layout").addEventListener("click", () => editor.layOut());
    $("shapes").addEventListener("change", () => { editor.shapes = $("shapes").checked; localStorageSet("shapes", editor.shapes ? "yes" : ""); editor.draw(); });
    $("generate").addEventListener("click", () => data.generate());
    $("run").addEventListener("click", () => this.run());
    $("stop").addEventListener("click", () => runner.stop());
    $("share").addEventListener("click", () => this.share());
    $("download").addEventListener("click", () => this.download());
    $("examples").addEventListener("change", () => { const e = this.examples[$("examples").value]; if (e) this.example(e); $("examples").value = ""; });
    $("sampler").addEventListener("change", () => this.showOptions());
    $("theme").addEventListener("click", () => { const all = ["system", "light", "dark"]; this.theme(all[(all.indexOf(this.themeNow) + 1) % 3]); });
    document.addEventListener("keydown", (e) => {
      if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); if (!runner.running) this.run(); }
    });
    window.addEventListener("hashchange", () => this.open());
    window.addEventListener("beforeunload", () => this.keep());
    let width = 0;
    new ResizeObserver(([e]) => { if (e.contentRect.width !== width) { width = e.contentRect.width; editor.draw(); } }).observe($("editor"));
    runner.onstate = (running) => {
      $("run").hidden = running;
      $("stop").hidden = !running;
      if (running && document.activeElement === document.body) $("stop").focus();
    };
    runner.onfailure = (error) => {
      const at = (error.messages || []).find((m) => m.line > 0);
      if (at && document.activeElement !== editor.area) $("failure").scrollIntoView({ block: "nearest" });
    };
  }

  async begin() {
    this.editor.shapes = $("shapes").checked = localStorageGet("shapes") === "yes";
    this.editor.box.style.setProperty("--line", `${lineHeight}px`);
    const list = fetch("site.json").then((a) => a.json()).then(({ version, examples: list }) => {
      this.examples = list;
      $("version").textContent = `ppl ${version}`;
      $("examples").append(...list.map((e, i) => h("option", { value: String(i) }, e.title)));
      return list;
    }).catch(() => []);
    this.writing.ask("samplers").then((a) => this.takeSamplers(a)).catch(() => {});
    this.runner.ready(4);
    if (!(await this.open())) {
      const kept = localStorageGet("state");
      if (kept) { try { this.take(JSON.parse(kept)); this.begun = true; return; } catch { /* as at first */ } }
      const [first] = await list;
      if (first) await this.example(first);
    }
    this.begun = true;
  }

  takeSamplers(samplers) {
    this.samplers = samplers;
    const now = this.wanted?.sampler || $("sampler").value;
    $("sampler").replaceChildren(...samplers.map((s) => h("option", { value: s.name }, s.name)));
    if (samplers.some((s) => s.name === now)) $("sampler").value = now;
    this.showOptions();
  }

  // showOptions shows those of the sampler that is chosen.
  showOptions() {
    const s = this.samplers.find((x) => x.name === $("sampler").value);
    if (!s) return;
    $("sampler-about").textContent = s.doc;
    $("warmup").disabled = !s.adapts;
    $("sampler-options-box").hidden = s.options.length === 0;
    const given = this.wanted?.options || {};
    this.wanted = null;
    $("sampler-options").replaceChildren(...s.options.map((o) => {
      const id = `option-${o.name}`;
      const input = o.switch
        ? h("select", { id, "data-option": o.name }, ["", "true", "false"].map((v) => h("option", { value: v }, v === "" ? `default: ${o.default}` : v)))
        : h("input", { id, "data-option": o.name, placeholder: o.default, spellcheck: "false", autocomplete: "off" });
      input.value = given[o.name] || "";
      input.addEventListener("change", () => this.changed());
      return h("div", {}, h("label", { for: id }, h("code", {}, o.name)), input, h("p", { class: "remark" }, o.usage));
    }));
  }

  options() {
    const out = {};
    for (const e of $("sampler-options").querySelectorAll("[data-option]")) if (e.value.trim()) out[e.dataset.option] = e.value.trim();
    return out;
  }

  // settings is what a run is asked for.
  settings() {
    const whole = (id, otherwise) => { const n = Math.floor(Number($(id).value)); return $(id).value !== "" && Number.isFinite(n) ? n : otherwise; };
    const warmup = whole("warmup", 1000);
    return {
      name: $("model-name").value.trim() || "model.stan", model: this.editor.text, data_name: this.data.name.value.trim() || "data.json", data: this.data.text, counts: this.data.isTable() ? this.data.countList() : [],
      seed: $("seed").value.trim() || "1", chains: Math.max(1, Math.min(16, whole("chains", 4))), warmup: warmup === 0 ? -1 : warmup, draws: Math.max(1, whole("draws", 1000)),
      sampler: $("sampler").value, options: this.options(),
    };
  }

  // take shows a state: of a link, or of the last visit.
  take(s) {
    const text = (v) => (typeof v === "string" ? v : "");
    $("model-name").value = this.editor.name = text(s.name) || "model.stan";
    this.editor.set(text(s.model));
    this.data.set(text(s.data_name) || "data.json", text(s.data), Array.isArray(s.counts) ? s.counts.map(String) : []);
    for (const id of ["chains", "warmup", "draws", "seed"]) if (s[id] !== undefined) $(id).value = id === "warmup" && s[id] < 0 ? 0 : String(s[id]);
    this.wanted = { sampler: text(s.sampler), options: s.options && typeof s.options === "object" ? s.options : {} };
    if (this.samplers.length) { if (this.samplers.some((x) => x.name === s.sampler)) $("sampler").value = s.sampler; this.showOptions(); }
  }

  async example(e) {
    try {
      const [model, data] = await Promise.all([e.model, e.data].map((f) => fetch(f).then((a) => a.text())));
      $("model-name").value = this.editor.name = `${e.name}.stan`;
      this.editor.set(model);
      this.data.set(`${e.name}.data.json`, data, []);
    } catch (error) { this.say(`The example could not be loaded: ${error.message}`); }
  }

  // open takes what a link holds.
  async open() {
    if (!location.hash.startsWith("#m=")) return false;
    try {
      const s = await linked();
      if (!s || typeof s !== "object") throw new Error("it is not whole");
      if (this.runner.running) this.runner.stop();
      this.take(s);
      history.replaceState(null, "", location.pathname + location.search);
      this.say("This is the model of a link. Look at it before you run it: it runs in this page, and can do nothing but compute.");
      return true;
    } catch (error) {
      this.say(`The link cannot be read: ${error.message}`);
      return false;
    }
  }

  say(text) {
    $("note").hidden = !text;
    $("note").replaceChildren(text, h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => this.say("") }, "✕"));
  }

  changed() {
    if (!this.begun) return;
    clearTimeout(this.keepTimer);
    this.keepTimer = setTimeout(() => this.keep(), 1000);
  }

  // keep remembers what is written for the next visit, in this browser alone.
  keep() {
    if (!this.begun) return;
    const s = this.settings();
    if (s.data.length < 1_000_000) localStorageSet("state", JSON.stringify(s));
  }

  async run() {
    if (this.runner.running) return;
    $("note").hidden = true;
    await this.runner.start(this.settings());
  }

  async share() {
    try {
      const link = await linkOf(this.settings());
      if (link.length > longLink) this.say(`The link has ${count(link.length)} characters, too many for some programs: a download carries the data better.`);
      history.replaceState(null, "", link);
      await navigator.clipboard.writeText(link);
      this.flash($("share"), "Copied");
    } catch (error) { this.say(location.hash.startsWith("#m=") ? "The link is in the address bar; the browser does not let it be copied." : `There is no link: ${error.message}`); }
  }

  async download() {
    try {
      const engine = this.runner.gatherer && !this.runner.gatherer.busy && !this.runner.gatherer.dead ? this.runner.gatherer : this.writing;
      const zip = await engine.ask("folder", this.settings(), { raw: true });
      save(`${(this.settings().name.replace(/\.[^.]*$/, "") || "model")}.zip`, "application/zip", zip);
    } catch (error) { this.say(`The folder cannot be made: ${error.message}`); }
  }

  flash(button, text) {
    const before = button.dataset.text ||= button.textContent;
    button.textContent = text;
    setTimeout(() => { button.textContent = before; }, 1500);
  }

  // ---- Messages, and what the cursor is on ----

  messages(list) {
    const place = $("messages"), errors = list.filter((m) => m.severity === "error").length, others = list.length - errors;
    const head = !list.length ? "No errors" : [errors && plural(errors, "error", "errors"), others && plural(others, "remark", "remarks")].filter(Boolean).join(", ");
    const state = h("p", { class: `count ${errors ? "has-errors" : "is-fine"}`, role: "status", id: "messages-count" }, head);
    const shown = list.slice(0, 30);
    const items = shown.map((m) => h("li", { class: `message s-${m.severity}` },
      h("button", { type: "button", class: "where-line", onclick: () => this.editor.go(m.from, m.to) }, m.line ? `line ${m.line}` : "model"),
      h("div", {}, h("span", { class: "said" }, m.summary), m.detail ? h("span", { class: "detail" }, ` ${m.detail}.`.replace(/\.\.$/, ".")) : null,
        m.help ? h("span", { class: "help" }, ` ${m.help} `) : null,
        m.edits && m.edits.length ? h("button", { type: "button", class: "fix", onclick: () => this.editor.apply(m.edits) }, "Fix it") : null,
        h("button", { type: "button", class: "quiet code", title: "What this means", onclick: (e) => this.explain(m.code, e.currentTarget.closest("li")) }, m.code))));
    if (list.length > shown.length) items.push(h("li", { class: "remark" }, `and ${list.length - shown.length} more`));
    const old = $("messages-count");
    if (old) { if (old.textContent !== head) old.replaceWith(state); } else place.append(state);
    place.querySelector("ul")?.remove();
    if (items.length) place.append(h("ul", {}, items));
  }

  async explain(code, li) {
    if (li.querySelector(".explained")) { li.querySelector(".explained").remove(); return; }
    const x = await this.writing.ask("explain", { name: code }).catch(() => null);
    if (x) li.append(h("div", { class: "explained doc" }, h("p", {}, h("strong", {}, x.title)), x.text ? markdown(x.text) : null, x.example ? [h("p", {}, "For example:"), h("pre", {}, x.example.trim())] : null, x.fixed ? [h("p", {}, "Right is:"), h("pre", {}, x.fixed.trim())] : null));
  }

  async about() {
    if (!$("about").open) return;
    const a = await this.editor.about().catch(() => null);
    if (!a) return;
    const parts = [];
    if (a.signature) {
      const { label, from, to, text } = a.signature;
      parts.push(h("p", { class: "signature" }, h("code", {}, label.slice(0, from), h("mark", {}, label.slice(from, to)), label.slice(to))));
      if (text) parts.push(h("p", {}, inline(text)));
    }
    if (a.hover) parts.push(...markdown(a.hover.text));
    $("about-text").replaceChildren(...(parts.length ? parts : ["Nothing is known about this place."]));
  }

  theme(now) {
    this.themeNow = now;
    if (now === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now;
    $("theme").textContent = { system: "◐ System", light: "☀ Light", dark: "☾ Dark" }[now];
    $("theme").setAttribute("aria-label", `Theme: ${now}`);
    localStorageSet("theme", now);
  }
}

// What a browser does not let a page keep, is not kept.
function localStorageGet(key) { try { return localStorage.getItem(`ppl-${key}`); } catch { return null; } }
function localStorageSet(key, value) { try { localStorage.setItem(`ppl-${key}`, value); } catch { /* not kept */ } }

const playground = new Playground();
