package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/assess/folds"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/model"
)

// This file decides how chains start, by --init and --metric-file.

// initRadius is the radius of the random starting values of parameters that --init does not give.
const initRadius = 2

// inits reads --init and prints notes about it.
func (o *runOptions) inits(ctx context.Context, p *model.Posterior, tell func(string)) (infer.Init, error) {
	if o.init == "pathfinder" {
		return o.initByPathfinder(ctx, p, tell)
	}
	if radius, err := strconv.ParseFloat(o.init, 64); err == nil {
		if !(radius >= 0) || radius > 1e300 {
			return nil, usagef("--init must be a radius that is not negative, values or a file, but is %s", o.init)
		}
		return infer.Uniform{Radius: radius}, nil
	}
	if strings.HasPrefix(strings.TrimSpace(o.init), "{") {
		values, err := data.ParseJSON("--init", []byte(o.init))
		if err != nil {
			return nil, err
		}
		return p.InitAt(values, initRadius)
	}
	if o.init == "-" {
		return o.initFrom(ctx, p)
	}
	info, err := os.Stat(o.init)
	if err != nil {
		if pe := (*os.PathError)(nil); errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fmt.Errorf("--init %s: neither a number nor values as JSON nor a file that can be read: %w", o.init, err)
	}
	if info.IsDir() {
		return o.initAtEnd(p)
	}
	if strings.EqualFold(filepath.Ext(o.init), ".csv") {
		values, err := lastDraw(o.init, o.memory)
		if err != nil {
			return nil, fmt.Errorf("--init: %w", err)
		}
		return p.InitAt(values, initRadius)
	}
	return o.initFrom(ctx, p)
}

// initFrom returns an Init that starts the chains at the values in a file.
func (o *runOptions) initFrom(ctx context.Context, p *model.Posterior) (infer.Init, error) {
	text, err := o.readText(ctx, o.init, "--init")
	if err != nil {
		return nil, err
	}
	values, err := data.Parse(fileName(o.init), text, o.reading())
	if err != nil {
		return nil, err
	}
	return p.InitAt(values, initRadius)
}

// initByPathfinder returns an Init that starts the chains at draws of Pathfinder.
func (o *runOptions) initByPathfinder(ctx context.Context, p *model.Posterior, tell func(string)) (infer.Init, error) {
	r, err := optimize.Pathfinder(ctx, p, optimize.PathfinderOptions{
		PathOptions: optimize.PathOptions{Draws: 250}, Paths: max(4, o.chains), NoResample: true, Seed: o.seed, Init: infer.Uniform{Radius: initRadius},
	})
	if err != nil {
		return nil, fmt.Errorf("--init pathfinder: no path has come to an end: %w", err)
	}
	if !o.quiet {
		tell(fmt.Sprintf("Chains start at draws of Pathfinder (%d paths, Pareto k %.2g).", len(r.Paths), r.K))
	}
	return r.Starts(o.seed, o.chains), nil
}

// initAtEnd returns an Init that starts the chains at the last draws of an earlier run.
func (o *runOptions) initAtEnd(p *model.Posterior) (infer.Init, error) {
	record, err := folder.Read(o.init)
	if record == nil {
		return nil, fmt.Errorf("--init %s: the folder holds no run: %w", o.init, err)
	}
	if err := o.sameScale("init", o.init); err != nil {
		return nil, err
	}
	var ends [][]float64
	for _, a := range record.Chains {
		if a.Position != nil {
			ends = append(ends, a.Position)
		}
	}
	if len(ends) == 0 {
		return nil, fmt.Errorf("--init %s: no chain of that run has got anywhere", o.init)
	}
	at := infer.At{}
	for i := range o.chains {
		end := ends[i%len(ends)]
		if len(end) != p.Dim() {
			return nil, fmt.Errorf("--init %s: that run has %d unconstrained parameters, the model %d", o.init, len(end), p.Dim())
		}
		at.Positions = append(at.Positions, end)
	}
	return at, nil
}

// validated gives the folds of the data to a sampler that is tuned for predictions.
func (o *running) validated(ctx context.Context, l *loaded, cv sampler.CrossValidated) (infer.Sampler, error) {
	bind := o.bindOptions()
	bind.Print = nil // it would print once per observation
	held, err := folds.Make(ctx, l.model, l.values, folds.Options{Rows: cv.Rows, Folds: cv.Folds, Seed: o.seed}, bind)
	if err != nil {
		return nil, fmt.Errorf("--reward predictive: %w", err)
	}
	return cv.With(held), nil
}

