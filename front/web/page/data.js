// ---- The data: a text that is shown, or a file that is too long to be ----

const shownData = 300_000; // characters; longer files are kept aside
const maxDataFile = 64 << 20; // bytes; as in the engine

class DataPane {
  constructor(engine, settings) {
    this.engine = engine;
    this.settings = settings; // () => what a request about the data says
    this.long = null; // the text of a long file
    this.turn = 0; // counts what was done to the data: what is said of an earlier state comes too late
    this.area = $("data-text");
    this.name = $("data-name");
    this.about = $("data-about");
    this.counts = $("counts");
    this.onchange = () => {};
    this.area.addEventListener("input", () => { this.long = null; this.changed(); });
    this.name.addEventListener("change", () => this.changed());
    this.counts.addEventListener("input", () => this.changed());
    $("open-data").addEventListener("click", () => $("data-file").click());
    $("data-file").addEventListener("change", () => { const f = $("data-file").files[0]; $("data-file").value = ""; if (f) this.open(f); });
    const pane = $("data-pane");
    pane.addEventListener("dragover", (e) => { if ([...e.dataTransfer.types].includes("Files")) { e.preventDefault(); pane.classList.add("over"); } });
    pane.addEventListener("dragleave", () => pane.classList.remove("over"));
    pane.addEventListener("drop", (e) => { e.preventDefault(); pane.classList.remove("over"); if (e.dataTransfer.files[0]) this.open(e.dataTransfer.files[0]); });
  }

  get text() { return this.long ?? this.area.value; }

  set(name, text, counts) {
    this.name.value = name;
    this.counts.value = (counts || []).join(", ");
    this.put(text);
  }

  put(text) {
    this.long = text.length > shownData ? text : null;
    this.area.value = this.long === null ? text : `${text.slice(0, 2000)}\n… ${count(text.length - 2000)} more characters are not shown. Writing here replaces them.`;
    this.changed();
  }

  // open reads a file that was chosen or dropped.
  async open(file) {
    this.turn++;
    if (file.size > maxDataFile) {
      this.say(`${file.name} has ${bytes(file.size)}; a page takes files up to ${bytes(maxDataFile)}. For larger ones there is the command: ppl run MODEL --data ${file.name}`, true);
      return;
    }
    this.say(`Reading ${file.name} …`);
    try {
      let stream = file.stream();
      const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
      if (head[0] === 0x1f && head[1] === 0x8b) stream = limited(stream.pipeThrough(new DecompressionStream("gzip")), maxDataFile);
      const text = await new Response(stream).text();
      this.set(file.name.replace(/\.gz$/, ""), text, this.countList());
    } catch (e) { this.say(`${file.name} cannot be read: ${e.message}`, true); }
  }

  countList() { return this.counts.value.split(/[,\s]+/).filter(Boolean); }

  isTable() { return /\.(csv|tsv|txt)$/i.test(this.name.value); }

  changed() {
    this.onchange();
    clearTimeout(this.timer);
    const turn = ++this.turn;
    this.timer = setTimeout(() => this.look(turn), 150);
  }

  say(text, bad) {
    this.about.textContent = text;
    this.about.classList.toggle("is-bad", !!bad);
  }

  // look asks what the data hold, says it unless something was done to them since, and tells
  // whom it concerns their sizes.
  async look(turn) {
    const say = (text, bad) => { if (turn === this.turn) this.say(text, bad); };
    $("counts-row").hidden = !this.isTable();
    if (!this.text.trim()) { say("No data."); this.known({}); return; }
    const text = this.text;
    try {
      const a = await this.engine().ask("data", this.settings());
      if (text !== this.text) return;
      say(a.summary);
      this.known(a.ints);
    } catch (e) {
      if (e.told) { say(e.message, true); this.known({}); }
    }
  }

  known(ints) { if (this.onints) this.onints(ints); }

  // generate has what the model lacks made up.
  async generate() {
    this.turn++;
    this.say("Making up data …");
    try {
      const a = await this.engine().ask("generate", this.settings());
      this.set(this.isTable() ? "data.json" : this.name.value, a.data, []);
      clearTimeout(this.timer);
      this.say(a.summary);
      this.known(a.ints);
    } catch (e) { this.say(e.told ? e.message : `That did not work: ${e.message}`, true); }
  }
}

// bytes is a size as it is read.
function bytes(n) { return n >= 1 << 20 ? `${Math.round(n / (1 << 20))} MB` : `${Math.round(n / 1024)} kB`; }

// limited ends a stream with an error when it gets too long.
function limited(stream, most) {
  let n = 0;
  return stream.pipeThrough(new TransformStream({
    transform(chunk, c) {
      if ((n += chunk.length) > most) c.error(new Error(`it has more than ${bytes(most)} when it is unpacked`));
      else c.enqueue(chunk);
    },
  }));
}
