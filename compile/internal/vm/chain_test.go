package vm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// chainCase is a scan that is a chain: (n + x)·y + z, or the root of n²·y + z. Operands are streams
// or do not change.
type chainCase struct {
	form                  string // the operands it has; "root yz", "sum xy" keeps n + x
	streams               string // those that are streams
	steps                 int
	reverse, history, out bool
}

// graph returns the scan, with inputs n, x, y, z, and the number of its results.
func (c *chainCase) graph() *ad.Graph {
	b := ad.NewGraph()
	n := b.Input(ad.Scalar)
	g := ad.NewGraph()
	args, captured := []ad.Ref{g.Input(ad.Scalar)}, []ad.Ref(nil)
	var in [3]ad.Ref
	var outside []int
	for i, name := range []string{"x", "y", "z"} {
		if c.has(c.streams, name) {
			args = append(args, g.Input(ad.Type{Shape: []int{c.steps}}))
			in[i] = b.Input(ad.Scalar)
		} else {
			captured = append(captured, g.Input(ad.Scalar))
			outside = append(outside, i)
		}
	}
	for _, i := range outside {
		in[i] = b.Input(ad.Scalar)
	}
	next, keep := n, ad.None
	switch c.form {
	case "yz":
		next = b.Add(b.Mul(n, in[1]), in[2])
	case "xy", "sum xy":
		keep = b.Add(n, in[0])
		next = b.Mul(keep, in[1])
	case "xyz":
		next = b.Add(b.Mul(b.Add(n, in[0]), in[1]), in[2])
	case "root yz":
		next = b.Sqrt(b.Add(b.Mul(b.Square(n), in[1]), in[2]))
	}
	if c.form != "sum xy" {
		keep = next
	}
	b.Output(next)
	b.Output(keep)
	streams := len(args) - 1
	s := g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: streams, Outs: 1, Steps: c.steps, Reverse: c.reverse}, append(args, captured...))
	g.Output(g.Final(s, 0))
	if c.out {
		g.Output(g.Kept(s, 0))
	}
	if c.history {
		g.Output(g.History(s, 0))
	}
	return g
}

func (c *chainCase) has(in, name string) bool {
	return slices.Contains([]byte(in), name[0])
}

// exact returns what the outputs are, computed with 300 bits, and a bound of the error of each in
// units of rounding. of are n and the operands of each step, in order.
func (c *chainCase) exact(n float64, of [3][]float64) (out, bound [3][]float64) {
	const bits = 300
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
	abs := func(x *big.Float) float64 {
		v, _ := new(big.Float).Abs(x).Float64()
		return v
	}
	v := number(n)
	e := 0.0 // bound of the error of v, in units of rounding
	for t := range c.steps {
		x, y, z := of[0][t], of[1][t], of[2][t]
		add := func(k int, v *big.Float, e float64) {
			w, _ := v.Float64()
			out[k], bound[k] = append(out[k], w), append(bound[k], e)
		}
		add(2, v, e)
		kept, ek := v, e
		switch c.form {
		case "yz":
			e = math.Abs(y)*e + math.Abs(y)*abs(v) + math.Abs(z)
			v = new(big.Float).SetPrec(bits).Mul(v, number(y))
			v.Add(v, number(z))
		case "root yz": // relative to the root
			e = abs(v)*e*2*math.Abs(y) + math.Abs(y)*abs(v)*abs(v) + math.Abs(z)
			v = new(big.Float).SetPrec(bits).Mul(v, v)
			v.Mul(v, number(y))
			v.Add(v, number(z))
			v.Sqrt(v)
			e = e/(2*abs(v)) + abs(v)
		default:
			e += abs(v) + math.Abs(x)
			v = new(big.Float).SetPrec(bits).Add(v, number(x))
			kept, ek = v, e
			e *= math.Abs(y)
			v = new(big.Float).SetPrec(bits).Mul(v, number(y))
			if c.form == "xyz" {
				e += abs(v) + math.Abs(z)
				v.Add(v, number(z))
			}
		}
		if c.form != "sum xy" {
			kept, ek = v, e
		}
		add(1, kept, ek)
		if t == c.steps-1 {
			add(0, v, e)
		}
	}
	if c.steps == 0 {
		out[0], bound[0] = []float64{n}, []float64{0}
	}
	return out, bound
}

