package criticise

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/internal/goroutines"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// LOO computes leave-one-out predictive densities by Pareto smoothed importance sampling, and WAIC,
// from log likelihoods that are added one draw at a time.
//
// It does not keep the matrix of draws × observations. An importance ratio is the inverse of a
// likelihood, so the tail of the ratios, a few per cent of the draws, and a few sums over the other
// draws are enough. See [LOOBytes].
type LOO struct {
	draws        int // number of draws that will be added
	efficiency   []float64
	observations []observation
	seen         int
	// The tails of all observations are slices of this array.
	arena []float64

	pending, free [][]float64 // draws that have not been processed; rows to reuse
}

// observation is the running state of one observation.
type observation struct {
	tail   []float64 // the largest ratios −log p, as a min-heap
	keep   int       // length of the tail plus one for the cutoff
	n      int       // number of ratios outside the tail
	top    float64   // largest ratio outside the tail
	s1, s2 float64   // Σ exp(r − top) and Σ exp(2(r − top)) over the ratios r outside the tail

	topP, sumP float64 // largest log p; Σ exp(log p − topP)
	mean, m2   float64 // mean of log p and sum of squared deviations, by Welford's recurrence
	undefined  bool    // a log likelihood is NaN
}

// NewLOO prepares LOO for the given numbers of draws and observations. efficiency is the relative
// efficiency of each observation's likelihood (see [Matrix.Efficiency]); nil means 1, as for
// independent draws.
func NewLOO(draws, observations int, efficiency []float64) (*LOO, error) {
	if draws < 1 || observations < 0 {
		return nil, fmt.Errorf("criticise: %d draws of %d observations", draws, observations)
	}
	if efficiency != nil && len(efficiency) != observations {
		return nil, fmt.Errorf("criticise: %d relative efficiencies for %d observations", len(efficiency), observations)
	}
	l := &LOO{draws: draws, efficiency: efficiency, observations: make([]observation, observations)}
	total := 0
	for i := range l.observations {
		o := &l.observations[i]
		o.top, o.topP = math.Inf(-1), math.Inf(-1)
		o.keep = min(psis.TailLength(draws, l.relative(i))+1, draws)
		total += o.keep
	}
	l.arena = make([]float64, total)
	at := 0
	for i := range l.observations {
		o := &l.observations[i]
		o.tail = l.arena[at : at : at+o.keep]
		at += o.keep
	}
	return l, nil
}

// LOOBytes returns the memory that a [LOO] uses for each observation, in bytes.
func LOOBytes(draws int) int { return 8 * (psis.TailLength(draws, 1) + 1 + 16 + atOnce) }

func (l *LOO) relative(i int) float64 {
	if l.efficiency == nil || !(l.efficiency[i] > 0) {
		return 1
	}
	return l.efficiency[i]
}

// Add adds the log likelihoods of all observations at a draw.
func (l *LOO) Add(logLik []float64) error {
	if len(logLik) != len(l.observations) {
		return fmt.Errorf("criticise: %d log likelihoods for %d observations", len(logLik), len(l.observations))
	}
	if l.seen == l.draws {
		return fmt.Errorf("criticise: more than the %d draws that there were to be", l.draws)
	}
	l.seen++
	l.pending = append(l.pending, append(l.spare(), logLik...))
	if len(l.pending) == atOnce || l.seen == l.draws {
		l.flush()
	}
	return nil
}

// atOnce is the number of draws that are processed together. With one at a time, the state of each
// observation would have left the processor's cache before its next draw.
const atOnce = 8

// spare returns an empty row, reused if possible.
func (l *LOO) spare() []float64 {
	if n := len(l.free); n > 0 {
		row := l.free[n-1]
		l.free = l.free[:n-1]
		return row[:0]
	}
	return make([]float64, 0, len(l.observations))
}

// flush processes the pending draws. If there are many observations, several goroutines share them.
func (l *LOO) flush() {
	const block = 1 << 12
	before := l.seen - len(l.pending)
	take := func(first, last int) {
		for i := first; i < last; i++ {
			o := &l.observations[i]
			for n, row := range l.pending {
				o.add(row[i], before+n+1)
			}
		}
	}
	n := len(l.observations)
	if workers := min(runtime.GOMAXPROCS(0), (n+block-1)/block); workers > 1 {
		var running goroutines.Group
		for w := range workers {
			running.Go(func() { take(w*n/workers, (w+1)*n/workers) })
		}
		running.Wait()
	} else {
		take(0, n)
	}
	l.free = append(l.free, l.pending...)
	l.pending = l.pending[:0]
}

