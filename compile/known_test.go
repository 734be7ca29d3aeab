package compile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestKnownNumbers checks that the values that the checker infers for expressions are those that
// the program computes.
func TestKnownNumbers(t *testing.T) {
	var ints, reals []string
	ops := strings.Fields("+ - * / %/% % == != < <= > >= && ||")
	for _, x := range []string{"-2", "0", "3", "7", "n"} {
		ints = append(ints, "-("+x+")", "!("+x+")", "("+x+") > 1 ? 5 : 6", "max("+x+", 1)", "min("+x+", 1)", "abs("+x+")")
		reals = append(reals, "-("+x+" + 0.5)", "("+x+")^2", "+("+x+" - 0.25)")
		for _, y := range []string{"-3", "0", "2", "n"} {
			for _, op := range ops {
				ints = append(ints, "("+x+") "+op+" ("+y+")")
			}
			for _, op := range strings.Fields("+ - * /") {
				reals = append(reals, "("+x+") "+op+" ("+y+" + 0.5)")
			}
			for _, op := range strings.Fields("== < >=") {
				ints = append(ints, "("+x+" + 0.5) "+op+" ("+y+")")
			}
		}
	}
	ints = append(ints, "2147483647 * 2147483647", "2097152 * 2147483647 * 2 + 4194304 - n", "size({1, 2})", "1 %/% (n - n) || 1", "0 && 1 %/% 0", "1 || 1 %/% 0")
	known := func(v *ast.VarExpr) (check.Number, bool) { return check.IntNumber(5), v.Name == "n" }
	value := func(e string, kind string) (n check.Number, ok bool) {
		p, list := compile.Compile(source.NewFile("m.stan", fmt.Sprintf("data { int n; } transformed data { %s x = %s; }", kind, e)))
		if list.HasErrors() {
			t.Fatalf("%s: %v", e, list)
		}
		tree, info := p.Syntax()
		return info.Number(tree.Blocks[1].Stmts[0].(*ast.VarDecl).Init, known)
	}
	var text strings.Builder
	var want []float64
	var of []string
	unknown := 0
	for _, kind := range []string{"int", "real"} {
		list := ints
		if kind == "real" {
			list = reals
		}
		for _, e := range list {
			n, ok := value(e, kind)
			if !ok {
				unknown++
				continue
			}
			if n.Real != (kind == "real") {
				t.Errorf("%s: real is %v", e, n.Real)
			}
			fmt.Fprintf(&text, "  %s x%d = %s;\n", kind, len(want), e)
			want, of = append(want, n.Val), append(of, e)
		}
	}
	// Not known: /, %/% and % of 5 values by 0, a result out of range, the size of an array, and an
	// expression that begins with a division by 0.
	if unknown != 3*5+3 {
		t.Errorf("%d expressions are not known", unknown)
	}
	p, list := compile.Compile(source.NewFile("m.stan", "data { int n; } generated quantities {\n"+text.String()+"}"))
	if list.HasErrors() {
		t.Fatal(list)
	}
	set, err := data.ParseJSON("data", []byte(`{"n": 5}`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Bind(set, compile.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, len(m.OutputNames()))
	if err := m.Generate(nil, rand.New(rand.NewPCG(1, 2)), got); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d values of %d", len(got), len(want))
	}
	for k := range got {
		if got[k] != want[k] {
			t.Errorf("%s is %v, not %v", of[k], got[k], want[k])
		}
	}
}
