package inspect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
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

// program is the context of the loop that ends a test program. Data are known; other variables have
// the sizes that the test declares.
type program struct {
	t    *testing.T
	vars map[*ir.Var]*Variable
	ev   *known.Evaluator
	loop *ir.For
}

func (p *program) Variable(v *ir.Var) *Variable { return p.vars[v] }
func (p *program) Reserve(int, ...int)          {}
func (p *program) Used() int64                  { return 0 }
func (p *program) Back(int64)                   {}
func (p *program) Halt(err error)               { p.t.Fatal(err) }
func (p *program) Spend(int64)                  {}
func (p *program) inspect(first, last int64, w Way) (*Found, *Loop) {
	lp := &Loop{Body: p.loop.Body, Var: p.loop.Var, Add: first - 1}
	ax, number := lanes.Iterations(int(last-first+1), nil, nil, p.Reserve)
	r := Request{Loop: lp, Axis: ax, Number: number, Way: w}
	r.Tracked = p.ev.Follow(lp.Followed(ax, number, nil), around{&sight{out: p, scope: make(Scope, p.ev.Variables)}}, p)
	return Inspect(p.ev, p, r), lp
}

// read makes a program from text and data. Variables other than data have size elements.
func read(t *testing.T, text, values string, size int) *program {
	t.Helper()
	tree, list := lang.Parse(source.NewFile("test", text))
	if list.HasErrors() {
		t.Fatalf("%v\n%s", list, text)
	}
	info, list := check.Check(tree, stdlib.Universe())
	if list.HasErrors() {
		t.Fatalf("%v\n%s", list, text)
	}
	prog := ir.Lower(tree, info, stdlib.Language())
	set, err := data.ParseJSON("data", []byte(values))
	if err != nil {
		t.Fatal(err)
	}
	given, err := interp.Data(prog, set, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, vars: map[*ir.Var]*Variable{}, ev: known.NewEvaluators(prog, static.NewFunctions(), interp.Options{}, nil).Of(nil)}
	given.Each(func(v *ir.Var, shape []int, ints []int64, reals []float64) {
		value := lanes.Value{Shape: shape, Ints: ints, Reals: reals}
		p.vars[v] = &Variable{Var: v, Shape: shape, Cell: v, Steady: true, Value: func() (lanes.Value, bool) { return value, true }}
	})
	add := func(v *ir.Var, init *lanes.Value) {
		x := &Variable{Var: v, Cell: v, Steady: init != nil, Value: func() (lanes.Value, bool) { return lanes.Value{}, false }}
		if init != nil {
			x.Value = func() (lanes.Value, bool) { return *init, true }
		} else if len(v.Sizes) > 0 {
			x.Shape = []int{size}
		}
		p.vars[v] = x
	}
	for _, v := range prog.Parameters {
		add(v, nil)
	}
	for _, s := range prog.Model {
		switch s := s.(type) {
		case *ir.Declare:
			if i, ok := s.Init.(*ir.IntLit); ok {
				n := lanes.Int(i.Value)
				add(s.Var, &n)
			} else {
				add(s.Var, nil)
			}
		case *ir.For:
			p.loop = s
		}
	}
	return p
}

