package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model"
)

// ReadOptions are options of [ReadPlan]. The zero value is the default.
type ReadOptions struct {
	// Dir is the folder to which file names in the plan are relative. Results have the names in the
	// plan, so they do not depend on Dir.
	Dir string

	Compile model.CompileOptions

	// Warn, if not nil, is called with each compiled model, which has its warnings.
	Warn func(*model.Model)
}

// ReadPlan reads a plan in YAML or JSON; name is its file name, for messages. It compiles the
// models, and prepares simulations and folds. Errors state their position. It does not read the
// data of single fits yet.
func ReadPlan(ctx context.Context, name, text string, o ReadOptions) (*Plan, error) {
	r := &reader{document: document{source.NewFile(name, text)}, ctx: ctx, options: o, plan: &Plan{Seed: 1}}
	var root yaml.Node
	if err := yaml.Load([]byte(text), &root); err != nil {
		return nil, fmt.Errorf("%s is no YAML: %w", name, err)
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) == 0 {
		return nil, fmt.Errorf("%s is empty: a plan has models and data", name)
	}
	top := resolved(root.Content[0])
	if err := r.read(top); err != nil {
		return nil, err
	}
	return r.plan, r.at(top, r.plan.Check())
}

// reader reads a plan.
type reader struct {
	document
	ctx     context.Context
	options ReadOptions
	plan    *Plan
	models  []*Model
	sources []*yaml.Node
}

func (r *reader) read(n *yaml.Node) error {
	var models, quantities, keep *yaml.Node
	err := r.fields(n, "a plan", map[string]func(*yaml.Node) error{
		"models": func(n *yaml.Node) error { models = n; return nil },
		"data": func(n *yaml.Node) error {
			if r.sources = []*yaml.Node{n}; n.Kind == yaml.SequenceNode {
				r.sources = n.Content
			}
			return nil
		},
		"options":    r.fitOptions,
		"grid":       r.grid,
		"time-limit": r.timeLimit,
		"repeat":     r.number(&r.plan.Repeat, 1, "repeat"),
		"seed": func(n *yaml.Node) (err error) {
			if r.plan.Seed, err = strconv.ParseUint(n.Value, 10, 64); err != nil {
				return r.errorf(n, "", "seed must be a whole number, not negative")
			}
			return nil
		},
		"keep": func(n *yaml.Node) error {
			keep = n
			return r.fields(n, "keep", map[string]func(*yaml.Node) error{
				"summary": func(n *yaml.Node) error {
					if n.Value == "none" || n.Value == "all" {
						r.plan.Keep.NoSummary = n.Value == "none"
						return nil
					}
					return r.texts(&r.plan.Keep.Summary, "a quantity")(n)
				},
				"statistics": r.statistics,
				"draws":      r.texts(&r.plan.Keep.Draws, "a quantity"),
				"quantities": func(n *yaml.Node) error { quantities = n; return nil },
			})
		},
	})
	if err != nil {
		return err
	}
	if models == nil {
		return r.errorf(n, "add models: FILE", "the plan names no models")
	}
	if err := r.readModels(models); err != nil {
		return err
	}
	if quantities != nil {
		if r.plan.Quantities, err = r.model(quantities, "", quantities.Value); err != nil {
			return err
		}
	}
	if err := r.keepable(keep); err != nil {
		return err
	}
	if r.sources == nil { // models without data
		r.plan.Parts = append(r.plan.Parts, Part{r.models, &Values{"", data.Empty()}})
	}
	for _, s := range r.sources {
		if err := r.source(resolved(s)); err != nil {
			return err
		}
	}
	return nil
}

// timeLimit reads the time limit of a fit.
func (r *reader) timeLimit(n *yaml.Node) (err error) {
	if r.plan.TimeLimit, err = time.ParseDuration(n.Value); err != nil || r.plan.TimeLimit <= 0 {
		return r.errorf(n, "write a time such as 90s or 1h30m", "time-limit must be a time, not %q", n.Value)
	}
	return nil
}

// statistics reads the names of figures of a summary.
func (r *reader) statistics(n *yaml.Node) error {
	if err := r.texts(&r.plan.Keep.Statistics, "a statistic")(n); err != nil {
		return err
	}
	for i, name := range r.plan.Keep.Statistics {
		if known := diagnose.MeasureNames(); !slices.Contains(known, name) {
			return r.unknown(n, i, name, "a summary has no %q", known)
		}
	}
	return nil
}

