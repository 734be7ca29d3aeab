package infer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Init proposes starting points for chains. A run asks up to 100 times, until log density and
// gradient are finite at the proposal. It gives up at once if the same point is proposed twice.
type Init interface {
	// Propose writes a position for the chain with the given index (from 0) to x. rng is not nil.
	// An error ends the chain.
	Propose(rng *rand.Rand, chain int, x []float64) error
}

// Arriver is the optional interface of an [Init] that may start several chains at the same place.
// Agreement of these chains means less, so R-hat groups them, see [ChainReport.Arrival].
type Arriver interface {
	// Arrivals returns a number for each chain. Chains that begin at the same place share a number,
	// from 1; 0 means that no other chain begins there.
	Arrivals(chains int) []int
}

// Uniform starts every coordinate at a uniform value between -Radius and Radius on the
// unconstrained scale or, if Radius is 0, at zero. Stan's default is 2.
type Uniform struct{ Radius float64 }

// Propose implements [Init].
func (u Uniform) Propose(rng *rand.Rand, _ int, x []float64) error {
	if !(u.Radius >= 0) || math.IsInf(u.Radius, 1) {
		return fmt.Errorf("the radius of initial values must be finite and not negative, but is %v", u.Radius)
	}
	for i := range x {
		x[i] = u.draw(rng)
	}
	return nil
}

// Arrivals implements [Arriver]: with radius 0 all chains begin at the same place.
func (u Uniform) Arrivals(chains int) []int {
	if u.Radius != 0 {
		return make([]int, chains)
	}
	return slices.Repeat([]int{1}, chains)
}

func (u Uniform) draw(rng *rand.Rand) float64 {
	if u.Radius == 0 {
		return 0
	}
	return u.Radius * (2*rng.Float64() - 1)
}

// At starts chains at given unconstrained positions: one for all chains, or one per chain.
// Coordinates that are NaN are drawn as by Uniform with the given Radius; 0 starts them at zero.
type At struct {
	Positions [][]float64
	Radius    float64

	// Origins, if not nil, has a number for each position. Positions with the same number were
	// found from the same place, so chains that begin there share an arrival.
	Origins []int
}

// Arrivals implements [Arriver]. Chains share a place if their positions have the same origin, or
// are equal and without random coordinates.
func (a At) Arrivals(chains int) []int {
	out := make([]int, chains)
	if len(a.Positions) == 0 {
		return out
	}
	at := func(chain int) int { return min(chain, len(a.Positions)-1) }
	same := func(i, j int) bool {
		if len(a.Origins) == len(a.Positions) && a.Origins[i] == a.Origins[j] {
			return true
		}
		return slices.EqualFunc(a.Positions[i], a.Positions[j], func(v, w float64) bool {
			return v == w || a.Radius == 0 && math.IsNaN(v) && math.IsNaN(w)
		})
	}
	next := 1
	for i := range out {
		for j := range i {
			if !same(at(i), at(j)) {
				continue
			}
			if out[j] == 0 {
				out[j] = next
				next++
			}
			out[i] = out[j]
			break
		}
	}
	return out
}

// Propose implements [Init].
func (a At) Propose(rng *rand.Rand, chain int, x []float64) error {
	var p []float64
	switch {
	case len(a.Positions) == 1:
		p = a.Positions[0]
	case chain >= 0 && chain < len(a.Positions):
		p = a.Positions[chain]
	default:
		return fmt.Errorf("initial values are given for %d chains, but there is a chain %d", len(a.Positions), chain+1)
	}
	if len(p) != len(x) {
		return fmt.Errorf("%d initial values are given, but the model has %d unconstrained parameters", len(p), len(x))
	}
	if err := (Uniform{a.Radius}).Propose(rng, chain, x); err != nil {
		return err
	}
	for i, v := range p {
		if !math.IsNaN(v) {
			x[i] = v
		}
	}
	return nil
}

// initAttempts is Stan's number of random starting points. plainAttempts of them are as proposed.
const initAttempts, plainAttempts = 100, 20

// nearer is the ratio of the distances of two proposals from Config.Centre, one after the other.
// The last of 100 attempts is at a distance of 0.003 of that of a random point.
const nearer = 0.93

// FindStart asks init for positions of the chain with index chain, up to 100 times, until log
// density and gradient are finite there. It returns the position and the number of attempts. The
// error is an *[InitError], or a final one of init or of the target. If m has a centre, positions
// after the first 20 lie ever nearer to it. Points that a [Hasty] target rejects are only tried if
// there are no others, by 100 more attempts, unless m rejects them already.
func FindStart(init Init, chain int, m *Meter, rng *rand.Rand) (x []float64, attempts int, err error) {
	haste := m.haste
	m.SetHasty(SlowStart)
	x, attempts, err = findStart(init, chain, m, rng)
	postponed := m.SetHasty(haste)
	if none := (*InitError)(nil); !postponed || !errors.As(err, &none) {
		return x, attempts, err
	}
	x, again, err := findStart(init, chain, m, rng)
	return x, attempts + again, err
}

// findStart is FindStart without the second search.
func findStart(init Init, chain int, m *Meter, rng *rand.Rand) (x []float64, attempts int, err error) {
	x = make([]float64, m.Dim())
	grad := make([]float64, m.Dim())
	var last []float64
	var reason error
	for attempts < initAttempts {
		if err := init.Propose(rng, chain, x); err != nil {
			return nil, attempts, err
		}
		if last != nil && slices.Equal(last, x) {
			break // the start is fixed, so another attempt would be the same
		}
		last = append(last[:0], x...)
		if attempts >= plainAttempts && m.centre != nil {
			if c := m.centre(); len(c) == len(x) {
				share := math.Pow(nearer, float64(attempts-plainAttempts+1))
				for i := range x {
					x[i] = c[i] + share*(x[i]-c[i])
				}
			}
		}
		attempts++
		lp, why, final := m.evaluate(x, grad)
		if final != nil {
			return nil, attempts, final
		}
		if why == nil && !math.IsInf(lp, 0) {
			i := slices.IndexFunc(grad, func(g float64) bool { return math.IsNaN(g) || math.IsInf(g, 0) })
			if i < 0 {
				return x, attempts, nil
			}
			why = fmt.Errorf("the gradient is not finite: its element %d is %v", i+1, grad[i])
		}
		if !m.hurried() && why != errZero {
			m.Reject(why)
		}
		reason = why
	}
	return nil, attempts, &InitError{Attempts: attempts, Reason: reason}
}

// InitError reports that no starting point was found.
type InitError struct {
	Attempts int
	Reason   error // why the last one was rejected
}

// Error implements error.
func (e *InitError) Error() string {
	if e.Attempts == 1 {
		return fmt.Sprintf("cannot start from the given initial values: %v\n"+
			"Try other initial values, or leave some of them to chance.", e.Reason)
	}
	return fmt.Sprintf("no starting point found in %d attempts; the last one was rejected because: %v\n"+
		"Try giving initial values, a smaller radius of random ones, tighter bounds of constrained parameters, or another parametrisation.",
		e.Attempts, e.Reason)
}

// Unwrap returns the cause.
func (e *InitError) Unwrap() error { return e.Reason }
