package study_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/study"
)

const lineModel = `data { int N; vector[N] y; }
parameters { real mu; real<lower=0> tau; }
model { mu ~ normal(0, 5); tau ~ exponential(1); y ~ normal(mu, tau); }
`

// folder writes the files of a study: a model, a plan, and a table of groups, one of which has a
// broken row.
func folder(t *testing.T, dir string, groups, draws int) (plan string) {
	t.Helper()
	var table strings.Builder
	table.WriteString("g,y\n")
	for g := range groups {
		for i := range 4 {
			if g == 3 && i == 2 {
				fmt.Fprintf(&table, "%d,none\n", g)
				continue
			}
			fmt.Fprintf(&table, "%d,%d.%d\n", g, (g*7+i*3)%5, i)
		}
	}
	plan = fmt.Sprintf(`models: line.stan
data: [{table: table.csv, by: g, count: N}, {files: missing.json}]
options: {chains: 2, warmup: %d, draws: %d}
keep: {draws: [mu]}
`, draws, draws)
	for name, text := range map[string]string{"line.stan": lineModel, "table.csv": table.String(), "plan.yaml": plan} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return plan
}

func read(t *testing.T, dir, text string) *study.Plan {
	t.Helper()
	p, err := study.ReadPlan(context.Background(), "plan.yaml", text, study.ReadOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func results(t *testing.T, dir string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, study.ResultsName))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestStopped checks that a study that is stopped repeatedly at any moment has the results of an
// uninterrupted one, with each fit once.
func TestStopped(t *testing.T) {
	dir := t.TempDir()
	text := folder(t, dir, 30, 100)
	whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
	if _, err := study.Run(context.Background(), read(t, dir, text), study.RunOptions{Folder: whole}); err != nil {
		t.Fatal(err)
	}
	stops, reused := 0, 0
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(5+10*stops)*time.Millisecond)
		p, err := study.Run(ctx, read(t, dir, text), study.RunOptions{Folder: parts, Engine: study.Local{Parallel: 3}})
		cancel()
		if err == nil {
			break
		}
		var stopped *study.InterruptedError
		if !errors.As(err, &stopped) || stopped.Total != 31 {
			t.Fatal(err)
		}
		stops++
		reused += p.Reused
	}
	if stops == 0 || reused == 0 {
		t.Skip("the machine is so fast that nothing was stopped")
	}
	if !bytes.Equal(results(t, whole), results(t, parts)) {
		t.Error("the results differ")
	}
	if n := bytes.Count(results(t, whole), []byte(",failed,")); n != 2 {
		t.Errorf("%d rows of fits that failed", n)
	}
}

