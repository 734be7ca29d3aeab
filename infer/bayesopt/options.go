package bayesopt

import (
	"fmt"
	"math"
)

// Options are the constants of the method and the readings of its unclear
// places. The zero value of each field stands for the default named there:
// the values of the authors' released program.
type Options struct {
	SignalVariance float64 // σ_f², of the scaled function; 0: 25 (the paper's formula implies 1)
	NoiseVariance  float64 // σ_η², of a scaled observation; 0: 0.1 (the paper does not say)
	LengthScale    float64 // ℓ as a fraction of an axis' range, the paper's alpha of the kernel; 0: 0.2
	RewardMaximum  float64 // what s scales the largest reward to, the paper's other alpha; 0: 4
	Delta          float64 // δ of beta; 0: 0.1

	Scale     Scale
	Annealing Annealing
	Width     Width
	Time      Time
}

// Scale says when the reward's scale s is set (Algorithm 2, lines 6 to 8).
type Scale int

const (
	// ScaleAlways keeps s = RewardMaximum / max r from the first reward on.
	// 1 while no reward is positive.
	ScaleAlways Scale = iota
	// ScaleReleased keeps s = 1 until a reward exceeds an earlier one, as the
	// authors' program does; then as ScaleAlways.
	ScaleReleased
	// ScaleRange is for rewards of either sign, which no factor alone can
	// serve: the prior mean is that of the rewards so far, and s brings their
	// range to RewardMaximum. 1 while they are all equal.
	ScaleRange
)

// Annealing says where p enters the acquisition function.
type Annealing int

const (
	AnnealWeight Annealing = iota // mean + p·√β·σ: the paper, the released program
	AnnealBeta                    // mean + √(p·β)·σ: the authors' program of 2011
	AnnealNone                    // mean + √β·σ: p has no effect here
)

// Width says what measures the uncertainty in the acquisition function.
type Width int

const (
	WidthSD       Width = iota // the standard deviation: the paper, the released program
	WidthVariance              // the variance, as several reimplementations have it
)

// Time says what is raised to the power d/2 + 2 in beta.
type Time int

const (
	TimeNext     Time = iota // i + 1, as printed
	TimeObserved             // i, the number of observations, as in the released program
)

// withDefaults returns o with its zero fields replaced.
func (o Options) withDefaults() Options {
	def := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.SignalVariance, 25)
	def(&o.NoiseVariance, 0.1)
	def(&o.LengthScale, 0.2)
	def(&o.RewardMaximum, 4)
	def(&o.Delta, 0.1)
	return o
}

// Validate says what is wrong with the options.
func (o Options) Validate() error {
	d := o.withDefaults()
	for _, c := range []struct {
		name string
		v    float64
	}{
		{"SignalVariance", d.SignalVariance}, {"NoiseVariance", d.NoiseVariance}, {"LengthScale", d.LengthScale},
		{"RewardMaximum", d.RewardMaximum}, {"Delta", d.Delta},
	} {
		if !(c.v > 0) || math.IsInf(c.v, 1) {
			return fmt.Errorf("bayesopt: %s must be positive and finite, but is %v", c.name, c.v)
		}
	}
	if d.Delta >= 1 {
		return fmt.Errorf("bayesopt: Delta must be below 1, but is %v", d.Delta)
	}
	if o.Scale < 0 || o.Scale > ScaleRange || o.Annealing < 0 || o.Annealing > AnnealNone ||
		o.Width < 0 || o.Width > WidthVariance || o.Time < 0 || o.Time > TimeObserved {
		return fmt.Errorf("bayesopt: an unknown reading among %+v", o)
	}
	return nil
}
