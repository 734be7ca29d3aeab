package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// lines returns series with slope 1 and noise 0.1. The last line is not a valid series.
func lines(n, length int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range n {
		s := series{Name: fmt.Sprintf("series/%d", i)}
		for t := range length {
			s.Y = append(s.Y, float64(10*i+t)+0.1*rng.NormFloat64())
		}
		line, _ := json.Marshal(s)
		b.Write(append(line, '\n'))
	}
	b.WriteString(`{"name": "short", "y": [1, 2]}` + "\n")
	return b.String()
}

func forecasts(t *testing.T, out *bytes.Buffer) map[string]forecast {
	t.Helper()
	all := map[string]forecast{}
	for d := json.NewDecoder(out); d.More(); {
		var f forecast
		if err := d.Decode(&f); err != nil {
			t.Fatal(err)
		}
		all[f.Name] = f
	}
	return all
}

// TestNights checks that each series gets its forecast or an error in its line, and that the second
// night starts from the fits of the first.
func TestNights(t *testing.T) {
	j, err := newJob(t.TempDir(), 2, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	const n, length = 5, 20
	for night := range 2 {
		var out bytes.Buffer
		failed, err := j.run(t.Context(), strings.NewReader(lines(n, length+night)), &out)
		if err != nil || failed != 1 {
			t.Fatalf("%d failed, %v", failed, err)
		}
		all := forecasts(t, &out)
		if len(all) != n+1 || !strings.Contains(all["short"].Error, "at least 3") {
			t.Errorf("%+v", all)
		}
		for i := range n {
			f := all[fmt.Sprintf("series/%d", i)]
			want := float64(10*i + length + night)
			// The priors change the slope a little, and the noise is 0.1.
			if f.Next == nil || math.Abs(*f.Next-want) > 0.3 || !(*f.Low < want && want < *f.High) || f.Warm != (night == 1) {
				t.Errorf("night %d: %s %s, want %v", night, f.Name, f.Error, want)
			}
		}
	}
}

// TestJobEnds checks that the job returns an error if its time is over or its input cannot be read.
func TestJobEnds(t *testing.T) {
	j, err := newJob("", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	late := errors.New("morning")
	cancel(late)
	if _, err := j.run(ctx, strings.NewReader(lines(1, 10)), &bytes.Buffer{}); !errors.Is(err, late) {
		t.Error(err)
	}
	if _, err := j.run(t.Context(), strings.NewReader("{"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "the input") {
		t.Error(err)
	}
}

// BenchmarkSeries runs the job with 500 series; ns/op is the time of the whole job.
func BenchmarkSeries(b *testing.B) {
	j, err := newJob("", 2, 1<<30)
	if err != nil {
		b.Fatal(err)
	}
	in := lines(500, 50)
	for b.Loop() {
		if failed, err := j.run(b.Context(), strings.NewReader(in), &bytes.Buffer{}); err != nil || failed != 1 {
			b.Fatal(failed, err)
		}
	}
}
