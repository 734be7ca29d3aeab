package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile"
)

// explained is what explain prints; a stable format. Times are in nanoseconds per evaluation of log
// density and gradient, and shares are from 0 to 1. Ops are counted by the numbers that they
// compute per evaluation. Lines of the source count from 1; 0 stands for work that belongs to no
// line.
type explained struct {
	NS          number          `json:"ns"`           // nanoseconds per gradient
	MemoryBytes int             `json:"memory_bytes"` // memory of an evaluation without the data
	Lines       []explainedLine `json:"lines"`        // lines of the source by time, longest first
	// blocks of the program, in order of execution
	Blocks []explainedPart `json:"blocks"`
	Loops  explainedLoops  `json:"loops"` // how loops are evaluated
	// faults of ppl, for which slower code evaluates parts of the model
	Faults []string `json:"faults"`
	// groups of effects that the sampler auto can centre
	Effects []explainedSite `json:"effects"`
	Passes  []explainedPass `json:"passes"` // passes of the compiler, in order
	// matrices of data, mostly zero, of which products with vectors leave out the zeros
	Sparse []explainedSparse `json:"sparse"`
	// how integer parameters are summed out, in the order of the sums
	Discrete []explainedSum   `json:"discrete"`
	Counts   []explainedCount `json:"counts"` // the integer parameters without an upper bound
	// text of the program; empty if the log density is interpreted
	Program string `json:"program"`
}

// explainedSparse is a matrix of which products leave out the zeros.
type explainedSparse struct {
	Line    int `json:"line"`    // line of the product, from 1; 0 if it comes from no line
	Rows    int `json:"rows"`    // rows of the matrix
	Columns int `json:"columns"` // columns of the matrix
	Nonzero int `json:"nonzero"` // elements that are not zero
}

// explainedSum is how elements of an integer parameter are summed out.
type explainedSum struct {
	Variable string `json:"variable"` // name of the parameter
	Elements int    `json:"elements"` // elements of it that are summed out in this way
	Sums     int    `json:"sums"`     // different sums among theirs, each of which is computed once; 0: data leave each element one value
	Around   int    `json:"around"`   // other elements that each of these sums depends on
	Terms    int    `json:"terms"`    // terms of the largest of these sums, over all values of the others
	Taken    int    `json:"taken"`    // different sums that are read from others, at values that data leave the elements around
	Total    int    `json:"total"`    // terms of the rest of the different sums
	Chain    bool   `json:"chain"`    // whether a sum needs the one before
	Running  bool   `json:"running"`  // whether running sums add up factors that read the element through comparisons alone
	// elements of the largest of these sums: the one that is summed out, then those that the sum
	// depends on
	Clique []string `json:"clique"`
}

// explainedCount is an integer parameter without an upper bound.
type explainedCount struct {
	Variable string `json:"variable"` // name of the parameter
	Least    int64  `json:"least"`    // first value of the sums
	Last     int64  `json:"last"`     // last value of the sums; at points where more than 1e-12 of the mass is beyond it, they have more
}

type explainedLine struct {
	Line  int    `json:"line"`  // line, from 1; 0 if the code comes from no line
	Text  string `json:"text"`  // text of the line
	NS    number `json:"ns"`    // nanoseconds per gradient
	Share number `json:"share"` // share of the time, from 0 to 1
	Ops   number `json:"ops"`   // numbers computed per gradient
}

type explainedPart struct {
	Title string `json:"title"` // what the block does
	NS    number `json:"ns"`    // nanoseconds per gradient
	Share number `json:"share"` // share of the time, from 0 to 1
	Ops   number `json:"ops"`   // numbers computed per gradient
	Bytes number `json:"bytes"` // memory that the block touches
	Lines []int  `json:"lines"` // lines that it comes from
}

// explainedSite is a group of effects with location and scale.
type explainedSite struct {
	Line    int      `json:"line"`    // line of the statement, from 1
	Density string   `json:"density"` // distribution of the effects
	Centred bool     `json:"centred"` // whether the model is written with centred effects
	Names   []string `json:"names"`   // unconstrained names of the effects
	text    string
}

type explainedLoops struct {
	Laned   int `json:"laned"`   // loops evaluated for all iterations at once
	Scanned int `json:"scanned"` // loops evaluated step by step
	// loops evaluated step by step, with whole variables
	Carried      int             `json:"carried"`
	Iterated     int             `json:"iterated"`     // loops whose length depends on parameters
	Unrolled     int             `json:"unrolled"`     // loops that are unrolled, which is slow
	Conditionals int             `json:"conditionals"` // conditionals that depend on parameters
	Notes        []string        `json:"notes"`        // remarks
	Plans        []explainedPlan `json:"plans"`        // one entry per loop
}

