// Command paper repeats the experiments of Wang, Mohamed and de Freitas, "Adaptive Hamiltonian and
// Riemann Manifold Monte Carlo Samplers" (2013), with the public packages of this module:
//
//	go run ./examples/paper [--quick] [--only fig1,fig2,…] [--data-dir DIR] --out DIR
//
//	fig1    three settings of HMC on a bivariate normal
//	fig2    effective sample sizes per leapfrog step on five logistic
//	        regressions: adaptive HMC against the no-U-turn sampler (top),
//	        adaptive against plain Riemann manifold HMC (bottom)
//	table1  adaptive HMC against the no-U-turn sampler on a stochastic
//	        volatility model with 2003 dimensions
//	fig3    both comparisons on log-Gaussian Cox processes with 1024 cells
//	fig4    the fields that the samplers estimate, and the true fields
//	fig3-64 fig3 with 4096 cells
//	table2  a Bayesian neural network that classifies texts; its sampler is
//	        tuned by cross-validation
//	joint   the Cox process with its hyper-parameters, and its calibration
//	auto    the same targets by a sampler that needs no settings; run it after
//	        fig2 and table1, whose tables it reads
//
// Each comparison also has the results of today's samplers on the same targets. doc/paper has the
// results of full runs.
//
// # Data
//
// With --data-dir the data are those of the paper. The folder has blr/NAME.csv for ripley, pima,
// heart, australian and german (covariates, then y, with a header), sv/stochvol1.csv (columns t, y,
// x_true), lgc/lgc64.csv (columns i, j, y, x_true, i fastest) and, from the feature selection
// challenge, dexter/dexter_train.data.gz, dexter_train.labels.gz and the same for valid. Without
// it, data of the same shape are simulated, and the tables say so.
//
// # Size of a run
//
// A full run takes a day of one core. --quick makes few and short chains, in about three minutes on
// two cores. --chains, --deltas, --side, --variant, --arms, --seeds and --short select or shorten
// parts. --report runs nothing and makes tables of the results so far. With --tables DIR, chains
// that have a row in the tables of an earlier run are not run again: --report --tables doc/paper
// --out doc/paper makes the tables of doc/paper anew.
//
// Results are stored in the output folder, one file for each chain. A program that was stopped
// continues from these files; only incomplete chains start again. Progress is reported with an
// estimate of the time left for a comparison. All random numbers are keyed by problem, sampler and
// chain, so results depend neither on the number of cores nor on interruptions. At the end, the
// program writes NAME.md, NAME.csv with a row for each chain, NAME-groups.csv with figures that
// need the draws of all chains of a sampler, and the figures NAME.png and NAME.svg.
//
// # Map
//
//	main.go        options, the work to do
//	protocol.go    numbers and lengths of chains, samplers with their constants, seeds
//	work.go        chains that run in parallel, and storing their results
//	book.go        tables of chains, also those of an earlier run
//	progress.go    progress reports
//	data.go        the data of the regressions
//	regression.go  their posterior with its metric, dispersed starting points
//	volatility.go  data and posterior of the volatility model, also whitened
//	cox.go         data and posterior of the Cox process; its field in parts
//	dexter.go      the texts, the networks and their predictions
//	fig1.go, fig2.go, table1.go, fig3.go, table2.go, joint.go, automatic.go
//	              the comparisons and their tables
//	published.go   figures of the paper and of others
//	stats.go       means, ratios with bootstrap intervals, gates, tables
//	figures.go, figures_cox.go
//	              drawing
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
)

//go:embed models/*.model
var models embed.FS

// options has the options of the command line.
type options struct {
	quick   bool
	only    []string
	dataDir string
	out     string
	chains  int       // number of chains of each arm; 0: that of the protocol
	deltas  []float64 // nil: the protocol's
	short   int       // divides the lengths of the chains of Table 1 and Figure 3; 0: 1
	side    int       // side of the grids of the joint process; 0: all of the protocol
	variant string    // variant of the Cox process; "": both
	arms    []string  // samplers by their names in the names of files; nil: all
	seeds   int       // number of seeds of Table 2; 0: that of the protocol
	report  bool      // make tables only, run nothing
	tables  string    // folder with the tables of an earlier run
}

// exhibits lists the tables and figures in the order in which they are made.
var exhibits = []struct {
	name string
	make func(context.Context, *workshop) error
}{
	{"fig1", figure1},
	{"fig2", figure2},
	{"table1", table1},
	{"fig3", figure3},
	{"fig4", figure4},
	{"fig3-64", figure3Large},
	{"table2", table2},
	{"joint", joint},
	{"auto", automatic},
}

func names() (list []string) {
	for _, e := range exhibits {
		list = append(list, e.name)
	}
	return list
}

func main() {
	var o options
	only := flag.String("only", "", "make only these, separated by commas: "+strings.Join(names(), ", "))
	flag.BoolVar(&o.quick, "quick", false, "short chains, for a first look")
	flag.StringVar(&o.dataDir, "data-dir", "", "folder with the paper's data")
	flag.StringVar(&o.out, "out", "", "folder for the results")
	flag.IntVar(&o.chains, "chains", 0, "chains of each sampler (default: 10; 4 with --quick)")
	deltas := flag.String("deltas", "", "targets of the acceptance statistic that NUTS is tried with, separated by commas (default: 0.25, 0.3, ... 0.95)")
	flag.IntVar(&o.short, "short", 1, "divides the lengths of the chains of table1 and fig3")
	flag.IntVar(&o.side, "side", 0, "only the grids of joint with this side: 32, 64 or 128")
	flag.StringVar(&o.variant, "variant", "", "only this Cox process: A or B")
	arms := flag.String("arms", "", "only these samplers, separated by commas, by the names that their files have")
	flag.IntVar(&o.seeds, "seeds", 0, "seeds of table2 (default: 10; 2 with --quick)")
	flag.StringVar(&o.tables, "tables", "", "folder with the tables of an earlier run, whose chains are not run again")
	flag.BoolVar(&o.report, "report", false, "run nothing: tables and figures of the chains that are complete")
	flag.Parse()
	if *deltas != "" {
		for _, d := range strings.Split(*deltas, ",") {
			v, err := strconv.ParseFloat(d, 64)
			if err != nil {
				fmt.Fprintln(os.Stderr, "error: --deltas:", err)
				os.Exit(2)
			}
			o.deltas = append(o.deltas, v)
		}
	}
	if *arms != "" {
		o.arms = strings.Split(*arms, ",")
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.out == "" {
		return fmt.Errorf("--out is missing: the folder for the results")
	}
	for _, name := range o.only {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("--only %s: there is no such exhibit; there are %s", name, strings.Join(names(), ", "))
		}
	}
	w, err := newWorkshop(o)
	if err != nil {
		return err
	}
	for _, e := range exhibits {
		if len(o.only) > 0 && !slices.Contains(o.only, e.name) {
			continue
		}
		if err := e.make(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}
