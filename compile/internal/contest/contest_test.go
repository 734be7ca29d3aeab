package contest

import (
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/planted"
	"github.com/ppl-lang/ppl/lang/source"
)

const (
	text = `data {
  int<lower=0> N;
  int J;
  array[N] int<lower=1, upper=J> g;
  matrix[J, N - 1] x;
  array[3] int unused;
}
parameters {
  vector[J] z;
  real s;
}
model {
  real p = 1;
  for (n in 2:N) {
    real q = 0.5 * p;
    p = q + z[g[n]] * x[1, n - 1];
    target += -square(p) * s;
  }
  z ~ normal(0, 1.5);
}
`
	values = `{"N": 5, "J": 3, "g": [1, 2, 3, 3, 2], "x": [[1, 2.5, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]], "unused": [1, 2, 3], "more": 4}`
)

func set(t *testing.T, values string) *data.Set {
	t.Helper()
	s, err := data.ParseJSON("data", []byte(values))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMutate checks that mutants compile and differ from the original program, and that equal seeds
// give equal mutants.
func TestMutate(t *testing.T) {
	different := map[string]bool{}
	for seed := range uint64(100) {
		mutant, ok := Mutate(text, seed)
		if !ok {
			continue
		}
		if again, _ := Mutate(text, seed); again != mutant {
			t.Fatalf("seed %d gives two mutants", seed)
		}
		if prog, list := compile.Compile(source.NewFile("mutant", mutant)); prog == nil {
			t.Errorf("seed %d\n%s\n%v", seed, mutant, list)
		}
		if mutant == text {
			t.Errorf("seed %d changes nothing", seed)
		}
		different[mutant] = true
	}
	if len(different) < 60 {
		t.Errorf("%d different mutants of 100 seeds", len(different))
	}
}

// TestResized checks that arrays are cut to their new sizes, even if a size is an expression, and
// that ints stay within their bounds.
func TestResized(t *testing.T) {
	got, err := Resized(text, values, map[string]int{"N": 3, "J": 2})
	if want := `{"J":2,"N":3,"g":[1,2,2],"unused":[1,2,3],"x":[[1,2.5],[1,2]]}`; err != nil || got != want {
		t.Errorf("%s, want %s (%v)", got, want, err)
	}
	if _, err := Resized(text, values, map[string]int{"N": 7}); err == nil {
		t.Error("more rows than there are")
	}
}

// TestReduce checks that a failing program still fails with the reduced data, and that the data
// cannot be reduced further.
func TestReduce(t *testing.T) {
	small := Reduce(text, values, func(v string) bool { return strings.Contains(v, "2.5") && !strings.Contains(v, `"N":1`) }, time.Minute)
	if want := `{"J":1,"N":3,"g":[0,0,0],"unused":[0,0,0],"x":[[1,2.5]]}`; small != want {
		t.Errorf("%s, want %s", small, want)
	}
}

// TestAgree checks that both comparisons accept a correct program and report a wrong one.
func TestAgree(t *testing.T) {
	for name, compare := range map[string]func(text, name string, set *data.Set, seed uint64, points int) Report{"Contend": Contend, "Quick": Quick} {
		rep := compare(text, "model", set(t, values), 1, 3)
		if rep.Wrong != nil || rep.Compared != 3 {
			t.Errorf("%s: %+v", name, rep)
		}
		rep = compare(text[:len(text)-4], "model", set(t, values), 1, 3)
		if rep.Wrong == nil || rep.Wrong.Kind != "program" {
			t.Errorf("%s of a program that does not parse: %+v", name, rep)
		}
		// With these data every point is rejected, which Bind may or may not find out early.
		outside := strings.Replace(text, "z[g[n]]", "z[g[n] + 3]", 1)
		rep = compare(outside, "model", set(t, values), 1, 3)
		if rep.Wrong != nil || rep.Rejected == 0 || rep.Compared > 0 {
			t.Errorf("%s of an index out of range: %+v", name, rep)
		}
	}
}

// TestReport checks that counts are added up, and that numbers within the tolerance are near.
func TestReport(t *testing.T) {
	var rep Report
	if rep.Add(Report{Compared: 2, Rejected: 1}); rep.Compared != 2 || rep.Rejected != 1 {
		t.Errorf("%+v", rep)
	}
	if near(1, 1+1e-9, 1e-12) || !near(1, 1+1e-13, 1e-12) {
		t.Error("near")
	}
}

// TestFaults checks that a contest fails if the reference evaluator computes a model because the
// compiler panics.
func TestFaults(t *testing.T) {
	t.Setenv(planted.Panics, "")
	prog, list := compile.Compile(source.NewFile("model.stan", text))
	if prog == nil {
		t.Fatal(list)
	}
	for _, plant := range []bool{false, true} {
		ctx := t.Context()
		if plant {
			ctx = planted.With(ctx, &planted.Fault{Pass: "deduplicate", Change: func(any) any { panic("planted") }})
		}
		m, err := prog.BindContext(ctx, set(t, values), compile.BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var rep Report
		if rep.faults(m); (rep.Wrong != nil) != plant {
			t.Errorf("planted %v: %v", plant, rep.Wrong)
		}
	}
}
