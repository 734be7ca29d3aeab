package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/compile/internal/proggen"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Random functions are compared with real Stan many at once. One program contains all of them:
// their values are transformed parameters, and the log density is the sum of these. So one
// evaluation gives all values, and its gradient is the sum of the gradients. If the sum differs,
// each function is evaluated separately; data switch the others off. Further constant terms, and
// the terms that `~` drops, are subjects of other tests.

// perProgram is the number of functions in a program. dataSets is the number of data sets, with
// different sizes, for which each program is evaluated.
const (
	perProgram = 80
	dataSets   = 6
)

// judged contains the results of the comparison with real Stan.
type judged struct {
	Next      uint64
	Programs  int
	Functions int // compared with the first data: finite at all points
	Cases     int // pairs of a function and a data set
	Rejecting int // such pairs that the interpreter rejects, not compared
	Points    int
	Values    int // values compared
	Largest   float64
	Gradients float64 // largest relative difference
	Wrong     []string
}

// figures is the output of the tool for a model.
type figures struct {
	Names  []string `json:"names_tparams"`
	Params []string `json:"names_params"`
	Points []struct {
		X           []float64
		LP          float64   `json:"lp_propto_jac"`
		Gradient    []float64 `json:"grad_propto_jac"`
		Constrained []float64
	}
	Rejected []struct{ Why string }
}

// againstStan compares functions with real Stan until there are enough.
func againstStan(o options) error {
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return err
	}
	root := os.Getenv("STANREF_ROOT")
	if root == "" {
		return errors.New("STANREF_ROOT is not set: the root that the tool's setup made")
	}
	var s judged
	file := filepath.Join(o.dir, "state-stan.json")
	if b, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
	}
	if s.Next == 0 {
		s.Next = 1
	}
	if o.from > 0 {
		s.Next = o.from
	}
	for begin := time.Now(); uint64(s.Functions) < o.count && time.Since(begin) < o.limit; {
		if err := o.judge(root, &s); err != nil {
			log := fmt.Sprintf("seed %d: %v", s.Next, err)
			fmt.Println(log)
			s.Wrong = append(s.Wrong, log)
		}
		done := s.Next
		s.Next++
		b, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, b, 0o666); err != nil {
			return err
		}
		fmt.Printf("%s seed %d: %d functions judged, %d with data, %d rejecting, largest difference of values %.2g, of gradients %.2g, %d complaints\n",
			time.Now().Format(time.TimeOnly), done, s.Functions, s.Cases, s.Rejecting, s.Largest, s.Gradients, len(s.Wrong))
	}
	return nil
}

// judge compares one program for several data sets.
func (o options) judge(root string, s *judged) error {
	p := proggen.NewFunctions(s.Next, perProgram)
	base := filepath.Join(o.dir, fmt.Sprintf("functions-%d", s.Next))
	prog, list := compile.Compile(source.NewFile("functions.model", p.Text))
	if prog == nil {
		return fmt.Errorf("the program does not compile: %v", list[0])
	}
	if err := os.WriteFile(base+".stan", []byte(p.Text), 0o666); err != nil {
		return err
	}
	stan, err := newStan(root, o.stan, base+".stan")
	if err != nil {
		return err
	}
	defer stan.close()
	s.Programs++
	before := len(s.Wrong)
	for k := range dataSets {
		values := p.Data
		if k > 0 {
			values = proggen.OtherData(p, s.Next*dataSets+uint64(k))
		}
		usable, err := o.judgeWith(s, prog, stan, values, fmt.Sprintf("%s-%d", base, k))
		if err != nil {
			return err
		}
		s.Cases += usable
		if k == 0 {
			s.Functions += usable
		}
	}
	if len(s.Wrong) == before {
		os.Remove(base + ".stan")
	}
	return nil
}

