package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// This file: the table of the flags that commands have in common. A row declares its flag for
// all commands of its groups.

// groups are sets of commands.
type groups uint8

const (
	allCommands groups = 1 << iota // all, help texts excepted
	readsModel                     // the model, without data
	bindsModel                     // model and data
	readsFit                       // runs, without their model
)

// commonFlag is a row of the table.
type commonFlag struct {
	name    string
	groups  groups
	passing bool // concerns how a run is made, not its draws: it may be given with --resume
	path    bool // the value is a path
	add     func(f *pflag.FlagSet, name string, in *input)
	// before is called with the context of the command before that runs, and returns the one
	// that it runs in; nil: nothing is to be done.
	before func(ctx context.Context, in *input) (context.Context, error)
}

// commonFlags is the table, in the order of help texts.
var commonFlags = []commonFlag{
	{name: "data", groups: bindsModel, path: true, add: func(f *pflag.FlagSet, name string, in *input) {
		f.VarP(&onceFlag{to: &in.data}, name, "d", "`file` of data: JSON as Stan reads it, CSV with a header line, or an R dump, also compressed\nby gzip; - is standard input")
	}},
	{name: "count", groups: bindsModel, add: func(f *pflag.FlagSet, name string, in *input) {
		f.StringArrayVar(&in.counts, name, nil, "`name` a variable that has the number of rows of a CSV file, as in --count N; or, as in\n--count J=school, that of the levels of a column; may be repeated")
	}},
	{name: "max-data", groups: bindsModel, passing: true, add: func(f *pflag.FlagSet, name string, in *input) {
		f.Var(&in.maxData, name, "read files of data up to this `size` (default 1GiB)")
	}},
	{name: "max-print", groups: bindsModel, add: func(f *pflag.FlagSet, name string, in *input) {
		f.Var(&in.maxPrint, name, "show what the model prints up to this `size` (default 64MiB)")
	}},
	{name: "stan-compat", groups: bindsModel, add: func(f *pflag.FlagSet, name string, in *input) {
		f.StringVar(&in.stanCompat, name, "", "constrain parameters as this `version` of Stan does: 2.32, whose simplexes differ")
	}},
	{name: "memory", groups: bindsModel | readsFit, passing: true, add: func(f *pflag.FlagSet, name string, in *input) {
		f.Var(&in.memory, name, "refuse models, data and draws that ask for more memory than this `size`, such as 500MB or\n8GiB (default: the variable "+memoryVariable+", else half of what the machine has)")
	}},
	{name: "statements", groups: bindsModel, passing: true, add: func(f *pflag.FlagSet, name string, in *input) {
		f.Int64Var(&in.statements, name, 0, "refuse models that run more statements than this `number` before the first evaluation; one\nof the model itself, each time that it is written out, counts for 100 (default 1000000000)")
	}},
	{name: "time-limit", groups: bindsModel, passing: true, before: limitTime, add: func(f *pflag.FlagSet, name string, in *input) {
		f.DurationVar(&in.timeLimit, name, 0, "end after that time, such as 90s or 2h; the time to compile and bind the model counts")
	}},
	{name: "include-path", groups: readsModel | bindsModel, path: true, add: func(f *pflag.FlagSet, name string, in *input) {
		f.StringArrayVar(&in.compile.IncludePaths, name, nil, "`folder` to search for files of #include, after that of the model; may be repeated")
	}},
	{name: "legacy", groups: readsModel | bindsModel, add: func(f *pflag.FlagSet, name string, in *input) {
		f.BoolVar(&in.compile.Legacy, name, false, "read the syntax of older versions of Stan, with warnings")
	}},
	{name: "max-source", groups: readsModel | bindsModel, passing: true, add: func(f *pflag.FlagSet, name string, in *input) {
		f.Var((*byteSize)(&in.compile.MaxSource), name, "read models, with what they include, up to this `size` (default 1MiB)")
	}},
}

// add declares the flags of a group.
func (g groups) add(cmd *cobra.Command, in *input) {
	var before []commonFlag
	for _, row := range commonFlags {
		if row.groups&g == 0 {
			continue
		}
		row.add(cmd.Flags(), row.name, in)
		if row.before != nil {
			before = append(before, row)
		}
	}
	if before == nil {
		return
	}
	earlier := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if earlier != nil {
			if err := earlier(cmd, args); err != nil {
				return err
			}
		}
		for _, row := range before {
			ctx, err := row.before(cmd.Context(), in)
			if err != nil {
				return err
			}
			cmd.SetContext(ctx)
		}
		return nil
	}
}

// addToAll declares the flags of all commands below cmd.
func addToAll(cmd *cobra.Command, in *input) {
	for _, c := range cmd.Commands() {
		addToAll(c, in)
		if c.Runnable() && !c.DisableFlagParsing {
			allCommands.add(c, in)
		}
	}
}

// commonNames are the names of the flags of which is says so.
func commonNames(is func(commonFlag) bool) (names []string) {
	for _, row := range commonFlags {
		if is(row) {
			names = append(names, row.name)
		}
	}
	return names
}

// passes reports whether a flag concerns how a run is shown and how long it may take, not what
// it draws; it may be given with --resume.
func passes(flag string) bool {
	own := []string{"json", "fail-on", "vars", "sort", "limit", "percentiles", "quiet", "progress", "parallel", "resume", "salvage", "overwrite", "watch", "listen", "help"}
	return slices.Contains(slices.Concat(own, commonNames(func(row commonFlag) bool { return row.passing })), flag)
}

// isPath reports whether the values of a flag are paths.
func isPath(flag string) bool {
	own := []string{"out", "init", "metric-file"}
	return slices.Contains(slices.Concat(own, commonNames(func(row commonFlag) bool { return row.path })), flag)
}
