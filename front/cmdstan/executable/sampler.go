package executable

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/front/cmdstan/grammar"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// The paths of frequently used arguments.
const (
	adaptPath  = "method.sample.adapt."
	hmcPath    = "method.sample.algorithm.hmc."
	enginePath = hmcPath + "engine"
	metricPath = hmcPath + "metric"
)

// EngineVariable is the environment variable that names a sampler to use instead of NUTS, with
// options as on the command line. Front ends have no argument for it.
const EngineVariable = "PPL_ENGINE"

// fromEnvironment replaces NUTS by the engine in the environment variable.
func (r *run) fromEnvironment() error {
	words := strings.Fields(r.env(EngineVariable))
	if len(words) == 0 || r.config.Text("method") != "sample" || r.text("sample.algorithm") != "hmc" || r.config.Text(enginePath) != "nuts" {
		return nil
	}
	engine := strings.TrimPrefix(words[0], "engine=")
	if engine == "hmc" {
		engine = "static" // ppl's name of the engine
	}
	if err := r.config.SetWithin("method.sample.algorithm.hmc", append([]string{"engine=" + engine}, words[1:]...)); err != nil {
		return fmt.Errorf("%s=%s: %w", EngineVariable, r.env(EngineVariable), err)
	}
	r.substituted = engine != "nuts"
	if depth := hmcPath + "engine.nuts.max_depth"; r.config.IsGiven(depth) {
		r.config.Set(enginePath+"."+r.config.Text(enginePath)+".max_depth", r.config.Text(depth))
	}
	return nil
}

// chosen is the selected sampler, and the facts about it that output files need.
type chosen struct {
	infer.Sampler
	columns  []sampler.Column
	empty    bool   // the model has no parameters
	adapts   bool   // the file has a block with step size and metric
	own      bool   // CmdStan does not have it, so file headers are adapted for readers
	geometry string // name of the geometry if it is not Euclidean
	metric   string // name of the metric in file headers
}

// sampler makes the sampler that the arguments select.
func (r *run) sampler(dim int) (*chosen, error) {
	if r.text("sample.algorithm") == "fixed_param" {
		row, _ := sampler.Lookup("fixed_param")
		return &chosen{Sampler: sampler.Fixed{}, columns: row.AllColumns(), metric: r.config.Text(metricPath)}, nil
	}
	if dim == 0 { // as in CmdStan: empty columns of NUTS
		row, _ := sampler.Lookup("nuts")
		return &chosen{Sampler: still{}, columns: row.AllColumns(), metric: r.config.Text(metricPath), empty: true}, nil
	}
	metric, engine := r.config.Text(metricPath), r.config.Text(enginePath)
	row, _ := sampler.Lookup("nuts")
	c := &chosen{adapts: true, columns: row.AllColumns(), metric: metric}
	euclidean := metric == "unit_e" || metric == "diag_e" || metric == "dense_e"
	switch {
	case engine == "static" && euclidean && !r.substituted:
		c.columns = staticColumns()
		c.Sampler = hmc.Sampler{
			Kernel: hmc.Kernel{IntTime: r.config.Real(enginePath + ".static.int_time"), FixedLength: true, MaxSteps: 1 << 24, Jitter: r.config.Real(hmcPath + "stepsize_jitter")},
			Adapt:  r.adaptation(),
		}
		return c, nil
	case engine == "nuts" && euclidean:
		c.Sampler = nuts.Sampler{MaxDepth: r.config.Int(enginePath + ".nuts.max_depth"), Jitter: r.config.Real(hmcPath + "stepsize_jitter"), Adapt: r.adaptation()}
		return c, nil
	}
	return c, r.own(c, engine)
}

// still is the sampler for a model without parameters. It also makes the transitions of warm-up,
// since the user may want to save them.
type still struct{ sampler.Fixed }

// Plan implements [infer.Sampler].
func (s still) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	plan, err := s.Fixed.Plan(target, n)
	plan.Stages = []infer.Stage{idle(n)}
	return plan, err
}

