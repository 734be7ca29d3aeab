package known_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// scope has variables by name. Variables that are missing here are not known but have a shape.
type scope struct {
	vars   map[string]lanes.Value
	shapes map[string][]int
}

func (s scope) Value(v *ir.Var) (x lanes.Value, ok bool) {
	x, ok = s.vars[v.Name]
	return x, ok
}

func (s scope) Shape(v *ir.Var) (shape []int, ok bool) {
	if x, ok := s.vars[v.Name]; ok {
		return x.Shape, true
	}
	shape, ok = s.shapes[v.Name]
	return shape, ok
}

func (scope) Excluded(*plan.Axis) []bool { return nil }
func (scope) Reserve(int, ...int)        {}
func (scope) Halt(err error)             { panic(err) }
func (scope) Spend(int64)                {}

func compiled(t *testing.T, text string) *ir.Program {
	t.Helper()
	tree, list := lang.Parse(source.NewFile("test", text))
	if list.HasErrors() {
		t.Fatalf("%v\n%s", list, text)
	}
	info, list := check.Check(tree, stdlib.Universe())
	if list.HasErrors() {
		t.Fatalf("%v\n%s", list, text)
	}
	return ir.Lower(tree, info, stdlib.Language())
}

func evaluators(prog *ir.Program) *known.Evaluators {
	return known.NewEvaluators(prog, static.NewFunctions(), interp.Options{}, nil)
}

// plainly returns the generated quantities that the plain interpreter computes.
func plainly(t *testing.T, prog *ir.Program, vars map[string]any) ([]float64, error) {
	t.Helper()
	text, err := json.Marshal(vars)
	if err != nil {
		t.Fatal(err)
	}
	set, err := data.ParseJSON("data", text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := direct.New(prog, set, direct.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, out, err := m.Outputs(nil)
	return out, err
}

const functions = `functions {
  int fact(int i) { return i <= 0 || i > 30 ? 1 : i * fact(i - 1); }
  int larger(array[] int x, int y) { int k = 0; for (e in x) { if (e == 0) continue; if (e > y) k += 1; } return k; }
  int halvings(int i) { int j = i; int k = 0; while (j > 1) { j = j %/% 2; k += 1; } return k; }
  array[] int scaled(array[] int x, int y) { array[size(x)] int z = x; for (i in 1:size(x)) z[i] *= y; return z; }
}
`

// expressions draws int expressions in the ints a, b and n and the array v.
type expressions struct{ *rand.Rand }

func (g expressions) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g expressions) scalar(depth int) string {
	if depth == 0 {
		return g.pick("a", "b", "n", "0", "1", "2", "3", "-7", "2147483647", fmt.Sprint(g.IntN(9)-4))
	}
	x, y, z := g.scalar(depth-1), g.scalar(g.IntN(depth)), g.scalar(g.IntN(depth))
	switch g.IntN(12) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("+", "-", "*"), y)
	case 3:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("%", "%/%"), y)
	case 4:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("<", "<=", "==", "!=", ">=", ">"), y)
	case 5:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("&&", "||"), y)
	case 6:
		return fmt.Sprintf("(%s ? %s : %s)", x, y, z)
	case 7:
		return fmt.Sprintf("%s(%s, %s)", g.pick("min", "max"), x, y)
	case 8:
		return fmt.Sprintf("%s(%s)", g.pick("abs", "-", "!", "fact", "halvings", "int_step"), g.pick(x, "n", "b"))
	case 9:
		return fmt.Sprintf("%s(%s)", g.pick("sum", "prod", "max", "min", "size", "num_elements"), g.array(depth-1))
	case 10:
		return fmt.Sprintf("%s[%s]", g.array(depth-1), g.pick("1", "2", "size(v)", "n", y))
	}
	return fmt.Sprintf("%s(%s, %s)", g.pick("larger", "rank"), g.array(depth-1), y)
}

func (g expressions) array(depth int) string {
	if depth <= 0 {
		return g.pick("v", "v", "{a, b, n}")
	}
	x, y := g.array(depth-1), g.scalar(g.IntN(depth))
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("%s(%s)", g.pick("sort_asc", "sort_desc", "reverse", "dims", "abs"), x)
	case 1:
		return fmt.Sprintf("%s[%s:%s]", x, g.pick("1", "2", "n", "0"), g.pick("size(v)", "n", "2"))
	case 2:
		return fmt.Sprintf("append_array(%s, %s)", x, g.array(depth-1))
	case 3:
		return fmt.Sprintf("scaled(%s, %s)", x, y)
	case 4:
		return fmt.Sprintf("{%s, %s}", y, g.scalar(g.IntN(depth)))
	}
	return x
}

