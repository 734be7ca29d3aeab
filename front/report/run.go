package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// energy shows the energies around their means, and their changes.
func energy(w *work) []Figure {
	var level, change []float64
	for _, chain := range w.chains {
		column, ok := w.fit.Draws.Statistic(nil, chain, "energy__")
		if !ok {
			return nil
		}
		mean := 0.0
		for _, v := range column {
			mean += v / float64(len(column))
		}
		for i, v := range column {
			level = append(level, v-mean)
			if i > 0 {
				change = append(change, v-column[i-1])
			}
		}
	}
	g, _, ok := densities([][]float64{level, change})
	if !ok || g.y[1] == nil {
		return nil
	}
	f := Figure{Kind: "energy", X: Axis{Label: "energy, about its mean (nats)"}, Y: Axis{Label: "density", Zero: true}}
	for i, l := range []Layer{{Mark: Line, Role: First, Label: "energies"}, {Mark: Line, Role: Second, Label: "changes"}} {
		l.From, l.Step, l.Y = g.from, g.step, coarse(g.y[i])
		f.Layers = append(f.Layers, l)
	}
	least := math.Inf(1)
	for _, s := range w.fit.Sampling() {
		if !math.IsNaN(s.EBFMI) {
			least = min(least, s.EBFMI)
		}
	}
	f.Alt = "Density of the energies, and of their changes."
	if !math.IsInf(least, 1) { // known with enough draws
		f.Alt = fmt.Sprintf("Density of the energies, and of their changes; the least E-BFMI is %.2f.", least)
	}
	return []Figure{f}
}

// maxSurfaces is the maximum number of chains whose tuner is shown.
const maxSurfaces = 8

// surface shows what each chain's tuner has learned, from its tables.
func surface(w *work) []Figure {
	var out []Figure
	for i, c := range w.fit.Report.Chains {
		grid, ok := tableOf(c.Tables, "surface", "step_size", "steps", "mean")
		if !ok {
			continue
		}
		if len(out) == maxSurfaces {
			w.note("The tuner's surface is shown of the first %d chains.", maxSurfaces)
			break
		}
		f := Figure{Kind: "surface", Of: []string{w.chainName(i)}, X: Axis{Label: "step size", Log: true}, Y: Axis{Label: "largest number of steps"}}
		cells := Layer{Mark: Cells, Role: Surface, Label: "expected reward", X: distinct(grid[0]), Y: distinct(grid[1])}
		cells.Z = make(Values, len(cells.X)*len(cells.Y))
		for k := range cells.Z {
			cells.Z[k] = math.NaN()
		}
		for k, v := range grid[2] {
			x, _ := slices.BinarySearch(cells.X, grid[0][k])
			y, _ := slices.BinarySearch(cells.Y, grid[1][k])
			cells.Z[y*len(cells.X)+x] = v
		}
		cells.Z = coarse(cells.Z)
		f.Layers = append(f.Layers, cells)
		if visits, ok := tableOf(c.Tables, "visits", "step_size", "steps"); ok && len(visits[0]) > 0 {
			type setting struct{ x, y float64 }
			seen := map[setting]bool{}
			l := Layer{Mark: Points, Role: First, Label: "tried"}
			for k, x := range visits[0] {
				if s := (setting{x, visits[1][k]}); !seen[s] {
					seen[s] = true
					l.X, l.Y = append(l.X, s.x), append(l.Y, s.y)
				}
			}
			f.Layers = append(f.Layers, l)
			last := len(visits[0]) - 1
			x, y := visits[0][last], visits[1][last]
			f.Layers = append(f.Layers, Layer{Mark: Points, Role: Chosen, Label: "used in sampling", X: Values{x}, Y: Values{y}})
			f.Alt = fmt.Sprintf("What the tuner of %s believes of %d settings; it has ended with at most %.0f steps of size %.3g.", w.chainName(i), len(grid[0]), y, x)
		}
		out = append(out, f)
	}
	return out
}

// tableOf finds columns of a table by their names.
func tableOf(tables []infer.Table, name string, columns ...string) ([][]float64, bool) {
	for _, t := range tables {
		if t.Name != name {
			continue
		}
		out := make([][]float64, len(columns))
		for i, c := range columns {
			at := slices.Index(t.Columns, c)
			if at < 0 {
				return nil, false
			}
			for _, row := range t.Rows {
				out[i] = append(out[i], row[at])
			}
		}
		return out, len(t.Rows) > 0
	}
	return nil, false
}

func distinct(values []float64) Values {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}