// run returns the outputs of the scan on a target; nil is portable code. It checks that the scan is
// a chain, and whether it can look ahead.
func (c *chainCase) run(t *testing.T, target *native.Target, n float64, of [3][]float64) [][]float64 {
	t.Helper()
	p, err := Compile(c.graph(), passes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.target = target
	chains := 0
	for i := range p.blocks {
		if r := p.blocks[i].reg; r != nil {
			if s := r.control.(*counted); s.chain != nil && s.chain.distance != 0 {
				chains++
			}
		}
	}
	if chains != 1 && c.steps > 1 && (c.out || c.history) {
		t.Fatalf("%+v: %d chains that look ahead\n%s", *c, chains, p)
	}
	m := p.New()
	if p.mistake != "" {
		t.Fatal(p.mistake)
	}
	m.Input(0)[0] = n
	for i, name := range []string{"x", "y", "z"} {
		in := m.Input(1 + i)
		if copy(in, of[i]); c.has(c.streams, name) && c.reverse {
			slices.Reverse(in)
		}
	}
	if err := m.Run(nil); err != nil {
		t.Fatal(err)
	}
	outs := [][]float64{slices.Clone(m.Output(0)), nil, nil}
	k := 1
	if c.out {
		outs[1] = slices.Clone(m.Output(k))
		k++
	}
	if c.history {
		outs[2] = slices.Clone(m.Output(k))
	}
	if c.reverse {
		slices.Reverse(outs[1])
		slices.Reverse(outs[2])
	}
	return outs
}

// eachChain calls f for the chains of all forms and of lengths around the size of a group.
func eachChain(f func(c *chainCase)) {
	for _, form := range []string{"yz", "xy", "sum xy", "xyz", "root yz"} {
		for _, streams := range []string{"xz", "y", "xyz"} {
			for k, steps := range []int{0, 1, 2, 7, 8, 9, minAhead - 1, minAhead, minAhead + 1, minAhead + 2, minAhead + 3, minAhead + 4, 67, 500} {
				for kept := range 3 {
					f(&chainCase{form: form, streams: streams, steps: steps, reverse: (k+kept)%2 == 1, history: kept != 0 && form != "sum xy", out: kept != 1 || form == "sum xy"})
				}
			}
		}
	}
}

// operands draws the operands of all steps; those that are no streams do not change.
func (c *chainCase) operands(rng *rand.Rand, scale float64) (of [3][]float64) {
	for i, name := range []string{"x", "y", "z"} {
		of[i] = make([]float64, max(c.steps, 1))
		for t := range of[i] {
			of[i][t] = rng.NormFloat64()
			if i == 1 {
				of[i][t] *= scale
			}
			if c.form == "root yz" {
				of[i][t] = math.Abs(of[i][t])
			}
			if t > 0 && !c.has(c.streams, name) {
				of[i][t] = of[i][0]
			}
		}
	}
	return of
}

// TestAheadExact compares chains with exact numbers: the error is that of a few roundings of each
// term. Factors shrink, keep, or increase the number.
func TestAheadExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	cases := 0
	eachChain(func(c *chainCase) {
		cases++
		for _, scale := range []float64{0.5, 1, 1.7}[cases%3:][:1] {
			of := c.operands(rng, scale)
			n := rng.NormFloat64()
			if c.form == "root yz" {
				n = math.Abs(n)
			}
			want, bound := c.exact(n, of)
			var first [][]float64
			for _, target := range targetsHere() {
				got := c.run(t, target, n, of)
				if first == nil || target == nil || c.form == "root yz" && target == targetsHere()[1] {
					first = got
				}
				for k := range got {
					for i, v := range got[k] {
						if math.Float64bits(v) != math.Float64bits(first[k][i]) {
							t.Fatalf("%+v, %s: output %d[%d] is %v, by other code %v", *c, target.Name, k, i, v, first[k][i])
						}
						if v == want[k][i] || math.Abs(want[k][i]) > maxAhead || math.IsNaN(want[k][i]) {
							continue
						}
						e := math.Abs(v-want[k][i]) / (0x1p-53 * bound[k][i])
						if worst = max(worst, e); !(e < 6) {
							t.Fatalf("%+v: output %d[%d] is %v, want %v: error %v", *c, k, i, v, want[k][i], e)
						}
					}
				}
			}
		}
	})
	t.Logf("largest error: %.2g of the bound", worst)
}

