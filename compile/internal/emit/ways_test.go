package emit

import (
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// program compiles a program and binds data, whose sizes must be known.
func program(t *testing.T, text, values string) *Program {
	t.Helper()
	tree, list := lang.Parse(source.NewFile("test", text))
	if list.HasErrors() {
		t.Fatal(list)
	}
	info, list := check.Check(tree, stdlib.Universe())
	if list.HasErrors() {
		t.Fatal(list)
	}
	prog := ir.Lower(tree, info, stdlib.Language())
	set, err := data.ParseJSON("data", []byte(values))
	if err != nil {
		t.Fatal(err)
	}
	known, err := interp.Data(prog, set, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var constants []Constant
	known.Each(func(v *ir.Var, shape []int, ints []int64, reals []float64) {
		constants = append(constants, Constant{v, shape, ints, reals})
	})
	p := New(prog, constants, Options{})
	if _, _, _, err := p.Describe(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSamePlansOnce checks that a loop is not inspected again with settings that would give the
// same result.
func TestSamePlansOnce(t *testing.T) {
	const head = `data { int N; array[N] int o; } parameters { vector[N] z; real b; }
model { vector[N] h = z; for (n in 2:N) { `
	for _, c := range []struct {
		body string
		want []int // for inner loops of 20 and 100 iterations: the ways to unroll that are tried
	}{
		{`for (k in 1:20) h[n] += b; h[n] *= b;`, []int{inspect.SmallLoop, inspect.MediumLoop}},
		{`for (k in 1:100) h[n] += b; h[n] *= b;`, []int{inspect.SmallLoop, inspect.MaxUnits}},
		{`h[n] *= b;`, []int{inspect.SmallLoop}},
	} {
		p := program(t, head+c.body+"} }", `{"N":5,"o":[1,0,1,1,0]}`)
		p.beginDensity(false)
		p.stmts.exec(p.prog.Model[0])
		it := p.stmts.loops.iter
		ax, i := it.iterations(4)
		f := p.prog.Model[1].(*ir.For)
		lp := counting(f, 1)
		var got []int
		var tried []*inspect.Found
		for _, w := range inspect.Ways() {
			if w.Joined || w.Steps || slices.ContainsFunc(tried, func(f *inspect.Found) bool { return f.Foresees(w, false) }) {
				continue
			}
			tried = append(tried, inspect.Inspect(it.users.evaluator(), it.outside(), inspect.Request{Loop: &lp.Loop, Axis: ax, Number: i.known(), Way: w}))
			got = append(got, w.Unroll)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: inspected in the ways %v, want %v", c.body, got, c.want)
		}
	}
}
