package tools

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ppl-lang/ppl/front/cmdstan/grammar"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// The limits beyond which diagnose reports a problem.
const (
	ebfmiLimit = 0.3
	essLimit   = 0.001 // as a share of the draws
	rhatLimit  = 1.01
	rhatBeyond = 1.01499 // larger values are printed as more than rhatLimit
)

// Diagnose runs diagnose and returns its exit code. memory is its limit in bytes.
func Diagnose(ctx context.Context, args []string, memory int64, stdout, _ io.Writer) int {
	var paths []string
	for _, a := range args {
		switch {
		case a == "--help" || a == "-h":
			fmt.Fprintln(stdout, "Usage: diagnose input_files...\n\nSays what is wrong with a run, by the CSV files of its chains.")
			return 0
		case strings.HasPrefix(a, "-"):
			fmt.Fprintf(stdout, "unknown option %s\n", a)
			return 1
		}
		paths = append(paths, a)
	}
	if len(paths) == 0 {
		fmt.Fprintln(stdout, "input_files is required\nRun with --help for more information.")
		return 1
	}
	f, err := readFit(ctx, paths, memory)
	if ctx.Err() != nil {
		return interrupted
	}
	if err != nil {
		fmt.Fprintln(stdout, err)
		return 1
	}
	d := &diagnosis{w: stdout, fit: f, fine: true}
	d.treedepth()
	d.divergences()
	d.energy()
	d.precision()
	if d.fine {
		fmt.Fprintln(stdout, "Processing complete, no problems detected.")
	} else {
		fmt.Fprintln(stdout, "Processing complete.")
	}
	return 0
}

type diagnosis struct {
	w    io.Writer
	fit  *fit
	fine bool
}

// statistic returns the values of a statistic over all chains, and their number.
func (d *diagnosis) statistic(name string) (chains [][]float64, n int) {
	for c := range d.fit.store.Chains() {
		values, ok := d.fit.store.Statistic(nil, c, name)
		if !ok {
			return nil, 0
		}
		chains = append(chains, values)
		n += len(values)
	}
	return chains, n
}

// wrong prints a problem.
func (d *diagnosis) wrong(format string, args ...any) {
	d.fine = false
	fmt.Fprintf(d.w, format+"\n\n", args...)
}

func (d *diagnosis) right(text string) { fmt.Fprintf(d.w, "%s\n\n", text) }

func (d *diagnosis) treedepth() {
	chains, n := d.statistic("treedepth__")
	if chains == nil {
		return
	}
	fmt.Fprintln(d.w, "Checking sampler transitions treedepth.")
	hit := 0
	for _, c := range chains {
		for _, v := range c {
			if v >= float64(d.fit.maxDepth) {
				hit++
			}
		}
	}
	if hit == 0 {
		d.right("Treedepth satisfactory for all transitions.")
		return
	}
	d.wrong("%d of %d (%s%%) transitions hit the maximum treedepth limit of %d, or 2^%d leapfrog steps.\n"+
		"Trajectories that are prematurely terminated due to this limit will result in slow exploration.\nFor optimal performance, increase this limit.",
		hit, n, percent(hit, n), d.fit.maxDepth, d.fit.maxDepth)
}

func (d *diagnosis) divergences() {
	chains, n := d.statistic("divergent__")
	if chains == nil {
		return
	}
	fmt.Fprintln(d.w, "Checking sampler transitions for divergences.")
	divergent := 0
	for _, c := range chains {
		for _, v := range c {
			divergent += int(v)
		}
	}
	if divergent == 0 {
		d.right("No divergent transitions found.")
		return
	}
	d.wrong("%d of %d (%s%%) transitions ended with a divergence.\n"+
		"These divergent transitions indicate that HMC is not fully able to explore the posterior distribution.\n"+
		"Try increasing adapt delta closer to 1.\nIf this doesn't remove all divergences, try to reparameterize the model.", divergent, n, percent(divergent, n))
}

func (d *diagnosis) energy() {
	chains, _ := d.statistic("energy__")
	if chains == nil {
		return
	}
	fmt.Fprintln(d.w, "Checking E-BFMI - sampler transitions HMC potential energy.")
	worst := math.Inf(1)
	for _, c := range chains {
		if v := diagnose.EBFMI(c); v < worst {
			worst = v
		}
	}
	if worst >= ebfmiLimit {
		d.right("E-BFMI satisfactory.")
		return
	}
	d.wrong("The E-BFMI, %s, is below the nominal threshold of %s which suggests that HMC may have trouble exploring the target distribution.\n"+
		"If possible, try to reparameterize the model.", grammar.Number(worst, 6), grammar.Number(ebfmiLimit, 6))
}

func (d *diagnosis) precision() {
	var few, apart []string
	n := 0
	for c := range d.fit.store.Chains() {
		n += d.fit.store.Len(c)
	}
	var all []quantity
	for _, q := range d.fit.quantities() {
		if !q.statistic {
			all = append(all, q)
		}
	}
	for _, r := range diagnose.Summarize(slicesOf(all)) {
		if min(r.ESSBulk, r.ESSTail)/float64(n) < essLimit {
			few = append(few, r.Name)
		}
		if r.Rhat > rhatBeyond {
			apart = append(apart, r.Name)
		}
	}
	if few == nil {
		d.right("Rank-normalized split effective sample size satisfactory for all parameters.")
	} else {
		d.wrong("The following parameters had fewer than %s effective draws per transition:\n  %s\n"+
			"Such low values indicate that the effective sample size estimators may be biased high and actual performance may be substantially lower than quoted.",
			grammar.Number(essLimit, 6), strings.Join(few, ", "))
	}
	if apart == nil {
		d.right("Rank-normalized split R-hat values satisfactory for all parameters.")
	} else {
		d.wrong("The following parameters had rank-normalized split R-hat greater than %s:\n  %s\n"+
			"Such high values indicate incomplete mixing and biased estimation.\nPriors that say more, or another parameterization, may help.",
			grammar.Number(rhatLimit, 6), strings.Join(apart, ", "))
	}
}

// percent returns a share as a percentage.
func percent(part, all int) string { return grammar.Number(100*float64(part)/float64(all), 6) }
