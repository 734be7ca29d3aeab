package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// Family is a family of normal distributions, with Stan's name.
type Family string

// The families.
const (
	MeanField Family = "meanfield" // independent coordinates
	FullRank  Family = "fullrank"  // any covariance
)

// VariationalOptions are options of [Variational]. 0 means Stan's default.
type VariationalOptions struct {
	Family        Family  // "": MeanField
	Iterations    int     // maximum number; 0: 10000
	GradientDraws int     // per gradient of the ELBO; 0: 1
	ELBODraws     int     // per estimate of the ELBO; 0: 100
	EvalELBO      int     // iterations between estimates of the ELBO; 0: 100
	TolRelObj     float64 // stop when the relative change of the ELBO is below; 0: 0.01
	Eta           float64 // scale of the steps; 0: found by trying 100, 10, 1, 0.1, 0.01
	AdaptIter     int     // iterations of each trial; 0: 50
	Draws         int     // 0: 1000

	// Progress, if not nil, is called with each estimate of the ELBO.
	Progress func(ELBO)
}

func (o VariationalOptions) withDefaults() VariationalOptions {
	if o.Family == "" {
		o.Family = MeanField
	}
	for _, d := range []struct {
		v        *int
		standard int
	}{{&o.Iterations, 10000}, {&o.GradientDraws, 1}, {&o.ELBODraws, 100}, {&o.EvalELBO, 100}, {&o.AdaptIter, 50}, {&o.Draws, 1000}} {
		def(d.v, d.standard)
	}
	def(&o.TolRelObj, 0.01)
	return o
}

func (o VariationalOptions) check() error {
	if o.Family != MeanField && o.Family != FullRank {
		return fmt.Errorf("unknown family %q; it can be %s or %s", o.Family, MeanField, FullRank)
	}
	if min(o.Iterations, o.GradientDraws, o.ELBODraws, o.EvalELBO, o.AdaptIter, o.Draws) < 1 {
		return errors.New("the numbers of iterations and draws must be positive")
	}
	if !(o.Eta >= 0) || math.IsInf(o.Eta, 1) {
		return fmt.Errorf("the scale of the steps must be positive, but is %v", o.Eta)
	}
	return nil
}

// ELBO is an estimate of the evidence lower bound during the ascent.
type ELBO struct {
	Iteration    int
	Value        float64
	Mean, Median float64 // of the last relative changes
	Note         string
}

// VariationalResult is the outcome of [Variational].
type VariationalResult struct {
	Draws
	Mean        []float64 // mean of the approximation
	SD          []float64
	Eta         float64
	ELBO        float64 // the last estimate
	Converged   bool
	Receded     bool // an earlier estimate of the ELBO was larger by 5 %
	Iterations  int
	Evaluations int64
	Rejections  []infer.Rejection
}

// Variational fits a normal distribution to the target by stochastic gradient ascent of the
// evidence lower bound (ADVI, Kucukelbir et al. 2017), and draws from it. The ascent starts from
// mean x and unit covariance.
func Variational(ctx context.Context, target infer.LogDensity, x []float64, rng *rand.Rand, options VariationalOptions) (_ *VariationalResult, err error) {
	defer infer.Recover(&err)
	if err := wanted(ctx, target, rng); err != nil {
		return nil, err
	}
	options = options.withDefaults()
	if err := options.check(); err != nil {
		return nil, err
	}
	if options.Family == FullRank {
		if err := infer.CheckSquares(target, 6, fmt.Sprintf("use the family %s, or allow for more memory", MeanField)); err != nil {
			return nil, err
		}
	}
	o := newObjective(ctx, target)
	if len(x) != o.meter.Dim() {
		return nil, fmt.Errorf("a start of %d numbers for a log density of %d parameters", len(x), o.meter.Dim())
	}
	v := &variational{objective: o, options: options, rng: rng}
	v.z, v.x, v.g = make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	start := newFamily(options.Family, x)
	eta := options.Eta
	if len(x) == 0 {
		eta = 1
	}
	if eta == 0 {
		var err error
		if eta, err = v.adapt(start); err != nil {
			return nil, err
		}
	}
	q := start.clone()
	r := &VariationalResult{Eta: eta}
	if err := v.ascend(q, eta, r); err != nil {
		return nil, err
	}
	r.Mean = append([]float64(nil), q.mean()...)
	r.SD = q.sd()
	err = sample(o, q, rng, options.Draws, true, &r.Draws)
	r.Evaluations, r.Rejections = o.meter.Gradients(), o.meter.Rejections()
	return r, err
}

// variational is a running fit.
type variational struct {
	*objective
	options VariationalOptions
	rng     *rand.Rand
	z, x, g []float64
}

