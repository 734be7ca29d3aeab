package draws

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/files"
)

// WriteTable writes a table as CSV with a header line. Numbers read back unchanged.
func WriteTable(path string, t infer.Table) error {
	_, err := files.ReplaceBy(path, buffered(func(out io.Writer) error {
		line := []byte{}
		for i, name := range t.Columns {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(line, name...)
		}
		for _, row := range slices.Concat([][]float64{nil}, t.Rows) {
			for i, v := range row {
				if i > 0 {
					line = append(line, ',')
				}
				line = appendNumber(line, v, 17)
			}
			line = append(line, '\n')
			if _, err := out.Write(line); err != nil {
				return err
			}
			line = line[:0]
		}
		return nil
	}))
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// buffered adapts write to write through a buffer.
func buffered(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		out := bufio.NewWriter(w)
		if err := write(out); err != nil {
			return err
		}
		return out.Flush()
	}
}

// maxTable is the longest table that is read, in bytes.
const maxTable = 1 << 26

// ReadTable reads a table written by WriteTable.
func ReadTable(path, name string) (infer.Table, error) {
	t := infer.Table{Name: name}
	file, err := files.Open(path)
	if err != nil {
		return t, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxTable+1))
	if err == nil && len(text) > maxTable {
		err = fmt.Errorf("%s is longer than %d bytes", path, maxTable)
	}
	if err != nil {
		return t, fmt.Errorf("cannot read a table: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if t.Columns == nil {
			t.Columns = fields
			continue
		}
		if len(fields) != len(t.Columns) {
			return t, fmt.Errorf("cannot read %s: a row of %d values for %d columns", path, len(fields), len(t.Columns))
		}
		row := make([]float64, len(fields))
		for i, field := range fields {
			if row[i], err = parseNumber(field); err != nil {
				return t, fmt.Errorf("cannot read %s: %.40q is not a number", path, field)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}
