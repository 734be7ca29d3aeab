package model_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/model"
)

// message returns the parts of an error of Bind that users see: summary, details and advice.
func message(err error) string {
	if err == nil {
		return "no error"
	}
	text := err.Error()
	for _, d := range model.Diagnostics(err) {
		text += "\n" + d.Detail + "\n" + d.Fix
	}
	return text
}

func bind(t *testing.T, text string, values any) error {
	t.Helper()
	m, err := model.Compile("go.model", text)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Bind(values)
	return err
}

const counts = `
data {
  int<lower=0> n;
  array[n] int y;
}
parameters {
  real mu;
}
model {
  y ~ poisson_log(mu);
}
`

// TestGoData checks that mistakes in Go values are described in terms of Go.
func TestGoData(t *testing.T) {
	type upper struct {
		N int
		Y []int
	}
	for _, test := range []struct {
		name   string
		values any
		want   []string
	}{
		{"floats for an array of int", map[string]any{"n": 2, "y": []float64{0, 1}}, []string{"`y` is declared as array[2] int", "[]float64", "make it a []int"}},
		{"float for an int", map[string]any{"n": 2.0, "y": []int{0, 1}}, nil}, // encoding/json
		{"vector for an array of int", map[string]any{"n": 2, "y": mat.NewVecDense(2, nil)}, []string{"*mat.VecDense", "make it a []int"}},
		{"half in a list", map[string]any{"n": 2, "y": []any{1, 0.5}}, []string{"y[2]", "0.5"}},
		{"fields", upper{N: 2, Y: []int{0, 1}}, []string{"no variable `N`", "did you mean `n`?", "`ppl:\"n\"`"}},
		{"missing key", map[string]any{"n": 2, "yy": []int{0, 1}}, []string{"`y`", "`yy`"}},
		{"unknown key", map[string]any{"n": 2, "y": []int{0, 1}, "Y": 3}, []string{"no variable `Y`", "did you mean `y`?"}},
		{"unknown key that is near nothing", map[string]any{"n": 2, "y": []int{0, 1}, "sigma": 3}, []string{"no variable `sigma`", "ReadData"}},
		{"unknown field", &struct {
			N int   `ppl:"n"`
			Y []int `ppl:"y"`
			M int   `ppl:"N"`
		}{N: 2, Y: []int{0, 1}}, []string{"no variable `N`", "did you mean `n`?"}},
		{"unknown field that is near nothing", struct {
			N     int   `json:"n"`
			Y     []int `json:"y"`
			Sigma float64
		}{N: 2, Y: []int{0, 1}}, []string{"no variable `Sigma`", "`ppl:\"-\"`"}},
		{"fields without data", struct {
			N     int     `ppl:"n"`
			Y     []int   `ppl:"y"`
			Sigma float64 `ppl:"-"`
			Name  string
			small int
		}{N: 2, Y: []int{0, 1}}, nil},
		{"duration", map[string]any{"n": 1, "y": []time.Duration{time.Second}}, []string{"y[1]", "time.Duration", "Seconds()"}},
		{"time", map[string]any{"n": time.Now(), "y": []int{}}, []string{"n has type time.Time"}},
		{"bytes", []byte(`{"n": 0, "y": []}`), []string{"data of type []uint8", "ppl.JSON(text)"}},
		{"raw JSON", json.RawMessage(`{"n": 0, "y": []}`), []string{"data of type json.RawMessage", "ppl.JSON(text)"}},
		{"text", "\n{}", []string{"data of type string", "ppl.JSON(text)"}},
		{"name of a file", "counts.json", []string{"ppl.DataFile{Path: name}"}},
		{"reader", strings.NewReader("{}"), []string{"*strings.Reader", "read all of it", "ppl.JSON(text)"}},
		{"decoder", json.NewDecoder(strings.NewReader("{}")), []string{"*json.Decoder", "ppl.JSON(text)"}},
		{"pointer to JSON", new(model.JSON), []string{"not a pointer"}},
		{"pointer to a file", &model.DataFile{}, []string{"not a pointer"}},
		{"pointer to a struct", &struct {
			N int   `ppl:"n"`
			Y []int `ppl:"y"`
		}{}, nil},
		{"strings", map[string]string{"n": "1", "y": "2"}, []string{"n is a string", "strconv"}},
		{"parts that are raw JSON", map[string]json.RawMessage{"n": json.RawMessage("1")}, []string{"n is JSON that is not decoded", "ppl.JSON"}},
		{"neither map nor struct", []int{1}, []string{"data of type []int: want a map"}},
		{"times", map[string]any{"n": 1, "y": []time.Time{{}}}, []string{"y[1]", "time.Time"}},
	} {
		got := message(bind(t, counts, test.values))
		if test.want == nil && got != "no error" {
			t.Errorf("%s: %s", test.name, got)
		}
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in:\n%s", test.name, want, got)
			}
		}
	}
	// Data sets and files may have variables that the model does not declare.
	set, err := model.ReadData(upper{})
	if err != nil {
		t.Fatal(err)
	}
	if got := message(bind(t, counts, set)); !strings.Contains(got, "no value for `n`") || !strings.Contains(got, "did you mean the field N?") {
		t.Error(got)
	}
	if set, err = model.ReadData(map[string]any{"n": 1, "y": []int{3}, "more": 1}); err != nil {
		t.Fatal(err)
	}
	for _, values := range []any{set, model.JSON(`{"n": 1, "y": [3], "more": 1}`)} {
		if err := bind(t, counts, values); err != nil {
			t.Error(err)
		}
	}
}

