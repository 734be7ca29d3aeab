package compile

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestEngineDoc checks the example of doc/reference/engine.md and the tables of
// doc/reference/engine-passes.md. With PPL_UPDATE_DOC=1 it writes them.
func TestEngineDoc(t *testing.T) {
	const example, tables = "../doc/reference/engine.md", "../doc/reference/engine-passes.md"
	doc := readPage(t, example)
	text := block(t, doc, "example: source")
	prog, list := Compile(source.NewFile("example.model", text))
	if prog == nil {
		t.Fatal(list[0])
	}
	m, err := prog.Bind(exampleData(t), BindOptions{Without: []string{"project"}}) // which would leave few rows
	if err != nil {
		t.Fatal(err)
	}
	nest := func(without []string) string {
		p, err := passes.Run(m.bound.Density, passes.Options{Without: without, Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		var w strings.Builder
		if err := p.Print(&w, m.names()); err != nil {
			t.Fatal(err)
		}
		return w.String()
	}
	want := putBlock(t, doc, "example: without passes", nest(passes.Names()))
	want = putBlock(t, want, "example: with passes", nest(nil))
	comparePage(t, example, want)
	var ps, rs strings.Builder
	ps.WriteString("| pass | what it does | how far results may be off | after | gain |\n| --- | --- | --- | --- | --- |\n")
	for _, p := range passes.Table() {
		gain := p.Kept
		if gain == "" {
			gain = fmt.Sprintf("%g (`%s`)", p.Gain, p.Model)
		}
		fmt.Fprintf(&ps, "| `%s` | %s | %s | %s | %s |\n", p.Name, p.Doc, p.Exact, strings.TrimRight(strings.Join(p.After[:], ", "), ", "), gain)
	}
	rs.WriteString("| rewrite | identity | condition | how far it is off |\n| --- | --- | --- | --- |\n")
	for _, r := range passes.Rewrites() {
		fmt.Fprintf(&rs, "| `%s` | %s | %s | %s |\n", r.Name, strings.ReplaceAll(r.Identity, "|", "\\|"), r.Condition, r.Exact)
	}
	want = putTable(t, readPage(t, tables), "table: passes", ps.String())
	want = putTable(t, want, "table: rewrites", rs.String())
	comparePage(t, tables, want)
}

func readPage(t *testing.T, file string) string {
	bytes, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes)
}

// comparePage reports an error if a page differs from the wanted text, or writes the text.
func comparePage(t *testing.T, file, want string) {
	if want == readPage(t, file) {
		return
	}
	if os.Getenv("PPL_UPDATE_DOC") == "" {
		t.Fatalf("%s is not what the engine does; write it with PPL_UPDATE_DOC=1 go test ./compile -run TestEngineDoc", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func exampleData(t *testing.T) *data.Set {
	const n, groups = 100, 5
	g, x, y := make([]int, n), make([]float64, n), make([]float64, n)
	for i := range n {
		g[i] = 1 + i*3%groups
		x[i] = float64(i%7) - 3
		y[i] = float64(i%11) - 5
	}
	d, err := data.FromGo(map[string]any{"N": n, "J": groups, "g": g, "x": x, "y": y})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// fence returns a regular expression for the fenced block after a marker.
func fence(marker string) *regexp.Regexp {
	return regexp.MustCompile("(?s)(<!-- " + marker + " -->\n```[a-z]*\n)(.*?)(```\n)")
}

func block(t *testing.T, doc, marker string) string {
	m := fence(marker).FindStringSubmatch(doc)
	if m == nil {
		t.Fatalf("the document has no block after %q", marker)
	}
	return m[2]
}

func putBlock(t *testing.T, doc, marker, text string) string {
	block(t, doc, marker)
	return fence(marker).ReplaceAllStringFunc(doc, func(s string) string {
		m := fence(marker).FindStringSubmatch(s)
		return m[1] + text + m[3]
	})
}

// putTable replaces the table after a marker.
func putTable(t *testing.T, doc, marker, text string) string {
	begin := "<!-- " + marker + " -->\n"
	head, rest, ok := strings.Cut(doc, begin)
	if !ok {
		t.Fatalf("the document has no marker %q", marker)
	}
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return head + begin + text + rest
}
