package nuts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/internal/short"
)

// metrics returns a diagonal and a dense metric other than the identity.
func metrics(dim int) []infer.Metric {
	diag, dense := hmc.Identity(infer.Diagonal, dim), hmc.Identity(infer.Dense, dim)
	for i := range dim {
		diag.Inverse[i] = 0.5 + float64(i)
		for j := range dim {
			dense.Inverse[i*dim+j] = math.Pow(0.6, math.Abs(float64(i-j))) * math.Sqrt((1+float64(i))*(1+float64(j)))
		}
	}
	low := hmc.Identity(infer.LowRank, dim)
	low.Inverse = append(low.Inverse, 2)
	for i := range dim {
		low.Inverse[i] = 0.8 + 0.2*float64(i)
		low.Inverse = append(low.Inverse, math.Pow(-1, float64(i))/math.Sqrt(float64(dim)))
	}
	return []infer.Metric{diag, dense, low}
}

// TestInvariance starts from exact draws and checks that they stay so, with coarse steps and
// metrics other than the identity.
func TestInvariance(t *testing.T) {
	type trial struct {
		target infertest.Exact
		eps    float64
		kernel Kernel
	}
	for _, c := range short.Every(6, []trial{
		{infertest.NewNormal([]float64{1, -2, 0.5}, [][]float64{{1, 0, 0}, {0.6, 0.9, 0}, {-0.5, 0.3, 1.1}}), 0.95, Kernel{}},
		{infertest.AR1(4, 0.7), 0.55, Kernel{MaxDepth: 2}},
		{infertest.Funnel{D: 3}, 0.5, Kernel{MaxDepth: 5}},
		{infertest.Banana{B: 0.3, Sigma: 1.5}, 1.05, Kernel{}},
		{infertest.StudentT{D: 2, Nu: 4}, 1.4, Kernel{Jitter: 0.5}},
		{infertest.LogGamma{D: 2, Shape: 0.7}, 1.2, Kernel{}},
		{infertest.Bimodal{D: 2, Distance: 4}, 1.2, Kernel{}},
		{infertest.Exponential{D: 2}, 0.3, Kernel{}},
		{infertest.Funnel{D: 3}, 0.4, Kernel{Refine: 0.3}},
		{infertest.Banana{B: 0.3, Sigma: 1.5}, 1.05, Kernel{Refine: 0.2, Jitter: 0.5}},
		{infertest.StudentT{D: 2, Nu: 4}, 1.4, Kernel{Refine: 0.2}},
		{infertest.Banana{B: 3, Sigma: 2}, 0.15, Kernel{Refine: 1}},      // two steps from leaf to leaf
		{infertest.Funnel{D: 3}, 0.24, Kernel{Refine: 1.5, MaxDepth: 8}}, // likewise
	}) {
		for _, m := range metrics(c.target.Dim()) {
			res, err := infertest.Invariance{
				Target: c.target, StepSize: c.eps, Seed: 8, Replicates: 20000,
				Hamiltonian: func(l infer.LogDensity) (infer.Hamiltonian, error) { return hmc.NewEuclidean(l, m) },
				Kernel: func() infer.Kernel {
					return &Kernel{MaxDepth: c.kernel.MaxDepth, Jitter: c.kernel.Jitter, Refine: c.kernel.Refine}
				},
			}.Run()
			if err == nil {
				err = res.Err()
			}
			if err != nil {
				t.Errorf("%s, %s: %v", c.target, m.Kind, err)
			}
			if res.AcceptStat < 0.25 || res.AcceptStat > 0.85 {
				t.Errorf("%s, %s: mean acceptance %.2f is no test of the weights", c.target, m.Kind, res.AcceptStat)
			}
			t.Logf("%s, %s: acceptance %.2f, leapfrogs %.1f, divergent %.3f, moved %.2f", c.target, m.Kind, res.AcceptStat, res.Leapfrogs, res.Divergent, res.Moved)
		}
	}
}

