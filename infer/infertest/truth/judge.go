package truth

import (
	"math"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// The limits beyond which an estimate is wrong.
const (
	// MaxOff is the maximum error of an estimate, in exact standard deviations.
	MaxOff = 0.1
	// MaxShareOff is the maximum error of the share of a mode.
	MaxShareOff = 0.1
	// MaxErrors is the error that is always allowed, in Monte Carlo standard errors.
	MaxErrors = 5
	// MinESS is the smallest effective sample size that counts for the Monte Carlo standard error.
	// A run with fewer is reported as imprecise in any case.
	MinESS = 400
)

// Estimate compares an estimate of a run with the truth.
type Estimate struct {
	Quantity Quantity
	Value    float64
	ESS      float64 // effective sample size of the draws, as estimated from them
	Limit    float64 // the largest allowed difference from the truth
}

// Off is the error of the estimate divided by Limit: above 1 it is wrong.
func (e Estimate) Off() float64 {
	off := math.Abs(e.Value-e.Quantity.Truth) / e.Limit
	if math.IsNaN(off) {
		return math.Inf(1)
	}
	return off
}

// Judge compares draws, [chain][draw][coordinate], with the known quantities of a target.
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
		if math.IsNaN(e.ESS) { // NaN for constant draws, which do not show that there are few
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

// Verdict is the judgement of a run.
type Verdict string

// The verdicts.
const (
	Silent Verdict = "wrong and silent" // a figure is wrong, and nothing warns of it
	Told   Verdict = "wrong and reported"
	Right  Verdict = "right"
	Warned Verdict = "right but warned"
)

// Verdicts lists the verdicts, the worst first.
func Verdicts() []Verdict { return []Verdict{Silent, Told, Right, Warned} }

// verdict returns the verdict on a run from whether it was wrong and whether it warned.
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
