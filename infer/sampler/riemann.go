package sampler

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// Riemannian is a choice of position-dependent geometry, made from the derivatives that the target
// provides (see riemann.FromTarget).
type Riemannian struct {
	Kind    riemann.Kind // "": none, the geometry is Euclidean
	Alpha   float64      // hardness of SoftAbs; 0: its default
	Default bool         // Kind was not chosen: where it cannot be had, SoftAbs is, see Settle
	Options riemann.Options

	// Form says which elements of a position-dependent metric are computed: all, those that may be
	// nonzero, or the diagonal. "" means the cheaper of the first two or, in more than denseDim
	// dimensions, the diagonal if both cost too much.
	Form Form

	// Frozen takes the metric at one point, the chain's position after the first transitions of
	// warm-up, and keeps it: the geometry is Euclidean.
	Frozen bool

	// At is another place at which the metric is taken before the first transition: "start", the
	// chain's start; "mode", see riemann.FindMode; "point", at Point. It implies Frozen.
	At    string
	Point []float64

	// Matrix is the metric if Kind is [Matrix]: rows of a symmetric matrix, one after another. It
	// is constant.
	Matrix []float64
}

// Form says which elements of a Fisher information are computed.
type Form string

// The forms.
const (
	Dense    Form = "dense"
	Sparse   Form = "sparse"
	Diagonal Form = "diagonal"
)

// Matrix is the kind of a constant metric given by the user.
const Matrix riemann.Kind = "matrix"

// approach is the number of transitions, with the unit metric, before a metric
// is frozen; a quarter of warm-up if that is less.
const approach = 75

func (r Riemannian) frozen() bool { return r.Frozen || r.At != "" || r.Kind == Matrix }

func (r Riemannian) metric(target *infer.Meter) (riemann.Metric, error) {
	if d := target.Dim(); r.Kind == Matrix {
		if len(r.Matrix) != d*d {
			return nil, fmt.Errorf("the metric has %d numbers, but there are %d unconstrained parameters", len(r.Matrix), d)
		}
		if _, ok := riemann.LogDeterminant(r.Matrix, d); !ok {
			return nil, errors.New("the metric is not positive definite")
		}
		return riemann.Constant{D: d, G: r.Matrix}, nil
	}
	kind, why := r.Settle(target)
	switch {
	case r.frozen():
		return riemann.ToFreeze(kind, target, r.Alpha)
	case kind == r.Kind && why != nil:
		return riemann.Completed(kind, target, r.Alpha)
	}
	return riemann.FromTarget(kind, target, r.Alpha)
}

// Constants of Settle.
const (
	// largest dimension in which SoftAbs, whose eigenvalues take as long as 30 factors, may be a
	// default
	settleDim    = 100
	settlePoints = 5 // number of points; the metric must not be singular at all of them
)

// Settle returns the kind of metric for a target. It is Kind, unless Kind is only a default and is
// not available there, or is singular at all points tried. Then it is SoftAbs, and why is the
// reason. In many dimensions it is always Kind; why is then not nil if the metric does not inform
// some parameters, so that it will be completed.
func (r Riemannian) Settle(target infer.LogDensity) (kind riemann.Kind, why error) {
	d := target.Dim()
	if !r.Default || d == 0 {
		return r.Kind, nil
	}
	if d > settleDim {
		if t, ok := infer.Innermost(target).(riemann.SparseFisher); ok && r.Kind == riemann.Fisher {
			if err := t.FisherSingular(); errors.As(err, new(riemann.Uninformed)) {
				return r.Kind, err
			}
		}
		return r.Kind, nil
	}
	m, err := riemann.FromTarget(r.Kind, target, r.Alpha)
	if err != nil {
		if _, other := riemann.FromTarget(riemann.SoftAbsKind, target, r.Alpha); other != nil {
			return r.Kind, nil
		}
		return riemann.SoftAbsKind, err
	}
	// The same points for all chains of all runs.
	rng := rand.New(rand.NewPCG(1, 1))
	x, g := make([]float64, d), make([]float64, d*d)
	singular := false
	for range settlePoints {
		for i := range x {
			x[i] = 2*rng.Float64() - 1
		}
		if m.Metric(x, g) != nil {
			continue
		}
		if _, ok := riemann.LogDeterminant(g, d); ok {
			return r.Kind, nil
		}
		singular = true
	}
	if !singular {
		return r.Kind, nil
	}
	return riemann.SoftAbsKind, fmt.Errorf("the metric %q is singular for this model", r.Kind)
}

