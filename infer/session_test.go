package infer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// collect ranges over the draws and returns them by chain, with the errors.
func collect(t *testing.T, s *infer.Session, ctx context.Context) (chains [][]infer.Draw, errs []error) {
	t.Helper()
	chains = make([][]infer.Draw, s.Config().Chains)
	for d, err := range s.Draws(ctx) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c := chains[d.Chain]
		if n := len(c); n > 0 && c[n-1].Iteration >= d.Iteration {
			t.Errorf("chain %d: iteration %d comes after %d", d.Chain, d.Iteration, c[n-1].Iteration)
		}
		chains[d.Chain] = append(c, d)
	}
	return chains, errs
}

func session(t *testing.T, target infer.LogDensity, cfg infer.Config) *infer.Session {
	t.Helper()
	if cfg.Sampler == nil {
		cfg.Sampler = nuts.Sampler{}
	}
	s, err := infer.NewSession(target, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run collects a run that must not fail.
func run(t *testing.T, target infer.LogDensity, cfg infer.Config) ([][]infer.Draw, infer.Report) {
	t.Helper()
	s := session(t, target, cfg)
	chains, errs := collect(t, s, context.Background())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return chains, s.Report()
}

func sameDraws(t *testing.T, what string, a, b []infer.Draw) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%s: %d draws and %d", what, len(a), len(b))
		return
	}
	for i := range a {
		if a[i].Iteration != b[i].Iteration || a[i].LogDensity != b[i].LogDensity || a[i].Stats != b[i].Stats || !slices.Equal(a[i].Position, b[i].Position) {
			t.Errorf("%s: draw %d differs: %+v and %+v", what, i, a[i], b[i])
			return
		}
	}
}

// generating is a target with two generated values: the first coordinate
// squared and a random number.
type generating struct {
	infertest.Exact
	fails func(x []float64) error
}

func (g generating) CloneDensity() infer.LogDensity {
	return generating{g.Exact.CloneDensity().(infertest.Exact), g.fails}
}
func (g generating) OutputNames() []string { return []string{"square", "noise"} }
func (g generating) Generate(x []float64, rng *rand.Rand, dst []float64) error {
	dst[0] = x[0] * x[0]
	if g.fails != nil {
		if err := g.fails(x); err != nil {
			return err
		}
	}
	dst[1] = rng.Float64()
	return nil
}

// TestDrawsAreReproducible checks that draws depend only on target, options and seed.
func TestDrawsAreReproducible(t *testing.T) {
	target := infertest.Banana{B: 0.3, Sigma: 1.5}
	base := infer.Config{Chains: 3, Warmup: 200, Draws: 150, Seed: 42}
	want, _ := run(t, target, base)

	for _, procs := range []int{1, 2, 7} {
		old := runtime.GOMAXPROCS(procs)
		for _, parallel := range []int{1, 2, 3} {
			cfg := base
			cfg.Parallel = parallel
			got, _ := run(t, target, cfg)
			for c := range want {
				sameDraws(t, fmt.Sprintf("%d processors, %d at a time, chain %d", procs, parallel, c), got[c], want[c])
			}
		}
		runtime.GOMAXPROCS(old)
	}

	cfg := base
	cfg.SaveWarmup = true
	got, _ := run(t, target, cfg)
	for c := range want {
		if len(got[c]) != 350 || !got[c][199].Warmup || got[c][200].Warmup {
			t.Fatalf("with warm-up there are %d draws", len(got[c]))
		}
		sameDraws(t, "with warm-up", got[c][200:], want[c])
	}

	cfg = base
	cfg.Thin = 4
	thin, _ := run(t, target, cfg)
	for c := range want {
		var every []infer.Draw
		for i := 0; i < len(want[c]); i += 4 {
			every = append(every, want[c][i])
		}
		sameDraws(t, "thinned", thin[c], every)
	}

	withValues := generating{Exact: target}
	valued, _ := run(t, withValues, base)
	for c := range want {
		sameDraws(t, "with generated values", valued[c], want[c])
	}

	cfg = base
	cfg.FirstID, cfg.Chains = 3, 1
	third, _ := run(t, target, cfg)
	sameDraws(t, "chain 3 alone", third[0], want[2])

	cfg = base
	cfg.Seed = 43
	other, _ := run(t, target, cfg)
	if slices.Equal(other[0][0].Position, want[0][0].Position) {
		t.Error("another seed gives the same draw")
	}
	if slices.Equal(want[0][0].Position, want[1][0].Position) {
		t.Error("two chains give the same draw")
	}
}

