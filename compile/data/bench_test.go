package data

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/internal/cputime"
)

// tableText returns a CSV table with a column each of integers, reals of 4 digits, reals of 16
// digits, and words.
func tableText(rows int) string {
	rng := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("id,x,y,z,g,k\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,%.4f,%v,%v,level%d,%d\n", i+1, 10*rng.NormFloat64(), rng.NormFloat64(), 100*rng.Float64(), rng.IntN(20), rng.IntN(2))
	}
	return b.String()
}

// perCore reports the number of bytes that one core reads per second, measured by processor time.
func perCore(b *testing.B, bytes int, read func() error) {
	used := cputime.Process()
	for b.Loop() {
		if err := read(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(bytes)*float64(b.N)/1e6/(cputime.Process()-used).Seconds(), "MB/core-s")
}

func BenchmarkTable(b *testing.B) {
	text := tableText(100_000)
	perCore(b, len(text), func() error { _, err := ParseTable("d.csv", text, Options{}); return err })
}

func BenchmarkJSON(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var t strings.Builder
	t.WriteString(`{"N": 300000, "x": [`)
	for i := range 300_000 {
		if i > 0 {
			t.WriteString(", ")
		}
		fmt.Fprint(&t, rng.NormFloat64())
	}
	t.WriteString(`], "k": [`)
	for i := range 300_000 {
		if i > 0 {
			t.WriteString(",")
		}
		fmt.Fprint(&t, rng.IntN(1000))
	}
	t.WriteString(`]}`)
	text := []byte(t.String())
	perCore(b, len(text), func() error { _, err := ParseJSON("d.json", text); return err })
}
