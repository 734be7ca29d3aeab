package lang_test

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/source"
)

// BenchmarkParse parses a program of 502 lines.
func BenchmarkParse(b *testing.B) {
	const lines = `  for (n in 1:N) {
    real eta = alpha + dot_product(x[n], beta) * sigma;
    if (eta > 3)
      eta += gamma[group[n]] ^ 2;
    y[n] ~ normal(eta, sigma); }
`
	f := source.NewFile("bench", "model {\n"+strings.Repeat(lines, 100)+"}\n")
	b.SetBytes(int64(len(f.Text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, diags := lang.Parse(f); len(diags) > 0 {
			b.Fatal(diags)
		}
	}
}
