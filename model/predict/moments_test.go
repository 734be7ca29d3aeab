package predict_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
	"github.com/ppl-lang/ppl/stdlib/stdlibtest"
)

// noMean lists distributions without a mean, and noVariance those with a mean but without a
// variance, with the reasons.
var (
	noMean = map[string]string{
		"cauchy": "its integral does not exist",
		"wiener": "the density is that of one of two boundaries, and does not integrate to 1",
	}
	noVariance = map[string]string{"von_mises": "of an angle: that of its cosine and sine is something else"}
)

// support returns the interval in which the distribution has its probability.
func support(d *stdlib.Dist, p []float64) (lo, hi float64) {
	c := d.Support
	if c == (types.Constraint{}) {
		c = d.Variate
	}
	lo, hi = math.Inf(-1), math.Inf(1)
	if !c.NaN && c != (types.Constraint{}) {
		lo, hi = c.Lo, c.Hi
	}
	switch d.Name {
	case "uniform", "discrete_range":
		lo, hi = p[0], p[1]
	case "pareto", "pareto_type_2":
		lo = p[0]
	case "von_mises":
		lo, hi = p[0]-math.Pi, p[0]+math.Pi
	case "binomial", "binomial_logit", "beta_binomial":
		hi = p[0]
	}
	return lo, hi
}

