package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/study"
)

// engineFlags has the options that say where the fits of a study are made.
type engineFlags struct {
	name     string
	parallel int
	tasks    int
	sbatch   []string

	nats, natsToken, natsCA string
}

// engineNames lists the values that --engine accepts.
var engineNames = []string{"local", "slurm", "nats"}

func (o *engineFlags) flags(cmd *cobra.Command) {
	f := declare(cmd)
	f.String(&o.name, "engine", engineNames[0])
	f.Int(&o.parallel, "parallel", 0)
	f.Int(&o.tasks, "tasks", 0)
	f.Strings(&o.sbatch, "sbatch", nil)
	f.String(&o.nats, "nats", "nats://127.0.0.1:4222")
	f.String(&o.natsToken, "nats-token-file", "")
	f.String(&o.natsCA, "nats-ca", "")
}

// natsProgram sends fits to workers; see its documentation.
const natsProgram = "ppl-nats"

// build makes the engine.
func (o *engineFlags) build(folder string) (study.Engine, error) {
	if o.parallel < 0 || o.tasks < 0 {
		return nil, usagef("--parallel and --tasks must be at least 1")
	}
	if o.name != "slurm" && o.sbatch != nil {
		return nil, usagef("--sbatch goes with --engine slurm")
	}
	switch o.name {
	case "local":
		return study.Local{Parallel: o.parallel}, nil
	case "slurm":
		if folder == "" {
			return nil, usagef("--engine slurm needs --out: a folder that all nodes share")
		}
		return study.Slurm{Tasks: o.arrayTasks(), Parallel: o.parallel, Options: o.sbatch}, nil
	}
	if o.name == "nats" {
		path, err := exec.LookPath(natsProgram)
		if err != nil {
			return nil, fmt.Errorf("--engine nats needs the program %s, which is not on the PATH; install it by: go install github.com/ppl-lang/ppl/cmd/%s@latest", natsProgram, natsProgram)
		}
		command := []string{path, "run", o.nats}
		if o.natsToken != "" {
			command = append(command, "--token-file", o.natsToken)
		}
		if o.natsCA != "" {
			command = append(command, "--ca", o.natsCA)
		}
		return study.Program{Command: command}, nil
	}
	return nil, usagef("there is no engine %q; it can be %s", o.name, strings.Join(engineNames, ", "))
}

func (o *engineFlags) arrayTasks() int {
	if o.tasks == 0 {
		return 10
	}
	return o.tasks
}

// manifestFlags has the options for writing files for schedulers.
type manifestFlags struct {
	kind string
	study.Manifest
}

func (o *manifestFlags) flags(cmd *cobra.Command) {
	f := declare(cmd)
	f.String(&o.kind, "manifest", "")
	f.String(&o.Name, "job-name", "ppl-study")
	f.String(&o.Image, "image", "")
	f.String(&o.Mount, "mount", "/study")
	f.String(&o.Volume, "volume", "")
	f.String(&o.Queue, "queue", "")
	f.Int(&o.Memory, "task-memory", 2048)
}

// write prepares the folder of the study and writes the files.
func (o *manifestFlags) write(ctx context.Context, cmd *cobra.Command, engine *engineFlags, folder string, p *study.Plan) error {
	for _, kind := range study.ManifestKinds() {
		if kind.Name != o.kind {
			continue
		}
		if err := studyFolder(folder); err != nil {
			return err
		}
		release, err := lockFolder(folder)
		if err != nil {
			return err
		}
		defer release()
		o.Tasks, o.CPUs = engine.arrayTasks(), engine.parallel
		files, fits, err := study.Prepare(ctx, p, folder, kind, o.Manifest)
		if err != nil {
			return ended(ctx, cmd.ErrOrStderr(), err)
		}
		if fits == 0 {
			fmt.Fprintln(cmd.OutOrStdout(), "All fits have results: the same command without --manifest makes the tables.")
			return nil
		}
		var names []any
		for _, f := range files {
			names = append(names, f)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s in %s. Submit the job by\n\n    "+kind.Next+"\n\nand, when it has ended, run the same command without --manifest.\n",
			append([]any{count(fits, "fit", "fits"), filepath.Join(folder, "tasks")}, names...)...)
		return nil
	}
	return usagef("there is no --manifest %q; it can be kubernetes, aws-batch or gcp-batch", o.kind)
}

func taskCommand() *cobra.Command {
	var t study.Task
	cmd := &cobra.Command{
		Use: "task DIR --of N | task -",
		Long: `Makes every N-th of the fits that ppl study has prepared in DIR with --engine slurm or
--manifest. Schedulers run this command. --number gives the number of the task, from 0. By
default it comes from the scheduler's variable: SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX,
AWS_BATCH_JOB_ARRAY_INDEX or BATCH_TASK_INDEX.

If a task was killed, the same command continues it.

With -, the command reads fits from standard input and writes results to standard output, in
the format of package study. Workers of ppl-nats run it so.`,
		Example: `  ppl task study --of 100 --number 7`,
		Args:    arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" {
				ctx, stop := interruptible(cmd.Context(), nil)
				defer stop()
				return ended(ctx, cmd.ErrOrStderr(), study.Serve(ctx, os.Stdin, cmd.OutOrStdout()))
			}
			t.Folder = args[0]
			if t.Of < 1 {
				return usagef("--of is missing: the number of tasks")
			}
			if !cmd.Flags().Changed("number") {
				var err error
				if t.Number, err = study.TaskNumber(os.Getenv); err != nil {
					return usagef("%v by --number", err)
				}
			}
			ctx, stop := interruptible(cmd.Context(), nil)
			defer stop()
			return ended(ctx, cmd.ErrOrStderr(), t.Run(ctx))
		},
	}
	f := declare(cmd)
	f.Int(&t.Of, "of", 0)
	f.Int(&t.Number, "number", 0)
	f.Int(&t.Parallel, "parallel", 0)
	return cmd
}
