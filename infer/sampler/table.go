// Package sampler is the table of samplers by name, with the options of each and its statistics of
// a transition. Programs that let a user choose (a command line, a service) loop over [Table]. To
// add a sampler, write a file with its row and name it there. Go programs that know which sampler
// they want use its package directly.
package sampler

import (
	"flag"
	"reflect"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// Row describes a sampler: its name, options and statistics.
type Row struct {
	Name string // as a user writes it
	Doc  string // a sentence

	// Columns are its sampler statistics in the CSV files, in CmdStan's order and with CmdStan's
	// names. lp__ and accept_stat__, which all samplers have, come before them; see [AllColumns].
	Columns []Column

	// Options declares the sampler's options in fs: name, default, meaning. After the flags have
	// been set, the returned function makes the sampler, or returns an error. Flags that CmdStan
	// has too have its names, with - for _.
	Options func(fs *flag.FlagSet) Build

	// Adapts reports whether the sampler uses warm-up.
	Adapts bool

	// Type is a sampler of the type that Options makes.
	Type infer.Sampler
}

// Build makes a sampler from options that have been set.
type Build func() (infer.Sampler, error)

// Column is a sampler statistic of a draw.
type Column struct {
	Name  string
	Value func(d *infer.Draw) float64
}

// Table returns the rows, the default sampler of the command first.
func Table() []Row {
	return []Row{
		autoRow(),
		nutsRow(),
		hmcRow(),
		ahmcRow(),
		temperedRow(),
		rmhmcRow(),
		armhmcRow(),
		nuts2011Row(),
		fixedRow(),
	}
}

// Lookup returns the row with a name.
func Lookup(name string) (Row, bool) {
	t := Table()
	i := slices.IndexFunc(t, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return Row{}, false
	}
	return t[i], true
}

// RowOf returns the row whose samplers have the type of s.
func RowOf(s infer.Sampler) (Row, bool) {
	if g, ok := s.(Geometric); ok {
		row, ok := RowOf(g.Sampler)
		// Two names are other samplers on a Riemannian geometry.
		if name := map[string]string{"hmc": "rmhmc", "ahmc": "armhmc"}[row.Name]; ok && name != "" && !g.Riemannian.Frozen {
			return Lookup(name)
		}
		return row, ok
	}
	for _, row := range Table() {
		if reflect.TypeOf(row.Type) == reflect.TypeOf(s) {
			return row, true
		}
	}
	return Row{}, false
}

// Names returns the names in the order of the table.
func Names() []string {
	var names []string
	for _, r := range Table() {
		names = append(names, r.Name)
	}
	return names
}

// AllColumns returns lp__ and accept_stat__ followed by the row's columns.
func (r Row) AllColumns() []Column {
	return append([]Column{
		{Name: "lp__", Value: func(d *infer.Draw) float64 { return d.LogDensity }},
		{Name: "accept_stat__", Value: func(d *infer.Draw) float64 { return d.Stats.AcceptStat }},
	}, r.Columns...)
}

// Default returns the sampler with all options at their defaults.
func (r Row) Default() (infer.Sampler, error) {
	return r.Options(flag.NewFlagSet(r.Name, flag.ContinueOnError))()
}

// Restarts is the name of a column that only samplers with tempering have: the number of restarts
// from a reference. A run with that column is checked for restarts.
const Restarts = "restarts__"

// Columns that several samplers share.
var (
	stepSizeColumn  = Column{Name: "stepsize__", Value: func(d *infer.Draw) float64 { return d.Stats.StepSize }}
	treeDepthColumn = Column{Name: "treedepth__", Value: func(d *infer.Draw) float64 { return float64(d.Stats.TreeDepth) }}
	leapfrogColumn  = Column{Name: "n_leapfrog__", Value: func(d *infer.Draw) float64 { return float64(d.Stats.Leapfrogs) }}
	intTimeColumn   = Column{Name: "int_time__", Value: func(d *infer.Draw) float64 { return d.Stats.IntTime }}
	energyColumn    = Column{Name: "energy__", Value: func(d *infer.Draw) float64 { return d.Stats.Energy }}
	divergentColumn = Column{Name: "divergent__", Value: func(d *infer.Draw) float64 {
		if d.Stats.Divergent {
			return 1
		}
		return 0
	}}
	restartsColumn = Column{Name: Restarts, Value: func(d *infer.Draw) float64 { return float64(d.Stats.Restarts) }}
)

// adaptFlags declares the options of adaptation shared by samplers with a constant metric, and
// those of the geometry that they may have instead.
func adaptFlags(fs *flag.FlagSet, o *warmup.Options, r *Riemannian) {
	averagingFlags(fs, o)
	o.Metric = infer.Diagonal
	fs.Func("metric", "the metric (auto: one of the first four, chosen from the draws): unit_e, diag_e, dense_e, or low_rank, a diagonal plus a matrix of low rank; one that depends on the position, "+list(kindNames())+"; or a constant one from a `file`, {\"metric\": [[2, 0.1], [0.1, 1]]} (default diag_e)", func(s string) error {
		m := warmup.Options{Metric: infer.MetricKind(s)}
		if m.Validate() == nil {
			r.Kind, o.Metric = "", m.MetricKind()
			return nil
		}
		o.Metric = infer.Unit
		return r.setKind(s, "unit_e, diag_e, dense_e, low_rank, "+list(kindNames())+", or a file")
	})
	r.flags(fs)
	fs.BoolVar(&o.FixedMetric, "fixed-metric", false, "keep the initial metric")
	count := func(p *int, name string, value int, usage string) {
		*p = value
		fs.Var(&buffer{p}, name, usage)
	}
	count(&o.StartBuffer, "init-buffer", 75, "transitions before the metric is learnt")
	count(&o.BaseWindow, "window", 25, "length of the first window in which the metric is learnt")
	count(&o.EndBuffer, "term-buffer", 50, "transitions after the metric has been learnt")
}

// averagingFlags declares the options of step size adaptation.
func averagingFlags(fs *flag.FlagSet, o *warmup.Options) {
	fs.Float64Var(&o.StepSize, "stepsize", 1, "step size to start from, or to keep if -fixed-stepsize (auto: of the draws of -kernel, in units of the metric)")
	fs.BoolVar(&o.FixedStepSize, "fixed-stepsize", false, "do not adapt the step size")
	dualFlags(fs, &o.Averaging, 0.8)
}

// dualFlags declares the constants of dual averaging.
func dualFlags(fs *flag.FlagSet, a *warmup.Averaging, delta float64) {
	fs.Float64Var(&a.Delta, "delta", delta, "target of the mean acceptance statistic, between 0 and 1 (nuts2011: 0.6; auto: 0.8, raised while transitions diverge, unless you give it)")
	fs.Float64Var(&a.Gamma, "gamma", 0.05, "step size adaptation: strength of shrinkage")
	fs.Float64Var(&a.Kappa, "kappa", 0.75, "step size adaptation: decay of earlier iterates' weights")
	fs.Float64Var(&a.Reach, "reach", 10, "step size adaptation: shrink towards this multiple of the first step size")
	fs.Float64Var(&a.T0, "t0", 10, "step size adaptation: damping of the first iterations")
}

// TypeOf returns the type of the column with that name in files that have types: float64, int64 or
// bool.
func TypeOf(name string) string {
	switch name {
	case treeDepthColumn.Name, leapfrogColumn.Name, restartsColumn.Name:
		return "int64"
	case divergentColumn.Name:
		return "bool"
	}
	return "float64"
}
