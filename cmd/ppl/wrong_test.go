package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/planted"
	brief "github.com/ppl-lang/ppl/internal/short"
)

// TestWrongDensityOfCommands checks that commands that evaluate the log density find an error of
// the compiler, whether it shows near the origin or near the result. Their results must be those of
// the right density.
func TestWrongDensityOfCommands(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program := file("normal.stan", "parameters { real x; } model { x ~ normal(10, 1); }")
	points := file("points.json", `{"points": [[1], [2], [8]]}`)
	// moved changes the density: from a point on, it is that of a normal variable with another mean
	// and scale.
	moved := func(from float64) func(any) any {
		return func(made any) any {
			g := made.(*ad.Graph).Fork()
			lp, x := g.Outputs[0], g.Reshape(g.Inputs[0], nil)
			wrong := g.Scale(-0.02, g.Mul(g.Sub(x, g.Const(13)), g.Sub(x, g.Const(13))))
			g.Outputs[0] = g.Select(g.Less(g.Const(from), x), wrong, lp)
			return g
		}
	}
	for _, c := range []struct {
		command []string
		wrong   func(found map[string]any) bool
	}{
		{[]string{"logdensity", program, "--points", points}, func(found map[string]any) bool {
			lp := found["log_density"].([]any)
			return lp[0] != -40.5 || lp[2] != -2.0
		}},
		{[]string{"optimize", program}, func(found map[string]any) bool {
			return math.Abs(found["unconstrained"].([]any)[0].(float64)-10) > 1e-3
		}},
		{[]string{"laplace", program}, wrongMean},
		{[]string{"pathfinder", program}, wrongMean},
		{[]string{"variational", program}, nil},
		{[]string{"run", program, "--draws", "500", "--warmup", "300"}, nil},
	} {
		for _, pass := range []string{"if-convert", planted.Bind} {
			for _, from := range brief.Every(2, []float64{-1e9, 5}) {
				ctx := planted.With(context.Background(), &planted.Fault{Pass: pass, Change: moved(from)})
				var out, errors bytes.Buffer
				code := executeIn(ctx, append(c.command, "--json", "--seed", "3"), &out, &errors)
				text := out.String() + errors.String()
				instead := "without the compiler's pass if-convert"
				if pass == planted.Bind {
					instead = "the reference evaluator"
				}
				var found map[string]any
				if err := json.Unmarshal(out.Bytes(), &found); code > 1 || err != nil || !strings.Contains(text, instead) {
					t.Errorf("%s, %s from %v: exit code %d, %v\n%s", c.command[0], pass, from, code, err, text)
					continue
				}
				if c.wrong != nil && c.wrong(found) {
					t.Errorf("%s, %s from %v:\n%s", c.command[0], pass, from, text)
				}
			}
		}
	}
}

// wrongMean reports whether the mean of the first quantity is not 10.
func wrongMean(found map[string]any) bool {
	rows, ok := found["summary"].([]any)
	if !ok {
		rows = found["quantities"].([]any)
	}
	return math.Abs(rows[0].(map[string]any)["mean"].(float64)-10) > 0.3
}
