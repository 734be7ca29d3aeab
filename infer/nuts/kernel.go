package nuts

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/internal/vector"
)

// Defaults of [Kernel].
const (
	DefaultMaxDepth       = 10
	DefaultMaxEnergyError = 1000
)

// Kernel is the NUTS transition, over any [infer.Hamiltonian]. AcceptStat is the mean of min(1,
// exp(H₀ - H)) over all points of the tree, including those of a discarded doubling. Where steps
// were refined, H is the energy at the end of the unrefined steps. With Refine, a tree has fewer
// than 2^TreeDepth points, which is the number of unrefined steps.
//
// The exported fields may be changed between transitions.
type Kernel struct {
	MaxDepth int // maximum number of doublings; 0: DefaultMaxDepth
	// energy error above which a leaf is a divergence, as is a leaf with density 0; 0:
	// DefaultMaxEnergyError
	MaxEnergyError float64
	Jitter         float64 // the step size is multiplied by a uniform number between 1-Jitter and 1+Jitter; in [0, 1]
	// maximum variation of the energy within a step; other steps are divided into smaller ones
	// (refine.go); 0: steps are never divided
	Refine float64

	t trajectory
}

var _ infer.Kernel = (*Kernel)(nil)

// Transition implements [infer.Kernel].
func (k *Kernel) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (_ *infer.Point, info infer.Info, _ error) {
	depth, limit := k.MaxDepth, k.MaxEnergyError
	if depth == 0 {
		depth = DefaultMaxDepth
	}
	if limit == 0 {
		limit = DefaultMaxEnergyError
	}
	if k.Jitter > 0 {
		eps *= 1 + k.Jitter*(2*rng.Float64()-1)
	}
	t := &k.t
	t.refine, t.stretch = k.Refine, 0
	if k.Refine > 0 {
		t.stretch = stretch(eps, depth)
	}
	t.begin(rng, h, eps, limit, z, depth)
	depth = t.stretch + grow[*tree](t, t.root, weightOf(0), rng.Uint64(), depth-t.stretch)

	chosen := t.root.chosen
	info.AcceptStat = t.accept / float64(t.leaves)
	info.StepSize = eps
	info.TreeDepth = depth
	info.Leapfrogs = t.steps
	info.Divergent = t.divergent
	info.Energy = chosen.Energy
	if t.err != nil {
		t.end(nil)
		return z, info, t.err
	}
	t.end(chosen)
	return &chosen.Point, info, nil
}

// Refined returns the number of paths between leaves that consist of smaller steps, and the number
// of all paths, over all transitions so far. Both are 0 without Refine.
func (k *Kernel) Refined() (finer, all int64) { return k.t.finer, k.t.ways }

// node is a point in the pool, with the number of references to it.
type node struct {
	infer.Point
	velocity []float64 // velocity at the point; may share memory with it; nil: see trajectory.scale
	refs     int
	place    int // index in the pool
}

// tree is the tree type T of the space: a run of consecutive points of a trajectory.
type tree struct {
	left, right *node     // its first and last point in time
	chosen      *node     // the point chosen from the tree
	rho         []float64 // for a single point its momentum, otherwise sum, as package vector uses it
	sum         []float64 // memory for the sum of momenta; empty if the U-turn criterion does not need it
	size        int       // number of points
}

// trajectory is the phase space of one transition, and the pool of its points.
type trajectory struct {
	rng   *rand.Rand
	h     infer.Hamiltonian
	on    infer.Continuing // h, if it can continue steps; or nil
	eps   float64
	limit float64

	energy float64  // H₀, the energy at the start
	ends   [2]*node // the last points of the whole trajectory, backward and forward
	root   *tree
	levels []*tree // scratch trees, by level

	leaves    int
	steps     int     // number of integrator steps
	accept    float64 // sum of the acceptance probabilities of all leaves
	divergent bool
	err       error // a final error; it ends the trajectory like a divergence

	refine  float64 // see Kernel.Refine
	stretch int     // the path between two leaves has 2^stretch unrefined steps
	back    *infer.Point
	finer   int64 // see Kernel.Refined
	ways    int64

	dim     int
	plain   bool      // sums of momenta and velocities are not needed
	scale   []float64 // factors of velocities, see infer.Scaled
	scaled  bool      // velocities are momenta times scale
	nodes   []*node   // the pool; between transitions, all nodes but the first are free
	free    []*node   // nodes without references
	current *node     // the result of the last transition; it is not free, since the caller may still use it
}

var _ space[*tree] = (*trajectory)(nil)

// begin prepares a transition from z: it draws a momentum and makes the tree of one point.
func (t *trajectory) begin(rng *rand.Rand, h infer.Hamiltonian, eps, limit float64, z *infer.Point, depth int) {
	dim := len(z.Position)
	if t.root == nil || t.dim != dim {
		*t = trajectory{dim: dim, plain: t.plain, refine: t.refine, stretch: t.stretch}
		t.root = t.newTree()
	}
	for len(t.levels) < depth {
		t.levels = append(t.levels, t.newTree())
	}
	t.rng, t.h, t.eps, t.limit = rng, h, eps, limit
	t.on, _ = h.(infer.Continuing)
	t.scale, t.scaled = nil, false
	if s, ok := h.(infer.Scaled); ok {
		t.scale, t.scaled = s.VelocityScale()
	}
	t.leaves, t.steps, t.accept, t.divergent, t.err = 0, 0, 0, false, nil

	start := t.current
	if start == nil || z != &start.Point { // z is a point of the caller
		start = t.get()
		start.CopyFrom(z)
	}
	h.Momentum(rng, &start.Point)
	t.energy = start.Energy
	t.ends = [2]*node{start, start}
	start.refs = 3 // one extra reference, so that the node outlives the transition and the caller can compare it with the result
	t.plant(t.root, start)
}

