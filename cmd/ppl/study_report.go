package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/study"
)

// spreadJSON describes the distribution of a figure over the fits.
type spreadJSON struct {
	Min    number `json:"min"`    // minimum
	Q5     number `json:"q5"`     // 5 % quantile
	Median number `json:"median"` // median
	Q95    number `json:"q95"`    // 95 % quantile
	Max    number `json:"max"`    // maximum
}

func spreadOf(s study.Spread) spreadJSON {
	return spreadJSON{number(s.Min), number(s.Q5), number(s.Median), number(s.Q95), number(s.Max)}
}

// studyReportJSON is what report --json prints about a study; a stable format.
type studyReportJSON struct {
	Fits       int                 `json:"fits"`       // number of fits
	OK         int                 `json:"ok"`         // fits without problems
	Problems   int                 `json:"problems"`   // fits with problems
	Failed     int                 `json:"failed"`     // fits that failed
	Findings   map[string]int      `json:"findings"`   // number of fits by code of a finding
	Failures   []studyFailureJSON  `json:"failures"`   // failures by message
	Quantities []studyQuantityJSON `json:"quantities"` // one entry per model and quantity
	// how well data that were held out are predicted
	Densities []studyDensityJSON `json:"held_out"`
	Seconds   number             `json:"fitting_seconds"`  // processor seconds of all fits
	Sampling  number             `json:"sampling_seconds"` // processor seconds of sampling
	Time      spreadJSON         `json:"seconds_of_a_fit"` // seconds of a fit
	CPUs      map[string]int     `json:"cpus"`             // number of fits by kind of processor
}

type studyFailureJSON struct {
	Message string `json:"message"` // the message
	Fits    int    `json:"fits"`    // number of fits that failed with it
	First   int    `json:"first"`   // number of the first of these fits, from 1
	Data    string `json:"data"`    // data set of the first of these fits
}

type studyQuantityJSON struct {
	Model      string     `json:"model"`       // name of the model
	Name       string     `json:"name"`        // name of the quantity
	Fits       int        `json:"fits"`        // fits that have the quantity
	Rhat       spreadJSON `json:"rhat"`        // R-hat over fits
	HighRhat   int        `json:"high_rhat"`   // fits with an R-hat above 1.01
	ESSBulk    spreadJSON `json:"ess_bulk"`    // bulk effective sample size over fits
	ESSTail    spreadJSON `json:"ess_tail"`    // tail effective sample size over fits
	Ranked     int        `json:"ranked"`      // fits with a rank of the true value
	Coverage50 number     `json:"coverage_50"` // share of true values in their 50 % intervals
	Coverage90 number     `json:"coverage_90"` // share of true values in their 90 % intervals
	Ranks      []int      `json:"ranks"`       // histogram of the ranks
	Uniform    number     `json:"p_uniform"`   // p value of the test of uniformity
}

type studyDensityJSON struct {
	Model        string `json:"model"`        // name of the model
	Observations int    `json:"observations"` // number of observations held out
	ELPD         number `json:"elpd"`         // their log predictive density
}

// shownQuantities is the maximum number of quantities shown for a study, unless the user selects
// some.
const shownQuantities = 40

