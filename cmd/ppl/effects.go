package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// effectOptions has the options of the command effects.
type effectOptions struct {
	quantityOptions
	model, show, compare, pairs, outcome string
	of, by, at                           []string
	step                                 float64
	link, rank                           bool
}

// effectsJSON is what effects prints with --json; a stable format.
type effectsJSON struct {
	Method      string          `json:"method"`      // always effects
	Outcome     string          `json:"outcome"`     // variable whose expected value is shown
	Scale       string          `json:"scale"`       // response, or link for the linear predictor
	Show        string          `json:"show"`        // predictions, comparisons or slopes
	Compare     string          `json:"compare"`     // difference, ratio, odds or lift
	Percentiles []float64       `json:"percentiles"` // percentages of the values in quantiles
	Effects     []effectJSON    `json:"effects"`     // one entry per quantity
	Ranks       []levelRankJSON `json:"ranks"`       // with --rank, one entry per level
	Draws       int             `json:"draws"`       // number of draws
	Failed      int             `json:"failed"`      // draws at which nothing could be computed
	Notes       []string        `json:"notes"`       // what could not be derived, and why
}

type effectJSON struct {
	Term      string        `json:"term"`      // variable that changes; empty for predictions without one
	From      string        `json:"from"`      // level that is compared with; empty for numbers
	To        string        `json:"to"`        // level, or the step of a number
	By        []settingJSON `json:"by"`        // group of rows
	At        []settingJSON `json:"at"`        // values that all rows have
	Category  int           `json:"category"`  // category of the outcome, from 1; 0 if it has none
	Mean      number        `json:"mean"`      // posterior mean
	SD        number        `json:"sd"`        // posterior standard deviation
	Quantiles []number      `json:"quantiles"` // posterior quantiles at percentiles
	// probability of more than no effect: above 0, of ratios above 1; null for predictions
	Positive *number `json:"positive"`
}

type levelRankJSON struct {
	Term          string        `json:"term"`          // variable
	Level         string        `json:"level"`         // one of its levels
	By            []settingJSON `json:"by"`            // group of rows
	At            []settingJSON `json:"at"`            // values that all rows have
	Category      int           `json:"category"`      // category of the outcome, from 1; 0 if it has none
	Mean          number        `json:"mean"`          // posterior mean of the rank; 1 is the highest expected outcome
	Probabilities []number      `json:"probabilities"` // probabilities of the ranks from 1
}

type settingJSON struct {
	Name  string `json:"name"`  // variable of the data
	Value string `json:"value"` // its level, or number
}

func effectsCommand() *cobra.Command {
	var o effectOptions
	cmd := &cobra.Command{
		Use: "effects DIR",
		Long: `Shows how the expected outcome depends on variables of the data, at the draws of a run. The
names are those of R's package marginaleffects:

  predictions  average expected outcomes, for each level of the variables of --of
  comparisons  what a step of a number, or another level of a factor, changes
  slopes       derivatives with respect to a number

Every quantity is computed from averages over the rows. One variable gets other values, and
all others stay as observed. --at sets some of them to values, and --by averages over groups
of rows. Ratios are ratios of averages. The rows are those of the run, or of --data. The
expected outcome is that of ppl predict --expected.

Factors are variables that the model uses as an index, columns with levels, and zeros
and ones; other variables are numbers.`,
		Example: `  ppl effects fit --of age --step 10
  ppl effects fit --of sex --by hospital --compare odds
  ppl effects fit --of age --show slopes --at age=50,70
  ppl effects fit --of hospital --rank`,
		Args: arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := declare(cmd)
	f.List(&o.of, "of", nil)
	f.List(&o.by, "by", nil)
	f.Strings(&o.at, "at", nil)
	f.String(&o.show, "show", "")
	f.String(&o.compare, "compare", "difference")
	f.String(&o.pairs, "pairs", "reference")
	f.Float64(&o.step, "step", 1)
	f.String(&o.outcome, "outcome", "")
	f.Bool(&o.link, "link", false)
	f.Bool(&o.rank, "rank", false)
	f.String(&o.model, "model", "")
	o.input.flags(cmd)
	f.Numbers(&o.rows.percentiles, "percentiles", []float64{5, 50, 95})
	f.Int(&o.parallel, "parallel", 0)
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.json, "json", false)
	return cmd
}