// TestNotACloner checks that two chains never use a target that is no Cloner at the same time, and
// that it gives the same draws.
func TestNotACloner(t *testing.T) {
	target := infertest.AR1(2, 0.5)
	cfg := infer.Config{Chains: 3, Warmup: 100, Draws: 50, Parallel: 3}
	want, _ := run(t, target, cfg)
	lone := &exclusive{target: target}
	got, _ := run(t, lone, cfg)
	for c := range want {
		sameDraws(t, "not a cloner", got[c], want[c])
	}
	if lone.overlap.Load() {
		t.Error("two chains used the target at the same time")
	}
}

type exclusive struct {
	target  infer.LogDensity
	busy    sync.Mutex
	overlap atomic.Bool
}

func (e *exclusive) Dim() int { return e.target.Dim() }
func (e *exclusive) LogDensityGrad(x, grad []float64) (float64, error) {
	if !e.busy.TryLock() {
		e.overlap.Store(true)
		return 0, infer.ErrFatal
	}
	defer e.busy.Unlock()
	return e.target.LogDensityGrad(x, grad)
}

// TestGenerate checks that generated values depend only on (seed, chain, iteration, position).
// Thinning and saving warm-up do not change them. Errors leave NaN.
func TestGenerate(t *testing.T) {
	target := generating{Exact: infertest.AR1(2, 0.3)}
	base := infer.Config{Chains: 2, Warmup: 100, Draws: 60, Seed: 5}
	want, _ := run(t, target, base)
	noise := map[float64]bool{}
	for _, c := range want {
		for _, d := range c {
			if len(d.Values) != 2 || d.Values[0] != d.Position[0]*d.Position[0] {
				t.Fatalf("values %v at %v", d.Values, d.Position)
			}
			noise[d.Values[1]] = true
		}
	}
	if len(noise) != 120 {
		t.Errorf("%d distinct random numbers for 120 draws", len(noise))
	}
	cfg := base
	cfg.Thin, cfg.SaveWarmup, cfg.WarmupValues = 3, true, true
	got, _ := run(t, target, cfg)
	for c := range got {
		for _, d := range got[c] {
			if len(d.Values) != 2 {
				t.Fatalf("iteration %d has values %v", d.Iteration, d.Values)
			}
			if !d.Warmup && !slices.Equal(d.Values, want[c][d.Iteration-100].Values) {
				t.Fatalf("thinned: iteration %d has values %v instead of %v", d.Iteration, d.Values, want[c][d.Iteration-100].Values)
			}
		}
	}
	cfg = base
	cfg.SaveWarmup = true
	got, _ = run(t, target, cfg)
	if d := got[0][0]; !d.Warmup || d.Values != nil {
		t.Errorf("values %v in warm-up without being asked for", d.Values)
	}

	target.fails = func(x []float64) error {
		if x[0] > 0 {
			return errors.New("x[1] must not be positive")
		}
		return nil
	}
	s := session(t, target, base)
	got, errs := collect(t, s, context.Background())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	n := 0
	for _, d := range got[0] {
		if failed := math.IsNaN(d.Values[1]); failed != (d.Position[0] > 0) || math.IsNaN(d.Values[0]) {
			t.Fatalf("values %v at %v", d.Values, d.Position)
		} else if failed {
			n++
		}
	}
	if r := s.Report().Chains[0]; r.Ungenerated != n || r.UngeneratedReason != "x[1] must not be positive" || r.Rejected != 0 {
		t.Errorf("%d draws without all values (%s), %d rejections, want %d", r.Ungenerated, r.UngeneratedReason, r.Rejected, n)
	}
	if got := s.OutputNames(); !slices.Equal(got, []string{"square", "noise"}) {
		t.Errorf("names %v", got)
	}

	target.fails = func([]float64) error { return fmt.Errorf("stop: %w", infer.ErrFatal) }
	_, errs = collect(t, session(t, target, base), context.Background())
	if len(errs) != 2 || !errors.Is(errs[0], infer.ErrFatal) || !strings.Contains(errs[0].Error(), "sampling") {
		t.Errorf("a fatal error of Generate gives %v", errs)
	}
}

