package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ppl-lang/ppl/infer/sampler"
)

// userCommands returns the commands that are meant for users.
func userCommands() []*cobra.Command {
	root := rootCommand(&checkedWriter{Writer: io.Discard})
	return slices.DeleteFunc(root.Commands(), func(c *cobra.Command) bool { return c.Hidden })
}

// TestHelp compares the help texts with those in testdata/help.
func TestHelp(t *testing.T) {
	cases := map[string][]string{
		"ppl": {}, "run": {"run", "--help"}, "run-all": {"run", "--help-all"}, "summary": {"help", "summary"}, "completion": {"completion", "--help"},
	}
	for _, topic := range helpTopics {
		cases["topic-"+topic.name] = []string{"help", topic.name}
	}
	for name, args := range cases {
		var out, told bytes.Buffer
		if code := execute(args, &out, &told); code != 0 || told.Len() > 0 {
			t.Errorf("ppl %s: exit code %d, %s", strings.Join(args, " "), code, told.String())
		}
		path := filepath.Join("testdata", "help", name+".txt")
		if *update {
			if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != out.String() {
			t.Errorf("ppl %s differs from %s; read it, and run the test with -update:\n%s", strings.Join(args, " "), path, out.String())
		}
	}
}

// TestReadmeCommands checks that README.md lists the commands in the groups of ppl help.
func TestReadmeCommands(t *testing.T) {
	var out bytes.Buffer
	if code := execute([]string{"help"}, &out, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	_, list, begins := strings.Cut(out.String(), "Usage: ppl COMMAND …\n\n")
	list, _, ends := strings.Cut(list, "\nTopics of ppl help\n")
	if !begins || !ends {
		t.Fatalf("ppl help has no list of commands:\n%s", out.String())
	}
	path := filepath.Join("..", "..", "README.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "-update -->\n", "<!-- commands: end -->"
	before, rest, found := strings.Cut(string(raw), begin)
	shown, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("README.md has no marks around the list of commands")
	}
	want := "```text\n" + list + "```\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if shown != want {
		t.Error("the commands in README.md are not those of ppl help: run this test with -update")
	}
}

// TestHelpWidth checks that no line of a help text exceeds 80 columns, and that the output of
// --help fits a few screens.
func TestHelpWidth(t *testing.T) {
	for _, cmd := range userCommands() {
		for _, how := range []string{"--help", "--help-all"} {
			h := helping{width: helpWidth}
			h.command(cmd, how == "--help-all")
			for line := range strings.Lines(h.b.String()) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
					t.Errorf("ppl %s %s: a line of %d columns: %s", cmd.Name(), how, n, line)
				}
			}
		}
		if shown, _ := flagsByTopic(cmd, false); countFlags(shown) > 26 {
			t.Errorf("ppl %s --help shows %d flags", cmd.Name(), countFlags(shown))
		}
	}
}

func countFlags(parts []topicFlags) (n int) {
	for _, p := range parts {
		n += len(p.flags)
	}
	return n
}

// TestCommandTable checks that the table has a row for each command, in one group and with one line
// of text.
func TestCommandTable(t *testing.T) {
	root := rootCommand(&checkedWriter{Writer: io.Discard})
	seen := map[string]bool{}
	for _, row := range commandTable() {
		if seen[row.name] {
			t.Errorf("two rows for %s", row.name)
		}
		seen[row.name] = true
		if row.make != nil && row.make().Name() != row.name {
			t.Errorf("the row %s makes the command %s", row.name, row.make().Name())
		}
		if row.group != groupInside && (!slices.Contains(groupOrder, row.group) || row.text == "" || strings.HasSuffix(row.text, ".") || 17+len(row.text) > helpWidth) {
			t.Errorf("the row %s: group %q, text %q", row.name, row.group, row.text)
		}
		for _, name := range strings.Fields(row.see) {
			if !slices.ContainsFunc(helpTopics, func(h helpTopic) bool { return h.name == name }) {
				t.Errorf("the row %s: there is no topic %s", row.name, name)
			}
		}
	}
	for _, cmd := range root.Commands() {
		if !seen[cmd.Name()] {
			t.Errorf("ppl %s has no row", cmd.Name())
		}
	}
}

