package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/proggen"
	"github.com/ppl-lang/ppl/lang/source"
)

// perStanProgram is the number of fragments in a program that real Stan compiles.
const perStanProgram = 8

// idiomsAgainstStan compares programs of everyday fragments with real Stan: log density, gradient,
// parameters and transformed parameters. Each fragment has one transformed parameter.
func idiomsAgainstStan(o options) error {
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return err
	}
	root := os.Getenv("STANREF_ROOT")
	if root == "" {
		return fmt.Errorf("STANREF_ROOT is not set: the root that the tool's setup made")
	}
	programs, pieces, points, complaints := 0, 0, 0, 0
	largest := 0.0
	seed := max(1, o.from)
	for begin := time.Now(); uint64(programs) < o.count && time.Since(begin) < o.limit; seed++ {
		p := proggen.NewManyIdioms(seed, perStanProgram)
		base := filepath.Join(o.dir, fmt.Sprintf("stan-%d", seed))
		for suffix, text := range map[string]string{".stan": p.Text, ".json": p.Data} {
			if err := os.WriteFile(base+suffix, []byte(text), 0o666); err != nil {
				return err
			}
		}
		compared, d, err := stanWhole(root, o.stan, base+".stan", p)
		programs, points, largest = programs+1, points+compared, max(largest, d)
		if err != nil {
			complaints++
			fmt.Printf("seed %d: %v\n", seed, err)
		} else {
			pieces += perStanProgram
			os.Remove(base + ".stan")
			os.Remove(base + ".json")
		}
		fmt.Printf("%s seed %d: %d programs of %d pieces agree at %d points, largest difference %.2g; %d do not\n",
			time.Now().Format(time.TimeOnly), seed, programs-complaints, pieces, points, largest, complaints)
	}
	return nil
}

// stanWhole compares one program. The difference is relative to the magnitudes of the numbers.
func stanWhole(root, tool, file string, p proggen.Program) (points int, largest float64, err error) {
	prog, list := compile.Compile(source.NewFile(file, p.Text))
	if prog == nil {
		return 0, 0, fmt.Errorf("the program does not compile: %v", list[0])
	}
	set, err := data.ParseJSON("data.json", []byte(p.Data))
	if err != nil {
		return 0, 0, err
	}
	m, err := prog.Bind(set, compile.BindOptions{StanCompat: "2.32"})
	if err != nil {
		return 0, 0, err
	}
	stan, err := newStan(root, tool, file)
	if err != nil {
		return 0, 0, err
	}
	defer stan.close()
	f, err := stan.figures(p.Data)
	if err != nil {
		return 0, 0, err
	}
	tolerance := 1e-8
	if strings.Contains(p.Text, "normal_lcdf(") || strings.Contains(p.Text, " T[") {
		tolerance = 1e-6 // Stan's derivative of normal_lcdf is a polynomial in some ranges
	}
	for k, at := range f.Points {
		grad, out := make([]float64, len(at.X)), make([]float64, len(m.OutputNames()))
		lp, err := m.LogDensityGrad(at.X, grad)
		if err == nil {
			err = m.Generate(at.X, nil, out)
		}
		if err != nil {
			return points, largest, fmt.Errorf("point %d: rejected, Stan accepts: %w", k, err)
		}
		scale := 1.0
		for i, want := range at.Constrained {
			d := math.Abs(out[i]-want) / max(1, math.Abs(want))
			if scale = max(scale, math.Abs(want)); d > 1e-8 || math.IsNaN(d) {
				return points, largest, fmt.Errorf("point %d: %s: Stan %v, ppl %v", k, m.OutputNames()[i], want, out[i])
			}
			largest = max(largest, d)
		}
		for _, g := range at.Gradient {
			scale = max(scale, math.Abs(g))
		}
		if d := math.Abs(lp-at.LP) / max(scale, math.Abs(at.LP)); !(d <= 1e-8) {
			return points, largest, fmt.Errorf("point %d: log density: Stan %v, ppl %v", k, at.LP, lp)
		}
		for i, want := range at.Gradient {
			d := math.Abs(grad[i]-want) / scale
			if !(d <= tolerance) {
				return points, largest, fmt.Errorf("point %d: gradient by %s: Stan %v, ppl %v", k, m.UnconstrainedNames()[i], want, grad[i])
			}
			if tolerance == 1e-8 {
				largest = max(largest, d)
			}
		}
		points++
	}
	if points == 0 {
		return 0, largest, fmt.Errorf("all points are rejected by Stan: %v", f.Rejected)
	}
	return points, largest, nil
}
