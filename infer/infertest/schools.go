package infertest

import (
	"math"

	"github.com/ppl-lang/ppl/infer"
)

// EightSchools is the posterior of Rubin's eight schools in the non-centred parametrisation of
// posteriordb: eight standardised effects, mu, log tau. It has no exact draws, but reference
// results from Stan exist.
type EightSchools struct{}

const schools = 8

// Dim implements [infer.LogDensity].
func (EightSchools) Dim() int { return schools + 2 }

// CloneDensity implements [infer.Cloner].
func (e EightSchools) CloneDensity() infer.LogDensity { return e }

// LogDensityGrad implements [infer.LogDensity]. It drops constants and includes the Jacobian of log
// tau.
func (EightSchools) LogDensityGrad(x, grad []float64) (float64, error) {
	y := [schools]float64{28, 8, -3, 7, -1, 1, 18, 12}
	sigma := [schools]float64{15, 10, 16, 11, 9, 11, 10, 18}
	mu, tau := x[schools], math.Exp(x[schools+1])
	// mu ~ normal(0, 5); tau ~ cauchy(0, 5) truncated to positive numbers
	lp := -0.5*mu*mu/25 - math.Log1p(tau*tau/25) + x[schools+1]
	gmu := -mu / 25
	gtau := -2 * tau / (25 + tau*tau)
	for j, t := range x[:schools] {
		r := (y[j] - mu - tau*t) / sigma[j]
		lp -= 0.5 * (t*t + r*r)
		s := r / sigma[j]
		grad[j] = -t + tau*s
		gmu += s
		gtau += t * s
	}
	grad[schools] = gmu
	grad[schools+1] = gtau*tau + 1
	return lp, nil
}