// reportStudy shows the results of the fits of a study, as a page and in the terminal.
func (o *reporting) reportStudy(cmd *cobra.Command, dir string) error {
	w := cmd.OutOrStdout()
	if o.model != "" {
		return usagef("--model is for runs, but %s is a study", dir)
	}
	r, err := study.ReadReport(dir)
	if err != nil {
		return err
	}
	vars := o.rows.vars
	if chosen := chosenBy(vars); chosen != nil {
		all := r.Quantities
		r.Quantities = nil
		for _, q := range all {
			if chosen(q.Name) {
				r.Quantities = append(r.Quantities, q)
			}
		}
		if r.Quantities == nil && len(all) > 0 {
			return usagef("--vars: the study has no quantity %s; the first that it has is %s", vars, all[0].Name)
		}
	}
	title := o.title
	if title == "" {
		title = filepath.Base(dir)
		if path, err := filepath.Abs(dir); err == nil {
			title = filepath.Base(path)
		}
	}
	page := studyPage(r, title)
	switch {
	case o.figures != nil:
		return o.drawFigures(cmd.Context(), cmd, page.Plots())
	case o.json:
		return writeJSON(w, newStudyReport(r))
	case o.embed:
		return page.WriteEmbedded(w)
	case o.out == "-":
		return page.WriteHTML(w)
	default:
		if o.out == "" {
			o.out = filepath.Join(dir, folder.ReportFile)
		}
		if err := writeReport(page.WriteHTML, o.out); err != nil {
			return err
		}
	}
	if err := printStudy(w, r, vars); err != nil {
		return err
	}
	if _, err = fmt.Fprintf(w, "\nReport: %s\n", o.out); err != nil || o.plots == "" {
		return err
	}
	files, err := o.drawPlots(cmd.Context(), cmd.ErrOrStderr(), page.Plots())
	if err != nil {
		return ended(cmd.Context(), cmd.ErrOrStderr(), fmt.Errorf("--plots: %w", err))
	}
	_, err = fmt.Fprintf(w, "Plots: %s\n", filesText(files))
	return err
}

