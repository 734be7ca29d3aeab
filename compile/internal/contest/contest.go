// Package contest compares the ways to evaluate a program: the plain interpreter (package direct),
// which is the reference, and the evaluators that package compile builds. It is for tests and
// developers' commands.
//
// Map of the package:
//
//	contest.go    Contend: all ways, at a few points
//	quick.go      Quick: only the interpreter and what users run, for many programs
//	fast.go       Fast: only package interp and what users run, for more programs
//	undefined.go  derivatives that are NaN in Stan, too
//	mutate.go     Mutate: programs with small changes
//	reduce.go     Reduce: data of fewer rows
//	everyday.go   EverydayModels: models on which passes are measured
//	posteriors.go Posteriors: those of a checkout of posteriordb
//	cpu_*.go      processor time
package contest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// The plain interpreter (package direct) is the reference. It is compared with
//
//   - usual: Bind, with the reference evaluator of its graphs;
//   - unrolled: Bind with every loop unrolled, with the same evaluator;
//   - interpreted: package interp, with the gradient of the operations that it records;
//   - model: what users run, the graph with its gradient on the vm; and the same with one pass left
//     out, a different one for each program.
const (
	tolerance         = 1e-12 // for values, relative to the sum of the absolute values of their terms, if that is above 1
	gradientTolerance = 1e-10 // between gradients, for which that sum is not known
)

// Disagreement is a difference between two ways of evaluation, or a failure of one. Kind does not
// change when a program is shrunk, so that it identifies the fault.
type Disagreement struct{ Kind, Text string }

// Report is the outcome of the comparison of one program, or of several.
type Report struct {
	Wrong       *Disagreement
	Unsupported string // why Bind does not support the program, or ""
	Rejected    int    // number of points that were rejected
	Compared    int
	Vague       int // number of points where rounding errors are too large to compare, or Stan has no derivative
	Stats       bind.Stats

	// Bind is the processor time that Bind took for what users run; Evaluate is that of one
	// evaluation with its gradient.
	Bind, Evaluate time.Duration
}

func differ(kind, format string, args ...any) *Disagreement {
	return &Disagreement{kind, fmt.Sprintf(format, args...)}
}

// Contend compares all ways of evaluation at a few points.
func Contend(text, name string, set *data.Set, seed uint64, points int) (rep Report) {
	defer func() {
		if p := recover(); p != nil {
			rep.Wrong = differ("panic", "panic: %v\n%s", p, trace(debug.Stack()))
		}
	}()
	prog, list := compile.Compile(source.NewFile(name, text))
	if prog == nil {
		rep.Wrong = differ("program", "the program does not compile: %v", list[0])
		return rep
	}
	if err := prog.IR().Verify(); err != nil {
		rep.Wrong = differ("verify", "%v", err)
		return rep
	}
	rng := rand.New(rand.NewPCG(seed, 17))
	propto, jacobian := rng.IntN(5) > 0, rng.IntN(5) > 0
	edition := transform.Stan239
	if rng.IntN(3) == 0 {
		edition = transform.Stan232
	}
	var prints [2]strings.Builder
	keep := func(k int) func(string) { return func(s string) { prints[k].WriteString(s + "\n") } }
	plain, errPlain := direct.New(prog.IR(), set, direct.Options{Propto: propto, Jacobian: jacobian, Print: keep(0), Transforms: edition})
	options := compile.BindOptions{NoPropto: !propto, NoJacobian: !jacobian, StanCompat: edition.String()}
	options.Print = keep(1)
	begin := ProcessorTime()
	model, errModel := prog.Bind(set, options)
	rep.Bind = ProcessorTime() - begin
	options.Print = nil
	without := passes.Names()[seed%uint64(len(passes.Names()))]
	options.Without = []string{without}
	less, errLess := prog.Bind(set, options)
	usual, errUsual := bind.Bind(prog.IR(), set, bind.Options{Propto: propto, Jacobian: jacobian, Transforms: edition})
	unrolled, errUnrolled := bind.Bind(prog.IR(), set, bind.Options{Propto: propto, Jacobian: jacobian, Unroll: true, Transforms: edition})
	refused := func(way string, err error) bool { return rep.refused(way, err, plain, errPlain, rng) }
	if refused("usual", errUsual) || refused("model", errModel) || refused("model without "+without, errLess) || refused("unrolled", errUnrolled) || errPlain != nil {
		return rep
	}
	sizes, err := plain.Sizes()
	if err != nil {
		rep.Wrong = differ("direct", "the plain interpreter fails: %v", err)
		return rep
	}
	defer rep.faults(model)
	if rep.faults(model); rep.Wrong != nil {
		return rep
	}
	if usual.Density == nil || unrolled.Density == nil { // the program is too large for a graph
		quick := Quick(text, name, set, seed, points)
		quick.Unsupported = "no graph can hold it"
		return quick
	}
	for _, b := range []*bind.Bound{usual, unrolled} {
		g := b.Density
		for _, r := range g.Grad(g.Outputs[0], g.Inputs...) {
			g.Output(r)
		}
	}
	interpreted, err := interp.New(usual.Known, interp.Options{Propto: propto, Jacobian: jacobian, Transforms: edition})
	if err != nil {
		rep.Wrong = differ("interpreted", "package interp fails: %v", err)
		return rep
	}
	c := &contest{rep: &rep, interpreted: interpreted, prints: &prints, plain: plain, model: model, less: less, without: without, usual: usual, unrolled: unrolled, rng: rng}
	if slices.ContainsFunc(prog.IR().Functions, func(f *ir.Function) bool {
		return f.Intrinsic == ir.Jacobian && f.Of.Result.IsScalar()
	}) {
		c.differenced = 1e-8
	}
	for range points {
		x := point(sizes, rng)
		if rep.Wrong = c.at(x); rep.Wrong != nil {
			rep.Wrong.Text += fmt.Sprintf("\nat the point %v (propto %v, jacobian %v, transforms of Stan %v)", x, propto, jacobian, edition)
			return rep
		}
	}
	return rep
}

