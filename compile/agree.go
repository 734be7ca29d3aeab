package compile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/internal/cputime"
)

// This file: does the compiled log density agree with the reference evaluator, which runs the
// program statement by statement? Runs ask that at some of their own draws.
//
// # What counts as rounding
//
// Two correct evaluations of one sum of numbers differ by a few units in the last place of the
// sum of their absolute values, more where the statements amplify rounding. So the tolerance of
// the value has three parts:
//
//   - agreeSum of the sum of the absolute values of what is added to the log density. The
//     worst correct pair among 54 000 random programs is below 1e-12 of it;
//   - agreeNoise times the change of the reference when every coordinate moves by a few units in
//     the last place, which measures how much the statements amplify rounding (an ill-conditioned
//     matrix, a difference of large numbers);
//   - agreeSolver times the tolerance of the solvers that the program calls (ODEs, integrals,
//     algebraic equations; see solvers.go), of that sum: one rounding may change the number of
//     steps, and then the result by about the tolerance. Far from the data it reached 0.9e-6 of the
//     sum for a tolerance of 1e-6 (lotka_volterra, coordinates up to 6). A loop of the program
//     itself earns nothing.
//
// A difference beyond these is wrong only if it is also beyond agreeRounding times the rounding
// error that the derivatives of the reference predict. That takes long, so it is asked last.
//
// A difference of log densities below 1e-6 changes no estimate, so that the parts are generous:
// they are there to prevent false alarms.
//
// The slope is compared with central differences of the reference along one direction, in which
// every coordinate moves. Mostly one difference agrees with it. Otherwise the error of differences
// is measured by two step sizes; where it is more than a part maxVague of the slope, nothing is
// concluded.
const (
	agreeSum    = 1e-10
	agreeNoise  = 1000
	agreeSolver = 10
	maxSolver   = 1e-5 // the most that agreeSolver gives, however loose the tolerance
	// maxSolverNoise is the most by which, of that sum, neighbouring solutions differ beyond their
	// slope: by the tolerance if that is less.
	maxSolverNoise = 1e-6
	// agreeRounding is the number of roundings in an operation: functions have errors of a few
	// units.
	agreeRounding = 16
	agreeSlope    = 1e-5
	// Derivatives of solutions hold to solverSlope times the solver's tolerance, which users may
	// set to 1e-3, and to maxSolverSlope. They differed from differences by 4e-6 at most, for 1e-6.
	solverSlope    = 100
	maxSolverSlope = 1e-2
	maxVague       = 0.05

	minStep = 1e7 // roundings of the largest coordinate, for differences to have the digits of agreeSlope
	ulps    = 8   // by how many units in the last place of 1, or of itself, a coordinate moves
)

// Verdict is what a comparison comes to.
type Verdict int

// The verdicts.
const (
	Agrees   Verdict = iota
	Vague            // the point says nothing: the density is infinite there, or rounding hides it
	TooLong          // the reference took longer than was allowed
	Differs          // the log density is wrong
	Slopes           // its gradient is wrong
	Rejected         // the reference rejects the point, and the compiled program does not
	Refused          // the compiled program rejects the point, or gives no number, and the reference does not
	Output           // a transformed parameter or generated quantity is wrong, see [Comparer.Outputs]
)

// Agreement is a comparison of the compiled log density with the reference at a point.
type Agreement struct {
	Verdict Verdict

	Compiled, Reference, Tolerance float64 // log densities

	// Slopes along a direction, if Sloped.
	Sloped                                        bool
	CompiledSlope, ReferenceSlope, SlopeTolerance float64
	Direction                                     []float64
	Reason                                        string // of a rejection, or why nothing was compared
	Name                                          string // of the output that differs
	Outputs, Drawn                                int    // of a comparison of outputs: compared, and left out as draws decide them
	Evaluations                                   int    // of the reference
	Elapsed                                       time.Duration
}

// Wrong reports whether the two disagree by more than rounding explains.
func (a *Agreement) Wrong() bool { return a.Verdict >= Differs }

// Excess is the larger of the two differences, in units of its tolerance.
func (a *Agreement) Excess() float64 {
	e := 0.0
	if a.Tolerance > 0 {
		e = math.Abs(a.Compiled-a.Reference) / a.Tolerance
	}
	if a.Sloped && a.SlopeTolerance > 0 {
		e = max(e, math.Abs(a.CompiledSlope-a.ReferenceSlope)/a.SlopeTolerance)
	}
	return e
}