// lastDraw returns the values of the last draw in a CSV file, as JSON.
func lastDraw(path string, memory byteSize) (model.JSON, error) {
	c, err := draws.ReadFile(path, &draws.Room{Limit: compile.MemoryOr(int64(memory))})
	if err != nil {
		return nil, err
	}
	if c.Len() == 0 {
		return nil, fmt.Errorf("%s holds no draws", path)
	}
	width := len(c.Columns.Statistics) + len(c.Columns.Names)
	row := c.Draws[len(c.Draws)-width:][len(c.Columns.Statistics):]
	values := map[string]any{}
	for i, name := range c.Columns.Names {
		// Colons before members of tuples are kept: t.1:2 is member 2 of t[1].
		parts := strings.Split(strings.ReplaceAll(name, ":", ".:"), ".")
		if err := place(values, parts, row[i]); err != nil {
			return nil, fmt.Errorf("%s: column %s: %w", path, name, err)
		}
	}
	return json.Marshal(values)
}

// place stores v at name[i].member… in nested lists and objects, which grow as needed. A complex
// number is a list of its two parts.
func place(values map[string]any, parts []string, v float64) error {
	grown, err := placeIn(values[parts[0]], parts[1:], v)
	values[parts[0]] = grown
	return err
}

func placeIn(at any, path []string, v float64) (any, error) {
	if len(path) == 0 {
		return number(v), nil
	}
	var err error
	if key, ok := strings.CutPrefix(path[0], ":"); ok {
		tuple, _ := at.(map[string]any)
		if tuple == nil {
			tuple = map[string]any{}
		}
		tuple[key], err = placeIn(tuple[key], path[1:], v)
		return tuple, err
	}
	list, _ := at.([]any)
	i, err := strconv.Atoi(path[0])
	switch path[0] {
	case "real":
		i, err = 1, nil
	case "imag":
		i, err = 2, nil
	}
	if err != nil || i < 1 || i > len(list)+1 {
		return at, fmt.Errorf("an index %q", path[0])
	}
	if i > len(list) {
		list = append(list, nil)
	}
	list[i-1], err = placeIn(list[i-1], path[1:], v)
	return list, err
}

// adapted reads --metric-file. It also returns settings from the file for options of the sampler
// that are not given, such as the kind of the metric.
func (o *runOptions) adapted(ctx context.Context) ([]infer.Adapted, map[string]string, error) {
	if o.metricFile == "" {
		return nil, nil, nil
	}
	path := o.metricFile
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, folder.RecordFile)
	}
	text, err := o.readText(ctx, path, "--metric-file")
	if err != nil {
		return nil, nil, fmt.Errorf("--metric-file: %w", err)
	}
	all, err := infer.ParseAdapted(fileName(path), []byte(text))
	if err != nil {
		return nil, nil, fmt.Errorf("--metric-file: %w", err)
	}
	if err := o.sameScale("metric-file", o.metricFile); err != nil {
		return nil, nil, err
	}
	var usable []infer.Adapted
	for _, a := range all {
		if a.StepSize > 0 || a.Metric.Kind != "" {
			usable = append(usable, a)
		}
	}
	if usable == nil {
		return nil, nil, fmt.Errorf("--metric-file %s: warm-up of that run was not finished", o.metricFile)
	}
	assumed := map[string]string{}
	if kind := usable[0].Metric.Kind; kind != "" {
		assumed["metric"] = string(kind)
	}
	return usable, assumed, nil
}

// startFrom fills in the starting state of the chains. The earlier run may have had more or fewer
// chains.
func (o *running) startFrom(options *fit.Options, p *model.Posterior) error {
	recentred := false
	for i := range o.chains {
		if len(o.adapted) == 0 {
			return nil
		}
		a := o.adapted[i%len(o.adapted)]
		if a.StepSize > 0 {
			options.StepSize = append(options.StepSize, a.StepSize)
		}
		if a.Metric.Kind != "" {
			if a.Metric.Dim != p.Dim() {
				return fmt.Errorf("--metric-file %s: a metric of dimension %d, but the model has %d unconstrained parameters", o.metricFile, a.Metric.Dim, p.Dim())
			}
			options.Metric = append(options.Metric, a.Metric)
			options.Recentring = append(options.Recentring, a.Recentring)
			recentred = recentred || a.Recentring != nil
		}
	}
	if !recentred {
		options.Recentring = nil
	}
	if n := len(options.StepSize); n > 0 && n < o.chains {
		return fmt.Errorf("--metric-file %s: there is a step size for some chains only", o.metricFile)
	}
	if n := len(options.Metric); n > 0 && n < o.chains {
		return fmt.Errorf("--metric-file %s: there is a metric for some chains only", o.metricFile)
	}
	return nil
}