// hamiltonian returns a value for the samplers' field Hamiltonian; nil if the geometry is
// Euclidean.
func (r Riemannian) hamiltonian() func(*infer.Meter) (infer.Hamiltonian, error) {
	if r.Kind == "" || r.frozen() {
		return nil
	}
	if r.Kind == riemann.Fisher {
		r.Options.Ridge = riemann.ModelRidge
	}
	return func(target *infer.Meter) (infer.Hamiltonian, error) {
		form, m, err := r.SettleForm(target)
		switch {
		case err != nil:
			return nil, err
		case form != Dense:
			return riemann.NewSparse(target, m, r.Options)
		}
		return r.Options.Hamiltonian(r.metric)(target)
	}
}

// Constants of SettleForm.
const (
	sparseDim  = 64   // dimension from which a sparse factor is considered
	denseDim   = 2048 // dimension up to which all elements may be computed
	sparseCost = 0.5  // largest cost of a sparse factor, relative to a dense one
)

// SettleForm returns the form of the metric for a target, and the metric unless that is dense.
func (r Riemannian) SettleForm(target infer.LogDensity) (Form, riemann.Sparse, error) {
	d := target.Dim()
	kind, _ := r.Settle(target)
	if kind != riemann.Fisher || r.frozen() || r.Form == Dense || d == 0 || r.Form == "" && d < sparseDim {
		if r.Form == Sparse || r.Form == Diagonal {
			return "", nil, fmt.Errorf("the metric can be %s only if it is the expected Fisher information, and not frozen", r.Form)
		}
		return Dense, nil, nil
	}
	if t, ok := infer.Innermost(target).(riemann.SparseFisher); ok && !r.Default {
		if err := t.FisherSingular(); err != nil { // a metric that the user chose is not completed
			return "", nil, err
		}
	}
	if r.Form != Diagonal {
		m, ok, err := riemann.SparseFromTarget(target, false)
		if err != nil {
			return "", nil, err
		}
		if ok && (r.Form == Sparse || riemann.SparseCost(m.Pattern()) < sparseCost && r.whole(target, d) && positive(m, d)) {
			return Sparse, m, nil
		}
		if r.Form == Sparse {
			return "", nil, errors.New("so many elements of the metric may differ from 0 that it cannot be sparse")
		}
		if d <= denseDim {
			return Dense, nil, nil
		}
	}
	m, ok, err := riemann.SparseFromTarget(target, true)
	if err != nil || !ok {
		return Dense, nil, err
	}
	return Diagonal, m, nil
}

// whole reports whether a sparse metric has no elements left out because of its size, or whether
// the dense metric would be too large too.
func (r Riemannian) whole(target infer.LogDensity, d int) bool {
	t, ok := infer.Innermost(target).(interface{ FisherLeaves(diagonal bool) bool })
	return d > denseDim || !ok || !t.FisherLeaves(false)
}

// positive reports whether a metric, without its low-rank part, is positive definite at any of a
// few points. The points are the same for all chains of all runs.
func positive(m riemann.Sparse, d int) bool {
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, d)
	for range settlePoints {
		for i := range x {
			x[i] = 2*rng.Float64() - 1
		}
		if riemann.IsPositive(m, x) {
			return true
		}
	}
	return false
}

// Geometric is a sampler on a Riemannian geometry, with the choice that it was made from.
type Geometric struct {
	infer.Sampler // hmc.Sampler, ahmc.Sampler or nuts.Sampler
	Riemannian    Riemannian
}

// Squares implements [infer.Squares]: it counts the metric, its factors and derivatives. A form
// that is not settled yet does not count if there is no memory for dense matrices.
func (g Geometric) Squares() int {
	if r := g.Riemannian; r.Form == Dense || r.frozen() || r.Kind != riemann.Fisher {
		return 12
	}
	return 0
}