// oneWay is a planted fault: it does not check that the way back is the same.
type oneWay struct {
	trajectory
}

func (o *oneWay) leaf(dst *tree, forward bool) (weight, bool) {
	side, eps := 0, -o.eps
	if forward {
		side, eps = 1, o.eps
	}
	from, n := o.ends[side], o.get()
	n.refs++
	o.ends[side] = n
	for halved := 0; ; halved++ {
		if halved > maxHalvings {
			return weight{}, false
		}
		if o.smooth(&from.Point, &n.Point, eps, halved, false) {
			break
		}
	}
	o.drop(from)
	o.leaves++
	o.plant(dst, n)
	return weightOf(o.energy - n.Energy), true
}

func (o *oneWay) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	o.refine, o.stretch = 0.1, 0
	o.begin(rng, h, eps, DefaultMaxEnergyError, z, DefaultMaxDepth)
	grow[*tree](o, o.root, weightOf(0), rng.Uint64(), DefaultMaxDepth)
	chosen := o.root.chosen
	o.end(chosen)
	return &chosen.Point, infer.Info{}, nil
}

func TestOneWay(t *testing.T) {
	res, err := infertest.Invariance{
		Target: infertest.StudentT{D: 2, Nu: 4}, StepSize: 1.4, Seed: 8, Replicates: 20000,
		Hamiltonian: func(l infer.LogDensity) (infer.Hamiltonian, error) { return hmc.NewEuclidean(l, infer.Metric{}) },
		Kernel:      func() infer.Kernel { return &oneWay{} },
	}.Run()
	if err != nil {
		t.Fatal(err)
	}
	if res.Err() == nil {
		t.Error("a way back that is another is not seen")
	}
	t.Log(res.Err())
}

// start returns the Hamiltonian and the point for a transition.
func start(t *testing.T, target infer.LogDensity, m infer.Metric, x []float64) (*hmc.Euclidean, *infer.Point) {
	t.Helper()
	h, err := hmc.NewEuclidean(target, m)
	if err != nil {
		t.Fatal(err)
	}
	z := infer.NewPoint(target.Dim())
	copy(z.Position, x)
	if err := h.Reset(z); err != nil {
		t.Fatal(err)
	}
	return h, z
}

// TestTrajectoryAgainstDefinition compares the pooled trajectory with the definition, computed from
// a list of all points: depth, number of leaves and acceptance statistic. The chosen point must be
// one of the tree's.
func TestTrajectoryAgainstDefinition(t *testing.T) {
	refined, ended := 0, 0 // refined steps, and trajectories that end because the way back differs
	for _, target := range []infertest.Exact{infertest.AR1(3, 0.9), infertest.Banana{B: 0.3, Sigma: 2}, infertest.Funnel{D: 3}} {
		for _, m := range metrics(target.Dim()) {
			h, z := start(t, target, m, make([]float64, target.Dim()))
			rng := infer.Stream(3, 0, "definition", 0)
			depths := map[int]int{}
			var tr trajectory
			for range 300 {
				const maxDepth = 6
				eps := 0.02 * math.Exp(3*rng.Float64())
				tr.refine, tr.stretch = 0, 0
				if rng.IntN(2) == 0 {
					tr.refine, tr.stretch = 0.02, rng.IntN(3)
				}
				tr.begin(rng, h, eps, 1000, z, maxDepth)
				list := newListed(t, h, &tr, eps)
				directions := rng.Uint64()
				depth := grow[*tree](&tr, tr.root, weightOf(0), directions, maxDepth)
				wantDepth, wantLeaves, wantAccept := list.grow(directions, maxDepth)
				if depth != wantDepth || tr.leaves != wantLeaves || math.Abs(tr.accept-wantAccept) > 1e-9 {
					t.Fatalf("%s: depth %d, %d leaves, acceptance %v; want %d, %d, %v", target, depth, tr.leaves, tr.accept, wantDepth, wantLeaves, wantAccept)
				}
				if !list.has(tr.root.chosen) {
					t.Fatalf("%s: the chosen point is not in the tree", target)
				}
				depths[depth]++
				if list.ended {
					ended++
				}
				refined += len(list.refined)
				z = &tr.root.chosen.Point
				tr.end(tr.root.chosen)
			}
			if len(depths) < 4 {
				t.Errorf("%s: only depths %v were seen", target, depths)
			}
		}
	}
	if refined < 300 || ended < 30 {
		t.Errorf("%d steps were refined, %d trajectories ended for the way back", refined, ended)
	}
}

