package infer

import (
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer/internal/vector"
)

// Recentrer is the optional interface of a [LogDensity] with group-level terms. A sampler can then
// sample these terms in coordinates u between centred and non-centred, instead of the target's own
// x. It sees the density over u; draws, starting points and reports are points x.
type Recentrer interface {
	// Recentring returns the map from u to x, or nil if there are no group-level terms. The map
	// belongs to the caller.
	Recentring() (Recentring, error)
}

// Recentring is a differentiable, one-to-one map of positions. A group-level term θ with location μ
// and scale σ has the coordinate u with
//
//	θ = (Aμ + (S + Gμ)σ²)/D + uσ/√D,  D = A + Bσ².
//
// A, B, S and G are called evidence. With A = 1, u is independent of μ and σ if the data determine
// θ like a normal density with precision B and mean (S + Gμ)/B. A = 1 and the rest 0 is
// non-centred; B = 1 and the rest 0 is centred. Slices of evidence hold A of all terms, then B, S
// and G; A and B are not negative and not both 0. In a sequence of terms, such as a random walk,
// the evidence of a term describes that term alone.
type Recentring = interface {
	Elements() []int    // indices in a position, one for each term
	Written() []float64 // evidence for which u equals x
	// Levels returns the level of each term. The location and scale of a term depend only on terms
	// of lower levels, or on the previous term
	Levels() []int

	// Hold stores a copy of evidence, which the methods below use if their argument evidence is
	// nil.
	Hold(evidence []float64)

	// Forward computes x from u, and returns the log Jacobian of the map.
	Forward(u, evidence, x []float64) (float64, error)
	// Pull computes the gradient in u of gx·x(u) plus the log Jacobian.
	Pull(u, evidence, gx, gu []float64) error
	// Inverse computes u from x.
	Inverse(x, evidence, u []float64) error
	// LogScales writes the logarithms of the scales of the terms at x.
	LogScales(x, dst []float64) error
	// Push is the inverse of Pull: it computes the gradient in x of gu·u(x) minus the log Jacobian.
	Push(x, evidence, gu, gx []float64) error
}

// Centred returns evidence for which each term is centred to the degree λ at scale 1. λ ranges from
// 0, non-centred, to 1, centred.
func Centred(lambda float64, effects int) []float64 {
	return slices.Concat(slices.Repeat([]float64{1 - lambda}, effects), slices.Repeat([]float64{lambda}, effects), make([]float64, 2*effects))
}

// Chart is a target in other coordinates. Until [Chart.Use] is called, these are the coordinates in
// which the model is written.
type Chart struct {
	below    LogDensity
	of       Recentring
	evidence []float64 // nil: the coordinates of the model
	x, gx    []float64

	joint   joint // computes the density in one step; nil: not available
	compare bool  // joint must still be checked in these coordinates
}

// joint is the optional interface of a [Recentring] that knows the target. Joint computes the log
// density of the chart and its gradient in one step, in the coordinates set by Hold. ok is false if
// it cannot.
type joint interface {
	Joint(u, grad []float64) (lp float64, ok bool)
}

// NewChart returns target in other coordinates.
func NewChart(target LogDensity, of Recentring) *Chart {
	d := target.Dim()
	c := &Chart{below: target, of: of, x: make([]float64, d), gx: make([]float64, d)}
	c.joint, _ = of.(joint)
	return c
}

// Recentring returns the map. Do not modify its state.
func (c *Chart) Recentring() Recentring { return c.of }

// Evidence returns the evidence in use, which must not be modified; nil: the coordinates of the
// model.
func (c *Chart) Evidence() []float64 { return c.evidence }

// Use sets the evidence, which is copied; nil: the coordinates of the model.
func (c *Chart) Use(evidence []float64) error {
	if evidence != nil {
		if err := checkEvidence(evidence); err != nil {
			return err
		}
		if n, effects := len(evidence), len(c.of.Elements()); n != 4*effects {
			return fmt.Errorf("there are %d numbers for the coordinates of %d effects, which need four each", n, effects)
		}
	}
	c.set(slices.Clone(evidence))
	return nil
}

// set sets evidence that has been checked.
func (c *Chart) set(evidence []float64) {
	c.evidence = evidence
	if slices.Equal(evidence, c.of.Written()) {
		c.evidence = nil
	}
	if c.evidence != nil {
		c.of.Hold(evidence)
	}
	c.compare = true
}

// checkEvidence returns an error if evidence is invalid whatever the model.
func checkEvidence(evidence []float64) error {
	n := len(evidence) / 4
	for k := range n {
		a, b, s, g := evidence[k], evidence[n+k], evidence[2*n+k], evidence[3*n+k]
		if !(a >= 0 && b >= 0 && a+b > 0) || math.IsInf(a+b, 0) || math.IsNaN(s-s+g-g) {
			return fmt.Errorf("the coordinates of effect %d cannot be for %v, %v, %v and %v: the first two must not be negative nor both 0, and all of them numbers", k+1, a, b, s, g)
		}
	}
	return nil
}

// Unwrap implements [Wrapper].
func (c *Chart) Unwrap() LogDensity { return c.below }

// Dim implements [LogDensity].
func (c *Chart) Dim() int { return c.below.Dim() }

