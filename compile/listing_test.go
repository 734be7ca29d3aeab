package compile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/compile/internal/proggen"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestListingIsTheSame binds programs again and compares the listings: the compiler must not depend
// on the order in which Go ranges over a map. The programs are the examples, those of the tests of
// this package, and posteriordb where PPL_POSTERIORDB names the folder posterior_database of a
// checkout; package benchsuite does the same for the benchmark suite.
func TestListingIsTheSame(t *testing.T) {
	short.Skip(t, "many programs are compiled twice")
	programs := 0
	same := func(t *testing.T, text, name string, set *data.Set, times int) {
		t.Helper()
		prog, list := compile.Compile(source.NewFile(name, text))
		if prog == nil {
			t.Fatalf("%s: %v", name, list[0])
		}
		first := ""
		for k := range times {
			m, err := prog.Bind(set, compile.BindOptions{})
			if err != nil {
				if k == 0 {
					t.Logf("%s: %v", name, err)
					return
				}
				t.Fatalf("%s: bound only sometimes: %v", name, err)
			}
			text, err := m.Listing()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if k == 0 {
				first = text
			} else if text != first {
				t.Errorf("%s: two bindings have different listings:\n%s", name, firstDifference(first, text))
				return
			}
		}
		programs++
	}
	for _, example := range smallExamples(t) {
		same(t, example[0], "example", parsed(t, example[1]), 2)
	}
	for _, pattern := range []string{"testdata/found/*.model", "testdata/functions/*.model", "internal/bind/testdata/loops/*.model"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no programs", err)
		}
		for _, file := range files {
			text, set := withData(t, file)
			same(t, text, file, set, 3)
		}
	}
	for _, generator := range []struct {
		made  func(seed uint64) proggen.Program
		seeds []uint64 // seeds that had two listings, or are suspected of it
	}{
		{made: proggen.NewModel, seeds: []uint64{31}},
		{made: proggen.NewStatements},
		{made: proggen.NewRows},
		{made: proggen.NewIdioms, seeds: []uint64{19, 131}}, // recurrences with several histories
	} {
		again := func(seed uint64, times int) {
			p := generator.made(seed)
			same(t, p.Text, fmt.Sprintf("seed %d", seed), parsed(t, p.Data), times)
		}
		for seed := range uint64(12) {
			again(seed, 2)
		}
		for _, seed := range generator.seeds {
			again(seed, 6)
		}
	}
	t.Logf("%d programs", programs)
	folder := os.Getenv("PPL_POSTERIORDB")
	if folder == "" {
		t.Log("posteriordb is left out: PPL_POSTERIORDB does not name a checkout's folder posterior_database")
		return
	}
	posteriors, err := contest.Posteriors(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range posteriors {
		text := p.Text
		if upgraded, list := format.Upgrade(source.NewFile(p.Name, text), compile.Known); !list.HasErrors() {
			text = upgraded
		}
		same(t, text, p.Name, parsed(t, p.Data), 3)
	}
	t.Logf("%d programs with those of posteriordb", programs)
}

// firstDifference returns the first line in which two texts differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for k := range min(len(x), len(y)) {
		if x[k] != y[k] {
			out, _ := json.Marshal([]string{x[k], y[k]})
			return string(out)
		}
	}
	return "one is longer"
}