// check validates the options, and chooses what is shown.
func (o *effectOptions) check() error {
	for _, c := range []struct {
		flag, value string
		of          []string
	}{
		{"show", o.show, []string{"", "predictions", "comparisons", "slopes"}},
		{"compare", o.compare, []string{"difference", "ratio", "odds", "lift"}},
		{"pairs", o.pairs, []string{"reference", "sequential", "pairwise"}},
	} {
		if !slices.Contains(c.of, c.value) {
			return usagef("--%s can be %s, but is %q", c.flag, strings.TrimPrefix(strings.Join(c.of, ", "), ", "), c.value)
		}
	}
	if o.show == "" {
		o.show = "comparisons"
		if len(o.of) == 0 {
			o.show = "predictions"
		}
	}
	switch {
	case len(o.of) == 0 && o.show != "predictions":
		return usagef("--show %s needs --of: the variables that change", o.show)
	case len(o.of) == 0 && o.rank:
		return usagef("--rank needs --of: the variable whose levels are ranked")
	case o.step == 0 || math.IsNaN(o.step) || math.IsInf(o.step, 0):
		return usagef("--step is by how much a number increases, and must not be %v", o.step)
	case o.link && (o.compare == "odds" || o.compare == "lift" || o.compare == "ratio"):
		return usagef("--compare %s is of expected outcomes, and not of linear predictors: leave out --link", o.compare)
	}
	return o.rows.check()
}

// setting reads a setting DATA=VALUES.
func setting(text string, values *data.Set, fitted *data.Set) (assess.At, error) {
	name, list, ok := strings.Cut(text, "=")
	if !ok || name == "" || list == "" {
		return assess.At{}, usagef("--at has the form DATA=VALUES, such as age=50,60, but is %q", text)
	}
	at := assess.At{Name: name}
	levels, first := values.Factor(name)
	if levels == nil && fitted != nil {
		levels, first = fitted.Factor(name)
	}
	for word := range strings.SplitSeq(list, ",") {
		x, err := strconv.ParseFloat(word, 64)
		column, known := values.Get(name)
		switch i := slices.Index(levels, word); {
		case i >= 0:
			x = float64(i + first)
		case levels != nil:
			return at, usagef("%s has no level %q; its levels are %s", name, word, strings.Join(levels, ", "))
		case word == "mean" && known:
			x = 0
			for _, v := range column.Reals {
				x += v / float64(len(column.Reals))
			}
		case err != nil:
			return at, usagef("--at %s: %q is no number", text, word)
		}
		at.Values = append(at.Values, x)
	}
	return at, nil
}

