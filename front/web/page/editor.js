// ---- The editor: a text area over a picture of the same text in colours ----

// The text area is as large as its text and lies over a <pre> with the same letters; the
// box around both scrolls. So the browser's own editing, undoing, selecting and reading
// aloud stay what they are.
class ModelEditor {
  constructor(place, engine) {
    this.engine = engine;
    this.version = 0;
    this.messages = [];
    this.hints = [];
    this.tokens = [];
    this.shapes = false;
    this.onchange = () => {};
    this.onmessages = () => {};
    this.picture = h("pre", { class: "picture", "aria-hidden": "true" });
    this.numbers = h("pre", { class: "numbers", "aria-hidden": "true" });
    this.area = h("textarea", {
      id: "model-text", cols: "1", rows: "1", spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", "aria-label": "Model, in Stan's language",
      "aria-autocomplete": "list", "aria-controls": "completions", "aria-haspopup": "listbox", "aria-expanded": "false", "aria-describedby": "messages-count",
      oninput: (e) => this.input(e), onkeydown: (e) => this.key(e), onblur: () => setTimeout(() => this.close(), 150), onpointermove: (e) => this.hover(e), onpointerleave: () => this.unhover(),
      onscroll: () => { this.area.scrollTop = this.area.scrollLeft = 0; },
    });
    this.list = h("ul", { id: "completions", role: "listbox", "aria-label": "Completions", class: "completions", hidden: true });
    this.tip = h("div", { class: "tip doc", hidden: true, role: "tooltip" });
    this.box = h("div", { class: "editor" }, this.numbers, h("div", { class: "sheet" }, this.picture, this.area));
    place.replaceChildren(this.box, this.list, this.tip);
    document.addEventListener("selectionchange", () => { if (document.activeElement === this.area) this.moved(); });
    this.box.addEventListener("scroll", () => { this.close(); this.unhover(); });
  }

  get text() { return this.area.value; }

  // set replaces the whole text.
  set(text) {
    this.area.value = text.replace(/\r\n?/g, "\n");
    this.tokens = []; this.messages = []; this.hints = [];
    this.changed(true);
  }

  // replace changes a part of the text, so that it can be undone.
  replace(from, to, text) {
    this.area.focus();
    this.area.setSelectionRange(from, to);
    if (!document.execCommand(text ? "insertText" : "delete", false, text)) this.area.setRangeText(text, from, to, "end");
    this.changed();
  }

  // apply makes several changes, as one text.
  apply(edits) {
    if (!edits.length) return;
    const at = this.area.selectionStart, sorted = [...edits].sort((a, b) => a.from - b.from);
    const from = sorted[0].from, to = Math.max(...sorted.map((e) => e.to));
    let text = "", last = from, moved = at;
    for (const e of sorted) {
      text += this.text.slice(last, e.from) + e.text;
      last = e.to;
      if (e.to <= at) moved += e.text.length - (e.to - e.from);
    }
    text += this.text.slice(last, to);
    this.replace(from, to, text);
    this.area.setSelectionRange(Math.max(0, moved), Math.max(0, moved));
  }

  input(e) {
    this.changed();
    const typed = e.data || "";
    if (/^[A-Za-z_~#]$/.test(typed) || (typed === " " && /~ $/.test(this.text.slice(0, this.area.selectionStart)))) this.complete();
    else if (this.list.hidden === false && /^\w$|^$/.test(typed)) this.complete();
    else this.close();
  }

  // changed has the text looked at; what is known of the old one is kept till then, moved.
  changed(now) {
    const old = this.drawnText || "", text = this.text;
    let same = 0;
    while (same < old.length && same < text.length && old[same] === text[same]) same++;
    let end = 0;
    while (end < old.length - same && end < text.length - same && old[old.length - 1 - end] === text[text.length - 1 - end]) end++;
    const by = text.length - old.length, edge = old.length - end;
    const move = (at) => (at >= edge ? at + by : Math.min(at, same));
    const tokens = [];
    for (let i = 0; i < this.tokens.length; i += 3) {
      const from = this.tokens[i], to = from + this.tokens[i + 1];
      if (to <= same) tokens.push(from, to - from, this.tokens[i + 2]);
      else if (from >= edge) tokens.push(from + by, to - from, this.tokens[i + 2]);
    }
    this.tokens = tokens;
    this.messages = this.messages.map((m) => ({ ...m, from: move(m.from), to: Math.max(move(m.from), move(m.to)) }));
    this.hints = this.hints.map((x) => ({ ...x, at: move(x.at) }));
    this.draw();
    this.onchange(text);
    this.version++;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), now ? 0 : 30);
  }

