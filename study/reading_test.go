package study

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestGlob checks that patterns match the same names as those of the standard library, whose Glob
// cannot be stopped.
func TestGlob(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.json", "b.json", "c[1].csv", "x/a.json", "x/b.csv", "y/a.json", "y/z/a.json", ".hidden/a.json"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, pattern := range []string{
		"*", "*.json", "*/*.json", "*/a.json", "x/*", "./x/*", "x/../*/a.json", "*/*/*", "*/*/*/*", "[ab].json", "?.json", "nowhere/*", "*/nowhere",
		`c\[1\].*`, "c[[]1].csv", filepath.Join(dir, "*.json"), filepath.Join(dir, "*", "*"),
	} {
		want, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i] = filepath.Clean(want[i])
		}
		slices.Sort(want)
		got, err := glob(t.Context(), pattern)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", pattern, got, err, want)
		}
	}
	if _, err := glob(t.Context(), "[a"); !errors.Is(err, filepath.ErrBadPattern) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	if _, err := glob(ctx, "*"); !errors.Is(err, why) {
		t.Error(err)
	}
	g := globber{ctx: ctx}
	if err := g.find("*/*"); !errors.Is(err, why) {
		t.Errorf("while it goes down the folders: %v", err)
	}
}
