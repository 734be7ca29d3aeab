// Command posteriordb checks ppl on the models and data of posteriordb against figures of real
// Stan:
//
//	go run ./internal/cmd/posteriordb --pdb DIR --ref DIR --check density --write doc/evidence/posteriordb.md
//
// The results are in doc/evidence: in posteriordb.md (density, posterior), posteriordb-speed.md and
// posteriordb-sampling.md.
//
// --pdb is the folder posterior_database of a checkout of stan-dev/posteriordb. --ref is a folder
// with Stan's figures, a JSON file for each posterior, and reference_posteriors.json with the
// moments of posteriordb's reference draws. The checks are:
//
//   - density: values and gradients at given points;
//   - posterior: NUTS compared with the reference draws;
//   - speed: CPU time of a gradient;
//   - sampling: effective draws per gradient, including warm-up, of a sampler of ppl compared with
//     Stan's NUTS;
//   - outside: the same for posteriors outside posteriordb, without either folder;
//   - modes: the optima found by L-BFGS, compared with Stan's from the same starting points, which
//     --modes contains.
//
// With --keep DIR the figures of each posterior are stored there when they are computed. A later
// run of the same check with the same options and version computes only the missing ones.
//
//	main.go       options, the loop over posteriors
//	keep.go       figures stored for a later run
//	database.go   reading posteriordb and Stan's figures
//	density.go    the check of densities
//	scale.go      the magnitudes to which errors are relative
//	posterior.go  the check of posteriors
//	speed.go      the check of speed
//	modes.go      the check of modes
//	sampling.go   the check of sampling: effective draws per gradient compared with Stan's NUTS
//	outside.go    posteriors outside posteriordb
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ppl-lang/ppl/internal/figures"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "posteriordb:", err)
		}
		os.Exit(1)
	}
}

// report collects the results of a check row by row.
type report interface {
	add(db database, name string)    // adds the row of a posterior, or nothing
	take(rows json.RawMessage) error // adds the rows of another report of the check
	fail(name, reason string)        // adds a row that could not be computed
	line() string                    // the last row
	len() int                        // the number of rows
	conclude()                       // when all rows are there
	summary() string
	markdown() string
	failures() int
}

// checks lists the values of --check.
var checks = map[string]func(o options, a about) report{
	"density":   func(_ options, a about) report { return &densityReport{about: a} },
	"posterior": func(o options, a about) report { return &posteriorReport{about: a, options: o} },
	"speed":     func(o options, a about) report { return &speedReport{about: a, options: o} },
	"sampling":  func(o options, a about) report { return &samplingReport{about: a, options: o} },
	"outside":   func(o options, a about) report { return &samplingReport{about: a, options: o, outside: true} },
	"modes":     func(o options, a about) report { return &modesReport{about: a, folder: o.modes} },
}

// options are the options of the individual checks.
type options struct {
	batches int
	draws   int
	runs    int
	seed    uint64

	sampler  string
	against  string // "": Stan's recorded runs
	seeds    int
	runLimit time.Duration
	parallel int

	modes string
}

// about records when and where a report was made.
type about struct {
	Date    string          `json:"date"`
	Version string          `json:"version"`
	Machine figures.Machine `json:"machine"`
}

func (a about) made(check string) string {
	return fmt.Sprintf("Made on %s by `go run ./internal/cmd/posteriordb --check %s`, ppl %s; %v.\n", a.Date, check, a.Version, a.Machine)
}

func (a about) conclude() {}

