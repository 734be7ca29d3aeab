package study_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/study"
)

// TestTooManyFits checks that numbers whose product is an absurd number of fits are refused before
// anything runs.
func TestTooManyFits(t *testing.T) {
	m, err := model.Compile("m", "parameters { real a; } model { a ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	model, err := study.NewModel("m", m, false)
	if err != nil {
		t.Fatal(err)
	}
	source := &study.Values{Name: "v", Set: data.Empty()}
	for _, repeat := range []int{1_000_000_001, math.MaxInt64/2 + 1, math.MaxInt64} {
		p := &study.Plan{Parts: []study.Part{{Models: []*study.Model{model, model}, Source: source}}, Repeat: repeat}
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), "fits") {
			t.Errorf("%d times: %v", repeat, err)
		}
	}
	if _, err := assess.NewSimulator(t.Context(), m, nil, math.MaxInt64, 1, assess.SimulatorOptions{}); err == nil || !strings.Contains(err.Error(), "data sets") {
		t.Errorf("data sets without end: %v", err)
	}
}
