// ---- Markdown of the documentation, as elements ----

// inline makes code, emphasis and links of a line.
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).filter(Boolean).map((part) => {
    if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
    if (part.startsWith("**")) return h("strong", {}, part.slice(2, -2));
    const link = /^\[([^\]]+)\]\((https?:[^)]+)\)$/.exec(part);
    if (link) return h("a", { href: link[2], rel: "noreferrer", target: "_blank" }, link[1]);
    return part;
  });
}

// markdown makes elements of the Markdown that the engine writes: paragraphs, lists and
// blocks of code. Nothing in it is read as HTML.
function markdown(text) {
  const out = [];
  let paragraph = [], list = null, code = null;
  const close = () => {
    if (paragraph.length) out.push(h("p", {}, inline(paragraph.join(" "))));
    paragraph = [];
    list = null;
  };
  for (const line of text.split("\n")) {
    if (code) {
      if (line.startsWith("```")) { out.push(h("pre", {}, code.join("\n"))); code = null; } else code.push(line);
    } else if (line.startsWith("```")) { close(); code = []; }
    else if (/^\s*$/.test(line)) close();
    else if (/^(-{3,}|\*{3,})$/.test(line)) { close(); out.push(h("hr", {})); }
    else if (/^#+ /.test(line)) { close(); out.push(h("p", {}, h("strong", {}, inline(line.replace(/^#+ /, ""))))); }
    else if (/^[-*] /.test(line)) {
      if (!list) { close(); list = h("ul", { class: "plain" }); out.push(list); }
      list.append(h("li", {}, inline(line.slice(2))));
    } else { if (list) close(); paragraph.push(line.trim()); }
  }
  if (code) out.push(h("pre", {}, code.join("\n")));
  close();
  return out;
}
