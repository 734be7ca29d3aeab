// ---- Model, data and settings in a link ----

const toBase64 = (b) => btoa(Array.from({ length: Math.ceil(b.length / 8192) }, (_, i) => String.fromCharCode(...b.subarray(8192 * i, 8192 * (i + 1)))).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const fromBase64 = (t) => Uint8Array.from(atob(t.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const through = async (bytes, stream) => new Uint8Array(await new Response(limited(new Blob([bytes]).stream().pipeThrough(stream), maxDataFile)).arrayBuffer());

// Browsers and programs that pass links on cut them somewhere beyond this.
const longLink = 32_000;

// linkOf is the address with everything in its fragment, which is not sent to the server.
async function linkOf(state) {
  const packed = await through(encoder.encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  return `${location.href.replace(/#.*/, "")}#m=${toBase64(packed)}`;
}

// linked is what the address holds; null if nothing.
async function linked() {
  const given = new URLSearchParams(location.hash.slice(1)).get("m");
  if (!given) return null;
  return JSON.parse(decoder.decode(await through(fromBase64(given), new DecompressionStream("deflate-raw"))));
}

// save offers bytes as a file.
function save(name, kind, body) {
  const link = h("a", { href: URL.createObjectURL(new Blob([body], { type: kind })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
