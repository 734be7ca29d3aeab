package main

import (
	"fmt"

	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/compile/internal/proggen"
)

// program is the program of a seed, with its data as JSON. The error says why
// there is none: a mutation gave nothing that compiles.
func (o options) program(seed uint64) (text, values string, err error) {
	switch o.source {
	case "models":
		p := proggen.NewModel(seed)
		return p.Text, p.Data, nil
	case "programs":
		p := proggen.New(seed)
		return p.Text, p.Data, nil
	case "statements":
		p := proggen.NewStatements(seed)
		return p.Text, p.Data, nil
	case "thresholds":
		p := proggen.NewLarge(seed)
		return p.Text, p.Data, nil
	case "mutants":
		p := proggen.NewModel(seed)
		text, ok := contest.Mutate(p.Text, seed)
		if !ok {
			return "", "", fmt.Errorf("seed %d: no mutant", seed)
		}
		return text, p.Data, nil
	case "real":
		return o.library.real(seed)
	}
	return "", "", fmt.Errorf("there is no source %q", o.source)
}

// show prints the program of a seed, its data in the first line.
func show(o options) error {
	text, values, err := o.program(o.from)
	if err != nil {
		return err
	}
	fmt.Printf("// DATA %s\n%s", values, text)
	return nil
}
