package draws

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
)

// FuzzRead looks for files of draws that make the reader panic, or that read differently after they
// were read and written again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"lp__,accept_stat__,a,b.1\n-1,0.5,2,nan\n", "# model = x\nlp__,a\n# Adaptation terminated\n# Step size = 0.5\n# Diagonal elements of inverse mass matrix:\n# 1, 2\n1,2\n# \n#  Elapsed Time: 0.1 seconds (Warm-up)\n",
		"a\n1\n2", "a\n1e999\n", "# Elements of inverse mass matrix:\n", "a,b\n1,2\n# Elements of inverse mass matrix:\n# 1, 2\n# 3, 4\n", "\n", "# a\n#   b = 1 (Default)\nx\n-inf\n", "lp__\n1\n\r\n2\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Add([]byte(golden))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		width := c.Columns.width()
		if width == 0 || len(c.Draws)%width != 0 || len(c.Warmup)%width != 0 || c.Len() != len(c.Draws)/width {
			t.Fatalf("%d columns, %d numbers, %d of warm-up", width, len(c.Draws), len(c.Warmup))
		}
		var out bytes.Buffer
		w, err := NewWriter(&out, Header{Columns: c.Columns, SigFigs: 17, Config: c.Config})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(c.Draws); i += width {
			n := len(c.Columns.Statistics)
			if err := w.Row(c.Draws[i:i+n], c.Draws[i+n:i+width]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, out.Bytes())
		}
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if !slices.EqualFunc(again.Draws, c.Draws, same) || !slices.Equal(again.Columns.Names, c.Columns.Names) {
			t.Fatalf("%v became %v", c.Draws, again.Draws)
		}
	})
}

// FuzzJournal looks for journals that make the reader panic, or from which it accepts a draw that
// was not made.
func FuzzJournal(f *testing.F) {
	key := JournalKey{ID: 2, Seed: 7, Values: 3}
	whole := key.head()
	var made [][]byte
	for i := range 4 {
		b := appendRecord(nil, &infer.Draw{Iteration: i, LogDensity: -1}, []float64{float64(i), 2, math.NaN()})
		made = append(made, b)
		whole = append(whole, b...)
		whole = binary.LittleEndian.AppendUint32(whole, recordSum(crc32.ChecksumIEEE(key.head()), i, b))
	}
	f.Add(whole, 0, byte(0))
	f.Add(whole[:len(whole)-5], 40, byte(1))
	f.Add(whole, 36, byte(1)) // a state that is ahead of the journal
	f.Fuzz(func(t *testing.T, text []byte, at int, flip byte) {
		if len(text) > 0 {
			text[uint(at)%uint(len(text))] ^= flip
		}
		found := &Found{key: key}
		if err := found.readJournal(bytes.NewReader(text)); err != nil {
			return
		}
		for i, good := range found.good {
			record := text[journalHeader+i*key.recordSize():][:key.recordSize()]
			if good && (i >= len(made) || !bytes.Equal(record[:len(record)-4], made[i])) {
				t.Fatalf("draw %d is taken for a good one", i+1)
			}
		}
		s := &infer.Snapshot{Draws: at % 10}
		found.choose([]*infer.Snapshot{s})
		lost := total(found.Lost)
		switch anew := found.Snapshot == nil; {
		case anew && (!found.SetBack || found.Kept != 0 || lost != 0): // all draws are made again
			t.Fatalf("%d kept and %d lost of a chain that starts anew", found.Kept, lost)
		case !anew && s.Draws >= 0 && lost+found.Kept != s.Draws:
			t.Fatalf("%d kept and %d lost of %d", found.Kept, lost, s.Draws)
		}
		_ = found.Outcome()
	})
}

// FuzzState looks for states that make the reader panic: damaged ones, and invalid ones with a
// right checksum.
func FuzzState(f *testing.F) {
	sealed := func(body []byte) []byte {
		sum := sha256.Sum256(body)
		b := binary.LittleEndian.AppendUint64([]byte(stateMagic), uint64(len(body)))
		return slices.Concat(b, sum[:], body)
	}
	for _, s := range seedStates(f) {
		f.Add(s[stateHeader:])
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if s, err := decodeState(body); err == nil && s == nil {
			t.Fatal("neither a state nor an error")
		}
		s, err := decodeState(sealed(body))
		if err != nil {
			return
		}
		if s.Draws < 0 || s.Chain < 0 {
			t.Fatalf("an impossible state: %+v", s)
		}
	})
}