// judgeWith compares one program for one data set; usable is the number of functions that could be
// evaluated.
func (o options) judgeWith(s *judged, prog *compile.Program, stan *stanModel, rest, base string) (usable int, err error) {
	values := func(on []float64) (string, *data.Set) {
		b, err := json.Marshal(on)
		if err != nil {
			panic(err) // finite numbers
		}
		text := fmt.Sprintf(`{"on":%s,%s`, b, rest[1:])
		set, err := data.ParseJSON("data.json", []byte(text))
		if err != nil {
			panic(err) // as above
		}
		return text, set
	}
	// A function that rejects would end the evaluation of all, so it is switched off.
	on := make([]float64, perProgram)
	for i := range on {
		on[i] = 1
		alone := make([]float64, perProgram)
		alone[i] = 1
		_, set := values(alone)
		m, err := direct.New(prog.IR(), set, direct.Options{Propto: true, Jacobian: true, Transforms: transform.Stan232})
		if err == nil {
			err = finite(m)
		}
		if err != nil {
			on[i] = 0
			s.Rejecting++
			continue
		}
		usable++
	}
	if usable == 0 {
		return 0, nil
	}
	text, set := values(on)
	if err := os.WriteFile(base+".json", []byte(text), 0o666); err != nil {
		return usable, err
	}
	f, err := stan.figures(text)
	if err != nil {
		return usable, err
	}
	// only evaluates some of the functions and reports whether fine returns true.
	only := func(some []int, fine func(f *figures, set *data.Set, on []float64) bool) (bool, error) {
		on := make([]float64, perProgram)
		for _, i := range some {
			on[i] = 1
		}
		text, set := values(on)
		f, err := stan.figures(text)
		return err == nil && fine(f, set, on), err
	}
	all := func() (list []int) {
		for i := range on {
			if on[i] != 0 {
				list = append(list, i)
			}
		}
		return list
	}
	for len(f.Points) == 0 { // which function does Stan reject?
		i, err := culprit(all(), func(some []int) (bool, error) {
			return only(some, func(f *figures, _ *data.Set, _ []float64) bool { return len(f.Points) > 0 })
		})
		if err != nil {
			return usable, err
		}
		on[i] = 0
		usable--
		s.Wrong = append(s.Wrong, fmt.Sprintf("%s function %d: only Stan rejects: %v", base, i+1, f.Rejected[0].Why))
		fmt.Println(s.Wrong[len(s.Wrong)-1])
		if usable == 0 {
			return usable, errors.New("all functions are rejected by Stan")
		}
		text, set = values(on)
		if f, err = stan.figures(text); err != nil {
			return usable, err
		}
	}
	s.Points += len(f.Points)
	complaints := s.compare(prog, set, f, on, base)
	if len(complaints) == 0 {
		os.Remove(base + ".json")
	}
	for _, c := range complaints {
		fmt.Println(c)
		s.Wrong = append(s.Wrong, c)
	}
	if len(complaints) > 0 && strings.Contains(complaints[len(complaints)-1], "gradient") {
		i, err := culprit(all(), func(some []int) (bool, error) {
			return only(some, func(f *figures, set *data.Set, on []float64) bool {
				return len(s.compare(prog, set, f, on, base)) == 0
			})
		})
		if err != nil {
			return usable, err
		}
		s.Wrong = append(s.Wrong, fmt.Sprintf("%s: the first difference is that of function %d", base, i+1))
		fmt.Println(s.Wrong[len(s.Wrong)-1])
	}
	return usable, nil
}

// culprit finds by bisection a function for which fine returns false.
func culprit(list []int, fine func(some []int) (bool, error)) (int, error) {
	for len(list) > 1 {
		half := list[:len(list)/2]
		ok, err := fine(half)
		if err != nil {
			return 0, err
		}
		if list = list[len(list)/2:]; !ok {
			list = half
		}
	}
	return list[0], nil
}

// finite evaluates a program at points of the same magnitude as the tool's.
func finite(m *direct.Model) error {
	sizes, err := m.Sizes()
	if err != nil {
		return err
	}
	state := uint64(1)
	for k := range 8 {
		radius := 2.0
		if k > 3 {
			radius = 0.5
		}
		x := make([][]float64, len(sizes))
		for i, n := range sizes {
			for range n {
				state = state*6364136223846793005 + 1442695040888963407
				x[i] = append(x[i], radius*(2*float64(state>>11)*0x1p-53-1))
			}
		}
		d, err := m.Density(x)
		if err != nil {
			return err
		}
		if math.IsNaN(d.Value) || math.IsInf(d.Value, 0) || d.Magnitude > 1e7 {
			return errors.New("not finite")
		}
	}
	return nil
}

