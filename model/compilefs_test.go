package model_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ppl-lang/ppl/model"
)

// TestCompileFS compiles a model from a file system. It includes a file that is found relative to
// the model.
func TestCompileFS(t *testing.T) {
	files := fstest.MapFS{
		"models/coin.stan":      {Data: []byte("functions {\n#include lib/twice.stan\n}\nparameters { real x; }\nmodel { x ~ normal(twice(1), 1); }\n")},
		"models/lib/twice.stan": {Data: []byte("real twice(real x) { return 2 * x; }\n")},
		"models/lost.stan":      {Data: []byte("#include nowhere.stan\n")},
		"models/out.stan":       {Data: []byte("#include ../../../etc/passwd\n")},
	}
	m, err := model.CompileFS(files, "models/coin.stan")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Bind(nil); err != nil || m.Name() != "models/coin.stan" || m.Included()["lib/twice.stan"] == "" {
		t.Errorf("%v, %v", err, m.Included())
	}
	for name, want := range map[string]string{"models/none.stan": "cannot read the model", "models/lost.stan": "nowhere.stan", "models/out.stan": "passwd"} {
		if _, err := model.CompileFS(files, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Texts in Included take precedence over files.
	o := model.CompileOptions{Included: map[string]string{"lib/twice.stan": "real twice(real x) { return 3 * x; }"}}
	m, err = model.CompileFSContext(t.Context(), files, "models/coin.stan", o)
	if err != nil || !strings.Contains(m.Included()["lib/twice.stan"], "3 * x") {
		t.Errorf("%v", err)
	}
}