// sameError reports whether both evaluators give an error or neither does. Errors of arithmetic
// must have the same text.
func sameError(ours, theirs error) bool {
	d, mistake := known.Diagnostic(ours)
	if theirs == nil || !mistake {
		return theirs == nil && ours == nil
	}
	arithmetic := func(s string) bool { return strings.Contains(s, "overflow") || strings.Contains(s, "zero") }
	text := errors.Unwrap(theirs).Error()
	return text == d.Summary || !arithmetic(text) && !arithmetic(d.Summary)
}

// TestExpressions checks generated integer expressions. In each lane they must have the value, or
// the error, that the plain interpreter finds.
func TestExpressions(t *testing.T) {
	const count, most = 700, 3 // expressions, lanes
	failed, evaluated := 0, 0
	for seed := range uint64(count) {
		g := expressions{rand.New(rand.NewPCG(seed, 1))}
		e := g.scalar(1 + g.IntN(4))
		text := functions + "data { int a; int b; int n; int N; array[N] int v; }\ngenerated quantities { int r = " + e + "; }\n"
		prog := compiled(t, text)
		size := []int{0, 1, 2, 5}[g.IntN(4)]
		a, b := g.IntN(7)-3, []int{-2147483648, -5, -1, 0, 1, 2, 9, 2147483647}[g.IntN(8)]
		ax, _ := lanes.Iterations(1+g.IntN(most), nil, nil, scope{}.Reserve)
		n := lanes.Value{Axis: ax}
		for range ax.N {
			n.Ints = append(n.Ints, int64(g.IntN(6)-1))
		}
		v := lanes.Value{Shape: []int{size}, Ints: make([]int64, size)}
		for i := range v.Ints {
			v.Ints[i] = []int64{-3, 0, 1, 4, 4, 2147483647}[g.IntN(6)]
		}
		s := scope{vars: map[string]lanes.Value{"a": lanes.Int(int64(a)), "b": lanes.Int(int64(b)), "n": n, "N": lanes.Int(int64(size)), "v": v}}
		expr := prog.GeneratedQuantities[0].(*ir.Declare).Init
		ev := evaluators(prog).Of(nil)
		if !ev.Knows(expr, s) {
			t.Fatalf("%s is not known", e)
		}
		got, ours := ev.Eval(expr, &known.Context{Scope: s, Binding: s, Axis: ax})
		var first error
		var want []int64
		for _, x := range n.Ints {
			out, err := plainly(t, prog, map[string]any{"a": a, "b": b, "n": x, "N": size, "v": v.Ints})
			if err != nil {
				first = err
				break
			}
			want = append(want, int64(out[0]))
		}
		if !sameError(ours, first) {
			t.Errorf("seed %d: %s: error %v, the plain interpreter's is %v", seed, e, ours, first)
			continue
		}
		if first != nil {
			failed++
			continue
		}
		evaluated++
		if got = got.Wide(ax); !slices.Equal(got.Ints, want) {
			t.Errorf("seed %d: %s is %v, want %v (a %d, b %d, n %v, v %v)", seed, e, got.Ints, want, a, b, n.Ints, v.Ints)
		}
	}
	if evaluated < count/3 || failed < count/20 {
		t.Errorf("of %d expressions %d have values and %d errors", count, evaluated, failed)
	}
}

