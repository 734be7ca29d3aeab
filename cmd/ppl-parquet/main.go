// Command ppl-parquet writes rows from its standard input to a Parquet file. `ppl convert --to
// parquet` runs it. It is a separate module, so that ppl itself does not depend on a Parquet
// library.
//
//	ppl-parquet FILE
//
// The input is a line of JSON, followed by the rows:
//
//	{"version": 1, "rows": 4000, "columns": [{"name": ".chain", "type": "int64"}, …], "metadata": {"key": "value"}}
//
// A row has a little-endian float64 for each column, also for columns of type int64 and bool, in
// which NaN is a missing value. A text, in a column of type string, is its length in bytes (a
// little-endian unsigned 64-bit integer), then its bytes in UTF-8. The metadata are stored in the
// file. The number of rows must be as stated. The file gets its name once it is complete.
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/parquet-go/parquet-go"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: ppl-parquet FILE <ROWS; ppl convert --to parquet runs it")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// header is the first line of the input.
type header struct {
	Version  int               `json:"version"`
	Rows     int               `json:"rows"`
	Columns  []column          `json:"columns"`
	Metadata map[string]string `json:"metadata"`
}

// column describes a column of the file.
type column struct {
	Name string `json:"name"`
	Type string `json:"type"` // float64, int64, bool or string
}

// node returns the Parquet type of a column. Integers and logical values may be missing.
func (c column) node() (parquet.Node, error) {
	switch c.Type {
	case "float64":
		return parquet.Leaf(parquet.DoubleType), nil
	case "int64":
		return parquet.Optional(parquet.Int(64)), nil
	case "bool":
		return parquet.Optional(parquet.Leaf(parquet.BooleanType)), nil
	case "string":
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary), nil
	}
	return nil, fmt.Errorf("column %s has the type %q, which is not supported", c.Name, c.Type)
}

// ordered is a group whose fields keep their order; parquet.Group sorts them by name.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (o ordered) Fields() []parquet.Field { return o.fields }

// rowGroup is the approximate number of values in a row group: 64 MiB.
const rowGroup = 8 << 20

// write writes the file. After an error it leaves no file.
func write(path string, in io.Reader) (err error) {
	r := bufio.NewReaderSize(in, 1<<20)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("cannot read the line that describes the rows: %w", err)
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return fmt.Errorf("cannot read the line that describes the rows: %w", err)
	}
	if h.Version != 1 || len(h.Columns) == 0 || h.Rows < 0 {
		return errors.New("the rows are of another version of ppl, or have no columns")
	}
	schema, err := h.schema()
	if err != nil {
		return err
	}
	// Write a new file with a random name in the same folder, so that no link is followed. Then
	// sync and rename it, and sync the folder. Files of ppl are written in the same way.
	var random [8]byte
	rand.Read(random[:])
	partial := path + "." + hex.EncodeToString(random[:]) + ".tmp"
	file, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(partial)
		}
	}()
	w := parquet.NewWriter(file, schema, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(int64(max(1, rowGroup/len(h.Columns)))))
	for key, value := range h.Metadata {
		w.SetKeyValueMetadata(key, value)
	}
	if err := h.copy(w, r); err != nil {
		return err
	}
	if err := errors.Join(w.Close(), file.Sync()); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder syncs a folder, so that renames in it are durable, on systems that can do that.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil || runtime.GOOS == "windows" {
		return nil
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// schema returns the schema of the file.
func (h *header) schema() (*parquet.Schema, error) {
	group := ordered{Group: parquet.Group{}}
	for _, c := range h.Columns {
		n, err := c.node()
		if err != nil {
			return nil, err
		}
		if group.Group[c.Name] != nil {
			return nil, fmt.Errorf("there are two columns %s", c.Name)
		}
		group.Group[c.Name] = n
	}
	at := map[string]parquet.Field{}
	for _, f := range group.Group.Fields() {
		at[f.Name()] = f
	}
	for _, c := range h.Columns {
		group.fields = append(group.fields, at[c.Name])
	}
	return parquet.NewSchema("rows", group), nil
}

// maxText is the maximum length of a text in bytes.
const maxText = 1 << 20

// copy writes the rows.
func (h *header) copy(w *parquet.Writer, in io.Reader) error {
	var number [8]byte
	row := make(parquet.Row, len(h.Columns))
	for i := range h.Rows {
		for k, c := range h.Columns {
			if _, err := io.ReadFull(in, number[:]); err != nil {
				return fmt.Errorf("there are %d rows instead of %d: %w", i, h.Rows, err)
			}
			bits := binary.LittleEndian.Uint64(number[:])
			if c.Type != "string" {
				v := math.Float64frombits(bits)
				row[k] = c.value(v).Level(0, c.level(v), k)
				continue
			}
			if bits > maxText {
				return fmt.Errorf("row %d: a text of %d bytes in column %s", i+1, bits, c.Name)
			}
			text := make([]byte, bits)
			if _, err := io.ReadFull(in, text); err != nil {
				return fmt.Errorf("there are %d rows instead of %d: %w", i, h.Rows, err)
			}
			row[k] = parquet.ByteArrayValue(text).Level(0, 0, k)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	if n, _ := in.Read(number[:]); n > 0 {
		return fmt.Errorf("there are more than %d rows", h.Rows)
	}
	return nil
}

// value converts a number to the type of the column.
func (c column) value(v float64) parquet.Value {
	switch {
	case c.Type == "float64":
		return parquet.DoubleValue(v)
	case math.IsNaN(v):
		return parquet.NullValue()
	case c.Type == "bool":
		return parquet.BooleanValue(v != 0)
	}
	return parquet.Int64Value(int64(v))
}

// level returns the definition level in Parquet: 1 if an optional value is present, else 0.
func (c column) level(v float64) int {
	if c.Type == "float64" || math.IsNaN(v) {
		return 0
	}
	return 1
}