// What ends an evaluation of the reference: the time, or the model's own stop.
var (
	errLong        = errors.New("the reference evaluation took longer than was allowed")
	errInterrupted = errors.New("the comparison was interrupted")
)

// agreeing is a comparison under way.
type agreeing struct {
	m       *Model
	plain   *interp.Model
	solver  float64 // tolerance of the program's solvers; 0: there are none
	outer   *ad.Env // of the model that is compared
	a       *Agreement
	asked   func() error // see Comparer.Stop
	began   time.Duration
	allowed time.Duration
}

// suspicious is the time that a comparison has at least once something looks wrong: to find out is
// worth more than to keep to the time.
const suspicious = time.Minute

// suspiciousSlope is the part of a slope by which a single difference is off at least where it
// looks wrong: less is mostly the error of the difference.
const suspiciousSlope = 1e-3

// Comparer compares a model with the reference evaluator. It keeps what both need between
// comparisons. It is for one goroutine at a time, and evaluates a clone of the model.
type Comparer struct {
	m     *Model
	quiet *Model // the clone
	plain *interp.Model
	now   *agreeing // the comparison under way

	// Stop, if not nil, is asked during evaluations; an error ends them, as that of SetStop does.
	Stop func() error

	solver float64 // tolerance of the program's solvers; 0: there are none
	// The same of its outputs, and which of the variables depend on random draws.
	outputSolver float64
	drawn        map[*ir.Var]bool
}

// Comparer makes one.
func (m *Model) Comparer() (*Comparer, error) {
	plain, err := m.plain()
	if err != nil {
		return nil, err
	}
	c := &Comparer{m: m, quiet: m.Clone(), plain: plain, solver: m.solverTolerance(m.program.TransformedParameters, m.program.Model)}
	c.outputSolver = m.solverTolerance(m.program.TransformedParameters, m.program.GeneratedQuantities)
	c.drawn = static.Drawn(static.NewFunctions(), m.program.GeneratedQuantities)
	c.quiet.prints, c.quiet.env = nil, &ad.Env{Stop: func() error { return c.now.stop() }}
	return c, nil
}

// Agree compares the log density, and its slope along a random direction, with the reference
// evaluator at the unconstrained point x. It takes two evaluations of the reference where they
// agree to the last digits, up to seventeen elsewhere, and ends soon after the processor time
// allowed is over: before log densities were compared with the verdict TooLong, later without
// slopes. What looks wrong has a minute more. An evaluation is left only in the midst of long
// loops, so that log densities of short programs are compared whatever the time. What the program
// prints is not shown.
func (c *Comparer) Agree(x []float64, rng *rand.Rand, allowed time.Duration) (*Agreement, error) {
	return c.within(x, c.solver, allowed, func(now *agreeing) error { return now.compare(x, rng) })
}

// within makes a comparison at a point within a time.
func (c *Comparer) within(x []float64, solver float64, allowed time.Duration, compare func(now *agreeing) error) (*Agreement, error) {
	if err := c.m.at(x); err != nil {
		return nil, err
	}
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	now := &agreeing{m: c.quiet, plain: c.plain, solver: solver, outer: c.m.env, asked: c.Stop, a: &Agreement{}, allowed: allowed, began: cputime.Thread()}
	c.now = now
	err := compare(now)
	now.a.Elapsed = cputime.Thread() - now.began
	if errors.Is(err, errLong) {
		if now.a.Tolerance == 0 {
			now.a.Verdict, now.a.Reason = TooLong, errLong.Error()
		}
		err = nil
	}
	return now.a, err
}

// Agree is [Comparer.Agree] for one comparison.
func (m *Model) Agree(x []float64, rng *rand.Rand, allowed time.Duration) (*Agreement, error) {
	if err := m.at(x); err != nil {
		return nil, err
	}
	c, err := m.Comparer()
	if err != nil {
		return nil, err
	}
	return c.Agree(x, rng, allowed)
}

