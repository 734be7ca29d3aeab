package formula

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// Program is a model that was written from a formula.
type Program struct {
	Text         string
	Coefficients []Coefficient
	Groups       []Group
	Smooths      [][2]string        // parameters: standard deviation, and coefficients
	Centres      map[string]float64 // numbers subtracted from variables, by their text
	Scales       map[string]float64 // numbers by which variables are divided, by their text
	Notes        []string           // remarks for the user

	eta []string // the linear predictors
}

// Options are options of [New].
type Options struct {
	Family      string   // "": gaussian
	Standardise []string // columns to be divided by their standard deviation; "all": all numbers
}

// writer writes a program.
type writer struct {
	Program
	builder
	family     *family
	scale      scale
	divided    []string // the columns of Options.Standardise
	names      map[string]bool
	vectors    map[string]string
	factors    map[string]*block
	counts     map[*column]string // the numbers of levels, as data
	loops      *strings.Replacer  // replaces @N (number of rows), and @n, @k, @i, @j (loop variables)
	renames    [][2]string        // new names of the family's parameters, in pairs
	vectorTerm bool               // some offset is a vector

	tdata, params, tparams, priors, generated []string
}

func (w *writer) td(form string, args ...any) { w.tdata = append(w.tdata, fmt.Sprintf(form, args...)) }
func (w *writer) param(form string, args ...any) {
	w.params = append(w.params, fmt.Sprintf(form, args...))
}
func (w *writer) tp(form string, args ...any) {
	w.tparams = append(w.tparams, fmt.Sprintf(form, args...))
}
func (w *writer) gq(form string, args ...any) {
	w.generated = append(w.generated, fmt.Sprintf(form, args...))
}

func (w *writer) prior(statement, reason string) {
	if reason != "" {
		statement += " // " + plain(reason)
	}
	w.priors = append(w.priors, statement)
}

// fresh returns a name that the program does not have yet.
func (w *writer) fresh(name string) string {
	out := strings.Trim(name, "_")
	for n := 2; w.names[out] || !declarable(out); n++ {
		out = fmt.Sprintf("%s_%d", strings.Trim(name, "_"), n)
	}
	w.names[out] = true
	return out
}

// New writes the program for a formula and a table. The error is an [*Error].
func New(text string, set *data.Set, o Options) (*Program, error) {
	p, err := write(text, set, o)
	if err != nil {
		err.text = text
		if err.Start < err.End { // the parser's ends are where the next token begins
			err.End = err.Start + len(strings.TrimRight(text[err.Start:err.End], " \t\n"))
		}
		return nil, err
	}
	return p, nil
}

func write(text string, set *data.Set, o Options) (*Program, *Error) {
	w, blocks, err := design(text, set, o, 0)
	if err != nil {
		return nil, err
	}
	locals, statements := w.outcome(blocks)
	w.Text = w.loops.Replace(w.assemble(locals, statements))
	for i := range w.eta {
		w.eta[i] = w.loops.Replace(w.eta[i])
	}
	out, list := format.Source(source.NewFile("", w.Text))
	if list.HasErrors() {
		return nil, errorf(place{}, "report this: it is a fault of ppl", "internal error: the program cannot be read: %s", list[0].Summary)
	}
	w.Text = out
	return &w.Program, nil
}

// design reads the formula, and computes the columns of the population's terms. rows is that of
// newTable.
func design(text string, set *data.Set, o Options, rows int) (*writer, []*block, *Error) {
	table, err := newTable(set, rows)
	if err != nil {
		return nil, nil, err
	}
	w := &writer{builder: builder{text: text, table: table}, divided: o.Standardise, names: map[string]bool{}, vectors: map[string]string{}, factors: map[string]*block{}, counts: map[*column]string{}}
	if w.family, err = familyOf(o.Family); err != nil {
		return nil, nil, err
	}
	for _, c := range set.Columns() {
		w.names[c.Name] = true
	}
	var loops []string
	for _, name := range []string{"N", "n", "k", "i", "j"} {
		loops = append(loops, "@"+name, w.fresh(name))
	}
	w.loops = strings.NewReplacer(loops...)
	tree, err := parse(text)
	if err != nil {
		return nil, nil, err
	}
	if err := w.read(tree); err != nil {
		return nil, nil, err
	}
	if a := w.spec.computed; a != nil {
		w.spec.outcome.name = w.fresh(data.ColumnName(a.text()))
		w.td("vector[@N] %s = %s;", w.spec.outcome.name, a.text())
	}
	if err := w.check(); err != nil {
		return nil, nil, err
	}
	y := w.spec.outcome
	y.asInt, y.zero = w.family.kind.integers(), w.family.kind == binary
	w.scale = w.scaleOf()
	var blocks []*block
	if w.family.name == "cumulative" {
		w.spec.terms.intercept = true
	}
	w.Centres = w.centres(&w.spec.terms)
	if err := w.checkDivided(); err != nil {
		return nil, nil, err
	}
	for _, t := range w.spec.terms.list {
		blocks = append(blocks, w.block(&w.spec.terms, t))
	}
	if err := w.checkRank(blocks); err != nil {
		return nil, nil, err
	}
	return w, blocks, nil
}