// explainedPlan is how a loop is evaluated.
type explainedPlan struct {
	Line       int                 `json:"line"`       // line of the loop, from 1
	Way        string              `json:"way"`        // how the loop is evaluated
	Iterations int                 `json:"iterations"` // number of iterations
	Lanes      int                 `json:"lanes"`      // iterations evaluated at once
	Parts      []explainedPlanPart `json:"parts"`      // parts of the loop
	Why        []string            `json:"why"`        // why not all iterations are evaluated at once
	text       string
}

type explainedPlanPart struct {
	Way        string   `json:"way"`        // how the loop is evaluated
	Iterations int      `json:"iterations"` // number of iterations
	Lines      []int    `json:"lines"`      // lines of its statements
	Variables  []string `json:"variables"`  // variables that it assigns
}

type explainedPass struct {
	Name       string `json:"name"`        // name of the pass
	Doc        string `json:"doc"`         // what the pass does
	Off        bool   `json:"off"`         // whether the pass is switched off
	OpsBefore  int    `json:"ops_before"`  // operations in the program before it
	OpsAfter   int    `json:"ops_after"`   // operations in the program after it
	WorkBefore number `json:"work_before"` // numbers computed per gradient before it
	WorkAfter  number `json:"work_after"`  // numbers computed per gradient after it
	Blocks     int    `json:"blocks"`      // blocks after it; 0 before there are any
}

// explainTime is how long explain measures.
const explainTime = 300 * time.Millisecond

func explainCommand() *cobra.Command {
	in := pointed{random: 1, anywhere: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "explain MODEL --data FILE",
		Long: `Shows, for one evaluation of the log density with its gradient: the most expensive lines of
the source, how loops were evaluated, the blocks of the compiled program with their times,
what each pass of the compiler did, and the program with the line of each operation. The
cost of a line includes its part of the gradient.

A loop is fast if it is laned, that is if all its iterations are evaluated at once, in vector
lanes. It is scanned if an iteration needs the one before. It is unrolled, which is slow, if
neither is possible; ppl shows the reason.

Integer parameters are summed out of the density one after another. Elements with similar
statements are summed out by one loop; the table shows these loops in order, with the number
of terms.

The times are measured at the first point of a file as for logdensity, or at a
random point. If the log density is finite at none, it is the origin.`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, xs, err := in.load(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := l.slowLoops(cmd.ErrOrStderr()); err != nil {
				return err
			}
			e, err := l.posterior.Compiled().Explain(xs[0], explainTime)
			if err != nil {
				return cmp.Or(in.nowhere, err)
			}
			if in.nowhere != nil {
				printMessage(cmd.ErrOrStderr(), "warning: %v. The figures are those at the origin of the unconstrained space.", in.nowhere)
			}
			effects, err := l.posterior.Compiled().Map()
			if err != nil {
				return err
			}
			var sites []compile.Group
			if effects != nil {
				sites = effects.Groups()
			}
			x := explanation(e, sites)
			for _, d := range l.posterior.Compiled().Discrete() {
				x.Discrete = append(x.Discrete, explainedSum(d))
			}
			for _, c := range l.posterior.Compiled().Cuts() {
				x.Counts = append(x.Counts, explainedCount{c.Name, c.Least, c.Last})
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), x)
			}
			return x.show(cmd.OutOrStdout())
		},
	}
	in.flags(cmd)
	f := declare(cmd)
	f.Bool(&asJSON, "json", false)
	return cmd
}

// text names the elements: those of the largest clique.
func (d *explainedSum) text() string {
	const most = 4 // elements that a sum depends on
	out := ""
	if d.Elements > 1 {
		out = d.Variable
		if d.Chain {
			out += ", one after another"
		}
		out += ", such as "
	}
	if len(d.Clique) == 0 {
		return out
	}
	out += d.Clique[0]
	if given := d.Clique[1:]; len(given) > most {
		out += fmt.Sprintf(" given %s and %d more", strings.Join(given[:most], ", "), len(given)-most)
	} else if len(given) > 0 {
		out += " given " + strings.Join(given, ", ")
	}
	switch {
	case d.Running:
		out += ", by running sums"
	case d.Sums == 0:
		out += ", with one value that fits the data"
	case d.Sums == 1 && d.Elements > 1:
		out += ", all the same sum"
	case d.Sums < d.Elements:
		out += fmt.Sprintf(", %d different sums", d.Sums)
	}
	if d.Taken > 0 && d.Taken == d.Sums {
		out += ", read from other sums"
	} else if d.Taken > 0 {
		out += fmt.Sprintf(", %d of them read from other sums", d.Taken)
	}
	return out
}

func explainedPlans(e *compile.Explanation) []explainedPlan {
	out := []explainedPlan{}
	for _, p := range e.Loops.Plans {
		x := explainedPlan{p.Line, p.Way, p.Iterations, p.Lanes, []explainedPlanPart{}, notNil(p.Why), p.String()}
		for _, part := range p.Parts {
			x.Parts = append(x.Parts, explainedPlanPart{part.Way, part.Iterations, part.Lines, notNil(part.Variables)})
		}
		out = append(out, x)
	}
	return out
}

