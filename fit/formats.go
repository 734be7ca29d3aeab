package fit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/zarr"
)

// This file has the table of the formats of draws. Options, commands, help, the folder of a run and
// doc/reference/formats.md follow it.

// Format is a format of the files of a run.
type Format string

// The formats of [Options.Format]. [Formats] lists all formats.
const (
	CSV  Format = "csv"  // CmdStan's CSV files, one for each chain
	Zarr Format = "zarr" // one store for all chains, in the layout of ArviZ's DataTree
)

// Codec writes and reads the draws of a fit in a format.
type Codec interface {
	// Write writes a fit to the file or folder path, completely or not at all. If the format has a
	// file per chain, path is the prefix of their names.
	Write(f *Fit, path string) (files []string, err error)

	// Read reads a fit written by Write, within the limits of o.
	Read(o ReadOptions, path string) (*Fit, error)
}

// FormatRow is a row of the table of formats.
type FormatRow struct {
	Name Format
	Doc  string // what is written, for the help of convert; lines of at most 70 characters
	Run  string // the same for the help of run; "": not offered there

	// The columns of doc/reference/formats.md: the programs that read the format, the precision of
	// numbers, and what can be read during the run. Settings are in braces.
	Readers, Numbers, Live string

	Codec   Codec
	Program string // external program that writes the format; "": the Codec does

	PerChain bool // a file for each chain, in a folder
	Groups   bool // package assess can add groups to the store
	// Is reports whether a file or folder has this format; nil: it has if its name ends in .NAME.
	Is func(path string) bool

	// open starts files that are written during the run; nil: the Codec writes them at its end. In
	// either case, journals keep the draws of a run that is killed.
	open func(f *Fit, o *Options) (drawOutput, error)
}

// formats is the table of formats.
var formats = []FormatRow{
	{
		Name: Zarr, Codec: zarrCodec{}, Groups: true, Is: zarr.Is,
		Doc: "a Zarr store, a folder, for ArviZ and xarray, with the groups posterior,\n" +
			"sample_stats, observed_data, constant_data, those of warm-up if its draws\n" +
			"were kept",
		Run:     "one store for all chains that ArviZ reads and that\ncan be read while it is written",
		Readers: "xarray and zarr-python 3 (tried); by the format, not tried: ArviZ from 0.18 on, Julia, R by `Rarr`",
		Numbers: "exact", Live: "at any moment",
		open: func(f *Fit, o *Options) (drawOutput, error) { return f.createZarr(o.Output+".zarr", o.Resume) },
	},
	{
		Name: CSV, Codec: csvCodec{}, PerChain: true,
		Doc:     "CmdStan's CSV files, one per chain, in a folder",
		Readers: "CmdStanPy, CmdStanR, rstan's `read_stan_csv`, ArviZ to 0.23",
		Numbers: "exact, in the shortest decimals that read back as the same number; `{sig-figs} 8`: as CmdStan",
		Live:    "under the name `….csv.RANDOM.tmp`",
		open:    func(f *Fit, o *Options) (drawOutput, error) { return f.createOutput(o.Output) },
	},
	{
		Name: "parquet", Program: "ppl-parquet",
		Doc: "a Parquet file with one row per draw, made by the program ppl-parquet,\n" +
			"which you install separately; for the folder of a study, its results, one\n" +
			"row per fit and quantity",
		Readers: "Arrow, pandas, polars, DuckDB, R's `arrow`", Numbers: "exact", Live: "–",
	},
}

// Formats lists the formats of draws.
func Formats() []FormatRow { return slices.Clone(formats) }

// FormatOf returns the row of a format; "" is CSV.
func FormatOf(name Format) (FormatRow, bool) {
	if name == "" {
		name = CSV
	}
	for _, r := range formats {
		if r.Name == name {
			return r, true
		}
	}
	return FormatRow{}, false
}

// RunFormats lists the formats in which a run can be written, the default first.
func RunFormats() []string {
	names := []string{string(CSV)}
	for _, r := range formats {
		if r.Codec != nil && r.Name != CSV {
			names = append(names, string(r.Name))
		}
	}
	return names
}

// Match reports whether a path, of a file or folder with the draws of all chains, has this format.
func (r FormatRow) Match(path string) bool {
	if r.Codec == nil || r.PerChain {
		return false
	}
	if r.Is != nil {
		return r.Is(path)
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && filepath.Ext(path) == "."+string(r.Name)
}

// open starts the output of a run.
func (f *Fit) open(o *Options) (drawOutput, error) {
	r, ok := FormatOf(o.Format)
	switch {
	case !ok || r.Codec == nil:
		return nil, fmt.Errorf("ppl: there is no format %q; there are %s", o.Format, strings.Join(RunFormats(), " and "))
	case r.open != nil:
		return r.open(f, o)
	}
	return &wholeOutput{fit: f, codec: r.Codec, base: o.Output, path: o.Output + "." + string(r.Name)}, nil
}

// draws reads the draws of the run called name in an output folder.
func (r FormatRow) draws(o ReadOptions, dir, name string) (*Fit, error) {
	base := filepath.Join(dir, name)
	if r.PerChain {
		paths := chainFiles(dir, name)
		if len(paths) == 0 {
			return nil, fmt.Errorf("there are no draws: no file %s_1.%s", base, r.Name)
		}
		return o.CSV(paths...)
	}
	path := base + "." + string(r.Name)
	if !r.Match(path) {
		what := "file"
		if r.Is != nil {
			what = "store"
		}
		return nil, fmt.Errorf("there are no draws: no %s %s", what, path)
	}
	return r.Codec.Read(o, path)
}

// wholeOutput writes the draws of a run at its end, for formats that cannot be written draw by
// draw.
type wholeOutput struct {
	fit        *Fit
	codec      Codec
	base, path string
}

func (o *wholeOutput) draw(*infer.Session, infer.Draw) error { return nil }
func (o *wholeOutput) flush() error                          { return nil }
func (o *wholeOutput) replayed() error                       { return nil }
func (o *wholeOutput) keep() ([]string, error)               { return nil, nil }
func (o *wholeOutput) close()                                {}

// finish writes the file. If the run failed without any draws, there is no file.
func (o *wholeOutput) finish(report infer.Report) ([]string, error) {
	complete := slices.ContainsFunc(report.Chains, func(c infer.ChainReport) bool { return c.Err == nil && !c.Interrupted })
	if !o.fit.drawn() && !complete {
		return nil, nil
	}
	files, err := o.codec.Write(o.fit, o.path) // the fit has its report by now
	if err != nil {
		return nil, &OutputError{err}
	}
	return files, nil
}

func (o *wholeOutput) chainBase(chain int) string {
	return chainBase(o.base, o.fit.config.FirstID+chain)
}

type zarrCodec struct{}

func (zarrCodec) Write(f *Fit, path string) ([]string, error) {
	return []string{path}, f.WriteZarr(path)
}
func (zarrCodec) Read(o ReadOptions, path string) (*Fit, error) { return o.Zarr(path) }

type csvCodec struct{}

func (csvCodec) Write(f *Fit, path string) ([]string, error)   { return f.WriteCSV(path) }
func (csvCodec) Read(o ReadOptions, path string) (*Fit, error) { return o.CSV(path) }
