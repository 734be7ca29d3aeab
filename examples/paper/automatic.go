package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// automaticPlan says how many runs of the sampler auto to make. The chains of a run share a
// warm-up.
type automaticPlan struct{ runs, chains, draws int }

// automaticRun has the results of such a run.
type automaticRun struct {
	Least, Squares, Uncapped   float64 // smallest effective sample sizes, of all chains together
	WarmupGradients, Gradients int64
	Rhat, Seconds              float64
	Notes                      []string
}

func (r *automaticRun) honest() float64 { return r.Least / float64(r.WarmupGradients+r.Gradients) }

// automatic runs the sampler auto, without any settings, on targets of the paper. It compares the
// results with the AHMC chains of Figure 2 and Table 1.
func automatic(ctx context.Context, w *workshop) error {
	type task struct {
		name, file string
		target     infer.LogDensity
		bar        float64
	}
	var tasks []task
	for _, s := range w.sets {
		r, err := s.load(w.dataDir)
		if err != nil {
			return err
		}
		tasks = append(tasks, task{s.name, "fig2.csv", r.Posterior, surpassing})
	}
	y, err := series(w.dataDir, w.protocol.days)
	if err != nil {
		return err
	}
	target, err := volatility(y)
	if err != nil {
		return err
	}
	tasks = append(tasks, task{"volatility", "table1.csv", target, 10})
	n := w.protocol.automatic
	var b strings.Builder
	b.WriteString("# The same targets without settings\n\n")
	w.preface(&b)
	fmt.Fprintf(&b, "The sampler `auto` with its defaults: %d runs of %d chains, which share a warm-up, of %d draws each. Min ESS per 1000 gradients, all gradients of all chains counted,\n"+
		"those of warm-up and of the climb to a start too; ESS of each chain capped at its number of draws. AHMC's are those of fig2.csv and table1.csv.\n\n", n.runs, n.chains, n.draws)
	t := table{head: []string{"target", "AHMC", "auto", "ratio", "auto, uncapped", "auto, squares", "share of warm-up", "largest R-hat", "bar", "verdict"}}
	var notes strings.Builder
	for _, k := range tasks {
		base, err := honestOf(filepath.Join(w.out, k.file), k.name, "ahmc")
		if err != nil {
			return err
		}
		var runs []*automaticRun
		w.progress.begin("auto, "+k.name, n.runs, n.runs*n.chains*n.draws)
		for i := range n.runs {
			r, err := w.automaticRun(ctx, k.name, k.target, i+1)
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			if r != nil {
				runs = append(runs, r)
			}
		}
		if len(runs) == 0 {
			continue
		}
		of := func(f func(*automaticRun) float64) []float64 {
			v := make([]float64, len(runs))
			for i, r := range runs {
				v[i] = f(r)
			}
			return v
		}
		mean := func(f func(*automaticRun) float64) float64 { return summarise(of(f)).mean }
		all := func(r *automaticRun) float64 { return float64(r.WarmupGradients + r.Gradients) }
		thousand := func(f func(*automaticRun) float64) func(*automaticRun) float64 {
			return func(r *automaticRun) float64 { return 1000 * f(r) }
		}
		baseThousand := make([]float64, len(base))
		for i, v := range base {
			baseThousand[i] = 1000 * v
		}
		q := compare(of((*automaticRun).honest), base, k.name)
		t.add(k.name, summarise(baseThousand).String(), summarise(of(thousand((*automaticRun).honest))).String(), q.String(),
			short(1000*mean(func(r *automaticRun) float64 { return r.Uncapped / all(r) })), short(1000*mean(func(r *automaticRun) float64 { return r.Squares / all(r) })),
			percent(mean(func(r *automaticRun) float64 { return float64(r.WarmupGradients) / all(r) })), fmt.Sprintf("%.4f", most(of(func(r *automaticRun) float64 { return r.Rhat }))),
			short(k.bar), w.verdict(q.reaches(k.bar)))
		fmt.Fprintf(&notes, "- %s: %s\n", k.name, strings.Join(runs[0].Notes, " "))
	}
	t.markdown(&b)
	fmt.Fprintf(&b, "What it chose, in the words of the first run:\n\n%s", notes.String())
	return w.write("auto.md", b.String())
}

