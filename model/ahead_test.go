package model_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

const seasons = `data {
  int T; int N; int K;
  array[N] int<lower=1, upper=T> week;
  matrix[K, N] x;
  array[N] int<lower=0> y;
}
parameters { vector[T] s; vector[K] b; }
model {
  s[1] ~ std_normal();
  for (t in 2:T) s[t] ~ normal(s[t - 1], 1);
  b ~ std_normal();
  for (n in 1:N) y[n] ~ poisson_log(s[week[n]] + dot_product(b, x[, n]));
}`

// Data are extended along the dimension that has the rows; times go on, covariates come from the
// rows ahead, and what is missing or does not fit is reported.
func TestAheadData(t *testing.T) {
	m, err := model.Compile("m", seasons)
	if err != nil {
		t.Fatal(err)
	}
	read := func(values map[string]any) *data.Set {
		t.Helper()
		set, err := model.ReadData(values)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	old := read(map[string]any{"T": 5, "N": 3, "K": 2, "week": []int{1, 2, 5}, "y": []int{3, 1, 4}, "x": [][]float64{{1, 2, 3}, {4, 5, 6}}})
	set, ahead, err := m.Ahead(old, read(map[string]any{"x": [][]float64{{7, 8}, {9, 10}}}), 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := (predict.Ahead{Rows: "N", From: 3, Index: "week", Time: 5}); *ahead != want {
		t.Errorf("%+v, want %+v", *ahead, want)
	}
	for name, want := range map[string][]float64{"T": {7}, "N": {5}, "K": {2}, "week": {1, 2, 5, 6, 7}, "y": {3, 1, 4, 4, 4}, "x": {1, 2, 3, 7, 8, 4, 5, 6, 9, 10}} {
		if v, _ := set.Get(name); !slices.Equal(v.Reals, want) {
			t.Errorf("%s is %v, want %v", name, v.Reals, want)
		}
	}
	if _, err := m.Bind(set); err != nil {
		t.Error(err)
	}
	missing := (*model.NoFutureValuesError)(nil)
	if _, _, err := m.Ahead(old, nil, 2); !errors.As(err, &missing) || fmt.Sprint(missing.Names) != "[x (line 4)]" {
		t.Error(err)
	}
	for _, future := range []map[string]any{
		{"x": [][]float64{{7}, {9}}},
		{"x": [][]float64{{7, 8}, {9, 10}}, "week": []int{6, 8}},
	} {
		if _, _, err := m.Ahead(old, read(future), 2); err == nil {
			t.Errorf("%v is accepted", future)
		}
	}
}
