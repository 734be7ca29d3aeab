package lzma

import (
	"bytes"
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

// TestCompress decompresses what Compress writes by Decompress, and where they can be run by xz and
// by the script that pages use.
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
		if got, err := Decompress(packed); err != nil || !bytes.Equal(got, text) {
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

// TestDamaged checks that Decompress refuses files that are cut, and that files with a changed byte
// give an error or a text of the length in the header.
func TestDamaged(t *testing.T) {
	text := texts()["lines"][:5000]
	packed := Compress(text)
	for n := range packed {
		if n >= len(packed)-5 && n > 18 { // the last bytes may matter to no symbol
			break
		}
		if got, err := Decompress(packed[:n]); err == nil {
			t.Fatalf("%d bytes of %d are decompressed to %d", n, len(packed), len(got))
		}
	}
	rng := rand.New(rand.NewSource(2))
	for range 2000 {
		changed := bytes.Clone(packed)
		changed[13+rng.Intn(len(packed)-13)] ^= byte(1 + rng.Intn(255))
		if got, err := Decompress(changed); err == nil && len(got) != len(text) {
			t.Fatalf("a changed file is decompressed to %d bytes, want %d or an error", len(got), len(text))
		}
	}
	changed := bytes.Clone(packed)
	changed[0] = 93 // the contexts that xz chooses
	if _, err := Decompress(changed); err == nil || !strings.Contains(err.Error(), "contexts 93") {
		t.Errorf("other contexts: %v", err)
	}
	for i := 5; i < 13; i++ {
		changed[i] = 0xff // a size of 1<<64-1: unknown
	}
	changed[0] = packed[0]
	if _, err := Decompress(changed); err == nil {
		t.Error("a file without its size is decompressed")
	}
}

func BenchmarkDecompress(b *testing.B) {
	text, err := os.ReadFile("../../spec.md")
	if err != nil {
		b.Fatal(err)
	}
	packed := Compress(text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Decompress(packed); err != nil {
			b.Fatal(err)
		}
	}
}
