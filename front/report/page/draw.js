// ---- Figures as SVG ----

const chainColours = 8;

// resolve gives the coordinates of a layer; draws come from the quantities that it
// names, by look.
function resolve(layer, look) {
  const l = { ...layer };
  if (l.y_of) {
    const x = l.x_of && look(l.x_of), y = look(l.y_of);
    if (!y || (l.x_of && !x)) return { ...l, x: [], y: [] };
    const of = (q) => (l.role === "divergent" ? q.divergent : l.chain ? q.chains[l.chain - 1] : q.all);
    l.y = of(y);
    if (x) l.x = of(x);
  }
  if (l.mark === "line" || l.mark === "step") l.y ||= []; // nothing, so far
  const at = (i) => (l.from || 0) + (l.step || 0) * i;
  if (l.mark === "line" && !l.x) l.x = Array.from(l.y || [], (_, i) => at(i));
  return l;
}

// extents collects the values that an axis must reach.
function extents(layers, axis) {
  let low = Infinity, high = -Infinity;
  const take = (values) => {
    for (const v of values || []) {
      if (v !== null && Number.isFinite(v) && !(axis.log && v <= 0)) {
        if (v < low) low = v;
        if (v > high) high = v;
      }
    }
  };
  for (const l of layers) {
    if (axis.across) {
      take(l.x);
      if (l.mark === "range") { take(l.low); take(l.high); }
      if (l.mark === "step") take([l.from || 0, (l.from || 0) + l.step * l.y.length]);
    } else {
      take(l.y);
      if (l.mark === "band" || l.mark === "whisker") { take(l.low); take(l.high); }
    }
  }
  if (axis.zero && !axis.log) { low = Math.min(low, 0); high = Math.max(high, 0); }
  return [low, high];
}

// scale maps values of an axis to pixels.
function scale(axis, layers, from, to) {
  let [low, high] = axis.range ? axis.range.map(numeric) : extents(layers, axis);
  if (axis.names) { low = -0.6; high = axis.names.length - 0.4; }
  if (!(low <= high)) { low = 0; high = 1; }
  const f = axis.log ? Math.log10 : (v) => v;
  let a = f(low), b = f(high);
  if (a === b) { const d = Math.abs(a) * 0.05 || 0.5; a -= d; b += d; }
  if (!axis.range && !axis.names) {
    const pad = (b - a) * 0.04;
    if (!(axis.zero && low === 0)) a -= pad;
    if (!(axis.zero && high === 0)) b += pad;
  }
  const to_ = (v) => from + ((f(v) - a) / (b - a)) * (to - from);
  to_.low = axis.log ? 10 ** a : a;
  to_.high = axis.log ? 10 ** b : b;
  to_.log = axis.log;
  return to_;
}

// ticks are about n round values within a scale, with their texts: two at least, and
// whole numbers on an axis of counts.
function ticks(sc, n, whole) {
  if (sc.log) {
    const out = [], a = Math.floor(Math.log10(sc.low)), b = Math.ceil(Math.log10(sc.high));
    const wide = b - a > 3;
    for (let e = a; e <= b; e++) {
      for (const m of wide ? [1] : b - a > 1 ? [1, 3] : [1, 2, 3, 5, 7]) {
        const v = m * 10 ** e;
        if (v >= sc.low && v <= sc.high) out.push({ v, text: general(v, 4) });
      }
    }
    const each = Math.ceil(out.length / Math.max(2, n));
    return out.filter((_, i) => i % each === 0);
  }
  const span = sc.high - sc.low, rough = span / Math.max(1, n), unit = 10 ** Math.floor(Math.log10(rough));
  const inside = (step) => Math.floor(sc.high / step + 1e-9) - Math.ceil(sc.low / step - 1e-9) + 1;
  let step = [10, 5, 2, 1, 0.5].map((m) => m * unit).filter((m, k, all) => k === 0 || m >= rough * 0.999 || inside(all[k - 1]) < 2).at(-1);
  if (whole) step = Math.max(1, Math.round(step));
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const big = Math.max(Math.abs(sc.low), Math.abs(sc.high));
  const out = [];
  for (let k = Math.ceil(sc.low / step - 1e-9); k * step <= sc.high + step * 1e-9 && out.length < 50; k++) {
    const v = k * step;
    out.push({ v, text: v === 0 ? "0" : big >= 1e6 && step >= 1e3 || digits > 5 ? general(v, 4).replace("e+0", "e").replace("e-0", "e-") : v.toFixed(digits) });
  }
  return out;
}

let clips = 0;

