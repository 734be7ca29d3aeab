package executable

//lint:file-ignore ST1005 errors are in CmdStan's words, which front ends look for

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/model"
)

// attempts is the number of random starts to try.
const attempts = 100

// starting has the starts of all chains.
type starting struct {
	at     []infer.Init // starting point of each chain
	failed []error      // why a chain has no starting point
	radius float64
	random bool // starts are partly random, so trying again may help
}

// starts evaluates the argument init.
func (r *run) starts(p *model.Posterior) (*starting, error) {
	init := r.config.Text("init")
	s := &starting{at: make([]infer.Init, r.chains), failed: make([]error, r.chains), radius: 2}
	if x, err := strconv.ParseFloat(init, 64); err == nil {
		s.radius, s.random = math.Abs(x), x != 0
		for i := range s.at {
			s.at[i] = infer.Uniform{Radius: s.radius}
		}
		return s, nil
	}
	files, err := r.readEach(init)
	if err != nil {
		return nil, err
	}
	for i, values := range files {
		x, err := p.Unconstrain(values)
		if err != nil {
			s.failed[i] = unfit(err)
			continue
		}
		for _, v := range x {
			s.random = s.random || v != v
		}
		s.at[i] = infer.At{Positions: [][]float64{x}, Radius: s.radius}
	}
	return s, nil
}

// unfit adds CmdStan's words to an error about initial values outside their bounds.
func unfit(err error) error {
	bounded := regexp.MustCompile("^the initial value of .* is (.*), but must be (greater|less) than ")
	for _, d := range model.Diagnostics(err) {
		if m := bounded.FindStringSubmatch(d.Summary); m != nil {
			return fmt.Errorf("Exception: Bounded variable is %s, but must be within its bounds\n%w", m[1], err)
		}
	}
	return err
}

// find tries starts of a chain until the density is finite, and prints why others were rejected.
// With timing, it prints the time per gradient.
func (r *run) find(p *model.Posterior, s *starting, chain int, timing bool) ([]float64, error) {
	if err := s.failed[chain]; err != nil {
		r.complain("Unrecoverable error evaluating the log probability at the initial value.")
		return nil, err
	}
	x, grad := make([]float64, p.Dim()), make([]float64, p.Dim())
	rng := infer.Stream(r.config.Seed(), r.id+chain, "init", 0)
	tries := 1
	if s.random && p.Dim() > 0 {
		tries = attempts
	}
	for range tries {
		if err := s.at[chain].Propose(rng, 0, x); err != nil {
			return nil, err
		}
		begun := time.Now()
		v, err := p.LogDensityGrad(x, grad)
		took := time.Since(begun)
		var rejection *compile.Rejection
		switch {
		case err != nil && (!errors.As(err, &rejection) || rejection.Fatal()):
			r.complain("Unrecoverable error evaluating the log probability at the initial value.")
			return nil, err
		case err != nil:
			r.say("Rejecting initial value:\n  Error evaluating the log probability at the initial value.\n%s", reason(err))
			continue
		case math.IsNaN(v) || math.IsInf(v, 0):
			r.say("Rejecting initial value:\n  Log probability evaluates to log(0), i.e. negative infinity.\n  Stan can't start sampling from this initial value.")
			continue
		case !finite(grad):
			r.say("Rejecting initial value:\n  Gradient evaluated at the initial value is not finite.\n  Stan can't start sampling from this initial value.")
			continue
		}
		if timing {
			s := took.Seconds()
			r.say("\nGradient evaluation took %s seconds\n1000 transitions using 10 leapfrog steps per transition would take %s seconds.\nAdjust your expectations accordingly!\n\n",
				strconv.FormatFloat(s, 'g', 6, 64), strconv.FormatFloat(s*1e4, 'g', 6, 64))
		}
		return x, nil
	}
	if s.random {
		radius := strconv.FormatFloat(s.radius, 'g', 6, 64)
		r.say("")
		r.complain("Initialization between (-%s, %s) failed after %d attempts. ", radius, radius, tries)
		r.complain(" Try specifying initial values, reducing ranges of constrained values, or reparameterizing the model.")
	}
	return nil, errors.New("Initialization failed.")
}

func finite(all []float64) bool {
	for _, v := range all {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// values computes the values of a row of a file at a point. Failures of generated quantities are
// printed, and their values are NaN.
func (r *run) values(p *model.Posterior, x []float64, rng *rand.Rand, dst []float64) {
	for i := range dst {
		dst[i] = math.NaN()
	}
	if err := p.Generate(x, rng, dst); err != nil {
		r.say("%s", reason(err))
	}
}

// single finds the start of a method that needs only one.
func (r *run) single(p *model.Posterior, timing bool) ([]float64, error) {
	s, err := r.starts(p)
	if err != nil {
		return nil, err
	}
	return r.find(p, s, 0, timing)
}

// errNoParameters is the error for a method that needs parameters.
func errNoParameters(what string) error {
	return fmt.Errorf("Model has 0 parameters, cannot run %s.", what)
}
