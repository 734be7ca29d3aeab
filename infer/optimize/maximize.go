package optimize

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
)

// Algorithm is an optimisation algorithm, with Stan's name.
type Algorithm string

// The algorithms.
const (
	LBFGS  Algorithm = "lbfgs"  // inverse Hessian from the last few steps
	BFGS   Algorithm = "bfgs"   // inverse Hessian from all steps: dim² memory
	Newton Algorithm = "newton" // exact Hessian
)

// Algorithms lists the algorithms, the default first.
func Algorithms() []Algorithm { return []Algorithm{LBFGS, BFGS, Newton} }

// Options are options of [Maximize]. The zero value is Stan's default. A tolerance of 0 means the
// default, and a negative one disables the criterion.
type Options struct {
	Algorithm  Algorithm // "": LBFGS
	Iterations int       // maximum number; 0: 2000
	History    int       // steps that LBFGS remembers; 0: 5
	InitAlpha  float64   // first step of the first line search; 0: 0.001

	// The criteria of LBFGS and BFGS. Here Δf is the change of the log density f in an iteration, g
	// is the gradient of f, p the direction of the next step, and ε = 2⁻⁵².
	TolObj     float64 // |Δf| < TolObj; 0: 1e-12. Newton: 1e-8
	TolRelObj  float64 // |Δf| / max(|f|, |f before|, 1) < TolRelObj·ε; 0: 1e4
	TolGrad    float64 // ‖g‖ < TolGrad; 0: 1e-8
	TolRelGrad float64 // |pᵀg| / max(|f|, 1) < TolRelGrad·ε; 0: 1e7
	TolParam   float64 // ‖Δx‖ < TolParam; 0: 1e-8

	// Progress, if not nil, is called at the start and after each iteration. Its argument is valid
	// until it returns.
	Progress func(*Iteration)
}

func (o Options) withDefaults() Options {
	if o.Algorithm == "" {
		o.Algorithm = LBFGS
	}
	def(&o.Iterations, 2000)
	def(&o.History, 5)
	def(&o.InitAlpha, 1e-3)
	if o.Algorithm == Newton {
		def(&o.TolObj, 1e-8)
	}
	def(&o.TolObj, 1e-12)
	def(&o.TolRelObj, 1e4)
	def(&o.TolGrad, 1e-8)
	def(&o.TolRelGrad, 1e7)
	def(&o.TolParam, 1e-8)
	return o
}

func def[T int | float64](v *T, standard T) {
	if *v == 0 {
		*v = standard
	}
}

// check returns an error for invalid options, after withDefaults.
func (o Options) check() error {
	switch {
	case o.Algorithm != LBFGS && o.Algorithm != BFGS && o.Algorithm != Newton:
		return fmt.Errorf("unknown algorithm %q; it can be %s, %s or %s", o.Algorithm, LBFGS, BFGS, Newton)
	case o.Iterations < 0 || o.History < 0:
		return fmt.Errorf("iterations (%d) and history (%d) must be positive", o.Iterations, o.History)
	case !(o.InitAlpha > 0) || math.IsInf(o.InitAlpha, 1):
		return fmt.Errorf("the first step must be positive, but is %v", o.InitAlpha)
	}
	return nil
}

// Iteration is the state of an optimisation after an iteration.
type Iteration struct {
	Number      int // 0: the start
	X, Gradient []float64
	LogDensity  float64
	Step        float64 // length of the last step
	Alpha       float64 // step size of the last line search, as a multiple of the direction
	Alpha0      float64 // step size that this search tried first
	Evaluations int64   // of the log density and its gradient so far
	Note        string  // remark on something unusual
}

// GradientNorm is the length of the gradient.
func (i *Iteration) GradientNorm() float64 { return floats.Norm(i.Gradient, 2) }

// GradientNorm is the length of the gradient.
func (r *Result) GradientNorm() float64 { return floats.Norm(r.Gradient, 2) }

// Reason says why an optimisation ended. Its values are Stan's codes.
type Reason int

// The reasons.
const (
	LineSearchFailed Reason = -1
	ParamsConverged  Reason = 10
	ObjConverged     Reason = 20
	RelObjConverged  Reason = 21
	GradConverged    Reason = 30
	RelGradConverged Reason = 31
	OutOfIterations  Reason = 40
)

// String returns Stan's message.
func (r Reason) String() string {
	switch r {
	case LineSearchFailed:
		return "Line search failed to achieve a sufficient decrease, no more progress can be made"
	case ParamsConverged:
		return "Convergence detected: absolute parameter change was below tolerance"
	case ObjConverged:
		return "Convergence detected: absolute change in objective function was below tolerance"
	case RelObjConverged:
		return "Convergence detected: relative change in objective function was below tolerance"
	case GradConverged:
		return "Convergence detected: gradient norm is below tolerance"
	case RelGradConverged:
		return "Convergence detected: relative gradient magnitude is below tolerance"
	case OutOfIterations:
		return "Maximum number of iterations hit, may not be at an optima"
	}
	return fmt.Sprintf("reason %d", int(r))
}

