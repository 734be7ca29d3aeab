package docs

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
)

// In a clone the pages are built from its files.
func TestPages(t *testing.T) {
	files, err := Pages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "how-to/workflow.html", "style.css", "words.js"} {
		if len(files[name]) == 0 {
			t.Errorf("there is no %s", name)
		}
	}
}

// A file may not leave the folder that the pages are written to.
func TestUnpackOutside(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if _, err := z.Create("../outside.html"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(b.Bytes()); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Error(err)
	}
}
