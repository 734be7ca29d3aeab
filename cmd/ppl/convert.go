package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer/zarr"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/study"
)

// chosenGroups returns the groups of a Zarr store that the flag --groups selects.
func chosenGroups(names []string) ([]string, error) {
	var all, out []string
	for _, g := range assess.ZarrGroups() {
		all = append(all, g.Name)
	}
	for _, n := range names {
		switch {
		case n == "all":
			out = append(out, all...)
		case n == "none" && len(names) == 1:
		case slices.Contains(all, n):
			out = append(out, n)
		default:
			return nil, usagef("--groups: there is no group %q to add; there are %s, or all, or none", n, strings.Join(all, ", "))
		}
	}
	return out, nil
}

// checkFormat checks --format and --groups.
func (o *runOptions) checkFormat(groups bool) error {
	r, _ := fit.FormatOf(fit.Format(o.format))
	switch {
	case !slices.Contains(fit.RunFormats(), o.format):
		return usagef("--format must be %s, but is %s; ppl convert makes others of a run", orList(fit.RunFormats()), o.format)
	case o.format != string(fit.CSV) && o.out == "":
		return usagef("--format %s needs --out, the folder for the draws", o.format)
	case groups && !r.Groups:
		return usagef("--groups are those of a Zarr store: give --format zarr too")
	}
	_, err := chosenGroups(o.groups)
	return err
}

// orList joins words as "a, b or c".
func orList(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}

// addGroups adds the groups that are computed from the draws of a complete run to its store.
func (o *running) addGroups(ctx context.Context, f *fit.Fit, tell func(string)) error {
	groups, err := chosenGroups(o.groups)
	if r, _ := fit.FormatOf(fit.Format(o.format)); !r.Groups || err != nil || len(groups) == 0 || len(f.Files) == 0 || f.Report.Interrupted {
		return err
	}
	ctx, stop := interruptible(ctx, nil)
	defer stop()
	notes, err := assess.AddZarrGroups(ctx, f, f.Files[0], assess.ZarrGroupOptions{Groups: groups, Seed: o.seed})
	if err != nil && ctx.Err() != nil {
		why := "Interrupted"
		if timeUp(ctx) != nil {
			why = "The time is up"
		}
		tell(why + ": the groups of the store that follow from the draws are not made; ppl convert makes them.")
		return nil
	}
	if !o.quiet {
		for _, n := range notes {
			tell(n)
		}
	}
	return err
}

// conversion is the options of convert.
type conversion struct {
	criticised
	to         string
	out        string
	overwrite  bool
	groups     []string
	priorDraws int
}

// formatNames lists the formats that a run can be converted to.
func formatNames() (names []string) {
	for _, r := range fit.Formats() {
		names = append(names, string(r.Name))
	}
	return names
}

// formatHelp returns a help text about these formats.
func formatHelp() string {
	var b strings.Builder
	for _, r := range fit.Formats() {
		doc := strings.ReplaceAll(r.Doc, "\n", "\n           ")
		if r.Groups {
			doc += ", and those of --groups"
		}
		fmt.Fprintf(&b, "  %-8s %s\n", r.Name, doc)
	}
	return b.String()
}

func convertCommand() *cobra.Command {
	var o conversion
	cmd := &cobra.Command{
		Use: "convert DIR… --to FORMAT --out PATH",
		Long: `Writes the draws of a run, the folder of ppl run --out, a Zarr store, or CSV files
of CmdStan, in another format:

` + formatHelp() + `
For CSV files and single stores, give --model and --data to get the groups that depend on
them. Without them, the store has only the draws.`,
		Example: `  ppl convert results --to zarr --out results.zarr
  ppl convert results --to zarr --groups all --out results.zarr
  ppl convert results.zarr --to csv --out csv`,
	}
	f := declare(cmd)
	f.String(&o.to, "to", "")
	f.String(&o.out, "out", "")
	f.Bool(&o.overwrite, "overwrite", false)
	f.List(&o.groups, "groups", standardGroups())
	f.Int(&o.priorDraws, "prior-draws", 1000)
	f.Uint64(&o.seed, "seed", 1)
	f.Bool(&o.quiet, "quiet", false)
	o.criticised.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) }
	return cmd
}

