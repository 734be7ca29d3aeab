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

// attempts is the number of times that a random start is tried.
const attempts = 100

// starting is where chains start.
type starting struct {
	at     []infer.Init // by chain
	failed []error      // by chain: why there is no start
	radius float64
	random bool // something of it is: trying again may help
}

// starts reads the argument init.
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

// unfit adds CmdStan's words to the error about initial values from which no chain can start.
func unfit(err error) error {
	bounded := regexp.MustCompile("^the initial value of .* is (.*), but must be (greater|less) than ")
	for _, d := range model.Diagnostics(err) {
		if m := bounded.FindStringSubmatch(d.Summary); m != nil {
			return fmt.Errorf("Exception: Bounded variable is %s, but must be within its bounds\n%w", m[1], err)
		}
	}
	return err
}

// find tries starts of a chain until the density is finite, and reports why the others were
// rejected. Timing prints the time per gradient.
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

// generate computes what a row of a file holds at a point. Generated quantities that
// fail are reported, and are NaN.
func (r *run) values(p *model.Posterior, x []float64, rng *rand.Rand, dst []float64) {
	for i := range dst {
		dst[i] = math.NaN()
	}
	if err := p.Generate(x, rng, dst); err != nil {
		r.say("%s", reason(err))
	}
}

// single finds the only start.
func (r *run) single(p *model.Posterior, timing bool) ([]float64, error) {
	s, err := r.starts(p)
	if err != nil {
		return nil, err
	}
	return r.find(p, s, 0, timing)
}

// errNoParameters says that a method has nothing to do.
func errNoParameters(what string) error {
	return fmt.Errorf("Model has 0 parameters, cannot run %s.", what)
}
