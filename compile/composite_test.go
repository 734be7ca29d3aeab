package compile

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestComposite compares programs with tuples and complex numbers with equivalent plain programs:
// log density, gradient and outputs. Sections list the names of the numbers in order, each with its
// name in the plain program.
func TestComposite(t *testing.T) {
	files, err := filepath.Glob("testdata/composite/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sections := map[string]string{}
			for _, f := range archive.Files {
				sections[f.Name] = string(f.Data)
			}
			set := parsed(t, sections[name+".json"])
			m := bound(t, name, sections[name+".model"], set)
			plain := bound(t, "plain", sections["plain.model"], parsed(t, sections["plain.json"]))
			coordinates := pairs(t, sections["unconstrained"], m.UnconstrainedNames(), plain.UnconstrainedNames())
			outputs := pairs(t, sections["outputs"], m.OutputNames(), plain.OutputNames())
			if t.Failed() {
				return
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for range 3 {
				comparePlain(t, m, plain, coordinates, outputs, rng)
			}
		})
	}
}

// comparePlain compares two models at a point.
func comparePlain(t *testing.T, m, plain *Model, coordinates, outputs []int, rng *rand.Rand) {
	x, y := make([]float64, m.Dim()), make([]float64, m.Dim())
	for i, k := range coordinates {
		x[i] = 2*rng.Float64() - 1
		y[k] = x[i]
	}
	dx, dy := make([]float64, len(x)), make([]float64, len(x))
	lp, err := m.LogDensityGrad(x, dx)
	want, errPlain := plain.LogDensityGrad(y, dy)
	if err != nil || errPlain != nil {
		t.Fatal(err, errPlain)
	}
	const tolerance = 1e-12
	far := func(a, b float64) bool { return !(math.Abs(a-b) <= tolerance*max(1, math.Abs(b))) }
	if far(lp, want) {
		t.Errorf("log density %v, plain %v", lp, want)
	}
	for i, k := range coordinates {
		if far(dx[i], dy[k]) {
			t.Errorf("gradient by %s: %v, plain %v", m.UnconstrainedNames()[i], dx[i], dy[k])
		}
	}
	a, b := make([]float64, len(outputs)), make([]float64, len(outputs))
	if err := m.Generate(x, nil, a); err != nil {
		t.Fatal(err)
	}
	if err := plain.Generate(y, nil, b); err != nil {
		t.Fatal(err)
	}
	for i, k := range outputs {
		if far(a[i], b[k]) {
			t.Errorf("%s is %v, plain %v", m.OutputNames()[i], a[i], b[k])
		}
	}
}

// pairs reads a section. It checks that it lists the names in order, and returns the indices of
// their partners.
func pairs(t *testing.T, section string, names, partners []string) []int {
	var want []string
	var places []int
	for line := range strings.Lines(section) {
		name, partner, _ := strings.Cut(strings.TrimSpace(line), " ")
		k := slices.Index(partners, partner)
		if k < 0 {
			t.Errorf("the plain program has no %q", partner)
		}
		want, places = append(want, name), append(places, k)
	}
	if !slices.Equal(names, want) {
		t.Errorf("names\n%v, want\n%v", names, want)
	}
	if len(partners) != len(names) {
		t.Errorf("the plain program has %d numbers, not %d", len(partners), len(names))
	}
	return places
}

func parsed(t *testing.T, json string) *data.Set {
	t.Helper()
	set, err := data.ParseJSON("data.json", []byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func bound(t *testing.T, name, text string, set *data.Set) *Model {
	t.Helper()
	p, list := Compile(source.NewFile(name, text))
	if p == nil {
		t.Fatal(list)
	}
	m, err := p.Bind(set, BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestCompositeInits gives initial values for parameters with several leaves.
func TestCompositeInits(t *testing.T) {
	m := bound(t, "m", `parameters {
  array[2] tuple(real<lower=1>, simplex[3]) a;
  tuple(vector[2], tuple(real, array[2] real)) b;
}`, data.Empty())
	x, err := m.Unconstrain(parsed(t, `{"b": {"2": {"2": [6, 7], "1": 5}, "1": [3, 4]},
		"a": [{"1": 2, "2": [0.25, 0.25, 0.5]}, {"1": 3, "2": [0.125, 0.375, 0.5]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(m.ConstrainedNames()))
	if err := m.Constrain(x, out); err != nil {
		t.Fatal(err)
	}
	want := []float64{2, 0.25, 0.25, 0.5, 3, 0.125, 0.375, 0.5, 3, 4, 5, 6, 7}
	for i := range want {
		if math.Abs(out[i]-want[i]) > 1e-12 {
			t.Errorf("%s is %v, not %v", m.ConstrainedNames()[i], out[i], want[i])
		}
	}
	if _, err := m.Unconstrain(parsed(t, `{"b": {"1": [3, 4], "2": {"1": 5, "2": [6, 7, 8]}}}`)); err == nil || !strings.Contains(err.Error(), "1:40: error: the initial value of `b.2.2` has the wrong size: 3 elements, but is declared with 2 elements") {
		t.Error(err)
	}
}
