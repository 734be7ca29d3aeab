package tempered

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// Kernel is the ladder of replicas of one chain. A transition is a scan: every replica is explored
// at its level, and then neighbours are swapped, even and odd pairs in alternating transitions. The
// state of the chain is the replica at the target.
//
// The levels form a row: the fitted reference, levels between it and the target, the target and, if
// there is a broad reference, levels from the target to the broad reference.
type Kernel struct {
	options Sampler
	target  *infer.Meter
	nuts    nuts.Kernel

	fitted, broad *Mixture // broad is nil if there is only one leg
	levels        []*level
	cold          int        // index of the target among the levels
	replicas      []*replica // by level
	odd           bool       // the next swaps are those of odd pairs

	scans    int // number of scans since counting began
	account  []pair
	restarts [2]int // number of replicas that came to the target from the fitted and from the broad reference
	evidence evidence

	learning *learning // draws kept in warm-up; nil: nothing is adapted
	patience int       // see the constant patience
	found    bool      // the last round found modes
	searched int64     // number of gradients used by searches between rounds
	warmup   int       // number of transitions of warm-up, which determines how long the search before it may take

	out   [2]*infer.Point // points that transitions return
	flip  int
	ratio []float64 // work space: log π - log r of the replicas, by level
	work  *infer.Point
}

var (
	_ infer.Kernel    = (*Kernel)(nil)
	_ infer.Resumable = (*Kernel)(nil)
	_ infer.Describer = (*Kernel)(nil)
	_ infer.Tabler    = (*Kernel)(nil)
	_ infer.Witness   = (*Kernel)(nil)
)

// level is a density of the ladder, with the kernel that explores it.
type level struct {
	reference *Mixture
	beta      float64
	h         *hamiltonian
	step      float64
	averaging *warmup.DualAveraging

	accept    float64 // sum of acceptance statistics since counting began
	leapfrogs int
}

// pair counts the swaps between a level and the next one.
type pair struct {
	rejected float64 // sum of the probabilities that a swap would be rejected
}

// replica is a state that moves between levels.
type replica struct {
	point *infer.Point
	from  origin // the last reference that it has visited since it was at the target
}

type origin int

const (
	fromTarget origin = iota
	fromFitted
	fromBroad
)

func newKernel(o Sampler, target *infer.Meter) *Kernel {
	o = o.withDefaults()
	k := &Kernel{options: o, target: target, nuts: nuts.Kernel{MaxDepth: o.MaxDepth, Refine: o.refine(), MaxEnergyError: o.MaxEnergyError}}
	d := target.Dim()
	k.out = [2]*infer.Point{infer.NewPoint(d), infer.NewPoint(d)}
	k.work = newPoint(d)
	return k
}

// ready reports whether the ladder exists.
func (k *Kernel) ready() bool { return len(k.levels) > 0 }

// Transition implements [infer.Kernel]. It ignores the Hamiltonian and the step size, because each
// level has its own. Stats are those of the transition at the target, except that Leapfrogs counts
// the steps of all levels.
func (k *Kernel) Transition(rng *rand.Rand, _ infer.Hamiltonian, _ float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	var info infer.Info
	if !k.ready() {
		if err := k.improvise(rng, z.Position); err != nil {
			return z, info, err
		}
	}
	if err := k.moveTo(z); err != nil {
		return z, info, err
	}
	for i := range k.levels {
		one, err := k.explore(rng, i)
		if err != nil {
			return z, info, err
		}
		leapfrogs := info.Leapfrogs + one.Leapfrogs
		if i == k.cold {
			info.Stats = one.Stats
		}
		info.Leapfrogs = leapfrogs
	}
	k.learn()
	k.swap(rng)
	info.Restarts = k.restarts[0] + k.restarts[1]
	k.flip ^= 1
	next := k.out[k.flip]
	k.show(next)
	return next, info, nil
}

// show copies the state at the target to z, a point of another Hamiltonian.
func (k *Kernel) show(z *infer.Point) {
	from := k.replicas[k.cold].point
	log, score := ofTarget(from)
	copy(z.Position, from.Position)
	copy(z.Momentum, from.Momentum)
	copy(z.Gradient, score)
	z.LogDensity, z.Energy = log, math.Inf(1)
	z.Cache = append(z.Cache[:0], from.Cache[:len(z.Position)]...)
}

// moveTo moves the replica at the target to z, if other code has moved the chain there.
func (k *Kernel) moveTo(z *infer.Point) error {
	at := k.replicas[k.cold].point
	if slices.Equal(at.Position, z.Position) {
		return nil
	}
	copy(at.Position, z.Position)
	return k.levels[k.cold].h.Reset(at)
}

