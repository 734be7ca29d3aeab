package fit

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/model"
)

// TestImproperHasNoModes checks that modes and their masses are not reported for an improper
// posterior, while other events are.
func TestImproperHasNoModes(t *testing.T) {
	m, err := model.Compile("m.stan", "parameters { real a; real b; } model { target += -0.5 * square(a - b); }")
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := Sample(t.Context(), p, Options{Sampler: nuts.Sampler{}, Seed: 1, Draws: 200, Warmup: 200})
	if err != nil {
		t.Fatal(err)
	}
	for i := range fit.Report.Chains {
		fit.Report.Chains[i].Events = []infer.Event{
			{Code: infer.EventModes, Figures: infer.Figures{"modes": 2, "mass_1": 0.998, "mass_2": 0.002, "share_1": 0.4, "share_2": 0.6}},
			{Code: infer.EventLegs, Figures: infer.Figures{"log_z": 20, "log_z_error": 0.1, "log_z_broad": 30, "log_z_broad_error": 0.1}},
			{Code: infer.EventUnsettled, Figures: infer.Figures{"rhat": 1.5, "divergent": 0}},
		}
	}
	var codes []string
	for _, f := range fit.Findings() {
		codes = append(codes, f.Code)
	}
	if codes[0] != "improper" || codes[1] != infer.EventUnsettled || slices.Contains(codes, infer.EventModes) || slices.Contains(codes, infer.EventLegs) {
		t.Errorf("findings %v", codes)
	}
}

// TestEventsEverywhere checks that events of a run are findings, also if the run is read back from
// any of its formats.
func TestEventsEverywhere(t *testing.T) {
	m, err := model.Compile("m.stan", "parameters { real x; } model { x ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := Sample(t.Context(), p, Options{Seed: 1, Draws: 200, Warmup: 200})
	if err != nil {
		t.Fatal(err)
	}
	events := []infer.Event{
		{Code: infer.EventRestart, Figures: infer.Figures{"iterations": 15}},
		{Code: infer.EventDropped, Figures: infer.Figures{"iterations": 200}},
		{Code: infer.EventUnsettled, Figures: infer.Figures{"rhat": 1.5, "divergent": 0.25}},
		{Code: infer.EventModes, Figures: infer.Figures{"modes": 2, "mass_1": 0.52, "error_1": 0.03, "mass_2": 0.48, "error_2": 0.03, "share_1": 0.75, "share_2": 0.25}},
		{Code: infer.EventLegs, Figures: infer.Figures{"log_z": -3.5, "log_z_error": 0.01, "log_z_broad": -2.9, "log_z_broad_error": 0.1}},
	}
	for i := range fit.Report.Chains {
		fit.Report.Chains[i].Events = events
	}
	want := fit.Findings()
	for _, e := range events {
		if !slices.ContainsFunc(want, func(f diagnose.Finding) bool { return f.Code == e.Code }) {
			t.Errorf("%s is no finding", e.Code)
		}
	}
	if text := "Two modes, with estimated masses 0.52 ± 0.03 and 0.48 ± 0.03; your draws have 0.75 and 0.25."; want[0].Summary != text {
		t.Errorf("the finding is %q", want[0].Summary)
	}
	if text := "The two references of parallel tempering disagree: log Z is -3.50 ± 0.01 by the fitted one and -2.90 ± 0.05 by the broad one."; want[1].Summary != text {
		t.Errorf("the finding is %q", want[1].Summary)
	}
	dir := t.TempDir()
	files, err := fit.WriteCSV(filepath.Join(dir, "fit"))
	if err != nil {
		t.Fatal(err)
	}
	if err := fit.WriteZarr(filepath.Join(dir, "fit.zarr")); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() (*Fit, error){
		"CSV":  func() (*Fit, error) { return ReadCSV(files...) },
		"Zarr": func() (*Fit, error) { return ReadZarr(filepath.Join(dir, "fit.zarr")) },
	} {
		again, err := read()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range again.Report.Chains {
			if !slices.EqualFunc(c.Events, events, infer.Event.Equal) {
				t.Errorf("%s: chain %d has the events %v", name, c.ID, c.Events)
			}
		}
	}
}

// TestModeMissed checks that tempered draws that lack a mode are a problem, however small the mode
// is. Draws with slightly too few points in a mode, by chance, are not.
func TestModeMissed(t *testing.T) {
	for _, c := range []struct {
		name         string
		mass, error  float64
		share        float64
		tempered     float64
		missed, well bool
	}{
		{"lacks a small mode", 0.01, 0, 0, 1, true, false},
		{"has little of it", 0.01, 0.001, 0.0015, 1, true, false},
		{"has it", 0.01, 0.001, 0.006, 1, false, true},
		{"its mass may be nothing", 0.01, 0.006, 0, 1, false, true},
		{"not tempered", 0.4, 0, 0, 0, false, false},
	} {
		chain := reportedEvent{Event: infer.Event{Code: infer.EventModes, Figures: infer.Figures{
			"modes": 2, "mass_1": 1 - c.mass, "mass_2": c.mass, "error_1": c.error, "error_2": c.error,
			"share_1": 1 - c.share, "share_2": c.share, "tempered": c.tempered, "restarts": 100}}, draws: 1000}
		events := []reportedEvent{chain, chain}
		if got := missedText(events, nil) != ""; got != c.missed {
			t.Errorf("%s: missed is %v", c.name, got)
		}
		if got := modesText(events, nil) != ""; got == c.missed {
			t.Errorf("%s: said twice, or not at all", c.name)
		}
		if got := !c.missed && tempersWell(events, nil); got != c.well {
			t.Errorf("%s: well tempered is %v", c.name, got)
		}
	}
}

// TestLegsText checks that a disagreement of references and chains is reported from five standard
// errors on, if it matters.
func TestLegsText(t *testing.T) {
	chain := func(figures ...float64) reportedEvent {
		f := infer.Figures{}
		for i, name := range []string{"log_z", "log_z_error", "log_z_broad", "log_z_broad_error"} {
			f[name] = figures[i]
		}
		return reportedEvent{Event: infer.Event{Code: infer.EventLegs, Figures: f}, chain: infer.ChainReport{ID: 1}}
	}
	for _, c := range []struct {
		name   string
		chains []reportedEvent
		want   bool
	}{
		{"one chain, far", []reportedEvent{chain(0, 0.01, 0.51, 0.1)}, true},
		{"one chain, near", []reportedEvent{chain(0, 0.01, 0.49, 0.1)}, false},
		{"a part that hardly matters", []reportedEvent{chain(0, 0.001, 0.04, 0.001)}, false},
		{"chains apart", []reportedEvent{chain(0, 0.01, 0, 0.5), chain(0.1, 0.01, 0, 0.5)}, true},
		{"chains together", []reportedEvent{chain(0, 0.01, 0, 0.5), chain(0.06, 0.01, 0, 0.5)}, false},
		{"one chain without an error", []reportedEvent{{Event: infer.Event{Code: infer.EventLegs, Figures: infer.Figures{"log_z": 1, "log_z_broad": 5}}}}, false},
	} {
		if got := legsText(c.chains, nil); (got != "") != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
