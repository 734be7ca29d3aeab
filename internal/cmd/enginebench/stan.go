package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// stanRunner calls the command that measures Stan.
type stanRunner struct {
	command []string
	dir     string // of the files for it
}

// stanOutput is the content of the file that the command writes. Times are CPU nanoseconds per
// gradient.
type stanOutput struct {
	CompileS float64 `json:"compile_s"`
	Points   []stanPoint
	GradNS   struct {
		CPUMin float64 `json:"cpu_min"` // of batches over all points
	} `json:"grad_ns"`
	ByPoint []float64 `json:"grad_ns_by_point"` // of one shorter batch each
}

// stanPoint is an unconstrained point with the gradient of the density without the terms that `~`
// drops, including Jacobians.
type stanPoint struct {
	X    []float64 `json:"x"`
	Grad []float64 `json:"grad_propto_jac"`
}

// stanTimes are the smallest times so far.
type stanTimes struct {
	cycle   float64
	byPoint []float64
}

func newStan(command string) (*stanRunner, error) {
	dir, err := os.MkdirTemp("", "enginebench")
	if err != nil {
		return nil, err
	}
	r := &stanRunner{command: strings.Fields(command), dir: dir}
	if len(r.command) == 0 {
		return nil, fmt.Errorf("--stan: no command")
	}
	return r, nil
}

func (r *stanRunner) close() { os.RemoveAll(r.dir) }

// measure calls the command for a workload. Afterwards the workload is measured at Stan's points.
func (r *stanRunner) measure(s *subject) error {
	text := s.Source().Text
	model, values, out := filepath.Join(r.dir, s.Model+".stan"), filepath.Join(r.dir, s.Name+".json"), filepath.Join(r.dir, s.Name+".out")
	if err := os.WriteFile(model, []byte(text), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(values, s.text, 0o644); err != nil {
		return err
	}
	cmd := exec.Command(r.command[0], append(r.command[1:], model, values, out)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: the Stan command: %w\n%s", s.Name, err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	var o stanOutput
	if err := json.Unmarshal(data, &o); err != nil {
		return fmt.Errorf("%s: what the Stan command wrote: %w", s.Name, err)
	}
	switch {
	case o.GradNS.CPUMin <= 0 || len(o.Points) == 0:
		return fmt.Errorf("%s: the Stan command gave no time", s.Name)
	case len(o.Points[0].X) != s.row.Dim:
		return fmt.Errorf("%s: Stan has %d unconstrained parameters, the model %d", s.Name, len(o.Points[0].X), s.row.Dim)
	}
	s.row.StanNS = s.stan.add(o)
	s.row.StanCompileS = o.CompileS
	s.points = s.points[:0]
	for _, p := range o.Points {
		s.points = append(s.points, p.X)
	}
	s.compareWithStan(o.Points)
	return nil
}

// add includes the times of one call and returns the smallest time per gradient: that of batches
// that cycle over the points, or the mean over the points of each point's smallest time.
func (t *stanTimes) add(o stanOutput) float64 {
	if t.cycle == 0 || o.GradNS.CPUMin < t.cycle {
		t.cycle = o.GradNS.CPUMin
	}
	if len(o.ByPoint) != len(o.Points) {
		return t.cycle
	}
	if t.byPoint == nil {
		t.byPoint = o.ByPoint
	}
	mean := 0.0
	for i, v := range o.ByPoint {
		t.byPoint[i] = min(t.byPoint[i], v)
		mean += t.byPoint[i] / float64(len(o.ByPoint))
	}
	return min(t.cycle, mean)
}
