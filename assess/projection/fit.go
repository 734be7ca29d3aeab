package projection

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/ppl-lang/ppl/internal/goroutines"
)

// Projected is a submodel that was fitted to a reference.
type Projected struct {
	Predictor    []float64 // linear predictor of each row, with the offset
	SD           float64   // residual standard deviation, for Gaussian
	Divergence   float64   // mean Kullback-Leibler divergence per row
	Coefficients []float64 // intercept, then columns of the population terms in increasing order
	theta        []float64 // parameters of the covariances of group effects
}

// errSingular says that columns of a submodel are linearly dependent.
var errSingular = errors.New("columns of the terms are linearly dependent")

// fitter fits one design to references. It is for one goroutine.
type fitter struct {
	p *Problem
	d *design
	s *system

	weights, z, eta, best []float64
	mean                  []float64
}

func (p *Problem) fitter(d *design) *fitter {
	n := p.rows()
	f := &fitter{p: p, d: d, s: newSystem(d), weights: make([]float64, n), z: make([]float64, n), eta: make([]float64, n), best: make([]float64, n)}
	if p.Family == Gaussian {
		f.s.products(nil)
	}
	return f
}

// fit fits the design to a reference. theta are parameters of the covariances to start from; nil:
// unknown.
func (f *fitter) fit(r *Reference, theta []float64) (*Projected, error) {
	f.mean = r.Mean
	out := &Projected{Predictor: make([]float64, f.d.rows)}
	var objective func(theta []float64) float64
	centre := 0.0
	if f.p.Family == Gaussian {
		for i, m := range r.Mean {
			f.z[i] = m - f.p.offset(i)
			centre += f.z[i] / float64(len(f.z))
		}
		for i := range f.z {
			f.z[i] -= centre
		}
		f.s.right(nil, f.z)
		objective = f.restricted
	} else {
		for i, m := range r.Mean {
			f.eta[i] = f.p.Family.link(m)
		}
		objective = f.laplace
	}
	if n := f.d.parameters(); n > 0 {
		step := 0.25
		if theta == nil {
			theta, step = f.d.start(1), 0.75
		}
		theta = minimise(objective, theta, step)
	}
	if value := objective(theta); math.IsInf(value, 1) || math.IsNaN(value) {
		return nil, errSingular
	}
	f.s.predictor(out.Predictor)
	for i := range out.Predictor {
		out.Predictor[i] += centre + f.p.offset(i)
	}
	out.theta = slices.Clone(theta)
	out.Coefficients = f.d.coefficients(f.s.other[f.d.first[len(f.d.first)-1]:])
	out.Coefficients[0] += centre
	f.judge(r, out)
	return out, nil
}

// judge computes the divergence, and the residual standard deviation.
func (f *fitter) judge(r *Reference, out *Projected) {
	n := float64(f.d.rows)
	for i, eta := range out.Predictor {
		out.Divergence += f.p.trials(i) * f.p.Family.divergence(r.Mean[i], eta) / n
	}
	if f.p.Family == Gaussian {
		// With the best standard deviation, the divergence is the logarithm of the ratio.
		v := r.Variance + 2*out.Divergence
		out.SD = math.Sqrt(v)
		out.Divergence = math.Log(v/r.Variance) / 2
	}
}

// restricted is the restricted deviance of a normal model, with the coefficients and the residual
// variance at their best. Without group effects it is constant.
func (f *fitter) restricted(theta []float64) float64 {
	s := f.s.solve(theta)
	if !s.ok {
		return math.Inf(1)
	}
	free := float64(max(f.d.rows-len(f.d.columns), 1))
	// Squares below rounding errors are as good as none.
	squares := max(s.squares, 1e-12*f.s.yy, 1e-300)
	return s.effectsDet + s.coefDet + free*math.Log(squares)
}

// laplace is Laplace's approximation of the deviance, at the mode of coefficients and effects. It
// starts from the last mode.
func (f *fitter) laplace(theta []float64) float64 {
	last := math.Inf(1)
	var solved penalised
	const steps, tolerance = 100, 1e-9
	copy(f.best, f.eta)
	for range steps {
		for i, eta := range f.best {
			slope := max(f.p.Family.slope(eta), 1e-12)
			f.weights[i] = f.p.trials(i) * slope
			f.z[i] = eta - f.p.offset(i) + (f.mean[i]-f.p.Family.mean(eta))/slope
		}
		f.s.products(f.weights)
		f.s.right(f.weights, f.z)
		if solved = f.s.solve(theta); !solved.ok {
			return math.Inf(1)
		}
		f.s.predictor(f.eta)
		for i := range f.eta {
			f.eta[i] += f.p.offset(i)
		}
		now := f.deviance(f.eta) + f.s.penalty()
		// Shorten a step that makes it worse. The penalty is that of the whole step, which is
		// larger than that of a shorter one only before convergence.
		for halved := 0; halved < 20 && !(now <= last+tolerance*(1+math.Abs(last))); halved++ {
			for i := range f.eta {
				f.eta[i] = (f.eta[i] + f.best[i]) / 2
			}
			now = f.deviance(f.eta) + f.s.penalty()
		}
		done := math.Abs(now-last) <= tolerance*(1+math.Abs(now))
		last = now
		copy(f.best, f.eta)
		if done {
			break
		}
	}
	return last + solved.effectsDet
}

// deviance is twice the divergence of the rows.
func (f *fitter) deviance(eta []float64) (sum float64) {
	for i, m := range f.mean {
		sum += 2 * f.p.trials(i) * f.p.Family.divergence(m, eta[i])
	}
	return sum
}

// Project fits the submodel with some terms to each reference, on all processors.
func (p *Problem) Project(ctx context.Context, terms []int, refs []Reference) ([]*Projected, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return p.project(ctx, p.designOf(terms), refs)
}

func (p *Problem) project(ctx context.Context, d *design, refs []Reference) ([]*Projected, error) {
	out := make([]*Projected, len(refs))
	errs := make([]error, len(refs))
	// The first fit is the start of all others, so that results do not depend on their order.
	f := p.fitter(d)
	var err error
	if out[0], err = f.fit(&refs[0], nil); err != nil {
		return nil, err
	}
	next := atomic.Int64{}
	var running goroutines.Group
	workers := min(runtime.GOMAXPROCS(0), len(refs)-1)
	for w := range workers {
		running.Go(func() {
			own := f
			if w > 0 {
				own = p.fitter(d)
			}
			for i := int(next.Add(1)); i < len(refs) && ctx.Err() == nil; i = int(next.Add(1)) {
				out[i], errs[i] = own.fit(&refs[i], out[0].theta)
			}
		})
	}
	running.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, errors.Join(errs...)
}
