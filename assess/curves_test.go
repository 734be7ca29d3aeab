package assess_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
)

// TestCurves: the points of a curve are the effects that EffectsOf computes at the same values.
// Variables on which the outcome does not depend have no curve, and neither have constants.
func TestCurves(t *testing.T) {
	f := fitOf(t, strings.Replace(patients, "vector[N] age;", "vector[N] age; vector[N] unused; vector[N] same; vector[N] two;", 1)+" generated quantities { real g = a + same[1]; }",
		map[string]any{"N": 8, "J": 3, "age": ages, "sex": sexes, "ward": wards, "y": []int{0, 1, 0, 1, 1, 1, 0, 0}, "unused": ages, "same": make([]float64, 8), "two": ages})
	curves, left, err := assess.CurvesOf(context.Background(), f, assess.CurveOptions{Points: 3})
	if err != nil || len(left) != 0 {
		t.Fatal(left, err)
	}
	var names []string
	for _, c := range curves {
		names = append(names, c.Name)
		o := assess.EffectOptions{Kind: assess.Predictions}
		if c.Factor {
			o.Of = []string{c.Name}
		} else {
			o.At = []assess.At{{Name: c.Name, Values: []float64{-1.5, 0.25, 2}}}
		}
		e, err := assess.EffectsOf(context.Background(), f, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Rows) != len(c.Points) || c.Outcome != "y" || c.Categories != 0 || c.Censored {
			t.Fatalf("%s: %d points, want %d; %+v", c.Name, len(c.Points), len(e.Rows), c)
		}
		for i := range e.Rows {
			if !slices.Equal(e.Rows[i].Draws, c.Points[i].Draws) {
				t.Errorf("%s: point %d differs from the effect", c.Name, i)
			}
		}
		if want := map[string]string{"age": "0.25", "sex": "1", "ward": "2"}[c.Name]; c.Value(1).Label != want {
			t.Errorf("%s: the second value is %q, not %s", c.Name, c.Value(1).Label, want)
		}
	}
	if !slices.Equal(names, []string{"age", "sex", "ward"}) && !slices.Equal(names, []string{"age", "ward", "sex"}) {
		t.Errorf("curves of %q", names)
	}
	for _, o := range []assess.CurveOptions{{MaxLevels: 2, Points: 2}, {MaxWork: 8 * 120 * 2, Points: 2}} {
		_, left, err := assess.CurvesOf(context.Background(), f, o)
		if err != nil || len(left) == 0 || !strings.HasPrefix(left[len(left)-1], "ward ") && !strings.HasPrefix(left[len(left)-1], "sex ") && !strings.HasPrefix(left[len(left)-1], "unused ") {
			t.Errorf("%+v leaves out %q, %v", o, left, err)
		}
	}
}
