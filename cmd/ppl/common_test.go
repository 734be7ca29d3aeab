package main

import (
	"io"
	"runtime"
	"testing"
	"weak"

	"github.com/spf13/cobra"
)

// TestCommonFlags checks that each flag of the table belongs to the commands of its groups and has
// a help text.
func TestCommonFlags(t *testing.T) {
	root := rootCommand(&checkedWriter{Writer: io.Discard})
	examples := map[groups][]string{readsModel: {"build"}, bindsModel: {"run", "optimize", "explain", "logdensity"}, readsFit: {"summary", "diagnose"}}
	var all func(c *cobra.Command, f func(*cobra.Command))
	all = func(c *cobra.Command, f func(*cobra.Command)) {
		for _, c := range c.Commands() {
			all(c, f)
			if c.Runnable() && !c.DisableFlagParsing {
				f(c)
			}
		}
	}
	seen := map[string]bool{}
	for _, row := range commonFlags {
		if seen[row.name] {
			t.Errorf("two rows for %s", row.name)
		}
		seen[row.name] = true
		declared := func(c *cobra.Command) {
			if f := c.Flags().Lookup(row.name); f == nil || f.Usage == "" {
				t.Errorf("%s has no flag %s, or no help for it", c.Name(), row.name)
			}
		}
		n := 0
		for g, names := range examples {
			for _, name := range names {
				if c, _, err := root.Find([]string{name}); err != nil {
					t.Fatal(err)
				} else if row.groups&g != 0 {
					declared(c)
					n++
				}
			}
		}
		if row.groups&allCommands != 0 {
			all(root, func(c *cobra.Command) { declared(c); n++ })
		}
		if n == 0 {
			t.Errorf("no command has the flag %s", row.name)
		}
	}
	n := 0
	if all(root, func(*cobra.Command) { n++ }); n < 30 {
		t.Errorf("only %d commands", n)
	}
}

// TestCommandsAreFreed checks that nothing keeps the commands of a command line that has been run.
// Servers and tests run many in a process.
func TestCommandsAreFreed(t *testing.T) {
	run := func() weak.Pointer[cobra.Command] {
		root := rootCommand(&checkedWriter{Writer: io.Discard})
		root.SetArgs([]string{"version"})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		return weak.Make(root)
	}
	made := run()
	for range 10 {
		runtime.GC()
	}
	if made.Value() != nil {
		t.Error("the commands are still held")
	}
}
