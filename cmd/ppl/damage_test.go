//go:build unix

package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestDamagedFolders kills a run at a random moment, damages one file of its folder at a random
// place and resumes it. The run must either make the same draws as an undisturbed run, or be
// refused with a reason. With --salvage, the draws must be those of that run: all of them, or those
// reported as left. PPL_DAMAGED_FOLDERS sets the number of repetitions.
func TestDamagedFolders(t *testing.T) {
	folders, _ := strconv.Atoi(os.Getenv("PPL_DAMAGED_FOLDERS"))
	if folders == 0 {
		t.Skip("set PPL_DAMAGED_FOLDERS to the number of folders that are to be damaged")
	}
	dir := t.TempDir()
	program, model := programAndModel(t, dir, "killed.stan", killed)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	samplers := []string{
		"--sampler nuts --warmup 150 --draws 400",
		"--sampler nuts --metric dense_e --warmup 150 --draws 400",
		"--sampler ahmc --warmup 200 --draws 400",
		"--sampler auto --warmup 150 --draws 400",
	}
	args := func(i int, out string) []string {
		return append([]string{"run", "-q", model, "--chains", "2", "--seed", strconv.Itoa(i + 1), "--sig-figs", "17", "--save-warmup", "--out", out}, strings.Fields(samplers[i])...)
	}
	type run struct {
		draws []string // of the chains, as lines
		takes time.Duration
	}
	var whole []run
	for i := range samplers {
		out, started := filepath.Join(dir, fmt.Sprint("whole", i)), time.Now()
		if said, err := exec.Command(program, args(i, out)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", samplers[i], err, said)
		}
		whole = append(whole, run{[]string{numbers(t, filepath.Join(out, "killed_1.csv")), numbers(t, filepath.Join(out, "killed_2.csv"))}, time.Since(started)})
	}
	outcomes := map[string]int{}
	for n := range folders {
		i := n % len(samplers)
		out := filepath.Join(dir, "damaged")
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, args(i, out)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration((0.1 + 0.8*rng.Float64()) * float64(whole[i].takes)))
		cmd.Process.Kill()
		if err := cmd.Wait(); err == nil {
			outcomes["had come to its end"]++
			continue
		}
		name, how := damageOneFile(t, rng, out)
		if name == "" {
			outcomes["had not begun"]++
			continue
		}
		what := fmt.Sprintf("%s, %s: %s", samplers[i], name, how)
		kind := "." + name[strings.LastIndexByte(name, '.')+1:]
		resume := func(options ...string) (string, bool) {
			said, err := exec.Command(program, append([]string{"run", "-q", "--resume", out}, options...)...).CombinedOutput()
			var exit *exec.ExitError
			switch {
			case err == nil:
				return string(said), true
			case !errors.As(err, &exit), exit.ExitCode() != 1 && exit.ExitCode() != 2, !strings.Contains(string(said), "error: "), strings.Contains(string(said), "goroutine "):
				t.Errorf("%s: %v\n%s", what, err, said)
			}
			return string(said), false
		}
		made := func(chain int) string {
			path := filepath.Join(out, fmt.Sprintf("killed_%d.csv", chain+1))
			if _, err := os.Stat(path); err != nil {
				return "" // a chain of which no draws are left
			}
			return numbers(t, path)
		}
		if _, ok := resume(); ok {
			outcomes[kind+": went on"]++
			for chain, want := range whole[i].draws {
				if made(chain) != want {
					t.Errorf("%s: the run went on with other draws in chain %d", what, chain+1)
				}
			}
			continue
		}
		said, ok := resume("--salvage")
		if !ok {
			outcomes[kind+": refused with --salvage, too"]++
			continue
		}
		missing := 0
		for chain, want := range whole[i].draws {
			n, ok := left(made(chain), want)
			if missing += n; !ok {
				t.Errorf("%s: with --salvage chain %d has draws that were not made\n%s", what, chain+1, said)
			}
		}
		switch {
		case missing == 0:
			outcomes[kind+": salvaged whole"]++
		case strings.Contains(said, "lost"):
			outcomes[kind+": salvaged but for draws that are said to be lost"]++
		default:
			t.Errorf("%s: with --salvage %d draws are missing, of which it does not tell\n%s", what, missing, said)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(outcomes)) {
		t.Logf("%4d %s", outcomes[k], k)
	}
}

// damageOneFile damages a file in the folder: it changes bits, cuts the file off, overwrites a part
// with zeros or inserts bytes. It returns the name of the file and a description of the damage, or
// "" if there is no file.
func damageOneFile(t *testing.T, rng *rand.Rand, dir string) (name, how string) {
	var files []string
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Base(path) != ".lock" {
			if info, err := d.Info(); err == nil && info.Size() > 0 {
				files = append(files, path)
			}
		}
		return nil
	})
	if _, err := os.Stat(filepath.Join(dir, "run.json")); err != nil || files == nil {
		return "", ""
	}
	path := files[rng.IntN(len(files))]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := rng.IntN(len(b))
	switch rng.IntN(4) {
	case 0:
		how = fmt.Sprintf("a bit of byte %d of %d", at, len(b))
		b[at] ^= 1 << rng.IntN(8)
	case 1:
		how = fmt.Sprintf("%d bytes cut to %d", len(b), at)
		b = b[:at]
	case 2:
		n := min(1+rng.IntN(600), len(b)-at)
		how = fmt.Sprintf("%d bytes from %d of %d are zero", n, at, len(b))
		clear(b[at : at+n])
	default:
		n := 1 + rng.IntN(50)
		how = fmt.Sprintf("%d bytes put in at %d of %d", n, at, len(b))
		more := make([]byte, n)
		for i := range more {
			more[i] = byte(rng.IntN(256))
		}
		b = slices.Insert(b, at, more...)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	name, _ = filepath.Rel(dir, path)
	return name, how
}

// left returns the number of lines of want that are missing. ok reports whether all the given lines
// occur in want, in the same order.
func left(lines, want string) (missing int, ok bool) {
	have := slices.Collect(strings.Lines(lines))
	for l := range strings.Lines(want) {
		if len(have) > 0 && have[0] == l {
			have = have[1:]
			continue
		}
		missing++
	}
	return missing, len(have) == 0
}