// text prints a nest: each unit with its domain and the elements that it uses, lane by lane.
func text(f *Found) string {
	var s strings.Builder
	if f.Why != "" {
		return "no nest: " + f.Why + "\n"
	}
	for _, u := range f.Nest.Statements {
		fmt.Fprintf(&s, "line %d, %d lanes:", u.Stmts[0].Span().Begin().Line, u.Domain.N)
		for _, x := range u.Touches {
			name := f.Nest.Used[x.Variable.ID].Var.Name
			fmt.Fprintf(&s, " %s %s", [...]string{"reads", "writes", "adds to"}[x.How], name)
			base := x.Access.Base
			if x.Access.Axis == nil {
				base = []int32{0}
			}
			for _, b := range base {
				var list []string
				for _, o := range x.Access.Offsets {
					list = append(list, fmt.Sprint(b+o))
				}
				fmt.Fprintf(&s, "[%s]", strings.Join(list, " "))
			}
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// TestUnits checks the units found for a loop: their statements, their iterations and the elements
// that they use.
func TestUnits(t *testing.T) {
	const head = `functions { int twice(int i) { int j = 0; for (k in 1:2) j += i; return j; } }
data { int N; array[N] int o; array[N] int g; vector[N] y; }
parameters { vector[6] z; real b; }
model {
vector[6] v = z; int pos = 0; real h = b;
for (n in 1:N) {
`
	for _, c := range []struct {
		name, body string
		want       [3]string // for 0, 1 and 2 iterations
	}{
		{"a gather", "v[n] = z[g[n]] + b;", [3]string{"line 7, 0 lanes: writes v\n", "line 7, 1 lanes: writes v[0]\n", "line 7, 2 lanes: writes v[0][1]\n"}},
		{"a condition that data decide", "if (o[n] && y[n] > 0) v[1] += z[n];\nelse v[2] = b;", [3]string{
			"", "line 7, 1 lanes: adds to v[0]\n", "line 7, 1 lanes: adds to v[0]\nline 8, 1 lanes: writes v[1]\n"}},
		{"a condition that parameters decide", "if (b > 0) v[n] = v[g[n]];", [3]string{
			"line 7, 0 lanes: reads v writes v\n", "line 7, 1 lanes: reads v[2] writes v[0]\n", "line 7, 2 lanes: reads v[2][0] writes v[0][1]\n"}},
		{"a ragged loop", "for (i in 1:g[n]) v[i] = b;", [3]string{
			"", "line 7, 3 lanes: writes v[0][1][2]\n", "line 7, 4 lanes: writes v[0][1][2][0]\n"}},
		{"a counter", "pos += g[n];\nv[pos] = b;", [3]string{
			"line 8, 0 lanes: writes v\n", "line 8, 1 lanes: writes v[2]\n", "line 8, 2 lanes: writes v[2][3]\n"}},
		{"a function of data", "v[twice(g[n]) - 1] = b;", [3]string{
			"line 7, 0 lanes: writes v\n", "line 7, 1 lanes: writes v[4]\n", "line 7, 2 lanes: writes v[4][0]\n"}},
		{"a sum of data as an index", "v[sum(g[1:n])] = b;", [3]string{
			"line 7, 0 lanes: writes v\n", "line 7, 1 lanes: writes v[2]\n", "no nest: a size that differs between iterations\n"}},
		{"continue", "if (o[n]) continue;\nv[n] = h;", [3]string{"", "", "line 8, 1 lanes: writes v[1]\n"}},
		{"print", "print(n);", [3]string{"no nest: " + PrintsOrder + "\n", "no nest: " + PrintsOrder + "\n", "no nest: " + PrintsOrder + "\n"}},
		{"a jump that parameters decide", "if (b > 0) break;\nv[n] = 1;", [3]string{"no nest: " + Jumps + "\n", "no nest: " + Jumps + "\n", "no nest: " + Jumps + "\n"}},
		{"an index out of range", "v[n + g[n] + 2] = 1;", [3]string{
			"line 7, 0 lanes: writes v\n", "line 7, 1 lanes: writes v[5]\n", "line 7, 2 lanes: writes v[5][4]\n"}},
	} {
		values := [3]string{`{"N":0,"o":[],"g":[],"y":[]}`, `{"N":1,"o":[1],"g":[3],"y":[1]}`, `{"N":2,"o":[1,0],"g":[3,1],"y":[1,2]}`}
		for n, want := range c.want {
			p := read(t, head+c.body+"\n} }", values[n], 6)
			f, _ := p.inspect(1, int64(n), Way{})
			if got := text(f); got != want {
				t.Errorf("%s, %d iterations:\n%swant\n%s", c.name, n, got, want)
			}
		}
	}
}

// TestMistakes checks that an error in a condition is reported with its position, and that a break
// that depends on data ends the loop.
func TestMistakes(t *testing.T) {
	const head = `data { int N; array[N] int g; } parameters { real b; } model { vector[6] v = rep_vector(b, 6);
for (n in 1:N) {
`
	p := read(t, head+"if (g[n + 1] > 1) v[n] = b;\n} }", `{"N":2,"g":[1,2]}`, 6)
	f, _ := p.inspect(1, 2, Way{})
	if f.Mistake == nil || f.Mistake.Summary != "index 3 is out of range" || f.Mistake.Span.Begin().Line != 3 {
		t.Errorf("mistake %v", f.Mistake)
	}
	p = read(t, head+"if (g[n] > 1) break;\nv[n] = b;\n} }", `{"N":4,"g":[1,1,2,1]}`, 6)
	if f, _ = p.inspect(1, 4, Way{}); f.Last != 3 {
		t.Errorf("ends after %d iterations, not 3: %s", f.Last, f.Why)
	}
}

// instance is one execution of the statement in a line. iteration counts the iterations of the
// innermost loop around it, over the whole run of the program.
type instance struct{ line, iteration int }

// drawnProgram is a random program of assignments to elements of v, one per line, in loops and
// conditions on data. It also records what happens when the program runs statement by statement.
type drawnProgram struct {
	rng   *rand.Rand
	lines []string
	g     []int       // data, 1 to 5
	time  map[int]int // by line of a loop: its iterations so far
	last  [6]instance // by element: the last write
	reads map[instance][]instance
}

// index returns a random index expression in loop variables, as text and as a function.
func (d *drawnProgram) index(depth int) (string, func(env []int) int) {
	k := d.rng.IntN(depth)
	v := fmt.Sprintf("i%d", k)
	switch d.rng.IntN(4) {
	case 0:
		return fmt.Sprintf("g[%s]", v), func(env []int) int { return d.g[env[k]-1] }
	case 1:
		return fmt.Sprintf("(g[%s] > 2 ? 1 : g[%s] + 1)", v, v), func(env []int) int {
			if d.g[env[k]-1] > 2 {
				return 1
			}
			return d.g[env[k]-1] + 1
		}
	case 2:
		j := d.rng.IntN(depth)
		return fmt.Sprintf("1 + (%s * g[i%d]) %% 5", v, j), func(env []int) int { return 1 + env[k]*d.g[env[j]-1]%5 }
	}
	return v, func(env []int) int { return env[k] }
}

func (d *drawnProgram) block(depth, loop int) (run func(env []int)) {
	var all []func(env []int)
	for range 1 + d.rng.IntN(3) {
		switch kind := d.rng.IntN(5); {
		case kind == 0 && depth < 3:
			end, of := d.index(depth)
			d.lines = append(d.lines, fmt.Sprintf("for (i%d in 1:%s) {", depth, end))
			line := len(d.lines)
			body := d.block(depth+1, line)
			d.lines = append(d.lines, "}")
			all = append(all, func(env []int) {
				for i := range of(env) {
					body(append(slices.Clip(env), i+1))
					d.time[line]++
				}
			})
		case kind == 1:
			x, of := d.index(depth)
			d.lines = append(d.lines, fmt.Sprintf("if (%s > 2) {", x))
			body := d.block(depth, loop)
			d.lines = append(d.lines, "}")
			all = append(all, func(env []int) {
				if of(env) > 2 {
					body(env)
				}
			})
		default:
			to, toOf := d.index(depth)
			from, fromOf := d.index(depth)
			d.lines = append(d.lines, fmt.Sprintf("v[%s] = exp(v[%s]);", to, from))
			line := len(d.lines)
			all = append(all, func(env []int) {
				me := instance{line, d.time[loop]}
				d.reads[me] = append(d.reads[me], d.last[fromOf(env)])
				d.last[toOf(env)] = me
			})
		}
	}
	return func(env []int) {
		for _, f := range all {
			f(env)
		}
	}
}

// TestVersions checks random programs: every read must see the same value as when the program runs
// statement by statement.
func TestVersions(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	for range 300 {
		d := &drawnProgram{rng: rng, time: map[int]int{}, reads: map[instance][]instance{}}
		for range 5 {
			d.g = append(d.g, 1+rng.IntN(4))
		}
		d.lines = []string{"data { array[5] int g; } parameters { real b; } model { vector[5] v = rep_vector(b, 5);", "for (i0 in 1:5) {"}
		body := d.block(1, 2)
		for i := range 5 {
			body([]int{i + 1})
			d.time[2]++
		}
		text := strings.Join(append(d.lines, "} }"), "\n")
		p := read(t, text, strings.ReplaceAll(fmt.Sprintf(`{"g":%v}`, d.g), " ", ","), 5)
		f, _ := p.inspect(1, 5, Way{})
		if f.Why != "" {
			t.Fatalf("%s\n%s", f.Why, text)
		}
		made := plan.Make(&f.Nest.Plan, p) // finds the versions even if there is no plan
		at := func(u *plan.Unit, lane int32) instance {
			if up := plan.UpTo(u.Domain, u.Loop.Axis); up != nil {
				lane = up[lane]
			}
			return instance{f.Nest.Statements[u.ID].Stmts[0].Span().Begin().Line, int(lane)}
		}
		for _, u := range f.Nest.Plan.Units {
			for _, x := range u.Touches {
				if x.How != plan.Reads {
					continue
				}
				h := made.Histories[x.Variable.ID]
				for l, o := range h.Origins(u, x.Access, u.Domain, nil) {
					me, got := at(u, int32(l)), instance{}
					if w := h.Source(o); w != nil {
						got = at(w.Unit, o.Pos)
					}
					if want := d.reads[me]; len(want) != 1 || want[0] != got {
						t.Fatalf("line %d, iteration %d, reads what %v wrote; run, %v\n%s", me.line, me.iteration, got, want, text)
					}
					delete(d.reads, me)
				}
			}
		}
		if len(d.reads) > 0 {
			t.Fatalf("%d statements that run are not in the nest\n%s", len(d.reads), text)
		}
	}
}

// TestEndlessFunction checks a function that depends on data and never ends. Even without a budget,
// the inspection ends after maxEvaluated steps. Whatever depends on the function counts as unknown.
func TestEndlessFunction(t *testing.T) {
	const endless = "functions { int forever(int k) { int n = 0; while (n < 10) { if (n > 3) n += k; } return n; } } parameters { real a; } "
	for _, c := range []struct{ loop, want string }{
		{"if (forever(i)) target += a;", "line 1, 5 lanes:\n"},
		{"int k = forever(i); target += a;", "line 1, 5 lanes: writes k[0]\nline 1, 5 lanes:\n"},
		{"v[1 + forever(i)] = a;", "line 1, 5 lanes: writes v[0 1 2 3 4 5 6 7 8]\n"},
	} {
		p := read(t, endless+"model { vector[9] v; for (i in 1:5) { "+c.loop+" } }", "{}", 9)
		if f, _ := p.inspect(1, 5, Ways()[0]); text(f) != c.want {
			t.Errorf("%s\n%s", c.loop, text(f))
		}
	}
}
