package fit_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/zarr"
	"github.com/ppl-lang/ppl/model"
)

// TestLabels checks the labels of quantities of every shape, and the coordinates of a store.
func TestLabels(t *testing.T) {
	m, err := model.Compile("m.stan", `data {
  int<labels={"a, b", "", "7"}> D;
  int K;
  array[2] int<lower=1, upper=K> k;
  array[K] int n;
}
parameters {
  vector[D] v;
  array[K] vector[D] w;
  corr_matrix[D] c;
  tuple(vector[K], real) t;
}
model {
  v ~ normal(0, 1);
  for (i in 1:K) w[i] ~ normal(0, 1);
  t.1 ~ normal(0, 1);
  t.2 ~ normal(0, 1);
}
generated quantities {
  array[D, 2] real g = rep_array(v[1], D, 2);
  array[K] vector[n] h = {rep_vector(1, n[1]), rep_vector(2, n[2])};
}
`)
	if err != nil {
		t.Fatal(err)
	}
	set, err := data.Parse("t.json", `{"k": ["y", "x"], "n": [1, 2]}`, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(set)
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(t.TempDir(), "fit")
	f, err := fit.Sample(context.Background(), p, fit.Options{Chains: 1, Warmup: 20, Draws: 5, Seed: 1, Output: base, Format: fit.Zarr})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i, name := range f.Names() {
		got[name] = f.Labels()[i]
	}
	for name, want := range map[string]string{"v.1": "a, b", "v.2": "", "v.3": "7", "w.2.3": "y, 7", "c.3.1": `7, "a, b"`, "t:1.2": "y", "t:2": "", "g.3.2": "7", "h.1.1": "x", "h.2.2": "y"} {
		if label, ok := got[name]; !ok || label != want {
			t.Errorf("the label of %s is %q, want %q", name, label, want)
		}
	}
	store, err := zarr.Open(base + ".zarr")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"v": {"D"}, "w": {"k", "D"}, "c": {"D", "c_dim_1"}, "t.1": {"k"}, "g": {"D", "g_dim_1"}} {
		a := store.Group("posterior").Array(name)
		if a == nil {
			t.Fatalf("there is no array %s", name)
		}
		if d := a.Spec.Dimensions[2:]; !slices.Equal(d, want) {
			t.Errorf("%s has the dimensions %q, want %q", name, d, want)
		}
	}
	if store.Group("posterior").Array("D") == nil {
		t.Error("D is no coordinate")
	}
}