// familyOf finds a family by its name.
func familyOf(name string) (*family, *Error) {
	if name == "" {
		name = "gaussian"
	}
	list := families()
	key := strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	for _, same := range [][2]string{{"neg_binomial", "negbinomial"}, {"negative_binomial", "negbinomial"}, {"normal", "gaussian"}, {"student_t", "student"}, {"logistic", "bernoulli"}, {"ordinal", "cumulative"}, {"ordered_logistic", "cumulative"}} {
		if key == same[0] {
			key = same[1]
		}
	}
	if i := slices.IndexFunc(list, func(f family) bool { return f.name == key }); i >= 0 {
		return &list[i], nil
	}
	names, _ := Families()
	fix := "the families are " + strings.Join(names, ", ")
	if near := diag.Nearest(key, slices.Values(names)); near != "" {
		fix = "did you mean " + near + "? The" + fix[3:]
	}
	e := errorf(place{}, fix, "there is no family %s", name)
	return nil, e
}

// check returns an error if the family does not fit the formula.
func (w *writer) check() *Error {
	f := w.family
	if err := w.checkOutcome(); err != nil {
		return err
	}
	switch {
	case f.kind == trialsKind && w.spec.trials == nil:
		return errorf(w.spec.outcomeAt, "write "+w.spec.outcome.name+" | trials(n) ~ …, where n is a column or a number", "%s needs the number of trials", f.name)
	case f.kind != trialsKind && w.spec.trials != nil:
		return errorf(w.spec.trials.at, "choose binomial or beta_binomial", "%s has no trials", f.name)
	case w.spec.censored != nil && !f.censor:
		return errorf(w.spec.censored.at, "choose gaussian, student, lognormal, gamma or weibull", "%s cannot have censored outcomes here", f.name)
	}
	if c := w.spec.censored; c != nil {
		if err := w.checkCensored(c); err != nil {
			return err
		}
		w.doubtCensored(c)
	}
	return nil
}

// eventWords are words in names of columns where 1 means that the event happened, and
// censoredWords those where it means that it did not.
var (
	eventWords    = []string{"event", "events", "fail", "failed", "failure", "died", "dead", "death", "deceased", "relapse", "relapsed", "occurred", "observed", "uncensored", "recovered", "cured", "churned", "broke", "broken"}
	censoredWords = []string{"cens", "censor", "censored", "censoring", "alive", "survived"}
)

// doubtCensored adds a note if the name of the column says the opposite of what its use does.
func (w *writer) doubtCensored(c *arith) {
	says := func(name string, list []string) bool {
		words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(list, word) })
	}
	col := c.column
	if col == nil {
		if name := c.kids[1].column.name; says(name, censoredWords) && !says(name, eventWords) {
			w.Notes = append(w.Notes, fmt.Sprintf("cens(1 - %s) takes 1 in %s for an event, but the name suggests that 1 is a censored row. If it is, write cens(%s)", name, name, name))
		}
		return
	}
	if !says(col.name, eventWords) || says(col.name, censoredWords) {
		return
	}
	for _, l := range col.levels {
		switch strings.ToLower(l) {
		case "yes", "true":
			w.Notes = append(w.Notes, fmt.Sprintf("cens(%s) takes %s for a censored row, but the name suggests that it is an event. If it is, write 1 for events and 0 for censored rows in the table, and cens(1 - %s)", col.name, l, col.name))
			return
		}
	}
	if col.levels == nil && slices.Contains(col.values, 1) {
		w.Notes = append(w.Notes, fmt.Sprintf("cens(%s) takes 1 for a censored row, but the name suggests that 1 is an event. If it is, write cens(1 - %s)", col.name, col.name))
	}
}

// checkCensored returns an error if a column cannot indicate which rows are censored.
func (w *writer) checkCensored(c *arith) *Error {
	col := c.column
	if col == nil {
		col = c.kids[1].column
	}
	if col.levels != nil {
		for _, l := range col.levels {
			if censorCode(l) == "" || c.column == nil {
				return errorf(c.at, "write left, none, right, or no and yes, or alive and dead", "%s is %s in the table, which does not say whether a row is censored", col.name, l)
			}
		}
		return nil
	}
	for i, x := range col.values {
		if x != 0 && x != 1 && (x != -1 || c.column == nil) {
			return errorf(c.at, "write 0 for observed, 1 for censored from above, -1 from below", "%s is %s in row %d", col.name, short(x), i+1)
		}
	}
	return nil
}

