package interp

import (
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// lowered lowers a valid program.
func lowered(t testing.TB, text string) *ir.Program {
	t.Helper()
	tree, list := lang.Parse(source.NewFile("test.model", text))
	if list.HasErrors() {
		t.Fatal(list)
	}
	info, list := check.Check(tree, stdlib.Language())
	if list.HasErrors() {
		t.Fatal(list)
	}
	return ir.Lower(tree, info, stdlib.Language())
}

// BenchmarkTransformedData runs loops of 1,000,000 iterations and reports the time of one
// iteration. The name of a loop contains its number of simple operations per iteration.
func BenchmarkTransformedData(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"int_assignment_1", "int s = 0; for (i in 1:1000000) s = i;"},
		{"int_sum_2", "int s = 0; for (i in 1:1000000) s += i % 7;"},
		{"real_sum_3", "real s = 0; for (i in 1:1000000) s = s * 0.5 + i;"},
		{"fill_2", "vector[1000000] x; for (i in 1:1000000) x[i] = i * 0.5;"},
		{"ragged_4", "array[1000000] int start; int pos = 1; for (i in 1:1000000) { start[i] = pos; pos += 1 + i % 5; }"},
		{"matrix_4", "matrix[1000, 1000] m; for (i in 1:1000) for (j in 1:1000) m[i, j] = exp(-(i - j) * 0.1);"},
		{"condition_3", "int n = 0; for (i in 1:1000000) if (i % 3 == 0 && i > 10) n += 1;"},
		{"slice_sum_2", "vector[1000] x = rep_vector(1, 1000); real s = 0; for (i in 1:1000000) s += sum(x[(1 + i % 10):(10 + i % 10)]);"},
		{"call_1", "int n = 0; for (i in 1:1000000) n = next(n);"},
		{"local_3", "real s = 0; for (i in 1:1000000) { array[3] real t; t[1] = i; s += t[1]; }"},
		{"draw_1", "real s = 0; for (i in 1:1000000) s += normal_rng(0, 1);"},
		{"density_1", "real s = 0; for (i in 1:1000000) s += normal_lpdf(i | 0, 100);"},
	} {
		prog := lowered(b, "functions { int next(int n) { return n + 1; } }\ntransformed data { "+c.text+" }")
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Data(prog, data.Empty(), Options{Rand: rand.New(rand.NewPCG(1, 2))}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/iteration")
		})
	}
}
