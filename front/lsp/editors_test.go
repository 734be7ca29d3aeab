package lsp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEditors runs sessions of real editors with the built command. PPL_NVIM is the path of Neovim
// 0.10 or later. PPL_NODE is Node, with the dependencies of editors/vscode installed.
func TestEditors(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		variable, folder string
		args             []string
	}{
		{"PPL_NVIM", "neovim", []string{"-n", "--clean", "--headless", "-c", "source ppl.lua", "-c", "luafile test.lua"}},
		{"PPL_NODE", "vscode", []string{"--test", "test/"}},
	} {
		t.Run(e.folder, func(t *testing.T) {
			program := os.Getenv(e.variable)
			if program == "" {
				t.Skipf("needs the variable %s: the program that runs editors/%s", e.variable, e.folder)
			}
			bin := t.TempDir()
			if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "ppl"), "../../cmd/ppl").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			cmd := exec.Command(program, e.args...)
			cmd.Dir = filepath.Join(root, "front", "editors", e.folder)
			cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "PPL_TEST_FOLDER="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil || e.folder == "neovim" && !strings.Contains(string(out), "all is well") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
