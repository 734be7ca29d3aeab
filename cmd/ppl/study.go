package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/study"
)

// maxPlan is the maximum size of the text of a plan, in bytes.
const maxPlan = 64 << 20

// studyOptions has the options of the commands that make many fits.
type studyOptions struct {
	out      string
	engine   engineFlags
	progress string
	retry    bool
	quiet    bool
}

func (o *studyOptions) flags(cmd *cobra.Command) {
	f := declare(cmd)
	f.String(&o.out, "out", "")
	o.engine.flags(cmd)
	f.Bool(&o.retry, "retry", false)
	f.String(&o.progress, "progress", "text")
	f.Bool(&o.quiet, "quiet", false)
}

// run makes the fits of a plan, and stores the text of the plan. It calls each with the results, in
// the order of the fits.
func (o *studyOptions) run(ctx context.Context, stderr io.Writer, p *study.Plan, text string, each func(*study.Unit, *study.Result) error) (study.Progress, error) {
	if o.progress != "text" && o.progress != "json" {
		return study.Progress{}, usagef("--progress can be text or json, but is %q", o.progress)
	}
	engine, err := o.engine.build(o.out)
	if err != nil {
		return study.Progress{}, err
	}
	if o.out != "" {
		if err := studyFolder(o.out); err != nil {
			return study.Progress{}, err
		}
		release, err := lockFolder(o.out)
		if err != nil {
			return study.Progress{}, err
		}
		defer release()
	}
	// Fits need little memory but make much garbage. Collecting it less often than usual costs some
	// megabytes and saves 5 % of the time.
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	options := study.RunOptions{Engine: engine, Folder: o.out, Text: text, Each: each, Retry: o.retry, InMemory: heldIn(ctx) != nil}
	if !o.quiet {
		t := &studyProgress{w: stderr, json: o.progress == "json"}
		options.Progress, options.Note = t.tell, t.note
	}
	progress, err := study.Run(ctx, p, options)
	if stopped := (*study.InterruptedError)(nil); errors.As(err, &stopped) {
		why, code := "Interrupted", exitInterrupted
		if limit := timeUp(ctx); limit != nil {
			why, code = "Ended, as "+limit.Error(), exitError
		}
		text := fmt.Sprintf("%s: %d of %s are done.", why, stopped.Done, count(stopped.Total, "fit", "fits"))
		if o.out != "" {
			text += fmt.Sprintf(" The same command continues the study in %s.", o.out)
		}
		printMessage(stderr, "%s", text)
		return progress, exitCode(code)
	}
	return progress, err
}

