package infer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// faulty is a target with all sorts of faults.
type faulty struct {
	dim   int
	fault string // where it panics
}

func (f *faulty) at(where string) {
	if f.fault == where {
		panic("a fault in " + where)
	}
}
func (f *faulty) Dim() int { f.at("Dim"); return f.dim }
func (f *faulty) CloneDensity() infer.LogDensity {
	f.at("Clone")
	if f.fault == "nil clone" {
		return nil
	}
	return f
}
func (f *faulty) LogDensityGrad(x, grad []float64) (float64, error) {
	f.at("LogDensityGrad")
	lp := 0.0
	for i := range x {
		grad[i] = -x[i]
		lp -= x[i] * x[i] / 2
	}
	return lp, nil
}
func (f *faulty) OutputNames() []string { return []string{"a", "b"} }
func (f *faulty) Generate(_ []float64, _ *rand.Rand, _ []float64) error {
	f.at("Generate")
	return nil
}
func (f *faulty) SetStop(func() error) {}

// TestMisuse checks that mistakes of Go programs and of targets cause an error, not a panic.
func TestMisuse(t *testing.T) {
	good := &faulty{dim: 1}
	config := func(change func(*infer.Config)) infer.Config {
		c := infer.Config{Sampler: nuts.Sampler{}, Chains: 1, Warmup: 10, Draws: 10}
		change(&c)
		return c
	}
	run := func(ctx context.Context, target infer.LogDensity, change func(*infer.Config)) error {
		var errs []error
		for _, err := range infer.Run(ctx, target, config(change)) {
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
	same := func(*infer.Config) {}
	ctx := t.Context()
	var noContext context.Context
	for name, test := range map[string]struct {
		do   func() error
		want string
	}{
		"nil target":      {func() error { return run(ctx, nil, same) }, "no target"},
		"nil pointer":     {func() error { return run(ctx, (*faulty)(nil), same) }, "the target is a nil *infer_test.faulty"},
		"nil context":     {func() error { return run(noContext, good, same) }, "no context"},
		"nil sampler":     {func() error { return run(ctx, good, func(c *infer.Config) { c.Sampler = nil }) }, "Sampler is nil"},
		"sampler pointer": {func() error { return run(ctx, good, func(c *infer.Config) { c.Sampler = (*hmc.Sampler)(nil) }) }, "Config.Sampler is a nil"},
		"init pointer":    {func() error { return run(ctx, good, func(c *infer.Config) { c.Init = (*infer.Uniform)(nil) }) }, "Config.Init is a nil"},
		"chains":          {func() error { return run(ctx, good, func(c *infer.Config) { c.Chains = math.MaxInt }) }, "chains"},
		"no chains":       {func() error { return run(ctx, good, func(c *infer.Config) { c.Chains = -1 }) }, "chains"},
		"draws":           {func() error { return run(ctx, good, func(c *infer.Config) { c.Draws = math.MaxInt }) }, "draws"},
		"thin":            {func() error { return run(ctx, good, func(c *infer.Config) { c.Thin = math.MaxInt }) }, "Thin"},
		"least": {func() error {
			return run(ctx, good, func(c *infer.Config) { c.Warmup, c.Draws = math.MinInt, math.MinInt })
		}, ""},
		"many snapshots": {func() error { return run(ctx, good, func(c *infer.Config) { c.Resume = make([]*infer.Snapshot, 9) }) }, "snapshots"},
		"empty snapshot": {func() error { return run(ctx, good, func(c *infer.Config) { c.Resume = []*infer.Snapshot{{}} }) }, "another run"},
		"step sizes":     {func() error { return run(ctx, good, func(c *infer.Config) { c.StepSize = []float64{1, 1, 1} }) }, "step sizes"},
		"metrics":        {func() error { return run(ctx, good, func(c *infer.Config) { c.Metric = make([]infer.Metric, 3) }) }, "metrics"},
		"metric": {func() error {
			return run(ctx, good, func(c *infer.Config) { c.Metric = []infer.Metric{{Kind: infer.Dense, Dim: math.MaxInt}} })
		}, "chain 1"},
		"metric of no kind": {func() error {
			return run(ctx, good, func(c *infer.Config) { c.Metric = []infer.Metric{{Kind: "?", Dim: 1, Inverse: []float64{1}}} })
		}, "chain 1"},
		"positions": {func() error {
			return run(ctx, good, func(c *infer.Config) { c.Init = infer.At{Positions: [][]float64{nil}} })
		}, "0 initial values"},
		"twice": {func() error {
			s, err := infer.NewSession(good, config(same))
			if err != nil {
				return err
			}
			for range s.Draws(ctx) {
			}
			for _, err := range s.Draws(ctx) {
				return err
			}
			return nil
		}, "only once"},
		"panic in Dim":      {func() error { return run(ctx, &faulty{1, "Dim"}, same) }, "a fault in Dim"},
		"panic in Clone":    {func() error { return run(ctx, &faulty{1, "Clone"}, same) }, "a fault in Clone"},
		"nil clone":         {func() error { return run(ctx, &faulty{1, "nil clone"}, same) }, "chain 1"},
		"panic in gradient": {func() error { return run(ctx, &faulty{1, "LogDensityGrad"}, same) }, "a fault in LogDensityGrad"},
		"panic in Generate": {func() error { return run(ctx, &faulty{1, "Generate"}, same) }, "a fault in Generate"},
		"negative Dim":      {func() error { return run(ctx, &faulty{-1, ""}, same) }, "chain 1"},

		"empty state": {func() error { _, err := infer.NewState(infer.Plan{}, nil, nil, nil); return err }, "no Hamiltonian"},
		"state of no target": {func() error {
			plan, err := nuts.Sampler{}.Plan(infer.NewMeter(good), 10)
			if err == nil {
				_, err = infer.NewState(plan, nil, nil, nil)
			}
			return err
		}, "needs a target"},
		"a chain before the first": {func() error {
			return infer.At{Positions: [][]float64{{1}, {2}}}.Propose(rand.New(rand.NewPCG(1, 2)), -1, []float64{0})
		}, "initial values are given for 2 chains"},
		"plan": {func() error {
			_, err := nuts.Sampler{}.Plan(infer.NewMeter(&faulty{dim: 0}), math.MinInt)
			return err
		}, ""},
	} {
		err := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("PANIC: %v", p)
				}
			}()
			return test.do()
		}()
		if got := fmt.Sprint(err); strings.Contains(got, "PANIC") || test.want != "" && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%s: %v; want %q", name, err, test.want)
		}
	}
}
