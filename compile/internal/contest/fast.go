package contest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Fast compares what users run with package interp, the evaluator by which runs check themselves.
// At one point it compares the log density and its slope, every partial derivative, and the
// outputs. It takes a fifth of the time of Quick. It does not use package direct unless Bind
// refuses the program.
func Fast(text, name string, set *data.Set, seed uint64) (rep Report) {
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
	rng := rand.New(rand.NewPCG(seed, 17))
	begin := ProcessorTime()
	model, err := prog.Bind(set, compile.BindOptions{})
	rep.Bind = ProcessorTime() - begin
	if err != nil {
		plain, errPlain := direct.New(prog.IR(), set, direct.Options{Propto: true, Jacobian: true, Transforms: transform.Stan239})
		rep.refused("model", err, plain, errPlain, rng)
		return rep
	}
	defer rep.faults(model)
	if rep.faults(model); rep.Wrong != nil {
		return rep
	}
	x := make([]float64, model.Dim())
	for i := range x {
		x[i] = 2.4*rng.Float64() - 1.2
	}
	if rep.Wrong = fast(&rep, model, x, rng); rep.Wrong != nil {
		rep.Wrong.Text += fmt.Sprintf("\nat the point %v", x)
	}
	return rep
}

// fast compares the two at one point.
func fast(rep *Report, model *compile.Model, x []float64, rng *rand.Rand) *Disagreement {
	comparer, err := model.Comparer()
	if err != nil {
		return differ("reference", "the reference fails: %v", err)
	}
	a, err := comparer.Agree(x, rng, time.Minute)
	if err != nil {
		return differ("reference", "the reference fails: %v", err)
	}
	o, err := comparer.Outputs(x, rng, time.Minute)
	if err != nil && !a.Wrong() {
		return differ("reference", "the reference fails with outputs: %v", err)
	}
	for _, a := range []*compile.Agreement{a, o} {
		if a != nil && a.Wrong() {
			return differ("agree "+a.Verdict.String(), "%v: %+v", a.Verdict, *a)
		}
	}
	grad, want := make([]float64, len(x)), make([]float64, len(x))
	reference := model.Reference()
	begin := ProcessorTime()
	_, err = model.LogDensityGrad(x, grad)
	rep.Evaluate = ProcessorTime() - begin
	_, errWant := reference.LogDensityGrad(x, want)
	if (err == nil) != (errWant == nil) {
		return differ("rejection model", "rejection by the reference: %v; model: %v", errWant, err)
	}
	switch {
	case err != nil:
		rep.Rejected++
		return nil
	case a.Verdict != compile.Agrees:
		rep.Vague++
		return nil
	}
	rep.Compared++
	// Estimate the effect of rounding on each derivative.
	const step = 1e-9
	near, moved := slices.Clone(x), make([]float64, len(x))
	for i := range near {
		near[i] += step * (2*rng.Float64() - 1)
	}
	if _, err := model.LogDensityGrad(near, moved); err != nil {
		return nil
	}
	scale := max(1, a.Tolerance/1e-10)
	for _, v := range want {
		if !math.IsNaN(v) {
			scale = max(scale, math.Abs(v))
		}
	}
	names := model.UnconstrainedNames()
	for i, v := range want {
		blur := math.Abs(moved[i]-grad[i]) / step * 1e-15
		if math.IsNaN(v) || math.IsInf(v, 0) || math.IsNaN(blur) {
			continue // the reference is NaN, as in Stan, because of an unused part that is NaN
		}
		if !(math.Abs(grad[i]-v) <= scale*gradientTolerance+blur) {
			return differ("gradient model", "gradient by %s: reference %v, model %v (relative to %.3g)", names[i], v, grad[i], scale)
		}
	}
	out, wanted := make([]float64, len(model.OutputNames())), make([]float64, len(model.OutputNames()))
	err, errWant = model.Generate(x, nil, out), reference.Generate(x, nil, wanted)
	switch {
	case needsRandom(errWant):
		return nil
	case (err == nil) != (errWant == nil):
		return differ("outputs rejection model", "rejection of outputs by the reference: %v; model: %v", errWant, err)
	case err != nil:
		return nil
	}
	scale = max(1, a.Tolerance/1e-10)
	for i, v := range wanted {
		if d := math.Abs(out[i] - v); d > 1e-9*max(scale, math.Abs(v)) || math.IsNaN(out[i]) != math.IsNaN(v) {
			return differ("outputs model", "output %s: reference %v, model %v", model.OutputNames()[i], v, out[i])
		}
	}
	return nil
}
