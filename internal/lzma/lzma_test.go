package lzma

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// texts returns texts with few and many matches, of sizes about each threshold.
func texts() map[string][]byte {
	rng := rand.New(rand.NewSource(1))
	random := func(n, letters int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Intn(letters))
		}
		return b
	}
	out := map[string][]byte{}
	for _, n := range []int{0, 1, 2, 3, 4, 5, minMatch + nice - 1, nice, nice + 1, maxMatch - 1, maxMatch, maxMatch + 1, maxMatch + 2, blockSize - 1, blockSize, blockSize + 1, 3*blockSize + 7} {
		out[fmt.Sprintf("zeros %d", n)] = make([]byte, n)
		out[fmt.Sprintf("random %d", n)] = random(n, 256)
		out[fmt.Sprintf("two letters %d", n)] = random(n, 2)
	}
	// Distances in each slot, with matches of all lengths and changes of single bytes.
	long := random(1<<17, 256)
	for len(long) < 1<<18 {
		from := len(long) - 1 - rng.Intn(1<<(1+rng.Intn(17)))
		n := 1 + rng.Intn(1+rng.Intn(300))
		for range n {
			long = append(long, long[from])
			from++
		}
		if rng.Intn(3) == 0 {
			long = append(long, byte(rng.Intn(256)))
		}
	}
	out["copies"] = long
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "  y[%d] ~ normal(mu + %d * sigma, %d);\n", i, rng.Intn(10), rng.Intn(1000))
	}
	out["lines"] = []byte(lines.String())
	return out
}

// TestCompress decompresses what Compress writes by the decoder below, and where they can be run by
// xz and by the script that pages use.
func TestCompress(t *testing.T) {
	xz, _ := exec.LookPath("xz")
	node, _ := exec.LookPath("node")
	script, err := filepath.Abs("../../front/web/page/unpack.js")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range texts() {
		packed := Compress(text)
		if got, err := decompress(packed); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes of %d are decompressed, %v", name, len(got), len(text), err)
		}
		if xz != "" {
			cmd := exec.Command(xz, "-dc", "--format=lzma")
			cmd.Stdin = bytes.NewReader(packed)
			if got, err := cmd.Output(); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%s: xz decompresses %d bytes of %d, %v", name, len(got), len(text), err)
			}
		}
		for end, content := range map[string][]byte{".lzma": packed, ".text": text} {
			if err := os.WriteFile(filepath.Join(dir, name+end), content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n, m := len(Compress(texts()["lines"])), len(texts()["lines"]); n > m/7 {
		t.Errorf("%d bytes of repeating lines are compressed to %d", m, n)
	}
	if node == "" {
		t.Skip("the script is not tried: there is no node")
	}
	// The script must also refuse cut files, or decompress them wrongly, but end.
	out, err := exec.Command(node, "-e", `
const fs = require("fs"), [script, dir] = process.argv.slice(1);
require(script);
for (const file of fs.readdirSync(dir).filter((f) => f.endsWith(".lzma"))) {
  const packed = new Uint8Array(fs.readFileSync(dir + "/" + file)), text = fs.readFileSync(dir + "/" + file.replace(/lzma$/, "text"));
  if (Buffer.compare(Buffer.from(pplUnpack(packed)), text)) throw new Error(file);
  for (const n of [0, 1, 13, 17, packed.length - 6]) {
    if (n < 18 || n > 100) {
      let refused = false;
      try { pplUnpack(packed.slice(0, n)); } catch (e) { refused = /damaged/.test(e.message); }
      if (!refused) throw new Error(file + " is not refused with " + n + " bytes");
    }
  }
}
console.log("same");`, script, dir).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "same" {
		t.Errorf("unpack.js: %v\n%s", err, out)
	}
}

// decoder reads what a model with the same probabilities encodes.
type decoder struct {
	*model
	in          []byte
	width, code uint32
}

func (d *decoder) normalise() {
	if d.width < 1<<24 {
		d.width <<= 8
		d.code = d.code<<8 | uint32(d.in[0])
		d.in = d.in[1:]
	}
}

func (d *decoder) bit(p *probability) int {
	bound := d.width >> 11 * uint32(*p)
	bit := 0
	if d.code < bound {
		d.width = bound
		*p += (2048 - *p) >> learning
	} else {
		d.code -= bound
		d.width -= bound
		*p -= *p >> learning
		bit = 1
	}
	d.normalise()
	return bit
}

func (d *decoder) tree(p []probability, n int) int {
	k := 1
	for range n {
		k = 2*k + d.bit(&p[k])
	}
	return k - 1<<n
}

func (d *decoder) reverse(p []probability, n int) (v int) {
	k := 1
	for i := range n {
		bit := d.bit(&p[k])
		k = 2*k + bit
		v |= bit << i
	}
	return v
}

func (d *decoder) length(l *lengths) int {
	if d.bit(&l.choice) == 0 {
		return minMatch + d.tree(l.low[:], 3)
	}
	if d.bit(&l.choice2) == 0 {
		return minMatch + 8 + d.tree(l.mid[:], 3)
	}
	return minMatch + 16 + d.tree(l.high[:], 8)
}

// decompress reads a .lzma file as Compress writes it.
func decompress(packed []byte) (text []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the file is damaged")
		}
	}()
	size := int(binary.LittleEndian.Uint64(packed[5:]))
	d := &decoder{model: newModel(nil), in: packed[18:], width: 1<<32 - 1, code: binary.BigEndian.Uint32(packed[14:])}
	for len(text) < size {
		if d.bit(&d.isMatch[d.state]) == 0 {
			var last, other byte
			if len(text) > 0 {
				last = text[len(text)-1]
			}
			if d.state >= matched {
				other = text[len(text)-1-d.reps[0]]
			}
			p := d.context(last)
			k, same := 1, d.state >= matched
			for i := 7; i >= 0; i-- {
				with, at := int(other>>i&1), k
				if same {
					at += 0x100 * (1 + with)
				}
				bit := d.bit(&p[at])
				same = same && bit == with
				k = 2*k + bit
			}
			text = append(text, byte(k))
			d.state = afterLiteral(d.state)
			continue
		}
		var n int
		if d.bit(&d.isRep[d.state]) == 0 {
			n = d.length(&d.model.length)
			slot := d.tree(d.slots[min(n-minMatch, 3)][:], 6)
			far := slot
			if slot >= 4 {
				bits := slot/2 - 1
				far = (2 | slot&1) << bits
				if slot < 14 {
					far += d.reverse(d.near[far-slot:], bits)
				} else {
					direct := 0
					for range bits - 4 {
						d.width >>= 1
						direct *= 2
						if d.code >= d.width {
							d.code -= d.width
							direct++
						}
						d.normalise()
					}
					far += direct<<4 + d.reverse(d.align[:], 4)
				}
			}
			d.reps, d.state = push(d.reps, far), afterMatch(d.state)
		} else {
			r, short := 0, false
			if d.bit(&d.isRep0[d.state]) == 0 {
				short = d.bit(&d.isLong[d.state]) == 0
			} else if r = 1 + d.bit(&d.isRep1[d.state]); r == 2 {
				r += d.bit(&d.isRep2[d.state])
			}
			d.reps = front(d.reps, r)
			if short {
				n, d.state = 1, afterShort(d.state)
			} else {
				n, d.state = d.length(&d.repLength), afterRep(d.state)
			}
		}
		for range n {
			text = append(text, text[len(text)-1-d.reps[0]])
		}
	}
	return text, nil
}
