package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/internal/files"
)

// stateOptions has the options of the command states.
type stateOptions struct {
	criticised
	vars      string
	pointwise string
	out       string
	overwrite bool
	parallel  int
	quiet     bool
	json      bool
}

// statesJSON is what states prints with --json; a stable format.
type statesJSON struct {
	Method string      `json:"method"` // always states
	States []stateJSON `json:"states"` // one entry per element of a discrete parameter
	Draws  int         `json:"draws"`  // number of draws that were used
	Failed int         `json:"failed"` // draws at which nothing could be computed
	// draws at which the configuration of all members jointly is the most likely one
	MostLikely int      `json:"most_likely_draws"`
	Files      []string `json:"files"` // files written, with --out
}

type stateJSON struct {
	Name          string   `json:"name"`             // name of the element
	Best          int      `json:"best"`             // its most probable value
	Jointly       int      `json:"jointly"`          // its value in the most likely configuration of all elements
	Values        []int    `json:"values"`           // values between its bounds
	Probabilities []number `json:"probabilities"`    // posterior probability of each value
	Labels        []string `json:"labels,omitempty"` // the label of each value, if they have labels
}

func statesCommand() *cobra.Command {
	var o stateOptions
	cmd := &cobra.Command{
		Use: "states DIR",
		Long: `Shows the posterior probabilities of the values of discrete parameters: integers in the
parameters block, such as classes, hidden states or change points.

At each draw of the run, the probabilities given the other parameters are computed exactly.
The averages over draws are shown. They are more precise than the shares of values among
the draws, which ppl summary shows.

Column best has the most probable value of each element. Column jointly has the most likely
configuration of all elements together (in a hidden Markov model, the path of the Viterbi
algorithm): of those that are the most likely ones at single draws, the most frequent.

--out writes the probabilities at each draw, z_probability[n,k] for the k-th value of z[n],
counted from its lower bound, and the most likely configuration at each draw, z_mode[n].
ppl summary and ppl convert read this folder.`,
		Example: `  ppl states fit
  ppl states fit --vars z[1:10] --json
  ppl states fit --pointwise states.csv
  ppl states fit --out probabilities && ppl summary probabilities`,
		Args: arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := declare(cmd)
	f.String(&o.vars, "vars", "")
	f.String(&o.pointwise, "pointwise", "")
	f.String(&o.out, "out", "")
	f.Bool(&o.overwrite, "overwrite", false)
	f.Int(&o.parallel, "parallel", 0)
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.json, "json", false)
	o.criticised.flags(cmd)
	return cmd
}

func (o *stateOptions) run(cmd *cobra.Command, args []string) error {
	f, err := o.criticised.read(cmd, args)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	s, err := assess.StatesOf(ctx, f, o.parallel)
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), err)
	}
	var names []string
	for _, e := range s.Elements {
		names = append(names, e.Name)
	}
	chosen, err := chosenNames(o.vars, names, f.VariableFactors)
	if err != nil {
		return err
	}
	s.Elements = slices.DeleteFunc(s.Elements, func(e assess.State) bool { return !chosen(e.Name) })
	if o.pointwise != "" {
		if err := files.Save(o.pointwise, statesCSV(s)); err != nil {
			return fmt.Errorf("--pointwise: %w", err)
		}
	}
	written := []string{}
	if o.out != "" {
		if written, err = o.write(ctx, f, args); err != nil {
			return ended(ctx, cmd.ErrOrStderr(), err)
		}
	}
	if o.json {
		return writeJSON(cmd.OutOrStdout(), newStatesJSON(s, written))
	}
	return o.show(cmd.OutOrStdout(), f, s, written)
}

