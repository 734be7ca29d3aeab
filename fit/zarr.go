package fit

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/infer/zarr"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
)

// The attributes of a store that are specific to ppl.
const (
	settingsKey = "ppl_settings" // of the store: the settings at the head of a CSV file
	eventsKey   = "ppl_events"   // of the store: the events of the run, by chain
	creatorKey  = "creation_library"
)

// zarrOutput is the store that is written during a run.
type zarrOutput struct {
	fit      *Fit
	store    *zarr.Store
	path     string // its final path
	columns  draws.Columns
	sampling *zarrPhase
	warmup   *zarrPhase // nil: not saved
	row      []float64
	done     bool
}

// zarrPhase has the groups for the draws of warm-up or sampling.
type zarrPhase struct {
	values, statistics *arrays.Group
	taken              []int // number of draws of each chain that were written
}

// createZarr starts a store for the draws of a fit at path. If a resumed run already has a store
// there, the new one has a temporary name until replayed is called.
func (f *Fit) createZarr(path string, resume bool) (*zarrOutput, error) {
	dir := path
	if _, err := os.Lstat(path); resume && err == nil {
		if dir, err = files.TempFolder(path); err != nil {
			return nil, &OutputError{err}
		}
	}
	store, err := zarr.Create(dir)
	if err != nil {
		return nil, &OutputError{err}
	}
	out := &zarrOutput{fit: f, store: store, path: path, columns: f.Draws.Columns()}
	if err := out.create(); err != nil {
		out.close()
		return nil, &OutputError{err}
	}
	return out, nil
}

func (o *zarrOutput) create() error {
	cfg := o.fit.config
	o.store.Attributes = o.fit.GroupAttributes()
	o.store.Attributes[settingsKey] = arrays.Encode(o.fit.settings(max(cfg.FirstID, 1), o.path))
	thin := max(cfg.Thin, 1)
	var err error
	if o.sampling, err = o.phase("", max(0, cfg.Draws+thin-1)/thin); err != nil {
		return err
	}
	if cfg.SaveWarmup {
		if o.warmup, err = o.phase("warmup_", max(0, cfg.Warmup+thin-1)/thin); err != nil {
			return err
		}
	}
	if o.fit.posterior != nil || o.fit.record != nil {
		if err := o.fit.addData(o.store, dataGroups); err != nil {
			return err
		}
	}
	return o.store.Save()
}

// phase makes the groups for warm-up or sampling.
func (o *zarrOutput) phase(prefix string, n int) (*zarrPhase, error) {
	planned := slices.Repeat([]int{n}, o.fit.config.Chains)
	p := &zarrPhase{taken: make([]int, len(planned))}
	all, err := arrays.Layouts(o.columns.Names)
	if err != nil {
		return nil, err
	}
	c := arrays.Spec{Layouts: all}
	var whole map[string]bool
	if m, err := o.fit.Model(); err == nil { // without a model, all variables are real
		whole = arrays.Integers(m.Program().IR().GeneratedQuantityVars)
		c.Factors = o.fit.IndexFactors(m.Program().IR())
	}
	for _, l := range all {
		c.Types = append(c.Types, arrays.TypeOf(l, whole))
	}
	attributes := o.fit.GroupAttributes()
	if slices.Equal(arrays.ColumnNames(all), o.columns.Names) {
		attributes[arrays.OrderKey] = arrays.Encode(variableNames(all))
	} else {
		attributes[arrays.ColumnsKey] = arrays.Encode(o.columns.Names)
	}
	if p.values, err = arrays.AddGroup(o.store, prefix+"posterior", attributes, c, planned); err != nil {
		return nil, err
	}
	s := arrays.Spec{}
	for i, name := range o.columns.StatisticNames() {
		known, ok := arrays.StatisticNames[name]
		if !ok {
			known = strings.TrimRight(name, "_")
		}
		s.Layouts = append(s.Layouts, arrays.Layout{Name: name, Pattern: name, Columns: []int{i}})
		s.Names, s.Types = append(s.Names, known), append(s.Types, zarr.Type(sampler.TypeOf(name)))
	}
	attributes = o.fit.GroupAttributes()
	attributes[arrays.OrderKey] = arrays.Encode(s.Names)
	p.statistics, err = arrays.AddGroup(o.store, prefix+"sample_stats", attributes, s, planned)
	return p, err
}

func variableNames(all []arrays.Layout) []string {
	var names []string
	for _, l := range all {
		names = append(names, l.Name)
	}
	return names
}

