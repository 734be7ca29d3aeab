package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/sampler"
	durable "github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/study"
)

// This file: output as Parquet, which the program ppl-parquet of another module writes.

// parquetProgram writes Parquet files; its documentation describes the format of its input.
const parquetProgram = "ppl-parquet"

// parquetHeader is the first line of the program's input.
type parquetHeader struct {
	Version  int               `json:"version"`
	Rows     int               `json:"rows"`
	Columns  []parquetColumn   `json:"columns"`
	Metadata map[string]string `json:"metadata"`
}

type parquetColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// parquet writes a file with a row for each draw. Its columns are .chain, .iteration and .draw, as
// in R's package posterior, then the statistics of the sampler, then the quantities, such as
// theta[1].
func (o *conversion) parquet(ctx context.Context, fit *fit.Fit) (files, notes []string, err error) {
	return o.parquetFile(ctx, func(w *bufio.Writer) error { return writeParquetRows(ctx, w, fit) })
}

// parquetFile runs the program to write a file. write writes the input of the program.
func (o *conversion) parquetFile(ctx context.Context, write func(*bufio.Writer) error) (files, notes []string, err error) {
	isFile := func(path string) bool { return !isFolder(path) }
	if err := o.free(isFile); err != nil {
		return nil, nil, err
	}
	program, err := exec.LookPath(parquetProgram)
	if err != nil {
		return nil, nil, fmt.Errorf("--to parquet needs the program %s, which is not on the PATH; install it by: go install github.com/ppl-lang/ppl/cmd/%s@latest", parquetProgram, parquetProgram)
	}
	cmd := exec.CommandContext(ctx, program, o.out)
	var told strings.Builder
	cmd.Stderr = &told
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("cannot run %s: %w", program, err)
	}
	w := bufio.NewWriterSize(in, 1<<20)
	written := write(w)
	written = errors.Join(written, w.Flush(), in.Close())
	if err := cmd.Wait(); err != nil {
		durable.RemoveTemps(filepath.Dir(o.out), func(name string) bool { return name == filepath.Base(o.out) }) // left by a killed program
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, nil, fmt.Errorf("cannot write %s: %s", o.out, strings.TrimSpace(told.String()+" ("+err.Error()+")"))
	}
	return []string{o.out}, nil, written
}

// writeParquetHeader writes the first line of the program's input.
func writeParquetHeader(w *bufio.Writer, h parquetHeader) error {
	h.Version, h.Metadata = 1, map[string]string{"inference_library": "ppl", "inference_library_version": model.Version()}
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// study writes the results of a study, with a row for each fit and quantity.
func (o *conversion) study(cmd *cobra.Command, dir string) error {
	if o.to != "parquet" {
		return usagef("the results of a study can be converted to parquet, not to %s: %s is there already, and kept draws are a Zarr store", o.to, study.ResultsName)
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	h := parquetHeader{}
	var columns []study.ResultColumn
	begin := func(list []study.ResultColumn) error {
		columns = list
		for _, c := range list {
			h.Columns = append(h.Columns, parquetColumn{c.Name, map[study.ColumnKind]string{study.Figures: "float64", study.WholeNumbers: "int64", study.Texts: "string"}[c.Kind]})
		}
		return nil
	}
	if err := study.EachResult(dir, begin, func([]string) error { h.Rows++; return ctx.Err() }); err != nil {
		return ended(ctx, cmd.ErrOrStderr(), err)
	}
	files, _, err := o.parquetFile(ctx, func(w *bufio.Writer) error {
		if err := writeParquetHeader(w, h); err != nil {
			return err
		}
		var row []byte
		return study.EachResult(dir, func([]study.ResultColumn) error { return nil }, func(fields []string) error {
			row = row[:0]
			for i, c := range columns {
				if c.Kind == study.Texts {
					row = append(binary.LittleEndian.AppendUint64(row, uint64(len(fields[i]))), fields[i]...)
					continue
				}
				v, err := strconv.ParseFloat(fields[i], 64)
				if err != nil && fields[i] != "" {
					return fmt.Errorf("%s: %w", c.Name, err)
				} else if err != nil {
					v = math.NaN()
				}
				row = binary.LittleEndian.AppendUint64(row, math.Float64bits(v))
			}
			_, err := w.Write(row)
			return errors.Join(err, ctx.Err())
		})
	})
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Results: %s\n", filesText(files))
	return err
}

// writeParquetRows writes the program's input for a fit.
func writeParquetRows(ctx context.Context, w *bufio.Writer, fit *fit.Fit) error {
	var h parquetHeader
	for _, name := range []string{".chain", ".iteration", ".draw"} {
		h.Columns = append(h.Columns, parquetColumn{name, "int64"})
	}
	for _, name := range fit.Draws.Columns().StatisticNames() {
		h.Columns = append(h.Columns, parquetColumn{name, sampler.TypeOf(name)})
	}
	for _, name := range fit.Draws.Names() {
		h.Columns = append(h.Columns, parquetColumn{diagnose.DisplayName(name), "float64"})
	}
	for chain := range fit.Draws.Chains() {
		h.Rows += fit.Draws.Len(chain)
	}
	if err := writeParquetHeader(w, h); err != nil {
		return err
	}
	row := make([]byte, 0, 8*len(h.Columns))
	n := 0
	for chain := range fit.Draws.Chains() {
		for i := range fit.Draws.Len(chain) {
			if err := ctx.Err(); err != nil {
				return err
			}
			n++
			statistics, values := fit.Draws.Draw(chain, i)
			row = row[:0]
			for _, part := range [][]float64{{float64(chain + 1), float64(i + 1), float64(n)}, statistics, values} {
				for _, v := range part {
					row = binary.LittleEndian.AppendUint64(row, math.Float64bits(v))
				}
			}
			if _, err := w.Write(row); err != nil {
				return err
			}
		}
	}
	return fit.Draws.Err()
}
