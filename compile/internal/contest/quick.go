package contest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// notFinite is the kind of disagreement in which a gradient is not finite although the density has
// a derivative.
const notFinite = "gradient not finite"

// Quick compares what users run with the plain interpreter: the log density, the outputs and, at
// one point, the gradient along a direction with finite differences of the interpreter. It is many
// times faster than Contend.
func Quick(text, name string, set *data.Set, seed uint64, points int) (rep Report) {
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
	propto := rng.IntN(5) > 0
	plain, errPlain := direct.New(prog.IR(), set, direct.Options{Propto: propto, Jacobian: true, Transforms: transform.Stan239})
	begin := ProcessorTime()
	model, errModel := prog.Bind(set, compile.BindOptions{NoPropto: !propto})
	rep.Bind = ProcessorTime() - begin
	if rep.refused("model", errModel, plain, errPlain, rng) || errPlain != nil {
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
	c := &contest{rep: &rep, plain: plain, model: model, rng: rng}
	for range points {
		x := point(sizes, rng)
		rep.Wrong = c.quick(x)
		// This is rare, so the program is bound for the reference only here.
		if d := rep.Wrong; d != nil && d.Kind == notFinite {
			var m *interp.Model
			b, err := bind.Bind(prog.IR(), set, bind.Options{Propto: propto, Jacobian: true, Transforms: transform.Stan239})
			if err == nil {
				m, err = interp.New(b.Known, interp.Options{Propto: propto, Jacobian: true, Transforms: transform.Stan239})
			}
			if err == nil && undefined(m, x) {
				rep.Wrong = nil
				rep.Vague++
			}
		}
		if rep.Wrong != nil {
			rep.Wrong.Text += fmt.Sprintf("\nat the point %v (propto %v)", x, propto)
			return rep
		}
	}
	return rep
}

// quick compares the two at one point.
func (c *contest) quick(x [][]float64) *Disagreement {
	want, errWant := c.plain.Density(x)
	flat := slices.Concat(x...)
	grad := make([]float64, len(flat))
	begin := ProcessorTime()
	lp, err := c.model.LogDensityGrad(flat, grad)
	c.rep.Evaluate = ProcessorTime() - begin
	if (err == nil) != (errWant == nil) {
		return differ("rejection model", "rejection by plain: %v; model: %v", errWant, err)
	}
	if err != nil {
		c.rep.Rejected++
		return nil
	}
	blur, vague := c.blur(x, want)
	switch {
	case math.IsNaN(want.Value) && !math.IsNaN(lp), math.IsInf(want.Value, 0) && lp != want.Value:
		return differ("density model", "log density: plain %v, model %v", want.Value, lp)
	case vague:
		c.rep.Vague++
		return nil
	}
	c.rep.Compared++
	scale := max(1, want.Magnitude)
	if !near(lp, want.Value, scale*tolerance+blur) {
		return differ("density model", "log density: plain %v, model %v (relative to %.3g)", want.Value, lp, scale)
	}
	if c.rep.Compared == 1 {
		direction := make([]float64, len(grad))
		slope := 0.0
		for i := range direction {
			direction[i] = 2*c.rng.Float64() - 1
			slope += direction[i] * grad[i]
			scale = max(scale, math.Abs(grad[i]))
		}
		if d, wrong := c.differs(x, direction, slope, 1e-4*scale); wrong {
			kind := "gradient"
			if !finite(grad) {
				kind = notFinite
			}
			return differ(kind, "gradient along %v: model %v, by differences of the plain interpreter %v", direction, slope, d)
		}
	}
	_, generated, errWant := c.plain.Outputs(x)
	if needsRandom(errWant) {
		return nil
	}
	out := make([]float64, len(c.model.OutputNames()))
	err = c.model.Generate(flat, nil, out)
	switch {
	case (err == nil) != (errWant == nil):
		return differ("outputs rejection model", "rejection of outputs by plain: %v; model: %v", errWant, err)
	case err != nil:
		return nil
	case len(out) != len(generated):
		return differ("outputs model", "%d outputs, plain %d", len(out), len(generated))
	}
	scale = 1
	for _, v := range generated {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			scale = max(scale, math.Abs(v))
		}
	}
	for i, v := range generated {
		if !near(out[i], v, 10*(scale*tolerance+blur)) {
			return differ("outputs model", "output %s: plain %v, model %v", c.model.OutputNames()[i], v, out[i])
		}
	}
	return nil
}

// needsRandom reports whether an error means that a program draws random numbers, which the
// comparison does not provide. What users run skips draws that nothing uses, and has no such error.
func needsRandom(err error) bool {
	return err != nil && strings.Contains(err.Error(), "needs a random number generator")
}