func (o *effectOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	f, _, values, err := o.fitWithData(cmd, args, o.model)
	if err != nil {
		return err
	}
	options := assess.EffectOptions{
		Kind: assess.EffectKind(o.show), Of: o.of, By: o.by, Contrast: assess.Contrast(o.compare), Pairing: assess.Pairing(o.pairs),
		Step: o.step, Outcome: o.outcome, Link: o.link, Ranks: o.rank, Data: values, Seed: 1, Parallel: o.parallel,
	}
	fitted, _ := f.Data()
	for _, text := range o.at {
		at, err := setting(text, values, fitted)
		if err != nil {
			return err
		}
		options.At = append(options.At, at)
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	e, err := assess.EffectsOf(ctx, f, options)
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), otherMeaning(underivable(err, "expected values")))
	}
	var notes []string
	for _, l := range e.Left {
		notes = append(notes, fmt.Sprintf("no expected values from %s.", l))
	}
	notes = append(notes, keptNotes(e.Kept)...)
	for _, reason := range e.Observed {
		notes = append(notes, fmt.Sprintf("The expected values are those given the observed values of %s: %s.", e.Outcome, reason))
	}
	if e.Failed > 0 {
		notes = append(notes, fmt.Sprintf("At %s nothing could be computed; figures are NaN.", count(e.Failed, "draw", "draws")))
	}
	if o.json {
		return writeJSON(cmd.OutOrStdout(), o.asJSON(e, notes))
	}
	w := cmd.OutOrStdout()
	var b strings.Builder
	if !o.rank || o.show == "predictions" {
		cells, texts := o.table(e)
		writeLabelled(&b, w, cells, texts)
	}
	if o.rank {
		cells, texts := o.rankTable(e)
		writeLabelled(&b, w, cells, texts)
	}
	if !o.quiet {
		for _, n := range append([]string{o.about(e)}, notes...) {
			writeParagraph(&b, "", n, lineWidth(w))
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// about returns a sentence that says what the figures are.
func (o *effectOptions) about(e *assess.Effects) string {
	what := "Expected " + e.Outcome
	switch {
	case o.link:
		what = "Linear predictor of " + e.Outcome
	case e.Categories:
		what = "Probabilities of the categories of " + e.Outcome
	}
	how := map[string]string{"difference": "differences", "ratio": "ratios", "odds": "ratios of odds", "lift": "relative differences"}[o.compare]
	switch {
	case o.rank:
		what += ": ranks of levels, 1 for the highest"
	case o.show == "slopes":
		what += ": slopes"
	case o.show == "comparisons":
		what += ": " + how
	}
	others := "all other variables as observed"
	if len(o.at) > 0 {
		others = "in all rows, variables of --at have the values set, and all others are as observed"
	}
	return what + ", averaged over the rows of the data; " + others + "."
}

// labelsOf returns the texts that identify an effect.
func labelsOf(term string, by, at []assess.Setting, category int, what string) []string {
	out := []string{strings.TrimSpace(term + " " + what)}
	for _, s := range slices.Concat(by, at) {
		out = append(out, s.Label)
	}
	if category > 0 {
		out = append(out, strconv.Itoa(category))
	}
	return out
}

// heads returns the titles of the columns of labels.
func heads(by, at []assess.Setting, category int) []string {
	out := []string{""}
	for _, s := range slices.Concat(by, at) {
		out = append(out, s.Name)
	}
	if category > 0 {
		out = append(out, "category")
	}
	return out
}

// what returns a text for the change that an effect is about.
func (o *effectOptions) what(r assess.Effect) string {
	switch {
	case r.Level != nil:
		return r.Level.Label
	case r.From != nil:
		return r.To.Label + map[string]string{"difference": " - ", "ratio": " / ", "odds": " / ", "lift": " - "}[o.compare] + r.From.Label
	case r.To != nil:
		return r.To.Label
	}
	return ""
}

// table returns the cells of a table with a line for each effect. The first columns are labels;
// texts is their number.
func (o *effectOptions) table(e *assess.Effects) (cells [][]string, texts int) {
	if len(e.Rows) == 0 {
		return [][]string{{""}}, 1
	}
	head := heads(e.Rows[0].By, e.Rows[0].At, e.Rows[0].Category)
	texts = len(head)
	head = append(head, "mean", "sd")
	for _, p := range o.rows.percentiles {
		head = append(head, strconv.FormatFloat(p, 'g', -1, 64)+"%")
	}
	compared := o.show != "predictions"
	if compared {
		head = append(head, fmt.Sprintf("P(>%v)", o.none()))
	}
	cells = [][]string{head}
	for _, r := range e.Rows {
		s := o.figures(r)
		row := labelsOf(r.Term, r.By, r.At, r.Category, o.what(r))
		decimals := decimals(diagnose.Row{SD: float64(s.SD), MCSEMean: float64(s.SD) / 50})
		for _, v := range slices.Concat([]number{s.Mean, s.SD}, s.Quantiles) {
			row = append(row, figure(float64(v), decimals))
		}
		if compared {
			row = append(row, fixed(float64(*s.Positive), 3))
		}
		cells = append(cells, row)
	}
	return cells, texts
}

// rankTable returns the cells of a table with a line for each level. The first columns are labels;
// texts is their number.
func (o *effectOptions) rankTable(e *assess.Effects) (cells [][]string, texts int) {
	first := e.Ranks[0]
	head := heads(first.By, first.At, first.Category)
	texts = len(head)
	head = append(head, "mean rank")
	longest := 0
	for _, r := range e.Ranks {
		longest = max(longest, len(r.Probabilities))
	}
	for k := range longest {
		head = append(head, strconv.Itoa(k+1))
	}
	cells = [][]string{head}
	for _, r := range e.Ranks {
		row := append(labelsOf(r.Term, r.By, r.At, r.Category, r.Level.Label), fixed(r.Mean, 2))
		for k := range longest {
			text := ""
			if k < len(r.Probabilities) {
				text = fixed(r.Probabilities[k], 3)
			}
			row = append(row, text)
		}
		cells = append(cells, row)
	}
	return cells, texts
}

// none returns the value that means no difference: 1 for ratios, otherwise 0.
func (o *effectOptions) none() float64 {
	if o.show == "comparisons" && (o.compare == "ratio" || o.compare == "odds") {
		return 1
	}
	return 0
}

// figures summarises the draws of an effect.
func (o *effectOptions) figures(r assess.Effect) effectJSON {
	j := effectJSON{Term: r.Term, By: settingsJSON(r.By), At: settingsJSON(r.At), Category: r.Category, Quantiles: []number{}}
	if r.Level != nil {
		j.To = r.Level.Label
	}
	if r.From != nil {
		j.From = r.From.Label
	}
	if r.To != nil {
		j.To = r.To.Label
	}
	probabilities := make([]float64, len(o.rows.percentiles))
	for i, p := range o.rows.percentiles {
		probabilities[i] = p / 100
	}
	sum := r.Summary(o.none(), probabilities...)
	j.Mean, j.SD = number(sum.Mean), number(sum.SD)
	for _, q := range sum.Quantiles {
		j.Quantiles = append(j.Quantiles, number(q))
	}
	if o.show != "predictions" {
		above := number(sum.Above)
		j.Positive = &above
	}
	return j
}

func settingsJSON(all []assess.Setting) []settingJSON {
	out := []settingJSON{}
	for _, s := range all {
		out = append(out, settingJSON{s.Name, s.Label})
	}
	return out
}

// asJSON returns the result in the form for --json.
func (o *effectOptions) asJSON(e *assess.Effects, notes []string) effectsJSON {
	scale := "response"
	if o.link {
		scale = "link"
	}
	out := effectsJSON{Method: "effects", Outcome: e.Outcome, Scale: scale, Show: o.show, Compare: o.compare, Percentiles: o.rows.percentiles,
		Effects: []effectJSON{}, Ranks: []levelRankJSON{}, Draws: e.Draws, Failed: e.Failed, Notes: append([]string{}, notes...)}
	for _, r := range e.Rows {
		out.Effects = append(out.Effects, o.figures(r))
	}
	for _, r := range e.Ranks {
		j := levelRankJSON{Term: r.Term, Level: r.Level.Label, By: settingsJSON(r.By), At: settingsJSON(r.At), Category: r.Category, Mean: number(r.Mean)}
		for _, p := range r.Probabilities {
			j.Probabilities = append(j.Probabilities, number(p))
		}
		out.Ranks = append(out.Ranks, j)
	}
	return out
}
