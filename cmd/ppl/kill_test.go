//go:build unix

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
)

// killed is a model whose runs take a few seconds.
const killed = `transformed data {
  int N = 6000;
  vector[N] w;
  vector[N] z;
  for (n in 1:N) {
    w[n] = sin(1.3 * n);
    z[n] = 1 + w[n] - 0.5 * square(w[n]) + cos(2.1 * n);
  }
}
parameters {
  vector[3] b;
  real<lower=0> s;
}
model {
  b ~ normal(0, 2);
  s ~ gamma(4, 2);
  z ~ student_t(4, b[1] + b[2] * w + b[3] * square(w), s);
}
generated quantities {
  real u = normal_rng(b[1], s);
}
`

// TestKill checks that runs of several samplers can be killed, interrupted, hung up on or paused at
// random moments, and again after they are resumed. Their draws must equal those of undisturbed
// runs. PPL_KILLS sets how often that happens in total; each time takes about two seconds.
func TestKill(t *testing.T) {
	kills, _ := strconv.Atoi(os.Getenv("PPL_KILLS"))
	if kills == 0 {
		t.Skip("set PPL_KILLS to the number of times that runs are to be killed")
	}
	dir := t.TempDir()
	program, model := programAndModel(t, dir, "killed.stan", killed)
	ppl := func(args ...string) *exec.Cmd {
		return exec.Command(program, append([]string{"run", "-q"}, args...)...)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	signals := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGSTOP}
	sent := map[syscall.Signal]int{}
	samplers := []string{
		"--sampler nuts --warmup 600 --draws 1500",
		"--sampler nuts --metric dense_e --warmup 600 --draws 1500",
		"--sampler nuts --warmup 400 --target-ess 1000",
		"--sampler hmc --warmup 600 --draws 1500",
		"--sampler nuts2011 --warmup 1500 --draws 1500",
		"--sampler ahmc --warmup 1000 --draws 1500",
		"--sampler ahmc --metric diag_e --freeze --reward autocorrelation --warmup 1000 --draws 1500",
		"--sampler rmhmc --metric softabs --steps 4 --warmup 15 --draws 20",
	}
	for i, options := range samplers {
		args := append([]string{model, "--chains", "2", "--seed", strconv.Itoa(i + 1), "--sig-figs", "17", "--save-warmup"}, strings.Fields(options)...)
		whole := filepath.Join(dir, fmt.Sprint("whole", i))
		if out, err := ppl(append(args, "--out", whole)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", options, err, out)
		}
		n, folders, oldest := 0, 0, time.Duration(0)
		for want := kills*(i+1)/len(samplers) - kills*i/len(samplers); n < want; {
			folders++
			out := filepath.Join(dir, fmt.Sprint("killed", i, "-", folders))
			cmd := ppl(append(args, "--out", out)...)
			for done := false; !done; {
				var said bytes.Buffer
				cmd.Stderr = &said
				started := time.Now()
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				moment := time.Duration(rng.Float64() * 3.5 * float64(time.Second))
				if n >= want {
					moment = time.Hour
				}
				select {
				case err := <-ended:
					if err != nil {
						t.Fatalf("%s, after %d kills: %v\n%s", options, n, err, said.String())
					}
					done = true
				case <-time.After(moment):
					n++
					s := signals[rng.IntN(len(signals))]
					sent[s]++
					cmd.Process.Signal(s)
					if s == syscall.SIGSTOP {
						time.Sleep(time.Duration(rng.Float64() * float64(time.Second)))
						cmd.Process.Signal(syscall.SIGCONT)
						if err := <-ended; err != nil {
							t.Fatalf("%s, after it was stopped: %v\n%s", options, err, said.String())
						}
						done = true
						break
					}
					if err := <-ended; err == nil { // it had come to its end
						done = true
						break
					}
					if info, err := os.Stat(filepath.Join(out, "killed_1.state")); err == nil && info.ModTime().After(started) {
						oldest = max(oldest, time.Since(info.ModTime()))
					}
				}
				cmd = ppl("--resume", out)
				if _, err := os.Stat(filepath.Join(out, "run.json")); errors.Is(err, os.ErrNotExist) {
					cmd = ppl(append(args, "--out", out)...) // it was killed before it made the folder
				}
			}
			for chain := 1; chain <= 2; chain++ {
				name := fmt.Sprintf("killed_%d.csv", chain)
				a, b := numbers(t, filepath.Join(whole, name)), numbers(t, filepath.Join(out, name))
				if a != b {
					t.Errorf("%s, after %d kills: %s differs", options, n, filepath.Join(out, name))
				}
				if len(a) < 1000 {
					t.Errorf("%s: %s has %d bytes of numbers", options, name, len(a))
				}
			}
		}
		t.Logf("%s: %d signals in %d runs; oldest state of a chain %v", options, n, folders, oldest.Round(10*time.Millisecond))
	}
	t.Logf("signals: %v", sent)
}

// programAndModel builds the program and writes a model, both to dir.
func programAndModel(t *testing.T, dir, name, text string) (program, model string) {
	t.Helper()
	program, model = filepath.Join(dir, "ppl"), filepath.Join(dir, name)
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(model, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return program, model
}

// numbers returns the lines of a CSV file without its comments.
func numbers(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