// drawFigure draws a figure of a size in pixels. Colours are classes, so that themes
// and printing need no other drawing.
function drawFigure(fig, look, width, height) {
  const layers = fig.layers.map((l) => resolve(l, look));
  const xAxis = { ...fig.x, across: true }, yAxis = { ...fig.y };
  const names = fig.y.names;
  if (names) height = Math.max(90, 16 * names.length + 62);
  const probe = scale(yAxis, layers, 1, 0);
  const yTicks = names ? names.map((text, v) => ({ v, text })) : ticks(probe, (height - 60) / 36, yAxis.whole);
  const longest = Math.max(1, ...yTicks.map((t) => t.text.length));
  const left = Math.min(Math.ceil(longest * (names ? 6.4 : 6.7)) + 12, width * 0.5), top = fig.y.label ? 24 : 10, right = width - 14, bottom = height - 42;
  const x = scale(xAxis, layers, left + 2, right), y = scale(yAxis, layers, bottom - 1, top);
  const clip = `clip${++clips}`;
  const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": fig.alt || fig.kind, class: "plot" });
  const axes = s("g", { class: "axes", "aria-hidden": "true" });
  for (const t of yTicks) {
    const at = y(t.v);
    axes.append(s("line", { x1: left, x2: right, y1: at, y2: at, class: "grid" }));
    const room = Math.floor((left - 10) / (names ? 6.3 : 6.7));
    axes.append(s("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, t.text.length > room ? t.text.slice(0, room - 1) + "…" : t.text));
  }
  let end = 0; // of the last text, so that names do not overlap
  for (const t of fig.x.names ? fig.x.names.map((text, v) => ({ v, text })) : ticks(x, (right - left) / 75)) {
    const at = x(t.v), half = 3.35 * t.text.length;
    if (fig.x.names && at - half < end) continue;
    end = at + half + 6;
    axes.append(s("line", { x1: at, x2: at, y1: bottom, y2: bottom + 4, class: "tick" }));
    axes.append(s("text", { x: Math.min(at, width - 3 * t.text.length), y: bottom + 17, "text-anchor": "middle" }, t.text));
  }
  axes.append(s("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }));
  const fits = (text, room) => (text.length * 6.4 > room ? text.slice(0, Math.max(1, Math.floor(room / 6.4) - 1)) + "…" : text);
  axes.append(s("text", { x: (left + right) / 2, y: height - 7, "text-anchor": "middle", class: "label" }, fits(fig.x.label, right - left)));
  axes.append(s("text", { x: 4, y: 13, class: "label" }, fits(fig.y.label || "", width - 8)));
  svg.append(s("clipPath", { id: clip }, s("rect", { x: left, y: top - 4, width: Math.max(1, right - left + 4), height: bottom - top + 5 })), axes);
  const body = s("g", { "clip-path": `url(#${clip})` });
  for (const l of layers) body.append(...marks(l, x, y, { left, right, top, bottom }));
  svg.append(body);
  return svg;
}

// classOf is what decides the colour of a layer.
function classOf(l) {
  if (l.role === "category") return `category c${(l.category - 1) % chainColours}`;
  return l.role === "chain" ? `chain c${(l.chain - 1) % chainColours} n${l.chain}` : l.role;
}

const drawable = (v) => v !== null && v !== undefined && Number.isFinite(v);

// pixels rounds to a tenth, which keeps paths short.
const px = (v) => Math.round(v * 10) / 10;

// path joins points, with gaps where there is none.
function path(xs, ys, x, y) {
  let d = "", pen = "M";
  for (let i = 0; i < ys.length; i++) {
    if (!drawable(ys[i]) || !drawable(xs[i])) { pen = "M"; continue; }
    const b = y(ys[i]), a = x(xs[i]);
    if (!Number.isFinite(a) || !Number.isFinite(b)) { pen = "M"; continue; }
    d += `${pen}${px(a)} ${px(b)}${pen === "M" ? "h0" : ""}`; // a single one is a dot
    pen = "L";
  }
  return d;
}

// marks draws a layer.
function marks(l, x, y, box) {
  const cls = classOf(l);
  switch (l.mark) {
    case "line":
      return [s("path", { d: path(l.x, l.y, x, y), class: `line ${cls}` })];
    case "step": {
      let d = "";
      l.y.forEach((v, i) => {
        const a = (l.from || 0) + i * l.step;
        d += `${d ? "L" : "M"}${px(x(a))} ${px(y(v))}L${px(x(a + l.step))} ${px(y(v))}`;
      });
      return [s("path", { d, class: `line ${cls}` })];
    }
    case "band": {
      const back = (values) => path([...l.x].reverse(), [...values].reverse(), x, y).replace("h0", "").replace(/^M/, "L");
      return [s("path", { d: path(l.x, l.high, x, y) + back(l.low) + "Z", class: `area ${cls}` })];
    }
    case "range":
      return l.y.map((v, i) => drawable(l.low[i]) && drawable(l.high[i]) &&
        s("line", { x1: px(x(l.low[i])), x2: px(x(l.high[i])), y1: px(y(v)), y2: px(y(v)), class: `span ${cls}` })).filter(Boolean);
    case "whisker":
      return [s("path", { d: l.x.map((v, i) => (drawable(l.low[i]) && drawable(l.high[i]) ? `M${px(x(v))} ${px(y(l.low[i]))}V${px(y(l.high[i]))}` : "")).join(""), class: `whisker ${cls}` })];
    case "rule":
      return l.y ? [s("line", { x1: box.left, x2: box.right, y1: px(y(l.y[0])), y2: px(y(l.y[0])), class: `rule ${cls}` })]
        : [s("line", { x1: px(x(l.x[0])), x2: px(x(l.x[0])), y1: box.top, y2: box.bottom, class: `rule ${cls}` })];
    case "cells":
      return cells(l, x, y);
    case "points":
      return points(l, x, y, box, cls);
  }
  return [];
}

function points(l, x, y, box, cls) {
  let d = "";
  if (!l.y || (l.y.length === 0 && l.x.length > 0)) { // ticks at the bottom
    for (const v of l.x) d += `M${px(x(v))} ${box.bottom - 1}v-9`;
    return [s("path", { d, class: `ticks ${cls}` })];
  }
  const out = [];
  for (let i = 0; i < l.y.length; i++) {
    const a = x(l.x[i]), b = y(l.y[i]);
    if (!drawable(l.x[i]) || !drawable(l.y[i]) || !Number.isFinite(a) || !Number.isFinite(b)) continue;
    if (l.role === "divergent" || l.role === "bad") d += `M${px(a) - 3} ${px(b) - 3}l6 6m-6 0l6 -6`;
    else if (l.role === "chosen") d += `M${px(a) - 6} ${px(b)}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0`;
    else d += `M${px(a)} ${px(b)}h0`;
  }
  out.push(s("path", { d, class: `points ${cls}` }));
  if (l.names && l.role === "bad") { // the worst by name
    const worst = Array.from(l.y, (v, i) => i).sort((a, b) => l.y[b] - l.y[a]).slice(0, 8);
    for (const i of worst) {
      const a = x(l.x[i]), end = a > (box.left + box.right) / 2;
      out.push(s("text", { x: px(a) + (end ? -7 : 7), y: px(y(l.y[i])) + 4, "text-anchor": end ? "end" : "start", class: "name" }, l.names[i]));
    }
  }
  return out;
}

// cells draws a grid of values as colours.
function cells(l, x, y) {
  const edges = (values, sc) => {
    const at = values.map(sc), out = [];
    for (let i = 0; i <= at.length; i++) {
      if (at.length === 1) out.push(at[0] + (i ? 8 : -8));
      else if (i === 0) out.push(at[0] - (at[1] - at[0]) / 2);
      else if (i === at.length) out.push(at[i - 1] + (at[i - 1] - at[i - 2]) / 2);
      else out.push((at[i - 1] + at[i]) / 2);
    }
    return out;
  };
  const ex = edges(l.x, x), ey = edges(l.y, y);
  const good = l.z.filter(drawable), low = Math.min(...good), high = Math.max(...good);
  const out = s("g", { class: "cells" });
  l.z.forEach((v, k) => {
    if (!drawable(v)) return;
    const i = k % l.x.length, j = Math.floor(k / l.x.length);
    const colour = viridis(high > low ? (v - low) / (high - low) : 0.5);
    out.append(s("rect", { x: px(Math.min(ex[i], ex[i + 1])), y: px(Math.min(ey[j], ey[j + 1])), width: px(Math.abs(ex[i + 1] - ex[i])) + 0.3, height: px(Math.abs(ey[j + 1] - ey[j])) + 0.3, fill: colour }));
  });
  return [out];
}

// viridis is a map of colours that keeps its order for all eyes and in grey.
const viridisStops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function viridis(t) {
  const at = Math.min(Math.max(t, 0), 1) * (viridisStops.length - 1), i = Math.min(Math.floor(at), viridisStops.length - 2), f = at - i;
  return `rgb(${viridisStops[i].map((v, k) => Math.round(v + f * (viridisStops[i + 1][k] - v))).join(" ")})`;
}

// swatch is the sign of a layer in a legend.
function swatch(l) {
  const svg = s("svg", { width: 22, height: 12, "aria-hidden": "true", class: "swatch" });
  const cls = classOf(l);
  switch (l.mark) {
    case "band": svg.append(s("rect", { x: 1, y: 1, width: 20, height: 10, class: `area ${cls}` })); break;
    case "range": svg.append(s("line", { x1: 1, x2: 21, y1: 6, y2: 6, class: `span ${cls}` })); break;
    case "whisker": svg.append(s("line", { x1: 11, x2: 11, y1: 1, y2: 11, class: `whisker ${cls}` })); break;
    case "rule": svg.append(s("line", { x1: 1, x2: 21, y1: 6, y2: 6, class: `rule ${cls}` })); break;
    case "cells": viridisStops.forEach((_, i) => svg.append(s("rect", { x: 1 + 4 * i, y: 1, width: 4.2, height: 10, fill: viridis(i / 4) }))); break;
    case "points":
      if (!l.y && !l.y_of) svg.append(s("path", { d: "M11 11v-9", class: `ticks ${cls}` }));
      else if (l.role === "divergent" || l.role === "bad") svg.append(s("path", { d: "M8 3l6 6m-6 0l6 -6", class: `points ${cls}` }));
      else if (l.role === "chosen") svg.append(s("path", { d: "M6 6a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", class: `points ${cls}` }));
      else svg.append(s("path", { d: "M11 6h0", class: `points ${cls}` }));
      break;
    default: svg.append(s("line", { x1: 1, x2: 21, y1: 6, y2: 6, class: `line ${cls}` }));
  }
  return svg;
}