func (o *conversion) run(cmd *cobra.Command, args []string) error {
	format, known := fit.FormatOf(fit.Format(o.to))
	list := strings.Join(formatNames(), ", ")
	switch {
	case o.to == "":
		return usagef("--to is missing: the format, one of %s", list)
	case !known:
		return usagef("--to must be one of %s, but is %q", list, o.to)
	case o.out == "":
		return usagef("--out is missing: where to write to")
	case o.priorDraws < 1:
		return usagef("--prior-draws must be at least 1, but is %d", o.priorDraws)
	}
	if _, err := chosenGroups(o.groups); err != nil {
		return err
	}
	if len(args) == 1 && study.IsFolder(args[0]) {
		return o.study(cmd, args[0])
	}
	runs, err := runsOf(cmd.Context(), args)
	if err != nil {
		return err
	}
	if len(runs) != 1 {
		return usagef("one run is converted at a time: its folder, its Zarr store, or its CSV files")
	}
	fit, err := openFit(cmd.Context(), runs[0], &o.memory)
	if err != nil {
		return err
	}
	if fit.Record() != nil || o.model != "" {
		if _, err := o.posterior(cmd, fit); err != nil {
			return err
		}
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	files, notes, err := o.write(ctx, format, fit, nameOf(fit))
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), err)
	}
	if !o.quiet {
		for _, n := range notes {
			printMessage(cmd.ErrOrStderr(), "%s", n)
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Draws: %s\n", filesText(files))
	return err
}

// nameOf returns the base name for the files of a run.
func nameOf(fit *fit.Fit) string {
	if r := fit.Record(); r != nil && r.Name != "" {
		return r.Name
	}
	name := folder.BaseName(fit.Files[0])
	if i := strings.LastIndexByte(name, '_'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		name = name[:i]
	}
	return name
}

// write writes a fit in a format.
func (o *conversion) write(ctx context.Context, r fit.FormatRow, f *fit.Fit, name string) (files, notes []string, err error) {
	switch {
	case r.Program != "":
		return o.parquet(ctx, f)
	case r.PerChain:
		return o.perChain(r, f, name)
	case r.Groups:
		return o.zarr(ctx, f)
	}
	if err := o.free(r.Match); err != nil {
		return nil, nil, err
	}
	files, err = r.Codec.Write(f, o.out)
	return files, nil, err
}

// zarr writes a store under a temporary name and then renames it, so that the path never has an
// incomplete store.
func (o *conversion) zarr(ctx context.Context, fit *fit.Fit) (written, notes []string, err error) {
	if err := o.free(zarr.Is); err != nil {
		return nil, nil, err
	}
	groups, err := chosenGroups(o.groups)
	if err != nil {
		return nil, nil, err
	}
	beside, err := files.TempFolder(filepath.Clean(o.out))
	if err != nil {
		return nil, nil, err
	}
	defer files.RemoveAll(beside)
	if err := fit.WriteZarr(beside); err != nil {
		return nil, nil, err
	}
	if fit.Record() == nil && o.model == "" {
		if len(groups) > 0 {
			notes = append(notes, "The store has the draws only: which model and data they are of is not known; --model and --data say it.")
		}
	} else if notes, err = assess.AddZarrGroups(ctx, fit, beside, assess.ZarrGroupOptions{Groups: groups, Seed: o.seed, PriorDraws: o.priorDraws}); err != nil {
		return nil, nil, err
	}
	store, err := zarr.Open(beside)
	if err != nil {
		return nil, nil, err
	}
	return []string{o.out}, notes, store.Move(o.out)
}

// free returns an error if the output exists and may not be replaced. It may be replaced if the
// user allows it and the existing output is of the same kind, which is(path) reports.
func (o *conversion) free(is func(string) bool) error {
	info, err := os.Lstat(o.out)
	if err != nil {
		return nil // writing reports the error
	}
	if info.IsDir() {
		if entries, err := os.ReadDir(o.out); err == nil && len(entries) == 0 {
			return nil
		}
	}
	switch {
	case !is(o.out):
		return fmt.Errorf("%s is there already, and is no %s: choose another place by --out", o.out, o.to)
	case !o.overwrite:
		return fmt.Errorf("%s is there already. Choose another place by --out, or replace it by --overwrite", o.out)
	}
	return nil
}

// perChain writes a file per chain.
func (o *conversion) perChain(r fit.FormatRow, f *fit.Fit, name string) (files, notes []string, err error) {
	old, err := replaceFiles(o.out, escapedGlob(name)+"_[0-9]*."+string(r.Name), o.overwrite)
	if err != nil {
		return nil, nil, err
	}
	if files, err = r.Codec.Write(f, filepath.Join(o.out, name)); err != nil {
		return nil, nil, err
	}
	return files, nil, old(files)
}
