// ---- The summary: sorted, filtered, a page at a time ----

const rowsAtOnce = 20;

// summaryColumns is what the table shows: where a column comes from and how it is
// written. d is the decimals of the row. Narrow screens show the brief columns alone, unless the
// reader wants all.
const summaryColumns = [
  { key: "mean", brief: true, title: "mean", text: (v, d) => figure(v, d) },
  { key: "mcse_mean", title: "mcse", hint: "Monte Carlo standard error of the mean", text: (v, d) => figure(v, d) },
  { key: "sd", title: "sd", hint: "standard deviation", text: (v, d) => figure(v, d) },
  { key: "q5", brief: true, title: "5%", text: (v, d) => figure(v, d) },
  { key: "q50", title: "50%", hint: "median", text: (v, d) => figure(v, d) },
  { key: "q95", brief: true, title: "95%", text: (v, d) => figure(v, d) },
  { key: "ess_bulk", brief: true, title: "ess_bulk", hint: "effective sample size, bulk", text: (v) => fixed(v, 0), bad: (v, t) => v < t.leastESS, worst: "ascending" },
  { key: "ess_tail", title: "ess_tail", hint: "effective sample size, tails", text: (v) => fixed(v, 0), bad: (v, t) => v < t.leastESS, worst: "ascending" },
  { key: "rhat", brief: true, title: "rhat", hint: "R-hat, 1 if the chains agree", text: (v) => fixed(v, 3), bad: (v) => v > 1.01, worst: "descending" },
];

// SummaryTable shows the quantities, in some columns, and tells which is chosen.
class SummaryTable {
  constructor(choose, changed, shown = summaryColumns) {
    this.shown = shown;
    this.choose = choose;
    this.changed = changed;
    this.sort = { key: "", direction: "" };
    this.find = "";
    this.onlyBad = false;
    this.first = 0;
    this.chosen = "";
    this.input = h("input", { type: "search", id: "find", placeholder: "Find quantities, such as theta[1", "aria-label": "Find quantities by name", autocomplete: "off", spellcheck: "false", oninput: () => { this.find = this.input.value; this.first = 0; this.show(); this.changed(); } });
    this.bad = h("input", { type: "checkbox", id: "bad", onchange: () => { this.onlyBad = this.bad.checked; this.first = 0; this.show(); this.changed(); } });
    this.status = h("span", { class: "status", role: "status" });
    this.body = h("tbody", { onkeydown: (e) => this.keys(e) });
    this.all = h("input", { type: "checkbox", id: "all-columns", onchange: () => this.table.classList.toggle("brief", !this.all.checked) });
    this.heads = this.shown.map((c) => h("th", { scope: "col", class: c.brief ? "number" : "number further" }, h("button", { type: "button", title: c.hint || null, onclick: () => this.sortBy(c) }, c.title)));
    this.nameHead = h("th", { scope: "col" }, h("button", { type: "button", onclick: () => this.sortBy(null) }, "quantity"));
    this.previous = h("button", { type: "button", onclick: () => this.turn(-1) }, "‹ Previous");
    this.next = h("button", { type: "button", onclick: () => this.turn(1) }, "Next ›");
    this.pager = h("div", { class: "pager" }, this.previous, this.next);
    this.element = h("div", {},
      h("div", { class: "tools" }, this.input, h("label", { class: "check" }, this.bad, " only those in doubt"), h("label", { class: "check further-choice" }, this.all, " all columns"), this.status),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Summary of quantities" },
        this.table = h("table", { class: "summary brief" }, h("thead", {}, h("tr", {}, this.nameHead, this.heads)), this.body)),
      this.pager);
  }

  // update takes in a summary; rows stay where they are.
  update(report) {
    const t = report.summary;
    this.names = t.name;
    this.labels = t.label || [];
    this.aside = t.aside || [];
    this.lower = t.name.map((n, i) => `${n} ${this.labels[i] || ""}`.toLowerCase());
    this.columns = {};
    for (const c of this.shown) this.columns[c.key] = (t[c.key] || []).map(numeric);
    this.leastESS = report.kept ? 100 * Math.max(1, report.kept.counts.filter((n) => n > 0).length) : 0;
    this.show();
  }

  doubtful(i) {
    return this.shown.some((c) => c.bad && c.bad(this.columns[c.key][i], this, i)) || (this.columns.mean && !Number.isFinite(this.columns.mean[i]));
  }

  // rows lists the quantities to show, in order.
  rows() {
    const words = this.find.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [];
    for (let i = 0; i < this.names.length; i++) {
      if (words.every((w) => this.lower[i].includes(w)) && (!this.onlyBad || this.doubtful(i))) rows.push(i);
    }
    const { key, direction } = this.sort;
    if (!key) rows.sort((a, b) => Boolean(this.aside[a]) - Boolean(this.aside[b]) || a - b);
    else {
      const column = this.columns[key], sign = direction === "ascending" ? 1 : -1;
      rows.sort((a, b) => {
        const x = column[a], y = column[b];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y); // last
        return x === y ? a - b : sign * (x < y ? -1 : 1);
      });
    }
    return rows;
  }

  sortBy(column) {
    if (!column) this.sort = { key: "", direction: "" };
    else {
      const first = column.worst || "descending", other = first === "ascending" ? "descending" : "ascending";
      if (this.sort.key !== column.key) this.sort = { key: column.key, direction: first };
      else if (this.sort.direction === first) this.sort.direction = other;
      else this.sort = { key: "", direction: "" };
    }
    this.first = 0;
    this.show();
    this.changed();
  }

  turn(by) {
    this.first += by * rowsAtOnce;
    this.show();
  }

  choosing(name) {
    this.chosen = name;
    for (const row of this.body.rows) row.classList.toggle("chosen", row.dataset.name === name);
  }

  keys(e) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    const row = e.target.closest("tr");
    if (!by || !row) return;
    e.preventDefault();
    const other = by > 0 ? row.nextElementSibling : row.previousElementSibling;
    if (other) other.querySelector("button").focus();
  }

  show() {
    const rows = this.rows();
    this.first = Math.max(0, Math.min(this.first, Math.floor((rows.length - 1) / rowsAtOnce) * rowsAtOnce));
    const shown = rows.slice(this.first, this.first + rowsAtOnce);
    const focused = this.body.contains(document.activeElement) ? document.activeElement.closest("tr").dataset.name : null;
    this.body.replaceChildren(...shown.map((i) => this.row(i)));
    if (focused !== null) for (const row of this.body.rows) if (row.dataset.name === focused) row.querySelector("button").focus({ preventScroll: true });
    this.shown.forEach((c, k) => {
      if (this.sort.key === c.key) this.heads[k].setAttribute("aria-sort", this.sort.direction);
      else this.heads[k].removeAttribute("aria-sort");
    });
    const many = this.names.length, found = rows.length;
    let text = found === many ? plural(many, "quantity", "quantities") : `${count(found)} of ${plural(many, "quantity", "quantities")}`;
    if (found > rowsAtOnce) text += `, ${count(this.first + 1)} to ${count(this.first + shown.length)}`;
    this.status.textContent = text;
    this.pager.hidden = found <= rowsAtOnce;
    this.previous.disabled = this.first === 0;
    this.next.disabled = this.first + rowsAtOnce >= found;
    if (found === 0) this.body.append(h("tr", {}, h("td", { colspan: this.shown.length + 1, class: "nothing" }, many === 0 ? "The model has no parameters and no generated quantities." : "No quantity is like that.")));
  }

  row(i) {
    const d = this.columns.sd ? decimals(this.columns.mcse_mean[i], this.columns.sd[i]) : 0, name = this.names[i];
    return h("tr", { "data-name": name, class: name === this.chosen ? "chosen" : null },
      h("th", { scope: "row" }, h("button", { type: "button", onclick: () => this.choose(i) }, breakable(name)), this.labels[i] ? h("span", { class: "stands-for" }, ` ${this.labels[i]}`) : null),
      this.shown.map((c) => {
        const v = this.columns[c.key][i];
        const bad = c.bad && c.bad(v, this, i);
        return h("td", { class: `number${bad ? " bad" : ""}${c.brief ? "" : " further"}` }, c.text(v, d));
      }));
  }
}

