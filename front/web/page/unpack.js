"use strict";
// pplUnpack(bytes) decompresses a file in the format .lzma, as package internal/lzma writes it: with
// the size in the header, and without contexts by position. Scripts and modules both can load this.
globalThis.pplUnpack = (packed) => {
  const bad = () => { throw new Error("the engine's file is damaged"); };
  if (packed.length < 18 || packed[0] > 8) bad(); // from 9 on there are contexts by position
  const header = new DataView(packed.buffer, packed.byteOffset);
  const literalBits = packed[0], size = header.getUint32(5, true);
  if (header.getUint32(9, true)) bad(); // 4 GiB or more, or no size
  const out = new Uint8Array(size);

  // The range coder. Probabilities are those of a bit 0, in parts of 2048.
  let at = 14, range = 0xffffffff, code = header.getUint32(at);
  at += 4;
  const next = () => { if (at >= packed.length) bad(); return packed[at++]; };
  const bit = (p, i) => {
    const bound = (range >>> 11) * p[i];
    let b = 0;
    if (code < bound) {
      range = bound;
      p[i] += (2048 - p[i]) >> 5;
    } else {
      code -= bound;
      range -= bound;
      p[i] -= p[i] >> 5;
      b = 1;
    }
    if (range < 0x1000000) {
      code = ((code << 8) | next()) >>> 0;
      range = (range << 8) >>> 0;
    }
    return b;
  };
  const direct = (n) => {
    let v = 0;
    for (; n > 0; n--) {
      range >>>= 1;
      let b = 0;
      if (code >= range) { code -= range; b = 1; }
      v = (v << 1) | b;
      if (range < 0x1000000) {
        code = ((code << 8) | next()) >>> 0;
        range = (range << 8) >>> 0;
      }
    }
    return v;
  };
  // tree reads n bits, the highest first; reverse, the lowest first.
  const tree = (p, n) => {
    let k = 1;
    for (let i = 0; i < n; i++) k = (k << 1) | bit(p, k);
    return k - (1 << n);
  };
  const reverse = (p, from, n) => {
    let k = 1, v = 0;
    for (let i = 0; i < n; i++) {
      const b = bit(p, from + k);
      k = (k << 1) | b;
      v |= b << i;
    }
    return v;
  };

  const probabilities = (n) => new Uint16Array(n).fill(1024);
  const lengths = () => ({ choice: probabilities(2), low: probabilities(8), mid: probabilities(8), high: probabilities(256) });
  const length = (l) => 2 + (!bit(l.choice, 0) ? tree(l.low, 3) : !bit(l.choice, 1) ? 8 + tree(l.mid, 3) : 16 + tree(l.high, 8));
  const literals = probabilities(0x300 << literalBits), matchLength = lengths(), repLength = lengths();
  const isMatch = probabilities(12), isRep = probabilities(12), isRep0 = probabilities(12), isRep1 = probabilities(12), isRep2 = probabilities(12), isLong = probabilities(12);
  const slots = [0, 1, 2, 3].map(() => probabilities(64)), near = probabilities(128), align = probabilities(16);

  let state = 0, d0 = 0, d1 = 0, d2 = 0, d3 = 0; // the last distances, from 0
  for (let n = 0; n < size;) {
    if (!bit(isMatch, state)) {
      const context = 0x300 * ((n ? out[n - 1] : 0) >> (8 - literalBits));
      let k = 1;
      if (state >= 7) { // the bits so far are those of the byte at the last distance
        let other = out[n - d0 - 1], same = true;
        while (same && k < 0x100) {
          const with_ = (other >> 7) & 1, b = bit(literals, context + 0x100 * (1 + with_) + k);
          other <<= 1;
          k = (k << 1) | b;
          same = b === with_;
        }
      }
      while (k < 0x100) k = (k << 1) | bit(literals, context + k);
      out[n++] = k;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let count;
    if (!bit(isRep, state)) {
      count = length(matchLength);
      const slot = tree(slots[Math.min(count - 2, 3)], 6);
      let d = slot;
      if (slot >= 4) {
        const bits = (slot >> 1) - 1, from = (2 | (slot & 1)) << bits;
        d = slot < 14 ? from + reverse(near, from - slot, bits) : from + (direct(bits - 4) << 4) + reverse(align, 0, 4);
      }
      d3 = d2; d2 = d1; d1 = d0; d0 = d;
      state = state < 7 ? 7 : 10;
    } else {
      count = 0;
      if (!bit(isRep0, state)) {
        if (!bit(isLong, state)) count = 1;
      } else {
        let d;
        if (!bit(isRep1, state)) d = d1;
        else {
          if (!bit(isRep2, state)) d = d2;
          else { d = d3; d3 = d2; }
          d2 = d1;
        }
        d1 = d0; d0 = d;
      }
      if (count) state = state < 7 ? 9 : 11;
      else {
        count = length(repLength);
        state = state < 7 ? 8 : 11;
      }
    }
    if (d0 >= n || d0 < 0 || n + count > size) bad();
    for (const end = n + count; n < end; n++) out[n] = out[n - d0 - 1];
  }
  return out;
};