// Plan implements [infer.Sampler].
func (g Geometric) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	r := g.Riemannian
	if !r.frozen() {
		plan, err := g.Sampler.Plan(target, n)
		// The mode Published does not climb.
		if err == nil && n > 0 && r.Options.Mode != riemann.Published {
			plan.Stages = append([]infer.Stage{climb{}}, plan.Stages...)
		}
		return plan, err
	}
	first := min(approach, n/4)
	if r.At != "" || r.Kind == Matrix {
		first = 0
	}
	plan, err := g.Sampler.Plan(target, n-first)
	if err != nil {
		return plan, err
	}
	var stages []infer.Stage
	if first > 0 {
		stages = warmup.Options{Metric: infer.Unit}.Stages(first)
	}
	stages = append(stages, riemann.Frozen{Metric: r.metric, At: r.at()})
	plan.Stages = append(stages, plan.Stages...)
	return plan, nil
}

// at is riemann.Frozen.At.
func (r Riemannian) at() func(context.Context, *infer.Meter, riemann.Metric, []float64) ([]float64, bool, error) {
	switch r.At {
	case "mode":
		return riemann.FindMode
	case "point":
		return func(_ context.Context, target *infer.Meter, _ riemann.Metric, _ []float64) ([]float64, bool, error) {
			if len(r.Point) != target.Dim() {
				return nil, false, fmt.Errorf("the point at which the metric is to be frozen has %d numbers, but there are %d unconstrained parameters", len(r.Point), target.Dim())
			}
			return r.Point, true, nil
		}
	}
	return nil
}

