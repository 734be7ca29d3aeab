package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ppl-lang/ppl/lang/diag"
)

// This file: suggestions for wrong command lines. Many users know the commands and flags of other
// programs.

// otherCommands maps the names of commands in other tools to those of ppl.
var otherCommands = map[string]string{
	"sample": "run", "fit": "run", "mcmc": "run", "nuts": "run", "sampling": "run",
	"stansummary": "summary", "summarize": "summary", "summarise": "summary", "print": "summary",
	"plot": "report", "plots": "report", "html": "report", "dashboard": "run --watch", "watch": "run --watch", "view": "report", "shinystan": "report",
	"compile": "check", "build": "check", "stanc": "check", "lint": "check", "validate": "check",
	"format": "fmt", "help-all": "help",
	"generate_quantities": "generate", "generated": "generate", "gq": "generate",
	"posterior_predict": "predict", "pp_check": "ppc",
	"optimise": "optimize", "optimizing": "optimize", "map": "optimize", "mle": "optimize", "laplace_sample": "laplace",
	"advi": "variational", "vb": "variational", "meanfield": "variational", "fullrank": "variational",
	"waic": "loo", "psis": "loo", "kfold": "cv", "loo_compare": "compare", "stacking": "compare",
	"marginaleffects": "effects", "slopes": "effects", "comparisons": "effects", "contrasts": "effects", "emmeans": "effects", "projpred": "select", "varsel": "select", "cv_varsel": "select", "project": "select", "bridgesampling": "evidence", "bayesfactor": "evidence", "marginal": "evidence", "powerscale": "sensitivity", "priorsense": "sensitivity", "calibrate": "sbc", "predictive": "ppc",
	"log_prob": "logdensity", "logprob": "logdensity",
	"profile": "explain", "documentation": "docs", "diagnostics": "diagnose",
	"resume": "run --resume", "continue": "run --resume",
}

// otherFlags maps the names of options in other tools to those of ppl.
var otherFlags = map[string]string{
	"num-samples": "draws", "samples": "draws", "iter": "draws", "iter-sampling": "draws", "n-draws": "draws", "num-draws": "draws", "ndraws": "draws",
	"num-warmup": "warmup", "iter-warmup": "warmup", "tune": "warmup", "burnin": "warmup", "burn-in": "warmup", "n-warmup": "warmup",
	"num-chains": "chains", "nchains": "chains", "n-chains": "chains",
	"max-treedepth": "max-depth", "max-tree-depth": "max-depth", "treedepth": "max-depth",
	"adapt-delta": "delta", "target-accept": "delta", "accept": "delta",
	"cores": "parallel", "num-threads": "parallel", "threads": "parallel", "parallel-chains": "parallel", "threads-per-chain": "parallel", "jobs": "parallel",
	"output": "out", "output-dir": "out", "out-dir": "out", "output-file": "out", "file": "data", "data-file": "data",
	"step-size": "stepsize", "algorithm": "sampler", "engine": "sampler", "method": "sampler",
	"inits": "init", "init-file": "init", "inv-metric": "metric-file", "random-seed": "seed",
	"include-paths": "include-path", "force": "overwrite", "save-warmup-draws": "save-warmup",
	"thinning": "thin", "timeout": "time-limit", "ess": "target-ess", "probs": "percentiles", "quantiles": "percentiles",
	"variables": "vars", "pars": "vars", "parameters": "vars",
	"sets": "simulations", "sims": "simulations", "n-sims": "simulations", "num-simulations": "simulations", "replications": "simulations",
	"k": "folds", "kfold": "folds", "nfolds": "folds", "n-folds": "folds", "group": "by", "groups": "by", "group-by": "by",
	"newdata": "data", "new-data": "data", "reloo": "exact",
}

// readable are the extensions of models.
var readable = []string{".stan", ".model", ".ppl"}

// commandHelp suggests a command for an unknown word.
func commandHelp(root *cobra.Command, word string, args []string) string {
	rest := ""
	if len(args) > 1 {
		rest = " …"
	}
	info, err := os.Stat(word)
	switch ext := strings.ToLower(filepath.Ext(word)); {
	case slices.Contains(readable, ext):
		return "to draw from the posterior of a model, write: ppl run " + word + rest
	case err == nil && info.IsDir():
		return "to look at a run again, write: ppl summary " + word
	case ext == ".csv":
		return "to summarise draws, write: ppl summary " + word + rest
	}
	if own, ok := otherCommands[strings.ToLower(word)]; ok {
		return "here it is: ppl " + own
	}
	names := func(yield func(string) bool) {
		for _, c := range root.Commands() {
			if !yield(c.Name()) {
				return
			}
		}
	}
	if near := diag.Nearest(word, names); near != "" {
		return "did you mean: ppl " + near
	}
	return ""
}

var (
	unknownFlag    = regexp.MustCompile(`^unknown flag: --(\S+)`)
	cmdstanSetting = regexp.MustCompile(`^([a-z_]+)=(\S*)$`)
)

// flagHelp suggests a flag for an unknown one.
func flagHelp(cmd *cobra.Command, err error) string {
	m := unknownFlag.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	return optionHelp(cmd, m[1], "")
}

// optionHelp returns the flag of a command for an option of CmdStan or another program.
func optionHelp(cmd *cobra.Command, name, value string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	own, known := otherFlags[name]
	if !known {
		own = name
	}
	if cmd.Flags().Lookup(own) == nil {
		names := func(yield func(string) bool) {
			more := true
			cmd.Flags().VisitAll(func(f *pflag.Flag) { more = more && yield(f.Name) })
		}
		if own = diag.Nearest(name, names); own == "" {
			return ""
		}
	}
	if value != "" {
		value = " " + value
	}
	text := "--" + own + value
	if name == "iter" {
		text += ", the number of draws after warm-up, whose transitions are --warmup"
	}
	return text
}

// argumentHelp suggests the intended meaning of a superfluous argument.
func argumentHelp(cmd *cobra.Command, arg string) string {
	if m := cmdstanSetting.FindStringSubmatch(arg); m != nil {
		return optionHelp(cmd, m[1], m[2])
	}
	name := strings.ToLower(strings.TrimSuffix(arg, ".gz"))
	for _, ext := range []string{".json", ".csv", ".r", ".dump"} {
		if strings.HasSuffix(name, ext) && cmd.Flags().Lookup("data") != nil {
			return "--data " + arg
		}
	}
	return ""
}

// nearFile returns the file whose name is nearest to that of a missing file, in the same folder; ""
// if no name is near.
func nearFile(err error) string {
	e, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	entries, err := os.ReadDir(filepath.Dir(e.Path))
	if err != nil {
		return ""
	}
	stem := func(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
	wanted := stem(filepath.Base(e.Path))
	byStem := map[string]string{}
	for _, entry := range entries {
		if name := entry.Name(); !entry.IsDir() && (byStem[stem(name)] == "" || filepath.Ext(name) == filepath.Ext(e.Path)) {
			byStem[stem(name)] = name
		}
	}
	near := byStem[wanted] // with another extension
	if near == "" {
		near = byStem[diag.Nearest(wanted, maps.Keys(byStem))]
	}
	if near == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(e.Path), near)
}

// meant adds a suggestion to an error, unless it is empty.
func meant(err error, help string) error {
	if help == "" {
		return err
	}
	return fmt.Errorf("%w; did you mean %s?", err, help)
}
