package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/infer/infertest/truth"
	"github.com/ppl-lang/ppl/internal/figures"
)

// essNames are the targets on which effective sample sizes are compared: known marginal
// distributions in 2 to 20 dimensions, normal and not.
var essNames = []string{
	"normal-2", "normal-10-condition-1e4", "normal-12-units-1e6", "t3-3", "t8-spherical-10",
	"laplace-3", "quartic-4", "log-gamma-3", "simplex-5", "banana-bent",
}

func essTargets() []*truth.Target {
	return slices.DeleteFunc(truth.Fixed(), func(t *truth.Target) bool { return !slices.Contains(essNames, t.Name) })
}

// measureESS compares claimed with true bulk effective sample sizes.
func measureESS(ctx context.Context, s settings, targets []*truth.Target, k *keep) (string, error) {
	rows, err := s.each(ctx, s.jobs(targets, "ess"), k, func(j job) (row, error) {
		scores, err := j.target.Scores(ctx, truth.Options{Sampler: j.sampler, Seed: j.key.Seed, Parallel: 1})
		if err != nil {
			return row{}, fmt.Errorf("%s, %s, seed %d: %w", j.key.Target, j.key.Sampler, j.key.Seed, err)
		}
		r := row{key: j.key, Class: string(j.target.Class), Scores: scores}
		return r, nil
	})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Made on %s by `go run ./internal/cmd/truth --ess`, version %s, %d seeds from %d; %v.\n\n",
		time.Now().Format(time.DateOnly), s.version, s.seeds, s.firstSeed, figures.ThisMachine())
	b.WriteString("| target |")
	for _, c := range s.samplers {
		fmt.Fprintf(&b, " %s: claimed | true | ratio |", c.name)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --: | --: | --: |", len(s.samplers)) + "\n")
	for _, t := range targets {
		fmt.Fprintf(&b, "| %s |", t.Name)
		for _, c := range s.samplers {
			r := ratioOf(rows, t.Name, c.name)
			fmt.Fprintf(&b, " %.0f | %.0f | %.2f ± %.2f |", r.claimed, r.actual, r.ratio, r.err)
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// ratio is the claimed effective sample size over the true one.
type ratio struct {
	claimed, actual, ratio float64
	err                    float64 // standard error of ratio, over the runs
}

// ratioOf puts the runs of a target together. The true size of a coordinate is one over the
// mean square of its scores; ratios are averaged over the coordinates.
func ratioOf(rows []row, target, sampler string) ratio {
	var runs [][]truth.Score
	for _, r := range rows {
		if r.Target == target && r.Sampler == sampler {
			runs = append(runs, r.Scores)
		}
	}
	n := float64(len(runs))
	if n == 0 {
		return ratio{}
	}
	coordinates := float64(len(runs[0]))
	claimed, squares := make([]float64, len(runs[0])), make([]float64, len(runs[0]))
	for _, scores := range runs {
		for i, s := range scores {
			claimed[i] += s.Bulk / n
			squares[i] += s.Mean * s.Mean / n
		}
	}
	var out ratio
	for i := range claimed {
		out.claimed += claimed[i] / coordinates
		out.actual += 1 / squares[i] / coordinates
		out.ratio += claimed[i] * squares[i] / coordinates
	}
	// Each run contributes the mean over coordinates of claimed times its own square.
	spread := 0.0
	for _, scores := range runs {
		one := 0.0
		for i, s := range scores {
			one += claimed[i] * s.Mean * s.Mean / coordinates
		}
		spread += (one - out.ratio) * (one - out.ratio)
	}
	out.err = math.Sqrt(spread) / n
	return out
}