// TestReport checks that the counts and times of the report add up.
func TestReport(t *testing.T) {
	counter := &counting{Exact: infertest.AR1(3, 0.5)}
	cfg := infer.Config{Chains: 2, Warmup: 200, Draws: 100, FirstID: 5, Sampler: nuts.Sampler{Adapt: warmup.Options{Metric: infer.Dense}}}
	s := session(t, counter, cfg)
	leapfrogs := make([]int64, 2)
	for d, err := range s.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		leapfrogs[d.Chain] += int64(d.Stats.Leapfrogs)
		r := s.Report().Chains[d.Chain]
		if r.StepSize != d.Stats.StepSize || r.Metric.Kind != infer.Dense || len(r.Metric.Inverse) != 9 || r.Warmup.Transitions != 200 {
			t.Fatalf("the report does not hold the result of warm-up when its first draw comes: %+v", r)
		}
	}
	r := s.Report()
	total := int64(0)
	for i, c := range r.Chains {
		if c.Chain != i || c.ID != 5+i || !c.Started || c.Err != nil || c.Interrupted || c.InitAttempts != 1 || len(c.Start) != 3 {
			t.Errorf("chain %d: %+v", i, c)
		}
		if c.Sampling.Transitions != 100 || c.Sampling.Gradients != leapfrogs[i] {
			t.Errorf("chain %d: %d transitions with %d gradients, want 100 with %d", i, c.Sampling.Transitions, c.Sampling.Gradients, leapfrogs[i])
		}
		if c.Warmup.Elapsed <= 0 || c.Sampling.Elapsed <= 0 || r.Elapsed < c.Warmup.Elapsed {
			t.Errorf("chain %d: times %v, %v of %v", i, c.Warmup.Elapsed, c.Sampling.Elapsed, r.Elapsed)
		}
		total += c.Warmup.Gradients + c.Sampling.Gradients
	}
	if r.Interrupted || total != counter.n.Load() {
		t.Errorf("interrupted %v, %d gradients counted, %d evaluated", r.Interrupted, total, counter.n.Load())
	}
	if _, errs := collect(t, s, context.Background()); len(errs) != 1 {
		t.Errorf("ranging again gives %v", errs)
	}
}

// counting counts the evaluations of all clones.
type counting struct {
	infertest.Exact
	n *atomic.Int64
}

func (c *counting) CloneDensity() infer.LogDensity {
	if c.n == nil {
		c.n = new(atomic.Int64)
	}
	return &counting{c.Exact.CloneDensity().(infertest.Exact), c.n}
}
func (c *counting) LogDensityGrad(x, grad []float64) (float64, error) {
	c.n.Add(1)
	return c.Exact.LogDensityGrad(x, grad)
}

func TestProgress(t *testing.T) {
	inLoop := false // used only by the consumer's goroutine, as -race checks
	got := map[int][]int{}
	s := session(t, infertest.AR1(2, 0.5), infer.Config{Chains: 2, Warmup: 250, Draws: 130, Refresh: 100,
		Progress: func(p infer.Progress) {
			if inLoop {
				t.Error("called within the loop's body")
			}
			if p.Total != 380 || p.Warmup != (p.Iteration <= 250) || p.Gradients <= 0 {
				t.Errorf("%+v", p)
			}
			got[p.Chain] = append(got[p.Chain], p.Iteration)
		}})
	for _, err := range s.Draws(context.Background()) {
		inLoop = true
		if err != nil {
			t.Error(err)
		}
		inLoop = false
	}
	want := []int{1, 100, 200, 250, 251, 350, 380}
	for c := range 2 {
		if !slices.Equal(got[c], want) {
			t.Errorf("chain %d reports at %v, want %v", c, got[c], want)
		}
	}
}

