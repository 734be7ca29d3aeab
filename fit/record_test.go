package fit_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/internal/short"
)

// rows returns the lines of a CSV file without comments about times and paths.
func rows(t *testing.T, path string) string {
	var kept []string
	for line := range strings.Lines(read(t, path)) {
		if !strings.Contains(line, "seconds (") && !strings.Contains(line, "start_datetime") && !strings.Contains(line, "file = ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// copyFolder copies the files that a killed program would leave behind. If a state file is renamed
// during the copy, it is copied before or after that, but never in between.
func copyFolder(t *testing.T, from, to string) {
	// Copy the states first, so that the journals have all draws before these states.
	for _, pattern := range []string{"*.state", "*.journal", "*.tmp"} {
		names, _ := filepath.Glob(filepath.Join(from, pattern))
		for _, name := range names {
			text, err := os.ReadFile(name)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if pattern == "*.journal" {
				text = append(text, "half of a draw"...)
			}
			if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestResume checks that a run stopped at any moment, killed or interrupted, can be resumed from
// its files. Its final files must equal those of an uninterrupted run, even if the resumed run is
// interrupted too.
func TestResume(t *testing.T) {
	for name, s := range map[string]infer.Sampler{"nuts": nuts.Sampler{}, "ahmc": ahmc.Sampler{StepSizePoints: 8, StepsPoints: 8}} {
		if testing.Short() && name != "nuts" { // package infer resumes others
			continue
		}
		whole, killed, stopped := t.TempDir(), t.TempDir(), t.TempDir()
		options := fit.Options{
			Sampler: s, Chains: 2, Warmup: 150, Draws: 160, Thin: 2, SaveWarmup: true, Seed: 5, SigFigs: 17, Refresh: 1,
			Output: filepath.Join(whole, "m"), Resumable: true,
		}
		options = fit.SnapshotAlways(options)
		// Copy the folder in the middle of the run, from a function that the run calls.
		copied := 0
		*fit.ProgressOf(&options) = func(p infer.Progress) {
			if p.Chain == 0 && p.Iteration == 230 {
				copyFolder(t, whole, killed)
				copied++
			}
		}
		want, err := fit.Sample(context.Background(), bind(t, pair, nil), options)
		if err != nil || copied != 1 {
			t.Fatal(err, copied)
		}
		if left, _ := filepath.Glob(filepath.Join(whole, "*.*")); len(left) != 2 {
			t.Errorf("%s: a complete run leaves %v", name, left)
		}
		check := func(fit *fit.Fit, how string) {
			t.Helper()
			for i := range want.Files {
				if rows(t, fit.Files[i]) != rows(t, want.Files[i]) {
					t.Errorf("%s, %s: %s differs", name, how, fit.Files[i])
				}
			}
			if fmt.Sprint(fit.Summary()) != fmt.Sprint(want.Summary()) {
				t.Errorf("%s, %s: the summaries differ", name, how)
			}
		}
		*fit.ProgressOf(&options), options.Resume = nil, true
		options.Output = filepath.Join(killed, "m")
		resumed, err := fit.Sample(context.Background(), bind(t, pair, nil), options)
		if err != nil {
			t.Fatal(err)
		}
		check(resumed, "killed")

		options.Output, options.Resume = filepath.Join(stopped, "m"), false
		for _, at := range short.Every(2, []int{100, 200, 260}) {
			ctx, cancel := context.WithCancel(context.Background())
			*fit.ProgressOf(&options) = func(p infer.Progress) {
				if p.Iteration >= at {
					cancel()
				}
			}
			_, err := fit.Sample(ctx, bind(t, pair, nil), options)
			cancel()
			var interrupted *fit.InterruptedError
			if err != nil && !errors.As(err, &interrupted) {
				t.Fatal(err)
			}
			options.Resume = true
		}
		*fit.ProgressOf(&options) = nil
		if resumed, err = fit.Sample(context.Background(), bind(t, pair, nil), options); err != nil {
			t.Fatal(err)
		}
		check(resumed, "interrupted")
	}
}

// TestResumeDamaged checks that damaged journals, and those of another model, are refused with a
// reason.
func TestResumeDamaged(t *testing.T) {
	dir := t.TempDir()
	options := fit.Options{Chains: 1, Warmup: 50, Draws: 100000, Seed: 5, Output: filepath.Join(dir, "m"), Resumable: true}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	options.Refresh = 1
	*fit.ProgressOf(&options) = func(p infer.Progress) {
		if states, _ := filepath.Glob(filepath.Join(dir, "*.state")); len(states) > 0 && p.Iteration > 5000 {
			cancel()
		}
	}
	if _, err := fit.Sample(ctx, bind(t, pair, nil), options); err == nil {
		t.Fatal("the run was not interrupted")
	}
	*fit.ProgressOf(&options), options.Resume = nil, true
	for _, names := range [][]string{{"m_1.state", "m_1.synced"}, {"m_1.journal"}} {
		good := map[string]string{}
		for _, name := range names {
			good[name] = read(t, filepath.Join(dir, name))
			if err := os.WriteFile(filepath.Join(dir, name), []byte(good[name][:20]), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fit.Sample(context.Background(), bind(t, pair, nil), options); err == nil || !strings.Contains(err.Error(), names[0]) {
			t.Errorf("%s: %v", names, err)
		}
		for name, text := range good {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestReadBack checks that draws, summary and findings that are read back from journals equal those
// of a run that keeps everything in memory.
func TestReadBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("draws stay in memory")
	}
	options := fit.Options{Chains: 3, Warmup: 100, Draws: 300, Thin: 2, SaveWarmup: true, Seed: 5, Resumable: true, TargetESS: 100000}
	options.Output = filepath.Join(t.TempDir(), "m")
	want, err := fit.Sample(context.Background(), bind(t, pair, nil), options)
	if err != nil {
		t.Fatal(err)
	}
	options.Output = filepath.Join(t.TempDir(), "m")
	got, err := fit.Sample(context.Background(), bind(t, pair, nil), fit.KeepLittle(options))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got.Summary()) != fmt.Sprint(want.Summary()) || fmt.Sprint(got.Precision()) != fmt.Sprint(want.Precision()) ||
		fmt.Sprint(got.Findings()) != fmt.Sprint(want.Findings()) || fmt.Sprint(got.Sampling()) != fmt.Sprint(want.Sampling()) {
		t.Errorf("the summaries differ:\n%v\n%v", got.Summary(), want.Summary())
	}
	for i := range want.Files {
		if rows(t, got.Files[i]) != rows(t, want.Files[i]) {
			t.Errorf("%s differs", got.Files[i])
		}
	}
	for _, stores := range [][2]*draws.Store{{got.Draws, want.Draws}, {got.Draws.Warmup(), want.Draws.Warmup()}} {
		for chain := range stores[1].Chains() {
			if stores[0].Len(chain) != stores[1].Len(chain) {
				t.Fatalf("%d draws, not %d", stores[0].Len(chain), stores[1].Len(chain))
			}
			for i := range stores[1].Len(chain) {
				a, b := stores[0].Draw(chain, i)
				c, d := stores[1].Draw(chain, i)
				if !slices.Equal(a, c) || !slices.Equal(b, d) {
					t.Fatalf("draw %d of chain %d: %v %v, not %v %v", i, chain, a, b, c, d)
				}
			}
		}
	}
	if err := errors.Join(got.Draws.Err(), got.Close()); err != nil {
		t.Error(err)
	}
	if v, err := got.Quantity(got.Names()[0]); !math.IsNaN(v.Values()[0]) || err == nil || got.Draws.Err() == nil {
		t.Error("draws of a closed fit are not an error")
	}
}

// TestSalvage checks that a run with damaged files continues only on request, and then reports what
// was lost: nothing if only the state is damaged.
func TestSalvage(t *testing.T) {
	dir := t.TempDir()
	// These chains warm up separately, so a chain that starts again repeats only its own warm-up.
	options := fit.SnapshotAlways(fit.Options{Sampler: nuts.Sampler{}, Chains: 2, Warmup: 50, Draws: 400, Seed: 5, SigFigs: 17, Refresh: 1, Resumable: true})
	options.Output = filepath.Join(t.TempDir(), "m")
	want, err := fit.Sample(context.Background(), bind(t, pair, nil), options)
	if err != nil {
		t.Fatal(err)
	}
	options.Output = filepath.Join(dir, "m")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	*fit.ProgressOf(&options) = func(p infer.Progress) {
		if p.Iteration > 250 {
			cancel()
		}
	}
	if _, err := fit.Sample(ctx, bind(t, pair, nil), options); err == nil {
		t.Fatal("the run was not interrupted")
	}
	*fit.ProgressOf(&options), options.Resume = nil, true
	flip := func(name string, at int) {
		t.Helper()
		path := filepath.Join(dir, name)
		text := []byte(read(t, path))
		text[at] ^= 4
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	flip("m_1.state", 200)
	flip("m_1.synced", 200)
	record := 32 + 72 + 8*len(want.Names()) + 4
	flip("m_2.journal", 32+2*record-record+20)
	_, err = fit.Sample(context.Background(), bind(t, pair, nil), options)
	var damaged *fit.DamagedError
	if !errors.As(err, &damaged) || len(damaged.Chains) != 2 {
		t.Fatalf("error %v", err)
	}
	for _, part := range []string{"m_1.state is damaged: its checksum is wrong", "chain 1: ", "would start anew and make the same draws again", "m_2.journal: draw ", "without draw ", "draws are whole"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not said in: %v", part, err)
		}
	}
	options.Salvage = true
	fit, err := fit.Sample(context.Background(), bind(t, pair, nil), options)
	if err != nil || len(fit.Salvaged) != 2 {
		t.Fatalf("%v, %v", fit.Salvaged, err)
	}
	if rows(t, fit.Files[0]) != rows(t, want.Files[0]) {
		t.Error("the chain that started anew made other draws")
	}
	if fit.Salvaged[1].Lost[0].Len() != 1 || fit.Draws.Len(0) != 400 || fit.Draws.Len(1) != 399 {
		t.Errorf("lost %v, %d and %d draws", fit.Salvaged[1].Lost, fit.Draws.Len(0), fit.Draws.Len(1))
	}
	resumed, err := fit.Quantity(want.Names()[0])
	if err != nil {
		t.Fatal(err)
	}
	whole, err := want.Quantity(want.Names()[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range resumed.Values()[400:] { // as in the undisturbed run, but one draw is missing
		if w := whole.Values()[400:]; v != w[i] && v != w[i+1] {
			t.Fatalf("draw %d is %v, not %v", i, v, w[i])
		}
	}
}

// TestSalvagePooled checks chains that learn from each other, which repeat their warm-up. No draw
// of a damaged journal may be lost or occur twice.
func TestSalvagePooled(t *testing.T) {
	options := fit.SnapshotAlways(fit.Options{Sampler: auto.Sampler{}, Chains: 2, Warmup: 150, Draws: 100, SaveWarmup: true, Seed: 5, SigFigs: 17, Refresh: 1, Resumable: true})
	options.Output = filepath.Join(t.TempDir(), "m")
	want, err := fit.Sample(context.Background(), bind(t, pair, nil), options)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	options.Output = filepath.Join(dir, "m")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	*fit.ProgressOf(&options) = func(p infer.Progress) {
		if p.Iteration >= 140 {
			cancel()
		}
	}
	if _, err := fit.Sample(ctx, bind(t, pair, nil), options); err == nil {
		t.Fatal("the run was not interrupted")
	}
	// Make the first chain lag behind: it has no state yet.
	for _, name := range []string{"m_1.state", "m_1.synced"} {
		_ = os.Remove(filepath.Join(dir, name))
	}
	path := filepath.Join(dir, "m_2.journal")
	text := []byte(read(t, path))
	record := 32 + 72 + 8*len(want.Names()) + 4
	text[32+4*record+20] ^= 4
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	*fit.ProgressOf(&options), options.Resume = nil, true
	if _, err = fit.Sample(context.Background(), bind(t, pair, nil), options); err == nil || !strings.Contains(err.Error(), "would start anew and make the same draws again") {
		t.Fatalf("error %v", err)
	}
	options.Salvage = true
	fit, err := fit.Sample(context.Background(), bind(t, pair, nil), options)
	if err != nil || len(fit.Salvaged) != 1 {
		t.Fatalf("%v, %v", fit.Salvaged, err)
	}
	for i := range want.Files {
		if rows(t, fit.Files[i]) != rows(t, want.Files[i]) {
			t.Errorf("chain %d has other draws", i+1)
		}
	}
}

// TestTemperedResume checks that a run that has switched to parallel tempering can be resumed with
// the same draws, whether it was stopped during warm-up, which is then repeated, or during
// sampling.
func TestTemperedResume(t *testing.T) {
	const apart = `parameters { vector[2] x; } model { target += log_mix(0.7, normal_lpdf(x | -1.5, 0.2), normal_lpdf(x | 1.5, 0.2)); }`
	options := fit.SnapshotAlways(fit.Options{Chains: 2, Warmup: 400, Draws: 60, Seed: 5, SigFigs: 17, Refresh: 1, Output: filepath.Join(t.TempDir(), "m"), Resumable: true})
	want, err := fit.Sample(context.Background(), bind(t, apart, nil), options)
	if err != nil {
		t.Fatal(err)
	}
	if chosen := want.Report.Chains[0].Chosen; chosen != "tempered" {
		t.Fatalf("the kernel is %s", chosen)
	}
	options.Output = filepath.Join(t.TempDir(), "m")
	for _, of := range []struct {
		warmup bool
		count  int
	}{{true, 300}, {false, 15}, {false, 60}} {
		ctx, cancel := context.WithCancel(context.Background())
		seen := 0
		*fit.ProgressOf(&options) = func(p infer.Progress) {
			if p.Warmup == of.warmup {
				seen++
			}
			if seen >= of.count {
				cancel()
			}
		}
		_, err := fit.Sample(ctx, bind(t, apart, nil), options)
		cancel()
		if err == nil {
			t.Fatal("it was not interrupted")
		}
		options.Resume = true
	}
	*fit.ProgressOf(&options) = nil
	got, err := fit.Sample(context.Background(), bind(t, apart, nil), options)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Files {
		if rows(t, got.Files[i]) != rows(t, want.Files[i]) {
			t.Errorf("%s differs", got.Files[i])
		}
	}
	for i, c := range got.Report.Chains {
		w := want.Report.Chains[i]
		if !slices.EqualFunc(c.Events, w.Events, infer.Event.Equal) || !maps.Equal(c.Kernel, w.Kernel) || c.Chosen != w.Chosen {
			t.Errorf("chain %d is reported as %s %v %v, not %s %v %v", c.ID, c.Chosen, c.Kernel, c.Events, w.Chosen, w.Kernel, w.Events)
		}
	}
	if _, ok := want.Report.Chains[0].Kernel["log_z"]; !ok || !slices.ContainsFunc(want.Report.Chains[0].Events, func(e infer.Event) bool { return e.Code == infer.EventLegs }) {
		t.Error("there is no log Z")
	}
}

// TestFullDisk checks that a full disk stops the run with a message that says so.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil || runtime.GOOS != "linux" {
		t.Skip("there is no /dev/full")
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, "m_2.csv")); err != nil {
		t.Fatal(err)
	}
	fit, err := fit.Sample(context.Background(), bind(t, pair, nil), fit.Options{
		Sampler: nuts.Sampler{}, Chains: 2, Parallel: 1, Warmup: 50, Draws: 20000, Seed: 5, Output: filepath.Join(dir, "m"), Resumable: true,
	})
	if err == nil || !strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), "m_2.csv") {
		t.Fatalf("error %v", err)
	}
	// The file of the other chain has its name and only complete lines.
	if fit == nil || len(fit.Files) != 1 {
		t.Fatalf("files %v", fit.Files)
	}
	text := read(t, fit.Files[0])
	if !strings.HasSuffix(text, "\n") || strings.Count(text, "\n") < 50 {
		t.Errorf("%d lines are kept", strings.Count(text, "\n"))
	}
}

// TestTargetESS checks that sampling ends once the effective sample size is reached, at the same
// draw for any number of parallel chains. Fewer draws than the limit must not be a finding.
func TestTargetESS(t *testing.T) {
	var lengths [2]int
	for i, parallel := range []int{1, 4} {
		fit, err := fit.Sample(context.Background(), bind(t, pair, nil), fit.Options{Chains: 4, Draws: 50000, Seed: 5, TargetESS: 1500, Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		lengths[i] = fit.Draws.Len(3)
		for _, row := range fit.Summary() {
			if row.ESSBulk < 1500 || row.ESSTail < 1500 {
				t.Errorf("%+v", row)
			}
		}
		if f := fit.Findings(); len(f) > 0 {
			t.Errorf("%v", f)
		}
	}
	if lengths[0] != lengths[1] || lengths[0] > 5000 {
		t.Errorf("%v draws", lengths)
	}
}

// TestAdapted checks that the adaptation of a run can be written, read and started from.
func TestAdapted(t *testing.T) {
	fit, err := fit.Sample(context.Background(), bind(t, pair, nil), fit.Options{Chains: 2, Warmup: 200, Draws: 10, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range fit.Report.Adapted() {
		text, err := a.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var b infer.Adapted
		if err := b.UnmarshalJSON(text); err != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("chain %d: %v, %v, not %v", i, err, b, a)
		}
		if a.StepSize == 0 || a.Metric.Kind != infer.Diagonal || len(a.Position) == 0 {
			t.Errorf("chain %d: %+v", i, a)
		}
	}
	for _, m := range []infer.Metric{{Kind: infer.Unit, Dim: 2}, {Kind: infer.Dense, Dim: 2, Inverse: []float64{1, 2, 3, 4}}} {
		text, err := infer.Adapted{Metric: m}.MarshalJSON()
		var b infer.Adapted
		if err != nil || b.UnmarshalJSON(text) != nil || fmt.Sprint(b.Metric) != fmt.Sprint(m) {
			t.Errorf("%s: %v", text, b.Metric)
		}
	}
	for _, bad := range []string{`{"inv_metric": 3}`, `{"inv_metric": [[1,2],[3]]}`, `{"metric_type": "dense_e", "inv_metric": [1]}`, `{"stepsize": -1}`, `[]`} {
		if new(infer.Adapted).UnmarshalJSON([]byte(bad)) == nil {
			t.Errorf("%s passes", bad)
		}
	}
}

// TestImpossibleOptions checks that invalid options are refused before anything runs, like invalid
// options of the command.
func TestImpossibleOptions(t *testing.T) {
	p := bind(t, pair, nil)
	for name, o := range map[string]fit.Options{
		"sig-figs":    {SigFigs: 99},
		"sig-figs ":   {SigFigs: -4},
		"target-ess":  {TargetESS: math.NaN()},
		"target-ess ": {TargetESS: -1},
		"chains":      {Chains: 1 << 31},
		"draws":       {Draws: math.MaxInt64},
		"init-radius": {Init: infer.Uniform{Radius: math.NaN()}},
	} {
		name = strings.TrimSpace(name)
		if fit, err := fit.Sample(context.Background(), p, o); err == nil || fit != nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// FuzzAdapted looks for files of step sizes and metrics that make reading panic, or from which
// impossible values are accepted.
func FuzzAdapted(f *testing.F) {
	for _, seed := range []string{
		`{"stepsize": 0.5, "metric_type": "diag_e", "inv_metric": [1, 2], "position": [0, 1]}`, `{"inv_metric": [[1, 0], [0, 1]]}`,
		`{"chains": [{"stepsize": 1}, {"inv_metric": []}]}`, `{"stepsize": 1e-400}`, `[]`, `{"chains": null, "stepsize": -0}`, `{"inv_metric": [[]]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := infer.ParseAdapted("f", text)
		if err != nil {
			return
		}
		for _, a := range all {
			m := a.Metric
			if a.StepSize < 0 || math.IsNaN(a.StepSize) || m.Kind == infer.Dense && len(m.Inverse) != m.Dim*m.Dim || m.Kind == infer.Diagonal && len(m.Inverse) != m.Dim {
				t.Fatalf("%+v", a)
			}
			if _, err := a.MarshalJSON(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