func (o *observation) add(logP float64, n int) {
	if math.IsNaN(logP) || math.IsInf(logP, 1) {
		o.undefined = true
		return
	}
	accumulate(&o.topP, &o.sumP, logP)
	d := logP - o.mean
	o.mean += d / float64(n)
	o.m2 += d * (logP - o.mean)
	r := -logP
	switch {
	case len(o.tail) < o.keep:
		o.tail = append(o.tail, r)
		for i := len(o.tail) - 1; i > 0 && o.tail[(i-1)/2] > o.tail[i]; i = (i - 1) / 2 {
			o.tail[i], o.tail[(i-1)/2] = o.tail[(i-1)/2], o.tail[i]
		}
	case r <= o.tail[0]:
		o.other(r)
	default:
		o.other(o.tail[0])
		o.tail[0] = r
		for i := 0; ; {
			c := 2*i + 1
			if c+1 < len(o.tail) && o.tail[c+1] < o.tail[c] {
				c++
			}
			if c >= len(o.tail) || o.tail[c] >= o.tail[i] {
				break
			}
			o.tail[i], o.tail[c] = o.tail[c], o.tail[i]
			i = c
		}
	}
}

// other adds a ratio outside the tail.
func (o *observation) other(r float64) {
	o.n++
	if r > o.top {
		scale := math.Exp(o.top - r)
		if math.IsInf(o.top, -1) {
			scale = 0
		}
		o.s1, o.s2, o.top = o.s1*scale+1, o.s2*scale*scale+1, r
		return
	}
	e := math.Exp(r - o.top)
	o.s1 += e
	o.s2 += e * e
}

// accumulate adds exp(v) to a sum that is stored as sum·exp(top), where top is the largest v so
// far.
func accumulate(top, sum *float64, v float64) {
	switch {
	case math.IsInf(v, -1):
	case v > *top:
		if math.IsInf(*top, -1) {
			*sum = 1
		} else {
			*sum = *sum*math.Exp(*top-v) + 1
		}
		*top = v
	default:
		*sum += math.Exp(v - *top)
	}
}

// Result is the result of leave-one-out cross-validation, with WAIC. Slices have an element per
// observation. Undefined values are NaN.
type Result struct {
	Draws int

	ELPD       []float64 // log predictive density of the observation given the others
	MCSE       []float64 // its Monte Carlo standard error
	P          []float64 // the observation's share of the effective number of parameters
	K          []float64 // Pareto k of its importance ratios
	ESS        []float64 // effective sample size of its estimate
	Efficiency []float64 // relative efficiency given to NewLOO; 1 if none was given
	LPD        []float64 // log predictive density given all observations

	WAIC  []float64 // log predictive density by WAIC
	PWAIC []float64 // effective number of parameters
}

// Finish computes the result, once all draws have been added.
func (l *LOO) Finish() (*Result, error) {
	if l.seen != l.draws {
		return nil, fmt.Errorf("criticise: %d of %d draws", l.seen, l.draws)
	}
	r := &Result{Draws: l.draws}
	n := len(l.observations)
	for _, s := range []*[]float64{&r.ELPD, &r.MCSE, &r.P, &r.K, &r.ESS, &r.Efficiency, &r.LPD, &r.WAIC, &r.PWAIC} {
		*s = make([]float64, n)
	}
	var smoother psis.Smoother
	for i := range l.observations {
		l.observations[i].finish(&smoother, l.draws, l.relative(i), r, i)
	}
	return r, nil
}

