package compile_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/lang/source"
)

// everydayModel reads a model of everyday use: NAME of the examples or of testdata/everyday, with
// its data.
func everydayModel(t *testing.T, name string) (text, values string) {
	t.Helper()
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	folder, base, _ := strings.Cut(name, "/")
	if folder == "examples" {
		path := filepath.Join("..", folder, base, base)
		return read(path + ".model"), read(path + ".data.json")
	}
	text = read(filepath.Join("testdata", folder, base+".model"))
	first, _, _ := strings.Cut(text, "\n")
	return text, strings.TrimPrefix(first, "// DATA ")
}

// sized is the data with so many rows: those that there are, again and again, with other numbers
// that are no integers, so that not all of them are merged.
func sized(t *testing.T, values, size string, n int) string {
	t.Helper()
	all := map[string]any{}
	if err := json.Unmarshal([]byte(values), &all); err != nil {
		t.Fatal(err)
	}
	old := int(all[size].(float64))
	for name, v := range all {
		list, ok := v.([]any)
		if !ok || len(list) != old {
			continue
		}
		out := make([]any, n)
		for i := range out {
			out[i] = moved(list[i%old], 1e-3*float64(i/old))
		}
		all[name] = out
	}
	all[size] = n
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// moved adds a number to those that are no integers.
func moved(v any, by float64) any {
	switch v := v.(type) {
	case float64:
		if v != math.Trunc(v) {
			return v + by
		}
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = moved(x, by)
		}
		return out
	}
	return v
}

// validate compares the program before and after every pass, and returns the passes that change it.
func validate(t *testing.T, name, text, values string) (changed []string) {
	t.Helper()
	prog, list := compile.Compile(source.NewFile(name, text))
	if prog == nil {
		t.Fatalf("%s: %v", name, list[0])
	}
	rng := rand.New(rand.NewPCG(1, 2))
	checks, err := prog.ValidatePasses(parsed(t, values), func(dim int) []float64 {
		x := make([]float64, dim)
		for i := range x {
			x[i] = rng.Float64() - 0.5
		}
		return x
	})
	if err != nil || len(checks) == 0 {
		t.Fatalf("%s: %d passes, %v", name, len(checks), err)
	}
	for _, c := range checks {
		if c.Changed {
			changed = append(changed, c.Name)
		}
		// Sums are added up in another order; derivatives of solutions amplify that.
		if !(c.Value < 1e-11) || !(c.Gradient < 1e-9) {
			t.Errorf("%s: pass %s changes the value by %.3g and the gradient by %.3g of what is added up", name, c.Name, c.Value, c.Gradient)
		}
	}
	return changed
}

// TestPassesKeepValues: log density and gradient are the same before and after every pass, for
// models with numbers of rows on both sides of those from which on passes act; and every pass
// changes the model that its row names.
func TestPassesKeepValues(t *testing.T) {
	changes := map[string][]string{}
	for _, m := range []struct{ name, size string }{
		{"examples/garch", "T"}, {"examples/hierarchical_regression", "N"}, {"examples/logistic_regression", "N"}, {"examples/normal_mixture", "N"},
		{"examples/stochastic_volatility", "T"}, {"examples/eight_schools", "J"},
		{"everyday/cox_survival", "N"}, {"everyday/robust_switch", "N"}, {"everyday/local_trend", "T"}, {"everyday/survey_responses", "N"},
		{"everyday/scale_regression", "N"}, {"everyday/growth", "N"}, {"everyday/shrunken_effects", "N"}, {"everyday/two_kinds", "N"}, {"everyday/graded_answers", "N"},
		{"everyday/epidemic", ""}, {"everyday/predators", ""}, {"everyday/stiff_reaction", ""}, {"everyday/effect_integrated_out", ""},
	} {
		text, values := everydayModel(t, m.name)
		note := func(passes []string) {
			for _, p := range passes {
				if !slices.Contains(changes[p], m.name) {
					changes[p] = append(changes[p], m.name)
				}
			}
		}
		if m.size == "" {
			note(validate(t, m.name, text, values))
			continue
		}
		sizes := []int{2, 3, 127, 128, 129, 255, 256, 257, 499, 500, 501, 999, 1000, 1001}
		for k, n := range sizes {
			if k%3 == len(m.name)%3 || n == 129 || n == 257 { // all of them, over the models
				note(validate(t, fmt.Sprintf("%s, %d rows", m.name, n), text, sized(t, values, m.size, n)))
			}
		}
	}
	for _, p := range passes.Table() {
		if !slices.Contains(changes[p.Name], p.Model) {
			t.Errorf("pass %s does not change %q, the model of its row, but %v", p.Name, p.Model, changes[p.Name])
		}
	}
}
