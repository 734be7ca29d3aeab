package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/benchsuite"
)

// What is enough.
const (
	chains     = 4
	maxRhat    = 1.01
	minESS     = 400
	fewest     = 1000 // draws of a chain in the first run, and its transitions of warm-up
	step       = 50   // between numbers of draws that are judged
	moreAtOnce = 4    // times as many draws in the next run
)

// measured is the result of a run.
type measured struct {
	Workload string  `json:"workload"`
	Program  string  `json:"program"`
	Seed     int     `json:"seed"`
	Draws    int     `json:"draws"`   // of a chain, for the answer; of the longest run if there is none
	Enough   bool    `json:"enough"`  // false: the longest run did not suffice
	Seconds  float64 `json:"seconds"` // processor time
	// Figures of the longest run, over all parameters.
	Rhat float64 `json:"rhat"`
	ESS  float64 `json:"ess"` // the smaller of bulk and tail
}

func (m measured) key() string {
	return fmt.Sprint(m.Workload, " ", m.Program, " ", m.Seed)
}

func (m measured) String() string {
	verdict := "enough"
	if !m.Enough {
		verdict = "not enough"
	}
	return fmt.Sprintf("%s, %s, seed %d: %d draws of a chain are %s, %.3g s (R-hat %.4f, ESS %.0f)", m.Workload, m.Program, m.Seed, m.Draws, verdict, m.Seconds, m.Rhat, m.ESS)
}

// subject is a workload whose model and data are in files.
type subject struct {
	benchsuite.Workload
	dir         string
	model, data string
}

func newSubject(w benchsuite.Workload, dir string) (*subject, error) {
	s := &subject{Workload: w, dir: dir, model: filepath.Join(dir, w.Model+".stan"), data: filepath.Join(dir, w.Name+".json")}
	values, _ := w.Make()
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(s.model, []byte(w.Source().Text), 0o644); err != nil {
		return nil, err
	}
	return s, os.WriteFile(s.data, text, 0o644)
}

// runner is a program to measure.
type runner interface {
	name() string
	// sample makes a run of 1000 transitions of warm-up and some draws a chain.
	sample(s *subject, seed, draws int) (*fit.Fit, error)
	// seconds returns the processor time of the run f if it makes only some of its draws.
	seconds(s *subject, f *fit.Fit, seed, draws int) (float64, error)
}

// answer completes a result.
func answer(p runner, s *subject, m *measured, most int) error {
	for draws := fewest; ; draws *= moreAtOnce {
		f, err := p.sample(s, m.Seed, draws)
		if err != nil {
			return err
		}
		m.Draws, m.Rhat, m.ESS = enoughAfter(f.Draws, draws)
		if m.Enough = m.Draws > 0; !m.Enough {
			m.Draws = draws
		}
		if m.Enough || draws*moreAtOnce > most {
			m.Seconds, err = p.seconds(s, f, m.Seed, m.Draws)
			return err
		}
	}
}

// enoughAfter returns the smallest number of draws of a chain from which on all numbers up to all
// are enough, 0 if all draws are not, and the largest R-hat and the smallest effective sample size
// of all draws.
func enoughAfter(d diagnose.Draws, all int) (n int, rhat, ess float64) {
	var sum diagnose.Summarizer
	rhat, ess = worst(&sum, first{d, all})
	if rhat >= maxRhat || ess < minESS {
		return 0, rhat, ess
	}
	n = all
	for n > step {
		if r, e := worst(&sum, first{d, n - step}); r >= maxRhat || e < minESS {
			break
		}
		n -= step
	}
	return n, rhat, ess
}

// worst returns the largest R-hat and the smallest effective sample size. Constants have neither; a
// figure that is undefined although draws differ is the worst possible one.
func worst(sum *diagnose.Summarizer, d diagnose.Draws) (rhat, ess float64) {
	ess = math.Inf(1)
	for _, r := range sum.Rows(d, nil, diagnose.MeasureESSBulk|diagnose.MeasureESSTail|diagnose.MeasureRhat) {
		e := min(r.ESSBulk, r.ESSTail)
		switch {
		case r.SD == 0:
		case math.IsNaN(e) || math.IsNaN(r.Rhat):
			return math.Inf(1), 0
		default:
			rhat, ess = max(rhat, r.Rhat), min(ess, e)
		}
	}
	return rhat, ess
}

// first is the first draws of each chain.
type first struct {
	diagnose.Draws
	n int
}

func (f first) Len(chain int) int { return min(f.n, f.Draws.Len(chain)) }

func (f first) Column(dst []float64, chain, quantity int) []float64 {
	return f.Draws.Column(dst, chain, quantity)[:len(dst)+f.Len(chain)]
}

// pplRunner runs ppl.
type pplRunner struct{ program, version string }

func (r pplRunner) name() string { return "ppl " + r.version }

func (r pplRunner) command(s *subject, seed, draws int, more ...string) *exec.Cmd {
	args := []string{"run", s.model, "--data", s.data, "--seed", strconv.Itoa(seed), "--draws", strconv.Itoa(draws)}
	return exec.Command(r.program, append(args, more...)...)
}

func (r pplRunner) sample(s *subject, seed, draws int) (*fit.Fit, error) {
	out := filepath.Join(s.dir, "fit")
	defer os.RemoveAll(out)
	if _, err := cpuTime(r.command(s, seed, draws, "--out", out, "--overwrite")); err != nil {
		return nil, err
	}
	return fit.ReadFit(out)
}

func (r pplRunner) seconds(s *subject, _ *fit.Fit, seed, draws int) (float64, error) {
	t, err := cpuTime(r.command(s, seed, draws))
	return t.Seconds(), err
}

// stanRunner is the command that runs Stan.
type stanRunner string

func (stanRunner) name() string { return "Stan" }

func (r stanRunner) sample(s *subject, seed, draws int) (*fit.Fit, error) {
	words, base := strings.Fields(string(r)), filepath.Join(s.dir, "stan")
	args := append(words[1:], s.model, s.data, strconv.Itoa(seed), strconv.Itoa(draws), base)
	if _, err := cpuTime(exec.Command(words[0], args...)); err != nil {
		return nil, err
	}
	var files []string
	for i := range chains {
		files = append(files, fmt.Sprintf("%s_%d.csv", base, i+1))
		defer os.Remove(files[i])
	}
	return fit.ReadCSV(files...)
}

func (stanRunner) seconds(_ *subject, f *fit.Fit, _, draws int) (seconds float64, err error) {
	for i, c := range f.Report.Chains {
		share := float64(draws) / float64(f.Draws.Len(i))
		seconds += c.Warmup.Elapsed.Seconds() + share*c.Sampling.Elapsed.Seconds()
	}
	return seconds, nil
}

// cpuTime runs a command and returns the processor time of its process. ppl exits with an error if
// it has findings; its draws count all the same.
func cpuTime(cmd *exec.Cmd) (time.Duration, error) {
	said, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%v: %w\n%s", cmd, err, said)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