// commit returns the version of the module from which the program was built.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) > 12 {
			version = s.Value[:12]
		}
	}
	return version
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("posteriordb", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var db database
	var o options
	flags.StringVar(&db.pdb, "pdb", "", "the `folder` posterior_database of a checkout of posteriordb")
	flags.StringVar(&db.ref, "ref", "", "the `folder` of Stan's figures")
	only := flags.String("only", "", "check the posteriors whose names match this `regexp`")
	check := flags.String("check", "density", "what to check: density, posterior, speed, sampling, outside or modes")
	jsonFile := flags.String("json", "", "write the figures to this `file`")
	markdown := flags.String("write", "", "put the table into the check's section of this Markdown `file`, which is made if it does not exist")
	version := flags.String("version", commit(), "the version that the table names")
	flags.IntVar(&o.batches, "batches", 10, "speed: batches of about 10 ms or one round of points, of which the fastest counts")
	flags.IntVar(&o.draws, "draws", 1000, "posterior: draws per chain, after as many of warm-up")
	flags.IntVar(&o.runs, "runs", 3, "posterior: most runs of a posterior, as long as its chains disagree")
	flags.StringVar(&o.sampler, "sampler", "auto", "sampling, outside: the sampler, with its options, as in \"auto -delta 0.9\"")
	flags.StringVar(&o.against, "against", "", "sampling, outside: the sampler that is the measure in place of Stan's runs; outside: nuts unless given, none for none")
	flags.IntVar(&o.seeds, "seeds", 3, "sampling, outside: runs of each posterior, with seeds from --seed (101 unless given)")
	flags.DurationVar(&o.runLimit, "run-limit", time.Minute, "sampling, outside: a run that takes more processor time has failed")
	flags.IntVar(&o.parallel, "parallel", 1, "sampling, outside: chains that compute at the same time")
	flags.StringVar(&o.modes, "modes", "", "modes: the `folder` of Stan's optima, a JSON file for each posterior")
	shard := flags.String("shard", "", "check the i-th of n parts of the posteriors, as in 3/16, so that several processes share the work; with --keep in one folder for all, a run without --shard then puts their figures together")
	keep := flags.String("keep", "", "keep the figures of each posterior in this `folder`, and do not make again those that are there")
	onlyKept := flags.Bool("only-kept", false, "put the figures of --keep together and make none")
	limit := flags.Duration("limit", 3*time.Minute, "each posterior is checked by its own process, which is ended after this time; 0: all by this one")
	flags.Uint64Var(&o.seed, "seed", 1, "posterior: selects the random numbers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	db.outside = *check == "outside"
	switch {
	case db.outside && o.against == "":
		o.against = "nuts"
	case o.against == "none":
		o.against = ""
	}
	if !db.outside && (db.pdb == "" || db.ref == "") {
		return errors.New("--pdb and --ref are required")
	}
	if o.seeds < 1 || o.parallel < 1 || o.runLimit <= 0 {
		return errors.New("--seeds, --parallel and --run-limit must be positive")
	}
	if o.batches < 1 || o.draws < 100 || o.runs < 1 {
		return errors.New("--batches and --runs must be at least 1, --draws at least 100")
	}
	make, ok := checks[*check]
	if !ok {
		return fmt.Errorf("--check is %q, must be density, posterior, speed, sampling, outside or modes", *check)
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	names, err := db.names(match)
	if err != nil {
		return err
	}
	if *shard != "" {
		i, n := 0, 0
		if _, err := fmt.Sscanf(*shard, "%d/%d", &i, &n); err != nil || i < 1 || i > n {
			return fmt.Errorf("--shard is %q, must be i/n with 1 ≤ i ≤ n", *shard)
		}
		names = sharded(names, i-1, n)
	}
	if *check == "sampling" || db.outside {
		given := false
		flags.Visit(func(f *flag.Flag) { given = given || f.Name == "seed" })
		if !given {
			o.seed = 101
		}
	}
	rep := make(o, about{time.Now().Format(time.DateOnly), *version, figures.ThisMachine()})
	kept := keeping{folder: *keep, of: fmt.Sprintf("%s, %+v, version %s", *check, o, *version)}
	if err := kept.open(); err != nil {
		return err
	}
	for _, name := range names {
		before := rep.len()
		switch rows, err := kept.rows(name); {
		case err != nil:
			return err
		case rows != nil:
			if err := rep.take(rows); err != nil {
				return err
			}
		case *onlyKept:
		case *limit > 0:
			alone(rep, name, *limit, args, kept)
		default:
			rep.add(db, name)
		}
		if rep.len() > before {
			fmt.Fprintln(stdout, rep.line())
		}
	}
	rep.conclude()
	fmt.Fprint(stdout, "\n", rep.summary())
	if *jsonFile != "" {
		text, err := json.MarshalIndent(rep, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(*jsonFile, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if *markdown != "" {
		if err := write(*markdown, *check, rep.markdown()); err != nil {
			return err
		}
	}
	if n := rep.failures(); n > 0 {
		return fmt.Errorf("%d posteriors fail", n)
	}
	return nil
}

// alone checks one posterior in another process of this program, so that a posterior cannot run for
// ever or exhaust the memory.
func alone(rep report, name string, limit time.Duration, args []string, kept keeping) {
	err := func() error {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		dir, err := os.MkdirTemp("", "posteriordb")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		out := filepath.Join(dir, "out.json")
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, program, append(slices.Clone(args), "--only", "^"+regexp.QuoteMeta(name)+"$", "--json", out, "--write", "", "--keep", "", "--limit", "0")...)
		cmd.Stderr = &said
		err = cmd.Run()
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("not done within %v", limit)
		case cmd.ProcessState == nil:
			return err
		}
		var figures struct {
			Rows json.RawMessage `json:"posteriors"`
		}
		if errRead := readJSON(out, &figures); errRead != nil { // a posterior that fails also makes the process fail
			return fmt.Errorf("%w: %s", err, said.String())
		}
		if err := rep.take(figures.Rows); err != nil {
			return err
		}
		return kept.keep(name, figures.Rows)
	}()
	if err != nil {
		rep.fail(name, says(err))
	}
}

// write writes the text into its section of the file, and creates the file if it does not exist.
func write(file, check, text string) error {
	name := "posteriordb " + check
	return figures.Section{Name: name, Command: "internal/cmd/posteriordb", Heading: name}.Write(file, text)
}

// quartiles returns the three quartiles of v, by linear interpolation.
func quartiles(v []float64) [3]float64 {
	v = slices.Sorted(slices.Values(v))
	var q [3]float64
	for i := range q {
		at := float64(len(v)-1) * float64(i+1) / 4
		k := int(at)
		q[i] = v[k]
		if k+1 < len(v) {
			q[i] += (at - float64(k)) * (v[k+1] - v[k])
		}
	}
	return q
}
