package main

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/infertest/truth"
)

// sensitive are the ten posteriors for which thresholds are halved and doubled: seven with one
// mode, of several shapes, and three with several modes.
var sensitive = []string{
	"normal-10-condition-1e4", "t8-spherical-10", "laplace-3", "banana-bent", "funnel-5-mild", "hierarchy-centred", "log-gamma-3",
	"concentric-5", "labels-2", "wells-2",
}

// factors are the factors by which a threshold is multiplied.
var factors = []float64{0.5, 2}

// measureSensitivity multiplies each matching threshold by each factor and compares the runs with
// those for the original values.
func measureSensitivity(ctx context.Context, s settings, only *regexp.Regexp, k *keep) (string, error) {
	var targets []*truth.Target
	for _, t := range truth.Fixed() {
		if slices.Contains(sensitive, t.Name) {
			targets = append(targets, t)
		}
	}
	if len(targets) != len(sensitive) {
		return "", fmt.Errorf("%d of the %d posteriors exist", len(targets), len(sensitive))
	}
	s.samplers = []chosen{{"auto", auto.Sampler{}}}
	name := func(t auto.Threshold, factor float64) string { return fmt.Sprintf("auto, %s times %g", t.Name, factor) }
	var rows []auto.Threshold
	for _, t := range auto.Thresholds() {
		if !only.MatchString(t.Name) {
			continue
		}
		rows = append(rows, t)
		for _, factor := range factors {
			s.samplers = append(s.samplers, chosen{name(t, factor), auto.Sampler{Threshold: t.Name, Factor: factor}})
		}
	}
	made, err := s.each(ctx, s.jobs(targets, "verdict"), k, func(j job) (row, error) {
		o, err := j.target.Run(ctx, truth.Options{Sampler: j.sampler, Seed: j.key.Seed, Parallel: 1, Findings: fit.RunFindings})
		if err != nil {
			return row{}, fmt.Errorf("%s, %s, seed %d: %w", j.key.Target, j.key.Sampler, j.key.Seed, err)
		}
		return rowOf(j, o), nil
	})
	if err != nil {
		return "", err
	}
	runs := map[key]row{}
	for _, r := range made {
		runs[r.key] = r
	}
	var b strings.Builder
	for _, t := range rows {
		fmt.Fprintf(&b, "%s\t", t.Name)
		for i, factor := range factors {
			if i > 0 {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "%s %s", []string{"½:", "2:"}[i], change(made, runs, name(t, factor)))
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// change describes how the runs of a sampler differ from those of the unchanged auto.
func change(made []row, runs map[key]row, name string) string {
	changed, better, worse := 0, 0, 0
	gradients, worth, n := 0.0, 0.0, 0.0
	for _, r := range made {
		if r.Sampler != name {
			continue
		}
		k := r.key
		k.Sampler = "auto"
		was := runs[k]
		n++
		gradients += math.Log(float64(r.Gradients) / float64(was.Gradients))
		worth += math.Log(r.ESS / was.ESS)
		if r.Gradients != was.Gradients || r.ESS != was.ESS || r.Verdict != was.Verdict {
			changed++
		}
		rank := func(r row) int { return slices.Index(truth.Verdicts(), truth.Verdict(r.Verdict)) }
		switch before, after := good(rank(was)), good(rank(r)); {
		case after > before:
			better++
		case after < before:
			worse++
		}
	}
	if changed == 0 {
		return "no change"
	}
	text := fmt.Sprintf("%d runs of %.0f differ, gradients ×%.2f, ESS ×%.2f", changed, n, math.Exp(gradients/n), math.Exp(worth/n))
	if better+worse > 0 {
		text += fmt.Sprintf(", %d better and %d worse", better, worse)
	}
	return text
}

// good orders verdicts: right is best, and warned is better than wrong.
func good(rank int) int {
	return []int{0, 1, 3, 2}[rank]
}
