package stdlibtest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestInformation compares the declared expected information with the mean of the products of the
// scores of draws. It allows six standard errors, which are at most a few percent; a false alarm
// has a probability of 2e-9 per entry. The information must be positive semidefinite.
func TestInformation(t *testing.T) {
	n := short.Of(100_000, 20_000)
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		d := f.Dist
		if f.Terms == nil || d.Information == nil || strings.Contains(f.Name, "glm") || d.Name == "uniform" {
			return // its support depends on the parameters; TestInformationUniform tests it
		}
		rng := source(f, 40)
		ts := forms(f)[0]
		params := arguments(rng, f, ts)[1:]
		for i := range params {
			if params[i].Type.Kind == types.Real && d.Params[i].In.Lo == 0 && math.IsInf(d.Params[i].In.Hi, 1) {
				params[i].Data[0]++
			}
		}
		if d.Rand == nil { // binomial_logit has no generator
			params[1].Data[0] = 0.4
		}
		draws := drawsOf(t, d, params, n)
		// Compute scores on the unbounded scale of the variate.
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
				mean := sum / float64(n)
				se := math.Sqrt((squares/float64(n) - mean*mean) / float64(n))
				if math.Abs(mean-want) > 6*se+1e-12 {
					t.Errorf("%v: entry %d, %d is %v, of draws %v ± %v", params, i, j, want, mean, se)
				}
			}
		}
	})
}

// drawsOf draws from the distribution. For binomial_logit, which has no generator, it uses that of
// binomial.
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

// TestInformationUniform compares the information about the position of y between the bounds with
// the mean of the squared score 1 - 2p of logit p.
func TestInformationUniform(t *testing.T) {
	const n = 10_000 // number of midpoints; the mean of (1-2p)² is then wrong by 1/(3n²)
	square := 0.0
	for i := range n {
		p := (float64(i) + 0.5) / n
		square += (1 - 2*p) * (1 - 2*p) / n
	}
	at := []float64{0.3, -1, 2} // y, α, β
	logit := func(x []float64) float64 { return math.Log((x[0] - x[1]) / (x[2] - x[0])) }
	var slope [3]float64
	for i := range at {
		const h = 1e-5
		up, down := slices.Clone(at), slices.Clone(at)
		up[i] += h
		down[i] -= h
		slope[i] = (logit(up) - logit(down)) / (2 * h)
	}
	g := ad.NewGraph()
	rows := find("uniform_lpdf").Dist.Information(g, []ad.Ref{g.Const(at[0]), g.Const(at[1]), g.Const(at[2])})
	for i, row := range rows {
		for k, r := range row {
			if v, _ := g.Value(r); math.Abs(v[0]-square*slope[i]*slope[k]) > 1e-8 {
				t.Errorf("entry %d, %d is %v, want %v", i, k, v[0], square*slope[i]*slope[k])
			}
		}
	}
}

// TestInformationHalf compares the information of the halves of symmetric distributions with the
// mean of the products of scores over a grid. The variate's score is that of log (y-μ); the
// location has none.
func TestInformationHalf(t *testing.T) {
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		d := f.Dist
		if f.Terms == nil || d.Half == nil {
			return
		}
		values := []float64{0}
		for _, p := range d.Params {
			values = append(values, map[string]float64{"nu": 6, "mu": 0.7}[p.Name])
			if p.Is == "Scale parameter" {
				values[len(values)-1] = 1.3
			}
		}
		n := len(values)
		location, scale := 0., 1.
		if n > 2 {
			location, scale = values[n-2], values[n-1]
		}
		g := ad.NewGraph()
		const points = 20_001
		y := g.Input(ad.Type{Lanes: points})
		refs, vs := []ad.Ref{y}, []Value{{Type: forms(f)[0][0], Lanes: points}}
		inputs := [][]float64{make([]float64, points)}
		weight := make([]float64, points)
		for k := range points { // y - μ = σ eᵘ, u from -15 to 15, with all but 1e-6 of the probability
			u := -15 + 30*float64(k)/(points-1)
			inputs[0][k], weight[k] = location+scale*math.Exp(u), scale*math.Exp(u)*30/(points-1)
		}
		for _, v := range values[1:] {
			in := make([]float64, points)
			for k := range in {
				in[k] = v
			}
			refs, vs, inputs = append(refs, g.Input(ad.Type{Lanes: points})), append(vs, Value{Type: types.RealType, Lanes: points}), append(inputs, in)
		}
		density := Apply(g, f, false, vs, refs)
		g.Output(density)
		for _, r := range g.Grad(density, refs...) {
			g.Output(r)
		}
		out, err := g.Eval(inputs, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		scores := out[1:]
		for k := range points {
			scores[0][k] = 1 + scores[0][k]*(inputs[0][k]-location)
			weight[k] *= 2 * math.Exp(out[0][k])
		}
		const at = 2.1
		h := ad.NewGraph()
		args := []ad.Ref{h.Const(at)}
		for _, v := range values[1:] {
			args = append(args, h.Const(v))
		}
		for i, row := range d.Half(h, args) {
			for j, r := range row[:i+1] {
				got, want := 0.0, 0.0
				if r != ad.None {
					v, _ := h.Value(r)
					got = v[0]
				}
				for _, k := range []int{i, j} {
					if k == 0 {
						got *= at - location
					}
				}
				for k, w := range weight {
					want += w * scores[i][k] * scores[j][k]
				}
				if n > 2 && (i == n-2 || j == n-2) {
					want = 0
				}
				if math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("entry %d, %d is %v, the integral %v", i, j, got, want)
				}
			}
		}
	})
}