// GroupAttributes returns the attributes that ArviZ expects in every group.
func (f *Fit) GroupAttributes() map[string]any {
	if f == nil {
		return nil
	}
	started := f.started
	if started.IsZero() {
		started = time.Now()
	}
	return map[string]any{
		"created_at":                started.UTC().Format(time.RFC3339),
		creatorKey:                  "ppl",
		"creation_library_version":  model.Version(),
		"inference_library":         "ppl",
		"inference_library_version": model.Version(),
		"tuning_steps":              max(0, f.config.Warmup),
	}
}

func (o *zarrOutput) draw(_ *infer.Session, d infer.Draw) error {
	values, err := o.columns.Values(&d)
	if err != nil {
		return err
	}
	if o.row, err = o.columns.AppendStatistics(o.row[:0], &d); err != nil {
		return err
	}
	return o.take(d.Warmup, d.Chain, o.row, values)
}

// take writes a draw.
func (o *zarrOutput) take(warmup bool, chain int, statistics, values []float64) error {
	p := o.sampling
	if warmup {
		p = o.warmup
	}
	if p == nil || p.taken[chain] >= p.values.Planned(chain) {
		return nil
	}
	at := p.taken[chain]
	p.taken[chain]++
	if err := p.values.Put(chain, at, values); err != nil {
		return err
	}
	return p.statistics.Put(chain, at, statistics)
}

// flush makes the draws so far visible to readers.
func (o *zarrOutput) flush() error {
	for _, p := range o.phases() {
		if err := errors.Join(p.values.Flush(), p.statistics.Flush()); err != nil {
			return err
		}
	}
	return nil
}

// replayed moves the store to its final path, where it replaces the store of the earlier part of
// the run.
func (o *zarrOutput) replayed() error {
	if o.store.Dir() == o.path {
		return nil
	}
	return o.store.Move(o.path)
}

// finish completes the store. If the run failed without any draws, there is no store.
func (o *zarrOutput) finish(report infer.Report) ([]string, error) {
	complete := slices.ContainsFunc(report.Chains, func(c infer.ChainReport) bool { return c.Err == nil && !c.Interrupted })
	rows := 0
	for _, p := range o.phases() {
		rows += slices.Max(p.taken)
	}
	if rows == 0 && !complete {
		return nil, nil // close removes it
	}
	sampled, warmed := 0.0, 0
	events := make([][]infer.Event, len(report.Chains))
	for i, c := range report.Chains {
		events[i] = c.Events
		sampled = max(sampled, c.Sampling.Elapsed.Seconds())
		warmed = max(warmed, c.Warmup.Transitions)
	}
	if slices.ContainsFunc(events, func(e []infer.Event) bool { return e != nil }) {
		o.store.Attributes[eventsKey] = arrays.Encode(events)
	}
	err := o.end(func(p *zarrPhase) error {
		return errors.Join(p.values.Finish(p.taken), p.statistics.Finish(p.taken))
	}, map[string]any{"sampling_time": sampled, "tuning_steps": warmed})
	if err != nil {
		return nil, &OutputError{err}
	}
	return []string{o.path}, nil
}

// keep ends the store after an error, with the chunks that are complete.
func (o *zarrOutput) keep() ([]string, error) {
	if len(o.sampling.taken) == 0 {
		return nil, nil
	}
	rows := 0
	err := o.end(func(p *zarrPhase) error {
		whole := p.values.Whole()
		for i, n := range p.statistics.Whole() {
			whole[i] = min(whole[i], n)
			rows += whole[i]
		}
		return errors.Join(p.values.Cut(whole), p.statistics.Cut(whole))
	}, nil)
	if rows == 0 {
		o.done = false // close removes it
		return nil, nil
	}
	// If the disk is full, the metadata may still be those from the start; readers then use the
	// complete chunks.
	return []string{o.path}, err
}