func (o *observation) finish(smoother *psis.Smoother, draws int, efficiency float64, r *Result, i int) {
	r.Efficiency[i] = efficiency
	if o.undefined || math.IsInf(o.topP, -1) {
		for _, s := range [][]float64{r.ELPD, r.MCSE, r.P, r.ESS, r.LPD, r.WAIC, r.PWAIC} {
			s[i] = math.NaN()
		}
		r.K[i] = math.Inf(1)
		return
	}
	s := float64(draws)
	r.LPD[i] = o.topP + math.Log(o.sumP) - math.Log(s)
	r.PWAIC[i] = o.m2 / (s - 1)
	r.WAIC[i] = r.LPD[i] - r.PWAIC[i]

	slices.Sort(o.tail)
	ratios := slices.Clone(o.tail)
	tail := len(ratios)
	if o.keep < draws {
		tail-- // the first ratio is the cutoff
	}
	weights := slices.Clone(ratios)
	r.K[i] = smoother.Smooth(weights, tail)
	if ratios[0] == ratios[len(ratios)-1] && o.top == ratios[0] && tail > 5 {
		// The largest weights are all equal, and they are so many that a larger weight is unlikely.
		r.K[i] = math.Inf(-1)
	}
	if math.IsInf(ratios[len(ratios)-1], 1) { // the observation is impossible at some draw
		r.ELPD[i], r.MCSE[i], r.P[i], r.ESS[i] = math.Inf(-1), math.NaN(), math.NaN(), 1
		r.K[i] = math.Inf(1)
		return
	}
	// Sums of w, w² and w·p over all draws, where w is the importance weight and p the likelihood.
	// They are relative to the largest ratio. Outside the tail, w·p is 1.
	top := max(ratios[len(ratios)-1], o.top)
	scale := 0.0
	if o.n > 0 {
		scale = math.Exp(o.top - top)
	}
	sum, squares := o.s1*scale, o.s2*scale*scale
	product := float64(o.n)
	for j, w := range weights {
		e := math.Exp(w - top)
		sum += e
		squares += e * e
		product += math.Exp(w - ratios[j])
	}
	// log Σ w·p − log Σ w, where Σ w = sum·exp(top).
	r.ELPD[i] = math.Log(product) - math.Log(sum) - top
	r.P[i] = r.LPD[i] - r.ELPD[i]
	r.ESS[i] = sum * sum / squares * efficiency
	// The variance is Σ w²(p/E − 1)² with normalised weights and E = exp(ELPD). Outside the tail,
	// w·p/E is a constant.
	a := math.Exp(-r.ELPD[i]-top) / sum // w·p/E of a draw outside the tail, normalised
	variance := float64(o.n)*a*a - 2*a*(o.s1*scale)/sum + o.s2*scale*scale/(sum*sum)
	for j, w := range weights {
		d := math.Exp(w-top) / sum * math.Expm1(-ratios[j]-r.ELPD[i])
		variance += d * d
	}
	r.MCSE[i] = math.Sqrt(math.Log1p(max(variance, 0) / efficiency))
}

// Estimate is a sum over observations with its standard error √(n·variance), as for a sum of
// independent values.
type Estimate struct{ Value, SE float64 }

// Sum adds pointwise values and estimates the standard error of the sum.
func Sum(values []float64) Estimate {
	n := float64(len(values))
	e := Estimate{}
	for _, v := range values {
		e.Value += v
	}
	mean, sum := e.Value/n, 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	e.SE = math.Sqrt(n * sum / (n - 1))
	return e
}

// Bad lists the observations whose Pareto k exceeds [psis.Limit], the worst first.
func (r *Result) Bad() []int {
	limit := psis.Limit(r.Draws)
	var bad []int
	for i, k := range r.K {
		if k > limit || math.IsNaN(k) {
			bad = append(bad, i)
		}
	}
	sorting.Stable(bad, func(a, b int) int {
		switch {
		case r.K[a] > r.K[b]:
			return -1
		case r.K[a] < r.K[b]:
			return 1
		}
		return 0
	})
	return bad
}

// Adjust accounts for the autocorrelation of draws in a result that was computed for independent
// draws. It divides the variances of estimates by the relative efficiencies, and multiplies
// effective sample sizes by them. The estimates do not change. The lengths of tails could depend on
// the efficiencies, but stay those of independent draws, as in R's loo by default.
func (r *Result) Adjust(efficiency []float64) {
	for i, e := range efficiency {
		r.Efficiency[i] = e
		r.ESS[i] *= e
		r.MCSE[i] = math.Sqrt(math.Log1p(math.Expm1(r.MCSE[i]*r.MCSE[i]) / e))
	}
}

// Append appends the results of further observations at the same draws.
func (r *Result) Append(part *Result) {
	for _, s := range []struct {
		dst *[]float64
		src []float64
	}{{&r.ELPD, part.ELPD}, {&r.MCSE, part.MCSE}, {&r.P, part.P}, {&r.K, part.K}, {&r.ESS, part.ESS}, {&r.Efficiency, part.Efficiency},
		{&r.LPD, part.LPD}, {&r.WAIC, part.WAIC}, {&r.PWAIC, part.PWAIC}} {
		*s.dst = append(*s.dst, s.src...)
	}
}

// Replace replaces the estimate of observation i by an exact log predictive density, for instance
// from a refit, with Monte Carlo standard error mcse. It sets k to 0.
func (r *Result) Replace(i int, elpd, mcse float64) {
	r.ELPD[i], r.MCSE[i] = elpd, mcse
	r.P[i] = r.LPD[i] - elpd
	r.K[i] = 0
}
