package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer/nuts"
)

//go:embed nightly.stan
var program string

// job forecasts series.
type job struct {
	model  *ppl.Model  // compiled once, bound to each series
	limits *ppl.Limits // of all fits together
	keep   string      // folder of fits; "": none
	atOnce int         // series in work
}

func newJob(keep string, processors int, memory int64) (*job, error) {
	model, err := ppl.Compile("nightly.stan", program)
	if err != nil {
		return nil, err
	}
	limits, err := ppl.NewLimits(processors, memory)
	if err != nil {
		return nil, err
	}
	if keep != "" {
		if err := os.MkdirAll(keep, 0o755); err != nil {
			return nil, err
		}
	}
	return &job{model, limits, keep, 2 * processors}, nil
}

// series is a line of input.
type series struct {
	Name string    `json:"name"`
	Y    []float64 `json:"y"`
}

// forecast is a line of output.
type forecast struct {
	Name  string   `json:"name"`
	Next  *float64 `json:"next,omitempty"` // the median
	Low   *float64 `json:"low,omitempty"`  // 5%
	High  *float64 `json:"high,omitempty"` // 95%
	Warm  bool     `json:"warm,omitempty"` // started from last night's fit
	Notes []string `json:"notes,omitempty"`
	Error string   `json:"error,omitempty"`
}

// run forecasts all series, in any order, and returns the number of series that failed.
func (j *job) run(ctx context.Context, in io.Reader, out io.Writer) (failed int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan series)
	var mu sync.Mutex // of out and failed
	encoder := json.NewEncoder(out)
	var working sync.WaitGroup
	for range j.atOnce {
		working.Go(func() {
			for s := range todo {
				f, err := j.forecast(ctx, s)
				if err != nil {
					f = &forecast{Name: s.Name, Error: err.Error()}
				}
				mu.Lock()
				if err != nil {
					failed++
				}
				if err := encoder.Encode(f); err != nil {
					cancel(err)
				}
				mu.Unlock()
			}
		})
	}
	decoder := json.NewDecoder(in)
	for ctx.Err() == nil {
		var s series
		if err = decoder.Decode(&s); err != nil {
			break
		}
		select {
		case todo <- s:
		case <-ctx.Done():
		}
	}
	close(todo)
	working.Wait()
	if ctx.Err() != nil {
		return failed, context.Cause(ctx)
	}
	if !errors.Is(err, io.EOF) {
		return failed, fmt.Errorf("the input: %w", err)
	}
	return failed, nil
}

// forecast is one series.
func (j *job) forecast(ctx context.Context, s series) (*forecast, error) {
	posterior, err := j.model.BindContext(ctx, map[string]any{"N": len(s.Y), "y": s.Y}, ppl.BindOptions{})
	if err != nil {
		return nil, err
	}
	last, err := j.last(s.Name)
	if err != nil {
		return nil, err
	}
	options := ppl.Options{Sampler: nuts.Sampler{}, Seed: 1, Warmup: 300, Draws: 500, Parallel: 1, Limits: j.limits, From: last}
	if last != nil {
		options.Warmup = 50
	}
	fit, err := ppl.Sample(ctx, posterior, options)
	if err != nil {
		return nil, err
	}
	next, err := fit.Quantity("next")
	if err != nil {
		return nil, err
	}
	q := next.Quantiles(0.05, 0.5, 0.95)
	f := &forecast{Name: s.Name, Low: &q[0], Next: &q[1], High: &q[2], Warm: last != nil}
	for _, finding := range fit.Findings() {
		f.Notes = append(f.Notes, finding.Summary)
	}
	return f, j.save(s.Name, fit)
}

// file returns the path where the fit of a series is stored.
func (j *job) file(name string) string {
	return filepath.Join(j.keep, url.PathEscape(name)+".fit")
}

// last returns the fit of the night before, or nil.
func (j *job) last(name string) (*ppl.Fit, error) {
	if j.keep == "" {
		return nil, nil
	}
	blob, err := os.ReadFile(j.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ppl.ReadArchive(bytes.NewReader(blob), int64(len(blob)))
}

// save stores a fit atomically.
func (j *job) save(name string, fit *ppl.Fit) error {
	if j.keep == "" {
		return nil
	}
	temporary, err := os.CreateTemp(j.keep, "*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	if _, err = fit.WriteTo(temporary); err == nil {
		err = temporary.Close()
	}
	if err != nil {
		temporary.Close()
		return err
	}
	return os.Rename(temporary.Name(), j.file(name))
}