// TestImpossibleData checks that Bind refuses data that no parameter values can explain. The error
// has the value, the index and the statement.
func TestImpossibleData(t *testing.T) {
	trials := func(statement string) string {
		return `
data {
  int<lower=0> N;
  array[N] int n;
  array[N] int y;
  vector[N] x;
}
parameters {
  real<lower=0, upper=1> p;
}
model {
  ` + statement + `
}
`
	}
	for _, test := range []struct {
		statement string
		n, y      []int
		x         []float64
		want      []string // nil: the data are possible
	}{
		{"y ~ binomial(n, p);", []int{3, 3}, []int{5, 1}, []float64{1, 1}, []string{"go.model:12:3", "must be at least 5, but is 3", "`y[1]` is 5, `n[1]` is 3"}},
		{"for (i in 1:N) y[i] ~ binomial(n[i], p);", []int{3, 2, 3, 3, 3, 3, 3, 3}, []int{1, 5, 1, 2, 1, 2, 1, 2}, make([]float64, 8), []string{"`y[2]` is 5, `n[2]` is 2"}},
		{"for (i in 1:N) y[i] ~ binomial(n[i], p);", []int{3, 2}, []int{1, 5}, []float64{1, 1}, []string{"`y[2]` is 5, `n[2]` is 2"}},
		{"for (i in 1:N) target += binomial_lpmf(y[i] | 3, p);", []int{3, 2, 3, 3, 3, 3, 3, 3}, []int{1, 5, 1, 2, 1, 2, 1, 2}, make([]float64, 8), []string{"but is 3", "`y[2]` is 5"}},
		{"x ~ lognormal(p, 1);", []int{3, 2}, []int{1, 5}, []float64{1, -1}, []string{"must be nonnegative, but is -1", "`x[2]` is -1"}},
		{"y ~ bernoulli(p);", []int{3, 2}, []int{1, 2}, []float64{1, 1}, []string{"in the interval [0, 1], but is 2", "`y[2]` is 2"}},
		{"p ~ normal(0, x[2]);", []int{3, 2}, []int{1, 2}, []float64{1, 0}, []string{"positive, but is 0"}},
		{"x[1] ~ normal(p, 1) T[0, ];", []int{3, 2}, []int{1, 2}, []float64{-1, 0}, []string{"-Inf"}},
		{"x ~ normal(p, 1); if (N < 3) reject(\"too few: \", N);", []int{3, 2}, []int{1, 2}, []float64{-1, 0}, []string{"too few: 2"}},
		// Bind must not refuse data if parameters decide whether they are possible.
		{"if (p > 0.5) y ~ binomial(n, p);", []int{3, 3}, []int{5, 1}, []float64{1, 1}, nil},
		{"x ~ uniform(p, 2);", []int{3, 2}, []int{1, 2}, []float64{0.2, 0.3}, nil},
		{"y ~ binomial(n, p);", []int{3, 3}, []int{3, 0}, []float64{1, 1}, nil},
	} {
		values := map[string]any{"N": len(test.n), "n": test.n, "y": test.y, "x": test.x}
		err := bind(t, trials(test.statement), values)
		if test.want == nil {
			if err != nil {
				t.Errorf("%s: %v", test.statement, err)
			}
			continue
		}
		if list := model.Diagnostics(err); len(list) != 1 || list[0].Code != diag.Impossible {
			t.Errorf("%s: %v", test.statement, err)
			continue
		}
		for _, want := range test.want {
			if got := message(err); !strings.Contains(got, want) {
				t.Errorf("%s: no %q in:\n%s", test.statement, want, got)
			}
		}
	}
	m, err := model.Compile("go.model", trials("y ~ binomial(n, p);"))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"N": 1, "n": []int{1}, "y": []int{2}, "x": []float64{0}}
	if _, err := m.BindContext(t.Context(), values, model.BindOptions{AllowImpossible: true}); err != nil {
		t.Error(err)
	}
}
