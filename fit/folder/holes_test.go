package folder_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/internal/files"
)

// Data that the folder does not keep are read again with the same treatment of missing values.
func TestHolesAgain(t *testing.T) {
	const text = "x,z,y\n1,2,3\nNA,4,5\n6,,7\n"
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		holes map[string]string
		y     []float64 // nil: faults
	}{
		{nil, nil},
		{map[string]string{"x": "drop", "z": "keep"}, []float64{3, 7}},
		{map[string]string{"x": "drop", "z": "drop"}, []float64{3}},
		{map[string]string{"x": "keep", "z": "keep"}, []float64{3, 5, 7}},
	} {
		r := &folder.Record{Data: path, DataSHA256: files.Digest(text), Holes: c.holes}
		set, err := r.ReadData(t.TempDir(), data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.y == nil {
			if set.Fault("x") == nil || set.Fault("z") == nil {
				t.Error("missing values are no faults")
			}
			continue
		}
		if v, _ := set.Get("y"); !slices.Equal(v.Reals, c.y) || set.Fault("x") != nil || set.Fault("z") != nil {
			t.Errorf("%v: y is %v, want %v", c.holes, v.Reals, c.y)
		}
		of := set.Reading().Holes
		for name, want := range c.holes {
			if of[name].String() != want {
				t.Errorf("%s: %v, want %s", name, of[name], want)
			}
		}
	}
}
