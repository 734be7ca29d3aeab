package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/study"
)

// TestCalibrationDivergences checks that sbc reports the number of fits with divergent transitions,
// not the number of transitions, if it exceeds a twentieth of the fits that did not fail.
func TestCalibrationDivergences(t *testing.T) {
	for _, c := range []struct {
		divergent, failed int
		want              string
	}{
		{0, 0, ""}, {5, 0, ""}, {6, 0, "6 of 100 fits had divergent transitions."}, {5, 20, "5 of 80 fits had divergent transitions."},
	} {
		cal := &calibration{names: []string{"x"}, draws: 99, simulations: 100}
		for i := range 100 {
			r := &study.Result{Rows: []study.Row{{Row: diagnose.Row{Name: "x"}, Rank: i}}}
			if i < c.divergent {
				r.Divergences = 7
			}
			if i >= 100-c.failed {
				r.Status, r.Message = study.Failed, "no start"
			}
			if err := cal.add(nil, r); err != nil {
				t.Fatal(err)
			}
		}
		var b strings.Builder
		o := calibrating{}
		o.seed, o.verbose = 1, true
		if err := o.report(&b, cal); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); (c.want == "") == strings.Contains(text, "divergent") || !strings.Contains(text, c.want) {
			t.Errorf("%+v:\n%s", c, text)
		}
	}
}

// TestCalibrationWithoutFits checks that sbc gives no mean rank if all fits failed.
func TestCalibrationWithoutFits(t *testing.T) {
	cal := &calibration{names: []string{"x"}, draws: 99, simulations: 1}
	if err := cal.add(nil, &study.Result{Status: study.Failed, Message: "no start"}); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := new(calibrating).report(&b, cal); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "0.0") || !strings.Contains(text, "1 of 1 simulations failed") {
		t.Error(text)
	}
}

// TestUnreliableWeights checks that sensitivity names the part whose weights have a Pareto k above
// the limit, and no other part.
func TestUnreliableWeights(t *testing.T) {
	for _, c := range []struct {
		draws             int
		prior, likelihood float64
		want              string
	}{
		{4000, 0.2, 0.7, ""},
		{4000, math.Inf(-1), 0.1, ""}, // nothing was scaled
		{4000, 0.71, 0.1, "Pareto k is 0.71 for the prior; it should be at most 0.7."},
		{4000, 0.1, 0.9, "Pareto k is 0.9 for the likelihood; it should be at most 0.7."},
		{100, 0.6, math.Inf(1), "Pareto k is 0.6 for the prior and +Inf for the likelihood; it should be at most 0.5."},
	} {
		found := unreliable(&assess.Sensitivity{Draws: c.draws, Prior: &criticise.Scaling{K: c.prior}, Likelihood: &criticise.Scaling{K: c.likelihood}})
		text := ""
		for _, f := range found {
			text += string(f.Severity) + " " + f.Code + " " + f.Summary
		}
		if (c.want == "") != (text == "") || !strings.HasSuffix(text, c.want) || text != "" && !strings.HasPrefix(text, "problem pareto-k The weights of the draws are not reliable: ") {
			t.Errorf("%+v: %q", c, text)
		}
	}
}

// TestFindingLists checks that a list of quantities begins with words that say what it lists.
func TestFindingLists(t *testing.T) {
	for code, want := range map[string]string{"constant": "Among them: k, z.", "rhat": "Worst: k, z.", "ess": "Worst: k, z.", "divergences": "They are most frequent at extreme values of k, z."} {
		var b strings.Builder
		writeFindings(&b, []diagnose.Finding{{Code: code, Severity: diagnose.Note, Summary: "S.", Quantities: []string{"k", "z"}}}, 100)
		if b.String() != fmt.Sprintf("Note: S.\n  %s\n", want) {
			t.Errorf("%s: %q", code, b.String())
		}
	}
}