// integrated computes total probability, mean and variance from the density alone. It uses sums, or
// the trapezoidal rule after a substitution that makes the integrand vanish at both ends.
func integrated(t *testing.T, d *stdlib.Dist, p []float64) (total, mean, variance float64) {
	t.Helper()
	lo, hi := support(d, p)
	var y, weights []float64
	if d.Discrete {
		lo = max(lo, math.Ceil(max(lo, -1e6)))
		if math.IsInf(lo, 0) || lo < -1000 {
			lo = 0
		}
		for k := lo; k <= min(hi, lo+200_000); k++ {
			y, weights = append(y, k), append(weights, 1)
		}
	} else {
		const step, reach = 1.0 / 64, 48
		centre := 0.0
		if i := slices.IndexFunc(d.Params, func(q stdlib.Param) bool { return strings.Contains(q.Is, "Location") }); i >= 0 {
			centre = p[i]
		}
		for k := -reach / step; k <= reach/step; k++ {
			x := k * step
			switch {
			case !math.IsInf(lo, 0) && !math.IsInf(hi, 0):
				u := 1 / (1 + math.Exp(-x))
				y, weights = append(y, lo+(hi-lo)*u), append(weights, step*(hi-lo)*u/(1+math.Exp(x)))
			case !math.IsInf(lo, 0):
				y, weights = append(y, lo+math.Exp(x)), append(weights, step*math.Exp(x))
			default: // integrate each side of the location, where the density may have a kink
				y, weights = append(y, centre+math.Exp(x), centre-math.Exp(x)), append(weights, step*math.Exp(x), step*math.Exp(x))
			}
		}
		for i := len(y) - 1; i >= 0; i-- { // rounded to an end, where the weight is 0
			if y[i] <= lo || y[i] >= hi || y[i] == centre && math.IsInf(lo, 0) {
				y, weights = slices.Delete(y, i, i+1), slices.Delete(weights, i, i+1)
			}
		}
	}
	f, err := stdlibtest.Densities(d, y, p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range y {
		total += f[i] * weights[i]
		mean += y[i] * f[i] * weights[i]
	}
	for i := range y {
		variance += (y[i] - mean) * (y[i] - mean) * f[i] * weights[i]
	}
	return total, mean, variance
}

// argumentsOf draws parameters for which the moments exist, and for which the sums and integrals
// lose nothing at the ends of the support.
func argumentsOf(rng *rand.Rand, d *stdlib.Dist) []float64 {
	if d.Name == "uniform" || d.Name == "discrete_range" {
		lo := float64(rng.IntN(9) - 4)
		return []float64{lo, lo + float64(1+rng.IntN(6))}
	}
	var p []float64
	for _, q := range d.Params {
		switch {
		case q.Int:
			p = append(p, float64(1+rng.IntN(12)))
		case q.In.Lo == 0 && q.In.Hi == 1:
			p = append(p, 0.3+0.4*rng.Float64())
		case q.In.Lo == 0 && strings.Contains(d.Mean+d.Variance, "?"):
			p = append(p, 6+2*rng.Float64())
		case q.In.Lo == 0 && strings.HasPrefix(q.Is, "Precision"):
			p = append(p, 5+2*rng.Float64())
		case q.In.Lo == 0:
			p = append(p, 1.2+1.5*rng.Float64())
		default:
			p = append(p, 1.5*rng.NormFloat64())
		}
	}
	return p
}

// TestMomentsAgainstDensities compares the means and variances in the table with sums and integrals
// of the density, at random parameters. If a moment does not exist, the formula must say so.
func TestMomentsAgainstDensities(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	words := regexp.MustCompile(`\b(lower|upper)\b`)
	type point struct {
		d       *stdlib.Dist
		p       []float64
		without bool // these parameters have no variance
	}
	var points []point
	var b strings.Builder
	for name := range stdlib.Universe().Names() {
		f := stdlib.Universe().Lookup(name)[0].(*stdlib.Func)
		if f.Dist == nil || f.Terms == nil || !strings.HasPrefix(name, f.Dist.Name+"_lp") {
			continue
		}
		d := f.Dist
		if (d.Mean == "") != (noMean[d.Name] != "") || d.Mean != "" && (d.Variance == "") != (noVariance[d.Name] != "") {
			t.Errorf("%s: mean %q and variance %q, or the reasons why there are none, are missing or too many", d.Name, d.Mean, d.Variance)
		}
		if d.Mean == "" {
			continue
		}
		for k := range 3 {
			pt := point{d: d, p: argumentsOf(rng, d), without: k == 2 && strings.Contains(d.Variance, "?")}
			variance := d.Variance
			if variance == "" {
				variance = "0"
			}
			var locals, assigns strings.Builder
			for i, q := range d.Params {
				if pt.without && q.In.Lo == 0 && !math.IsInf(q.In.Lo, 0) {
					pt.p[i] = 1.5
				}
				kind := "real"
				if q.Int {
					kind = "int"
				}
				fmt.Fprintf(&locals, "%s %s = %.17g; ", kind, q.Name, pt.p[i])
			}
			fmt.Fprintf(&assigns, "out[%d] = %s; out[%d] = %s;", 2*len(points)+1, d.Mean, 2*len(points)+2, variance)
			fmt.Fprintf(&b, "{ %s %s }\n", words.ReplaceAllString(locals.String(), "${1}_"), words.ReplaceAllString(assigns.String(), "${1}_"))
			points = append(points, pt)
		}
	}
	_, got := generated(t, compiled(t, fmt.Sprintf("generated quantities { vector[%d] out; %s }", 2*len(points), b.String())), "{}")
	for i, pt := range points {
		if testing.Short() && i%4 != 0 { // a quarter of them
			continue
		}
		mean, variance := got[2*i], got[2*i+1]
		if pt.without {
			if !math.IsInf(variance, 1) {
				t.Errorf("%s at %v has the variance %v", pt.d.Name, pt.p, variance)
			}
			continue
		}
		total, m, v := integrated(t, pt.d, pt.p)
		sd := math.Sqrt(v)
		if math.Abs(total-1) > 1e-9 || math.Abs(mean-m) > 1e-8*(sd+math.Abs(m)) || noVariance[pt.d.Name] == "" && math.Abs(variance-v) > 1e-7*v {
			t.Errorf("%s at %v: mass %v, mean %v and not %v, variance %v and not %v", pt.d.Name, pt.p, total, mean, m, variance, v)
		}
	}
}
