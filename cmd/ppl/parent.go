package main

import (
	"os"
	"strconv"
)

// This file: ending when the parent process ends.

// parentVariable is the environment variable with the id of the parent process; when the parent
// ends, this process ends too. Otherwise a front end that is killed could not end its runs.
const parentVariable = "PPL_PARENT"

// endWithParent ends this process, with exit code 1, when the process in parentVariable ends.
// Processes started by this one do not see the variable.
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
