package main

import (
	"os"
	"strconv"
)

// This file: the end of the program that has started this one.

// parentVariable is the environment variable with the number of the process that has started
// this one and with which it ends. A front end that is killed cannot end its runs otherwise.
const parentVariable = "PPL_PARENT"

// endWithParent ends this process, with exit code 1, when the one ends that parentVariable
// gives. The processes that this one starts do not see the variable.
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
