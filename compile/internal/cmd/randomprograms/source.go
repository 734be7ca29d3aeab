package main

import (
	"fmt"

	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/compile/internal/proggen"
)

// program returns the program of a seed, with its data as JSON. It returns an error if there is
// none, because no mutation gave a program that compiles.
func (o options) program(seed uint64) (p proggen.Program, err error) {
	switch o.source {
	case "models":
		return proggen.NewModel(seed), nil
	case "programs":
		return proggen.New(seed), nil
	case "statements":
		return proggen.NewStatements(seed), nil
	case "thresholds":
		return proggen.NewLarge(seed), nil
	case "rows":
		return proggen.NewRows(seed), nil
	case "idioms":
		return proggen.NewIdioms(seed), nil
	case "mutants":
		p = proggen.NewModel(seed)
		var ok bool
		if p.Text, ok = contest.Mutate(p.Text, seed); !ok {
			return p, fmt.Errorf("seed %d: no mutant", seed)
		}
		return p, nil
	case "real":
		p.Seed = seed
		p.Text, p.Data, err = o.library.real(seed)
		return p, err
	}
	return p, fmt.Errorf("there is no source %q", o.source)
}

// show prints the program of a seed, with its data in the first line.
func show(o options) error {
	p, err := o.program(o.from)
	if err != nil {
		return err
	}
	fmt.Printf("// DATA %s\n%s", p.Data, p.Text)
	return nil
}
