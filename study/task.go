package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/goroutines"
)

// taskFolder is the folder, within the study's, with the fits that tasks share.
const taskFolder = "tasks"

// TaskVariables lists the environment variables in which schedulers store the number of a task of
// an array, from 0.
var TaskVariables = []struct{ Scheduler, Name string }{
	{"Slurm", "SLURM_ARRAY_TASK_ID"},
	{"Kubernetes", "JOB_COMPLETION_INDEX"},
	{"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX"},
	{"Google Cloud Batch", "BATCH_TASK_INDEX"},
}

// TaskNumber returns the number of this task, as set by the scheduler.
func TaskNumber(getenv func(string) string) (int, error) {
	for _, v := range TaskVariables {
		if text := getenv(v.Name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return 0, fmt.Errorf("the variable %s is %q, and no number of a task", v.Name, text)
			}
			return n, nil
		}
	}
	return 0, errors.New("which task this is, no scheduler says; give its number")
}

// Task is a part of the fits of a study: every Of-th fit, beginning with Number.
type Task struct {
	Folder   string // of the study
	Number   int
	Of       int
	Parallel int // fits at a time; 0: one per processor
}

// Run makes the fits of a task, except those that an earlier process of the task has made. It
// writes results to the journal of the study, which needs no locks.
func (t Task) Run(ctx context.Context) (err error) {
	defer infer.Recover(&err)
	if t.Of < 1 || t.Number < 0 || t.Number >= t.Of {
		return fmt.Errorf("there is no task %d of %d; they count from 0", t.Number, t.Of)
	}
	p, err := openPack(filepath.Join(t.Folder, taskFolder))
	if err != nil {
		return err
	}
	own := fmt.Sprintf("task-%d-", t.Number)
	j, err := openJournal(t.Folder, own)
	if err != nil {
		return err
	}
	defer j.close()
	host, _ := os.Hostname()
	if err := j.create(fmt.Sprintf("%s%s-%d-%d", own, filepath.Base(host), os.Getpid(), time.Now().UnixNano())); err != nil {
		return err
	}
	parallel := t.Parallel
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	w := &Worker{Model: p.model}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan *Unit)
	running := goroutines.Group{Failed: func() { cancel(errPanic) }}
	for range parallel {
		running.Go(func() {
			for u := range todo {
				_, err := j.put(u.Key, nil)
				if err == nil {
					r := w.Do(ctx, u)
					if r == nil {
						return
					}
					_, err = j.put("", r)
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	err = p.each(t.Number, t.Of, func(u *Unit) error {
		if j.statusOf(u.Key) != "" {
			return nil
		}
		select {
		case todo <- u:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(todo)
	running.Wait()
	return errors.Join(err, context.Cause(ctx))
}
