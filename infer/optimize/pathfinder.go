package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
)

// PathOptions are options of [FollowPath], for one path of Pathfinder.
type PathOptions struct {
	// Options are the options of L-BFGS, where Iterations 0 means 1000.
	Options

	Draws     int // from the selected approximation; 0: 1000
	ELBODraws int // per estimate of the ELBO, to compare approximations; 0: 25

	// NoLogDensity does not evaluate the log density of the draws beyond ELBODraws. There are no
	// importance weights then.
	NoLogDensity bool
}

func (o PathOptions) withDefaults() PathOptions {
	def(&o.Iterations, 1000)
	def(&o.Draws, 1000)
	def(&o.ELBODraws, 25)
	o.Algorithm = LBFGS
	o.Options = o.Options.withDefaults()
	return o
}

func (o PathOptions) check() error {
	if o.Draws < 0 || o.ELBODraws < 1 {
		return fmt.Errorf("the numbers of draws (%d) and of draws for the ELBO (%d) must be positive", o.Draws, o.ELBODraws)
	}
	return o.Options.check()
}

// Path is the outcome of one path of [Pathfinder].
type Path struct {
	Draws       // draws; the first ELBODraws are those from which the ELBO was computed
	ID          int
	Start       []float64
	Mean        []float64 // of the selected approximation
	ELBO        float64   // its evidence lower bound
	Best        int       // iteration of L-BFGS at which it was found
	Iterations  int
	Evaluations int64
	Reason      Reason // why L-BFGS ended
	Rejections  []infer.Rejection
	Err         error // why there are no draws, or nil
}

// errNoEstimate says that no point of a path gave a usable approximation.
var errNoEstimate = errors.New("no point on the path to the mode gives an approximation with a finite log density at its draws")

// FollowPath runs one path of Pathfinder. It runs L-BFGS from x, and at each point forms a normal
// distribution from the curvature seen so far. The draws come from the distribution with the
// greatest evidence lower bound. Random numbers come from rng alone.
func FollowPath(ctx context.Context, target infer.LogDensity, x []float64, rng *rand.Rand, options PathOptions) (_ *Path, err error) {
	defer infer.Recover(&err)
	if err := wanted(ctx, target, rng); err != nil {
		return nil, err
	}
	options = options.withDefaults()
	if err := options.check(); err != nil {
		return nil, err
	}
	o := newObjective(ctx, target)
	s, err := newAscent(o, x, options.Options)
	if err != nil {
		return nil, err
	}
	d := len(x)
	path := &Path{Start: append([]float64(nil), x...), ELBO: math.Inf(-1)}
	defer func() {
		path.Iterations, path.Reason = s.iteration, s.reason
		path.Evaluations, path.Rejections = o.meter.Gradients(), o.meter.Rejections()
	}()
	alpha := make([]float64, d)
	for i := range alpha {
		alpha[i] = 1
	}
	var steps, changes [][]float64
	var best *inverse
	consider := func() error {
		q := newInverse(s.x, s.g, alpha, steps, changes)
		if q == nil {
			return nil
		}
		var draws Draws
		if err := sample(o, q, rng, options.ELBODraws, true, &draws); err != nil {
			return err
		}
		elbo := 0.0
		for i, p := range draws.LogP {
			elbo += (p - draws.LogQ[i]) / float64(len(draws.LogP))
		}
		if elbo > path.ELBO {
			path.ELBO, path.Best, path.Draws, best = elbo, s.iteration, draws, q
		}
		return nil
	}
	s.tell()
	if d == 0 { // a constant
		s.reason = GradConverged
		if err := consider(); err != nil {
			return nil, err
		}
	}
	for s.reason == 0 {
		if err := s.quasiNewton(); err != nil {
			return nil, err
		}
		if s.reason == LineSearchFailed {
			break
		}
		step, change := make([]float64, d), make([]float64, d)
		floats.SubTo(step, s.x, s.oldX)
		floats.SubTo(change, s.g, s.oldG)
		if tame(step, change) {
			improveDiagonal(alpha, step, change)
			steps, changes = append(steps, step), append(changes, change)
			if len(steps) > options.History {
				steps, changes = steps[1:], changes[1:]
			}
		}
		if err := consider(); err != nil {
			return nil, err
		}
		s.tell()
	}
	if best == nil {
		return path, errNoEstimate
	}
	path.Mean = best.mean
	if n := options.Draws - len(path.Points); n > 0 {
		if err := sample(o, best, rng, n, !options.NoLogDensity, &path.Draws); err != nil {
			return nil, err
		}
	} else {
		path.Draws = Draws{path.Points[:options.Draws], path.LogP[:options.Draws], path.LogQ[:options.Draws]}
	}
	return path, nil
}

// tame reports whether the curvature along a step is positive and not too large to use.
func tame(step, change []float64) bool {
	sy := floats.Dot(step, change)
	return sy > 0 && floats.Dot(change, change)/sy <= 1e12
}

// improveDiagonal updates the diagonal alpha of the inverse Hessian from a step s and its change y
// of the gradient (Gilbert and Lemaréchal 1989, equation 4.9).
func improveDiagonal(alpha, s, y []float64) {
	var yay, ys, sas float64
	for i, a := range alpha {
		yay += y[i] * a * y[i]
		ys += y[i] * s[i]
		sas += s[i] * s[i] / a
	}
	for i, a := range alpha {
		alpha[i] = ys / (yay/a + y[i]*y[i] - yay/sas*(s[i]/a)*(s[i]/a))
	}
}
