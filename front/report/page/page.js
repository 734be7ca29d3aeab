// ---- The page ----

const $ = (id) => document.getElementById(id);

// Page shows a report. What a reader has chosen is kept when the report changes.
class Page {
  constructor() {
    this.report = null;
    this.chosen = "";
    this.pair = null;
    this.log = { x: false, y: false };
    this.only = 0; // chain that is looked at; 0: all
    this.quantities = new Map();
    this.drawn = []; // figures that are drawn anew when the window changes
    this.fetchQuantity = null; // of a live page
    this.table = new SummaryTable((i) => this.choose(this.report.summary.name[i], true), () => this.remember());
  }

  // ---- Frame ----

  build() {
    const section = (id, title, ...children) => h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
    this.place = {};
    const place = (name, attributes) => (this.place[name] = h("div", attributes || {}));
    this.quantityTitle = h("span", {});
    // fold makes a section of diagnostics, which is closed while nothing is wrong.
    const fold = (id, title, ...children) => {
      const inner = h("details", { class: "fold" }, h("summary", {}, "Show"), ...children);
      const out = section(id, title, inner);
      inner.addEventListener("toggle", () => { inner.firstChild.textContent = inner.open ? "Hide" : "Show"; if (inner.open) this.redraw(out); });
      return out;
    };
    const quantity = fold("quantity", "", place("quantity"));
    quantity.querySelector("h2").append(this.quantityTitle);
    $("head").replaceChildren(place("head"), place("live"));
    $("main").replaceChildren(
      (this.nav = h("nav", { "aria-label": "Parts of the report" })),
      (this.findingsSection = section("findings", "Findings", place("findings"))),
      (this.modelSection = section("model", "Model and data", place("model"))),
      section("summary", "Summary", this.table.element),
      (this.intervalsSection = section("intervals", "Intervals", place("intervals", { class: "figures" }))),
      (this.effectsSection = section("effects", "Expected outcomes and curves", place("effects", { class: "figures" }))),
      (this.priorSection = section("priors", "Priors and posteriors", place("priors", { class: "figures" }))),
      (this.dataSection = section("data-section", "Data and predictions", place("dataTables", { class: "tables" }), place("data", { class: "figures" }))),
      quantity,
      (this.pairsSection = fold("pairs", "Pairs", place("pairs"))),
      (this.samplerSection = fold("sampler", "Sampler", place("tables", { class: "tables" }), place("sampler", { class: "figures" }))),
      (this.notesSection = section("notes", "What is left out", place("notes"))));
    document.addEventListener("keydown", (e) => this.keys(e));
    let width = window.innerWidth;
    new ResizeObserver(() => {
      if (window.innerWidth === width) return;
      width = window.innerWidth;
      this.redraw();
    }).observe(document.documentElement);
    window.addEventListener("hashchange", () => this.recall());
  }

  keys(e) {
    const typing = e.target.closest("input, select, textarea");
    if (e.key === "/" && !typing && !e.ctrlKey && !e.metaKey) {
      e.preventDefault();
      $("find").focus();
    }
  }

  // show takes in a report.
  show(report) {
    this.report = report;
    document.title = `${report.title} – ppl report`;
    this.kinds = new Map(report.kinds.map((k) => [k.name, k]));
    // A run that goes on brings a pair; others have been asked for.
    if (!this.fetchQuantity || !report.run.running) this.quantities = new Map();
    for (const q of report.quantities) this.quantities.set(q.name, this.decode(q));
    this.head();
    this.findings();
    this.fitted();
    this.table.update(report);
    if (!this.chosen || !report.summary.name.includes(this.chosen)) this.chosen = this.first();
    this.choose(this.chosen, false);
    this.figures("intervals", report.figures.filter((f) => f.kind === "intervals"), this.intervalsSection);
    this.figures("effects", report.figures.filter((f) => f.kind === "effects" || f.kind === "curve"), this.effectsSection);
    this.figures("priors", report.figures.filter((f) => f.kind === "prior"), this.priorSection);
    this.showPairs();
    this.figures("sampler", report.figures.filter((f) => this.kinds.get(f.kind).scope === "run"));
    this.fillKeeping("tables", report.tables.filter((t) => t.kind === "chains").map(smallTable));
    this.samplerSection.hidden = !this.place.sampler.children.length && !this.place.tables.children.length;
    const data = report.figures.filter((f) => this.kinds.get(f.kind).scope === "data");
    const tables = report.tables.filter((t) => t.kind !== "chains");
    this.fillKeeping("dataTables", tables.map(smallTable));
    this.figures("data", data);
    this.dataSection.hidden = data.length + tables.length === 0;
    this.place.notes.replaceChildren(h("ul", {}, report.notes.map((n) => h("li", {}, n))));
    this.notesSection.hidden = report.notes.length === 0;
    if (!this.folded) { // once, so that what a reader opens stays open
      this.folded = true;
      const bad = report.run.running || report.findings.some((f) => f.severity === "problem" && f.plot && this.kinds.get(f.plot).scope !== "data" || f.severity === "problem" && (f.quantities || []).length);
      if (bad) for (const d of document.querySelectorAll("details.fold")) d.open = true;
    }
    this.navigation();
    $("foot").replaceChildren(h("p", {}, `${report.program}, ${report.made.replace("T", " ").replace("Z", " UTC")}. The page needs no network and sends nothing.`));
  }