// TestCancellation checks that a cancelled run delivers the first draws of the whole run, then the
// cause.
func TestCancellation(t *testing.T) {
	target := infertest.AR1(2, 0.5)
	cfg := infer.Config{Chains: 3, Warmup: 100, Draws: 2000, Parallel: 2}
	want, _ := run(t, target, cfg)

	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	cause := errors.New("enough")
	s := session(t, target, cfg)
	got := make([][]infer.Draw, 3)
	var last error
	n := 0
	for d, err := range s.Draws(ctx) {
		last = err
		if err != nil {
			continue
		}
		got[d.Chain] = append(got[d.Chain], d)
		if n++; n == 300 {
			cancel(cause)
		}
	}
	if last != cause {
		t.Errorf("the last error is %v", last)
	}
	r := s.Report()
	total := 0
	for c := range got {
		sameDraws(t, "interrupted", got[c], want[c][:len(got[c])])
		if rc := r.Chains[c]; rc.Err != nil || rc.Sampling.Transitions != len(got[c]) {
			t.Errorf("chain %d: %d draws of %d transitions were delivered, error %v", c, len(got[c]), rc.Sampling.Transitions, rc.Err)
		}
		total += len(got[c])
	}
	if total < 300 || total == 6000 || !r.Interrupted || !r.Chains[2].Interrupted || r.Chains[2].Started {
		t.Errorf("%d draws; report %+v", total, r)
	}
}

// TestCancellationWithinTrajectory checks that cancellation does not wait for the end of a
// trajectory.
func TestCancellationWithinTrajectory(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	slow := &sleeping{Exact: infertest.AR1(2, 0.5), after: cancel}
	s := session(t, slow, infer.Config{Chains: 1, Sampler: hmc.Sampler{
		Kernel: hmc.Kernel{Steps: 1e6, FixedLength: true},
		Adapt:  warmup.Options{FixedStepSize: true, StepSize: 1e-3},
	}})
	_, errs := collect(t, s, ctx)
	if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("errors %v", errs)
	}
	if slow.n > 1e5 {
		t.Errorf("%d evaluations, though cancelled at 50", slow.n)
	}
}

type sleeping struct {
	infertest.Exact
	n     int
	after func()
}

func (s *sleeping) CloneDensity() infer.LogDensity { return s }
func (s *sleeping) LogDensityGrad(x, grad []float64) (float64, error) {
	if s.n++; s.n == 50 {
		s.after()
	}
	time.Sleep(100 * time.Microsecond)
	return s.Exact.LogDensityGrad(x, grad)
}

