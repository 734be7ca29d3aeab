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

// essNames are the targets for which effective sample sizes are compared: targets with known
// marginal distributions in 2 to 20 dimensions, normal and others.
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
	fmt.Fprintf(&b, "Made on %s by `go run ./internal/cmd/truth --ess`, version %s, seeds %d to %d; %v.\n\n",
		time.Now().Format(time.DateOnly), s.version, s.firstSeed, s.firstSeed+s.seeds-1, figures.ThisMachine())
	b.WriteString("| target | sampler | claimed | true | claimed over true, run by run | means | spread |\n| --- | --- | --: | --: | --: | --: | --: |\n")
	for _, c := range s.samplers {
		var all []ratio
		for _, t := range targets {
			r := ratioOf(rows, t.Name, c.name)
			all = append(all, r)
			fmt.Fprintf(&b, "| %s | %s | %.0f | %.0f | %.2f ± %.2f | %.2f | %.2f |\n", t.Name, c.name, r.claimed, r.actual, r.ratio, r.err, r.means, r.spread)
		}
		low, high, sum := math.Inf(1), 0.0, 0.0
		for _, r := range all {
			low, high, sum = min(low, r.ratio), max(high, r.ratio), sum+r.ratio/float64(len(all))
		}
		fmt.Fprintf(&b, "| all | %s | | | %.2f (%.2f to %.2f) | | |\n", c.name, sum, low, high)
	}
	return b.String(), nil
}

// ratio compares claimed effective sample sizes with true ones.
type ratio struct {
	claimed, actual float64 // averages over the coordinates; the true size is 1 over the mean square of the scores

	// ratio is the average, over runs, of the claimed size times the square of the run's score. The
	// average square is 1 divided by the true size, so ratio is 1 if the claims are correct.
	ratio, err float64

	// means is the average claim divided by the true size. It exceeds ratio if runs differ in their
	// true sizes, by a factor of about spread, the average claim times the average of 1/claim. Then
	// the worst runs dominate the errors, and the best runs the claims.
	means, spread float64
}

// ratioOf summarises the runs of a target. Figures are averaged over the coordinates.
func ratioOf(rows []row, target, sampler string) ratio {
	var runs [][]truth.Score
	for _, r := range rows {
		if r.Target == target && r.Sampler == sampler {
			runs = append(runs, r.Scores)
		}
	}
	if len(runs) == 0 {
		return ratio{}
	}
	n, coordinates := float64(len(runs)), float64(len(runs[0]))
	var out ratio
	each := make([]float64, len(runs))
	for i := range runs[0] {
		claimed, inverse, squares := 0.0, 0.0, 0.0
		for k, scores := range runs {
			s := scores[i]
			claimed += s.Bulk / n
			inverse += 1 / s.Bulk / n
			squares += s.Mean * s.Mean / n
			each[k] += s.Bulk * s.Mean * s.Mean / coordinates
		}
		out.claimed += claimed / coordinates
		out.actual += 1 / squares / coordinates
		out.means += claimed * squares / coordinates
		out.spread += claimed * inverse / coordinates
	}
	for _, v := range each {
		out.ratio += v / n
	}
	for _, v := range each {
		out.err += (v - out.ratio) * (v - out.ratio) / (n * n)
	}
	out.err = math.Sqrt(out.err)
	return out
}