// stop ends evaluations that take too long, and those of a run that was interrupted.
func (c *agreeing) stop() error {
	for _, stop := range []func() error{c.outer.Stop, c.asked} {
		if stop == nil {
			continue
		}
		if err := stop(); err != nil {
			return fmt.Errorf("%w: %w", errInterrupted, err)
		}
	}
	if cputime.Thread()-c.began > c.allowed {
		return errLong
	}
	return nil
}

// reference evaluates the reference.
func (c *agreeing) reference(x []float64) (interp.Value, error) {
	v, err := c.plain.Density(c.m.split(x), c.m.env)
	if err == nil || !errors.Is(err, errLong) {
		c.a.Evaluations++
	}
	return v, err
}

// stopped reports whether an error of the reference ends the comparison.
func stopped(err error) bool {
	var fatal interface{ Fatal() bool }
	return errors.Is(err, errLong) || errors.Is(err, errInterrupted) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, new(*ad.LimitError)) || errors.As(err, &fatal) && fatal.Fatal()
}

// solved is by how much of the sum of absolute values two correct evaluations differ where the
// program calls solvers.
func (c *agreeing) solved() float64 { return min(agreeSolver*c.solver, maxSolver) }

// nearby is by how much, of that sum, neighbouring solutions differ beyond their slope: a small
// move may change the number of steps.
func (c *agreeing) nearby() float64 { return min(c.solver, maxSolverNoise) }

// relative is the relative error of a slope.
func (c *agreeing) relative() float64 {
	return max(agreeSlope, min(solverSlope*c.solver, maxSolverSlope))
}

func (c *agreeing) compare(x []float64, rng *rand.Rand) error {
	a := c.a
	grad := make([]float64, len(x))
	lp, errCompiled := c.m.LogDensityGrad(x, grad)
	if stopped(errCompiled) {
		return errCompiled
	}
	if errCompiled == nil && finite(lp) {
		if done, err := c.atOnce(x, grad, rng); done || err != nil {
			return err
		}
	}
	want, errWant := c.reference(x)
	if stopped(errWant) {
		return errWant
	}
	a.Compiled, a.Reference = lp, want.Density
	unknown := func(reason string) error {
		a.Verdict, a.Reason = Vague, reason
		return nil
	}
	if errCompiled != nil || !finite(lp) {
		reason := fmt.Sprintf("the log density is %v", lp)
		if errCompiled != nil {
			reason = "the compiled program rejects the point: " + errCompiled.Error()
		}
		if errWant == nil && finite(want.Density) {
			refused, err := c.refused(x, rng)
			if err != nil {
				return err
			}
			if refused {
				a.Verdict, a.Reason, a.Compiled = Refused, reason, 0
				return nil
			}
		}
		return unknown(reason)
	}
	if !allFinite(grad) {
		return c.notFinite(x, grad, rng, errWant == nil && finite(want.Density))
	}
	sum := max(1, want.Magnitude)
	expected := agreeSum * sum
	expected += c.solved() * sum
	if errWant != nil || math.Abs(lp-want.Density) > expected {
		c.allowed = max(c.allowed, suspicious)
	}
	// How much rounding matters here. Roundings of coordinates that cancel, as in a - b, may cancel
	// at the points below too, so the gradient tells first.
	noise, rejected := 0.0, errWant
	for i, v := range x {
		noise += ulps * 0x1p-52 * max(1, math.Abs(v)) * math.Abs(grad[i])
	}
	var gradients [][]float64 // of the compiled program at points a few roundings away
	for range 2 {
		near := roundedAway(x, rng)
		g := make([]float64, len(x))
		if _, err := c.m.LogDensityGrad(near, g); err == nil {
			gradients = append(gradients, g)
		}
		v, err := c.reference(near)
		switch {
		case stopped(err):
			return err
		case err != nil != (errWant != nil):
			return unknown("the reference rejects a point a few roundings away: it lies on a boundary")
		case err == nil:
			noise = max(noise, math.Abs(v.Density-want.Density))
		}
	}
	if rejected != nil {
		if errors.As(rejected, new(*ad.RejectError)) || errors.As(rejected, new(*ad.CheckError)) {
			a.Verdict, a.Reason = Rejected, rejected.Error()
			return nil
		}
		return unknown("the reference fails: " + rejected.Error())
	}
	if !finite(want.Density) || !finite(noise) {
		return unknown(fmt.Sprintf("the reference log density is %v", want.Density))
	}
	a.Tolerance = expected + agreeNoise*noise
	if a.Tolerance > maxVague*sum && a.Tolerance > 1 {
		return unknown("rounding errors are too large here")
	}
	if difference := math.Abs(lp - want.Density); difference > a.Tolerance {
		// Neighbours of x do not show the rounding of what is computed from it: 1 - inv_logit(33)
		// has two digits.
		rounding, err := c.rounding(x)
		if err != nil {
			return err
		}
		if !(difference > agreeRounding*rounding) || math.IsInf(rounding, 1) {
			return unknown("rounding errors are too large here")
		}
		a.Verdict = Differs
		return nil
	}
	// Where rounding moves the log density by 1, what is computed within it, such as weights of a
	// log_sum_exp, may have no digits left.
	if noise = max(noise, 0x1p-52*sum); agreeRounding*noise > 1 {
		return nil
	}
	noise = max(noise, c.nearby()*sum)
	return c.slope(x, grad, gradients, noise, rng)
}

