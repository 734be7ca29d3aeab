package truth

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/ppl-lang/ppl/infer"
)

// Class says what to expect of a sampler on a target.
type Class string

// The classes.
const (
	OneMode   Class = "one mode"        // a sampler should be right, without a warning
	Reachable Class = "reachable modes" // several modes; climbs from 32 random starts find all of them
	Far       Class = "far modes"       // several modes; climbs from random starts miss some of them
	Improper  Class = "improper"        // no posterior exists, so every answer is wrong
)

// Classes lists the classes.
func Classes() []Class { return []Class{OneMode, Reachable, Far, Improper} }

// Quantity is a function of a draw with a known mean.
type Quantity struct {
	Name  string
	Share bool                      // Of is the indicator of a mode
	Of    func(x []float64) float64 // safe for concurrent use
	Truth float64                   // its mean under the target
	SD    float64                   // its standard deviation under the target
}

// Target is a distribution on the unconstrained scale with known quantities.
type Target struct {
	Name  string
	Class Class

	// Drawn says that the target was drawn at random from a family.
	Drawn bool

	// Density is the log density with its gradient; it is an [infer.Cloner].
	Density infer.LogDensity

	// Sample writes an independent exact draw to x. It is nil for Improper targets.
	Sample func(rng *rand.Rand, x []float64)

	// Marginal is the distribution function of coordinate j at c. It is nil if there is no closed
	// form.
	Marginal func(j int, c float64) float64

	// Normalised says that the density is known to integrate to 1.
	Normalised bool

	quantities func() []Quantity
	integral   *posterior // nil: the quantities are not computed by quadrature
	modes      []Quantity // the indicators of modes; their Truth may be missing
}

// Dim is the number of coordinates.
func (t *Target) Dim() int { return t.Density.Dim() }

// Quantities returns the known quantities; Improper targets have none. They are computed at the
// first call.
func (t *Target) Quantities() []Quantity {
	if t.quantities == nil {
		return nil
	}
	return t.quantities()
}

// All returns the fixed targets and those drawn with a seed.
func All(seed uint64) []*Target { return append(Fixed(), Drawn(seed)...) }

// evaluator computes a log density and its gradient. It may have scratch memory, so it is not
// safe for concurrent use.
type evaluator func(x, grad []float64) float64

// density adapts evaluators to infer.LogDensity.
type density struct {
	dim  int
	make func() evaluator
	at   evaluator
}

var _ infer.Cloner = (*density)(nil)

func newDensity(dim int, make func() evaluator) *density { return &density{dim, make, make()} }

// Dim implements [infer.LogDensity].
func (d *density) Dim() int { return d.dim }

// CloneDensity implements [infer.Cloner].
func (d *density) CloneDensity() infer.LogDensity { return newDensity(d.dim, d.make) }

// LogDensityGrad implements [infer.LogDensity].
func (d *density) LogDensityGrad(x, grad []float64) (float64, error) { return d.at(x, grad), nil }

// target makes a target from a law, with further quantities.
func target(name string, class Class, l law, more ...Quantity) *Target {
	var modes []Quantity
	for _, q := range more {
		if q.Share {
			modes = append(modes, q)
		}
	}
	return &Target{
		Name: name, Class: class, Density: newDensity(l.dim, l.density), Sample: l.draw, Marginal: l.cdf, Normalised: l.normalised, modes: modes,
		quantities: sync.OnceValue(func() []Quantity { return append(l.quantities(), more...) }),
	}
}

// share is the indicator of a set with known probability.
func share(name string, p float64, in func(x []float64) bool) Quantity {
	return Quantity{Name: name, Share: true, Truth: p, SD: math.Sqrt(p * (1 - p)), Of: indicator(in)}
}

func indicator(in func(x []float64) bool) func(x []float64) float64 {
	return func(x []float64) float64 {
		if in(x) {
			return 1
		}
		return 0
	}
}
