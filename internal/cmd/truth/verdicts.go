package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/infertest/truth"
	"github.com/ppl-lang/ppl/internal/figures"
)

// job is a run to make.
type job struct {
	target  *truth.Target
	sampler infer.Sampler
	key     key
}

// jobs lists the runs, seed by seed, so that an interrupted measurement includes some runs of every
// kind.
func (s settings) jobs(targets []*truth.Target, what string) []job {
	var out []job
	for i := range s.seeds {
		for _, t := range targets {
			for _, c := range s.samplers {
				out = append(out, job{t, c.sampler, key{t.Name, c.name, uint64(s.firstSeed + i), s.version, what}})
			}
		}
	}
	return out
}

// each makes the runs that are not stored yet and returns all.
func (s settings) each(ctx context.Context, jobs []job, k *keep, make1 func(job) (row, error)) ([]row, error) {
	rows := make([]row, len(jobs))
	failures := make([]error, len(jobs))
	next := make(chan int)
	var done sync.WaitGroup
	for range s.workers {
		done.Go(func() {
			for i := range next {
				r, ok := k.Get(jobs[i].key.String())
				if !ok {
					if r, failures[i] = make1(jobs[i]); failures[i] == nil {
						failures[i] = k.Add(r)
					}
				}
				r.Class = string(jobs[i].target.Class)
				rows[i] = r
			}
		})
	}
	for i := range jobs {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	done.Wait()
	return rows, errors.Join(append(failures, ctx.Err())...)
}

// judge runs the samplers and makes the tables.
func judge(ctx context.Context, s settings, targets []*truth.Target, k *keep, tables func([]row) string) (string, error) {
	jobs := s.jobs(targets, "verdict")
	rows, err := s.each(ctx, jobs, k, func(j job) (row, error) {
		begun := time.Now()
		o, err := j.target.Run(ctx, truth.Options{Sampler: j.sampler, Seed: j.key.Seed, Parallel: 1, Findings: fit.RunFindings})
		if err != nil {
			return row{}, fmt.Errorf("%s, %s, seed %d: %w", j.key.Target, j.key.Sampler, j.key.Seed, err)
		}
		r := rowOf(j, o)
		if r.Verdict == string(truth.Silent) {
			fmt.Fprintf(s.log, "%s, %s, seed %d: %s: %s is %.3g, truth %.3g (%s)\n", r.Target, r.Sampler, r.Seed, r.Verdict, r.Worst, r.Value, r.Truth, time.Since(begun).Round(time.Millisecond))
		}
		return r, nil
	})
	if err != nil {
		return "", err
	}
	return tables(rows), nil
}

func rowOf(j job, o *truth.Outcome) row {
	r := row{key: j.key, Class: string(j.target.Class), Drawn: j.target.Drawn, Verdict: string(o.Verdict), Gradients: o.Gradients, Tempering: temperingOf(j.target, o)}
	if worst, ok := o.Worst(); ok {
		r.Worst, r.Off, r.Value, r.Truth = worst.Quantity.Name, number(min(worst.Off(), 1e9)), number(worst.Value), worst.Quantity.Truth
	}
	for i, e := range o.Estimates {
		if i == 0 || e.ESS < r.ESS {
			r.ESS = number(e.ESS)
		}
	}
	for _, f := range o.Findings {
		code := f.Code
		if f.Severity == diagnose.Note {
			code = "(" + code + ")"
		}
		r.Findings = append(r.Findings, code)
	}
	if o.Err != nil {
		r.Error = o.Err.Error()
	}
	for _, c := range o.Report.Chains {
		for _, n := range c.Notes {
			if strings.Contains(n, "was moved") || strings.Contains(n, "not settled") {
				r.Notes = append(r.Notes, n)
			}
		}
	}
	return r
}

// tables returns a table for each class and one for all, followed by the targets on which runs were
// silently wrong.
func (s settings) tables(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Made on %s by `go run ./internal/cmd/truth`, version %s, seeds %d to %d, family seed %d; %v.\n",
		time.Now().Format(time.DateOnly), s.version, s.firstSeed, s.firstSeed+s.seeds-1, s.familySeed, figures.ThisMachine())
	for _, name := range s.missing {
		fmt.Fprintf(&b, "\nThere is no sampler `%s` in this version.\n", name)
	}
	count := func(title string, in func(r row) bool) {
		header := false
		for _, sampler := range s.samplers {
			counts, runs, targets := map[string]int{}, 0, map[string]bool{}
			var gradients []float64
			for _, r := range rows {
				if r.Sampler != sampler.name || !in(r) {
					continue
				}
				counts[r.Verdict]++
				runs++
				targets[r.Target] = true
				gradients = append(gradients, float64(r.Gradients))
			}
			if runs == 0 {
				continue
			}
			if !header {
				fmt.Fprintf(&b, "\n%s (%d targets):\n\n| sampler | runs |", title, len(targets))
				for _, v := range truth.Verdicts() {
					fmt.Fprintf(&b, " %s |", v)
				}
				b.WriteString(" gradients (median) |\n| --- | --: | --: | --: | --: | --: | --: |\n")
				header = true
			}
			fmt.Fprintf(&b, "| %s | %d |", sampler.name, runs)
			for _, v := range truth.Verdicts() {
				fmt.Fprintf(&b, " %d (%.1f %%) |", counts[string(v)], 100*float64(counts[string(v)])/float64(runs))
			}
			slices.Sort(gradients)
			fmt.Fprintf(&b, " %.0f |\n", gradients[len(gradients)/2])
		}
	}
	for _, class := range truth.Classes() {
		count("**"+strings.ToUpper(string(class[:1]))+string(class[1:])+"**, written down", func(r row) bool { return r.Class == string(class) && !r.Drawn })
		count("**"+strings.ToUpper(string(class[:1]))+string(class[1:])+"**, drawn from families", func(r row) bool { return r.Class == string(class) && r.Drawn })
	}
	count("**All**", func(row) bool { return true })
	b.WriteString(s.list("Silently wrong", rows, truth.Silent, func(row) bool { return true }))
	b.WriteString(s.list("Warned though right, with one mode", rows, truth.Warned, func(r row) bool { return r.Class == string(truth.OneMode) }))
	return b.String()
}

// list names the targets with runs of a verdict, by sampler, and their numbers.
func (s settings) list(title string, rows []row, v truth.Verdict, in func(row) bool) string {
	var b strings.Builder
	for _, sampler := range s.samplers {
		counts := map[string]int{}
		var names []string
		for _, r := range rows {
			if r.Sampler != sampler.name || r.Verdict != string(v) || !in(r) {
				continue
			}
			if counts[r.Target] == 0 {
				names = append(names, r.Target)
			}
			counts[r.Target]++
		}
		if len(names) == 0 {
			continue
		}
		slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
		for i, n := range names {
			names[i] = fmt.Sprintf("%s %d", n, counts[n])
		}
		fmt.Fprintf(&b, "\n%s, %s (runs of %d): %s.\n", title, sampler.name, s.seeds, strings.Join(names, ", "))
	}
	return b.String()
}

// number returns v, or 0 if a run has no value; the file leaves out zeros.
func number(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