// printStudy prints the results of a study in the terminal.
func printStudy(w io.Writer, r *study.Report, vars string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d without problems, %d with problems, %d failed.\n", count(r.Fits, "fit", "fits"), r.OK, r.Problems, r.Failed)
	if r.Seconds > 0 {
		writeParagraph(&b, "", fmt.Sprintf("A fit took %s (median; 95 %% at most %s), all together %s of processors, %.0f %% of it in sampling.",
			seconds(r.Time.Median), seconds(r.Time.Q95), clockOf(r.Seconds), 100*r.Sampling/r.Seconds), lineWidth(w))
	}
	if len(r.CPUs) > 1 {
		writeParagraph(&b, "", "The processors were not all of one kind: results are the same to the bit within a kind only. "+strings.Join(slices.Sorted(maps.Keys(r.CPUs)), "; ")+".", lineWidth(w))
	}
	if len(r.Findings) > 0 {
		b.WriteString("\n")
		cells := [][]string{{"finding", "fits"}}
		for _, code := range byCount(r.Findings) {
			cells = append(cells, []string{code, fmt.Sprint(r.Findings[code])})
		}
		writeEstimates(&b, w, cells)
	}
	for i, f := range r.Failures {
		if i == shownFailures {
			fmt.Fprintf(&b, "… and %s.\n", count(len(r.Failures)-i, "other reason", "other reasons"))
			break
		}
		writeParagraph(&b, "", fmt.Sprintf("%s failed (the first is %s): %s", count(f.Fits, "fit", "fits"), joinWords(fmt.Sprint("fit ", f.First), f.Data), f.Message), lineWidth(w))
	}
	showQuantities(&b, w, r, vars != "")
	for i, d := range r.Densities {
		if i == 0 {
			b.WriteString("\n")
		}
		writeParagraph(&b, "", fmt.Sprintf("Held out, %s: log predictive density %s of %s.", d.Model, figure(d.ELPD, 1), count(d.Observations, "observation", "observations")), lineWidth(w))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// findingsInWords describes the findings about fits for the page of a study, by code.
var findingsInWords = map[string]string{
	"no-draws": "no draws", "incomplete": "incomplete: interrupted, or chains failed", "few-draws": "too few draws", "stuck-chain": "a chain never moved",
	"divergences": "divergent transitions", "treedepth": "trajectories cut short at the depth limit", "acceptance": "most proposals were rejected",
	"restarts": "too few restarts of chains", "ebfmi": "the energy changes too slowly (E-BFMI)", "undefined": "undefined values", "rhat": "the chains do not agree (R-hat)",
	"ess": "too few effective draws", "one-chain": "only one chain", "shared-start": "all chains began at the same place", "constant": "constant quantities",
	"heavy-tail":       "tails so heavy that a mean may not exist",
	infer.EventRestart: "chains were started again in warm-up", infer.EventDropped: "chains stuck or far from the others", infer.EventUnsettled: "warm-up has not settled",
	infer.EventModes: "several modes", infer.EventLegs: "estimates of log Z disagree",
	"generated": "generated quantities could not be computed", "data": "the data cannot be read", "panic": "a fault of ppl", "lost": "the process ended without a result",
}

// findingWords describes a finding in words, with its code, which results.csv has.
func findingWords(code string) string {
	if words, ok := findingsInWords[code]; ok {
		return words + " [" + code + "]"
	}
	return code
}

// studyPage returns the content of the page of a study.
func studyPage(r *study.Report, title string) *report.Study {
	s := &report.Study{Title: title, Choose: "ppl report --vars", Well: r.Problems+r.Failed == 0, Program: "ppl " + model.Version(), Made: time.Now(), Times: report.Counts{From: r.Times.From, Step: r.Times.Step, N: r.Times.Counts, Above: r.Times.Above}}
	s.Verdict = fmt.Sprintf("%s: %d without problems, %d with problems, %d failed", count(r.Fits, "fit", "fits"), r.OK, r.Problems, r.Failed)
	if r.Seconds > 0 {
		s.Facts = []report.Fact{{Name: "Median time of a fit", Value: seconds(r.Time.Median)}, {Name: "95 % of fits within", Value: seconds(r.Time.Q95)},
			{Name: "Total time", Value: clockOf(r.Seconds)}, {Name: "Share of sampling", Value: fmt.Sprintf("%.0f %%", 100*r.Sampling/r.Seconds)}}
	}
	for _, cpu := range slices.Sorted(maps.Keys(r.CPUs)) {
		s.Facts = append(s.Facts, report.Fact{Name: "Instructions", Value: cpu})
	}
	if len(r.Findings) > 0 {
		t := report.Table{Kind: "findings", Title: "Findings", Columns: []report.Column{{Name: "finding"}, {Name: "fits"}, {Name: "of 100", Decimals: 1}}}
		for _, code := range byCount(r.Findings) {
			n := float64(r.Findings[code])
			t.Rows = append(t.Rows, []any{findingWords(code), report.Number(n), report.Number(100 * n / float64(r.Fits))})
		}
		s.Tables = append(s.Tables, t)
	}
	if len(r.Failures) > 0 {
		t := report.Table{Kind: "failures", Title: "Why fits have failed", Columns: []report.Column{{Name: "reason"}, {Name: "fits"}, {Name: "the first"}, {Name: "its data"}}}
		const shown = 100
		for _, f := range r.Failures[:min(len(r.Failures), shown)] {
			t.Rows = append(t.Rows, []any{f.Message, report.Number(f.Fits), report.Number(f.First), f.Data})
		}
		if more := len(r.Failures) - shown; more > 0 {
			t.Note = fmt.Sprintf("… and %s.", count(more, "other reason", "other reasons"))
		}
		s.Tables = append(s.Tables, t)
	}
	if len(r.Densities) > 0 {
		s.HeldOut = &report.Table{Kind: "held-out", Title: "Log predictive density", Columns: []report.Column{{Name: "model"}, {Name: "observations"}, {Name: "elpd", Decimals: 1}}}
		for _, d := range r.Densities {
			s.HeldOut.Rows = append(s.HeldOut.Rows, []any{d.Model, report.Number(d.Observations), report.Number(d.ELPD)})
		}
	}
	several := slices.ContainsFunc(r.Quantities, func(q study.Quantity) bool { return q.Model != r.Quantities[0].Model })
	counts := func(h study.Histogram) report.Counts {
		return report.Counts{From: h.From, Step: h.Step, N: h.Counts, Above: h.Above}
	}
	for i := range r.Quantities {
		q := &r.Quantities[i]
		model := ""
		if several {
			model = q.Model
		}
		s.Quantities = append(s.Quantities, report.StudyQuantity{Model: model, Name: q.Name, Fits: q.Fits, Rhat: q.Rhat.Median, Rhat95: q.Rhat.Q95, RhatMax: q.Rhat.Max, HighRhat: q.HighRhat,
			Bulk: q.ESSBulk.Median, Bulk5: q.ESSBulk.Q5, Tail: q.ESSTail.Median, Tail5: q.ESSTail.Q5, RhatCounts: counts(q.RhatCounts), BulkESS: counts(q.BulkCounts), TailESS: counts(q.TailCounts),
			Ranked: q.Ranked, Coverage50: q.Coverage50, Coverage90: q.Coverage90, Uniform: q.Uniform, Ranks: q.Ranks[:], RanksLow: q.RanksLow, RanksHigh: q.RanksHigh})
	}
	return s
}

// showQuantities shows R-hat, effective sample sizes, coverage and ranks.
func showQuantities(b *strings.Builder, w io.Writer, r *study.Report, all bool) {
	shownOf := r.Quantities
	if len(shownOf) > shownQuantities && !all {
		shownOf = shownOf[:shownQuantities]
	}
	head := []string{"", "fits", "R-hat", "95 %", "max", "> 1.01", "ESS bulk", "5 %", "ESS tail", "5 %"}
	ranked := slices.ContainsFunc(shownOf, func(q study.Quantity) bool { return q.Ranked > 0 })
	if ranked {
		head = append(head, "in 50 %", "in 90 %", "p", "ranks")
	}
	model := ""
	var cells [][]string
	flush := func() {
		if len(cells) > 1 {
			fmt.Fprintf(b, "\n%s\n", model)
			writeEstimates(b, w, cells)
		}
	}
	for _, q := range shownOf {
		if q.Model != model {
			flush()
			model, cells = q.Model, [][]string{head}
		}
		row := []string{q.Name, fmt.Sprint(q.Fits), fixed(q.Rhat.Median, 3), fixed(q.Rhat.Q95, 3), fixed(q.Rhat.Max, 3), fmt.Sprint(q.HighRhat),
			fixed(q.ESSBulk.Median, 0), fixed(q.ESSBulk.Q5, 0), fixed(q.ESSTail.Median, 0), fixed(q.ESSTail.Q5, 0)}
		if ranked {
			p := "-"
			if !math.IsNaN(q.Uniform) {
				p = fixed(q.Uniform, 3)
			}
			if q.Ranked > 0 {
				row = append(row, fixed(100*q.Coverage50, 1), fixed(100*q.Coverage90, 1), p, histogram(q.Ranks[:]))
			} else {
				row = append(row, "", "", "", "")
			}
		}
		cells = append(cells, row)
	}
	flush()
	if more := len(r.Quantities) - len(shownOf); more > 0 {
		fmt.Fprintf(b, "… and %d more; --vars chooses.\n", more)
	}
}

// histogram returns a line of bars for some counts.
func histogram(counts []int) string {
	most := max(1, slices.Max(counts))
	var b strings.Builder
	for _, n := range counts {
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[min(7, 8*n/(most+1))])
	}
	return b.String()
}

// seconds formats a short time.
func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.3g ms", 1000*s)
	}
	return clockOf(s)
}

