package compile_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/source"
)

// enumerated is a program with its discrete parameters as data, evaluated at every configuration.
type enumerated struct {
	t       *testing.T
	names   []string // of the elements, as in the outputs: z.2
	configs [][]int64
	given   []*data.Set
	bound   []*compile.Model // nil: these values are impossible
	program *compile.Program
}

// asData moves the discrete parameters of a program to the data block.
func asData(t *testing.T, text string) (string, []*ast.VarDecl) {
	t.Helper()
	tree, list := lang.Parse(source.NewFile("m.stan", text))
	if list.HasErrors() {
		t.Fatal(list)
	}
	var moved []*ast.VarDecl
	var kept []ast.Stmt
	for _, s := range tree.Block(ast.Parameters).Stmts {
		if d := s.(*ast.VarDecl); d.Type.Elem == "int" {
			plain := *d.Type
			plain.Bounds = nil
			moved = append(moved, &ast.VarDecl{Base: d.Base, Type: &plain, Name: d.Name})
		} else {
			kept = append(kept, s)
		}
	}
	tree.Block(ast.Parameters).Stmts = kept
	b := tree.Block(ast.Data)
	for _, d := range moved {
		b.Stmts = append(b.Stmts, d)
	}
	var blocks []*ast.Block
	for _, b := range tree.Blocks {
		if b.Kind != ast.GeneratedQuantities {
			blocks = append(blocks, b)
		}
	}
	tree.Blocks = blocks
	return printer.String(tree), moved
}