// listed is a trajectory as a list of points at integer times.
type listed struct {
	t      *testing.T
	h      *hmc.Euclidean
	eps    float64
	lo, hi int // the tree
	points map[int]*infer.Point

	refine     float64
	plainSteps int
	plain      map[int]float64 // by point between refined steps: energy at the end of plain steps
	refined    map[int]bool
	ended      bool // ended somewhere because the way back differs
}

func newListed(t *testing.T, h *hmc.Euclidean, tr *trajectory, eps float64) *listed {
	from := tr.root.left
	l := &listed{t: t, h: h, eps: eps, hi: 1, points: map[int]*infer.Point{0: infer.NewPoint(len(from.Position))},
		refine: tr.refine, plainSteps: 1 << tr.stretch, plain: map[int]float64{}, refined: map[int]bool{}}
	l.points[0].CopyFrom(&from.Point)
	return l
}

// way makes a number of steps of the integrator. It returns the last point and its energy. It stops
// early, and smooth is false, if the energy varies too much.
func (l *listed) way(from *infer.Point, eps float64, steps int) (z *infer.Point, energy float64, smooth bool) {
	z = infer.NewPoint(len(from.Position))
	z.CopyFrom(from)
	energies := []float64{z.Energy}
	for range steps {
		if err := l.h.Step(z, z, eps); err != nil {
			l.t.Fatal(err)
		}
		energies = append(energies, z.Energy)
		if slices.Max(energies)-slices.Min(energies) > l.refine {
			return z, z.Energy, false
		}
	}
	return z, z.Energy, true
}

// halvings returns the number of times that steps from a point must be halved; maxHalvings+1 if
// that many do not suffice.
func (l *listed) halvings(from *infer.Point, eps float64) int {
	for k := range maxHalvings + 1 {
		if _, _, smooth := l.way(from, math.Ldexp(eps, -k), l.plainSteps<<k); smooth {
			return k
		}
	}
	return maxHalvings + 1
}

// next returns the neighbour of a point, or nil.
func (l *listed) next(i int, from *infer.Point, eps float64) *infer.Point {
	_, l.plain[i], _ = l.way(from, eps, l.plainSteps)
	k := l.halvings(from, eps)
	if k > maxHalvings {
		return nil
	}
	z, _, _ := l.way(from, math.Ldexp(eps, -k), l.plainSteps<<k)
	if k > 0 {
		l.refined[i] = true
	}
	if l.halvings(z, -eps) != k {
		l.ended = true
		return nil
	}
	return z
}

func (l *listed) at(i int) *infer.Point {
	if z, seen := l.points[i]; seen {
		return z
	}
	before, eps := i-1, l.eps
	if i < 0 {
		before, eps = i+1, -l.eps
	}
	from := l.at(before)
	if l.refine > 0 {
		l.points[i] = l.next(i, from, eps)
		return l.points[i]
	}
	z := infer.NewPoint(len(from.Position))
	z.CopyFrom(from)
	if err := l.h.Step(z, z, eps); err != nil {
		l.t.Fatal(err)
	}
	l.points[i] = z
	return z
}

// crossed applies the U-turn criterion to the ends a and b, with the momenta from `from` to `to`
// summed.
func (l *listed) crossed(a, b, from, to int) bool {
	rho := make([]float64, len(l.at(0).Momentum))
	for i := from; i < to; i++ {
		for k, p := range l.at(i).Momentum {
			rho[k] += p
		}
	}
	dot := func(i int) (s float64) {
		for k, v := range l.h.Velocity(l.at(i)) {
			s += v * rho[k]
		}
		return s
	}
	return dot(a) <= 0 || dot(b) <= 0
}

