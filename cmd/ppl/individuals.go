package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/internal/files"
)

// individualOptions has the options of the command individuals.
type individualOptions struct {
	criticised
	x, by     string
	pointwise string
	quiet     bool
	json      bool
}

// individualsJSON is what individuals prints with --json; a stable format.
type individualsJSON struct {
	Method    string          `json:"method"`    // always individuals
	Outcomes  []individualSet `json:"outcomes"`  // one entry per outcome
	Shrinkage []shrinkageJSON `json:"shrinkage"` // one entry per group-level term
}

type individualSet struct {
	Name     string        `json:"name"`     // the outcome
	X        string        `json:"x"`        // the column along which it is predicted
	By       string        `json:"by"`       // the column of the subjects
	Subjects []subjectJSON `json:"subjects"` // the subjects, with their observations
}

type subjectJSON struct {
	Subject settingJSON      `json:"subject"` // number and name of the subject
	Rows    []subjectRowJSON `json:"rows"`    // its observations, by x
}

type subjectRowJSON struct {
	Element    string  `json:"element"`    // name of the observation
	X          number  `json:"x"`          // value of the column
	Observed   number  `json:"observed"`   // the observation
	Mean       number  `json:"mean"`       // individual prediction: its mean
	Q5         number  `json:"q5"`         // 5 % quantile of the individual prediction
	Q95        number  `json:"q95"`        // 95 % quantile of the individual prediction
	Population *number `json:"population"` // prediction for the mean subject; null if it is not known
	NPDE       *number `json:"npde"`       // normalised prediction distribution error; null if it is not known
	CWRES      *number `json:"cwres"`      // conditional weighted residual; null if it is not known
}

type shrinkageJSON struct {
	Term      string `json:"term"`      // the parameter, with the index of its column
	Levels    int    `json:"levels"`    // number of levels
	Means     number `json:"means"`     // standard deviation of the posterior means of the levels
	SD        number `json:"sd"`        // posterior mean of the standard deviation of the levels
	Shrinkage number `json:"shrinkage"` // 1 - means/sd
}

func individualsCommand() *cobra.Command {
	var o individualOptions
	cmd := &cobra.Command{
		Use: "individuals DIR",
		Long: `Shows how a model with group-level terms fits each subject, and the shrinkage of the terms.

Individual predictions are the expected outcomes with the subject's own parameters.
Population predictions are those of a subject whose group-level parameters are at the means
of their distributions. The table shows the root mean square of the differences between
observations and predictions. --pointwise writes all predictions. The plots are in ppl report.

Normalised prediction distribution errors (NPDE) are the places of observations among
replications of new subjects, given earlier observations of the subject, on the scale of a
standard normal distribution. If their mean is far from 0, or their standard deviation from
1, the model does not describe the population.

Conditional weighted residuals (CWRES) are the decorrelated residuals of a subject in a model
that is linear about the subject's mode. The parameters of the population are at their
posterior means. Group-level parameters must be normal on the unconstrained scale. CWRES of
lognormal outcomes are those of the logarithm. Mean 0 and standard deviation 1 are expected.

Shrinkage says how much the data say about each level of a term: by how much the posterior
means of the levels spread less than the levels do. Near 0, the data of each level decide.
Near 1, all levels are at the mean, and plots of the means against covariates mislead.`,
		Example: `  ppl individuals fit
  ppl individuals fit --by school --x age
  ppl individuals fit --pointwise predictions.csv`,
		Args: arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := declare(cmd)
	f.String(&o.by, "by", "")
	f.String(&o.x, "x", "")
	f.String(&o.pointwise, "pointwise", "")
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.json, "json", false)
	o.criticised.flags(cmd)
	return cmd
}

func (o *individualOptions) run(cmd *cobra.Command, args []string) error {
	f, err := o.criticised.read(cmd, args)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	terms, err := assess.ShrinkageOf(ctx, f)
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), err)
	}
	sets, reason := assess.IndividualsOf(ctx, f, assess.IndividualOptions{X: o.x, By: o.by})
	if reason != nil {
		var column *assess.UnknownColumnError
		unknown := errors.As(reason, &column)
		if unknown {
			flag := "--x"
			if column.Subjects {
				flag = "--by"
			}
			reason = usagef("the data have no column %s: name one with %s", column.Name, flag)
		}
		// Without predictions that were asked for, the shrinkage is an answer.
		switch asked := o.x != "" || o.by != "" || o.pointwise != ""; {
		case ctx.Err() == nil && !asked && len(terms) > 0:
		case unknown:
			return reason
		default:
			return ended(ctx, cmd.ErrOrStderr(), reason)
		}
	}
	if o.pointwise != "" {
		if err := files.Save(o.pointwise, individualsCSV(sets)); err != nil {
			return fmt.Errorf("--pointwise: %w", err)
		}
	}
	if o.json {
		return writeJSON(cmd.OutOrStdout(), newIndividualsJSON(sets, terms))
	}
	return o.show(cmd.OutOrStdout(), sets, terms, reason)
}

