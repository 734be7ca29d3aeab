package whiten_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// sample draws n points of a target with their scores. spread multiplies the distances from zero;
// if it is not 1, the points are no draws of the target.
func sample(t *testing.T, target infertest.Exact, n int, spread float64) (s whiten.Sample) {
	t.Helper()
	rng := infer.Stream(5, n, "whiten", 0)
	for range n {
		x, g := make([]float64, target.Dim()), make([]float64, target.Dim())
		target.Sample(rng, x)
		for i := range x {
			x[i] *= spread
		}
		if _, err := target.LogDensityGrad(x, g); err != nil {
			t.Fatal(err)
		}
		s.Draws, s.Scores = append(s.Draws, x), append(s.Scores, g)
	}
	return s
}

// TestNormalIsExact checks that the covariance of a normal target is found from points that span
// the space, whatever their distribution, for every way in which an estimate is computed.
func TestNormalIsExact(t *testing.T) {
	for _, c := range []struct{ d, n int }{{3, 4}, {10, 12}, {10, 40}, {60, 29}, {60, 62}} {
		target := infertest.AR1(c.d, 0.8)
		s := sample(t, target, c.n, 3)
		for _, kind := range []infer.MetricKind{infer.Dense, infer.LowRank} {
			m, err := whiten.Fit(kind, s, whiten.Options{Shrink: 1e-9, Cutoff: 1 + 1e-9, Rank: c.d})
			if err != nil {
				t.Fatal(err)
			}
			got := whiten.Divergence(m, s.Draws, s.Scores)
			if held := sample(t, target, 50, 1); c.n > c.d {
				got = max(got, whiten.Divergence(m, held.Draws, held.Scores))
			}
			limit := 1e-6
			if c.n < c.d { // directions that the points do not span are shrunk
				limit = 1e-3
			}
			if !(got < limit) {
				t.Errorf("%d points in %d dimensions, %s: divergence %g", c.n, c.d, kind, got)
			}
		}
	}
}

