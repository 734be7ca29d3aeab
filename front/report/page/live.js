// ---- A run that goes on ----

const tokenKey = "ppl-token";

// Live keeps a page up to date with the run that its server makes.
class Live {
  constructor(page) {
    this.page = page;
    this.ended = false;
    this.version = 0;
    page.fetchQuantity = (i, name) => this.quantity(i, name);
    // The token comes in the part of the address that is not sent, and does not stay
    // there, where it would be seen and copied.
    const given = new URLSearchParams(location.hash.slice(1)).get("token");
    if (given) {
      sessionStorage.setItem(tokenKey, given);
      history.replaceState(null, "", location.pathname);
    }
    this.token = sessionStorage.getItem(tokenKey) || "";
    this.status = h("p", { class: "progress-status", role: "status" });
    this.bars = h("div", { class: "bars" });
    this.stopButton = h("button", { type: "button", class: "stop", onclick: () => this.stop() }, "Stop the run");
    page.place.live.replaceChildren(h("div", { class: "live" }, h("div", { class: "live-head" }, this.status, this.stopButton), this.bars));
  }

  ask(path, options) {
    return fetch(path, { ...options, headers: { Authorization: `Bearer ${this.token}` } });
  }

  say(text) {
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  // start follows the events of the server until the run ends.
  async start() {
    this.say("Waiting for the run …");
    try {
      const answer = await this.ask("events");
      if (answer.status === 401) {
        this.say("This page needs the whole address that the run printed when it began: open it again from there.");
        this.stopButton.hidden = true;
        return;
      }
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ""; ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value;
        for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) this.event(text.slice(0, end));
      }
    } catch { /* told below */ }
    if (!this.ended) {
      this.say("The connection to the run is lost: it has ended, or was stopped. The page shows the last state received.");
      this.stopButton.hidden = true;
    }
  }

  event(text) {
    const name = /^event: (.*)$/m.exec(text), data = /^data: (.*)$/m.exec(text);
    if (!name || !data) return;
    const value = JSON.parse(data[1]);
    if (name[1] === "progress") this.progress(value);
    else if (name[1] === "changed") this.refresh(value);
    else if (name[1] === "report") this.finish(value);
  }

  // progress shows how far the chains are.
  progress(p) {
    if (!this.page.report) {
      document.title = `${p.title} – ppl, live`;
      if (!$("head").querySelector("h1")) this.page.place.head.replaceChildren(h("p", { class: "over" }, "ppl, live"), h("h1", {}, p.title));
    }
    const words = { waiting: "waiting", "warm-up": "warm-up", sampling: "sampling", done: "done", failed: "failed" };
    while (this.bars.children.length < p.chains.length) {
      this.bars.append(h("div", { class: "bar" }, h("span", { class: "bar-name" }), h("progress", { max: "1" }), h("span", { class: "bar-text" })));
    }
    let divergent = 0;
    p.chains.forEach((c, i) => {
      const [name, bar, text] = this.bars.children[i].children;
      const part = c.total ? c.iteration / c.total : 0;
      name.textContent = `chain ${c.id}`;
      bar.value = part;
      bar.setAttribute("aria-label", `chain ${c.id}`);
      this.bars.children[i].dataset.phase = c.phase;
      divergent += c.divergences;
      text.textContent = `${words[c.phase] || c.phase}, ${Math.floor(100 * part)} %` + (c.divergences ? `, ${c.divergences} divergent` : "");
    });
    let state = p.stopping ? "Stopping at the next draw …" : p.finishing ? "The chains have ended; making the report …" : "Running";
    if (!p.stopping && !p.finishing) {
      state += `, ${clock(p.seconds)}`;
      if (p.left) state += `, ${p.left}`;
      if (divergent) state += `, ${plural(divergent, "divergent transition", "divergent transitions")}`;
    }
    this.say(state);
    this.stopButton.hidden = p.finishing;
    if (p.stopping) this.stopButton.disabled = true;
  }

  // refresh asks for the report of the draws so far.
  async refresh({ version }) {
    if (this.asking || this.ended) return;
    this.asking = true;
    try {
      const answer = await this.ask("report");
      if (answer.ok && !this.ended) {
        const report = await answer.json();
        if (!this.ended) this.page.show(report);
      }
    } catch { /* the stream tells when the server is gone */ } finally {
      this.asking = false;
    }
    this.version = version;
  }

  // quantity asks for the plots of a quantity.
  async quantity(i, name) {
    try {
      const answer = await this.ask(`quantity?row=${i}`);
      if (!answer.ok || this.ended) return;
      const q = await answer.json();
      if (this.ended || this.page.chosen !== name) return;
      this.page.quantities.set(name, this.page.decode(q));
      this.page.showQuantity();
    } catch { /* likewise */ }
  }

  async stop() {
    if (this.stopButton.dataset.sure !== "yes") {
      this.stopButton.dataset.sure = "yes";
      this.stopButton.textContent = "Stop now? The draws so far are kept";
      setTimeout(() => { this.stopButton.dataset.sure = ""; this.stopButton.textContent = "Stop the run"; }, 5000);
      return;
    }
    this.stopButton.disabled = true;
    this.say("Stopping at the next draw …");
    await this.ask("stop", { method: "POST" }).catch(() => {});
  }

  // finish shows the report of the whole run; the server ends.
  finish(report) {
    this.ended = true;
    this.last = report;
    this.page.show(report);
    this.bars.replaceChildren();
    this.stopButton.hidden = true;
    this.say(report.file ? `The run has ended. This report is in ${report.file}.` : "The run has ended.");
  }

  // save makes a file of the page that needs no server.
  async save() {
    const copy = document.documentElement.cloneNode(true);
    for (const part of ["head", "main", "foot"]) copy.querySelector(`body #${part}`).replaceChildren();
    copy.querySelector("#data").textContent = JSON.stringify(this.last).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
    const text = `<!DOCTYPE html>\n${copy.outerHTML.replace("connect-src 'self'", "connect-src 'none'")}`;
    const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/html" })), download: `${this.last.title}.html` });
    link.click();
    URL.revokeObjectURL(link.href);
  }
}
