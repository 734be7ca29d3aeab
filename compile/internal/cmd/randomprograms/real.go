package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/internal/benchsuite"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// library contains the real programs that are mutated: the benchmark suite, the folders of -models,
// and posteriordb if PPL_POSTERIORDB is the folder posterior_database of a checkout. It is read
// when first used.
type library struct {
	folders string
	models  []realModel
}

type realModel struct{ name, text, values string }

// maxData is the maximum length of data, as JSON, for which the interpreter is fast enough to be
// run often.
const maxData = 20_000

// real returns the mutant of a seed, with data cut to few rows if possible.
func (l *library) real(seed uint64) (text, values string, err error) {
	if err := l.read(); err != nil {
		return "", "", err
	}
	rng := rand.New(rand.NewPCG(seed, 0x94d049bb133111eb))
	m := l.models[rng.IntN(len(l.models))]
	values, ok := fewRows(m, rng)
	if !ok {
		return "", "", fmt.Errorf("the data of %s are too large", m.name)
	}
	text, ok = contest.Mutate(m.text, seed)
	if !ok {
		return "", "", fmt.Errorf("seed %d: no mutant", seed)
	}
	return "// " + m.name + "\n" + text, values, nil
}

// fewRows cuts the data to few rows such that the program still accepts them.
func fewRows(m realModel, rng *rand.Rand) (values string, ok bool) {
	sizes := contest.Sizes(m.text, m.values)
	for _, most := range []int{[]int{3, 5, 8, 12, 25}[rng.IntN(5)], 12, 40} {
		cut := map[string]int{}
		for name, n := range sizes {
			if n > most {
				cut[name] = most
			}
		}
		if v, err := contest.Resized(m.text, m.values, cut); err == nil && len(v) <= maxData && accepts(m.text, v) {
			return v, true
		}
	}
	return m.values, len(m.values) <= maxData
}

// accepts reports whether the interpreter accepts the data.
func accepts(text, values string) bool {
	prog, _ := compile.Compile(source.NewFile("model", text))
	set, err := data.ParseJSON("data", []byte(values))
	if prog == nil || err != nil {
		return false
	}
	m, err := direct.New(prog.IR(), set, direct.Options{Jacobian: true})
	if err != nil {
		return false
	}
	sizes, err := m.Sizes()
	if err != nil {
		return false
	}
	x := make([][]float64, len(sizes))
	for i, n := range sizes {
		x[i] = make([]float64, n)
	}
	_, err = m.Density(x)
	return err == nil
}

func (l *library) read() error {
	if l.models != nil {
		return nil
	}
	for _, w := range benchsuite.All() {
		values, _ := w.Make()
		b, err := json.Marshal(values)
		if err != nil {
			return err
		}
		l.add(w.Name, w.Source().Text, string(b))
	}
	for _, folder := range strings.Split(l.folders, ",") {
		if folder == "" {
			continue
		}
		var files []string
		for _, suffix := range []string{"*.model", "*.stan", "*/*.model", "*/*.stan"} {
			found, err := filepath.Glob(filepath.Join(folder, suffix))
			if err != nil {
				return err
			}
			files = append(files, found...)
		}
		for _, file := range files {
			base := strings.TrimSuffix(strings.TrimSuffix(file, ".model"), ".stan")
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, suffix := range []string{".data.json", ".json"} {
				if values, err := os.ReadFile(base + suffix); err == nil {
					l.add(filepath.Base(file), string(text), string(values))
					break
				}
			}
		}
	}
	if pdb := os.Getenv("PPL_POSTERIORDB"); pdb != "" {
		if err := l.posteriors(pdb); err != nil {
			return err
		}
	}
	if len(l.models) == 0 {
		return errors.New("there are no real programs")
	}
	return nil
}

// solvers matches library functions whose results are approximate or not unique, so that the
// interpreter's differences cannot test a gradient. They also take long if a mutation makes
// equations stiff.
var solvers = regexp.MustCompile(`integrate_|ode_|algebra_solver|solve_|laplace|eigen|qr_|svd`)

// add adds a program if it compiles, converted to the current syntax.
func (l *library) add(name, text, values string) {
	if upgraded, list := format.Upgrade(source.NewFile(name, text), compile.Known); !list.HasErrors() {
		text = upgraded
	}
	if prog, _ := compile.Compile(source.NewFile(name, text)); prog != nil && !solvers.MatchString(text) {
		l.models = append(l.models, realModel{name, text, values})
	}
}

// posteriors adds the programs of posteriordb.
func (l *library) posteriors(folder string) error {
	list, err := contest.Posteriors(folder)
	for _, p := range list {
		l.add(p.Model, p.Text, p.Data)
	}
	return err
}