// unknown returns an error about the i-th name in a list, which is not one of the known names.
func (r *reader) unknown(n *yaml.Node, i int, name, format string, known []string) error {
	fix := "it can have " + strings.Join(known, ", ")
	if near := diag.Nearest(name, slices.Values(known)); near != "" {
		fix = "did you mean " + near + "?"
	} else if len(known) > 20 {
		fix = ""
	}
	if n.Kind == yaml.SequenceNode {
		n = n.Content[i]
	}
	return r.errorf(n, fix, format, name)
}

// keepable checks that at least one model has each quantity to keep.
func (r *reader) keepable(n *yaml.Node) error {
	var known []string
	models := r.models
	if r.plan.Quantities != nil {
		models = append(slices.Clone(models), r.plan.Quantities)
	}
	for _, m := range models {
		p := m.compiled.Program().IR()
		for _, v := range slices.Concat(p.Parameters, p.TransformedParameterVars, p.GeneratedQuantityVars) {
			known = append(known, v.Name)
		}
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"summary", r.plan.Keep.Summary}, {"draws", r.plan.Keep.Draws}} {
		for i, name := range list.names {
			variable := name
			if end := strings.IndexAny(name, "[."); end >= 0 {
				variable = name[:end]
			}
			if !slices.Contains(known, variable) {
				return r.unknown(child(n, list.key), i, variable, "no model has the quantity %q", known)
			}
		}
	}
	return nil
}

// readModels reads one name of a file, a list of them, or names with files.
func (r *reader) readModels(n *yaml.Node) error {
	add := func(at *yaml.Node, name string) error {
		if at.Kind != yaml.ScalarNode {
			return r.errorf(at, "", "a model is the name of a file")
		}
		m, err := r.model(at, name, at.Value)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(r.models, func(other *Model) bool { return other.Name == m.Name }) {
			return r.errorf(at, "give their own models names: NAME: FILE", "two models are called %s", m.Name)
		}
		r.models = append(r.models, m)
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if err := add(resolved(n.Content[i+1]), n.Content[i].Value); err != nil {
				return err
			}
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if err := add(resolved(item), ""); err != nil {
				return err
			}
		}
	default:
		return add(n, "")
	}
	if len(r.models) == 0 {
		return r.errorf(n, "", "the plan names no models")
	}
	return nil
}

// model compiles a model.
func (r *reader) model(n *yaml.Node, name, path string) (*Model, error) {
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(filepath.FromSlash(path)), filepath.Ext(path))
	}
	full := r.path(path)
	if _, err := os.Stat(full); err != nil {
		return nil, r.errorf(n, "", "cannot read the model %s: %v", path, reason(err))
	}
	m, err := await(r.ctx, func() (*model.Model, error) { return model.CompileFileContext(r.ctx, full, r.options.Compile) })
	if err != nil {
		return nil, err // it states its own positions
	}
	if r.options.Warn != nil {
		r.options.Warn(m)
	}
	return NewModel(name, m, r.options.Compile.Legacy)
}

func reason(err error) error {
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// path returns the path of a file named in the plan.
func (r *reader) path(name string) string {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return filepath.FromSlash(name)
	}
	return filepath.Join(r.options.Dir, filepath.FromSlash(name))
}

func (r *reader) fitOptions(n *yaml.Node) error {
	r.plan.Options = Options{}
	if n.Kind != yaml.MappingNode {
		return r.errorf(n, "write options such as chains: 2", "options must have names and values")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var v string
		name := n.Content[i].Value
		if err := r.text(&v, name)(resolved(n.Content[i+1])); err != nil {
			return err
		}
		r.plan.Options[strings.ReplaceAll(name, "_", "-")] = v
	}
	return r.optionAt(n, r.plan.Options)
}

// optionAt returns an error with the position of an invalid option.
func (r *reader) optionAt(n *yaml.Node, o Options) error {
	_, err := o.Complete()
	var wrong *OptionError
	if errors.As(err, &wrong) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if strings.ReplaceAll(n.Content[i].Value, "_", "-") == wrong.Name {
				return r.errorf(n.Content[i], "", "%s: %v", wrong.Name, wrong.Err)
			}
		}
	}
	return r.at(n, err)
}

