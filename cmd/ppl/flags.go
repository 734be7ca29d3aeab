package main

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ppl-lang/ppl/front/serve"
)

// This file: declaration of flags by name; the table of flags has everything else.

// Annotations of flags: what the program knows about a flag beyond package pflag.
const (
	noteTopic  = "topic"
	noteCommon = "common"
	noteValue  = "value"
	noteBy     = "by"
	noteEnv    = "env"
	notePath   = "path"
	noteOrigin = "origin" // where the value was set, unless it is the command line or the default
)

// declaring declares the flags of a command.
type declaring struct {
	cmd *cobra.Command
	set *pflag.FlagSet
}

// declare prepares a command for the declaration of its flags.
func declare(cmd *cobra.Command) declaring {
	set := cmd.Flags()
	set.SortFlags = false
	set.SetNormalizeFunc(dashes)
	return declaring{cmd, set}
}

// dashes allows underscores in the names of flags, since other programs write them so.
func dashes(f *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-")
	if name == "adapt-delta" && f.Lookup("delta") != nil {
		return "delta" // the name in this program
	}
	return pflag.NormalizedName(name)
}

// rowOf returns the table row of a flag of a command.
func rowOf(command, name string) (flagRow, bool) {
	found := -1
	for i, row := range flagTable {
		if row.name != name {
			continue
		}
		if row.of == "" && found < 0 || slices.Contains(strings.Fields(row.of), command) {
			found = i
		}
	}
	if found < 0 {
		return flagRow{}, false
	}
	return flagTable[found], true
}

// Value declares a flag that stores its value in to.
func (d declaring) Value(to pflag.Value, name string) *pflag.Flag {
	row, _ := rowOf(d.cmd.Name(), name) // a test checks that the row exists
	f := d.set.VarPF(to, name, row.short, row.text)
	d.note(f, row.topic, row.common, row.value)
	if row.by != "" {
		f.Annotations[noteBy] = []string{string(row.by)}
	}
	if row.env != "" {
		f.Annotations[noteEnv] = []string{row.env}
	}
	if row.path {
		f.Annotations[notePath] = []string{"true"}
	}
	values := row.values
	if values == nil {
		values = cobra.NoFileCompletions
	}
	d.complete(name, values)
	return f
}

// completing is whether this process completes a command line for a shell.
var completing = len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "__complete")

// complete sets the function that completes the values of a flag in shells. Only a process that
// completes a command line sets it: package cobra keeps such functions in a global map, and with
// them the flags and their commands, 1.5 MB for each command line that a process runs.
func (d declaring) complete(name string, values cobra.CompletionFunc) {
	if !completing {
		return
	}
	if err := d.cmd.RegisterFlagCompletionFunc(name, values); err != nil {
		panic(err) // the flag is not declared, or was completed twice
	}
}

// note stores the properties of a flag that help needs.
func (d declaring) note(f *pflag.Flag, about topic, common bool, value string) {
	f.Annotations = map[string][]string{noteTopic: {string(about)}, noteValue: {value}}
	if common {
		f.Annotations[noteCommon] = []string{"true"}
	}
}

// noted returns a note about a flag; "" if there is none.
func noted(f *pflag.Flag, name string) string {
	if values := f.Annotations[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// declareAs declares a flag of one of pflag's types. It lets add make the value in a separate set.
func (d declaring) declareAs(name string, add func(*pflag.FlagSet)) *pflag.Flag {
	var apart pflag.FlagSet
	add(&apart)
	made := apart.Lookup(name)
	f := d.Value(made.Value, name)
	f.DefValue, f.NoOptDefVal = made.DefValue, made.NoOptDefVal
	return f
}

// Bool declares a switch.
func (d declaring) Bool(to *bool, name string, value bool) *pflag.Flag {
	return d.declareAs(name, func(s *pflag.FlagSet) { s.BoolVar(to, name, value, "") })
}

// Int declares a flag with an integer.
func (d declaring) Int(to *int, name string, value int) *pflag.Flag {
	return d.declareAs(name, func(s *pflag.FlagSet) { s.IntVar(to, name, value, "") })
}

// Int64 declares a flag with an integer.
func (d declaring) Int64(to *int64, name string, value int64) *pflag.Flag {
	return d.declareAs(name, func(s *pflag.FlagSet) { s.Int64Var(to, name, value, "") })
}

// Uint64 declares a flag with an integer that is not negative.
func (d declaring) Uint64(to *uint64, name string, value uint64) *pflag.Flag {
	return d.declareAs(name, func(s *pflag.FlagSet) { s.Uint64Var(to, name, value, "") })
}

// Float64 declares a flag with a number.
func (d declaring) Float64(to *float64, name string, value float64) *pflag.Flag {
	return d.declareAs(name, func(s *pflag.FlagSet) { s.Float64Var(to, name, value, "") })
}

// Duration declares a flag with a time.
func (d declaring) Duration(to *time.Duration, name string, value time.Duration) *pflag.Flag {
	return d.declareAs(name, func(s *pflag.FlagSet) { s.DurationVar(to, name, value, "") })
}

// String declares a flag with a text.
func (d declaring) String(to *string, name, value string) *pflag.Flag {
	return d.declareAs(name, func(s *pflag.FlagSet) { s.StringVar(to, name, value, "") })
}

// Strings declares a flag that may be repeated.
func (d declaring) Strings(to *[]string, name string, value []string) *pflag.Flag {
	return d.declareAs(name, func(s *pflag.FlagSet) { s.StringArrayVar(to, name, value, "") })
}

// List declares a flag with texts, separated by commas.
func (d declaring) List(to *[]string, name string, value []string) *pflag.Flag {
	return d.declareAs(name, func(s *pflag.FlagSet) { s.StringSliceVar(to, name, value, "") })
}

// Numbers declares a flag with numbers, separated by commas.
func (d declaring) Numbers(to *[]float64, name string, value []float64) *pflag.Flag {
	return d.declareAs(name, func(s *pflag.FlagSet) { s.Float64SliceVar(to, name, value, "") })
}

// limit declares the flag for a limit of ppl serve.
func (d declaring) limit(row serve.Limit, limits *serve.Limits) {
	var apart pflag.FlagSet
	name := "max-" + row.Name
	apart.Int64Var(row.Of(limits), name, row.Default, "limit of a request: "+row.Doc)
	f := apart.Lookup(name)
	d.note(f, topicLimits, false, strings.ToUpper(row.Unit))
	d.set.AddFlag(f)
	d.complete(name, cobra.NoFileCompletions)
}