// smallTable shows a table of texts and numbers. Levels of factors, which have no smallest, mean and
// largest value, are in the place of these.
function smallTable(t) {
  const cell = (v, c, i) => (typeof v === "number" || ["NaN", "Infinity", "-Infinity"].includes(v) ? figure(numeric(v), c.decimals < 0 && t.decimals ? t.decimals[i] : c.decimals) : String(v));
  const levels = t.columns.findIndex((c) => c.name === "levels"), first = 2, numbers = 3;
  const columns = t.columns.map((c, k) => k).filter((k) => k !== levels);
  const number = (k) => (k || t.kind === "chains" ? "number" : null);
  const texts = t.rows.flatMap((r) => r.slice(1).filter((v, k) => typeof v === "string" && k + 1 !== levels));
  const wide = columns.length <= 5 && columns.length > 2 && texts.some((v) => v.length > 12);
  const stacked = wide || columns.length > 4; // on narrow screens, a block for each row
  const named = (k) => (stacked ? h("span", { class: "of-cell" }, t.columns[k].name) : null);
  const long = (v) => typeof v === "string" && v.length > 40;
  const row = (r, i) => {
    const head = h("th", { scope: "row", class: long(r[0]) ? "levels" : number(0) }, stacked && t.kind === "chains" ? h("span", { class: "of-head" }, "chain ") : null, breakable(cell(r[0], t.columns[0], i)));
    const cells = columns.slice(1).map((k) => h("td", { class: "number" + (r[k] === "" ? " no-cell" : "") }, named(k), cell(r[k], t.columns[k], i)));
    if (levels >= 0 && r[levels] !== "") cells.splice(first - 1, numbers, h("td", { class: "levels", colspan: numbers }, r[levels]));
    return h("tr", {}, head, cells);
  };
  return h("figure", { class: "card table-card" },
    h("figcaption", {}, h("h3", {}, t.title)),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t.title },
      h("table", { class: wide ? "stacked lines" : stacked ? "stacked" : null },
        h("thead", {}, h("tr", {}, columns.map((k) => h("th", { scope: "col", class: number(k) }, t.columns[k].name)))),
        h("tbody", {}, t.rows.map(row)))),
    t.note ? h("p", { class: "remark" }, t.note) : null);
}