// censorCode returns the code for a word in a column about censoring.
func censorCode(word string) string {
	switch strings.ToLower(word) {
	case "none", "no", "false", "observed", "event", "dead", "died", "deceased":
		return "0"
	case "right", "yes", "true", "censored", "alive":
		return "1"
	case "left":
		return "-1"
	}
	return ""
}

// outcome writes the statement about the outcome. locals are declarations of the linear predictors.
func (w *writer) outcome(blocks []*block) (locals, statements []string) {
	f, y := w.family, w.spec.outcome
	if f.name == "categorical" {
		labels := y.levels
		if labels == nil {
			for k := 1; k <= int(slices.Max(y.values)); k++ {
				labels = append(labels, fmt.Sprint(k))
			}
		}
		names := []string{"0"}
		for _, l := range labels[1:] {
			name := w.fresh("eta" + suffix(l))
			sum := w.predictor(blocks, suffix(l))
			w.eta = append(w.eta, sum)
			locals = append(locals, fmt.Sprintf("vector[@N] %s = %s; // log odds of %s against %s", name, sum, plain(l), plain(labels[0])))
			names = append(names, name+"[@n]")
		}
		return locals, []string{fmt.Sprintf("for (@n in 1:@N) {\n%s[@n] ~ categorical_logit([%s]');\n}", y.name, strings.Join(names, ", "))}
	}
	eta := "eta"
	if f.link == identity {
		eta = "mu"
	}
	if len(blocks)+len(w.spec.groups)+len(w.spec.smooths) == 0 {
		w.vectorTerm = slices.ContainsFunc(w.spec.offsets, (*arith).vector)
	}
	w.eta = []string{w.predictor(blocks, "")}
	eta = w.fresh(eta)
	locals = append(locals, fmt.Sprintf("vector[@N] %s = %s;", eta, w.eta[0]))
	if f.name == "cumulative" {
		k := len(y.levels)
		if k == 0 {
			k = int(slices.Max(y.values))
		} else {
			w.Notes = append(w.Notes, fmt.Sprintf("the order of %s is that of the alphabet: %s. If this is wrong, number the levels in the table, as in 1 low, 2 high", y.name, strings.Join(y.levels, " < ")))
		}
		cutpoints := w.own("cutpoints")
		w.param("ordered[%d] "+cutpoints+"; // between neighbouring levels of %s, on the scale of log odds", k-1, y.name)
		w.prior(cutpoints+" ~ normal(0, 2.5);", "any level may be rare or frequent")
	}
	for _, p := range f.params {
		name := w.own(p.name)
		w.param("%s %s;", p.declared, name)
		r := strings.NewReplacer("$rate", "1 / "+decimal(digits(w.scale.sd, 2)), "$sd", digits(w.scale.sd, 2), "$y", y.name)
		if f.logs {
			r = strings.NewReplacer("$rate", "1 / "+decimal(digits(w.scale.sd, 2)), "$sd", digits(w.scale.sd, 2), "$y", "log "+y.name)
		}
		w.prior(fmt.Sprintf("%s ~ %s;", name, r.Replace(p.prior)), r.Replace(p.comment))
	}
	loop := f.custom != nil || w.spec.censored != nil
	row := ""
	if loop {
		row = "[@n]"
	}
	trials := ""
	if t := w.spec.trials; t != nil {
		if trials = t.text(); t.column != nil {
			trials = t.column.name + row
		}
	}
	dist := f.dist
	var args []string
	for _, a := range f.args {
		args = append(args, strings.NewReplacer("$eta", eta+row, "$trials", trials).Replace(w.renamed(a)))
	}
	statement := fmt.Sprintf("%s%s ~ %s(%s);", y.name, row, dist, strings.Join(args, ", "))
	if w.spec.censored != nil {
		how := w.censored() + "[@n]"
		beyond := func(function string) string {
			return fmt.Sprintf("target += %s_%s(%s%s | %s);\n", dist, function, y.name, row, strings.Join(args, ", "))
		}
		text := "if (" + how + " == 1) {\n" + beyond("lccdf") + "} else "
		if w.spec.censored.column != nil { // 1 - event is never -1
			text += "if (" + how + " == -1) {\n" + beyond("lcdf") + "} else "
		}
		statement = text + "{\n" + statement + "\n}"
	}
	if loop {
		statement = "for (@n in 1:@N) {\n" + statement + "\n}"
	}
	return locals, []string{statement}
}

// own returns the name of a family's parameter in the program. It differs from the name in the
// family if a column has that name.
func (w *writer) own(name string) string {
	if w.names[name] {
		w.renames = append(w.renames, [2]string{name, w.fresh(name)})
		return w.renames[len(w.renames)-1][1]
	}
	return w.fresh(name)
}

