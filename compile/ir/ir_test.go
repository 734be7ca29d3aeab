package ir_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/check/checktest"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

var update = flag.Bool("update", false, "rewrite the golden sections of testdata")

// lower parses, checks and lowers a program that must have no errors.
func lower(t *testing.T, name, text string) *ir.Program {
	t.Helper()
	f, diags := lang.Parse(source.NewFile(name, text))
	if diags.HasErrors() {
		t.Fatalf("parse: %v", diags)
	}
	info, diags := check.Check(f, checktest.Universe())
	if diags.HasErrors() {
		t.Fatalf("check: %v", diags)
	}
	p := ir.Lower(f, info, checktest.Universe())
	if err := p.Verify(); err != nil {
		t.Errorf("verify: %v", err)
	}
	return p
}

// TestGolden compares the printed form of the programs in testdata with section "ir" of their
// files. The flag -update rewrites the sections.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := lower(t, name, string(a.Files[0].Data)).String()
			if *update {
				a.Files = append(a.Files[:1], txtar.File{Name: "ir", Data: []byte(got)})
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := ""
			for _, f := range a.Files[1:] {
				want = string(f.Data)
			}
			if got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// TestExamples lowers all example programs.
func TestExamples(t *testing.T) {
	models, err := filepath.Glob("../../examples/*/*.model")
	if err != nil || len(models) == 0 {
		t.Fatalf("no examples (%v)", err)
	}
	for _, name := range models {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lower(t, name, string(text))
		})
	}
}

// TestOverloadKept checks that a call has the overload that the universe returned, and no copy of
// it, so that evaluators get the library's declaration from it.
func TestOverloadKept(t *testing.T) {
	type declared struct{ types.Overload }
	lib := checktest.Library{"double": {&declared{types.Unary("double")}}}
	f, _ := lang.Parse(source.NewFile("x", "transformed data { real x = double(1); }"))
	info, diags := check.Check(f, lib)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	call := ir.Lower(f, info, checktest.Universe()).TransformedData[0].(*ir.Declare).Init.(*ir.Call)
	if call.Overload != lib["double"][0] {
		t.Errorf("got %T", call.Overload)
	}
}

// TestVerify checks that Verify reports invalid programs.
func TestVerify(t *testing.T) {
	for _, c := range []struct {
		name  string
		wreck func(p *ir.Program)
		want  string
	}{
		{"frame", func(p *ir.Program) { p.NumVars = 1 }, "outside a frame"},
		{"shared slot", func(p *ir.Program) { p.Parameters[0].ID = 0 }, "shares its place"},
		{"undeclared", func(p *ir.Program) { p.Data = nil }, "before its declaration"},
		{"type of place", func(p *ir.Program) {
			p.TransformedData[0].(*ir.Declare).Init = &ir.IntLit{Typed: ir.Typed{Ty: types.IntType}}
		}, "initial value is int, not real"},
		{"unpromoted argument", func(p *ir.Program) {
			call := p.TransformedData[0].(*ir.Declare).Init.(*ir.Call)
			call.Args[0] = &ir.IntLit{Typed: ir.Typed{Ty: types.IntType}}
		}, "argument 1 of exp is int, not real"},
		{"overload", func(p *ir.Program) { p.TransformedData[0].(*ir.Declare).Init.(*ir.Call).Overload = nil }, "not resolved"},
		{"constants", func(p *ir.Program) { p.Model[0].(*ir.Tilde).Density.(*ir.Call).Propto = false }, "~ keeps constants"},
		{"break", func(p *ir.Program) { p.Model = append(p.Model, &ir.Break{}) }, "break outside a loop"},
		{"nil", func(p *ir.Program) { p.Model[0].(*ir.Tilde).Density.(*ir.Call).Args[1] = nil }, "missing expression"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := lower(t, "x", `
data { int n; }
transformed data { real x = exp(1); real y = n; }
parameters { real mu; }
model { mu ~ normal(x, y); }`)
			c.wreck(p)
			if err := p.Verify(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
