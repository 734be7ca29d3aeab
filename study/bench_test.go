package study_test

import (
	"context"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/study"
)

// BenchmarkEightSchools makes b.N fits of eight schools and reports the share of sampling, with all
// results kept and with those of a simulation study.
func BenchmarkEightSchools(b *testing.B) {
	for name, keep := range map[string]study.Keep{
		"all":    {},
		"chosen": {Summary: []string{"mu", "tau", "theta"}},
		"few":    {Summary: []string{"mu", "tau"}, Statistics: []string{"mean", "sd", "ess_bulk", "rhat"}},
	} {
		b.Run(name, func(b *testing.B) { eightSchools(b, keep) })
	}
}

func eightSchools(b *testing.B, keep study.Keep) {
	m, err := model.CompileFile("../examples/eight_schools/eight_schools.model")
	if err != nil {
		b.Fatal(err)
	}
	text, err := study.NewModel("eight_schools", m, false)
	if err != nil {
		b.Fatal(err)
	}
	simulator, err := assess.NewSimulator(context.Background(), m, model.DataFile{Path: "../examples/eight_schools/eight_schools.data.json"}, b.N, 1, assess.SimulatorOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	p, err := study.Run(context.Background(), &study.Plan{
		Seed:  1,
		Keep:  keep,
		Parts: []study.Part{{Models: []*study.Model{text}, Source: &study.Simulated{Simulator: simulator, Count: b.N, Seed: 1}}},
	}, study.RunOptions{Folder: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(100*p.Sampling/p.Busy, "%sampling")
}
