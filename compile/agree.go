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

// This file compares the compiled log density with the reference evaluator, which runs the program
// statement by statement. Sampling runs do so at some of their draws.
//
// # What counts as rounding
//
// Two correct evaluations of one sum of numbers differ by a few units in the last place of the
// sum of their absolute values, more where the statements amplify rounding. So the tolerance of
// the value has three parts:
//
//   - agreeSum times the sum of the absolute values of the terms of the log density. The worst
//     correct pair among 54 000 random programs differs by less than 1e-12 of this sum;
//   - agreeNoise times the change of the reference when every coordinate moves by a few units in
//     the last place, which measures how much the statements amplify rounding (an ill-conditioned
//     matrix, a difference of large numbers);
//   - agreeSolver times the tolerance of the solvers that the program calls, times that sum (ODEs,
//     integrals, algebraic equations; see solvers.go). One rounding may change the number of steps,
//     and then the result changes by about the tolerance. Far from the data the difference reached
//     0.9e-6 of the sum for a tolerance of 1e-6 (lotka_volterra, coordinates up to 6). A loop
//     written in the program adds no tolerance.
//
// A difference beyond these is wrong only if it is also beyond agreeRounding times the rounding
// error that the derivatives of the reference predict. This check is slow, so it comes last.
//
// A difference of log densities below 1e-6 changes no estimate. So these tolerances are generous,
// to prevent false alarms.
//
// The slope is compared with central differences of the reference along one direction, in which
// every coordinate moves. Usually the first difference agrees. Otherwise two step sizes measure the
// error of the differences. If this error exceeds maxVague times the slope, the verdict is left
// open.
const (
	agreeSum    = 1e-10
	agreeNoise  = 1000
	agreeSolver = 10
	maxSolver   = 1e-5 // upper bound of that part, however loose the tolerance
	// maxSolverNoise bounds the difference of neighbouring solutions beyond their slope, as a part
	// of that sum. The solver's tolerance applies if it is smaller.
	maxSolverNoise = 1e-6
	// agreeRounding is the number of roundings assumed for an operation, since functions have
	// errors of a few units in the last place.
	agreeRounding = 16
	agreeSlope    = 1e-5
	// Derivatives of solutions may be off by solverSlope times the solver's tolerance, at most by
	// maxSolverSlope. Users may set tolerances as loose as 1e-3. For a tolerance of 1e-6, the
	// derivatives and the differences disagreed by at most 4e-6.
	solverSlope    = 100
	maxSolverSlope = 1e-2
	maxVague       = 0.05

	minStep = 1e7 // min step in roundings of the largest coordinate, for accuracy agreeSlope
	ulps    = 8   // coordinates move by this many units in the last place of 1, or of themselves
)

// Verdict is the result of a comparison.
type Verdict int

// The verdicts.
const (
	Agrees   Verdict = iota
	Vague            // the point decides nothing: the density is infinite, or rounding is too large
	TooLong          // the reference took longer than was allowed
	Differs          // the log density is wrong
	Slopes           // its gradient is wrong
	Rejected         // the reference rejects the point, and the compiled program does not
	Refused          // only the compiled program rejects the point or gives no number
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
	Outputs, Drawn                                int    // outputs compared; left out (random)
	Evaluations                                   int    // of the reference
	Elapsed                                       time.Duration
}

// Wrong reports whether the two disagree by more than rounding explains.
func (a *Agreement) Wrong() bool { return a.Verdict >= Differs }

// Excess returns the larger of the two differences, in units of its tolerance.
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

// Errors that end an evaluation of the reference: the time is over, or a stop function returned an
// error.
var (
	errLong        = errors.New("the reference evaluation took longer than was allowed")
	errInterrupted = errors.New("the comparison was interrupted")
)

// agreeing is the state of a comparison.
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

// suspicious is the minimum time for a comparison in which something looks wrong. A clear verdict
// is then worth more than the time limit.
const suspicious = time.Minute

// suspiciousSlope is the relative error of a single difference from which a slope looks wrong. A
// smaller error is usually that of the difference itself.
const suspiciousSlope = 1e-3

// Comparer compares a model with the reference evaluator. It keeps the state that both need between
// comparisons, and evaluates a clone of the model. Only one goroutine at a time may use it.
type Comparer struct {
	m     *Model
	quiet *Model // the clone
	plain *interp.Model
	now   *agreeing // the current comparison

	// Stop, if not nil, is called during evaluations. If it returns an error, they end, as with
	// SetStop.
	Stop func() error

	solver float64 // tolerance of the program's solvers; 0: there are none
	// outputSolver is the same for the outputs. drawn holds the variables that depend on random
	// draws.
	outputSolver float64
	drawn        map[*ir.Var]bool
}

// Comparer returns a Comparer of the model.
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
// evaluator at the unconstrained point x. It takes two evaluations of the reference if the two
// agree to the last digits, and up to seventeen otherwise. It ends soon after the allowed processor
// time is over. If no log densities were compared by then, the verdict is TooLong; otherwise only
// slopes are missing. A comparison that looks wrong gets a minute more. The time limit interrupts
// an evaluation only within long loops, so the log densities of short programs are always compared.
// What the program prints is not shown.
func (c *Comparer) Agree(x []float64, rng *rand.Rand, allowed time.Duration) (*Agreement, error) {
	if deeper, err := c.deeper(x, false); deeper != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return deeper.Agree(x, rng, allowed)
	}
	return c.within(x, c.solver, allowed, func(now *agreeing) error { return now.compare(x, rng) })
}

