package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Recentrer is the optional interface of a [LogDensity] with effects that can be sampled
// in other coordinates u than its own x, which a number between 0 and 1 selects for each:
// 1 is centred, 0 non-centred. Samplers that use it see the density over u; draws,
// starting points and reports are points x.
type Recentrer interface {
	// Recentring returns the map; a nil one: there are no such effects. It belongs to
	// the caller.
	Recentring() (Recentring, error)
}

// Recentring is a map of positions, differentiable and one to one for all λ.
type Recentring = interface {
	Elements() []int    // of a position, one for each number of λ
	Written() []float64 // the λ at which u is x
	Chained() []bool    // effects that follow each other, as the states of a time series

	// Forward writes x(u) and returns the log Jacobian of the map.
	Forward(u, lambda, x []float64) (float64, error)
	// Pull writes the gradient by u of gx·x(u) plus the log Jacobian.
	Pull(u, lambda, gx, gu []float64) error
	// Inverse writes u(x).
	Inverse(x, lambda, u []float64) error
	// LogScales writes the logarithms of the scales of the effects at x.
	LogScales(x, dst []float64) error
	// Push writes the gradient by x of gu·u(x) less the log Jacobian: the inverse of
	// Pull.
	Push(x, lambda, gu, gx []float64) error
}

// Chart is a target in other coordinates, as written until [Chart.Use].
type Chart struct {
	below  LogDensity
	of     Recentring
	lambda []float64 // nil: as written
	x, gx  []float64
}

// NewChart returns target in other coordinates.
func NewChart(target LogDensity, of Recentring) *Chart {
	d := target.Dim()
	return &Chart{below: target, of: of, x: make([]float64, d), gx: make([]float64, d)}
}

// Of is the map.
func (c *Chart) Of() Recentring { return c.of }

// Lambda is what is in use; nil: as written. It is not to be changed.
func (c *Chart) Lambda() []float64 { return c.lambda }

// Use makes λ the one in use; nil: as written. It is copied.
func (c *Chart) Use(lambda []float64) error {
	if lambda != nil && len(lambda) != len(c.of.Elements()) {
		return fmt.Errorf("there are %d numbers for the coordinates of %d effects", len(lambda), len(c.of.Elements()))
	}
	if slices.ContainsFunc(lambda, func(v float64) bool { return !(v >= 0 && v <= 1) }) {
		return errors.New("the numbers for the coordinates of effects must be between 0 and 1")
	}
	c.lambda = slices.Clone(lambda)
	if slices.Equal(lambda, c.of.Written()) {
		c.lambda = nil
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

// SetWorkers implements [Sharer].
func (c *Chart) SetWorkers(n int) {
	if s, ok := c.below.(Sharer); ok {
		s.SetWorkers(n)
	}
}

// LogDensityGrad implements [LogDensity] at u. Where the map is not finite the density
// is zero.
func (c *Chart) LogDensityGrad(u, grad []float64) (float64, error) {
	if c.lambda == nil {
		return c.below.LogDensityGrad(u, grad)
	}
	jacobian, err := c.of.Forward(u, c.lambda, c.x)
	if err != nil || math.IsNaN(jacobian) || math.IsInf(jacobian, 0) || slices.ContainsFunc(c.x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		clear(grad)
		return math.Inf(-1), nil
	}
	lp, err := c.below.LogDensityGrad(c.x, c.gx)
	if err != nil || math.IsInf(lp, -1) || math.IsNaN(lp) {
		clear(grad)
		return lp, err
	}
	if err := c.of.Pull(u, c.lambda, c.gx, grad); err != nil {
		return 0, err
	}
	return lp + jacobian, nil
}

// Original writes the target's own position of u to x and returns the log Jacobian.
func (c *Chart) Original(u, x []float64) (float64, error) {
	if c.lambda == nil {
		copy(x, u)
		return 0, nil
	}
	return c.of.Forward(u, c.lambda, x)
}

// Scores writes the target's own position and gradient of u, where that over u is gu.
func (c *Chart) Scores(u, gu, x, gx []float64) error {
	if c.lambda == nil {
		copy(x, u)
		copy(gx, gu)
		return nil
	}
	if _, err := c.of.Forward(u, c.lambda, x); err != nil {
		return err
	}
	return c.of.Push(x, c.lambda, gu, gx)
}

// At writes the position that Original makes x of to u.
func (c *Chart) At(x, u []float64) error {
	if c.lambda == nil {
		copy(u, x)
		return nil
	}
	return c.of.Inverse(x, c.lambda, u)
}

// chartOf is the cover over a target, where it has effects; else nil.
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

// Recentre gives the chain other coordinates, in which it stays where it is. It leaves
// them as they were, and reports false, if that cannot be done where the chain is, or the
// target has no effects.
func (s *State) Recentre(lambda []float64) (bool, error) {
	c := s.Chart
	if c == nil {
		return false, nil
	}
	d := c.Dim()
	x, u := make([]float64, d), make([]float64, d)
	if _, err := c.Original(s.Point.Position, x); err != nil {
		return false, nil
	}
	before, from := c.lambda, slices.Clone(s.Point.Position)
	back := func() (bool, error) {
		c.lambda = before
		copy(s.Point.Position, from)
		return false, s.Hamiltonian.Reset(s.Point)
	}
	if err := c.Use(lambda); err != nil {
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