// Converged reports whether a criterion of convergence was met.
func (r Reason) Converged() bool { return r >= ParamsConverged && r < OutOfIterations }

// Result is the outcome of [Maximize]: the best point found, converged or not.
type Result struct {
	X, Gradient []float64
	LogDensity  float64
	Iterations  int
	Evaluations int64 // of the log density and its gradient
	Reason      Reason
	Rejections  []infer.Rejection
}

// Maximize climbs from x to a local maximum of the log density. It fails if the options are wrong,
// if the target cannot be evaluated at x, or if the target returns a fatal error. When ctx ends, it
// returns the point reached, and an error that wraps infer.ErrInterrupted. A lack of convergence is
// no error: see [Result.Reason].
func Maximize(ctx context.Context, target infer.LogDensity, x []float64, options Options) (_ *Result, err error) {
	defer infer.Recover(&err)
	if err := wanted(ctx, target); err != nil {
		return nil, err
	}
	options = options.withDefaults()
	if err := options.check(); err != nil {
		return nil, err
	}
	if options.Algorithm == Newton || options.Algorithm == BFGS {
		if err := infer.CheckSquares(target, 4, fmt.Sprintf("use the algorithm %s, or allow for more memory", LBFGS)); err != nil {
			return nil, err
		}
	}
	o := newObjective(ctx, target)
	s, err := newAscent(o, x, options)
	if err != nil {
		return nil, err
	}
	s.tell()
	step := s.quasiNewton
	if options.Algorithm == Newton {
		step = s.newton
	}
	for s.reason == 0 && err == nil {
		if len(x) == 0 {
			s.reason = GradConverged
			break
		}
		if err = step(); err == nil {
			s.tell()
		}
	}
	return s.result(), err
}

// ascent is a running optimisation. f is the negative log density.
type ascent struct {
	*objective
	options Options
	approx  inverseHessian

	x, g, p             []float64 // point, gradient of f, direction of the next step
	f                   float64
	oldX, oldG, oldP    []float64 // of the previous iteration
	oldF, oldAlpha      float64
	step, alpha, alpha0 float64
	iteration           int

	lastStep, lastChange []float64 // of point and gradient, by the last iteration; never modified
	room                 []float64 // memory for further steps and changes

	note   string
	reason Reason
}

func newAscent(o *objective, x []float64, options Options) (*ascent, error) {
	d := len(x)
	if d != o.meter.Dim() {
		return nil, fmt.Errorf("a start of %d numbers for a log density of %d parameters", d, o.meter.Dim())
	}
	s := &ascent{objective: o, options: options}
	room := make([]float64, 6*d)
	for _, v := range []*[]float64{&s.x, &s.g, &s.p, &s.oldX, &s.oldG, &s.oldP} {
		*v, room = room[:d:d], room[d:]
	}
	copy(s.x, x)
	var ok bool
	var err error
	if s.f, ok, err = o.at(s.x, s.g); err != nil {
		return nil, err
	}
	if !ok {
		return nil, &infer.InitError{Attempts: 1, Reason: errNoStart}
	}
	for i, g := range s.g {
		s.p[i] = -g
	}
	switch options.Algorithm {
	case LBFGS:
		s.approx = newLimited(d, options.History)
	case BFGS:
		s.approx = newFull(d)
	}
	return s, nil
}

// tell calls Progress, if it is set.
func (s *ascent) tell() {
	if s.options.Progress == nil {
		return
	}
	grad := make([]float64, len(s.g))
	floats.ScaleTo(grad, -1, s.g)
	s.options.Progress(&Iteration{
		Number: s.iteration, X: s.x, Gradient: grad, LogDensity: -s.f, Step: s.step,
		Alpha: s.alpha, Alpha0: s.alpha0, Evaluations: s.meter.Gradients(), Note: s.note,
	})
}

func (s *ascent) result() *Result {
	grad := make([]float64, len(s.g))
	floats.ScaleTo(grad, -1, s.g)
	return &Result{
		X: s.x, Gradient: grad, LogDensity: -s.f, Iterations: s.iteration,
		Evaluations: s.meter.Gradients(), Reason: s.reason, Rejections: s.meter.Rejections(),
	}
}

// converged checks the criteria after an iteration, in Stan's order.
func (s *ascent) converged() Reason {
	const epsilon = 0x1p-52
	o := s.options
	change := math.Abs(s.f - s.oldF)
	scale := max(math.Abs(s.f), 1)
	switch {
	case change < o.TolObj:
		return ObjConverged
	case floats.Norm(s.g, 2) < o.TolGrad:
		return GradConverged
	case s.step < o.TolParam:
		return ParamsConverged
	case s.iteration >= o.Iterations:
		return OutOfIterations
	case change/max(scale, math.Abs(s.oldF)) < o.TolRelObj*epsilon:
		return RelObjConverged
	case -floats.Dot(s.p, s.g)/scale < o.TolRelGrad*epsilon && o.TolRelGrad > 0:
		return RelGradConverged
	}
	return 0
}
