package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/criticise"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// calibrating is a run of sbc.
type calibrating struct {
	input
	model     string
	options   ppl.CalibrateOptions
	out       string
	overwrite bool
	json      bool
}

// sbcJSON is what sbc prints with --json; a stable format.
type sbcJSON struct {
	Method      string             `json:"method"`
	Simulations int                `json:"simulations"`
	Failed      int                `json:"failed"`
	Draws       int                `json:"draws"`
	Parameters  []sbcParameter     `json:"parameters"`
	Findings    []diagnose.Finding `json:"findings"`
}

type sbcParameter struct {
	Name       string   `json:"name"`
	P          number   `json:"p"`
	Ranks      []int    `json:"ranks"`
	Points     []number `json:"points"`
	Difference []number `json:"ecdf_difference"`
	Lower      []number `json:"lower"`
	Upper      []number `json:"upper"`
}

func sbcCommand() *cobra.Command {
	var o calibrating
	cmd := &cobra.Command{
		Use:   "sbc MODEL --data FILE",
		Short: "Check by simulated data that a model can be inferred",
		Long: `Simulation-based calibration: draws parameters from the prior and data from the model
given these, fits the model to the data, and ranks each parameter among the draws of its
posterior; many times, on all processors. The ranks are uniform if model, sampler and
program are right. p is the probability of ranks that depart as much from uniform.

The data give sizes and covariates; what the model's statements are about is simulated.
With --out, ranks are kept as they come, and the same command goes on where it was
stopped.`,
		Example: `  ppl sbc m.stan -d d.json --simulations 500 --out calibration`,
		Args:    arguments("MODEL"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.input.flags(cmd)
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.options.Simulations, "simulations", 200, "number of data sets")
	f.IntVar(&o.options.Ranks, "ranks", 99, "draws that a parameter is ranked among")
	f.IntVar(&o.options.Thin, "thin", 10, "transitions between these draws")
	f.IntVar(&o.options.Warmup, "warmup", 1000, "transitions of warm-up")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the random numbers")
	f.IntVar(&o.options.Parallel, "parallel", 0, "fits at a time (default: one per processor)")
	f.StringVarP(&o.out, "out", "o", "", "`folder` for the ranks, in sbc.csv")
	f.BoolVar(&o.overwrite, "overwrite", false, "begin anew if there are ranks in the folder")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress and no warnings on stderr")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	f.SetNormalizeFunc(dashes)
	return cmd
}

func (o *calibrating) run(cmd *cobra.Command, model string) error {
	stderr := cmd.ErrOrStderr()
	for _, c := range []struct {
		name         string
		value, least int
	}{{"simulations", o.options.Simulations, 1}, {"ranks", o.options.Ranks, 1}, {"thin", o.options.Thin, 1}, {"warmup", o.options.Warmup, 1}, {"parallel", o.options.Parallel, 0}} {
		if c.value < c.least {
			return usagef("--%s must be at least %d, but is %d", c.name, c.least, c.value)
		}
	}
	o.model = model
	l, err := o.load(context.Background(), model, stderr)
	if err != nil {
		return err
	}
	o.options.Seed = o.seed
	names := l.posterior.ParameterNames()
	journal, err := o.journal(names)
	if err != nil {
		return err
	}
	if journal != nil {
		defer journal.Close()
	}
	made := len(o.options.Done)
	if made > 0 && !o.quiet {
		fmt.Fprintf(stderr, "%d of %d simulations are in %s.\n", made, o.options.Simulations, o.out)
	}
	o.options.Each = func(s ppl.Simulation) error {
		made++
		if !o.quiet && (made%max(1, o.options.Simulations/10) == 0 || made == o.options.Simulations) {
			fmt.Fprintf(stderr, "%d of %d simulations\n", made, o.options.Simulations)
		}
		if journal == nil || s.Err != nil {
			return nil
		}
		line := strconv.Itoa(s.Number) + "," + strconv.Itoa(s.Divergences)
		for _, r := range s.Ranks {
			line += "," + strconv.Itoa(r)
		}
		_, err := journal.WriteString(line + "\n")
		return err
	}
	ctx, stop := interruptible(nil)
	defer stop()
	c, err := l.model.Calibrate(ctx, l.values, o.options)
	if err != nil {
		if ctx.Err() != nil && o.out != "" {
			fmt.Fprintf(stderr, "Interrupted: the same command goes on with what is in %s.\n", o.out)
			return exitCode(exitInterrupted)
		}
		return ended(ctx, stderr, err)
	}
	return o.report(cmd.OutOrStdout(), c)
}

// journal opens the file of ranks and reads what is in it.
func (o *calibrating) journal(names []string) (*os.File, error) {
	if o.out == "" {
		return nil, nil
	}
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return nil, fmt.Errorf("cannot make the output folder: %w; choose another one by --out", err)
	}
	path := filepath.Join(o.out, "sbc.csv")
	head := fmt.Sprintf("# model = %s, data = %s, seed = %d, ranks = %d, thin = %d, warmup = %d\nsimulation,divergences,%s\n",
		ppl.Digest(o.model), ppl.Digest(o.data), o.seed, o.options.Ranks, o.options.Thin, o.options.Warmup, strings.Join(names, ","))
	text, err := os.ReadFile(path)
	if err == nil && !o.overwrite {
		if !strings.HasPrefix(string(text), head) {
			return nil, fmt.Errorf("%s holds the ranks of another calibration (another model, data, seed or options). Choose another folder by --out, or begin anew by --overwrite", path)
		}
		kept := head
		in := bufio.NewScanner(strings.NewReader(string(text[len(head):])))
		in.Buffer(nil, 1<<26)
		for in.Scan() {
			fields := strings.Split(in.Text(), ",")
			if len(fields) != len(names)+2 {
				continue // cut off when it was stopped
			}
			var all []int
			for _, f := range fields {
				v, err := strconv.Atoi(f)
				if err != nil {
					return nil, fmt.Errorf("%s: %q is not a number", path, f)
				}
				all = append(all, v)
			}
			o.options.Done = append(o.options.Done, ppl.Simulation{Number: all[0], Divergences: all[1], Ranks: all[2:]})
			kept += in.Text() + "\n"
		}
		head = kept
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if _, err := file.WriteString(head); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// report tests the ranks.
func (o *calibrating) report(w io.Writer, c *ppl.Calibration) error {
	rng := rand.New(rand.NewPCG(o.seed, 0x736263))
	j := sbcJSON{Method: "sbc", Simulations: len(c.Simulations), Draws: c.Draws, Parameters: []sbcParameter{}, Findings: []diagnose.Finding{}}
	var reason error
	divergent := 0
	for _, s := range c.Simulations {
		if s.Err != nil {
			j.Failed++
			reason = s.Err
		} else if s.Divergences > 0 {
			divergent++
		}
	}
	var wrong []string
	shape := ""
	for i, name := range c.Names {
		var values []float64
		p := sbcParameter{Name: name, Ranks: []int{}}
		for _, s := range c.Simulations {
			if s.Err != nil {
				continue
			}
			p.Ranks = append(p.Ranks, s.Ranks[i])
			values = append(values, (float64(s.Ranks[i])+rng.Float64())/float64(c.Draws+1))
		}
		u := criticise.Uniform(values, rng)
		p.P, p.Points, p.Difference, p.Lower, p.Upper = number(u.P), numbersOf(u.Points), numbersOf(u.Difference), numbersOf(u.Lower), numbersOf(u.Upper)
		if u.P < 0.05/float64(len(c.Names)) {
			wrong = append(wrong, ppl.DisplayName(name))
			switch {
			case shape != "":
			case u.Variance > 1.0/12*1.15:
				shape = "the posteriors are too narrow"
			case u.Variance < 1.0/12*0.85:
				shape = "the posteriors are too wide"
			case u.Mean > 0.5:
				shape = "the posteriors are too low"
			default:
				shape = "the posteriors are too high"
			}
		}
		j.Parameters = append(j.Parameters, p)
	}
	if len(wrong) > 0 {
		j.Findings = append(j.Findings, diagnose.Finding{Code: "calibration", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("The ranks of %s are not uniform: %s.", strings.Join(wrong[:min(5, len(wrong))], ", "), shape),
			Advice:  "Look for an error in the model, such as a Jacobian that is missing, or a sampler in trouble: does ppl run find problems with simulated data?"})
	}
	if j.Failed > 0 {
		text, _, _ := strings.Cut(reason.Error(), "\n")
		j.Findings = append(j.Findings, diagnose.Finding{Code: "failed", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("%d of %d simulations failed, for instance: %s", j.Failed, j.Simulations, text),
			Advice:  "Those that are left are no fair sample. Priors that allow extreme parameters are a frequent cause."})
	}
	if divergent*20 > j.Simulations {
		j.Findings = append(j.Findings, diagnose.Finding{Code: "divergences", Severity: diagnose.Note,
			Summary: fmt.Sprintf("%d of %d fits had divergent transitions.", divergent, j.Simulations),
			Advice:  "Reparametrise, if ranks are not uniform."})
	}
	if o.json {
		return writeJSON(w, j)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d simulations, ranks among %d draws.\n\n", j.Simulations-j.Failed, j.Draws)
	cells := [][]string{{"", "p", "mean rank", "largest departure"}}
	order := slices.Clone(j.Parameters)
	slices.SortStableFunc(order, func(a, b sbcParameter) int {
		switch {
		case a.P < b.P:
			return -1
		case a.P > b.P:
			return 1
		}
		return 0
	})
	for _, p := range order {
		mean, largest := 0.0, 0.0
		for _, r := range p.Ranks {
			mean += float64(r) / float64(len(p.Ranks))
		}
		for _, d := range p.Difference {
			largest = math.Max(largest, math.Abs(float64(d)))
		}
		cells = append(cells, []string{ppl.DisplayName(p.Name), fixed(float64(p.P), 3), fixed(mean, 1), fixed(largest, 3)})
	}
	writeEstimates(&b, w, cells)
	writeFindings(&b, j.Findings, lineWidth(w))
	_, err := io.WriteString(w, b.String())
	return err
}