func (r *reader) grid(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return r.errorf(n, "write such as delta: [0.8, 0.95]", "the grid must have names of options, with values")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		axis := Axis{Name: strings.ReplaceAll(n.Content[i].Value, "_", "-")}
		if err := r.texts(&axis.Values, axis.Name)(resolved(n.Content[i+1])); err != nil {
			return err
		}
		r.plan.Grid = append(r.plan.Grid, axis)
	}
	return nil
}

// source reads a source of data.
func (r *reader) source(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return r.files(n, &sourceFields{files: []string{n.Value}}, nil)
	}
	var s sourceFields
	num := r.number
	if err := r.fields(n, "a source of data", map[string]func(*yaml.Node) error{
		"files":    r.texts(&s.files, "a file"),
		"table":    r.text(&s.table, "table"),
		"by":       r.texts(&s.by, "a column"),
		"count":    r.texts(&s.counts, "a variable that counts"),
		"na":       r.texts(&s.columns.NA, "a treatment of missing values"),
		"missing":  r.texts(&s.columns.Missing, "a text that means no value"),
		"read":     r.texts(&s.columns.Read, "a way to read columns"),
		"with":     func(n *yaml.Node) error { s.with = n; return nil },
		"values":   func(n *yaml.Node) error { s.values = n; return nil },
		"name":     r.text(&s.name, "name"),
		"simulate": r.text(&s.simulate, "simulate"),
		"sets":     num(&s.sets, 1, "sets"),
		"params":   func(n *yaml.Node) error { s.params = n; return nil },
		"folds":    num(&s.folds, 0, "folds"),
		"time":     r.text(&s.time, "time"),
		"first":    r.text(&s.first, "first"),
		"data":     func(n *yaml.Node) error { s.data = n; return nil },
		"seed":     num(&s.seed, 0, "seed"),
	}); err != nil {
		return err
	}
	s.node = n
	kinds := 0
	for _, given := range []bool{s.files != nil, s.table != "", s.values != nil, s.simulate != "", s.folds > 0 || s.time != ""} {
		if given {
			kinds++
		}
	}
	if kinds != 1 && !(kinds == 0 && s.data != nil && s.by != nil) {
		return r.errorf(n, "give one of files, table, values, simulate and folds", "a source of data must say where they come from")
	}
	if err := s.columns.Check(); err != nil {
		return r.at(n, err)
	}
	common, err := r.set(s.with)
	if err != nil {
		return err
	}
	switch {
	case s.files != nil:
		return r.files(n, &s, common)
	case s.table != "":
		t, err := await(r.ctx, func() (*Table, error) {
			return ReadTable(r.path(s.table), TableOptions{
				Name: s.table, By: s.by, Counts: data.ReadCounts(s.counts), Columns: s.columns, Uses: r.uses, With: common,
			})
		})
		if err != nil {
			return r.at(n, err)
		}
		r.plan.Parts = append(r.plan.Parts, Part{r.models, t})
		return nil
	case s.values != nil:
		set, err := r.values(s.values)
		if s.name == "" {
			s.name = fmt.Sprintf("values in line %d", n.Line)
		}
		if err == nil {
			r.plan.Parts = append(r.plan.Parts, Part{r.models, &Values{s.name, set}})
		}
		return err
	case s.simulate != "":
		return r.simulated(&s)
	}
	return r.folded(&s)
}

// sourceFields are the fields of a source.
type sourceFields struct {
	node                       *yaml.Node
	files, by, counts          []string
	table, name, simulate      string
	time, first                string
	sets, folds, seed          int
	columns                    data.Declarations
	with, values, params, data *yaml.Node
}

// uses reports whether a model declares a variable among its data.
func (r *reader) uses(name string) bool {
	return slices.ContainsFunc(r.models, func(m *Model) bool { return m.compiled.Program().Declares(name) })
}

// set reads values, given in a file or in the plan.
func (r *reader) set(n *yaml.Node) (*data.Set, error) {
	switch {
	case n == nil:
		return nil, nil
	case n.Kind == yaml.ScalarNode:
		set, err := readData(r.ctx, model.DataFile{Path: r.path(n.Value)})
		return set, r.at(n, err)
	}
	return r.values(n)
}