// refused reports whether the compiled program has no log density a few roundings around x, where
// the reference has one. Solvers may fail by roundings.
func (c *agreeing) refused(x []float64, rng *rand.Rand) (bool, error) {
	if c.solver > 0 {
		return false, nil
	}
	c.allowed = max(c.allowed, suspicious)
	unused := make([]float64, len(x))
	for range 3 {
		near := roundedAway(x, rng)
		lp, err := c.m.LogDensityGrad(near, unused)
		if err := stoppedOnly(err); err != nil {
			return false, err
		}
		want, errWant := c.reference(near)
		if err := stoppedOnly(errWant); err != nil {
			return false, err
		}
		if err == nil && finite(lp) || errWant != nil || !finite(want.Density) {
			return false, nil
		}
	}
	return true, nil
}

// notFinite looks at a gradient that is not finite where the log density is: it is wrong if that of
// what the reference executes is, at x and a few roundings away.
func (c *agreeing) notFinite(x, grad []float64, rng *rand.Rand, comparable bool) error {
	a := c.a
	a.Verdict, a.Reason = Vague, "the gradient is not finite"
	if !comparable {
		return nil
	}
	c.allowed = max(c.allowed, suspicious)
	reference := c.m.Reference()
	reference.env.Stop = c.stop
	again, want := make([]float64, len(x)), make([]float64, len(x))
	for _, at := range [][]float64{roundedAway(x, rng), x} {
		_, err := c.m.LogDensityGrad(at, again)
		_, errWant := reference.LogDensityGrad(at, want)
		if err := errors.Join(stoppedOnly(err), stoppedOnly(errWant)); err != nil {
			return err
		}
		if err != nil || errWant != nil || allFinite(again) || !allFinite(want) {
			return nil
		}
	}
	direction, _, _ := drawDirection(grad, rng)
	a.Verdict, a.Sloped, a.Direction, a.CompiledSlope = Slopes, true, direction, math.NaN()
	for i, d := range direction {
		a.ReferenceSlope += d * want[i]
	}
	return nil
}

func allFinite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return !finite(v) })
}

// roundedAway is a point a few roundings away.
func roundedAway(x []float64, rng *rand.Rand) []float64 {
	near := slices.Clone(x)
	for i, v := range near {
		near[i] = v + (2*float64(rng.IntN(2))-1)*ulps*0x1p-52*max(1, math.Abs(v))
	}
	return near
}

// drawDirection draws a direction in which every coordinate moves. slope is the derivative of the
// compiled log density along it, size a measure of its terms.
func drawDirection(grad []float64, rng *rand.Rand) (direction []float64, slope, size float64) {
	direction = make([]float64, len(grad))
	for i := range direction {
		direction[i] = (0.5 + 0.5*rng.Float64()) * (2*float64(rng.IntN(2)) - 1)
		slope += direction[i] * grad[i]
		size += direction[i] * grad[i] * direction[i] * grad[i]
	}
	return direction, slope, math.Sqrt(size)
}

