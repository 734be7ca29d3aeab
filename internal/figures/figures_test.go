package figures

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var section = Section{Name: "test", Command: "a test", Heading: "Figures"}

func TestNewFile(t *testing.T) {
	begin, end := section.Markers()
	file := filepath.Join(t.TempDir(), "doc", "page.md")
	for _, text := range []string{"one\n", "two\n"} {
		if err := section.Write(file, text); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), begin+"\ntwo\n"+end) {
		t.Errorf("%v; the file is\n%s", err, text)
	}
}

func TestNoMarkers(t *testing.T) {
	begin, end := section.Markers()
	file := filepath.Join(t.TempDir(), "engine.md")
	if err := os.WriteFile(file, []byte(end+"\n"+begin+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := section.Write(file, "text"); err == nil {
		t.Error("a file with its markers the wrong way round is taken")
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "–", 0.0123: "0.0123", 0.7: "0.700", 1: "1.00", 12.34: "12.3", 99.99: "100.0", 123.4: "123", 1234: "1234"} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "–", 44: "44.0 ns", 5700: "5.70 µs", 2.3e6: "2.30 ms"} {
		if got := Nanoseconds(v); got != want {
			t.Errorf("Nanoseconds(%v) = %s, want %s", v, got, want)
		}
	}
}
