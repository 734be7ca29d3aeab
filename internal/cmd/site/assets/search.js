"use strict";
// The search: sections that have all words of the query, or words that begin with them.
(() => {
  const query = document.getElementById("query"), found = document.getElementById("found");
  const up = document.body.dataset.up, max = 30;
  const { sections, words, common } = window.pplWords;
  const index = words.split("\n").filter(Boolean).map((line) => {
    const [word, ...gaps] = line.split(" ");
    let at = 0;
    return [word, gaps.map((g) => (at += parseInt(g, 36)))];
  });
  const split = (text) => text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter((w) => w.length > 1);

  // score maps sections to how well they fit one word: the word itself counts more than one that
  // begins with it, as "look" with "loo"; a title more than the text.
  const score = (want) => {
    const scores = new Map();
    for (const [word, list] of index) {
      if (!word.startsWith(want)) continue;
      for (const n of list) scores.set(n, Math.max(scores.get(n) ?? 0, word === want ? 6 : 1));
    }
    for (const [n, s] of scores) {
      const [, page, title] = sections[n], titles = split(title), pages = split(page);
      if (titles.includes(want)) scores.set(n, s + 6);
      else if (titles.some((w) => w.startsWith(want))) scores.set(n, s + 4);
      else if (pages.includes(want)) scores.set(n, s + 2);
      else if (pages.some((w) => w.startsWith(want))) scores.set(n, s + 1);
    }
    return scores;
  };

  const show = () => {
    const wanted = split(query.value).filter((w) => !common?.includes(w));
    found.hidden = wanted.length === 0;
    found.replaceChildren();
    if (found.hidden) return;
    let all;
    for (const scores of wanted.map(score)) {
      if (!all) { all = scores; continue; }
      for (const [n, s] of all) scores.has(n) ? all.set(n, s + scores.get(n)) : all.delete(n);
    }
    const best = [...(all ?? [])].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const note = document.createElement("p");
    note.textContent = best.length === 0 ? `Nothing has ${wanted.join(" and ")}.` : best.length > max ? `${best.length} places; the best ${max}:` : "";
    const list = document.createElement("ol");
    for (const [n] of best.slice(0, max)) {
      const [address, page, title] = sections[n];
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = up + address;
      link.textContent = title;
      if (page !== title) link.append(Object.assign(document.createElement("small"), { textContent: page }));
      item.append(link);
      list.append(item);
    }
    if (note.textContent) found.append(note);
    found.append(list);
    window.scrollTo(0, 0);
  };

  query.addEventListener("input", show);
  document.getElementById("search").addEventListener("submit", (event) => {
    event.preventDefault();
    const first = found.querySelector("a");
    if (first) location.href = first.href;
  });
  found.addEventListener("click", (event) => { // a place on this page
    if (event.target.closest("a")) { query.value = ""; show(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); query.focus(); }
    if (event.key === "Escape") { query.value = ""; show(); query.blur(); }
  });
})();
