package tools

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ppl-lang/ppl/front/cmdstan/grammar"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// Summary runs stansummary and returns its exit code. memory is its limit in bytes.
func Summary(ctx context.Context, args []string, memory int64, stdout, stderr io.Writer) int {
	fs := pflag.NewFlagSet("stansummary", pflag.ContinueOnError)
	fs.SetOutput(stdout)
	autocorr := fs.IntP("autocorr", "a", 0, "show the autocorrelations of this chain")
	file := fs.StringP("csv_filename", "c", "", "write the table to a CSV file")
	percentiles := fs.StringP("percentiles", "p", "5,50,95", "percentiles to show")
	digits := fs.IntP("sig_figs", "s", 2, "significant digits, from 1 to 18")
	include := fs.StringArrayP("include_param", "i", nil, "show only this parameter; may be repeated")
	fs.Usage = func() {
		fmt.Fprintf(stdout, "Usage: stansummary [OPTIONS] input_files...\n\nSummarises the draws in CSV files of the sampler, one for each chain.\n\n%s", fs.FlagUsages())
	}
	fail := func(format string, a ...any) int {
		fmt.Fprintf(stdout, format+"\n", a...)
		return 1
	}
	if err := fs.Parse(args); err != nil {
		if err == pflag.ErrHelp {
			return 0
		}
		return fail("%v", err)
	}
	switch {
	case len(fs.Args()) == 0:
		return fail("input_files is required\nRun with --help for more information.")
	case *digits < 1 || *digits > 18:
		return fail("--sig_figs: Value %d not in range 1 to 18", *digits)
	case *autocorr < 0 || fs.Changed("autocorr") && *autocorr == 0 || *autocorr > len(fs.Args()):
		return fail("Option --autocorr: %d not a valid chain id.", *autocorr)
	}
	probabilities, err := parsePercentiles(*percentiles)
	if err != nil {
		return fail("Option --percentiles %s: %v", *percentiles, err)
	}
	if *file != "" {
		if _, err := os.Stat(*file); err == nil {
			if info, _ := os.Stat(*file); info.Size() > 0 {
				return fail("--csv_filename: File already exists: %s", *file)
			}
		}
	}
	f, err := readFit(ctx, fs.Args(), memory)
	if ctx.Err() != nil {
		return interrupted
	}
	if err != nil {
		return fail("%v", err)
	}
	t := &table{fit: f, digits: *digits}
	if err := t.compute(probabilities, *include); err != nil {
		return fail("%v", err)
	}
	t.print(stdout)
	if *autocorr > 0 {
		t.autocorrelations(stdout, *autocorr-1)
	}
	if *file != "" {
		n := 6
		if fs.Changed("sig_figs") {
			n = *digits
		}
		if err := files.Save(*file, []byte(t.csv(n))); err != nil {
			return fail("Cannot save to csv_filename: %s: %v.", *file, err)
		}
	}
	return 0
}

// Print runs print, the older name of stansummary.
func Print(ctx context.Context, args []string, memory int64, stdout, stderr io.Writer) int {
	return Summary(ctx, args, memory, stdout, stderr)
}

// percentile is a percentile to show.
type percentile struct {
	name string
	p    float64
}

func parsePercentiles(text string) ([]percentile, error) {
	var all []percentile
	last := math.Inf(-1)
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		v, err := strconv.ParseFloat(word, 64)
		switch {
		case err != nil:
			return nil, fmt.Errorf("values must be between 0 and 100; found: %s", word)
		case !(v >= 0 && v <= 100):
			return nil, fmt.Errorf("values must be between 0 and 100; found: %s", word)
		case v <= last:
			return nil, fmt.Errorf("values must be in increasing order; found: %s", word)
		}
		last = v
		all = append(all, percentile{word + "%", v / 100})
	}
	return all, nil
}

// table is the summary of a run.
type table struct {
	fit     *fit
	digits  int
	columns []string
	rows    []row
}

type row struct {
	name      string
	statistic bool
	values    []float64
}

// compute fills the table.
func (t *table) compute(percentiles []percentile, include []string) error {
	t.columns = []string{"Mean", "MCSE", "StdDev", "MAD"}
	for _, p := range percentiles {
		t.columns = append(t.columns, p.name)
	}
	t.columns = append(t.columns, "ESS_bulk", "ESS_tail", "ESS_bulk/s", "R_hat")
	wanted := map[string]bool{}
	for _, name := range include {
		wanted[diagnose.DisplayName(name)] = true
	}
	var statistics, rest []quantity
	for _, q := range t.fit.quantities() {
		switch {
		case q.statistic:
			statistics = append(statistics, q)
		case len(include) == 0 || wanted[q.name]:
			rest = append(rest, q)
			delete(wanted, q.name)
		}
	}
	if len(wanted) > 0 {
		var names []string
		for n := range wanted {
			names = append(names, "'"+n+"'")
		}
		slices.Sort(names)
		return fmt.Errorf("--include_param: Unrecognized parameter(s): %s ", strings.Join(names, " "))
	}
	rest = rowMajor(rest)
	all := append(statistics, rest...)
	for i, r := range diagnose.Summarize(slicesOf(all)) {
		draws := all[i].pooled()
		values := []float64{r.Mean, r.MCSEMean, r.SD, mad(draws)}
		for _, p := range percentiles {
			values = append(values, diagnose.Quantile(draws, p.p))
		}
		values = append(values, r.ESSBulk, r.ESSTail, r.ESSBulk/t.fit.sampling.Seconds(), r.Rhat)
		t.rows = append(t.rows, row{all[i].name, all[i].statistic, values})
	}
	return nil
}

