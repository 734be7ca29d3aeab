package fit_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/model"
)

// These tests check that reading draws keeps to a memory limit, even if files claim to have more
// than they do.

func TestReadMemory(t *testing.T) {
	m, err := model.Compile("m", "parameters { vector[10] x; } model { x ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	const numbers = 2 * 200 * 17 // chains, draws and columns
	for _, format := range []fit.Format{fit.CSV, fit.Zarr} {
		base := filepath.Join(t.TempDir(), "a")
		run, err := fit.Sample(context.Background(), p, fit.Options{Chains: 2, Warmup: 100, Draws: 200, Output: base, Format: format})
		if err != nil {
			t.Fatal(err)
		}
		read := func(limit int64) (*fit.Fit, error) {
			o := fit.ReadOptions{Memory: limit}
			if format == fit.Zarr {
				return o.Zarr(base + ".zarr")
			}
			return o.CSV(run.Files...)
		}
		var full *draws.RoomError
		if _, err := read(8 * numbers); !errors.As(err, &full) || full.Limit != 8*numbers || full.Asked <= full.Left {
			t.Errorf("%s: %v", format, err)
		}
		if f, err := read(3 * 8 * numbers); err != nil || f.Draws.Chains() != 2 || f.Draws.Len(1) != 200 {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// TestReadMadeUp reads small files that claim to contain a lot.
func TestReadMadeUp(t *testing.T) {
	dir := t.TempDir()
	long := func(head, piece string, n int) string { return head + strings.Repeat(piece, n) }
	for name, text := range map[string]string{
		"one line":          long("lp__,x\n1", ",1", 1_000_000),
		"names":             long("lp__", ",x", 1_000_000),
		"comments":          long("# method = sample\nlp__,x\n# Adaptation terminated\n", "#a\n", 200_000),
		"settings":          long("", "# a = b\n", 200_000),
		"a metric":          long("lp__,x\n# Adaptation terminated\n# Elements of inverse mass matrix:\n# 1", ",1", 1_000_000),
		"rows that shorten": "lp__,x\n" + strings.Repeat(" ", 100_000) + "1,2\n" + long("", "1,2\n", 500_000),
	} {
		path := filepath.Join(dir, "a.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		var full *draws.RoomError
		if _, err := (fit.ReadOptions{Memory: 1 << 20}).CSV(path); !errors.As(err, &full) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m, err := model.Compile("m", "parameters { real x; vector[3] v; } model { x ~ normal(0, 1); v ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "b.zarr")
	if _, err := fit.Sample(context.Background(), p, fit.Options{Chains: 1, Warmup: 10, Draws: 10, Output: filepath.Join(dir, "b"), Format: fit.Zarr}); err != nil {
		t.Fatal(err)
	}
	var full *draws.RoomError
	array := filepath.Join(store, "posterior", "v", "zarr.json")
	good := contents(t, array)
	for _, n := range []int{1 << 24, 1 << 40, math.MaxInt64} {
		changeJSON(t, array, func(m map[string]any) {
			m["shape"] = []int{1, 10, n}
			m["chunk_grid"].(map[string]any)["configuration"].(map[string]any)["chunk_shape"] = []int{1, 10, n}
		})
		// The other stores claim chunks that are larger than any may be.
		if _, err := (fit.ReadOptions{Memory: 1 << 30}).Zarr(store); err == nil || n == 1<<24 && !errors.As(err, &full) {
			t.Errorf("a vector of %d elements: %v", n, err)
		}
	}
	if err := os.WriteFile(array, []byte(good), 0o666); err != nil {
		t.Fatal(err)
	}
	// Let all arrays claim this number of draws.
	for _, n := range []int{1 << 33, 1 << 50} {
		for _, group := range []string{"posterior", "sample_stats"} {
			arrays, err := filepath.Glob(filepath.Join(store, group, "*", "zarr.json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range arrays {
				changeJSON(t, path, func(m map[string]any) {
					if shape := m["shape"].([]any); len(shape) > 1 {
						shape[1] = n
					}
				})
			}
			changeJSON(t, filepath.Join(store, group, "zarr.json"), func(m map[string]any) {
				attributes := m["attributes"].(map[string]any)
				for name, v := range attributes { // the lengths of chains
					if list, ok := v.([]any); ok && len(list) == 1 {
						if _, ok := list[0].(float64); ok {
							attributes[name] = []int{n}
						}
					}
				}
			})
		}
		if _, err := (fit.ReadOptions{Memory: 1 << 30}).Zarr(store); !errors.As(err, &full) {
			t.Errorf("%d draws: %v", n, err)
		}
	}
}

// changeJSON changes a file that holds an object.
func changeJSON(t *testing.T, path string, change func(map[string]any)) {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(contents(t, path)), &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
}
