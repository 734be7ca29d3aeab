package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// input encodes rows of numbers and texts as ppl does.
func input(header string, values ...any) *bytes.Buffer {
	b := bytes.NewBufferString(header + "\n")
	for _, v := range values {
		switch v := v.(type) {
		case string:
			binary.Write(b, binary.LittleEndian, uint64(len(v)))
			b.WriteString(v)
		case int:
			binary.Write(b, binary.LittleEndian, float64(v))
		default:
			binary.Write(b, binary.LittleEndian, v)
		}
	}
	return b
}

// TestTexts checks columns of texts, including texts with commas or line breaks and empty ones.
func TestTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.parquet")
	if err := write(path, input(`{"version":1,"rows":3,"columns":[{"name":"data","type":"string"},{"name":"mean","type":"float64"}]}`,
		"a, \"b\"\nε", 1.5, "", 2, "a", math.NaN())); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Data string  `parquet:"data"`
		Mean float64 `parquet:"mean"`
	}
	rows, err := parquet.ReadFile[row](path)
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	if rows[0] != (row{"a, \"b\"\nε", 1.5}) || rows[1] != (row{"", 2}) || rows[2].Data != "a" || !math.IsNaN(rows[2].Mean) {
		t.Errorf("%v", rows)
	}
	err = write(path, input(`{"version":1,"rows":1,"columns":[{"name":"data","type":"string"}]}`, 1))
	if err == nil || !strings.Contains(err.Error(), "a text of") {
		t.Errorf("a number for a text: %v", err)
	}
}

const columns = `"columns":[{"name":".chain","type":"int64"},{"name":"b[1,2]","type":"float64"},{"name":"a","type":"float64"},{"name":"diverging","type":"bool"}]`

func TestWrite(t *testing.T) {
	nan := math.NaN()
	path := filepath.Join(t.TempDir(), "draws.parquet")
	err := write(path, input(`{"version":1,"rows":3,`+columns+`,"metadata":{"inference_library":"ppl"}}`,
		1, 0.1, math.Inf(1), 1,
		2, nan, -5e-324, 0,
		nan, 3, 4, nan))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := f.Lookup("inference_library"); !ok || v != "ppl" {
		t.Errorf("metadata: %q", v)
	}
	var names []string
	for _, field := range f.Schema().Fields() {
		names = append(names, field.Name())
	}
	if got := strings.Join(names, " "); got != ".chain b[1,2] a diverging" {
		t.Errorf("columns: %s", got)
	}
	rows := make([]parquet.Row, 3)
	r := f.RowGroups()[0].Rows()
	defer r.Close()
	if n, err := r.ReadRows(rows); n != 3 {
		t.Fatalf("%d rows, %v", n, err)
	}
	if r := rows[0]; r[0].Int64() != 1 || r[1].Double() != 0.1 || !math.IsInf(r[2].Double(), 1) || !r[3].Boolean() {
		t.Errorf("first row: %v", r)
	}
	if r := rows[1]; !math.IsNaN(r[1].Double()) || r[2].Double() != -5e-324 || r[3].IsNull() || r[3].Boolean() {
		t.Errorf("second row: %v", r)
	}
	if r := rows[2]; !r[0].IsNull() || !r[3].IsNull() {
		t.Errorf("third row: %v", r)
	}
}

func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "draws.parquet")
	for name, c := range map[string]struct {
		in   *bytes.Buffer
		want string
	}{
		"nothing":       {input(""), "describes the rows"},
		"no JSON":       {input("a,b"), "describes the rows"},
		"version":       {input(`{"version":2,"rows":0,` + columns + `}`), "another version"},
		"no columns":    {input(`{"version":1,"rows":0}`), "no columns"},
		"twice":         {input(`{"version":1,"rows":0,"columns":[{"name":"a","type":"bool"},{"name":"a","type":"bool"}]}`), "two columns a"},
		"type":          {input(`{"version":1,"rows":0,"columns":[{"name":"a","type":"date"}]}`), `"date"`},
		"too few rows":  {input(`{"version":1,"rows":2,`+columns+`}`, 1, 2, 3, 1, 1), "1 rows instead of 2"},
		"too many rows": {input(`{"version":1,"rows":1,`+columns+`}`, 1, 2, 3, 1, 1), "more than 1 rows"},
	} {
		if err := write(path, c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := write(filepath.Join(path, "below"), input(`{"version":1,"rows":0,`+columns+`}`)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that there is not: %v", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
}