// TestFollow checks the inferred values of integer variables before each iteration of a loop and
// after it. They must be those that the plain interpreter finds.
func TestFollow(t *testing.T) {
	const count, notRun = 300, -1 << 31 // iterations after a break leave their numbers as declared
	followed := 0
	for seed := range uint64(count) {
		g := expressions{rand.New(rand.NewPCG(seed, 2))}
		value := func() string {
			return g.pick("pos + n", "pos - 1", "max(pos, n)", "w[1] + 1", "v[n]", "n * 2", "pos % 5", "larger(v, pos)")
		}
		var body strings.Builder
		for range 1 + g.IntN(4) {
			assign := g.pick("pos = "+value(), "pos += "+value(), "w[1] = "+value(), "w[1 + n % 2] += "+value()) + ";"
			switch g.IntN(6) {
			case 0:
				assign = fmt.Sprintf("if (%s > %d) %s", g.pick("pos", "v[n]", "n"), g.IntN(5), assign)
			case 1:
				assign = fmt.Sprintf("for (i in 1:v[n]) { %s }", assign)
			case 2:
				assign = fmt.Sprintf("if (%s > %d) %s; else %s", g.pick("pos", "v[n]"), g.IntN(5), g.pick("continue", "break"), assign)
			case 3:
				assign = fmt.Sprintf("{ int k = 0; while (k < 2) { k += 1; if (k > n) break; %s } }", assign)
			}
			body.WriteString(assign)
		}
		text := functions + `data { int N; array[N] int v; }
generated quantities { array[N] int start; array[2, N] int second; array[3] int last; {
  int pos = 1; array[2] int w = {2, 3};
  for (n in 1:N) { start[n] = pos; second[1, n] = w[1]; second[2, n] = w[2]; ` + body.String() + ` }
  last[1] = pos; last[2] = w[1]; last[3] = w[2]; } }
`
		prog := compiled(t, text)
		size := []int{0, 1, 2, 6}[g.IntN(4)]
		v := make([]int64, size)
		for i := range v {
			v[i] = int64(g.IntN(5))
		}
		out, err := plainly(t, prog, map[string]any{"N": size, "v": v})
		if err != nil {
			continue
		}
		var loop *ir.For
		for _, s := range prog.GeneratedQuantities {
			for s := range ir.Stmts(s) {
				if f, ok := s.(*ir.For); ok && loop == nil {
					loop = f
				}
			}
		}
		ax, number := lanes.Iterations(size, nil, nil, scope{}.Reserve)
		s := scope{vars: map[string]lanes.Value{
			"N": lanes.Int(int64(size)), "v": {Shape: []int{size}, Ints: v}, "pos": lanes.Int(1), "w": {Shape: []int{2}, Ints: []int64{2, 3}}}}
		list := evaluators(prog).Of(nil).Follow(known.Loop{Body: loop.Body, Var: loop.Var, Axis: ax, Counts: number}, s, s)
		starts := func(k, of int) (list []int64) { // of element k of the variable, which has so many
			for n := range size {
				list = append(list, int64(out[k+n*of]))
			}
			return list
		}
		for _, x := range list {
			followed++
			n := x.Final.Size()
			for k := range n {
				var got []int64
				for l := range size {
					got = append(got, x.Start.Ints[l*n+k])
				}
				want, final := starts(0, 1), int64(out[3*size])
				if x.Var.Name == "w" {
					want, final = starts(size+k, 2), int64(out[3*size+1+k])
				}
				for l, x := range want {
					if x == notRun {
						got[l] = x
					}
				}
				if !slices.Equal(got, want) || x.Final.Ints[k] != final {
					t.Errorf("seed %d: %s[%d] is %v, then %d, want %v, then %d\n%s", seed, x.Var.Name, k+1, got, x.Final.Ints[k], want, final, body.String())
				}
			}
		}
	}
	if followed < count/2 {
		t.Errorf("%d variables are followed in %d loops", followed, count)
	}
}

// measured returns the expression whose sizes are the last generated quantity.
func measured(prog *ir.Program) (e ir.Expr) {
	ir.Inspect(prog.GeneratedQuantities[len(prog.GeneratedQuantities)-1], func(n ir.Node) bool {
		if c, ok := n.(*ir.Call); ok && e == nil && static.FuncOf(c).OfShape != nil {
			e = c.Args[0]
		}
		return true
	})
	return e
}