// idle is a stage with this number of transitions.
type idle int

// Run implements [infer.Stage].
func (n idle) Run(_ context.Context, s *infer.State) error {
	for range n {
		if _, err := s.Advance(); err != nil {
			return err
		}
	}
	return nil
}

// staticColumns returns the columns of HMC with trajectories of fixed length.
func staticColumns() []sampler.Column {
	row, _ := sampler.Lookup("hmc")
	var columns []sampler.Column
	for _, column := range row.AllColumns() {
		switch column.Name {
		case "lp__", "accept_stat__", "stepsize__", "int_time__", "energy__":
			columns = append(columns, column)
		}
	}
	return columns
}

// adaptation returns the options of warm-up.
func (r *run) adaptation() warmup.Options {
	engaged := r.config.Bool(adaptPath + "engaged")
	length := func(name string) int {
		if n := r.config.Int(adaptPath + name); n > 0 {
			return n
		}
		return -1 // none; 0 would be the default
	}
	return warmup.Options{
		StepSize: r.config.Real(hmcPath + "stepsize"), FixedStepSize: !engaged,
		Metric: infer.MetricKind(r.config.Text(metricPath)), FixedMetric: !engaged,
		Averaging: warmup.Averaging{
			Delta: r.config.Real(adaptPath + "delta"), Gamma: r.config.Real(adaptPath + "gamma"),
			Kappa: r.config.Real(adaptPath + "kappa"), T0: r.config.Real(adaptPath + "t0"),
		},
		StartBuffer: length("init_buffer"), EndBuffer: length("term_buffer"), BaseWindow: length("window"),
	}
}

// own makes a sampler that CmdStan does not have, from the table of package sampler.
func (r *run) own(c *chosen, engine string) error {
	c.own = true
	name := engine
	if name == "static" {
		name = "hmc"
	}
	row, ok := sampler.Lookup(name)
	if !ok {
		return fmt.Errorf("there is no engine %s", engine)
	}
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	build := row.Options(fs)
	set := func(path, value string) error {
		option := grammar.ToFlag(path[strings.LastIndexByte(path, '.')+1:])
		if fs.Lookup(option) == nil {
			return nil
		}
		if err := fs.Set(option, value); err != nil {
			return fmt.Errorf("%s is not a valid value for \"%s\": %w", value, grammar.FromFlag(option), err)
		}
		return nil
	}
	// Of the arguments that exist in CmdStan, set only those that the user gave, because the
	// engine's defaults differ from CmdStan's.
	for _, path := range r.config.GivenPaths() {
		if strings.HasPrefix(path, adaptPath) || strings.HasPrefix(path, hmcPath) {
			if strings.HasPrefix(path, enginePath) && !strings.HasPrefix(path, enginePath+"."+engine+".") || path == hmcPath+"metric_file" {
				continue
			}
			if err := set(path, r.config.Text(path)); err != nil {
				return err
			}
		}
	}
	if r.flag("sample.save_warmup") && fs.Lookup("no-early-end") != nil {
		// Readers expect the requested number of warm-up draws.
		if err := fs.Set("no-early-end", "true"); err != nil {
			return err
		}
	}
	var err error
	if c.Sampler, err = build(); err != nil {
		return err
	}
	c.metric = "unit_e"
	switch s := c.Sampler.(type) {
	case sampler.CrossValidated:
		return errors.New("reward=predictive needs folds of the data, which ppl run makes")
	case sampler.Geometric:
		c.geometry = string(s.Riemannian.Kind)
		if s.Riemannian.Frozen {
			c.metric, c.geometry = string(infer.Dense), ""
		}
	default:
		if f := fs.Lookup("metric"); r.config.IsGiven(metricPath) || f != nil && f.DefValue == "diag_e" {
			c.metric = r.config.Text(metricPath)
		}
	}
	return nil
}
