package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/front/cmdstan/executable"
	"github.com/ppl-lang/ppl/front/cmdstan/home"
	"github.com/ppl-lang/ppl/front/cmdstan/stan"
	"github.com/ppl-lang/ppl/model"
)

// cmdstanProgram runs this program under another name, as front ends of CmdStan expect it: as the
// executable of a model, or as one of CmdStan's tools. ok is false if the program was called by its
// own name.
func cmdstanProgram(args []string) (code int, ok bool) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	debug.SetGCPercent(400) // there is little garbage to collect
	return home.Dispatch(ctx, args, executable.Streams{
		Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
		Memory: func() (int64, error) {
			var limit byteSize
			err := limitMemory(&limit)
			return compile.MemoryOr(int64(limit)), err
		},
		Words: func(setting string) string {
			if setting == "memory" {
				return "the environment variable " + memoryVariable
			}
			return ""
		},
	})
}

func cmdstanHomeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cmdstan-home DIR",
		Long: `Makes a folder that looks like an installation of CmdStan to CmdStanPy, CmdStanR,
brms and other front ends: it has the makefile, bin/stanc, bin/stansummary and
bin/diagnose. ppl then runs their models, without a C++ compiler.

    ppl cmdstan-home ~/.cmdstan/cmdstan-` + stan.Version + `

CmdStanPy and CmdStanR look for CmdStan in this folder. For another folder, call
cmdstanpy.set_cmdstan_path or cmdstanr::set_cmdstan_path, or set the environment
variable CMDSTAN. The program ppl must stay where it is, or be on the PATH.

The environment variable ` + executable.EngineVariable + ` names another sampler to use instead of NUTS,
with its options: ` + executable.EngineVariable + `="ahmc batches=20".`,
		Example: "  ppl cmdstan-home ~/.cmdstan/cmdstan-" + stan.Version,
		Args:    arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			program, err := ownPath()
			if err != nil {
				return err
			}
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if err := home.Write(dir, program); err != nil {
				return fmt.Errorf("cannot make the folder: %w", err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "CmdStan %s, by ppl: %s\n", stan.Version, dir)
			return err
		},
	}
}

// buildOptions are the options of build.
type buildOptions struct {
	input      input
	output     string
	name       string
	threads    bool
	standalone bool
}

func buildCommand() *cobra.Command {
	var o buildOptions
	cmd := &cobra.Command{
		Use: "build MODEL",
		Long: `Checks a model and makes a program from it that takes CmdStan's arguments and
writes CmdStan's files: sample, optimize, laplace, pathfinder, variational,
generate_quantities, log_prob, diagnose. PROGRAM help-all lists all arguments.

The program is a script that contains the model and starts ppl. ppl must stay
where it is or be on the PATH. With --standalone, and on Windows, the program is a
copy of ppl that contains the model: 25 MB, and it needs nothing else.`,
		Example: "  ppl build bernoulli.stan -o bernoulli\n  ./bernoulli sample num_chains=4 data file=bernoulli.data.json",
		Args:    arguments("MODEL"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	readsModel.add(cmd, &o.input)
	f := declare(cmd)
	f.String(&o.output, "output", "")
	f.String(&o.name, "name", "")
	f.Bool(&o.threads, "threads", false)
	f.Bool(&o.standalone, "standalone", false)
	return cmd
}

func (o *buildOptions) run(cmd *cobra.Command, path string) error {
	model, err := model.CompileFileContext(context.Background(), path, o.input.compile)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(path, filepath.Ext(path))
	if o.output == "" {
		o.output = base
		if runtime.GOOS == "windows" {
			o.output += ".exe"
		}
	}
	if o.name == "" {
		o.name = filepath.Base(base) + "_model"
	}
	if same, _ := filepath.Abs(o.output); same == absolute(path) {
		return usagef("the program would replace the model %s; name another file by --output", path)
	}
	program, err := ownPath()
	if err != nil {
		return err
	}
	err = home.Build(o.output, program, home.Options{
		Name: o.name, File: path, Flags: map[string]bool{"STAN_THREADS": o.threads}, Compiled: model, Standalone: o.standalone,
	})
	if err != nil {
		return fmt.Errorf("cannot make the program: %w", err)
	}
	confirm(cmd.ErrOrStderr(), "Program: %s", o.output)
	return nil
}

// ownPath returns the path of this program.
func ownPath() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot tell where this program is: %w", err)
	}
	return filepath.EvalSymlinks(path)
}
