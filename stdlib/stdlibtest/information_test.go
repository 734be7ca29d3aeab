package stdlibtest

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestInformation: the declared expected information is the mean of the products
// of the scores of draws, to within six standard errors (a false alarm of 2e-9
// per entry), which are at most some percent; and positive semidefinite.
func TestInformation(t *testing.T) {
	const n = 100_000
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		d := f.Dist
		if f.Terms == nil || d.Information == nil || strings.Contains(f.Name, "glm") {
			return
		}
		rng := source(f, 40)
		ts := forms(f)[0]
		params := arguments(rng, f, ts)[1:]
		for i := range params {
			if params[i].Type.Kind == types.Real && d.Params[i].In.Lo == 0 && math.IsInf(d.Params[i].In.Hi, 1) {
				params[i].Data[0]++
			}
		}
		if d.Rand == nil { // binomial_logit
			params[1].Data[0] = 0.4
		}
		draws := drawsOf(t, d, params, n)
		// Scores on the unbounded scale of the variate.
		g := ad.NewGraph()
		y := g.Input(ad.Type{Lanes: n})
		refs, inputs := []ad.Ref{y}, [][]float64{draws}
		vs := append([]Value{{Type: ts[0], Lanes: n}}, params...)
		for i, p := range params {
			refs = append(refs, g.Input(ad.Type{Lanes: n}))
			same := make([]float64, n)
			for k := range same {
				same[k] = p.Data[0]
			}
			inputs = append(inputs, same)
			vs[i+1].Lanes = n
		}
		for _, r := range g.Grad(Apply(g, f, false, vs, refs), refs...) {
			g.Output(r)
		}
		scores, err := g.Eval(inputs, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		scale := func(y float64) float64 { return 1 } // dy/du
		shift := scale
		support := d.Variate
		if d.Support != (types.Constraint{}) {
			support = d.Support
		}
		switch {
		case support.Lo == 0 && math.IsInf(support.Hi, 1):
			scale = func(y float64) float64 { return y }
		case support.Lo == 0 && support.Hi == 1:
			scale = func(y float64) float64 { return y * (1 - y) }
			shift = func(y float64) float64 { return 1 - 2*y }
		default:
			shift = func(float64) float64 { return 0 }
		}
		for k, y := range draws {
			scores[0][k] = scores[0][k]*scale(y) + shift(y)
		}
		at := draws[0]
		h := ad.NewGraph()
		args := []ad.Ref{h.Const(at)}
		for _, p := range params {
			args = append(args, h.Const(p.Data[0]))
		}
		declaredRows := d.Information(h, args)
		for i, row := range declaredRows {
			for j, r := range row[:i+1] {
				if ts[i].Kind == types.Int || ts[j].Kind == types.Int {
					if r != ad.None {
						t.Errorf("an entry for an int argument, %d", i)
					}
					continue
				}
				want := 0.0
				if r != ad.None {
					v, _ := h.Value(r)
					want = v[0]
				}
				for _, k := range []int{i, j} {
					if k == 0 {
						want *= scale(at)
					}
				}
				sum, squares := 0.0, 0.0
				for k := range draws {
					x := scores[i][k] * scores[j][k]
					sum += x
					squares += x * x
				}
				mean := sum / n
				se := math.Sqrt((squares/n - mean*mean) / n)
				if math.Abs(mean-want) > 6*se+1e-12 {
					t.Errorf("%v: entry %d, %d is %v, of draws %v ± %v", params, i, j, want, mean, se)
				}
			}
		}
	})
}

// drawsOf draws from the distribution; binomial_logit, without a generator, as
// the binomial one.
func drawsOf(t *testing.T, d *stdlib.Dist, params []Value, n int) []float64 {
	name := d.Name + "_rng"
	if d.Rand == nil {
		name = "binomial_rng"
		p := params[1]
		p.Data = []float64{1 / (1 + math.Exp(-p.Data[0]))}
		params = []Value{params[0], p}
	}
	f := find(name)
	return sample(t, f, params, n, source(f, 41))
}
