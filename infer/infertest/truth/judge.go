package truth

import (
	"math"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// The limits of what counts as wrong.
const (
	// MaxOff is how far an estimate may be off, in exact standard deviations.
	MaxOff = 0.1
	// MaxShareOff is how far the share of a mode may be off.
	MaxShareOff = 0.1
	// MaxErrors is how many Monte Carlo standard errors an estimate may always be off.
	MaxErrors = 5
	// MinESS bounds the Monte Carlo standard error that a run may claim. Below it the run
	// is reported to be imprecise in any case.
	MinESS = 400
)

// Estimate is a figure of a run with the truth.
type Estimate struct {
	Quantity Quantity
	Value    float64
	ESS      float64 // that the draws claim
	Limit    float64 // the largest difference from the truth that is not wrong
}

// Off is how far the estimate is off, in units of what is allowed: above 1 it is wrong.
func (e Estimate) Off() float64 {
	off := math.Abs(e.Value-e.Quantity.Truth) / e.Limit
	if math.IsNaN(off) {
		return math.Inf(1)
	}
	return off
}

// Judge compares draws, [chain][draw][coordinate], with what is known of a target.
func Judge(t *Target, draws [][][]float64) []Estimate {
	var out []Estimate
	for _, q := range t.Quantities() {
		values, sum, n := make([][]float64, len(draws)), 0.0, 0
		for i, chain := range draws {
			for _, x := range chain {
				v := q.Of(x)
				values[i] = append(values[i], v)
				sum += v
				n++
			}
		}
		e := Estimate{Quantity: q, Value: sum / float64(n), ESS: diagnose.ESSMean(values)}
		if math.IsNaN(e.ESS) { // it does not vary: nothing in the draws says that they are few
			e.ESS = float64(n)
		}
		least := MaxOff * q.SD
		if q.Share {
			least = MaxShareOff
		}
		e.Limit = max(least, MaxErrors*q.SD/math.Sqrt(max(e.ESS, MinESS)))
		out = append(out, e)
	}
	return out
}

// Verdict is what a run came to.
type Verdict string

// The verdicts.
const (
	Silent Verdict = "wrong and silent" // a figure is wrong, and nothing says so
	Told   Verdict = "wrong and told"
	Right  Verdict = "right"
	Warned Verdict = "right but warned"
)

// Verdicts lists them, the worst first.
func Verdicts() []Verdict { return []Verdict{Silent, Told, Right, Warned} }

// verdict is that of a run that was wrong or not, and warned or not.
func verdict(wrong, warned bool) Verdict {
	switch {
	case wrong && warned:
		return Told
	case wrong:
		return Silent
	case warned:
		return Warned
	}
	return Right
}