  navigation() {
    const parts = [...$("main").querySelectorAll("section")].filter((p) => !p.hidden);
    const links = parts.map((p) => h("a", { href: `#${p.id}`, onclick: (e) => { e.preventDefault(); this.open(p); p.scrollIntoView(); p.querySelector("h2").setAttribute("tabindex", "-1"); p.querySelector("h2").focus({ preventScroll: true }); } }, p.id === "quantity" ? "Quantity" : p.querySelector("h2").textContent));
    if (this.nav.textContent !== links.map((a) => a.textContent).join("")) this.nav.replaceChildren(...links);
  }

  // fillKeeping replaces children only if they look different, so that nothing flickers.
  fillKeeping(name, children) {
    const box = h("div", {}, ...children);
    if (box.innerHTML !== this.place[name].innerHTML) this.place[name].replaceChildren(...box.childNodes);
  }

  // ---- Head and findings ----

  head() {
    const { report } = this, r = report.run;
    const chains = report.kept.counts.length;
    const problems = report.findings.filter((f) => f.severity === "problem").length, notes = report.findings.length - problems;
    let verdict = problems ? plural(problems, "problem", "problems") : "No problems found";
    if (notes) verdict += `, ${plural(notes, "note", "notes")}`;
    const facts = [
      [r.method ? "Approximation" : "Sampler", r.method || r.sampler],
      [chains === 1 ? "Draws" : `Draws of ${chains} chains`, count(r.draws)],
      ["Warm-up each", r.method || !r.warmup ? "" : count(r.warmup)],
      ["Divergent", r.method || r.divergences === null ? "" : count(r.divergences)],
      ["Gradients", r.gradients ? count(r.gradients) : ""],
      ["Time", numeric(r.seconds) > 0 ? clock(numeric(r.seconds)) : ""],
      ["Seed", r.method ? "" : r.seed],
    ].filter(([, v]) => v);
    const state = r.running ? "The chains are running" : r.interrupted ? "The run was interrupted" : "";
    if (!this.headParts) { // made once, so that what has the focus keeps it
      const parts = { over: h("p", { class: "over" }), title: h("h1", {}), verdict: h("p", {}), checked: h("p", { class: "checked" }), question: h("p", { class: "question" }), answers: h("ul", { class: "answers" }), facts: h("dl", { class: "facts" }), buttons: h("div", { class: "buttons" }) };
      this.themeButton = h("button", { type: "button", class: "quiet", onclick: () => this.theme(true) });
      parts.buttons.append(this.themeButton);
      this.place.head.replaceChildren(h("div", { class: "title" }, h("div", {}, parts.over, parts.title), parts.buttons), parts.question, parts.verdict, parts.checked, parts.answers, parts.facts);
      this.headParts = parts;
    }
    const parts = this.headParts;
    parts.over.textContent = r.running ? "ppl, live" : "ppl report";
    parts.title.replaceChildren(...breakable(report.title));
    parts.question.replaceChildren(...questionOf(report.fitted).head.map((text) => h("span", {}, text)));
    const clean = !report.findings.length && !r.running && !r.method && report.summary.name.length;
    parts.checked.textContent = clean ? "The chains agree, and there are enough effective draws for means and intervals. They cannot show a mode that no chain reached." : "";
    parts.answers.replaceChildren(...report.answers.map((a) => h("li", {}, breakable(a))), ...(report.answers.length ? [h("li", { class: "soft" }, "In brackets: the middle 90 % of the posterior.")] : []));
    parts.verdict.className = `verdict ${problems ? "is-problem" : "is-well"}`;
    parts.verdict.replaceChildren(h("span", { class: "sign", "aria-hidden": "true" }, problems ? "▲" : "✓"), ` ${verdict}`, h("span", { class: "state" }, state ? ` · ${state}` : ""));
    parts.facts.replaceChildren(...facts.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v))));
    if (this.live && this.live.ended && parts.buttons.children.length === 1) parts.buttons.prepend(h("button", { type: "button", class: "quiet", onclick: () => this.live.save() }, "Save this report"));
    this.theme(false);
  }

  // theme goes through the system's, light and dark.
  theme(next) {
    const all = ["system", "light", "dark"], root = document.documentElement;
    let now = root.dataset.theme || "system";
    if (next) now = all[(all.indexOf(now) + 1) % all.length];
    if (now === "system") delete root.dataset.theme;
    else root.dataset.theme = now;
    this.themeButton.textContent = { system: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" }[now];
  }

  findings() {
    const text = JSON.stringify([this.report.findings, this.report.run.running]);
    if (text === this.found) return;
    this.found = text;
    const list = this.report.findings.map((f) => h("li", { class: `finding ${f.severity}` },
      h("p", { class: "what" }, h("span", { class: "mark" }, f.severity === "problem" ? "▲ Problem" : "● Note"), h("strong", {}, breakable(f.summary))),
      h("p", { class: "advice" }, spelled(f.advice)),
      (f.quantities || []).length || f.plot ? h("p", { class: "where" },
        (f.quantities || []).map((q) => h("button", { type: "button", onclick: () => this.look(f, q) }, breakable(q))),
        f.plot && !(f.quantities || []).length ? h("button", { type: "button", onclick: () => this.look(f) }, `See ${this.kinds.get(f.plot).title.toLowerCase()}`) : null) : null));
    this.findingsSection.hidden = !list.length && !this.report.run.running;
    this.place.findings.replaceChildren(list.length ? h("ul", { class: "findings" }, list) : h("p", { class: "well" }, "No problems so far."));
  }

  // fitted shows the model, the data, and the command that makes the run again.
  fitted() {
    const f = this.report.fitted;
    this.modelSection.hidden = !f;
    if (!f || this.fittedText === f.text) return;
    this.fittedText = f.text;
    const lines = f.text.trimEnd().split("\n").length;
    this.place.model.replaceChildren(
      h("div", {},
        ...questionOf(f).rest.map((q) => h("p", {}, q)),
        ...(f.data && f.data.rows.length ? [smallTable(f.data)] : []),
        ...(f.command ? [h("p", {}, "To make the run again:"), h("pre", { tabindex: "0", class: "command" }, h("code", {}, spelled(f.command)))] : [])),
      h("details", lines > 150 ? {} : { open: "" }, h("summary", {}, `The model, ${plural(lines, "line", "lines")}`), h("pre", { tabindex: "0" }, h("code", {}, f.text))));
  }

  // look goes to what shows a finding.
  look(f, quantity) {
    const kind = this.kinds.get(f.plot), scope = kind ? kind.scope : "quantity";
    if (quantity) this.choose(quantity, scope === "quantity");
    if (scope === "pair") {
      const others = f.quantities || [];
      if (quantity) this.pair = [quantity, others.find((q) => q !== quantity) || (this.pair && this.pair.find((q) => q !== quantity)) || quantity];
      this.showPairs();
      this.go(this.pairsSection);
    } else if (scope === "run") this.go(this.samplerSection);
    else if (scope === "data") this.dataSection.scrollIntoView();
    else if (!quantity) this.go($("quantity"));
  }

  // open shows what a section has, if it is closed.
  open(section) {
    const fold = section.querySelector("details.fold");
    if (fold) fold.open = true;
  }

  go(section) {
    this.open(section);
    section.scrollIntoView();
  }

  // ---- Figures ----

  // decode reads the draws of a quantity.
  decode(q) {
    const lazy = {};
    return {
      ...q,
      get data() {
        if (!lazy.data) lazy.data = { all: unpack(q.draws, q.centre), divergent: unpack(q.divergent, q.centre) };
        return lazy.data;
      },
    };
  }

  // values are the draws of a quantity, by chain and together; null if they are not here.
  values(name) {
    const q = this.quantities.get(name);
    if (!q) return null;
    const chains = [];
    let from = 0;
    for (const n of (q.kept || this.report.kept).counts) chains.push(q.data.all.subarray(from, (from += n)));
    return { all: q.data.all, chains, divergent: q.data.divergent };
  }

  // card shows a figure with its caption. Its figure can be replaced by another one of
  // the same kind, without a flicker.
  card(fig, wide) {
    const kind = this.kinds.get(fig.kind);
    const box = h("div", { class: "canvas" }), legend = h("ul", { class: "legend" }), remark = h("p", { class: "remark" }), of = h("span", { class: "of" });
    const card = h("figure", { class: `card kind-${fig.kind}${wide ? " wide" : ""}` },
      h("figcaption", {}, h("h3", {}, kind.title, of)), box, legend, remark,
      h("details", {}, h("summary", {}, "How to read it"), h("p", {}, kind.shows)));
    const update = (f) => {
      fig = f;
      const empty = this.empty(f);
      of.replaceChildren(...breakable(kind.scope === "quantity" || kind.scope === "pair" ? "" : ` ${(f.of || []).join(", ")}`));
      const entries = empty ? [] : f.layers.filter((l) => l.label && l.role !== "chain");
      legend.replaceChildren(...entries.map((l) => h("li", {}, swatch(l), l.label)));
      legend.hidden = entries.length === 0;
      remark.textContent = f.note || "";
      remark.hidden = empty || !f.note;
    };
    const draw = () => {
      const width = Math.max(240, Math.floor(box.clientWidth || 320)), tall = fig.kind === "pairs" || fig.kind === "surface";
      box.replaceChildren(this.empty(fig) ? h("p", { class: "empty" }, fig.note || "There is nothing to show.")
        : drawFigure(fig, (n) => this.values(n), width, tall ? Math.min(420, Math.max(280, width * 0.7)) : 230));
      this.dim(box);
    };
    update(fig);
    this.drawn.push({ box, draw });
    card.update = (f) => { update(f); draw(); };
    return card;
  }

  empty(fig) {
    return !fig.layers.some((l) => l.role !== "reference");
  }

  // fill puts figures into a place: into the cards that are there, if they are of the
  // same kinds.
  fill(place, list) {
    const kinds = list.map((f) => f.kind).join(" ");
    if (place.kinds === kinds) list.forEach((f, i) => place.children[i].update(f));
    else {
      place.kinds = kinds;
      place.replaceChildren(...list.map((f) => this.card(f, f.kind === "trace")));
      this.redraw(place);
    }
  }

  figures(name, list, section) {
    this.fill(this.place[name], list);
    if (section) section.hidden = list.length === 0;
  }

  // redraw draws the figures that are in a part of the page.
  redraw(within) {
    this.drawn = this.drawn.filter((d) => d.box.isConnected);
    for (const d of this.drawn) if (!within || within.contains(d.box)) d.draw();
  }

  // dim puts other chains than the one that is looked at into the background.
  dim(box) {
    for (const e of box.querySelectorAll(".chain")) e.classList.toggle("dim", this.only > 0 && !e.classList.contains(`n${this.only}`));
  }

  // ---- A quantity ----

  first() {
    const r = this.report;
    if (r.quantities.length) return r.quantities[0].name;
    for (const f of r.findings) for (const q of f.quantities || []) return q;
    return r.summary.name[0] || "";
  }

  choose(name, go) {
    this.chosen = name;
    this.table.choosing(name);
    const i = this.report.summary.name.indexOf(name);
    $("quantity").hidden = i < 0;
    if (i < 0) return;
    const label = (this.report.summary.label || [])[i];
    this.quantityTitle.replaceChildren(...breakable(name), label ? h("span", { class: "stands-for" }, ` ${label}`) : "");
    if (this.fetchQuantity && this.report.run.running) this.fetchQuantity(i, name);
    else this.showQuantity();
    if (go) {
      this.go($("quantity"));
      this.remember();
    }
  }

  showQuantity() {
    const { report, chosen } = this, i = report.summary.name.indexOf(chosen), q = this.quantities.get(chosen), t = this.table;
    const d = decimals(t.columns.mcse_mean[i], t.columns.sd[i]);
    const facts = [["mean", figure(t.columns.mean[i], d)], ["± mcse", figure(t.columns.mcse_mean[i], d)], ["sd", figure(t.columns.sd[i], d)], ["90 %", `${figure(t.columns.q5[i], d)} … ${figure(t.columns.q95[i], d)}`],
      ["ESS", `${fixed(t.columns.ess_bulk[i], 0)} bulk, ${fixed(t.columns.ess_tail[i], 0)} tail`], ["R-hat", fixed(t.columns.rhat[i], 3)]];
    const list = report.quantities.map((x) => x.name);
    const at = list.indexOf(chosen);
    const step = (by, text) => h("button", { type: "button", disabled: at < 0 || !list[at + by], onclick: () => this.choose(list[at + by], false) }, text);
    const top = this.quantityTop ||= h("div", { class: "tools" }), grid = this.quantityGrid ||= h("div", { class: "figures quantity-figures" });
    const legend = this.quantityChains ||= h("div", {}), missing = this.quantityMissing ||= h("p", { class: "empty" });
    if (!top.isConnected) this.place.quantity.replaceChildren(top, legend, grid, missing);
    const keep = top.contains(document.activeElement) ? document.activeElement.textContent : null;
    top.replaceChildren(h("dl", { class: "facts small" }, facts.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v)))),
      list.length > 1 ? h("span", { class: "steps" }, step(-1, "‹ Previous"), step(1, "Next ›")) : "");
    if (keep) [...top.querySelectorAll("button")].find((b) => b.textContent === keep)?.focus({ preventScroll: true });
    legend.hidden = grid.hidden = !q;
    missing.hidden = !!q;
    if (q) {
      const shown = q.figures[0].layers.filter((l) => l.role === "chain").map((l) => l.label).join();
      if (legend.shown !== shown) legend.replaceChildren(...[this.chains(q)].filter(Boolean));
      legend.shown = shown;
      this.fill(grid, q.figures);
    } else {
      const command = this.report.choose ? [" Make them by: ", h("code", {}, `${this.report.choose} '${chosen}'`)] : [];
      missing.replaceChildren("The plots of this quantity are not in this file.", ...command);
    }
  }

  // chains is the legend of chains; each can be looked at alone.
  chains(q) {
    const seen = q.figures.find((f) => f.kind === "trace").layers.filter((l) => l.role === "chain");
    if (seen.length < 2) return null;
    const list = h("div", { class: "chains", role: "group", "aria-label": "Chains; press one to see it alone" });
    for (const l of seen) {
      list.append(h("button", { type: "button", "aria-pressed": this.only === l.chain ? "true" : "false", onclick: () => {
        this.only = this.only === l.chain ? 0 : l.chain;
        [...list.children].forEach((b, k) => b.setAttribute("aria-pressed", this.only === seen[k].chain ? "true" : "false"));
        this.dim(this.place.quantity);
      } }, swatch({ mark: "line", role: "chain", chain: l.chain }), l.label));
    }
    return list;
  }

  // ---- Pairs ----

  showPairs() {
    const base = this.report.figures.find((f) => f.kind === "pairs");
    this.pairsSection.hidden = !base;
    if (!base) return;
    const names = [...this.quantities.keys()];
    if (!this.pair || this.pair.some((n) => !this.quantities.has(n))) this.pair = base.of;
    const [x, y] = this.pair;
    const positive = (n) => this.values(n).all.every((v) => v > 0);
    const box = (axis, name) => {
      const list = h("datalist", { id: `names-${axis}` }, names.slice(0, 2000).map((n) => h("option", { value: n })));
      const input = h("input", { value: name, list: list.id, "aria-label": `Quantity on the ${axis === "x" ? "horizontal" : "vertical"} axis`, autocomplete: "off", spellcheck: "false", onfocus: () => input.select(), onchange: () => {
        if (!this.quantities.has(input.value)) { input.value = name; return; }
        this.pair = axis === "x" ? [input.value, y] : [x, input.value];
        this.log[axis] = false;
        this.showPairs();
        this.remember();
      } });
      const log = h("input", { type: "checkbox", checked: this.log[axis], onchange: () => { this.log[axis] = log.checked; this.showPairs(); } });
      return h("span", { class: "axis-choice" }, h("span", { "aria-hidden": "true" }, axis === "x" ? "across" : "up"), input, list, positive(name) ? h("label", { class: "check" }, log, " log") : null);
    };
    const fig = { ...base, of: [x, y], x: { label: x, log: this.log.x && positive(x) }, y: { label: y, log: this.log.y && positive(y) }, alt: base.alt.replace(/^[^;]*/, `Draws of ${y} against ${x}`), layers: base.layers.map((l) => ({ ...l, x_of: x, y_of: y })) };
    this.place.pairs.replaceChildren(h("div", { class: "tools" }, box("x", x), box("y", y)), h("div", { class: "figures one" }, this.card(fig, true)));
    this.redraw(this.place.pairs);
  }

  // ---- Several fits ----

  // compare shows how fits compare, and below it the report of one of them.
  compare(all) {
    const buttons = h("div", { class: "chains", role: "group", "aria-label": "Fits; press one to see its report" });
    const choose = (k) => {
      [...buttons.children].forEach((b, i) => b.setAttribute("aria-pressed", i === k ? "true" : "false"));
      this.fittedText = null;
      this.pair = null;
      this.show(all.reports[k]);
      document.title = `${all.title} – ppl report`;
    };
    buttons.append(...all.names.map((name, k) => h("button", { type: "button", "aria-pressed": "false", onclick: () => choose(k) }, name)));
    $("head").before(h("section", { id: "comparison", "aria-labelledby": "comparison-title" }, h("h2", { id: "comparison-title" }, `Comparison of ${all.title}`),
      h("div", { class: "tables" }, ...all.tables.map(smallTable)),
      all.findings.length ? h("ul", { class: "findings" }, all.findings.map(findingOf)) : null,
      ...all.notes.map((n) => h("p", { class: "remark" }, n)),
      h("h2", {}, "The report of"), buttons));
    choose(0);
  }

  // ---- What is chosen, in the address ----

  remember() {
    const p = new URLSearchParams();
    if (this.chosen) p.set("q", this.chosen);
    if (this.table.find) p.set("find", this.table.find);
    if (this.table.onlyBad) p.set("doubt", "1");
    if (this.table.sort.key) p.set("sort", `${this.table.sort.key} ${this.table.sort.direction}`);
    if (this.pair) p.set("pair", JSON.stringify(this.pair));
    this.remembered = `#${p}`;
    try { history.replaceState(null, "", this.remembered); } catch { /* not everywhere */ }
  }

  // recall reads the address.
  recall() {
    if (!location.hash.includes("=") || location.hash === this.remembered || !this.report) return;
    const p = new URLSearchParams(location.hash.slice(1)), t = this.table;
    t.find = t.input.value = p.get("find") || "";
    t.onlyBad = t.bad.checked = p.get("doubt") === "1";
    const [key, direction] = (p.get("sort") || "").split(" ");
    t.sort = summaryColumns.some((c) => c.key === key) ? { key, direction: direction === "ascending" ? direction : "descending" } : { key: "", direction: "" };
    t.first = 0;
    t.show();
    if (p.get("theme")) { document.documentElement.dataset.theme = p.get("theme"); this.theme(false); }
    try { this.pair = JSON.parse(p.get("pair")) || this.pair; } catch { /* as it was */ }
    if (this.pair) this.showPairs();
    if (p.get("pair")) this.open(this.pairsSection);
    if (p.get("q")) this.open($("quantity"));
    if (this.report.summary.name.includes(p.get("q"))) this.choose(p.get("q"), false);
  }
}

// questionOf divides what a model asks into the paragraphs for the head of the page and, if it is
// long, the rest.
function questionOf(fitted) {
  const all = fitted ? fitted.question.split("\n").filter(Boolean) : [];
  let n = 1, letters = 0;
  for (const [k, text] of all.entries()) if ((letters += text.length) <= 400) n = k + 1;
  return { head: all.slice(0, n), rest: all.slice(n) };
}

// findingOf shows a finding without the plots that show it.
function findingOf(f) {
  return h("li", { class: `finding ${f.severity}` },
    h("p", { class: "what" }, h("span", { class: "mark" }, f.severity === "problem" ? "▲ Problem" : "● Note"), h("strong", {}, f.summary)),
    h("p", { class: "advice" }, spelled(f.advice)));
}

// spelled keeps options in a text, such as --delta, from being broken.
function spelled(text) {
  return text.split(/(--[a-z][a-z-]*)/).flatMap((part, i) => (i % 2 ? h("code", { class: "option" }, part) : breakable(part)));
}
