package engine

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/model"
)

// Settings are the settings of a run.
type Settings struct {
	Name     string   `json:"name"`  // of the model, such as model.stan
	Model    string   `json:"model"` // its text
	DataName string   `json:"data_name"`
	Data     string   `json:"data"`   // JSON, CSV or an R dump
	Counts   []string `json:"counts"` // what a CSV file lacks: N, or J=school

	Seed    string            `json:"seed"` // as a text, because the page's numbers are exact only up to 2⁵³
	Chains  int               `json:"chains"`
	Warmup  int               `json:"warmup"` // negative: none
	Draws   int               `json:"draws"`
	Thin    int               `json:"thin"`
	Sampler string            `json:"sampler"`
	Options map[string]string `json:"options"` // of the sampler
}

// The limits of a model in a page.
const (
	maxMemory     = 1 << 30 // bytes; a page has at most 4 GiB in total
	maxStatements = 50_000_000
	maxPrint      = 64 << 10 // bytes, per chain
	maxData       = 64 << 20 // bytes; the page refuses longer files before reading them
	maxKept       = 1 << 29  // bytes of draws; at times they are in memory twice
	maxChains     = 16
)

// options returns the options of the run.
func (s *Settings) options() (fit.Options, error) {
	o := fit.Options{Chains: s.Chains, Warmup: s.Warmup, Draws: s.Draws, Thin: s.Thin}
	if s.Chains > maxChains {
		return o, fmt.Errorf("a page can run at most %d chains, not %d", maxChains, s.Chains)
	}
	var err error
	if s.Seed != "" {
		if o.Seed, err = strconv.ParseUint(strings.TrimSpace(s.Seed), 10, 64); err != nil {
			return o, fmt.Errorf("the seed must be a whole number, 0 or more, but is %q", s.Seed)
		}
	}
	o.Sampler, err = s.build()
	return o, err
}

// room returns an error if the draws of so many quantities would not fit into the page's memory.
func (s *Settings) room(quantities int) error {
	const statistics = 8 // approximate number of additional columns
	chains, thin := int64(cmp.Or(s.Chains, 4)), int64(max(s.Thin, 1))
	kept := int64(max(cmp.Or(s.Draws, 1000), 1)-1)/thin + 1
	fit := maxKept / (chains * int64(quantities+statistics) * 8)
	if kept <= fit {
		return nil
	}
	return fmt.Errorf("%d draws of %d quantities are too many for a page: each of %d chains has room for %d. Make fewer draws, thin them, or use the command ppl run", kept, quantities, chains, fit)
}

// build makes the sampler.
func (s *Settings) build() (infer.Sampler, error) {
	name := def(s.Sampler, sampler.Names()[0])
	row, ok := sampler.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("no sampler is called %q", name)
	}
	fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
	build := row.Options(fs)
	for _, option := range slices.Sorted(maps.Keys(s.Options)) {
		value := s.Options[option]
		if strings.TrimSpace(value) == "" {
			continue
		}
		if fs.Lookup(option) == nil {
			return nil, fmt.Errorf("%s is not an option of the sampler %s", option, row.Name)
		}
		if err := fs.Set(option, value); err != nil {
			return nil, fmt.Errorf("invalid value %q for %s: %w", value, option, err)
		}
	}
	return build()
}

// read reads the data, which may be empty.
func (s *Settings) read() (*data.Set, error) {
	if strings.TrimSpace(s.Data) == "" {
		return data.Empty(), nil
	}
	o := data.Options{Limit: maxData}
	for _, c := range s.Counts {
		name, of, _ := strings.Cut(c, "=")
		if name = strings.TrimSpace(name); name != "" {
			o.Counts = append(o.Counts, data.Count{Name: name, Of: strings.TrimSpace(of)})
		}
	}
	return data.Parse(def(s.DataName, "data.json"), s.Data, o)
}

// compiled compiles the model.
func (s *Settings) compiled() (*model.Model, error) {
	if strings.TrimSpace(s.Model) == "" {
		return nil, errors.New("write a model first")
	}
	return model.CompileContext(context.Background(), def(s.Name, "model.stan"), s.Model, model.CompileOptions{})
}

// bind compiles the model and binds it to the data. The model's output is passed to print.
func (s *Settings) bind(c *call, print func(string)) (*model.Posterior, error) {
	model, err := s.compiled()
	if err != nil {
		return nil, err
	}
	values, err := s.read()
	if err != nil {
		return nil, err
	}
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	return model.BindContext(c, values, s.bindOptions(o.Seed, print))
}

func (s *Settings) bindOptions(seed uint64, print func(string)) model.BindOptions {
	return model.BindOptions{Seed: seed, Print: print, MaxPrint: maxPrint, Memory: maxMemory, Statements: maxStatements}
}

// samplerRow describes a sampler to the page.
type samplerRow struct {
	Name    string          `json:"name"`
	Doc     string          `json:"doc"`
	Adapts  bool            `json:"adapts"`
	Options []samplerOption `json:"options"`
}

type samplerOption struct {
	Name    string `json:"name"`
	Usage   string `json:"usage"`
	Default string `json:"default"`
	Switch  bool   `json:"switch"` // the option is a switch: yes or no
}

func (e *Engine) samplers(*call, *struct{}) ([]samplerRow, error) {
	var out []samplerRow
	for _, row := range sampler.Table() {
		r := samplerRow{Name: row.Name, Doc: row.Doc, Adapts: row.Adapts, Options: []samplerOption{}}
		fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
		row.Options(fs)
		fs.VisitAll(func(f *flag.Flag) {
			_, usage := flag.UnquoteUsage(f)
			if i := strings.Index(usage, " (default "); i >= 0 {
				usage = usage[:i]
			}
			b, ok := f.Value.(interface{ IsBoolFlag() bool })
			r.Options = append(r.Options, samplerOption{f.Name, usage, f.DefValue, ok && b.IsBoolFlag()})
		})
		sorting.Stable(r.Options, func(a, b samplerOption) int { return cmp.Compare(a.Name, b.Name) })
		out = append(out, r)
	}
	return out, nil
}