// difference is the central difference of the reference along a direction; NaN where it rejects a
// point.
func (c *agreeing) difference(x, direction []float64, h float64) (float64, error) {
	var ends [2]float64
	moved := make([]float64, len(x))
	for k, step := range []float64{h, -h} {
		if err := c.stop(); err != nil {
			return 0, err
		}
		for i, v := range x {
			moved[i] = v + step*direction[i]
		}
		v, err := c.reference(moved)
		switch {
		case stopped(err):
			return 0, err
		case err != nil:
			return math.NaN(), nil
		}
		ends[k] = v.Density
	}
	return (ends[0] - ends[1]) / (2 * h), nil
}

// atOnce compares the log density at two points near x, and their difference with the slope at x:
// it takes two evaluations of the reference, and mostly shows that the two agree. done is false
// where it does not: the rest of the comparison finds out why.
func (c *agreeing) atOnce(x, grad []float64, rng *rand.Rand) (done bool, err error) {
	h, digits := 5e-5, agreeSum+c.solved()
	if c.solver > 0 {
		h = 1e-3
	}
	direction, slope, size := drawDirection(grad, rng)
	if !finite(slope) {
		return false, nil
	}
	a := c.a
	defer func() {
		if !done && err == nil {
			*a = Agreement{Evaluations: a.Evaluations}
		}
	}()
	var ends [2]float64
	moved, unused := make([]float64, len(x)), make([]float64, len(x))
	for k, step := range []float64{h, -h} {
		if k == 1 && len(x) == 0 {
			return true, nil
		}
		if k == 1 {
			if err := c.stop(); err != nil {
				return false, err
			}
		}
		for i, v := range x {
			moved[i] = v + step*direction[i]
		}
		lp, err := c.m.LogDensityGrad(moved, unused)
		if err != nil {
			return false, stoppedOnly(err)
		}
		want, err := c.reference(moved)
		if err != nil {
			return false, stoppedOnly(err)
		}
		tolerance := digits * max(1, want.Magnitude)
		if !(math.Abs(lp-want.Density) <= tolerance) {
			return false, nil
		}
		a.Compiled, a.Reference, a.Tolerance, ends[k] = lp, want.Density, tolerance, want.Density
	}
	d := (ends[0] - ends[1]) / (2 * h)
	difference, tolerance := math.Abs(d-slope), c.relative()*size
	if difference > max(2*tolerance, suspiciousSlope*size) {
		c.allowed = max(c.allowed, suspicious)
	}
	if difference <= tolerance {
		a.Sloped, a.Direction, a.CompiledSlope, a.ReferenceSlope, a.SlopeTolerance = true, direction, slope, d, tolerance
		return true, nil
	}
	return false, nil
}

// stoppedOnly is an error that ends a comparison; nil for others.
func stoppedOnly(err error) error {
	if stopped(err) {
		return err
	}
	return nil
}

// slope compares the gradient along a direction. gradients are those of the compiled program a few
// roundings away: the derivative of an eigenvector, for one, amplifies rounding where the value
// does not.
func (c *agreeing) slope(x, grad []float64, gradients [][]float64, noise float64, rng *rand.Rand) error {
	a := c.a
	direction, slope, size := drawDirection(grad, rng)
	if !finite(slope) || len(x) == 0 {
		return nil
	}
	central := func(h float64) (float64, error) { return c.difference(x, direction, h) }
	amplified := 0.0
	for _, g := range gradients {
		d := 0.0
		for i, v := range direction {
			d += v * (g[i] - grad[i])
		}
		if amplified = max(amplified, math.Abs(d)); math.IsNaN(d) {
			amplified = d
		}
	}
	best, used, relative := math.Inf(1), 0.0, c.relative()
	farthest := 1.0
	for _, v := range x {
		farthest = max(farthest, math.Abs(v))
	}
	steps := []float64{1e-3, 5e-5, 2.5e-6}
	if c.solver > 0 { // noise hides the differences of short steps
		steps = []float64{1e-2, 1e-3}
	}
	for _, h := range steps {
		if h < minStep*0x1p-52*farthest {
			break
		}
		wide, err := central(h)
		if err != nil {
			return err
		}
		narrow, err := central(h / 2)
		if err != nil {
			return err
		}
		// Richardson's extrapolation; the difference of the two bounds its error.
		d, e := (4*narrow-wide)/3, math.Abs(narrow-wide)
		if tolerance := relative*size + 3*e + 30*noise/h + 30*amplified; tolerance < best { // false of NaN
			best = tolerance
			a.Sloped, a.Direction = true, direction
			a.CompiledSlope, a.ReferenceSlope, a.SlopeTolerance, used = slope, d, tolerance, h
		}
		if best <= 10*relative*size {
			break
		}
	}
	if a.Sloped = a.Sloped && best <= maxVague*max(size, 1); !a.Sloped {
		return nil
	}
	difference := math.Abs(a.CompiledSlope - a.ReferenceSlope)
	if difference <= a.SlopeTolerance {
		return nil
	}
	c.allowed = max(c.allowed, suspicious)
	// Where the log density oscillates faster than the steps, as iterated maps do, two differences
	// may agree by chance. Shorter steps then find the compiled slope.
	for h := used / 10; 30*noise/h < difference/4 && h > 1e3*0x1p-52*farthest; h /= 10 {
		d, err := central(h)
		if err != nil {
			return err
		}
		if math.Abs(d-a.CompiledSlope) <= difference/4 {
			a.Sloped = false
			return nil
		}
	}
	rounding, err := c.rounding(x)
	if err != nil {
		return err
	}
	a.SlopeTolerance += agreeRounding * rounding / used
	if a.Sloped = a.SlopeTolerance <= maxVague*max(size, 1); a.Sloped && difference > a.SlopeTolerance {
		a.Verdict = Slopes
	}
	return nil
}

