package stdlibtest

import (
	"os"
	"testing"
)

// TestScattered compares with points from testdata/golden/scattered.py, in the file that
// PPL_SCATTERED names.
func TestScattered(t *testing.T) {
	path := os.Getenv("PPL_SCATTERED")
	if path == "" {
		t.Skip("PPL_SCATTERED names no file of testdata/golden/scattered.py")
	}
	names, byName := readSweep(t, path)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r := byName[name]
			r.compare(t, true)
			t.Logf("%d points, %d refused, %d missed, worst %.0e and %.0e", len(r.points), r.refused, r.missed, r.worst[0], r.worst[1])
			if r.missed > 0 {
				t.Fail()
			}
		})
	}
}
