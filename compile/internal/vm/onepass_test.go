package vm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/internal/short"
)

// tall returns the log density of a Poisson regression with its gradient. Rates above most are
// rejected.
func tall(rows, columns int, most float64) *ad.Graph {
	g := ad.NewGraph()
	a, b := g.Input(ad.Scalar), g.Input(ad.Type{Shape: []int{columns, 1}})
	x := g.ConstArray(ad.Type{Shape: []int{rows, columns}}, normals(rows*columns, 3))
	counts := normals(rows, 4)
	for i, c := range counts {
		counts[i] = float64(int(2 * c * c))
	}
	eta := g.Add(a, g.Reshape(g.MatMul(x, b), []int{rows}))
	rate := g.Exp(eta)
	g.Check(&ad.Check{Set: ad.Interval{Lo: 0, Hi: most}, Function: "f", Name: "rate", Want: "moderate"}, rate)
	lp := g.Sub(g.Sum(g.Mul(g.ConstArray(ad.Type{Shape: []int{rows}}, counts), eta)), g.Sum(rate))
	lp = g.Sub(lp, g.Sum(g.Square(b)))
	g.Output(lp)
	for _, d := range g.Grad(lp, a, b) {
		g.Output(d)
	}
	return g
}

// TestOnePass checks gradients in one pass over the rows of a matrix, with numbers of rows on both
// sides of those of strips, parts and the least number for a pass.
func TestOnePass(t *testing.T) {
	finely(t)
	for _, rows := range short.Turns(2, []int{fromTerms - 1, fromTerms, fromTerms + 1, 2*fromTerms - 1, 2 * fromTerms, 2*fromTerms + maxStrip + 1}) {
		for _, columns := range []int{1, 5, 12, 40} {
			g := tall(rows, columns, 1e300)
			name := fmt.Sprintf("%d × %d", rows, columns)
			p, err := Compile(g, passes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			once := slices.ContainsFunc(p.blocks, func(b block) bool { return b.pass != nil })
			if want := rows >= fromTerms && columns >= 12; once != want {
				t.Errorf("%s: one pass: %v, want %v", name, once, want)
			}
			b := normals(columns, 5)
			for i := range b {
				b[i] /= 10
			}
			sameForAll(t, name, g, [][]float64{{0.2}, b}, 1e-11)
		}
	}
}

// TestOnePassRejects checks that the first failing row is reported.
func TestOnePassRejects(t *testing.T) {
	finely(t)
	const rows, columns = 2*fromTerms + 17, 12
	b := []float64{0.5, -0.5, 0.4, 0.3, -0.2, 0.1, 0, 0, 0.1, 0, 0, -0.3}
	g := tall(rows, columns, 12)
	_, want := g.Eval([][]float64{{0.2}, b}, &ad.Env{})
	if want == nil || !strings.Contains(want.Error(), "rate[") {
		t.Fatalf("no rate is too large: %v", want)
	}
	p, err := Compile(g, passes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(p.blocks, func(b block) bool { return b.pass != nil }) {
		t.Error("there is no pass over the rows")
	}
	m := p.New()
	for _, workers := range []int{1, 2, 5} {
		if _, err := bits(m, workers, [][]float64{{0.2}, b}); err == nil || err.Error() != want.Error() {
			t.Errorf("%d workers: %v, want %v", workers, err, want)
		}
	}
}