// TestLeavingTheLoop checks that leaving the loop, even by a panic, ends the goroutines.
func TestLeavingTheLoop(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, how := range []string{"break", "panic"} {
		s := session(t, infertest.AR1(2, 0.5), infer.Config{Draws: 100000})
		func() {
			defer func() {
				if r := recover(); (r != nil) != (how == "panic") {
					t.Errorf("%s: recovered %v", how, r)
				}
			}()
			for range s.Draws(context.Background()) {
				if how == "break" {
					break
				}
				panic("the consumer's")
			}
		}()
		if r := s.Report(); !r.Interrupted {
			t.Errorf("%s: not reported as interrupted", how)
		}
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 100 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// troubled is a normal target that rejects points right of 1, in various ways.
type troubled struct {
	how   string
	clone int // number of this clone, from 1
	made  *atomic.Int64
	n     int
}

func newTroubled(how string) *troubled { return &troubled{how: how, made: new(atomic.Int64)} }

func (t *troubled) Dim() int { return 1 }
func (t *troubled) CloneDensity() infer.LogDensity {
	return &troubled{how: t.how, made: t.made, clone: int(t.made.Add(1))}
}
func (t *troubled) LogDensityGrad(x, grad []float64) (float64, error) {
	t.n++
	lp := -0.5 * x[0] * x[0]
	grad[0] = -x[0]
	switch {
	case t.how == "fatal" && t.clone == 2 && t.n == 500:
		return 0, fmt.Errorf("the data file has gone: %w", infer.ErrFatal)
	case t.how == "panic" && t.clone == 2 && t.n == 500:
		panic("index out of range")
	case x[0] <= 1:
		return lp, nil
	}
	switch t.how {
	case "-Inf":
		lp = math.Inf(-1)
	case "+Inf":
		lp = math.Inf(1)
	case "NaN":
		lp = math.NaN()
	case "gradient":
		grad[0] = math.NaN()
	case "error":
		return 0, errors.New("x must be at most 1")
	case "many errors":
		return 0, fmt.Errorf("x is %v", x[0])
	}
	return lp, nil
}

// TestRejections checks that points that a target rejects, in whatever way, are not drawn, and that
// the draws are right: a normal distribution truncated above at 1 has mean -0.2876.
func TestRejections(t *testing.T) {
	for how, message := range map[string]string{
		"-Inf":        "the log density is -Inf",
		"+Inf":        "the log density is +Inf",
		"NaN":         "the log density is NaN",
		"gradient":    "",
		"error":       "x must be at most 1",
		"many errors": "x is ",
	} {
		chains, r := run(t, newTroubled(how), infer.Config{Draws: 5000, Chains: 2, Init: infer.At{Positions: [][]float64{{0}}}})
		var mean float64
		for _, c := range chains {
			for _, d := range c {
				if !(d.Position[0] <= 1) || math.IsInf(d.LogDensity, 0) || math.IsNaN(d.Stats.Energy) {
					t.Fatalf("%s: drew %+v", how, d)
				}
				mean += d.Position[0] / 10000
			}
		}
		// Rejections make the sampler inefficient. 0.06 is 6 standard errors if the
		// effective size is a twentieth of the draws; the standard deviation is 0.63 to 0.79.
		if math.Abs(mean+0.2876) > 0.1 {
			t.Errorf("%s: mean %v", how, mean)
		}
		c := r.Chains[0]
		counted := 0
		for _, rej := range c.Rejections {
			counted += rej.Count
			if message == "" || !strings.HasPrefix(rej.Message, message) {
				t.Errorf("%s: message %q", how, rej.Message)
			}
		}
		if message != "" && (c.Rejected == 0 || len(c.Rejections) > 64) || how != "many errors" && counted != c.Rejected {
			t.Errorf("%s: %d rejections, of which %d with %d messages", how, c.Rejected, counted, len(c.Rejections))
		}
		if c.Sampling.Divergences == 0 {
			t.Errorf("%s: no divergences", how)
		}
	}
}

// TestChainFailure checks that the error names the chain that failed. The chain keeps its draws,
// and the others continue.
func TestChainFailure(t *testing.T) {
	for how, message := range map[string]string{"fatal": "the data file has gone", "panic": "panic: index out of range"} {
		s := session(t, newTroubled(how), infer.Config{Chains: 4, Warmup: 50, Draws: 1000, Parallel: 1})
		chains, errs := collect(t, s, context.Background())
		var ce *infer.ChainError
		if len(errs) != 1 || !errors.As(errs[0], &ce) || ce.Chain != 1 || ce.ID != 2 || ce.Phase != "sampling" || !strings.Contains(ce.Error(), message) {
			t.Fatalf("%s: errors %v", how, errs)
		}
		if how == "fatal" && !errors.Is(errs[0], infer.ErrFatal) {
			t.Error("the error does not wrap ErrFatal")
		}
		r := s.Report()
		for c := range chains {
			if c == 1 {
				if n := len(chains[c]); n == 0 || n >= 1000 || r.Chains[c].Err == nil || n != r.Chains[c].Sampling.Transitions {
					t.Errorf("%s: %d draws of the failed chain; %+v", how, n, r.Chains[c])
				}
			} else if len(chains[c]) != 1000 || r.Chains[c].Err != nil {
				t.Errorf("%s: %d draws of chain %d, error %v", how, len(chains[c]), c, r.Chains[c].Err)
			}
		}
		if r.Interrupted {
			t.Errorf("%s: reported as interrupted", how)
		}
	}
}

// starts is a target that can be evaluated only where ok returns nil.
type starts struct {
	ok  func(x float64) error // errInf, errGrad or a rejection
	seq *atomic.Int64
}

var (
	errInf  = errors.New("inf")
	errGrad = errors.New("grad")
)

func (s starts) Dim() int                       { return 1 }
func (s starts) CloneDensity() infer.LogDensity { return s }
func (s starts) LogDensityGrad(x, grad []float64) (float64, error) {
	s.seq.Add(1)
	grad[0] = -x[0]
	switch err := s.ok(x[0]); err {
	case nil:
	case errInf:
		return math.Inf(-1), nil
	case errGrad:
		grad[0] = math.Inf(1)
	default:
		return 0, err
	}
	return -0.5 * x[0] * x[0], nil
}

func TestInit(t *testing.T) {
	target := func(ok func(float64) error) starts { return starts{ok, new(atomic.Int64)} }
	fail := func(s starts, cfg infer.Config) (*infer.InitError, string) {
		t.Helper()
		cfg.Chains, cfg.Warmup, cfg.Draws = 1, -1, -1
		_, errs := collect(t, session(t, s, cfg), context.Background())
		if len(errs) != 1 {
			t.Fatalf("errors %v", errs)
		}
		var e *infer.InitError
		errors.As(errs[0], &e)
		return e, errs[0].Error()
	}

	// A hundred attempts, then an error with the last reason and advice.
	for reason, want := range map[error]string{errInf: "the log density is -Inf", errGrad: "the gradient is not finite", errors.New("sigma is 0"): "sigma is 0"} {
		s := target(func(float64) error { return reason })
		e, msg := fail(s, infer.Config{})
		if e == nil || e.Attempts != 100 || s.seq.Load() != 100 || !strings.Contains(msg, want) || !strings.Contains(msg, "chain 1") || !strings.Contains(msg, "Try") {
			t.Errorf("%v: %d evaluations, error %q", reason, s.seq.Load(), msg)
		}
	}
	// A fixed start is tried only once.
	for _, init := range []infer.Init{infer.Uniform{}, infer.At{Positions: [][]float64{{3}}}} {
		if e, msg := fail(target(func(float64) error { return errInf }), infer.Config{Init: init}); e == nil || e.Attempts != 1 {
			t.Errorf("%v: %s", init, msg)
		}
	}
	// A fatal error ends the attempts.
	s := target(func(float64) error { return fmt.Errorf("no data: %w", infer.ErrFatal) })
	if _, msg := fail(s, infer.Config{}); s.seq.Load() != 1 || !strings.Contains(msg, "no data") {
		t.Errorf("%d evaluations, error %q", s.seq.Load(), msg)
	}
	// Bad options.
	for _, init := range []infer.Init{infer.Uniform{Radius: -1}, infer.Uniform{Radius: math.NaN()}, infer.At{Positions: [][]float64{{1}}, Radius: math.Inf(1)}} {
		if _, err := infer.NewSession(target(nil), infer.Config{Sampler: nuts.Sampler{}, Init: init}); err == nil {
			t.Errorf("%v passes", init)
		}
	}
	for _, init := range []infer.Init{infer.At{Positions: [][]float64{{1, 2}}}} {
		if _, msg := fail(target(func(float64) error { return nil }), infer.Config{Init: init}); msg == "" {
			t.Errorf("%v passes", init)
		}
	}

	// Starts are drawn within the radius until one is good.
	s = target(func(x float64) error {
		if x < 1.5 || x > 2 {
			return errInf
		}
		return nil
	})
	_, r := run(t, s, infer.Config{Warmup: -1, Draws: -1, Chains: 20})
	for _, c := range r.Chains {
		if x := c.Start[0]; x < 1.5 || x > 2 {
			t.Errorf("start %v", c.Start)
		}
	}
	// Some coordinates are given, the others random.
	_, r = run(t, infertest.AR1(3, 0), infer.Config{Warmup: -1, Draws: -1, Chains: 2,
		Init: infer.At{Positions: [][]float64{{1, math.NaN(), 3}, {4, 5, 6}}, Radius: 0.5}})
	a, b := r.Chains[0].Start, r.Chains[1].Start
	if a[0] != 1 || a[2] != 3 || !(math.Abs(a[1]) < 0.5 && a[1] != 0) || !slices.Equal(b, []float64{4, 5, 6}) {
		t.Errorf("starts %v, %v", a, b)
	}
	_, r = run(t, infertest.AR1(3, 0), infer.Config{Warmup: -1, Draws: -1, Init: infer.Uniform{}})
	if !slices.Equal(r.Chains[3].Start, []float64{0, 0, 0}) {
		t.Errorf("start %v", r.Chains[3].Start)
	}
}

func TestNewSessionErrors(t *testing.T) {
	target := infertest.AR1(2, 0)
	for want, cfg := range map[string]infer.Config{
		"Sampler is nil":     {},
		"chains":             {Sampler: nuts.Sampler{}, Chains: -1},
		"must be at least 1": {Sampler: nuts.Sampler{}, Thin: -1},
		"2 metrics":          {Sampler: nuts.Sampler{}, Metric: make([]infer.Metric, 2)},
		"3 of 4":             {Sampler: nuts.Sampler{}, Init: infer.At{Positions: make([][]float64, 3)}},
		"delta":              {Sampler: nuts.Sampler{Adapt: warmup.Options{Averaging: warmup.Averaging{Delta: 3}}}},
		"max-depth":          {Sampler: nuts.Sampler{MaxDepth: 99}},
		"hmc: steps":         {Sampler: hmc.Sampler{Kernel: hmc.Kernel{Steps: -1}}},
	} {
		if _, err := infer.NewSession(target, cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error about %q", err, want)
		}
	}
	n := 0
	for d, err := range infer.Run(context.Background(), target, infer.Config{}) {
		if n++; err == nil || d.Chain != -1 {
			t.Errorf("got %v, %v", d, err)
		}
	}
	if n != 1 {
		t.Errorf("%d elements", n)
	}
}

// TestStartingMetric checks that a starting metric is used, per chain or for all, and kept if it is
// fixed.
func TestStartingMetric(t *testing.T) {
	m := []infer.Metric{{Kind: infer.Diagonal, Dim: 2, Inverse: []float64{1, 4}}, {Kind: infer.Dense, Dim: 2, Inverse: []float64{2, 1, 1, 2}}}
	_, r := run(t, infertest.AR1(2, 0), infer.Config{Chains: 2, Warmup: 50, Draws: 1, Metric: m,
		Sampler: nuts.Sampler{Adapt: warmup.Options{FixedMetric: true, FixedStepSize: true, StepSize: 0.25}}})
	for i, c := range r.Chains {
		if c.Metric.Kind != m[i].Kind || !slices.Equal(c.Metric.Inverse, m[i].Inverse) || c.StepSize != 0.25 {
			t.Errorf("chain %d: %+v, step size %v", i, c.Metric, c.StepSize)
		}
	}
	_, errs := collect(t, session(t, infertest.AR1(3, 0), infer.Config{Chains: 1, Metric: m[:1]}), context.Background())
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "dimension 2") {
		t.Errorf("errors %v", errs)
	}
}

// TestStreams checks that random streams differ in each of their keys. They must not change between
// versions, because saved runs must stay reproducible.
func TestStreams(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(3) {
		for id := range 3 {
			for _, purpose := range []string{"init", "transition", "generate"} {
				for counter := range uint64(3) {
					seen[infer.Stream(seed, id, purpose, counter).Uint64()] = true
				}
			}
		}
	}
	if len(seen) != 81 {
		t.Errorf("%d distinct streams of 81", len(seen))
	}
	const golden = 0xe21619d14b8e6297
	if got := infer.Stream(1, 2, "transition", 3).Uint64(); got != golden {
		t.Errorf("the streams have changed: %#x instead of %#x", got, uint64(golden))
	}
}
