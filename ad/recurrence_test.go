package ad

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestRecurrence compares x = a·x + s, its exponential and the value of the step before, at all
// steps, with a loop in Go. The start is computed or known; if all is known, there is no scan.
func TestRecurrence(t *testing.T) {
	for _, steps := range []int{1, 2, 7} {
		for _, known := range []bool{false, true} {
			t.Run(fmt.Sprint(steps, known), func(t *testing.T) {
				g := NewGraph()
				x0, a := []float64{0.3}, []float64{0.9}
				s := make([]float64, steps)
				for i := range s {
					s[i] = math.Sin(float64(i))
				}
				value := func(shape []int, data []float64) Ref {
					if known {
						return g.ConstArray(Type{Shape: shape}, data)
					}
					return g.Input(Type{Shape: shape})
				}
				start, factor, stream := value(nil, x0), value(nil, a), value([]int{steps}, s)
				body := NewGraph()
				x, term, by := body.Input(Scalar), body.Input(Scalar), body.Input(Scalar)
				next := body.Add(body.Mul(by, x), term)
				wanted := []Ref{next, body.Exp(next), x, term, by}
				lane := g.DoRecurrence(&Recurrence{
					Body: body, Steps: steps, Carried: []Ref{x}, Next: []Ref{next}, Start: []Ref{start},
					Streams: []Entry{{In: term, Outer: stream, Lane: g.Lane(stream)}}, Captures: []Entry{{In: by, Outer: factor}},
				}, wanted)
				for _, r := range wanted {
					g.Output(g.Unlane(g.Spread(lane(r), steps)))
				}
				scans := slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Op == OpScan })
				if scans == known {
					t.Errorf("a scan: %v, although known: %v", scans, known)
				}
				in := [][]float64{x0, a, s}
				if known {
					in = nil
				}
				out, err := g.Eval(in, &Env{})
				if err != nil {
					t.Fatal(err)
				}
				now := x0[0]
				for i := range steps {
					want := []float64{a[0]*now + s[i], 0, now, s[i], a[0]}
					want[1] = math.Exp(want[0])
					for k, w := range want {
						if math.Abs(out[k][i]-w) > 1e-14*math.Abs(w) {
							t.Errorf("value %d in step %d is %v, want %v", k, i, out[k][i], w)
						}
					}
					now = want[0]
				}
			})
		}
	}
}

// TestSquareTerms checks which squares are terms of an output with a constant negative weight.
func TestSquareTerms(t *testing.T) {
	g := NewGraph()
	x, other := g.Input(Scalar), g.Input(Scalar)
	term := g.Square(x)
	sum := g.Scale(-0.5, term)
	sum = g.Add(sum, g.Square(g.Exp(x)))                       // a positive weight
	sum = g.Sub(sum, g.Square(g.Add(x, other)))                // made from another density
	sum = g.Sub(sum, g.Mul(g.Square(g.Sub(x, g.Const(1))), x)) // a weight that is not constant
	g.Output(sum)
	squares, statements := g.SquareTerms([]Ref{x}, g.MadeFrom([]Ref{other}, nil))
	if !slices.Equal(squares, []Ref{term}) || len(statements) != 1 || statements[0].Args[0] != x {
		t.Fatal("found", squares, statements)
	}
	if w, ok := g.Value(statements[0].Args[1]); !ok || w[0] != 1 {
		t.Error("the weight is", w, "want 1")
	}
	if made := g.MadeFrom([]Ref{x}, squares); made[term] || !made[sum] {
		t.Error("wrong marks for what depends on x only through the square, or also in another way")
	}
}