func explanation(e *compile.Explanation, sites []compile.Group) *explained {
	x := &explained{
		NS: number(e.NS), MemoryBytes: e.Memory, Program: e.Text,
		Loops:   explainedLoops{e.Loops.Laned, e.Loops.Scanned, e.Loops.Carried, e.Loops.Iterated, e.Loops.Unrolled, e.Loops.Ifs, notNil(e.Loops.Notes), explainedPlans(e)},
		Faults:  notNil(e.Loops.Faults),
		Effects: []explainedSite{}, Lines: []explainedLine{}, Blocks: []explainedPart{}, Passes: []explainedPass{}, Discrete: []explainedSum{}, Counts: []explainedCount{}, Sparse: []explainedSparse{},
	}
	for _, s := range sites {
		line := 0
		if s.Span.IsValid() {
			line = s.Span.Begin().Line
		}
		x.Effects = append(x.Effects, explainedSite{line, s.Density, s.Centred, s.Names, s.String()})
	}
	for _, l := range e.Lines {
		x.Lines = append(x.Lines, explainedLine{l.Line, l.Text, number(l.NS), number(l.Share), number(l.Ops)})
	}
	for _, b := range e.Blocks {
		lines := b.Lines
		if lines == nil {
			lines = []int{}
		}
		x.Blocks = append(x.Blocks, explainedPart{b.Title, number(b.NS), number(b.Share), number(b.Ops), number(b.Bytes), lines})
	}
	for _, s := range e.Sparse {
		x.Sparse = append(x.Sparse, explainedSparse{s.Line, s.Rows, s.Columns, s.Nonzero})
	}
	for _, p := range e.Passes {
		x.Passes = append(x.Passes, explainedPass{p.Name, p.Doc, p.Off, p.OpsBefore, p.OpsAfter, number(p.WorkBefore), number(p.WorkAfter), p.BlocksNow})
	}
	return x
}

const (
	explainedLines = 12     // maximum number shown
	sourceWidth    = 70     // for a line of the source if the output is not a terminal
	textMark       = "\x00" // separates the figures of a row from its text, which may be long
)