// TestDiagonalIsExact checks that a diagonal normal is found exactly from two points.
func TestDiagonalIsExact(t *testing.T) {
	target := infertest.NewNormal([]float64{5, -3}, [][]float64{{1e-3, 0}, {0, 200}})
	s := sample(t, target, 3, 1)
	m, err := whiten.Fit(infer.Diagonal, s, whiten.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(m.Inverse[0]/1e-6-1) > 1e-9 || math.Abs(m.Inverse[1]/4e4-1) > 1e-9 || math.Abs(m.Mean[0]-5) > 1e-9 || math.Abs(m.Mean[1]+3) > 1e-9 {
		t.Errorf("%+v", m)
	}
}

// TestGroupsAndDivergence checks that chains far apart do not widen the estimate, and that the
// held-out divergence prefers the correct metric.
func TestGroupsAndDivergence(t *testing.T) {
	target := infertest.AR1(6, 0.9)
	s := sample(t, target, 80, 1)
	held := sample(t, target, 81, 1)
	diagonal, err := whiten.Fit(infer.Diagonal, s, whiten.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dense, err := whiten.Fit(infer.Dense, s, whiten.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := whiten.Divergence(diagonal, held.Draws, held.Scores), whiten.Divergence(dense, held.Draws, held.Scores)
	if !(b < 0.01 && a > 0.1) {
		t.Errorf("divergence of the diagonal %v, of the dense metric %v", a, b)
	}
	for i := range s.Draws[:40] {
		s.Draws[i] = append([]float64(nil), s.Draws[i]...)
		for j := range s.Draws[i] {
			s.Draws[i][j] += 1000
		}
	}
	s.Groups = []int{40, 40}
	apart, err := whiten.Fit(infer.Diagonal, s, whiten.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range apart.Inverse {
		if math.Abs(math.Log(v/diagonal.Inverse[i])) > 0.5 {
			t.Errorf("coordinate %d: %v, but %v for chains that are together", i, v, diagonal.Inverse[i])
		}
	}
}

// TestMap checks that Inverse undoes Forward, and that scores are transformed accordingly.
func TestMap(t *testing.T) {
	target := infertest.AR1(5, 0.7)
	s := sample(t, target, 30, 1)
	for _, kind := range []infer.MetricKind{infer.Diagonal, infer.LowRank, infer.Dense} {
		m, err := whiten.Fit(kind, s, whiten.Options{Cutoff: 1.1})
		if err != nil {
			t.Fatal(err)
		}
		to, err := whiten.NewMap(m)
		if err != nil {
			t.Fatal(err)
		}
		y, w, x := make([]float64, 5), make([]float64, 5), make([]float64, 5)
		to.Whiten(s.Draws[0], s.Scores[0], y, w)
		to.Forward(y, x)
		slope, along := 0.0, 0.0
		for i := range x {
			if math.Abs(x[i]-s.Draws[0][i]) > 1e-10 {
				t.Errorf("%s: coordinate %d comes back as %v, not %v", kind, i, x[i], s.Draws[0][i])
			}
			along += w[i] * 0.01 * float64(i+1)
			y[i] += 0.01 * float64(i+1)
		}
		to.Forward(y, x)
		for i := range x {
			slope += s.Scores[0][i] * (x[i] - s.Draws[0][i])
		}
		if math.Abs(slope-along) > 1e-9 {
			t.Errorf("%s: the score along a direction is %v, but %v in the other coordinates", kind, slope, along)
		}
	}
}

func TestBadSamples(t *testing.T) {
	for name, s := range map[string]whiten.Sample{
		"one draw":   {Draws: [][]float64{{1}}, Scores: [][]float64{{1}}},
		"NaN":        {Draws: [][]float64{{1}, {math.NaN()}}, Scores: [][]float64{{1}, {2}}},
		"overflow":   {Draws: [][]float64{{1e200}, {-1e200}}, Scores: [][]float64{{1}, {2}}},
		"infinities": {Draws: [][]float64{{1}, {2}}, Scores: [][]float64{{1}, {math.Inf(1)}}},
	} {
		for _, kind := range []infer.MetricKind{infer.Diagonal, infer.LowRank, infer.Dense} {
			if m, err := whiten.Fit(kind, s, whiten.Options{}); err == nil {
				t.Errorf("%s, %s: %v", name, kind, fmt.Sprint(m))
			}
		}
	}
	// A coordinate that does not change, or in which the density is flat, is not an error.
	s := whiten.Sample{Draws: [][]float64{{1, 2, 3}, {1, 4, 3}, {1, 5, 3}}, Scores: [][]float64{{1, 0, 0}, {2, 0, 0}, {4, 0, 0}}}
	for _, kind := range []infer.MetricKind{infer.Diagonal, infer.LowRank, infer.Dense} {
		if m, err := whiten.Fit(kind, s, whiten.Options{}); err != nil || m.Check() != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestCost checks that LowRank keeps as many eigenvalues as shorten trajectories by more than they
// cost: all that differ if they cost nothing, the extreme ones if they are cheap, and none if they
// are expensive.
func TestCost(t *testing.T) {
	const d = 40
	root := make([][]float64, d)
	for i := range root {
		root[i] = make([]float64, d)
		root[i][i] = 1
	}
	// Pairs of coordinates with correlations: two strong ones and six weak ones.
	for k, rho := range []float64{0.999, 0.99, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6} {
		root[2*k+1][2*k], root[2*k+1][2*k+1] = rho, math.Sqrt(1-rho*rho)
	}
	s := sample(t, infertest.NewNormal(make([]float64, d), root), 300, 1)
	kept := func(cost float64) int {
		m, err := whiten.Fit(infer.LowRank, s, whiten.Options{Shrink: 1e-9, Cutoff: 1.3, Rank: d, Cost: cost})
		if err != nil {
			t.Fatal(err)
		}
		return (len(m.Inverse) - d) / (d + 1)
	}
	for _, c := range []struct {
		cost float64
		want int
	}{{0, 16}, {1e-9, 16}, {0.2, 4}, {1e6, 0}} {
		if got := kept(c.cost); got != c.want {
			t.Errorf("with a cost of %v, %d eigenvalues are kept instead of %d", c.cost, got, c.want)
		}
	}
}

// TestThinned checks that a metric of low rank from many differences is the same whether or not the
// differences that do not matter to it are copied, on both sides of the thresholds.
func TestThinned(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {2, 1}, {79, 200}, {80, 161}, {81, 160}, {81, 161}, {200, 161}, {200, 400}} {
		n, d := size[0], size[1]
		s := whiten.Sample{Plain: true}
		for range n {
			x, g := make([]float64, d), make([]float64, d)
			for j := range x {
				x[j], g[j] = rng.NormFloat64(), rng.NormFloat64()*float64(1+j)
			}
			s.Draws, s.Scores = append(s.Draws, x), append(s.Scores, g)
		}
		o := whiten.Options{Shrink: 1e-10, Cutoff: 1.01, Rank: d}
		got, err := whiten.Fit(infer.LowRank, s, o)
		if err != nil {
			t.Fatal(err)
		}
		var whole whiten.Fitter
		whole.Use(s)
		want, err := whole.Fit(infer.LowRank, o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Inverse, want.Inverse) {
			t.Errorf("%d differences in %d dimensions give another metric", n, d)
		}
	}
}
