package examples

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/short"
)

// TestPharmacometrics compares posteriors with the values from which R simulated the data, and with
// the means and standard deviations in the README. A true value is at most 3 standard deviations
// from the mean. The README's figures are at most 0.3 standard deviations off: five Monte Carlo
// errors, as the effective sample sizes are above 250. One model is due each day.
func TestPharmacometrics(t *testing.T) {
	short.Skip(t, "it samples three posteriors; TestWorkflow of cmd/ppl has models of this kind")
	const folder = "pharmacometrics"
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string][][]string{}
	for line := range strings.Lines(string(readme)) {
		fields := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(fields) == 5 && fields[0] != "model" {
			known[fields[0]] = append(known[fields[0]], fields[1:])
		}
	}
	if len(known) != 3 {
		t.Fatalf("the README has the results of %d models", len(known))
	}
	for i, name := range slices.Sorted(maps.Keys(known)) {
		rows := known[name]
		if !short.Turn(i, len(known)) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			model, err := ppl.CompileFile(filepath.Join(folder, name+".stan"))
			if err != nil {
				t.Fatal(err)
			}
			file := ppl.DataFile{Path: filepath.Join(folder, name+".csv"), Columns: data.Declarations{Read: []string{"nonmem"}}}
			posterior, err := model.BindContext(t.Context(), file, ppl.BindOptions{})
			if err != nil {
				t.Fatal(err)
			}
			fit, err := ppl.Sample(t.Context(), posterior, ppl.Options{Seed: 1, Draws: 250})
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]diagnose.Row{}
			for i, row := range fit.Summary() {
				found[diagnose.DisplayName(fit.Names()[i])] = row
			}
			for _, fields := range rows {
				var v [3]float64 // true value, mean, standard deviation
				for i := range v {
					if v[i], err = strconv.ParseFloat(fields[i+1], 64); err != nil {
						t.Fatal(err)
					}
				}
				row, ok := found[fields[0]]
				if !ok {
					t.Fatalf("no quantity %s", fields[0])
				}
				if !(math.Abs(row.Mean-v[0]) <= 3*row.SD) {
					t.Errorf("%s: mean %.4g, sd %.4g, but the true value is %g", fields[0], row.Mean, row.SD, v[0])
				}
				if !(math.Abs(row.Mean-v[1]) <= 0.3*row.SD && math.Abs(row.SD/v[2]-1) <= 0.3 && row.ESSBulk > 250) {
					t.Errorf("%s: mean %.4g, sd %.4g, ESS %.0f; the README has %g and %g", fields[0], row.Mean, row.SD, row.ESSBulk, v[1], v[2])
				}
			}
		})
	}
}
