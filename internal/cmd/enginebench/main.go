// Command enginebench measures the engine's gradient on the workloads of internal/benchsuite in all
// ways, and also real Stan if a command for it is given:
//
//	go run ./internal/cmd/enginebench --stan "run.sh" --write doc/evidence/engine-measured.md
//
// The Stan command is called with a model, its data and the name of a file, to which it writes JSON
// (see stan.go for the fields). It is called in every round, so it should keep compiled models;
// --stan-rounds limits the number of calls.
//
// With --history FILE each run appends a line of JSON to a file: its date, the commit, the machine,
// its load and the time of each workload, so that a slow decline becomes visible. The repository's
// file is doc/evidence/benchmarks.jsonl.
//
//	main.go     options, rounds
//	measure.go  timing of one workload
//	stan.go     the Stan command
//	report.go   the figures; JSON, Markdown
//	history.go  the file to which each run appends a line
//	bounds.go   the limits of the workloads' speeds, and the distance to them
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"time"

	"github.com/ppl-lang/ppl/internal/benchsuite"
	"github.com/ppl-lang/ppl/internal/figures"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "enginebench:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("enginebench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "measure the workloads whose names match this `regexp`")
	stanCommand := flags.String("stan", "", "`command` that runs Stan, called with MODEL DATA OUT")
	stanRounds := flags.Int("stan-rounds", 1, "in how many of the rounds Stan is called")
	rounds := flags.Int("rounds", 5, "how often every workload has its turn")
	jsonFile := flags.String("json", "", "write the figures to this `file`")
	markdown := flags.String("write", "", "put the table between the markers of this Markdown `file`, which is made if it does not exist")
	history := flags.String("history", "", "append the figures, with date and version, to this `file`")
	version := flags.String("version", "", "version of the code in the history (default: the commit, where nothing else was changed)")
	bounded := flags.String("bounds", "", "put the table of what bounds each workload between its markers of this Markdown `file`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *rounds < 1 {
		return fmt.Errorf("--rounds is %d, must be at least 1", *rounds)
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if *history != "" && *version == "" {
		if *version, err = figures.Version(); err != nil {
			return err
		}
	}
	var stan *stanRunner
	if *stanCommand != "" {
		if stan, err = newStan(*stanCommand); err != nil {
			return err
		}
		defer stan.close()
	}

	// Times are CPU times of this thread.
	runtime.LockOSThread()
	rep := &report{Date: time.Now().Format(time.DateOnly), Machine: figures.ThisMachine(), Load: figures.Load(), Rounds: *rounds}
	var subjects []*subject
	for _, w := range benchsuite.All() {
		if !match.MatchString(w.Name) {
			continue
		}
		s, err := newSubject(w)
		if err != nil {
			return err
		}
		subjects = append(subjects, s)
	}
	if len(subjects) == 0 {
		return fmt.Errorf("no workload matches %q", *only)
	}
	for r := range *rounds {
		for _, s := range subjects {
			fmt.Fprintf(stderr, "round %d of %d: %s\n", r+1, *rounds, s.row.Name)
			if stan != nil && r < *stanRounds {
				if err := stan.measure(s); err != nil {
					return err
				}
			}
			if err := s.round(); err != nil {
				return err
			}
		}
	}
	if rep.Peaks, err = measurePeaks(); err != nil {
		return err
	}
	for _, s := range subjects {
		if err := s.count(); err != nil {
			return err
		}
		rep.Rows = append(rep.Rows, s.row)
	}
	rep.conclude()

	text := rep.markdown()
	if _, err := io.WriteString(stdout, text); err != nil {
		return err
	}
	if *jsonFile != "" {
		data, err := json.MarshalIndent(rep, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(*jsonFile, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	if *markdown != "" {
		if err := section.Write(*markdown, text); err != nil {
			return err
		}
	}
	if *history != "" {
		if err := rep.appendTo(*history, *version); err != nil {
			return err
		}
	}
	if *bounded != "" {
		return boundsSection.Write(*bounded, rep.boundsTable())
	}
	return nil
}
