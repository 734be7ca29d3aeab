package packed

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestPatterns checks that the files that ppl embeds are packed.
func TestPatterns(t *testing.T) {
	const module = "github.com/ppl-lang/ppl/"
	out, err := exec.Command("go", "list", "-deps", "-f", `{{range .EmbedFiles}}{{$.ImportPath}}/{{.}}{{"\n"}}{{end}}`, module+"cmd/ppl").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"spec.md"} // other programs read it from their sources
	for name := range strings.FieldsSeq(string(out)) {
		name = strings.TrimPrefix(name, module)
		if !strings.HasPrefix(name, "front/cmdstan/home/") && !strings.HasPrefix(name, "stdlib/") { // read at every start, or 2 kB
			want = append(want, name)
		}
	}
	slices.Sort(want)
	root := os.DirFS("../..")
	text, err := Write(root)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range groups() {
		archive, err := fs.ReadFile(outer, g.folder+suffix)
		if err != nil {
			t.Fatal(err)
		}
		z, err := Open(archive)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			name := path.Join(g.folder, f.Name)
			names = append(names, name)
			got, err := fs.ReadFile(z, f.Name)
			if err != nil {
				t.Fatal(err)
			}
			if want, err := fs.ReadFile(root, name); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is packed wrongly (%v)", name, err)
			}
		}
		for _, p := range g.patterns {
			if !slices.ContainsFunc(z.File, func(f *zip.File) bool { ok, err := path.Match(p, f.Name); return ok && err == nil }) {
				t.Errorf("%s matches no file of the folder %q", p, g.folder)
			}
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, want) {
		t.Errorf("packed are\n%s\nwant what ppl embeds:\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
}
