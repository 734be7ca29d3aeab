package main

import (
	"bufio"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// This file: completion of arguments and values of flags in shells.

const (
	complete  = cobra.ShellCompDirectiveNoFileComp
	goesOnAt  = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	byShell   = cobra.ShellCompDirectiveDefault
	extension = cobra.ShellCompDirectiveFilterFileExt
)

// oneOf offers words.
func oneOf(words ...string) cobra.CompletionFunc { return cobra.FixedCompletions(words, complete) }

// listOf completes a list of words separated by commas.
func listOf(words func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, given string) ([]string, cobra.ShellCompDirective) {
		return listed(given, words()), goesOnAt
	}
}

// listed completes the word after the last comma of a list.
func listed(given string, words []string) (out []string) {
	before := given[:strings.LastIndex(given, ",")+1]
	for _, w := range words {
		if strings.HasPrefix(w, given[len(before):]) && !slices.Contains(strings.Split(before, ","), w) {
			out = append(out, before+w)
		}
	}
	return out
}

func anyFile(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, byShell
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func modelFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"stan", "model", "ppl"}, extension
}

func dataFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"json", "csv", "R", "dump", "gz"}, extension
}

// dataArg offers files of data.
func dataArg(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
	return firstOnly(args, dataFiles, cmd, given)
}

// initValues offers values of --init: the word pathfinder, or the folder of a run.
func initValues(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
	runs, how := runFolders(cmd, args, given)
	if cmd.Name() == "run" && strings.HasPrefix("pathfinder", given) {
		runs = append(runs, "pathfinder")
	}
	return runs, how
}

// runFolders offers folders with runs, and their parent folders.
func runFolders(_ *cobra.Command, _ []string, given string) ([]string, cobra.ShellCompDirective) {
	return pathsLike(given, func(path string) bool { return isFolder(path) && isFile(filepath.Join(path, folder.RecordFile)) })
}

// pathsLike offers the paths that begin with the given text: files and folders that match, and
// other folders, which the user may enter.
func pathsLike(given string, match func(path string) bool) (out []string, how cobra.ShellCompDirective) {
	how = complete
	dir, begin := filepath.Split(given)
	at := dir
	if rest, ok := strings.CutPrefix(dir, "~"+string(filepath.Separator)); ok {
		home, _ := os.UserHomeDir()
		at = filepath.Join(home, rest)
	}
	if at == "" {
		at = "."
	}
	entries, _ := os.ReadDir(at)
	for _, e := range entries {
		path := filepath.Join(at, e.Name())
		if !strings.HasPrefix(e.Name(), begin) || begin == "" && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		switch {
		case match(path):
			out = append(out, dir+e.Name())
		case isFolder(path):
			out = append(out, dir+e.Name()+string(filepath.Separator))
			how = goesOnAt
		}
	}
	return out, how
}

// Arguments of commands.

func noArgs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, complete
}

func anyArg(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, byShell
}

// firstOnly offers completions for the first argument only.
func firstOnly(args []string, offer cobra.CompletionFunc, cmd *cobra.Command, given string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, complete
	}
	return offer(cmd, args, given)
}

func modelArg(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
	return firstOnly(args, modelFiles, cmd, given)
}

func modelArgs(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
	return modelFiles(cmd, args, given)
}

func runArg(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
	return firstOnly(args, runFolders, cmd, given)
}

func folderArg(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
	return firstOnly(args, folders, cmd, given)
}

// runsArg offers folders of runs, and CSV files of draws.
func runsArg(_ *cobra.Command, _ []string, given string) ([]string, cobra.ShellCompDirective) {
	return pathsLike(given, func(path string) bool {
		return strings.EqualFold(filepath.Ext(path), ".csv") || isFolder(path) && isFile(filepath.Join(path, folder.RecordFile))
	})
}

// modelOrRunArg offers models, and folders of runs.
func modelOrRunArg(_ *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, complete
	}
	return pathsLike(given, func(path string) bool {
		return slices.Contains(readable, strings.ToLower(filepath.Ext(path))) || isFolder(path) && isFile(filepath.Join(path, folder.RecordFile))
	})
}

// functionArg offers the names of the library.
func functionArg(_ *cobra.Command, args []string, given string) (out []string, how cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, complete
	}
	for _, f := range stdlib.Families() {
		for _, n := range f.Names {
			if strings.HasPrefix(n, "operator") {
				continue
			}
			for _, suffix := range stdlib.DistributionSuffixes {
				if base, ok := strings.CutSuffix(n, suffix); ok && len(stdlib.Language().Documented(base)) > 0 {
					n = base
					break
				}
			}
			if strings.HasPrefix(n, given) {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), complete
}

// codeArg offers the codes of messages.
func codeArg(_ *cobra.Command, args []string, _ string) (out []string, how cobra.ShellCompDirective) {
	if len(args) == 0 {
		for _, e := range diag.Explanations() {
			out = append(out, cobra.CompletionWithDesc(string(e.Code), e.Title))
		}
	}
	return out, complete
}

// metricChoices returns the values of --metric of samplers.
func metricChoices() []string {
	var names []string
	for _, k := range infer.MetricKinds() {
		names = append(names, string(k))
	}
	for _, k := range riemann.Kinds() {
		names = append(names, string(k))
	}
	return names
}

// variables offers the variables of the model or run that a command is about: data for flags that
// name data, otherwise variables with draws.
func variables(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
	return listed(given, variablesOf(cmd, args, ast.Parameters, ast.TransformedParameters, ast.GeneratedQuantities)), goesOnAt
}

// dataNames offers the data of the model or run that a command is about.
func dataNames(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
	return variablesOf(cmd, args, ast.Data), complete
}

// variablesOf returns the variables that blocks of the model declare.
func variablesOf(cmd *cobra.Command, args []string, blocks ...ast.BlockKind) []string {
	paths := slices.Clone(args)
	for _, name := range []string{"fit", "resume", "model"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			paths = append(paths, f.Value.String())
		}
	}
	found := map[string]bool{}
	for _, path := range paths {
		if isFolder(path) {
			if record, err := folder.Read(path); err == nil {
				if m, err := record.ReadModel(path); err == nil {
					declaredIn(source.NewFile(m.Name, m.Text), blocks, found)
				}
			}
			continue
		}
		if strings.EqualFold(filepath.Ext(path), ".csv") {
			columnsOf(path, found)
			continue
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue // a pipe that is used up or waits for its writer
		}
		if text, err := source.ReadFile(path, 0); err == nil {
			declaredIn(source.NewFile(path, text), blocks, found)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// declaredIn adds the variables that blocks of a program declare.
func declaredIn(f *source.File, blocks []ast.BlockKind, found map[string]bool) {
	tree, _ := lang.Parse(f)
	if tree == nil {
		return
	}
	for _, kind := range blocks {
		block := tree.Block(kind)
		if block == nil {
			continue
		}
		for _, s := range block.Stmts {
			if d, ok := s.(*ast.VarDecl); ok {
				found[d.Name.Name] = true
			}
		}
	}
}

// columnsOf adds the variables that a file of draws has.
func columnsOf(path string, found map[string]bool) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		for name := range strings.SplitSeq(line, ",") {
			if !strings.HasSuffix(name, "__") {
				name, _, _ = strings.Cut(name, ".")
				found[name] = true
			}
		}
		return
	}
}