// renamed returns an argument of the family's distribution with the names of its parameters.
func (w *writer) renamed(arg string) string {
	for _, r := range w.renames {
		arg = regexp.MustCompile(`\b`+r[0]+`\b`).ReplaceAllLiteralString(arg, r[1])
	}
	return arg
}

// censored returns the variable that indicates how each row is censored: -1, 0 or 1.
func (w *writer) censored() string {
	c := w.spec.censored
	col := c.column
	if col != nil && col.levels == nil {
		return col.name
	}
	name := w.fresh("censored")
	value := ""
	if col == nil {
		value = "1 - " + c.kids[1].column.name + "[@n]"
	} else {
		for i, l := range col.levels {
			switch censorCode(l) {
			case "1":
				value += fmt.Sprintf(" + (%s[@n] == %d)", col.name, i+1)
			case "-1":
				value += fmt.Sprintf(" - (%s[@n] == %d)", col.name, i+1)
			}
		}
		value = strings.TrimPrefix(value, " + ")
	}
	w.td("array[@N] int %s; // 1: the outcome is above %s; 0: it is %s", name, w.spec.outcome.name, w.spec.outcome.name)
	w.td("for (@n in 1:@N) {\n%s[@n] = %s;\n}", name, value)
	return name
}

// declaration declares a column as data.
func (w *writer) declaration(c *column) string {
	typ := "vector[@N]"
	k := w.family.kind
	if c.asInt {
		lower, upper := "", ""
		switch {
		case c == w.spec.outcome:
			lower = map[kind]string{binary: "0", countKind: "0", trialsKind: "0", categoryKind: "1"}[k]
			if k == binary {
				upper = "1"
			} else if k == categoryKind {
				upper = fmt.Sprint(max(len(c.levels), int(slices.Max(c.values))))
			}
		case w.counts[c] != "":
			lower, upper = "1", w.counts[c]
		case c.levels != nil:
			lower, upper = "1", fmt.Sprint(len(c.levels))
		case w.grouping(c):
			lower, upper = "1", short(slices.Max(c.values))
		case w.spec.trials != nil && w.spec.trials.column == c:
			lower = "0"
		}
		var bounds []string
		if lower != "" {
			bounds = append(bounds, "lower="+lower)
		}
		if upper != "" {
			bounds = append(bounds, "upper="+upper)
		}
		typ = "array[@N] int"
		if len(bounds) > 0 {
			typ += "<" + strings.Join(bounds, ", ") + ">"
		}
	} else if c == w.spec.outcome {
		typ = map[kind]string{positive: "vector<lower=0>[@N]", nonNegative: "vector<lower=0>[@N]", unit: "vector<lower=0, upper=1>[@N]", unitOrZero: "vector<lower=0, upper=1>[@N]"}[k]
		if typ == "" {
			typ = "vector[@N]"
		}
	}
	return fmt.Sprintf("%s %s; // %s", typ, c.name, c.comment())
}

// grouping reports whether a column defines groups.
func (w *writer) grouping(c *column) bool {
	return slices.ContainsFunc(w.spec.groups, func(g *group) bool { return slices.Contains(g.by, c) })
}

// assemble puts the blocks of the program together.
func (w *writer) assemble(locals, statements []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n// Family: %s, %s.\n", plain(strings.Join(strings.Fields(w.text), " ")), w.family.name, w.family.about)
	fmt.Fprintf(&b, "// Coefficients are on the scale of %s.", map[link]string{identity: "the outcome", logLink: "the logarithm of the mean", logit: "log odds"}[w.family.link])
	if slices.ContainsFunc(slices.Collect(maps.Values(w.Centres)), func(c float64) bool { return c != 0 }) {
		b.WriteString(" Predictors are centred, so that the\n// intercept is about an average row.")
	}
	b.WriteString("\n")
	if f := w.family; f.custom != nil {
		b.WriteString("functions {\n" + f.custom.functions(f.dist) + "}\n")
	}
	b.WriteString("data {\nint<lower=0> @N; // rows\n")
	for _, c := range w.table.used {
		if name := w.counts[c]; name != "" {
			fmt.Fprintf(&b, "int<lower=1> %s; // levels of %s\n", name, c.name)
		}
	}
	for _, c := range w.table.used {
		b.WriteString(w.declaration(c) + "\n")
	}
	b.WriteString("}\n")
	for _, block := range []struct {
		name  string
		lines []string
	}{{"transformed data", w.tdata}, {"parameters", w.params}, {"transformed parameters", w.tparams},
		{"model", slices.Concat(locals, []string{"// Priors"}, w.priors, []string{"// The outcome"}, statements)}, {"generated quantities", w.generated}} {
		if len(block.lines) > 0 || block.name == "parameters" {
			b.WriteString(block.name + " {\n" + strings.Join(block.lines, "\n") + "\n}\n")
		}
	}
	return b.String()
}