// TestAheadRange compares chains with their definition where numbers leave the range: infinite and
// NaN operands, factors whose products overflow or underflow, factors 0, roots of negative numbers.
func TestAheadRange(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, 1e-200, -1e-100, 1e200, -1e100, 1e308, -3, 1e-60, 1e60}
	eachChain(func(c *chainCase) {
		if c.steps < 2 || c.steps > 100 {
			return
		}
		for range 3 {
			of := c.operands(rng, 0.9)
			for range 1 + rng.IntN(4) {
				i, at, v := rng.IntN(3), rng.IntN(c.steps), values[rng.IntN(len(values))]
				of[i][at] = v
				if !c.has(c.streams, []string{"x", "y", "z"}[i]) {
					for t := range of[i] {
						of[i][t] = v
					}
				}
			}
			n := 1.0
			var out, size [3][]float64
			bound := 0.0
			for t := range c.steps {
				x, y, z := of[0][t], of[1][t], of[2][t]
				out[2], size[2] = append(out[2], n), append(size[2], bound)
				var kept, ek float64
				switch c.form {
				case "yz":
					bound = math.Abs(y)*bound + math.Abs(n*y) + math.Abs(z)
					n = float64(n*y) + z
				case "root yz":
					v := n * n
					bound = math.Abs(y)*2*bound*n + math.Abs(v*y) + math.Abs(z)
					n = math.Sqrt(float64(v*y) + z)
					bound = bound/(2*n) + n
				default:
					bound += math.Abs(n) + math.Abs(x)
					n += x
					kept, ek = n, bound
					bound *= math.Abs(y)
					n *= y
					if c.form == "xyz" {
						bound += math.Abs(n) + math.Abs(z)
						n += z
					}
				}
				if c.form != "sum xy" {
					kept, ek = n, bound
				}
				out[1], size[1] = append(out[1], kept), append(size[1], ek+math.Abs(kept))
			}
			out[0], size[0] = []float64{n}, []float64{bound + math.Abs(n)}
			for _, target := range targetsHere() {
				for k, got := range c.run(t, target, 1, of) {
					for i, v := range got {
						want := out[k][i]
						if v == want || math.IsNaN(v) && math.IsNaN(want) {
							continue
						}
						tol := size[k][i]
						if math.IsInf(tol, 0) || math.IsNaN(tol) { // the bound itself has left the range
							tol = 100 * math.Abs(want)
						}
						if !(math.Abs(v-want) <= 1e-140+1e-14*tol) {
							t.Fatalf("%+v: output %d[%d] is %v, step by step %v\n%v", *c, k, i, v, want, of)
						}
					}
				}
			}
		}
	})
}

// TestChainOperands checks chains whose operands are apart in memory, which do not look ahead.
func TestChainOperands(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const size = 80
	for i, form := range recurrences {
		c := &chain{form: recurrence(i)}
		for _, d := range [][5]int{{1, 1, 1, 1, 1}, {-1, -1, -1, -1, -1}, {2, 1, 3, 2, 2}, {-2, -1, -1, -1, -3}, {0, 1, 0, 1, 1}} {
			for _, steps := range []int{0, 1, 5, 17} {
				var w chainWalk
				var data [5][]float64
				for k, o := range []*walkOperand{&w.x, &w.y, &w.z, &w.history, &w.keeps} {
					*o = walkOperand{make([]float64, size), 5, d[k]}
					if d[k] < 0 {
						o.pos = size - 5
					}
					for i := range o.data {
						o.data[i] = math.Abs(rng.NormFloat64())
					}
					data[k] = slices.Clone(o.data)
				}
				before := w
				n := 0.7
				got := c.run(&w, n, steps)
				at := func(k int, o *walkOperand, t int) *float64 { return &data[k][o.pos+t*o.step] }
				for t := range steps {
					*at(3, &before.history, t) = n
					x, y, z := *at(0, &before.x, t), *at(1, &before.y, t), *at(2, &before.z, t)
					switch {
					case c.form == rootForm:
						n = math.Sqrt(float64(n*n*y) + z)
					case form.operands == "yz":
						n = float64(n*y) + z
					case form.operands == "xy":
						n = (n + x) * y
					default:
						n = float64((n+x)*y) + z
					}
					*at(4, &before.keeps, t) = n
				}
				name := fmt.Sprintf("%s, distances %v, %d steps", form.operands, d, steps)
				near := func(a, b float64) bool { return a == b || c.form == rootForm && math.Abs(a-b) < 1e-14*b }
				if !near(got, n) {
					t.Errorf("%s: %v, want %v", name, got, n)
				}
				for k, o := range []*walkOperand{&w.x, &w.y, &w.z, &w.history, &w.keeps} {
					if !slices.EqualFunc(o.data, data[k], near) {
						t.Errorf("%s: memory of operand %d differs", name, k)
					}
				}
			}
		}
	}
}