// show prints the explanation for people.
func (x *explained) show(w io.Writer) error {
	var table strings.Builder
	tab := tabwriter.NewWriter(&table, 0, 8, 2, ' ', tabwriter.AlignRight)
	flush := func() {
		tab.Flush()
		for line := range strings.Lines(table.String()) {
			figures, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), textMark)
			fmt.Fprintln(w, strings.TrimRight(hanging(w, figures, text), " "))
		}
		table.Reset()
	}
	source := sourceWidth
	if width, _, ok := terminalSize(w); ok {
		source = max(20, width-30) // the figures take less
	}
	printMessage(w, "One gradient takes %s, in %s of memory besides the data.", nanoseconds(float64(x.NS)), bytesText(float64(x.MemoryBytes)))

	if len(x.Faults) > 0 {
		printMessage(w, "\nA part of the model could not be compiled as planned (%s). Its results are right, but take longer. %s", strings.Join(x.Faults, "; "), compile.FaultRemedy)
	}

	fmt.Fprintf(w, "\nWhere the time goes, by line of the source\n\n")
	fmt.Fprint(tab, "share\ttime\tops\tline\t \n")
	for i, l := range x.Lines {
		if i == explainedLines {
			fmt.Fprintf(tab, "\t\t\t\t"+textMark+"  and %d more lines\n", len(x.Lines)-i)
			break
		}
		line, text := strconv.Itoa(l.Line), l.Text
		if l.Line == 0 {
			line, text = "", "(from no line: putting the gradient together)"
		}
		fmt.Fprintf(tab, "%.1f%%\t%s\t%s\t%s\t"+textMark+"  %s\n", 100*float64(l.Share), nanoseconds(float64(l.NS)), quantity(float64(l.Ops)), line, clip(text, source))
	}
	flush()

	printMessage(w, "\nHow loops were evaluated\n\n  %d for all iterations at once, %d step by step, %d step by step with whole variables, %d with a length that depends on parameters, %d unrolled;\n  %d conditionals depend on parameters",
		x.Loops.Laned, x.Loops.Scanned, x.Loops.Carried, x.Loops.Iterated, x.Loops.Unrolled, x.Loops.Conditionals)
	for _, n := range x.Loops.Notes {
		if !strings.Contains(n, "interpreted") && !strings.Contains(n, compile.SolvesApart) && len(x.Loops.Plans) > 0 { // the plans say it too
			continue
		}
		printMessage(w, "  %s", n)
	}
	const shown = 30
	for i, p := range x.Loops.Plans {
		if i == shown {
			fmt.Fprintf(w, "  … and %d more loops\n", len(x.Loops.Plans)-shown)
			break
		}
		printMessage(w, "  %s", strings.ReplaceAll(p.text, "\n", "\n  "))
	}

	if len(x.Discrete) > 0 {
		fmt.Fprintf(w, "\nHow integer parameters are summed out, in this order\n\n")
		fmt.Fprint(tab, "terms\telements\tterms each\tgiven\t \n")
		for _, d := range x.Discrete {
			fmt.Fprintf(tab, "%d\t%d\t%d\t%d\t"+textMark+"  %s\n", d.Total, d.Elements, d.Terms, d.Around, d.text())
		}
		flush()
		printMessage(w, "  given: the number of other elements that a sum depends on; its terms are counted for all their values")
	}
	for _, c := range x.Counts {
		printMessage(w, "  %s has no upper bound: it is summed from %d to %d, and further where more than 1e-12 of the mass is beyond", c.Variable, c.Least, c.Last)
	}

	if len(x.Sparse) > 0 {
		fmt.Fprintf(w, "\nProducts that leave out the zeros of data matrices\n\n")
		fmt.Fprint(tab, "rows\tcolumns\tnonzero\t \n")
		for _, s := range x.Sparse {
			fmt.Fprintf(tab, "%d\t%d\t%.2g%%\t"+textMark+"  line %d\n", s.Rows, s.Columns, 100*float64(s.Nonzero)/float64(s.Rows*s.Columns), s.Line)
		}
		flush()
	}

	if len(x.Effects) > 0 {
		fmt.Fprintf(w, "\nGroup-level terms that --sampler auto can centre\n\n")
		for _, s := range x.Effects {
			printMessage(w, "  %s", s.text)
		}
	}

	fmt.Fprintf(w, "\nBlocks, in order\n\n")
	fmt.Fprint(tab, "share\ttime\tops\tmemory\t \n")
	for _, b := range x.Blocks {
		fmt.Fprintf(tab, "%.1f%%\t%s\t%s\t%s\t"+textMark+"  %s%s\n", 100*float64(b.Share), nanoseconds(float64(b.NS)), quantity(float64(b.Ops)), bytesText(float64(b.Bytes)), b.Title, linesText(b.Lines))
	}
	flush()

	if x.Program == "" {
		_, err := fmt.Fprintf(w, "\nThe log density is interpreted: there is no program.\n")
		return err
	}
	fmt.Fprintf(w, "\nWhat the passes did\n\n")
	fmt.Fprint(tab, "ops before\tafter\twork before\tafter\t \n")
	for _, p := range x.Passes {
		name := p.Name
		if p.Off {
			name += " (off)"
		}
		fmt.Fprintf(tab, "%d\t%d\t%s\t%s\t"+textMark+"  %s: %s\n", p.OpsBefore, p.OpsAfter, quantity(float64(p.WorkBefore)), quantity(float64(p.WorkAfter)), name, p.Doc)
	}
	flush()

	_, err := fmt.Fprintf(w, "\nThe program\n\n%s", x.Program)
	return err
}

// clip cuts a text that is longer than width.
func clip(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return text
}

// hanging returns lead and text as one line or, on a terminal, as lines that fit: the text is
// broken between words and stays to the right of lead.
func hanging(w io.Writer, lead, text string) string {
	column := utf8.RuneCountInString(lead)
	trimmed := strings.TrimLeft(text, " ")
	column += len(text) - len(trimmed)
	width, _, ok := terminalSize(w)
	if !ok || column+utf8.RuneCountInString(trimmed) < width {
		return lead + text
	}
	lead += text[:len(text)-len(trimmed)]
	return lead + strings.Join(wrap(trimmed, max(20, width-1-column)), "\n"+strings.Repeat(" ", column))
}

func linesText(lines []int) string {
	if len(lines) == 0 {
		return ""
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = strconv.Itoa(l)
	}
	if len(texts) > 8 {
		texts = append(texts[:8], "…")
	}
	word := ", lines "
	if len(lines) == 1 {
		word = ", line "
	}
	return word + strings.Join(texts, " ")
}

// quantity formats a number with three significant digits.
func quantity(n float64) string {
	switch {
	case n < 1e4:
		return strconv.FormatFloat(n, 'f', 0, 64)
	case n < 1e6:
		return fmt.Sprintf("%.3gk", n/1e3)
	}
	return fmt.Sprintf("%.3gM", n/1e6)
}

func bytesText(n float64) string {
	switch {
	case n < 1e4:
		return fmt.Sprintf("%.0f B", n)
	case n < 1e6:
		return fmt.Sprintf("%.3g KB", n/1e3)
	}
	return fmt.Sprintf("%.3g MB", n/1e6)
}
