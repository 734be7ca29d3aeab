package executable

//lint:file-ignore ST1005 errors are in CmdStan's words, which front ends look for

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/front/cmdstan/grammar"
	"github.com/ppl-lang/ppl/model"
)

func (r *run) checkLogProb() error {
	u, c := r.text("log_prob.unconstrained_params"), r.text("log_prob.constrained_params")
	switch {
	case u == "" && c == "":
		return errors.New("No input parameter files provided, cannot calculate log probability density.")
	case u != "" && c != "":
		return errors.New("Cannot specify both input files of both constrained and unconstrained parameter values.")
	}
	return nil
}

func (r *run) logProb(p *model.Posterior) error {
	points, err := r.points(p)
	if err != nil {
		return err
	}
	r.visited = points
	names := make([]string, p.Dim())
	for i, n := range p.UnconstrainedNames() {
		names[i] = "g_" + n
	}
	file, err := r.create(r.config.Text("output.file"), statistics("lp__"), names, nil)
	if err != nil {
		return err
	}
	defer file.Close()
	grad := make([]float64, p.Dim())
	for _, x := range points {
		lp, err := p.LogDensityGrad(x, grad)
		if err != nil {
			return fmt.Errorf("Error during log_prob calculation:\n%s", reason(err))
		}
		if err := file.Row([]float64{lp}, grad); err != nil {
			return err
		}
	}
	return file.FinishWith()
}

// points reads the points at which to evaluate the density.
func (r *run) points(p *model.Posterior) ([][]float64, error) {
	if name := r.text("log_prob.constrained_params"); name != "" {
		if _, suffix := splitSuffix(name); suffix != ".csv" {
			values, err := r.readValues(name)
			if err != nil {
				return nil, err
			}
			x, err := r.unconstrain(p, values)
			return [][]float64{x}, err
		}
		c, err := r.readCSV(name)
		if err != nil {
			return nil, err
		}
		columns, err := c.parameters(p, name)
		if err != nil {
			return nil, err
		}
		points := make([][]float64, len(c.rows))
		for i := range points {
			if points[i], err = c.point(p, columns, i); err != nil {
				return nil, err
			}
		}
		return points, nil
	}
	values, err := r.readValues(r.text("log_prob.unconstrained_params"))
	if err != nil {
		return nil, err
	}
	v, ok := values.Get("params_r")
	if !ok || v.Size() == 0 {
		return nil, errors.New("Unconstrained parameters file has no variable 'params_r' with unconstrained parameter values!")
	}
	width := v.Size()
	if len(v.Shape) == 2 {
		width = v.Shape[1]
	}
	if width != p.Dim() {
		return nil, fmt.Errorf("Incorrect number of unconstrained parameters provided! Model has %d parameters but %d were found.", p.Dim(), width)
	}
	var points [][]float64
	for i := 0; i < v.Size(); i += width {
		points = append(points, v.Reals[i:i+width])
	}
	return points, nil
}

// diagnose compares the gradient with finite differences and prints both.
func (r *run) diagnose(p *model.Posterior) error {
	x, err := r.single(p, false)
	if err != nil {
		return err
	}
	r.visited = [][]float64{slices.Clone(x)}
	r.say("TEST GRADIENT MODE")
	epsilon, allowed := r.real("diagnose.test.gradient.epsilon"), r.real("diagnose.test.gradient.error")
	grad, scratch := make([]float64, p.Dim()), make([]float64, p.Dim())
	lp, err := p.LogDensityGrad(x, grad)
	if err != nil {
		return err
	}
	lines := []string{"TEST GRADIENT MODE", "", " Log probability=" + grammar.Number(lp, 6), "",
		fmt.Sprintf("%10s%16s%16s%16s%16s", "param idx", "value", "model", "finite diff", "error")}
	failed := 0
	for k := range x {
		at := func(step float64) (float64, error) {
			old := x[k]
			defer func() { x[k] = old }()
			x[k] += step
			return p.LogDensityGrad(x, scratch)
		}
		up, err1 := at(epsilon)
		down, err2 := at(-epsilon)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		difference := (up - down) / (2 * epsilon)
		lines = append(lines, fmt.Sprintf("%10d%16s%16s%16s%16s", k, grammar.Number(x[k], 6), grammar.Number(grad[k], 6),
			grammar.Number(difference, 6), grammar.Number(grad[k]-difference, 6)))
		if math.Abs(grad[k]-difference) > allowed {
			failed++
		}
	}
	for _, line := range lines[1:] {
		r.say("%s", line)
	}
	var b strings.Builder
	for _, s := range r.heads(nil) {
		for _, line := range grammar.SettingLines(s) {
			fmt.Fprintf(&b, "# %s\n", line)
		}
	}
	for _, line := range lines {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	if err := replaceFile(r.config.Text("output.file"), []byte(b.String())); err != nil {
		return err
	}
	if failed > 0 {
		return status(1)
	}
	return nil
}