func (l *listed) turns(lo, mid, hi int) bool {
	return l.crossed(lo, hi-1, lo, hi) || l.crossed(lo, mid, lo, mid+1) || l.crossed(mid-1, hi-1, mid-1, hi)
}

// block visits the points of [lo, hi) in the order in which they are built; ok is false if it
// diverges or turns.
func (l *listed) block(lo, hi int, forward bool, leaves *int, accept *float64) (ok bool) {
	if hi-lo == 1 {
		*leaves++
		z := l.at(lo)
		if e, refined := l.plain[lo]; refined {
			*accept += min(1, math.Exp(l.at(0).Energy-e))
			return z != nil
		}
		delta := l.at(0).Energy - z.Energy
		*accept += min(1, math.Exp(delta))
		return -delta <= 1000
	}
	mid := (lo + hi) / 2
	halves := [][2]int{{lo, mid}, {mid, hi}}
	if !forward {
		slices.Reverse(halves)
	}
	for _, b := range halves {
		if !l.block(b[0], b[1], forward, leaves, accept) {
			return false
		}
	}
	return !l.turns(lo, mid, hi)
}

func (l *listed) grow(directions uint64, maxDepth int) (depth, leaves int, accept float64) {
	for depth < maxDepth {
		n := l.hi - l.lo
		lo, hi, mid := l.lo, l.hi+n, l.hi
		forward := directions>>depth&1 == 1
		newLo, newHi := l.hi, l.hi+n
		if !forward {
			lo, hi, mid = l.lo-n, l.hi, l.lo
			newLo, newHi = l.lo-n, l.lo
		}
		if !l.block(newLo, newHi, forward, &leaves, &accept) {
			break
		}
		depth++
		l.lo, l.hi = lo, hi
		if l.turns(lo, mid, hi) {
			break
		}
	}
	return depth, leaves, accept
}

func (l *listed) has(n *node) bool {
	for i := l.lo; i < l.hi; i++ {
		if l.at(i) != nil && slices.Equal(l.at(i).Position, n.Position) {
			return true
		}
	}
	return false
}

// TestPool checks that every point is either returned or free (anything else is a leak), and that
// the pool stays small.
func TestPool(t *testing.T) {
	h, z := start(t, infertest.AR1(3, 0.95), infer.Metric{}, []float64{0.1, 0.2, 0.3})
	rng := infer.Stream(4, 0, "pool", 0)
	k := &Kernel{}
	for range 500 {
		position, gradient, logDensity := slices.Clone(z.Position), slices.Clone(z.Gradient), z.LogDensity
		next, _, err := k.Transition(rng, h, 0.02, z)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(position, z.Position) || !slices.Equal(gradient, z.Gradient) || logDensity != z.LogDensity {
			t.Fatal("the state was changed in place")
		}
		z = next
		if len(k.t.free) != len(k.t.nodes)-1 || slices.Contains(k.t.free, k.t.current) {
			t.Fatalf("%d of %d points are free", len(k.t.free), len(k.t.nodes))
		}
	}
	// Three for each level, one for the root, two for the ends, and the previous state.
	if n := len(k.t.nodes); n > 3*DefaultMaxDepth+6 {
		t.Errorf("the pool has grown to %d points", n)
	}
}

func TestTransitionDoesNotAllocate(t *testing.T) {
	for _, m := range append(metrics(5), infer.Metric{Kind: infer.Unit, Dim: 5}) {
		h, z := start(t, infertest.AR1(5, 0.5), m, []float64{1, 2, 3, 4, 5})
		rng := infer.Stream(5, 0, "allocations", 0)
		k := &Kernel{}
		step := func() { z, _, _ = k.Transition(rng, h, 0.1, z) }
		for range 200 {
			step()
		}
		if n := testing.AllocsPerRun(500, step); n != 0 {
			t.Errorf("%s: %v allocations per transition", m.Kind, n)
		}
	}
}

