package fit_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// TestSharedStart checks that chains with the same starting values are reported, in the fit and
// when it is read back from its folder.
func TestSharedStart(t *testing.T) {
	p := bind(t, pair, nil)
	at := func(v float64) []float64 { return slices.Repeat([]float64{v}, p.Dim()) }
	for _, c := range []struct {
		init infer.Init
		want string
	}{
		{nil, ""},
		{infer.Uniform{}, "All 4 chains began at the same place"},
		{infer.At{Positions: [][]float64{at(0), at(0.1), at(0), at(0.2)}}, "4 chains began at 3 places"},
	} {
		run, err := fit.Sample(context.Background(), p, fit.Options{Draws: 200, Warmup: 100, Init: c.init})
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "fit")
		if err := run.Save(dir); err != nil {
			t.Fatal(err)
		}
		back, err := fit.ReadFit(dir)
		if err != nil {
			t.Fatal(err)
		}
		for name, f := range map[string]*fit.Fit{"fit": run, "read back": back} {
			said := ""
			found := f.Findings()
			if i := slices.IndexFunc(found, func(d diagnose.Finding) bool { return d.Code == "shared-start" }); i >= 0 {
				said = found[i].Summary
			}
			if !strings.HasPrefix(said, c.want) || (said != "") != (c.want != "") {
				t.Errorf("%s: %q, want %q", name, said, c.want)
			}
		}
		if got := fit.RunFindings(run.Draws, run.Report, run.Config()); len(got) != len(run.Findings()) {
			t.Errorf("RunFindings has %v, the fit %v", got, run.Findings())
		}
	}
}
