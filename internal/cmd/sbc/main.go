// Command sbc checks whole models (compiler, transforms and sampler together) by simulation-based
// calibration:
//
//	go run ./internal/cmd/sbc --write doc/evidence/sbc.md
//	go run ./internal/cmd/sbc --sampler auto --chains 4 --draws 60 --replicates 500 --keep sbc.jsonl --write doc/evidence/sbc.md
//
// With --keep each replicate is appended to a file when it ends. A later call with the same
// settings, version of the code and file continues from there.
//
// Each model in models/ draws parameters from its prior, and data given these, in transformed data.
// Variables named below_… report whether a draw from the posterior is below the parameter that
// generated the data. If everything is correct, the rank of that parameter among draws from the
// posterior is uniform (Talts, Betancourt, Simpson, Vehtari and Gelman 2018, "Validating Bayesian
// inference algorithms with simulation-based calibration").
//
//	main.go   options, the report
//	ranks.go  ranks of one model, tests of their uniformity
//	models/   the models
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/figures"
	"github.com/ppl-lang/ppl/model"
)

//go:embed models/*.stan
var models embed.FS

// familyWise is the probability that the report of a correct program contains a failure.
const familyWise = 0.01

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "sbc:", err)
		}
		os.Exit(1)
	}
}

// settings are the settings of a calibration.
type settings struct {
	sampler    infer.Sampler
	name       string // of the sampler
	replicates int
	warmup     int
	draws      int // number kept from each posterior, of all chains together
	chains     int // a sampler may let them share their warm-up
	thin       int
	seed       uint64
	workers    int
	version    string // version of the code; "": nothing is stored
}

// of describes the replicates of a model, to identify stored ones.
func (s settings) of(model string) string {
	return fmt.Sprintf("%s, sampler %s, chains %d, warm-up %d, draws %d, thin %d, version %s", model, s.name, s.chains, s.warmup, s.draws, s.thin, s.version)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("sbc", flag.ContinueOnError)
	flags.SetOutput(stderr)
	s := settings{}
	flags.StringVar(&s.name, "sampler", "nuts", "the sampler, with its default options: "+strings.Join(sampler.Names(), ", "))
	flags.IntVar(&s.replicates, "replicates", 1000, "data sets per model")
	flags.IntVar(&s.warmup, "warmup", 400, "transitions of warm-up per data set")
	flags.IntVar(&s.draws, "draws", 63, "draws of each posterior, one less than there are ranks")
	flags.IntVar(&s.chains, "chains", 1, "chains of each posterior, of which each makes its part of the draws")
	flags.IntVar(&s.thin, "thin", 8, "transitions per draw, so that draws are nearly independent")
	flags.Uint64Var(&s.seed, "seed", 1, "selects the random numbers")
	flags.IntVar(&s.workers, "workers", runtime.GOMAXPROCS(0), "replicates at a time")
	keep := flags.String("keep", "", "append each replicate to this `file`, and make none that it has")
	flags.StringVar(&s.version, "version", "", "version of the code, which replicates are kept under (default: the commit, where nothing else was changed)")
	only := flags.String("only", "", "the models whose names match this `regexp`")
	write := flags.String("write", "", "put the report into this Markdown `file`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	row, ok := sampler.Lookup(s.name)
	if !ok {
		return fmt.Errorf("there is no sampler %q", s.name)
	}
	if s.sampler, err = row.Default(); err != nil {
		return err
	}
	if flags.NArg() > 0 || s.replicates < 20 || s.warmup < 0 || s.draws < 3 || s.thin < 1 || s.chains < 1 || s.workers < 1 || s.draws%s.chains != 0 {
		return errors.New("there must be no further arguments, at least 20 replicates and 3 draws, a multiple of the chains, and thin at least 1")
	}
	if *keep != "" && s.version == "" {
		if s.version, err = figures.Version(); err != nil {
			return err
		}
	}
	kept, err := figures.OpenKept(*keep, ranked.key)
	if err != nil {
		return err
	}
	defer kept.Close()
	entries, err := models.ReadDir("models")
	if err != nil {
		return err
	}
	var all []calibration
	started := time.Now()
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".stan")
		if !match.MatchString(name) {
			continue
		}
		text, err := models.ReadFile("models/" + e.Name())
		if err != nil {
			return err
		}
		model, err := model.Compile(e.Name(), string(text))
		if err != nil {
			return err
		}
		c, err := calibrate(ctx, name, model, s, kept)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, q := range c.quantities {
			fmt.Fprintf(stdout, "%-16s %-12s distance %.3f  chi-square %5.1f (p %.3f)\n", name, q.name, q.distance, q.chiSquare, q.p)
		}
		all = append(all, c)
	}
	text, failures := report(all, s, time.Since(started))
	if *write != "" {
		if err := writeReport(*write, s.name, text); err != nil {
			return err
		}
	} else {
		fmt.Fprint(stdout, "\n", text)
	}
	if failures > 0 {
		return fmt.Errorf("%d quantities are not calibrated", failures)
	}
	return nil
}