// errDropped says that too many draws were rejected.
var errDropped = errors.New("too many draws of the approximation have no finite log density or gradient: the model may be ill-conditioned (try other starting values, or another parametrisation)")

// draw fills z with standard normal numbers, and x with the draw of q that they give.
func (v *variational) draw(q family) {
	for i := range v.z {
		v.z[i] = v.rng.NormFloat64()
	}
	q.transform(v.z, v.x)
}

// elbo estimates the evidence lower bound. If too many draws are rejected or it is not finite, ok
// is false.
func (v *variational) elbo(q family) (value float64, ok bool, err error) {
	dropped := 0
	for n := 0; n < v.options.ELBODraws; {
		v.draw(q)
		lp, err := v.logDensity(v.x, v.g)
		if err != nil {
			return 0, false, err
		}
		if math.IsInf(lp, 0) {
			if dropped++; dropped >= v.options.ELBODraws {
				return 0, false, nil
			}
			continue
		}
		value += lp
		n++
	}
	value /= float64(v.options.ELBODraws)
	value += float64(len(v.x))/2*(1+math.Log(2*math.Pi)) + q.logScale()
	return value, !math.IsNaN(value) && !math.IsInf(value, 0), nil
}

// gradient writes an estimate of the gradient of the ELBO to grad. If too many draws are rejected,
// ok is false.
func (v *variational) gradient(q family, grad []float64) (ok bool, err error) {
	clear(grad)
	dropped := 0
	for n := 0; n < v.options.GradientDraws; {
		v.draw(q)
		_, ok, err := v.at(v.x, v.g)
		if err != nil {
			return false, err
		}
		if !ok {
			if dropped++; dropped >= 10*v.options.GradientDraws {
				return false, nil
			}
			continue
		}
		for i := range v.g {
			v.g[i] = -v.g[i] / float64(v.options.GradientDraws)
		}
		q.add(v.z, v.g, grad)
		n++
	}
	q.addEntropy(grad)
	return true, nil
}

// stepper makes steps whose lengths adapt to the gradients so far.
type stepper struct {
	eta     float64
	squares []float64 // of the gradient, exponentially averaged
	n       int
}

func (s *stepper) step(q family, grad []float64) {
	s.n++
	if s.squares == nil {
		s.squares = make([]float64, len(grad))
	}
	lambda := q.parameters()
	scale := s.eta / math.Sqrt(float64(s.n))
	for i, g := range grad {
		if s.n == 1 {
			s.squares[i] = g * g
		} else {
			s.squares[i] = 0.9*s.squares[i] + 0.1*g*g
		}
		lambda[i] += scale * g / (1 + math.Sqrt(s.squares[i]))
	}
}

// adapt finds the scale of the steps: it tries a decreasing sequence and returns the last scale
// before the ELBO becomes worse.
func (v *variational) adapt(start family) (float64, error) {
	initial, ok, err := v.elbo(start)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, errDropped
	}
	best, bestEta := math.Inf(-1), 0.0
	grad := make([]float64, len(start.parameters()))
	for _, eta := range []float64{100, 10, 1, 0.1, 0.01} {
		q := start.clone()
		s := stepper{eta: eta}
		for range v.options.AdaptIter {
			ok, err := v.gradient(q, grad)
			if err != nil {
				return 0, err
			}
			if !ok { // it may have diverged; a smaller scale is tried next
				clear(grad)
			}
			s.step(q, grad)
		}
		value, ok, err := v.elbo(q)
		if err != nil {
			return 0, err
		}
		if !ok {
			value = math.Inf(-1)
		}
		if value < best && best > initial {
			return bestEta, nil
		}
		best, bestEta = value, eta
	}
	if best > initial {
		return bestEta, nil
	}
	return 0, errors.New("no scale of the steps makes the approximation better: the model may be ill-conditioned (try other starting values, another parametrisation, or your own scale)")
}

