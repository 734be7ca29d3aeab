package sampler

import (
	"flag"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// Riemannian is a choice of position-dependent geometry, made from what the
// target offers (see riemann.FromTarget).
type Riemannian struct {
	Kind    riemann.Kind // "": none, the geometry is Euclidean
	Alpha   float64      // of SoftAbs; 0: its default
	Options riemann.Options

	// Frozen takes the metric at one point, where the chain is after the first
	// transitions of warm-up, and keeps it: the geometry is Euclidean.
	Frozen bool
}

// approach is the number of transitions, with the unit metric, before a metric
// is frozen; a quarter of warm-up if that is less.
const approach = 75

func (r Riemannian) metric(target *infer.Meter) (riemann.Metric, error) {
	return riemann.FromTarget(r.Kind, target, r.Alpha)
}

// hamiltonian is for the samplers' field of that name; nil if there is none.
func (r Riemannian) hamiltonian() func(*infer.Meter) (infer.Hamiltonian, error) {
	if r.Kind == "" || r.Frozen {
		return nil
	}
	return r.Options.Of(r.metric)
}

// Geometric is a sampler on a Riemannian geometry, with what it was made of.
type Geometric struct {
	infer.Sampler // hmc.Sampler, ahmc.Sampler or nuts.Sampler
	Riemannian    Riemannian
}

// Plan implements [infer.Sampler].
func (g Geometric) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	if !g.Riemannian.Frozen {
		return g.Sampler.Plan(target, n)
	}
	first := min(approach, n/4)
	plan, err := g.Sampler.Plan(target, n-first)
	if err != nil {
		return plan, err
	}
	stages := warmup.Options{Metric: infer.Unit}.Stages(first)
	stages = append(stages, riemann.Frozen{Metric: g.Riemannian.metric})
	plan.Stages = append(stages, plan.Stages...)
	return plan, nil
}

// Validate says what is wrong with the options.
func (g Geometric) Validate() error {
	if err := g.Riemannian.Options.Validate(); err != nil {
		return err
	}
	if v, ok := g.Sampler.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// of gives a sampler the geometry, by set, if there is one.
func (r Riemannian) of(set func(func(*infer.Meter) (infer.Hamiltonian, error)) infer.Sampler) (infer.Sampler, error) {
	s := set(r.hamiltonian())
	if r.Kind != "" {
		s = Geometric{s, r}
	}
	if v, ok := s.(interface{ Validate() error }); ok {
		return s, v.Validate()
	}
	return s, nil
}

// keep makes a sampler keep the dense metric that will be frozen.
func (r Riemannian) keep(kind *infer.MetricKind, fixed *bool) {
	if r.Frozen && r.Kind != "" {
		*kind, *fixed = infer.Dense, true
	}
}

// flags declares the options of the geometry, but for --metric.
func (r *Riemannian) flags(fs *flag.FlagSet) {
	fs.Float64Var(&r.Alpha, "softabs-alpha", riemann.DefaultAlpha, "hardness of the metric softabs: curvatures below about 1/alpha are raised to that")
	fs.BoolVar(&r.Frozen, "frozen", false, "take the metric fisher or softabs at one point, after the first transitions, and keep it")
	modes := []string{string(riemann.Reversible), string(riemann.Published)}
	choose(fs, "implicit", "how implicit steps are solved: to a tolerance, and checked by stepping back; or by a fixed number of iterations, as first published", modes,
		func(i int) { r.Options.Mode = riemann.Mode(modes[i]) })
	fs.IntVar(&r.Options.Iterations, "fixed-points", 0, "fixed-point iterations per implicit equation; 0: 4 if published, at most 100 if reversible")
	fs.Float64Var(&r.Options.Tolerance, "implicit-tolerance", riemann.DefaultTolerance, "tolerance of implicit steps, in units of the metric")
	fs.Float64Var(&r.Options.ReturnTolerance, "return-tolerance", riemann.DefaultReturnTolerance, "tolerance of the way back of implicit steps")
}

// kindNames are the values of --metric that mean a Riemannian geometry.
func kindNames() []string {
	var names []string
	for _, k := range riemann.Kinds() {
		names = append(names, string(k))
	}
	return names
}

// metricFlag declares --metric for samplers that are Riemannian by nature.
func (r *Riemannian) metricFlag(fs *flag.FlagSet) {
	r.Kind = riemann.Fisher
	choose(fs, "metric", "the metric", kindNames(), func(i int) { r.Kind = riemann.Kind(kindNames()[i]) })
}

func rmhmcRow() Row {
	return Row{
		Name:    "rmhmc",
		Doc:     "Riemann manifold Hamiltonian Monte Carlo: HMC with a metric that depends on the position.",
		Adapts:  true,
		Columns: []Column{stepSizeColumn, intTimeColumn, leapfrogColumn, divergentColumn, energyColumn},
		Options: func(fs *flag.FlagSet) Build {
			s, r := &hmc.Sampler{}, &Riemannian{}
			averagingFlags(fs, &s.Adapt)
			staticFlags(fs, &s.Kernel)
			r.metricFlag(fs)
			r.flags(fs)
			return func() (infer.Sampler, error) {
				return r.of(func(h func(*infer.Meter) (infer.Hamiltonian, error)) infer.Sampler {
					s.Hamiltonian = h
					r.keep(&s.Adapt.Metric, &s.Adapt.FixedMetric)
					return *s
				})
			}
		},
	}
}

func armhmcRow() Row {
	return Row{
		Name:    "armhmc",
		Doc:     "Riemann manifold Hamiltonian Monte Carlo, tuned as ahmc is.",
		Adapts:  true,
		Columns: []Column{stepSizeColumn, intTimeColumn, leapfrogColumn, divergentColumn, energyColumn},
		Options: func(fs *flag.FlagSet) Build {
			s, r := &ahmc.Sampler{}, &Riemannian{}
			tuneFlags(fs, s)
			r.metricFlag(fs)
			r.flags(fs)
			return func() (infer.Sampler, error) {
				return r.of(func(h func(*infer.Meter) (infer.Hamiltonian, error)) infer.Sampler {
					s.Hamiltonian = h
					r.keep(&s.Metric, &s.FixedMetric)
					return *s
				})
			}
		},
	}
}
