//go:build unix

package study_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/study"
)

// killTasks kills a random process `ppl task` of a folder at intervals until stop is called, which
// returns the number of killed ones.
func killTasks(folder string, every time.Duration) (stop func() int) {
	done, n := make(chan struct{}), make(chan int)
	go func() {
		killed := 0
		for {
			select {
			case <-done:
				n <- killed
				return
			case <-time.After(every):
			}
			var found []int
			lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, path := range lines {
				text, _ := os.ReadFile(path)
				if words := strings.Split(string(text), "\x00"); len(words) > 2 && words[1] == "task" && words[2] == folder {
					pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
					found = append(found, pid)
				}
			}
			if len(found) > 0 && syscall.Kill(found[rand.IntN(len(found))], syscall.SIGKILL) == nil {
				killed++
			}
		}
	}()
	return func() int { close(done); return <-n }
}

// TestSlurm checks a study on a real Slurm whose tasks are killed. Its results must equal those of
// a study in this process.
func TestSlurm(t *testing.T) {
	program := os.Getenv("PPL_SLURM")
	if program == "" {
		t.Skip("set PPL_SLURM to the command ppl, where sbatch is on the PATH and the folder for temporary files is shared by the nodes")
	}
	dir := t.TempDir()
	text := folder(t, dir, 200, 3000)
	local, slurm := filepath.Join(dir, "local"), filepath.Join(dir, "slurm")
	if _, err := study.Run(context.Background(), read(t, dir, text), study.RunOptions{Folder: local}); err != nil {
		t.Fatal(err)
	}
	stop := killTasks(slurm, 500*time.Millisecond)
	jobs := 0
	p, err := study.Run(context.Background(), read(t, dir, text), study.RunOptions{
		Folder: slurm, Engine: study.Slurm{Tasks: 4, Program: program, Poll: 300 * time.Millisecond, Tries: 100},
		Note: func(text string) { jobs++; t.Log(text) },
	})
	killed := stop()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tasks were killed; %d jobs; %+v", killed, jobs, p)
	if killed == 0 || !bytes.Equal(results(t, local), results(t, slurm)) {
		t.Errorf("the results differ, or no task was killed (%d)", killed)
	}
}