// ascend maximises the ELBO until it changes little.
func (v *variational) ascend(q family, eta float64, r *VariationalResult) error {
	o := v.options
	grad := make([]float64, len(q.parameters()))
	s := stepper{eta: eta}
	window := max(int(0.1*float64(o.Iterations)/float64(o.EvalELBO)), 2)
	var changes []float64
	best := math.Inf(-1)
	for r.Iterations = 1; r.Iterations <= o.Iterations; r.Iterations++ {
		ok, err := v.gradient(q, grad)
		if err != nil {
			return err
		}
		if !ok {
			return errDropped
		}
		s.step(q, grad)
		if r.Iterations%o.EvalELBO != 0 {
			continue
		}
		before := r.ELBO
		if r.ELBO, ok, err = v.elbo(q); err != nil {
			return err
		}
		if !ok {
			return errDropped
		}
		best = max(best, r.ELBO)
		change := 0.0
		if before != r.ELBO {
			change = math.Abs((before - r.ELBO) / r.ELBO)
		}
		if changes = append(changes, change); len(changes) > window {
			changes = changes[1:]
		}
		e := ELBO{Iteration: r.Iterations, Value: r.ELBO, Median: median(changes)}
		for _, c := range changes {
			e.Mean += c / float64(len(changes))
		}
		switch {
		case e.Mean < o.TolRelObj:
			e.Note, r.Converged = "MEAN ELBO CONVERGED", true
		case e.Median < o.TolRelObj:
			e.Note, r.Converged = "MEDIAN ELBO CONVERGED", true
		case r.Iterations > 10*o.EvalELBO && max(e.Mean, e.Median) > 0.5:
			e.Note = "MAY BE DIVERGING... INSPECT ELBO"
		}
		if o.Progress != nil {
			o.Progress(e)
		}
		if r.Converged {
			break
		}
	}
	r.Iterations = min(r.Iterations, o.Iterations)
	r.Receded = math.Abs((best-r.ELBO)/r.ELBO) > 0.05
	return nil
}

// median returns the upper of the two middle values if their number is even, as in Stan.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// family is a normal distribution with its variational parameters.
type family interface {
	normal
	parameters() []float64 // the caller may change them in place
	clone() family
	mean() []float64
	sd() []float64
	// add adds to grad, the gradient for the parameters, the contribution of the draw for z, where
	// the log density has gradient g.
	add(z, g, grad []float64)
	addEntropy(grad []float64)
}

func newFamily(f Family, mean []float64) family {
	d := len(mean)
	if f == MeanField {
		m := &meanField{d: d, lambda: make([]float64, 2*d)}
		copy(m.lambda, mean)
		return m
	}
	m := &fullRank{d: d, lambda: make([]float64, d+d*(d+1)/2)}
	copy(m.lambda, mean)
	for i := range d {
		m.row(i)[i] = 1
	}
	return m
}

// meanField has the means, then the logarithms of the standard deviations.
type meanField struct {
	d      int
	lambda []float64
}

func (m *meanField) parameters() []float64 { return m.lambda }
func (m *meanField) clone() family         { return &meanField{m.d, slices.Clone(m.lambda)} }
func (m *meanField) mean() []float64       { return m.lambda[:m.d] }

func (m *meanField) sd() []float64 {
	sd := make([]float64, m.d)
	for i := range sd {
		sd[i] = math.Exp(m.lambda[m.d+i])
	}
	return sd
}

func (m *meanField) transform(z, x []float64) {
	for i := range x {
		x[i] = m.lambda[i] + math.Exp(m.lambda[m.d+i])*z[i]
	}
}

func (m *meanField) logScale() float64 {
	sum := 0.0
	for _, v := range m.lambda[m.d:] {
		sum += v
	}
	return sum
}

func (m *meanField) add(z, g, grad []float64) {
	for i := range z {
		grad[i] += g[i]
		grad[m.d+i] += g[i] * z[i] * math.Exp(m.lambda[m.d+i])
	}
}

func (m *meanField) addEntropy(grad []float64) {
	for i := range m.d {
		grad[m.d+i]++
	}
}

// fullRank has the means, then the rows of the lower triangular factor L of the covariance.
type fullRank struct {
	d      int
	lambda []float64
}

// row returns row i of L up to its diagonal.
func (m *fullRank) row(i int) []float64 {
	at := m.d + i*(i+1)/2
	return m.lambda[at : at+i+1]
}

func (m *fullRank) parameters() []float64 { return m.lambda }
func (m *fullRank) clone() family         { return &fullRank{m.d, slices.Clone(m.lambda)} }
func (m *fullRank) mean() []float64       { return m.lambda[:m.d] }

func (m *fullRank) sd() []float64 {
	sd := make([]float64, m.d)
	for i := range sd {
		for _, v := range m.row(i) {
			sd[i] += v * v
		}
		sd[i] = math.Sqrt(sd[i])
	}
	return sd
}

func (m *fullRank) transform(z, x []float64) {
	for i := range x {
		x[i] = m.lambda[i]
		for j, v := range m.row(i) {
			x[i] += v * z[j]
		}
	}
}

func (m *fullRank) logScale() float64 {
	sum := 0.0
	for i := range m.d {
		sum += math.Log(math.Abs(m.row(i)[i]))
	}
	return sum
}

func (m *fullRank) add(z, g, grad []float64) {
	for i := range z {
		grad[i] += g[i]
		at := m.d + i*(i+1)/2
		for j := range i + 1 {
			grad[at+j] += g[i] * z[j]
		}
	}
}

func (m *fullRank) addEntropy(grad []float64) {
	for i := range m.d {
		grad[m.d+i*(i+1)/2+i] += 1 / m.row(i)[i]
	}
}
