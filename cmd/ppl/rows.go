package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// rowOptions select the quantities that a table shows, and their presentation.
type rowOptions struct {
	vars        string
	sort        string
	limit       int
	percentiles []float64
}

// flags declares the options.
func (o *rowOptions) flags(cmd *cobra.Command) {
	f := declare(cmd)
	f.String(&o.vars, "vars", "")
	f.String(&o.sort, "sort", "")
	f.Int(&o.limit, "limit", 0)
	f.Numbers(&o.percentiles, "percentiles", []float64{5, 50, 95})
}

// check validates the options.
func (o *rowOptions) check() error {
	if !slices.Contains([]string{"", "rhat", "ess", "name"}, o.sort) {
		return usagef("--sort must be rhat, ess or name, but is %q", o.sort)
	}
	if o.limit < 0 {
		return usagef("--limit must not be negative, but is %d", o.limit)
	}
	for _, p := range o.percentiles {
		if !(p >= 0 && p <= 100) {
			return usagef("--percentiles must lie between 0 and 100, but one is %v", p)
		}
	}
	_, err := selectors(o.vars)
	return err
}

// maxRows is the maximum number of rows shown on a terminal, unless the user asks for more. Files
// and pipes get all rows.
const maxRows = 200

// table writes the summary table. width is the width of the terminal, or 0 if the output is not a
// terminal.
func (o *rowOptions) table(b io.Writer, fit *fit.Fit, width int) error {
	chosen, err := o.choose(fit)
	if err != nil {
		return err
	}
	all := fit.Summary()
	if len(all) == 0 {
		fmt.Fprintln(b, broken("The model has no parameters and declares no generated quantities.", width))
		return nil
	}
	if width > 0 && len(chosen) > maxRows && o.limit == 0 {
		o.digest(b, fit, chosen, width)
		return nil
	}
	shown := chosen
	if o.limit > 0 {
		shown = chosen[:min(o.limit, len(chosen))]
	}
	writeTable(b, o.rows(fit, shown), o.percentiles, width)
	if len(shown) < len(chosen) {
		fmt.Fprintf(b, "… and %d more quantities (--limit).\n", len(chosen)-len(shown))
	}
	return nil
}

// rows returns the rows of the chosen quantities, with percentiles.
func (o *rowOptions) rows(fit *fit.Fit, chosen []int) []row {
	var out []row
	summary, labels := fit.Summary(), fit.Labels()
	var draws []float64
	for _, q := range chosen {
		r := row{Row: summary[q]}
		if labels != nil {
			r.label = labels[q]
		}
		draws = draws[:0]
		for _, p := range o.percentiles {
			switch p {
			case 5:
				r.percentiles = append(r.percentiles, r.Q5)
			case 50:
				r.percentiles = append(r.percentiles, r.Q50)
			case 95:
				r.percentiles = append(r.percentiles, r.Q95)
			default:
				if len(draws) == 0 {
					for chain := range fit.Draws.Chains() {
						draws = fit.Draws.Column(draws, chain, q)
					}
				}
				r.percentiles = append(r.percentiles, diagnose.Quantile(draws, p/100))
			}
		}
		out = append(out, r)
	}
	return out
}

// labelsByName returns the labels of quantities by their readable names.
func labelsByName(f *fit.Fit) map[string]string {
	out := map[string]string{}
	for i, l := range f.Labels() {
		out[diagnose.DisplayName(f.Names()[i])] = l
	}
	return out
}

// choose returns the indices of the quantities to show, in order.
func (o *rowOptions) choose(fit *fit.Fit) ([]int, error) {
	summary := fit.Summary()
	var chosen []int
	wanted, err := selectorsOf(o.vars, fit.VariableFactors)
	if err != nil {
		return nil, err
	}
	if wanted == nil {
		for q := range summary {
			chosen = append(chosen, q)
		}
	}
	for _, s := range wanted {
		before := len(chosen)
		for q, r := range summary {
			if s.matches(r.Name) && !slices.Contains(chosen, q) {
				chosen = append(chosen, q)
			}
		}
		if len(chosen) == before && !slices.ContainsFunc(summary, func(r diagnose.Row) bool { return s.matches(r.Name) }) {
			return nil, s.unknown(summary, fit.VariableFactors)
		}
	}
	worse := func(a, b float64) int { // NaN last
		switch {
		case math.IsNaN(a) && math.IsNaN(b):
			return 0
		case math.IsNaN(a):
			return 1
		case math.IsNaN(b):
			return -1
		}
		return cmp.Compare(a, b)
	}
	least := func(r diagnose.Row) float64 {
		if r.ESSTail < r.ESSBulk {
			return r.ESSTail
		}
		return r.ESSBulk
	}
	switch o.sort {
	case "rhat":
		sorting.Stable(chosen, func(a, b int) int { return worse(-summary[a].Rhat, -summary[b].Rhat) })
	case "ess":
		sorting.Stable(chosen, func(a, b int) int { return worse(least(summary[a]), least(summary[b])) })
	case "name":
		sorting.Stable(chosen, func(a, b int) int { return natural(summary[a].Name, summary[b].Name) })
	}
	return chosen, nil
}

