// Command truth runs samplers on targets with exactly known answers, and counts the runs that were
// wrong without a warning:
//
//	go run ./internal/cmd/truth --samplers auto,nuts --seeds 20 --keep runs.jsonl
//	go run ./internal/cmd/truth --ess --seeds 200 --keep ess.jsonl
//	go run ./internal/cmd/truth --tempering --targets '^concentric' --seeds 20 --keep runs.jsonl
//
// --tempering makes another table of the same runs, only for the sampler tempered: shares of modes,
// log Z and restarts.
//
// With --write doc/evidence/trust.md the tables are written into that page. --sensitivity halves
// and doubles the thresholds of auto. Each run is appended to the file of --keep when it ends. A
// later call with the same file continues where the first one was stopped: it does not repeat runs
// with the same target, sampler, seed and version of the code. The version is that of the
// checked-out commit; if there are uncommitted changes, name one by --version.
//
//	main.go         options
//	keep.go         the file of runs
//	verdicts.go     judged runs, and their tables
//	tempering.go    shares of modes, log Z and restarts of tempered runs
//	sensitivity.go  the effect of halving and doubling the thresholds of auto
//	ess.go          claimed effective sample sizes divided by true ones
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest/truth"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/figures"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "truth:", err)
		}
		os.Exit(1)
	}
}

// usualFamilies is the default seed of the targets that are drawn at random.
const usualFamilies = 1

// settings describe the runs to make.
type settings struct {
	samplers   []chosen
	missing    []string // requested samplers that do not exist
	seeds      int
	firstSeed  int
	familySeed uint64
	version    string
	workers    int
	log        io.Writer
}

// chosen is a sampler with its options.
type chosen struct {
	name    string // as it was asked for
	sampler infer.Sampler
}

// choose returns the sampler for a name, optionally followed by options: "auto --kernel nuts". ok
// is false for an unknown name.
func choose(text string) (c chosen, ok bool, err error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return c, false, nil
	}
	row, ok := sampler.Lookup(words[0])
	if !ok {
		return c, false, nil
	}
	flags := flag.NewFlagSet(row.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	build := row.Options(flags)
	if err := flags.Parse(words[1:]); err != nil {
		return c, true, fmt.Errorf("--samplers %q: %w", text, err)
	}
	made, err := build()
	return chosen{strings.Join(words, " "), made}, true, err
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("truth", flag.ContinueOnError)
	flags.SetOutput(stderr)
	s := settings{log: stderr}
	names := flags.String("samplers", "auto,nuts,tempered", "samplers, each with options if you like (\"auto --kernel nuts\"): "+strings.Join(sampler.Names(), ", "))
	flags.IntVar(&s.seeds, "seeds", 5, "runs of each sampler on each target")
	flags.IntVar(&s.firstSeed, "first-seed", 101, "seed of the first run; the others follow")
	flags.Uint64Var(&s.familySeed, "family-seed", usualFamilies, "selects the targets that are drawn from families; another seed than 1 leaves out those that are written down, and has a section of the page to itself")
	flags.StringVar(&s.version, "version", "", "version of the code, which runs are kept under (default: the commit, where nothing else was changed)")
	flags.IntVar(&s.workers, "workers", 1, "runs at a time")
	only := flags.String("targets", "", "the targets whose names or classes match this `regexp`")
	keep := flags.String("keep", "", "append each run to this `file`, and make none that it has")
	write := flags.String("write", "", "put the tables into this Markdown `file`")
	list := flags.Bool("list", false, "list the targets")
	temper := flags.Bool("tempering", false, "show shares of modes, log Z and restarts of --sampler tempered")
	ess := flags.Bool("ess", false, "compare effective sample sizes that runs claim with true ones")
	sensitivity := flags.String("sensitivity", "", "halve and double those thresholds of auto whose names match this `regexp`, on ten posteriors, and report what changes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *temper {
		*names = "tempered"
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if flags.NArg() > 0 || s.seeds < 1 || s.workers < 1 {
		return errors.New("there must be no further arguments, and at least one seed and one worker")
	}
	for _, name := range strings.Split(*names, ",") {
		c, ok, err := choose(name)
		switch {
		case err != nil:
			return err
		case ok:
			s.samplers = append(s.samplers, c)
		default:
			s.missing = append(s.missing, name)
			fmt.Fprintf(stderr, "truth: there is no sampler %q; it is left out\n", name)
		}
	}
	if len(s.samplers) == 0 {
		return errors.New("none of the samplers exists")
	}
	if s.version == "" {
		if s.version, err = figures.Version(); err != nil {
			return err
		}
	}
	s.workers = min(s.workers, runtime.GOMAXPROCS(0))
	targets := truth.All(s.familySeed)
	if s.familySeed != usualFamilies {
		targets = truth.Drawn(s.familySeed)
	}
	if *ess {
		targets = essTargets()
	}
	var wanted []*truth.Target
	for _, t := range targets {
		if match.MatchString(t.Name) || match.MatchString(string(t.Class)) {
			wanted = append(wanted, t)
		}
	}
	if *list {
		for _, t := range wanted {
			fmt.Fprintf(stdout, "%-32s %4d  %s\n", t.Name, t.Dim(), t.Class)
		}
		return nil
	}
	k, err := openKeep(*keep)
	if err != nil {
		return err
	}
	defer k.Close()
	var text string
	table := s.tables
	if *temper {
		table = s.temperingTable
	}
	switch {
	case *sensitivity != "":
		var thresholds *regexp.Regexp
		if thresholds, err = regexp.Compile(*sensitivity); err == nil {
			text, err = measureSensitivity(ctx, s, thresholds, k)
		}
	case *ess:
		text, err = measureESS(ctx, s, wanted, k)
	default:
		text, err = judge(ctx, s, wanted, k, table)
	}
	if err != nil {
		return err
	}
	if *write == "" {
		_, err = fmt.Fprint(stdout, text)
		return err
	}
	name := "verdicts"
	switch {
	case *ess:
		name = "ess"
	case *temper:
		name = "tempering"
	case s.familySeed != usualFamilies:
		name = fmt.Sprintf("verdicts %d", s.familySeed)
	}
	return writeSection(*write, name, text)
}
