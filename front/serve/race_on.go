//go:build race

package serve

// raceDetector: its own memory is many times that of the program.
const raceDetector = true