// explore makes a transition at a level, or at a reference an exact draw.
func (k *Kernel) explore(rng *rand.Rand, i int) (info infer.Info, err error) {
	l, r := k.levels[i], k.replicas[i]
	if l.beta == 0 {
		z := r.point
		l.reference.Sample(rng, z.Position)
		return info, l.h.Reset(z)
	}
	for range k.options.Refreshes {
		z, one, err := k.nuts.Transition(rng, l.h, l.step, r.point)
		if err != nil {
			return info, err
		}
		r.point.CopyFrom(z)
		l.accept += one.AcceptStat / float64(k.options.Refreshes)
		l.leapfrogs += one.Leapfrogs
		if l.averaging != nil {
			l.step = l.averaging.Update(one.AcceptStat)
		}
		one.Leapfrogs += info.Leapfrogs
		one.Divergent = one.Divergent || info.Divergent
		info = one
	}
	return info, nil
}

// swap proposes to swap the replicas of every other pair of neighbours. It counts the rejections of
// all pairs, and restarts: arrivals at the target of replicas from a reference.
func (k *Kernel) swap(rng *rand.Rand) {
	n := len(k.levels)
	k.ratio = k.ratio[:0]
	for i, r := range k.replicas {
		l := k.levels[i]
		log, _ := ofTarget(r.point)
		k.ratio = append(k.ratio, log-l.reference.Log(r.point.Position))
	}
	before := k.replicas[k.cold]
	k.scans++
	k.evidence.begin()
	for i := range n - 1 {
		a, b := k.neighbours(i)
		step := k.levels[b].beta - k.levels[a].beta // the difference between the two values of β
		ra, rb := k.ratio[a], k.ratio[b]
		if b == k.cold && i >= k.cold { // as a level of the broad leg, the target has another reference
			log, _ := ofTarget(k.replicas[b].point)
			rb = log - k.levels[a].reference.Log(k.replicas[b].point.Position)
		}
		// log ratio of the densities after the swap to those before it
		accept := 0.0
		if !math.IsInf(ra, -1) {
			accept = math.Exp(min(0, step*(ra-rb)))
		}
		if math.IsNaN(accept) { // at both points, all reference densities are 0
			accept = 0
		}
		k.account[i].rejected += 1 - accept
		k.evidence.add(i, step, ra, rb)
		if (i%2 == 1) != k.odd {
			continue
		}
		if rng.Float64() < accept {
			k.replicas[a], k.replicas[b] = k.replicas[b], k.replicas[a]
			k.levels[a].h.enter(k.replicas[a].point)
			k.levels[b].h.enter(k.replicas[b].point)
		}
	}
	k.odd = !k.odd
	k.evidence.end()
	if k.broad != nil {
		k.replicas[n-1].from = fromBroad
	}
	if k.cold > 0 {
		k.replicas[0].from = fromFitted
	}
	if r := k.replicas[k.cold]; r != before && r.from != fromTarget {
		k.restarts[r.from-fromFitted]++
	}
	k.replicas[k.cold].from = fromTarget
}

// neighbours returns the indices of the levels of pair i. The first is the one nearer to the
// reference of the pair's leg.
func (k *Kernel) neighbours(i int) (hot, cold int) {
	if i < k.cold {
		return i, i + 1
	}
	return i + 1, i
}

// leg returns the leg of pair i: 0 for the fitted one, 1 for the broad one.
func (k *Kernel) leg(i int) int {
	if i < k.cold {
		return 0
	}
	return 1
}

// reset sets all counts to 0.
func (k *Kernel) reset() {
	k.scans, k.restarts = 0, [2]int{}
	k.account = make([]pair, len(k.levels)-1)
	k.evidence = newEvidence(len(k.levels) - 1)
	for _, l := range k.levels {
		l.accept, l.leapfrogs = 0, 0
	}
	for _, r := range k.replicas {
		r.from = fromTarget
	}
}

// rejections returns, for each pair of neighbours, the mean probability that a swap is rejected.
func (k *Kernel) rejections() []float64 {
	out := make([]float64, len(k.account))
	for i, p := range k.account {
		out[i] = p.rejected / float64(max(1, k.scans))
	}
	return out
}

// rung describes a level of a new ladder: its position on a leg, its metric and step size.
type rung struct {
	beta   float64
	metric infer.Metric
	step   float64
}

// build makes the ladder. up has the rungs of the fitted leg, from its reference to the target,
// which is the last. down has the rungs of the broad leg, from the target on.
func (k *Kernel) build(up, down []rung) error {
	var levels []*level
	add := func(reference *Mixture, r rung) error {
		h, err := newHamiltonian(k.target, reference, r.beta, r.metric)
		if err != nil {
			return err
		}
		levels = append(levels, &level{reference: reference, beta: r.beta, h: h, step: r.step})
		return nil
	}
	for _, r := range up {
		if err := add(k.fitted, r); err != nil {
			return err
		}
	}
	for _, r := range down {
		if err := add(k.broad, r); err != nil {
			return err
		}
	}
	k.levels, k.cold = levels, len(up)-1
	return nil
}

// improvise makes a ladder for runs without warm-up: a reference with unit variances around the
// chain's position, and a few levels.
func (k *Kernel) improvise(rng *rand.Rand, x []float64) error {
	d := len(x)
	m := hmc.Identity(infer.Diagonal, d)
	m.Mean = slices.Clone(x)
	return k.begin(rng, Start{Modes: []Component{{Weight: 1, Normal: m}}, At: x})
}