// byCount returns the keys in the order of their counts, the largest first.
func byCount(counts map[string]int) []string {
	keys := slices.Collect(maps.Keys(counts))
	sorting.Stable(keys, func(a, b string) int {
		if d := counts[b] - counts[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return keys
}

func newStudyReport(r *study.Report) studyReportJSON {
	j := studyReportJSON{Fits: r.Fits, OK: r.OK, Problems: r.Problems, Failed: r.Failed, Findings: r.Findings, Failures: []studyFailureJSON{}, Quantities: []studyQuantityJSON{}, Densities: []studyDensityJSON{},
		Seconds: number(r.Seconds), Sampling: number(r.Sampling), Time: spreadOf(r.Time), CPUs: r.CPUs}
	for _, f := range r.Failures {
		j.Failures = append(j.Failures, studyFailureJSON(f))
	}
	for _, q := range r.Quantities {
		j.Quantities = append(j.Quantities, studyQuantityJSON{q.Model, q.Name, q.Fits, spreadOf(q.Rhat), q.HighRhat, spreadOf(q.ESSBulk), spreadOf(q.ESSTail),
			q.Ranked, number(q.Coverage50), number(q.Coverage90), q.Ranks[:], number(q.Uniform)})
	}
	for _, d := range r.Densities {
		j.Densities = append(j.Densities, studyDensityJSON{d.Model, d.Observations, number(d.ELPD)})
	}
	return j
}

// joinWords joins the non-empty words with commas.
func joinWords(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}