// SetStop implements [Stopper].
func (c *Chart) SetStop(stop func() error) {
	if s, ok := c.below.(Stopper); ok {
		s.SetStop(stop)
	}
}

// SetHasty implements [Hasty].
func (c *Chart) SetHasty(ratio float64) (rejected bool) {
	if h, ok := c.below.(Hasty); ok {
		rejected = h.SetHasty(ratio)
	}
	return rejected
}

// SetWorkers implements [Parallel].
func (c *Chart) SetWorkers(n int) {
	if s, ok := c.below.(Parallel); ok {
		s.SetWorkers(n)
	}
}

// LogDensityGrad implements [LogDensity] at u. The density is zero where the map is not finite.
func (c *Chart) LogDensityGrad(u, grad []float64) (float64, error) {
	if c.evidence == nil {
		return c.below.LogDensityGrad(u, grad)
	}
	if c.joint != nil {
		if lp, ok := c.joint.Joint(u, grad); ok && (!c.compare || c.agrees(u, lp, grad)) {
			return lp, nil
		}
	}
	return c.inSteps(u, grad)
}

// sameJoint is the relative difference up to which the results of Joint and of inSteps count as
// equal.
const sameJoint = 1e-6

// agrees reports whether the result of Joint equals that of inSteps. If not, the chart never calls
// Joint again.
func (c *Chart) agrees(u []float64, lp float64, grad []float64) bool {
	want := make([]float64, len(grad))
	wantLp, err := c.inSteps(u, want)
	if err != nil || math.IsInf(wantLp, 0) || math.IsNaN(wantLp) {
		return false
	}
	norm, apart := 0.0, 0.0
	for i, v := range want {
		norm += v * v
		apart += (v - grad[i]) * (v - grad[i])
	}
	if !(math.Abs(lp-wantLp) <= sameJoint*(math.Abs(wantLp)+float64(len(u))) && apart <= sameJoint*sameJoint*(norm+float64(len(u)))) {
		c.joint = nil
		return false
	}
	c.compare = false
	return true
}

// inSteps computes the log density in separate steps: the map, the target, and the derivative of
// the map.
func (c *Chart) inSteps(u, grad []float64) (float64, error) {
	jacobian, err := c.of.Forward(u, nil, c.x)
	if err != nil || math.IsNaN(jacobian) || math.IsInf(jacobian, 0) || !vector.Finite(c.x) {
		clear(grad)
		return math.Inf(-1), nil
	}
	lp, err := c.below.LogDensityGrad(c.x, c.gx)
	if err != nil || math.IsInf(lp, -1) || math.IsNaN(lp) {
		clear(grad)
		return lp, err
	}
	if err := c.of.Pull(u, nil, c.gx, grad); err != nil {
		return 0, err
	}
	return lp + jacobian, nil
}

// Original computes the target's own position x from u, and returns the log Jacobian.
func (c *Chart) Original(u, x []float64) (float64, error) {
	if c.evidence == nil {
		copy(x, u)
		return 0, nil
	}
	return c.of.Forward(u, nil, x)
}

// Scores computes the target's own position x and its gradient there from u and the gradient gu,
// and returns the log Jacobian.
func (c *Chart) Scores(u, gu, x, gx []float64) (float64, error) {
	if c.evidence == nil {
		copy(x, u)
		copy(gx, gu)
		return 0, nil
	}
	jacobian, err := c.of.Forward(u, nil, x)
	if err != nil {
		return 0, err
	}
	return jacobian, c.of.Push(x, nil, gu, gx)
}

// At is the inverse of Original: it computes u from x.
func (c *Chart) At(x, u []float64) error {
	if c.evidence == nil {
		copy(u, x)
		return nil
	}
	return c.of.Inverse(x, nil, u)
}

// chartOf returns the Chart of a target with group-level terms, and nil for other targets.
func chartOf(target LogDensity) (*Chart, error) {
	t, ok := target.(Recentrer)
	if !ok {
		return nil, nil
	}
	of, err := t.Recentring()
	if err != nil || of == nil {
		return nil, err
	}
	return NewChart(target, of), nil
}

// Recentre changes the coordinates of the chain, which keeps its position. It returns false and
// changes nothing if the new coordinates do not exist at this position, or if the target has no
// group-level terms.
func (s *State) Recentre(evidence []float64) (bool, error) {
	c := s.Chart
	if c == nil {
		return false, nil
	}
	d := c.Dim()
	x, u := make([]float64, d), make([]float64, d)
	if _, err := c.Original(s.Point.Position, x); err != nil {
		return false, nil
	}
	before, from := c.evidence, slices.Clone(s.Point.Position)
	back := func() (bool, error) {
		c.set(before)
		copy(s.Point.Position, from)
		return false, s.Hamiltonian.Reset(s.Point)
	}
	if err := c.Use(evidence); err != nil {
		return false, err
	}
	if err := c.At(x, u); err != nil {
		return back()
	}
	copy(s.Point.Position, u)
	if err := s.Hamiltonian.Reset(s.Point); err != nil {
		return false, err
	}
	if math.IsInf(s.Point.LogDensity, -1) {
		return back()
	}
	return true, nil
}