// mad is the median absolute deviation from the median, scaled to the standard deviation
// of a normal distribution.
func mad(draws []float64) float64 {
	m := diagnose.Quantile(draws, 0.5)
	away := make([]float64, len(draws))
	for i, v := range draws {
		away[i] = math.Abs(v - m)
	}
	return 1.4826 * diagnose.Quantile(away, 0.5)
}

// rowMajor sorts the elements of each variable so that the last index runs fastest.
func rowMajor(all []quantity) []quantity {
	place := map[string]int{}
	for _, q := range all {
		if _, ok := place[base(q.name)]; !ok {
			place[base(q.name)] = len(place)
		}
	}
	sorting.Stable(all, func(a, b quantity) int {
		if c := cmp.Compare(place[base(a.name)], place[base(b.name)]); c != 0 {
			return c
		}
		return slices.Compare(indices(a.name), indices(b.name))
	})
	return all
}

// indices returns the indices in the name of an element.
func indices(name string) []int {
	var all []int
	for _, word := range strings.FieldsFunc(name[len(base(name)):], func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.Atoi(word)
		all = append(all, n)
	}
	return all
}

// print shows the table.
func (t *table) print(w io.Writer) {
	fmt.Fprintf(w, "Inference for Stan model: %s\n", t.fit.model)
	t.timing(w, "")
	fmt.Fprintln(w)
	cells := [][]string{append([]string{""}, t.columns...)}
	for _, r := range t.rows {
		line := []string{r.name}
		for _, v := range r.values {
			line = append(line, grammar.Number(v, t.digits))
		}
		cells = append(cells, line)
	}
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, c := range line {
			widths[i] = max(widths[i], len(c))
		}
	}
	for i, line := range cells {
		fmt.Fprintf(w, "%-*s", widths[0], line[0])
		for j, c := range line[1:] {
			fmt.Fprintf(w, "  %*s", widths[j+1], c)
		}
		fmt.Fprintln(w)
		if i > 0 && i < len(t.rows) && t.rows[i-1].statistic && !t.rows[i].statistic {
			fmt.Fprintln(w)
		}
	}
	fmt.Fprintln(w)
	t.sampler(w, "")
}

// timing prints how long the run took.
func (t *table) timing(w io.Writer, prefix string) {
	n := t.fit.store.Chains()
	fmt.Fprintf(w, "%s%d chains: each with iter=%d; %d iterations saved.\n%s\n", prefix, n, t.fit.store.Len(0), n*t.fit.store.Len(0), strings.TrimSpace(prefix))
	for _, phase := range []struct {
		name    string
		seconds func(i int) float64
	}{
		{"Warmup", func(i int) float64 { return t.fit.contents[i].Elapsed.Warmup.Seconds() }},
		{"Sampling", func(i int) float64 { return t.fit.contents[i].Elapsed.Sampling.Seconds() }},
	} {
		total, each := 0.0, []string{}
		for i := range n {
			total += phase.seconds(i)
			each = append(each, grammar.Number(phase.seconds(i), 2))
		}
		fmt.Fprintf(w, "%s%s took (%s) seconds, %s seconds total\n", prefix, phase.name, strings.Join(each, ", "), grammar.Number(total, 2))
	}
}

func (t *table) sampler(w io.Writer, prefix string) {
	fmt.Fprintf(w, "%sSamples were drawn using hmc with %s.\n", prefix, t.fit.engine)
	fmt.Fprintf(w, "%sESS_bulk and ESS_tail are effective sample sizes of the bulk and of the tails of the\n%sdistribution, R_hat compares the chains: it is 1 where they agree.\n", prefix, prefix)
}

// csv returns the table as CSV.
func (t *table) csv(digits int) string {
	var b strings.Builder
	b.WriteString("name," + strings.Join(t.columns, ",") + "\n")
	for _, r := range t.rows {
		fmt.Fprintf(&b, "%q", r.name)
		for _, v := range r.values {
			b.WriteString("," + grammar.Number(v, digits))
		}
		b.WriteString("\n")
	}
	t.timing(&b, "# ")
	t.sampler(&b, "# ")
	return b.String()
}

// autocorrelations prints the autocorrelations of a chain, one row per lag.
func (t *table) autocorrelations(w io.Writer, chain int) {
	fmt.Fprintf(w, "\nAutocorrelations of chain %d\n\n%6s", chain+1, "Lag")
	var columns [][]float64
	for _, q := range t.fit.quantities() {
		fmt.Fprintf(w, "  %10s", q.name)
		columns = append(columns, diagnose.AutoCorrelation(q.chains[chain], min(len(q.chains[chain])-1, 100)))
	}
	fmt.Fprintln(w)
	for lag := range columns[0] {
		fmt.Fprintf(w, "%6d", lag)
		for _, c := range columns {
			fmt.Fprintf(w, "  %10s", grammar.Number(c[lag], t.digits))
		}
		fmt.Fprintln(w)
	}
}
