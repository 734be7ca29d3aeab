package main

import (
	"os"
	"strconv"
)

// This file: ending when the parent process ends.

// parentVariable is the environment variable with the id of the parent process. When the parent
// ends, this process ends too. Otherwise the runs of a front end that is killed would continue.
const parentVariable = "PPL_PARENT"

// endWithParent makes this process end, with exit code 1, when the process in parentVariable ends.
// Processes that this one starts do not see the variable.
func endWithParent() {
	pid, err := strconv.Atoi(os.Getenv(parentVariable))
	os.Unsetenv(parentVariable)
	if err != nil || pid <= 0 {
		return
	}
	go func() {
		awaitParent(pid)
		os.Exit(exitError)
	}()
}
