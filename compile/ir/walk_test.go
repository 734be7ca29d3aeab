package ir_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/compile/ir"
)

// nodes has every type of node.
var nodes = []ir.Node{
	&ir.Declare{}, &ir.Unpack{}, &ir.Assign{}, &ir.Target{}, &ir.Tilde{}, &ir.CallStmt{}, &ir.For{}, &ir.ForEach{}, &ir.While{},
	&ir.If{}, &ir.Block{}, &ir.Break{}, &ir.Continue{}, &ir.Return{}, &ir.Print{}, &ir.Reject{},
	&ir.IntLit{}, &ir.RealLit{}, &ir.StringLit{}, &ir.VarRef{}, &ir.Operand{}, &ir.Call{}, &ir.UserCall{}, &ir.IndexExpr{}, &ir.Cond{},
	&ir.And{}, &ir.Or{}, &ir.ArrayLit{}, &ir.RowVectorLit{}, &ir.Promote{}, &ir.Tuple{}, &ir.Member{}, &ir.TargetValue{},
}

// TestChildren checks that Inspect visits every field of a node that contains statements or
// expressions. Exceptions are fields whose content is part of another child, and the properties of
// a variable other than its sizes.
func TestChildren(t *testing.T) {
	text, err := os.ReadFile("ir.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^func \(\*(\w+)\) (?:stmt|expr)\(\)`).FindAllSubmatch(text, -1)
	if len(named) != len(nodes) {
		t.Errorf("there are %d types of nodes, and %d in the list", len(named), len(nodes))
	}
	for _, n := range nodes {
		typ := reflect.TypeOf(n).Elem()
		var want []ir.Node
		var fill func(v reflect.Value)
		fill = func(v reflect.Value) {
			put := func(n ir.Node) {
				v.Set(reflect.ValueOf(n))
				want = append(want, n)
			}
			switch v.Type() {
			case reflect.TypeFor[ir.Expr]():
				put(&ir.Operand{})
			case reflect.TypeFor[ir.Stmt]():
				put(&ir.Break{})
			case reflect.TypeFor[*ir.UserCall]():
				put(&ir.UserCall{})
			case reflect.TypeFor[*ir.Var]():
				v.Set(reflect.ValueOf(&ir.Var{}))
				if typ == reflect.TypeFor[ir.Declare]() {
					fill(v.Elem().FieldByName("Sizes"))
				}
			case reflect.TypeFor[[]ir.Expr](), reflect.TypeFor[[]ir.Stmt](), reflect.TypeFor[[]ir.Index]():
				v.Set(reflect.MakeSlice(v.Type(), 2, 2))
				fill(v.Index(0))
				fill(v.Index(1))
			default:
				if v.Kind() != reflect.Struct {
					return
				}
				for i := range v.NumField() {
					if name := v.Type().Field(i).Name; name != "Combine" && name != "After" {
						fill(v.Field(i))
					}
				}
			}
		}
		fill(reflect.ValueOf(n).Elem())
		var got []ir.Node
		ir.Inspect(n, func(c ir.Node) bool {
			if c != n {
				got = append(got, c)
			}
			return c == n
		})
		if len(got) != len(want) {
			t.Errorf("%s: %d children are visited of %d", typ.Name(), len(got), len(want))
		}
		for _, c := range want {
			if !slices.Contains(got, c) {
				t.Errorf("%s: a %T is not visited", typ.Name(), c)
			}
		}
	}
}

func TestInspect(t *testing.T) {
	x, y := &ir.Var{Name: "x"}, &ir.Var{Name: "y"}
	read := func(v *ir.Var) ir.Expr { return &ir.VarRef{Var: v} }
	s := &ir.Block{Stmts: []ir.Stmt{
		&ir.If{Cond: read(x), Then: &ir.Return{Value: read(y)}, Else: &ir.Return{}},
		&ir.Print{Args: []ir.Expr{&ir.Promote{X: read(y)}}},
	}}
	var got string
	for v := range ir.Vars(s) {
		got += v.Name
	}
	if got != "xyy" {
		t.Errorf("read are %s", got)
	}
	all, own, inner := 0, 0, 0
	for range ir.Stmts(s) {
		all++
	}
	for range ir.Exprs(s.Stmts[0]) {
		own++
	}
	for range ir.Inner(s.Stmts[0]) {
		inner++
	}
	if all != 5 || own != 1 || inner != 2 {
		t.Errorf("%d statements, %d expressions of the conditional, %d branches", all, own, inner)
	}
	for range ir.Inner(s) {
		break
	}
	for range ir.Vars(s) {
		break
	}
	for range ir.Stmts(s) {
		break
	}
	for range ir.Exprs(s.Stmts[0]) {
		break
	}
	ir.Inspect(nil, func(ir.Node) bool { t.Error("nil is visited"); return true })
}
