// ---- The page of a study ----

// studyColumns is what is shown of a quantity over all fits.
const studyColumns = [
  { key: "fits", title: "fits", text: (v) => count(v) },
  { key: "rhat", brief: true, title: "rhat", hint: "R-hat, the median of the fits", text: (v) => fixed(v, 3), worst: "descending" },
  { key: "rhat95", title: "95%", hint: "R-hat, below which 95 % of the fits are", text: (v) => fixed(v, 3), worst: "descending" },
  { key: "rhatMax", title: "max", hint: "the largest R-hat", text: (v) => fixed(v, 3), worst: "descending" },
  { key: "highRhat", brief: true, title: "> 1.01", hint: "fits whose R-hat is above 1.01", text: (v) => count(v), bad: (v, t, i) => v > 0.05 * t.columns.fits[i], worst: "descending" },
  { key: "bulk", brief: true, title: "ess_bulk", hint: "effective sample size in the bulk, the median of the fits", text: (v) => fixed(v, 0), worst: "ascending" },
  { key: "bulk5", title: "5%", hint: "effective sample size in the bulk, above which 95 % of the fits are", text: (v) => fixed(v, 0), worst: "ascending" },
  { key: "tail", title: "ess_tail", hint: "effective sample size in the tails, the median of the fits", text: (v) => fixed(v, 0), worst: "ascending" },
  { key: "tail5", title: "5%", hint: "effective sample size in the tails, above which 95 % of the fits are", text: (v) => fixed(v, 0), worst: "ascending" },
  { key: "in50", title: "in 50%", hint: "share of fits whose middle 50 % have the true value", text: (v) => fixed(100 * v, 1) },
  { key: "in90", brief: true, title: "in 90%", hint: "share of fits whose middle 90 % have the true value", text: (v) => fixed(100 * v, 1) },
  { key: "uniform", title: "p", hint: "probability of ranks at least this far from uniform, if inference is right", text: (v) => fixed(v, 3), bad: (v) => v < 0.005, worst: "ascending" },
];

class StudyPage extends Page {
  build(report) {
    this.report = report;
    this.kinds = new Map(report.kinds.map((k) => [k.name, k]));
    const shown = studyColumns.filter((c) => report.summary[c.key]);
    this.table = new SummaryTable((i) => this.choose(report.summary.name[i], true), () => {}, shown);
    const section = (id, title, ...children) => h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
    const later = []; // figures can be drawn when they are in the page
    const figures = (list) => { const place = h("div", { class: "figures" }); later.push(() => this.fill(place, list)); return place; };
    const tables = (list) => h("div", { class: "tables" }, ...list.map(smallTable));
    this.place = { head: h("div", {}) };
    this.quantityGrid = h("div", { class: "figures" });
    this.quantityMissing = h("p", { class: "empty" }, "The plots of this quantity are not in this file" + (report.choose ? `; ${report.choose} chooses others.` : "."));
    $("head").replaceChildren(this.place.head);
    const parts = [
      section("findings", "Findings", report.tables.length ? tables(report.tables) : h("p", { class: "well" }, "No fit has failed, and none has a finding.")),
      report.summary.name.length ? section("summary", "Quantities", this.table.element) : null,
      report.summary.name.length ? section("quantity", "", this.quantityGrid, this.quantityMissing) : null,
      report.coverage.length ? section("coverage", "Coverage", figures(report.coverage)) : null,
      report.heldOut ? section("held-out", "Held out", tables([report.heldOut])) : null,
      report.times.length ? section("times", "Time", figures(report.times)) : null,
      report.notes.length ? section("notes", "What is left out", h("ul", {}, report.notes.map((n) => h("li", {}, n)))) : null];
    $("main").replaceChildren((this.nav = h("nav", { "aria-label": "Parts of the report" })), ...parts.filter(Boolean));
    this.head();
    this.table.update(report);
    if (report.summary.name.length) this.choose(report.summary.name[0], false);
    for (const draw of later) draw();
    this.navigation();
    document.addEventListener("keydown", (e) => this.keys(e));
    let width = window.innerWidth;
    new ResizeObserver(() => {
      if (window.innerWidth === width) return;
      width = window.innerWidth;
      this.redraw();
    }).observe(document.documentElement);
    $("foot").replaceChildren(h("p", {}, `${report.program}, ${report.made.replace("T", " ").replace("Z", " UTC")}. The page needs no network and sends nothing.`));
  }

  head() {
    const { report } = this;
    this.themeButton = h("button", { type: "button", class: "quiet", onclick: () => this.theme(true) });
    this.place.head.replaceChildren(
      h("div", { class: "title" }, h("div", {}, h("p", { class: "over" }, "ppl report of a study"), h("h1", {}, report.title)), h("div", { class: "buttons" }, this.themeButton)),
      h("p", { class: `verdict ${report.well ? "is-well" : "is-problem"}` }, h("span", { class: "sign", "aria-hidden": "true" }, report.well ? "✓" : "▲"), ` ${report.verdict}`),
      h("dl", { class: "facts" }, report.facts.map((f) => h("div", {}, h("dt", {}, f.name), h("dd", {}, f.value)))));
    this.theme(false);
  }

  // choose shows the figures of a quantity.
  choose(name, go) {
    this.chosen = name;
    this.table.choosing(name);
    $("quantity-title").textContent = name;
    const list = this.report.figures[this.report.summary.name.indexOf(name)];
    this.quantityGrid.hidden = !list;
    this.quantityMissing.hidden = !!list;
    if (list) this.fill(this.quantityGrid, list);
    if (go) $("quantity").scrollIntoView();
  }
}

new StudyPage().build(JSON.parse($("data").textContent));