func TestMaxDepth(t *testing.T) {
	h, z := start(t, infertest.AR1(2, 0), infer.Metric{}, []float64{1, 1})
	rng := infer.Stream(6, 0, "depth", 0)
	for depth := 1; depth < 8; depth++ {
		_, info, err := (&Kernel{MaxDepth: depth}).Transition(rng, h, 1e-4, z)
		if err != nil {
			t.Fatal(err)
		}
		if info.TreeDepth != depth || info.Leapfrogs != 1<<depth-1 || info.Divergent {
			t.Errorf("MaxDepth %d: %+v", depth, info.Stats)
		}
		if info.AcceptStat < 0.99 {
			t.Errorf("MaxDepth %d: acceptance %v", depth, info.AcceptStat)
		}
	}
}

func TestDivergence(t *testing.T) {
	h, z := start(t, infertest.LogGamma{D: 1, Shape: 1}, infer.Metric{}, []float64{0})
	rng := infer.Stream(7, 0, "divergence", 0)
	next, info, err := (&Kernel{}).Transition(rng, h, 50, z)
	if err != nil {
		t.Fatal(err)
	}
	if !info.Divergent || info.TreeDepth != 0 || info.Leapfrogs != 1 || info.AcceptStat > 1e-100 {
		t.Errorf("%+v", info.Stats)
	}
	if next.Position[0] != 0 {
		t.Errorf("moved to %v", next.Position)
	}
}

// TestEdge checks that a trajectory ends by a divergence where the density is 0, because there is
// no gradient, even if any error of the energy is allowed.
func TestEdge(t *testing.T) {
	h, z := start(t, infertest.Exponential{D: 1}, infer.Metric{}, []float64{0.1})
	for _, refine := range []float64{0, 1} {
		ended := false
		for seed := range uint64(20) {
			_, info, err := (&Kernel{MaxEnergyError: math.Inf(1), Refine: refine}).Transition(infer.Stream(seed, 0, "edge", 0), h, 0.7, z)
			if err != nil {
				t.Fatal(err)
			}
			ended = ended || info.Divergent
			if info.TreeDepth == DefaultMaxDepth {
				t.Errorf("a trajectory goes on beyond the edge: %+v", info.Stats)
			}
		}
		if !ended {
			t.Error("no trajectory ends at the edge")
		}
	}
}

// iid is a standard normal whose gradient costs next to nothing, so that the benchmark measures the
// sampler itself.
type iid int

func (d iid) Dim() int { return int(d) }
func (iid) LogDensityGrad(x, grad []float64) (float64, error) {
	s := 0.0
	for i, xi := range x {
		grad[i] = -xi
		s += xi * xi
	}
	return -0.5 * s, nil
}

func BenchmarkTransition(b *testing.B) {
	for _, dim := range []int{1, 10, 100, 1000} {
		for _, kind := range []infer.MetricKind{infer.Diagonal, infer.Dense} {
			if kind == infer.Dense && dim > 100 {
				continue
			}
			b.Run(fmt.Sprint(kind, dim), func(b *testing.B) {
				h, err := hmc.NewEuclidean(iid(dim), hmc.Identity(kind, dim))
				if err != nil {
					b.Fatal(err)
				}
				z := infer.NewPoint(dim)
				if err := h.Reset(z); err != nil {
					b.Fatal(err)
				}
				rng := infer.Stream(8, 0, "benchmark", 0)
				k := &Kernel{}
				leapfrogs := 0
				b.ReportAllocs()
				for b.Loop() {
					var info infer.Info
					z, info, _ = k.Transition(rng, h, 0.3, z)
					leapfrogs += info.Leapfrogs
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(leapfrogs), "ns/leapfrog")
			})
		}
	}
}
