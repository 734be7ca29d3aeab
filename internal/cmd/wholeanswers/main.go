// Command wholeanswers measures the processor time of a whole answer: from the text of a model and
// its data to draws that can be trusted. It compares `ppl run` with Stan's NUTS on workloads of
// internal/benchsuite:
//
//	go build -o ppl ./cmd/ppl
//	go run ./internal/cmd/wholeanswers --ppl ./ppl --stan "stan.sh" --write doc/evidence/whole-answers.md
//
// An answer is enough if all parameters have R-hat < 1.01 and effective sample sizes, of bulk and
// tail, of 400 or more, from four chains. Both programs are measured in the same way. A run makes
// 1000 draws a chain, and its first n draws are judged for n = 50, 100, 150, …; the answer is the
// smallest n from which on all are enough. If there is none, a run with the same seed and four
// times the draws is judged, up to --most.
//
// The time of ppl is the processor time of a process `ppl run --draws n` with the same seed. It
// includes compiling, binding, the summary and its printing. The time of Stan is that of its
// warm-up of 1000 transitions, plus that of sampling in proportion to n. Compiling the model,
// reading data, diagnostics and output are not included.
//
// The command of --stan is called with MODEL DATA SEED DRAWS BASE. It writes the draws of four
// chains to BASE_1.csv … BASE_4.csv in CmdStan's format. The elapsed times in these files should be
// processor time.
//
//	main.go    options, runs
//	answer.go  what is enough, and after how many draws
//	report.go  the table
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/ppl-lang/ppl/internal/benchsuite"
	"github.com/ppl-lang/ppl/internal/figures"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "wholeanswers:", err)
		}
		os.Exit(1)
	}
}

// usual are the workloads that are measured unless others are asked for: statistical models of
// every kind, and none twice.
var usual = []string{"volatility", "areas", "garch_2000", "irt_2pl", "eight_schools", "poisson_glmm",
	"hierarchical", "logistic", "horseshoe", "hmm", "gaussian_process", "splines", "lotka_volterra"}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("wholeanswers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	program := flags.String("ppl", "ppl", "the `program` to measure")
	stan := flags.String("stan", "", "`command` that runs Stan's NUTS, called with MODEL DATA SEED DRAWS BASE")
	only := flags.String("only", "", "measure the workloads whose names match this `regexp`, whether usual or not")
	seeds := flags.Int("seeds", 3, "runs of each program, with seeds 1, 2, …")
	budget := flags.Float64("budget", 60, "`seconds`: a program gets no further seed of a workload after so much time of its answers")
	most := flags.Int("most", 4000, "draws of a chain after which a run is given up")
	kept := flags.String("keep", "", "append each run to this `file`, and do not repeat runs that it contains")
	version := flags.String("version", "", "version of the code in that file (default: the commit, where nothing else was changed)")
	markdown := flags.String("write", "", "put the table between the markers of this Markdown `file`, which is made if it does not exist")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *seeds < 1 || *most < fewest {
		return fmt.Errorf("--seeds must be at least 1, and --most at least %d", fewest)
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if *version == "" {
		if *version, err = figures.Version(); err != nil {
			return err
		}
	}
	keep, err := figures.OpenKept(*kept, measured.key)
	if err != nil {
		return err
	}
	defer keep.Close()
	dir, err := os.MkdirTemp("", "wholeanswers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	programs := []runner{pplRunner{*program, *version}}
	if *stan != "" {
		programs = append(programs, stanRunner(*stan))
	}
	rep := report{Date: time.Now().Format(time.DateOnly), Machine: figures.ThisMachine(), Seeds: *seeds}
	for _, w := range benchsuite.All() {
		if *only == "" && !slices.Contains(usual, w.Name) || !match.MatchString(w.Name) {
			continue
		}
		s, err := newSubject(w, dir)
		if err != nil {
			return err
		}
		spent := make([]float64, len(programs))
		for seed := 1; seed <= *seeds; seed++ {
			for i, p := range programs {
				if spent[i] >= *budget {
					continue
				}
				m := measured{Workload: w.Name, Program: p.name(), Seed: seed}
				if old, ok := keep.Get(m.key()); ok {
					m = old
				} else {
					if err := answer(p, s, &m, *most); err != nil {
						return err
					}
					if err := keep.Add(m); err != nil {
						return err
					}
				}
				fmt.Fprintln(stderr, m)
				rep.add(w, m)
				spent[i] += m.Seconds
			}
		}
	}
	if len(rep.Rows) == 0 {
		return fmt.Errorf("no workload matches %q", *only)
	}
	text := rep.markdown()
	if _, err := io.WriteString(stdout, text); err != nil {
		return err
	}
	if *markdown != "" {
		return section.Write(*markdown, text)
	}
	return nil
}
