package fit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
)

// Save writes the fit to a folder, and makes the folder if needed. It writes the exact draws as CSV
// files in CmdStan's format, the model, the data and the configuration, so that [ReadFit] and the
// command ppl find all they need. [Fit.Config] is restored, except for functions in it and samplers
// that are not in package infer/sampler. Save fails if the folder already has a run.
func (f *Fit) Save(dir string) error {
	if err := f.Err(); err != nil {
		return err
	}
	p, err := f.Posterior(context.Background())
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, folder.RecordFile)); err == nil {
		return fmt.Errorf("ppl: the folder %s holds a run already", dir)
	}
	if err := files.MakeFolder(dir); err != nil {
		return err
	}
	r := &folder.Record{
		Options: map[string][]string{}, // a fit has no command line
		Program: "ppl " + model.Version(), Model: p.Name(), Name: folder.BaseName(p.Name()), Seed: p.Options().Seed, StanCompat: p.Options().StanCompat, Legacy: p.Model().Options().Legacy,
	}
	if err := r.Keep(dir, &folder.Source{Name: p.Model().Name(), Text: p.Model().Text(), Included: p.Model().Included()}, p.Data()); err != nil {
		return err
	}
	exact := &Fit{Draws: f.Draws, Report: f.Report, posterior: p, config: f.config, started: f.started, packed: f.packed}
	if f.Files, err = exact.WriteCSV(filepath.Join(dir, r.Name)); err != nil {
		return err
	}
	r.Finish(f.Report, f.planFaults(), nil)
	r.Density, r.Config = f.DensityCheck(), folder.ConfigOf(f.config)
	return r.Write(dir)
}
