package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/model"
)

// fitInput has the options of commands that read runs: an output folder, or CSV files of CmdStan
// with the model and data that belong to them.
type fitInput struct {
	input
	model string
}

// isFolder reports whether there is a folder of that name.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// runsOf splits arguments into runs: each folder is a run, and all files are the chains of one run.
func runsOf(ctx context.Context, args []string) ([][]string, error) {
	var out [][]string
	var files []string
	for _, a := range args {
		if isFolder(a) || heldIn(ctx).fit(a) != nil {
			out = append(out, []string{a})
			continue
		}
		files = append(files, a)
	}
	if files != nil && out != nil {
		return nil, usagef("%s is no folder: give folders of runs, or the CSV files of one run", files[0])
	}
	if files != nil {
		out = [][]string{files}
	}
	return out, nil
}

// drawFiles returns the CSV files, by chain, in a folder of ppl prior, ppl generate or ppl predict.
// It returns nil if the folder is that of a run, or has the files of several commands.
func drawFiles(dir string) []string {
	if _, err := os.Stat(filepath.Join(dir, folder.RecordFile)); err == nil {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*_[0-9]*.csv"))
	sorting.Stable(files, natural)
	base := func(path string) string { return path[:strings.LastIndexByte(path, '_')] }
	if slices.ContainsFunc(files, func(f string) bool { return base(f) != base(files[0]) }) {
		return nil
	}
	return files
}

// openFit reads a run: a folder, which may be a Zarr store, or CSV files. It returns at the latest
// when ctx ends.
func openFit(ctx context.Context, paths []string, memory *byteSize) (*fit.Fit, error) {
	if err := limitMemory(memory); err != nil {
		return nil, err
	}
	if h := heldIn(ctx); h != nil {
		if f := h.fit(paths[0]); f != nil && len(paths) == 1 {
			return f, nil
		}
		return nil, usagef("there is no fit %s", strings.Join(paths, " "))
	}
	return files.Until(ctx, func() (*fit.Fit, error) { return readRun(paths, fit.ReadOptions{Memory: int64(*memory)}) })
}

func readRun(paths []string, o fit.ReadOptions) (*fit.Fit, error) {
	for _, r := range fit.Formats() {
		if len(paths) == 1 && r.Match(paths[0]) {
			return r.Codec.Read(o, paths[0])
		}
	}
	if len(paths) == 1 && isFolder(paths[0]) {
		csv := drawFiles(paths[0])
		if csv == nil {
			return o.Fit(paths[0])
		}
		paths = csv
	}
	for i, p := range paths {
		if p == "-" {
			paths = slices.Clone(paths)
			paths[i] = "/dev/stdin"
			continue
		}
		if info, err := os.Stat(p); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			continue // a pipe; its name says nothing
		}
		if !strings.HasSuffix(strings.ToLower(p), ".csv") {
			if _, err := os.Stat(p); err == nil {
				return nil, usagef("%s is neither the folder of a run (--out) nor a CSV file of draws", p)
			}
		}
	}
	return o.CSV(paths...)
}

// posterior returns the model of a run bound to its data: those in the folder or, for CSV files,
// those that --model and --data give.
func (in *fitInput) posterior(cmd *cobra.Command, fit *fit.Fit) (*model.Posterior, error) {
	if in.model == "" {
		if fit.Record() == nil {
			return nil, usagef("the draws do not say of which model they are: give it by --model, and the data by --data")
		}
		p, err := fit.Posterior(cmd.Context())
		return p, ended(cmd.Context(), cmd.ErrOrStderr(), err)
	}
	l, err := in.load(cmd.Context(), in.model, cmd.ErrOrStderr())
	if err != nil {
		return nil, ended(cmd.Context(), cmd.ErrOrStderr(), err)
	}
	if fit.Record() == nil {
		err = fit.SetPosterior(l.posterior)
	}
	return l.posterior, err
}

// keptOnly adds to an error about missing data of a fit the advice how its folder can keep them.
func keptOnly(err error, fit *fit.Fit) error {
	missing := (*assess.NoDataError)(nil)
	if fit == nil || !errors.As(err, &missing) {
		return err
	}
	if r := fit.Record(); r == nil || r.Option("keep-data") == "all" {
		return err
	}
	return fmt.Errorf("%w; the folder keeps the variables that the model declares. If %s is a column of the data, make the run again with --keep-data all", err, missing.Name)
}