  // check asks what there is to know of the text.
  async check() {
    if (this.checking) { this.again = true; return; }
    this.checking = true;
    const version = this.version;
    this.sent = version;
    try {
      const a = await this.engine().ask("text", { text: this.text, name: this.name, ints: this.ints });
      if (version === this.version) {
        this.tokens = a.tokens;
        this.classes = a.classes;
        this.messages = a.messages;
        this.hints = a.hints;
        this.checked = version;
        this.draw();
        this.onmessages(a.messages);
      }
    } catch { /* the engine has been replaced: it is asked again */ } finally {
      this.checking = false;
      if (this.again) { this.again = false; this.check(); }
    }
  }

  // ---- The picture ----

  draw() {
    const text = this.text;
    this.drawnText = text;
    const lines = text.split("\n").length;
    if (this.drawnLines !== lines) {
      this.numbers.textContent = Array.from({ length: lines }, (_, i) => i + 1).join("\n");
      this.drawnLines = lines;
    }
    // Marks that begin and end somewhere, in their order; messages lie over tokens.
    const edges = new Set([0, text.length]);
    const spans = [];
    for (let i = 0; i < this.tokens.length; i += 3) spans.push([this.tokens[i], this.tokens[i] + this.tokens[i + 1], `t-${this.classes[this.tokens[i + 2]]}`]);
    const marked = this.messages.filter((m) => m.line > 0).map((m) => {
      let { from, to } = m;
      if (from === to) { if (to < text.length && text[to] !== "\n") to++; else if (from > 0 && text[from - 1] !== "\n") from--; }
      return [from, to, `m-${m.severity}`];
    });
    for (const [a, b] of [...spans, ...marked]) { edges.add(a); edges.add(b); }
    const hints = new Map(); // by the end of the line
    if (this.shapes) {
      for (const x of this.hints) {
        let end = text.indexOf("\n", x.at);
        if (end < 0) end = text.length;
        const word = /\w+$/.exec(text.slice(0, x.at));
        const said = (x.text.startsWith(" =") && word ? word[0] : word && /^: \[|^: array|^: vector|^: matrix|^: row/.test(x.text) && end - x.at < 60 ? "" : "") + x.text.replace(/^: /, "");
        hints.set(end, [...(hints.get(end) || []), said]);
        edges.add(end);
      }
    }
    const points = [...edges].filter((p) => p >= 0 && p <= text.length).sort((a, b) => a - b);
    spans.sort((a, b) => a[0] - b[0]);
    const out = document.createDocumentFragment();
    let k = 0;
    const hint = (at) => { if (hints.has(at)) out.append(h("span", { class: "hint" }, `  ${hints.get(at).join("  ")}`)); };
    for (let i = 0; i + 1 < points.length; i++) {
      const a = points[i], b = points[i + 1];
      if (a > 0 || points.length === 1) hint(a);
      while (k < spans.length && spans[k][1] <= a) k++;
      const cls = [];
      if (k < spans.length && spans[k][0] <= a) cls.push(spans[k][2]);
      for (const m of marked) if (m[0] <= a && b <= m[1]) cls.push(m[2]);
      const part = text.slice(a, b);
      out.append(cls.length ? h("span", { class: cls.join(" ") }, part) : part);
    }
    hint(text.length);
    out.append("\n");
    this.picture.replaceChildren(out);
  }

  // rectOf is where a place of the text is on the screen.
  rectOf(at) {
    const walker = document.createTreeWalker(this.picture, NodeFilter.SHOW_TEXT, (n) => (n.parentElement.closest(".hint") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
    for (let n; (n = walker.nextNode());) {
      if (at <= n.length) {
        const r = document.createRange();
        r.setStart(n, at);
        r.setEnd(n, at);
        return r.getClientRects()[0] || n.parentElement.getBoundingClientRect();
      }
      at -= n.length;
    }
    return this.picture.getBoundingClientRect();
  }

  // go puts the cursor to a place, in view.
  go(from, to) {
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(from, to ?? from);
    const line = this.text.slice(0, from).split("\n").length;
    this.box.scrollTop = Math.max(0, line * lineHeight - this.box.clientHeight / 2);
    this.box.scrollIntoView({ block: "nearest" });
  }

  // ---- Keys ----

  key(e) {
    const open = !this.list.hidden;
    if (open && ["ArrowDown", "ArrowUp", "Enter", "Tab", "Escape", "PageDown", "PageUp"].includes(e.key) && !e.ctrlKey && !e.altKey && !e.metaKey) {
      e.preventDefault();
      if (e.key === "Escape") this.close();
      else if (e.key === "Enter" || e.key === "Tab") this.accept(this.active);
      else this.choose(this.active + { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[e.key]);
      return;
    }
    if (e.key === " " && e.ctrlKey) { e.preventDefault(); this.complete(true); }
    else if (e.key === "Tab" && !e.shiftKey && this.holes && this.holes.length) { e.preventDefault(); this.nextHole(); }
    else if (e.key === "Escape") { this.holes = null; this.unhover(); }
    else if (e.key === "F8") { e.preventDefault(); this.nextMessage(e.shiftKey ? -1 : 1); }
    else if (e.key.toLowerCase() === "f" && e.altKey && e.shiftKey) { e.preventDefault(); this.layOut(); }
    else if (e.key === "Enter" && !e.ctrlKey && !e.metaKey && !e.isComposing) {
      e.preventDefault();
      const at = this.area.selectionStart, before = this.text.slice(0, at);
      const line = before.slice(before.lastIndexOf("\n") + 1);
      const indent = /^\s*/.exec(line)[0] + (/[{([]\s*$/.test(line) ? "  " : "");
      this.replace(at, this.area.selectionEnd, `\n${indent}`);
    } else if (e.key === ")" && this.closing && this.text[this.area.selectionStart] === ")" && this.area.selectionStart === this.area.selectionEnd) {
      e.preventDefault(); // the one that came with the arguments
      const at = this.area.selectionStart + 1;
      this.area.setSelectionRange(at, at);
      this.closing = false;
    } else if (e.key === "}" && !e.ctrlKey && !e.metaKey) {
      const at = this.area.selectionStart, before = this.text.slice(0, at), line = before.slice(before.lastIndexOf("\n") + 1);
      if (/^\s+$/.test(line) && line.length >= 2) { e.preventDefault(); this.replace(at - 2, this.area.selectionEnd, "}"); }
    }
  }

  nextMessage(by) {
    const places = this.messages.filter((m) => m.line > 0).sort((a, b) => a.from - b.from), at = this.area.selectionStart;
    if (!places.length) return;
    const m = by > 0 ? places.find((x) => x.from > at) || places[0] : places.findLast((x) => x.from < at) || places[places.length - 1];
    this.go(m.from, m.to);
  }

  async layOut() {
    await this.settled();
    this.apply(await this.engine().ask("format", {}));
  }

  // settled waits until the engine has the text as it is.
  async settled() {
    clearTimeout(this.timer);
    if (this.checked !== this.version) {
      while (this.checking) await new Promise((r) => setTimeout(r, 5));
      if (this.sent !== this.version) await this.check();
    }
  }

  // ---- Completion ----

  async complete(asked) {
    const at = this.area.selectionStart, version = this.version;
    if (at !== this.area.selectionEnd) return;
    const word = /[A-Za-z_]\w*$/.exec(this.text.slice(0, at));
    if (!asked && !word && !/~\s*$/.test(this.text.slice(0, at))) return this.close();
    await this.settled();
    const items = await this.engine().ask("complete", { at }).catch(() => []);
    if (version !== this.version || at !== this.area.selectionStart || document.activeElement !== this.area) return;
    // What is written whole already needs no list.
    if (!items.length || (!asked && items.length === 1 && word && items[0].label === word[0])) return this.close();
    this.items = items;
    this.list.replaceChildren(...items.map((c, i) => h("li", { role: "option", id: `completion-${i}`, onpointerdown: (e) => { e.preventDefault(); this.accept(i); } },
      h("span", { class: `kind k-${c.kind}`, "aria-hidden": "true" }, c.kind === "distribution" ? "~" : c.kind[0]), h("span", { class: "label" }, c.label), h("span", { class: "detail" }, c.detail || c.kind))));
    const r = this.rectOf(items[0].from), place = this.list.parentElement.getBoundingClientRect();
    this.list.hidden = false;
    const width = this.list.offsetWidth, room = document.documentElement.clientWidth;
    this.list.style.left = `${Math.max(0, Math.min(r.left, room - width - 8) - place.left)}px`;
    this.list.style.top = `${r.bottom - place.top + 2}px`;
    this.area.setAttribute("aria-expanded", "true");
    this.choose(0);
  }

  choose(i) {
    const n = this.items.length;
    this.active = Math.max(0, Math.min(i, n - 1));
    [...this.list.children].forEach((li, k) => li.setAttribute("aria-selected", k === this.active ? "true" : "false"));
    const li = this.list.children[this.active];
    this.area.setAttribute("aria-activedescendant", li.id);
    if (li.offsetTop < this.list.scrollTop || li.offsetTop + li.offsetHeight > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = li.offsetTop - 40;
  }

  close() {
    if (this.list.hidden) return;
    this.list.hidden = true;
    this.area.setAttribute("aria-expanded", "false");
    this.area.removeAttribute("aria-activedescendant");
  }

  // accept writes a completion. Its arguments are then gone through by Tab.
  accept(i) {
    const c = this.items[i], from = c.from, to = Math.max(c.to, this.area.selectionStart);
    this.close();
    const holes = [];
    let text = "";
    const snippet = c.snippet || c.label;
    let last = 0;
    for (const m of snippet.matchAll(/\$\{(\d+):([^}]*)\}|\$\{?(\d+)\}?/g)) {
      text += snippet.slice(last, m.index);
      const hole = m[2] || "";
      holes.push([text.length, hole.length, Number(m[1] || m[3])]);
      text += hole;
      last = m.index + m[0].length;
    }
    text += snippet.slice(last);
    const indent = /^[ \t]*/.exec(this.text.slice(this.text.lastIndexOf("\n", from - 1) + 1))[0];
    if (!text.includes("\n") || !indent) { /* as it is */ } else {
      for (const x of holes) x[0] += indent.length * (text.slice(0, x[0]).split("\n").length - 1);
      text = text.replace(/\n/g, `\n${indent}`);
    }
    this.replace(from, to, text);
    // Counted from the end of the text, so that they stay right while earlier ones are filled.
    holes.sort((a, b) => (a[2] || 99) - (b[2] || 99));
    this.holes = holes.map(([at, length]) => ({ end: this.text.length - (from + at), length }));
    this.closing = text.endsWith(")");
    if (this.holes.length) this.nextHole();
  }

  nextHole() {
    const x = this.holes.shift();
    const from = this.text.length - x.end;
    if (from < 0 || from > this.text.length) { this.holes = null; return; }
    this.area.setSelectionRange(from, from + x.length);
    // What is written there does not move what follows it, but it moves its own beginning.
    this.help();
  }

  // ---- Documentation ----

  moved() {
    clearTimeout(this.moveTimer);
    this.moveTimer = setTimeout(() => this.onmove && this.onmove(), 120);
  }

  // about asks what is known of the place of the cursor.
  async about() {
    await this.settled();
    const at = this.area.selectionStart;
    const [hover, signature] = await Promise.all([this.engine().ask("hover", { at }), this.engine().ask("signature", { at })]);
    return { hover, signature };
  }

  async help() { if (this.onmove) this.onmove(); }

  hover(e) {
    clearTimeout(this.hoverTimer);
    if (e.pointerType !== "mouse" || e.buttons) return this.unhover();
    const { clientX, clientY } = e;
    this.hoverTimer = setTimeout(async () => {
      const at = this.placeAt(clientX, clientY);
      if (at < 0) return this.unhover();
      const messages = this.messages.filter((m) => m.line > 0 && m.from <= at && at <= Math.max(m.to, m.from + 1));
      let doc = null;
      if (this.checked === this.version) doc = await this.engine().ask("hover", { at }).catch(() => null);
      if (!doc && !messages.length) return this.unhover();
      const r = this.rectOf(at), place = this.tip.parentElement.getBoundingClientRect();
      this.tip.replaceChildren(...messages.map((m) => h("p", { class: `said s-${m.severity}` }, m.summary)), ...(doc ? markdown(doc.text) : []));
      this.tip.hidden = false;
      const width = this.tip.offsetWidth;
      this.tip.style.left = `${Math.max(0, Math.min(r.left, document.documentElement.clientWidth - width - 10) - place.left)}px`;
      this.tip.style.top = `${r.bottom - place.top + 3}px`;
    }, 350);
  }

  unhover() {
    clearTimeout(this.hoverTimer);
    this.tip.hidden = true;
  }

  // placeAt is the place of the text at a point of the screen; -1 beyond it.
  placeAt(x, y) {
    const box = this.picture.getBoundingClientRect();
    const line = Math.floor((y - box.top - editorPad) / lineHeight), lines = this.text.split("\n");
    if (line < 0 || line >= lines.length) return -1;
    this.letter ||= (() => {
      const probe = h("span", {}, "0".repeat(100));
      this.picture.append(probe);
      const w = probe.getBoundingClientRect().width / 100;
      probe.remove();
      return w;
    })();
    const column = Math.floor((x - box.left - editorPad) / this.letter);
    if (column < 0 || column >= lines[line].length) return -1;
    return lines.slice(0, line).reduce((n, l) => n + l.length + 1, 0) + column;
  }
}

const lineHeight = 20, editorPad = 10;