// faults records the faults of ppl that a model has met so far.
func (rep *Report) faults(m *compile.Model) {
	rep.Stats = m.Loops()
	if list := rep.Stats.Faults; len(list) > 0 && rep.Wrong == nil {
		rep.Wrong = differ("plan", "a part could not be compiled as planned: %s", strings.Join(list, "; "))
	}
}

// refused records a disagreement about whether the program can be run: Bind returns an error,
// although plain accepts the data, or the reverse. It reports whether the program cannot be run.
// Bind may find out early that every point will be rejected; that is no disagreement.
func (rep *Report) refused(way string, err error, plain *direct.Model, errPlain error, rng *rand.Rand) bool {
	var e *bind.Error
	switch {
	case errors.As(err, &e) && len(e.List) > 0 && e.List[0].Code == diag.NotSupported:
		rep.Unsupported = e.List[0].Summary
	case err != nil && errPlain == nil && hopeless(plain, rng):
		rep.Rejected++
	case (err == nil) != (errPlain == nil):
		rep.Wrong = differ("data "+way, "with these data, plain: %v; %s: %v", errPlain, way, err)
	case err != nil:
		rep.Rejected++
	}
	return err != nil || rep.Wrong != nil
}

// hopeless reports whether the density or the generated quantities are rejected at every one of
// several points.
func hopeless(m *direct.Model, rng *rand.Rand) bool {
	sizes, err := m.Sizes()
	if err != nil {
		return true
	}
	density, outputs := true, true
	for range 5 {
		x := point(sizes, rng)
		_, err1 := m.Density(x)
		_, _, err2 := m.Outputs(x)
		density, outputs = density && err1 != nil, outputs && err2 != nil
	}
	return density || outputs
}

// point draws unconstrained numbers for parameters of the given sizes.
func point(sizes []int, rng *rand.Rand) [][]float64 {
	x := make([][]float64, len(sizes))
	for i, n := range sizes {
		for range n {
			x[i] = append(x[i], 2.4*rng.Float64()-1.2)
		}
	}
	return x
}

// contest is one program that was bound for all ways of evaluation.
type contest struct {
	rep         *Report
	prints      *[2]strings.Builder // what plain and model printed
	plain       *direct.Model
	interpreted *interp.Model // a second reference, with derivatives
	model       *compile.Model
	less        *compile.Model // model with one pass left out
	without     string
	usual       *bind.Bound
	unrolled    *bind.Bound
	rng         *rand.Rand
	// differenced is the error that plain may make if a value includes second derivatives, which it
	// computes as differences of differences.
	differenced float64
}

