// Command paper repeats the first experiments of Wang, Mohamed and de Freitas,
// "Adaptive Hamiltonian and Riemann Manifold Monte Carlo Samplers" (2013), on
// the public packages of this module:
//
//	go run ./examples/paper [--quick] [--only fig1,fig2] [--data-dir DIR] --out DIR
//
// Figure 1: three settings of HMC on a bivariate normal. Figure 2: effective
// sample sizes per leapfrog step on five logistic regressions, adaptive HMC
// against the no-U-turn sampler (top) and adaptive against plain Riemann
// manifold HMC (bottom).
//
// With --data-dir, a folder with blr/NAME.csv for ripley, pima, heart,
// australian and german (covariates, then y, with a header), the data are the
// paper's; without it they are simulated with the same shape. --quick makes
// short chains, few of them.
//
// Results are kept in the output folder, one file for each chain, so a program
// that was stopped goes on where it was. At the end it writes fig1.md, fig2.md
// and fig2.csv.
//
//	main.go    options, the work to do
//	work.go    chains that run in parallel and are kept
//	data.go    data, the target with its metric, dispersed starting points
//	fig1.go, fig2.go
//	stats.go   means, ratios with bootstrap intervals, tables
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

//go:embed models/*.model
var models embed.FS

// masterSeed keys all random numbers.
const masterSeed = 20130616

// options are those of the command line.
type options struct {
	quick   bool
	only    []string
	dataDir string
	out     string
}

// exhibits are the tables and figures, in the order in which they are made.
var exhibits = []struct {
	name string
	make func(context.Context, *workshop) error
}{
	{"fig1", figure1},
	{"fig2", figure2},
}

func main() {
	var o options
	only := flag.String("only", "", "make only these, separated by commas: fig1, fig2")
	flag.BoolVar(&o.quick, "quick", false, "short chains, for a first look")
	flag.StringVar(&o.dataDir, "data-dir", "", "folder with the paper's data")
	flag.StringVar(&o.out, "out", "", "folder for the results")
	flag.Parse()
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