// TestShapes checks the inferred shapes of expressions with unknown values. They must be those that
// the plain interpreter finds.
func TestShapes(t *testing.T) {
	const head = `functions {
  vector first(vector x, int n) { return x[1:n]; }
  vector joined(vector x, int n) { int k = 0; for (i in 1:n) k += i; vector[k] y = rep_vector(x[1], k); if (x[1] > 0) return y; return 2 * y; }
  matrix nested(vector x, array[] int idx) { return x[idx] * first(x, size(idx))'; }
  vector again(vector x, int n) { return n == 1 ? x[1:2] : again(x, n - 1); }
  vector rest(vector x, int n) { int k = n; while (x[1] > k) k += 1; return tail(x, n); }
}
data { int n; array[3] int idx; }
generated quantities { vector[6] x = rep_vector(0.5, 6); matrix[3, 2] m = rep_matrix(0.5, 3, 2); array[4] vector[2] a = rep_array(x[1:2], 4);
  array[%d] int d = %s; }
`
	for _, c := range []struct {
		rank int // negative: of arrays
		expr string
	}{
		{1, "x"}, {1, "x[n:]"}, {1, "x[idx]"}, {1, "x[1:0]"}, {1, "-x"}, {1, "x + 1"}, {2, "m'"}, {2, "m[1:n]"}, {1, "m[, 1]"}, {1, "m[n]"},
		{-2, "a"}, {-2, "a[idx]"}, {1, "a[n]"}, {-2, "a[idx, 1:1]"}, {2, "m * m'"}, {1, "m * x[1:2]"}, {2, "x * x'"}, {2, "append_col(m, m)"},
		{1, "append_row(x, x)"}, {1, "rep_vector(x[1], n)"}, {1, "head(x, n)"}, {1, "segment(x, 2, n)"}, {1, "col(m, 1)"}, {2, "diag_matrix(x)"},
		{1, "to_vector(m)"}, {1, "exp(x)"}, {1, "softmax(x)"}, {2, "cholesky_decompose(add_diag(x * x', 1))"}, {-2, "{x, x}"}, {2, "[x', x']"},
		{1, "n > 1 ? x[1:2] : x"}, {1, "x[1] > 0 ? x : -x"}, {1, "first(x, n)"}, {1, "joined(x, n)"}, {2, "nested(x, idx)"}, {2, "nested(x, idx[1:n])"},
		{1, "again(x, 5)"}, {1, "rest(x, n)"}, {1, "first(joined(x, n), 1)"},
	} {
		for _, n := range []int64{1, 2} {
			sizes := map[int]string{1: "{size(%[1]s)}", 2: "dims(%[1]s)", -2: "{size(%[1]s), size(%[1]s[1])}"}[c.rank]
			rank := max(c.rank, -c.rank)
			prog := compiled(t, fmt.Sprintf(head, rank, fmt.Sprintf(sizes, c.expr)))
			out, err := plainly(t, prog, map[string]any{"n": n, "idx": []int{3, 1, 2}})
			if err != nil {
				t.Fatal(c.expr, err)
			}
			s := scope{vars: map[string]lanes.Value{"n": lanes.Int(n), "idx": {Shape: []int{3}, Ints: []int64{3, 1, 2}}}, shapes: map[string][]int{}}
			for name, shape := range map[string][]int{"x": {6}, "m": {3, 2}, "a": {4, 2}} {
				s.shapes[name] = shape
			}
			got, ok := evaluators(prog).Of(nil).Shapes(measured(prog), &known.Context{Scope: s, Binding: s})
			var want []int
			for _, x := range out[len(out)-rank:] {
				want = append(want, int(x))
			}
			if !ok || !slices.Equal(got[0], want) {
				t.Errorf("%s with n = %d has shape %v (%v), want %v", c.expr, n, got, ok, want)
			}
		}
	}
	// If sizes differ between lanes, there is no shape.
	prog := compiled(t, fmt.Sprintf(head, 1, "{size(first(x, n))}"))
	ax := &plan.Axis{N: 2, Up: []int32{0, 0}}
	s := scope{vars: map[string]lanes.Value{"n": {Axis: ax, Ints: []int64{1, 2}}}, shapes: map[string][]int{"x": {6}}}
	defer func() {
		if f, ok := recover().(*lanes.Fault); !ok || f.Split == nil {
			t.Error("sizes that differ between lanes are no fault")
		}
	}()
	evaluators(prog).Of(nil).Shapes(measured(prog), &known.Context{Scope: s, Binding: s, Axis: ax})
}

// TestCall checks functions of ints, with one or several numbers, with and without lanes.
func TestCall(t *testing.T) {
	var divide *stdlib.Func
	prog := compiled(t, "data { int a; } generated quantities { int r = a %/% a; }")
	divide = static.FuncOf(prog.GeneratedQuantities[0].(*ir.Declare).Init.(*ir.Call))
	ax := &plan.Axis{N: 2, Up: []int32{0, 0}}
	array := lanes.Value{Shape: []int{2}, Ints: []int64{-7, 9}}
	for _, c := range []struct {
		x, y   lanes.Value
		want   []int64
		faults []int
	}{
		{lanes.Int(-7), lanes.Int(2), []int64{-3}, nil},
		{array, lanes.Int(2), []int64{-3, 4}, nil},
		{lanes.Int(8), array, []int64{-1, 0}, nil},
		{array, lanes.Value{Axis: ax, Ints: []int64{2, -1}}, []int64{-3, 4, 7, -9}, nil},
		{lanes.Int(1), lanes.Value{Axis: ax, Ints: []int64{1, 0}}, []int64{1, 0}, []int{1}},
		{lanes.Value{Shape: []int{0}, Ints: []int64{}}, lanes.Int(0), []int64{}, nil},
	} {
		var faults []int
		out := known.Call(divide, []lanes.Value{c.x, c.y}, scope{}.Reserve, func(l int, _ error) { faults = append(faults, l) })
		if !slices.Equal(out.Ints, c.want) || !slices.Equal(faults, c.faults) || len(out.Ints) != plan.Lanes(out.Axis)*ad.SizeOf(out.Shape) {
			t.Errorf("%v by %v is %v, with faults %v", c.x.Ints, c.y.Ints, out, faults)
		}
	}
}
