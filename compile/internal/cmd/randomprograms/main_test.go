package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// TestSources checks that each source has programs, that a seed always gives the same program, and
// that a run reads the counts of the previous one.
func TestSources(t *testing.T) {
	o := options{dir: t.TempDir(), full: 3, plain: 2, shrink: time.Second, library: &library{folders: filepath.Join("..", "..", "..", "..", "examples")}}
	for _, o.source = range []string{"models", "mutants", "real", "programs", "statements", "rows", "idioms"} {
		s, err := o.readState()
		if err != nil || s.Next != 1 {
			t.Fatal(s, err)
		}
		s.Runs = append(s.Runs, span{From: 1})
		for seed := uint64(1); seed <= 3; seed++ {
			p, err := o.program(seed)
			again, _ := o.program(seed)
			if err == nil && (p.Text != again.Text || p.Data != again.Data) {
				t.Errorf("%s: seed %d gives two programs", o.source, seed)
			}
			r := o.evaluate(seed)
			if r.Skipped != (err != nil) || r.Wrong != "" {
				t.Errorf("%s: %+v", o.source, r)
			}
			s.add(r)
		}
		if s.Programs+s.Skipped != 3 || s.Programs > 0 && s.Compared+s.Rejected+s.Vague == 0 {
			t.Errorf("%s: %+v", o.source, s)
		}
		if err := o.writeState(s); err != nil {
			t.Fatal(err)
		}
		if again, err := o.readState(); err != nil || again.Next != 4 || !reflect.DeepEqual(again, s) {
			t.Errorf("%s: %+v, read again %+v (%v)", o.source, s, again, err)
		}
	}
	o.source = "others"
	if _, err := o.program(1); err == nil {
		t.Error("a source that is not there")
	}
}

// TestFault checks that a failing program is written with its data.
func TestFault(t *testing.T) {
	o := options{dir: t.TempDir(), source: "models"}
	o.writeFault(7, "model { }\n", "{}", "panic\nhere\n")
	for suffix, want := range map[string]string{".stan": "model { }\n", ".json": "{}\n", ".txt": "panic\nhere\n"} {
		b, err := os.ReadFile(filepath.Join(o.dir, "models-7"+suffix))
		if err != nil || string(b) != want {
			t.Errorf("%s: %q (%v)", suffix, b, err)
		}
	}
	if a, b := signature("k", "parameters {\n  real r1 = yN[n3] * 0.5;"), signature("k", "parameters {\n  real r7 = yT[n9] * 0.3;"); a != b {
		t.Error("names and numbers make another fault")
	}
}
