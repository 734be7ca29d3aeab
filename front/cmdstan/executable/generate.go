package executable

//lint:file-ignore ST1005 errors are in CmdStan's words, which front ends look for

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
)

// csvFile is a file of draws or estimates that was read.
type csvFile struct {
	method string
	names  []string // of the columns without statistics
	rows   [][]float64
	digits int // significant digits of the numbers; 0: they are exact
}

// readCSV reads the output file of any method. Draws of warm-up come first.
func (r *run) readCSV(name string) (*csvFile, error) {
	if !exists(name) {
		return nil, fmt.Errorf("Can't open specified file, \"%s\"", name)
	}
	c, err := files.Until(r.ctx, func() (*draws.Contents, error) {
		return draws.ReadFile(name, &draws.Room{Limit: r.memory})
	})
	if err != nil {
		return nil, fmt.Errorf("Error reading fitted param names from sample csv file \"%s\"\n%w", name, err)
	}
	skip := len(c.Columns.Statistics)
	width := skip + len(c.Columns.Names)
	if c.Cut > 0 && c.Cut < width {
		return nil, fmt.Errorf("Error: expected %d columns, but found %d instead for row %d", width, c.Cut, c.Len()+1)
	}
	f := &csvFile{names: c.Columns.Names, digits: draws.Digits(c.Config)}
	if s, ok := draws.Lookup(c.Config, "method"); ok {
		f.method = s.Value
	}
	for _, part := range [][]float64{c.Warmup, c.Draws} {
		for i := 0; width > 0 && i+width <= len(part); i += width {
			f.rows = append(f.rows, part[i+skip:i+width])
		}
	}
	return f, nil
}

// parameters finds the columns of the model's parameters.
func (f *csvFile) parameters(p *model.Posterior, file string) ([]int, error) {
	want := p.ParameterNames()
	if len(want) == 0 {
		return nil, fmt.Errorf("Model %s has no parameters, nothing to estimate.", "")
	}
	columns := make([]int, len(want))
	for i, name := range want {
		if columns[i] = slices.Index(f.names, name); columns[i] < 0 {
			return nil, fmt.Errorf("Mismatch between model and fitted_parameters csv file \"%s\"", file)
		}
	}
	return columns, nil
}

// point returns the unconstrained point of a row.
func (f *csvFile) point(p *model.Posterior, columns []int, row int) ([]float64, error) {
	values := make([]float64, len(columns))
	for i, c := range columns {
		values[i] = f.rows[row][c]
	}
	return p.UnconstrainRounded(values, f.digits)
}

func (r *run) checkGenerate() error {
	name := r.text("generate_quantities.fitted_params")
	if name == "" {
		return errors.New("Missing fitted_params argument, cannot run generate_quantities without fitted sample.")
	}
	for n := range strings.SplitSeq(name, ",") {
		if _, suffix := splitSuffix(n); suffix != ".csv" {
			return errors.New("Fitted params file must be a CSV file.")
		}
	}
	return nil
}

func (r *run) generate(p *model.Posterior) error {
	names := p.GeneratedNames()
	input := r.fileNames(r.text("generate_quantities.fitted_params"), "", ".csv")
	output := r.fileNames(r.config.Text("output.file"), "", ".csv")
	all := make([]*csvFile, r.chains)
	columns := make([][]int, r.chains)
	for i, name := range input {
		var err error
		if all[i], err = r.readCSV(name); err != nil {
			return err
		}
		if columns[i], err = all[i].parameters(p, name); err != nil {
			return err
		}
		if len(all[i].rows) == 0 {
			return errors.New("Empty set of draws from fitted model.")
		}
	}
	if len(names) == 0 {
		return errors.New("Model doesn't generate any quantities of interest.")
	}
	errs := make([]error, r.chains)
	var working sync.WaitGroup
	turns := make(chan struct{}, r.threads())
	for chain := range r.chains {
		q := p
		if chain > 0 {
			q = p.Clone()
		}
		working.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			defer infer.Recover(&errs[chain])
			errs[chain] = r.generateChain(q, all[chain], columns[chain], chain, output[chain], names)
		})
	}
	working.Wait()
	return errors.Join(errs...)
}

// generateChain writes the generated quantities for the draws in a file.
func (r *run) generateChain(p *model.Posterior, from *csvFile, columns []int, chain int, path string, names []string) error {
	begun := time.Now()
	file, err := r.create(path, nil, names, nil)
	if err != nil {
		return err
	}
	defer file.Close()
	dst := make([]float64, len(p.OutputNames()))
	own := dst[len(dst)-len(names):]
	for i := range from.rows {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		x, err := from.point(p, columns, i)
		if err != nil {
			return err
		}
		for j, v := range x {
			if math.IsNaN(v) {
				return fmt.Errorf("Exception: draw %d of the fitted params violates the declaration of %s", i+1, p.UnconstrainedNames()[j])
			}
		}
		r.values(p, x, infer.Stream(r.config.Seed(), r.id+chain, "generate", uint64(i)), dst)
		if err := file.Row(nil, own); err != nil {
			return err
		}
	}
	lines := elapsed(time.Since(begun), "Generated Quantities")
	if err := file.FinishWith(lines...); err != nil {
		return err
	}
	r.say("%s", strings.Join(lines, "\n"))
	return nil
}
