package draws

import (
	"fmt"
	"io"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// WriteTable writes a table as CSV with a header line, exactly.
func WriteTable(path string, t infer.Table) error {
	err := writeWhole(path, false, func(out io.Writer) error {
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
	})
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}
