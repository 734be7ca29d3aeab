// Command paper repeats the first experiments of Wang, Mohamed and de Freitas,
// "Adaptive Hamiltonian and Riemann Manifold Monte Carlo Samplers" (2013), on
// the public packages of this module:
//
//	go run ./examples/paper [--quick] [--only fig1,fig2,table1] [--data-dir DIR] --out DIR
//
//	fig1    three settings of HMC on a bivariate normal
//	fig2    effective sample sizes per leapfrog step on five logistic
//	        regressions: adaptive HMC against the no-U-turn sampler (top),
//	        adaptive against plain Riemann manifold HMC (bottom)
//	table1  the same of adaptive HMC and the no-U-turn sampler on a stochastic
//	        volatility model with 2003 dimensions
//
// Beside each, what today's samplers make of the same targets. The results of
// full runs are in doc/paper.
//
// With --data-dir, a folder with blr/NAME.csv for ripley, pima, heart,
// australian and german (covariates, then y, with a header) and
// sv/stochvol1.csv (columns t, y, x_true), the data are the paper's; without it
// they are simulated with the same shape, and the tables say so. --quick makes
// few and short chains, in about three minutes on two cores; a full run takes
// hours of one core, most of them for table1. --chains, --deltas and
// --short reduce it; --report makes tables of what is complete.
//
// Results are kept in the output folder, one file for each chain, so a program
// that was stopped goes on where it was; only chains that were not complete
// start again. All random numbers are keyed by problem, sampler and chain:
// results depend neither on the number of cores nor on interruptions. At the
// end it writes NAME.md and NAME.csv, a row for each chain, and the figures,
// NAME.png and NAME.svg.
//
//	main.go       options, the work to do
//	protocol.go   numbers and lengths of chains, samplers with their constants, seeds
//	work.go       chains that run in parallel and are kept
//	data.go       the data of the regressions
//	regression.go their posterior with its metric, dispersed starting points
//	volatility.go data and posterior of the volatility model, whitened too
//	linear.go     Cholesky factors
//	fig1.go, fig2.go, table1.go
//	              the comparisons and their tables
//	published.go  figures of the paper and of others
//	stats.go      means, ratios with bootstrap intervals, gates, tables
//	figures.go    drawing
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

// options are those of the command line.
type options struct {
	quick   bool
	only    []string
	dataDir string
	out     string
	chains  int       // of each arm; 0: the protocol's
	deltas  []float64 // nil: the protocol's
	short   int       // divides the lengths of Table 1's chains; 0: 1
	report  bool      // run nothing
}

// exhibits are the tables and figures, in the order in which they are made.
var exhibits = []struct {
	name string
	make func(context.Context, *workshop) error
}{
	{"fig1", figure1},
	{"fig2", figure2},
	{"table1", table1},
}

func main() {
	var o options
	only := flag.String("only", "", "make only these, separated by commas: fig1, fig2, table1")
	flag.BoolVar(&o.quick, "quick", false, "short chains, for a first look")
	flag.StringVar(&o.dataDir, "data-dir", "", "folder with the paper's data")
	flag.StringVar(&o.out, "out", "", "folder for the results")
	flag.IntVar(&o.chains, "chains", 0, "chains of each sampler (default: 10; 4 with --quick)")
	deltas := flag.String("deltas", "", "targets of the acceptance statistic that NUTS is tried with, separated by commas (default: 0.25, 0.3, ... 0.95)")
	flag.IntVar(&o.short, "short", 1, "divides the lengths of the chains of table1")
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
		known := slices.ContainsFunc(exhibits, func(e struct {
			name string
			make func(context.Context, *workshop) error
		}) bool {
			return e.name == name
		})
		if !known {
			return fmt.Errorf("--only %s: there is no such exhibit", name)
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