// Validate returns an error if an option is invalid.
func (g Geometric) Validate() error {
	if err := g.Riemannian.Options.Validate(); err != nil {
		return err
	}
	if err := infer.CheckOptions(map[string]float64{"softabs-alpha": g.Riemannian.Alpha}); err != nil {
		return fmt.Errorf("riemann: %w", err)
	}
	if v, ok := g.Sampler.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// of passes the geometry, or nil if there is none, to set, which makes a sampler with it.
func (r Riemannian) of(set func(func(*infer.Meter) (infer.Hamiltonian, error)) infer.Sampler) (infer.Sampler, error) {
	if err := (Geometric{Riemannian: r}).Validate(); err != nil {
		return nil, err // the user asked for this metric, so it is not replaced
	}
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
	if r.Kind != "" && r.frozen() {
		*kind, *fixed = infer.Dense, true
	}
}

// flags declares the options of the geometry, except for the metric.
func (r *Riemannian) flags(fs *flag.FlagSet) {
	fs.Float64Var(&r.Alpha, "softabs-alpha", riemann.DefaultAlpha, "hardness of the metric softabs: curvatures below about 1/alpha are raised to that")
	forms := []string{"auto", string(Dense), string(Sparse), string(Diagonal)}
	choose(fs, "metric-form", "elements of the metric fisher to compute: all, those that may differ from 0, or the diagonal; auto takes the cheaper of the first two or, above 2048 dimensions if both cost too much, the diagonal", forms,
		func(i int) { r.Form = []Form{"", Dense, Sparse, Diagonal}[i] })
	fs.BoolVar(&r.Frozen, "frozen", false, "evaluate a metric that depends on the position once, after the first transitions, and keep it")
	fs.Func("frozen-at", "evaluate a metric that depends on the position at this `point` and keep it: start, mode, or a file with {\"points\": [[0.1, -0.5]]}", r.setAt)
	modes := []string{string(riemann.Reversible), string(riemann.Published)}
	choose(fs, "implicit", "how to solve implicit steps: to a tolerance, and check by stepping back; or by a fixed number of iterations, as first published", modes,
		func(i int) { r.Options.Mode = riemann.Mode(modes[i]) })
	fs.IntVar(&r.Options.Iterations, "fixed-points", 0, "fixed-point iterations per implicit equation; 0: 4 if published, at most 100 if reversible")
	fs.Float64Var(&r.Options.Tolerance, "implicit-tolerance", riemann.DefaultTolerance, "tolerance of implicit steps, in units of the metric")
	fs.Float64Var(&r.Options.ReturnTolerance, "return-tolerance", riemann.DefaultReturnTolerance, "tolerance for stepping back through implicit steps")
}

// setAt sets At from the option frozen-at.
func (r *Riemannian) setAt(s string) error {
	if s == "start" || s == "mode" {
		r.At, r.Point = s, nil
		return nil
	}
	var file struct{ Points [][]float64 }
	if err := readJSON(s, "start, mode, or a file", &file); err != nil {
		return err
	}
	if len(file.Points) != 1 {
		return fmt.Errorf("%s has %d points, not one", s, len(file.Points))
	}
	r.At, r.Point = "point", file.Points[0]
	return nil
}

// setKind sets Kind, and Matrix if s is a file.
func (r *Riemannian) setKind(s, can string) error {
	r.Default = false
	if slices.Contains(kindNames(), s) {
		r.Kind = riemann.Kind(s)
		return nil
	}
	var file struct{ Metric json.RawMessage }
	if err := readJSON(s, can, &file); err != nil {
		return err
	}
	// The file has one matrix, or a list of one, as the command metric prints it.
	var rows [][]float64
	if err := json.Unmarshal(file.Metric, &rows); err != nil {
		var several [][][]float64
		if json.Unmarshal(file.Metric, &several) != nil || len(several) != 1 {
			return fmt.Errorf("%s has no \"metric\" that is one matrix, a list of rows", s)
		}
		rows = several[0]
	}
	r.Kind, r.Matrix = Matrix, nil
	for i, row := range rows {
		if len(row) != len(rows) {
			return fmt.Errorf("%s: row %d of the metric has %d numbers, but there are %d rows", s, i+1, len(row), len(rows))
		}
		r.Matrix = append(r.Matrix, row...)
	}
	for i := range rows {
		for j := range i {
			if a, b := rows[i][j], rows[j][i]; math.Abs(a-b) > 1e-8*math.Sqrt(rows[i][i]*rows[j][j]) {
				return fmt.Errorf("%s: the metric is not symmetric: [%d][%d] is %v, but [%d][%d] is %v", s, i+1, j+1, a, j+1, i+1, b)
			}
		}
	}
	return nil
}

// readJSON reads the file s. can describes the other valid values of s, for messages.
func readJSON(s, can string, to any) error {
	raw, err := readFile(s)
	if err != nil {
		if pe := (*os.PathError)(nil); errors.As(err, &pe) {
			err = pe.Err
		}
		return fmt.Errorf("it can be %s; there is no file %s that can be read: %w", can, s, err)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	return nil
}

// readFile reads a whole file, but no more than a metric of 4000 parameters takes, because it may
// be a device.
func readFile(path string) ([]byte, error) {
	const longest = 1 << 29
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	raw, err := io.ReadAll(io.LimitReader(in, longest+1))
	if err == nil && len(raw) > longest {
		err = errors.New("it is longer than 512 MiB")
	}
	return raw, err
}

// kindNames returns the values of the option metric that mean a Riemannian geometry.
func kindNames() []string {
	var names []string
	for _, k := range riemann.Kinds() {
		names = append(names, string(k))
	}
	return names
}

// metricFlag declares the option metric for samplers that are Riemannian by nature.
func (r *Riemannian) metricFlag(fs *flag.FlagSet) {
	r.Kind, r.Default = riemann.Fisher, true
	fs.Func("metric", "the metric: "+list(kindNames())+"; or a constant one from a `file`, {\"metric\": [[2, 0.1], [0.1, 1]]} (default "+string(riemann.Fisher)+", softabs where that cannot be had)",
		func(s string) error { return r.setKind(s, list(kindNames())+", or a file") })
}

func rmhmcRow() Row {
	return Row{
		Name:    "rmhmc",
		Type:    Geometric{},
		Doc:     "Riemann manifold Hamiltonian Monte Carlo: HMC with a metric that depends on the position.",
		Adapts:  true,
		Columns: []Column{stepSizeColumn, intTimeColumn, treeDepthColumn, leapfrogColumn, divergentColumn, energyColumn},
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
		Type:    Geometric{},
		Doc:     "Riemann manifold Hamiltonian Monte Carlo, tuned like ahmc.",
		Adapts:  true,
		Columns: []Column{stepSizeColumn, intTimeColumn, treeDepthColumn, leapfrogColumn, divergentColumn, energyColumn},
		Options: func(fs *flag.FlagSet) Build {
			s, r := &ahmc.Sampler{}, &Riemannian{}
			v := tuneFlags(fs, s)
			r.metricFlag(fs)
			r.flags(fs)
			return func() (infer.Sampler, error) {
				made, err := r.of(func(h func(*infer.Meter) (infer.Hamiltonian, error)) infer.Sampler {
					s.Hamiltonian = h
					r.keep(&s.Metric, &s.FixedMetric)
					return *s
				})
				return v.of(*s, func(s ahmc.Sampler) infer.Sampler {
					if g, ok := made.(Geometric); ok {
						g.Sampler = s
						return g
					}
					return s
				}), v.check(err)
			}
		},
	}
}