// end finishes all phases, writes the metadata and syncs the store to the disk.
func (o *zarrOutput) end(finish func(*zarrPhase) error, attributes map[string]any) error {
	o.done = true
	var errs []error
	for _, p := range o.phases() {
		for _, w := range []*arrays.Group{p.values, p.statistics} {
			w.SetAttributes(attributes)
		}
		errs = append(errs, finish(p))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := o.store.Save(); err != nil {
		return err
	}
	return o.store.Sync()
}

func (o *zarrOutput) phases() []*zarrPhase {
	if o.warmup == nil {
		return []*zarrPhase{o.sampling}
	}
	return []*zarrPhase{o.sampling, o.warmup}
}

// close removes a store that is not finished.
func (o *zarrOutput) close() {
	if !o.done {
		o.done = true
		files.RemoveAll(o.store.Dir())
	}
}

// chainBase returns the prefix of the names of a chain's other files.
func (o *zarrOutput) chainBase(i int) string {
	return chainBase(strings.TrimSuffix(o.path, ".zarr"), o.fit.config.FirstID+i)
}

// chainBase returns the prefix of the names of a chain's files.
func chainBase(base string, id int) string { return fmt.Sprintf("%s_%d", base, id) }

// WriteZarr writes the draws as a Zarr store for ArviZ. path must not exist, or be an empty folder.
// The store has the groups posterior and sample_stats, and the same for warm-up if its draws were
// kept. If the fit knows its data, the store also has observed_data and constant_data.
// assess.AddZarrGroups adds further groups. To write while sampling, see [Options.Format].
func (f *Fit) WriteZarr(path string) error {
	if err := f.Err(); err != nil {
		return err
	}
	whole := *f.forZarr()
	out, err := whole.createZarr(path, false)
	if err != nil {
		return err
	}
	defer out.close()
	for _, warmup := range []bool{true, false} {
		store := f.Draws
		if warmup {
			store = f.Draws.Warmup()
		}
		for chain := range store.Chains() {
			for i := range store.Len(chain) {
				statistics, values := store.Draw(chain, i)
				if err := out.take(warmup, chain, statistics, values); err != nil {
					return err
				}
			}
		}
	}
	if err := f.Draws.Err(); err != nil {
		return err
	}
	_, err = out.finish(f.Report)
	return err
}

// forZarr returns a copy of the fit whose configuration has the actual numbers of draws.
func (f *Fit) forZarr() *Fit {
	g := &Fit{Draws: f.Draws, Report: f.Report, posterior: f.posterior, config: f.config, sigFigs: f.sigFigs, started: f.started, head: f.head, dir: f.dir, record: f.record}
	longest := func(s *draws.Store) int {
		n := 0
		for i := range s.Chains() {
			n = max(n, s.Len(i))
		}
		return n
	}
	g.config.Chains, g.config.Thin = f.Draws.Chains(), 1
	g.config.Draws, g.config.Warmup = longest(f.Draws), longest(f.Draws.Warmup())
	g.config.SaveWarmup = g.config.Warmup > 0
	return g
}

// dataGroups are the groups that hold the data.
var dataGroups = []string{"observed_data", "constant_data"}

// addData writes the data of a fit as groups: the variables that the model's statements are about,
// and the others.
func (f *Fit) addData(store *zarr.Store, groups []string) error {
	m, err := f.Model()
	if err != nil {
		return err
	}
	values, err := f.Data()
	if err != nil {
		return err
	}
	drawn := m.NotGiven(data.Empty())
	p, flat := m.Program().IR(), m.Program().Flattened(values)
	whole, factors := arrays.Integers(p.Data), factorsOfIndices(p, f.factors(), p.Data)
	for _, name := range groups {
		var names []string
		for _, n := range values.Names() {
			if slices.Contains(drawn, n) == (name == "observed_data") {
				names = append(names, n)
			}
		}
		if names == nil {
			continue
		}
		g, err := store.AddGroup(name, f.GroupAttributes())
		if err != nil {
			return err
		}
		names = slices.DeleteFunc(names, func(n string) bool { _, ok := values.Get(n); return !ok })
		c := arrays.Spec{Factors: factors}
		for _, n := range names {
			v, _ := values.Get(n)
			l := arrays.Layout{Name: n, Shape: v.Shape}
			if r, ok := flat.Get(n); ok && r.Ragged != nil && r.Ragged.At == 0 && slices.Equal(r.Shape, v.Shape) {
				l.Labels = r.Ragged.Labels()
			}
			c.Layouts = append(c.Layouts, l)
		}
		dimensions, levels := c.Named()
		for i, n := range names {
			v, _ := values.Get(n)
			spec := zarr.Spec{Type: zarr.Float64, Shape: append([]int{}, v.Shape...), Dimensions: dimensions[i], Gzip: true}
			if v.IsInt && whole[n] {
				spec.Type = zarr.Int64
			}
			if levels := values.Levels(n); levels != nil {
				spec.Attributes = map[string]any{"levels": levels}
			}
			a, err := g.AddArray(n, spec)
			if err != nil {
				return err
			}
			if err := a.WriteAll(v.Reals); err != nil {
				return err
			}
		}
		if err := arrays.AddCoordinates(g, levels); err != nil {
			return err
		}
	}
	return nil
}
