package docs

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/internal/packed"
)

// TestPages checks that, in a clone, the pages are built from its files.
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

// TestSpec checks that the specification is found, also where the working directory is no clone.
func TestSpec(t *testing.T) {
	t.Chdir(t.TempDir())
	text, err := Spec(t.Context())
	if err != nil || !strings.HasPrefix(string(text), "# ") {
		t.Errorf("%.40q, %v", text, err)
	}
}

// TestUnpackOutside checks that no file is written outside the output folder.
func TestUnpackOutside(t *testing.T) {
	archive, err := packed.Compress(map[string][]byte{"../outside.html": nil})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(archive); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Error(err)
	}
}
