package compile

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/compile/internal/proggen"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Section 7 of the design: one meaning, several ways to compute it. The plain
// interpreter (package direct) is the oracle; compared with it are
//
//   - usual: Bind, by the reference evaluator of its graphs;
//   - unrolled: Bind with every loop unrolled, likewise;
//   - interpreted: package interp, with the gradient of what it records;
//   - model: what users run, the graph with its gradient on the vm; and the
//     same with one pass left out, another for each program.
const (
	tolerance         = 1e-12 // of values, relative to the numbers added up, at least 1
	gradientTolerance = 1e-10 // between gradients, whose sums are not known
)

// disagreement is a difference between two ways, or a failure of one. kind is
// the same for a shrunk program.
type disagreement struct{ kind, text string }

// report is what came of one program.
type report struct {
	wrong       *disagreement
	unsupported string // the reason, if Bind says so
	rejected    int    // points
	compared    int
	vague       int // points where rounding errors are too large to compare
	stats       bind.Stats
}

func differ(kind, format string, args ...any) *disagreement {
	return &disagreement{kind, fmt.Sprintf(format, args...)}
}

// contend compares all ways at a few points.
func contend(text, name string, set *data.Set, seed uint64, points int) (rep report) {
	defer func() {
		if p := recover(); p != nil {
			rep.wrong = differ("panic", "panic: %v\n%s", p, trace(debug.Stack()))
		}
	}()
	prog, list := Compile(source.NewFile(name, text))
	if prog == nil {
		rep.wrong = differ("program", "the program does not compile: %v", list[0])
		return rep
	}
	if err := prog.ir.Verify(); err != nil {
		rep.wrong = differ("verify", "%v", err)
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
	plain, errPlain := direct.New(prog.ir, set, direct.Options{Propto: propto, Jacobian: jacobian, Print: keep(0), Transforms: edition})
	options := BindOptions{NoPropto: !propto, NoJacobian: !jacobian, StanCompat: edition.String()}
	options.Print = keep(1)
	model, errModel := prog.Bind(set, options)
	options.Print = nil
	without := passes.Names()[seed%uint64(len(passes.Names()))]
	options.Without = []string{without}
	less, errLess := prog.Bind(set, options)
	unrolled, errUnrolled := bind.Bind(prog.ir, set, bind.Options{Propto: propto, Jacobian: jacobian, Unroll: true, Transforms: edition})
	if rep.refused("usual", errModel, errPlain) || rep.refused("model without "+without, errLess, errPlain) || rep.refused("unrolled", errUnrolled, errPlain) || errPlain != nil {
		return rep
	}
	sizes, err := plain.Sizes()
	if err != nil {
		rep.wrong = differ("direct", "the plain interpreter fails: %v", err)
		return rep
	}
	rep.stats = model.Loops()
	if model.Interpreted() || less.Interpreted() || unrolled.Density == nil {
		rep.unsupported = "what parameters decide, in a graph"
		c := &contest{rep: &rep, prints: &prints, plain: plain, model: model, rng: rng}
		rep.wrong = c.everywhere(points, sizes, c.alone)
		return rep
	}
	g := unrolled.Density
	for _, r := range g.Grad(g.Outputs[0], g.Inputs...) {
		g.Output(r)
	}
	interpreted, err := interp.New(model.bound.Known, interp.Options{Propto: propto, Jacobian: jacobian, Transforms: edition})
	if err != nil {
		rep.wrong = differ("interpreted", "package interp fails: %v", err)
		return rep
	}
	c := &contest{interpreted: interpreted, rep: &rep, prints: &prints, plain: plain, model: model, less: less, without: without, unrolled: unrolled, rng: rng}
	if slices.ContainsFunc(prog.ir.Functions, func(f *ir.Function) bool {
		return f.Intrinsic == ir.Jacobian && f.Of.Result.IsScalar()
	}) {
		c.differenced = 1e-8
	}
	if rep.wrong = c.everywhere(points, sizes, c.at); rep.wrong != nil {
		rep.wrong.text += fmt.Sprintf(" (propto %v, jacobian %v, transforms of Stan %v)", propto, jacobian, edition)
	}
	return rep
}

// everywhere compares at random points.
func (c *contest) everywhere(points int, sizes []int, at func(x [][]float64) *disagreement) *disagreement {
	for range points {
		x := make([][]float64, len(sizes))
		for i, n := range sizes {
			for range n {
				x[i] = append(x[i], 2.4*c.rng.Float64()-1.2)
			}
		}
		if d := at(x); d != nil {
			d.text += fmt.Sprintf("\nat the point %v", x)
			return d
		}
	}
	return nil
}

// refused records an error of Bind, or its absence, where the data or the
// transformed data should be refused for plain. It reports whether the program
// cannot be run.
func (rep *report) refused(way string, err, plain error) bool {
	var e *bind.Error
	switch {
	case errors.As(err, &e) && len(e.List) > 0 && e.List[0].Code == diag.NotSupported:
		rep.unsupported = e.List[0].Summary
	case (err == nil) != (plain == nil):
		rep.wrong = differ("data "+way, "with these data, plain: %v; %s: %v", plain, way, err)
	case err != nil:
		rep.rejected++
	}
	return err != nil || rep.wrong != nil
}

// contest is one program bound in all ways.
type contest struct {
	rep    *report
	prints *[2]strings.Builder // of plain and model
	plain  *direct.Model
	// interpreted is what users run where nothing else can: also an oracle, but of a
	// different make than plain, and with derivatives.
	interpreted *interp.Model
	model       *Model
	less        *Model // a pass left out
	without     string
	unrolled    *bind.Bound
	rng         *rand.Rand
	// differenced is by how much plain may be off where second derivatives are part
	// of a value: it takes them by differences of differences.
	differenced float64
}

// at compares at one point.
func (c *contest) at(x [][]float64) *disagreement {
	c.prints[0].Reset()
	c.prints[1].Reset()
	want, errWant := c.plain.Density(x)
	printed := c.prints[0].String()
	usual, errUsual := c.model.bound.Density.Eval(x, &ad.Env{})
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
		c.rep.rejected++
		return nil
	}
	blur, vague := c.blur(x, want)
	if vague {
		c.rep.vague++
		return nil
	}
	c.rep.compared++
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

// alone compares a model that is interpreted with the plain interpreter.
func (c *contest) alone(x [][]float64) *disagreement {
	c.prints[0].Reset()
	c.prints[1].Reset()
	want, errWant := c.plain.Density(x)
	flat := slices.Concat(x...)
	grad := make([]float64, len(flat))
	lp, err := c.model.LogDensityGrad(flat, grad)
	switch {
	case (err == nil) != (errWant == nil):
		return differ("rejection alone", "rejection by plain: %v; model: %v", errWant, err)
	case c.prints[0].String() != c.prints[1].String():
		return differ("prints alone", "plain prints\n%s\nmodel\n%s", c.prints[0].String(), c.prints[1].String())
	case err != nil:
		c.rep.rejected++
		return nil
	}
	blur, vague := c.blur(x, want)
	if vague {
		c.rep.vague++
		return nil
	}
	c.rep.compared++
	scale := max(1, want.Magnitude)
	if !near(lp, want.Value, scale*tolerance+blur) {
		return differ("density alone", "log density: plain %v, model %v (relative to %.3g)", want.Value, lp, want.Magnitude)
	}
	direction, slope := make([]float64, len(grad)), 0.0
	for i := range direction {
		direction[i] = 2*c.rng.Float64() - 1
		slope += direction[i] * grad[i]
	}
	if d, ok := c.difference(x, direction); ok && !near(d, slope, 1e-4*scale) {
		return differ("gradient alone", "gradient along %v: %v, by differences of the plain interpreter %v", direction, slope, d)
	}
	_, outputs, errWant := c.plain.Outputs(x)
	got := make([]float64, len(c.model.OutputNames()))
	if err := c.model.Generate(flat, nil, got); (err == nil) != (errWant == nil) {
		return differ("outputs alone", "outputs of plain: %v; model: %v", errWant, err)
	}
	for i, v := range outputs {
		if errWant == nil && !near(got[i], v, 10*(max(1, math.Abs(v))*tolerance+blur)) {
			return differ("outputs alone", "output %s: plain %v, model %v", c.model.OutputNames()[i], v, got[i])
		}
	}
	return nil
}

// gradient evaluates a log density and its derivatives by the inputs.
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

// blur is by how much the log density may change by rounding at x: an
// amplification of 1e16 times that of a step of a relative size of 1e-10 is
// measured; vague reports that nothing can be compared.
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

// gradients compares the gradients with one another and, at a few coordinates,
// with differences of the plain interpreter.
func (c *contest) gradients(x [][]float64, at direct.Density, usual, unrolled [][]float64, way string, model []float64) *disagreement {
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
	if c.rep.compared > 1 || way != "model" { // at one point only: differences take time
		return nil
	}
	direction := make([]float64, len(a))
	slope := 0.0
	for i := range direction {
		direction[i] = 2*c.rng.Float64() - 1
		slope += direction[i] * a[i]
	}
	d, ok := c.difference(x, direction)
	if ok && !near(d, slope, 1e-4*scale) {
		return differ("gradient", "gradient along %v: %v, by differences of the plain interpreter %v", direction, slope, d)
	}
	return nil
}

// difference is the derivative along a direction; ok is false where the density
// is not smooth enough to tell.
func (c *contest) difference(x [][]float64, direction []float64) (d float64, ok bool) {
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
	e := (at(h/3) - at(-h/3)) / (2 * h / 3)
	return d, math.Abs(d-e) <= 1e-5*max(1, math.Abs(d))
}

// outputs compares constrained values and generated quantities.
func (c *contest) outputs(x [][]float64, blur float64) *disagreement {
	constrained, generated, errWant := c.plain.Outputs(x)
	flat := slices.Concat(x...)
	onVM := make([]float64, len(c.model.OutputNames()))
	errModel := c.model.Generate(flat, nil, onVM)
	first, err1 := c.model.bound.Constrained.Eval(x, &ad.Env{})
	of := func(b *bind.Bound) ([][]float64, error) {
		if b.Generated == nil { // interpreted
			return [][]float64{generated}, errWant
		}
		return b.Generated.Eval(x, &ad.Env{})
	}
	usual, errUsual := of(c.model.bound)
	unrolled, errUnrolled := of(c.unrolled)
	interpreted, errInterpreted := c.interpreted.Outputs(x, &ad.Env{}, true)
	for _, w := range []struct {
		way string
		err error
	}{{"interpreted", errInterpreted}, {"unrolled", errUnrolled}, {"usual", errUsual}, {"model", errModel}} {
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
	}{{"interpreted", interpreted, generated}, {"unrolled", unrolled[0], generated}, {"constrained", first[0], constrained}, {"usual", usual[0], generated}, {"model", onVM, generated}} {
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

// TestRandomPrograms compares the ways on random programs: the same ones every
// time, or new ones for as long as PPL_RANDOM_PROGRAMS says (a duration, such
// as 10m), whose first seed PPL_RANDOM_SEED may give.
func TestRandomPrograms(t *testing.T) {
	limit, first, count := time.Hour, uint64(1), uint64(80)
	if testing.Short() {
		count = 20
	}
	if s := os.Getenv("PPL_RANDOM_PROGRAMS"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		limit, count = d, math.MaxUint32
		first = uint64(time.Now().UnixNano()) % 1_000_000_000
	}
	if s := os.Getenv("PPL_RANDOM_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first = n
	}
	t.Logf("first seed %d", first)
	var total report
	programs, notCompared := 0, 0
	reasons := map[string]int{}
	for begin, seed := time.Now(), first; time.Since(begin) < limit && seed < first+count; seed++ {
		p := proggen.New(seed)
		set, err := data.ParseJSON("data.json", []byte(p.Data))
		if err != nil {
			t.Fatal(err)
		}
		rep := contend(p.Text, "random.model", set, seed, 2)
		programs++
		if rep.wrong != nil {
			small := proggen.Shrink(p.Text, func(text string) bool {
				r := contend(text, "random.model", set, seed, 2)
				return r.wrong != nil && r.wrong.kind == rep.wrong.kind
			}, 20*time.Second)
			again := contend(small, "random.model", set, seed, 2)
			if again.wrong == nil { // not the same every time
				again.wrong = rep.wrong
			}
			t.Fatalf("PPL_RANDOM_SEED=%d\n%s\n\ndata %s\n\n%s (%s)", seed, small, p.Data, again.wrong.text, again.wrong.kind)
		}
		if rep.unsupported != "" {
			reasons[rep.unsupported]++
		}
		if rep.compared == 0 {
			notCompared++
		}
		total.add(rep)
	}
	s := total.stats
	t.Logf("%d programs (%d without a comparable point); points: %d compared, %d rejected, %d ill-conditioned", programs, notCompared,
		total.compared, total.rejected, total.vague)
	t.Logf("loops: %d laned, %d scanned, %d carried, %d iterated, %d unrolled; %d conditionals on parameters", s.Laned, s.Scanned, s.Carried, s.Iterated, s.Unrolled, s.Ifs)
	for reason, n := range reasons {
		t.Logf("%d not supported: %s", n, reason)
	}
	if total.compared == 0 {
		t.Error("nothing was compared")
	}
}

func (rep *report) add(r report) {
	rep.compared += r.compared
	rep.rejected += r.rejected
	rep.vague += r.vague
	rep.stats.Laned += r.stats.Laned
	rep.stats.Scanned += r.stats.Scanned
	rep.stats.Carried += r.stats.Carried
	rep.stats.Iterated += r.stats.Iterated
	rep.stats.Unrolled += r.stats.Unrolled
	rep.stats.Ifs += r.stats.Ifs
}

// TestWrittenPrograms compares the ways on the programs that package bind is
// tested with, whose first line holds their data.
func TestWrittenPrograms(t *testing.T) {
	files, err := filepath.Glob("internal/bind/testdata/loops/*.model")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".model"), func(t *testing.T) {
			text, set := withData(t, file)
			expectAgreement(t, text, file, set, 4)
		})
	}
}