// studyFolder creates the folder of a study. It returns an error if the folder has other content.
func studyFolder(dir string) error {
	if err := files.MakeFolder(dir); err != nil {
		return fmt.Errorf("cannot make the output folder: %w; choose another one by --out", err)
	}
	if !study.IsFolder(dir) { // files of a study that was killed at its very beginning
		if err := files.RemoveTemps(dir, func(name string) bool { return name == study.RecordName }); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 && !study.IsFolder(dir) {
		return fmt.Errorf("the folder %s holds other things than a study, %s for instance; choose another one by --out", dir, entries[0].Name())
	}
	return nil
}

// studying is a run of the command study.
type studying struct {
	studyOptions
	input     input
	data      []string
	grid      []string
	counts    []string
	columns   data.Declarations
	repeat    int
	seed      uint64
	keepDraws []string
	timeLimit time.Duration
	manifest  manifestFlags
	print     bool
	json      bool
	failOn    failOn
}

// studyJSON is what study prints with --json; a stable format.
type studyJSON struct {
	Fits     int            `json:"fits"`             // number of fits
	OK       int            `json:"ok"`               // fits without problems
	Problems int            `json:"problems"`         // fits with problems
	Failed   int            `json:"failed"`           // fits that failed
	Reused   int            `json:"reused"`           // fits made earlier
	Seconds  number         `json:"seconds"`          // wall-clock seconds
	Sampling number         `json:"sampling_seconds"` // processor seconds of sampling
	Findings map[string]int `json:"findings"`         // number of fits with each finding, by its code
	Failures []failureJSON  `json:"failures"`         // the first failures
	Out      string         `json:"out"`              // folder of the study
}

type failureJSON struct {
	Fit     int    `json:"fit"`     // number of the fit, from 1
	Model   string `json:"model"`   // name of the model
	Data    string `json:"data"`    // name of the data set
	Message string `json:"message"` // why it failed
}

// shownFailures is the maximum number of failed fits that are listed.
const shownFailures = 5

func studyCommand() *cobra.Command {
	var o studying
	cmd := &cobra.Command{
		Use: "study PLAN | MODEL… --out DIR",
		Long: `Makes the fits that a plan names, on all processors or, by --engine, on many machines.

PLAN is a file in YAML or JSON:

    models: [pooled.stan, partial.stan]      # each is fitted to all data
    data:
      - files: "clinics/*.json"              # a data set per file
      - table: visits.csv                    # a data set per group of rows
        by: [clinic]
        count: [N]                  # the variable N is the number of rows
        na: [drop]                  # as --na, --missing and --read of ppl run
      - simulate: true              # data from the prior, and their parameters
        data: sizes.json
        sets: 200
      - folds: 10                   # data without a fold, which is predicted
        data: all.json
    options: {chains: 2, draws: 500}         # as ppl run has them
    grid: {delta: [0.8, 0.95]}               # options with several values
    seed: 1
    time-limit: 10m                          # of a fit
    keep: {summary: [mu, tau], draws: [theta]}

With MODEL, a plan is made of --data and --grid; --print shows it.

At the end, DIR has results.csv with a row for each fit and quantity. If a fit fails or has
problems, its row says so, and the study continues. If a study was stopped, the same command
continues with the fits that have no result. After a change of the plan it makes only the new
fits. Results depend on the plan alone, not on where and in which order fits were made.
doc/how-to/scale.md has more.`,
		Example: `  ppl study plan.yaml --out study
  ppl study m.stan --data 'sets/*.json' --grid delta=0.8,0.95 --out study
  ppl study plan.yaml --out /shared/study --engine slurm --tasks 100
  ppl report study`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("PLAN is missing: a file in YAML, or models")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := declare(cmd)
	o.studyOptions.flags(cmd)
	f.Strings(&o.data, "data", nil)
	f.Strings(&o.grid, "grid", nil)
	f.Strings(&o.counts, "count", nil)
	f.Strings(&o.columns.NA, "na", nil)
	f.Strings(&o.columns.Missing, "missing", nil)
	f.Strings(&o.columns.Read, "read", nil)
	f.Strings(&o.keepDraws, "keep-draws", nil)
	f.Int(&o.repeat, "repeat", 1)
	f.Uint64(&o.seed, "seed", 1)
	f.Duration(&o.timeLimit, "time-limit", 0)
	readsModel.add(cmd, &o.input)
	o.manifest.flags(cmd)
	f.Bool(&o.print, "print", false)
	o.failOn.flag(cmd)
	f.Bool(&o.json, "json", false)
	return cmd
}

func (o *studying) run(cmd *cobra.Command, args []string) error {
	stderr := cmd.ErrOrStderr()
	name, text, dir, err := o.plan(cmd, args)
	if err != nil {
		return err
	}
	if o.print {
		_, err := io.WriteString(cmd.OutOrStdout(), text)
		return err
	}
	if o.out == "" {
		return usagef("--out is missing: the folder for the results")
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	p, err := study.ReadPlan(ctx, name, text, study.ReadOptions{Dir: dir, Compile: o.input.compile, Warn: func(m *model.Model) {
		if w := m.Warnings(); len(w) > 0 && !o.quiet {
			diag.Render(stderr, wordedList(w), diagOptions(stderr))
		}
	}})
	if err != nil {
		return ended(ctx, stderr, err)
	}
	if cmd.Flags().Changed("seed") {
		p.Seed = o.seed
	}
	if cmd.Flags().Changed("time-limit") {
		if p.TimeLimit = o.timeLimit; p.TimeLimit <= 0 {
			return usagef("--time-limit must be positive, but is %s", o.timeLimit)
		}
	}
	if o.manifest.kind != "" {
		return o.manifest.write(ctx, cmd, &o.engine, o.out, p)
	}
	j := studyJSON{Findings: map[string]int{}, Failures: []failureJSON{}, Out: o.out}
	progress, err := o.studyOptions.run(ctx, stderr, p, text, func(u *study.Unit, r *study.Result) error {
		j.Fits++
		switch r.Status {
		case study.OK:
			j.OK++
		case study.Problems:
			j.Problems++
		case study.Failed:
			j.Failed++
			if len(j.Failures) < shownFailures {
				text, _, _ := strings.Cut(r.Message, "\n")
				j.Failures = append(j.Failures, failureJSON{u.Number + 1, u.Model, u.Data, text})
			}
		}
		var codes []string
		for _, f := range r.Findings {
			if !slices.Contains(codes, f.Code) {
				codes = append(codes, f.Code)
				j.Findings[f.Code]++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	j.Reused, j.Seconds, j.Sampling = progress.Reused, number(progress.Seconds), number(progress.Sampling)
	if o.json {
		err = writeJSON(cmd.OutOrStdout(), j)
	} else {
		err = j.show(cmd.OutOrStdout(), &progress)
	}
	if err != nil {
		return err
	}
	return o.failOn.ofCounts(j.Problems+j.Failed, len(j.Findings))
}

// plan returns the text of the plan, read from a file or made from options. Paths in it are
// relative to dir.
func (o *studying) plan(cmd *cobra.Command, args []string) (name, text, dir string, err error) {
	flags := cmd.Flags()
	isPlan := func(path string) bool {
		return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path))) || path == "-"
	}
	if slices.ContainsFunc(args, isPlan) {
		if len(args) > 1 {
			return "", "", "", usagef("%s is a plan; give no other arguments", args[slices.IndexFunc(args, isPlan)])
		}
		for _, only := range []string{"data", "grid", "count", "na", "missing", "read", "keep-draws", "repeat"} {
			if flags.Changed(only) {
				return "", "", "", usagef("--%s goes with models; write it into the plan %s", only, args[0])
			}
		}
		if args[0] == "-" {
			content, err := source.ReadAll(os.Stdin, stdinName, maxPlan)
			return stdinName, content, ".", err
		}
		content, err := source.ReadFile(args[0], maxPlan)
		return args[0], content, filepath.Dir(args[0]), err
	}
	type object = map[string]any
	p := object{"models": args, "seed": o.seed}
	if o.repeat != 1 {
		p["repeat"] = o.repeat
	}
	if o.data != nil {
		source := object{"files": o.data}
		for name, list := range map[string][]string{"count": o.counts, "na": o.columns.NA, "missing": o.columns.Missing, "read": o.columns.Read} {
			if list != nil {
				source[name] = list
			}
		}
		p["data"] = []object{source}
	}
	if o.grid != nil {
		options, grid := object{}, object{}
		for _, g := range o.grid {
			name, values, ok := strings.Cut(g, "=")
			if !ok || name == "" || values == "" {
				return "", "", "", usagef("--grid %s: write an option with its values, such as delta=0.8,0.95", g)
			}
			if list := strings.Split(values, ","); len(list) > 1 {
				grid[name] = list
			} else {
				options[name] = values
			}
		}
		if len(options) > 0 {
			p["options"] = options
		}
		if len(grid) > 0 {
			p["grid"] = grid
		}
	}
	if o.keepDraws != nil {
		p["keep"] = object{"draws": o.keepDraws}
	}
	content, err := json.MarshalIndent(p, "", "  ")
	return "the options", string(content) + "\n", ".", err
}

// show prints the results of a study.
func (j *studyJSON) show(w io.Writer, p *study.Progress) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d without problems, %d with problems, %d failed.\n", count(j.Fits, "fit", "fits"), j.OK, j.Problems, j.Failed)
	if made := j.Fits - j.Reused; made > 0 && p.Busy > 0 {
		fmt.Fprintf(&b, "%d made in %s.", made, clockOf(p.Seconds))
		fmt.Fprintf(&b, " Sampling took %.0f %% of the time of a fit.\n", 100*p.Sampling/p.Busy)
	}
	if len(j.Findings) > 0 {
		b.WriteString("\n")
		cells := [][]string{{"finding", "fits"}}
		for _, code := range byCount(j.Findings) {
			cells = append(cells, []string{code, fmt.Sprint(j.Findings[code])})
		}
		writeEstimates(&b, w, cells)
	}
	for _, f := range j.Failures {
		writeParagraph(&b, "", fmt.Sprintf("Fit %d failed (%s): %s", f.Fit, joinWords(f.Model, f.Data), f.Message), lineWidth(w))
	}
	if more := j.Failed - len(j.Failures); more > 0 {
		fmt.Fprintf(&b, "… and %d more; results.csv has them all.\n", more)
	}
	fmt.Fprintf(&b, "\nResults: %s\n", filepath.Join(j.Out, study.ResultsName))
	_, err := io.WriteString(w, b.String())
	return err
}
