package compile

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

func bindSource(t *testing.T, text, json string) *Model {
	t.Helper()
	prog, list := Compile(source.NewFile("test.model", text))
	if list.HasErrors() {
		t.Fatal(list)
	}
	set, err := data.ParseJSON("test.json", []byte(json))
	if err != nil {
		t.Fatal(err)
	}
	m, err := prog.Bind(set, BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRejections checks that a failed argument check, reject and fatal_error return errors that
// name the statement. Only that of fatal_error is fatal. After each, the next evaluation must be
// right.
func TestRejections(t *testing.T) {
	m := bindSource(t, `parameters { real x; }
model {
  if (x > 10) fatal_error("too far: ", x);
  if (x > 5) reject("far: ", x);
  target += normal_lpdf(x | 0, x + 2);
}`, "{}")
	grad := make([]float64, 1)
	at := func(x float64) (float64, error) { return m.LogDensityGrad([]float64{x}, grad) }
	first, err := at(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x     float64
		text  string
		line  string
		fatal bool
	}{
		{-3, "Scale parameter must be positive", "line 5", false},
		{6, "far: 6", "line 4", false},
		{11, "too far: 11", "line 3", true},
	} {
		_, err := at(c.x)
		var r *Rejection
		if !errors.As(err, &r) {
			t.Fatalf("at %v: %v", c.x, err)
		}
		if !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), c.line) || r.Fatal() != c.fatal {
			t.Errorf("at %v: %v (fatal: %v)", c.x, err, r.Fatal())
		}
	}
	again, err := at(1)
	if err != nil || math.Float64bits(again) != math.Float64bits(first) {
		t.Errorf("after rejections %v, before %v, %v", again, first, err)
	}
}