// reaches says whether a ratio is at least as large as a bar, to about two standard errors.
func (r ratio) reaches(bar float64) string {
	switch {
	case r.low >= bar:
		return "reached"
	case r.value >= bar:
		return "reached within two standard errors"
	case r.high >= bar:
		return "missed within two standard errors"
	}
	return "missed"
}

// honestOf reads the effective sample sizes of a sampler per gradient, including the gradients of
// warm-up, from the table of chains of another exhibit.
func honestOf(path, problem, sampler string) ([]float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w; make that exhibit first", err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	at := map[string]int{}
	for i, name := range records[0] {
		at[name] = i
	}
	var list []float64
	for _, r := range records[1:] {
		if r[at["problem"]] != problem || r[at["sampler"]] != sampler {
			continue
		}
		number := func(name string) float64 {
			v, err := strconv.ParseFloat(r[at[name]], 64)
			if err != nil {
				return math.NaN()
			}
			return v
		}
		list = append(list, number("min_ess")/(number("gradients_warmup")+number("gradients")))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no chain of %s on %s", path, sampler, problem)
	}
	return list, nil
}

// automaticRun makes one run, or reads its result. It returns nil if a report has no result.
func (w *workshop) automaticRun(ctx context.Context, name string, target infer.LogDensity, number int) (*automaticRun, error) {
	n := w.protocol.automatic
	path := filepath.Join(w.out, "chains", fmt.Sprintf("auto-%s-%s-%02d.gob", w.kind(), name, number))
	r := &automaticRun{}
	if err := readGob(path, r); err == nil {
		w.progress.skip(n.chains * n.draws)
		return r, nil
	}
	if w.report {
		return nil, nil
	}
	began := time.Now()
	session, err := infer.NewSession(target, infer.Config{Sampler: auto.Sampler{}, Chains: n.chains, Draws: n.draws, Seed: seed("auto "+name, fmt.Sprint(number))})
	if err != nil {
		return nil, err
	}
	draws := make([][][]float64, target.Dim())
	for i := range draws {
		draws[i] = make([][]float64, n.chains)
	}
	told := 0
	for d, err := range session.Draws(ctx) {
		if err != nil {
			return nil, err
		}
		for i, x := range d.Position {
			draws[i][d.Chain] = append(draws[i][d.Chain], x)
		}
		if told++; told%progressEvery == 0 {
			w.progress.advance(progressEvery, 0)
		}
	}
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	r.Seconds = time.Since(began).Seconds()
	for _, c := range session.Report().Chains {
		r.WarmupGradients += c.Warmup.Gradients
		r.Gradients += c.Sampling.Gradients
		if len(r.Notes) == 0 {
			r.Notes = c.Notes
		}
	}
	r.Least, r.Squares, r.Uncapped = math.Inf(1), math.Inf(1), math.Inf(1)
	for _, chains := range draws {
		capped, uncapped, squares := 0.0, 0.0, 0.0
		for _, v := range chains {
			c, u := diagnose.InitialMonotoneESS(v)
			capped, uncapped = capped+c, uncapped+u
			m, _ := moments(v)
			s := make([]float64, len(v))
			for t, x := range v {
				s[t] = (x - m) * (x - m)
			}
			c, _ = diagnose.InitialMonotoneESS(s)
			squares += c
		}
		r.Least, r.Uncapped, r.Squares = min(r.Least, capped), min(r.Uncapped, uncapped), min(r.Squares, squares)
		r.Rhat = max(r.Rhat, diagnose.Rhat(chains))
	}
	w.progress.advance(0, 1)
	return r, writeGob(path, r)
}
