package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"

	"github.com/ppl-lang/ppl"
)

// This file: Parquet, by a program of a module of its own, ppl-parquet.

// parquetProgram writes Parquet files; its documentation has the format of its input.
const parquetProgram = "ppl-parquet"

// parquetHeader is the first line of its input.
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

// parquet writes a file with a row for each draw: columns .chain, .iteration and .draw,
// as R's package posterior has them, the statistics of the sampler, then the quantities,
// theta[1].
func (o *conversion) parquet(ctx context.Context, fit *ppl.Fit, _ string) (files, notes []string, err error) {
	isFile := func(path string) bool { return !isFolder(path) }
	if err := o.free(isFile); err != nil {
		return nil, nil, err
	}
	program, err := exec.LookPath(parquetProgram)
	if err != nil {
		return nil, nil, fmt.Errorf("--to parquet needs the program %s, which is not on the PATH; install it by: go install github.com/ppl-lang/ppl/parquet/cmd/%s@latest", parquetProgram, parquetProgram)
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
	written := writeParquetRows(ctx, w, fit)
	written = errors.Join(written, w.Flush(), in.Close())
	if err := cmd.Wait(); err != nil {
		os.Remove(o.out + ".tmp") // of a program that was killed
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, nil, fmt.Errorf("cannot write %s: %s", o.out, strings.TrimSpace(told.String()+" ("+err.Error()+")"))
	}
	return []string{o.out}, nil, written
}

// writeParquetRows writes the input of the program.
func writeParquetRows(ctx context.Context, w *bufio.Writer, fit *ppl.Fit) error {
	h := parquetHeader{Version: 1, Metadata: map[string]string{"inference_library": "ppl", "inference_library_version": ppl.Version()}}
	for _, name := range []string{".chain", ".iteration", ".draw"} {
		h.Columns = append(h.Columns, parquetColumn{name, "int64"})
	}
	for _, name := range fit.Draws.Columns().StatisticNames() {
		h.Columns = append(h.Columns, parquetColumn{name, ppl.StatisticType(name)})
	}
	for _, name := range fit.Draws.Names() {
		h.Columns = append(h.Columns, parquetColumn{ppl.DisplayName(name), "float64"})
	}
	for chain := range fit.Draws.Chains() {
		h.Rows += fit.Draws.Len(chain)
	}
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
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
