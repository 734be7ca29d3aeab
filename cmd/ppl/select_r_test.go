package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/projection"
	"github.com/ppl-lang/ppl/fit"
)

// rVariable is the environment variable with the path of Rscript. If it is set, results are
// compared with those of R's packages.
const rVariable = "PPL_RSCRIPT"

// selectExample is a problem of selection with simulated data.
type selectExample struct {
	name, family string
	fitted       string  // formula of the fit; it may have more than the terms to select from
	selected     string  // formula of these terms, also for R
	draws        int     // that are projected
	within       float64 // the largest difference of elpd; 0: a small one
	rows, groups int
	predictors   int
	outcome      func(x []float64, effects []float64, rng *rand.Rand) float64
}

var selectExamples = []selectExample{
	{name: "gaussian", family: "gaussian", draws: 100, rows: 80, predictors: 12,
		fitted:   "y ~ x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11 + x12",
		selected: "y ~ x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11 + x12",
		outcome: func(x, _ []float64, rng *rand.Rand) float64 {
			return 2 + 1.2*x[0] - 0.8*x[3] + 0.5*x[6] + 0.3*x[9] + rng.NormFloat64()
		}},
	{name: "binomial", family: "binomial", draws: 100, rows: 90, predictors: 10,
		fitted:   "y | trials(m) ~ x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10",
		selected: "y | trials(m) ~ x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10",
		outcome: func(x, _ []float64, rng *rand.Rand) float64 {
			return binomialDraw(5, 1/(1+math.Exp(0.4-0.9*x[1]+0.6*x[4]-0.3*x[7])), rng)
		}},
	// A product that is not among the terms leaves a residual in every submodel. Without one, lme4
	// cannot fit the largest: their linear predictors have no noise.
	{name: "slopes by group", family: "gaussian", draws: 50, rows: 160, groups: 16, predictors: 5,
		fitted:   "y ~ x1 * x2 + x3 + x4 + x5 + (1 + x1 + x2 | g)",
		selected: "y ~ x1 + x2 + x3 + x4 + x5 + (1 + x1 + x2 | g)",
		outcome: func(x, e []float64, rng *rand.Rand) float64 {
			return 1 + e[0] + (0.8+0.7*e[1])*x[0] + (0.4+0.3*e[2])*x[1] + 0.5*x[2] + 0.4*x[0]*x[1] + 0.8*rng.NormFloat64()
		}},
	// lme4 maximises Laplace's approximation over the coefficients too. ppl has them at the joint
	// mode with the effects, like lme4 with nAGQ = 0.
	{name: "binomial by group", family: "binomial", draws: 40, within: 1, rows: 120, groups: 15, predictors: 5,
		fitted:   "y | trials(m) ~ x1 + x2 + x3 + x4 + x5 + (1 | g)",
		selected: "y | trials(m) ~ x1 + x2 + x3 + x4 + x5 + (1 | g)",
		outcome: func(x, e []float64, rng *rand.Rand) float64 {
			return binomialDraw(5, 1/(1+math.Exp(0.3-e[0]-0.8*x[0]-0.4*x[2])), rng)
		}},
}

func binomialDraw(trials int, p float64, rng *rand.Rand) (y float64) {
	for range trials {
		if rng.Float64() < p {
			y++
		}
	}
	return y
}

