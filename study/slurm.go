package study

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/internal/files"
)

// Slurm is the engine that submits an array of jobs with sbatch. Its tasks share the fits through
// the folder of the study. The folder and the program must have the same paths on all nodes.
//
// A task that is killed, and queued again by Slurm, continues where it was. Fits without a result
// at the end of the array are submitted again. A fit that was begun Tries times without a result
// fails.
type Slurm struct {
	Tasks    int      // number of tasks in the array; 0: 1
	Parallel int      // fits at a time per task, which requests as many processors; 0: 1
	Program  string   // the command ppl on the nodes; "": this one
	Options  []string // of sbatch, such as --time=1:00:00
	Tries    int      // number of times that a fit is begun; 0: 3
	Poll     time.Duration
}

// slurmLogs is the folder with the output of tasks.
const slurmLogs = "logs"

// Run implements [Engine].
func (s Slurm) Run(ctx context.Context, job *Job) error {
	s.Tasks, s.Parallel = max(s.Tasks, 1), max(s.Parallel, 1)
	if s.Tries <= 0 {
		s.Tries = 3
	}
	if s.Poll <= 0 {
		s.Poll = 2 * time.Second
	}
	if s.Program == "" {
		var err error
		if s.Program, err = os.Executable(); err != nil {
			return err
		}
	}
	folder, err := filepath.Abs(job.Folder)
	if err != nil {
		return err
	}
	p, err := writePack(filepath.Join(folder, taskFolder), job, job.Units)
	if err != nil {
		return err
	}
	for p.count > 0 {
		before := job.begun()
		id, err := s.submit(ctx, folder, min(s.Tasks, p.count))
		if err != nil {
			return err
		}
		job.Note(fmt.Sprintf("Slurm: job %s with %d tasks for %d fits.", id, min(s.Tasks, p.count), p.count))
		if err := s.wait(ctx, id, job); err != nil {
			return err
		}
		left := p
		if p, err = s.rest(folder, p, job); err != nil {
			return err
		}
		if p.count == left.count && job.begun() == before {
			return fmt.Errorf("the tasks of the Slurm job %s have not begun any fit%s", id, lastLog(folder))
		}
	}
	return nil
}

// script returns the batch script.
func (s Slurm) script(folder string, tasks int) string {
	return fmt.Sprintf(`#!/bin/sh
#SBATCH --job-name=ppl-study
#SBATCH --array=0-%d
#SBATCH --cpus-per-task=%d
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%s/%%a.log
exec %s task %s --of %d --parallel %d
`, tasks-1, s.Parallel, strings.ReplaceAll(filepath.Join(folder, slurmLogs), "%", "%%"), quoted(s.Program), quoted(folder), tasks, s.Parallel)
}

// quoted quotes a word for the shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func (s Slurm) submit(ctx context.Context, folder string, tasks int) (id string, err error) {
	if err := files.MakeFolder(filepath.Join(folder, slurmLogs)); err != nil {
		return "", err
	}
	script := filepath.Join(folder, taskFolder, "slurm.sh")
	if err := files.ReplaceExecutable(script, []byte(s.script(folder, tasks))); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "sbatch", append(append([]string{"--parsable"}, s.Options...), script)...)
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("the engine slurm needs the program sbatch, which is not on the PATH: run this where jobs are submitted")
	}
	if err != nil {
		return "", fmt.Errorf("sbatch: %w: %s", err, strings.TrimSpace(told.String()))
	}
	id, _, _ = strings.Cut(strings.TrimSpace(string(out)), ";") // the name of the cluster
	if _, err := strconv.Atoi(id); err != nil {
		return "", fmt.Errorf("sbatch has printed %q, and no number of a job", out)
	}
	return id, nil
}

// wait waits until the array has ended, and takes in results meanwhile.
func (s Slurm) wait(ctx context.Context, id string, job *Job) error {
	for {
		select {
		case <-ctx.Done():
			exec.Command("scancel", id).Run()
			return errors.Join(context.Cause(ctx), job.Refresh())
		case <-time.After(s.Poll):
		}
		cmd := exec.CommandContext(ctx, "squeue", "--noheader", "--jobs="+id, "--format=%i")
		var told bytes.Buffer
		cmd.Stderr = &told
		out, err := cmd.Output()
		if e := job.Refresh(); e != nil {
			exec.Command("scancel", id).Run()
			return e
		}
		switch {
		case err == nil && len(bytes.TrimSpace(out)) == 0, strings.Contains(told.String(), "Invalid job id"):
			return nil
		case err != nil && ctx.Err() == nil: // the controller may be restarting
			job.Note("squeue: " + strings.TrimSpace(told.String()))
		}
	}
}

// rest returns the fits that have no result yet. Those that were tried too often get a failure as
// their result.
func (s Slurm) rest(folder string, p *pack, job *Job) (*pack, error) {
	var left []int
	if err := p.each(0, 1, func(u *Unit) error {
		switch {
		case job.Has(u.Key):
		case job.Lost(u.Key) >= s.Tries:
			return job.Done(failed(u.Key, "lost", fmt.Errorf("its process has ended %d times without a result: was it killed, for want of memory or time? What it said is in %s", s.Tries, slurmLogs)))
		default:
			left = append(left, u.Number)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if left == nil {
		return &pack{}, nil
	}
	var failure error
	rest, err := writePack(filepath.Join(folder, taskFolder), job, func(yield func(*Unit) bool) {
		failure = p.each(0, 1, func(u *Unit) error {
			if _, there := slices.BinarySearch(left, u.Number); there && !yield(u) {
				return errors.New("the fits cannot be written")
			}
			return nil
		})
	})
	return rest, errors.Join(failure, err)
}

// lastLog returns the end of the log of a task.
func lastLog(folder string) string {
	logs, _ := filepath.Glob(filepath.Join(folder, slurmLogs, "*.log"))
	for _, path := range logs {
		if text, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(text)) > 0 {
			text = bytes.TrimSpace(text)
			return ": " + string(text[max(0, len(text)-500):])
		}
	}
	return ""
}