// TestFoundPrograms compares the ways on programs that random ones were shrunk
// to, each of which once disagreed.
func TestFoundPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/found/*.model")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".model")
		t.Run(name, func(t *testing.T) {
			text, set := withData(t, file)
			expectAgreement(t, text, file, set, 4)
		})
	}
}

// TestFunctionals compares the ways on functions that take functions. The plain
// interpreter's Jacobians are differences, which shows in stiff solutions.
func TestFunctionals(t *testing.T) {
	files, err := filepath.Glob("testdata/functions/*.model")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".model"), func(t *testing.T) {
			text, set := withData(t, file)
			expectAgreement(t, text, file, set, 1)
		})
	}
}

// withData reads a program whose first line, // DATA {…}, holds its data.
func withData(t *testing.T, file string) (text string, set *data.Set) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(b), "\n")
	set, err = data.ParseJSON(file, []byte(strings.TrimPrefix(first, "// DATA ")))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), set
}

// TestExamplePrograms compares the ways on the examples.
func TestExamplePrograms(t *testing.T) {
	files, err := filepath.Glob("../examples/*/*.model")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".model"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			about := strings.TrimSuffix(file, ".model") + ".data.json"
			values, err := os.ReadFile(about)
			if err != nil {
				t.Fatal(err)
			}
			set, err := data.ParseJSON(about, values)
			if err != nil {
				t.Fatal(err)
			}
			expectAgreement(t, string(text), file, set, 1)
		})
	}
}

func expectAgreement(t *testing.T, text, name string, set *data.Set, points int) {
	t.Helper()
	rep := contend(text, name, set, 1, points)
	switch {
	case rep.wrong != nil:
		t.Error(rep.wrong.text)
	case rep.unsupported != "":
		t.Error("not supported: " + rep.unsupported)
	case rep.compared == 0:
		t.Error("no point could be compared")
	}
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
