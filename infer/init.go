package infer

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Init proposes where a chain starts. A run asks again, up to 100 times, as
// long as log density or gradient are not finite at what was proposed; it gives
// up at once if the same point is proposed twice.
type Init interface {
	// Propose writes a position for the chain with index chain (from 0) to x. The
	// source of random numbers is not nil.
	// An error ends the chain.
	Propose(rng *rand.Rand, chain int, x []float64) error
}

// Uniform starts every coordinate at a uniform value in (-Radius, Radius) of
// the unconstrained scale, or, if Radius is 0, at zero. Stan's default is 2.
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

func (u Uniform) draw(rng *rand.Rand) float64 {
	if u.Radius == 0 {
		return 0
	}
	return u.Radius * (2*rng.Float64() - 1)
}

// At starts at given unconstrained positions: one for all chains or one per
// chain. Coordinates that are NaN are drawn as by Uniform with the Radius
// given here, where 0 means zero.
type At struct {
	Positions [][]float64
	Radius    float64
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
