package draws_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// Draws of a journal read back unchanged, up to the snapshot. Later ones, including half a draw,
// are dropped and overwritten.
func TestJournal(t *testing.T) {
	base := filepath.Join(t.TempDir(), "x")
	var all []infer.Draw
	for i := range 5 {
		all = append(all, infer.Draw{
			Chain: 3, Iteration: 7 * i, Warmup: i < 2, Values: []float64{float64(i) / 3, math.Inf(1)}, LogDensity: -1e-300 * float64(i),
			Stats: infer.Stats{AcceptStat: 0.1, StepSize: 0.2, IntTime: 0.3, TreeDepth: 4, Leapfrogs: 5, Divergent: i == 1, Energy: 6},
		})
	}
	key := draws.JournalKey{ID: 4, Seed: 9, Values: 2}
	j, err := draws.CreateJournal(base, key)
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
	if err := j.Save(snapshot(t, key, 3)); err != nil {
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
		f, err := draws.FindJournal(base, key)
		if err != nil || f.Damage != nil || f.Snapshot.Draws != len(want) {
			t.Fatalf("%+v, %v", f, err)
		}
		if j, err = f.Resume(); err != nil {
			t.Fatal(err)
		}
		var got []infer.Draw
		if err := j.Replay(3, func(d infer.Draw) error { got = append(got, d); return nil }); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v, not %v", got, want)
		}
		if round == 0 {
			add(all[3:])
			if err := j.Save(snapshot(t, key, 5)); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []draws.JournalKey{{ID: 4, Seed: 9, Values: 3}, {ID: 5, Seed: 9, Values: 2}, {ID: 4, Seed: 8, Values: 2}} {
		if _, err := draws.FindJournal(base, other); err == nil {
			t.Errorf("%+v is taken for %+v", key, other)
		}
	}
	if err := draws.RemoveJournal(base); err != nil {
		t.Fatal(err)
	}
	f, err := draws.FindJournal(base, key)
	if err != nil || f.Snapshot != nil || f.Damage != nil {
		t.Errorf("a journal that is not there: %+v, %v", f, err)
	}
	if j, err := f.Resume(); err != nil || j.Close() != nil {
		t.Errorf("a journal that is not there: %v", err)
	}
}

// snapshot is one of a chain, as a run makes it.
func snapshot(t testing.TB, key draws.JournalKey, count int) *infer.Snapshot {
	t.Helper()
	var s *infer.Snapshot
	session, err := infer.NewSession(infertest.AR1(2, 0), infer.Config{
		Sampler: nuts.Sampler{}, Chains: 1, Warmup: 20, Draws: 2, Seed: key.Seed, FirstID: key.ID,
		Snapshot: func(x *infer.Snapshot) { s = x }, SnapshotEvery: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range session.Draws(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.Draws = count
	return s
}

// journal is the journal of 40 draws with snapshots after 20 and 30 of them, the
// former the one that is synced.
func journal(t testing.TB, base string, key draws.JournalKey) {
	t.Helper()
	j, err := draws.CreateJournal(base, key)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for i := range 40 {
		if err := j.Add(infer.Draw{Iteration: i, Values: []float64{float64(i), math.Sqrt(float64(i))}}); err != nil {
			t.Fatal(err)
		}
		switch i + 1 {
		case 20:
			draws.SyncNow(j)
			err = j.Save(snapshot(t, key, 20))
		case 30:
			err = j.Save(snapshot(t, key, 30))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// After any damage to the bytes of a journal or a state, no damaged draw is accepted, and the chain
// can continue from the intact part.
func TestJournalDamage(t *testing.T) {
	dir := t.TempDir()
	key := draws.JournalKey{ID: 1, Seed: 3, Values: 2}
	base := filepath.Join(dir, "x")
	journal(t, base, key)
	files := map[string][]byte{}
	for _, suffix := range []string{".journal", ".state", ".synced"} {
		text, err := os.ReadFile(base + suffix)
		if err != nil {
			t.Fatal(err)
		}
		files[suffix] = text
	}
	rng := rand.New(rand.NewPCG(1, 1))
	n := 120 // each syncs to the disk
	if text := os.Getenv("PPL_DAMAGES"); text != "" {
		fmt.Sscan(text, &n)
	}
	seen := map[string]int{}
	for range n {
		for suffix, text := range files {
			if err := os.WriteFile(base+suffix, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		// One or several damages of one or several files.
		hurt := map[string]bool{}
		for range 1 + rng.IntN(3) {
			suffix := []string{".journal", ".state", ".synced"}[rng.IntN(3)]
			hurt[suffix] = true
			text, err := os.ReadFile(base + suffix)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			switch at := rng.IntN(len(text) + 1); rng.IntN(6) {
			case 0:
				text = text[:at]
			case 1:
				os.Remove(base + suffix)
				continue
			case 2:
				text = slices.Insert(text, at, byte(rng.IntN(256)))
			case 3:
				clear(text[at:min(len(text), at+512)])
			default:
				if at < len(text) {
					text[at] ^= 1 << rng.IntN(8)
				}
			}
			if err := os.WriteFile(base+suffix, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		f, err := draws.FindJournal(base, key)
		if err != nil {
			t.Fatalf("%v: %v", hurt, err)
		}
		if f.Damage != nil {
			seen["damaged"]++
		}
		j, err := f.Resume()
		if err != nil {
			t.Fatalf("%v: %v", hurt, err)
		}
		count := 0
		err = j.Replay(0, func(d infer.Draw) error {
			count++
			if d.Values[0] != float64(d.Iteration) || d.Values[1] != math.Sqrt(d.Values[0]) {
				return fmt.Errorf("a draw %v that was not made", d)
			}
			return nil
		})
		if err != nil || j.Close() != nil {
			t.Fatalf("%v: %v", hurt, err)
		}
		switch {
		case f.Snapshot == nil:
			seen["anew"]++
			if count != 0 {
				t.Fatalf("%v: %d draws of a chain that starts anew", hurt, count)
			}
		case f.Lost != nil:
			seen["lost"]++
			if f.Damage == nil {
				t.Fatalf("%v: draws are lost and it is not said: %+v", hurt, f)
			}
		case f.Snapshot.Draws == 20:
			seen["synced"]++
		}
		if f.Snapshot != nil && count != f.Snapshot.Draws {
			t.Fatalf("%v: %d draws before the state, which says %d", hurt, count, f.Snapshot.Draws)
		}
		// The repaired journal has no damage.
		if f, err = draws.FindJournal(base, key); err != nil || f.Damage != nil || f.Lost != nil {
			t.Fatalf("%v: after the repair: %+v, %v", hurt, f, err)
		}
	}
	for _, what := range []string{"damaged", "anew", "lost", "synced"} {
		if seen[what] == 0 {
			t.Errorf("it never happened: %s, of %v", what, seen)
		}
	}
}

// TestStateBits checks that every changed bit of a state is detected.
func TestStateBits(t *testing.T) {
	key := draws.JournalKey{ID: 1, Seed: 3, Values: 2}
	text, err := draws.EncodeState(snapshot(t, key, 3))
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		for bit := range 8 {
			text[i] ^= 1 << bit
			if s, err := draws.DecodeState(text); err == nil {
				t.Errorf("byte %d, bit %d: %+v", i, bit, s)
			}
			text[i] ^= 1 << bit
		}
	}
	if _, err := draws.DecodeState(text); err != nil {
		t.Error(err)
	}
}

// TestKeep checks that a file that cannot be finished ends after its last complete line.
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
		temp, _ := filepath.Glob(path + ".*.tmp")
		part, err := os.OpenFile(temp[0], os.O_APPEND|os.O_WRONLY, 0)
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
			c, err := draws.ReadFile(path, nil)
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