// rounding is that of Model, with more time; 0 where it cannot be found: then nothing excuses a
// difference.
func (c *agreeing) rounding(x []float64) (float64, error) {
	c.allowed = max(c.allowed, suspicious)
	rounding, err := c.m.rounding(x)
	if err == nil {
		return rounding, nil
	}
	if err := c.stop(); err != nil && !errors.Is(err, errLong) {
		return 0, err // the run was interrupted
	}
	return 0, nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// AgreePart is Agree for a program whose reference takes longer than is allowed: it compares the
// first statements of the model block, as many as fit, bound anew with the same passes. share is
// that of the statements; 0, without an Agreement, if not even one fits.
func (m *Model) AgreePart(ctx context.Context, d *data.Set, x []float64, rng *rand.Rand, allowed time.Duration) (a *Agreement, share float64, err error) {
	if err := m.at(x); err != nil {
		return nil, 0, err
	}
	plain, err := m.plain()
	if err != nil {
		return nil, 0, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := cputime.Thread()
	// Agree takes two to seventeen evaluations, mostly two, and binding about one.
	env := &ad.Env{Stop: func() error {
		if cputime.Thread()-began > allowed/8 {
			return errLong
		}
		return nil
	}}
	done, err := plain.Prefix(m.split(x), env)
	if err != nil && !errors.Is(err, errLong) {
		return nil, 0, err
	}
	if done <= 0 {
		return nil, 0, nil
	}
	part := *m.program
	part.Model = part.Model[:done:done]
	p, err := (&Program{ir: &part}).bind(ctx, d, m.asked, m.fault)
	if err != nil {
		return nil, 0, err
	}
	a, err = p.Agree(x, rng, allowed)
	if err == nil {
		a.Elapsed = cputime.Thread() - began
	}
	return a, float64(done) / float64(len(m.program.Model)), err
}

// Passes are the names of the passes that may be left out of a program, in their order.
func Passes() []string { return passes.Names() }

// Reference is the model whose log density, and all else that it computes, is evaluated by the
// reference: statement by statement, slowly.
func (m *Model) Reference() *Model {
	c := m.Clone()
	bound := *m.bound
	bound.Density, bound.Constrained, bound.Generated = nil, nil, nil
	c.bound, c.density, c.machine, c.made, c.curvature = &bound, nil, nil, &made{}, &curvature{}
	return c
}

// Rebind binds the program again, to the data that it was bound to, without some more of the
// passes.
func (m *Model) Rebind(ctx context.Context, d *data.Set, without ...string) (*Model, error) {
	o := m.asked
	o.Without = slices.Concat(o.Without, without)
	return (&Program{ir: m.program}).bind(ctx, d, o, m.fault)
}

// String is the verdict in a few words.
func (v Verdict) String() string {
	return [...]string{"agrees", "says nothing", "too long", "the log density differs", "the gradient differs", "rejected by the reference alone", "rejected by the compiled program alone", "an output differs"}[v]
}
