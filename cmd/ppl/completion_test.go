package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/folder"
)

// completed returns what bash offers after a line has been typed. It calls the function that ppl
// completion installs, without the package bash-completion, and this test binary acts as ppl.
func completed(t *testing.T, dir, line string) []string {
	t.Helper()
	words := strings.Split(line, " ")
	script := `source ./completion.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=63
compopt() { :; }
__start_ppl
printf '%s\n' "${COMPREPLY[@]}"`
	cmd := exec.Command("bash", append([]string{"--norc", "-c", script, "bash"}, words...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	var offered []string
	for word := range strings.Lines(string(out)) {
		word, _, _ = strings.Cut(strings.TrimSpace(word), " ")
		if word != "" {
			offered = append(offered, word)
		}
	}
	return offered
}

// TestCompletion checks that bash completes commands, flags and values.
func TestCompletion(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "ppl")); err != nil { // TestMain runs it as ppl
		t.Skip(err)
	}
	write("m.stan", "data { int group; }\nparameters { real alpha; vector[2] beta; }\ntransformed parameters { real gamma; }\nmodel {}\ngenerated quantities { real y_rep; }\n", 0o644)
	write("other.txt", "", 0o644)
	write("runs/fit/other.txt", "", 0o644)
	record := &folder.Record{Program: "ppl", Model: "m.stan", Name: "m", Options: map[string][]string{}}
	kept := filepath.Join(dir, "runs", "fit")
	err = record.Keep(kept, &folder.Source{Name: "m.stan", Text: "parameters { real delta; }\nmodel {}\n"}, data.Empty())
	if err := errors.Join(err, record.Write(kept)); err != nil {
		t.Fatal(err)
	}
	write("runs/nothing/else.txt", "", 0o644)
	write("d.json", "{}", 0o644)
	write("draws_1.csv", "# a comment\nlp__,accept_stat__,mu,theta.1,theta.2\n1,1,1,1,1\n", 0o644)
	out, err := exec.Command(filepath.Join(dir, "ppl"), "completion", "bash").Output()
	if err != nil {
		t.Fatal(err)
	}
	write("completion.bash", string(out), 0o644)
	for _, c := range []struct {
		line string
		want string // all offers; after "…" some of the offers
	}{
		{"ppl summ", "summary"},
		{"ppl help sam", "samplers"},
		{"ppl help env", "environment"},
		{"ppl run --sampler nu", "nuts nuts2011"},
		{"ppl run --metric di", "diag_e"},
		{"ppl run --reward esjd_r", "esjd_realised"},
		{"ppl run --format ", "csv zarr"},
		{"ppl run --color ", "auto always never"},
		{"ppl convert --to par", "parquet"},
		{"ppl run --groups log_likelihood,pri", "log_likelihood,prior"},
		{"ppl run ", "runs m.stan"},
		{"ppl check m", "m.stan"},
		{"ppl run m.stan -d d", "d.json draws_1.csv"},
		{"ppl run m.stan --vars ", "alpha beta gamma y_rep"},
		{"ppl run m.stan --vars alpha,b", "alpha,beta"},
		{"ppl cv m.stan --by ", "group"},
		{"ppl summary runs/fit --vars ", "delta"},
		{"ppl summary draws_1.csv --vars ", "mu theta"},
		{"ppl summary d", "draws_1.csv"},
		{"ppl summary runs/", "runs/fit runs/nothing/"},
		{"ppl run --resume runs/f", "runs/fit"},
		{"ppl run --init p", "pathfinder"},
		{"ppl doc student", "student_t student_t_qf"},
		{"ppl explain-error E030", "… E0301"},
		{"ppl run --target", "--target-ess"},
		{"ppl run m.stan --chains ", ""},
		{"ppl version x", ""},
	} {
		got := completed(t, dir, c.line)
		if some, ok := strings.CutPrefix(c.want, "… "); ok {
			for _, w := range strings.Fields(some) {
				if !slices.Contains(got, w) {
					t.Errorf("%q: %q", c.line, got)
				}
			}
		} else if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

// TestOtherShells checks the scripts for zsh, fish and PowerShell in those of the shells that are
// installed. Afterwards zsh must have a completion for the command, and fish must complete a
// command line.
func TestOtherShells(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "ppl")); err != nil { // TestMain runs it as ppl
		t.Skip(err)
	}
	for _, c := range []struct {
		shell, script string
		args          []string
		want          string
	}{
		{"zsh", "zsh", []string{"-f", "-c", "autoload -U compinit; compinit -u -D; zsh -n script && source ./script && print -r -- $_comps[ppl]"}, "_ppl"},
		{"fish", "fish", []string{"--no-config", "-c", "fish -n script; and source ./script; and complete -C 'ppl run --sampler nu'"}, "nuts\nnuts2011"},
		{"pwsh", "powershell", []string{"-NoProfile", "-Command", "$e = $null; [void][System.Management.Automation.Language.Parser]::ParseFile(\"$PWD/script\", [ref]$null, [ref]$e); \"$($e.Count) errors\""}, "0 errors"},
	} {
		t.Run(c.shell, func(t *testing.T) {
			if _, err := exec.LookPath(c.shell); err != nil {
				t.Skipf("there is no %s here: the script is not tried", c.shell)
			}
			script, err := exec.Command(filepath.Join(dir, "ppl"), "completion", c.script).Output()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "script"), script, 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(c.shell, c.args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HOME="+dir, "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
				t.Errorf("%q, want %q (%v)", got, c.want, err)
			}
		})
	}
}