// at compares all ways of evaluation at one point.
func (c *contest) at(x [][]float64) *Disagreement {
	c.prints[0].Reset()
	c.prints[1].Reset()
	want, errWant := c.plain.Density(x)
	printed := c.prints[0].String()
	usual, errUsual := c.usual.Density.Eval(x, &ad.Env{})
	unrolled, errUnrolled := c.unrolled.Density.Eval(x, &ad.Env{})
	var heard strings.Builder
	recorded, errInterpreted := c.interpreted.Record(x, &ad.Env{Print: func(s string) { heard.WriteString(s + "\n") }})
	flat := slices.Concat(x...)
	grad := make([]float64, len(flat))
	lp, errModel := c.model.LogDensityGrad(flat, grad)
	lessGrad := make([]float64, len(flat))
	lessLP, errLess := c.less.LogDensityGrad(flat, lessGrad)
	less := "model without " + c.without
	for _, w := range []struct {
		way string
		err error
	}{{"interpreted", errInterpreted}, {"unrolled", errUnrolled}, {"usual", errUsual}, {"model", errModel}, {less, errLess}} {
		if (w.err == nil) != (errWant == nil) {
			return differ("rejection "+w.way, "rejection by plain: %v; %s: %v", errWant, w.way, w.err)
		}
	}
	if got := c.prints[1].String(); got != printed {
		return differ("prints", "plain prints\n%s\nmodel\n%s", printed, got)
	}
	if heard.String() != printed {
		return differ("prints interpreted", "plain prints\n%s\npackage interp\n%s", printed, heard.String())
	}
	if errWant != nil {
		c.rep.Rejected++
		return nil
	}
	blur, vague := c.blur(x, want)
	if vague {
		c.rep.Vague++
		return nil
	}
	c.rep.Compared++
	scale := max(1, want.Magnitude)
	again, recordedGrad, err := gradient(recorded.Graph, x)
	if err != nil {
		return differ("record", "the record of an evaluation fails: %v", err)
	}
	for _, w := range []struct {
		way string
		lp  float64
	}{{"interpreted", recorded.Value}, {"record", again}, {"unrolled", unrolled[0][0]}, {"usual", usual[0][0]}, {"model", lp}, {less, lessLP}} {
		if !near(w.lp, want.Value, scale*tolerance+blur) {
			return differ("density "+w.way, "log density: plain %v, %s %v (relative to %.3g)", want.Value, w.way, w.lp, scale)
		}
	}
	if !(finite(grad) && finite(recordedGrad) && finite(lessGrad) && finite(slices.Concat(unrolled[1:]...)) && finite(slices.Concat(usual[1:]...))) && undefined(c.interpreted, x) {
		c.rep.Vague++
		return c.outputs(x, blur)
	}
	for _, m := range []struct {
		way  string
		grad []float64
	}{{"model", grad}, {"record", recordedGrad}, {less, lessGrad}} {
		if d := c.gradients(x, want, usual[1:], unrolled[1:], m.way, m.grad); d != nil {
			return d
		}
	}
	return c.outputs(x, blur)
}

// gradient evaluates a log density and its derivatives with respect to the inputs.
func gradient(density *ad.Graph, x [][]float64) (lp float64, grad []float64, err error) {
	g := *density
	for _, r := range g.Grad(g.Outputs[0], g.Inputs...) {
		g.Output(r)
	}
	out, err := g.Eval(x, &ad.Env{})
	if err != nil {
		return 0, nil, err
	}
	return out[0][0], slices.Concat(out[1:]...), nil
}

// blur returns the change of the log density at x that rounding may cause. It measures the change
// for a random step of up to 1e-9 and scales it to one of 1e-15. vague reports that nothing can be
// compared.
func (c *contest) blur(x [][]float64, at direct.Density) (blur float64, vague bool) {
	if math.IsNaN(at.Value) || math.IsInf(at.Value, 0) || at.Magnitude > 1e8 {
		return 0, true
	}
	const step = 1e-9
	moved := make([][]float64, len(x))
	for i := range x {
		for _, v := range x[i] {
			moved[i] = append(moved[i], v+step*(2*c.rng.Float64()-1))
		}
	}
	d, err := c.plain.Density(moved)
	if err != nil {
		return 0, true
	}
	change := math.Abs(d.Value-at.Value) / step
	return change*1e-15 + c.differenced, change > 1e6*max(1, at.Magnitude)
}

// gradients compares the gradients with each other and, at a few coordinates, with finite
// differences of the plain interpreter.
func (c *contest) gradients(x [][]float64, at direct.Density, usual, unrolled [][]float64, way string, model []float64) *Disagreement {
	a, b := slices.Concat(usual...), slices.Concat(unrolled...)
	scale := max(1, at.Magnitude)
	for i := range a {
		if !math.IsNaN(a[i]) {
			scale = max(scale, math.Abs(a[i]))
		}
	}
	names := c.model.UnconstrainedNames()
	for i := range a {
		if !near(a[i], b[i], scale*gradientTolerance) {
			return differ("gradient unrolled", "gradient by %s: usual %v, unrolled %v", names[i], a[i], b[i])
		}
		if !near(a[i], model[i], scale*gradientTolerance) {
			return differ("gradient "+way, "gradient by %s: usual %v, %s %v", names[i], a[i], way, model[i])
		}
	}
	// Finite differences take time, so compute them at one point only.
	if c.rep.Compared > 1 || way != "model" {
		return nil
	}
	direction := make([]float64, len(a))
	slope := 0.0
	for i := range direction {
		direction[i] = 2*c.rng.Float64() - 1
		slope += direction[i] * a[i]
	}
	if d, wrong := c.differs(x, direction, slope, 1e-4*scale); wrong {
		return differ("gradient", "gradient along %v: %v, by differences of the plain interpreter %v", direction, slope, d)
	}
	return nil
}