// TestInMemory checks that a study without any file has the results of one with files, failures
// included, where no temporary folder can be made.
func TestInMemory(t *testing.T) {
	dir := t.TempDir()
	text := folder(t, dir, 4, 20)
	rows := func(o study.RunOptions) (out []string) {
		o.Each = func(u *study.Unit, r *study.Result) error {
			out = append(out, fmt.Sprint(u.Data, r.Status, r.Message, r.Rows))
			return nil
		}
		if _, err := study.Run(t.Context(), read(t, dir, text), o); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := rows(study.RunOptions{})
	t.Setenv("TMPDIR", filepath.Join(dir, "missing"))
	if got := rows(study.RunOptions{InMemory: true}); len(got) != 5 || !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// wrongEngine runs every unit twice, except for number 5, which it leaves out.
type wrongEngine struct{ study.Local }

func (e wrongEngine) Run(ctx context.Context, job *study.Job) error {
	units := job.Units
	job.Units = func(yield func(*study.Unit) bool) {
		for u := range units {
			for range 2 {
				if u.Number != 5 && !yield(u) {
					return
				}
			}
		}
	}
	return e.Local.Run(ctx, job)
}

// TestTwice checks that a result that arrives twice counts once, and that a missing one is an
// error.
func TestTwice(t *testing.T) {
	dir := t.TempDir()
	text := folder(t, dir, 10, 50)
	out := filepath.Join(dir, "out")
	p, err := study.Run(context.Background(), read(t, dir, text), study.RunOptions{Folder: out, Engine: wrongEngine{}})
	if err == nil || !strings.Contains(err.Error(), "a fit has no result: that of line to table.csv: g=5") {
		t.Fatal(err)
	}
	if p.Done != 10 {
		t.Errorf("%+v", p)
	}
	n := 0
	if _, err := study.Run(context.Background(), read(t, dir, text), study.RunOptions{Folder: out, Each: func(*study.Unit, *study.Result) error { n++; return nil }}); err != nil || n != 11 {
		t.Error(n, err)
	}
}

// failing reports units with odd numbers as failed.
type failing struct{ study.Local }

func (e failing) Run(ctx context.Context, job *study.Job) error {
	units := job.Units
	job.Units = func(yield func(*study.Unit) bool) {
		for u := range units {
			if u.Number%2 == 1 {
				if err := job.Done(&study.Result{Key: u.Key, Status: study.Failed, Message: "out of memory"}); err != nil {
					panic(err)
				}
			} else if !yield(u) {
				return
			}
		}
	}
	return e.Local.Run(ctx, job)
}

// TestRetry checks that failed fits are made again on request, and that the new results replace the
// failures.
func TestRetry(t *testing.T) {
	dir := t.TempDir()
	text := folder(t, dir, 10, 50)
	whole, out := filepath.Join(dir, "whole"), filepath.Join(dir, "out")
	for _, c := range []struct {
		folder              string
		engine              study.Engine
		retry               bool
		reused, failed, all int
	}{
		{whole, study.Local{}, false, 0, 2, 11},
		{out, failing{}, false, 0, 6, 11},     // those of 1, 5, 7 and 9, of g=3, and of the missing file
		{out, failing{}, true, 5, 6, 11},      // and again
		{out, study.Local{}, false, 9, 6, 11}, // they are not made again unless that is asked for
		{out, study.Local{}, true, 5, 2, 11},  // now they are
		{out, study.Local{}, false, 9, 2, 11}, // and stay so
	} {
		p, err := study.Run(context.Background(), read(t, dir, text), study.RunOptions{Folder: c.folder, Engine: c.engine, Retry: c.retry})
		if err != nil || p.Reused != c.reused || p.Failed != c.failed || p.Done != c.all {
			t.Errorf("%+v: %+v, %v", c, p, err)
		}
	}
	if !bytes.Equal(results(t, whole), results(t, out)) {
		t.Error("the results differ")
	}
}

// TestFullDisk checks that a full disk ends a study, that everything written before is kept, and
// that the study can be continued.
func TestFullDisk(t *testing.T) {
	dir := os.Getenv("PPL_SMALL_DISK")
	if dir == "" {
		t.Skip("set PPL_SMALL_DISK to a folder on a file system of about 256 KiB, such as a tmpfs of that size")
	}
	src := t.TempDir()
	text := folder(t, src, 40, 200)
	whole, small := filepath.Join(src, "whole"), filepath.Join(dir, "study")
	if _, err := study.Run(context.Background(), read(t, src, text), study.RunOptions{Folder: whole}); err != nil {
		t.Fatal(err)
	}
	p, err := study.Run(context.Background(), read(t, src, text), study.RunOptions{Folder: small})
	if err == nil || !strings.Contains(err.Error(), "no space left") || p.Done == 0 {
		t.Fatalf("%+v: %v", p, err)
	}
	moved := filepath.Join(src, "moved")
	if err := os.CopyFS(moved, os.DirFS(small)); err != nil {
		t.Fatal(err)
	}
	q, err := study.Run(context.Background(), read(t, src, text), study.RunOptions{Folder: moved})
	if err != nil || q.Reused == 0 {
		t.Fatalf("%+v: %v", q, err)
	}
	t.Logf("%d of %d fits were written before the disk was full, %d were reused", p.Done, p.Total, q.Reused)
	if !bytes.Equal(results(t, whole), results(t, moved)) {
		t.Error("the results differ")
	}
}

// TestResult checks that the kept draws are the draws of the fit, and that its summary equals that
// of ppl.Sample with the same seed.
func TestResult(t *testing.T) {
	m, err := model.Compile("line", lineModel)
	if err != nil {
		t.Fatal(err)
	}
	text, err := study.NewModel("line", m, false)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"N": 3, "y": []float64{1, 2, 4}}
	set, err := model.ReadData(values)
	if err != nil {
		t.Fatal(err)
	}
	p := &study.Plan{Parts: []study.Part{{Models: []*study.Model{text}, Source: &study.Values{Name: "v", Set: set}}}, Options: study.Options{"draws": "100"}, Keep: study.Keep{Draws: []string{"tau"}}}
	_, err = study.Run(context.Background(), p, study.RunOptions{Each: func(u *study.Unit, r *study.Result) error {
		posterior, err := m.BindContext(t.Context(), values, model.BindOptions{Seed: u.Spec.Seed})
		if err != nil {
			return err
		}
		fit, err := fit.Sample(context.Background(), posterior, fit.Options{Draws: 100, Seed: u.Spec.Seed})
		if err != nil {
			return err
		}
		for i, row := range fit.Summary() {
			if row != r.Rows[i].Row {
				t.Errorf("%+v in the study, %+v by Sample", r.Rows[i].Row, row)
			}
		}
		if len(r.Kept.Values) != 400 || r.Kept.Names[0] != "tau" {
			t.Fatalf("%d draws of %v", len(r.Kept.Values), r.Kept.Names)
		}
		for chain := range 4 {
			for i, v := range fit.Draws.Column(nil, chain, 1) {
				if v != r.Kept.Values[chain*100+i] {
					t.Fatalf("draw %d of chain %d is %v, not %v", i, chain, r.Kept.Values[chain*100+i], v)
				}
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
}