// files expands the names of files.
func (r *reader) files(n *yaml.Node, s *sourceFields, with *data.Set) error {
	var paths []string
	for _, pattern := range s.files {
		if _, err := os.Stat(r.path(pattern)); err == nil || !strings.ContainsAny(pattern, "*?[") {
			paths = append(paths, pattern) // a missing file makes its fit fail
			continue
		}
		found, err := glob(r.ctx, r.path(pattern))
		switch {
		case r.ctx.Err() != nil:
			return context.Cause(r.ctx)
		case errors.Is(err, errTooMany):
			return r.errorf(n, "use a narrower pattern", "%s: %v", pattern, err)
		case err != nil:
			return r.errorf(n, "", "%s is no pattern of names: %v", pattern, err)
		}
		if len(found) == 0 {
			return r.errorf(n, "", "no file is called %s", pattern)
		}
		for _, f := range found {
			name, err := filepath.Rel(r.options.Dir, f)
			if err != nil || filepath.IsAbs(filepath.FromSlash(pattern)) || r.options.Dir == "" {
				name = f
			}
			paths = append(paths, filepath.ToSlash(name))
		}
	}
	r.plan.Parts = append(r.plan.Parts, Part{r.models, &Files{Dir: r.options.Dir, Paths: paths, Counts: s.counts, Columns: s.columns, Uses: r.uses, With: with}})
	return nil
}

// simulated prepares simulated data: each model simulates its own, or one model those for all.
func (r *reader) simulated(s *sourceFields) error {
	values, err := r.set(s.data)
	if err != nil {
		return err
	}
	if values == nil {
		values = data.Empty()
	}
	params, err := r.set(s.params)
	if err != nil {
		return err
	}
	seed := uint64(s.seed)
	if s.seed == 0 {
		seed = r.plan.Seed
	}
	options := assess.SimulatorOptions{Bind: model.BindOptions{Seed: seed}}
	if params != nil {
		options.Params = params
	}
	makers, each := r.models, true
	if s.simulate != "true" {
		m, err := r.model(s.node, "", s.simulate)
		if err != nil {
			return err
		}
		makers, each = []*Model{m}, false
	}
	for _, m := range makers {
		simulator, err := assess.NewSimulator(r.ctx, m.compiled, values, max(s.sets, 1), seed, options)
		if err != nil {
			return r.located(s.node, err)
		}
		part := Part{r.models, &Simulated{simulator, max(s.sets, 1), seed}}
		if each {
			part.Models = []*Model{m}
		}
		r.plan.Parts = append(r.plan.Parts, part)
	}
	return nil
}

// folded prepares data with held-out parts.
func (r *reader) folded(s *sourceFields) error {
	values, err := r.set(s.data)
	if err != nil {
		return err
	}
	if values == nil {
		return r.errorf(s.node, "add data: FILE", "folds need data")
	}
	o := FoldOptions{K: s.folds, Time: s.time, Seed: r.plan.Seed}
	if s.seed != 0 {
		o.Seed = uint64(s.seed)
	}
	if len(s.by) > 1 {
		return r.errorf(s.node, "", "folds are by one variable of the data")
	} else if len(s.by) == 1 {
		o.By = s.by[0]
	}
	if s.first != "" {
		if o.First, err = strconv.ParseFloat(s.first, 64); err != nil {
			return r.errorf(s.node, "", "first must be a share between 0 and 1")
		}
	}
	for _, m := range r.models {
		h, err := assess.NewHoldout(r.ctx, m.compiled, values, model.BindOptions{Seed: o.Seed, StanCompat: r.plan.Options["stan-compat"]})
		if err != nil {
			return r.located(s.node, err)
		}
		folds, err := NewFolds(h, o)
		if err != nil {
			return r.at(s.node, err)
		}
		r.plan.Parts = append(r.plan.Parts, Part{[]*Model{m}, folds})
	}
	return nil
}

// located adds the position of a node to an error, unless it states its own.
func (r *reader) located(n *yaml.Node, err error) error {
	var own *compile.Error
	if errors.As(err, &own) || r.ctx.Err() != nil {
		return err
	}
	return r.at(n, err)
}
