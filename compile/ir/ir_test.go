package ir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/check/checktest"
	"github.com/ppl-lang/ppl/lang/source"
)

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
	p := ir.Lower(f, info)
	if err := p.Verify(); err != nil {
		t.Errorf("verify: %v", err)
	}
	return p
}

func TestExamples(t *testing.T) {
	models, _ := filepath.Glob("../../examples/*/*.model")
	for _, name := range models {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(lower(t, name, string(text)))
		})
	}
}
