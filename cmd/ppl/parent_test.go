//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestEndWithParent checks that a process ends with its parent if the environment variable names
// the parent, even if the parent ended earlier. Without the variable it continues.
func TestEndWithParent(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("PPL_TEST_PARENT") != "" {
		endWithParent()
		if left := os.Getenv(parentVariable); left != "" {
			fmt.Println("the processes that this one starts see", left)
		}
		fmt.Println("begun")
		os.Stdout.Close()
		time.Sleep(time.Minute)
		return
	}
	// The shell starts the process, prints the id of the process, and ends when it gets a line.
	start := func(parent string) (pid string) {
		cmd := exec.Command("sh", "-c", parent+` PPL_TEST_PARENT=1 "$0" -test.run '^TestEndWithParent$' & echo $!; read x`, exe)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		text := ""
		for b := make([]byte, 100); !strings.Contains(text, "begun\n"); {
			n, err := out.Read(b)
			if text += string(b[:n]); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
		}
		in.Close()
		cmd.Wait()
		return strings.Fields(text)[0]
	}
	alive := func(pid string) bool { return exec.Command("kill", "-0", pid).Run() == nil }
	with, without := start("PPL_PARENT=$$"), start("")
	for deadline := time.Now().Add(20 * time.Second); alive(with); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the process lives on without its parent")
		}
	}
	if !alive(without) {
		t.Error("a process that need not end has ended")
	}
	exec.Command("kill", without).Run()
	exec.Command("kill", with).Run()
}
