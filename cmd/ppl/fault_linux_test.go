package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	// ppl-refused is ppl in a process whose memory cannot be made executable.
	commands["ppl-refused"] = func() {
		const prSetMDWE, refuseExecGain = 65, 1
		if err := unix.Prctl(prSetMDWE, refuseExecGain, 0, 0, 0); err != nil {
			fmt.Fprintf(os.Stderr, "executable memory cannot be refused: %v\n", err)
		}
		main()
	}
}

// TestFullDisks checks runs whose disk becomes full at random moments. They must keep their draws
// and report the full disk. Once there is space, they must end with the same draws as an
// undisturbed run. PPL_FULL_DISKS sets the number of runs; the test must be allowed to mount.
func TestFullDisks(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("PPL_FULL_DISKS"))
	if n == 0 {
		t.Skip("set PPL_FULL_DISKS to the number of disks that are to become full")
	}
	dir := t.TempDir()
	program, model := programAndModel(t, dir, "m.stan", "parameters { vector[20] x; }\nmodel { x ~ normal(0, 1); }\n")
	run := func(args ...string) (string, error) {
		cmd := exec.Command(program, append([]string{"run", "-q"}, args...)...)
		var said bytes.Buffer
		cmd.Stderr = &said
		err := cmd.Run()
		return said.String(), err
	}
	args := []string{model, "--chains", "2", "--seed", "4", "--warmup", "200", "--draws", "2000", "--sig-figs", "17"}
	whole := filepath.Join(dir, "whole")
	if said, err := run(append(args, "--out", whole)...); err != nil {
		t.Fatal(err, said)
	}
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	full, early := 0, 0
	for range n {
		size := 4096 * (2 + rng.IntN(600)) // the run takes about 2.3 MB
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
			t.Skipf("cannot mount: %v", err)
		}
		func() {
			defer syscall.Unmount(disk, 0)
			out := filepath.Join(disk, "out")
			said, err := run(append(args, "--out", out)...)
			if err != nil {
				full++
				if !strings.Contains(said, "no space left on device") {
					t.Fatalf("%d bytes: %v\n%s", size, err, said)
				}
				if err := syscall.Mount("", disk, "tmpfs", syscall.MS_REMOUNT, "size=20m"); err != nil {
					t.Fatal(err)
				}
				again := []string{"--resume", out}
				if _, err := os.Stat(filepath.Join(out, "run.json")); errors.Is(err, os.ErrNotExist) {
					early++
					again = append(args, "--out", out)
				}
				if said, err := run(again...); err != nil {
					t.Fatalf("%d bytes, with room: %v\n%s", size, err, said)
				}
			}
			for chain := 1; chain <= 2; chain++ {
				name := fmt.Sprintf("m_%d.csv", chain)
				if numbers(t, filepath.Join(whole, name)) != numbers(t, filepath.Join(out, name)) {
					t.Errorf("%d bytes: %s differs", size, name)
				}
			}
		}()
	}
	t.Logf("%d disks, %d became full, %d of them before the run began", n, full, early)
}