// TestOneCommand checks that the program of a command line that calls a command shows the same help
// of it as the whole program, and has no other command.
func TestOneCommand(t *testing.T) {
	var made []string
	for _, row := range commandTable() {
		if row.make != nil {
			made = append(made, row.name)
		}
	}
	for _, row := range commandTable() {
		if row.make == nil {
			continue
		}
		var text [2]strings.Builder
		for i, args := range [][]string{{row.name, "--help-all"}, nil} {
			root := rootCommandFor(args, &checkedWriter{Writer: &text[i]})
			if cmd, _, err := root.Find([]string{row.name}); err != nil || cmd.DisableFlagParsing || !cmd.Runnable() {
				text[i].Reset() // its flags are those of another program
				continue
			}
			root.SetArgs([]string{row.name, "--help-all"})
			if err := root.Execute(); err != nil {
				t.Errorf("ppl %s --help-all: %v", row.name, err)
			}
			for _, c := range root.Commands() {
				if i == 0 && c.Name() != row.name && slices.Contains(made, c.Name()) {
					t.Errorf("the program of ppl %s has the command %s", row.name, c.Name())
				}
			}
		}
		if text[0].String() != text[1].String() {
			t.Errorf("the help of ppl %s depends on the command line:\n%s\n%s", row.name, text[0].String(), text[1].String())
		}
	}
}

// TestFlagTable checks that every flag has one row for its command and one topic, and that every
// row has a command.
func TestFlagTable(t *testing.T) {
	table := flagTable
	used := map[int]bool{}
	byIndex := func(command, name string) (flagRow, int) {
		row, _ := rowOf(command, name)
		return row, slices.IndexFunc(table, func(r flagRow) bool { return r.name == row.name && r.of == row.of })
	}
	root := rootCommand(&checkedWriter{Writer: io.Discard})
	for _, cmd := range append(root.Commands(), root) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			about := topic(noted(f, noteTopic))
			if f.Usage == "" || !slices.Contains(append(topicOrder, topicGeneral), about) && !strings.HasPrefix(string(about), "Sampler ") {
				t.Errorf("ppl %s --%s: topic %q, text %q", cmd.Name(), f.Name, about, f.Usage)
			}
			if strings.Contains(f.Usage, "`") || strings.HasSuffix(f.Usage, ".") && !strings.Contains(f.Usage, ". ") {
				t.Errorf("ppl %s --%s: text %q", cmd.Name(), f.Name, f.Usage)
			}
			_, option := f.Value.(*samplerFlag)
			if option || strings.HasPrefix(f.Usage, "limit of a request") {
				return // tables of other packages
			}
			row, i := byIndex(cmd.Name(), f.Name)
			if i < 0 {
				t.Errorf("ppl %s --%s has no row", cmd.Name(), f.Name)
				return
			}
			used[i] = true
			if (row.value == "") != (f.NoOptDefVal == "true") {
				t.Errorf("ppl %s --%s: value %q, but it %s", cmd.Name(), f.Name, row.value, map[bool]string{true: "is a switch", false: "takes one"}[f.NoOptDefVal == "true"])
			}
		})
	}
	seen := map[string]bool{}
	for i, row := range table {
		if !used[i] {
			t.Errorf("no command has the flag %s of the row for %q", row.name, row.of)
		}
		for _, of := range append(strings.Fields(row.of), "") {
			if of == "" && row.of != "" {
				continue
			}
			if seen[row.name+" "+of] {
				t.Errorf("two rows for --%s of %q", row.name, of)
			}
			seen[row.name+" "+of] = true
		}
	}
	options := map[string]bool{}
	run, _, err := root.Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	run.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(*samplerFlag); ok {
			for _, name := range v.samplers {
				options[name] = true
			}
		}
	})
	for _, name := range sampler.Names() {
		if !options[name] && name != "fixed_param" {
			t.Errorf("ppl run has no option of the sampler %s", name)
		}
	}
	if passes("draws") || !passes("json") || !passes("resume") || isPath("draws") || !isPath("out") || !isPath("init") {
		t.Error("which flags go with --resume, which are paths")
	}
}
