package criticise

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// Compared is a model with its results in a comparison.
type Compared struct {
	Model  int      // index of the model in pointwise
	ELPD   Estimate // expected log pointwise predictive density
	Diff   Estimate // ELPD minus that of the best model
	Worse  bool     // the model predicts clearly worse than the best one, see [Distinguishes]
	PWorse float64  // probability that it is worse, if the difference is normal; NaN unless Worse
	Weight float64  // weight in the stacked predictive distribution
}

// The limits of [Distinguishes].
const (
	minDifference = 4 // minimum difference in ELPD; below it, the normal approximation and its standard error are unreliable
	minErrors     = 2 // minimum difference in standard errors
)

// Distinguishes reports whether a difference of expected log predictive densities is large enough
// to distinguish two models: at least 4, and at least two standard errors (Sivula, Magnusson,
// Matamoros and Vehtari, 2020).
func Distinguishes(diff Estimate) bool {
	return math.Abs(diff.Value) >= minDifference && math.Abs(diff.Value) >= minErrors*diff.SE
}

// Compare orders models by their expected log predictive density, the best first. pointwise has a
// row per model, with the log predictive densities of the same observations.
func Compare(pointwise [][]float64) ([]Compared, error) {
	if len(pointwise) < 2 {
		return nil, fmt.Errorf("there are %d models to compare; there must be at least two", len(pointwise))
	}
	for i, p := range pointwise {
		if len(p) != len(pointwise[0]) {
			return nil, fmt.Errorf("model %d has %d observations, and model 1 has %d: only models of the same observations can be compared", i+1, len(p), len(pointwise[0]))
		}
		for j, v := range p {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("the predictive density of observation %d has the logarithm %v in model %d", j+1, v, i+1)
			}
		}
	}
	weights := Stacking(pointwise)
	var out []Compared
	for i, p := range pointwise {
		out = append(out, Compared{Model: i, ELPD: Sum(p), Weight: weights[i]})
	}
	sorting.Stable(out, func(a, b Compared) int {
		switch {
		case a.ELPD.Value > b.ELPD.Value:
			return -1
		case a.ELPD.Value < b.ELPD.Value:
			return 1
		}
		return 0
	})
	best := pointwise[out[0].Model]
	for i := range out {
		diff := make([]float64, len(best))
		for j, v := range pointwise[out[i].Model] {
			diff[j] = v - best[j]
		}
		out[i].Diff = Sum(diff)
		out[i].PWorse = math.NaN()
		if out[i].Worse = i > 0 && Distinguishes(out[i].Diff); out[i].Worse && out[i].Diff.SE > 0 {
			out[i].PWorse = distuv.UnitNormal.CDF(-out[i].Diff.Value / out[i].Diff.SE)
		}
	}
	return out, nil
}