// TestSelectBesideR compares the path of ppl select, the accuracy along it and the suggested size
// with those of R's projpred, from the same draws.
func TestSelectBesideR(t *testing.T) {
	rscript := os.Getenv(rVariable)
	if rscript == "" {
		t.Skipf("no R with projpred, lme4 and jsonlite: %s is not set, as in %s=/usr/bin/Rscript", rVariable, rVariable)
	}
	for _, e := range selectExamples {
		t.Run(strings.ReplaceAll(e.name, " ", "-"), func(t *testing.T) {
			dir := t.TempDir()
			table := e.table(t, filepath.Join(dir, "d.csv"))
			folder := filepath.Join(dir, "fit")
			for _, args := range [][]string{
				{"new", e.fitted, "--family", e.family, "--data", filepath.Join(dir, "d.csv"), "-o", filepath.Join(dir, "m.model")},
				{"run", filepath.Join(dir, "m.model"), "--data", filepath.Join(dir, "d.csv"), "--seed", "1", "-q", "--out", folder},
			} {
				var out, errs strings.Builder
				if code := execute(args, &out, &errs); code != 0 {
					t.Fatalf("ppl %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
				}
			}
			f, err := fit.ReadFit(folder)
			if err != nil {
				t.Fatal(err)
			}
			o := &selecting{formula: e.selected, family: e.family}
			p, err := assess.LinearPredictorsOf(context.Background(), f)
			if err != nil {
				t.Fatal(err)
			}
			s, err := o.split(&cobra.Command{}, f, p.Rows())
			if err != nil {
				t.Fatal(err)
			}
			problem, err := o.problem(s, p)
			if err != nil {
				t.Fatal(err)
			}
			thin(problem, e.draws)
			path, err := projection.PathOf(context.Background(), problem, projection.PathOptions{Clusters: e.draws, Draws: e.draws})
			if err != nil {
				t.Fatal(err)
			}
			want := projpred(t, rscript, dir, e, problem, table)
			for size := range path.Steps {
				label, other := "", ""
				if size > 0 {
					label = s.Parts[path.Steps[size].Term].Label
					if size <= len(want.Terms) {
						other = want.Terms[size-1]
					}
				}
				d := path.Difference(size)
				t.Logf("%d %-10s %-10s  %8.3f (%.3f)  %8.3f (%.3f)", size, label, other, d.Value, d.SE, want.Difference[size], want.SE[size])
				if strings.Trim(label, "()") != strings.ReplaceAll(strings.Trim(other, "()"), "  ", " ") {
					t.Errorf("size %d adds %s, and projpred %s adds %s", size, label, want.Version, other)
				}
				if math.Abs(d.Value-want.Difference[size]) > max(e.within, 0.01) {
					t.Errorf("size %d: the difference of elpd is %.3f, and by projpred %.3f", size, d.Value, want.Difference[size])
				}
			}
			got := path.Suggested()
			if got < 0 {
				got = len(path.Steps) - 1 // projpred suggests all terms if none are enough
			}
			if got != want.Suggested && e.within == 0 {
				t.Errorf("%d terms are suggested, and %d by projpred", got, want.Suggested)
			}
		})
	}
}

// table writes the data and returns its columns without the outcome.
func (e *selectExample) table(t *testing.T, path string) map[string]any {
	rng := rand.New(rand.NewPCG(uint64(e.rows), uint64(e.predictors)))
	effects := make([][]float64, max(e.groups, 1))
	for g := range effects {
		effects[g] = []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	}
	columns := make([][]float64, e.predictors)
	var groups []string
	var b strings.Builder
	for j := range columns {
		fmt.Fprintf(&b, "x%d,", j+1)
	}
	b.WriteString("g,m,y\n")
	for range e.rows {
		common := rng.NormFloat64()
		x := make([]float64, e.predictors)
		for j := range x {
			x[j] = math.Round(1e3*(0.5*common+0.87*rng.NormFloat64())) / 1e3
			columns[j] = append(columns[j], x[j])
			fmt.Fprintf(&b, "%g,", x[j])
		}
		g := rng.IntN(len(effects))
		groups = append(groups, fmt.Sprintf("g%02d", g))
		fmt.Fprintf(&b, "g%02d,5,%.6g\n", g, e.outcome(x, effects[g], rng))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for j, c := range columns {
		out[fmt.Sprintf("x%d", j+1)] = c
	}
	if e.groups > 0 {
		out["g"] = groups
	}
	return out
}

// thin keeps some draws, at equal distances.
func thin(p *projection.Problem, n int) {
	var predictor, likely [][]float64
	var sd []float64
	for _, r := range p.Draws(n) {
		predictor, likely = append(predictor, p.Predictor[r.Draw]), append(likely, p.LogLik[r.Draw])
		if p.SD != nil {
			sd = append(sd, p.SD[r.Draw])
		}
	}
	p.Predictor, p.LogLik, p.SD = predictor, likely, sd
}

// projpredResult is what testdata/projpred.R writes.
type projpredResult struct {
	Terms          []string
	Difference, SE []float64
	Suggested      int
	Version        string
}

func projpred(t *testing.T, rscript, dir string, e selectExample, p *projection.Problem, table map[string]any) (out projpredResult) {
	t.Helper()
	_, right, _ := strings.Cut(e.selected, "~")
	text, err := json.Marshal(map[string]any{"family": e.family, "formula": "y ~" + right, "variable": "y", "data": table,
		"outcome": p.Outcome, "trials": p.Trials, "predictor": p.Predictor, "sd": p.SD})
	if err != nil {
		t.Fatal(err)
	}
	from, to := filepath.Join(dir, "problem.json"), filepath.Join(dir, "result.json")
	if err := os.WriteFile(from, slices.Concat(text, []byte("\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(rscript, filepath.Join("testdata", "projpred.R"), from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if text, err = os.ReadFile(to); err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
