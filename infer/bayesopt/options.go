package bayesopt

import (
	"fmt"
	"math"
)

// Options are the constants of the method, and interpretations of places where the paper is
// unclear. The zero value of each field selects the default named there, which is the value in the
// authors' released program.
type Options struct {
	SignalVariance float64 // σ_f², variance of the scaled function; 0: 25 (the paper's formula implies 1)
	NoiseVariance  float64 // σ_η², variance of a scaled observation; 0: 0.1 (the paper does not give a value)
	LengthScale    float64 // ℓ as a fraction of an axis' range, the paper's alpha of the kernel; 0: 0.2
	RewardMaximum  float64 // value to which s scales the largest reward, the paper's other alpha; 0: 4
	Delta          float64 // δ of beta; 0: 0.1

	Scale     Scale
	Annealing Annealing
	Width     Width
	Time      Time
}

// Scale determines when the scale s of rewards is set (Algorithm 2, lines 6 to 8).
type Scale int

const (
	// ScaleAlways sets s = RewardMaximum / max r from the first reward on. As long as no reward is
	// positive, s is 1.
	ScaleAlways Scale = iota
	// ScaleReleased sets s = 1 until a reward exceeds an earlier one, as the authors' program does;
	// afterwards it is like ScaleAlways.
	ScaleReleased
	// ScaleRange is for rewards of either sign, for which a factor alone does not suffice. The
	// prior mean is the mean of the rewards so far, and s scales their range to RewardMaximum. As
	// long as all are equal, s is 1.
	ScaleRange
)

// Annealing determines where p enters the acquisition function.
type Annealing int

const (
	AnnealWeight Annealing = iota // mean + p·√β·σ: the paper, the released program
	AnnealBeta                    // mean + √(p·β)·σ: the authors' program of 2011
	AnnealNone                    // mean + √β·σ: p has no effect here
)

// Width says how the acquisition function measures uncertainty.
type Width int

const (
	WidthSD       Width = iota // the standard deviation: the paper, the released program
	WidthVariance              // the variance, as several reimplementations have it
)

// Time is the number that is raised to the power d/2 + 2 in beta.
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

// Validate returns an error if an option is invalid.
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
