//go:build race

package serve

// raceDetector reports whether the race detector is on, whose memory is many times that of the
// program.
const raceDetector = true