// write writes the probabilities at each draw to the folder of --out.
func (o *stateOptions) write(ctx context.Context, f *fit.Fit, args []string) ([]string, error) {
	g, err := assess.StatesAt(ctx, f, o.parallel)
	if err != nil {
		return nil, err
	}
	m, err := f.Model()
	if err != nil {
		return nil, err
	}
	name := folder.BaseName(m.Name()) + "_states"
	old, err := replaceFiles(o.out, escapedGlob(name)+"_[0-9]*.csv", o.overwrite)
	if err != nil {
		return nil, err
	}
	g.From = fromFolder(o.out, o.criticised.run(args[0]))
	written, err := g.WriteCSV(filepath.Join(o.out, name), name, 0)
	if err != nil {
		return nil, err
	}
	return written, old(written)
}

func newStatesJSON(s *assess.States, written []string) statesJSON {
	out := statesJSON{Method: "states", States: []stateJSON{}, Draws: s.Draws, Failed: s.Failed, MostLikely: s.MostLikely, Files: written}
	for _, e := range s.Elements {
		best, _ := e.Best()
		j := stateJSON{Name: e.Name, Best: best, Jointly: e.Jointly, Values: []int{}, Probabilities: numbersOf(e.Probability), Labels: e.Levels}
		for i := range e.Probability {
			j.Values = append(j.Values, e.Least+i)
		}
		out.States = append(out.States, j)
	}
	return out
}

// statesCSV has a line for each value of each element. The label is empty if the value has none.
func statesCSV(s *assess.States) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"element", "value", "probability", "label"})
	for _, e := range s.Elements {
		for i, p := range e.Probability {
			label := ""
			if len(e.Levels) > 0 {
				label = e.Label(e.Least + i)
			}
			w.Write([]string{e.Name, strconv.Itoa(e.Least + i), strconv.FormatFloat(p, 'g', 10, 64), label})
		}
	}
	w.Flush() // a buffer has no errors
	return b.Bytes()
}

// show prints a table with a column for each value, or for as many as a line holds.
func (o *stateOptions) show(w io.Writer, f *fit.Fit, s *assess.States, written []string) error {
	const most = 8       // columns of values
	const shown = 0.0005 // probability from which a value has a column
	var values []int
	for _, e := range s.Elements {
		for i, p := range e.Probability {
			if v := e.Least + i; p >= shown && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	slices.Sort(values)
	// Values have their labels if these are the same for all elements, as they share columns.
	labelled := !slices.ContainsFunc(s.Elements, func(e assess.State) bool { return !slices.Equal(e.Levels, s.Elements[0].Levels) })
	label := func(e assess.State, v int) string {
		if labelled {
			return e.Label(v)
		}
		return strconv.Itoa(v)
	}
	labels := labelsByName(f)
	cells := [][]string{{"", "best", "probability", "jointly"}}
	if len(values) <= most {
		cells = [][]string{{"", "best", "jointly"}}
		for _, v := range values {
			cells[0] = append(cells[0], "= "+label(s.Elements[0], v))
		}
	}
	for _, e := range s.Elements {
		best, p := e.Best()
		name := e.Name
		if l := labels[name]; l != "" {
			name += " " + l
		}
		if len(values) > most {
			cells = append(cells, []string{name, label(e, best), fixed(p, 3), label(e, e.Jointly)})
			continue
		}
		line := []string{name, label(e, best), label(e, e.Jointly)}
		for _, v := range values {
			text := "-"
			if i := v - e.Least; i >= 0 && i < len(e.Probability) {
				text = fixed(e.Probability[i], 3)
			}
			line = append(line, text)
		}
		cells = append(cells, line)
	}
	var b strings.Builder
	writeEstimates(&b, w, cells)
	if !o.quiet {
		notes := []string{fmt.Sprintf("Averages over %s. The configuration in column jointly is the most likely one at %d of them.", count(s.Draws, "draw", "draws"), s.MostLikely)}
		if len(values) > most {
			notes = append(notes, "All probabilities: --json, or --pointwise FILE.")
		}
		if s.Failed > 0 {
			notes = append(notes, fmt.Sprintf("At %s nothing could be computed: %v", count(s.Failed, "draw", "draws"), s.Reason))
		}
		writeParagraph(&b, "", strings.Join(notes, " "), lineWidth(w))
	}
	if len(written) > 0 {
		fmt.Fprintf(&b, "\nDraws: %s\n", filesText(written))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