// report returns the text, and the number of quantities that fail. The two tests of each quantity
// share the family-wise rate equally (Bonferroni).
func report(all []calibration, s settings, took time.Duration) (string, int) {
	quantities := 0
	for _, c := range all {
		quantities += len(c.quantities)
	}
	alpha := familyWise / float64(2*max(quantities, 1))
	band := math.Sqrt(math.Log(2/alpha) / (2 * float64(s.replicates)))
	failures := 0
	var table strings.Builder
	for _, c := range all {
		for _, q := range c.quantities {
			verdict := ""
			if !(q.distance <= band) || !(q.p >= alpha) {
				verdict = "**not calibrated**"
				failures++
			}
			fmt.Fprintf(&table, "| %s | %s | %.3f | %.1f | %.3f | %s | %s |\n", c.name, q.name, q.distance, q.chiSquare, q.p, histogram(q.bins), verdict)
		}
	}
	var b strings.Builder
	how := "in " + took.Round(time.Second).String()
	if s.version != "" { // some replicates may have been stored before
		how = "version " + s.version
	}
	fmt.Fprintf(&b, "Made on %s by `go run ./internal/cmd/sbc`, %s; %v.\n\n", time.Now().Format(time.DateOnly), how, figures.ThisMachine())
	fmt.Fprintf(&b, "%d models, each on %d data sets that it draws itself; sampler %s with its defaults, chains %d, %d transitions of warm-up, %d draws, one of %d transitions each; seed %d. "+
		"The test is that the rank of the true parameter among the draws is uniform: by the distance of the ranks' distribution function from the uniform one "+
		"(at most %.3f, the band of Dvoretzky, Kiefer, Wolfowitz and Massart), and by chi-square over %d classes (p at least %.1g): a faultless program fails in any of them with probability %g.\n\n",
		len(all), s.replicates, s.name, s.chains, s.warmup, s.draws, s.thin, s.seed, band, classes, alpha, familyWise)
	fmt.Fprintf(&b, "%d of %d quantities are calibrated.", quantities-failures, quantities)
	divergent, total := 0, 0
	for _, c := range all {
		divergent += c.divergent
		total += s.replicates
	}
	fmt.Fprintf(&b, " %d of %d posteriors had divergent transitions", divergent, total)
	if divergent > 0 {
		var where []string
		for _, c := range all {
			if c.divergent > 0 {
				where = append(where, fmt.Sprintf("%s %d", c.name, c.divergent))
			}
		}
		fmt.Fprintf(&b, " (%s)", strings.Join(where, ", "))
	}
	b.WriteString(".\n\n| model | quantity | distance | chi-square | p | ranks | |\n| --- | --- | --: | --: | --: | --- | --- |\n")
	b.WriteString(table.String())
	return b.String(), failures
}

// histogram draws counts as bars of text.
func histogram(bins []int) string {
	most := 1
	for _, n := range bins {
		most = max(most, n)
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, n := range bins {
		b.WriteRune(bars[n*(len(bars)-1)/most])
	}
	return b.String()
}

// writeReport writes the section of a sampler into the page; that of nuts creates the page if it
// does not exist.
func writeReport(file, sampler, text string) error {
	section := figures.Section{Name: "sbc " + sampler, Command: "internal/cmd/sbc"}
	if sampler == "nuts" {
		section.Name = "sbc"
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		begin, end := section.Markers()
		page := "# Simulation-based calibration\n\nWhether whole models, from text to draws, give the posterior that they state.\n\n" + begin + "\n" + end + "\n"
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			return err
		}
	}
	return section.Write(file, text)
}