// differs reports whether the derivative along a direction differs from slope; d is the derivative
// by differences. It reports false where the density is not smooth enough to decide. It checks
// smoothness only if the two values are not close, because each density of the plain interpreter
// takes long.
func (c *contest) differs(x [][]float64, direction []float64, slope, tolerance float64) (d float64, wrong bool) {
	at := func(h float64) float64 {
		moved, k := make([][]float64, len(x)), 0
		for i := range x {
			for _, v := range x[i] {
				moved[i] = append(moved[i], v+h*direction[k])
				k++
			}
		}
		v, err := c.plain.Density(moved)
		if err != nil {
			return math.NaN()
		}
		return v.Value
	}
	const h = 1e-5
	d = (at(h) - at(-h)) / (2 * h)
	if near(d, slope, tolerance) {
		return d, false
	}
	e := (at(h/3) - at(-h/3)) / (2 * h / 3)
	return d, math.Abs(d-e) <= 1e-5*max(1, math.Abs(d))
}

// outputs compares constrained values and generated quantities.
func (c *contest) outputs(x [][]float64, blur float64) *Disagreement {
	constrained, generated, errWant := c.plain.Outputs(x)
	if needsRandom(errWant) {
		return nil
	}
	flat := slices.Concat(x...)
	onVM := make([]float64, len(c.model.OutputNames()))
	errModel := c.model.Generate(flat, nil, onVM)
	first, err1 := c.usual.Constrained.Eval(x, &ad.Env{})
	of := func(b *bind.Bound) ([][]float64, error) {
		if b.Generated == nil { // the program is interpreted
			return [][]float64{generated}, errWant
		}
		return b.Generated.Eval(x, &ad.Env{})
	}
	usual, errUsual := of(c.usual)
	unrolled, errUnrolled := of(c.unrolled)
	for _, w := range []struct {
		way string
		err error
	}{{"unrolled", errUnrolled}, {"usual", errUsual}, {"model", errModel}} {
		if (w.err == nil) != (errWant == nil) {
			return differ("outputs rejection "+w.way, "rejection of outputs by plain: %v; %s: %v", errWant, w.way, w.err)
		}
	}
	if errWant != nil {
		return nil
	}
	if err1 != nil {
		return differ("outputs rejection", "constrained values alone are rejected: %v", err1)
	}
	for _, w := range []struct {
		way       string
		got, want []float64
	}{{"unrolled", unrolled[0], generated}, {"constrained", first[0], constrained}, {"usual", usual[0], generated}, {"model", onVM, generated}} {
		if len(w.got) != len(w.want) {
			return differ("outputs "+w.way, "%s: %d outputs, plain %d", w.way, len(w.got), len(w.want))
		}
		scale := 1.0
		for _, v := range w.want {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				scale = max(scale, math.Abs(v))
			}
		}
		for i := range w.got {
			if !near(w.got[i], w.want[i], 10*(scale*tolerance+blur)) {
				return differ("outputs "+w.way, "output %s: plain %v, %s %v", c.model.OutputNames()[i], w.want[i], w.way, w.got[i])
			}
		}
	}
	return nil
}

func near(a, b, tolerance float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance
}

// Add adds the counts of the report of another program.
func (rep *Report) Add(r Report) {
	rep.Compared += r.Compared
	rep.Rejected += r.Rejected
	rep.Vague += r.Vague
	rep.Stats.Laned += r.Stats.Laned
	rep.Stats.Scanned += r.Stats.Scanned
	rep.Stats.Carried += r.Stats.Carried
	rep.Stats.Iterated += r.Stats.Iterated
	rep.Stats.Unrolled += r.Stats.Unrolled
	rep.Stats.Ifs += r.Stats.Ifs
}

// trace shortens a stack to the functions of this module.
func trace(stack []byte) string {
	var out []string
	for _, line := range strings.Split(string(stack), "\n") {
		if f, _, ok := strings.Cut(line, "({0x"); ok || strings.HasPrefix(line, "github.com/ppl-lang") {
			if f, _, _ = strings.Cut(f, "(0x"); len(out) < 20 {
				out = append(out, f)
			}
		}
	}
	return strings.Join(out, "\n")
}