func newIndividualsJSON(sets []assess.Individuals, terms []assess.Shrinkage) individualsJSON {
	out := individualsJSON{Method: "individuals", Outcomes: []individualSet{}, Shrinkage: []shrinkageJSON{}}
	for _, s := range sets {
		j := individualSet{Name: s.Name, X: s.X, By: s.By, Subjects: []subjectJSON{}}
		for _, one := range s.Subjects {
			own := subjectJSON{Subject: settingJSON{one.Of.Name, one.Of.Label}, Rows: []subjectRowJSON{}}
			for _, r := range one.Rows {
				row := subjectRowJSON{Element: r.Element, X: number(r.X), Observed: number(r.Observed), Mean: number(r.Mean), Q5: number(r.Q5), Q95: number(r.Q95)}
				if s.NoPopulation == nil {
					p := number(r.Population)
					row.Population = &p
				}
				if !math.IsNaN(r.NPDE) {
					z := number(r.NPDE)
					row.NPDE = &z
				}
				if !math.IsNaN(r.CWRES) {
					z := number(r.CWRES)
					row.CWRES = &z
				}
				own.Rows = append(own.Rows, row)
			}
			j.Subjects = append(j.Subjects, own)
		}
		out.Outcomes = append(out.Outcomes, j)
	}
	for _, t := range terms {
		out.Shrinkage = append(out.Shrinkage, shrinkageJSON{Term: t.Term, Levels: t.Levels, Means: number(t.Means), SD: number(t.SD), Shrinkage: number(t.Value)})
	}
	return out
}

// individualsCSV has a line for each observation.
func individualsCSV(sets []assess.Individuals) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"element", "subject", "x", "observed", "mean", "q5", "q95", "population", "npde", "cwres"})
	text := func(x float64) string {
		if math.IsNaN(x) {
			return "NA"
		}
		return strconv.FormatFloat(x, 'g', 10, 64)
	}
	for _, s := range sets {
		for _, one := range s.Subjects {
			for _, r := range one.Rows {
				w.Write([]string{r.Element, one.Of.Label, text(r.X), text(r.Observed), text(r.Mean), text(r.Q5), text(r.Q95), text(r.Population), text(r.NPDE), text(r.CWRES)})
			}
		}
	}
	w.Flush() // a buffer has no errors
	return b.Bytes()
}

// show prints a table of subjects for each outcome, and one of the terms. reason says why there are
// no subjects.
func (o *individualOptions) show(w io.Writer, sets []assess.Individuals, terms []assess.Shrinkage, reason error) error {
	var b strings.Builder
	for _, s := range sets {
		head := []string{s.By, "rows of " + s.Name, "mean", "individual"}
		if s.NoPopulation == nil {
			head = append(head, "population")
		}
		cells := [][]string{head}
		for _, one := range s.Subjects {
			mean, individual, population := one.Errors()
			line := []string{one.Of.Label, strconv.Itoa(len(one.Rows)), figure(mean, -1), figure(individual, -1)}
			if s.NoPopulation == nil {
				line = append(line, figure(population, -1))
			}
			cells = append(cells, line)
		}
		writeEstimates(&b, w, cells)
	}
	if len(terms) > 0 {
		cells := [][]string{{"term", "levels", "sd of means", "sd", "shrinkage"}}
		for _, t := range terms {
			cells = append(cells, []string{t.Term, strconv.Itoa(t.Levels), figure(t.Means, -1), figure(t.SD, -1), fixed(t.Value, 3)})
		}
		writeEstimates(&b, w, cells)
	}
	if !o.quiet {
		notes := []string{"Columns individual and population have the root mean square of observations minus predictions."}
		if len(sets) == 0 {
			notes = nil
		}
		if reason != nil {
			notes = append(notes, fmt.Sprintf("There are no predictions by subject: %v.", reason))
		}
		for _, s := range sets {
			if s.NoPopulation != nil {
				notes = append(notes, fmt.Sprintf("There are no population predictions: %v.", s.NoPopulation))
				break
			}
		}
		for _, s := range sets {
			for _, of := range []struct {
				which, name string
				none        error
			}{{assess.NPDE, "normalised prediction distribution error", s.NoNPDE}, {assess.CWRES, "conditional weighted residual", s.NoCWRES}} {
				if n, mean, sd := s.Residuals(of.which); n == 1 {
					notes = append(notes, fmt.Sprintf("The %s (%s) of %s is %s; a standard normal number is expected.", of.name, of.which, s.Name, fixed(mean, 2)))
				} else if n > 0 {
					notes = append(notes, fmt.Sprintf("The %d %ss (%s) of %s have mean %s and standard deviation %s; 0 and 1 are expected.", n, of.name, of.which, s.Name, fixed(mean, 2), fixed(sd, 2)))
				} else {
					notes = append(notes, fmt.Sprintf("%s has no %s: %v.", s.Name, of.which, of.none))
				}
			}
		}
		writeParagraph(&b, "", strings.Join(notes, " "), lineWidth(w))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