// compare compares the figures with ppl's values.
func (s *judged) compare(prog *compile.Program, set *data.Set, f *figures, on []float64, what string) (complaints []string) {
	complain := func(format string, args ...any) {
		complaints = append(complaints, what+": "+fmt.Sprintf(format, args...))
	}
	m, err := prog.Bind(set, compile.BindOptions{StanCompat: "2.32"})
	if err != nil {
		complain("Bind: %v", err)
		return complaints
	}
	plain, err := direct.New(prog.IR(), set, direct.Options{Propto: true, Jacobian: true, Transforms: transform.Stan232})
	if err != nil {
		complain("interpreter: %v", err)
		return complaints
	}
	sizes, err := plain.Sizes()
	if err != nil {
		complain("interpreter: %v", err)
		return complaints
	}
	for k, p := range f.Points {
		grad := make([]float64, len(p.X))
		lp, err := m.LogDensityGrad(p.X, grad)
		if err != nil {
			complain("point %d: rejected, Stan accepts: %v", k, err)
			continue
		}
		out := make([]float64, len(m.OutputNames()))
		if err := m.Generate(p.X, nil, out); err != nil {
			complain("point %d: outputs rejected: %v", k, err)
			continue
		}
		var parts [][]float64
		at := 0
		for _, n := range sizes {
			parts = append(parts, p.X[at:at+n])
			at += n
		}
		constrained, _, err := plain.Outputs(parts)
		if err != nil {
			complain("point %d: the interpreter rejects: %v", k, err)
			continue
		}
		first := len(f.Params)
		scale, wrong := 1.0, false
		for i := range on {
			want := p.Constrained[first+i]
			scale = max(scale, math.Abs(want))
			for way, got := range map[string]float64{"model": out[first+i], "interpreter": constrained[first+i]} {
				d := math.Abs(got-want) / max(1, math.Abs(want))
				if got == want || math.IsNaN(got) && math.IsNaN(want) {
					d = 0
				}
				s.Values++
				if !(d <= 1e-9) {
					wrong = true
					complain("point %d: function %d: Stan %v, %s %v", k, i+1, want, way, got)
				} else {
					s.Largest = max(s.Largest, d)
				}
			}
		}
		if d := math.Abs(lp-p.LP) / scale; !(d <= 1e-9) && !wrong {
			complain("point %d: log density: Stan %v, model %v", k, p.LP, lp)
		}
		for i := range grad {
			scale = max(scale, math.Abs(p.Gradient[i]))
		}
		for i := range grad {
			d := math.Abs(grad[i]-p.Gradient[i]) / scale
			if !(d <= 1e-8) {
				complain("point %d: gradient by %s: Stan %v, model %v", k, m.UnconstrainedNames()[i], p.Gradient[i], grad[i])
				break
			}
			s.Gradients = max(s.Gradients, d)
		}
	}
	return complaints
}

// stanModel is a program that real Stan compiled.
type stanModel struct {
	root string // of the tool
	dir  string // in it
}

// newStan compiles a program with the scripts that the tool's setup wrote into its root. If the
// root contains /stanref/gxx0, a compiler with fewer optimisations, it uses that, which halves the
// time.
func newStan(root, tool, file string) (*stanModel, error) {
	if _, err := os.Stat(filepath.Join(tool, "run.sh")); err != nil {
		return nil, fmt.Errorf("-stan names no folder with run.sh: %v", err)
	}
	dir, err := os.MkdirTemp(filepath.Join(root, "stanref"), "functions")
	if err != nil {
		return nil, err
	}
	m := &stanModel{root: root, dir: dir}
	text, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	if err := os.WriteFile(filepath.Join(dir, "model.stan"), text, 0o666); err != nil {
		return m, err
	}
	in := strings.TrimPrefix(dir, strings.TrimSuffix(root, "/"))
	err = m.shell("cd /tmp && Rscript /stanref/stanc.R %s %s/model.stan", in, in)
	if err == nil {
		if b, err := os.ReadFile(filepath.Join(dir, "model.stanc_err")); err == nil {
			m.close()
			return nil, fmt.Errorf("%s: stanc: %s", file, b)
		}
		err = m.shell("if [ -x /stanref/gxx0 ]; then export CXX=/stanref/gxx0; fi; /stanref/cc.sh %s/model.cpp %s/exe", in, in)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// shell runs a command in the tool's root.
func (m *stanModel) shell(format string, args ...any) error {
	c := exec.Command("chroot", m.root, "nice", "-n", "10", "bash", "-c", fmt.Sprintf(format, args...))
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %s", err, out)
	}
	return nil
}

// figures evaluates the model for a data set.
func (m *stanModel) figures(values string) (*figures, error) {
	if err := os.WriteFile(filepath.Join(m.dir, "data.json"), []byte(values), 0o666); err != nil {
		return nil, err
	}
	in := strings.TrimPrefix(m.dir, strings.TrimSuffix(m.root, "/"))
	if err := m.shell("%s/exe eval %s/data.json %s/out", in, in, in); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(m.dir, "out"))
	if err != nil {
		return nil, err
	}
	f := &figures{}
	if err := json.Unmarshal([]byte("{"+string(b)+"}"), f); err != nil {
		return nil, fmt.Errorf("the tool's figures: %v", err)
	}
	return f, nil
}

func (m *stanModel) close() { os.RemoveAll(m.dir) }
