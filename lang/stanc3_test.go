package lang_test

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/source"
)

// The test programs of stanc3, Stan's own compiler, are not part of this repository. PPL_STANC3
// names the directory with its folders good and bad (test/integration in a checkout).

// stanc3 calls visit with each program of a folder of the suite.
func stanc3(t *testing.T, folder string, visit func(path string, f *source.File)) {
	root := os.Getenv("PPL_STANC3")
	if root == "" {
		t.Skip("set PPL_STANC3 to the folder test/integration of a checkout of stan-dev/stanc3")
	}
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".stan" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			name, _ := filepath.Rel(root, path)
			visit(path, source.NewFile(filepath.ToSlash(name), string(text)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStanc3Good checks that programs that stanc3 accepts parse and do not change when printed and
// parsed again.
func TestStanc3Good(t *testing.T) {
	programs, parsed, bytes := 0, 0, 0
	stanc3(t, "good", func(_ string, f *source.File) {
		programs++
		bytes += len(f.Text)
		tree, diags := lang.Parse(f)
		if len(diags) > 0 {
			t.Logf("does not parse: %s", diags[0])
			return
		}
		parsed++
		if err := checkTree(tree); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	})
	t.Logf("%d of %d programs parse (%d KB)", parsed, programs, bytes/1000)
	if float64(parsed) < 0.99*float64(programs) {
		t.Errorf("only %d of %d programs parse", parsed, programs)
	}
}

// TestStanc3Bad checks that syntax errors of stanc3 are also errors here. Errors that stanc3 finds
// after parsing must not be, except for rules that our parser checks.
func TestStanc3Bad(t *testing.T) {
	kinds := map[string]string{} // for each path, the kind of error
	counts := map[string]int{}
	stanc3(t, "bad", func(path string, f *source.File) {
		kind, ok := kinds[path]
		if !ok {
			readExpected(filepath.Dir(path), kinds)
			kind = kinds[path]
		}
		diags := parse(f)
		switch {
		case kind == "":
			counts["of unknown kind"]++
		case kind == "Syntax" && len(diags) == 0:
			t.Errorf("accepted: %s", f.Name)
		case kind == "Syntax":
			counts["syntax errors found"]++
		case len(diags) > 0:
			counts["semantic errors found by the parser"]++
			if !early[string(diags[0].Code)] {
				t.Errorf("refused too early: %s", diags[0])
			}
		default:
			counts["left to check"]++
		}
	})
	t.Log(counts)
}

// early lists the codes that ppl's parser gives for mistakes that stanc3 finds only later: reserved
// names and removed functions.
var early = map[string]bool{"E0112": true, "E0123": true}

// readExpected reads, from a folder's file of expected output, the kind of error that stanc3
// reports for each program.
func readExpected(dir string, kinds map[string]string) {
	file, err := os.Open(filepath.Join(dir, "stanc.expected"))
	if err != nil {
		return
	}
	defer file.Close()
	program := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if command, ok := strings.CutPrefix(line, "  $ "); ok {
			words := strings.Fields(command)
			program = filepath.Join(dir, words[len(words)-1])
		}
		for _, kind := range []string{"Syntax", "Semantic"} {
			if strings.HasPrefix(line, kind+" error") {
				kinds[program] = kind
			}
		}
	}
}
