package draws_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
)

// Draws come out of a journal as they went in, up to the snapshot; what
// followed it, half a draw among it, is forgotten and written over.
func TestJournal(t *testing.T) {
	base := filepath.Join(t.TempDir(), "x")
	var all []infer.Draw
	for i := range 5 {
		all = append(all, infer.Draw{
			Chain: 3, Iteration: 7 * i, Warmup: i < 2, Values: []float64{float64(i) / 3, math.Inf(1)}, LogDensity: -1e-300 * float64(i),
			Stats: infer.Stats{AcceptStat: 0.1, StepSize: 0.2, IntTime: 0.3, TreeDepth: 4, Leapfrogs: 5, Divergent: i == 1, Energy: 6},
		})
	}
	j, err := draws.CreateJournal(base, 2)
	if err != nil {
		t.Fatal(err)
	}
	add := func(list []infer.Draw) {
		t.Helper()
		for _, d := range list {
			if err := j.Add(d); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(all[:3])
	if err := j.Save(&infer.Snapshot{Chain: 3, Draws: 3}); err != nil {
		t.Fatal(err)
	}
	add(all[4:])
	if err := j.Add(infer.Draw{Values: []float64{1}}); err == nil {
		t.Error("a draw of another width was taken")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(base+".journal", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	file.WriteString("half a draw")
	file.Close()

	for round, want := range [][]infer.Draw{all[:3], all} {
		var got []infer.Draw
		var s *infer.Snapshot
		j, s, err = draws.OpenJournal(base, 2, func(d infer.Draw) error { got = append(got, d); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) || s.Draws != len(want) {
			t.Errorf("%v, not %v", got, want)
		}
		if round == 0 {
			add(all[3:])
			if err := j.Save(&infer.Snapshot{Chain: 3, Draws: 5}); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := draws.OpenJournal(base, 3, nil); err == nil || !strings.Contains(err.Error(), "2 values") {
		t.Errorf("another width: %v", err)
	}
	text, _ := os.ReadFile(base + ".journal")
	text[60] ^= 1
	os.WriteFile(base+".journal", text, 0o666)
	if _, _, err := draws.OpenJournal(base, 2, func(infer.Draw) error { return nil }); err == nil || !strings.Contains(err.Error(), "draw 1 is damaged") {
		t.Errorf("a damaged draw: %v", err)
	}
	if err := draws.RemoveJournal(base); err != nil {
		t.Fatal(err)
	}
	if j, s, err := draws.OpenJournal(base, 2, nil); err != nil || s != nil || j.Close() != nil {
		t.Errorf("a journal that is not there: %v, %v", s, err)
	}
}

// A file that cannot be finished is cut after its last whole line.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	columns := draws.Columns{Names: []string{"a", "b"}}
	for name, rows := range map[string]int{"none": 0, "some": 3} {
		path := filepath.Join(dir, name+".csv")
		f, err := draws.Create(path, draws.Header{Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		for range rows {
			if err := f.Row(nil, []float64{1, 2}); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Flush(); err != nil {
			t.Fatal(err)
		}
		part, err := os.OpenFile(path+".tmp", os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		part.WriteString("1,2.")
		part.Close()
		kept, err := f.Keep()
		if err != nil || kept != (rows > 0) {
			t.Errorf("%s: %v, %v", name, kept, err)
		}
		if kept {
			c, err := draws.ReadFile(path)
			if err != nil || c.Len() != rows {
				t.Errorf("%d rows, %v", c.Len(), err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(dir, name+"*")); len(left) != min(rows, 1) {
			t.Errorf("%s: left are %v", name, left)
		}
	}
}

func TestWriteTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	err := draws.WriteTable(path, infer.Table{Name: "t", Columns: []string{"a", "b"}, Rows: [][]float64{{1, 0.1}, {math.NaN(), 2}}})
	text, _ := os.ReadFile(path)
	if err != nil || string(text) != "a,b\n1,0.10000000000000001\nnan,2\n" {
		t.Errorf("%q, %v", text, err)
	}
}