// natural compares names so that numbers in them count by their value: b[2] comes before b[10].
func natural(a, b string) int {
	digits := func(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x != "" && y != "" {
			if len(x) != len(y) {
				return cmp.Compare(len(x), len(y))
			}
			if c := cmp.Compare(x, y); c != 0 {
				return c
			}
			a, b = a[len(x):], b[len(y):]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digest summarises many quantities. It shows how many have each problem, the worst quantities, and
// one line per variable.
func (o *rowOptions) digest(b io.Writer, fit *fit.Fit, chosen []int, width int) {
	const worst = 10
	summary := fit.Summary()
	rhat, ess, chains := 0, 0, max(fit.Draws.Chains(), 1)
	for _, q := range chosen {
		r := summary[q]
		if r.Rhat > 1.01 {
			rhat++
		}
		if min(r.ESSBulk, r.ESSTail) < float64(100*chains) {
			ess++
		}
	}
	print := func(format string, args ...any) {
		fmt.Fprintln(b, broken(fmt.Sprintf(format, args...), width))
	}
	print("%d quantities: R-hat above 1.01 in %d, an effective sample size below %d in %d.", len(chosen), rhat, 100*chains, ess)
	by := rowOptions{vars: o.vars, sort: "rhat"}
	list, err := by.choose(fit)
	if err == nil {
		print("\nThe worst by R-hat:")
		writeTable(b, o.rows(fit, list[:min(worst, len(list))]), o.percentiles, width)
	}
	print("\nBy variable, with the smallest and the largest value over its elements:")
	type group struct {
		name  string
		rows  []diagnose.Row
		first string
		last  string
	}
	var groups []*group
	for _, q := range chosen {
		r := summary[q]
		base, _, _ := strings.Cut(r.Name, "[")
		if len(groups) == 0 || groups[len(groups)-1].name != base {
			groups = append(groups, &group{name: base, first: r.Name})
		}
		g := groups[len(groups)-1]
		g.rows, g.last = append(g.rows, r), r.Name
	}
	titles := []string{"", "mean", "sd", "ess_bulk", "ess_tail", "rhat"}
	cells := make([][]string, len(titles))
	for c, t := range titles {
		cells[c] = []string{t}
	}
	span := func(g *group, f func(diagnose.Row) float64, text func(float64) string) string {
		lo, hi := math.NaN(), math.NaN()
		for _, r := range g.rows {
			if v := f(r); !math.IsNaN(v) {
				if !(lo <= v) {
					lo = v
				}
				if !(hi >= v) {
					hi = v
				}
			}
		}
		if a, z := text(lo), text(hi); a != z {
			return a + " … " + z
		}
		return text(lo)
	}
	short := func(v float64) string {
		if math.IsNaN(v) {
			return "-"
		}
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	for _, g := range groups {
		name := g.first
		if len(g.rows) > 1 {
			name = g.first + " … " + strings.TrimPrefix(g.last, g.name)
		}
		for c, text := range []string{
			name,
			span(g, func(r diagnose.Row) float64 { return r.Mean }, short),
			span(g, func(r diagnose.Row) float64 { return r.SD }, short),
			span(g, func(r diagnose.Row) float64 { return r.ESSBulk }, whole),
			span(g, func(r diagnose.Row) float64 { return r.ESSTail }, whole),
			span(g, func(r diagnose.Row) float64 { return r.Rhat }, func(v float64) string { return fixed(v, 3) }),
		} {
			cells[c] = append(cells[c], text)
		}
	}
	widths := make([]int, len(cells))
	for c := range cells {
		for _, text := range cells[c] {
			widths[c] = max(widths[c], utf8.RuneCountInString(text))
		}
	}
	writeCells(b, cells, widths, []int{0, 0, 1, 3, 2, 0}, width)
	print("To choose variables: --vars %s. To sort and cut the list: --sort, --limit. A pipe gets all rows.", groups[0].name)
}
