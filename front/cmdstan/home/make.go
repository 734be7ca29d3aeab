package home

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/front/cmdstan/stan"
)

// make does what front ends use make for in a CmdStan folder, without a makefile: models,
// print-NAME, and targets for which nothing needs to be done. It is for systems that have no make.
func (d *dispatcher) make(ctx context.Context, args []string) int {
	variables := map[string][]string{"CMDSTAN_VERSION": {stan.Version}}
	d.readLocal(variables)
	var targets []string
	for _, arg := range args {
		if name, value, ok := strings.Cut(arg, "="); ok && !strings.HasPrefix(arg, "-") {
			if plus, more := strings.CutSuffix(strings.TrimSpace(name), "+"); more {
				variables[strings.TrimSpace(plus)] = append(variables[strings.TrimSpace(plus)], strings.TrimSpace(value))
			} else {
				variables[strings.TrimSpace(name)] = []string{strings.TrimSpace(value)}
			}
			continue
		}
		if !strings.HasPrefix(arg, "-") {
			targets = append(targets, arg)
		}
	}
	for _, target := range targets {
		if code := d.target(ctx, target, variables); code != 0 {
			fmt.Fprintf(d.Err, "make: *** [%s] Error %d\n", target, code)
			return 2
		}
	}
	return 0
}

// readLocal reads the settings in make/local.
func (d *dispatcher) readLocal(variables map[string][]string) {
	text, err := os.ReadFile(filepath.Join("make", "local"))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if plus, more := strings.CutSuffix(name, "+"); more {
			name, value = strings.TrimSpace(plus), strings.Join(append(variables[strings.TrimSpace(plus)], value), " ")
		}
		variables[strings.TrimRight(name, ":?")] = []string{value}
	}
}

// idle lists the targets for which nothing needs to be done.
var idle = []string{"build", "clean", "clean-all", "clean-deps", "help", "install-tbb", "stan-update"}

func (d *dispatcher) target(ctx context.Context, target string, variables map[string][]string) int {
	if name, ok := strings.CutPrefix(target, "print-"); ok {
		fmt.Fprintln(d.Out, strings.TrimRight(name+" = "+strings.Join(variables[name], " "), " "))
		return 0
	}
	if slices.Contains(idle, target) {
		fmt.Fprintf(d.Out, "--- CmdStan v%s built ---\n", stan.Version)
		return 0
	}
	for _, tool := range toolNames() {
		path := filepath.Join("bin", toolFile(tool))
		if strings.TrimSuffix(filepath.Clean(filepath.FromSlash(target)), ".exe") != strings.TrimSuffix(path, ".exe") {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			fmt.Fprintf(d.Out, "make: '%s' is up to date.\n", target)
		} else if err := writeTools("bin", d.program, tool); err != nil {
			fmt.Fprintln(d.Err, err)
			return 1
		}
		return 0
	}
	model := strings.TrimSuffix(target, ".exe") + ".stan"
	from, err := os.Stat(model)
	if err != nil {
		fmt.Fprintf(d.Err, "make: *** No rule to make target '%s'.  Stop.\n", target)
		return 2
	}
	if runtime.GOOS == "windows" && filepath.Ext(target) != ".exe" {
		target += ".exe"
	}
	if to, err := os.Stat(target); err == nil && !from.ModTime().After(to.ModTime()) {
		fmt.Fprintf(d.Out, "make: '%s' is up to date.\n", target)
		return 0
	}
	args := words(strings.Join(variables["STANCFLAGS"], " "))
	for _, flag := range append(slices.Clone(stan.Flags), "USER_HEADER") {
		if value := strings.Join(variables[flag], " "); value != "" {
			args = append(args, flag+"="+value)
		}
	}
	return d.buildTool(ctx, append(args, executableOption+target, model))
}

// words splits a line as a shell does: blanks within quotes or after backslashes are kept.
func words(line string) []string {
	var all []string
	var word strings.Builder
	quote, open := byte(0), false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			open = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, open = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if open {
				all = append(all, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		all = append(all, word.String())
	}
	return all
}