// end returns all points except the chosen one to the pool.
func (t *trajectory) end(chosen *node) {
	t.ends = [2]*node{}
	if chosen != nil {
		t.current = chosen
	}
	kept := 0
	if n := t.current; n != nil {
		first := t.nodes[0]
		t.nodes[0], t.nodes[n.place] = n, first
		n.place, first.place = 0, n.place
		kept = 1
	}
	t.free = append(t.free[:0], t.nodes[kept:]...)
	t.rng, t.h, t.on, t.scale = nil, nil, nil, nil
}

func (t *trajectory) newTree() *tree {
	if t.plain {
		return &tree{}
	}
	return &tree{sum: make([]float64, t.dim)}
}

// plant makes a tree that consists of the point n.
func (t *trajectory) plant(a *tree, n *node) {
	n.velocity = nil
	if !t.plain && !t.scaled {
		n.velocity = t.h.Velocity(&n.Point)
	}
	a.left, a.right, a.chosen = n, n, n
	n.refs += 3
	a.rho, a.size = n.Momentum, 1
}

func (t *trajectory) get() *node {
	if k := len(t.free); k > 0 {
		n := t.free[k-1]
		t.free = t.free[:k-1]
		n.refs = 0
		return n
	}
	n := &node{Point: *infer.NewPoint(t.dim), place: len(t.nodes)}
	t.nodes = append(t.nodes, n)
	t.free = slices.Grow(t.free, len(t.nodes))
	return n
}

func (t *trajectory) drop(n *node) {
	n.refs--
	if n.refs == 0 {
		t.free = append(t.free, n)
	}
}

// leaf implements space.
func (t *trajectory) leaf(dst *tree, forward bool) (w weight, ok bool) {
	side, eps := 0, -t.eps
	if forward {
		side, eps = 1, t.eps
	}
	from, n := t.ends[side], t.get()
	n.refs++
	t.ends[side] = n
	linked := true
	last := (t.leaves+1)&(t.leaves+2) == 0 // of a doubling, unless that ends early
	if t.refine > 0 {
		linked = t.smooth(&from.Point, &n.Point, eps, 0, !last)
		t.ways++
	} else {
		t.err = t.step(&from.Point, &n.Point, eps, !last)
	}
	if t.err != nil {
		return weight{}, false
	}
	t.leaves++
	delta := t.energy - n.Energy
	w = weightOf(delta)
	switch {
	case delta >= 0:
		t.accept++
	case w.shift == 0: // otherwise the probability is less than exp(-600)
		t.accept += w.value
	}
	if !linked {
		t.finer++
		if linked = t.fine(&from.Point, &n.Point, eps); !linked {
			return weight{}, false
		}
		delta = t.energy - n.Energy
		w = weightOf(delta)
	}
	t.drop(from)
	if -delta > t.limit || math.IsInf(n.Energy, 1) { // where the density is 0, there is no gradient to continue with
		t.divergent = true
		return w, false
	}
	t.plant(dst, n)
	return w, true
}

// step makes one step from a point, and writes the result to z, which may be the same point. more
// says that the next step probably continues this one.
func (t *trajectory) step(from, z *infer.Point, eps float64, more bool) error {
	t.steps++
	if t.on != nil {
		return t.on.StepOn(from, z, eps, more)
	}
	return t.h.Step(from, z, eps)
}

// choose implements space.
func (t *trajectory) choose(dst, src *tree, prob float64) {
	if t.rng.Float64() < prob {
		dst.chosen, src.chosen = src.chosen, dst.chosen
	}
}

// join implements space by the generalised criterion, see [vector.Turns].
func (t *trajectory) join(dst, other *tree, after bool) (turning bool) {
	left, right := dst, other
	if !after {
		left, right = other, dst
	}
	a, b := left.end(), right.end()
	if t.scaled {
		turning = vector.Turns(&a, &b, t.scale, dst.sum)
	} else {
		turning = vector.TurnsBetween(&a, &b, dst.sum)
	}
	dst.rho = dst.sum
	t.attach(dst, other, after)
	return turning
}

// end returns what the U-turn criterion needs to know about a tree.
func (a *tree) end() vector.End {
	return vector.End{
		First: a.left.Momentum, FirstVelocity: a.left.velocity,
		Last: a.right.Momentum, LastVelocity: a.right.velocity,
		Sum: a.rho, Points: a.size,
	}
}

// attach makes dst the union of dst and other.
func (t *trajectory) attach(dst, other *tree, after bool) {
	if after {
		t.drop(dst.right)
		t.drop(other.left)
		dst.right = other.right
	} else {
		t.drop(dst.left)
		t.drop(other.right)
		dst.left = other.left
	}
	t.drop(other.chosen)
	dst.size += other.size
	other.left, other.right, other.chosen = nil, nil, nil
}

// scratch implements space.
func (t *trajectory) scratch(level int) *tree { return t.levels[level] }