// within makes a comparison at a point within the allowed time.
func (c *Comparer) within(x []float64, solver float64, allowed time.Duration, compare func(now *agreeing) error) (*Agreement, error) {
	if err := c.m.at(x); err != nil {
		return nil, err
	}
	runtime.LockOSThread() // the time of this thread is measured
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

// stop returns an error if the evaluation takes too long or the run was interrupted.
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

// reference evaluates the reference at x.
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

// solved returns the tolerance that solvers add, relative to the sum of absolute values.
func (c *agreeing) solved() float64 { return min(agreeSolver*c.solver, maxSolver) }

// nearby bounds the difference of neighbouring solutions beyond their slope, relative to that sum.
// A small move may change the number of steps.
func (c *agreeing) nearby() float64 { return min(c.solver, maxSolverNoise) }

// relative returns the relative error allowed for a slope.
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
		if errors.As(errCompiled, new(exceeded)) { // derivatives may say so, which the reference lacks
			return unknown(reason)
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
	// Estimate how much rounding matters here. If roundings of coordinates cancel, as in a - b,
	// they may also cancel at the points below. So the estimate starts from the gradient.
	noise, rejected := 0.0, errWant
	for i, v := range x {
		noise += ulps * 0x1p-52 * max(1, math.Abs(v)) * math.Abs(grad[i])
	}
	var gradients [][]float64 // gradients of the compiled program at points a few roundings away
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
		// Neighbours of x do not show the rounding of intermediate results: 1 - inv_logit(33) has
		// two correct digits.
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
	// Where rounding moves the log density by 1, intermediate results such as the weights of a
	// log_sum_exp may have no correct digits left.
	if noise = max(noise, 0x1p-52*sum); agreeRounding*noise > 1 {
		return nil
	}
	noise = max(noise, c.nearby()*sum)
	return c.slope(x, grad, gradients, noise, rng)
}

// refused reports whether the compiled program has no log density at points a few roundings from x
// although the reference has one. Roundings may make solvers fail, so these do not count.
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

// notFinite examines a gradient that is not finite although the log density is. It is wrong if the
// gradient of the reference is finite at x and a few roundings away.
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

// roundedAway returns a point a few roundings away from x.
func roundedAway(x []float64, rng *rand.Rand) []float64 {
	near := slices.Clone(x)
	for i, v := range near {
		near[i] = v + (2*float64(rng.IntN(2))-1)*ulps*0x1p-52*max(1, math.Abs(v))
	}
	return near
}

// drawDirection draws a direction in which every coordinate moves. slope is the derivative of the
// compiled log density along it; size is the root of the sum of its squared terms.
func drawDirection(grad []float64, rng *rand.Rand) (direction []float64, slope, size float64) {
	direction = make([]float64, len(grad))
	for i := range direction {
		direction[i] = (0.5 + 0.5*rng.Float64()) * (2*float64(rng.IntN(2)) - 1)
		slope += direction[i] * grad[i]
		size += direction[i] * grad[i] * direction[i] * grad[i]
	}
	return direction, slope, math.Sqrt(size)
}

// difference is the central difference of the reference along a direction. It is NaN if the
// reference rejects a point.
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

// atOnce compares the log density at two points near x, and their difference with the slope at x.
// It takes two evaluations of the reference, and usually shows that the two agree. If it does not,
// done is false, and the rest of the comparison finds out why.
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

// stoppedOnly returns err if it ends a comparison, otherwise nil.
func stoppedOnly(err error) error {
	if stopped(err) {
		return err
	}
	return nil
}

// slope compares the gradient along a direction. gradients holds gradients of the compiled program
// a few roundings away, which show how rounding affects them. The derivative of an eigenvector, for
// example, amplifies rounding where the value does not.
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
	if c.solver > 0 { // solver noise swamps differences over short steps
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

// rounding is Model.rounding with more time. It is 0 if the estimate fails: then nothing excuses a
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

// AgreePart is Agree for a program whose reference takes longer than allowed. It compares the first
// statements of the model block, as many as fit, bound again with the same passes. share is the
// fraction of the statements compared. If not even one fits, share is 0 and there is no Agreement.
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

// Passes returns the names of the optional compiler passes, in their order. BindOptions.Without
// takes them.
func Passes() []string { return passes.Names() }

// Reference returns a model that computes everything with the reference evaluator: statement by
// statement, slowly.
func (m *Model) Reference() *Model {
	c := m.Clone()
	bound := *m.bound
	bound.Density, bound.Constrained, bound.Generated = nil, nil, nil
	c.bound, c.density, c.machine, c.made, c.curvature = &bound, nil, nil, &made{}, &curvature{}
	return c
}

// Rebind binds the program again to the same data, and leaves out more passes.
func (m *Model) Rebind(ctx context.Context, d *data.Set, without ...string) (*Model, error) {
	o := m.asked
	o.Without = slices.Concat(o.Without, without)
	p := &Program{ir: m.program, whole: m.whole}
	if m.ladder != nil { // the sums over counts are written again, with their checks
		p, o.Doubled = m.ladder.program(m.level), 0
	}
	return p.bind(ctx, d, o, m.fault)
}

// String describes the verdict in a few words.
func (v Verdict) String() string {
	return [...]string{"agrees", "says nothing", "too long", "the log density differs", "the gradient differs", "rejected by the reference alone", "rejected by the compiled program alone", "an output differs"}[v]
}
