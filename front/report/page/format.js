// ---- Elements, and numbers as ppl summary prints them ----

// h makes an element. Properties that begin with "on" are listeners; children are
// elements or texts, which are never read as HTML.
function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

// s is h for SVG.
function s(tag, properties, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false && c !== ""));
  return element;
}

// breakable lets long words of a text, such as names and paths, break after _ . / or , and before [.
function breakable(text) {
  const long = 20;
  return String(text).split(/(\s+)/).flatMap((word) => (word.length <= long ? [word] : word.split(/(?<=[_.,/])|(?=\[)/).flatMap((part, i) => (i ? [h("wbr", {}), part] : [part]))));
}

// numeric reads a number of the report, in which NaN and infinities are texts.
function numeric(v) {
  return typeof v === "string" ? Number(v) : v;
}

// fixed shows a number with so many decimals; halves go to the even digit, as in Go.
function fixed(v, decimals) {
  if (Number.isNaN(v)) return "-";
  if (!Number.isFinite(v)) return v > 0 ? "+Inf" : "-Inf";
  const scaled = Math.abs(v) * 10 ** decimals;
  const half = scaled % 1 === 0.5 && Number.isInteger(v * 2 ** (decimals + 1));
  let text = half && Math.floor(scaled) % 2 === 0 ? (Math.sign(v) * Math.floor(scaled) / 10 ** decimals).toFixed(decimals) : v.toFixed(decimals);
  if (/^-[0.]*$/.test(text)) text = text.slice(1);
  return text;
}

// decimals is how many a row deserves: its standard error is shown to two digits, the
// rest to as many decimals. -1 asks for significant digits instead.
function decimals(mcse, sd) {
  for (const scale of [mcse, sd / 100]) {
    if (scale > 0 && Number.isFinite(scale)) {
      const d = 1 - Math.floor(Math.log10(scale));
      return d > 6 || d < -3 ? -1 : Math.max(d, 0);
    }
  }
  return -1;
}

// figure shows a number with decimals, or with five digits where that would not fit.
function figure(v, d) {
  if (Number.isNaN(v)) return "-";
  if (d >= 0 && Math.abs(v) < 1e7) return fixed(v, d);
  if (!Number.isFinite(v)) return v > 0 ? "+Inf" : "-Inf";
  return general(v, 5);
}

// general is the %g of C and Go: so many significant digits, without trailing zeros.
function general(v, digits) {
  if (v === 0) return "0";
  const [mantissa, exponent] = v.toExponential(digits - 1).split("e");
  const e = Number(exponent);
  const short = (t) => (t.includes(".") ? t.replace(/\.?0+$/, "") : t);
  if (e < -4 || e >= digits) return short(mantissa) + "e" + (e < 0 ? "-" : "+") + String(Math.abs(e)).padStart(2, "0");
  return short(v.toFixed(Math.max(0, digits - 1 - e)));
}

// count shows a whole number with its thousands apart.
function count(n) {
  return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function plural(n, one, many) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

// clock shows seconds: 0.3 s, 12 s, 3:05, 1:03:05.
function clock(seconds) {
  if (!(seconds >= 0)) return "";
  const t = Math.floor(seconds), pad = (n) => String(n).padStart(2, "0");
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (t < 60) return `${t} s`;
  if (t < 3600) return `${Math.floor(t / 60)}:${pad(t % 60)}`;
  return `${Math.floor(t / 3600)}:${pad(Math.floor(t / 60) % 60)}:${pad(t % 60)}`;
}

// unpack reads draws: the base64 of little-endian float32, to which the centre is added.
function unpack(text, centre) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer), add = numeric(centre);
  return Float64Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true) + add);
}