// enumerate makes all configurations of the discrete parameters with these bounds.
func enumerate(t *testing.T, text, values string, bounds map[string][2]int64, perElement map[string][][2]int64) *enumerated {
	t.Helper()
	with, moved := asData(t, text)
	e := &enumerated{t: t}
	var list interface{ HasErrors() bool }
	p, l := compile.Compile(source.NewFile("oracle.stan", with))
	if list = l; list.HasErrors() {
		t.Fatal(l, with)
	}
	e.program = p
	// The shapes, from a model that declares them.
	full, l := compile.Compile(source.NewFile("m.stan", text))
	if l.HasErrors() {
		t.Fatal(l)
	}
	set, err := data.ParseText("data.json", values, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := full.Bind(set, compile.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var lo, hi []int64
	shape := map[string][][]int{} // indices of the elements
	for _, d := range moved {
		n := 0
		for _, name := range m.OutputNames() {
			stem, rest, _ := strings.Cut(name, ".")
			if stem != d.Name.Name {
				continue
			}
			e.names = append(e.names, name)
			var at []int
			for _, s := range strings.Split(rest, ".") {
				i := 0
				fmt.Sscan(s, &i)
				at = append(at, i)
			}
			shape[d.Name.Name] = append(shape[d.Name.Name], at)
			b, ok := bounds[d.Name.Name]
			if !ok {
				b = perElement[d.Name.Name][n]
			}
			lo, hi = append(lo, b[0]), append(hi, b[1])
			n++
		}
	}
	config := append([]int64{}, lo...)
	for {
		e.configs = append(e.configs, append([]int64{}, config...))
		k := 0
		for k < len(config) && config[k] == hi[k] {
			config[k] = lo[k]
			k++
		}
		if k == len(config) {
			break
		}
		config[k]++
	}
	for _, c := range e.configs {
		var all map[string]any
		if err := json.Unmarshal([]byte(values), &all); err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, d := range moved {
			ix := shape[d.Name.Name]
			dims := len(d.Type.ArrayDims)
			switch {
			case dims == 0:
				all[d.Name.Name] = c[at]
				at++
			case dims == 1:
				v := make([]int64, len(ix))
				for _, i := range ix {
					v[i[0]-1] = c[at]
					at++
				}
				all[d.Name.Name] = v
			case dims == 2:
				rows, cols := 0, 0
				for _, i := range ix {
					rows, cols = max(rows, i[0]), max(cols, i[1])
				}
				v := make([][]int64, rows)
				for r := range v {
					v[r] = make([]int64, cols)
				}
				for _, i := range ix {
					v[i[0]-1][i[1]-1] = c[at]
					at++
				}
				all[d.Name.Name] = v
			}
		}
		b, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		set, err := data.ParseText("data.json", string(b), data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		bound, err := e.program.Bind(set, compile.BindOptions{NoPropto: true})
		if err != nil {
			bound = nil
		}
		e.given, e.bound = append(e.given, set), append(e.bound, bound)
	}
	return e
}

// at returns the log of the sum of the densities at an unconstrained point, its gradient, and the
// probability of each configuration.
func (e *enumerated) at(x []float64) (lp float64, grad, prob []float64) {
	e.t.Helper()
	logs := make([]float64, len(e.configs))
	grads := make([][]float64, len(e.configs))
	for k, set := range e.given {
		logs[k] = math.Inf(-1)
		m := e.bound[k]
		if m == nil {
			continue
		}
		plain, err := direct.New(e.program.IR(), set, direct.Options{Jacobian: true})
		if err != nil {
			e.t.Fatal(err)
		}
		sizes, err := plain.Sizes()
		if err != nil {
			e.t.Fatal(err)
		}
		var parts [][]float64
		rest := x
		for _, n := range sizes {
			parts = append(parts, rest[:n])
			rest = rest[n:]
		}
		v, err := plain.Density(parts)
		if err != nil {
			continue // so are values that the program rejects
		}
		logs[k] = v.Value
		grads[k] = make([]float64, len(x))
		if _, err := m.LogDensityGrad(x, grads[k]); err != nil {
			e.t.Fatal(err)
		}
	}
	top := math.Inf(-1)
	for _, l := range logs {
		top = max(top, l)
	}
	if math.IsInf(top, -1) {
		return top, nil, nil
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	lp = top + math.Log(sum)
	grad = make([]float64, len(x))
	prob = make([]float64, len(logs))
	for k, l := range logs {
		prob[k] = math.Exp(l - lp)
		for i := range grad {
			if prob[k] > 0 {
				grad[i] += prob[k] * grads[k][i]
			}
		}
	}
	return lp, grad, prob
}

func near(a, b, tol float64) bool {
	return a == b || math.Abs(a-b) <= tol*max(1, math.Abs(a), math.Abs(b))
}

// discreteCase is a program with discrete parameters.
type discreteCase struct {
	name, text, data string
	bounds           map[string][2]int64
	perElement       map[string][][2]int64
}

func (c discreteCase) check(t *testing.T, draws int) {
	t.Helper()
	e := enumerate(t, c.text, c.data, c.bounds, c.perElement)
	full, _ := compile.Compile(source.NewFile("m.stan", c.text))
	set, err := data.ParseText("data.json", c.data, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := full.Bind(set, compile.BindOptions{NoPropto: true})
	if err != nil {
		t.Fatal(err)
	}
	if m.Interpreted() {
		t.Errorf("the density is interpreted: %v", m.Loops().Notes)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 2 {
		x := make([]float64, m.Dim())
		for i := range x {
			x[i] = 1.6*rng.Float64() - 0.8
		}
		lp, grad, prob := e.at(x)
		got := make([]float64, len(x))
		value, err := m.LogDensityGrad(x, got)
		if err != nil {
			t.Fatal(err)
		}
		if !near(value, lp, 1e-10) {
			text := m.Stan()
			t.Fatalf("log density %.15g, enumerated %.15g\n%s", value, lp, text)
		}
		for i := range grad {
			if !near(got[i], grad[i], 1e-9) {
				text := m.Stan()
				t.Fatalf("derivative %d is %.15g, enumerated %.15g\n%s", i, got[i], grad[i], text)
			}
		}
		if round > 0 || prob == nil {
			continue
		}
		// Frequencies of the configurations among draws at the point.
		index := map[string]int{}
		for i, n := range m.OutputNames() {
			index[n] = i
		}
		count := make([]int, len(prob))
		config := map[string]int{}
		for k, c := range e.configs {
			config[fmt.Sprint(c)] = k
		}
		dst := make([]float64, len(m.OutputNames()))
		for range draws {
			if err := m.Generate(x, rng, dst); err != nil {
				t.Fatal(err)
			}
			z := make([]int64, len(e.names))
			for i, n := range e.names {
				z[i] = int64(dst[index[n]])
			}
			k, ok := config[fmt.Sprint(z)]
			if !ok || prob[k] == 0 {
				t.Fatalf("drew %v, which is impossible", z)
			}
			count[k]++
		}
		for k, p := range prob {
			n := float64(draws)
			if sd := math.Sqrt(n * p * (1 - p)); math.Abs(float64(count[k])-n*p) > 5*sd+3 {
				t.Errorf("configuration %v: %d of %d draws, probability %.5f", e.configs[k], count[k], draws, p)
			}
		}
	}
}
