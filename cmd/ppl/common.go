package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
)

// This file has the table of flags that several commands share. A row declares its flag for all
// commands of its groups.

// groups are sets of commands.
type groups uint8

const (
	allCommands groups = 1 << iota // all commands except help
	readsModel                     // the model, without data
	bindsModel                     // model and data
	readsFit                       // commands that read runs, with or without the model
	readsData                      // commands that read data and perhaps a model
	readsTable                     // a table alone
	writesStan                     // a model, and its data if it is written for Stan
)

// commonFlag is a row of the table.
type commonFlag struct {
	name   string
	groups groups
	add    func(f declaring, name string, in *input)
	// before is called before the command runs. It gets the context of the command and returns the
	// context that the command runs in. It may be nil.
	before func(ctx context.Context, in *input) (context.Context, error)
}

// commonFlags is the table, in the order of help texts.
var commonFlags = []commonFlag{
	{name: "data", groups: bindsModel | readsTable | writesStan, add: func(f declaring, name string, in *input) {
		f.Value(&dataFlag{in}, name)
	}},
	{name: "nonmem", groups: bindsModel | writesStan, add: func(f declaring, name string, in *input) {
		f.Value(&nonmemFlag{dataFlag{in}}, name)
	}},
	{name: "count", groups: bindsModel | readsData | writesStan, add: func(f declaring, name string, in *input) {
		f.Strings(&in.counts, name, nil)
	}},
	{name: "na", groups: bindsModel | readsData | readsTable | writesStan, add: func(f declaring, name string, in *input) {
		f.Strings(&in.na, name, nil)
	}},
	{name: "missing", groups: bindsModel | readsData | readsTable | writesStan, add: func(f declaring, name string, in *input) {
		f.Strings(&in.missing, name, nil)
	}},
	{name: "read", groups: bindsModel | readsData | readsTable | writesStan, add: func(f declaring, name string, in *input) {
		f.Strings(&in.how, name, nil)
	}},
	{name: "max-data", groups: bindsModel | readsData | readsTable | writesStan, add: func(f declaring, name string, in *input) {
		f.Value(&in.maxData, name)
	}},
	{name: "max-print", groups: bindsModel, add: func(f declaring, name string, in *input) {
		f.Value(&in.maxPrint, name)
	}},
	{name: "stan-compat", groups: bindsModel, add: func(f declaring, name string, in *input) {
		f.String(&in.stanCompat, name, "")
	}},
	{name: "memory", groups: bindsModel | readsFit | readsData | readsTable, add: func(f declaring, name string, in *input) {
		f.Value(&in.memory, name)
	}},
	{name: "statements", groups: bindsModel, add: func(f declaring, name string, in *input) {
		f.Int64(&in.statements, name, 0)
	}},
	{name: "time-limit", groups: bindsModel, before: limitTime, add: func(f declaring, name string, in *input) {
		f.Duration(&in.timeLimit, name, 0)
	}},
	{name: "include-path", groups: readsModel | bindsModel | readsData | writesStan, add: func(f declaring, name string, in *input) {
		f.Strings(&in.compile.IncludePaths, name, nil)
	}},
	{name: "legacy", groups: readsModel | bindsModel | readsData, add: func(f declaring, name string, in *input) {
		f.Bool(&in.compile.Legacy, name, false)
	}},
	{name: "color", groups: allCommands, add: func(f declaring, name string, in *input) {
		f.Value(&in.color, name)
	}},
	{name: "no-config", groups: allCommands, add: func(f declaring, name string, in *input) {
		f.Bool(&in.noConfig, name, false)
	}},
	{name: "show-config", groups: allCommands, add: func(f declaring, name string, in *input) {
		f.Bool(&in.showConfig, name, false)
	}},
	{name: "max-source", groups: readsModel | bindsModel | readsData, add: func(f declaring, name string, in *input) {
		f.Value((*byteSize)(&in.compile.MaxSource), name)
	}},
}

// add declares the flags that belong to these groups.
func (g groups) add(cmd *cobra.Command, in *input) {
	var before []commonFlag
	for _, row := range commonFlags {
		if row.groups&g == 0 {
			continue
		}
		row.add(declare(cmd), row.name, in)
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

// addToAll declares the flags that all commands below cmd have. The flag --help-all sets all.
func addToAll(cmd *cobra.Command, in *input, all *bool) {
	for _, c := range cmd.Commands() {
		addToAll(c, in, all)
		if !c.Runnable() || c.DisableFlagParsing {
			continue
		}
		allCommands.add(c, in)
		f := declare(c)
		f.Bool(new(bool), "help", false)
		f.Value(&helpAll{c, all}, "help-all").NoOptDefVal = "true"
		if c.Args != nil {
			wants := c.Args
			c.Args = func(cmd *cobra.Command, args []string) error {
				if in.showConfig {
					return nil
				}
				return wants(cmd, args)
			}
		}
	}
}

// helpAll is the value of --help-all, which shows the help like --help but with all flags.
type helpAll struct {
	cmd *cobra.Command
	all *bool
}

// Set implements pflag.Value.
func (h *helpAll) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil || !on {
		return err
	}
	*h.all = true
	return h.cmd.Flags().Set("help", "true")
}

// String implements pflag.Value.
func (h *helpAll) String() string { return "" }

// Type implements pflag.Value.
func (h *helpAll) Type() string { return "bool" }

// passes reports whether a flag concerns the presentation of a run or its time limit, not its
// draws. Such a flag may be given with --resume.
func passes(flag string) bool {
	row, _ := rowOf("run", flag)
	return row.passing
}

// isPath reports whether the values of a flag are paths.
func isPath(flag string) bool {
	row, _ := rowOf("run", flag)
	return row.path
}
